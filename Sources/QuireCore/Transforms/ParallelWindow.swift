/// Decides how many pages are read at once: as many as allowed, half as many when the server says
/// that it is too much, fewer when pages take longer the more of them are read, and one more after each
/// window that went well.
///
/// Reads that were already running when the window was narrowed say nothing new. A window that was
/// narrowed because pages took long is on trial: where fewer pages came in the same time, it is wide
/// again, and is left so for 8 windows, then 16, and so on.
///
/// Sources: V. Jacobson, "Congestion Avoidance and Control" (1988); the gradient of latencies as in
/// Netflix's "Performance Under Load" (2018); that reads at once are rate times latency, J. Little (1961).
struct ParallelWindow: Hashable, Sendable {
  let limit: Int
  private(set) var width: Int
  /// What was changed and not yet reported.
  private(set) var adjustments: [WalkReport.Adjustment] = []
  private var successes = 0
  private var time = Duration.zero
  private var launched = 0
  /// The number of the first read that was launched after the last narrowing.
  private var sinceNarrowing = 0
  /// The shortest time of a page so far.
  private var shortest: Duration?
  /// How wide it was before it was narrowed for the time of pages, and that time.
  private var trial: Trial?
  /// How many windows go by before the next trial, and behind the one that fails next.
  private var (rest, nextRest) = (0, 8)

  private struct Trial: Hashable {
    var width: Int
    var time: Duration
  }

  /// So much longer a page may take than the shortest one, before that says anything.
  private static let tolerance = 2.0
  /// So much more a wider window must have brought in the same time, to be gone back to.
  private static let loss = 1.25
  /// Below this, differences are those of the network and of the machine.
  private static let grain = Duration.milliseconds(100)

  init(limit: Int) {
    self.limit = limit
    width = limit
  }

  /// A read begins. Returns its number.
  mutating func launch() -> Int {
    defer { launched += 1 }
    return launched
  }

  /// How many reads have begun.
  var launches: Int { launched }

  /// The read with this number brought its page, after so long.
  mutating func succeeded(_ number: Int = .max, after latency: Duration = .zero) {
    guard number >= sinceNarrowing || trial == nil else { return }
    successes += 1
    time += latency
    shortest = min(shortest ?? latency, latency)
    guard successes >= width else { return }
    let mean = time / successes
    (successes, time) = (0, .zero)
    judge(mean)
  }

  /// The read with this number was too much for the server.
  mutating func throttled(_ number: Int) {
    guard number >= sinceNarrowing else { return }
    trial = nil
    narrow(to: width / 2, "the server asked for less, or needed a second attempt.")
  }

  /// What was changed since the last call.
  mutating func takeAdjustments() -> [WalkReport.Adjustment] {
    defer { adjustments = [] }
    return adjustments
  }

  /// A window went well; its pages took so long.
  private mutating func judge(_ mean: Duration) {
    if let trial {
      self.trial = nil
      let (before, now) = (Double(trial.width) / (trial.time / .seconds(1)), rate(mean))
      guard before > now * Self.loss else { return }
      (rest, nextRest) = (nextRest, min(nextRest * 2, 1 << 20))
      change(to: trial.width, "fewer pages at once came no faster.")
      return
    }
    rest = max(0, rest - 1)
    if rest == 0, width > 1, let shortest, mean > shortest * 2 + Self.grain {
      let wanted = Double(width) * max(0.5, Self.tolerance * (shortest / mean))
      trial = Trial(width: width, time: mean)
      narrow(
        to: min(width - 1, Int(wanted)),
        "a page took \(mean.words) with \(width) at once, and \(shortest.words) at best.")
      return
    }
    if width < limit { change(to: width + 1, "the window before went well.") }
  }

  /// Pages a second.
  private func rate(_ mean: Duration) -> Double { Double(width) / max(1e-9, mean / .seconds(1)) }

  private mutating func narrow(to new: Int, _ reason: String) {
    (successes, time, sinceNarrowing) = (0, .zero, launched)
    change(to: max(1, new), reason)
  }

  private mutating func change(to new: Int, _ reason: String) {
    guard new != width else { return }
    adjustments.append(.init(.pagesAtOnce, from: width, to: new, reason))
    width = new
  }
}

extension Duration {
  /// Rounded for people: `120 ms`, `3.2 s`, `15 min`, `1 h 5 min`.
  package var words: String {
    let milliseconds = self / .milliseconds(1)
    if milliseconds == 0 { return "0 s" }
    if milliseconds < 10 { return "\((milliseconds * 100).rounded() / 100) ms" }
    if milliseconds < 1_000 { return "\(Int(milliseconds.rounded())) ms" }
    if milliseconds < 10_000 { return "\((milliseconds / 100).rounded() / 10) s" }
    // As much as 64 bits have, however long a server wants to be left alone.
    let seconds = Int(min(milliseconds / 1_000, 9e18).rounded())
    let parts =
      seconds < 3_600
      ? [(seconds / 60, "min"), (seconds % 60, "s")]
      : [(seconds / 3_600, "h"), (seconds / 60 % 60, "min")]
    return parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: " ")
  }
}
