import Foundation
import Logging
import QuireCore
import Synchronization

/// Draws the progress line on stderr, at most ten times a second, when something has happened.
final class ProgressMeter: Sendable {
  /// Whether the line is drawn at all.
  enum Mode: String, CaseIterable, Sendable { case auto, always, never }

  private struct State {
    var line = ProgressLine()
    var drawn: ContinuousClock.Instant?
  }

  private let isShown: Bool
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

/// Counts a retry, which the client logs, and shows it as what the walk waits for.
struct RetryNotice: LogHandler {
  let meter: ProgressMeter
  let count: WireCount
  var metadata: Logger.Metadata = [:]
  var logLevel: Logger.Level = .notice

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    guard event.message == "retry" else { return }
    count.add { $0.retries += 1 }
    let code = event.metadata?["code"].map { "\($0)" } ?? "an error"
    let wait = event.metadata?["after"].map { " for \($0)" } ?? ""
    meter.update(urgent: true) {
      $0.retries += 1
      $0.waitingFor = "waiting\(wait) after \(code)"
    }
  }
}
