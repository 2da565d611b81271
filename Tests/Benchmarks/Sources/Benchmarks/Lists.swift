import Floor
import QuireCore
import QuireListModel

/// What a list costs that a user interface holds: an edit of one row, the difference that a page makes, and
/// what a window keeps.
@MainActor enum Lists {
  private struct Row: Identifiable, Equatable, Sendable {
    var id: Int
    var text = ""
  }

  private nonisolated static let pageSize = 100

  /// Pages of a hundred rows, as fast as they can be made.
  private static func model(pages: Int, window: ListWindow? = nil) async throws -> ListModel<
    Row, Int
  > {
    let cursor = Cursor<Row> { position in
      let start = position?.value?.integer ?? 0
      let end = start + pageSize
      return Page((start..<end).map { Row(id: $0) }, next: Position(integerLiteral: end))
    }
    let model = ListModel(cursor, options: ListOptions(threshold: .onDemand, window: window))
    for _ in 0..<pages { try await model.loadMore() }
    return model
  }

  /// One row that changes in a list of 100,000, and what a view makes of it.
  static func measureEdits() async throws -> [Figure] {
    let model = try await model(pages: 1000)
    precondition(model.items.count == 100_000)
    let edits = 5000
    var before = model.snapshot
    var differing = 0
    func edit(_ step: Int) {
      model.update(step * 7919 % 100_000) { $0.text = "changed" }
    }
    for step in 0..<100 { edit(step) }
    let allocations = floor_allocations()
    var begin = ProcessStatus.threadSeconds
    for step in 100..<100 + edits { edit(step) }
    let seconds = ProcessStatus.threadSeconds - begin
    let allocated = Double(floor_allocations() - allocations) / Double(edits)
    before = model.snapshot
    begin = ProcessStatus.threadSeconds
    for step in 100 + edits..<100 + 2 * edits {
      edit(step)
      let change = model.snapshot.change(from: before)
      differing += change.difference.changed.count
      before = change.snapshot
    }
    let both = ProcessStatus.threadSeconds - begin
    precondition(differing == edits)
    begin = ProcessStatus.threadSeconds
    for step in 0..<edits / 2 {
      let edit = model.insert(Row(id: -1 - step), at: step * 13 % 100_000)
      precondition(edit != nil)
      model.remove(-1 - step)
    }
    let placed = ProcessStatus.threadSeconds - begin
    begin = ProcessStatus.threadSeconds
    for step in 0..<edits { model.move(step * 7919 % 100_000, to: step * 13 % 100_000) }
    let moved = ProcessStatus.threadSeconds - begin
    precondition(model.items.count == 100_000)
    func each(_ seconds: Double) -> Double { seconds / Double(edits) * 1e6 }
    return [
      Figure("a row that changes, in a list of 100,000", each(seconds), "µs", .atMost(20)),
      Figure("  allocations", allocated, "", .atMost(20)),
      Figure("  with the difference that it makes", each(both), "µs", .atMost(40)),
      Figure("a row that is inserted or removed", each(placed), "µs", .atMost(20)),
      Figure("a row that is moved to another page", each(moved), "µs", .atMost(40)),
    ]
  }

  /// What a page of 100 makes of a list of 100,000: the difference to the snapshot before, and with it all
  /// that a page costs.
  static func measureDifferences() async throws -> [Figure] {
    let model = try await model(pages: 1000)
    var (page, difference) = (0.0, 0.0)
    let count = 200
    for _ in 0..<count {
      let before = model.snapshot
      var begin = ProcessStatus.threadSeconds
      try await model.loadMore()
      page += ProcessStatus.threadSeconds - begin
      begin = ProcessStatus.threadSeconds
      let change = model.snapshot.change(from: before)
      difference += ProcessStatus.threadSeconds - begin
      precondition(change.difference.inserted.count == pageSize)
    }
    return [
      Figure(
        "the difference that a page of 100 makes to 100,000", difference / Double(count) * 1e6,
        "µs",
        .atMost(100)),
      Figure("  all that the page costs the main actor", page / Double(count) * 1e6, "µs"),
    ]
  }

  /// A window of 10 pages over a million items.
  static func measureWindow() async throws -> [Figure] {
    let model = try await model(pages: 1000, window: ListWindow(pages: 10))
    let start = ProcessStatus.residentBytes
    var largest = start
    for step in 0..<9000 {
      try await model.loadMore()
      if step % 100 == 0 { largest = max(largest, ProcessStatus.residentBytes) }
    }
    precondition(model.items.count == 1000 && model.snapshot.expectedBefore == 999_000)
    return [
      Figure(
        "a window of 10 pages over 10⁶ items: memory gained after 10⁵",
        Double(largest - start) / 1024 / 1024, "MiB", .atMost(4))
    ]
  }
}
