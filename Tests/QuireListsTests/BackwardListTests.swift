import QuireCore
import QuireLists
import QuireTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct BackwardListTests {
  private func list(_ source: ScriptedSource<Int>, from page: Int) -> PagedList<Int> {
    PagedList(
      Cursor(source, from: Position(integerLiteral: page)),
      options: ListOptions(threshold: .onDemand))
  }

  @Test("TI-31: a walk starts where it is told to")
  func startsAnywhere() async throws {
    let source = ScriptedSource(sizes: 1, 1, 1, 1, 1)
    #expect(try await list(source, from: 3).items.collected() == [2, 3, 4])
    #expect(source.requests == [3, 4, 5])
  }

  @Test("TI-32, P-8: both ends move by themselves, until each is exhausted")
  func bothEnds() async throws {
    let source = ScriptedSource(sizes: 1, 1, 1, 1)
    let list = list(source, from: 3)
    #expect(try await list.loadMore())
    #expect(try await list.loadBefore())
    #expect(try await list.loadBefore())
    #expect(try await list.loadMore())
    #expect(try await list.loadBefore() == false)
    #expect(try await list.loadMore() == false)
    #expect(source.requests == [3, 2, 1, 4])
    #expect(list.snapshot.items == [0, 1, 2, 3])
    #expect(list.snapshot.pages.map(\.index) == [-2, -1, 0, 1])
    #expect(!list.snapshot.canLoadBefore)
    #expect(list.snapshot.state == .exhausted)
  }

  @Test("IN-26, P-8: older items come at the front, and everything else moves by as many")
  func keepsPosition() async throws {
    let source = ScriptedSource(sizes: 10, 10)
    let list = list(source, from: 2)
    try await list.loadMore()
    let item = list.snapshot.items[5]
    let events = list.events.makeAsyncIterator()
    try await list.loadBefore()
    #expect(await events.next(1).map(\.name) == ["shift(10)"])
    #expect(list.snapshot.items[15] == item)
    #expect(list.snapshot.prepended == 10)
    #expect(list.snapshot.currentPage == 1)
    // Reports count from the new front; one of fewer than none says nothing.
    list.options.threshold = .standard
    list.report(consumed: .min)
    list.report(consumed: 10)
    #expect(list.snapshot.state == .exhausted)
    #expect(try await list.items.collected() == Array(0..<20))
  }

  @Test("IN-27: more at the leading end: from page 3 back to 2 and to 1, each once")
  func leadingEnd() async throws {
    let source = ScriptedSource(sizes: 1, 1, 1)
    let list = list(source, from: 3)
    try await list.loadMore()
    source.hold(2)
    let calls = (0..<2).map { _ in Task { try await list.loadBefore() } }
    try await source.wait { $0.requests == [3, 2] }
    #expect(list.snapshot.isLoadingBefore)
    source.release(2)
    for call in calls { #expect(try await call.value) }
    while try await list.loadBefore() {}
    #expect(source.requests == [3, 2, 1])
    #expect(list.snapshot.items == [0, 1, 2])
  }

  @Test("TI-07, P-8: a list that begins behind the last item is empty until items come before it")
  func beginsBehindTheLastItem() async throws {
    let source = ScriptedSource(items: [[0, 1], []])
    let list = list(source, from: 2)
    try await list.loadMore()
    #expect(list.snapshot.state == .empty)
    let states = list.states.makeAsyncIterator()
    try await list.loadBefore()
    #expect(await states.next(2) == [.empty, .exhausted])
    #expect(list.snapshot.items == [0, 1])
    // Nothing failed, and nothing is empty.
    #expect(try await list.retry() == false)
    #expect(source.requests == [2, 1])
  }

  @Test("P-8: an error before the start is no error behind the end, and the other way round")
  func independentErrors() async throws {
    let source = ScriptedSource(sizes: 1, 1, 1)
    let list = list(source, from: 2)
    try await list.loadMore()
    source.fail(1)
    await #expect(throws: PageError.self) { try await list.loadBefore() }
    #expect(list.snapshot.state == .content)
    #expect(list.snapshot.errorBefore?.checkpoint == 1)
    source.fail(3)
    await #expect(throws: PageError.self) { try await list.loadMore() }
    #expect(list.snapshot.state.description == "loadingMoreError")
    #expect(try await list.loadBefore())
    #expect(list.snapshot.errorBefore == nil)
    #expect(list.snapshot.state.description == "loadingMoreError")
    #expect(try await list.retry())
    #expect(list.snapshot.items == [0, 1, 2])
  }

  @Test("P-8: a wish for the page before the first one loads the first one")
  func beforeAnything() async throws {
    let source = ScriptedSource(sizes: 1, 1)
    let list = list(source, from: 2)
    #expect(try await list.loadBefore())
    #expect(source.requests == [2, 1])
    source.fail(2)
    let failing = self.list(source, from: 2)
    await #expect(throws: PageError.self) { try await failing.loadBefore() }
    let none = self.list(ScriptedSource(sizes: 1), from: 1)
    #expect(try await none.loadBefore() == false)
  }

  @Test("TI-32: a walk goes both ways from where it starts, each way by itself")
  func walksBothWays() async throws {
    let source = ScriptedSource(sizes: 1, 1, 1, 1)
    let walk = Cursor(source, from: 3).walk()
    #expect(try await walk.next()?.items == [2])
    #expect(try await walk.previous()?.items == [1])
    #expect(try await walk.previous()?.items == [0])
    #expect(try await walk.next()?.items == [3])
    #expect(try await walk.previous() == nil)
    #expect(try await walk.next() == nil)
    #expect(source.requests == [3, 2, 1, 4])
    let other = Cursor(source, from: 2).walk()
    let before = try await other.previous()
    #expect(before?.items == [0])
    #expect(before?.index == -1)
    #expect(before?.next == 2)
    #expect(try await other.next()?.items == [1])
  }

  @Test("TI-32, 15-Limits: limits on requests are on both ways of a walk together")
  func limitsBothWays() async throws {
    let source = ScriptedSource(sizes: 1, 1, 1, 1, 1)
    let walk = Cursor(source, from: 3, limits: Limits(requests: 3)).walk()
    _ = try await walk.next()
    #expect(try await walk.previous()?.items == [1])
    #expect(try await walk.next()?.items == [3])
    #expect(await pageError { _ = try await walk.previous() }?.code == .limitExceeded)
    #expect(await pageError { _ = try await walk.next() }?.code == .limitExceeded)
    #expect(source.requests == [3, 2, 4])
  }

  @Test("TI-32, C-8: a walk that begins within a page reads its front before the pages before it")
  func frontOfPage() async throws {
    let source = ScriptedSource(sizes: 10, 10, 10)
    let cursor = Cursor(source, from: Position(.number("2"), itemOffset: 4))
    let walk = cursor.walk()
    let front = try #require(try await walk.previous())
    #expect(front.items == Array(10..<14) && front.index == -1)
    #expect(front.position == 2 && front.next == cursor.start)
    #expect(try await walk.previous()?.items == Array(0..<10))
    #expect(try await walk.previous() == nil)
    #expect(try await walk.next()?.items == Array(14..<20))
    #expect(source.requests == [2, 1, 2])
    // Items are counted in the source's pages, whatever a transform leaves of them.
    #expect(try await cursor.filter { $0 % 2 == 0 }.walk().previous()?.items == [10, 12])
    let first = Cursor(source, from: Position(nil, itemOffset: 3))
    #expect(try await first.walk().previous()?.items == [0, 1, 2])
    #expect(try await first.filter { $0 > 2 }.walk().previous() == nil)
    #expect(try await first.paged(by: 2).walk().previous() == nil)
  }

  @Test("TI-32, 18-Window: a list that begins within a page shows its front, and loads it again")
  func frontInList() async throws {
    let source = ScriptedSource(sizes: 10, 10, 10, 10, 10)
    let list = PagedList(
      Cursor(source, from: Position(.number("2"), itemOffset: 4)),
      options: ListOptions(threshold: .onDemand, window: ListWindow(pages: 3)))
    try await list.loadMore()
    #expect(list.snapshot.canLoadBefore && list.snapshot.items == Array(14..<20))
    while try await list.loadBefore() {}
    #expect(list.snapshot.items == Array(0..<20))
    while try await list.loadMore() {}
    #expect(list.snapshot.items == Array(20..<50))
    while try await list.loadBefore() {}
    #expect(list.snapshot.items == Array(0..<20) && list.snapshot.loaded == 50)
    #expect(try await list.items.collected() == Array(0..<50))
  }
}
