import QuireCore

/// Databases, data portals and query services.
extension Pagination {
  /// CouchDB's changes, also of npm: `{"results": […], "last_seq": "…", "pending": 57}`.
  ///
  /// Page size: `limit`; without one everything comes at once. A change may come twice. The last
  /// page's `last_seq` is where the next walk begins.
  public static let couchChanges = Pagination(
    next: .body("/last_seq"), send: .query("since"),
    end: [.total(TotalSource("/pending", .remaining)), .emptyPage], items: "/results",
    size: PageSize(.query("limit")), total: TotalSource("/pending", .remaining),
    resume: Route(.body("/last_seq"), send: .query("since")), formats: [.json])

  /// CouchDB's and Cloudant's `_find`: `{"docs": […], "bookmark": "…"}`.
  ///
  /// For POST; page size: `limit` in the body, 25 by default. There is always a bookmark: a short
  /// page is the end.
  public static let couchFind = Pagination(
    next: .body("/bookmark"), send: .jsonBody("/bookmark"), request: RequestRule(isQuery: true),
    end: [.noNext(sentinels: ["nil"]), .shortPage, .emptyPage], items: "/docs",
    size: PageSize(.jsonBody("/limit"), default: 25), formats: [.json])

  /// Socrata (SODA 2): a list.
  ///
  /// Page size: `$limit`, 1000 by default and 50,000 at most. Pages are not stable without an order,
  /// so `$order=:id` is always sent. The number of all rows is another request, `$select=count(*)`.
  public static let socrata = Pagination(
    next: .offset, send: .query("$offset"),
    request: RequestRule(always: RequestConstants(query: ["$order": ":id"])),
    end: [.shortPage, .emptyPage],
    size: PageSize(.query("$limit"), default: 1000, max: 50_000), formats: [.json])

  /// CKAN's `package_search`: `{"success": true, "result": {"count": 57, "results": […]}}`.
  ///
  /// For GET or POST. Page size: `rows`, 10 by default and 1000 at most, lowered silently.
  public static let ckan = Pagination(
    next: .offset, send: .member("/start", or: "start"), request: RequestRule(isQuery: true),
    end: [.total("/result/count"), .emptyPage], items: "/result/results",
    size: PageSize(.member("/rows", or: "rows"), default: 10, max: 1000),
    total: "/result/count",
    policy: PagePolicy(failure: [
      FailureRule(when: .value("/success", .equals(false)), message: "/error/message")
    ]), formats: [.json])

  /// CKAN's `datastore_search`: `{"success": true, "result": {"total": 57, "records": […]}}`.
  ///
  /// For GET or POST. Page size: `limit`, 100 by default and 32,000 at most, lowered silently. Its next link is there
  /// even past the end and is not followed.
  public static let ckanDatastore = Pagination(
    next: .offset, send: .member("/offset", or: "offset"), request: RequestRule(isQuery: true),
    end: [.total("/result/total"), .emptyPage], items: "/result/records",
    size: PageSize(.member("/limit", or: "limit"), default: 100, max: 32_000),
    total: "/result/total",
    policy: PagePolicy(failure: [
      FailureRule(when: .value("/success", .equals(false)), message: "/error/message")
    ]), formats: [.json])

  /// BigQuery's `getQueryResults`: `{"jobComplete": true, "rows": […], "totalRows": "57",
  /// "pageToken": "…"}`.
  ///
  /// Page size: `maxResults`, and 10 MB at most. Until the job is complete, the same page is asked
  /// for again; an empty result has no `rows`.
  public static let bigQuery = Pagination(
    next: .body("/pageToken"), send: .query("pageToken"), items: .optional("/rows"),
    size: PageSize(.query("maxResults")), total: "/totalRows",
    policy: PagePolicy(failure: [
      FailureRule(when: .value("/jobComplete", .equals(false)), .notReady)
    ]), formats: [.json])

  /// Databricks' SQL statements: `{"status": {"state": "SUCCEEDED"}, "result": {"data_array": […],
  /// "next_chunk_internal_link": "/api/2.0/sql/statements/…"}}`, later chunks without `result`.
  ///
  /// Begins with the GET of a statement. Page size: up to the server. Until the statement is done,
  /// it is asked for again; links are relative and expire.
  public static let databricksSQL = Pagination(
    next: .firstOf([
      Route(.body("/result/next_chunk_internal_link"), send: .url),
      Route(.body("/next_chunk_internal_link"), send: .url),
    ]),
    items: .optional(.firstOf(["/result/data_array", "/data_array"])),
    total: TotalSource("/manifest/total_row_count", scope: .firstPage),
    policy: PagePolicy(
      failure: [
        FailureRule(when: .value("/status/state", .isOneOf(["PENDING", "RUNNING"])), .notReady),
        FailureRule(
          when: .value("/status/state", .isOneOf(["FAILED", "CANCELED", "CLOSED"])),
          message: "/status/error/message"),
      ], marks: ["/manifest", "/statement_id"]), formats: [.json])

  /// SPARQL: `{"results": {"bindings": […]}}`, or `<sparql><results><result>…`.
  ///
  /// The query has `{{offset}}` and `{{limit}}` where they go: `… ORDER BY ?s LIMIT {{limit}} OFFSET
  /// {{offset}}`, percent-encoded or not. Pages are not stable without ORDER BY. A server that
  /// lowers the limit makes a page short and ends the walk: DBpedia gives 10,000 at most.
  public static let sparql = Pagination(
    next: .offset, send: .placeholder("{{offset}}"), end: [.shortPage, .emptyPage],
    items: "/results/bindings | /sparql/results/result",
    size: PageSize(.placeholder("{{limit}}"), max: 10_000))

