import Observation
import QuireCore
import QuireTesting
import Synchronization
import TestSupport
import Testing

@testable import QuireListModel

/// What a model shows while and after it loads, and what observers see.
@MainActor @Suite struct ListModelTests {
  @Test("18-Model: items, state, totals and flags are one value, which observers are told of once")
  func observes() async throws {
    let source = ScriptedSource((0..<2).map { Page([Row(id: $0)], total: Total(2)) })
    let model = ListModel(Cursor(source), options: .byHand)
    let told = Mutex(0)
    @MainActor func watch() -> String {
      withObservationTracking {
        let list = model.snapshot.list
        return "\(model.shown)|\(model.state)|\(list.total?.value ?? 0)|\(list.canLoadMore)"
      } onChange: {
        told.withLock { $0 += 1 }
      }
    }
    #expect(watch() == "|idle|0|false")
    source.hold(1)
    let load = Task { try await model.loadMore() }
    try await source.wait { $0.requests == [1] }
    while model.state == .idle { await Task.yield() }
    #expect(told.withLock { $0 } == 1)
    #expect(watch() == "|loading|0|false")
    source.release(1)
    #expect(try await load.value)
    #expect(told.withLock { $0 } == 2)
    #expect(watch() == "0|content|2|true")
    try await model.loadMore()
    #expect(watch() == "0 1|exhausted|2|false")
  }

  @Test("18-Model: a load that a report starts changes the model without a call, and in one step")
  func loadsByReport() async throws {
    let source = rows([[0, 1, 2, 3], [4, 5], [6]])
    let model = ListModel(source, ListOptions(threshold: .remaining(items: 2)))
    try await model.loadMore()
    var torn: [String] = []
    var changes = model.changes.makeAsyncIterator()
    _ = await changes.next()
    source.hold(2)
    model.report(visible: 0..<3)
    #expect(model.state == .loadingMore && model.items.count == 4)
    source.release(2)
    while model.items.count == 4, let change = await changes.next() {
      let (state, count) = (change.snapshot.list.state, change.snapshot.items.count)
      if (state == .loadingMore) != (count == 4) { torn.append("\(state) \(count)") }
    }
    #expect(torn == [] && model.shown == "0 1 2 3 4 5")
  }

  @Test(
    "18-Model, 18-Difference: changes begin with what is there; a slow loop gets one difference for many"
  )
  func changes() async throws {
    let model = ListModel(rows([[0, 1], [2], [3, 1]]))
    try await model.loadMore()
    var changes = model.changes.makeAsyncIterator()
    let first = try #require(await changes.next())
    #expect(first.difference.inserted.map(\.id) == [0, 1])
    try await model.loadMore()
    try await model.loadMore()
    model.remove(0)
    model.update(2) { $0.text = "!" }
    let second = try #require(await changes.next())
    #expect(second.snapshot.items.map(\.description) == ["1", "2!", "3"])
    #expect(second.difference.removed.map(\.id) == [0])
    #expect(second.difference.inserted.map(\.id) == [2, 3])
    #expect(second.row(of: 1) == 0)
    let third = Task { () -> [Int] in
      var changes = changes
      return await changes.next()?.difference.inserted.map(\.id) ?? []
    }
    model.insert(Row(id: 9), at: 0)
    #expect(await third.value == [9])
  }

  @Test("18-Model: changes end with the model, which its own waiting does not keep")
  func ends() async throws {
    var model: ListModel<Row, Int>? = ListModel(rows([[0]]))
    weak let list = model?.list
    var changes = try #require(model?.changes).makeAsyncIterator()
    _ = await changes.next()
    model = nil
    #expect(await changes.next() == nil)
    #expect(list == nil)
  }

  @Test("18-Model: an item that two pages list is shown once, and stays where it was first")
  func once() async throws {
    let model = ListModel(rows([[0, 1, 1, 2], [2, 3], [0, 4]]))
    for _ in 0..<3 { try await model.loadMore() }
    #expect(model.shown == "0 1 2 3 4")
    #expect(model.index(of: 3) == 3 && model.index(of: 9) == nil)
  }

