import QuireCore

/// Services for teams and companies.
extension Pagination {
  /// Slack: `{"ok": true, "members": […], "response_metadata": {"next_cursor": "…"}}`.
  ///
  /// Page size: `limit`, 1000 at most; pages may be short or empty in the middle. The end is an
  /// empty cursor. Errors come with 200 and `ok` false.
  /// - Parameter items: Where the items are, such as `/members` or `/channels`.
  public static func slack(items: ItemSelector) -> Pagination {
    Pagination(
      next: .body("/response_metadata/next_cursor"), send: .query("cursor"), items: items,
      size: PageSize(.query("limit"), default: 100, max: 1000),
      policy: PagePolicy(failure: [
        FailureRule(when: .value("/error", .equals("invalid_cursor")), .expired, message: "/error"),
        FailureRule(
          when: .value("/error", .isOneOf(["ratelimited", "rate_limited"])), .throttled,
          message: "/error"),
        FailureRule(when: .value("/ok", .equals(false)), message: "/error"),
      ]))
  }

  /// Notion: `{"results": […], "has_more": true, "next_cursor": "…"}`.
  ///
  /// For POST; page size: `page_size` in the body, 100 by default and at most. The first request
  /// has no cursor: null is refused.
  public static let notion = Pagination(
    next: .body("/next_cursor"), send: .jsonBody("/start_cursor"),
    request: RequestRule(isQuery: true), end: [.flag("/has_more")], items: "/results",
    size: PageSize(.jsonBody("/page_size"), default: 100, max: 100))

  /// HubSpot's CRM: `{"results": […], "paging": {"next": {"after": "…"}}}`.
  ///
  /// Page size: `limit`, 10 by default and 100 at most. The last page has no `paging`.
  public static let hubSpot = Pagination(
    next: .body("/paging/next/after"), send: .query("after"), items: "/results",
    size: PageSize(.query("limit"), default: 10, max: 100), total: "/total")

  /// Salesforce queries: `{"totalSize": 57, "done": false, "nextRecordsUrl": "/services/…",
  /// "records": […]}`.
  ///
  /// Page size: `Sforce-Query-Options: batchSize=…`, a wish of 200 to 2000. Links are relative and
  /// expire.
  public static let salesforce = Pagination(
    next: .body("/nextRecordsUrl"), end: [.flag("/done", continuesWhile: false)],
    items: "/records",
    size: PageSize(
      .header("Sforce-Query-Options"), default: 2000, max: 2000, format: "batchSize={n}"),
    total: "/totalSize",
    policy: PagePolicy(failure: [
      FailureRule(
        when: .value("/0/errorCode", .equals("INVALID_QUERY_LOCATOR")), .expired,
        message: "/0/message")
    ]))

  /// Results of Salesforce's Bulk API 2.0: CSV, and `Sforce-Locator` beside it.
  ///
  /// Page size: `maxRecords`. The last locator is the text `null`. Needs a decoder for CSV.
  public static let salesforceBulk = Pagination(
    next: .header("Sforce-Locator"), send: .query("locator"), end: [.noNext(sentinels: ["null"])],
    size: PageSize(.query("maxRecords")))

  /// Zendesk: `{"tickets": […], "meta": {"has_more": true}, "links": {"next": "…"}}`.
  ///
  /// Page size: `page[size]`, 100 at most, which also switches cursors on. The last page has a next
  /// link too; only `has_more` tells. Older lists have `next_page`.
  /// - Parameter items: Where the items are, such as `/tickets`.
  public static func zendesk(items: ItemSelector) -> Pagination {
    Pagination(
      next: .firstOf([
        Route(.body("/links/next"), send: .url), Route(.body("/next_page"), send: .url),
      ]),
      end: [.flag("/meta/has_more")], items: items,
      size: PageSize(.query("page[size]"), default: 100, max: 100), total: "/count")
  }

  /// Zendesk's incremental exports: `{"tickets": […], "end_of_stream": false, "after_url": "…"}`.
  ///
  /// Page size: `per_page`, 1000 at most. Items may repeat between pages. At the end, the time-based
  /// link is the same again.
  /// - Parameter items: Where the items are, such as `/tickets`.
  public static func zendeskIncremental(items: ItemSelector) -> Pagination {
    Pagination(
      next: .firstOf([
        Route(.body("/after_url"), send: .url), Route(.body("/next_page"), send: .url),
      ]),
      end: [.flag("/end_of_stream", continuesWhile: false), .sameCursor], items: items,
      size: PageSize(.query("per_page"), default: 1000, max: 1000))
  }

  /// Airtable: `{"records": […], "offset": "itr…/rec…"}`.
  ///
  /// Page size: `pageSize`, 100 by default and at most. The offset is no number, and expires in
  /// minutes with 422.
  public static let airtable = Pagination(
    next: .body("/offset"), send: .query("offset"), items: "/records",
    size: PageSize(.query("pageSize"), default: 100, max: 100),
    policy: PagePolicy(failure: [
      FailureRule(
        when: .value("/error/type", .equals("LIST_RECORDS_ITERATOR_NOT_AVAILABLE")), .expired,
        message: "/error/message")
    ]))

  /// Asana: `{"data": […], "next_page": {"offset": "…"}}`.
  ///
  /// Page size: `limit`, 100 at most; without one there is no `next_page`, so 100 is always sent.
  public static let asana = Pagination(
    next: .body("/next_page/offset"), send: .query("offset"),
    request: RequestRule(always: RequestConstants(query: ["limit": "100"])), items: "/data",
    size: PageSize(.query("limit"), max: 100))

  /// Intercom: `{"data": […], "pages": {"next": {"starting_after": "…"}}, "total_count": 57}`.
  ///
  /// Page size: `per_page`, 150 at most. Older versions have a link in `pages.next`.
  public static let intercom = Pagination(
    next: .firstOf([
      Route(.body("/pages/next/starting_after"), send: .query("starting_after")),
      Route(.body("/pages/next"), send: .url),
    ]),
    items: "/data", size: PageSize(.query("per_page"), max: 150), total: "/total_count")

  /// Mailgun's events: `{"items": […], "paging": {"next": "…"}}`.
  ///
  /// Page size: `limit`, 300 at most. There is always a next link; the end is an empty page.
  public static let mailgun = Pagination(
    next: .body("/paging/next"), end: [.emptyPage], items: "/items",
    size: PageSize(.query("limit"), max: 300))

  static let businessPresets = [
    PaginationPreset("airtable", "records, offset", .airtable),
    PaginationPreset("asana", "data, next_page.offset", .asana),
    PaginationPreset("hubSpot", "results, paging.next.after", .hubSpot),
    PaginationPreset("intercom", "data, pages.next", .intercom),
    PaginationPreset("mailgun", "items, paging.next until a page is empty", .mailgun),
    PaginationPreset("notion", "results, next_cursor in a POST body, has_more", .notion),
    PaginationPreset("salesforce", "records, nextRecordsUrl, done", .salesforce),
    PaginationPreset("salesforceBulk", "CSV, Sforce-Locator header", .salesforceBulk),
    PaginationPreset(
      "slack", "items elsewhere, response_metadata.next_cursor", .slack(items: "/members")),
    PaginationPreset(
      "zendesk", "items elsewhere, links.next, meta.has_more", .zendesk(items: "/tickets")),
    PaginationPreset(
      "zendeskIncremental", "items elsewhere, after_url, end_of_stream",
      .zendeskIncremental(items: "/tickets")),
  ]
}
