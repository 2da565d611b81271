import HTTPTypes
package import QuireCore

/// Decides what to request for a page, what an answer is, and what follows it.
///
/// Pure: everything it knows is in the description, the first request and the position, so a new
/// process goes on where another one stopped. Nothing in it ever changes; it is a reference because it
/// is large and at hand for every request.
package final class PaginationEngine: Sendable {
  package let pagination: Pagination
  let home: Origin
  /// The caller's request with constants and page size in it: what every request begins as.
  let base: PageRequest
  /// The request for the first page: the base and the first value.
  package let first: PageRequest
  package let routes: [Route]
  /// The ways to the page before.
  let backwardRoutes: [Route]
  /// The number of items a full page has; nil when nobody said.
  package let pageSize: Int?

  /// What decides about the next page in place of the description's "next".
  let custom: (@Sendable (AnsweredPage) throws -> NextPage?)?

  /// Whether the caller's own request asks for a page in the middle of the listing.
  package let startsMidway: Bool

  /// What the caller should know although the walk goes on, such as a page size that was lowered.
  package let notices: [String]

  /// Where a page keeps its items.
  package var items: ItemSelector { pagination.items }

  /// An engine for the listing that `first` asks for.
  ///
  /// Throws `invalidArgument` when the parts of the description do not fit together or not to the
  /// request; the message says which and why.
  package init(
    _ pagination: Pagination, first: PageRequest, home: Origin, pageSize: Int? = nil,
    custom: (@Sendable (AnsweredPage) throws -> NextPage?)? = nil
  ) throws(PageError) {
    let pagination = pagination.fitted(to: first)
    self.pagination = pagination
    self.custom = custom
    self.home = home
    routes =
      if case .firstOf(let routes) = pagination.next { routes } else {
        [Route(pagination.next, send: pagination.send)]
      }
    backwardRoutes =
      switch pagination.previous?.from {
      case nil: []
      case .firstOf(let routes)?: routes
      case let source?: [Route(source, send: pagination.previous?.send ?? .url)]
      }
    var notices: [String] = []
    let asked = try Self.clamp(
      pageSize, to: pagination.size, overlap: pagination.policy.overlap, notices: &notices)
    self.notices = notices
    var editor = RequestEditor(first)
    try editor.addConstants(pagination.request.always)
    if let asked, let size = pagination.size { try editor.set(asked, as: size) }
    let own = pagination.size?.send.flatMap { editor.pageSize(at: $0) }
    self.pageSize =
      asked ?? own.map { min($0, pagination.size?.max ?? $0) } ?? pagination.size?.standard
    base = try editor.request()
    let firstValue = pagination.request.first
    startsMidway = routes.contains { route in
      guard let own = editor.value(at: route.send), !own.isBlank else { return false }
      let start = firstValue ?? route.next.firstCount.map { .number(String($0)) }
      return own.plainText != start?.plainText
    }
    if let route = routes.first {
      try editor.begin(route, value: pagination.request.first, pageSize: self.pageSize)
    }
    self.first = try editor.request()
    try checkComposition()
    try checkAgainstRequest()
    try checkBody(of: first)
    try checkBodyKind(of: first)
  }

  private static func clamp(
    _ wanted: Int?, to size: PageSize?, overlap: Int, notices: inout [String]
  ) throws(PageError) -> Int? {
    guard var wanted else { return nil }
    guard let size, size.send != nil else {
      throw PageError(
        .invalidArgument,
        "A page size of \(wanted) was asked for, and the description does not say where one goes. "
          + "Give it a \"size\", or put the size into the request.")
    }
    guard wanted > 0 else {
      throw PageError(.invalidArgument, "A page size of \(wanted) was asked for; it is at least 1.")
    }
    wanted = wanted.plus(overlap)
    guard let max = size.max, wanted > max else { return wanted }
    notices.append("The page size of \(wanted) was lowered to \(max), the most the server gives.")
    return max
  }
}

