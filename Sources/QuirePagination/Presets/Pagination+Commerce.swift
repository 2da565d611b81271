import QuireCore

/// Shops and payments.
extension Pagination {
  /// Stripe: `{"object": "list", "data": […], "has_more": true}`.
  ///
  /// Page size: `limit`, 10 by default and 100 at most. The cursor is the last item's id. Searches
  /// have `{"next_page": "…"}` for one: `stripeSearch` by name.
  public static let stripe = Pagination(
    next: .lastItem("/id"), send: .query("starting_after"), end: [.flag("/has_more")],
    items: "/data", size: PageSize(.query("limit"), default: 10, max: 100),
    policy: PagePolicy(failure: [
      FailureRule(
        when: .value("/error/code", .equals("resource_missing"), statuses: [400]), .expired,
        message: "/error/message")
    ]),
    previous: PreviousRule(
      .firstItem("/id"), send: .query("ending_before"), end: [.flag("/has_more")]), formats: [.json]
  )

  /// Shopify's REST Admin API: `{"orders": […]}`, and a Link header beside it.
  ///
  /// Page size: `limit`, 50 by default and 250 at most. The cursor excludes every filter, so only
  /// `limit` and `fields` are repeated. The number of all items is another request, to `count.json`.
  /// - Parameter items: Where the items are, such as `/orders`.
  public static func shopify(items: ItemSelector) -> Pagination {
    Pagination(
      next: .queryItem("page_info", of: .linkHeader), send: .query("page_info"),
      request: RequestRule(keep: .only(["limit", "fields"])), items: items,
      size: PageSize(.query("limit"), default: 50, max: 250),
      previous: PreviousRule(
        .queryItem("page_info", of: .linkHeader(rel: "previous")), send: .query("page_info")),
      formats: [.json])
  }

  /// BigCommerce: `{"data": […], "meta": {"pagination": {"links": {"next": "?page=2&limit=50"}}}}`.
  ///
  /// Page size: `limit`, 50 by default and 250 at most. The link is a query, and leaves out our
  /// filters: it is merged into them.
  public static let bigCommerce = Pagination(
    next: .body("/meta/pagination/links/next"), send: .queryMerge, items: "/data",
    size: PageSize(.query("limit"), default: 50, max: 250), total: "/meta/pagination/total",
    formats: [.json])

  /// Magento: `{"items": […], "total_count": 57}`.
  ///
  /// Page size: `searchCriteria[pageSize]`. Past the end the last page is repeated for ever; the
  /// total ends the walk, or the first page that comes again.
  public static let magento = Pagination(
    next: .pageNumber, send: .query("searchCriteria[currentPage]"),
    end: [.total("/total_count"), .noNewItems()],
    items: "/items", size: PageSize(.query("searchCriteria[pageSize]")), total: "/total_count",
    formats: [.json])

  /// Walmart's orders: `{"list": {"meta": {"nextCursor": "?limit=1&soIndex=2&"}, "elements":
  /// {"order": […]}}}`.
  ///
  /// Page size: `limit`. The cursor is a query of its own, and expires in two minutes. Lists of items
  /// have a token that starts as `*`: `walmartItems` by name.
  public static let walmart = Pagination(
    next: .body("/list/meta/nextCursor"), send: .queryMerge,
    request: RequestRule(keep: .except(["nextCursor"])), items: "/list/elements/order",
    size: PageSize(.query("limit")), total: "/list/meta/totalCount", formats: [.json])

  /// Plaid's `/transactions/sync`: `{"added": […], "modified": […], "removed": […], "next_cursor":
  /// "…", "has_more": true}`.
  ///
  /// For POST; page size: `count`, 100 by default and 500 at most. A change while paging expires
  /// the cursor: start again from the one of the first page.
  public static let plaid = Pagination(
    next: .body("/next_cursor"), send: .jsonBody("/cursor"), request: RequestRule(isQuery: true),
    end: [.flag("/has_more")], items: .all(["/added", "/modified", "/removed"]),
    size: PageSize(.jsonBody("/count"), default: 100, max: 500),
    policy: PagePolicy(failure: [
      FailureRule(
        when: .value(
          "/error_code", .equals("TRANSACTIONS_SYNC_MUTATION_DURING_PAGINATION")),
        .expired, message: "/error_message")
    ]),
    resume: Route(.body("/next_cursor"), send: .jsonBody("/cursor")), formats: [.json])

