public import QuireCore

/// Whether a page is the last one, by what the server declares and by what its pages let one infer.
struct EndJudge: EnginePart {
  let engine: PaginationEngine

  /// What a total says about the page it came with.
  enum TotalVerdict {
    /// There is no more.
    case reached
    /// There is more.
    case more
    /// More came than there is by its word: it is no total.
    case contradicted
    /// Nothing that can be known here.
    case silent
  }

  /// The description's total with what an answer says, or else one that ends the walk; nil where it says
  /// none, or a number that the page itself contradicts.
  func total(
    in answer: PageAnswer, itemCount: Int, warnings: inout [WalkReport.Warning]
  ) throws -> Total? {
    guard let own = pagination.total else { return nil }
    var found = try reader.total(own, in: answer)
    for source in reader.totalSources where found == nil {
      found = try reader.total(source, in: answer)
    }
    guard let total = found else { return nil }
    // Estimates are wrong by nature, and a lower bound is right with more.
    let isContradicted =
      if case .contradicted = verdict(on: total, answer: answer, next: nil, itemCount: itemCount) {
        [.items, .pages].contains(total.kind)
      } else {
        total.kind == .items && itemCount == 0
          && counter.exactItemsSeen(before: answer) ?? 0 > total.value
      }
    guard isContradicted else { return total }
    warnings.append(Self.contradicted(total))
    return nil
  }

