import QuireCore

/// Services that answer in JSON or XML, as they are asked: one description reads either.
extension Pagination {
  /// FHIR bundles: `{"resourceType": "Bundle", "total": 57, "link": [{"relation": "next", "url":
  /// "…"}], "entry": […]}`, or the same as `<Bundle>` with values in attributes.
  ///
  /// Page size: `_count`, a wish. Links are opaque, expire (410), and often name another base: then
  /// add `.links(.allow([…]))`. They are followed by GET, after a search by POST too. A bundle
  /// without entries has no list at all.
  public static let fhir = Pagination(
    next: .body("/link[relation=next]/url | /Bundle/link[relation/@value='next']/url/@value"),
    request: RequestRule(method: .get, isQuery: true),
    items: .optional("/entry | /Bundle/entry"), size: PageSize(.parameter("_count")),
    total: "/total | /Bundle/total/@value",
    policy: PagePolicy(
      failure: [
        FailureRule(
          when: .status(410), .expired,
          message: "/issue/0/diagnostics | /OperationOutcome/issue/diagnostics/@value"),
        FailureRule(
          when: .value("/issue | /OperationOutcome"),
          message: "/issue/0/diagnostics | /OperationOutcome/issue/diagnostics/@value"),
      ], marks: ["/resourceType | /Bundle"]))

  /// Flickr's lists of photos: `{"photos": {"page": 1, "pages": 2, "total": "57", "photo": […]},
  /// "stat": "ok"}`, or `<rsp stat="ok"><photos page="1" pages="2"><photo …/>`.
  ///
  /// Page size: `per_page`, 100 by default and 500 at most. Always asks for JSON without a callback
  /// around it. A search gives no more than its first 4000 results, and then repeats a page, which
  /// ends the walk: narrow it by date.
  public static let flickr = Pagination(
    next: .pageNumber, send: .query("page"),
    request: RequestRule(always: RequestConstants(query: ["nojsoncallback": "1"])),
    end: [
      .pages("/photos/pages | /rsp/photos/@pages"), .emptyPage, .noNewItems(by: "/id | /@id"),
    ],
    items: "/photos/photo | /rsp/photos/photo",
    size: PageSize(.query("per_page"), default: 100, max: 500),
    total: "/photos/total | /rsp/photos/@total",
    policy: PagePolicy(failure: [
      FailureRule(
        when: .value("/stat | /rsp/@stat", .equals("fail")), message: "/message | /rsp/err/@msg")
    ]))

  /// OData 2 and 3: `{"d": {"results": […], "__next": "…", "__count": "57"}}`, or an Atom feed with
  /// `link rel="next"`, or `{"value": […], "odata.nextLink": "…"}`.
  ///
  /// No page size: the server chooses one, and `$top` limits the whole listing. Links may be
  /// relative to `xml:base`, or to `odata.metadata`.
  public static let odataV2 = Pagination(
    next: .firstOf([
      Route(.body("/d/__next | /feed/link[@rel='next']/@href"), send: .url),
      Route(.body("/odata.nextLink"), send: .url), Route(.body("/__next"), send: .url),
    ]),
    items: .firstOf(["/d/results | /feed/entry", "/d", "/value", "/results"]),
    total: TotalSource(.firstOf(["/d/__count | /feed/count", "/odata.count", "/__count"])),
    policy: PagePolicy(linkBase: "/odata.metadata"))

  /// Redmine: `{"issues": […], "total_count": 57, "offset": 0, "limit": 25}`, or `<issues
  /// total_count="57"><issue>…`.
  ///
  /// Page size: `limit`, 25 by default and 100 at most, lowered silently: the walk advances by what
  /// came.
  /// - Parameter items: Where the items are.
  public static func redmine(
    items: ItemSelector = "/issues | /issues/issue"
  ) -> Pagination {
    Pagination(
      next: .offset, send: .query("offset"),
      end: [.total("/total_count | /*/@total_count"), .emptyPage], items: items,
      size: PageSize(.query("limit"), default: 25, max: 100),
      total: "/total_count | /*/@total_count")
  }

