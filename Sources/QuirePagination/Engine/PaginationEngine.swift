import HTTPTypes
package import QuireCore

/// A description prepared for one listing. Its parts build requests, read answers and find
/// continuations, and have no other state.
///
/// It is pure: all it uses is the description, the first request and the position, so that a new
/// process resumes where another one stopped. It never changes; it is a class because it is large
/// and used for every request.
package final class PaginationEngine: Sendable {
  package let pagination: Pagination
  let home: Origin
  /// The caller's request with the constants and the page size, from which every request is built.
  let base: PageRequest
  /// The request for the first page: the base with the first value.
  package let first: PageRequest
  package let routes: [Pagination.Route]
  /// The routes to the previous page.
  let backwardRoutes: [Pagination.Route]
  /// The number of items in a full page; nil if neither the caller nor the description says it.
  package let pageSize: Int?

  /// The closure that decides on the next page in place of the description's `next`.
  let nextPageClosure: (@Sendable (AnsweredPage) throws -> NextPage?)?

  /// The part that builds requests.
  package var builder: RequestBuilder { RequestBuilder(engine: self) }
  /// The part that reads answers.
  package var reader: AnswerReader { AnswerReader(engine: self) }
  /// The part that counts items and pages.
  package var counter: PageCounter { PageCounter(engine: self) }
  /// The part that finds what follows a page.
  package var finder: ContinuationFinder { ContinuationFinder(engine: self) }

  /// Whether the caller's own request starts in the middle of the listing.
  package let startsMidway: Bool

  /// Notices to the caller that do not stop the walk, such as a page size that was lowered.
  package let notices: [String]

  /// The place of the items in a page.
  package var items: Pagination.Items { pagination.items }

  /// Creates an engine for the listing that `first` requests.
  ///
  /// Throws `invalidArgument` if the parts of the description do not fit together or do not fit the
  /// request; the message says which, and why.
  package init(
    _ pagination: Pagination, first: PageRequest, home: Origin, pageSize: Int? = nil,
    nextPageClosure: (@Sendable (AnsweredPage) throws -> NextPage?)? = nil
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
      try editor.setPageSize(asked, by: size, rangeStart: start ?? 0)
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
      try editor.setFirstValue(for: route, value: pagination.request.first, pageSize: self.pageSize)
    }
    self.first = try editor.request()
    self.nextPageClosure = nextPageClosure
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

/// A part of the engine, which answers one kind of question.
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
  var hasClosure: Bool { engine.nextPageClosure != nil }
  var reader: AnswerReader { engine.reader }
  var counter: PageCounter { engine.counter }
}

extension PaginationEngine {
  /// Returns whether the header fields of an answer without a body lead to a next page. If so, the
  /// server meant a page without items, and none was lost in transit.
  package func hasNext(inHeadOf answer: PageAnswer) -> Bool {
    !routes.contains { $0.next.isCounter }
      && finder.continuation(after: answer, itemCount: 0).next != nil
  }

  /// The name of a rule that needs all items of a page before any is delivered; nil for none.
  package var wholePageRule: String? {
    if pagination.policy.overlap > 0 { return "policy.overlap" }
    if pagination.policy.reversesItems { return "policy.reversesItems" }
    if reader.repetitionKey != nil { return "the end rule noNewItems" }
    if indexRouteExists { return "the next source index" }
    return routes.contains { $0.next.looksAtAllItems }
      ? "the next source firstItem or maxItem" : nil
  }

  package var indexRouteExists: Bool { reader.indexRoute != nil }

  /// Returns the indexes that the walk needs to continue behind a position, outermost first.
  package func indexes(neededAt bookmark: Bookmark?) -> [String] {
    indexRouteExists ? bookmark?.enclosingIndexes ?? [] : []
  }
}

