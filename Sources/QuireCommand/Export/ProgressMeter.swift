import Foundation
import HTTPTypes
import Logging
import QuireCore
import QuireHTTP
import QuirePagination
import Synchronization

/// Draws the progress line on stderr, at most ten times a second, when something has happened.
final class ProgressMeter: Sendable {
  /// Whether the line is drawn at all.
  enum Mode: String, CaseIterable, Sendable { case auto, always, never }

  private struct State {
    var line = ProgressLine()
    var drawn: ContinuousClock.Instant?
  }

  /// Whether anything is drawn.
  let isShown: Bool
  private let start: ContinuousClock.Instant
  private let write: @Sendable (String) -> Void
  private let state = Mutex(State())

  /// A meter that writes by `write`; `.auto` shows only on a terminal.
  init(
    _ mode: Mode, at start: ContinuousClock.Instant = .now,
    write: @escaping @Sendable (String) -> Void = Diagnostics.writeRaw
  ) {
    isShown = mode == .always || mode == .auto && isatty(STDERR_FILENO) == 1
    self.start = start
    self.write = write
  }

  /// Takes in what has happened, and draws if the last time was long enough ago.
  func update(
    at now: ContinuousClock.Instant = .now, urgent: Bool = false,
    _ change: (inout ProgressLine) -> Void
  ) {
    guard isShown else { return }
    let text = state.withLock { state -> String? in
      change(&state.line)
      if let drawn = state.drawn, !urgent, now - drawn < .milliseconds(100) { return nil }
      state.drawn = now
      state.line.elapsed = now - start
      return state.line.text(width: Self.width - 1)
    }
    // Carriage return, the line, and the rest of the old one erased.
    if let text { write("\r\(text.escapedForDisplay)\u{1B}[K") }
  }

  /// Takes the line away, so that a message can stand in its place.
  func clear() {
    guard isShown else { return }
    write("\r\u{1B}[K")
  }

  private static var width: Int {
    var size = winsize()
    return ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
      ? Int(size.ws_col) : 100
  }
}

/// Counts a retry, which the client logs, and shows what the walk waits for: on the progress line, or
/// in a note where that is off.
struct RetryNotice: LogHandler {
  let meter: ProgressMeter
  let count: WireCount
  let notes: WaitNotes
  var metadata: Logger.Metadata = [:]
  var logLevel: Logger.Level = .info

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    guard let wait = Self.duration(event.metadata?["after"]) else { return }
    switch "\(event.message)" {
    case "retry":
      count.add { $0.retries += 1 }
      let reason = event.metadata?["code"].map { "\($0)" } ?? "an error"
      let remaining = Self.duration(event.metadata?["remaining"])
      let left = remaining.map { ", \(ProgressLine.span($0)) of patience left" } ?? ""
      meter.update(urgent: true) {
        $0.retries += 1
        $0.waitingFor = "waiting for \(ProgressLine.span(wait)) after \(reason)\(left)"
      }
      notes.retry(
        after: wait, reason: event.metadata?["error"].map { "\($0)" } ?? reason,
        remaining: remaining)
    case "pause":
      meter.update(urgent: true) { $0.waitingFor = "pausing for \(ProgressLine.span(wait))" }
      notes.pause(for: wait)
    default: break
    }
  }

  private static func duration(_ value: Logger.Metadata.Value?) -> Duration? {
    guard case .stringConvertible(let value) = value else { return nil }
    return value as? Duration
  }
}

/// What an export put on the wire and got from it, whether or not its pages were written: pages that
/// were loaded ahead, refused or interrupted among it.
final class WireCount: Sendable {
  struct Numbers: Sendable {
    /// Requests, retries, replays and redirects included.
    var requests = 0
    /// Requests that repeated a failed one.
    var retries = 0
    /// Requests that libcurl repeated by itself, because the connection it used again was dead.
    var replays = 0
    /// Bytes of bodies, content coding removed.
    var bytes = 0
  }

  private let state = Mutex(Numbers())

  var numbers: Numbers { state.withLock { $0 } }

  func add(_ change: (inout Numbers) -> Void) { state.withLock { change(&$0) } }
}

/// A transport that counts what goes through it.
struct CountingTransport: HTTPTransport {
  let base: any HTTPTransport
  let count: WireCount
  var notes: WaitNotes?

  func send(_ request: TransportRequest) async throws -> TransportResponse {
    count.add { $0.requests += 1 }
    do {
      var response = try await base.send(request)
      if !RetryPolicy.outageStatuses.contains(response.head.status.code) { notes?.answered() }
      replayed(response.body.metrics.wireRequests)
      let body = response.body
      response.body = TransportBody(
        next: { [count] in
          let slice = try await body.next()
          if let slice { count.add { $0.bytes += slice.count } }
          return slice
        }, metrics: { body.metrics })
      return response
    } catch let error as PageError {
      replayed(error.attempts)
      throw error
    }
  }

  private func replayed(_ requests: Int) {
    let more = max(0, requests - 1)
    count.add {
      $0.requests += more
      $0.replays += more
    }
  }
}
