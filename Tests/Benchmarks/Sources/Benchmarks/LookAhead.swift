import Quire

/// A source and a consumer that take 20 ms a page each, side by side.
enum LookAhead {
  private static let pages = 50
  private static let pause = Duration.milliseconds(20)

  static func measure() async throws -> [Figure] {
    let cursor = Cursor<Int> { position in
      let index = position?.value?.integer ?? 0
      try await Task.sleep(for: pause, tolerance: .zero)
      return Page([index], next: index + 1 < pages ? Position(integerLiteral: index + 1) : nil)
    }
    let rounds = try await Measurement.rounds(
      of: {
        for try await _ in Paginator(cursor) { try await Task.sleep(for: pause, tolerance: .zero) }
      }, count: 3)
    // The first page is waited for; each later one loads while its predecessor is handled.
    let ideal = pause * (pages + 1) / .seconds(1)
    return [
      Figure("look-ahead, 50 × 20 ms, to the ideal", rounds.seconds(0) / ideal, "×", .atMost(1.05))
    ]
  }
}
