public import QuireCore

/// What the server says there is, and how far a walk relies on it.
extension PaginationEngine {
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

  /// The description's total with what an answer says; nil where it says none, or a number that the
  /// page itself contradicts.
  func total(
    in answer: PageAnswer, itemCount: Int, warnings: inout [WalkReport.Warning]
  ) throws -> Total? {
    guard let source = pagination.total, let total = try total(source, in: answer) else {
      return nil
    }
    // Estimates are wrong by nature, and a lower bound is right with more.
    let isContradicted =
      if case .contradicted = verdict(on: total, answer: answer, next: nil, itemCount: itemCount) {
        [.items, .pages].contains(total.kind)
      } else {
        total.kind == .items && itemCount == 0 && exactItemsSeen(before: answer) ?? 0 > total.value
      }
    guard isContradicted else { return total }
    warnings.append(Self.contradicted(total))
    return nil
  }

  /// What an answer has at a total's place, or remembers of it.
  func total(_ source: TotalSource, in answer: PageAnswer) throws -> Total? {
    if source.scope == .firstPage, let bookmark = answer.bookmark {
      return bookmark.total.map { Total($0, source.kind) }
    }
    guard case .number(let number, let isLowerBound) = try declared(source, in: answer) else {
      return nil
    }
    guard isLowerBound else { return Total(number, source.kind) }
    // Of pages, or of what remains, a lower bound says nothing that could be used.
    return [.items, .estimate, .lowerBound].contains(source.kind)
      ? Total(number, .lowerBound) : nil
  }

  private func declared(_ source: TotalSource, in answer: PageAnswer) throws -> DeclaredTotal {
    DeclaredTotal(try answer.value(at: source.source, items: items))
  }

  /// Throws `shape` for a first page that has something else where the total should be: a path that
  /// leads elsewhere would check nothing.
  package func checkTotals(of answer: PageAnswer) throws {
    guard answer.isFirst, case .other(let words)? = try unreadableTotal(in: answer) else { return }
    throw PageError(
      .shape,
      "Where the description has its total, the page has \(words), which is no whole number. Correct "
        + "the total's path, or leave the total out.")
  }

  /// The warning about a later page that has something else where the total should be.
  func unreadableTotalWarning(for answer: PageAnswer) -> WalkReport.Warning? {
    guard !answer.isFirst, case .other(let words)? = try? unreadableTotal(in: answer) else {
      return nil
    }
    return WalkReport.Warning(
      .unreadableTotal,
      "A later page has \(words) where the total should be; that page's total was left out of account.",
      remedy: Remedy(.total))
  }

  private func unreadableTotal(in answer: PageAnswer) throws -> DeclaredTotal? {
    for source in totalSources where source.scope == .everyPage || answer.isFirst {
      let found = try declared(source, in: answer)
      if case .other = found { return found }
    }
    return nil
  }

  /// Every total of the description, those of end rules first.
  var totalSources: [TotalSource] {
    let inEnd = pagination.end.compactMap { rule in
      if case .total(let total) = rule { total } else { nil }
    }
    guard let total = pagination.total, !inEnd.contains(total) else { return inEnd }
    return inEnd + [total]
  }

  // MARK: Verdicts

  /// What a total says about the way on behind a page of `itemCount` items; `next` is where the
  /// description's source leads.
  func verdict(
    on total: Total, answer: PageAnswer, next: Bookmark?, itemCount: Int
  ) -> TotalVerdict {
    switch total.kind {
    case .remaining: return total.value == 0 ? .reached : .more
    case .pages:
      guard let before = pagesSeen(before: answer) else { return .silent }
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
    if new.plus(exactItemsSeen(before: answer) ?? 0) > total { return .contradicted }
    guard let next, let seen = itemsSeen(with: answer, next: next, itemCount: itemCount) else {
      return .silent
    }
    return seen >= total ? .reached : .more
  }

  /// Behind an empty page it is the place that counts: items that never came keep no walk going for
  /// ever.
  private func verdict(
    onItems total: Int, behindEmpty answer: PageAnswer, next: Bookmark?
  ) -> TotalVerdict {
    if let before = itemsSeen(before: answer), before >= total { return .reached }
    guard let next else { return .silent }
    if case .page = next.target {
      guard let pages = pagesSeen(before: answer) else { return .silent }
      let size = (try? pageSize(of: answer)) ?? answer.bookmark?.largest ?? 1
      // One page beyond those that the total has room for: a page in the middle may be empty.
      return pages.times(size) < total ? .more : .silent
    }
    guard let seen = itemsSeen(with: answer, next: next, itemCount: 0) else { return .silent }
    return seen < total ? .more : .silent
  }

  /// How many items came before this page where that was counted, not reckoned from page sizes.
  private func exactItemsSeen(before answer: PageAnswer) -> Int? {
    if let seen = answer.bookmark?.seen { return seen }
    for route in routes {
      guard let count = count(of: answer, on: route), let first = route.next.firstCount else {
        continue
      }
      switch route.next.root {
      case .pageNumber, .offset(_, .pageSize), .offset(_, .body): return nil
      default: return count.minus(first)
      }
    }
    return nil
  }

  // MARK: Doubts

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

  /// `*` in Content-Range (RFC 9110, §14.4), and what else stands for a number that nobody counted.
  private static func isUnknown(_ text: String) -> Bool {
    let words: Set = ["", "*", "?", "-", "unknown", "null", "none", "n/a", "nan"]
    return words.contains(text.trimmingBlanks.lowercased())
  }
}
