package import QuireCore

/// Where pages start that nobody has come to yet.
extension PaginationEngine {
  /// The positions of up to `count` pages behind the one at `position`, where the description counts
  /// and nothing of a page is needed to count on; as far as `total` goes, if the server declared
  /// one.
  package func positions(
    after position: Position?, total: Total?, count: Int
  ) -> [Position] {
    guard routes.count == 1, let start = start(of: routes[0]) else { return [] }
    let bookmark = position.flatMap { try? Bookmark($0) }
    guard let number = position == nil ? start : bookmark?.count else { return [] }
    switch routes[0].next {
    case .offset(let first, let step):
      guard let size = size(of: step) else { return [] }
      let offsets = (1...max(1, count)).map { number.plus(size.times($0)) }
      return offsets.filter { isBefore(total, items: $0.minus(first)) }
        .map { Bookmark(.offset($0)).position }
    case .pageNumber(let first, nil):
      let pages = (1...max(1, count)).map { number.plus($0) }
      return pages.compactMap { self.position(ofPage: $0, first: first, total: total) }
    default:
      return []
    }
  }

  private func position(ofPage page: Int, first: Int, total: Total?) -> Position? {
    var bookmark = Bookmark(.page(page))
    let index = page.minus(first)
    if tracksItemsSeen {
      guard let pageSize else { return nil }
      bookmark.seen = index.times(pageSize)
    }
    if total?.kind == .pages, let pages = total?.value, index >= pages { return nil }
    if let pageSize, !isBefore(total, items: index.times(pageSize)) { return nil }
    return bookmark.position
  }

  private func size(of step: OffsetStep) -> Int? {
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
