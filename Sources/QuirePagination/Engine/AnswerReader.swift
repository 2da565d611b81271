package import QuireCore

/// The part of the engine that reads answers: it classifies an answer as page, end or failure, and
/// finds the values that the description names.
package struct AnswerReader: EnginePart {
  let engine: PaginationEngine

  /// Classifies an answer before its items are decoded: as a failure, else as the end, else as a
  /// page.
  ///
  /// An answer with an error status that the description does not explain counts as a page, for the
  /// caller to judge. Throws `shape` if a path is ambiguous in the document.
  package func classify(_ answer: PageAnswer) throws -> Classification {
    if let failure = try pagination.policy.failure.first(where: { try applies($0, to: answer) }) {
      return try classify(answer, failing: failure)
    }
    return try isEnd(answer) ? .end : .page
  }

  /// Throws for an answer that means the end, if a flag or a number of pages in the page before
  /// promised this one.
  package func checkPromise(of answer: PageAnswer) throws(PageError) {
    guard let sent = answer.pageBookmark, sent.isPromised, !sent.isBackward else { return }
    throw PageError(
      .inconsistentTermination,
      "The page before said that this one follows, and the server answered \(answer.status), which the "
        + "description takes for the end. Data may be missing: try again later, or check the "
        + "description's flag or number of pages.")
  }

  /// Throws for a page that repeats an earlier one, if the page before promised more. Without a
  /// promise, the repetition is the end.
  package func checkPromise(ofRepetition answer: PageAnswer) throws(PageError) {
    guard let sent = answer.pageBookmark, sent.isPromised, !sent.isBackward else { return }
    throw PageError(
      .stalledContent,
      "The page before said that more items follow, and the server sent those of an earlier page again. Most "
        + "likely it does not heed what the request asks for, and data are missing.",
      remedies: [Remedy(.send)])
  }

  private func applies(_ rule: Pagination.FailureRule, to answer: PageAnswer) throws -> Bool {
    // Without a cursor in the request, the cursor cannot be the cause of the failure.
    if rule.kind == .expired || rule.scope == .laterPages, !answer.sentCursor { return false }
    // In an outage, the body may look like any failure, but the status shows that it is transient.
    if rule.kind == .fatal, rule.when.statuses.isEmpty, PassingStatus.all.contains(answer.status) {
      return false
    }
    return try answer.matches(rule.when, items: items)
  }

  private func classify(_ answer: PageAnswer, failing rule: Pagination.FailureRule) throws
    -> Classification
  {
    if rule.kind == .empty { return .emptyPage }
    let said = try rule.message.flatMap { try answer.value(at: $0, items: items) }
    let message = try said.flatMap { $0.isBlank ? nil : $0.plainText } ?? sign(of: rule, in: answer)
    let after = try rule.after.flatMap { try answer.value(at: $0, items: items) }
    let delay = after.flatMap { Double($0.plainText) }.flatMap {
      $0 >= 0 ? Duration.wait(seconds: $0) : nil
    }
    var failure = PageFailure(kind: rule.kind, message: message, delay: delay)
    failure.advice = rule.advice
    failure.standardDelay = rule.delay.flatMap { $0 >= 0 ? Duration.wait(seconds: $0) : nil }
    if case .resume(let source) = pagination.policy.expiry, rule.kind == .expired {
      failure.cursor = try answer.value(at: source, items: items)
    }
    return .failure(failure)
  }

  /// Returns the value that shows a failure, as the message of an answer with a status of success
  /// and without a message of its own; nil where the rule's advice says what it is.
  private func sign(of rule: Pagination.FailureRule, in answer: PageAnswer) throws -> String? {
    guard rule.advice == nil, [.fatal, .transient].contains(rule.kind),
      (200..<300).contains(answer.status),
      case .body(let path)? = rule.when.value,
      let value = try answer.value(at: .body(path), items: items)
    else { return nil }
    // The part for one format is enough in a message.
    let place = "\(path)".split(separator: " | ").first ?? ""
    return "\(place) is \(value.plainText)"
  }

  /// Returns whether the description says that an answer with this status is the end. An error
  /// status on the first page never is: a listing that does not exist must not look like an empty
  /// one.
  private func isEnd(_ answer: PageAnswer) throws -> Bool {
    guard answer.status < 400 || !answer.isFirst else { return false }
    return try pagination.end.contains { rule in
      guard case .status(let codes, let condition) = rule, codes.contains(answer.status) else {
        return false
      }
      return try condition.map { try answer.matches($0, items: items) } ?? true
    }
  }

  // MARK: Values

  enum Flag { case more, end }

  /// Returns the result of all flags, in which the end wins; nil if they say nothing.
  ///
  /// Throws `shape` for a flag that is neither true nor false where a missing one is the end.
  func flag(in answer: PageAnswer) throws -> Flag? {
    var verdict: Flag?
    for case .flag(let rule) in pagination.end {
      let value = try answer.value(at: rule.source, items: items)
      switch value?.boolean {
      case rule.continuesWhile?: verdict = .more
      case nil where rule.ifAbsent == .ignore: break
      case nil:
        if let value, !value.isBlank { throw Self.unreadableFlag(value) }
        return .end
      default: return .end
      }
    }
    return verdict
  }

  private static func unreadableFlag(_ value: JSONValue) -> PageError {
    PageError(
      .shape,
      "What says whether another page follows is \"\(ServerText(value.plainText, limit: 80))\", and "
        + "neither true nor false. Data may be missing: check the flag in the description's \"end\".",
      remedies: [Remedy(.end)])
  }

  /// Returns whether a rule `lastPage` says that the page is the last one.
  func isLast(_ answer: PageAnswer) throws -> Bool {
    try pagination.end.contains { rule in
      guard case .lastPage(let condition) = rule else { return false }
      return try answer.matches(condition, items: items)
    }
  }

  /// Returns the paths of a rule `requires` at which a page has nothing, not even null; nil if it
  /// keeps all such rules.
  func missingRequirement(in answer: PageAnswer) throws -> [PagePath]? {
    guard answer.pageBookmark?.isBackward != true else { return nil }
    for case .requires(let paths) in pagination.end {
      let isThere = try paths.contains {
        try answer.document.count(at: $0, outsideItemsOf: items) != nil
      }
      if !isThere { return paths }
    }
    return nil
  }

  /// Returns whether a page without a continuation has an empty text in place of the cursor.
  func hasEmptyCursor(_ answer: PageAnswer) throws -> Bool {
    try routes.contains { route in
      // In place of a link, an empty text means that there is none.
      guard ![.url, .request, .queryMerge, .bodyMerge].contains(route.send) else { return false }
      switch route.next.untransformed {
      case .body(let path):
        // An empty XML element has no value here: it is the way to write null in XML.
        guard let value = try answer.document.value(at: path) else { return false }
        return value.string != nil && value.isBlank
      case .header(let name): return answer.field(name)?.isBlank ?? false
      default: return false
      }
    }
  }

  /// Returns the path to the address of the next page, if a page without a continuation has the XML
  /// element with the link, and that lacks the attribute.
  func linkWithoutTarget(in answer: PageAnswer) throws -> PagePath? {
    for route in routes where route.send == .url {
      guard case .body(let path) = route.next.untransformed,
        let text = PagePath.sides(of: path.text).last, let slash = text.lastIndex(of: "/"),
        text[slash...].hasPrefix("/@"), text[..<slash].hasSuffix("]")
      else { continue }
      // A path of JSON may have a member that begins with "@", and cannot ask for one that is missing.
      let missing = "\(text[..<slash])[not(\(text[slash...].dropFirst()))]"
      guard let link = try? PagePath(missing) else { continue }
      if try answer.document.count(at: link, outsideItemsOf: items) ?? 0 > 0 { return path }
    }
    return nil
  }

  /// Returns the number of items in a full page: the size that the server reports, else the one
  /// that was requested.
  func pageSize(of answer: PageAnswer) throws -> Int? {
    let echoed = try pagination.size?.echo.flatMap {
      try answer.value(at: .body($0), items: items)?.count
    }
    return echoed ?? asked(for: answer) ?? pageSize
  }

  /// Returns the page size in the answered request, up to the server's maximum; nil for none.
  private func asked(for answer: PageAnswer) -> Int? {
    guard pageSize != nil, let send = pagination.size?.send, send != .itemRange else { return nil }
    return RequestEditor(answer.request).pageSize(at: send).map {
      min($0, pagination.size?.max ?? $0)
    }
  }

  /// Returns how long to wait before the next page, as the page asks for; nil if it does not.
  package func backoff(after answer: PageAnswer) -> Duration? {
    guard let source = pagination.policy.pacing.backoff,
      let value = try? answer.value(at: source, items: items),
      let seconds = Double(value.plainText),
      seconds.isFinite, seconds > 0
    else { return nil }
    return .wait(seconds: seconds)
  }

  /// Returns the last item's key, or an earlier one, behind which the walk may start over.
  func anchor(after answer: PageAnswer) throws -> JSONValue? {
    guard case .reanchor(_, let path) = pagination.policy.expiry else { return nil }
    let key = try answer.document.value(at: path.keepingSpaces, inLastItemOf: items)
    return key.flatMap { $0.isBlank ? nil : $0 } ?? answer.requestedBookmark?.anchor
  }

  /// Returns the values for the next request to carry, from the answer or else its request.
  func carried(after answer: PageAnswer) throws -> [JSONValue.Member] {
    let sent = answer.requestedBookmark?.carried ?? []
    let reserved = sent.filter {
      $0.name == RequestBuilder.resumption || $0.name == RequestBuilder.anchor
    }
    return try reserved
      + pagination.request.carry.sorted { $0.key < $1.key }.compactMap {
        (name, rule) throws -> JSONValue.Member? in
        var value = try answer.value(at: rule.from, items: items)
        if value?.isBlank ?? true { value = sent.first { $0.name == name }?.value }
        return value.map { JSONValue.Member(name, $0) }
      }
  }

  /// Returns the values in the answer to the opening request.
  ///
  /// Throws `shape` if it has none of them.
  package func opened(by answer: PageAnswer) throws -> [JSONValue.Member] {
    let carried = try carried(after: answer)
    guard !carried.isEmpty else {
      throw PageError(
        .shape,
        "The answer to the opening request has nothing that \"carry\" reads. Check the sources in "
          + "\"carry\".")
    }
    return carried
  }

  // MARK: Totals

  /// Returns the total in an answer; for a total that only the first page declares, the one that
  /// the position stores.
  func total(_ source: Pagination.TotalSource, in answer: PageAnswer) throws -> Total? {
    if source.scope == .firstPage, let bookmark = answer.pageBookmark {
      return bookmark.total.map { Total($0, source.kind) }
    }
    guard case .number(let number, let isLowerBound) = try declared(source, in: answer) else {
      return nil
    }
    guard isLowerBound else { return Total(number, source.kind) }
    // A lower bound on the pages or on the remaining items is of no use.
    return [.items, .estimate, .lowerBound].contains(source.kind)
      ? Total(number, .lowerBound) : nil
  }

  private func declared(_ source: Pagination.TotalSource, in answer: PageAnswer) throws
    -> DeclaredTotal
  {
    DeclaredTotal(try answer.value(at: source.source, items: items))
  }

  /// Throws `shape` for a first page with something other than a number in place of the total: with
  /// a wrong path, the total would check nothing.
  package func checkTotals(of answer: PageAnswer) throws {
    guard answer.isFirst, case .other(let words)? = try unreadableTotal(in: answer) else { return }
    throw PageError(
      .shape,
      "Where the description has its total, the page has \(words), which is no whole number. Correct "
        + "the total's path, or leave the total out.")
  }

  /// Returns the warning about a later page whose value in place of the total is no number.
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
    for source in pagination.totals where source.scope == .everyPage || answer.isFirst {
      let found = try declared(source, in: answer)
      if case .other = found { return found }
    }
    return nil
  }

  // MARK: Links

  /// Returns the base of a page's relative links: one that it declares, or else its address.
  func base(ofLinksFrom source: Pagination.Next, in answer: PageAnswer) throws -> URLReference {
    let complaint = "The address that the page's links start from cannot be used"
    let address = try URLReference(link: answer.url, complaint)
    switch source.untransformed {
    case .linkHeader, .header: return address
    default: break
    }
    let said = try pagination.policy.linkBase.flatMap { try answer.value(at: $0, items: items) }
    var base = address
    if let text = said?.link?.trimmingBlanks, !text.isEmpty {
      base = try URLReference(link: text, complaint).resolved(against: address)
    }
    if case .body(let path) = source.untransformed,
      let own = answer.document.base(at: path, outsideItemsOf: items)
    {
      base = try URLReference(link: own.trimmingBlanks, complaint).resolved(against: base)
    }
    return base
  }

  /// The route that follows an index; nil if there is none.
  var indexRoute: (index: Int, list: PagePath, link: PagePath, nested: Bool)? {
    for (index, route) in routes.enumerated() {
      if case .index(let list, let link, let nested) = route.next {
        return (index, list, link, nested)
      }
    }
    return nil
  }

  /// Returns the pages that an answer lists, without repetitions; empty if it is no index. They are
  /// written as they will be requested, because a page is found again in its index by that URL.
  package func pages(listedIn answer: PageAnswer) throws -> [String] {
    let document = answer.document
    guard let route = indexRoute, try document.count(at: route.list) ?? 0 > 0 else { return [] }
    let links = try document.values(at: route.link, inItemsOf: .path(route.list))
    let base = try base(ofLinksFrom: routes[route.index].next, in: answer)
    let requests = RequestBuilder(engine: engine)
    var seen: Set<String> = []
    return try links.compactMap { value in
      guard let link = value?.link, !link.allSatisfy(\.isWhitespace) else { return nil }
      var target = try URLReference(link.trimmingBlanks).resolved(against: base)
      let isPart = target.fragment != nil
      target.fragment = nil
      // A link that the policy refuses stays in the list, and throws when it is requested.
      let url = (try? requests.target(of: target.text)) ?? target.text
      // Behind a proxy, an index may name itself by its internal host, so the link is compared as
      // written and as it would be requested.
      let isOwn =
        isPart && [answer.url, answer.request.url].contains { $0 == target.text || $0 == url }
      return !isOwn && seen.insert(url).inserted ? url : nil
    }
  }

  // MARK: Repeated pages

  var repetitionKey: PagePath? {
    for case .noNewItems(let path) in pagination.end { return path }
    return nil
  }

  /// Returns whether the page repeats an earlier one. If so, it is the end, and is not delivered.
  package func isRepetition(_ answer: PageAnswer) throws -> Bool {
    guard let watch = answer.pageBookmark?.repetitionWatch, let digest = try digest(of: answer)
    else {
      return false
    }
    return watch.knows(digest)
  }

  /// Returns the watch on repeated pages, including this page; nil if no rule needs it.
  func repetitionWatch(including answer: PageAnswer) throws -> ContentWatch? {
    let watch = answer.pageBookmark?.repetitionWatch
    guard let digest = try digest(of: answer) else { return watch }
    return watch?.visiting(digest) ?? ContentWatch(digest)
  }

  /// Returns a digest of the items' keys; nil for an empty page, which repeats nothing.
  private func digest(of answer: PageAnswer) throws -> UInt64? {
    guard let key = repetitionKey else { return nil }
    guard !key.text.isEmpty else {
      let contents = try answer.document.contents(ofItems: items)
      return contents.isEmpty ? nil : ContentWatch.digest(of: contents)
    }
    let keys = try answer.document.values(at: key, inItemsOf: items)
    guard !keys.isEmpty else { return nil }
    if keys.allSatisfy({ $0 != nil }) { return ContentWatch.digest(of: keys.compactMap(\.self)) }
    // An item without the key is compared by its whole content.
    let contents = try answer.document.contents(ofItems: items)
    return ContentWatch.digest(of: zip(keys, contents).map { $0 ?? $1 })
  }

  // MARK: Members

  /// Throws `shape` for a page without its optional items that has no other member of the
  /// description either: it may be an error in place of a page, which must not end the walk.
  package func checkMembers(of answer: PageAnswer) throws {
    guard items.absentMeansEmpty, !(answer.document is EmptyDocument),
      try !isBlank(answer.document), try !hasNamedMember(answer)
    else { return }
    let paths = items.paths.map(\.place).joined(separator: " or ")
    let sentence =
      "The page has neither items at \(paths) nor anything else that the description names, so that it "
      + "may be an error and no page."
    let words = (answer.document as? any OutlinedDocument)?.outline.failureWords
    throw PageError(
      .shape,
      sentence + (words.map { " \($0.sentence)" } ?? "")
        + " Where an empty page of this API looks so, name what it has in policy.marks, or its total."
    )
  }

  /// Returns the warning about a last page without items that is marked as a failure; nil for any
  /// other.
  package func failureWarning(about answer: PageAnswer) -> WalkReport.Warning? {
    guard let outline = (answer.document as? any OutlinedDocument)?.outline,
      let mark = outline.failureMark
    else { return nil }
    let words = outline.failureWords.map { " \($0.sentence)" } ?? ""
    return WalkReport.Warning(
      .failureInLastPage,
      "The last page has no items, and a mark of a failure at \(ServerText(mark)): it may be an error in "
        + "place of a page, and the listing longer.\(words) A rule of policy.failure makes an error of it."
    )
  }

  /// Returns whether the document is empty: protocol buffers write a message of defaults as `{}`.
  private func isBlank(_ document: any PageDocument) throws -> Bool {
    guard try document.count(at: "") ?? 0 == 0 else { return false }
    guard let value = try document.value(at: "") else { return true }
    return value.isBlank && value != .null
  }

  private func hasNamedMember(_ answer: PageAnswer) throws -> Bool {
    if try (items.paths + pagination.policy.marks).contains(where: { try has($0, answer) }) {
      return true
    }
    let sources =
      (routes + backwardRoutes).map(\.next) + [pagination.resume?.next].compactMap(\.self)
    if try sources.contains(where: { try has($0, answer) }) { return true }
    if try pagination.size?.echo.map({ try has($0, answer) }) ?? false { return true }
    let values =
      pagination.totals.map(\.source) + pagination.request.carry.values.map(\.from)
      + pagination.end.compactMap(\.source)
    return try values.contains { try has($0, answer) }
  }

  private func has(_ source: Pagination.ValueSource, _ answer: PageAnswer) throws -> Bool {
    switch source {
    case .body(let path), .count(let path): try has(path, answer)
    case .firstOf(let sources): try sources.contains { try has($0, answer) }
    default: try answer.value(at: source, items: items) != nil
    }
  }

  private func has(_ source: Pagination.Next, _ answer: PageAnswer) throws -> Bool {
    switch source {
    case .linkHeader(let rel, let conditions):
      answer.links.first(relation: rel, where: conditions) != nil
    case .header(let name): answer.field(name) != nil
    case .body(let path), .offset(_, .body(let path)), .index(let path, _, _):
      try has(path, answer)
    case .pageNumber(_, let path): try path.map { try has($0, answer) } ?? false
    case .contentRange: answer.contentRange != nil
    case .transformed(let source, _): try has(source, answer)
    case .all(let sources): try sources.values.contains { try has($0, answer) }
    case .firstOf(let routes): try routes.contains { try has($0.next, answer) }
    case .lastItem, .firstItem, .maxItem, .offset: false
    }
  }

  /// Returns whether a path finds something, or else whether its first name does: the object around
  /// a member, or the root element.
  private func has(_ path: PagePath, _ answer: PageAnswer) throws -> Bool {
    if try answer.document.count(at: path) != nil { return true }
    return try PagePath.sides(of: path.text).contains { side in
      guard side.hasPrefix("/"), !side.hasPrefix("//") else { return false }
      let name = side.dropFirst().prefix { $0 != "/" && $0 != "[" }
      guard !name.isEmpty, name != "*", let start = try? PagePath("/" + name) else { return false }
      return try answer.document.count(at: start) != nil
    }
  }
}