  @Test("18-Window: an item of two pages is not lost when the page that shows it is dropped")
  func onceInWindow() async throws {
    let source = rows([[0, 1], [1, 2], [3], [4], [5]])
    let model = ListModel(source, ListOptions(threshold: .onDemand, window: ListWindow(pages: 3)))
    for _ in 0..<4 { try await model.loadMore() }
    #expect(model.shown == "1 2 3 4")
    try await model.loadBefore()
    #expect(model.shown == "0 1 2 3")
  }

  @Test("18-Window: an item that a page lists twice is shown once where that page comes to show it")
  func twiceInWindow() async throws {
    let source = rows([[0, 1], [1, 1, 2, 1], [3], [4]])
    let model = ListModel(source, ListOptions(threshold: .onDemand, window: ListWindow(pages: 3)))
    for _ in 0..<4 { try await model.loadMore() }
    #expect(model.shown == "1 2 3 4")
    try await model.loadBefore()
    #expect(model.shown == "0 1 2 3")
  }

  // MARK: What stands where no item is

  @Test(
    "18-Row, TI-26: skeletons, items, an empty list, no matches and an error are told apart, during and after"
  )
  func content() async throws {
    @MainActor func name(_ model: ListModel<Row, Int>) -> String {
      [
        String(describing: model.snapshot.content),
        String(describing: model.snapshot.edge(.trailing)),
      ]
      .map { String($0.prefix { $0 != "(" }) }.joined(separator: " ")
    }
    let source = rows([[0, 1], [2]])
    let model = ListModel(source)
    #expect(name(model) == "loading none")
    source.fail(1)
    source.hold(1)
    let first = Task { try await model.loadMore() }
    try await source.wait { $0.running == 1 }
    #expect(name(model) == "loading none")
    source.release(1)
    _ = await first.result
    #expect(name(model) == "failed none")
    try await model.retry()
    #expect(name(model) == "items more")
    source.hold(2)
    source.fail(2)
    let second = Task { try await model.loadMore() }
    while model.state != .loadingMore { await Task.yield() }
    #expect(name(model) == "items loading")
    source.release(2)
    _ = await second.result
    #expect(name(model) == "items failed")
    try await model.retry()
    #expect(name(model) == "items end")
    // A reload that fails is a line above the items.
    source.fail(1)
    _ = try? await model.reload()
    #expect(name(model) == "items end" && model.snapshot.refreshError != nil)
    model.filter = { $0.id > 10 }
    #expect(name(model) == "failed end")
    try await model.retry()
    #expect(name(model) == "noMatches more" && model.snapshot.hidden == 2)
    let empty = ListModel(rows([[]]))
    try await empty.loadMore()
    #expect(name(empty) == "empty end")
    // All items removed is as empty as none.
    model.filter = nil
    try await model.loadMore()
    for id in 0...2 { model.remove(id) }
    #expect(name(model) == "empty end")
  }

  @Test(
    "18-Row: how many rows are known to come, before and behind, by totals and by what was dropped")
  func expected() async throws {
    let pages = (0..<6).map { Page([Row(id: $0 * 2), Row(id: $0 * 2 + 1)], total: Total(12)) }
    let options = ListOptions(threshold: .onDemand, window: ListWindow(pages: 3))
    let model = ListModel(Cursor(ScriptedSource(pages)), options: options)
    #expect(model.snapshot.expectedAfter == nil)
    for _ in 0..<4 { try await model.loadMore() }
    #expect([model.snapshot.expectedBefore, model.snapshot.expectedAfter] == [2, 4])
    try await model.loadBefore()
    #expect([model.snapshot.expectedBefore, model.snapshot.expectedAfter] == [0, 6])
    for _ in 0..<6 { try await model.loadMore() }
    #expect([model.snapshot.expectedBefore, model.snapshot.expectedAfter] == [6, 0])
    let silent = ListModel(rows([[0], [1], [2], [3], [4]]), options)
    for _ in 0..<4 { try await silent.loadMore() }
    try await silent.loadBefore()
    #expect(silent.snapshot.expectedAfter == 1)
    var page = Page([Row(id: 0)], next: 2)
    page.total = Total(7, .remaining)
    let remaining = ListModel(Cursor(ScriptedSource([page])), options: .byHand)
    try await remaining.loadMore()
    #expect(remaining.snapshot.expectedAfter == 7)
    // Whatever a server says, a view can add it up.
    for total in [Total(.max, .remaining), Total(.max), Total(.min)] {
      page.total = total
      let model = ListModel(Cursor(ScriptedSource([page])), options: .byHand)
      try await model.loadMore()
      #expect(model.snapshot.rowCount >= 1 && model.snapshot.rowCount < Int.max / 2)
    }
  }