extension PaginationEngine {
  /// The request for the page at `position`; nil and `.start` are the first page.
  ///
  /// Throws `invalidArgument` for a position of another listing, `invalidCursor` for one that cannot
  /// be sent, `crossOriginLink` and `refusedLink` for a link that the policy does not follow.
  package func request(at position: Position?) throws(PageError) -> PageRequest {
    guard let position, position.value != nil else { return first }
    return try request(for: try Bookmark(position))
  }

  /// The request for the page that a decoded position leads to; nil is the first page.
  package func request(for bookmark: Bookmark?) throws(PageError) -> PageRequest {
    guard let bookmark else { return first }
    if bookmark.target == .start {
      var editor = RequestEditor(first)
      try send(bookmark.carried, in: &editor)
      return try editor.request()
    }
    let routes = bookmark.isBackward ? backwardRoutes : self.routes
    guard routes.indices.contains(bookmark.route) else {
      throw PageError(
        .invalidArgument,
        "A position came by route \(bookmark.route), and this description has \(routes.count). Use "
          + "positions only with the description that made them.")
    }
    if case .request(let description) = bookmark.target {
      return try request(describedBy: description, bookmark)
    }
    try CursorCheck.check(bookmark.value)
    let send = routes[bookmark.route].send
    if send == .url { return try follow(bookmark) }
    if case .url = bookmark.target {
      throw PageError(
        .invalidArgument,
        "A position holds a link, and this description follows none. Use positions only with the "
          + "description that made them.")
    }
    guard custom != nil || bookmark.counts(like: routes[bookmark.route].next) else {
      throw PageError(
        .invalidArgument,
        "A position holds \(ServerText(bookmark.value.plainText, limit: 64)), and this description counts in another way. "
          + "Use positions only with the description that made them.")
    }
    var editor = RequestEditor(base)
    editor.keep(pagination.request.keep)
    try editor.addConstants(pagination.request.always)
    if let change = pagination.request.then { try editor.change(change) }
    if pagination.request.method == .get { editor.becomeGet() }
    if case .all(let sources) = routes[bookmark.route].next { editor.drop(sources.keys) }
    if bookmark.isBackward { try turnBack(&editor) }
    let value = try routes[bookmark.route].value(of: bookmark.value, pageSize: pageSize)
    try editor.send(value, by: send, pageSize: pageSize)
    try self.send(bookmark.carried, in: &editor)
    return try editor.request()
  }

  /// The request for a link: its own bytes, our fields and body.
  private func follow(_ bookmark: Bookmark) throws(PageError) -> PageRequest {
    guard case .url(let text) = bookmark.target else {
      throw PageError(
        .invalidArgument,
        "A position holds no link, and this description follows links. Use positions only with the "
          + "description that made them.")
    }
    var request = base
    request.url = try target(of: text)
    if pagination.request.method == .get || !bookmark.carried.isEmpty {
      var editor = RequestEditor(request)
      if pagination.request.method == .get { editor.becomeGet() }
      try send(bookmark.carried, in: &editor)
      request = try editor.request()
    }
    try keepBodyHome(request)
    return request
  }

  /// The address of a link that the policy follows, byte for byte but for its fragment.
  func target(of text: String) throws(PageError) -> String {
    let link: URLReference
    do {
      link = try URLReference(text)
    } catch {
      throw PageError(.refusedLink, "The next link cannot be followed: \(error.message)")
    }
    var target = try pagination.policy.links.target(of: link, home: home)
    target.fragment = nil
    return target == link ? text : target.text
  }

  /// Throws `refusedLink` for a body on its way to another origin, as along a redirect.
  func keepBodyHome(_ request: PageRequest) throws(PageError) {
    guard request.body != .none else { return }
    let origin = try Origin(url: request.url)
    guard origin == home else {
      throw PageError(
        .refusedLink,
        "The next link would take the request's body from \(home) to \(origin.shown). If that is right, "
          + "start a walk there.")
    }
  }
}

