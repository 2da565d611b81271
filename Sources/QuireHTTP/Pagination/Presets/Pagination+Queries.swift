import QuireCore

/// Databases and query services that hold something for a walk.
extension Pagination {
  /// Elasticsearch and OpenSearch with a point in time: `{"pit_id": "…", "hits": {"hits": [{"sort":
  /// […]}]}}`.
  ///
  /// For POST to `/_search`, with a `sort` in the body; page size: `size`, 10 by default and 10,000
  /// at most. The point in time is opened before the first page and closed after the last, so that
  /// the listing does not change meanwhile; its name may change with every page. With
  /// `policy.expiry = .reopen` a walk whose point in time was lost goes on behind its last item.
  /// - Parameters:
  ///   - index: The index to search, as in `/idx/_pit`.
  ///   - keepAlive: How long the server holds the point in time between two pages.
  public static func elastic(index: String, keepAlive: String = "1m") -> Pagination {
    Pagination(
      next: .lastItem("/sort"), send: .jsonBody("/search_after"),
      request: RequestRule(
        carry: [
          "pit": CarriedValue(from: .firstOf(["/pit_id", "/id"]), send: .jsonBody("/pit/id"))
        ], isQuery: true),
      end: [.emptyPage, .shortPage], items: "/hits/hits",
      size: PageSize(.jsonBody("/size"), default: 10, max: 10_000),
      total: TotalSource("/hits/total/value", .lowerBound),
      policy: PagePolicy(
        failure: [lostSearchContext],
        open: SideRequest("POST", url: "\(index)/_pit?keep_alive=\(keepAlive)"),
        close: SideRequest("DELETE", url: "_pit", send: ["pit": .jsonBody("/id")])))
  }

  /// Elasticsearch's and OpenSearch's scroll: `{"_scroll_id": "…", "hits": {"hits": […]}}`.
  ///
  /// For POST to `/idx/_search?scroll=1m`; page size: `size` in the first body, 10,000 at most. All
  /// later pages come from `/_search/scroll`. A page that was lost on the way cannot be asked for
  /// again, so nothing is retried that the server may have seen.
  /// - Parameter keepAlive: How long the server holds the scroll between two pages.
  public static func elasticScroll(keepAlive: String = "1m") -> Pagination {
    Pagination(
      next: .body("/_scroll_id"), send: .jsonBody("/scroll_id"),
      request: RequestRule(
        keep: .none,
        then: RequestChange(
          url: "/_search/scroll",
          set: RequestConstants(body: ["/scroll": .string(keepAlive)]))),
      end: [.emptyPage], items: "/hits/hits",
      size: PageSize(.jsonBody("/size"), default: 10, max: 10_000),
      total: TotalSource("/hits/total/value", .lowerBound),
      policy: PagePolicy(
        failure: [lostSearchContext], handle: true,
        close: SideRequest(
          "DELETE", url: "/_search/scroll", send: ["cursor": .jsonBody("/scroll_id")])))
  }

  private static let lostSearchContext = FailureRule(
    when: .value("/error/root_cause/0/type", .equals("search_context_missing_exception")),
    .expired, message: "/error/root_cause/0/reason")

  /// CouchDB's `_all_docs` and views: `{"total_rows": 57, "rows": [{"id": "…", "key": …}]}`.
  ///
  /// Page size: `limit`, one more than asked for: the last row is where the next page starts, and is
  /// delivered there. Keys are JSON in the query.
  public static let couchView = Pagination(
    next: .all([
      "startkey": .jsonText(.lastItem("/key")), "startkey_docid": .lastItem("/id"),
    ]),
    send: .queryMerge, end: [.shortPage], items: "/rows", size: PageSize(.query("limit")),
    total: "/total_rows", policy: PagePolicy(overlap: 1))

  /// ArcGIS layers: `{"features": […], "exceededTransferLimit": true}`.
  ///
  /// Page size: `resultRecordCount`, 1000 or 2000 at most, as the layer says. Errors come with 200. A
  /// layer that cannot page repeats its first page, which ends the walk.
  public static let arcgis = Pagination(
    next: .offset, send: .query("resultOffset"),
    end: [
      .flag(
        .firstOf(["/exceededTransferLimit", "/properties/exceededTransferLimit"]), ifAbsent: .end),
      .noNewItems(),
    ],
    items: "/features", size: PageSize(.query("resultRecordCount")),
    policy: PagePolicy(failure: [FailureRule(when: .value("/error"), message: "/error/message")]))

  /// Trino and Presto: `{"columns": […], "data": [[…]], "nextUri": "https://…"}`.
  ///
  /// For POST of the SQL to `/v1/statement`, its pages by GET. Pages without `data` are usual. Leaving
  /// early cancels the query. Rows are arrays; `columns` is a field of the page.
  public static let trino = Pagination(
    next: .body("/nextUri"), request: RequestRule(method: .get), items: .optional("/data"),
    policy: PagePolicy(
      failure: [FailureRule(when: .value("/error"), message: "/error/message")],
      close: SideRequest("DELETE", send: ["cursor": .url])))

  /// Snowflake's SQL API: `{"resultSetMetaData": {"numRows": 57, "partitionInfo": […]}, "data":
  /// [[…]]}`.
  ///
  /// For GET of `/api/v2/statements/{handle}`. Only the first partition says how many there are. 202
  /// means that the statement is still running.
  public static let snowflake = Pagination(
    next: .pageNumber(first: 0), send: .query("partition"), end: [.total(partitions)],
    items: "/data", total: partitions,
    policy: PagePolicy(failure: [FailureRule(when: .status(202), .notReady, delay: 1)]))

  private static let partitions = TotalSource(
    .count("/resultSetMetaData/partitionInfo"), .pages, scope: .firstPage)

  static let queryPresets = [
    PaginationPreset("arcgis", "features, exceededTransferLimit", .arcgis),
    PaginationPreset("couchView", "rows; startkey = the row behind the page", .couchView),
    PaginationPreset(
      "elastic", "hits.hits, search_after in a point in time", .elastic(index: "idx")),
    PaginationPreset("elasticScroll", "hits.hits, _scroll_id", .elasticScroll()),
    PaginationPreset("snowflake", "data, partition by number", .snowflake),
    PaginationPreset("trino", "data, nextUri", .trino),
  ]
}
