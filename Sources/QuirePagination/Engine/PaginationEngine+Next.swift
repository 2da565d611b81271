import QuireCore

/// Where the next page starts.
extension PaginationEngine {
  /// The first route that leads on from a page; nil when none does.
  func bookmark(after answer: PageAnswer, itemCount: Int) throws -> Bookmark? {
    if let custom { return try bookmark(custom, after: answer, itemCount: itemCount) }
    if case .index = routes.first?.next { return try bookmark(inIndexAfter: answer) }
    for (index, route) in routes.enumerated() {
      guard let target = try target(of: route, after: answer, itemCount: itemCount) else {
        continue
      }
      var bookmark = Bookmark(target, route: index)
      if case .page(let page) = target, tracksItemsSeen {
        // A page that does not advance keeps its count, so that the walk sees the loop.
        let seen = itemsSeen(before: answer)
        let advances = count(of: answer, on: route).map { page > $0 } ?? true
        bookmark.seen = advances ? seen.map { $0.plus(itemCount) } : seen
        if pageSize == nil { bookmark.largest = max(itemCount, answer.bookmark?.largest ?? 0) }
      }
      return bookmark
    }
    return nil
  }

  func target(
    of route: Route, after answer: PageAnswer, itemCount: Int
  ) throws -> Bookmark.Target? {
    switch route.next.root {
    case .offset(_, let step):
      guard let offset = count(of: answer, on: route),
        let advance = try advance(step, after: answer, itemCount: itemCount)
      else { return nil }
      return .offset(try Self.sum(offset, advance))
    case .pageNumber(_, let path):
      let echoed = try path.flatMap {
        try answer.value(at: .body($0), items: items)?.wholeNumber
      }
      guard let page = echoed ?? count(of: answer, on: route) else { return nil }
      return .page(try Self.sum(page, 1))
    case .contentRange:
      return try answer.contentRange?.range.map { .offset(try Self.sum($0.upperBound, 1)) }
    default:
      guard let token = try token(route.next, in: answer) else { return nil }
      switch route.send {
      case .url: return .url(try absolute(token, from: route.next, in: answer))
      case .request:
        return .request(description(token, href: try absolute(token, from: route.next, in: answer)))
      default: return .token(token)
      }
    }
  }

  private func advance(
    _ step: OffsetStep, after answer: PageAnswer, itemCount: Int
  ) throws -> Int? {
    switch step {
    case .itemsReturned: itemCount
    case .pageSize: try pageSize(of: answer)
    case .body(let path): try answer.value(at: .body(path), items: items)?.count
    }
  }

  /// A sum that a hostile number cannot make trap.
  private static func sum(_ left: Int, _ right: Int) throws -> Int {
    let (sum, overflow) = left.addingReportingOverflow(right)
    guard !overflow else {
      throw PageError(
        .invalidCursor, "The next page's number is beyond \(Int.max) and cannot be counted.")
    }
    return sum
  }

  /// The value of a source, unless it is blank or a sentinel.
  private func token(_ source: NextSource, in answer: PageAnswer) throws -> JSONValue? {
    let value: JSONValue? =
      switch source {
      case .linkHeader(let rel, let conditions):
        answer.links.first(relation: rel, where: conditions).map { .string($0.target) }
      case .header(let name): answer.field(name)
      case .body(let path): try bodyValue(at: path, in: answer)
      case .lastItem(let path): try answer.document.value(at: path, inLastItemOf: items)
      case .firstItem(let path):
        try answer.document.values(at: path, inItemsOf: items).first ?? nil
      case .maxItem(let path):
        try answer.document.values(at: path, inItemsOf: items)
          .compactMap { $0?.isBlank == false ? $0 : nil }
          .max { $0.isLess(than: $1) }
      case .transformed(let source, .formDecoded(when: let condition?))
      where try !answer.matches(condition, items: items):
        try token(source, in: answer)
      case .transformed(let source, let transform):
        try token(source, in: answer).flatMap { try transform.apply(to: $0, pageSize: pageSize) }
      case .all(let sources): try all(sources, in: answer)
      case .offset, .pageNumber, .contentRange, .firstOf, .index: nil
      }
    guard let value, !isNothing(value) else { return nil }
    return value
  }

