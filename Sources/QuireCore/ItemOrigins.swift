/// A run of items of one page of the source, by their offsets in it, in ascending order.
///
/// A filtered page skips offsets, and a repaged one joins items of several pages. Origins let both
/// be cut, and resumed at exactly one item.
package struct ItemOrigins: Hashable, Sendable {
  /// Where the source's page starts; its `itemOffset` is 0.
  package var page: Position
  package var offsets: [Int]
  /// The places of the items of a page composed from pages of other listings; `offsets` are then
  /// indices into them. Nil for a page of a source.
  var places: ItemPlaces?

  /// Returns the position of the run's item at `index`.
  func position(at index: Int) -> Position {
    places?.position(offsets[index]) ?? page.at(itemOffset: offsets[index])
  }

  /// Returns a run of the same page with these offsets.
  func with(offsets: [Int]) -> ItemOrigins {
    ItemOrigins(page: page, offsets: offsets, places: places)
  }
}

/// The positions of the items of a page composed from pages of other listings.
///
/// They are computed on demand, because each of them names every listing that is open.
package final class ItemPlaces: Sendable {
  /// The position of the item at an index or, behind the last item, the one at which the walk
  /// continues.
  let position: @Sendable (Int) -> Position
  /// The anchor of the item at an index; see `Page.anchor(ofItem:)`.
  let anchor: @Sendable (Int) -> Position?

  init(
    _ position: @escaping @Sendable (Int) -> Position,
    anchor: @escaping @Sendable (Int) -> Position?
  ) {
    (self.position, self.anchor) = (position, anchor)
  }
}

extension ItemPlaces: Hashable {
  /// Whether both belong to the same page.
  package static func == (left: ItemPlaces, right: ItemPlaces) -> Bool { left === right }
  /// Hashes the identity that `==` compares.
  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

// MARK: - Positions inside a page

extension Page {
  /// Returns the position at which a walk continues once the first `count` items are handled:
  /// inside this page, or at `checkpoint` when all are.
  ///
  /// Store it to resume at exactly the next item. O(1) for pages as the source sent them.
  public func position(afterItems count: Int) -> Position? {
    if count >= items.count { return checkpoint }
    return count <= 0 ? position : position(ofItem: count)
  }

  /// The position at which a later walk continues once the whole page is handled; nil if nothing is
  /// left. This is `next` or, if the continuation is broken (`nextFailure`), the end of this page,
  /// so that a later walk throws the failure, too.
  ///
  /// A position does not promise another page: where the end of a listing is an answer of its own,
  /// such as a 404 behind the last page, the last page leads there. `WalkReport.checkpoint` is nil
  /// then, once the walk has ended.
  public var checkpoint: Position? { nextFailure == nil ? next : end }

  /// The end of this page, as a position inside it. Reading there fetches the page again, for its
  /// `next` and for items added since.
  var end: Position {
    guard !items.isEmpty else { return position }
    if let run = head.origins?.last, let places = run.places {
      return places.position((run.offsets.last ?? -1) + 1)
    }
    var last = position(ofItem: items.count - 1)
    last.itemOffset += 1
    return last
  }

  /// Whether a later walk continues inside a page of the source, right after the last item of this
  /// one: a walk that begins one item earlier begins with that item.
  package var endsInside: Bool {
    guard let place = checkpoint, place.itemOffset > 0, !items.isEmpty,
      head.origins?.last?.places == nil
    else { return false }
    return position(ofItem: items.count - 1) == place.at(itemOffset: place.itemOffset - 1)
  }

  func position(ofItem index: Int) -> Position {
    guard let origins = head.origins else {
      return position.at(itemOffset: position.itemOffset + index)
    }
    var rest = index
    for run in origins {
      if rest < run.offsets.count {
        return run.position(at: rest)
      }
      rest -= run.offsets.count
    }
    return position
  }

  /// Returns the position at which a walk finds the item before all others; nil if that is the
  /// item's own position.
  ///
  /// Listings that are read together may come in another order the next time: a position determines
  /// which items follow it, but not which of them comes first. The items that follow the anchor are
  /// other ones than those that follow the item.
  func anchor(ofItem index: Int) -> Position? {
    var rest = index
    for run in head.origins ?? [] {
      if rest < run.offsets.count { return run.places?.anchor(run.offsets[rest]) }
      rest -= run.offsets.count
    }
    return nil
  }

  /// Keeps the first `count` items; `next` becomes the position of the first item cut off.
  mutating func cut(toItems count: Int) {
    guard count < items.count else { return }
    next = position(afterItems: count)
    nextFailure = nil
    // A receipt is for the whole page, and the rest of this one may never be delivered.
    if !head.receipts.isEmpty { head.receipts = [] }
    keep(0..<count)
  }

  /// Returns the page without its items from `place` on, and with `place` as its `next`; the page
  /// itself if `place` does not lie within it.
  package func endingAt(_ place: Position) -> Page {
    let end = items.indices.first { index in
      let own = position(ofItem: index)
      return own.page == place.page && own.itemOffset >= place.itemOffset
    }
    guard let end else { return self }
    var page = self
    page.cut(toItems: end)
    page.next = place
    return page
  }

  /// Returns the page without its first `count` items, starting at the next one.
  package func dropping(items count: Int) -> Page {
    guard count > 0 else { return self }
    var page = self
    if count < items.count { page.position = position(ofItem: count) }
    page.keep(min(count, items.count)..<items.count)
    return page
  }

  /// Keeps the items in this range, with their positions.
  private mutating func keep(_ kept: Range<Int>) {
    if head.origins != nil { head.origins = origins(ofItems: Array(kept)) }
    items = Array(items[kept])
  }

  /// Returns the origins of the items at these indices, which must be in ascending order.
  package func origins(ofItems indices: [Int]) -> [ItemOrigins] {
    guard let runs = head.origins else {
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
      return offsets.isEmpty ? nil : run.with(offsets: offsets)
    }
  }
}
