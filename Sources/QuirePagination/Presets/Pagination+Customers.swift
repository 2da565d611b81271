import QuireCore

/// Customers: sales, marketing and support.
extension Pagination {
  /// HubSpot's CRM: `{"results": […], "paging": {"next": {"after": "…"}}}`.
  ///
  /// Page size: `limit`, 10 by default and 100 at most. The last page has no `paging`. Searches are
  /// POST, `hubSpotSearch` by name, and refuse to go beyond 10,000 results.
  public static let hubSpot = Pagination(
    next: .body("/paging/next/after"), send: .query("after"), items: "/results",
    size: PageSize(.query("limit"), default: 10, max: 100), total: "/total",
    policy: PagePolicy(failure: [
      FailureRule(
        when: .value("/message", .contains("10,000"), statuses: [400]), .window,
        message: "/message"),
      FailureRule(
        when: .value("/message", .contains("10000"), statuses: [400]), .window,
        message: "/message"),
    ]), formats: [.json])

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
    ]), formats: [.json])

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
      size: PageSize(.query("page[size]"), default: 100, max: 100), total: "/count",
      formats: [.json])
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
      size: PageSize(.query("per_page"), default: 1000, max: 1000), formats: [.json])
  }

  /// Intercom: `{"data": […], "pages": {"next": {"starting_after": "…"}}, "total_count": 57}`.
  ///
  /// Page size: `per_page`, 150 at most. Older versions have a link in `pages.next`. Searches are
  /// POST: `intercomSearch` by name.
  public static let intercom = Pagination(
    next: .firstOf([
      Route(.body("/pages/next/starting_after"), send: .query("starting_after")),
      Route(.body("/pages/next"), send: .url),
    ]),
    items: "/data", size: PageSize(.query("per_page"), max: 150), total: "/total_count",
    formats: [.json])

  /// Pipedrive's API v2: `{"success": true, "data": […], "additional_data": {"next_cursor": "…"}}`.
  ///
  /// Page size: `limit`, 100 by default and 500 at most. An empty page has null for its list.
  public static let pipedrive = Pagination(
    next: .body("/additional_data/next_cursor"), send: .query("cursor"),
    items: .optional("/data"), size: PageSize(.query("limit"), default: 100, max: 500),
    formats: [.json])

  /// Pipedrive's API v1: `{"data": […], "additional_data": {"pagination":
  /// {"more_items_in_collection": true, "next_start": 100}}}`.
  ///
  /// Page size: `limit`, 100 by default and 500 at most. An empty page has null for its list.
  public static let pipedriveV1 = Pagination(
    next: .body("/additional_data/pagination/next_start"), send: .query("start"),
    end: [.flag("/additional_data/pagination/more_items_in_collection")],
    items: .optional("/data"),
    size: PageSize(.query("limit"), default: 100, max: 500), formats: [.json])

  /// Zoho CRM: `{"data": […], "info": {"more_records": true, "next_page_token": "…"}}`.
  ///
  /// Page size: `per_page`, 200 by default and at most. Beyond 2000 records only the token leads on;
  /// nothing at all is 204.
  public static let zoho = Pagination(
    next: .firstOf([
      Route(.body("/info/next_page_token"), send: .query("page_token")),
      Route(.pageNumber, send: .query("page")),
    ]),
    request: RequestRule(keep: .except(["page"])),
    end: [.flag("/info/more_records", ifAbsent: .end), .status([204])], items: "/data",
    size: PageSize(.query("per_page"), default: 200, max: 200), formats: [.json])

  /// Marketo: `{"success": true, "result": […], "moreResult": true, "nextPageToken": "…"}`.
  ///
  /// Page size: `batchSize`, 300 by default and at most. The last page has a token too; a page
  /// without `result` is empty and may come in the middle. Errors come with 200 and `success` false;
  /// 602 is an access token that expired: go on from the checkpoint with a new one.
  public static let marketo = Pagination(
    next: .body("/nextPageToken"), send: .query("nextPageToken"), end: [.flag("/moreResult")],
    items: .optional("/result"), size: PageSize(.query("batchSize"), default: 300, max: 300),
    policy: PagePolicy(
      failure: [
        FailureRule(
          when: .value("/errors/0/code", .isOneOf(["606", "615"])), .throttled,
          message: "/errors/0/message"),
        FailureRule(
          when: .value("/errors/0/code", .equals("602")), .expired, message: "/errors/0/message"),
        FailureRule(when: .value("/success", .equals(false)), message: "/errors/0/message"),
      ], marks: ["/success"]), formats: [.json])

  /// Customer.io: `{"campaigns": […], "next": "…"}`.
  ///
  /// Page size: `limit`. The last `next` is empty; the server refuses `%3D` where it sent `=`.
  /// - Parameter items: Where the items are, such as `/campaigns`.
  public static func customerIO(items: ItemSelector) -> Pagination {
    Pagination(
      next: .body("/next"), send: .query("start", encoding: .allowing("=")), items: items,
      size: PageSize(.query("limit")), formats: [.json])
  }

  /// Salesloft, by time of change: `{"data": […]}`, sorted by `updated_at`.
  ///
  /// Page size: `per_page`, 25 by default and 100 at most. The cursor takes the place of
  /// `updated_at[gte]`. Items changed at the very time of a page's last one are lost: where that
  /// matters, take `pages` and their cost.
  public static let salesloft = Pagination(
    next: .lastItem("/updated_at"), send: .query("updated_at[gt]"),
    request: RequestRule(
      keep: .except(["page", "updated_at[gte]"]),
      always: RequestConstants(query: ["sort_by": "updated_at", "sort_direction": "ASC"])),
    end: [.shortPage, .emptyPage], items: "/data",
    size: PageSize(.query("per_page"), default: 25, max: 100), formats: [.json])

  /// LinkedIn: `{"elements": […], "paging": {"links": [{"rel": "next", "href": "…"}], "total": 57}}`,
  /// or `{"elements": […], "metadata": {"nextPageToken": "…"}}`.
  ///
  /// Page size: `count`; with tokens it is `pageSize`, in the URL. Links are relative.
  public static let linkedIn = Pagination(
    next: .firstOf([
      Route(.body("/metadata/nextPageToken"), send: .query("pageToken")),
      Route(.body("/paging/links[rel=next]/href"), send: .url),
    ]),
    items: "/elements", size: PageSize(.query("count")), total: "/paging/total", formats: [.json])

  static let customerPresets = [
    PaginationPreset(
      "hubSpot", "results, paging.next.after", .hubSpot,
      variants: [
        "hubSpotSearch": .sent(
          by: .jsonBody("/after"), size: .jsonBody("/limit"), .hubSpot)
      ]),
    PaginationPreset("salesforce", "records, nextRecordsUrl, done", .salesforce),
    PaginationPreset("salesforceBulk", "CSV, Sforce-Locator header", .salesforceBulk),
    PaginationPreset(
      "zendesk", "items elsewhere, links.next, meta.has_more", .zendesk(items: "/tickets")),
    PaginationPreset(
      "zendeskIncremental", "items elsewhere, after_url, end_of_stream",
      .zendeskIncremental(items: "/tickets")),
    PaginationPreset(
      "intercom", "data, pages.next", .intercom,
      variants: [
        "intercomSearch": Pagination(
          next: .body("/pages/next/starting_after"), send: .jsonBody("/pagination/starting_after"),
          request: RequestRule(isQuery: true), items: "/data",
          size: PageSize(.jsonBody("/pagination/per_page"), max: 150), total: "/total_count",
          formats: [.json])
      ]),
    PaginationPreset("pipedrive", "data, additional_data.next_cursor", .pipedrive),
    PaginationPreset("pipedriveV1", "data, additional_data.pagination.next_start", .pipedriveV1),
    PaginationPreset("zoho", "data, info.more_records, info.next_page_token or page number", .zoho),
    PaginationPreset("marketo", "result, nextPageToken, moreResult", .marketo),
    PaginationPreset(
      "customerIO", "items elsewhere, next; \"=\" stays as it is",
      .customerIO(items: "/campaigns")),
    PaginationPreset("salesloft", "data; updated_at[gt] = the last item's updated_at", .salesloft),
    PaginationPreset(
      "linkedIn", "elements, metadata.nextPageToken or paging.links[rel=next].href", .linkedIn),
  ]
}
