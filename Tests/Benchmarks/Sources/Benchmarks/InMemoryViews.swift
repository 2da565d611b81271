import Quire

/// What iterating costs when fetching costs nothing.
enum InMemoryViews {
  static func measure() async throws -> [Figure] {
    // Pages of many items show what an item costs, pages of one item what a page costs.
    let items = numbers(pages: 200, of: 1000)
    let pages = numbers(pages: 10_000, of: 1)
    let rounds = try await Measurement.rounds(
      of: { try await sum(items) }, { try await sumOnMainActor(items) },
      { try await count(pages) }, count: 50)
    let nonisolated = rounds.fastest(0) / 200_000 * 1e9
    let mainActor = rounds.fastest(1) / 200_000 * 1e9
    let page = rounds.fastest(2) / 10_000 * 1e9
    return [
      Figure("item view in memory, per item, nonisolated", nonisolated, "ns", .atMost(12)),
      Figure("item view in memory, per item, main actor", mainActor, "ns", .atMost(40)),
      Figure("page view in memory, per page", page, "ns", .atMost(1000)),
    ]
  }

  private static func numbers(pages: Int, of count: Int) -> Cursor<Int> {
    let items = Array(0..<count)
    return Cursor { position in
      let index = position?.value?.integer ?? 0
      return Page(items, next: index + 1 < pages ? Position(integerLiteral: index + 1) : nil)
    }
  }

  private static func sum(_ cursor: Cursor<Int>) async throws {
    var sum = 0
    for try await item in cursor.items { sum &+= item }
    precondition(sum > 0)
  }

  @MainActor private static func sumOnMainActor(_ cursor: Cursor<Int>) async throws {
    var sum = 0
    for try await item in cursor.items { sum &+= item }
    precondition(sum > 0)
  }

  private static func count(_ cursor: Cursor<Int>) async throws {
    var pages = 0
    for try await _ in cursor { pages += 1 }
    precondition(pages > 0)
  }
}
