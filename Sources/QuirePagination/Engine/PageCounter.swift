package import QuireCore

/// The part of the engine that counts items and pages, in walks by offset or page number.
package struct PageCounter: EnginePart {
  let engine: PaginationEngine

  /// Returns the number in the first request: the caller's own, or the description's.
  func firstNumber(of route: Pagination.Route) -> Int? {
    guard let standard = route.next.firstCount else { return nil }
    return route.count(sentBy: RequestEditor(first)) ?? pagination.request.first?.integer
      ?? standard
  }

  /// Returns the number that this page was requested with; nil if it was reached by a route that
  /// does not count as `route` does.
  func count(of answer: PageAnswer, on route: Pagination.Route) -> Int? {
    guard let bookmark = answer.pageBookmark else { return firstNumber(of: route) }
    guard routes.indices.contains(bookmark.route), routes[bookmark.route].send == route.send else {
      return nil
    }
    return bookmark.count
  }

  /// Returns the number of items up to the end of this page, by the next offset or else by
  /// counting; nil if the walk does not count items.
  func itemsSeen(with answer: PageAnswer, next: Bookmark, itemCount: Int) -> Int? {
    if case .offset(let offset) = next.target, let first = routes[next.route].next.firstCount {
      return offset.minus(first)
    }
    return itemsSeen(before: answer).map { $0.plus(itemCount) }
  }

  /// Returns the number of items before this page; nil if the walk does not count them, or if it
  /// has to be exact and is only computed from page sizes.
  func itemsSeen(before answer: PageAnswer, exactly: Bool = false) -> Int? {
    if let seen = answer.pageBookmark?.seen { return seen }
    for route in routes {
      guard let count = count(of: answer, on: route), let first = route.next.firstCount else {
        continue
      }
      let advance = count.minus(first)
      switch route.next.untransformed {
      case .pageNumber where exactly, .offset(_, .pageSize) where exactly,
        .offset(_, .body) where exactly:
        return nil
      case .pageNumber: return advance == 0 ? 0 : pageSize.map { advance.times($0) }
      default: return advance
      }
    }
    return nil
  }

  /// Returns the number of pages before this one; nil if the walk does not count them.
  func pagesSeen(before answer: PageAnswer) -> Int? {
    for route in routes {
      if case .pageNumber(let first, _) = route.next.untransformed,
        let page = count(of: answer, on: route)
      {
        return page.minus(first)
      }
    }
    return nil
  }

  /// Whether positions store the number of items before their page: a total needs it, and page
  /// numbers do not tell it.
  var tracksItemsSeen: Bool {
    pagination.end.contains { rule in
      guard case .total(let total) = rule else { return false }
      return total.kind != .pages && total.kind != .remaining
    }
  }

  // MARK: Pages not yet requested

  /// Returns the positions of pages behind the one at `position`, at the distances in `pages`. It
  /// is empty unless the description counts without a value from each page. Positions beyond
  /// `total`, if the server declares one, and numbers beyond `Int` are left out.
  package func positions(
    after position: Position?, total: Total?, pages: ClosedRange<Int>
  ) -> [Position] {
    guard routes.count == 1, let start = firstNumber(of: routes[0]) else { return [] }
    let bookmark = position.flatMap { try? Bookmark($0) }
    guard let number = position == nil ? start : bookmark?.count else { return [] }
    switch routes[0].next {
    case .offset(let first, let step):
      guard let size = size(of: step) else { return [] }
      let offsets = pages.map { number.plus(size.times($0)) }
      return offsets.filter { $0 < .max && isBefore(total, items: $0.minus(first)) }
        .map { self.position(Bookmark(.offset($0)), behind: bookmark) }
    case .pageNumber(let first, nil):
      let numbers = pages.map { number.plus($0) }.filter { $0 < .max }
      return numbers.compactMap { self.bookmark(ofPage: $0, first: first, total: total) }
        .map { self.position($0, behind: bookmark) }
    default:
      return []
    }
  }

  /// Returns the position of a page that may follow. A promise of the known page holds for this
  /// one, too, as far as the total goes.
  private func position(_ bookmark: Bookmark, behind known: Bookmark?) -> Position {
    var bookmark = bookmark
    bookmark.isPromised = known?.isPromised ?? false
    return bookmark.position
  }

  private func bookmark(ofPage page: Int, first: Int, total: Total?) -> Bookmark? {
    var bookmark = Bookmark(.page(page))
    let index = page.minus(first)
    if tracksItemsSeen {
      guard let pageSize else { return nil }
      bookmark.seen = index.times(pageSize)
    }
    if total?.kind == .pages, let pages = total?.value, index >= pages { return nil }
    if let pageSize, !isBefore(total, items: index.times(pageSize)) { return nil }
    return bookmark
  }

  private func size(of step: Pagination.OffsetStep) -> Int? {
    switch step {
    case .itemsReturned, .pageSize: pageSize
    case .body: nil
    }
  }

  private func isBefore(_ total: Total?, items: Int) -> Bool {
    guard let total, total.kind == .items else { return true }
    return items < total.value
  }
}
