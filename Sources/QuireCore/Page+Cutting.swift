extension Page {
  /// Where a walk goes on once the first `count` items are handled: inside this page, or at
  /// `checkpoint` when all are.
  ///
  /// Store it to resume at exactly the next item. O(1) for pages as the source sent them.
  public func position(afterItems count: Int) -> Position? {
    if count >= items.count { return checkpoint }
    return count <= 0 ? position : position(ofItem: count)
  }

  /// Where a later walk goes on once the whole page is handled: at `next`, or, where the way on is
  /// broken (`nextFailure`), at the end of this page, so that a later walk raises the failure, too.
  ///
  /// Nil where nothing is left. The opposite does not hold: where the end of a listing is an answer of
  /// its own, such as a 404 behind the last page, its last page leads there. `WalkReport.checkpoint`
  /// is nil then, once the walk has ended.
  public var checkpoint: Position? { nextFailure == nil ? next : end }

  /// The end of this page, as a position inside it: reading there fetches the page again, for its
  /// way on and for what was added since.
  var end: Position {
    guard !items.isEmpty else { return position }
    var last = position(ofItem: items.count - 1)
    last.itemOffset += 1
    return last
  }

  /// Where the item at `index` lies.
  func position(ofItem index: Int) -> Position {
    guard let origins else {
      return position.at(itemOffset: position.itemOffset + index)
    }
    var rest = index
    for run in origins {
      if rest < run.offsets.count {
        return run.page.at(itemOffset: run.offsets[rest])
      }
      rest -= run.offsets.count
    }
    return position
  }

  /// Keeps the first `count` items; the page then leads to the first of the others.
  mutating func cut(toItems count: Int) {
    guard count < items.count else { return }
    next = position(afterItems: count)
    nextFailure = nil
    keep(0..<count)
  }

  /// The page without its first `count` items, starting where they end.
  func dropping(items count: Int) -> Page {
    guard count > 0 else { return self }
    var page = self
    if count < items.count { page.position = position(ofItem: count) }
    page.keep(min(count, items.count)..<items.count)
    return page
  }

  /// Keeps these items, and remembers where they lie.
  private mutating func keep(_ kept: Range<Int>) {
    if origins != nil { origins = origins(ofItems: Array(kept)) }
    items = Array(items[kept])
  }

  /// The origins of the items at these indices, which ascend.
  func origins(ofItems indices: [Int]) -> [ItemOrigins] {
    guard let runs = origins else {
      return [
        ItemOrigins(page: position.page, offsets: indices.map { position.itemOffset + $0 })
      ]
    }
    var rest = indices[...]
    var start = 0
    return runs.compactMap { run in
      let own = rest.prefix { $0 < start + run.offsets.count }
      let offsets = own.map { run.offsets[$0 - start] }
      rest = rest.dropFirst(own.count)
      start += run.offsets.count
      return offsets.isEmpty ? nil : ItemOrigins(page: run.page, offsets: offsets)
    }
  }
}
