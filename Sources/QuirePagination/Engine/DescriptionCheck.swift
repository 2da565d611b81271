import HTTPTypes
import QuireCore

/// A check of whether the parts of a description fit together and fit the walk's own request. It is
/// made before the first request, so that a walk does not fail in its middle.
struct DescriptionCheck {
  let pagination: Pagination
  let routes: [Pagination.Route]
  let backwardRoutes: [Pagination.Route]
  /// The caller's request, with the constants and the page size.
  let base: PageRequest
  let pageSize: Int?

  /// Throws `invalidArgument` if parts do not fit; the message says which, and why.
  func check(first: PageRequest) throws(PageError) {
    try checkComposition()
    try checkAgainstRequest()
    try checkBody(of: first)
  }

  /// Checks the parts of the description against each other.
  private func checkComposition() throws(PageError) {
    if let path = pagination.items.missingPath {
      guard (try? PagePath(path.text + "_/more")) != nil else {
        throw Self.failure(
          "The items cannot be at \"\(path)\": what the next page is found by is beside them.")
      }
      throw Self.failure(
        "It does not say where the items are.", Remedy(.items, [path.text]))
    }
    guard !routes.isEmpty else {
      throw Self.failure("\"firstOf\" has no routes; give it at least one.")
    }
    for route in routes { try check(route) }
    for route in backwardRoutes {
      try check(route)
      guard route.next.firstCount == nil else {
        throw Self.failure(
          "\"previous\" is a counter; the page before is found by a token or a link.")
      }
    }
    if pagination.policy.expiry == .reopen, pagination.policy.open == nil {
      throw Self.failure("\"expiry\" is \"reopen\", and the policy has no \"open\".")
    }
    for total in pagination.endTotals { try check(total) }
    if pagination.policy.overlap < 0 {
      throw Self.failure("An overlap is a number of items, 0 or more.")
    }
    if let pageSize, pageSize <= pagination.policy.overlap {
      throw Self.failure(
        "A page of \(pageSize) has nothing new where \(pagination.policy.overlap) overlap.")
    }
    if case .jsonBody = pagination.size?.send, pagination.request.method == .get {
      throw Self.failure("The page size goes into a body, and requests made GET have none.")
    }
  }

  private func check(_ route: Pagination.Route) throws(PageError) {
    try checkSource(of: route)
    switch route.send {
    case .header(let name):
      _ = try RequestEditor.field(name)
      if ["connection", "content-length", "host", "transfer-encoding"].contains(name.lowercased()) {
        throw Self.failure("A value cannot go into \(name), which says how the request is sent.")
      }
    case .query(let name, _) where name.isEmpty:
      throw Self.failure("A value goes into a query parameter, which has no name.")
    case .jsonBody, .bodyMerge, .form, .xmlBody:
      guard pagination.request.method == .same else {
        throw Self.failure("A value goes into the body, and requests made GET have none.")
      }
    case .itemRange where route.next.firstCount == nil:
      throw Self.failure("Only an offset or a content range can be sent as a range of items.")
    case .itemRange where !route.next.transforms.isEmpty:
      throw Self.failure("A range of items is sent as it is; leave out what changes it.")
    case .url, .request, .query, .path, .placeholder, .queryMerge, .itemRange, .firstOf: break
    }
  }

  private func checkSource(of route: Pagination.Route) throws(PageError) {
    switch route.next.untransformed {
    case .firstOf where !route.next.transforms.isEmpty:
      throw Self.failure("\"firstOf\" is changed as a whole; change the source of each route.")
    case .firstOf:
      throw Self.failure("\"firstOf\" stands inside \"firstOf\"; list all routes in one.")
    case .all(let sources):
      guard route.send == .queryMerge || route.send == .bodyMerge || !route.next.transforms.isEmpty
      else {
        throw Self.failure(
          "\"all\" finds several values: send them by \"queryMerge\" or \"bodyMerge\".")
      }
      for source in sources.values { try checkValue(of: source) }
    case .index:
      guard routes == [route], route.next.transforms.isEmpty, route.send == .url else {
        throw Self.failure("An index lists links: it stands alone, and is sent by \"url\".")
      }
    case .header(let name): _ = try RequestEditor.field(name)
    case .offset, .pageNumber, .contentRange:
      guard ![.url, .request, .queryMerge, .bodyMerge].contains(route.send) else {
        throw Self.failure("A number is sent as a link; send it by a query parameter, for example.")
      }
      for transform in route.next.transforms where !transform.fitsCounters {
        throw Self.failure(
          "The number of a page holds nothing else; only \"adding\", \"template\" and \"jsonText\" "
            + "change numbers.")
      }
    default: break
    }
  }

  private func checkValue(of source: Pagination.Next) throws(PageError) {
    switch source.untransformed {
    case .linkHeader, .header, .body, .lastItem, .firstItem, .maxItem: break
    default: throw Self.failure("Inside \"all\" only sources of one value can stand.")
    }
  }

