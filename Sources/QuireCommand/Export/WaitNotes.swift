import QuireCore
import Synchronization

/// Writes waits of an export to standard error if no progress line shows them: when a noticeable
/// wait begins, now and then while it lasts, and when it is over.
final class WaitNotes: Sendable {
  private struct State {
    /// When the wait for the page began; nil if there is none.
    var began: ContinuousClock.Instant?
    var isNoted = false
    var isOutage = false
    var isPauseNoted = false
  }

  private let isOn: Bool
  private let write: @Sendable (String) -> Void
  private let state = Mutex(State())

  init(isOn: Bool, write: @escaping @Sendable (String) -> Void = { Diagnostics.write($0) }) {
    self.isOn = isOn
    self.write = write
  }

  /// Notes a retry after `wait`; `remaining` is how much longer an outage is waited out.
  func retry(
    after wait: Duration, reason: String, remaining: Duration?,
    at now: ContinuousClock.Instant = .now
  ) {
    guard isOn else { return }
    let (isFirst, waited) = state.withLock { state in
      let began = state.began ?? now
      state.began = began
      state.isOutage = state.isOutage || remaining != nil
      let isLong = wait >= (state.isNoted ? .seconds(30) : .milliseconds(400))
      defer { state.isNoted = state.isNoted || isLong }
      return (isLong ? !state.isNoted : nil, now - began)
    }
    guard let isFirst else { return }
    let next = "asking again in \(ProgressLine.span(wait))"
    // The server may ask for a wait that is longer than the patience: it is asked once after it.
    let left =
      remaining.map {
        $0 > wait
          ? ", for \(ProgressLine.span($0)) at most (--patience)"
          : ", for the last time (--patience)"
      } ?? ""
    write(
      isFirst
        ? "quire: \(Self.firstSentence(of: reason)) Waiting: \(next)\(left)."
        : "quire: waiting for \(ProgressLine.span(waited)) by now, \(next)\(left).")
  }

  /// Notes a pause that a rate, the description or the server asks for. Only the first is written.
  func pause(for wait: Duration) {
    guard isOn, wait >= .milliseconds(400) else { return }
    let isNew = state.withLock { state in
      defer { state.isPauseNoted = true }
      return !state.isPauseNoted
    }
    guard isNew else { return }
    write(
      "quire: pausing for \(ProgressLine.span(wait)), and again between requests: a rate, the description or "
        + "the server asks for it.")
  }

  /// Notes an answer of the server, which ends an outage.
  func answered(at now: ContinuousClock.Instant = .now) {
    let waited = state.withLock { state -> Duration? in
      guard state.isOutage else { return nil }
      defer { (state.began, state.isNoted, state.isOutage) = (nil, false, false) }
      return state.isNoted ? state.began.map { now - $0 } : nil
    }
    guard let waited else { return }
    write("quire: the server answers again, after \(ProgressLine.span(waited)).")
  }

  /// Notes a page, after which the next wait is a new one.
  func delivered() {
    state.withLock { state in
      if !state.isOutage { (state.began, state.isNoted) = (nil, false) }
    }
  }

  /// Returns the first sentence of an error's message.
  private static func firstSentence(of message: String) -> String {
    let end = message.firstRange(of: ". ")?.lowerBound ?? message.endIndex
    let text = ServerText(message[..<end], limit: 200).description
    return text.hasSuffix(".") ? text : text + "."
  }
}
