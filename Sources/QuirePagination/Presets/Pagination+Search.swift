import QuireCore

/// Search engines.
extension Pagination {
  /// Elasticsearch and OpenSearch by offset: `{"hits": {"total": {"value": 10000, "relation":
  /// "gte"}, "hits": […]}}`.
  ///
  /// For POST, or for GET by the parameters `from` and `size`; page size: `size`, 10 by default. The
  /// total is a lower bound and does not
  /// end the walk, a short page does. Beyond 10,000 hits the server refuses: use `search_after`.
  public static let elasticOffset = Pagination(
    next: .offset, send: .member("/from", or: "from"), request: RequestRule(isQuery: true),
    end: [.shortPage, .emptyPage], items: "/hits/hits",
    size: PageSize(.member("/size", or: "size"), default: 10, max: 10_000),
    total: TotalSource("/hits/total/value", .lowerBound),
    policy: PagePolicy(failure: [
      FailureRule(
        when: .value(
          "/error/root_cause/0/reason", .contains("esult window is too large"), statuses: [400]),
        .window, message: "/error/root_cause/0/reason")
    ]), formats: [.json])

  /// Solr by offset: `{"response": {"numFound": 57, "start": 0, "docs": […]}}`, or the same in XML.
  ///
  /// For GET, or for POST of a form. Fits Maven Central, NASA ADS and, with `{"num-found": 57,
  /// "result": […]}`, ORCID. Page size: `rows`, 10 by default. ORCID refuses to go beyond 10,000.
  public static let solrOffset = Pagination(
    next: .offset, send: .parameter("start"), request: RequestRule(isQuery: true),
    end: [
      .total(TotalSource(.firstOf(["/response/numFound | //result/@numFound", "/num-found"]))),
      .emptyPage,
    ],
    items: .firstOf(["/response/docs | //result/doc", "/result"]),
    size: PageSize(.parameter("rows"), default: 10),
    total: TotalSource(.firstOf(["/response/numFound | //result/@numFound", "/num-found"])))

  /// Algolia's search: `{"hits": […], "page": 0, "nbPages": 3, "nbHits": 57, "hitsPerPage": 20}`.
  ///
  /// For POST; page size: `hitsPerPage` in the body, 20 by default and 1000 at most. Counts from 0.
  /// Pages end at 1000 hits, whatever `nbHits` says, which is an estimate: use `algoliaBrowse` for
  /// all.
  public static let algolia = Pagination(
    next: .pageNumber(first: 0), send: .jsonBody("/page"), request: RequestRule(isQuery: true),
    end: [.pages("/nbPages"), .emptyPage], items: "/hits",
    size: PageSize(.jsonBody("/hitsPerPage"), default: 20, max: 1000),
    total: TotalSource("/nbHits", .estimate), formats: [.json])

  /// Algolia's browse: `{"hits": […], "cursor": "…"}`.
  ///
  /// For POST; page size: `hitsPerPage` in the body, 1000 by default and at most.
  public static let algoliaBrowse = Pagination(
    next: .body("/cursor"), send: .jsonBody("/cursor"), request: RequestRule(isQuery: true),
    items: "/hits", size: PageSize(.jsonBody("/hitsPerPage"), default: 1000, max: 1000),
    total: TotalSource("/nbHits", .estimate), formats: [.json])

  /// Typesense: `{"found": 57, "out_of": 1000, "page": 1, "hits": […]}`.
  ///
  /// Page size: `per_page`, 10 by default and 250 at most. `out_of` is the whole collection.
  public static let typesense = Pagination(
    next: .pageNumber, send: .query("page"), end: [.total("/found"), .emptyPage], items: "/hits",
    size: PageSize(.query("per_page"), default: 10, max: 250), total: "/found", formats: [.json])

  /// Meilisearch: `{"hits": […], "offset": 0, "limit": 20, "estimatedTotalHits": 57}`.
  ///
  /// For GET or POST. Page size: `limit`, 20 by default. The total is an estimate and does not end the walk, a short
  /// page does. No more than 1000 hits come unless the index allows them.
  public static let meilisearch = Pagination(
    next: .offset, send: .member("/offset", or: "offset"), request: RequestRule(isQuery: true),
    end: [.shortPage, .emptyPage], items: "/hits",
    size: PageSize(.member("/limit", or: "limit"), default: 20),
    total: TotalSource("/estimatedTotalHits", .estimate), formats: [.json])

