import QuireCore

/// Services whose second page is asked for in another way than the first.
extension Pagination {
  /// monday.com's boards: `{"data": {"boards": [{"items_page": {"cursor": "…", "items": […]}}]}}`, then
  /// `{"data": {"next_items_page": {"cursor": "…", "items": […]}}}`.
  ///
  /// For POST; page size: the variable `limit`, 500 at most. Cursors live for an hour.
  /// - Parameter document: The GraphQL document for later pages, which takes `$cursor`.
  public static func monday(
    next document: String =
      "query($cursor:String!){next_items_page(cursor:$cursor){cursor items{id}}}"
  ) -> Pagination {
    Pagination(
      next: .firstOf([
        Route(.body("/data/boards/0/items_page/cursor"), send: .jsonBody("/variables/cursor")),
        Route(.body("/data/next_items_page/cursor"), send: .jsonBody("/variables/cursor")),
      ]),
      request: RequestRule(
        then: RequestChange(set: RequestConstants(body: ["/query": .string(document)])),
        isQuery: true),
      items: .firstOf(["/data/boards/0/items_page/items", "/data/next_items_page/items"]),
      size: PageSize(.jsonBody("/variables/limit"), default: 25, max: 500),
      policy: PagePolicy(failure: [
        FailureRule(when: .value("/errors"), message: "/errors/0/message")
      ]))
  }

  /// Zuora's queries: `{"records": […], "size": 57, "done": false, "queryLocator": "…"}`.
  ///
  /// For POST to `/v1/action/query`, 2000 records at most; later pages come from `queryMore`, whose
  /// body has the locator alone. Locators live for a quarter of an hour.
  public static let zuora = Pagination(
    next: .body("/queryLocator"), send: .jsonBody("/queryLocator"),
    request: RequestRule(keep: .none, then: RequestChange(url: "queryMore"), isQuery: true),
    end: [.flag("/done", continuesWhile: false)], items: "/records", total: "/size")

  /// Amazon's Marketplace Web Service: `<ListOrdersResult><NextToken/>…</ListOrdersResult>`.
  ///
  /// Later pages are another action, which takes the token and no filter. Every request needs a
  /// signature of its own: see `PageClient.Configuration.signer`.
  /// - Parameters:
  ///   - action: The first action, such as `ListOrders`.
  ///   - items: Where the items are, such as `//Order`.
  public static func mws(action: String, items: ItemSelector) -> Pagination {
    Pagination(
      next: .body("//NextToken"), send: .query("NextToken"),
      request: RequestRule(
        keep: .only(["AWSAccessKeyId", "SellerId", "MWSAuthToken", "Version"]),
        then: RequestChange(set: RequestConstants(query: ["Action": "\(action)ByNextToken"]))),
      items: items,
      policy: PagePolicy(failure: [
        FailureRule(
          when: .value("//Error/Code", .equals("RequestThrottled")), .throttled,
          message: "//Error/Message")
      ]))
  }

  /// Google Places, the older API: `{"status": "OK", "results": […], "next_page_token": "…"}`.
  ///
  /// Pages have 20 items, and there are three at most. The token is valid only after about two seconds,
  /// and excludes every other parameter but the key.
  public static let googlePlaces = Pagination(
    next: .body("/next_page_token"), send: .query("pagetoken"),
    request: RequestRule(keep: .only(["key"])), items: "/results",
    policy: PagePolicy(failure: [
      FailureRule(
        when: .value("/status", .equals("INVALID_REQUEST")), .notReady, message: "/error_message",
        delay: 2),
      FailureRule(
        when: .value("/status", .equals("OVER_QUERY_LIMIT")), .throttled, message: "/error_message"),
      FailureRule(
        when: .value("/status", .isOneOf(["REQUEST_DENIED", "UNKNOWN_ERROR", "NOT_FOUND"])),
        message: "/error_message"),
    ]))

  static let switchingPresets = [
    PaginationPreset(
      "googlePlaces", "results, next_page_token that is not valid yet", .googlePlaces),
    PaginationPreset("monday", "items_page, then next_items_page", .monday()),
    PaginationPreset(
      "mws", "NextToken, another action", .mws(action: "ListOrders", items: "//Order")),
    PaginationPreset("zuora", "records, queryLocator, done; queryMore", .zuora),
  ]
}
