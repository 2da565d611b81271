package import QuireCore

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
        + "pages so far were delivered. Look at the flag or the total that its end is told by.",
      remedies: [
        Remedy(.end, ["emptyPage"], condition: "if an empty page is the end of the listing")
      ])
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

  package var indexRouteExists: Bool { indexRoute != nil }

  /// The indexes that must be known to go on behind the page at a position, from the outermost.
  package func indexes(neededAt bookmark: Bookmark?) -> [String] {
    indexRoute == nil ? [] : bookmark?.within ?? []
  }

  /// The pages that an answer lists, as seen from the base of its links; none where it is no index.
  package func pages(listedIn answer: PageAnswer) throws -> [String] {
    let document = answer.document
    guard let route = indexRoute, try document.count(at: route.list) ?? 0 > 0 else { return [] }
    let links = try document.values(at: route.link, inItemsOf: .path(route.list))
    let base = try base(ofLinksFrom: routes[route.index].next, in: answer)
    return try links.compactMap { value in
      guard let link = value?.link, !link.allSatisfy(\.isWhitespace) else { return nil }
      var target = try URLReference(link.trimmingBlanks).resolved(against: base)
      let isPart = target.fragment != nil
      target.fragment = nil
      return isPart && target.text == answer.url ? nil : target.text
    }
  }

  /// The page behind an answer: the first that it lists itself, else the one behind it in the index
  /// that listed it; nil when all indexes are at their end.
  func bookmark(inIndexAfter answer: PageAnswer) throws -> Bookmark? {
    guard let route = indexRoute else { return nil }
    var within = answer.sent?.within ?? []
    var current = answer.request.url
    let isIndex = route.nested || within.isEmpty
    if isIndex, let first = try pages(listedIn: answer).first {
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
