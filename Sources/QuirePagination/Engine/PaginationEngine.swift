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
  var reader: AnswerReader { AnswerReader(engine: self) }
  var counter: PageCounter { PageCounter(engine: self) }
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
    routes =
      if case .firstOf(let routes) = pagination.next { routes } else {
        [Pagination.Route(pagination.next, send: pagination.send)]
      }
    backwardRoutes =
      switch pagination.previous?.from {
      case nil: []
      case .firstOf(let routes)?: routes
      case let source?: [Pagination.Route(source, send: pagination.previous?.send ?? .url)]
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

  package func recovery(
    at lost: Bookmark, from error: PageError, replacement: JSONValue?,
    reopened: [JSONValue.Member] = []
  ) -> (Bookmark, PageRecovery)? {
    finder.recovery(at: lost, from: error, replacement: replacement, reopened: reopened)
  }

  package func positions(
    after position: Position?, total: Total?, count: Int
  ) -> [Position] {
    counter.positions(after: position, total: total, count: count)
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
