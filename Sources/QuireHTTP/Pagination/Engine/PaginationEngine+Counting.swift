import QuireCore

/// Where a walk stands that counts.
extension PaginationEngine {
  /// The number by which the first page was asked for: the caller's own, or the description's.
  func start(of route: Route) -> Int? {
    guard let standard = route.next.firstCount else { return nil }
    return RequestEditor(first).value(at: route.send)?.integer
      ?? pagination.request.first?.integer ?? standard
  }

  /// The number by which this page was asked for; nil when it came by a way that does not count like
  /// `route`.
  func count(of answer: PageAnswer, on route: Route) -> Int? {
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
}