  /// What a total says about a continuation behind a page of `itemCount` items; `next` is where the
  /// description's source leads.
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
    if new.plus(counter.exactItemsSeen(before: answer) ?? 0) > total { return .contradicted }
    guard let next, let seen = counter.itemsSeen(with: answer, next: next, itemCount: itemCount)
    else {
      return .silent
    }
    return seen >= total ? .reached : .more
  }

  /// Behind an empty page it is the place that counts: items that never came keep no walk going for
  /// ever.
  private func verdict(
    onItems total: Int, behindEmpty answer: PageAnswer, next: Bookmark?
  ) -> TotalVerdict {
    if let before = counter.itemsSeen(before: answer), before >= total { return .reached }
    guard let next else { return .silent }
    if case .page = next.target {
      guard let pages = counter.pagesSeen(before: answer) else { return .silent }
      let size = (try? reader.pageSize(of: answer)) ?? answer.bookmark?.largest ?? 1
      // One page beyond those that the total has room for: a page in the middle may be empty.
      return pages.times(size) < total ? .more : .silent
    }
    guard let seen = counter.itemsSeen(with: answer, next: next, itemCount: 0) else {
      return .silent
    }
    return seen < total ? .more : .silent
  }

  static func contradicted(_ total: Total) -> WalkReport.Warning {
    let unit = total.kind == .pages ? "pages" : "items"
    return WalkReport.Warning(
      .contradictedTotal,
      "The server declared \(total.value) \(unit) and sent more than that; the number was not "
        + "believed, and ended nothing.", remedy: Remedy(.total))
  }

  static func emptyPage(before total: Total) -> WalkReport.Warning {
    let unit = total.kind == .pages ? "pages" : "items"
    return WalkReport.Warning(
      .emptyPageBeforeTotal,
      "An empty page ended the listing before the \(total.value) \(unit) that the server declared: "
        + "behind it the same page would have followed.", remedy: Remedy(.total))
  }

  // MARK: Rules that infer

  /// What the totals of a page say together about a continuation.
  struct Counts {
    /// Whether one that ends the walk is reached.
    var isReached = false
    /// Whether one that ends the walk says that more follows.
    var saysMore = false
    /// The first that says so, among those that end nothing too.
    var more: Total?
    /// Whether one says outright that a page follows.
    var promisesMore = false
  }

  func readTotals(
    of answer: PageAnswer, next: Bookmark, itemCount: Int, _ result: inout Continuation
  ) throws -> Counts {
    var counts = Counts()
    for source in reader.totalSources {
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
        let warning = Self.contradicted(total)
        if endsWalk, !result.warnings.contains(warning) { result.warnings.append(warning) }
      case .silent: break
      }
    }
    return counts
  }

  /// Whether one of the rules that infer says that this was the last page.
  func isEnd(
    _ answer: PageAnswer, next: Bookmark, itemCount: Int, _ counts: Counts,
    _ result: inout Continuation
  ) throws -> Bool {
    if counts.isReached { return true }
    let isShort = try pagination.end.contains(.shortPage) && isShort(answer, itemCount)
    if itemCount == 0, isShort || pagination.end.contains(.emptyPage) {
      guard let total = counts.more else { return true }
      if isStandstill(next, after: answer) {
        result.warnings.append(Self.emptyPage(before: total))
        return true
      }
    }
    return pagination.end.contains { rule in
      switch rule {
      case .shortPage: isShort && itemCount > 0 && !counts.saysMore
      case .sameCursor: isSame(next, asSentFor: answer)
      case .notAdvancing: isBehind(next, sentFor: answer)
      case .emptyPage, .noNext, .flag, .total, .status, .noNewItems, .lastPage: false
      }
    }
  }

  /// Whether a page has fewer items than a full one.
  private func isShort(_ answer: PageAnswer, _ itemCount: Int) throws -> Bool {
    try reader.pageSize(of: answer).map { itemCount < $0 } ?? false
  }

  /// Whether the next number is not beyond the one that this page was asked for by.
  private func isBehind(_ next: Bookmark, sentFor answer: PageAnswer) -> Bool {
    guard let number = next.count else { return false }
    let sent =
      answer.bookmark.map(\.count)
      ?? routes[next.route].count(sentBy: RequestEditor(first))
      ?? pagination.request.first?.integer ?? routes.lazy.compactMap(\.next.firstCount).first
    return sent.map { number <= $0 } ?? false
  }

  private func isSame(_ next: Bookmark, asSentFor answer: PageAnswer) -> Bool {
    if case .url(let link) = next.target { return link == answer.request.url || link == answer.url }
    if let sent = answer.bookmark { return sent.value.isSame(as: next.value) }
    let sent = RequestEditor(first).value(at: routes[next.route].send)
    return sent.map { $0.isSame(as: next.value) } ?? false
  }

  /// Whether the next offset is that of this page.
  func isStandstill(_ next: Bookmark, after answer: PageAnswer) -> Bool {
    guard case .offset(let offset) = next.target, !isCustom else { return false }
    return offset == counter.count(of: answer, on: routes[next.route])
  }

  static func standstill(at offset: Int) -> PageError {
    PageError(
      .noProgress,
      "The next page would begin at \(offset) again, as this one did: the walk would never end. All "
        + "pages so far were delivered. Look at the flag or the total that its end is told by.",
      remedies: [
        Remedy(.end, ["emptyPage"], condition: "if an empty page is the end of the listing")
      ])
  }

  /// Whether an answer without a page may come in the place of one, as the description says.
  var endsByAnswer: Bool {
    pagination.policy.failure.contains { $0.kind == .empty }
      || pagination.end.contains { if case .status = $0 { true } else { false } }
  }

  /// Why more exists behind a number of pages that ended the walk, where so many pages of the size that the
  /// answer names do not hold as many items as it says there are: the server pages no further. Behind a page that
  /// is not full, less than a page may be the estimate's error, but not where a round thousand came: that is a
  /// window, which the size does not divide.
  func window(behind answer: PageAnswer, itemCount: Int, _ total: Total?) throws -> PageError? {
    guard let total, total.kind == .estimate, let echo = pagination.size?.echo,
      let size = try answer.value(at: .body(echo), items: pagination.items)?.count, size > 0
    else { return nil }
    for source in reader.totalSources where source.kind == .pages {
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

  /// Doubts about an end that the page told by leading nowhere.
  func noteEnd(of answer: PageAnswer, _ result: inout Continuation) {
    guard answer.bookmark?.isBackward != true, let total = result.total,
      total.kind == .remaining, total.value > 0
    else { return }
    result.warnings.append(
      WalkReport.Warning(
        .endBeforeTotal,
        "The last page says that \(total.value) items remain behind it, and leads to none.",
        remedy: Remedy(.next)))
  }
}

extension WalkReport.Warning.Code {
  /// More came than the server declared, so that its total was not believed.
  public static let contradictedTotal = Self("contradictedTotal")
  /// An empty page ended the listing although by the server's total more should have followed.
  public static let emptyPageBeforeTotal = Self("emptyPageBeforeTotal")
  /// A page had something else than a whole number where the total should be.
  public static let unreadableTotal = Self("unreadableTotal")
  /// The last page says that items remain behind it.
  public static let endBeforeTotal = Self("endBeforeTotal")
}

/// What stands where a server should say how much there is.
enum DeclaredTotal: Hashable {
  /// Nothing, or a word or number that means it is not known.
  case none
  /// A whole number, however it is spelt; a lower bound where the server says so.
  case number(Int, isLowerBound: Bool)
  /// Something else, in words that quote nothing of it.
  case other(String)

  /// Reads a value.
  init(_ value: JSONValue?) {
    switch value {
    case nil, .null: self = .none
    case .bool: self = .other("true or false")
    case .array: self = .other("a list")
    case .number(let text): self = Self.read(text, isText: false)
    case .string(let text):
      self = Self.isUnknown(text) ? .none : Self.read(text, isText: true)
    case .object: self = Self.object(value)
    }
  }

  /// `{"value": 10000, "relation": "gte"}`, as Elasticsearch and OpenSearch write a total.
  private static func object(_ value: JSONValue?) -> DeclaredTotal {
    let isLowerBound: Bool
    switch value?["relation"] {
    case nil, .null, "eq": isLowerBound = false
    case "gte": isLowerBound = true
    default: return .other("an object")
    }
    switch value?["value"] {
    case .some(let inner) where inner["value"] == nil:
      guard case .number(let number, _) = DeclaredTotal(inner) else { return DeclaredTotal(inner) }
      return .number(number, isLowerBound: isLowerBound)
    default: return .other("an object")
    }
  }

  private static func read(_ text: String, isText: Bool) -> DeclaredTotal {
    guard let number = WholeNumber.read(text, isText: isText) else {
      return .other(isText ? "a text" : "a number that is not whole")
    }
    return number >= 0 ? .number(number, isLowerBound: false) : .none
  }

  /// `*` in Content-Range (RFC 9110, §14.4), and what else stands for a number that was not counted.
  private static func isUnknown(_ text: String) -> Bool {
    let words: Set = ["", "*", "?", "-", "unknown", "null", "none", "n/a", "nan"]
    return words.contains(text.trimmingBlanks.lowercased())
  }
}