  /// Elasticsearch by `search_after` in a point in time: `{"pit_id": "…", "hits": {"hits": [{"sort":
  /// […]}]}}`.
  ///
  /// For POST to `/_search`, its body with a `sort`. Page size: `size` in the body, 10 by default and
  /// 10,000 at most. The point in time is opened before the first page and closed after the last, or
  /// when the walk is left; its id may change with every page. Sort values go back as they came,
  /// every digit. With `policy.expiry = .reopen`, a walk whose point in time was lost goes on behind
  /// its last item.
  /// - Parameters:
  ///   - index: The index or indices to open.
  ///   - keepAlive: How long the server holds the point in time between two pages.
  public static func elastic(index: String, keepAlive: String = "1m") -> Pagination {
    Pagination(
      next: .lastItem("/sort"), send: .jsonBody("/search_after"),
      request: RequestRule(
        always: RequestConstants(body: ["/pit/keep_alive": .string(keepAlive)]),
        carry: [
          "pit": CarriedValue(from: .firstOf(["/pit_id", "/id"]), send: .jsonBody("/pit/id"))
        ],
        isQuery: true),
      end: [.shortPage, .emptyPage], items: "/hits/hits",
      size: PageSize(.jsonBody("/size"), default: 10, max: 10_000),
      total: TotalSource("/hits/total/value", .lowerBound),
      policy: PagePolicy(
        failure: [lostSearch],
        open: SideRequest("POST", url: "\(index)/_pit?keep_alive=\(keepAlive)"),
        close: SideRequest("DELETE", url: "_pit", send: ["pit": .jsonBody("/id")])),
      formats: [.json])
  }

  /// OpenSearch by `search_after` in a point in time: as `elastic`, at other addresses.
  ///
  /// - Parameters:
  ///   - index: The index or indices to open.
  ///   - keepAlive: How long the server holds the point in time between two pages.
  public static func openSearchPIT(index: String, keepAlive: String = "1m") -> Pagination {
    var changed = elastic(index: index, keepAlive: keepAlive)
    changed.policy.open = SideRequest(
      "POST", url: "\(index)/_search/point_in_time?keep_alive=\(keepAlive)")
    changed.policy.close = SideRequest(
      "DELETE", url: "_search/point_in_time", set: RequestConstants(body: ["/pit_id": [""]]),
      send: ["pit": .jsonBody("/pit_id/0")])
    return changed
  }

  /// Elasticsearch's and OpenSearch's scroll: `{"_scroll_id": "…", "hits": {"hits": […]}}`.
  ///
  /// For POST to `/index/_search?scroll=1m`. Page size: `size` in the body, 10 by default and 10,000
  /// at most. Goes on at `/_search/scroll`; the end is an empty page, and the scroll is closed when
  /// the walk is over. A page that was lost on the way cannot be asked for again, so nothing is
  /// retried that the server may have seen.
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
        failure: [lostSearch], handle: true,
        close: SideRequest(
          "DELETE", url: "/_search/scroll", send: ["cursor": .jsonBody("/scroll_id")])),
      formats: [.json])
  }

  /// A scroll or a point in time that was closed or forgotten.
  private static let lostSearch = FailureRule(
    when: .value(
      "/error/root_cause/0/type", .equals("search_context_missing_exception"), statuses: [404]),
    .expired, message: "/error/root_cause/0/reason")

  static let searchPresets = [
    PaginationPreset("elasticOffset", "hits.hits, from and size in a POST body", .elasticOffset),
    PaginationPreset(
      "solrOffset", "response.docs, start, response.numFound", .solrOffset,
      aliases: ["ads", "mavenCentral", "orcid"]),
    PaginationPreset("algolia", "hits, page from 0 in a POST body, nbPages", .algolia),
    PaginationPreset("algoliaBrowse", "hits, cursor in a POST body", .algoliaBrowse),
    PaginationPreset("typesense", "hits, page number, found", .typesense),
    PaginationPreset(
      "meilisearch", "hits, offset, estimatedTotalHits", .meilisearch,
      variants: [
        "meilisearchTasks": Pagination(
          next: .body("/next"), send: .query("from"), items: "/results",
          size: PageSize(.query("limit"), default: 20), total: "/total", formats: [.json])
      ]),
    PaginationPreset(
      "elastic", "hits.hits, the last item's sort, a point in time", .elastic(index: "index")),
    PaginationPreset("elasticScroll", "hits.hits, _scroll_id", .elasticScroll()),
    PaginationPreset(
      "openSearchPIT", "hits.hits, the last item's sort, OpenSearch's point in time",
      .openSearchPIT(index: "index")),
  ]
}
