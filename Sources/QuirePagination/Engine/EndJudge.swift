public import QuireCore

/// The part of the engine that decides whether a page is the last one, by what the server declares
/// and by what its pages imply.
struct EndJudge: EnginePart {
  let engine: PaginationEngine

  /// The conclusion from a total about a page.
  enum TotalVerdict {
    /// The page is the last one.
    case reached
    /// More follows.
    case more
    /// More came than the total says, so it is wrong.
    case contradicted
    /// The total allows no conclusion here.
    case silent
  }

  /// Returns the description's total, or else a total that ends the walk; nil if the answer has
  /// none, or one that the page itself contradicts.
  func total(
    in answer: PageAnswer, itemCount: Int, warnings: inout [WalkReport.Warning]
  ) throws -> Total? {
    guard let own = pagination.total else { return nil }
    var found = try reader.total(own, in: answer)
    for source in pagination.totals where found == nil {
      found = try reader.total(source, in: answer)
    }
    guard let total = found else { return nil }
    // An estimate is wrong by nature, and more than a lower bound is no contradiction.
    let isContradicted =
      if case .contradicted = verdict(on: total, answer: answer, next: nil, itemCount: itemCount) {
        [.items, .pages].contains(total.kind)
      } else {
        total.kind == .items && itemCount == 0
          && counter.itemsSeen(before: answer, exactly: true) ?? 0 > total.value
      }
    guard isContradicted else { return total }
    warnings.append(.contradicted(total))
    return nil
  }

  /// Returns the conclusion from a total about a page of `itemCount` items; `next` is the position
  /// that the description's source gives.
  func verdict(
    on total: Total, answer: PageAnswer, next: Bookmark?, itemCount: Int
  ) -> TotalVerdict {
    switch total.kind {
    case .remaining: return total.value == 0 ? .reached : .more
    case .pages:
      guard let before = counter.pagesSeen(before: answer) else { return .silent }
      if itemCount > 0, before >= total.value { return .contradicted }
      return before.plus(1) >= total.value ? .reached : .more
    case .items, .estimate, .lowerBound:
      let verdict =
        itemCount > 0
        ? verdict(onItems: total.value, answer: answer, next: next, itemCount: itemCount)
        : verdict(onItems: total.value, behindEmpty: answer, next: next)
      guard total.kind == .lowerBound else { return verdict }
      if case .more = verdict { return .more }
      return .silent
    }
  }

  private func verdict(
    onItems total: Int, answer: PageAnswer, next: Bookmark?, itemCount: Int
  ) -> TotalVerdict {
    let new = max(0, itemCount - pagination.policy.overlap)
    let before = counter.itemsSeen(before: answer, exactly: true) ?? 0
    if new.plus(before) > total { return .contradicted }
    guard let next, let seen = counter.itemsSeen(with: answer, next: next, itemCount: itemCount)
    else {
      return .silent
    }
    return seen >= total ? .reached : .more
  }

  /// Returns the conclusion about an empty page. It depends on the page's place, so that items that
  /// never came do not keep the walk going for ever.
  private func verdict(
    onItems total: Int, behindEmpty answer: PageAnswer, next: Bookmark?
  ) -> TotalVerdict {
    if let before = counter.itemsSeen(before: answer), before >= total { return .reached }
    guard let next else { return .silent }
    if case .page = next.target {
      guard let pages = counter.pagesSeen(before: answer) else { return .silent }
      let size = (try? reader.pageSize(of: answer)) ?? answer.pageBookmark?.largestPage ?? 1
      // Leaves room for one page more than the total needs: a page in the middle may be empty.
      return pages.times(size) < total ? .more : .silent
    }
    guard let seen = counter.itemsSeen(with: answer, next: next, itemCount: 0) else {
      return .silent
    }
    return seen < total ? .more : .silent
  }

  static func emptyPage(before total: Total) -> WalkReport.Warning {
    let unit = total.kind == .pages ? "pages" : "items"
    return WalkReport.Warning(
      .emptyPageBeforeTotal,
      "An empty page ended the listing before the \(total.value) \(unit) that the server declared: "
        + "behind it the same page would have followed.", remedy: Remedy(.total))
  }

