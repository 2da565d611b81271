import QuireCore

/// Platforms that programs run on or call.
extension Pagination {
  /// Heroku: a list, and `Next-Range: id ]01234567..; max=200` beside it.
  ///
  /// Page size: inside `Range`, 200 by default and 1000 at most; asking for one sorts by id. The
  /// next range goes back byte for byte.
  public static let heroku = Pagination(
    next: .header("Next-Range"), send: .header("Range"),
    size: PageSize(.header("Range"), default: 200, max: 1000, format: "id ..; max={n}"),
    formats: [.json])

  /// HashiCorp Nomad: a list, and `X-Nomad-NextToken` beside it.
  ///
  /// Page size: `per_page`.
  public static let nomad = Pagination(
    next: .header("X-Nomad-NextToken"), send: .query("next_token"),
    size: PageSize(.query("per_page")), formats: [.json])

  /// Cloudflare: `{"success": true, "result": […], "result_info": {"page": 1, "total_pages": 3,
  /// "total_count": 57}}`.
  ///
  /// Page size: `per_page`, 20 by default with most lists. Without totals the end is an empty page.
  /// Lists with `result_info.cursor` need `next: .body("/result_info/cursor"), send:
  /// .query("cursor")`.
  public static let cloudflare = Pagination(
    next: .pageNumber, send: .query("page"),
    end: [.pages("/result_info/total_pages"), .emptyPage], items: "/result",
    size: PageSize(.query("per_page")), total: "/result_info/total_count",
    policy: PagePolicy(failure: [
      FailureRule(when: .value("/success", .equals(false)), message: "/errors/0/message")
    ]), formats: [.json])

  /// DigitalOcean: `{"droplets": […], "links": {"pages": {"next": "…"}}, "meta": {"total": 57}}`.
  ///
  /// Page size: `per_page`, 20 by default and 200 at most. The last page has `"links": {}`.
  /// - Parameter items: Where the items are, such as `/droplets`.
  public static func digitalOcean(items: ItemSelector) -> Pagination {
    Pagination(
      next: .body("/links/pages/next"), items: items,
      size: PageSize(.query("per_page"), default: 20, max: 200), total: "/meta/total",
      formats: [.json])
  }

  /// PagerDuty: `{"incidents": […], "offset": 0, "limit": 25, "more": true, "total": 57}`.
  ///
  /// Page size: `limit`, 25 by default and 100 at most. The total is null unless asked for, so
  /// `total=true` is always sent; an offset beyond 10,000 is an error. Lists with `next_cursor` need
  /// `next: .body("/next_cursor"), send: .query("cursor")`.
  /// - Parameter items: Where the items are, such as `/incidents`.
  public static func pagerDuty(items: ItemSelector) -> Pagination {
    Pagination(
      next: .offset, send: .query("offset"),
      request: RequestRule(always: RequestConstants(query: ["total": "true"])),
      end: [.flag("/more", ifAbsent: .end)], items: items,
      size: PageSize(.query("limit"), default: 25, max: 100), total: "/total", formats: [.json])
  }

  /// Datadog's search of logs and events: `{"data": […], "meta": {"page": {"after": "…"}}}`.
  ///
  /// For POST; page size: `page.limit` in the body, 10 by default and 1000 at most. Name both ends
  /// of the time in the first body: an open end moves.
  public static let datadog = Pagination(
    next: .body("/meta/page/after"), send: .jsonBody("/page/cursor"),
    request: RequestRule(isQuery: true), items: "/data",
    size: PageSize(.jsonBody("/page/limit"), default: 10, max: 1000), formats: [.json])

  /// OpenAI's lists: `{"object": "list", "data": […], "last_id": "…", "has_more": true}`.
  ///
  /// Page size: `limit`, 20 by default and 100 at most. Some lists leave out `last_id` or
  /// `has_more`: then the last item's id leads on until a page is empty.
  public static let openAI = Pagination(
    next: .firstOf([
      Route(.body("/last_id"), send: .query("after")),
      Route(.lastItem("/id"), send: .query("after")),
    ]),
    end: [.flag("/has_more"), .emptyPage], items: "/data",
    size: PageSize(.query("limit"), default: 20, max: 100),
    previous: PreviousRule(
      .body("/first_id"), send: .query("before"), end: [.flag("/has_more")]), formats: [.json])