  // MARK: Windows and rows

  @Test(
    "18-Window: a row keeps its item where a page before it came again with more, and was dropped"
  )
  func grownPage() async throws {
    let pages = Mutex((0..<5).map { [Row(id: $0 * 10), Row(id: $0 * 10 + 1)] })
    let cursor = Cursor<Row> { position in
      let number = position?.value?.integer ?? 0
      return Page(
        pages.withLock { $0[number] }, next: number < 4 ? Position(integerLiteral: number + 1) : nil
      )
    }
    let model = ListModel(
      cursor, options: ListOptions(threshold: .onDemand, window: ListWindow(pages: 3)))
    while try await model.loadMore() {}
    let before = model.snapshot
    #expect(model.shown == "20 21 30 31 40 41" && before.expectedBefore == 4)
    pages.withLock { $0[1] += [Row(id: 12), Row(id: 13)] }
    try await model.loadBefore()
    try await model.loadMore()
    #expect(model.shown == "20 21 30 31 40 41" && model.snapshot.expectedBefore == 6)
    let change = model.snapshot.change(from: before)
    #expect((4..<10).map { change.row(of: $0) } == Array(6..<12))
  }

  @Test(
    "18-Window: a row keeps its number and its place while pages are dropped and loaded around it")
  func anchors() async throws {
    let source = ScriptedSource(
      items: (0..<30).map { page in (0..<10).map { Row(id: page * 10 + $0) } })
    let model = ListModel(
      source, ListOptions(threshold: .remaining(items: 8), window: ListWindow(pages: 3)))
    try await model.loadMore()
    var changes = model.changes.makeAsyncIterator()
    _ = await changes.next()
    var top = 0
    func settle() async {
      while model.snapshot.list.state.isLoading || model.snapshot.list.isLoadingBefore {
        guard let change = await changes.next() else { return }
        top = change.row(of: top)
      }
    }
    for step in Array(repeating: 4, count: 50) + Array(repeating: -4, count: 50) {
      top += step
      let shown = top
      model.report(visible: top..<top + 8)
      await settle()
      // The row at the top is the item it was, and all rows of the view are there.
      let index = top - model.snapshot.expectedBefore
      #expect(top == shown)
      #expect(model.items.indices.contains(index) && model.items.indices.contains(index + 7))
      guard model.items.indices.contains(index) else { return }
      #expect(model.items[index].id == top)
      #expect(model.snapshot.list.pages.count <= 4)
    }
    #expect(top == 0)
  }

  @Test(
    "18-Window, CP-25: a jump shows an item, far or near, dropped or never loaded, and says which row it is"
  )
  func jumps() async throws {
    let cursor = Cursor<Row>.numbered { number in
      if number > 50 { return nil }
      return NumberedPage((0..<10).map { Row(id: (number - 1) * 10 + $0) }, isLast: number == 50)
    }
    let model = ListModel(
      cursor, options: ListOptions(threshold: .onDemand, window: ListWindow(pages: 3)))
    for item in [405, 12, 250, 255, 499] {
      let row = try #require(try await model.navigate(to: .item(item)))
      #expect(model.items[row].id == item / 10 * 10)
      #expect(model.snapshot.expectedBefore + row == item / 10 * 10)
    }
    #expect(try await model.navigate(to: .page(60)) == nil)
  }

