import QuireCore

/// Formats and conventions with a specification of their own.
extension Pagination {
  /// JSON:API 1.1: `{"data": […], "links": {"next": "…"}}`, the link a text or `{"href": "…"}`.
  ///
  /// Page size: `page[size]`, where the server has one. The last page has no `next`, or null.
  public static let jsonAPI = Pagination(
    next: .body("/links/next"), items: "/data", size: PageSize(.query("page[size]")))

  /// HAL: `{"_embedded": {"orders": […]}, "_links": {"next": {"href": "…"}}, "page":
  /// {"totalElements": 57}}`.
  ///
  /// Page size: `size`. Links may be URI templates, whose expressions are dropped. A server that
  /// leaves `_embedded` out of an empty page needs `items: .optional(…)`.
  public static func hal(items: ItemSelector) -> Pagination {
    Pagination(
      next: .body("/_links/next"), items: items, size: PageSize(.query("size")),
      total: "/page/totalElements")
  }

  /// OData 4 and Microsoft Graph: `{"value": […], "@odata.nextLink": "…", "@odata.count": 57}`.
  ///
  /// Page size: `Prefer: odata.maxpagesize=…`, a wish. Links go out byte for byte; a page may be
  /// empty and have one all the same. 410 means that the link expired.
  public static let odata = Pagination(
    next: .firstOf([
      Route(.body("/@odata.nextLink"), send: .url), Route(.body("/@nextLink"), send: .url),
    ]),
    items: "/value", size: PageSize(.header("Prefer"), format: "odata.maxpagesize={n}"),
    total: TotalSource(.firstOf(["/@odata.count", "/@count"])),
    policy: PagePolicy(failure: [
      FailureRule(when: .status(410), .expired, message: "/error/message")
    ]))

  /// GraphQL connections (Relay): `{"data": {"repo": {"issues": {"pageInfo": {"hasNextPage": true,
  /// "endCursor": "…"}, "nodes": […]}}}}`.
  ///
  /// The query takes `$after` and `$first` as variables. Items are `nodes`, or else `edges`. The
  /// last page has an `endCursor` too; only `hasNextPage` tells. Any `errors` fail the page, with
  /// or without data.
  /// - Parameter connection: Where the connection is, such as `/data/repo/issues`.
  public static func relay(connection: PagePath) -> Pagination {
    func path(_ rest: String) -> PagePath { PagePath(stringLiteral: connection.text + rest) }
    return Pagination(
      next: .body(path("/pageInfo/endCursor")), send: .jsonBody("/variables/after"),
      request: RequestRule(isQuery: true), end: [.flag(.body(path("/pageInfo/hasNextPage")))],
      items: .firstOf([path("/nodes"), path("/edges")]),
      size: PageSize(.jsonBody("/variables/first"), max: 100),
      total: TotalSource(.body(path("/totalCount"))),
      policy: PagePolicy(failure: [
        FailureRule(
          when: .value("/errors/0/extensions/code", .equals("THROTTLED")), .throttled,
          message: "/errors/0/message"),
        FailureRule(
          when: .value("/errors/0/type", .equals("RATE_LIMITED")), .throttled,
          message: "/errors/0/message"),
        FailureRule(when: .value("/errors"), message: "/errors/0/message"),
      ]))
  }

  /// Google's AIP-158: `{"books": […], "nextPageToken": "…"}`.
  ///
  /// Page size: `pageSize`, or `maxResults` with older services; lowered silently. Pages may be
  /// short or empty in the middle, and an empty list is left out; only a missing or empty token is
  /// the end. Totals are estimates.
  /// - Parameters:
  ///   - items: Where the items are.
  ///   - size: The parameter for the page size.
  public static func google(items: PagePath, size: String = "pageSize") -> Pagination {
    Pagination(
      next: .body("/nextPageToken"), send: .query("pageToken"), items: .optional(.path(items)),
      size: PageSize(.query(size)),
      total: TotalSource(.firstOf(["/totalSize", "/pageInfo/totalResults"]), .estimate),
      policy: PagePolicy(failure: [
        FailureRule(
          when: .value("/error/status", .equals("INVALID_ARGUMENT"), statuses: [400]), .expired,
          message: "/error/message"),
        FailureRule(
          when: .value("/error/errors/0/reason", .contains("ateLimitExceeded"), statuses: [403]),
          .throttled, message: "/error/message"),
      ]))
  }

  /// JSON Feed 1.1: `{"items": […], "next_url": "…"}`.
  ///
  /// The last page has no `next_url`. An address that came before is a loop.
  public static let jsonFeed = Pagination(next: .body("/next_url"), items: "/items")

  static let formatPresets = [
    PaginationPreset(
      "google", "items elsewhere, nextPageToken (AIP-158)", .google(items: "/items")),
    PaginationPreset("hal", "_embedded, _links.next", .hal(items: "/_embedded/items")),
    PaginationPreset("jsonAPI", "data, links.next", .jsonAPI),
    PaginationPreset("jsonFeed", "items, next_url", .jsonFeed),
    PaginationPreset("odata", "value, @odata.nextLink", .odata),
    PaginationPreset(
      "relay", "GraphQL: pageInfo, nodes or edges at a path of yours",
      .relay(connection: "/data/connection")),
  ]
}