/// Whether an answer without items is a page at all.
extension PaginationEngine {
  /// Throws `shape` for a page without items, where they are optional, that has none of the members
  /// that the description names either: an error in the place of a page ends no walk.
  package func checkMembers(of answer: PageAnswer) throws {
    guard items.absentMeansEmpty, !(answer.document is EmptyDocument),
      try !isBlank(answer.document), try !hasNamedMember(answer)
    else { return }
    let paths = items.paths.map(\.place).joined(separator: " or ")
    throw PageError(
      .shape,
      "The page has neither items at \(paths) nor anything else that the description names, so that it "
        + "may be an error and no page. Where an empty page of this API looks so, name what it has in "
        + "policy.marks, or its total.")
  }

  /// Whether there is nothing at all: `{}` is how protocol buffers write a message of defaults.
  private func isBlank(_ document: any PageDocument) throws -> Bool {
    guard try document.count(at: "") ?? 0 == 0 else { return false }
    return try document.value(at: "")?.isBlank ?? true
  }

  private func hasNamedMember(_ answer: PageAnswer) throws -> Bool {
    if try (items.paths + pagination.policy.marks).contains(where: { try has($0, answer) }) {
      return true
    }
    let sources =
      (routes + backwardRoutes).map(\.next) + [pagination.resume?.next].compactMap(\.self)
    if try sources.contains(where: { try has($0, answer) }) { return true }
    if try pagination.size?.echo.map({ try has($0, answer) }) ?? false { return true }
    var values = totalSources.map(\.source) + pagination.request.carry.values.map(\.from)
    for rule in pagination.end {
      switch rule {
      case .flag(let flag): values.append(flag.source)
      case .lastPage(let condition): values += [condition.value].compactMap(\.self)
      default: break
      }
    }
    return try values.contains { try has($0, answer) }
  }

  private func has(_ source: ValueSource, _ answer: PageAnswer) throws -> Bool {
    switch source {
    case .body(let path), .count(let path): try has(path, answer)
    case .firstOf(let sources): try sources.contains { try has($0, answer) }
    default: try answer.value(at: source, items: items) != nil
    }
  }

  private func has(_ source: NextSource, _ answer: PageAnswer) throws -> Bool {
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

  /// Whether a path leads somewhere, or what it starts with is there: the object around a member, the
  /// root element.
  private func has(_ path: PagePath, _ answer: PageAnswer) throws -> Bool {
    if try answer.document.value(at: path) != nil { return true }
    if try answer.document.count(at: path) ?? 0 > 0 { return true }
    for way in path.text.split(separator: " | ") where way.hasPrefix("/") && !way.hasPrefix("//") {
      let name = way.dropFirst().prefix { $0 != "/" && $0 != "[" }
      guard !name.isEmpty, name != "*", let start = try? PagePath("/" + name) else { continue }
      if try answer.document.value(at: start) != nil { return true }
      if try answer.document.count(at: start) ?? 0 > 0 { return true }
    }
    return false
  }
}

/// Servers that send a page again.
extension PaginationEngine {
  private var repetitionKey: PagePath? {
    for case .noNewItems(let path) in pagination.end { return path }
    return nil
  }

  /// The rule for which all items of a page must be known before any is delivered; nil without one.
  package var wholePageRule: String? {
    if pagination.policy.overlap > 0 { return "policy.overlap" }
    if pagination.policy.reversesItems { return "policy.reversesItems" }
    if repetitionKey != nil { return "the end rule noNewItems" }
    if indexRouteExists { return "the next source index" }
    return routes.contains { $0.next.looksAtAllItems }
      ? "the next source firstItem or maxItem" : nil
  }

  /// Whether the page is one that was there before: it is the end, and not delivered.
  package func isRepetition(_ answer: PageAnswer) throws -> Bool {
    guard let watch = answer.bookmark?.shown, let digest = try digest(of: answer) else {
      return false
    }
    return watch.knows(digest)
  }

  /// What is known of the pages up to this one; nil when nobody asks.
  func shown(with answer: PageAnswer) throws -> ContentWatch? {
    let watch = answer.bookmark?.shown
    guard let digest = try digest(of: answer) else { return watch }
    return watch?.visiting(digest) ?? ContentWatch(digest)
  }

