import QuireCore
import QuireTesting
import Synchronization
import TestSupport
import Testing

@testable import QuireLists

/// A list that holds a part of what it has loaded.
@Suite(.timeLimit(.minutes(15))) struct ListWindowTests {
  private func list(
    _ source: ScriptedSource<Int>, pages: Int? = 3, bytes: Int? = nil, from page: Int = 1,
    threshold: Threshold = .onDemand
  ) -> PagedList<Int> {
    PagedList(
      Cursor(source, from: Position(integerLiteral: page)),
      options: ListOptions(
        threshold: threshold, window: ListWindow(pages: pages, bytes: bytes)))
  }

  /// Waits until nothing is loaded.
  private func settle(_ list: PagedList<Int>, _ source: ScriptedSource<Int>) async throws {
    while list.snapshot.isBusy { await Task.yield() }
  }

  @Test("18-Window: pages beyond the window are dropped on the far side, and counted")
  func drops() async throws {
    let source = ScriptedSource(sizes: Array(repeating: 10, count: 8))
    let list = list(source)
    for _ in 0..<5 { try await list.loadMore() }
    let snapshot = list.snapshot
    #expect(snapshot.items == Array(20..<50) && snapshot.pages.count == 3)
    #expect([snapshot.pagesBefore, snapshot.itemsBefore] == [2, 20])
    #expect([snapshot.loaded, snapshot.count, snapshot.itemsAfter] == [50, 30, 0])
    #expect(snapshot.canLoadBefore)
    #expect(try await list.loadBefore())
    #expect(list.snapshot.items == Array(10..<40))
    #expect([list.snapshot.itemsBefore, list.snapshot.itemsAfter] == [10, 10])
    #expect(try await list.loadBefore())
    #expect(list.snapshot.items == Array(0..<30) && !list.snapshot.canLoadBefore)
    #expect(try await list.loadBefore() == false)
    // What was dropped behind comes again before anything new does.
    for _ in 0..<5 { #expect(try await list.loadMore()) }
    #expect(source.requests == [1, 2, 3, 4, 5, 2, 1, 4, 5, 6, 7, 8])
    #expect(list.snapshot.items == Array(50..<80) && list.snapshot.state == .exhausted)
    #expect(try await list.loadMore() == false)
    #expect(try await list.loadBefore())
    #expect(list.snapshot.state == .content && list.snapshot.canLoadMore)
  }

  @Test("18-Window: bytes bound what is held, too, and one page is always held")
  func bytes() async throws {
    let pages = (0..<6).map { number in
      var page = Page([number])
      page.traffic = WalkReport.Traffic(bytes: number == 4 ? 1000 : 100)
      return page
    }
    let list = list(ScriptedSource(pages), pages: nil, bytes: 250)
    var held: [[Int]] = []
    for _ in 0..<6 {
      try await list.loadMore()
      held.append(list.snapshot.items)
    }
    #expect(held == [[0], [0, 1], [1, 2], [2, 3], [4], [5]])
  }

  @Test("18-Window: a window that cannot be scrolled in is refused by whatever is called first")
  func refuses() async throws {
    for (pages, bytes) in [(2, nil), (nil, 0)] as [(Int?, Int?)] {
      let list = list(ScriptedSource(sizes: 1), pages: pages, bytes: bytes)
      #expect(await pageError { try await list.loadMore() }?.code == .invalidArgument)
    }
  }

  @Test(
    "18-Window: what a view shows is loaded again as it comes back, and so is the page beside it")
  func comesBack() async throws {
    let source = ScriptedSource(sizes: Array(repeating: 10, count: 20))
    let list = list(source, threshold: .remaining(items: 5))
    try await list.loadMore()
    for top in stride(from: 0, through: 100, by: 5) {
      list.report(visible: top..<top + 8)
      try await settle(list, source)
      let snapshot = list.snapshot
      #expect(snapshot.pages.count <= 4)
      // What is shown has its number, wherever the window is.
      let numbers = snapshot.itemsBefore..<snapshot.itemsBefore + snapshot.count
      #expect(snapshot.items == Array(numbers))
      #expect(numbers.contains(top) && numbers.contains(top + 7), "\(top) \(numbers)")
    }
    #expect(source.requests == Array(1...12))
    for top in stride(from: 100, through: 0, by: -5) {
      list.report(visible: top..<top + 8)
      try await settle(list, source)
      let snapshot = list.snapshot
      let numbers = snapshot.itemsBefore..<snapshot.itemsBefore + snapshot.count
      #expect(snapshot.items == Array(numbers))
      #expect(numbers.contains(top) && numbers.contains(top + 7))
      #expect(snapshot.pages.count <= 4)
    }
    #expect(list.snapshot.itemsBefore == 0)
    // Thousands of reports of one place cause nothing.
    let requests = source.requests.count
    for _ in 0..<1000 { list.report(visible: 0..<8) }
    #expect(source.requests.count == requests)
  }

  @Test("18-Window: a view that jumps gets the page there, in one request, whatever lies between")
  func jumps() async throws {
    let source = ScriptedSource(sizes: Array(repeating: 10, count: 20))
    let list = list(source)
    for _ in 0..<12 { try await list.loadMore() }
    list.report(visible: 5..<13)
    try await settle(list, source)
    #expect(source.requests.suffix(3) == [1, 2, 3])
    #expect(list.snapshot.items == Array(0..<30))
    #expect(list.snapshot.itemsAfter == 120 - list.snapshot.count)
    // A command reaches dropped pages in the same way, and the view does not draw it back.
    #expect(try await list.navigate(to: .item(75))?.items == Array(70..<80))
    try await settle(list, source)
    #expect(list.snapshot.items.contains(75) && list.snapshot.itemsBefore == list.snapshot.items[0])
    #expect(try await list.navigate(to: .page(2))?.items == Array(20..<30))
    #expect(try await list.navigate(to: .next)?.items == Array(30..<40))
    #expect(try await list.navigate(to: .previous)?.items == Array(20..<30))
  }

  @Test("18-Window: reports of rows that no list has end no program, and lose no row")
  func impossibleRows() async throws {
    let source = ScriptedSource(sizes: Array(repeating: 10, count: 8))
    let list = list(source)
    for _ in 0..<5 { try await list.loadMore() }
    for row in [Int.min, -1_000_000, Int.max - 8] {
      list.report(visible: row..<row + 8)
      list.report(consumed: row)
      try await settle(list, source)
      let snapshot = list.snapshot
      #expect(snapshot.loaded == 50)
      #expect(snapshot.itemsBefore + snapshot.count + snapshot.itemsAfter == 50)
    }
  }

  @Test("18-Window: a page that cannot be loaded again is an error at its end, once, until a retry")
  func fails() async throws {
    let source = ScriptedSource(sizes: Array(repeating: 10, count: 9))
    let list = list(source)
    for _ in 0..<6 { try await list.loadMore() }
    source.fail(3)
    list.report(visible: 30..<35)
    try await settle(list, source)
    #expect(list.snapshot.errorBefore?.underlying is ScriptedFailure)
    #expect(list.snapshot.state == .content && list.snapshot.items == Array(30..<60))
    for _ in 0..<100 { list.report(visible: 30..<35) }
    #expect(source.requests.filter { $0 == 3 }.count == 2)
    #expect(try await list.retry())
    #expect(list.snapshot.errorBefore == nil && list.snapshot.items.first == 20)
    // The same at the other end is the state.
    list.report(visible: 20..<25)
    try await settle(list, source)
    list.report(visible: 10..<15)
    try await settle(list, source)
    let last = try #require(list.snapshot.items.last)
    source.fail(last / 10 + 2)
    list.report(visible: last - 2..<last + 1)
    try await settle(list, source)
    #expect(list.snapshot.state.description == "loadingMoreError")
    #expect(try await list.retry())
    #expect(list.snapshot.items.last == last + 10)
  }

  @Test("18-Window: a view goes on behind a failure that is over, and at the other end")
  func goesOnAfterFailure() async throws {
    let source = ScriptedSource(sizes: Array(repeating: 10, count: 9))
    let list = list(source)
    while try await list.loadMore() {}
    while try await list.loadBefore() {}
    #expect(list.snapshot.items == Array(0..<30))
    source.fail(4)
    list.report(visible: 25..<30)
    try await settle(list, source)
    #expect(list.snapshot.state.description == "loadingMoreError")
    #expect(try await list.loadMore())
    #expect(list.snapshot.state == .content && list.snapshot.items.last == 39)
    list.report(visible: 35..<40)
    try await settle(list, source)
    #expect(list.snapshot.items == Array(20..<50))
    source.fail(6)
    list.report(visible: 45..<50)
    try await settle(list, source)
    #expect(list.snapshot.state.description == "loadingMoreError")
    list.report(visible: 20..<25)
    try await settle(list, source)
    #expect(list.snapshot.items.first == 10)
  }

  @Test("18-Window: pages that cannot be loaded again keep a view from no other")
  func goesOnBesideFailures() async throws {
    let source = ScriptedSource(sizes: Array(repeating: 10, count: 9))
    let list = list(source)
    while try await list.loadMore() {}
    while list.snapshot.items.first != 20 { try await list.loadBefore() }
    source.fail(6)
    list.report(visible: 45..<50)
    try await settle(list, source)
    #expect(list.snapshot.state.description == "loadingMoreError")
    list.report(visible: 20..<50)
    try await settle(list, source)
    #expect(list.snapshot.items == Array(10..<50))
    // It is the next page no more.
    list.report(visible: 10..<15)
    try await settle(list, source)
    #expect(list.snapshot.items == Array(0..<30) && list.snapshot.state == .content)
    source.fail(8, times: .max)
    source.fail(9, times: .max)
    let count = source.requests.count
    for top in [70, 80, 70, 80] {
      list.report(visible: top..<top + 5)
      try await settle(list, source)
      #expect(list.snapshot.state.description == "loadingMoreError")
    }
    #expect(source.requests.dropFirst(count) == [8, 9])
  }

  @Test("18-Window: a stale page that cannot be loaded again keeps a view from no other one")
  func refreshesBesideFailure() async throws {
    let source = ScriptedSource(sizes: 1, 1, 1, 1, 1)
    let list = PagedList(Cursor(source), options: ListOptions(threshold: .onDemand))
    let stored = (1...5).map { number in
      var page = Page(
        [number - 1], next: number < 5 ? Position(integerLiteral: number + 1) : nil,
        previous: number > 1 ? Position(integerLiteral: number - 1) : nil)
      page.position = Position(integerLiteral: number)
      return page
    }
    list.seed(stored) { $0.items == $1.items }
    source.fail(3)
    for _ in 0..<2 {
      list.report(visible: 2..<5)
      try await settle(list, source)
    }
    #expect(source.requests == [3, 4, 5])
  }

  @Test("18-Window, X-17: a loop reads what was dropped, and the window stays where it is")
  func loops() async throws {
    let source = ScriptedSource(sizes: Array(repeating: 10, count: 6))
    let list = list(source)
    for _ in 0..<5 { try await list.loadMore() }
    #expect(list.snapshot.items == Array(20..<50))
    #expect(try await list.items.collected() == Array(0..<60))
    #expect(source.requests == [1, 2, 3, 4, 5, 1, 2, 6])
    let shared = try await withThrowingTaskGroup { group in
      for _ in 0..<3 { group.addTask { try await list.items.collected() } }
      return try await group.reduce(into: [[Int]]()) { $0.append($1) }
    }
    #expect(shared == Array(repeating: Array(0..<60), count: 3))
    #expect(source.log.maxConcurrent == 1)
  }

  @Test("18-Window: a page that changed meanwhile counts as it is now")
  func changes() async throws {
    let sizes = Recorder<Int>()
    let cursor = Cursor.numbered { number in
      NumberedPage(Array(repeating: number, count: sizes.values.last ?? 4), isLast: number == 9)
    }
    let list = PagedList(
      cursor, options: ListOptions(threshold: .onDemand, window: ListWindow(pages: 3)))
    for _ in 0..<5 { try await list.loadMore() }
    #expect([list.snapshot.itemsBefore, list.snapshot.loaded] == [8, 20])
    sizes.note(1)
    try await list.loadBefore()
    try await list.loadBefore()
    #expect(list.snapshot.items == [1, 2, 3, 3, 3, 3])
    #expect(
      [list.snapshot.itemsBefore, list.snapshot.loaded, list.snapshot.itemsAfter] == [0, 14, 8])
  }

  @Test("18-Window, C-9: limits on items and pages are the list's end, however it is read again")
  func limitedReach() async throws {
    let source = ScriptedSource(sizes: Array(repeating: 10, count: 8))
    let list = PagedList(
      Cursor(source, limits: Limits(items: 45)),
      options: ListOptions(threshold: .onDemand, window: ListWindow(pages: 3)))
    for _ in 0..<2 {
      while try await list.loadMore() {}
      #expect(list.snapshot.items == Array(20..<45) && list.snapshot.state == .exhausted)
      while try await list.loadBefore() {}
      #expect(list.snapshot.items == Array(0..<30))
    }
    #expect(try await list.items.collected() == Array(0..<45))
    // A jump lands within them, and counts what it passes.
    let pages = (0..<20).map { [2 * $0, 2 * $0 + 1] }
    let far = PagedList(
      Cursor(pages: pages, limits: Limits(pages: 6)), options: ListOptions(threshold: .onDemand))
    try await far.loadMore()
    #expect(try await far.navigate(to: .page(9)) == nil)
    #expect(far.snapshot.items == [0, 1])
    #expect(try await far.navigate(to: .page(4))?.items == [8, 9])
    while try await far.loadMore() {}
    #expect(far.snapshot.items == Array(8..<12) && far.snapshot.state == .exhausted)
  }

  @Test("18-Window, C-9: a limit on pages counts the parts of a page as one, read again or not")
  func limitedParts() async throws {
    let cursor = Cursor<Int>(limits: Limits(pages: 3)) { position in
      let number = position?.value?.integer ?? 0
      var page = Page([number], next: Position(integerLiteral: number + 1))
      page.hasMoreParts = number % 5 < 4
      return page
    }
    let list = PagedList(
      cursor, options: ListOptions(threshold: .onDemand, window: ListWindow(pages: 3)))
    for _ in 0..<2 {
      while try await list.loadMore() {}
      #expect(list.snapshot.items == [12, 13, 14] && list.snapshot.state == .exhausted)
      while try await list.loadBefore() {}
      #expect(list.snapshot.items == [0, 1, 2])
    }
    #expect(try await list.items.collected() == Array(0..<15))
  }

  @Test("18-Window, 15-Limits: a limit on requests counts pages that are loaded again, to a reload")
  func limitedRequests() async throws {
    let source = ScriptedSource(sizes: Array(repeating: 10, count: 8))
    let list = PagedList(
      Cursor(source, limits: Limits(requests: 5)),
      options: ListOptions(threshold: .onDemand, window: ListWindow(pages: 3)))
    for _ in 0..<4 { try await list.loadMore() }
    #expect(try await list.loadBefore())
    let error = await pageError { try await list.loadMore() }
    #expect(error?.code == .limitExceeded && source.requests == [1, 2, 3, 4, 1])
    #expect(try await list.reload())
    #expect(try await list.loadMore())
  }

  @Test("18-Window: the report counts pages loaded again, and those before a jump, to a reload")
  func reportsAll() async throws {
    let source = ScriptedSource(sizes: Array(repeating: 10, count: 8))
    let list = PagedList(
      Cursor(source), options: ListOptions(threshold: .onDemand, window: ListWindow(pages: 3)))
    for _ in 0..<4 { try await list.loadMore() }
    #expect(try await list.loadBefore())
    #expect(list.snapshot.items == Array(0..<30))
    var report = list.report
    #expect([report.pages, report.items, report.traffic.requests] == [5, 50, 5])
    #expect(report.checkpoint == 5)
    try await list.loadMore()
    try await list.loadMore()
    report = list.report
    #expect([report.pages, report.traffic.requests] == [7, source.requests.count])
    try await list.reload()
    report = list.report
    #expect([report.pages, report.items, report.traffic.requests] == [1, 10, 1])
    let pages = (0..<20).map { [2 * $0, 2 * $0 + 1] }
    let far = PagedList(Cursor(pages: pages), options: ListOptions(threshold: .onDemand))
    try await far.loadMore()
    #expect(try await far.navigate(to: .page(9))?.items == [18, 19])
    #expect([far.report.pages, far.report.items, far.report.traffic.requests] == [2, 4, 2])
  }

  @Test("18-Window, 15-Limits: what was dropped comes again, however long the reader has paused")
  func limitedDuration() async throws {
    let source = ScriptedSource(sizes: Array(repeating: 10, count: 8))
    let clock = ManualClock()
    let list = PagedList(
      Cursor(source, limits: Limits(duration: .seconds(60)), clock: clock),
      options: ListOptions(threshold: .onDemand, window: ListWindow(pages: 3)))
    for _ in 0..<5 { try await list.loadMore() }
    clock.advance(by: .seconds(61))
    while try await list.loadBefore() {}
    #expect(list.snapshot.items == Array(0..<30))
    for _ in 0..<2 { #expect(try await list.loadMore()) }
    #expect(list.snapshot.items == Array(20..<50))
    // The walk that leads further has had its time.
    #expect(await pageError { try await list.loadMore() }?.code == .limitExceeded)
  }

  @Test("18-Window, P-8: where a page that is loaded again leads elsewhere, both ends go on by it")
  func leadsElsewhere() async throws {
    let ends = Mutex(5...9)
    let asked = Recorder<Int>()
    let cursor = Cursor<Int>(from: 5) { position in
      let number = position?.value?.integer ?? 0
      asked.note(number)
      let known = ends.withLock { $0 }
      return Page(
        [number], next: number < known.upperBound ? Position(integerLiteral: number + 1) : nil,
        previous: number > known.lowerBound ? Position(integerLiteral: number - 1) : nil)
    }
    for isLeading in [false, true] {
      ends.withLock { $0 = isLeading ? 5...9 : 3...9 }
      let list = PagedList(
        cursor, options: ListOptions(threshold: .onDemand, window: ListWindow(pages: 3)))
      while try await list.loadMore() {}
      #expect(try await list.loadBefore())
      #expect(list.snapshot.items == [6, 7, 8])
      ends.withLock { $0 = 3...11 }
      if !isLeading { while try await list.loadMore() {} }
      while try await list.loadBefore() {}
      #expect(list.snapshot.items == [3, 4, 5])
      // A page that has said what lies before it is not asked for that again.
      #expect(asked.values.suffix(4) == [6, 5, 4, 3])
      while try await list.loadMore() {}
      #expect(list.snapshot.items == [9, 10, 11])
      #expect(try await list.items.collected() == Array(3...11))
    }
  }

  @Test("18-Window: where positions are handles that read on, nothing is dropped")
  func handles() async throws {
    let source = ScriptedSource(
      (1...6).map { Page([$0]) }, repeatedPositions: .allowed)
    let list = list(source)
    for _ in 0..<6 { try await list.loadMore() }
    #expect(list.options.window == nil && list.snapshot.items == Array(1...6))
  }

  @Test("18-Window: of listings whose order may be another one the next time, nothing is dropped")
  func listingsWithoutOrder() {
    let parents = Cursor(pages: [[1, 2], [3]])
    func children(of parents: Cursor<Int>, ordered: Bool = true) -> Cursor<Int> {
      parents.flatMap(ordered: ordered) { Cursor(pages: [[$0]]) }
    }
    let options = ListOptions(window: ListWindow(pages: 3))
    for cursor in [
      children(of: parents, ordered: false), children(of: .merged([parents])), .merged([parents]),
    ] {
      #expect(PagedList(cursor, options: options).options.window == nil)
    }
    #expect(PagedList(children(of: parents), options: options).options.window != nil)
  }

  @Test("18-Window, IN-27: it reaches in front of its start, and both ends have their thresholds")
  func bothEnds() async throws {
    let source = ScriptedSource(sizes: Array(repeating: 10, count: 9))
    let list = list(source, from: 5, threshold: .remaining(items: 4))
    list.options.thresholdBefore = .remaining(items: 4)
    try await list.loadMore()
    list.report(visible: 4..<6)
    #expect(!list.snapshot.isBusy)
    list.report(visible: 3..<5)
    #expect(list.snapshot.isLoadingBefore)
    try await settle(list, source)
    // The same rows again are 10 further down now.
    list.report(visible: 13..<15)
    #expect(!list.snapshot.isBusy && list.snapshot.items == Array(30..<50))
    for _ in 0..<3 {
      list.report(visible: 0..<5)
      try await settle(list, source)
    }
    #expect(list.snapshot.items.starts(with: 0..<10) && !list.snapshot.canLoadBefore)
    #expect(list.snapshot.prepended == 40)
    #expect(source.requests == [5, 4, 3, 2, 1])
    for _ in 0..<20 {
      let snapshot = list.snapshot
      let end = snapshot.itemsBefore + snapshot.count
      list.report(visible: end - 5..<end)
      try await settle(list, source)
    }
    #expect(list.snapshot.items.last == 89 && list.snapshot.state == .exhausted)
    #expect(list.snapshot.pages.count <= 4)
  }

  @Test("18-Window: memory of what is held stays, however far a list is scrolled")
  func staysSmall() async throws {
    let cursor = Cursor<Int> { position in
      let start = position?.value?.integer ?? 0
      return Page(Array(start..<start + 100), next: Position(integerLiteral: start + 100))
    }
    let list = PagedList(
      cursor, options: ListOptions(threshold: .onDemand, window: ListWindow(pages: 10)))
    for _ in 0..<300 { try await list.loadMore() }
    #expect(list.snapshot.pages.count == 10 && list.snapshot.itemsBefore == 29_000)
    #expect(list.snapshot.items.first == 29_000)
  }
}

extension ListSnapshot {
  /// Whether anything is being loaded.
  var isBusy: Bool { state.isLoading || isLoadingBefore || isRefreshing || isLoadingAgain }
}
