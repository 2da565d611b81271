import Quire

/// What a paginator costs that nobody reads, what a report costs, and what reading in parallel gains.
enum Paginators {
  private static let count = 100_000

  /// Pages of ten numbers, as fast as they can be made.
  private static func cursor() -> Cursor<Int> {
    Cursor { position in
      let start = position?.value?.integer ?? 0
      return Page(Array(start..<start + 10), next: Position(integerLiteral: start + 10))
    }
  }

  /// Memory of paginators that are alive and idle: fresh ones, and ones that hold a page.
  static func measureIdle() async throws -> [Figure] {
    let cursor = cursor()
    let before = ProcessStatus.residentBytes
    let paginators = (0..<count).map { _ in Paginator(cursor) }
    let fresh = ProcessStatus.residentBytes - before
    let states = paginators.lazy.filter { $0.snapshot.state == .idle }.count
    precondition(states == count)
    return [
      Figure("an idle paginator", Double(fresh) / Double(count), "bytes", .atMost(2048))
    ]
  }

  /// Reports a second to one paginator, of which none is due.
  static func measureReports() async throws -> [Figure] {
    let paginator = Paginator(cursor(), retention: .all)
    try await paginator.loadMore()
    let viewport = Viewport(content: 1800, extent: 800)
    let reports = 2_000_000
    let rounds = try await Measurement.rounds(
      of: { for step in 0..<reports { paginator.report(consumed: step % 6) } },
      {
        for step in 0..<reports { paginator.report(offset: Double(step % 600), in: viewport) }
      }, count: 3)
    let before = ProcessStatus.residentBytes
    for step in 0..<reports { paginator.report(offset: Double(step % 600), in: viewport) }
    let growth = Double(ProcessStatus.residentBytes - before) / 1024
    func perSecond(_ contestant: Int) -> Double {
      Double(reports) / rounds.seconds(contestant) / 1_000_000
    }
    return [
      Figure("reports of items", perSecond(0), "million/s", .atLeast(1)),
      Figure("reports of offsets", perSecond(1), "million/s", .atLeast(1)),
      Figure("  memory gained by 2,000,000 reports", growth, "KiB", .atMost(16)),
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