  /// A digest of the items' keys; nil for an empty page, which repeats nothing.
  private func digest(of answer: PageAnswer) throws -> UInt64? {
    guard let key = repetitionKey else { return nil }
    let keys = try answer.document.values(at: key, inItemsOf: items)
    guard !keys.isEmpty else { return nil }
    if keys.allSatisfy({ $0 != nil }) { return ContentWatch.digest(of: keys.compactMap(\.self)) }
    // Items without the key are told apart by all they hold.
    let wholes = try answer.document.values(at: "", inItemsOf: items)
    return ContentWatch.digest(of: zip(keys, wholes).map { $0 ?? $1 ?? .null })
  }
}

extension PaginationEngine {
  /// What an answer is, before its items are decoded: failures first, then the end, then the page.
  ///
  /// `page` for an error status means that the description does not explain it. Throws `shape` where
  /// the document is ambiguous.
  package func screen(_ answer: PageAnswer) throws -> Screening {
    if let failure = try pagination.policy.failure.first(where: { try applies($0, to: answer) }) {
      return try screen(answer, failing: failure)
    }
    return try isEnd(answer) ? .end : .page
  }

  /// Why an answer that says that there is nothing cannot be believed, if it cannot: the page before
  /// said outright that there is.
  package func brokenPromise(by answer: PageAnswer) -> PageError? {
    guard let sent = answer.bookmark, sent.isPromised, !sent.isBackward else { return nil }
    return PageError(
      .inconsistentTermination,
      "The page before said that this one follows, and the server answered \(answer.status), which the "
        + "description takes for the end. Data may be missing: try again later, or check the "
        + "description's flag or number of pages.")
  }

  private func applies(_ rule: FailureRule, to answer: PageAnswer) throws -> Bool {
    // On the first page no cursor was sent that could be the trouble.
    if rule.kind == .expired || rule.scope == .laterPages, !answer.sentCursor { return false }
    return try answer.matches(rule.when, items: items)
  }

  private func screen(_ answer: PageAnswer, failing rule: FailureRule) throws -> Screening {
    if rule.kind == .empty { return .emptyPage }
    let message = try rule.message.flatMap { try answer.value(at: $0, items: items) }
    let after = try rule.after.flatMap { try answer.value(at: $0, items: items) }
    let delay = after.flatMap { Double($0.plainText) }.flatMap {
      $0 >= 0 ? Duration.wait(seconds: $0) : nil
    }
    var failure = PageFailure(
      rule.kind, message: message.flatMap { $0.isBlank ? nil : $0.plainText }, delay: delay)
    failure.standardDelay = rule.delay.flatMap { $0 >= 0 ? Duration.wait(seconds: $0) : nil }
    if case .resume(let source) = pagination.policy.expiry, rule.kind == .expired {
      failure.cursor = try answer.value(at: source, items: items)
    }
    return .failure(failure)
  }

  /// Whether the description says that an answer with this status is the end. An error status on the
  /// first page is none: a listing that does not exist must not look like an empty one.
  private func isEnd(_ answer: PageAnswer) throws -> Bool {
    guard answer.status < 400 || !answer.isFirst else { return false }
    return try pagination.end.contains { rule in
      guard case .status(let codes, let condition) = rule, codes.contains(answer.status) else {
        return false
      }
      return try condition.map { try answer.matches($0, items: items) } ?? true
    }
  }
}

/// Walks whose next page a closure decides.
extension PaginationEngine {
  /// Where the closure leads after an answer; nil for the end.
  func bookmark(
    _ next: (AnsweredPage) throws -> NextPage?, after answer: PageAnswer, itemCount: Int
  ) throws -> Bookmark? {
    let page = AnsweredPage(
      request: answer.request, url: answer.url, status: answer.status,
      headerFields: answer.headerFields, document: answer.document, itemCount: itemCount,
      state: answer.sent?.state ?? .null)
    guard let step = try next(page) else { return nil }
    let link = try URLReference(step.request.url).resolved(against: try URLReference(answer.url))
    var bookmark = Bookmark(.request(try Self.description(of: step.request, href: link.text)))
    bookmark.state = step.state == .null ? nil : step.state
    return bookmark
  }

  /// A request as positions hold it.
  private static func description(
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
}
