import QuireCore

/// Shops and payments.
extension Pagination {
  /// Stripe: `{"object": "list", "data": […], "has_more": true}`.
  ///
  /// Page size: `limit`, 10 by default and 100 at most. The cursor is the last item's id.
  public static let stripe = Pagination(
    next: .lastItem("/id"), send: .query("starting_after"), end: [.flag("/has_more")],
    items: "/data", size: PageSize(.query("limit"), default: 10, max: 100),
    policy: PagePolicy(failure: [
      FailureRule(
        when: .value("/error/code", .equals("resource_missing"), statuses: [400]), .expired,
        message: "/error/message")
    ]))

  /// Shopify's REST Admin API: `{"orders": […]}`, and a Link header beside it.
  ///
  /// Page size: `limit`, 50 by default and 250 at most. The cursor excludes every filter, so only
  /// `limit` and `fields` are repeated.
  /// - Parameter items: Where the items are, such as `/orders`.
  public static func shopify(items: ItemSelector) -> Pagination {
    Pagination(
      next: .queryItem("page_info", of: .linkHeader), send: .query("page_info"),
      request: RequestRule(keep: .only(["limit", "fields"])), items: items,
      size: PageSize(.query("limit"), default: 50, max: 250))
  }

  /// BigCommerce: `{"data": […], "meta": {"pagination": {"links": {"next": "?page=2&limit=50"}}}}`.
  ///
  /// Page size: `limit`, 50 by default and 250 at most. The link is a query, and leaves out our
  /// filters: it is merged into them.
  public static let bigCommerce = Pagination(
    next: .body("/meta/pagination/links/next"), send: .queryMerge, items: "/data",
    size: PageSize(.query("limit"), default: 50, max: 250), total: "/meta/pagination/total")

  /// Magento: `{"items": […], "total_count": 57}`.
  ///
  /// Page size: `searchCriteria[pageSize]`. Past the end the last page is repeated for ever; the
  /// total ends the walk.
  public static let magento = Pagination(
    next: .pageNumber, send: .query("searchCriteria[currentPage]"), end: [.total("/total_count")],
    items: "/items", size: PageSize(.query("searchCriteria[pageSize]")), total: "/total_count")

  /// Walmart's orders: `{"list": {"meta": {"nextCursor": "?limit=1&soIndex=2&"}, "elements":
  /// {"order": […]}}}`.
  ///
  /// Page size: `limit`. The cursor is a query of its own, and expires in two minutes.
  public static let walmart = Pagination(
    next: .body("/list/meta/nextCursor"), send: .queryMerge,
    request: RequestRule(keep: .except(["nextCursor"])), items: "/list/elements/order",
    size: PageSize(.query("limit")), total: "/list/meta/totalCount")

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
    resume: Route(.body("/next_cursor"), send: .jsonBody("/cursor")))

  static let commercePresets = [
    PaginationPreset("bigCommerce", "data, meta.pagination.links.next", .bigCommerce),
    PaginationPreset("magento", "items, total_count, page number", .magento),
    PaginationPreset("plaid", "added, modified, removed; next_cursor, has_more", .plaid),
    PaginationPreset("shopify", "items elsewhere, page_info in a Link", .shopify(items: "/orders")),
    PaginationPreset("stripe", "data, has_more; starting_after = last id", .stripe),
    PaginationPreset("walmart", "list.elements.order, list.meta.nextCursor", .walmart),
  ]
}
