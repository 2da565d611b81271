import Foundation
import QuireCore
import QuireTesting
import Synchronization
import TestSupport
import Testing

@testable import QuireListModel

/// Lists that begin with what a store has kept.
@MainActor @Suite struct ListStoreTests {
  /// A listing of so many pages of two, as a run of the program has stored it.
  private func stored(_ pages: Int, of source: ScriptedSource<Row>) async throws -> MemoryListStore<
    Row
  > {
    let store = MemoryListStore<Row>()
    let model = ListModel(Cursor(source), options: .byHand, store: store)
    for _ in 0..<pages { try await model.loadMore() }
    await model.settleStore()
    #expect(await store.pages().count == pages)
    return store
  }

  @Test(
    "18-Store: stored pages are shown at once and are stale; behind them the first page is loaded")
  func restores() async throws {
    let source = rows([[0, 1], [2, 3], [4, 5]])
    let store = try await stored(2, of: source)
    let model = ListModel(Cursor(source), options: .byHand, store: store)
    source.hold(1)
    let start = Task { try await model.start() }
    try await source.wait { $0.running == 1 }
    #expect(model.shown == "0 1 2 3" && model.snapshot.list.isStale)
    #expect(model.snapshot.list.isRefreshing && model.state == .loading)
    source.release(1)
    #expect(try await start.value)
    // Nothing has changed there: everything stays, and the page that was read is stale no more.
    #expect(model.shown == "0 1 2 3" && model.state == .content)
    #expect(model.snapshot.list.isStale)
    model.report(visible: 0..<4)
    while model.snapshot.list.isStale { await Task.yield() }
    #expect(source.requests.suffix(2) == [1, 2])
    try await model.loadMore()
    #expect(model.shown == "0 1 2 3 4 5" && model.state == .exhausted)
    await model.settleStore()
    #expect(await store.pages().map { $0.items.map(\.id) } == [[0, 1], [2, 3], [4, 5]])
  }

  @Test("18-Store: where the first page has changed, it takes the place of all, in the store, too")
  func replaces() async throws {
    let store = try await stored(2, of: rows([[0, 1], [2, 3]]))
    let source = rows([[7, 0], [1, 2], [3]])
    let model = ListModel(Cursor(source), options: .byHand, store: store)
    try await model.start()
    #expect(model.shown == "7 0" && !model.snapshot.list.isStale)
    await model.settleStore()
    #expect(await store.pages().map { $0.items.map(\.id) } == [[7, 0]])
    try await model.loadMore()
    #expect(model.shown == "7 0 1 2")
  }

  @Test(
    "18-Store: offline the list goes on showing what it has, says so, and goes on once it is back")
  func offline() async throws {
    let source = rows([[0, 1], [2, 3], [4, 5]])
    let store = try await stored(2, of: source)
    source.fail(1, times: 2)
    let model = ListModel(Cursor(source), options: .byHand, store: store)
    await #expect(throws: PageError.self) { try await model.start() }
    #expect(model.shown == "0 1 2 3" && model.snapshot.list.isStale)
    #expect(model.snapshot.refreshError?.underlying is ScriptedFailure)
    #expect(model.state.description == "loadingError")
    // What is stale and in view is tried once.
    model.report(visible: 0..<2)
    while model.list.report.pages == 0, source.requests.filter({ $0 == 1 }).count < 3 {
      await Task.yield()
    }
    while model.snapshot.list.isLoadingAgain { await Task.yield() }
    for _ in 0..<100 { model.report(visible: 0..<2) }
    #expect(model.shown == "0 1 2 3")
    try await model.retry()
    #expect(model.snapshot.refreshError == nil && model.shown == "0 1 2 3")
    try await model.loadMore()
    #expect(model.shown == "0 1 2 3 4 5")
  }

  @Test(
    "18-Store: a stored page that has changed is shown as it is now, and what follows is looked for anew"
  )
  func revalidates() async throws {
    let store = try await stored(3, of: rows([[0, 1], [2, 3], [4, 5]]))
    // One page further on than the first, rows have come, and everything has moved.
    let source = rows([[0, 1], [8, 2], [3, 4], [5]])
    let model = ListModel(Cursor(source), options: .byHand, store: store)
    try await model.start()
    for _ in 0..<6 {
      model.report(visible: 0..<6)
      while model.snapshot.list.isLoadingAgain || model.state.isLoading { await Task.yield() }
    }
    while try await model.loadMore() {}
    #expect(model.shown == "0 1 8 2 3 4 5")
    #expect(!model.snapshot.list.isStale && model.state == .exhausted)
  }

