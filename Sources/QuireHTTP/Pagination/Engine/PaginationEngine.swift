import HTTPTypes
package import QuireCore

/// Decides what to request for a page, what an answer is, and what follows it.
///
/// Pure: everything it knows is in the description, the first request and the position, so a new
/// process goes on where another one stopped. Nothing in it ever changes; it is a reference because it
/// is large and at hand for every request.
package final class PaginationEngine: Sendable {
  let pagination: Pagination
  let home: Origin
  /// The caller's request with constants and page size in it: what every request begins as.
  let base: PageRequest
  /// The request for the first page: the base and the first value.
  let first: PageRequest
  let routes: [Route]
  /// The ways to the page before.
  let backwardRoutes: [Route]
  /// The number of items a full page has; nil when nobody said.
  package let pageSize: Int?

  /// What decides about the next page in place of the description's "next".
  let custom: (@Sendable (AnsweredPage) throws -> NextPage?)?

  /// Whether the caller's own request asks for a page in the middle of the listing.
  let startsMidway: Bool

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
