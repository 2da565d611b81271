import QuireCore
import QuireLists
import QuireTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct PagedTests {
  @Test(
    "TI-34, CP-26: pages of any size over pages of any size",
    arguments: [
      (pages: [[1, 2, 3, 4], [5], [6]], size: 2, result: [[1, 2], [3, 4], [5, 6]], loads: 3),
      (pages: [[1, 2, 3], [4, 5]], size: 2, result: [[1, 2], [3, 4], [5]], loads: 2),
      (pages: [[1], [], [2]], size: 2, result: [[1, 2]], loads: 3),
      (pages: [[], [], [9]], size: 2, result: [[9]], loads: 3),
      (pages: [Array(1...15)], size: 16, result: [Array(1...15)], loads: 1),
      (
        pages: [Array(1...15)], size: 4,
        result: [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12], [13, 14, 15]], loads: 1
      ),
      (pages: [[1, 2], [3, 4]], size: 2, result: [[1, 2], [3, 4]], loads: 2),
      (pages: [[1, 2], []], size: 2, result: [[1, 2], []], loads: 2),
    ])
  func pages(pages: [[Int]], size: Int, result: [[Int]], loads: Int) async throws {
    let source = ScriptedSource(items: pages)
    let walk = Cursor(source).paged(by: size).walk()
    #expect(try await walk.drained() == result)
    #expect(source.requests == Array(1...loads))
    #expect(walk.report.end.name == "exhausted")
    #expect(walk.report.traffic.requests == loads)
    #expect(walk.report.traffic.items == pages.joined().count)
  }

  @Test("TI-34: 16 items, half of them filtered out, in pages of 20 are one page of 8")
  func pagesFiltered() async throws {
    let source = ScriptedSource(sizes: 4, 4, 4, 4)
    let cursor = Cursor(source).filter { $0.isMultiple(of: 2) }.paged(by: 20)
    #expect(try await cursor.drained().map(\.count) == [8])
  }

  @Test("TI-34, TI-40: nothing in pages of any size is nothing, said by nil where others throw")
  func pagesNothing() async throws {
    // A Swift sequence ends by nil, and goes on to: an end that throws would fail every loop.
    var iterator = Cursor<Int>(pages: []).paged(by: 2).makeAsyncIterator()
    for _ in 0..<2 { #expect(try await iterator.next() == nil) }
  }

  @Test("TI-34: an error while a page is being filled keeps what is there for the next call")
  func keepsBuffer() async throws {
    let source = ScriptedSource(items: [[1], [2, 3]])
    source.fail(2)
    var iterator = Cursor(source).paged(by: 2).makeAsyncIterator()
    await #expect(throws: PageError.self) { try await iterator.next() }
    #expect(try await iterator.next()?.items == [1, 2])
    #expect(try await iterator.next()?.items == [3])
    #expect(try await iterator.next() == nil)
    #expect(source.requests == [1, 2, 2])
  }

  @Test(
    "TI-35: a page size below 1 is an error that names it, and nothing is requested",
    arguments: [0, -1, Int.min])
  func refusesSizes(size: Int) async throws {
    let source = ScriptedSource(sizes: 1)
    let error = await pageError { _ = try await Cursor(source).paged(by: size).drained() }
    #expect(error?.code == .invalidArgument)
    #expect(error?.message.contains("\(size)") == true)
    #expect(source.requests == [])
  }

  @Test("C-2: a page is read when it is needed, and the last one ends the walk without a request")
  func isLazy() async throws {
    let source = ScriptedSource(sizes: 2, 2, 2)
    var iterator = Cursor(source).paged(by: 3).makeAsyncIterator()
    #expect(source.requests == [])
    _ = try await iterator.next()
    #expect(source.requests == [1, 2])
    _ = try await iterator.next()
    #expect(source.requests == [1, 2, 3])
    #expect(try await iterator.next() == nil)
    #expect(source.requests == [1, 2, 3])
  }

  @Test("C-12: a page carries the metadata of the last page read for it")
  func carriesMetadata() async throws {
    struct Mark: Sendable { var number: Int }
    let pages = (1...3).map { number in
      var page = Page([number], total: Total(number))
      page.metadata[Mark.self] = Mark(number: number)
      return page
    }
    var iterator = Cursor(ScriptedSource(pages)).paged(by: 2).makeAsyncIterator()
    #expect(try await iterator.next()?.metadata[Mark.self]?.number == 2)
    let last = try await iterator.next()
    #expect(last?.metadata[Mark.self]?.number == 3)
    #expect(last?.total == Total(3))
  }

  @Test("C-3: a page that fails for good behind items is asked for and counted once")
  func failsForGood() async throws {
    let requests = Recorder<Position>()
    let cursor = Cursor<Int> { position in
      requests.note(position ?? .start)
      var page = Page([1], next: 2)
      page.traffic = WalkReport.Traffic(requests: 1)
      guard position != nil else { return page }
      var error = PageError(.limitExceeded, "The page is too large.")
      error.traffic = WalkReport.Traffic(bytes: 10)
      throw error
    }
    let walk = cursor.paged(by: 5).walk()
    #expect(try await walk.next()?.items == [1])
    #expect(await pageError { _ = try await walk.next() }?.code == .limitExceeded)
    #expect(requests.count == 2)
    #expect(walk.report.traffic.requests == 2 && walk.report.traffic.bytes == 10)
  }

  @Test("C-3: a broken way on shows after what was read before it")
  func deliversBeforeBrokenWayOn() async throws {
    var broken = Page([2])
    broken.nextFailure = PageError(.init("noWay"), "no way")
    let walk = Cursor(ScriptedSource([Page([1]), broken])).paged(by: 5).walk()
    var pages: [[Int]] = []
    let error = await pageError { for try await page in walk { pages.append(page.items) } }
    #expect(pages == [[1, 2]])
    #expect(error?.code == .init("noWay"))
  }
}