  /// Solr's cursors: `{"response": {"numFound": 57, "docs": […]}, "nextCursorMark": "…"}`, or
  /// `<response><result numFound="57"><doc>…</result><str name="nextCursorMark">…`.
  ///
  /// For GET, or for POST of a form. Page size: `rows`, 10 by default. The sort must hold the unique key, and `start` must be 0.
  /// Starts with `cursorMark=*`; the same mark again is the end, so that the last page is empty.
  public static let solr = Pagination(
    next: .body("/nextCursorMark | /response/str[@name='nextCursorMark']"),
    send: .parameter("cursorMark"), request: RequestRule(first: "*", isQuery: true),
    end: [.sameCursor],
    items: "/response/docs | /response/result/doc", size: PageSize(.parameter("rows"), default: 10),
    total: "/response/numFound | /response/result/@numFound")

  /// Splunk's REST API: `{"entry": […], "paging": {"total": 57, "offset": 0}}`, or an Atom feed
  /// with `totalResults`.
  ///
  /// Page size: `count`, 30 by default; 0 means all. 204 means that a search has no results yet,
  /// and is asked again.
  public static let splunk = Pagination(
    next: .offset, send: .query("offset"),
    end: [.total("/paging/total | /feed/totalResults"), .emptyPage],
    items: "/entry | /feed/entry", size: PageSize(.query("count"), default: 30),
    total: "/paging/total | /feed/totalResults",
    policy: PagePolicy(failure: [FailureRule(when: .status(204), .notReady)]))

  /// The World Bank's indicators: `[{"page": 1, "pages": 2, "total": 57}, […]]`, or `<data page="1"
  /// pages="2" total="57"><data>…`.
  ///
  /// Page size: `per_page`, 50 by default and 32,500 at most. XML unless the URL has `format=json`.
  /// Errors come with 200.
  public static let worldBank = Pagination(
    next: .pageNumber, send: .query("page"), end: [.pages("/0/pages | /*/@pages"), .emptyPage],
    items: .optional("/1 | /*/*"), size: PageSize(.query("per_page"), default: 50, max: 32_500),
    total: "/0/total | /*/@total",
    policy: PagePolicy(failure: [
      FailureRule(
        when: .value("/0/message | /error/message"), message: "/0/message/0/value | /error/message")
    ]))

  /// MediaWiki's API: `{"continue": {"apcontinue": "…", "continue": "-||"}, "query": {"allpages":
  /// […]}}`, in JSON or XML.
  ///
  /// Every member of `continue` goes into the next query, and those that are missing are dropped. With
  /// a generator, one item may come in pieces over several pages, until `batchcomplete`.
  /// - Parameters:
  ///   - items: Where the items are, such as `/query/allpages | //allpages/p`.
  ///   - limit: The parameter for the page size, such as `aplimit`; 500 at most for most users.
  public static func mediaWiki(items: ItemSelector, limit: String) -> Pagination {
    Pagination(
      next: .body("/continue | //continue/@*"), send: .queryMerge, items: .optional(items),
      size: PageSize(.query(limit), default: 10, max: 500),
      policy: PagePolicy(
        failure: [
          FailureRule(
            when: .value("/error/code | //error/@code", .isOneOf(["maxlag", "ratelimited"])),
            .throttled, message: "/error/info | //error/@info"),
          FailureRule(
            when: .value("/error/code | //error/@code"), message: "/error/info | //error/@info"),
        ], marks: ["/batchcomplete | /api"]))
  }

  static let bothFormatsPresets = [
    PaginationPreset("fhir", "entry, link with relation next", .fhir),
    PaginationPreset("flickr", "photos.photo, page number, photos.pages", .flickr),
    PaginationPreset("odataV2", "d.results or feed/entry, __next or link rel=next", .odataV2),
    PaginationPreset("redmine", "issues, offset, total_count", .redmine()),
    PaginationPreset("solr", "response.docs, nextCursorMark", .solr),
    PaginationPreset("splunk", "entry, offset, paging.total or totalResults", .splunk),
    PaginationPreset("worldBank", "[meta, items], page number, pages", .worldBank),
    PaginationPreset(
      "mediaWiki", "continue, items at a path of yours",
      .mediaWiki(items: "/query/allpages | //allpages/p", limit: "aplimit")),
  ]
}
