import HTTPTypes
package import QuireCore

/// The part of the engine that finds what follows a page: another page, the end, or a later walk.
package struct ContinuationFinder: EnginePart {
  let engine: PaginationEngine

  private var judge: EndJudge { EndJudge(engine: engine) }

  /// Returns what follows a page of `itemCount` items.
  ///
  /// These decide, in this order: a flag that says the end; a flag that says more, which makes a
  /// missing token an error; the token; an end inferred from a total, a short or an empty page.
  /// Never throws: the page is complete and is delivered, and an error about the next page is
  /// thrown after it.
  package func continuation(after answer: PageAnswer, itemCount: Int) -> Continuation {
    var result = Continuation()
    do {
      result.total = try judge.total(in: answer, itemCount: itemCount, warnings: &result.warnings)
      reader.unreadableTotalWarning(for: answer).map { result.warnings.append($0) }
      do {
        result.previous = try previous(of: answer, itemCount: itemCount)
      } catch  where answer.pageBookmark?.isBackward != true {
        // A walk forwards does not need the previous page.
      }
      try findNext(after: answer, itemCount: itemCount, &result)
      if result.next == nil, result.nextFailure == nil {
        if let paths = try reader.missingRequirement(in: answer) {
          result.nextFailure = Self.missingRequirement(paths)
          return result
        }
        result.resume = try resumption(after: answer)
        judge.warnOfRemainingItems(after: answer, &result)
      }
    } catch let error as PageError {
      result.nextFailure = error
    } catch {
      // All errors but `PageError` come from a closure.
      result.nextFailure = PageError(
        .sourceFailed, "The closure that leads to the next page threw: \(error)", underlying: error)
    }
    return result
  }

  /// Returns the next position if the header fields alone determine it, before the body arrives;
  /// nil if something in the body could change it or end the listing.
  package func next(inHeadOf answer: PageAnswer) -> Position? {
    guard engine.nextPageClosure == nil, isToldByHead else { return nil }
    return continuation(after: answer, itemCount: 1).next
  }

  private var isToldByHead: Bool {
    switch routes.first?.next {
    case .linkHeader, .header: break
    default: return false
    }
    // The values that positions carry are read from bodies.
    let carries =
      !pagination.request.carry.isEmpty || pagination.total?.scope == .firstPage
      || pagination.policy.close != nil
    return !carries
      && pagination.end.allSatisfy { rule in
        switch rule {
        case .noNext, .status: true
        default: false
        }
      }
  }

  private func findNext(
    after answer: PageAnswer, itemCount: Int, _ result: inout Continuation
  ) throws {
    let flag = try reader.flag(in: answer)
    if pagination.policy.close != nil {
      let next = try? bookmark(after: answer, itemCount: itemCount)
      result.closing = try closing(after: answer, next: next)
    }
    // A page that was reached backwards has a page behind it. Its flags are about the other end.
    let isBackward = answer.pageBookmark?.isBackward ?? false
    if !isBackward, try flag == .end || reader.isLast(answer) { return }
    guard var next = try bookmark(after: answer, itemCount: itemCount) else {
      guard !isBackward else { return }
      let isBlank = try reader.hasEmptyCursor(answer)
      if let failure = missingSource, itemCount > 0, !endsWithoutNext,
        try !isEnd(answer, itemCount: itemCount, &result)
      {
        result.nextFailure = failure
      } else if flag == .more {
        result.nextFailure = isBlank ? Self.moreBehindEmptyCursor : Self.moreWithoutCursor
      } else if isBlank {
        if result.total?.kind == .remaining, result.total?.value != 0 {
          result.nextFailure = Self.moreBehindEmptyCursor
        } else {
          result.endDoubt = Self.moreBehindEmptyCursor
        }
      } else if let place = try reader.linkWithoutTarget(in: answer) {
        result.warnings.append(
          WalkReport.Warning(
            .linkWithoutTarget,
            "The last page has a link to the next one, and nothing at \(place.place): the listing may be longer."
          ))
      } else if flag == nil {
        try judge.warnOfUnmarkedEnd(after: answer, itemCount: itemCount, &result)
      }
      return
    }
    let counts = try judge.readTotals(of: answer, next: next, itemCount: itemCount, &result)
    if !isBackward, flag != .more,
      try judge.isEnd(answer, next: next, itemCount: itemCount, counts, &result)
    {
      result.nextFailure = try judge.window(behind: answer, itemCount: itemCount, result.total)
      return
    }
    if case .offset(let offset) = next.target, judge.repeatsOffset(next, after: answer) {
      result.nextFailure = EndJudge.repeatedOffset(at: offset)
      return
    }
    try CursorCheck.check(next.value, by: routes[next.route].send)
    next.carried = try reader.carried(after: answer)
    next.repetitionWatch = try reader.repetitionWatch(including: answer)
    next.anchor = try reader.anchor(after: answer)
    next.recoveries = answer.requestedBookmark?.recoveries ?? 0
    next.isPromised =
      judge.endsByAnswer && (flag == .more || counts.promisesMore)
      || reader.repetitionKey != nil && flag == .more
    if let source = pagination.total, source.scope == .firstPage, result.total?.kind == source.kind
    {
      next.total = result.total?.value
    }
    result.next = next.position
  }

  /// The error for a page with items that has nothing where the next page is told from; nil for a
  /// source that the last page may lack.
  private var missingSource: PageError? {
    guard engine.nextPageClosure == nil, routes.count == 1 else { return nil }
    switch routes[0].next.untransformed {
    case .lastItem(let path), .firstItem(let path), .maxItem(let path):
      return Self.missingSource(
        "The item that leads to the next page has no value at \(path.place)",
        "name a value that all items have")
    case .offset(_, .body(let path)):
      return Self.missingSource(
        "The page has no number from 0 on at \(path.place), by which the offset grows",
        "name one that all pages have, or leave it out, so that the items are counted")
    case .contentRange:
      return Self.missingSource(
        "The answer has no Content-Range that the next page begins behind",
        "count by an offset where answers have none")
    default: return nil
    }
  }

  /// Whether the description says that a page without a continuation is the last.
  private var endsWithoutNext: Bool {
    pagination.end.isEmpty
      || pagination.end.contains { if case .noNext = $0 { true } else { false } }
  }

  /// Whether a rule that infers the end says that a page without a continuation is the last.
  private func isEnd(
    _ answer: PageAnswer, itemCount: Int, _ result: inout Continuation
  ) throws -> Bool {
    let next = Bookmark(.token(.null))
    let counts = try judge.readTotals(of: answer, next: next, itemCount: itemCount, &result)
    return try judge.isEnd(answer, next: next, itemCount: itemCount, counts, &result)
  }

  private static func missingSource(_ fault: String, _ advice: String) -> PageError {
    PageError(
      .inconsistentTermination,
      "\(fault), and by the description the listing does not end so. Data may be missing: \(advice).",
      remedies: [Remedy(.end, ["noNext"], condition: "if a page without one is the last")])
  }

  private static func missingRequirement(_ paths: [PagePath]) -> PageError {
    let places = paths.map(\.place).joined(separator: " or ")
    return PageError(
      .inconsistentTermination,
      "The page looks like the last one only because it has nothing at \(places), which every page of "
        + "this API has. Data may be missing: have the request ask for it, in GraphQL by its name in the "
        + "query, as in `pageInfo { hasNextPage endCursor }`, elsewhere in its filter of fields.")
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

  // MARK: Sources

  /// Returns the position by the first route that leads to a next page; nil if none does.
  func bookmark(after answer: PageAnswer, itemCount: Int) throws -> Bookmark? {
    if let custom = engine.nextPageClosure {
      return try bookmark(custom, after: answer, itemCount: itemCount)
    }
    if case .index = routes.first?.next { return try bookmark(inIndexAfter: answer) }
    for (index, route) in routes.enumerated() {
      guard let target = try target(of: route, after: answer, itemCount: itemCount) else {
        continue
      }
      var bookmark = Bookmark(target, route: index)
      if case .page(let page) = target, counter.tracksItemsSeen {
        // The count stays if the page number does not advance, so that the walk detects the loop.
        let seen = counter.itemsSeen(before: answer)
        let advances = counter.count(of: answer, on: route).map { page > $0 } ?? true
        bookmark.seen = advances ? seen.map { $0.plus(itemCount) } : seen
        if pageSize == nil {
          bookmark.largestPage = max(itemCount, answer.pageBookmark?.largestPage ?? 0)
        }
      }
      return bookmark
    }
    return nil
  }

  func target(
    of route: Pagination.Route, after answer: PageAnswer, itemCount: Int
  ) throws -> Bookmark.Target? {
    switch route.next.untransformed {
    case .offset(_, let step):
      guard let offset = counter.count(of: answer, on: route),
        let advance = try advance(step, after: answer, itemCount: itemCount)
      else { return nil }
      return .offset(try Self.checkedSum(offset, advance))
    case .pageNumber(_, let path):
      let echoed = try path.flatMap {
        try answer.value(at: .body($0), items: items)?.wholeNumber
      }
      guard let page = echoed ?? counter.count(of: answer, on: route) else { return nil }
      return .page(try Self.checkedSum(page, 1))
    case .contentRange:
      return try answer.contentRange?.range.map { .offset(try Self.checkedSum($0.upperBound, 1)) }
    default:
      guard let token = try token(route.next, in: answer) else { return nil }
      switch route.send {
      case .url where token.isEmptyLink, .request where token.isEmptyLink: return nil
      case .url: return .url(try absolute(token, from: route.next, in: answer))
      case .request:
        return .request(
          requestDescription(token, href: try absolute(token, from: route.next, in: answer)))
      default: return .token(token)
      }
    }
  }

  private func advance(
    _ step: Pagination.OffsetStep, after answer: PageAnswer, itemCount: Int
  ) throws -> Int? {
    switch step {
    case .itemsReturned: itemCount
    case .pageSize: try reader.pageSize(of: answer)
    case .body(let path): try answer.value(at: .body(path), items: items)?.count
    }
  }

  /// Returns a sum; throws instead of trapping if a server's number makes it overflow.
  private static func checkedSum(_ left: Int, _ right: Int) throws -> Int {
    let (sum, overflow) = left.addingReportingOverflow(right)
    guard !overflow else {
      throw PageError(
        .invalidCursor, "The next page's number is beyond \(Int.max) and cannot be counted.")
    }
    return sum
  }

  /// Returns the value of a source; nil if it is blank or a sentinel.
  private func token(_ source: Pagination.Next, in answer: PageAnswer) throws -> JSONValue? {
    let value: JSONValue? =
      switch source {
      case .linkHeader(let rel, let conditions):
        try link(rel, where: conditions, in: answer)
      case .header(let name): try cursor(inField: name, of: answer)
      case .body(let path): try bodyValue(at: path, in: answer)
      case .lastItem(let path):
        try answer.document.value(at: path.keepingSpaces, inLastItemOf: items)
      case .firstItem(let path):
        try answer.document.values(at: path.keepingSpaces, inItemsOf: items).first ?? nil
      case .maxItem(let path):
        try answer.document.values(at: path.keepingSpaces, inItemsOf: items)
          .compactMap { $0?.isBlank == false ? $0 : nil }
          .max { $0.isLess(than: $1) }
      case .transformed(.lastItem(let path), .jsonText):
        // As JSON, null and an empty text are keys like any other, for example in CouchDB's views.
        try answer.document.value(at: path.keepingSpaces, inLastItemOf: items)
          .map { JSONValue.string($0.description) }
      case .transformed(.body(let path), .formDecoded(when: let condition?))
      where try !answer.matches(condition, items: items):
        // A key as it is, which the server was asked to encode and did not.
        try bodyValue(at: path.keepingSpaces, in: answer)
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

  /// Returns the target of a Link field; nil if there is none. Throws `refusedLink` if a field that
  /// may name it cannot be read, `invalidCursor` if its bytes are no text.
  private func link(
    _ relation: String, where conditions: [String: String], in answer: PageAnswer
  ) throws -> JSONValue? {
    if let link = answer.links.first(relation: relation, where: conditions) {
      return .string(try Self.checkedText(link.target, inField: "Link"))
    }
    if let field = answer.links.brokenField(mentioning: relation) {
      throw PageError(
        .refusedLink,
        "The answer's Link field mentions \"\(relation)\" and cannot be read (RFC 8288, section 3): "
          + "\(ServerText(field)). Pages may be missing; ask the server's owner.")
    }
    return nil
  }

  /// Returns the value of a header field; nil if there is none. Throws `invalidCursor` if there are
  /// several, or if its bytes are no text: neither can be sent back as it came.
  private func cursor(inField name: String, of answer: PageAnswer) throws -> JSONValue? {
    guard let field = HTTPField.Name(name) else { return nil }
    let values = Set(answer.headerFields[values: field])
    guard values.count < 2 else {
      throw PageError(
        .invalidCursor,
        "The answer has several fields \(name), and only one of them can lead to the next page.")
    }
    return try values.first.map { .string(try Self.checkedText($0, inField: name)) }
  }

  /// Returns the text of a field. Throws `invalidCursor` for bytes that are not UTF-8, which were
  /// replaced when the field was read.
  private static func checkedText(_ text: String, inField name: String) throws -> String {
    // Most are ASCII, which is told faster.
    guard text.utf8.contains(0xEF), text.unicodeScalars.contains("\u{FFFD}") else { return text }
    throw PageError(
      .invalidCursor,
      "The field \(name) has bytes that are not UTF-8: \(ServerText(text)). They cannot be sent back as "
        + "they came; ask the server's owner for a cursor of ASCII.")
  }

  private func all(_ sources: [String: Pagination.Next], in answer: PageAnswer) throws -> JSONValue
  {
    let members = try sources.sorted { $0.key < $1.key }.compactMap { name, source in
      try token(source, in: answer).map { JSONValue.Member(name, $0) }
    }
    return .object(members)
  }

  /// Returns the value at a path; "" for an empty XML element, if the policy makes that a cursor.
  private func bodyValue(at path: PagePath, in answer: PageAnswer) throws -> JSONValue? {
    if let value = try answer.value(at: .body(path), items: items) { return value }
    guard pagination.policy.emptyCursor == .value, try answer.document.count(at: path) ?? 0 > 0
    else { return nil }
    return ""
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
        || sentinels.contains(value.plainText.trimmingBlanks)
    }
  }

  /// Returns a link as an absolute URL, by the page's address or its declared base (XML Base).
  private func absolute(
    _ value: JSONValue, from source: Pagination.Next, in answer: PageAnswer
  ) throws -> String {
    guard let link = value.link else {
      throw PageError(
        .refusedLink,
        "The next link is neither a text nor an object with \"href\". Check the description's "
          + "\"next\" and \"send\".")
    }
    try CursorCheck.check(.string(link), by: .url)
    let text = link.trimmingBlanks.encodingBlanksOfQuery
    let reference = try URLReference(link: text)
    if reference.scheme != nil { return text }
    var target = reference.resolved(against: try reader.base(ofLinksFrom: source, in: answer))
    // The fragment is not sent, and links that differ only in it lead to one page.
    target.fragment = nil
    return target.text
  }

  /// Returns a description of a request, with an absolute link; a plain link describes one, too.
  func requestDescription(_ value: JSONValue, href: String) -> JSONValue {
    guard case .object(var members) = value else { return ["href": .string(href)] }
    let known = ["method", "headers", "body", "merge"]
    members = members.filter { known.contains($0.name) && $0.value != .null }
    return .object([.init("href", .string(href))] + members)
  }

  // MARK: Closures

  /// Returns the position of the page that the closure requests after an answer; nil for the end.
  func bookmark(
    _ next: (AnsweredPage) throws -> NextPage?, after answer: PageAnswer, itemCount: Int
  ) throws -> Bookmark? {
    let page = AnsweredPage(
      request: answer.request, url: answer.url, status: answer.status,
      headerFields: answer.headerFields, document: answer.document, itemCount: itemCount,
      state: answer.requestedBookmark?.state ?? .null)
    guard let step = try next(page) else { return nil }
    let link = try URLReference(step.request.url).resolved(against: try URLReference(answer.url))
    var bookmark = Bookmark(
      .request(try Self.requestDescription(of: step.request, href: link.text)))
    bookmark.state = step.state == .null ? nil : step.state
    return bookmark
  }

  /// Returns a request as positions store it.
  private static func requestDescription(
    of request: PageRequest, href: String
  ) throws(PageError) -> JSONValue {
    var members: [JSONValue.Member] = [
      .init("href", .string(href)), .init("method", .string(request.method.rawValue)),
    ]
    let headers = request.headerFields.map {
      JSONValue.Member($0.name.rawName, .string($0.value))
    }
    if !headers.isEmpty { members.append(.init("headers", .object(headers))) }
    switch request.body {
    case .none: break
    case .json(let body): members.append(.init("body", body))
    case .form(let text): members.append(.init("form", .string(text)))
    case .xml(let text): members.append(.init("xml", .string(text)))
    case .bytes:
      throw PageError(
        .invalidArgument,
        "A closure's next request has a body of bytes, which a position cannot hold. Give it JSON, a "
          + "form or XML.")
    }
    return .object(members)
  }

  // MARK: Indexes

  /// Returns the position behind an answer: the first page that it lists, else the page behind it
  /// in the index that lists it; nil at the end of all indexes.
  func bookmark(inIndexAfter answer: PageAnswer) throws -> Bookmark? {
    guard let route = reader.indexRoute else { return nil }
    var within = answer.requestedBookmark?.enclosingIndexes ?? []
    var current = answer.request.url
    let isIndex = route.nested || within.isEmpty
    if isIndex, let first = try reader.pages(listedIn: answer).first {
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
    bookmark.enclosingIndexes = within
    return bookmark
  }

  // MARK: The page before, later walks and recovery

  /// Returns the position of the page before an answer; nil if nothing leads to it.
  func previous(of answer: PageAnswer, itemCount: Int) throws -> Position? {
    guard let rule = pagination.previous else { return nil }
    // A link means that there is a previous page; a key exists on the first page, too.
    let isKnownFirst = answer.isFirst && rule.send != .url && rule.send != .request
    if isKnownFirst { return nil }
    if answer.pageBookmark?.isBackward == true, try isFirst(answer, rule, itemCount: itemCount) {
      return nil
    }
    for (index, route) in backwardRoutes.enumerated() {
      guard let target = try target(of: route, after: answer, itemCount: itemCount) else {
        continue
      }
      var bookmark = Bookmark(target, route: index)
      bookmark.isBackward = true
      bookmark.carried = try reader.carried(after: answer)
      try CursorCheck.check(bookmark.value, by: route.send)
      return bookmark.position
    }
    return nil
  }

  /// Returns whether a page that was reached backwards is the first of the listing.
  private func isFirst(
    _ answer: PageAnswer, _ rule: Pagination.PreviousRule, itemCount: Int
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

  /// Returns the position where a later walk for changes starts; nil if the page does not give it.
  func resumption(after answer: PageAnswer) throws -> Position? {
    guard let route = pagination.resume,
      let target = try target(of: route, after: answer, itemCount: 0)
    else { return nil }
    if case .url = target { return Bookmark(target).position }
    if let index = routes.firstIndex(where: { $0.send == route.send }) {
      var bookmark = Bookmark(target, route: index)
      bookmark.carried = try reader.carried(after: answer)
      return bookmark.position
    }
    var bookmark = Bookmark(Bookmark.Target.start)
    bookmark.carried = [JSONValue.Member(RequestBuilder.resumption, Bookmark(target).value)]
    return bookmark.position
  }

  /// Returns the position to close if this answer is the walk's last; nil for none.
  func closing(after answer: PageAnswer, next: Bookmark?) throws -> Position? {
    guard pagination.policy.close != nil else { return nil }
    var bookmark = next ?? Bookmark(Bookmark.Target.start)
    bookmark.carried = try reader.carried(after: answer)
    return bookmark.position
  }

  /// The most recoveries of a walk.
  private static let mostRestarts = 3

  /// Returns where the walk continues in place of `lost`, and how; nil if the error stands.
  ///
  /// `replacement` is the cursor that the server gives in place of the expired one. `reopened` are
  /// the values of a new opening, if the rule needs one.
  package func recovery(
    at lost: Bookmark, from error: PageError, replacement: JSONValue?,
    reopened: [JSONValue.Member] = []
  ) -> (Bookmark, PageRecovery)? {
    guard error.code == .cursorExpired || error.code == .resultWindowExceeded,
      lost.recoveries < Self.mostRestarts
    else { return nil }
    var bookmark = lost
    let isExpired = error.code == .cursorExpired
    let restarts = bookmark.recoveries + 1
    let recovery: PageRecovery
    switch pagination.policy.expiry {
    case .fail: return nil
    case .restart:
      guard isExpired else { return nil }
      bookmark = Bookmark(Bookmark.Target.start)
      bookmark.carried = reopened
      recovery = .restarted
    case .reopen:
      guard isExpired else { return nil }
      bookmark.carried = reopened
      recovery = .reopened
    case .resume:
      guard let cursor = replacement, !cursor.isBlank else {
        return nil
      }
      bookmark.target = .token(cursor)
      recovery = .resumed
    case .reanchor:
      guard let anchor = bookmark.anchor else { return nil }
      bookmark = Bookmark(Bookmark.Target.start)
      bookmark.anchor = anchor
      bookmark.carried = reopened + [JSONValue.Member(RequestBuilder.anchor, anchor)]
      recovery = .reanchored
    }
    bookmark.recoveries = restarts
    return (bookmark, recovery)
  }
}