  /// BigCommerce's API v2: a list.
  ///
  /// Page size: `limit`, 50 by default and 250 at most. Past the end the answer is 204.
  public static let bigCommerceV2 = Pagination(
    next: .pageNumber, send: .query("page"), end: [.status([204]), .emptyPage],
    size: PageSize(.query("limit"), default: 50, max: 250), formats: [.json])

  /// Square: `{"payments": […], "cursor": "…"}`.
  ///
  /// Page size: `limit`, 100 at most with most lists. An empty page leaves its list out. Searches
  /// are POST, and have both in their body.
  /// - Parameter items: Where the items are, such as `/payments`.
  public static func square(items: PagePath) -> Pagination {
    Pagination(
      next: .body("/cursor"), send: .member("/cursor", or: "cursor"),
      request: RequestRule(isQuery: true), items: .optional(.path(items)),
      size: PageSize(.member("/limit", or: "limit"), max: 100), formats: [.json])
  }

  /// PayPal: `{"plans": […], "total_items": 57, "links": [{"rel": "next", "href": "…"}]}`.
  ///
  /// Page size: `page_size`, 10 by default and 20 at most with most lists. The total is left out
  /// unless asked for, so `total_required=true` is always sent.
  /// - Parameter items: Where the items are, such as `/plans`.
  public static func payPal(items: ItemSelector) -> Pagination {
    Pagination(
      next: .body("/links[rel=next]/href"),
      request: RequestRule(always: RequestConstants(query: ["total_required": "true"])),
      items: items, size: PageSize(.query("page_size"), default: 10), total: "/total_items",
      formats: [.json])
  }

  /// Chargebee: `{"list": […], "next_offset": "[\"1612…\",\"230…\"]"}`.
  ///
  /// Page size: `limit`, 10 by default and 100 at most. The offset is a list inside a text.
  public static let chargebee = Pagination(
    next: .body("/next_offset"), send: .query("offset"), items: "/list",
    size: PageSize(.query("limit"), default: 10, max: 100), formats: [.json])

  /// Amazon's Selling Partner API: `{"payload": {"Orders": […], "NextToken": "…"}}`, or
  /// `{"payload": {…}, "pagination": {"nextToken": "…"}}`.
  ///
  /// Page size: `MaxResultsPerPage`, 100 at most with most lists. `NextToken` excludes everything but
  /// `MarketplaceIds`; `nextToken` (FBA Inventory), which lives for half a minute, needs the
  /// marketplaces, the granularity and `startDateTime` beside it.
  /// - Parameter items: Where the items are, such as `/payload/Orders`.
  public static func amazonSP(items: ItemSelector) -> Pagination {
    Pagination(
      next: .firstOf([
        Route(.body("/payload/NextToken"), send: .query("NextToken")),
        Route(.body("/pagination/nextToken"), send: .query("nextToken")),
      ]),
      request: RequestRule(
        keep: .only([
          "MarketplaceIds", "marketplaceIds", "granularityType", "granularityId", "details",
          "startDateTime",
        ])), items: items,
      size: PageSize(.query("MaxResultsPerPage"), max: 100), formats: [.json])
  }

  /// eBay's REST APIs: `{"itemSummaries": […], "next": "https://…", "total": 57}`.
  ///
  /// Page size: `limit`, 50 by default and 200 at most with most lists; beyond 10,000 items the
  /// answer is an error. An empty page leaves its list out.
  /// - Parameter items: Where the items are, such as `/itemSummaries`.
  public static func eBay(items: PagePath) -> Pagination {
    Pagination(
      next: .body("/next"), items: .optional(.path(items)), size: PageSize(.query("limit")),
      total: "/total", formats: [.json])
  }

