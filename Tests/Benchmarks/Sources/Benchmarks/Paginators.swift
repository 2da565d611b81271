import Floor
import Quire
import QuireLists

/// What a paginator and a list cost while they are idle, what a report costs, and what reading in
/// parallel gains.
enum Paginators {
  private static let count = 100_000

  /// Pages of ten numbers, as fast as they can be made.
  private static func cursor() -> Cursor<Int> {
    Cursor { position in
      let start = position?.value?.integer ?? 0
      return Page(Array(start..<start + 10), next: Position(integerLiteral: start + 10))
    }
  }

  /// Memory of paginators that are alive and idle, and of lists that hold a page.
  static func measureIdle() async throws -> [Figure] {
    let cursor = cursor()
    let before = ProcessStatus.residentBytes
    let paginators = (0..<count).map { _ in Paginator(cursor) }
    let fresh = ProcessStatus.residentBytes - before
    let lists = (0..<count).map { _ in PagedList(cursor) }
    for list in lists { try await list.loadMore() }
    let loaded = ProcessStatus.residentBytes - before - fresh
    precondition(lists.allSatisfy { $0.snapshot.count == 10 })
    withExtendedLifetime(paginators) {}
    func each(_ bytes: Int) -> Double { Double(bytes) / Double(count) }
    return [
      Figure("an idle paginator, of 100,000", each(fresh), "bytes", .atMost(2048)),
      Figure("a list that holds a page of ten numbers", each(loaded), "bytes"),
    ]
  }

  /// Reports to one list: of items and offsets that are not due, and while a load that is due
  /// runs, which all of them are conflated into.
  static func measureReports() async throws -> [Figure] {
    let list = PagedList(
      Cursor<Int> { position in
        if position != nil { try await Task.sleep(for: .seconds(3600)) }
        return Page(Array(0..<10), next: 10)
      })
    try await list.loadMore()
    let viewport = Viewport(content: 1800, extent: 800)
    return [
      measure("reports of items", .atLeast(1)) { list.report(consumed: $0 % 7) },
      measure("reports of offsets", .atLeast(1)) {
        list.report(offset: Double($0 % 600), in: viewport)
      },
      measure("reports of items, while the page loads", .atLeast(1)) { step in
        list.report(consumed: 7 + step % 4)
      },
    ].flatMap { $0 }
  }

  private static func measure(
    _ what: String, _ bar: Figure.Bar, _ report: (Int) -> Void
  ) -> [Figure] {
    let reports = 2_000_000
    // The first ones start what they lead to.
    for step in 0..<1000 { report(step) }
    let allocations = floor_allocations()
    let begin = ProcessStatus.threadSeconds
    for step in 0..<reports { report(step) }
    let seconds = ProcessStatus.threadSeconds - begin
    let allocated = floor_allocations() - allocations
    return [
      Figure(what, Double(reports) / seconds / 1_000_000, "million/s", bar),
      Figure("  allocations by 2,000,000 of them", Double(allocated), "", .atMost(0)),
    ]
  }

  /// 100 pages of 50 ms in sequence and with a window of 8.
  static func measureParallel() async throws -> [Figure] {
    let cursor = Cursor<Int>.numbered { number in
      try await Task.sleep(for: .milliseconds(50), tolerance: .zero)
      return NumberedPage([number], isLast: number == 100)
    }
    let rounds = try await Measurement.rounds(
      of: { for try await _ in cursor {} }, { for try await _ in cursor.parallel(8) {} },
      count: 1)
    return [
      Figure("100 × 50 ms, window of 8, to a sequence", rounds.ratio(0, to: 1), "×", .atLeast(7))
    ]
  }
}
