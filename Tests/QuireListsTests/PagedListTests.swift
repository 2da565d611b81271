@testable import QuireCore
@testable import QuireLists
import QuireTesting
import TestSupport
import Testing

/// A list: what it keeps, what reports lead to, and where it can be navigated to.
@Suite(.timeLimit(.minutes(15))) struct PagedListTests {
  private func list(
    _ source: ScriptedSource<Int>, _ threshold: Threshold = .standard,
    _ options: ListOptions = ListOptions()
  ) -> PagedList<Int> {
    var options = options
    options.threshold = threshold
    return PagedList(Cursor(source), options: options)
  }

  // MARK: Loops

  @Test("X-17, P-6, K-11: a list keeps its pages, and loops over it all see all of them")
  func loopsShare() async throws {
    let source = ScriptedSource(sizes: 2, 3)
    let list = list(source)
    #expect(try await list.drained() == [[0, 1], [2, 3, 4]])
    #expect(try await list.items.collected() == [0, 1, 2, 3, 4])
    #expect(source.requests == [1, 2])
    async let first = list.items.collected()
    async let second = list.drained()
    #expect(try await first == [0, 1, 2, 3, 4])
    #expect(try await second == [[0, 1], [2, 3, 4]])
    #expect(list.snapshot.items == [0, 1, 2, 3, 4])
    #expect((-1...5).map { list.snapshot.item(at: $0) } == [nil, 0, 1, 2, 3, 4, nil])
    #expect(source.requests == [1, 2])
    // Loops over a cursor are walks of their own.
    let cursor = Cursor(source)
    _ = try await cursor.drained()
    _ = try await cursor.drained()
    #expect(source.requests == [1, 2, 1, 2, 1, 2])
  }

  @Test("X-17: two loops at the same time see the same, whoever is ahead")
  func loopsInterleave() async throws {
    let source = ScriptedSource(sizes: Array(repeating: 3, count: 40))
    let list = list(source)
    try await withThrowingTaskGroup { group in
      for reader in 0..<4 {
        group.addTask {
          reader.isMultiple(of: 2)
            ? try await list.items.collected() : try await list.drained().flatMap { $0 }
        }
      }
      for try await items in group { #expect(items == Array(0..<120)) }
    }
    #expect(source.requests == Array(1...40))
    #expect(source.log.maxConcurrent == 1)
  }

  // MARK: Reload

  @Test("TI-16: the old content stays until the new first page is there, and goes in one step")
  func reloadSwaps() async throws {
    let source = ScriptedSource(sizes: 2, 2)
    let list = list(source)
    _ = try await list.drained()
    let events = list.events.makeAsyncIterator()
    source.hold(1)
    let reload = Task { try await list.reload() }
    try await source.wait { $0.requests == [1, 2, 1] }
    #expect(list.snapshot.count == 4)
    source.release(1)
    #expect(try await reload.value)
    #expect(list.snapshot.count == 2)
    #expect(
      await events.next(4).map(\.name)
        == ["loading", "didReload(2)", "content", "canLoadMore(true)"])
  }

  @Test("TI-17, K-05: a reload that fails keeps the content, unless the policy says otherwise")
  func reloadFails() async throws {
    for (policy, count) in [(ListOptions.ReloadPolicy.keep, 4), (.clearOnFailure, 0)] {
      let source = ScriptedSource(sizes: 2, 2)
      let list = list(source, .standard, ListOptions(onReload: policy))
      _ = try await list.drained()
      source.fail(1)
      await #expect(throws: PageError.self) { try await list.reload() }
      #expect(list.snapshot.state.description == "loadingError")
      #expect(list.snapshot.count == count)
      #expect(try await list.retry())
      #expect(list.snapshot.count == 2)
    }
  }

  @Test("P-5, TI-17: a reload that fails leaves content, totals and the way on as they were")
  func reloadLeavesEverything() async throws {
    let pages = (1...3).map { Page([2 * $0 - 1, 2 * $0], total: Total(6)) }
    let source = ScriptedSource(pages)
    let list = list(source)
    try await list.loadMore()
    try await list.loadMore()
    try await list.navigate(to: .next)
    list.options.loadsAhead = false
    let before = list.snapshot
    let report = list.report
    source.fail(1)
    await #expect(throws: PageError.self) { try await list.reload() }
    let after = list.snapshot
    #expect(after.state.description == "loadingError")
    #expect(after.items == [1, 2, 3, 4] && before.items == after.items)
    #expect(after.total == Total(6))
    #expect([after.loaded, after.currentPage, after.prepended] == [4, 1, 0])
    #expect(after.canLoadMore && !after.isRefreshing)
    #expect(!list.options.loadsAhead)
    #expect(list.report.checkpoint == report.checkpoint)
    #expect(list.report.traffic == report.traffic)
    #expect(try await list.loadMore())
    #expect(source.requests == [1, 2, 1, 3])
    #expect(list.snapshot.items == Array(1...6))
    #expect(list.snapshot.state == .exhausted)
    source.fail(1)
    await #expect(throws: PageError.self) { try await list.reload() }
    #expect(try await list.loadMore() == false)
    #expect(!list.snapshot.canLoadMore)
    #expect(source.requests == [1, 2, 1, 3, 1])
  }

  @Test("P-5: a loop that waits while a reload fails goes on where it was")
  func loopOutlivesFailedReload() async throws {
    let source = ScriptedSource(sizes: 1, 1, 1)
    let list = list(source, .onDemand)
    var pages = list.makeAsyncIterator()
    #expect(try await pages.next()?.items == [0])
    source.hold(1)
    let reload = Task { try await list.reload() }
    try await source.wait { $0.requests == [1, 1] }
    async let rest = list.drained().flatMap { $0 }
    source.fail(1)
    source.release(1)
    await #expect(throws: PageError.self) { try await reload.value }
    #expect(try await rest == [0, 1, 2])
    #expect(source.requests == [1, 1, 2, 3])
  }

  @Test("P-7, PM-09, PM-10: a reload that fails forgets no position; one that succeeds does")
  func reloadAndPositions() async throws {
    let source = ScriptedSource(sizes: 10, 10, 10)
    let list = list(source)
    try await list.loadMore()
    let states = list.states.makeAsyncIterator()
    list.report(offset: 2500, in: Viewport(content: 3800, extent: 800))
    _ = await states.next(3)
    source.fail(1)
    await #expect(throws: PageError.self) { try await list.reload() }
    let short = Viewport(content: 1800, extent: 800)
    list.report(offset: 601, in: short)
    #expect(source.requests == [1, 2, 1])
    try await list.reload()
    list.report(offset: 601, in: short)
    try await source.wait { $0.requests == [1, 2, 1, 1, 2] }
  }

  @Test("TI-17, TI-19: a reload that fails over a page that came all the same fails, and shows it")
  func failsOverLatePage() async throws {
    let source = ScriptedSource(sizes: 2, 2)
    let list = list(source, .onDemand)
    try await list.loadMore()
    source.hold(2, stubborn: true)
    let more = Task { try await list.loadMore() }
    try await source.wait { $0.requests == [1, 2] }
    source.fail(1)
    let reload = Task { try await list.reload() }
    var states = list.states.makeAsyncIterator()
    while let state = await states.next(), state != .loading {}
    source.release(2)
    await #expect(throws: PageError.self) { try await reload.value }
    #expect(try await more.value)
    #expect(list.snapshot.items == [0, 1, 2, 3])
    #expect(list.snapshot.state.description == "loadingError")
  }

  @Test("TI-50: two calls to retry() are one request, after a page as after a reload that failed")
  func retriesOnce() async throws {
    for (failing, requests) in [(2, [1, 2, 2]), (1, [1, 1, 1])] {
      let source = ScriptedSource(sizes: 2, 2)
      let list = list(source, .onDemand)
      try await list.loadMore()
      source.fail(failing)
      _ = try? await failing == 1 ? list.reload() : list.loadMore()
      source.hold(failing)
      let retries = (0..<2).map { _ in Task { try await list.retry() } }
      try await source.wait { $0.requests == requests }
      // A third call comes while the load runs, whenever the others came.
      async let third = list.retry()
      await Task.yield()
      source.release(failing)
      for retry in retries { _ = try await retry.value }
      _ = try await third
      #expect(source.requests == requests)
    }
  }

  @Test("TI-18: a reload cancels the load of the first page, whose answer is never seen")
  func reloadsOverFirstLoad() async throws {
    let source = ScriptedSource(sizes: 2, 2)
    source.hold(1)
    let events = try await events(of: list(source)) { list in
      let first = Task { try await list.loadMore() }
      try await source.wait { $0.requests == [1] }
      let second = Task { try await list.reload() }
      try await source.wait { $0.cancelled == [1] && $0.requests == [1, 1] }
      source.release(1)
      #expect(try await first.value)
      #expect(try await second.value)
    }
    #expect(events == ["loading", "didReload(2)", "content", "canLoadMore(true)"])
  }

  @Test(
    "12-A6, TI-18: a reload that is on its way is joined: two calls are one request and one event",
    arguments: [ListOptions.ReloadPolicy.keep, .clearOnFailure, .clear], [false, true])
  func joinsReload(policy: ListOptions.ReloadPolicy, fails: Bool) async throws {
    let source = ScriptedSource(sizes: 2, 2)
    let list = list(source, .onDemand, ListOptions(onReload: policy))
    try await list.loadMore()
    source.hold(1)
    if fails { source.fail(1) }
    let first = Task { try await list.reload() }
    try await source.wait { $0.requests == [1, 1] }
    let second = Task { try await list.reload() }
    let third = Task { try await list.reload() }
    while list.waiters < 3 { await Task.yield() }
    source.release(1)
    for reload in [first, second, third] {
      if fails {
        await #expect(throws: PageError.self) { try await reload.value }
      } else {
        #expect(try await reload.value)
      }
    }
    #expect(source.requests == [1, 1])
    #expect(source.log.cancelled == [])
    // One after the other they are two.
    #expect(try await list.reload())
    #expect(source.requests == [1, 1, 1])
  }

  @Test("TI-19, IN-22: a reload cancels a running load of more, whose items never appear")
  func reloadOverMore() async throws {
    let source = ScriptedSource(sizes: 2, 2)
    let list = list(source)
    try await list.loadMore()
    source.hold(2, stubborn: true)
    let more = Task { try await list.loadMore() }
    try await source.wait { $0.requests == [1, 2] }
    let reload = Task { try await list.reload() }
    var states = list.states.makeAsyncIterator()
    while let state = await states.next(), state != .loading {}
    source.release(2)
    #expect(try await reload.value)
    #expect(try await more.value)
    #expect(list.snapshot.items == [0, 1])
    #expect(list.snapshot.state == .content)
  }

  // MARK: Reports

  @Test("PM-19: pages load by hand and by report, and not by themselves")
  func reports() async throws {
    let source = ScriptedSource(sizes: 10, 10)
    let list = list(source)
    try await list.loadMore()
    list.report(consumed: 6)
    #expect(source.requests == [1])
    list.report(consumed: 7)
    try await source.wait { $0.requests == [1, 2] }
  }

  @Test("P-7, PM-11: a thousand reports of an offset cause one load, and a further one the next")
  func offsets() async throws {
    let source = ScriptedSource(sizes: 10, 10, 10)
    let list = list(source)
    try await list.loadMore()
    let states = list.states.makeAsyncIterator()
    let short = Viewport(content: 1800, extent: 800)
    list.report(offset: 600, in: short)
    #expect(list.snapshot.state == .content)
    // Once the page is there, the same content would be too short for what is loaded.
    source.hold(2)
    for step in 1...1000 { list.report(offset: 600 + Double(step) / 1000, in: short) }
    source.release(2)
    _ = await states.next(3)
    #expect(list.snapshot.loaded == 20)
    let long = Viewport(content: 3800, extent: 800)
    for offset in [800.0, 1800] { list.report(offset: offset, in: long) }
    #expect(source.requests == [1, 2])
    list.report(offset: 1801, in: long)
    try await source.wait { $0.requests == [1, 2, 3] }
  }

  @Test("P-7, PM-16: the threshold can be changed at any time")
  func changesThreshold() async throws {
    let source = ScriptedSource(sizes: 10, 10)
    let list = list(source, .fraction(0.9))
    try await list.loadMore()
    list.report(offset: 700, in: Viewport(content: 1800, extent: 800))
    list.report(consumed: 7)
    #expect(list.snapshot.state == .content)
    list.options.threshold = .standard
    #expect(list.snapshot.state == .content)
    list.report(offset: 701, in: Viewport(content: 1800, extent: 800))
    try await source.wait { $0.requests == [1, 2] }
  }

  @Test("X-07: pages of 5 load until more than the 20 that fill the view are there")
  func fillsViewport() async throws {
    let source = ScriptedSource(sizes: Array(repeating: 5, count: 9))
    let list = list(source, .standard, ListOptions(viewportItems: 20))
    try await list.loadMore()
    try await source.wait { $0.requests.count == 5 && $0.running == 0 }
    var states = list.states.makeAsyncIterator()
    while await states.next() == .loadingMore {}
    #expect(list.snapshot.count == 25)
    // From here on the threshold rules, and a page that nobody has begun is enough.
    list.report(consumed: 20)
    #expect(list.snapshot.state == .content)
    list.report(consumed: 21)
    try await source.wait { $0.requests.count == 6 }
  }

  @Test("X-07: an offset in content that does not fill its viewport loads once for each length")
  func fillsReportedViewport() async throws {
    let source = ScriptedSource(sizes: 5, 5, 5)
    let list = list(source)
    try await list.loadMore()
    let states = list.states.makeAsyncIterator()
    for _ in 0..<3 { list.report(offset: 0, in: Viewport(content: 220, extent: 800)) }
    _ = await states.next(3)
    list.report(offset: 0, in: Viewport(content: 220, extent: 800))
    #expect(source.requests == [1, 2])
    list.report(offset: 0, in: Viewport(content: 440, extent: 800))
    try await source.wait { $0.requests == [1, 2, 3] }
    let off = self.list(source, .standard, ListOptions(fillsViewport: false))
    try await off.loadMore()
    off.report(offset: 0, in: Viewport(content: 220, extent: 800))
    #expect(off.snapshot.state == .content)
  }

  @Test("IN-29: reports are ignored while a page loads and while a view settles after it")
  func settles() async throws {
    let source = ScriptedSource(sizes: 10, 10, 10, 10)
    let clock = ManualClock()
    let options = ListOptions(settling: .milliseconds(300))
    let list = PagedList(Cursor(source, clock: clock), options: options)
    let states = list.states.makeAsyncIterator()
    try await list.loadMore()
    #expect(await states.next(3) == [.idle, .loading, .content])
    var content = 1800.0
    for page in 2...3 {
      let viewport = Viewport(content: content, extent: 800)
      let consumed = 10 * (page - 2)
      // The page before this one has just come.
      clock.advance(by: .milliseconds(100))
      list.report(offset: content - 1100, in: viewport)
      list.report(consumed: consumed + 9)
      #expect(list.snapshot.state == .content)
      #expect(source.requests == Array(1..<page))
      source.hold(page)
      clock.advance(by: .milliseconds(201))
      list.report(offset: content - 1099, in: viewport)
      #expect(await states.next(1) == [.loadingMore])
      try await source.wait { $0.requests == Array(1...page) && $0.running == 1 }
      // However long it takes, and however far the view goes meanwhile, there is this one load.
      for wait in [100, 201, 5000] {
        clock.advance(by: .milliseconds(wait))
        list.report(offset: content - 800 + Double(wait) / 5000, in: viewport)
        list.report(consumed: consumed + 10)
        #expect(list.snapshot.state == .loadingMore)
        #expect(list.snapshot.loaded == 10 * (page - 1))
      }
      if page == 3 { source.fail(page) }
      source.release(page)
      #expect(await states.next(1).first?.isLoading == false)
      #expect(source.requests == Array(1...page))
      content += 1000
    }
    // An error settles, too, and nothing but a retry loads after it.
    #expect(list.snapshot.state.description == "loadingMoreError")
    #expect(try await list.retry())
    clock.advance(by: .milliseconds(299))
    list.report(offset: content, in: Viewport(content: content + 800, extent: 800))
    #expect(list.snapshot.state == .content)
    clock.advance(by: .milliseconds(1))
    list.report(offset: content, in: Viewport(content: content + 800, extent: 800))
    try await source.wait { $0.requests == [1, 2, 3, 3, 4] }
    #expect(source.log.maxConcurrent == 1)
  }

  @Test("OU-09: loading ahead can be turned off, and a reload turns it on")
  func loadsAhead() async throws {
    let source = ScriptedSource(sizes: 10, 10)
    let list = list(source)
    try await list.loadMore()
    list.options.loadsAhead = false
    list.report(consumed: 10)
    list.report(offset: 900, in: Viewport(content: 1800, extent: 800))
    #expect(list.snapshot.state == .content)
    try await list.reload()
    #expect(list.options.loadsAhead)
    list.report(consumed: 10)
    try await source.wait { $0.requests == [1, 1, 2] }
  }

  // MARK: Page commands

  @Test("X-11: three commands for the next page while one loads are three pages, in order")
  func queuesCommands() async throws {
    let source = ScriptedSource(sizes: 1, 1, 1, 1, 1)
    source.hold(1)
    let list = list(source, .onDemand)
    try await withThrowingTaskGroup(of: [Int].self) { group in
      for _ in 0..<3 { group.addTask { try await list.navigate(to: .next)?.items ?? [] } }
      try await source.wait { $0.requests == [1] }
      source.release(1)
      var turned: [[Int]] = []
      for try await items in group { turned.append(items) }
      #expect(turned.sorted { $0[0] < $1[0] } == [[1], [2], [3]])
    }
    #expect(source.requests == [1, 2, 3, 4])
    #expect(list.snapshot.currentPage == 3)
  }

  @Test("CP-25: a jump to an item that is not loaded loads in order, and a navigator goes there")
  func jumps() async throws {
    let source = ScriptedSource(sizes: 10, 10, 10, 10, 10)
    let list = list(source, .onDemand)
    var view = PageNavigator(PageAxis(.absolute(10)), in: Viewport(content: 0, extent: 10))
    try await list.loadMore()
    view.resize(to: Viewport(content: Double(list.snapshot.count), extent: 10))
    // It does not go where nothing is.
    #expect(view.jump(toItem: 25) == [])
    #expect(view.index == 0)
    #expect(try await list.navigate(to: .item(25))?.items.first == 20)
    view.resize(to: Viewport(content: Double(list.snapshot.count), extent: 10))
    #expect(view.jump(toItem: 25) == [.settled(2)])
    #expect(view.index == 2 && view.index == list.snapshot.currentPage)
    #expect(view.visibleItems == 20..<30)
    #expect(list.snapshot.items[view.visibleItems].contains(25))
    #expect(source.requests == [1, 2, 3])
    #expect(list.snapshot.currentPage == 2)
    #expect(try await list.navigate(to: .page(0))?.items.first == 0)
    #expect(try await list.navigate(to: .previous) == nil)
    #expect(list.snapshot.currentPage == 0)
    #expect(try await list.navigate(to: .item(99)) == nil)
    #expect(source.requests == [1, 2, 3, 4, 5])
    #expect(list.snapshot.currentPage == 0)
  }

  @Test("TI-14, X-11: a command that fails says so, and the next one tries again")
  func commandFails() async throws {
    let source = ScriptedSource(sizes: 1, 1)
    source.fail(2)
    let list = list(source, .onDemand)
    await #expect(throws: PageError.self) { try await list.navigate(to: .next) }
    #expect(try await list.navigate(to: .next)?.items == [1])
    #expect(source.requests == [1, 2, 2])
  }

  @Test("CP-25: where positions are addressable a jump seeks, with what lies before it counted")
  func seeks() async throws {
    let numbers = Recorder<Int>()
    let cursor = Cursor.numbered(from: 1) { number in
      numbers.note(number)
      return NumberedPage(Array((number - 1) * 10..<number * 10), totalPages: 8)
    }
    let list = PagedList(cursor, options: ListOptions(threshold: .onDemand))
    var view = PageNavigator(PageAxis(.absolute(10)), in: Viewport(content: 80, extent: 10))
    var events = list.events.makeAsyncIterator()
    // The first page says how long pages are.
    #expect(try await list.navigate(to: .item(55))?.items == Array(50..<60))
    #expect(numbers.values == [1, 6])
    let snapshot = list.snapshot
    #expect([snapshot.pagesBefore, snapshot.itemsBefore, snapshot.currentPage] == [5, 50, 0])
    #expect(snapshot.items == Array(50..<60) && snapshot.state == .content)
    #expect(view.jump(toItem: snapshot.itemsBefore + 5) == [.settled(5)])
    #expect(view.visibleItems == 50..<60)
    var reloads = 0
    while reloads < 2, let event = await events.next() {
      if case .reloaded = event { reloads += 1 }
    }
    // What is near is loaded in order, at both ends, and moves nothing else.
    #expect(try await list.navigate(to: .next)?.items.first == 60)
    #expect(try await list.loadBefore())
    #expect([list.snapshot.pagesBefore, list.snapshot.itemsBefore] == [4, 40])
    #expect(list.snapshot.currentPage == 2 && list.snapshot.pages.count == 3)
    #expect(try await list.navigate(to: .page(4))?.items.first == 40)
    #expect(try await list.navigate(to: .item(45))?.items.first == 40)
    #expect(numbers.values == [1, 6, 7, 5])
    #expect(try await list.navigate(to: .page(1))?.items.first == 10)
    #expect(try await list.navigate(to: .page(0))?.items.first == 0)
    #expect(list.snapshot.pagesBefore == 0 && list.snapshot.pages.count == 1)
    #expect(try await list.navigate(to: .previous) == nil)
    // There is no such page: nothing changes but what was loaded on the way.
    #expect(try await list.navigate(to: .page(7))?.items.first == 70)
    #expect(try await list.navigate(to: .page(8)) == nil)
    #expect(list.snapshot.items == Array(70..<80) && list.snapshot.state == .exhausted)
    #expect(try await list.reload())
    #expect(list.snapshot.items == Array(0..<10) && list.snapshot.pagesBefore == 0)
  }

  @Test("CP-25, TI-17: a jump that fails, or to where nothing is, leaves everything as it was")
  func seeksInVain() async throws {
    let fails = Recorder<Int>()
    let cursor = Cursor.numbered { number in
      if number == 6, fails.count == 0 {
        fails.note(number)
        throw ScriptedFailure()
      }
      return number > 6 ? nil : NumberedPage([number], isLast: false)
    }
    let list = PagedList(cursor, options: ListOptions(threshold: .onDemand))
    try await list.loadMore()
    await #expect(throws: PageError.self) { try await list.navigate(to: .page(5)) }
    #expect(list.snapshot.items == [1] && list.snapshot.state == .content)
    #expect(try await list.navigate(to: .page(20)) == nil)
    #expect(list.snapshot.items == [1] && list.snapshot.state == .content)
    #expect(try await list.navigate(to: .page(5))?.items == [6])
    #expect(try await list.loadMore() == false)
  }

  @Test("CP-25: a page of any number is one request away, and one that no listing has is none")
  func seeksFar() async throws {
    let numbers = Recorder<Int>()
    let cursor = Cursor.numbered { number in
      numbers.note(number)
      return number > 3_000_000_000 ? nil : NumberedPage([number], isLast: false)
    }
    let list = PagedList(cursor, options: ListOptions(threshold: .onDemand))
    try await list.loadMore()
    #expect(try await list.navigate(to: .page(2_000_000_000))?.items == [2_000_000_001])
    #expect(list.snapshot.itemsBefore == 2_000_000_000)
    #expect(try await list.navigate(to: .page(4_000_000_000)) == nil)
    for command in [PageCommand.page(.max), .item(.max)] {
      #expect(try await list.navigate(to: command) == nil)
    }
    #expect(numbers.values == [1, 2_000_000_001, 4_000_000_001])
  }

  @Test("CP-25: a far page of a source that lists positions is one request, a farther one none")
  func seeksFarInSource() async throws {
    struct Counting: PageSource {
      let numbers: Recorder<Int>

      func page(at position: Position?) async throws -> Page<Int>? {
        let number = position?.value?.integer ?? 0
        numbers.note(number)
        return Page([number], next: Position(integerLiteral: number + 1))
      }

      func positions(after position: Position?, total: Total?, count: Int) -> [Position] {
        let number = position?.value?.integer ?? 0
        return (1...count).map { Position(integerLiteral: number + $0) }
      }
    }
    let numbers = Recorder<Int>()
    let list = PagedList(
      Cursor(Counting(numbers: numbers)), options: ListOptions(threshold: .onDemand))
    try await list.loadMore()
    #expect(try await list.navigate(to: .page(250_000))?.items == [250_000])
    #expect(try await list.navigate(to: .page(5_000_000)) == nil)
    #expect(numbers.values == [0, 250_000])
  }

  // MARK: Options

  @Test("Options that cannot work are refused by whatever is called first")
  func refusesOptions() async throws {
    for options in [ListOptions(settling: .seconds(-1)), ListOptions(viewportItems: -1)] {
      let source = ScriptedSource(sizes: 1)
      let list = PagedList(Cursor(source), options: options)
      #expect(await pageError { try await list.loadMore() }?.code == .invalidArgument)
      #expect(await pageError { _ = try await list.drained() }?.code == .invalidArgument)
      #expect(source.requests == [])
    }
  }

  @Test("P-2: where the source allows no look-ahead, no threshold of any time brings one")
  func neverLooksAhead() async throws {
    struct Forgetful: PageSource {
      let base = ScriptedSource(sizes: 5, 5, 5)
      var allowsLookAhead: Bool { false }
      func page(at position: Position?) async throws -> Page<Int>? {
        try await base.page(at: position)
      }
    }
    let source = Forgetful()
    let list = PagedList(Cursor(source), options: ListOptions(threshold: .fraction(0)))
    list.options.threshold = .fraction(0)
    list.options.thresholdBefore = .fraction(0)
    try await list.loadMore()
    list.report(consumed: 5)
    list.report(offset: 900, in: Viewport(content: 1800, extent: 800))
    #expect(list.snapshot.state == .content)
    #expect(source.base.requests == [1])
  }

  // MARK: Calls

  @Test("TI-15, K-07: retry() with nothing to retry answers false and requests nothing")
  func retriesNothing() async throws {
    let source = ScriptedSource(sizes: 1)
    let list = list(source)
    #expect(try await list.retry() == false)
    _ = try await list.drained()
    #expect(try await list.retry() == false)
    #expect(source.requests == [1])
  }

  @Test("P-1, TI-20: two calls to loadMore() are one load, and both return when it is done")
  func coalesces() async throws {
    let source = ScriptedSource(sizes: 2, 2)
    let list = list(source, .onDemand)
    var pages = list.makeAsyncIterator()
    _ = try await pages.next()
    source.hold(2)
    let calls = (0..<2).map { _ in Task { try await list.loadMore() } }
    try await source.wait { $0.requests == [1, 2] }
    source.release(2)
    for call in calls { #expect(try await call.value) }
    #expect(source.requests == [1, 2])
    #expect(try await pages.next()?.items == [2, 3])
    #expect(try await list.loadMore() == false)
  }

  @Test("P-5, TI-16: reload() starts over; nothing of a load it cancelled becomes visible")
  func reloads() async throws {
    let source = ScriptedSource(sizes: 1, 1, 1)
    let list = list(source)
    var pages = list.makeAsyncIterator()
    source.hold(2)
    _ = try await pages.next()
    try await source.wait { $0.requests == [1, 2] }
    let reload = Task { try await list.reload() }
    try await source.wait { $0.cancelled == [2] }
    source.release(2)
    #expect(try await reload.value)
    #expect(try await pages.next()?.items == [0])
    #expect(try await pages.next()?.items == [1])
    #expect(source.log.maxConcurrent == 1)
  }

  @Test("P-10, X-13: calls from inside the loop are safe")
  func callsFromInside() async throws {
    let source = ScriptedSource(sizes: 1, 1, 1, 1)
    let list = list(source)
    var seen: [Int] = []
    for try await page in list {
      seen += page.items
      if seen.count == 2 { try await list.reload() }
      try await list.loadMore()
      try await list.retry()
      list.report(consumed: 0)
      _ = list.report
    }
    #expect(seen == [0, 1, 0, 1, 2, 3])
    #expect(source.log.maxConcurrent == 1)
  }

  @Test("P-10, TI-29, C5: letting go of the list cancels silently")
  func deallocationCancels() async throws {
    let source = ScriptedSource(sizes: 1, 1)
    source.hold(2)
    var list: PagedList<Int>? = list(source)
    try await list?.loadMore()
    list?.report(consumed: 1)
    try await source.wait { $0.requests == [1, 2] }
    list = nil
    try await source.wait { $0.cancelled == [2] && $0.running == 0 }
  }
}