  @Test(
    "18-Store: behind a first page that has not changed, a reload leaves no page as it came before")
  func reloadsWhatWasLoaded() async throws {
    let pages = Mutex([[0, 1], [2, 3], [4, 5]])
    let cursor = Cursor<Row> { position in
      let number = position?.value?.integer ?? 0
      return Page(
        pages.withLock { $0[number] }.map { Row(id: $0) },
        next: number < 2 ? Position(integerLiteral: number + 1) : nil)
    }
    let store = MemoryListStore<Row>()
    let earlier = ListModel(cursor, options: .byHand, store: store)
    while try await earlier.loadMore() {}
    await earlier.settleStore()
    let model = ListModel(cursor, options: .byHand, store: store)
    try await model.start()
    func show() async {
      model.report(visible: 0..<4)
      while model.snapshot.list.isLoadingAgain { await Task.yield() }
    }
    await show()
    // The second page is in view and was loaded, the third is still that of the store.
    #expect(model.shown == "0 1 2 3 4 5" && model.snapshot.list.isStale)
    pages.withLock { $0[1] = [2, 8] }
    try await model.reload()
    await show()
    #expect(model.shown == "0 1 2 8 4 5")
  }

  @Test("18-Store: a store that fails is told of, and costs the list nothing else")
  func fails() async throws {
    struct Broken: ListStore {
      func pages() throws -> [StoredPage<Row>] { throw ScriptedFailure("read") }
      func keep(_ page: StoredPage<Row>, at index: Int, isLast: Bool) throws {
        throw ScriptedFailure("write")
      }
    }
    let model = ListModel(Cursor(rows([[0], [1]])), options: .byHand, store: Broken())
    try await model.start()
    #expect(model.shown == "0")
    await model.settleStore()
    try await model.loadMore()
    #expect(model.snapshot.storeError as? ScriptedFailure == ScriptedFailure("write"))
  }

  @Test(
    "18-Store: a store that fails after the list has changed is told of when it does",
    .timeLimit(.minutes(15)))
  func failsLater() async throws {
    struct Broken: ListStore {
      let gate: Gate
      func pages() -> [StoredPage<Row>] { [] }
      func keep(_ page: StoredPage<Row>, at index: Int, isLast: Bool) async throws {
        try await gate.wait()
        throw ScriptedFailure("write")
      }
    }
    let gate = Gate()
    let model = ListModel(Cursor(rows([[0]])), options: .byHand, store: Broken(gate: gate))
    try await model.start()
    var changes = model.changes.makeAsyncIterator()
    #expect(await changes.next()?.snapshot.storeError == nil)
    gate.openUp()
    var error: (any Error)?
    while error == nil, let change = await changes.next() { error = change.snapshot.storeError }
    #expect(error as? ScriptedFailure == ScriptedFailure("write"))
  }

  @Test("18-Store: behind a page that could not be kept none is, until it is")
  func failsForATime() async throws {
    actor Failing: ListStore {
      var kept: [StoredPage<Row>] = []
      var refused: Int?
      func refuse(_ index: Int?) { refused = index }
      func pages() -> [StoredPage<Row>] { kept }
      func keep(_ page: StoredPage<Row>, at index: Int, isLast: Bool) throws {
        if index == refused { throw ScriptedFailure() }
        kept = kept.prefix(index) + [page] + (isLast ? [] : kept.dropFirst(index + 1))
      }
      var ids: [Int] { kept.flatMap { $0.items.map(\.id) } }
    }
    let store = Failing()
    let listings = Recorder<Int>()
    let cursor = Cursor<Row> { position in
      let number = position?.value?.integer ?? 0
      if number == 0 { listings.note(number) }
      let row = Row(id: 10 * (listings.values.count - 1) + number)
      return Page([row], next: number < 3 ? Position(integerLiteral: number + 1) : nil)
    }
    let model = ListModel(cursor, options: .byHand, store: store)
    try await model.loadMore()
    await store.refuse(1)
    for _ in 0..<2 {
      try await model.loadMore()
      await model.settleStore()
      #expect(await store.ids == [0])
      #expect(model.snapshot.storeError != nil)
    }
    // Of a new listing, too, nothing is kept in part behind pages of the old one. The old one's may
    // still come: while the first page is loaded again, they are what is shown.
    await store.refuse(0)
    try await model.reload()
    try await model.loadMore()
    await model.settleStore()
    #expect([[0], [0, 1], [0, 1, 2]].contains(await store.ids))
    await store.refuse(nil)
    for _ in 0..<2 { try await model.loadMore() }
    await model.settleStore()
    #expect(await store.ids == [10, 11, 12, 13])
    #expect(model.snapshot.storeError == nil)
  }

  @Test("18-Store: what is restored has no gap, whatever a store has")
  func restoresToTheGap() async throws {
    let source = rows([[0, 1], [2, 3], [4, 5]])
    var kept = try await stored(3, of: source).pages()
    kept.remove(at: 1)
    let model = ListModel(Cursor(source), options: .byHand, store: MemoryListStore(kept))
    try await model.start()
    #expect(model.shown == "0 1")
    try await model.loadMore()
    #expect(model.shown == "0 1 2 3")
  }

