import HTTPTypes
package import QuireCore

/// A description fitted to one listing. The structs that decide by it, what to request for a page, what an
/// answer is, and what follows it, hold nothing else.
///
/// Pure: everything it knows is in the description, the first request and the position, so that a new
/// process resumes where another one stopped. It never changes; it is a reference because it is large and
/// used for every request.
package final class PaginationEngine: Sendable {
  package let pagination: Pagination
  let home: Origin
  /// The caller's request with constants and page size in it: what every request begins as.
  let base: PageRequest
  /// The request for the first page: the base and the first value.
  package let first: PageRequest
  package let routes: [Pagination.Route]
  /// The routes to the page before.
  let backwardRoutes: [Pagination.Route]
  /// The number of items a full page has; nil when neither the caller nor the description says.
  package let pageSize: Int?

  /// What decides about the next page in place of the description's "next".
  let custom: (@Sendable (AnsweredPage) throws -> NextPage?)?

  private var requests: RequestBuilder { RequestBuilder(engine: self) }
  private var reader: AnswerReader { AnswerReader(engine: self) }
  private var counter: PageCounter { PageCounter(engine: self) }
  private var finder: ContinuationFinder { ContinuationFinder(engine: self) }

  /// Whether the caller's own request asks for a page in the middle of the listing.
  package let startsMidway: Bool

  /// What the caller should know although the walk goes on, such as a page size that was lowered.
  package let notices: [String]

  /// Where a page keeps its items.
  package var items: Pagination.Items { pagination.items }

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
    self.home = home
    routes = pagination.next.routes(by: pagination.send)
    backwardRoutes = pagination.previous.map { $0.from.routes(by: $0.send) } ?? []
    var notices: [String] = []
    let asked = try Self.clamp(
      pageSize, to: pagination.size, overlap: pagination.policy.overlap, notices: &notices)
    self.notices = notices
    var editor = RequestEditor(first)
    try editor.addConstants(pagination.request.always)
    if let asked, let size = pagination.size {
      let start = routes.first { $0.send == .itemRange }?.next.firstCount
      try editor.set(asked, as: size, from: start ?? 0)
    }
    let own = pagination.size?.send.flatMap { editor.pageSize(at: $0) }
    self.pageSize =
      asked ?? own.map { min($0, pagination.size?.max ?? $0) } ?? pagination.size?.standard
    base = try editor.request()
    let firstValue = pagination.request.first
    startsMidway = routes.contains { route in
      guard let own = editor.value(at: route.send), !own.isBlank else { return false }
      if let first = route.next.firstCount, let count = route.count(sentBy: editor) {
        return count != firstValue?.integer ?? first
      }
      return own.plainText != firstValue?.plainText
    }
    if let route = routes.first {
      try editor.begin(route, value: pagination.request.first, pageSize: self.pageSize)
    }
    self.first = try editor.request()
    self.custom = custom
    try DescriptionCheck(
      pagination: pagination, routes: routes, backwardRoutes: backwardRoutes, base: base,
      pageSize: self.pageSize
    ).check(first: self.first)
  }

  private static func clamp(
    _ wanted: Int?, to size: Pagination.PageSize?, overlap: Int, notices: inout [String]
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

/// One of the structs that decide by an engine.
protocol EnginePart: Sendable {
  var engine: PaginationEngine { get }
}

extension EnginePart {
  var pagination: Pagination { _read { yield engine.pagination } }
  var first: PageRequest { engine.first }
  var routes: [Pagination.Route] { engine.routes }
  var backwardRoutes: [Pagination.Route] { engine.backwardRoutes }
  var items: Pagination.Items { engine.items }
  var pageSize: Int? { engine.pageSize }
  var isCustom: Bool { engine.custom != nil }
  var reader: AnswerReader { AnswerReader(engine: engine) }
  var counter: PageCounter { PageCounter(engine: engine) }
}

/// The engine's questions; each is documented where it is decided.
extension PaginationEngine {
  package func request(at position: Position?) throws(PageError) -> PageRequest {
    try requests.request(at: position)
  }

  package func request(for bookmark: Bookmark?) throws(PageError) -> PageRequest {
    try requests.request(for: bookmark)
  }

  package func opening() throws(PageError) -> PageRequest? {
    try requests.opening()
  }

  package func closing(at bookmark: Bookmark) throws(PageError) -> PageRequest? {
    try requests.closing(at: bookmark)
  }

  package func screen(_ answer: PageAnswer) throws -> Screening {
    try reader.screen(answer)
  }

  package func brokenPromise(by answer: PageAnswer) -> PageError? {
    reader.brokenPromise(by: answer)
  }

  package func brokenPromise(byRepetition answer: PageAnswer) -> PageError? {
    reader.brokenPromise(byRepetition: answer)
  }

  package func checkMembers(of answer: PageAnswer) throws {
    try reader.checkMembers(of: answer)
  }

  package func checkTotals(of answer: PageAnswer) throws {
    try reader.checkTotals(of: answer)
  }

  package func isRepetition(_ answer: PageAnswer) throws -> Bool {
    try reader.isRepetition(answer)
  }

  package func opened(by answer: PageAnswer) throws -> [JSONValue.Member] {
    try reader.opened(by: answer)
  }

  package func backoff(after answer: PageAnswer) -> Duration? {
    reader.backoff(after: answer)
  }

  package func pages(listedIn answer: PageAnswer) throws -> [String] {
    try reader.pages(listedIn: answer)
  }

  package func continuation(after answer: PageAnswer, itemCount: Int) -> Continuation {
    finder.continuation(after: answer, itemCount: itemCount)
  }

  package func next(inHeadOf answer: PageAnswer) -> Position? { finder.next(inHeadOf: answer) }

  /// Whether the head of an answer without a body leads on: then the server has written a page without items,
  /// and none was lost on the way.
  package func leadsOn(fromHeadOf answer: PageAnswer) -> Bool {
    !routes.contains { $0.next.isCounter } && continuation(after: answer, itemCount: 0).next != nil
  }

  package func recovery(
    at lost: Bookmark, from error: PageError, replacement: JSONValue?,
    reopened: [JSONValue.Member] = []
  ) -> (Bookmark, PageRecovery)? {
    finder.recovery(at: lost, from: error, replacement: replacement, reopened: reopened)
  }

  package func positions(
    after position: Position?, total: Total?, pages: ClosedRange<Int>
  ) -> [Position] {
    counter.positions(after: position, total: total, pages: pages)
  }

  /// The rule for which all items of a page must be known before any is delivered; nil without one.
  package var wholePageRule: String? {
    if pagination.policy.overlap > 0 { return "policy.overlap" }
    if pagination.policy.reversesItems { return "policy.reversesItems" }
    if reader.repetitionKey != nil { return "the end rule noNewItems" }
    if indexRouteExists { return "the next source index" }
    return routes.contains { $0.next.looksAtAllItems }
      ? "the next source firstItem or maxItem" : nil
  }

  package var indexRouteExists: Bool { reader.indexRoute != nil }

  /// The indexes that must be known to go on behind the page at a position, from the outermost.
  package func indexes(neededAt bookmark: Bookmark?) -> [String] {
    indexRouteExists ? bookmark?.within ?? [] : []
  }
}

extension PaginationEngine {
  /// Whether the page at a place may be asked for in another size, and lead on from where it ends: keys and
  /// offsets do so; numbers of pages, and links that have them in it, would skip items.
  package func allowsOtherSize(at bookmark: Bookmark?) -> Bool {
    guard let send = pagination.size?.send, send != .itemRange, pageSize != nil,
      pagination.policy.overlap == 0, backwardRoutes.isEmpty || bookmark?.isBackward != true,
      !routes.contains(where: { $0.next.transforms.contains(where: \.needsPageSize) })
    else { return false }
    guard let bookmark else {
      return routes.allSatisfy { route in
        if case .linkHeader = route.next.root { true } else { isByItems(route.next.root) }
      }
    }
    guard routes.indices.contains(bookmark.route) else { return false }
    switch bookmark.target {
    case .offset, .start: return isByItems(routes[bookmark.route].next.root)
    case .token(let token):
      // A number may be that of a page.
      return isByItems(routes[bookmark.route].next.root)
        || token.integer == nil && token.plainText.count >= 8
    case .url, .page, .request: return false
    }
  }

  private func isByItems(_ source: Pagination.Next) -> Bool {
    switch source {
    case .lastItem, .firstItem, .maxItem, .offset(_, .itemsReturned): true
    default: false
    }
  }

  /// The same request for pages of `count` items.
  package func request(_ request: PageRequest, ofSize count: Int) throws(PageError) -> PageRequest {
    guard let size = pagination.size else { return request }
    var editor = RequestEditor(request)
    try editor.set(count, as: size)
    return try editor.request()
  }
}

/// By what a listing over HTTP is known: how it goes on and what it asks for, without what changes
/// from page to page, and without secrets, which may be others tomorrow.
///
/// Header fields do not count, for most of them are credentials or name the program. Neither does what ends or limits a
/// walk, what is a failure, or how fast pages come: a position means the same page whatever these say.
extension PaginationEngine {
  /// The identity of this listing.
  package var identity: ListingIdentity {
    let policy = pagination.policy
    let reopens =
      switch policy.expiry {
      case .fail, .restart: false
      case .reopen, .resume, .reanchor: true
      }
    return ListingIdentity(
      closesWithWalk: policy.close != nil && !reopens, countsPages: countsPages,
      parts: { [self] in identityParts })
  }

  private var identityParts: [ListingIdentity.Part] {
    var editor = RequestEditor(base)
    for placement in changingPlacements { editor.blank(placement) }
    for route in routes + backwardRoutes {
      guard case .all(let sources) = route.next.root else { continue }
      editor.drop(sources.keys)
      guard route.send == .bodyMerge else { continue }
      for name in sources.keys {
        if let path = try? PagePath(name) { editor.blank(.jsonBody(path)) }
      }
    }
    let url = try? editor.url.get()
    let query = Self.essence(of: editor.query)
    let body = Self.essence(of: editor.base.body)
    let size = pagination.size?.send == nil ? nil : pageSize
    return [
      .init("description", Self.digest(ofDescription: pagination), "the description"),
      .init("method", base.method.rawValue, "the method", isReadable: true),
      .init("origin", Self.digest(home.description), "the host"),
      .init("path", Self.digest(url?.path ?? ""), "the URL's path"),
      .init("query", query.isEmpty ? "" : Self.digest(query), "the URL's parameters"),
      .init("body", body.isEmpty ? "" : Self.digest(body), "the body"),
      .init(
        ListingIdentity.pageSize, size.map(String.init) ?? "", "the page size", isReadable: true),
    ]
  }

  /// Where something goes that is not the same on every page, and the page size, which is a part of its
  /// own.
  private var changingPlacements: [Pagination.Placement] {
    var placements = (routes + backwardRoutes).map(\.send)
    placements += pagination.request.carry.values.map(\.send)
    if let send = pagination.resume?.send { placements.append(send) }
    if let send = pagination.size?.send { placements.append(send) }
    if case .reanchor(let send, _) = pagination.policy.expiry { placements.append(send) }
    return placements
  }

  /// Whether a position means another place where pages have another size: by the page's number,
  /// however it was counted, and inside a page that is delivered from its end.
  private func countsPages(_ position: Position) -> Bool {
    guard let bookmark = try? Bookmark(position) else { return true }
    if position.itemOffset > 0, pagination.policy.reversesItems { return true }
    let routes = bookmark.isBackward ? backwardRoutes : self.routes
    guard routes.indices.contains(bookmark.route) else { return true }
    switch bookmark.target {
    case .page: return true
    case .start, .url, .offset, .request: return false
    case .token(let token):
      return Self.mayBePageNumber(
        token, by: routes[bookmark.route].next, routes[bookmark.route].send)
    }
  }

  /// Whether a token that a server gave may be a page's number.
  private static func mayBePageNumber(
    _ token: JSONValue, by source: Pagination.Next, _ send: Pagination.Placement
  ) -> Bool {
    switch source.root {
    case .pageNumber: return true
    case .offset, .contentRange, .lastItem, .firstItem, .maxItem: return false
    case .all(let sources):
      return sources.contains { name, source in
        token[name].map { mayBePageNumber($0, by: source, .query(name)) } ?? false
      }
    default: break
    }
    guard token.integer != nil else { return false }
    let name =
      switch send {
      case .query(let name, _), .header(let name), .form(let name): name.lowercased()
      case .jsonBody(let path), .xmlBody(let path): path.text.lowercased()
      default: ""
      }
    return name.contains("page") || !itemWords.contains(where: name.contains)
  }

  /// Words in a parameter's name by which a number in it counts or names items.
  private static let itemWords = [
    "offset", "start", "skip", "from", "since", "after", "before", "seek",
  ]
}

// MARK: - Digests

extension PaginationEngine {
  /// What a position depends on in a description.
  private static func digest(ofDescription pagination: Pagination) -> String {
    var request = pagination.request
    request.isQuery = false
    // They are in the request, and belong to its own parts.
    request.always = Pagination.RequestConstants()
    let essence = Pagination(
      next: pagination.next, send: pagination.send, request: request,
      items: pagination.items.strict,
      policy: Pagination.Policy(
        overlap: pagination.policy.overlap, reversesItems: pagination.policy.reversesItems),
      previous: pagination.previous, resume: pagination.resume)
    return digest(Pagination.grammar.write(essence).sorted.description)
  }

  /// The parameters in the order of their names.
  private static func essence(of query: QueryString) -> String {
    let pairs = query.pairs.filter { !isVolatile($0.name) }
      .map { ($0.name, PercentEncoding.decode($0.encoded[...], plusIsSpace: true)) }
    return pairs.enumerated()
      .sorted { ($0.element.0, $0.offset) < ($1.element.0, $1.offset) }
      .map { "\($0.element.0)=\($0.element.1)" }.joined(separator: "\n")
  }

  private static func essence(of body: PageRequest.Body) -> String {
    switch body {
    case .none: ""
    case .json(let value): essence(of: value).description
    case .form(let text): essence(of: QueryString(text))
    case .xml(let text): withoutSecrets(xml: text)
    case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
    }
  }

  private static func essence(of value: JSONValue) -> JSONValue {
    switch value {
    case .null, .bool, .number, .string: value
    case .array(let elements): .array(elements.map(essence))
    case .object(let members):
      .object(
        members.filter { !isVolatile($0.name) }.sorted { $0.name < $1.name }
          .map { .init($0.name, essence(of: $0.value)) })
    }
  }

  /// The text with nothing in elements that are called like secrets.
  private static func withoutSecrets(xml text: String) -> String {
    text.replacing(#/<(?:[\w.\-]+:)?([\w.\-]+)([^<>]*)>[^<]*<\//#) { match in
      isVolatile(String(match.1)) ? "<\(match.1)></" : String(match.0)
    }
  }

  /// Whether something of that name is a credential or a time, and not what is asked for.
  private static func isVolatile(_ name: String) -> Bool {
    let small = name.lowercased()
    return SecretName.matches(name) || small.hasPrefix("x-amz-") || small.hasPrefix("x-goog-")
  }

  /// Eight hexadecimal digits, the same in every process.
  private static func digest(_ text: String) -> String {
    let hash = ContentWatch.digest(of: [.string(text)])
    return UInt32(truncatingIfNeeded: hash ^ hash >> 32).padded(to: 8, radix: 16)
  }
}

extension Pagination.Items {
  /// The same items, where a list that is missing is an error.
  fileprivate var strict: Pagination.Items {
    if case .optional(let selector) = self { return selector.strict }
    if case .members(let selector) = self { return .members(selector.strict) }
    if case .columns(let selector) = self { return .columns(selector.strict) }
    return self
  }
}

extension RequestEditor {
  /// Takes out what stands at a placement, or, where its place must stay, leaves it empty.
  fileprivate mutating func blank(_ placement: Pagination.Placement) {
    if case .xmlBody = placement {
      var blank = self
      if (try? blank.send(.string(""), by: placement, pageSize: nil)) != nil { self = blank }
    } else {
      remove(placement)
    }
  }
}
