import QuireCore

/// Search protocols of libraries and of geodata.
extension Pagination {
  /// OpenSearch 1.1: `<feed><totalResults>57</totalResults><startIndex>1</startIndex><entry>…`.
  ///
  /// Advances by the entries that came, because `itemsPerPage` is a wish. A page without
  /// `totalResults` is the last one. The parameters' names are in the server's description document.
  /// - Parameters:
  ///   - items: Where the items are.
  ///   - start: The parameter for the first item's number.
  ///   - count: The parameter for the page size.
  ///   - first: The number of the first item; 0 with some.
  public static func openSearch(
    items: ItemSelector = .firstOf(["/feed/entry", "/rss/channel/item"]),
    start: String = "startIndex", count: String = "count", first: Int = 1
  ) -> Pagination {
    Pagination(
      next: .offset(first: first), send: .query(start),
      end: [
        .total("//totalResults"), .lastPage(when: .value("//totalResults", .isMissing)), .emptyPage,
      ],
      items: items, size: PageSize(.query(count)), total: "//totalResults", formats: [.xml])
  }

  /// arXiv's API: `<feed><totalResults>57</totalResults><entry>…</entry></feed>`.
  ///
  /// Page size: `max_results`, 10 by default and 2000 at most; one request in three seconds is what
  /// the walk keeps to. Now and then a page is empty although its `startIndex` is before
  /// `totalResults`: it is asked for again. Errors are entries with the title `Error`.
  public static let arxiv = Pagination(
    next: .offset, send: .query("start"),
    end: [
      .total("/feed/totalResults"), .lastPage(when: .value("/feed/totalResults", .isMissing)),
    ],
    items: "/feed/entry", size: PageSize(.query("max_results"), default: 10, max: 2000),
    total: "/feed/totalResults",
    policy: PagePolicy(
      failure: [
        FailureRule(
          when: .value("/feed/entry[title='Error']"), message: "/feed/entry[title='Error']/summary"),
        FailureRule(when: .value("/feed/totalResults", .equals(0)), .empty),
        FailureRule(
          when: .value("/feed[not(entry)]/startIndex", .isLess(than: "/feed/totalResults")),
          .notReady, delay: 3),
        FailureRule(
          when: .value("/feed[not(entry)][not(startIndex)]/totalResults"), .notReady, delay: 3),
      ], pacing: Pacing(interval: 3)), formats: [.xml])

  /// SRU 1.1 to 2.0: `<searchRetrieveResponse><numberOfRecords>57</numberOfRecords><records><record>…
  /// </records><nextRecordPosition>11</nextRecordPosition></searchRetrieveResponse>`.
  ///
  /// For GET, or for POST of a form. Page size: `maximumRecords`, often 100 at most. Some servers never send the next position, and
  /// some send one past the end: the number of records decides. Diagnostics fail the page, but for
  /// the one that says that the list has ended.
  public static let sru = Pagination(
    next: .firstOf([
      Route(
        .body("/searchRetrieveResponse/nextRecordPosition"), send: .parameter("startRecord")),
      Route(.offset(first: 1), send: .parameter("startRecord")),
    ]),
    request: RequestRule(isQuery: true),
    end: [
      .total("/searchRetrieveResponse/numberOfRecords"), .emptyPage, .notAdvancing,
      .status([200], matching: .value(diagnostic("uri"), .equals(outOfRange))),
    ],
    items: .optional("/searchRetrieveResponse/records/record"),
    size: PageSize(.parameter("maximumRecords")), total: "/searchRetrieveResponse/numberOfRecords",
    policy: PagePolicy(failure: [
      FailureRule(
        when: .value(diagnostic("uri"), .notEquals(outOfRange)), message: diagnostic("message")),
      FailureRule(
        when: .value("/searchRetrieveResponse/numberOfRecords", .isMissing, statuses: [200]),
        message: diagnostic("message")),
    ]), formats: [.xml])

