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
      result.total = try total(in: answer, itemCount: itemCount, warnings: &result.warnings)
      unreadableTotalWarning(for: answer).map { result.warnings.append($0) }
      do {
        result.previous = try previous(of: answer, itemCount: itemCount)
      } catch  where answer.bookmark?.isBackward != true {
        // A walk forwards has no use for it.
      }
      try findNext(after: answer, itemCount: itemCount, &result)
      if result.next == nil, result.nextFailure == nil {
        result.resume = try resumption(after: answer)
        noteEnd(of: answer, &result)
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
      guard !isBackward else { return }
      let isBlank = try hasEmptyCursor(answer)
      if flag == .more {
        result.nextFailure = isBlank ? Self.moreBehindEmptyCursor : Self.moreWithoutCursor
      } else if isBlank {
        if result.total?.kind == .remaining, result.total?.value != 0 {
          result.nextFailure = Self.moreBehindEmptyCursor
        } else {
          result.endDoubt = Self.moreBehindEmptyCursor
        }
      }
      return
    }
    let counts = try readTotals(of: answer, next: next, itemCount: itemCount, &result)
    if !isBackward, flag != .more,
      try isEnd(answer, next: next, itemCount: itemCount, counts, &result)
    {
      return
    }
    if case .offset(let offset) = next.target, isStandstill(next, after: answer) {
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
    next.isPromised = endsByAnswer && (flag == .more || counts.promisesMore)
    if let source = pagination.total, source.scope == .firstPage, result.total?.kind == source.kind
    {
      next.total = result.total?.value
    }
    result.next = next.position
  }

  private static let moreWithoutCursor = PageError(
    .inconsistentTermination,
    "The server says that more follows, and does not say where. Data may be missing: check the "
      + "description's \"next\", or ask the server's owner.")

  private static let moreBehindEmptyCursor = PageError(
    .inconsistentTermination,
    "The server says that more follows, and its cursor is an empty text, which was taken for the end. "
      + "If this server means an empty text for a cursor like any other, set "
      + "policy.emptyCursor to .value; if what it says of how much there is cannot be relied on, leave "
      + "that out of the description.")

  /// Whether the next offset is that of this page.
  private func isStandstill(_ next: Bookmark, after answer: PageAnswer) -> Bool {
    guard case .offset(let offset) = next.target, custom == nil else { return false }
    return offset == count(of: answer, on: routes[next.route])
  }

  /// Whether an answer without a page may come in the place of one, as the description says.
  private var endsByAnswer: Bool {
    pagination.policy.failure.contains { $0.kind == .empty }
      || pagination.end.contains { if case .status = $0 { true } else { false } }
  }

  /// Doubts about an end that the page told by leading nowhere.
  private func noteEnd(of answer: PageAnswer, _ result: inout Continuation) {
    guard answer.bookmark?.isBackward != true, let total = result.total,
      total.kind == .remaining, total.value > 0
    else { return }
    result.warnings.append(
      WalkReport.Warning(
        .endBeforeTotal,
        "The last page says that \(total.value) items remain behind it, and leads to none.",
        remedy: Remedy(.next)))
  }

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

  /// What the totals of a page say together about the way on.
  private struct Counts {
    /// Whether one that ends the walk is reached.
    var isReached = false
    /// Whether one that ends the walk says that more follows.
    var saysMore = false
    /// The first that says so, among those that end nothing too.
    var more: Total?
    /// Whether one says outright that a page follows.
    var promisesMore = false
  }

  private func readTotals(
    of answer: PageAnswer, next: Bookmark, itemCount: Int, _ result: inout Continuation
  ) throws -> Counts {
    var counts = Counts()
    for source in totalSources {
      guard let total = try total(source, in: answer) else { continue }
      let endsWalk = pagination.end.contains(.total(source))
      switch verdict(on: total, answer: answer, next: next, itemCount: itemCount) {
      case .reached: counts.isReached = counts.isReached || endsWalk
      case .more where !endsWalk && total.kind == .estimate: break
      case .more:
        counts.saysMore = counts.saysMore || endsWalk
        counts.more = counts.more ?? total
        counts.promisesMore = counts.promisesMore || [.pages, .remaining].contains(total.kind)
      case .contradicted:
        let warning = Self.contradicted(total)
        if endsWalk, !result.warnings.contains(warning) { result.warnings.append(warning) }
      case .silent: break
      }
    }
    return counts
  }

  /// Whether one of the rules that infer says that this was the last page.
  private func isEnd(
    _ answer: PageAnswer, next: Bookmark, itemCount: Int, _ counts: Counts,
    _ result: inout Continuation
  ) throws -> Bool {
    if counts.isReached { return true }
    if itemCount == 0, pagination.end.contains(.emptyPage) {
      guard let total = counts.more else { return true }
      if isStandstill(next, after: answer) {
        result.warnings.append(Self.emptyPage(before: total))
        return true
      }
    }
    return try pagination.end.contains { rule in
      switch rule {
      case .shortPage:
        try !counts.saysMore && pageSize(of: answer).map { itemCount < $0 } ?? false
      case .sameCursor: isSame(next, asSentFor: answer)
      case .notAdvancing: isBehind(next, sentFor: answer)
      case .emptyPage, .noNext, .flag, .total, .status, .noNewItems, .lastPage: false
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
