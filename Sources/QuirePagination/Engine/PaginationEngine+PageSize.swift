package import QuireCore

extension PaginationEngine {
  /// Whether the page at a place may be asked for in another size, and lead on from where it ends: keys and
  /// offsets do so; numbers of pages, and links that have them in it, would skip items.
  package func allowsOtherSize(at bookmark: Bookmark?) -> Bool {
    guard let send = pagination.size?.send, send != .itemRange, pageSize != nil,
      pagination.policy.overlap == 0, backwardRoutes.isEmpty || bookmark?.isBackward != true,
      !routes.contains(where: { $0.next.transforms.contains(where: \.needsPageSize) })
    else { return false }
    guard let bookmark else {
      return routes.allSatisfy { route in
        switch route.next.root {
        case .lastItem, .firstItem, .maxItem, .offset(_, .itemsReturned), .linkHeader: true
        default: false
        }
      }
    }
    switch bookmark.target {
    case .offset, .start:
      return routes.indices.contains(bookmark.route)
        && isByItems(routes[bookmark.route].next.root)
    case .token(let token):
      guard routes.indices.contains(bookmark.route) else { return false }
      // A number may be that of a page.
      return isByItems(routes[bookmark.route].next.root)
        || token.integer == nil && token.plainText.count >= 8
    case .url, .page, .request: return false
    }
  }

  private func isByItems(_ source: Pagination.Next) -> Bool {
    switch source {
    case .lastItem, .firstItem, .maxItem, .offset(_, .itemsReturned): true
    default: false
    }
  }

  /// The same request for pages of `count` items.
  package func request(_ request: PageRequest, ofSize count: Int) throws(PageError) -> PageRequest {
    guard let size = pagination.size else { return request }
    var editor = RequestEditor(request)
    try editor.set(count, as: size)
    return try editor.request()
  }
}
