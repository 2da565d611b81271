import QuireCore

/// What companies run on: identities, services, accounts.
extension Pagination {
  /// Okta: a list, and Link fields beside it, one for each relation.
  ///
  /// Page size: `limit`, 200 by default with most lists. An empty page may have a next link.
  public static let okta = Pagination(
    next: .linkHeader, size: PageSize(.query("limit")), formats: [.json])

  /// Auth0: `{"users": […], "start": 0, "limit": 50, "total": 57}`.
  ///
  /// Page size: `per_page`, 50 by default and 100 at most. Counts from 0. Without
  /// `include_totals=true`, which is always sent, the page is a bare list. Beyond 1000 items the
  /// answer is 400: then use `auth0Checkpoint`.
  /// - Parameter items: Where the items are, such as `/users`.
  public static func auth0(items: ItemSelector) -> Pagination {
    Pagination(
      next: .pageNumber(first: 0), send: .query("page"),
      request: RequestRule(always: RequestConstants(query: ["include_totals": "true"])),
      end: [.total("/total"), .emptyPage], items: items,
      size: PageSize(.query("per_page"), default: 50, max: 100), total: "/total",
      policy: PagePolicy(failure: [
        FailureRule(
          when: .value("/message", .contains("1000"), statuses: [400]), .window,
          message: "/message")
      ]), formats: [.json])
  }

  /// Auth0's checkpoint pagination: `{"users": […], "next": "…"}`.
  ///
  /// Page size: `take`, 100 at most; without one the answer is another, so 50 are asked for.
  /// - Parameter items: Where the items are, such as `/users`.
  public static func auth0Checkpoint(items: ItemSelector) -> Pagination {
    Pagination(
      next: .body("/next"), send: .query("from"),
      request: RequestRule(always: RequestConstants(query: ["take": "50"])), items: items,
      size: PageSize(.query("take"), default: 50, max: 100), formats: [.json])
  }

  /// ServiceNow's tables: `{"result": […]}`, and a Link header beside it.
  ///
  /// Page size: `sysparm_limit`, 10,000 by default. Pages are short or empty in the middle where
  /// rows are hidden from the caller; links may be relative or name another host, and are followed
  /// at ours.
  public static let serviceNow = Pagination(
    next: .linkHeader, items: "/result", size: PageSize(.query("sysparm_limit"), default: 10_000),
    total: TotalSource(.header("X-Total-Count")), policy: PagePolicy(links: .rebase),
    formats: [.json])

  /// NetSuite, records and SuiteQL: `{"items": […], "hasMore": true, "totalResults": 57, "links":
  /// [{"rel": "next", "href": "…"}]}`.
  ///
  /// Page size: `limit`, 1000 by default and at most. SuiteQL is a POST, repeated to each link with
  /// its body, and needs `Prefer: transient`, which is always sent.
  public static let netSuite = Pagination(
    next: .body("/links[rel=next]/href"),
    request: RequestRule(
      always: RequestConstants(header: ["Prefer": "transient"]), isQuery: true),
    end: [.flag("/hasMore")], items: "/items",
    size: PageSize(.query("limit"), default: 1000, max: 1000), total: "/totalResults",
    formats: [.json])

  /// QuickBooks Online's queries: `{"QueryResponse": {"Customer": […], "startPosition": 1,
  /// "maxResults": 100}}`.
  ///
  /// The query has `{{start}}` and `{{size}}` where they go: `select * from Customer startposition
  /// {{start}} maxresults {{size}}`. Page size: 1000 at most. Counts from 1; an empty page has no
  /// list.
  /// - Parameter items: Where the items are, such as `/QueryResponse/Customer`.
  public static func quickBooks(items: PagePath) -> Pagination {
    Pagination(
      next: .offset(first: 1), send: .placeholder("{{start}}"), end: [.shortPage, .emptyPage],
      items: .optional(.path(items)), size: PageSize(.placeholder("{{size}}"), max: 1000),
      formats: [.json])
  }

  /// Exchange Web Services, FindItem: `<RootFolder IndexedPagingOffset="2" TotalItemsInView="57"
  /// IncludesLastItemInRange="false"><Items>…</Items></RootFolder>` in an envelope.
  ///
  /// For POST, its body with `<IndexedPageItemView MaxEntriesReturned="100" Offset="0"
  /// BasePoint="Beginning"/>`. Page size: `MaxEntriesReturned`, 1000 at most.
  public static let ews = Pagination(
    next: .body("//RootFolder/@IndexedPagingOffset"),
    send: .xmlBody("//IndexedPageItemView/@Offset"), request: RequestRule(isQuery: true),
    end: [.flag("//RootFolder/@IncludesLastItemInRange", continuesWhile: false)],
    items: "//RootFolder/Items/*",
    size: PageSize(.xmlBody("//IndexedPageItemView/@MaxEntriesReturned"), max: 1000),
    total: "//RootFolder/@TotalItemsInView",
    policy: PagePolicy(failure: [
      FailureRule(
        when: .value("//ResponseCode", .equals("ErrorServerBusy")), .throttled,
        message: "//MessageText"),
      FailureRule(when: .value("//ResponseCode", .notEquals("NoError")), message: "//MessageText"),
    ]), formats: [.xml])

  /// Toggl's detailed reports: a list, and `X-Next-ID` and `X-Next-Row-Number` beside it.
  ///
  /// For POST; page size: `page_size` in the body, 50 by default. Both header fields go into the
  /// body, as numbers.
  public static let toggl = Pagination(
    next: .all([
      "/first_id": .json(.header("X-Next-ID")),
      "/first_row_number": .json(.header("X-Next-Row-Number")),
    ]),
    send: .bodyMerge, request: RequestRule(isQuery: true),
    size: PageSize(.jsonBody("/page_size"), default: 50), formats: [.json])

  /// Zuora's queries: `{"records": […], "size": 57, "done": false, "queryLocator": "…"}`.
  ///
  /// For POST to `action/query`; goes on at `action/queryMore` with nothing but the locator, which
  /// lives for 15 minutes. No page size: 2000 records.
  public static let zuora = Pagination(
    next: .body("/queryLocator"), send: .jsonBody("/queryLocator"),
    request: RequestRule(keep: .none, then: RequestChange(url: "queryMore"), isQuery: true),
    end: [.flag("/done", continuesWhile: false)], items: "/records", total: "/size",
    formats: [.json])

  static let enterprisePresets = [
    PaginationPreset("okta", "a list, several Link fields", .okta),
    PaginationPreset("auth0", "items elsewhere, page from 0, total", .auth0(items: "/users")),
    PaginationPreset("auth0Checkpoint", "items elsewhere, next", .auth0Checkpoint(items: "/users")),
    PaginationPreset("serviceNow", "result, Link header, X-Total-Count", .serviceNow),
    PaginationPreset("netSuite", "items, links[rel=next].href, hasMore", .netSuite),
    PaginationPreset(
      "quickBooks", "QueryResponse.*, {{start}} from 1 and {{size}} in the query",
      .quickBooks(items: "/QueryResponse/Customer")),
    PaginationPreset("ews", "RootFolder/Items/*, IndexedPagingOffset in a POST of SOAP", .ews),
    PaginationPreset("toggl", "a list, X-Next-Row-Number and X-Next-ID headers", .toggl),
    PaginationPreset("zuora", "records, queryLocator, done; goes on at queryMore", .zuora),
  ]
}
