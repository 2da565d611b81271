/// Decides how many pages are read at once: as many as allowed, half as many when the server
/// throttles, fewer when pages take longer the more of them are read, and one more after each
/// window that went well.
///
/// Reads that already ran when the window was narrowed say nothing new. A window that was narrowed
/// because pages took long is on trial: if fewer pages came in the same time, it is widened again,
/// and left so for 8 windows, then 16, and so on.
///
/// Sources: V. Jacobson, "Congestion Avoidance and Control" (1988); the gradient of latencies as in
/// Netflix's "Performance Under Load" (2018); J. Little (1961), by whose law reads at once are rate
/// times latency.
struct ParallelWindow: Hashable, Sendable {
  let limit: Int
  private(set) var width: Int
  /// The changes that are not reported yet.
  private(set) var adjustments: [WalkReport.Adjustment] = []
  private var successes = 0
  private var time = Duration.zero
  /// The number of reads that have begun.
  private(set) var launched = 0
  /// The number of the first read that began after the last narrowing.
  private var sinceNarrowing = 0
  /// The shortest time that a page took so far.
  private var shortest: Duration?
  /// The width before the window was narrowed because pages took long, and the time of a page then.
  private var trial: Trial?
  /// The number of windows before the next trial, and after the next trial that fails.
  private var (rest, nextRest) = (0, 8)

  private struct Trial: Hashable {
    var width: Int
    var time: Duration
  }

  /// How many times the shortest time a page may take before the window is narrowed.
  private static let tolerance = 2.0
  /// How many times as fast pages must have come with the wider window for it to be restored.
  private static let loss = 1.25
  /// Differences below this come from the network and the machine.
  private static let grain = Duration.milliseconds(100)

  init(limit: Int) {
    self.limit = limit
    width = limit
  }

  /// Notes that a read begins. Returns its number.
  mutating func launch() -> Int {
    defer { launched += 1 }
    return launched
  }

  /// Notes that the read with this number brought its page, after `latency`.
  mutating func succeeded(_ number: Int, after latency: Duration) {
    guard number >= sinceNarrowing || trial == nil else { return }
    successes += 1
    time += latency
    shortest = min(shortest ?? latency, latency)
    guard successes >= width else { return }
    let mean = time / successes
    (successes, time) = (0, .zero)
    judge(mean)
  }

  /// Notes that the read with this number was too much for the server.
  mutating func throttled(_ number: Int) {
    guard number >= sinceNarrowing else { return }
    trial = nil
    narrow(to: width / 2, "the server asked for less, or needed a second attempt.")
  }

  /// Returns the changes since the last call.
  mutating func takeAdjustments() -> [WalkReport.Adjustment] {
    defer { adjustments = [] }
    return adjustments
  }

  /// Judges a window that went well, whose pages took `mean` on average.
  private mutating func judge(_ mean: Duration) {
    if let trial {
      self.trial = nil
      // The rate of pages before is compared with the one now.
      guard mean * trial.width > trial.time * width * Self.loss else { return }
      (rest, nextRest) = (nextRest, min(nextRest * 2, 1 << 20))
      change(to: trial.width, "fewer pages at once came no faster.")
      return
    }
    rest = max(0, rest - 1)
    if rest == 0, width > 1, let shortest, mean > shortest * Self.tolerance + Self.grain {
      let wanted = Double(width) * max(0.5, Self.tolerance * (shortest / mean))
      trial = Trial(width: width, time: mean)
      narrow(
        to: min(width - 1, Int(wanted)),
        "a page took \(mean.words) with \(width) at once, and \(shortest.words) at best.")
      return
    }
    if width < limit { change(to: width + 1, "the window before went well.") }
  }

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
