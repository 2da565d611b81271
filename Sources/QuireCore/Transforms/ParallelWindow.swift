/// Decides how many pages are read at once: as many as allowed, half as many when the server says
/// that it is too much, and one more after each window that went well.
///
/// Reads that were already running when the window was halved say nothing new.
/// Source: V. Jacobson, "Congestion Avoidance and Control" (1988).
struct ParallelWindow: Hashable, Sendable {
  let limit: Int
  private(set) var width: Int
  private var successes = 0
  private var launched = 0
  /// The number of the first read that was launched after the last halving.
  private var sinceHalving = 0

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

  mutating func succeeded() {
    successes += 1
    guard successes >= width else { return }
    successes = 0
    width = min(width + 1, limit)
  }

  /// The read with this number was too much for the server.
  mutating func throttled(_ number: Int) {
    guard number >= sinceHalving else { return }
    width = max(1, width / 2)
    successes = 0
    sinceHalving = launched
  }
}
