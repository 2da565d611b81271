import QuireCore

/// Research and open data.
extension Pagination {
  /// NASA's Common Metadata Repository: `{"feed": {"entry": […]}}`, and `CMR-Search-After` beside
  /// it.
  ///
  /// Page size: `page_size`, 10 by default and 2000 at most. The last page with items has the header
  /// too, so that an empty one follows.
  public static let cmr = Pagination(
    next: .header("CMR-Search-After"), send: .header("CMR-Search-After"), end: [.sameCursor],
    items: "/feed/entry", size: PageSize(.query("page_size"), default: 10, max: 2000),
    total: TotalSource(.header("CMR-Hits")))

  /// Crossref: `{"message": {"items": […], "next-cursor": "…", "total-results": 57}}`.
  ///
  /// Page size: `rows`, 20 by default and 1000 at most. Starts with `cursor=*`; there is always a
  /// cursor, often the same one, and a short page is the end.
  public static let crossref = Pagination(
    next: .body("/message/next-cursor"), send: .query("cursor"), request: RequestRule(first: "*"),
    end: [.shortPage, .emptyPage], items: "/message/items",
    size: PageSize(.query("rows"), default: 20, max: 1000), total: "/message/total-results",
    policy: PagePolicy(handle: true))

  /// OpenAlex: `{"meta": {"count": 57, "next_cursor": "…"}, "results": […]}`.
  ///
  /// Page size: `per-page`, 25 by default and 200 at most. Starts with `cursor=*`.
  public static let openAlex = Pagination(
    next: .body("/meta/next_cursor"), send: .query("cursor"), request: RequestRule(first: "*"),
    end: [.emptyPage], items: "/results",
    size: PageSize(.query("per-page"), default: 25, max: 200), total: "/meta/count")

  /// Europe PMC: `{"hitCount": 57, "nextCursorMark": "…", "resultList": {"result": […]}}`.
  ///
  /// Page size: `pageSize`, 25 by default and 1000 at most. Starts with `cursorMark=*`; the same
  /// mark again is the end.
  public static let europePMC = Pagination(
    next: .body("/nextCursorMark | //nextCursorMark"), send: .query("cursorMark"),
    request: RequestRule(first: "*"), end: [.sameCursor, .shortPage],
    items: "/resultList/result | //resultList/result",
    size: PageSize(.query("pageSize"), default: 25, max: 1000), total: "/hitCount | //hitCount")

  /// GBIF: `{"offset": 0, "limit": 20, "endOfRecords": false, "count": 57, "results": […]}`.
  ///
  /// Page size: `limit`, 20 by default and 300 at most.
  public static let gbif = Pagination(
    next: .offset, send: .query("offset"), end: [.flag("/endOfRecords", continuesWhile: false)],
    items: "/results", size: PageSize(.query("limit"), default: 20, max: 300), total: "/count")

  /// bioRxiv and medRxiv: `{"messages": [{"total": "101"}], "collection": […]}`.
  ///
  /// The URL has `{cursor}` where the offset goes, as in `/details/biorxiv/2025-01-01/2025-01-02/
  /// {cursor}`. Pages have 100 items.
  public static let bioRxiv = Pagination(
    next: .offset, send: .path("{cursor}"), end: [.total("/messages/0/total"), .emptyPage],
    items: "/collection", total: "/messages/0/total")

  static let sciencePresets = [
    PaginationPreset("bioRxiv", "collection, offset in the path at {cursor}", .bioRxiv),
    PaginationPreset("cmr", "feed.entry, CMR-Search-After header", .cmr),
    PaginationPreset("crossref", "message.items, message.next-cursor", .crossref),
    PaginationPreset("europePMC", "resultList.result, nextCursorMark", .europePMC),
    PaginationPreset("gbif", "results, offset, endOfRecords", .gbif),
    PaginationPreset("openAlex", "results, meta.next_cursor", .openAlex),
  ]
}