  /// Coinbase Exchange: a list, newest first, and `CB-AFTER` beside it.
  ///
  /// Page size: `limit`, 1000 by default and at most. `after` leads to older items, `before` to newer ones.
  public static let coinbase = Pagination(
    next: .header("CB-AFTER"), send: .query("after"), end: [.emptyPage],
    size: PageSize(.query("limit"), default: 1000, max: 1000),
    previous: PreviousRule(.header("CB-BEFORE"), send: .query("before"), end: [.emptyPage]),
    formats: [.json])

  /// Recurly's API v2: XML such as `<accounts type="array"><account>…</account></accounts>`, and a
  /// Link header beside it.
  ///
  /// Page size: `per_page`, 50 by default and 200 at most.
  public static let recurlyV2 = Pagination(
    next: .linkHeader, items: "/*/*", size: PageSize(.query("per_page"), default: 50, max: 200),
    total: TotalSource(.header("X-Records")), formats: [.xml])

  /// eBay's Trading API: `<GetSellerListResponse><HasMoreItems>true</HasMoreItems>
  /// <PaginationResult><TotalNumberOfEntries>57</TotalNumberOfEntries>…`.
  ///
  /// For POST, its body with `<Pagination><EntriesPerPage>100</EntriesPerPage>
  /// <PageNumber>1</PageNumber></Pagination>`. Page size: `EntriesPerPage`, 200 at most. The flag
  /// and the totals may disagree: the flag decides.
  /// - Parameter items: Where the items are, such as `/GetSellerListResponse/ItemArray/Item`.
  public static func ebayTrading(items: ItemSelector) -> Pagination {
    Pagination(
      next: .pageNumber, send: .xmlBody("//Pagination/PageNumber"),
      request: RequestRule(isQuery: true), end: [.flag("//HasMoreItems", ifAbsent: .end)],
      items: items, size: PageSize(.xmlBody("//Pagination/EntriesPerPage"), max: 200),
      total: "//PaginationResult/TotalNumberOfEntries",
      policy: PagePolicy(failure: [
        FailureRule(when: .value("//Ack", .equals("Failure")), message: "//Errors/LongMessage")
      ]), formats: [.xml])
  }

  static let commercePresets = [
    PaginationPreset("bigCommerce", "data, meta.pagination.links.next", .bigCommerce),
    PaginationPreset("magento", "items, total_count, page number", .magento),
    PaginationPreset("plaid", "added, modified, removed; next_cursor, has_more", .plaid),
    PaginationPreset("shopify", "items elsewhere, page_info in a Link", .shopify(items: "/orders")),
    PaginationPreset(
      "stripe", "data, has_more; starting_after = last id", .stripe,
      variants: [
        "stripeSearch": Pagination(
          next: .body("/next_page"), send: .query("page"), end: [.flag("/has_more")],
          items: "/data", size: PageSize(.query("limit"), default: 10, max: 100), formats: [.json])
      ]),
    PaginationPreset(
      "walmart", "list.elements.order, list.meta.nextCursor", .walmart,
      variants: [
        "walmartItems": Pagination(
          next: .body("/nextCursor"), send: .query("nextCursor"),
          request: RequestRule(first: "*"), items: .optional("/ItemResponse"),
          size: PageSize(.query("limit")), total: "/totalItems", formats: [.json])
      ]),
    PaginationPreset("bigCommerceV2", "a list, page number until 204", .bigCommerceV2),
    PaginationPreset("square", "items elsewhere, cursor", .square(items: "/payments")),
    PaginationPreset("payPal", "items elsewhere, links[rel=next].href", .payPal(items: "/plans")),
    PaginationPreset("chargebee", "list, next_offset", .chargebee),
    PaginationPreset(
      "amazonSP", "items elsewhere, payload.NextToken or pagination.nextToken",
      .amazonSP(items: "/payload/Orders")),
    PaginationPreset("eBay", "items elsewhere, next, total", .eBay(items: "/itemSummaries")),
    PaginationPreset("coinbase", "a list, CB-AFTER header", .coinbase),
    PaginationPreset("recurlyV2", "XML, Link header, X-Records", .recurlyV2),
    PaginationPreset(
      "ebayTrading", "items elsewhere, PageNumber in a POST of XML, HasMoreItems",
      .ebayTrading(items: "/GetSellerListResponse/ItemArray/Item")),
  ]
}
