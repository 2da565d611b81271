import QuireCore
import QuireLists
import QuireTesting
import TestSupport
import Testing

/// What observers see, in which order.
@Suite(.timeLimit(.minutes(15))) struct ListStateTests {
  private func list(
    _ source: ScriptedSource<Int>, _ options: ListOptions = ListOptions()
  ) -> PagedList<Int> {
    PagedList(Cursor(source), options: options)
  }

  @Test("TI-07, P-4: every state is seen exactly once, in order, the last page's content included")
  func sequence() async throws {
    let states = try await states(of: list(ScriptedSource(sizes: 2, 1))) { list in
      try await list.loadMore()
      try await list.loadMore()
    }
    #expect(
      states == ["idle", "loading", "content", "loadingMore", "content", "exhausted"])
  }

  @Test("TI-24: a listing of two pages causes these events, in this order")
  func eventOrder() async throws {
    let events = try await events(of: list(ScriptedSource(sizes: 2, 1))) { list in
      try await list.loadMore()
      try await list.loadMore()
    }
    #expect(
      events == [
        "loading", "didReload(2)", "content", "canLoadMore(true)", "loadingMore", "didLoad(1)",
        "content", "canLoadMore(false)", "exhausted",
      ])
  }

  @Test("TI-08: an empty exhausted first page leads from loading to empty, and clears")
  func empty() async throws {
    let source = ScriptedSource(sizes: 0)
    let events = try await events(of: list(source)) { list in
      let seen = try await list.items.collected()
      #expect(seen == [])
    }
    #expect(events == ["loading", "clear", "empty"])
  }

  @Test("TI-05: a total of pages is as many loads; 0 is an empty listing, and the state says so")
  func totalPages() async throws {
    for total in [3, 1] {
      let cursor = Cursor.numbered { NumberedPage([$0], totalPages: total) }
      let states = try await states(of: PagedList(cursor)) { list in
        let pages = try await list.drained()
        #expect(pages.count == total)
      }
      let more = Array(repeating: ["loadingMore", "content"], count: total - 1).flatMap { $0 }
      #expect(states == ["idle", "loading", "content"] + more + ["exhausted"])
    }
    let empty = Cursor<Int>.numbered { _ in NumberedPage([], totalPages: 0) }
    let states = try await states(of: PagedList(empty)) { list in
      let items = try await list.items.collected()
      #expect(items == [])
    }
    #expect(states == ["idle", "loading", "empty"])
  }

  @Test("TI-42: a single load is one request, and the list is exhausted by it")
  func single() async throws {
    let calls = Recorder<Int>()
    let cursor = Cursor.single {
      calls.note(1)
      return [1, 2, 3]
    }
    let states = try await states(of: PagedList(cursor)) { list in
      let items = try await list.items.collected()
      #expect(items == [1, 2, 3])
      #expect(try await list.loadMore() == false)
    }
    #expect(calls.count == 1)
    #expect(states == ["idle", "loading", "content", "exhausted"])
  }

  @Test("TI-02: what comes with a page is in the event that brings it, and in the snapshot")
  func metadata() async throws {
    struct DefaultBank: Sendable { var name: String }
    var page = Page([1, 2, 3])
    page.metadata[DefaultBank.self] = DefaultBank(name: "X")
    let list = PagedList(Cursor(ScriptedSource([page])).filter { $0 > 1 })
    var events = list.events.makeAsyncIterator()
    try await list.loadMore()
    var banks: [String?] = []
    while banks.isEmpty, let event = await events.next() {
      if case .reloaded(let page) = event { banks.append(page.metadata[DefaultBank.self]?.name) }
    }
    #expect(banks == ["X"])
    #expect(list.snapshot.pages.first?.metadata[DefaultBank.self]?.name == "X")
    #expect(list.snapshot.items == [2, 3])
  }

  @Test("TI-11, TI-06: a source that says it is exhausted before any item is empty, not failed")
  func exhaustedError() async throws {
    for isNil in [true, false] {
      let cursor = Cursor<Int> { _ in
        if isNil { return nil }
        throw PageError(.exhausted, "no more")
      }
      let events = try await events(of: PagedList(cursor)) { list in
        try await list.loadMore()
      }
      #expect(events == ["loading", "clear", "empty"])
    }
  }

  @Test("TI-06: an error that says exhausted is the normal end and never thrown")
  func exhaustedLater() async throws {
    let source = ScriptedSource(sizes: 1, 1, 1)
    source.fail(3, with: PageError(.exhausted, "no more"))
    #expect(try await Cursor(source).drained() == [[0], [1]])
    source.fail(3, with: PageError(.exhausted, "no more"))
    let states = try await states(of: list(source)) { list in
      let seen = try await list.drained()
      #expect(seen == [[0], [1]])
    }
    #expect(states.suffix(2) == ["loadingMore", "exhausted"])
  }

  @Test("TI-09, K-04: an empty page that is not the last is content; the item loop goes on past it")
  func emptyIsNoEnd() async throws {
    let source = ScriptedSource(sizes: 0, 0, 3)
    let states = try await states(of: list(source)) { list in
      let seen = try await list.items.collected()
      #expect(seen == [0, 1, 2])
    }
    #expect(source.requests == [1, 2, 3])
    #expect(!states.contains("empty"))
    #expect(states.last == "exhausted")
    // Only a listing that ended without an item is empty.
    let nothing = try await QuireListsTests.states(of: list(ScriptedSource(sizes: 0, 0))) {
      _ = try await $0.items.collected()
    }
    #expect(nothing == ["idle", "loading", "content", "loadingMore", "empty"])
  }

  @Test("TI-12: an error of the first page is a state that has it; it is thrown, and not retried")
  func firstPageError() async throws {
    let source = ScriptedSource(sizes: 1)
    source.fail(1)
    let list = list(source)
    var items: [Int] = []
    let thrown = await pageError { for try await item in list.items { items.append(item) } }
    #expect(items == [])
    #expect(thrown?.underlying is ScriptedFailure)
    guard case .loadingError(let shown) = list.snapshot.state else {
      Issue.record("\(list.snapshot.state)")
      return
    }
    #expect(shown.message == thrown?.message)
    #expect(source.requests == [1])
  }

  @Test("TI-13: an error of a later page keeps what is there, and comes after it")
  func laterPageError() async throws {
    let source = ScriptedSource(sizes: 10, 10)
    source.fail(2)
    let list = list(source)
    var items: [Int] = []
    let error = await pageError {
      for try await item in list.items {
        items.append(item)
        if item == 6 { try await source.wait { $0.requests == [1, 2] && $0.running == 0 } }
      }
    }
    #expect(error != nil)
    #expect(items == Array(0..<10))
    #expect(list.snapshot.count == 10)
    #expect(list.snapshot.state.description == "loadingMoreError")
    #expect(list.snapshot.state.error?.checkpoint == 2)
  }

  @Test("TI-14: retry() reloads after an error of the first page and after an empty listing")
  func retryReloads() async throws {
    let source = ScriptedSource(sizes: 1, 1)
    source.fail(1)
    let list = list(source)
    _ = try? await list.loadMore()
    #expect(try await list.retry())
    #expect(source.requests == [1, 1])
    #expect(list.snapshot.items == [0])
    let empty = ScriptedSource(sizes: 0)
    let nothing = self.list(empty)
    #expect(try await nothing.loadMore())
    #expect(nothing.snapshot.state == .empty)
    try await nothing.retry()
    #expect(empty.requests == [1, 1])
  }

  @Test(
    "TI-25: a load is initial, while it runs and afterwards, when nothing was held at its start")
  func isInitial() async throws {
    let source = ScriptedSource(sizes: 1, 1)
    let list = list(source)
    #expect(list.snapshot.isInitial)
    source.fail(1)
    try await during(list, source, 1) {
      _ = try? await $0.loadMore()
    } look: {
      #expect($0.isInitial && $0.state == .loading && !$0.isInteractionEnabled)
    }
    #expect(list.snapshot.isInitial)
    try await during(list, source, 1) {
      try await $0.retry()
    } look: {
      #expect($0.isInitial && $0.state == .loading)
    }
    #expect(list.snapshot.isInitial && list.snapshot.count == 1)
    try await during(list, source, 2) {
      try await $0.loadMore()
    } look: {
      #expect(!$0.isInitial && $0.state == .loadingMore)
    }
    #expect(!list.snapshot.isInitial)
    for fails in [true, false] {
      if fails { source.fail(1) }
      try await during(list, source, 1) {
        _ = try? await $0.reload()
      } look: {
        #expect(!$0.isInitial && $0.state == .loading && $0.isInteractionEnabled)
      }
      #expect(!list.snapshot.isInitial)
    }
  }

  @Test("TI-25: a reload is initial where it has emptied the list, at once or by its failure")
  func isInitialOnceCleared() async throws {
    for policy in [ListOptions.ReloadPolicy.clear, .clearOnFailure] {
      let source = ScriptedSource(sizes: 1)
      let list = list(source, ListOptions(onReload: policy))
      try await list.loadMore()
      source.fail(1)
      try await during(list, source, 1) {
        _ = try? await $0.reload()
      } look: {
        #expect($0.isInitial == (policy == .clear), "\(policy)")
      }
      try await during(list, source, 1) {
        try await $0.retry()
      } look: {
        #expect($0.isInitial, "\(policy)")
      }
    }
  }

  @Test("TI-25, TI-27: pages without items are nothing held: what comes after them is initial")
  func isInitialWithoutItems() async throws {
    let source = ScriptedSource(sizes: 0)
    let list = list(source)
    try await list.loadMore()
    #expect(list.snapshot.state == .empty)
    try await during(list, source, 1) {
      try await $0.retry()
    } look: {
      #expect($0.isInitial && !$0.isInteractionEnabled)
    }
    let sparse = ScriptedSource(sizes: 0, 1, 1)
    let other = self.list(sparse)
    try await other.loadMore()
    try await during(other, sparse, 2) {
      try await $0.loadMore()
    } look: {
      #expect($0.isInitial)
    }
    try await during(other, sparse, 3) {
      try await $0.loadMore()
    } look: {
      #expect(!$0.isInitial)
    }
  }

  /// Looks at the list while the load that `start` causes waits for that page.
  private func during(
    _ list: PagedList<Int>, _ source: ScriptedSource<Int>, _ page: Int,
    _ start: @escaping @Sendable (PagedList<Int>) async throws -> Void,
    look: (ListSnapshot<Int>) -> Void
  ) async throws {
    source.hold(page)
    let load = Task { try await start(list) }
    try await source.wait { $0.running == 1 && $0.requests.last == page }
    look(list.snapshot)
    source.release(page)
    try await load.value
  }

  @Test("TI-27: nothing can be touched only while there is nothing to touch")
  func interaction() async throws {
    let source = ScriptedSource(sizes: 1, 1)
    let list = list(source)
    source.hold(1)
    #expect(list.snapshot.isInteractionEnabled)
    let load = Task { try await list.loadMore() }
    try await source.wait { $0.requests == [1] }
    #expect(!list.snapshot.isInteractionEnabled)
    source.release(1)
    _ = try await load.value
    #expect(list.snapshot.isInteractionEnabled)
    source.hold(1)
    let reload = Task { try await list.reload() }
    try await source.wait { $0.requests == [1, 1] }
    #expect(list.snapshot.isInteractionEnabled)
    source.fail(1)
    source.release(1)
    _ = await reload.result
    #expect(list.snapshot.isInteractionEnabled)
    for empty in [true, false] {
      let other = ScriptedSource(sizes: 0)
      if !empty { other.fail(1) }
      let list = self.list(other)
      _ = try? await list.loadMore()
      #expect(list.snapshot.isInteractionEnabled)
    }
  }

  @Test("TI-28, OU-21: canLoadMore and isRefreshing in every state")
  func flags() async throws {
    let source = ScriptedSource(sizes: 1, 1)
    let list = list(source)
    #expect(!list.snapshot.canLoadMore)
    source.hold(1)
    let first = Task { try await list.loadMore() }
    try await source.wait { $0.requests == [1] }
    #expect(!list.snapshot.canLoadMore)
    #expect(!list.snapshot.isRefreshing)
    source.release(1)
    _ = try await first.value
    #expect(list.snapshot.canLoadMore)
    source.fail(2)
    _ = try? await list.loadMore()
    #expect(!list.snapshot.canLoadMore)
    for fails in [false, true] {
      source.hold(1)
      if fails { source.fail(1) }
      let reload = Task { try await list.reload() }
      try await source.wait { $0.running == 1 }
      #expect(list.snapshot.isRefreshing)
      #expect(!list.snapshot.canLoadMore)
      source.release(1)
      _ = await reload.result
      #expect(!list.snapshot.isRefreshing)
    }
    // What was there before the reload that failed goes on as before.
    #expect(list.snapshot.state.description == "loadingError")
    #expect(list.snapshot.canLoadMore)
    try await list.retry()
    try await list.loadMore()
    #expect(list.snapshot.state == .exhausted)
    #expect(!list.snapshot.canLoadMore)
  }

  @Test("TI-46: an empty first page can be asked to be a page like any other")
  func deliversEmptyFirstPage() async throws {
    let options = ListOptions(deliversEmptyFirstPage: true)
    let events = try await events(of: list(ScriptedSource(sizes: 0), options)) { list in
      try await list.loadMore()
    }
    #expect(
      events == [
        "loading", "didReload(0)", "content", "canLoadMore(true)", "canLoadMore(false)",
        "exhausted",
      ])
  }

  @Test("TI-21: loadMore() during the first load joins it, and the page is a first page")
  func joinsFirstLoad() async throws {
    let source = ScriptedSource(sizes: 1, 1)
    source.hold(1)
    let events = try await events(of: list(source)) { list in
      let calls = (0..<2).map { _ in Task { try await list.loadMore() } }
      try await source.wait { $0.requests == [1] }
      source.release(1)
      for call in calls { #expect(try await call.value) }
      #expect(source.requests == [1])
    }
    #expect(events == ["loading", "didReload(1)", "content", "canLoadMore(true)"])
  }

  @Test("TI-20: two calls to loadMore() are one load and one event")
  func coalesces() async throws {
    let source = ScriptedSource(sizes: 1, 1, 1)
    let events = try await events(of: list(source)) { list in
      try await list.loadMore()
      source.hold(2)
      // The second call comes before the page, or finds that it is there: it loads nothing.
      async let first = list.loadMore()
      async let second = list.loadMore()
      try await source.wait { $0.requests == [1, 2] }
      source.release(2)
      #expect(try await first)
      #expect(try await second)
    }
    #expect(source.log.maxConcurrent == 1)
    let loads = events.filter { $0.hasPrefix("didLoad") }
    #expect(loads.count == source.requests.count - 1)
  }

  @Test("TI-22: loadMore() behind the end changes nothing and answers false")
  func behindTheEnd() async throws {
    let source = ScriptedSource(sizes: 1)
    let events = try await events(of: list(source)) { list in
      try await list.loadMore()
      for _ in 0..<3 { #expect(try await list.loadMore() == false) }
    }
    #expect(events.last == "exhausted")
    #expect(events.filter { $0 == "exhausted" }.count == 1)
    #expect(source.requests == [1])
  }

  @Test("TI-23, K-10: cancel() leads back to the last state without an error; nothing has moved")
  func cancels() async throws {
    let source = ScriptedSource(sizes: 1, 1)
    let states = try await states(of: list(source)) { list in
      try await list.loadMore()
      source.hold(2)
      let load = Task { try await list.loadMore() }
      try await source.wait { $0.requests == [1, 2] }
      list.cancel()
      await #expect(throws: CancellationError.self) { try await load.value }
      #expect(list.snapshot.state == .content)
      try await source.wait { $0.cancelled == [2] }
      source.release(2)
      #expect(try await list.loadMore())
    }
    #expect(source.requests == [1, 2, 2])
    #expect(
      states == [
        "idle", "loading", "content", "loadingMore", "content", "loadingMore", "content",
        "exhausted",
      ])
  }

  @Test("TI-29, P-10: a list that is let go of cancels its load silently")
  func silentEnd() async throws {
    let source = ScriptedSource(sizes: 1, 1)
    source.hold(2)
    let events = try await events(of: list(source)) { list in
      try await list.loadMore()
      list.report(consumed: 1)
      try await source.wait { $0.requests == [1, 2] }
    }
    #expect(events.last == "loadingMore")
    try await source.wait { $0.cancelled == [2] && $0.running == 0 }
  }

  @Test("X-10: no snapshot shows a load that is over without what it brought")
  func atomicSnapshot() async throws {
    let source = ScriptedSource(sizes: Array(repeating: 3, count: 200))
    let list = list(source)
    let watcher = Task {
      var torn = 0
      while list.snapshot.state != .exhausted {
        let snapshot = list.snapshot
        let pages = snapshot.count / 3
        if snapshot.state == .content, pages == 0 { torn += 1 }
        if snapshot.count != snapshot.loaded { torn += 1 }
        await Task.yield()
      }
      return torn
    }
    var events = list.events.makeAsyncIterator()
    for page in 1...200 {
      try await list.loadMore()
      while let event = await events.next() {
        guard case .changed(_, .content) = event else { continue }
        #expect(list.snapshot.count == 3 * page)
        break
      }
    }
    #expect(await watcher.value == 0)
  }

  @Test("P-4: an observer that does not read delays no other, and misses nothing")
  func slowListener() async throws {
    let source = ScriptedSource(sizes: Array(repeating: 1, count: 1000))
    let events = try await ListUpdates<ListEvent<Int>>.during({ list(source) }, \.events) {
      do { _ = $0.events.makeAsyncIterator() }
      _ = try await $0.drained()
    }
    #expect(events.count == 4 + 999 * 3 + 2)
    var last = ListState.idle
    for case .changed(let old, let new) in events {
      #expect(old == last)
      #expect(new != old)
      last = new
    }
    #expect(last == .exhausted)
  }

  @Test("X-13, P-10: an observer of a page may reload at once; events stay in order")
  func reloadsFromListener() async throws {
    let source = ScriptedSource(sizes: 1, 1, 1)
    let list = list(source)
    var events = list.events.makeAsyncIterator()
    try await list.loadMore()
    try await list.loadMore()
    var names: [String] = []
    while let event = await events.next() {
      names.append(event.name)
      if case .appended = event { try await list.reload() }
      if names.count == 11 { break }
    }
    #expect(
      names == [
        "loading", "didReload(1)", "content", "canLoadMore(true)", "loadingMore", "didLoad(1)",
        "content", "canLoadMore(false)", "loading", "didReload(1)", "content",
      ])
    #expect(source.requests == [1, 2, 1])
  }

  @Test("P-4: observing ends when the observer is cancelled, and when the list is gone")
  func listeningEnds() async throws {
    var list: PagedList<Int>? = PagedList(Cursor(ScriptedSource(sizes: 1)))
    let states = try #require(list?.states)
    let cancelled = Task { await states.makeAsyncIterator().rest().count }
    cancelled.cancel()
    #expect(await cancelled.value <= 1)
    let listener = states.makeAsyncIterator()
    list = nil
    #expect(await listener.rest() == [.idle])
    #expect(await states.makeAsyncIterator().rest() == [])
  }
}