  /// Anthropic's lists: `{"data": […], "first_id": "…", "last_id": "…", "has_more": true}`.
  ///
  /// Page size: `limit`, 20 by default and 1000 at most.
  public static let anthropic = Pagination(
    next: .body("/last_id"), send: .query("after_id"), end: [.flag("/has_more")], items: "/data",
    size: PageSize(.query("limit"), default: 20, max: 1000),
    previous: PreviousRule(
      .body("/first_id"), send: .query("before_id"), end: [.flag("/has_more")]), formats: [.json])

  /// Google Places, the older search: `{"status": "OK", "results": […], "next_page_token": "…"}`.
  ///
  /// No page size: three pages of 20 at most. A token excludes everything but `key`, and is not
  /// known for its first two seconds, during which it is asked for again.
  public static let googlePlaces = Pagination(
    next: .body("/next_page_token"), send: .query("pagetoken"),
    request: RequestRule(keep: .only(["key"])), items: "/results",
    policy: PagePolicy(failure: [
      FailureRule(
        when: .value("/status", .equals("INVALID_REQUEST")), .notReady, message: "/error_message",
        delay: 2, scope: .laterPages),
      FailureRule(
        when: .value("/status", .equals("OVER_QUERY_LIMIT")), .throttled,
        message: "/error_message"),
      FailureRule(
        when: .value(
          "/status",
          .isOneOf(["INVALID_REQUEST", "REQUEST_DENIED", "UNKNOWN_ERROR", "NOT_FOUND"])),
        message: "/error_message"),
    ]), formats: [.json])

  /// The lists of the Model Context Protocol: `{"jsonrpc": "2.0", "id": 1, "result": {"tools": […],
  /// "nextCursor": "…"}}`.
  ///
  /// For POST, its body such as `{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}`; the server
  /// chooses the page size. An empty text is a cursor like any other: only without `nextCursor` is a
  /// page the last. For servers that answer in JSON, not by an event stream.
  /// - Parameter items: Where the items are. Default: tools, resources, templates or prompts.
  public static func mcp(
    items: ItemSelector = .firstOf([
      "/result/tools", "/result/resources", "/result/resourceTemplates", "/result/prompts",
    ])
  ) -> Pagination {
    Pagination(
      next: .body("/result/nextCursor"), send: .jsonBody("/params/cursor"),
      request: RequestRule(
        always: RequestConstants(header: ["Accept": "application/json, text/event-stream"]),
        isQuery: true),
      items: items,
      policy: PagePolicy(
        failure: [
          FailureRule(
            when: .value("/error/code", .equals(-32602)), .expired, message: "/error/message"),
          FailureRule(when: .value("/error"), message: "/error/message"),
        ], emptyCursor: .value), formats: [.json])
  }

  static let platformPresets = [
    PaginationPreset("heroku", "a list, Next-Range header", .heroku),
    PaginationPreset("nomad", "a list, X-Nomad-NextToken header", .nomad),
    PaginationPreset("cloudflare", "result, page number, result_info.total_pages", .cloudflare),
    PaginationPreset(
      "digitalOcean", "items elsewhere, links.pages.next", .digitalOcean(items: "/droplets")),
    PaginationPreset("pagerDuty", "items elsewhere, offset, more", .pagerDuty(items: "/incidents")),
    PaginationPreset("datadog", "data, meta.page.after in a POST body", .datadog),
    PaginationPreset("openAI", "data, last_id or the last item's id, has_more", .openAI),
    PaginationPreset("anthropic", "data, last_id, has_more", .anthropic),
    PaginationPreset("mcp", "result.tools and others, nextCursor in a POST body", .mcp()),
    PaginationPreset("googlePlaces", "results, next_page_token", .googlePlaces),
  ]
}
