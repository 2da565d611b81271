import QuireCore
import QuireLists
import QuireTesting
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

  @Test("12-A5, P-9: a window that has room, and one that nothing is known of, are not")
  func wideEnough() async throws {
    for (most, window) in [(6, 6), (6, 2), (nil, 8)] {
      let walk = cursor(readsAtOnce: most).parallel(window).walk()
      _ = try await walk.drained()
      #expect(walk.report.warnings == [])
    }
  }
}
