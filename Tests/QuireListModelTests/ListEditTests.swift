import QuireCore
import QuireTesting
import TestSupport
import Testing

@testable import QuireListModel

/// Edits made here: what they show, what becomes of them, and what they survive.
@MainActor @Suite struct ListEditTests {
  private func model(_ pages: [[Int]], loaded: Int = 1) async throws -> ListModel<Row, Int> {
    let model = ListModel(rows(pages))
    for _ in 0..<loaded { try await model.loadMore() }
    return model
  }

  @Test(
    "18-Edit: whatever the index or the rows, an item goes to the nearest place, and nothing traps")
  func extremes() async throws {
    let model = try await model([[0, 1, 2], [3, 4]], loaded: 2)
    model.insert(Row(id: 8), at: .min)
    model.insert(Row(id: 9), at: .max)
    #expect(model.shown == "8 0 1 2 3 4 9")
    model.move(8, to: .max)
    model.move(9, to: .min)
    #expect(model.shown == "9 0 1 2 3 4 8")
    model.report(visible: Int.min..<Int.max)
    model.report(visible: Int.max - 1..<Int.max)
    model.report(visible: Int.min..<Int.min + 1)
    #expect(model.shown == "9 0 1 2 3 4 8")
  }

  @Test("18-Edit: an item is inserted, changed, moved and removed at once, and each is undone")
  func edits() async throws {
    let model = try await model([[0, 1, 2], [3, 4]], loaded: 2)
    let inserted = model.insert(Row(id: 9), at: 3)
    #expect(model.shown == "0 1 2 9 3 4")
    let updated = model.update(9) { $0.text += "!" }
    let again = model.update(9) { $0.text += "?" }
    #expect(model.shown == "0 1 2 9!? 3 4")
    let moved = model.move(0, to: 4)
    #expect(model.shown == "1 2 9!? 3 0 4")
    let further = model.move(0, to: 5)
    #expect(model.shown == "1 2 9!? 3 4 0")
    let removed = model.remove(3)
    #expect(model.shown == "1 2 9!? 4 0" && model.snapshot.pendingEdits == 6)
    #expect(model.undo(try #require(updated)) && model.shown == "1 2 9? 4 0")
    #expect(model.undo(try #require(moved)) && model.shown == "1 2 9? 4 0")
    #expect(model.undo(try #require(removed)) && model.shown == "1 2 9? 3 4 0")
    #expect(model.undo(try #require(further)) && model.shown == "0 1 2 9? 3 4")
    #expect(model.undo(try #require(inserted)) && model.shown == "0 1 2 3 4")
    // What is over is not undone again.
    for edit in [inserted, updated, again, moved, further, removed] {
      #expect(!model.undo(try #require(edit)))
    }
    #expect(model.snapshot.pendingEdits == 0 && model.shown == "0 1 2 3 4")
  }

  @Test("18-Edit: what is not there cannot be edited, nor what is there inserted")
  func refuses() async throws {
    let model = try await model([[0, 1]])
    #expect(model.insert(Row(id: 1), at: 0) == nil)
    #expect(model.update(7) { $0.text = "!" } == nil)
    #expect(model.remove(7) == nil && model.move(7, to: 0) == nil)
    model.remove(0)
    #expect(model.update(0) { $0.text = "!" } == nil && model.remove(0) == nil)
    // It is there, and only not shown.
    #expect(model.insert(Row(id: 0), at: 0) == nil)
    #expect(model.shown == "1")
  }

  @Test("18-Edit: edits of a list without pages are shown, and stand in front of the first page")
  func early() async throws {
    let model = try await model([[0, 1]], loaded: 0)
    model.insert(Row(id: 8), at: 0)
    model.insert(Row(id: 9), at: 1)
    model.update(8) { $0.text = "!" }
    #expect(model.shown == "8! 9")
    model.move(9, to: 0)
    #expect(model.shown == "9 8!")
    try await model.loadMore()
    #expect(model.shown == "9 8! 0 1")
  }

  @Test("18-Edit: edits stay over loads at both ends, and over a window that drops their pages")
  func survivesLoads() async throws {
    let source = rows((0..<8).map { [$0 * 2, $0 * 2 + 1] })
    let model = ListModel(
      Cursor(source, from: 4),
      options: ListOptions(threshold: .onDemand, window: ListWindow(pages: 3)))
    try await model.loadMore()
    #expect(model.shown == "6 7")
    model.insert(Row(id: 90), at: 0)
    model.insert(Row(id: 91), at: 2)
    model.insert(Row(id: 92), at: 4)
    model.update(6) { $0.text = "!" }
    model.remove(7)
    #expect(model.shown == "90 6! 91 92")
    try await model.loadBefore()
    try await model.loadMore()
    #expect(model.shown == "4 5 90 6! 91 92 8 9")
    for _ in 0..<3 { try await model.loadMore() }
    #expect(model.shown == "10 11 12 13 14 15")
    model.move(12, to: 0)
    #expect(model.shown == "12 10 11 13 14 15")
    for _ in 0..<2 { try await model.loadBefore() }
    #expect(model.shown == "90 6! 91 92 8 9 12 10 11")
    for _ in 0..<3 { try await model.loadBefore() }
    #expect(model.shown == "0 1 2 3 4 5")
    for _ in 0..<2 { try await model.loadMore() }
    #expect(model.shown == "4 5 90 6! 91 92 8 9")
  }

