import QuireCore

/// The page before, and the walk after this one.
extension PaginationEngine {
  /// Where the page before an answer is; nil where nothing leads to it.
  func previous(of answer: PageAnswer, itemCount: Int) throws -> Position? {
    guard let rule = pagination.previous else { return nil }
    // A link says by being there that there is a page before; a key is there on the first page too.
    let isKnownFirst = answer.isFirst && rule.send != .url && rule.send != .request
    if isKnownFirst { return nil }
    if answer.bookmark?.isBackward == true, try isFirst(answer, rule, itemCount: itemCount) {
      return nil
    }
    for (index, route) in backwardRoutes.enumerated() {
      guard let target = try target(of: route, after: answer, itemCount: itemCount) else {
        continue
      }
      var bookmark = Bookmark(target, route: index)
      bookmark.isBackward = true
      bookmark.carried = try carried(after: answer)
      try CursorCheck.checkCharacters(bookmark.value)
      return bookmark.position
    }
    return nil
  }

  /// Whether a page that was reached backwards says that it is the first of all.
  private func isFirst(
    _ answer: PageAnswer, _ rule: PreviousRule, itemCount: Int
  ) throws -> Bool {
    try rule.end.contains { rule in
      switch rule {
      case .emptyPage: itemCount == 0
      case .flag(let flag):
        try answer.value(at: flag.source, items: items)?.boolean.map { $0 != flag.continuesWhile }
          ?? (flag.ifAbsent == .end)
      case .lastPage(let condition): try answer.matches(condition, items: items)
      default: false
      }
    }
  }

  /// Makes a request ask for the page before.
  func turnBack(_ editor: inout RequestEditor) throws(PageError) {
    for route in routes { editor.remove(route.send) }
    guard let size = pagination.previous?.size, let usual = pagination.size?.send,
      let asked = editor.value(at: usual)
    else { return }
    editor.remove(usual)
    try editor.send(asked, by: size, pageSize: nil)
  }

  // MARK: Later walks

  /// What the value that a later walk starts with is called among those that it carries.
  static let resumption = "$resume"

  /// Where a later walk for changes starts; nil where the page does not say.
  func resumption(after answer: PageAnswer) throws -> Position? {
    guard let route = pagination.resume,
      let target = try target(of: route, after: answer, itemCount: 0)
    else { return nil }
    if case .url = target { return Bookmark(target).position }
    if let index = routes.firstIndex(where: { $0.send == route.send }) {
      var bookmark = Bookmark(target, route: index)
      bookmark.carried = try carried(after: answer)
      return bookmark.position
    }
    var bookmark = Bookmark(Bookmark.Target.start)
    bookmark.carried = [JSONValue.Member(Self.resumption, Bookmark(target).value)]
    return bookmark.position
  }
}