  /// CouchDB's views and `_all_docs`: `{"total_rows": 57, "offset": 0, "rows": [{"id": "…", "key":
  /// …}]}`.
  ///
  /// Page size: `limit`. One row more than that is asked for: where the next page starts, because a
  /// start key is part of its page. The key goes back as JSON.
  public static let couchView = Pagination(
    next: .all(["startkey": .jsonText(.lastItem("/key")), "startkey_docid": .lastItem("/id")]),
    send: .queryMerge, end: [.shortPage, .emptyPage], items: "/rows",
    size: PageSize(.query("limit"), default: 100), total: "/total_rows",
    policy: PagePolicy(overlap: 1), formats: [.json])

  /// ArcGIS queries: `{"features": […], "exceededTransferLimit": true}`; in GeoJSON, the flag may be
  /// in `properties`.
  ///
  /// For GET, or for POST of a form. Page size: `resultRecordCount`; layers allow 1000 to 2000. A flag that is missing is the end. A
  /// layer that cannot page repeats its first page for ever, which ends the walk. Errors come with
  /// 200. The number of all features is another request, `returnCountOnly=true`.
  public static let arcgis = Pagination(
    next: .offset, send: .parameter("resultOffset"),
    request: RequestRule(always: RequestConstants(query: ["f": "json"]), isQuery: true),
    end: [
      .flag(
        .firstOf(["/exceededTransferLimit", "/properties/exceededTransferLimit"]), ifAbsent: .end),
      .noNewItems(),
    ],
    items: "/features", size: PageSize(.parameter("resultRecordCount")),
    policy: PagePolicy(failure: [
      FailureRule(when: .value("/error"), message: "/error/message")
    ]), formats: [.json])

  /// Trino and Presto: `{"id": "…", "nextUri": "https://…", "columns": […], "data": […]}`.
  ///
  /// For POST of SQL to `/v1/statement`; the rest are GET. No page size. Pages without data come
  /// while the query runs. A walk that is left early cancels it.
  public static let trino = Pagination(
    next: .body("/nextUri"), request: RequestRule(method: .get), items: .optional("/data"),
    policy: PagePolicy(
      failure: [FailureRule(when: .value("/error"), message: "/error/message")],
      close: SideRequest("DELETE", send: ["cursor": .url]), marks: ["/stats"]), formats: [.json])

  /// Snowflake's SQL API: `{"resultSetMetaData": {"numRows": 57, "partitionInfo": [{…}, …]}, "data":
  /// […]}`, later partitions `{"data": […]}`.
  ///
  /// Begins with the GET of a statement, `/api/v2/statements/{handle}`. The first answer lists the
  /// partitions; their size is Snowflake's. While the statement runs the answer is 202, and it is
  /// asked for again.
  public static let snowflake = Pagination(
    next: .pageNumber(first: 0), send: .query("partition"),
    end: [
      .total(
        TotalSource(.count("/resultSetMetaData/partitionInfo"), .pages, scope: .firstPage))
    ],
    items: "/data",
    total: TotalSource(.count("/resultSetMetaData/partitionInfo"), .pages, scope: .firstPage),
    policy: PagePolicy(failure: [FailureRule(when: .status(202), .notReady, delay: 1)]),
    formats: [.json])

  /// Firebase's Realtime Database: `{"-Na1": {…}, "-Na2": {…}}`, each member an item `{"name": "-Na1",
  /// "value": {…}}`.
  ///
  /// Page size: `limitToFirst`. One member more than that is asked for: where the next page starts,
  /// because a start key is part of its page. Sorts by key, which is how the server writes its
  /// members, and null where there is none. Not exact where all keys are small numbers: the server
  /// makes a list of them.
  public static let realtimeDB = Pagination(
    next: .jsonText(.lastItem("/name")), send: .query("startAt"),
    request: RequestRule(always: RequestConstants(query: ["orderBy": "\"$key\""])),
    end: [.shortPage, .emptyPage], items: .optional(.members(.root)),
    size: PageSize(.query("limitToFirst"), default: 1000), policy: PagePolicy(overlap: 1),
    formats: [.json])

  static let dataPresets = [
    PaginationPreset(
      "couchChanges", "results, last_seq, pending", .couchChanges, aliases: ["npmChanges"]),
    PaginationPreset("couchFind", "docs, bookmark in a POST body", .couchFind),
    PaginationPreset("socrata", "a list, $offset and $limit", .socrata),
    PaginationPreset("ckan", "result.results, start, result.count", .ckan),
    PaginationPreset("ckanDatastore", "result.records, offset, result.total", .ckanDatastore),
    PaginationPreset("bigQuery", "rows, pageToken, totalRows, jobComplete", .bigQuery),
    PaginationPreset(
      "databricksSQL", "result.data_array, result.next_chunk_internal_link", .databricksSQL),
    PaginationPreset("sparql", "results.bindings, {{offset}} and {{limit}} in the query", .sparql),
    PaginationPreset("couchView", "rows, startkey and startkey_docid of one row more", .couchView),
    PaginationPreset("arcgis", "features, resultOffset, exceededTransferLimit", .arcgis),
    PaginationPreset("trino", "data, nextUri by GET", .trino),
    PaginationPreset(
      "snowflake", "data, partition from 0, resultSetMetaData.partitionInfo", .snowflake),
    PaginationPreset("realtimeDB", "an object; startAt = the last name", .realtimeDB),
  ]
}
