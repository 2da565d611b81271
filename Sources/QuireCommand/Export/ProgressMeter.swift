import Foundation
import QuireCore
import QuireHTTP
import QuirePagination
import Synchronization

/// Draws the progress line on stderr, at most ten times a second, when something has happened.
final class ProgressMeter: Sendable {
  /// When the line is drawn.
  enum Mode: String, CaseIterable, Sendable { case auto, always, never }

  private struct State {
    var line = ProgressLine()
    var drawn: ContinuousClock.Instant?
  }

  /// Whether the line is drawn.
  let isShown: Bool
  private let start: ContinuousClock.Instant
  private let write: @Sendable (String) -> Void
  private let state = Mutex(State())

  /// Creates a meter that writes by `write`. With `.auto`, it draws only on a terminal.
  init(
    _ mode: Mode, at start: ContinuousClock.Instant = .now,
    write: @escaping @Sendable (String) -> Void = Diagnostics.writeRaw
  ) {
    isShown = mode == .always || mode == .auto && isatty(STDERR_FILENO) == 1
    self.start = start
    self.write = write
  }

  /// Changes the line, and draws it if the last drawing is at least 0.1 seconds ago or `urgent` is
  /// true.
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
    // Carriage return, the line, and an escape that erases the rest of the old one.
    if let text { write("\r\(text.escapedForDisplay)\u{1B}[K") }
  }

  /// Erases the line, so that a message can take its place.
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

/// Counts the traffic of an export, and shows its waits: on the progress line, or in a note if
/// there is none.
///
/// Pages that were loaded ahead, refused or interrupted count as well as those written.
final class WireObserver: Sendable {
  struct Numbers: Sendable {
    /// The number of requests, including retries, replays and redirects.
    var requests = 0
    /// The number of requests that repeated a failed one.
    var retries = 0
    /// The number of requests that libcurl repeated on a new connection, because a reused one was
    /// dead.
    var replays = 0
    /// The bytes of bodies, after content decoding.
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

  /// Shows a wait for the destination.
  func waits(_ wait: Duration, for error: any Error) {
    meter.update(urgent: true) {
      $0.waitingFor = "waiting for \(ProgressLine.span(wait)): \(error)"
    }
    notes.retry(after: wait, reason: "\(error)", remaining: nil)
  }

  /// Counts an event of the client, and shows it if it is a wait.
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
      // A redirect says nothing about the server behind it.
      if status / 100 != 3, !PassingStatus.outage.contains(status) { notes.answered() }
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