  // MARK: Filters and orders

  @Test(
    "18-View: a filter and an order change what is shown of pages and edits, and are taken off again"
  )
  func arranges() async throws {
    let model = ListModel(rows([[5, 2, 8], [1, 4], [7, 3]]))
    try await model.loadMore()
    model.filter = { $0.id.isMultiple(of: 2) }
    #expect(model.shown == "2 8" && model.snapshot.hidden == 1)
    try await model.loadMore()
    #expect(model.shown == "2 8 4")
    model.order = { $0.id > $1.id }
    #expect(model.shown == "8 4 2")
    model.insert(Row(id: 6), at: 0)
    model.remove(8)
    #expect(model.shown == "6 4 2" && model.index(of: 4) == 1)
    model.filter = nil
    #expect(model.shown == "6 5 4 2 1")
    model.order = nil
    #expect(model.shown == "6 5 2 1 4")
    // Rows that are equal in the order stay in that of the listing.
    model.order = { $0.id % 2 < $1.id % 2 }
    #expect(model.shown == "6 2 4 5 1")
  }

  @Test("18-View: a filter looks once into each page, and what it leaves out is loaded past")
  func filters() async throws {
    let source = ScriptedSource(
      items: (0..<10).map { page in (0..<10).map { Row(id: page * 10 + $0) } })
    let model = ListModel(source, ListOptions(threshold: .remaining(items: 3)))
    try await model.loadMore()
    let looked = Mutex(0)
    model.filter = { row in
      looked.withLock { $0 += 1 }
      return row.id % 20 == 0
    }
    while model.state != .exhausted {
      model.report(visible: 0..<max(1, model.items.count))
      while model.state.isLoading { await Task.yield() }
    }
    #expect(model.shown == "0 20 40 60 80")
    #expect(looked.withLock { $0 } == 100)
    model.update(40) { $0.text = "!" }
    #expect(looked.withLock { $0 } == 110 && model.shown == "0 20 40! 60 80")
  }

  // MARK: Sections

  @Test(
    "18-Section: sections grow as items arrive, at both ends, and a removed item leaves its own")
  func sections() async throws {
    let source = rows([[10, 11], [12, 20], [21, 22, 30], [31]])
    let model = ListModel(Cursor(source, from: 3), options: .byHand)
    let looked = Mutex(0)
    var sections = ListSections { (row: Row) in
      looked.withLock { $0 += 1 }
      return row.id / 10
    }
    func update() -> [String] {
      sections.update(model.items)
      return zip(sections.keys, sections.counts).map { "\($0)×\($1)" }
    }
    #expect(update() == [])
    try await model.loadMore()
    #expect(update() == ["2×2", "3×1"])
    try await model.loadMore()
    try await model.loadBefore()
    try await model.loadBefore()
    #expect(update() == ["1×3", "2×3", "3×2"])
    #expect(looked.withLock { $0 } == 8)
    #expect(sections.path(ofItem: 4)?.section == 1 && sections.path(ofItem: 4)?.row == 1)
    #expect([-1, 8].allSatisfy { sections.path(ofItem: $0) == nil })
    #expect(sections.firstItem(ofSection: 2) == 6)
    model.remove(31)
    model.remove(30)
    #expect(update() == ["1×3", "2×3"])
    model.insert(Row(id: 40), at: 1)
    #expect(update() == ["1×1", "4×1", "1×2", "2×3"])
  }

  @Test("18-Section: the header of the first row stays, until the next one pushes it out")
  func headers() {
    var sections = ListSections { (row: Row) in row.id / 10 }
    sections.update(ListItems([.init([10, 11, 12, 20, 21, 30].map { Row(id: $0) })]))
    let headers = (0..<6).map { sections.header(atItem: $0, height: 2) }
    #expect(headers.map { $0?.key } == [1, 1, 1, 2, 2, 3])
    #expect(headers.map { $0?.pushed } == [0, 0, 1, 0, 1, 0])
    #expect(sections.header(atItem: 6) == nil)
  }
}