  /// OGC catalogues, CSW 2.0.2 and 3.0: `<GetRecordsResponse><SearchResults nextRecord="11"
  /// numberOfRecordsMatched="57"><Record>…`.
  ///
  /// For GET, or for POST of a form or of XML, its `GetRecords` perhaps in an envelope: the position
  /// goes into the query, the form, or the attribute `startPosition`. Page size: `maxRecords`, 10 by
  /// default. Ask with `resultType=results`. The next record
  /// 0 is the end; without one, the walk counts for itself until all that matched have come. Some
  /// servers start again from 1 past the end, which ends it too.
  public static let csw = Pagination(
    next: .firstOf([
      Route(
        .body("/GetRecordsResponse/SearchResults/@nextRecord"), send: getRecords("startPosition")),
      Route(.offset(first: 1), send: getRecords("startPosition")),
    ]),
    request: RequestRule(isQuery: true),
    end: [
      .lastPage(when: .value("/GetRecordsResponse/SearchResults/@nextRecord", .equals("0"))),
      .total("/GetRecordsResponse/SearchResults/@numberOfRecordsMatched"), .emptyPage,
      .notAdvancing,
    ],
    items: "/GetRecordsResponse/SearchResults/*",
    size: PageSize(getRecords("maxRecords"), default: 10),
    total: "/GetRecordsResponse/SearchResults/@numberOfRecordsMatched",
    policy: PagePolicy(failure: [owsFailure]), formats: [.xml])

  /// A parameter of GetRecords: an attribute in XML.
  private static func getRecords(_ name: String) -> Placement {
    .firstOf([
      .xmlBody(PagePath(stringLiteral: "//GetRecords/@\(name)")), .form(name), .query(name),
    ])
  }

  /// OGC features, WFS 2.0: `<FeatureCollection numberReturned="10" next="…"><member>…`, or GeoJSON
  /// with `features` and `links`.
  ///
  /// Page size: `count`; servers lower it. Starts with `startIndex=0`, without which some send no
  /// links. Where the first page has no link, the walk counts until a page is empty. Only the first
  /// page's total counts: it may be `unknown`, and on some last pages it is the page's own.
  public static let wfs = Pagination(
    next: .firstOf([
      Route(.body("/links[rel=next]/href | /FeatureCollection/@next"), send: .url),
      Route(.offset, send: .query("startIndex")),
    ]),
    request: RequestRule(always: RequestConstants(query: ["startIndex": "0"])), end: [.emptyPage],
    items: "/features | /FeatureCollection/member", size: PageSize(.query("count")),
    total: TotalSource("/numberMatched | /FeatureCollection/@numberMatched", scope: .firstPage),
    policy: PagePolicy(failure: [
      FailureRule(
        when: .value(
          "/ExceptionReport/Exception/@exceptionCode", .equals("ResponseCacheExpired")),
        .expired, message: "/ExceptionReport/Exception/ExceptionText"), owsFailure,
    ]))

  /// "First record position out of range" (SRU diagnostics, number 61).
  private static let outOfRange = JSONValue.string("info:srw/diagnostic/1/61")

  private static func diagnostic(_ part: String) -> ValueSource {
    ValueSource(stringLiteral: "/searchRetrieveResponse/diagnostics/diagnostic/" + part)
  }

  /// OWS Common's exceptions, inside a 200 or not.
  private static let owsFailure = FailureRule(
    when: .value("/ExceptionReport"), message: "/ExceptionReport/Exception/ExceptionText")

  static let cataloguePresets = [
    PaginationPreset("arxiv", "feed/entry, start from 0, totalResults", .arxiv),
    PaginationPreset("csw", "SearchResults/*, nextRecord", .csw),
    PaginationPreset("openSearch", "feed/entry, start from 1, totalResults", .openSearch()),
    PaginationPreset("sru", "records/record, nextRecordPosition", .sru),
    PaginationPreset("wfs", "FeatureCollection/member or features, next", .wfs),
  ]
}