  @Test("18-Store: where a server writes its links anew with every answer, nothing kept is cut off")
  func signedLinks() async throws {
    let answers = Recorder<Int>()
    let cursor = Cursor<Row> { position in
      let number = (position?.value?.integer ?? 0) % 100
      answers.note(number)
      let next = Position(integerLiteral: 100 * answers.values.count + number + 1)
      var page = Page([Row(id: number)], next: number < 5 ? next : nil)
      page.head.fingerprint = number
      return page
    }
    let store = MemoryListStore<Row>()
    let options = ListOptions(threshold: .onDemand, window: ListWindow(pages: 3))
    let model = ListModel(cursor, options: options, store: store)
    for _ in 0..<6 { try await model.loadMore() }
    for step in 0..<6 {
      if step < 3 { try await model.loadBefore() } else { try await model.loadMore() }
      await model.settleStore()
      let kept = await store.pages()
      #expect(kept.map { $0.items.map(\.id) } == (0..<6).map { [$0] })
      #expect(zip(kept, kept.dropFirst()).allSatisfy { $0.next == $1.position })
    }
  }

  @Test("18-Store: a window stores every page that came, and restores no more than it holds")
  func window() async throws {
    let source = rows((0..<6).map { [$0] })
    let options = ListOptions(threshold: .onDemand, window: ListWindow(pages: 3))
    let store = MemoryListStore<Row>()
    let model = ListModel(Cursor(source), options: options, store: store)
    for _ in 0..<5 { try await model.loadMore() }
    await model.settleStore()
    #expect(await store.pages().flatMap { $0.items.map(\.id) } == [0, 1, 2, 3, 4])
    let other = ListModel(Cursor(source), options: options, store: store)
    try await other.start()
    #expect(other.shown == "0 1 2" && other.snapshot.expectedAfter == 2)
  }

  @Test("18-Store, C-9: a limit on pages counts restored parts of a page as one")
  func restoresParts() async throws {
    let cursor = Cursor<Row>(limits: Limits(pages: 2)) { position in
      let number = position?.value?.integer ?? 0
      var page = Page([Row(id: number)], next: Position(integerLiteral: number + 1))
      page.hasMoreParts = number % 3 < 2
      return page
    }
    let store = MemoryListStore<Row>()
    let first = ListModel(cursor, options: .byHand, store: store)
    for _ in 0..<4 { try await first.loadMore() }
    await first.settleStore()
    let model = ListModel(cursor, options: .byHand, store: store)
    try await model.start()
    #expect(model.shown == "0 1 2 3")
    while try await model.loadMore() {}
    #expect(model.shown == "0 1 2 3 4 5" && model.state == .exhausted)
  }

  @Test("18-Store: a store in memory keeps every promise of a store, and one that does not is told")
  func conforms() async throws {
    typealias Item = ListStoreConformance.Item
    let store = MemoryListStore<Item>()
    try await ListStoreConformance.check { store }
    /// Forgets to take away what lies behind the last page.
    actor Forgetful: ListStore {
      var kept: [StoredPage<Item>] = []
      func pages() -> [StoredPage<Item>] { kept }
      func keep(_ page: StoredPage<Item>, at index: Int, isLast: Bool) {
        kept = kept.prefix(index) + [page] + kept.dropFirst(index + 1)
      }
    }
    let forgetful = Forgetful()
    let failure = await #expect(throws: ConformanceFailure.self) {
      try await ListStoreConformance.check { forgetful }
    }
    #expect(failure?.promise == "Behind a page that is the last, nothing stays.")
    let damaged = MemoryListStore<Item>()
    await #expect(throws: ConformanceFailure.self) {
      try await ListStoreConformance.check(damagedBy: {}) { damaged }
    }
  }

  @Test("18-Store: a listing that has become empty is empty in the store, too")
  func empties() async throws {
    let store = try await stored(2, of: rows([[0, 1], [2, 3]]))
    for cursor in [Cursor<Row> { _ in nil }, Cursor<Row> { _ in Page([]) }] {
      let model = ListModel(cursor, options: .byHand, store: store)
      try await model.start()
      #expect(model.shown == "" && model.state == .empty)
      await model.settleStore()
      #expect(await store.pages().flatMap(\.items).isEmpty)
    }
  }

  @Test("18-Store: a stored page is JSON and back")
  func coding() throws {
    var page = Page([Row(id: 1)], next: "b", previous: "a", total: Total(9))
    page.items.append(Row(id: 2, text: "ä"))
    let kept = StoredPage(page)
    let data = try JSONEncoder().encode(kept)
    #expect(try JSONDecoder().decode(StoredPage<Row>.self, from: data) == kept)
  }
}
