import QuireCore

/// Where a walk stands that counts items or pages.
struct PageCounter: EnginePart {
  let engine: PaginationEngine

  /// The number by which the first page was asked for: the caller's own, or the description's.
  func start(of route: Pagination.Route) -> Int? {
    guard let standard = route.next.firstCount else { return nil }
    return route.count(sentBy: RequestEditor(first)) ?? pagination.request.first?.integer
      ?? standard
  }

  /// The number by which this page was asked for; nil when it came by a way that does not count like
  /// `route`.
  func count(of answer: PageAnswer, on route: Pagination.Route) -> Int? {
    guard let bookmark = answer.bookmark else { return start(of: route) }
    guard routes.indices.contains(bookmark.route), routes[bookmark.route].send == route.send else {
      return nil
    }
    return bookmark.count
  }

  /// How many items came up to the end of this page: what the next offset says, else what was
  /// counted; nil when the walk does not count them.
  func itemsSeen(with answer: PageAnswer, next: Bookmark, itemCount: Int) -> Int? {
    if case .offset(let offset) = next.target, let first = routes[next.route].next.firstCount {
      return offset.minus(first)
    }
    return itemsSeen(before: answer).map { $0.plus(itemCount) }
  }

  /// How many items came before this page; nil when the walk does not count them.
  func itemsSeen(before answer: PageAnswer) -> Int? {
    if let seen = answer.bookmark?.seen { return seen }
    for route in routes {
      guard let count = count(of: answer, on: route), let first = route.next.firstCount else {
        continue
      }
      guard case .pageNumber = route.next.root else { return count.minus(first) }
      if count == first { return 0 }
      return pageSize.map { count.minus(first).times($0) }
    }
    return nil
  }

  /// How many items came before this page where that was counted, not reckoned from page sizes.
  func exactItemsSeen(before answer: PageAnswer) -> Int? {
    if let seen = answer.bookmark?.seen { return seen }
    for route in routes {
      guard let count = count(of: answer, on: route), let first = route.next.firstCount else {
        continue
      }
      switch route.next.root {
      case .pageNumber, .offset(_, .pageSize), .offset(_, .body): return nil
      default: return count.minus(first)
      }
    }
    return nil
  }

  /// How many pages came before this one; nil when the walk does not count them.
  func pagesSeen(before answer: PageAnswer) -> Int? {
    for route in routes {
      if case .pageNumber(let first, _) = route.next.root, let page = count(of: answer, on: route) {
        return page.minus(first)
      }
    }
    return nil
  }

  /// Whether positions must say how many items came before: pages do not, and a total needs it.
  var tracksItemsSeen: Bool {
    pagination.end.contains { rule in
      guard case .total(let total) = rule else { return false }
      return total.kind != .pages && total.kind != .remaining
    }
  }

  // MARK: Pages not yet requested

  /// The positions of the pages that come so many behind the one at `position`, where the
  /// description counts and nothing of a page is needed to count on; as far as `total` goes, if the
  /// server declared one, and numbers do.
  func positions(
    after position: Position?, total: Total?, pages: ClosedRange<Int>
  ) -> [Position] {
    guard routes.count == 1, let start = start(of: routes[0]) else { return [] }
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

  /// The position of a page that is not yet known to follow: what promised the page before it promises this one, as
  /// far as the total goes.
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