  private func all(_ sources: [String: NextSource], in answer: PageAnswer) throws -> JSONValue {
    let members = try sources.sorted { $0.key < $1.key }.compactMap { name, source in
      try token(source, in: answer).map { JSONValue.Member(name, $0) }
    }
    return .object(members)
  }

  /// The value at a path; where an empty text is a cursor like any other, that of an empty element of
  /// XML too.
  private func bodyValue(at path: PagePath, in answer: PageAnswer) throws -> JSONValue? {
    if let value = try answer.value(at: .body(path), items: items) { return value }
    guard pagination.policy.emptyCursor == .value, try answer.document.count(at: path) ?? 0 > 0
    else { return nil }
    return ""
  }

  /// Whether a page that leads nowhere has an empty text where its cursor is.
  func hasEmptyCursor(_ answer: PageAnswer) throws -> Bool {
    try routes.contains { route in
      // An empty link leads nowhere by anyone's word.
      guard ![.url, .request, .queryMerge, .bodyMerge].contains(route.send) else { return false }
      switch route.next.root {
      case .body(let path):
        // An empty element is how XML writes null, and no text.
        guard let value = try answer.document.value(at: path) else { return false }
        return value.string != nil && value.isBlank
      case .header(let name): return answer.field(name)?.isBlank ?? false
      default: return false
      }
    }
  }

  private func isNothing(_ value: JSONValue) -> Bool {
    if case .string = value, pagination.policy.emptyCursor == .value {
      return isSentinel(value)
    }
    return value.isBlank || isSentinel(value)
  }

  private func isSentinel(_ value: JSONValue) -> Bool {
    pagination.end.contains { rule in
      guard case .noNext(let sentinels) = rule else { return false }
      return sentinels.contains(value.plainText)
    }
  }

  /// A link as seen from the page it was found in, or from where that page says (XML Base).
  private func absolute(
    _ value: JSONValue, from source: NextSource, in answer: PageAnswer
  ) throws -> String {
    guard let link = value.link else {
      throw PageError(
        .refusedLink,
        "The next link is neither a text nor an object with \"href\". Check the description's "
          + "\"next\" and \"send\".")
    }
    try CursorCheck.check(.string(link))
    let text = link.trimmingBlanks.encodingBlanksOfQuery
    let reference = try Self.reference(text, "The next link cannot be followed")
    if reference.scheme != nil { return text }
    var target = reference.resolved(against: try base(ofLinksFrom: source, in: answer))
    // It is not sent, and two that differ by it lead to one page.
    target.fragment = nil
    return target.text
  }
}

extension PaginationEngine {
  /// What relative links of a page start from: what the page says, or else its address.
  func base(ofLinksFrom source: NextSource, in answer: PageAnswer) throws -> URLReference {
    let complaint = "The address that the page's links start from cannot be used"
    let address = try Self.reference(answer.url, complaint)
    switch source.root {
    case .linkHeader, .header: return address
    default: break
    }
    let said = try pagination.policy.linkBase.flatMap { try answer.value(at: $0, items: items) }
    var base = address
    if let text = said?.link?.trimmingBlanks, !text.isEmpty {
      base = try Self.reference(text, complaint).resolved(against: address)
    }
    if case .body(let path) = source.root,
      let own = answer.document.base(at: path, outsideItemsOf: items)
    {
      base = try Self.reference(own.trimmingBlanks, complaint).resolved(against: base)
    }
    return base
  }

  private static func reference(
    _ text: String, _ complaint: String
  ) throws(PageError) -> URLReference {
    do {
      return try URLReference(text)
    } catch {
      throw PageError(.refusedLink, "\(complaint): \(error.message)")
    }
  }
}

extension String {
  /// A URL with the spaces of its query as `%20`: some services write filters into links as they are,
  /// and in a query every parser reads a space alike.
  fileprivate var encodingBlanksOfQuery: String {
    guard utf8.contains(0x20), let mark = utf8.firstIndex(of: UInt8(ascii: "?")) else {
      return self
    }
    return String(self[..<mark]) + self[mark...].replacing(" ", with: "%20")
  }

  package var trimmingBlanks: String {
    guard let first = utf8.first, let last = utf8.last,
      !(0x21...0x7E).contains(first) || !(0x21...0x7E).contains(last)
    else { return self }
    let start = drop(while: \.isWhitespace)
    guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return "" }
    return String(start[...last])
  }
}

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
