import QuireCore

extension PaginationEngine {
  /// Where a page of `itemCount` items leads.
  ///
  /// In this order: a flag that says the end; a flag that says more, which nothing but a token can
  /// contradict; the token; what a total, a short or an empty page let one infer. Never throws: the
  /// page is whole, and what is wrong with the way on is raised after it.
  package func continuation(after answer: PageAnswer, itemCount: Int) -> Continuation {
    var result = Continuation()
    do {
      result.total = try total(in: answer)
      do {
        result.previous = try previous(of: answer, itemCount: itemCount)
      } catch  where answer.bookmark?.isBackward != true {
        // A walk forwards has no use for it.
      }
      try findNext(after: answer, itemCount: itemCount, &result)
      if result.next == nil, result.nextFailure == nil {
        result.resume = try resumption(after: answer)
      }
    } catch let error as PageError {
      result.nextFailure = error
    } catch {
      result.nextFailure = PageError(.shape, "\(error)", underlying: error)
    }
    return result
  }

  private func findNext(
    after answer: PageAnswer, itemCount: Int, _ result: inout Continuation
  ) throws {
    let flag = try flag(in: answer)
    if pagination.policy.close != nil {
      let next = try? bookmark(after: answer, itemCount: itemCount)
      result.closing = try closing(after: answer, next: next)
    }
    // A page that was reached backwards has one behind it, whatever its flags say about the other end.
    let isBackward = answer.bookmark?.isBackward ?? false
    if !isBackward, try flag == .end || isLast(answer) { return }
    guard var next = try bookmark(after: answer, itemCount: itemCount) else {
      if flag == .more, !isBackward { result.nextFailure = Self.moreWithoutCursor }
      return
    }
    if !isBackward, flag != .more, try isEnd(answer, next: next, itemCount: itemCount) { return }
    if case .offset(let offset) = next.target, custom == nil,
      offset == count(of: answer, on: routes[next.route])
    {
      result.nextFailure = Self.standstill(at: offset)
      return
    }
    if case .request = next.target {
      try CursorCheck.checkCharacters(next.value)
    } else {
      try CursorCheck.check(next.value)
    }
    next.carried = try carried(after: answer)
    next.shown = try shown(with: answer)
    next.anchor = try anchor(after: answer)
    next.restarts = answer.sent?.restarts ?? 0
    if pagination.total?.scope == .firstPage { next.total = result.total?.value }
    result.next = next.position
  }

  private static let moreWithoutCursor = PageError(
    .inconsistentTermination,
    "The server says that more follows, and does not say where. Data may be missing: check the "
      + "description's \"next\", or ask the server's owner.")

  private static func standstill(at offset: Int) -> PageError {
    PageError(
      .noProgress,
      "The next page would begin at \(offset) again, as this one did: the walk would never end. All "
        + "pages so far were delivered. If an empty page is the end of the listing, add the end rule "
        + ".emptyPage; if not, look at the flag or the total that its end is told by.")
  }

  private enum Flag { case more, end }

  /// What the flags say together; the end wins.
  private func flag(in answer: PageAnswer) throws -> Flag? {
    var verdict: Flag?
    for case .flag(let rule) in pagination.end {
      let value = try answer.value(at: rule.source, items: items)?.boolean
      switch value {
      case rule.continuesWhile?: verdict = .more
      case nil where rule.ifAbsent == .ignore: break
      default: return .end
      }
    }
    return verdict
  }

  private func total(in answer: PageAnswer) throws -> Total? {
    guard let source = pagination.total else { return nil }
    return try total(source, in: answer)
  }

  private func total(_ source: TotalSource, in answer: PageAnswer) throws -> Total? {
    if source.scope == .firstPage, let bookmark = answer.bookmark {
      return bookmark.total.map { Total($0, source.kind) }
    }
    return try answer.value(at: source.source, items: items)?.count.map { Total($0, source.kind) }
  }

  /// Whether one of the rules that infer says that this was the last page.
  private func isEnd(_ answer: PageAnswer, next: Bookmark, itemCount: Int) throws -> Bool {
    var saysMore = false
    for case .total(let source) in pagination.end {
      guard let total = try total(source, in: answer),
        let isReached = isReached(total, answer: answer, next: next, itemCount: itemCount)
      else { continue }
      if isReached { return true }
      saysMore = true
    }
    return try pagination.end.contains { rule in
      switch rule {
      case .emptyPage: itemCount == 0
      case .shortPage:
        try !saysMore && pageSize(of: answer).map { itemCount < $0 } ?? false
      case .sameCursor: isSame(next, asSentFor: answer)
      case .notAdvancing: isBehind(next, sentFor: answer)
      case .noNext, .flag, .total, .status, .noNewItems, .lastPage: false
      }
    }
  }

  /// Whether the page says that it is the last one, by what it has or lacks.
  private func isLast(_ answer: PageAnswer) throws -> Bool {
    try pagination.end.contains { rule in
      guard case .lastPage(let condition) = rule else { return false }
      return try answer.matches(condition, items: items)
    }
  }

  /// Whether the next number is not beyond the one that this page was asked for by.
  private func isBehind(_ next: Bookmark, sentFor answer: PageAnswer) -> Bool {
    guard let number = next.count else { return false }
    let route = routes[next.route]
    let sent =
      answer.bookmark.map(\.count)
      ?? RequestEditor(first).value(at: route.send)?.integer ?? pagination.request.first?.integer
      ?? routes.lazy.compactMap(\.next.firstCount).first
    return sent.map { number <= $0 } ?? false
  }

  /// Whether a total was reached with this page; nil when the position does not say.
  private func isReached(
    _ total: Total, answer: PageAnswer, next: Bookmark, itemCount: Int
  ) -> Bool? {
    switch total.kind {
    case .remaining: total.value == 0
    case .pages: pagesSeen(before: answer).map { $0.plus(1) >= total.value }
    case .items, .estimate, .lowerBound:
      itemsSeen(with: answer, next: next, itemCount: itemCount).map { $0 >= total.value }
    }
  }

  private func isSame(_ next: Bookmark, asSentFor answer: PageAnswer) -> Bool {
    if case .url(let link) = next.target { return link == answer.request.url || link == answer.url }
    if let sent = answer.bookmark { return sent.value.isSame(as: next.value) }
    let sent = RequestEditor(first).value(at: routes[next.route].send)
    return sent.map { $0.isSame(as: next.value) } ?? false
  }

  /// The number of items a full page has: what the server says it used, else what was asked for.
  func pageSize(of answer: PageAnswer) throws -> Int? {
    let echoed = try pagination.size?.echo.flatMap {
      try answer.value(at: .body($0), items: items)?.count
    }
    return echoed ?? pageSize
  }
}
