import QuireCore
import QuireLists
import QuireTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct SectionedListTests {
  /// A handler that answers 8 more items a page until there are `total`, and its log.
  private struct Server {
    let pages = Recorder<Int>()
    let script: ScriptedSource<Int>

    init(pages count: Int = 20) {
      script = ScriptedSource(sizes: Array(repeating: 1, count: count))
    }

    func handler(until total: Int = 50) -> SectionedList.Handler {
      { [pages, script] number in
        pages.note(number)
        _ = try await script.page(at: Position(integerLiteral: number))
        return SectionAnswer(hasMore: number * 8 < total, counts: [number * 8])
      }
    }
  }

  /// Waits until the list is in this state.
  private func wait(_ list: SectionedList, until name: String) async {
    var events = list.events.makeAsyncIterator()
    while list.state.description != name, await events.next() != nil {}
  }

  @Test("OU-01, OU-06: attaching a handler loads page 1 once; the numbers are Quire's")
  func attaches() async throws {
    let server = Server()
    let list = SectionedList()
    list.attach(server.handler())
    await wait(list, until: "content")
    #expect(server.pages.values == [1])
    try await list.loadMore()
    try await list.loadMore()
    #expect(server.pages.values == [1, 2, 3])
    let patient = Server()
    let idle = SectionedList(autoLoad: false)
    idle.attach(patient.handler())
    #expect(idle.state == .idle)
    try await idle.loadMore()
    #expect(patient.pages.values == [1])
  }

  @Test("OU-02, K-09: counts are totals: 8 and then 16 are 16")
  func totals() async throws {
    let list = SectionedList(autoLoad: false)
    list.attach(Server().handler())
    try await list.loadMore()
    #expect(list.sections.items == [8])
    try await list.loadMore()
    #expect(list.sections.itemCount == 16)
  }

  @Test("OU-16: counts beyond all measure are as many as can be counted, and end nothing")
  func hugeCounts() async throws {
    let list = SectionedList(autoLoad: false)
    list.attach { _ in SectionAnswer(hasMore: true, counts: [.max, .max]) }
    try await list.loadMore()
    #expect(list.sections.itemCount == .max && list.sections.rows == [.max, .max])
    list.willShow(row: 7)
    #expect(list.sections.path(ofItem: 7) == SectionCounts.Path(section: 0, row: 7))
  }

  @Test("OU-03: items are found by section and row")
  func sections() {
    let counts = SectionCounts(items: [3, 5, 2])
    #expect(counts.sectionCount == 3)
    #expect(counts.itemCount == 10)
    #expect(counts.path(ofItem: 7) == SectionCounts.Path(section: 1, row: 4))
    #expect(counts.path(ofItem: 0) == SectionCounts.Path(section: 0, row: 0))
    #expect(counts.path(ofItem: 10) == nil)
    #expect(counts.path(ofItem: -1) == nil)
  }

  @Test("OU-04: the placeholder stands nowhere, in the last section, or in one of its own")
  func policies() {
    for (policy, rows) in [
      (SectionCounts.PlaceholderPolicy.none, [3, 5, 2]), (.rowInLastSection, [3, 5, 3]),
      (.trailingSection, [3, 5, 2, 1]),
    ] {
      #expect(SectionCounts(items: [3, 5, 2], policy: policy).rows == rows)
      #expect(SectionCounts(items: [3, 5, 2], hasMore: false, policy: policy).rows == [3, 5, 2])
    }
  }

  @Test("OU-05: the placeholder has a name; setting it loads nothing")
  func placeholderName() async throws {
    let server = Server()
    let list = SectionedList(autoLoad: false)
    list.attach(server.handler())
    #expect(list.placeholder == "loading")
    list.placeholder = "spinner"
    list.placeholder = "spinner"
    #expect(list.placeholder == "spinner")
    #expect(list.state == .idle)
    #expect(server.pages.count == 0)
  }

  @Test("OU-07: before the first answer there are no items, and one placeholder")
  func initial() async throws {
    let server = Server()
    server.script.hold(1)
    let list = SectionedList()
    #expect(list.sections.items == [0])
    list.attach(server.handler())
    try await server.script.wait { $0.running == 1 }
    #expect(list.state == .loading)
    #expect(list.sections.items == [0])
    #expect(list.sections.rows == [1])
    #expect(list.sections.element(at: 0) == .placeholder)
    server.script.release(1)
  }

  @Test("OU-08: fewer than 5 items left load the next page: of 8, the one at index 3")
  func threshold() async throws {
    let server = Server()
    let list = SectionedList(autoLoad: false)
    list.attach(server.handler())
    try await list.loadMore()
    for row in 0..<3 { list.willShow(row: row) }
    #expect(list.state == .content)
    for _ in 0..<5 { list.willShow(row: 3) }
    try await server.script.wait { $0.requests == [1, 2] }
    await wait(list, until: "content")
    #expect(list.sections.items == [16])
    let other = Server()
    let extent = SectionedList(threshold: .remainingExtent(500), autoLoad: false)
    extent.attach(other.handler())
    try await extent.loadMore()
    extent.report(offset: 700, in: Viewport(content: 2000, extent: 800))
    #expect(extent.state == .content)
    extent.report(offset: 700.5, in: Viewport(content: 2000, extent: 800))
    try await other.script.wait { $0.requests == [1, 2] }
  }

  @Test("OU-09: infinite loading can be turned off; a reload turns it on")
  func infiniteLoading() async throws {
    let server = Server()
    let list = SectionedList(autoLoad: false)
    list.attach(server.handler())
    try await list.loadMore()
    #expect(list.infiniteLoading)
    list.infiniteLoading = false
    list.willShow(row: 7)
    #expect(list.state == .content)
    try await list.reload()
    #expect(list.infiniteLoading)
    list.willShow(row: 7)
    try await server.script.wait { $0.requests == [1, 1, 2] }
  }

  @Test("OU-10, OU-11: no more is the end: no request, no placeholder, no second answer")
  func end() async throws {
    let calls = Recorder<Int>()
    let list = SectionedList(autoLoad: false)
    list.attach { number in
      calls.note(number)
      return SectionAnswer(hasMore: number < 7, counts: [number * 8])
    }
    while try await list.loadMore() {}
    list.willShow(row: 55)
    #expect(try await list.loadMore() == false)
    #expect(calls.values == Array(1...7))
    #expect(list.state == .exhausted)
    #expect(list.sections.rows == [56])
  }

  @Test("OU-12: a handler that throws is a state, and a retry asks for the same page")
  func errors() async throws {
    let server = Server()
    server.script.fail(2)
    let list = SectionedList(autoLoad: false)
    list.attach(server.handler())
    try await list.loadMore()
    await #expect(throws: PageError.self) { try await list.loadMore() }
    #expect(list.state.description == "loadingMoreError")
    #expect(list.sections.items == [8])
    #expect(try await list.retry())
    #expect(server.pages.values == [1, 2, 2])
  }

  @Test(
    "OU-13, OU-21: a reload empties the list and says so, then asks for page 1, then ends refreshing",
    arguments: [false, true], [false, true])
  func reloads(fromEnd: Bool, fails: Bool) async throws {
    let server = Server()
    let log = Recorder<String>()
    let list = SectionedList(autoLoad: false)
    let handler = server.handler(until: 16)
    list.attach { [weak list] number in
      // What a view sees as the page is asked for.
      let sections = list?.sections
      let shown = "\(sections?.items ?? []), \(sections?.hasMore == true ? "more" : "no more")"
      log.note("fetch(\(number)) at \(shown)\(list?.isRefreshing == true ? ", refreshing" : "")")
      return try await handler(number)
    }
    for _ in 0..<(fromEnd ? 2 : 1) { try await list.loadMore() }
    #expect(list.sections.rows == [fromEnd ? 16 : 9])
    if fails { server.script.fail(1) }
    server.script.hold(1)
    let refresh = ScrollControl.refresh { _ = try? await list.reload() }
    refresh.observe(by: EndOfRefreshing(log: log))
    let events = list.events.makeAsyncIterator()
    refresh.begin()
    try await server.script.wait { $0.running == 1 }
    // All of it was told while the page is still on its way.
    let begin = fromEnd ? ["clear", "loading"] : ["clear", "canLoadMore(false)", "loading"]
    #expect(await events.next(begin.count).map(\.name) == begin)
    #expect(list.isRefreshing && refresh.shown == .loading)
    #expect(list.sections.items == [0] && list.sections.rows == [1])
    #expect(log.values.last == "fetch(1) at [0], more, refreshing")
    server.script.release(1)
    let end = fails ? ["loadingError"] : ["didReload(1)", "content", "canLoadMore(true)"]
    #expect(await events.next(end.count).map(\.name) == end)
    // Refreshing has ended with the answer, and not before.
    #expect(!list.isRefreshing)
    // An observer is told after the state has changed.
    while refresh.shown == .loading || log.values.last != "endRefreshing" { await Task.yield() }
    #expect(
      log.values.suffix(2) == ["fetch(1) at [0], more, refreshing", "endRefreshing"])
    #expect(list.sections.items == [fails ? 0 : 8] && list.sections.hasMore)
    #expect(server.pages.values == (fromEnd ? [1, 2, 1] : [1, 1]))
    if fails { #expect(try await list.retry()) }
    try await list.loadMore()
    #expect(server.pages.values.last == 2)
  }

  private struct EndOfRefreshing: ControlObserver {
    let log: Recorder<String>
    func controlChanged(to state: ControlState) { if state == .none { log.note("endRefreshing") } }
  }

  @Test("OU-14: a row that comes into view during a reload loads nothing twice")
  func triggersDuringReload() async throws {
    let server = Server()
    let list = SectionedList(autoLoad: false)
    list.attach(server.handler())
    try await list.loadMore()
    server.script.hold(1)
    let reload = Task { try await list.reload() }
    try await server.script.wait { $0.requests == [1, 1] }
    for row in 0..<9 { list.willShow(row: row) }
    server.script.release(1)
    #expect(try await reload.value)
    #expect(server.pages.values == [1, 1])
  }

  @Test("OU-15: an answer that comes after the reload that replaced it is not heard")
  func staleAnswers() async throws {
    let server = Server()
    let list = SectionedList(autoLoad: false)
    list.attach(server.handler())
    try await list.loadMore()
    server.script.hold(2, stubborn: true)
    let more = Task { try await list.loadMore() }
    try await server.script.wait { $0.requests == [1, 2] }
    let events = list.events.makeAsyncIterator()
    let reload = Task { try await list.reload() }
    _ = await events.next(1)
    server.script.release(2)
    #expect(try await reload.value)
    _ = try await more.value
    #expect(list.sections.items == [8])
    try await list.loadMore()
    #expect(server.pages.values == [1, 2, 1, 2])
  }

  @Test("OU-16: counts may shrink, grow and vanish; below zero they are an error")
  func anyCounts() async throws {
    let answers = [[8], [5, 2], [], [9]]
    let list = SectionedList(autoLoad: false)
    list.attach { SectionAnswer(hasMore: true, counts: $0 <= 4 ? answers[$0 - 1] : [-1]) }
    for answer in answers {
      try await list.loadMore()
      #expect(list.sections.items == answer)
      if answer.isEmpty { #expect(list.sections.rows == [1]) }
    }
    #expect(await pageError { try await list.loadMore() }?.code == .noCounts)
  }

  @Test("OU-17, OU-23: a placeholder is no item, and never chosen")
  func lookup() async throws {
    let list = SectionedList(autoLoad: false)
    list.attach(Server().handler())
    try await list.loadMore()
    let path = SectionCounts.Path(section: 0, row: 7)
    #expect(list.sections.element(at: 7) == .item(path))
    #expect(list.sections.element(at: 8) == .placeholder)
    #expect(list.sections.element(at: 9) == nil)
    let chosen = Recorder<SectionCounts.Path>()
    list.onSelect { chosen.note($0) }
    for row in 7...9 { list.select(row: row) }
    #expect(chosen.values == [path])
  }

  @Test("OU-19: the owner is not kept; letting go of the handler ends a refresh")
  func lifetime() async throws {
    final class Owner: Sendable { let server = Server() }
    let list = SectionedList(autoLoad: false)
    weak var weakOwner: Owner?
    let server: Server
    do {
      let owner = Owner()
      weakOwner = owner
      server = owner.server
      list.attach(to: owner) { owner, number in try await owner.server.handler()(number) }
      try await list.loadMore()
    }
    #expect(weakOwner == nil)
    let other = Server()
    other.script.hold(1)
    list.attach(other.handler())
    let reload = Task { try await list.reload() }
    try await other.script.wait { $0.running == 1 }
    #expect(list.isRefreshing)
    list.detach()
    #expect(!list.isRefreshing)
    reload.cancel()
    _ = await reload.result
    #expect(server.pages.values == [1])
  }

  @Test("OU-20: an answer without counts is an error, not silence")
  func noCounts() async throws {
    let list = SectionedList(autoLoad: false)
    list.attach { SectionAnswer(hasMore: true, counts: $0 == 1 ? [8] : nil) }
    try await list.loadMore()
    #expect(await pageError { try await list.loadMore() }?.code == .noCounts)
    guard case .loadingMoreError(let error) = list.state else {
      Issue.record("\(list.state)")
      return
    }
    #expect(error.code == .noCounts)
  }

  @Test("OU-22: 8 a page until there are at least 50 are pages 1 to 7, and 56 items")
  func readmeSample() async throws {
    let server = Server()
    let list = SectionedList(autoLoad: false)
    list.attach(server.handler())
    while try await list.loadMore() {}
    #expect(server.pages.values == Array(1...7))
    #expect(list.sections.itemCount == 56)
  }
}
