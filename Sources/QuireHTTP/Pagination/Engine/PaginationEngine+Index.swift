import QuireCore

/// Listings whose first page, or another, lists the pages.
extension PaginationEngine {
  /// The route by which an index is followed; nil where there is none.
  private var indexRoute: (index: Int, list: PagePath, link: PagePath, nested: Bool)? {
    for (index, route) in routes.enumerated() {
      if case .index(let list, let link, let nested) = route.next {
        return (index, list, link, nested)
      }
    }
    return nil
  }

  var indexRouteExists: Bool { indexRoute != nil }

  /// The indexes that must be known to go on behind the page at a position, from the outermost.
  func indexes(neededAt position: Position?) -> [String] {
    guard indexRoute != nil, let position else { return [] }
    return (try? Bookmark(position))?.within ?? []
  }

  /// The pages that a document lists, as seen from its address; none where it is no index.
  func pages(listedIn document: any PageDocument, at url: String) throws -> [String] {
    guard let route = indexRoute, try document.count(at: route.list) ?? 0 > 0 else { return [] }
    let links = try document.values(at: route.link, inItemsOf: .path(route.list))
    let base = try URLReference(url)
    return try links.compactMap { value in
      guard let link = value?.link, !link.allSatisfy(\.isWhitespace) else { return nil }
      var target = try URLReference(link.trimmingBlanks).resolved(against: base)
      let isPart = target.fragment != nil
      target.fragment = nil
      return isPart && target.text == url ? nil : target.text
    }
  }

  /// The page behind an answer: the first that it lists itself, else the one behind it in the index
  /// that listed it; nil when all indexes are at their end.
  func bookmark(inIndexAfter answer: PageAnswer) throws -> Bookmark? {
    guard let route = indexRoute else { return nil }
    var within = answer.sent?.within ?? []
    var current = answer.request.url
    let isIndex = route.nested || within.isEmpty
    if isIndex, let first = try pages(listedIn: answer.document, at: answer.url).first {
      guard first != current, !within.contains(first) else {
        throw PageError(
          .loopDetected,
          "The index at \(ServerText(current.prefix { $0 != "?" })) lists itself; its pages cannot be walked."
        )
      }
      return bookmark(first, within: within + [current], route.index)
    }
    while let index = within.popLast() {
      guard let list = answer.indexes[index], let place = list.firstIndex(of: current) else {
        throw PageError(
          .cursorExpired, "The index no longer lists the page that was just read. Start again.")
      }
      if place + 1 < list.count {
        return bookmark(list[place + 1], within: within + [index], route.index)
      }
      current = index
    }
    return nil
  }

  private func bookmark(_ url: String, within: [String], _ route: Int) -> Bookmark {
    var bookmark = Bookmark(.url(url), route: route)
    bookmark.within = within
    return bookmark
  }
}
