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
    policy: PagePolicy(handle: true), formats: [.json])

  /// OpenAlex: `{"meta": {"count": 57, "next_cursor": "…"}, "results": […]}`.
  ///
  /// Page size: `per-page`, 25 by default and 200 at most. Starts with `cursor=*`.
  public static let openAlex = Pagination(
    next: .body("/meta/next_cursor"), send: .query("cursor"), request: RequestRule(first: "*"),
    end: [.emptyPage], items: "/results",
    size: PageSize(.query("per-page"), default: 25, max: 200), total: "/meta/count",
    formats: [.json])

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
    items: "/results", size: PageSize(.query("limit"), default: 20, max: 300), total: "/count",
    formats: [.json])

  /// bioRxiv and medRxiv: `{"messages": [{"total": "101"}], "collection": […]}`.
  ///
  /// The URL has `{cursor}` where the offset goes, as in `/details/biorxiv/2025-01-01/2025-01-02/
  /// {cursor}`. Pages have 100 items.
  public static let bioRxiv = Pagination(
    next: .offset, send: .path("{cursor}"), end: [.total("/messages/0/total"), .emptyPage],
    items: "/collection", total: "/messages/0/total", formats: [.json])

  /// openFDA: `{"meta": {"results": {"total": 57}}, "results": […]}`, and a Link header beside it.
  ///
  /// Page size: `limit`, 1 by default and 1000 at most. Nothing found is 404, and an empty listing.
  public static let openFDA = Pagination(
    next: .linkHeader, items: "/results", size: PageSize(.query("limit"), default: 1, max: 1000),
    total: "/meta/results/total",
    policy: PagePolicy(failure: [
      FailureRule(when: .value("/error/code", .equals("NOT_FOUND"), statuses: [404]), .empty)
    ]), formats: [.json])

  /// ClinicalTrials.gov v2: `{"totalCount": 57, "studies": […], "nextPageToken": "…"}`.
  ///
  /// Page size: `pageSize`, 10 by default and 1000 at most. Only the first page has the total, and
  /// only when asked for, so `countTotal=true` is always sent.
  public static let clinicalTrials = Pagination(
    next: .body("/nextPageToken"), send: .query("pageToken"),
    request: RequestRule(always: RequestConstants(query: ["countTotal": "true"])),
    items: "/studies", size: PageSize(.query("pageSize"), default: 10, max: 1000),
    total: TotalSource("/totalCount", scope: .firstPage), formats: [.json])

  /// Semantic Scholar: `{"total": 57, "token": "…", "data": […]}` in bulk, else `{"total": 57,
  /// "offset": 0, "next": 100, "data": […]}`.
  ///
  /// Page size: `limit`, 100 at most; bulk pages have 1000 items. By offset, a ranked search
  /// gives its first 1000 papers, and other lists 10,000 items. The total of a bulk search is an estimate.
  public static let semanticScholar = Pagination(
    next: .firstOf([
      Route(.body("/token"), send: .query("token")), Route(.body("/next"), send: .query("offset")),
    ]),
    items: "/data", size: PageSize(.query("limit")), total: TotalSource("/total", .estimate),
    formats: [.json])

  /// The Internet Archive's scrape API: `{"items": […], "count": 100, "cursor": "…", "total": 57}`.
  ///
  /// Page size: `count`, 100 at least and 10,000 at most.
  public static let internetArchive = Pagination(
    next: .body("/cursor"), send: .query("cursor"), items: "/items",
    size: PageSize(.query("count"), max: 10_000), total: "/total", formats: [.json])

  /// ChEMBL: `{"molecules": […], "page_meta": {"next": "/chembl/api/…", "total_count": 57}}`, or
  /// the same in XML.
  ///
  /// Page size: `limit`, 20 by default and 1000 at most. The link is relative.
  /// - Parameter items: Where the items are, such as `/molecules`, or `/response/molecules/molecule` in XML.
  public static func chembl(items: ItemSelector) -> Pagination {
    Pagination(
      next: .body("/page_meta/next | //page_meta/next"), items: items,
      size: PageSize(.query("limit"), default: 20, max: 1000),
      total: "/page_meta/total_count | //page_meta/total_count")
  }

  /// NCBI's E-utilities, ESearch: `{"esearchresult": {"count": "57", "idlist": […], "webenv": "…"}}`,
  /// or `<eSearchResult><Count>57</Count><IdList><Id>…`.
  ///
  /// For GET, or for POST of a form. Page size: `retmax`, 20 by default and 10,000 at most. With `usehistory=y` the session of the
  /// first page goes along with the others. PubMed gives no more than 9,998 records this way, and three
  /// answers in a second. Errors come with 200.
  public static let entrez = Pagination(
    next: .offset, send: .parameter("retstart"),
    request: RequestRule(
      carry: [
        "WebEnv": CarriedValue(
          from: "/esearchresult/webenv | /eSearchResult/WebEnv", send: .parameter("WebEnv")),
        "query_key": CarriedValue(
          from: "/esearchresult/querykey | /eSearchResult/QueryKey", send: .parameter("query_key")),
      ], isQuery: true),
    end: [.total("/esearchresult/count | /eSearchResult/Count"), .emptyPage],
    items: "/esearchresult/idlist | /eSearchResult/IdList/Id",
    size: PageSize(.parameter("retmax"), default: 20, max: 10_000),
    total: "/esearchresult/count | /eSearchResult/Count",
    policy: PagePolicy(
      failure: [
        FailureRule(
          when: .value("/esearchresult/ERROR | /eSearchResult/ERROR"),
          message: "/esearchresult/ERROR | /eSearchResult/ERROR"),
        FailureRule(
          when: .value("/error", .contains("rate limit")), .throttled, message: "/error"),
      ], pacing: Pacing(interval: 0.34)))

  /// The SEC's EDGAR, a company's submissions: `{"filings": {"recent": {"form": […], "filingDate":
  /// […]}, "files": [{"name": "CIK…-submissions-001.json"}]}}`, then files `{"form": […], …}`.
  ///
  /// No page size. The items are the rows of those columns, newest first. Ten requests in a second
  /// are allowed, by a client that names its owner in `User-Agent`.
  public static let edgar = Pagination(
    next: .index("/filings/files", link: "/name"),
    items: .columns(.firstOf(["/filings/recent", ""])),
    policy: PagePolicy(pacing: Pacing(interval: 0.1)), formats: [.json])

  static let sciencePresets = [
    PaginationPreset("bioRxiv", "collection, offset in the path at {cursor}", .bioRxiv),
    PaginationPreset("cmr", "feed.entry, CMR-Search-After header", .cmr),
    PaginationPreset("crossref", "message.items, message.next-cursor", .crossref),
    PaginationPreset("europePMC", "resultList.result, nextCursorMark", .europePMC),
    PaginationPreset("gbif", "results, offset, endOfRecords", .gbif),
    PaginationPreset("openAlex", "results, meta.next_cursor", .openAlex),
    PaginationPreset("openFDA", "results, Link header, meta.results.total", .openFDA),
    PaginationPreset("clinicalTrials", "studies, nextPageToken", .clinicalTrials),
    PaginationPreset("semanticScholar", "data, token or next", .semanticScholar),
    PaginationPreset("internetArchive", "items, cursor, total", .internetArchive),
    PaginationPreset(
      "chembl", "items elsewhere, page_meta.next",
      .chembl(items: "/molecules | /response/molecules/molecule")),
    PaginationPreset("entrez", "esearchresult.idlist, retstart, count; WebEnv carried", .entrez),
    PaginationPreset("edgar", "filings.recent by columns, then filings.files", .edgar),
  ]
}