  // MARK: Rules that infer

  /// The conclusions from all totals of a page.
  struct Counts {
    /// Whether a total that ends the walk is reached.
    var isReached = false
    /// Whether a total that ends the walk says that more follows.
    var saysMore = false
    /// The first total that says that more follows, even if it does not end the walk.
    var more: Total?
    /// Whether a number of pages or of remaining items says that a page follows.
    var promisesMore = false
  }

  func readTotals(
    of answer: PageAnswer, next: Bookmark, itemCount: Int, _ result: inout Continuation
  ) throws -> Counts {
    var counts = Counts()
    for source in pagination.totals {
      guard let total = try reader.total(source, in: answer) else { continue }
      let endsWalk = pagination.end.contains(.total(source))
      switch verdict(on: total, answer: answer, next: next, itemCount: itemCount) {
      case .reached: counts.isReached = counts.isReached || endsWalk
      case .more where !endsWalk && total.kind == .estimate: break
      case .more:
        counts.saysMore = counts.saysMore || endsWalk
        counts.more = counts.more ?? total
        counts.promisesMore = counts.promisesMore || [.pages, .remaining].contains(total.kind)
      case .contradicted:
        let warning = WalkReport.Warning.contradicted(total)
        if endsWalk, !result.warnings.contains(warning) { result.warnings.append(warning) }
      case .silent: break
      }
    }
    return counts
  }

  /// Returns whether a rule that infers the end says that this page is the last one.
  func isEnd(
    _ answer: PageAnswer, next: Bookmark, itemCount: Int, _ counts: Counts,
    _ result: inout Continuation
  ) throws -> Bool {
    if counts.isReached, !isLinkBesideCounter(next) { return true }
    let isShort = try pagination.end.contains(.shortPage) && isShort(answer, itemCount)
    if itemCount == 0, isShort || pagination.end.contains(.emptyPage) {
      guard let total = counts.more else { return true }
      if repeatsOffset(next, after: answer) {
        result.warnings.append(Self.emptyPage(before: total))
        return true
      }
    }
    return pagination.end.contains { rule in
      switch rule {
      case .shortPage: isShort && itemCount > 0 && !counts.saysMore
      case .sameCursor: isSame(next, asSentFor: answer)
      case .notAdvancing: isBehind(next, sentFor: answer)
      case .emptyPage, .noNext, .flag, .total, .status, .noNewItems, .lastPage, .requires: false
      }
    }
  }

  /// Returns whether the next page is one that the server links, where the description counts only
  /// in want of a link: the link says more than the total, which is what ends the counting.
  private func isLinkBesideCounter(_ next: Bookmark) -> Bool {
    guard case .url = next.target, routes.indices.contains(next.route) else { return false }
    return !routes[next.route].next.isCounter && routes.contains { $0.next.isCounter }
  }

  /// Returns whether a page has fewer items than a full one.
  private func isShort(_ answer: PageAnswer, _ itemCount: Int) throws -> Bool {
    try reader.pageSize(of: answer).map { itemCount < $0 } ?? false
  }

  /// Returns whether the next number is not greater than the one that this page was requested with.
  private func isBehind(_ next: Bookmark, sentFor answer: PageAnswer) -> Bool {
    guard let number = next.count else { return false }
    let sent =
      answer.pageBookmark.map(\.count)
      ?? routes[next.route].count(sentBy: RequestEditor(first))
      ?? pagination.request.first?.integer ?? routes.lazy.compactMap(\.next.firstCount).first
    return sent.map { number <= $0 } ?? false
  }

  private func isSame(_ next: Bookmark, asSentFor answer: PageAnswer) -> Bool {
    if case .url(let link) = next.target { return link == answer.request.url || link == answer.url }
    if let sent = answer.pageBookmark { return sent.value.isSame(as: next.value) }
    let sent = RequestEditor(first).value(at: routes[next.route].send)
    return sent.map { $0.isSame(as: next.value) } ?? false
  }