  @Test("18-Edit: a reload keeps what the server has not agreed to, and ends the rest")
  func merges() async throws {
    let source = rows([[0, 1, 2], [3]])
    let model = ListModel(source)
    try await model.loadMore()
    let confirmed = [
      model.insert(Row(id: 80), at: 1), model.remove(2), model.update(1) { $0.text = "?" },
    ]
    for edit in confirmed { #expect(model.confirm(try #require(edit))) }
    // The server agrees to this one while the reload is on its way, so that the answer may not have it.
    let late = model.remove(1)
    model.insert(Row(id: 90), at: 1)
    model.update(0) { $0.text = "!" }
    #expect(model.shown == "0! 90 80" && model.snapshot.pendingEdits == 3)
    source.hold(1)
    let reload = Task { try await model.reload() }
    try await source.wait { $0.running == 1 }
    #expect(model.confirm(try #require(late)))
    #expect(model.shown == "0! 90 80")
    source.release(1)
    _ = try await reload.value
    #expect(model.shown == "0! 90 2" && model.snapshot.pendingEdits == 2)
    try await model.reload()
    #expect(model.shown == "0! 90 1 2")
    model.onReload = .drop
    try await model.reload()
    #expect(model.shown == "0 1 2" && model.snapshot.pendingEdits == 0)
  }

  @Test("18-Edit: an inserted item whose neighbour is gone stands in front of the listing")
  func orphans() async throws {
    let answers = Recorder<[Int]>()
    answers.note([0, 1, 2])
    let cursor = Cursor<Row> { _ in Page((answers.values.last ?? []).map { Row(id: $0) }) }
    let model = ListModel(cursor, options: .byHand)
    try await model.loadMore()
    model.insert(Row(id: 90), at: 1)
    model.insert(Row(id: 91), at: 2)
    model.insert(Row(id: 92), at: 5)
    #expect(model.shown == "0 90 91 1 2 92")
    answers.note([5, 2, 6])
    try await model.reload()
    #expect(model.shown == "90 91 5 2 92 6")
    answers.note([])
    try await model.reload()
    #expect(model.shown == "90 91 92")
  }

  @Test("18-Edit: an item that the server lists meanwhile is shown once, where the server has it")
  func neverDoubles() async throws {
    let model = try await model([[0, 1], [2, 9], [3]])
    let edit = model.insert(Row(id: 9, text: "mine"), at: 0)
    #expect(model.shown == "9mine 0 1")
    try await model.loadMore()
    #expect(model.shown == "0 1 2 9")
    #expect(!model.undo(try #require(edit)) && model.snapshot.pendingEdits == 0)
    // The same where the server gave it another identity.
    let other = model.insert(Row(id: -1, text: "new"), at: 1)
    #expect(model.shown == "0 -1new 1 2 9")
    #expect(model.confirm(try #require(other), as: Row(id: 3, text: "new")))
    #expect(model.shown == "0 3new 1 2 9")
    try await model.loadMore()
    #expect(model.shown == "0 1 2 9 3")
    // And where it lists it before it answers.
    let late = model.insert(Row(id: -2), at: 0)
    #expect(model.confirm(try #require(late), as: Row(id: 3)))
    #expect(model.shown == "0 1 2 9 3")
  }

  @Test("18-Edit: a change is made upon whatever the server says of the item meanwhile")
  func updatesFresh() async throws {
    let texts = Recorder<String>()
    let cursor = Cursor<Row> { _ in Page([Row(id: 0, text: texts.values.last ?? "a")]) }
    let model = ListModel(cursor, options: .byHand)
    try await model.loadMore()
    let edit = model.update(0) { $0.text += "+" }
    texts.note("b")
    try await model.reload()
    #expect(model.shown == "0b+")
    // What the server makes of it takes the place of the change.
    #expect(model.confirm(try #require(edit), as: Row(id: 0, text: "c")))
    #expect(model.shown == "0c")
    try await model.reload()
    #expect(model.shown == "0b")
  }

  @Test("18-Edit: a request that fails undoes its edit and no other; one that succeeds confirms it")
  func commits() async throws {
    struct Refused: Error {}
    let model = try await model([[0, 1, 2]])
    let gate = Gate()
    let removal = Task { @MainActor in
      try await model.commit(model.remove(1)) {
        try await gate.wait()
        throw Refused()
      }
    }
    while model.items.count == 3 { await Task.yield() }
    #expect(model.shown == "0 2")
    model.update(2) { $0.text = "!" }
    model.move(0, to: 1)
    #expect(model.shown == "2! 0")
    gate.openUp()
    await #expect(throws: Refused.self) { try await removal.value }
    #expect(model.shown == "1 2! 0")
    try await model.commit(model.insert(Row(id: -1), at: 0)) { Row(id: 7) }
    #expect(model.shown == "7 1 2! 0" && model.snapshot.pendingEdits == 2)
    try await model.commit(model.remove(99)) { throw Refused() }
  }

  @Test("18-Edit: one that is undone after a reload or out of the window finds its place again")
  func undoesLate() async throws {
    let source = rows((0..<6).map { [$0 * 2, $0 * 2 + 1] })
    let model = ListModel(source, ListOptions(threshold: .onDemand, window: ListWindow(pages: 3)))
    try await model.loadMore()
    model.insert(Row(id: 90), at: 1)
    let gone = [model.remove(90), model.remove(0)]
    #expect(model.shown == "1")
    for _ in 0..<4 { try await model.loadMore() }
    for edit in gone { #expect(model.undo(try #require(edit))) }
    #expect(model.shown == "4 5 6 7 8 9")
    for _ in 0..<2 { try await model.loadBefore() }
    #expect(model.shown == "0 90 1 2 3 4 5")
    let again = model.remove(90)
    try await model.reload()
    #expect(model.shown == "0 1")
    #expect(model.undo(try #require(again)))
    #expect(model.shown == "0 90 1")
  }
}