extension PaginationEngine {
  /// Returns whether the page at a position may be requested with another size, so that the walk
  /// continues where that page ends. Keys and offsets allow that; page numbers, and links that may
  /// contain them, would skip items.
  package func allowsOtherSize(at bookmark: Bookmark?) -> Bool {
    guard let send = pagination.size?.send, send != .itemRange, pageSize != nil,
      pagination.policy.overlap == 0, backwardRoutes.isEmpty || bookmark?.isBackward != true,
      !routes.contains(where: { $0.next.transforms.contains(where: \.needsPageSize) })
    else { return false }
    guard let bookmark else {
      return routes.allSatisfy { route in
        if case .linkHeader = route.next.untransformed {
          true
        } else {
          isByItems(route.next.untransformed)
        }
      }
    }
    guard routes.indices.contains(bookmark.route) else { return false }
    switch bookmark.target {
    case .offset, .start: return isByItems(routes[bookmark.route].next.untransformed)
    case .token(let token):
      // A number may be a page number.
      return isByItems(routes[bookmark.route].next.untransformed)
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

  /// Returns the same request for pages of `count` items.
  package func request(_ request: PageRequest, ofSize count: Int) throws(PageError) -> PageRequest {
    guard let size = pagination.size else { return request }
    var editor = RequestEditor(request)
    try editor.setPageSize(count, by: size)
    return try editor.request()
  }
}

/// The identity of a listing over HTTP: how it continues and what it requests, without values that
/// change from page to page, and without secrets, which may be replaced.
///
/// Header fields do not count, because most are credentials or name the program. Neither do the
/// rules for ends, limits, failures and pacing: a position means the same page under all of them.
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
      guard case .all(let sources) = route.next.untransformed else { continue }
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

  /// The placements of values that change from page to page, and of the page size, which is a
  /// separate part of the identity.
  private var changingPlacements: [Pagination.Placement] {
    var placements = (routes + backwardRoutes).map(\.send)
    placements += pagination.request.carry.values.map(\.send)
    if let send = pagination.resume?.send { placements.append(send) }
    if let send = pagination.size?.send { placements.append(send) }
    if case .reanchor(let send, _) = pagination.policy.expiry { placements.append(send) }
    return placements
  }

  /// Returns whether the meaning of a position depends on the page size: that of a page number,
  /// sent by the client or the server, and of a place inside a page that is delivered from its end.
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

  /// Returns whether a token from a server may be a page number.
  private static func mayBePageNumber(
    _ token: JSONValue, by source: Pagination.Next, _ send: Pagination.Placement
  ) -> Bool {
    switch source.untransformed {
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

  /// Words in a parameter's name that make a number in it a count or an identifier of items.
  private static let itemWords = [
    "offset", "start", "skip", "from", "since", "after", "before", "seek",
  ]
}

// MARK: - Digests

extension PaginationEngine {
  /// Returns a digest of the parts of a description that positions depend on.
  private static func digest(ofDescription pagination: Pagination) -> String {
    var request = pagination.request
    request.isQuery = false
    // The constants are in the request, and belong to its own parts of the identity.
    request.always = Pagination.RequestConstants()
    let essence = Pagination(
      next: pagination.next, send: pagination.send, request: request,
      items: pagination.items.strict,
      policy: Pagination.Policy(
        overlap: pagination.policy.overlap, reversesItems: pagination.policy.reversesItems),
      previous: pagination.previous, resume: pagination.resume)
    return digest(sorted(Pagination.grammar.write(essence)).description)
  }

  /// Returns the parameters, sorted by name, without credentials and times.
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
    case .json(let value): sorted(value) { !isVolatile($0.name) }.description
    case .form(let text): essence(of: QueryString(text))
    case .xml(let text): withoutSecrets(xml: text)
    case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
    }
  }

  /// Returns the value with the members of all objects sorted by name, if they pass the test.
  private static func sorted(
    _ value: JSONValue, where isKept: (JSONValue.Member) -> Bool = { _ in true }
  ) -> JSONValue {
    value.mapped { part in
      guard case .object(let members) = part else { return part }
      return .object(members.filter(isKept).sorted { $0.name < $1.name })
    }
  }

  /// Returns the text without the content of elements that are named like secrets.
  private static func withoutSecrets(xml text: String) -> String {
    text.replacing(#/<(?:[\w.\-]+:)?([\w.\-]+)([^<>]*)>[^<]*<\//#) { match in
      isVolatile(String(match.1)) ? "<\(match.1)></" : String(match.0)
    }
  }

  /// Whether a name is that of a credential or a time, which does not change what is requested.
  private static func isVolatile(_ name: String) -> Bool {
    let small = name.lowercased()
    return SecretName.matches(name) || small.hasPrefix("x-amz-") || small.hasPrefix("x-goog-")
  }

  /// Returns a digest of eight hexadecimal digits, the same in every process.
  private static func digest(_ text: String) -> String {
    let hash = ContentWatch.digest(of: [.string(text)])
    return UInt32(truncatingIfNeeded: hash ^ hash >> 32).padded(to: 8, radix: 16)
  }
}

extension Pagination.Items {
  /// The same items, with a missing list as an error.
  fileprivate var strict: Pagination.Items {
    if case .optional(let selector) = self { return selector.strict }
    if case .members(let selector) = self { return .members(selector.strict) }
    if case .columns(let selector) = self { return .columns(selector.strict) }
    return self
  }
}

extension RequestEditor {
  /// Removes the value at a placement, or empties it in XML, where its place must stay.
  fileprivate mutating func blank(_ placement: Pagination.Placement) {
    if case .xmlBody = placement {
      var blank = self
      if (try? blank.set(.string(""), at: placement, pageSize: nil)) != nil { self = blank }
    } else {
      remove(placement)
    }
  }
}
