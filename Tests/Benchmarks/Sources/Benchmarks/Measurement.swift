/// Ways to measure on a machine that others use too.
enum Measurement {
  /// The time that `work` takes.
  static func time(_ work: () async throws -> Void) async rethrows -> Duration {
    let start = ContinuousClock.now
    try await work()
    return start.duration(to: .now)
  }

  /// The seconds that `work` takes.
  static func wall(_ work: () throws -> Void) rethrows -> Double {
    let start = ContinuousClock.now
    try work()
    return start.duration(to: .now) / .seconds(1)
  }

  /// The times of all contestants, one after the other in each round, so that whatever disturbs the
  /// machine disturbs them alike. A first round warms up and is not counted.
  static func rounds(
    of contestants: (() async throws -> Void)..., count: Int = 9
  ) async throws -> [[Duration]] {
    var rounds: [[Duration]] = []
    for _ in 0...count {
      var times: [Duration] = []
      for contestant in contestants { times.append(try await time(contestant)) }
      rounds.append(times)
    }
    return Array(rounds.dropFirst())
  }

  static func median(_ values: [Double]) -> Double {
    values.sorted()[values.count / 2]
  }
}

extension [[Duration]] {
  /// The median of how many times longer one contestant took than another in the same round.
  func ratio(_ one: Int, to other: Int) -> Double {
    Measurement.median(map { $0[one] / $0[other] })
  }

  /// The median of a contestant's times, in seconds.
  func seconds(_ one: Int) -> Double {
    Measurement.median(map { $0[one] / .seconds(1) })
  }

  /// A contestant's shortest time, in seconds: for work that waits for nothing, all that is above it
  /// is the machine's other business.
  func fastest(_ one: Int) -> Double {
    map { $0[one] / .seconds(1) }.min() ?? 0
  }
}