  /// Returns whether the next offset is that of this page.
  func repeatsOffset(_ next: Bookmark, after answer: PageAnswer) -> Bool {
    guard case .offset(let offset) = next.target, !hasClosure else { return false }
    return offset == counter.count(of: answer, on: routes[next.route])
  }

  static func repeatedOffset(at offset: Int) -> PageError {
    PageError(
      .noProgress,
      "The next page would begin at \(offset) again, as this one did: the walk would never end. All "
        + "pages so far were delivered. Look at the flag or the total that its end is told by.",
      remedies: [
        Remedy(.end, ["emptyPage"], condition: "if an empty page is the end of the listing")
      ])
  }

  /// Whether the description has a rule by which an answer is the end instead of a page.
  var endsByAnswer: Bool {
    pagination.policy.failure.contains { $0.kind == .empty }
      || pagination.end.contains { if case .status = $0 { true } else { false } }
  }

  /// Returns the error that more items exist behind a number of pages that ended the walk; nil if
  /// there is no sign of them.
  ///
  /// If that many pages, of the size that the answer declares, hold fewer items than it estimates,
  /// the server pages no further. Behind a page that is not full, a difference of less than a page
  /// may be the estimate's error, unless the items that came are a round thousand: then there is a
  /// window that the size does not divide.
  func window(behind answer: PageAnswer, itemCount: Int, _ total: Total?) throws -> PageError? {
    guard let total, total.kind == .estimate, let echo = pagination.size?.echo,
      let size = try answer.value(at: .body(echo), items: pagination.items)?.count, size > 0
    else { return nil }
    for source in pagination.totals where source.kind == .pages {
      guard let pages = try reader.total(source, in: answer)?.value,
        case let came = max(0, pages - 1).times(size).plus(itemCount), came < total.value,
        came > 0 && came % 1000 == 0
          || pages.plus(itemCount < size ? 1 : 0).times(size) < total.value
      else { continue }
      return PageError(
        .resultWindowExceeded,
        "The server gives \(pages.counted("page")) of \(size.counted("item")), and says that there "
          + "are about \(total.value.counted("item")). Narrow the query.")
    }
    return nil
  }

  /// Warns about a page without a continuation that says that items remain.
  func warnOfRemainingItems(after answer: PageAnswer, _ result: inout Continuation) {
    guard answer.pageBookmark?.isBackward != true, let total = result.total,
      total.kind == .remaining, total.value > 0
    else { return }
    result.warnings.append(
      WalkReport.Warning(
        .endBeforeTotal,
        "The last page says that \(total.value) items remain behind it, and leads to none.",
        remedy: Remedy(.next)))
  }

  /// Warns about a full page without a continuation that lacks the description's flag and total,
  /// too: nothing in it says that it is the last one.
  func warnOfUnmarkedEnd(
    after answer: PageAnswer, itemCount: Int, _ result: inout Continuation
  ) throws {
    let hasFlag = pagination.end.contains { if case .flag = $0 { true } else { false } }
    guard hasFlag, !hasClosure, result.total == nil, itemCount > 0,
      let size = try reader.pageSize(of: answer), itemCount >= size,
      try reader.missingRequirement(in: answer) == nil
    else { return }
    result.warnings.append(
      WalkReport.Warning(
        .unmarkedEnd,
        "The last page has as many items as a full one, \(size), and neither the flag nor the continuation "
          + "of the description: nothing in it says that it is the last one.",
        remedy: Remedy(.end)))
  }
}

extension WalkReport.Warning.Code {
  /// An empty page ended the listing although by the server's total more should have followed.
  public static let emptyPageBeforeTotal = Self("emptyPageBeforeTotal")
  /// A page had something other than a whole number in place of the total.
  public static let unreadableTotal = Self("unreadableTotal")
  /// The last page is full, and has neither a flag nor a continuation.
  public static let unmarkedEnd = Self("unmarkedEnd")
  /// The last page has no items, and something that marks it as a failure.
  public static let failureInLastPage = Self("failureInLastPage")
  /// The last page has a link to the next one, without an address.
  public static let linkWithoutTarget = Self("linkWithoutTarget")
}
