import QuireCore
import QuireLists
import QuireTesting
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct ParallelWarningTests {
  private func cursor(readsAtOnce: Int?) -> Cursor<Int> {
    let base = Cursor.numbered(from: 0) { NumberedPage([$0], totalPages: 9) }
    return Cursor(Restricted(base: base, readsAtOnce: readsAtOnce))
  }

  /// A source that says how many of its pages can be read at the same time.
  private struct Restricted: PageSource {
    let base: Cursor<Int>
    let readsAtOnce: Int?

    func page(at position: Position?) async throws -> Page<Int>? {
      var page = try await base.resuming(from: position ?? .start).walk().next()
      page?.head.readsAtOnce = readsAtOnce
      return page
    }

    func positions(after position: Position?, total: Total?, count: Int) -> [Position] {
      let number = position?.value?.integer ?? 0
      return (number + 1..<max(number + 1, min(number + 1 + count, 9))).map(
        Position.init(integerLiteral:))
    }
  }

  @Test("12-A5, P-9: a window that the transport holds narrower is named in the report, once")
  func narrowed() async throws {
    let walk = cursor(readsAtOnce: 6).parallel(8).walk()
    #expect(try await walk.drained() == (0..<9).map { [$0] })
    #expect(walk.report.warnings.map(\.code) == [.narrowedWindow])
    #expect(walk.report.warnings.first?.remedy == Remedy(.connectionsPerHost, ["8"]))
    #expect(walk.report.warnings.first?.message.contains("6 pages") == true)
  }

  private final class Requests: Sendable {
    let count = Atomic(0)
  }

  /// Offsets of pages of ten, of which the server makes smaller ones up to an item.
  private struct Lowered: PageSource {
    let until: Int
    let requests: Requests

    func page(at position: Position?) async throws -> Page<Int>? {
      requests.count.add(1, ordering: .relaxed)
      let start = min(position?.value?.integer ?? 0, 400)
      let end = min(start + (start < until ? 7 : 10), 400)
      var page = Page(Array(start..<end))
      page.next = end < 400 ? Position(integerLiteral: end) : nil
      return page
    }

    func positions(after position: Position?, total: Total?, count: Int) -> [Position] {
      let start = position?.value?.integer ?? 0
      return (1...max(1, count)).map { Position(integerLiteral: start + 10 * $0) }
    }
  }

  @Test(
    "Where pages lead elsewhere than expected, few are read in vain, and the report says why")
  func lowered() async throws {
    let lowered = Requests()
    let walk = Cursor(Lowered(until: 400, requests: lowered)).parallel(16).walk()
    #expect(try await walk.drained().flatMap(\.self) == Array(0..<400))
    // 58 pages are needed.
    let count = lowered.count.load(ordering: .relaxed)
    #expect(count >= 58 && count < 58 + 15 + 10, "\(count)")
    #expect(walk.report.warnings.map(\.code) == [.narrowedWindow])
    #expect(walk.report.warnings.first?.remedy?.values == ["7"])
    let other = Cursor(Lowered(until: 14, requests: Requests())).parallel(16).walk()
    #expect(try await other.drained().flatMap(\.self) == Array(0..<400))
  }

  @Test(
    "P-9: where no position is known in advance, the report says once that pages come one by one")
  func blind() async throws {
    for (last, codes) in [(9, [WalkReport.Warning.Code.narrowedWindow]), (1, [])] {
      let cursor = Cursor<Int> { position in
        let number = position?.value?.integer ?? 0
        return Page([number], next: number < last ? Position(integerLiteral: number + 1) : nil)
      }
      let walk = cursor.parallel(8).walk()
      #expect(try await walk.drained().flatMap(\.self) == Array(0...last))
      #expect(walk.report.warnings.map(\.code) == codes)
      #expect(walk.report.warnings.allSatisfy { $0.remedy?.setting == .pageSize })
      let single = cursor.parallel(1).walk()
      _ = try await single.drained()
      #expect(single.report.warnings == [])
    }
  }

  @Test("12-A5, P-9: a window that has room, and one that nothing is known of, are not")
  func wideEnough() async throws {
    for (most, window) in [(6, 6), (6, 2), (nil, 8)] {
      let walk = cursor(readsAtOnce: most).parallel(window).walk()
      _ = try await walk.drained()
      #expect(walk.report.warnings == [])
    }
  }

  /// Pages of four items, of which a page that is not full is the last.
  private func short(_ pages: [[Int]]) -> Cursor<Int> {
    struct Source: PageSource {
      let pages: [[Int]]

      func page(at position: Position?) async throws -> Page<Int>? {
        let number = position?.value?.integer ?? 0
        var page = Page(number < pages.count ? pages[number] : [])
        page.head.fingerprint = page.items.hashValue
        page.next = page.items.count == 4 ? Position(integerLiteral: number + 1) : nil
        return page
      }

      func positions(after position: Position?, total: Total?, count: Int) -> [Position] {
        (1...count).map { Position(integerLiteral: (position?.value?.integer ?? 0) + $0) }
      }
    }
    // No time passes: a page that is read ahead has come, or is not waited for.
    return Cursor(Source(pages: pages), clock: StoppedClock())
  }

  /// A clock of which nothing that sleeps awakes before it is cancelled.
  private struct StoppedClock: Clock {
    let base = ManualClock()
    var now: ManualClock.Instant { base.now }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
      try await base.sleep(until: deadline.advanced(by: .seconds(1)), tolerance: tolerance)
    }
  }

  @Test("P-9: other items behind the page that ended the listing are told of in the report")
  func itemsBehindEnd() async throws {
    let full = [[0, 1, 2, 3], [4, 5, 6, 7]]
    for middle in [[8, 9, 10], []] {
      let walk = short(full + [middle, [11, 12, 13, 14], [15]]).parallel(4).walk()
      #expect(try await walk.drained() == full + [middle])
      #expect(walk.report.warnings.map(\.code) == [.itemsBehindEnd])
      #expect(walk.report.warnings.first?.message.contains("4 items") == true)
    }
  }

  @Test("P-9: servers that answer behind the end with the last page, the first or none are not")
  func repeatsBehindEnd() async throws {
    let pages = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    for behind in [[8, 9], [0, 1, 2, 3], []] {
      let walk = short(pages + [behind, behind]).parallel(4).walk()
      #expect(try await walk.drained() == pages)
      #expect(walk.report.warnings == [])
    }
  }
}