  private func check(_ total: Pagination.TotalSource) throws(PageError) {
    guard total.scope == .everyPage || total == pagination.total else {
      throw Self.failure(
        "A total of the first page can end a walk only if it is the description's \"total\" too.")
    }
    let counts = routes.map(\.next).contains { $0.firstCount != nil }
    let countsPages = routes.map(\.next).contains {
      if case .pageNumber = $0.untransformed { true } else { false }
    }
    // A number of pages in a link, such as `rel=last`, can end a walk by links.
    let isOfLinks = if case .linkQueryItem = total.source { true } else { false }
    switch total.kind {
    case .pages where !countsPages && !isOfLinks:
      throw Self.failure("A number of pages can only end a walk that counts pages.")
    case .items where !counts, .estimate where !counts:
      throw Self.failure(
        "A total can only end a walk that counts, by offset or page number; this one has cursors.")
    case .lowerBound:
      throw Self.failure("A total that is only a lower bound cannot end a walk.")
    case .items, .estimate, .remaining, .pages: break
    }
  }

  /// Checks the description against the walk's own request.
  private func checkAgainstRequest() throws(PageError) {
    let isShortOnly =
      pagination.end.contains(.shortPage) && pageSize == nil
      && pagination.size?.echo == nil
    for route in routes where route.next.isCounter {
      let rules = pagination.end.filter { rule in
        switch rule {
        case .noNext, .requires: false
        case .shortPage: !isShortOnly
        case .notAdvancing: false
        case .flag, .emptyPage, .total, .sameCursor, .status, .noNewItems, .lastPage: true
        }
      }
      guard !rules.isEmpty else {
        throw Self.failure(
          isShortOnly
            ? "A short page ends the walk, and how long a page is was not said."
            : "A walk that counts never ends without an end rule.",
          Remedy(isShortOnly ? .pageSize : .end, isShortOnly ? [] : ["emptyPage"]))
      }
      if case .offset(_, .pageSize) = route.next.untransformed, pageSize == nil,
        pagination.size?.echo == nil
      {
        throw Self.failure(
          "The offset moves by the page size, which was not said.", Remedy(.pageSize))
      }
    }
    for route in routes {
      if route.send == .itemRange, pageSize == nil {
        throw Self.failure(
          "A range of items needs a page size, or a Range field in the request.",
          Remedy(.pageSize))
      }
      if pageSize == nil, route.next.transforms.contains(where: \.needsPageSize) {
        throw Self.failure(
          "A template holds the page size, which was not said.", Remedy(.pageSize))
      }
      try checkPlaceholder(of: route)
    }
    if let size = pagination.size, case .placeholder(let text, _) = size.send, !text.isEmpty,
      RequestEditor(base).has(placeholder: text)
    {
      throw Self.failure(
        "The request has \"\(text)\" where the page size goes, which was not said.",
        Remedy(.pageSize, [size.max].compactMap { $0.map(String.init) }))
    }
  }

  private func checkPlaceholder(of route: Pagination.Route) throws(PageError) {
    switch route.send {
    case .path(let text, _):
      guard !text.isEmpty, try URLReference(base.url).path.contains(text) else {
        throw Self.failure("The URL's path does not contain \"\(text)\", where the cursor goes.")
      }
    case .placeholder(let text, _):
      guard !text.isEmpty, RequestEditor(base).has(placeholder: text) else {
        throw Self.failure(
          "Neither the URL nor the body contains \"\(text)\", where the cursor goes.")
      }
    default: break
    }
  }

  /// Checks that the request has a body of the kind that values go into, or can get one.
  private func checkBody(of request: PageRequest) throws(PageError) {
    // Where there is a body, the page size is in it already, or none is sent.
    let size = request.body == .none ? pagination.size?.send : nil
    for placement in routes.map(\.send) + [size].compactMap(\.self) {
      guard let kind = placement.bodyKind, kind != request.body.kind else { continue }
      let target =
        switch kind {
        case .json, .bytes: "a body of JSON"
        case .form: "a form"
        case .xml: "a body of XML"
        }
      guard request.body == .none else {
        throw Self.failure("A value goes into \(target), and the walk's request has another body.")
      }
      guard kind != .xml else {
        throw Self.failure("A value goes into \(target), and the walk's request has none.")
      }
      guard request.method == .get || request.method == .head else { continue }
      throw Self.failure(
        "A value goes into the body, and the walk's request is a \(request.method) without one.",
        Remedy(.method, ["POST"]))
    }
  }

  private static func failure(_ message: String, _ remedy: Remedy? = nil) -> PageError {
    PageError(
      .invalidArgument, "The pagination description does not work. " + message,
      remedies: [remedy].compactMap(\.self))
  }
}
