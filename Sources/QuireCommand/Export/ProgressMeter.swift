import Foundation
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

/// Counts what an export puts on the wire and gets from it, and shows what it waits for: on the progress
/// line, or in a note where that is off.
///
/// Pages that were loaded ahead, refused or interrupted count as well as those that were written.
final class WireObserver: Sendable {
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

  private let meter: ProgressMeter
  private let notes: WaitNotes
  private let state = Mutex(Numbers())

  init(_ meter: ProgressMeter, _ notes: WaitNotes) {
    self.meter = meter
    self.notes = notes
  }

  var numbers: Numbers { state.withLock { $0 } }

  /// Takes in an event of the client.
  func received(_ event: PageEvent) {
    switch event {
    case .request: state.withLock { $0.requests += 1 }
    case .received(let bytes): state.withLock { $0.bytes += bytes }
    case .replayed(let count):
      state.withLock {
        $0.requests += count
        $0.replays += count
      }
    case .response(let status):
      if !PassingStatus.outage.contains(status) { notes.answered() }
    case .retry(let retry):
      state.withLock { $0.retries += 1 }
      let left =
        retry.remaining.map { ", \(ProgressLine.span($0)) of patience left" } ?? ""
      meter.update(urgent: true) {
        $0.retries += 1
        $0.waitingFor = "waiting for \(ProgressLine.span(retry.delay)) after \(retry.code)\(left)"
      }
      notes.retry(after: retry.delay, reason: retry.message, remaining: retry.remaining)
    case .pause(let wait):
      meter.update(urgent: true) { $0.waitingFor = "pausing for \(ProgressLine.span(wait))" }
      notes.pause(for: wait)
    default: break
    }
  }
}
