import QuireCore

/// Formats and conventions with a specification of their own.
extension Pagination {
  /// OData and Microsoft Graph: `{"value": […], "@odata.nextLink": "…", "@odata.count": 57}`, and the
  /// same as other versions and SensorThings spell it: `@nextLink`, `@iot.nextLink`,
  /// `odata.nextLink`, `{"d": {"results": […], "__next": "…"}}`.
  ///
  /// Page size: `Prefer: odata.maxpagesize=…`, a wish. Links go out byte for byte, or start at the
  /// context URL where they are relative (OData JSON Format 4.01, §4.3); a page may be empty and have
  /// one all the same. The count comes with the first page. 410 means that the link expired.
  public static let odata = Pagination(
    next: .firstOf(odataLinks("nextLink", old: ["/d/__next", "/__next"])),
    items: .firstOf(["/value", "/d/results", "/d", "/results"]),
    size: PageSize(.header("Prefer"), format: "odata.maxpagesize={n}"),
    total: TotalSource(
      .firstOf([
        "/@odata.count", "/@count", "/@iot.count", "/odata.count", "/d/__count", "/__count",
      ]),
      scope: .firstPage),
    policy: PagePolicy(
      failure: [FailureRule(when: .status(410), .expired, message: "/error/message")],
      linkBase: odataContext), formats: [.json])

  /// The ways of a link among OData's annotations, however a version spells its name.
  static func odataLinks(_ name: String, old: [PagePath] = []) -> [Route] {
    let spellings = ["@odata.", "@", "@iot.", "odata."].map {
      PagePath(stringLiteral: "/\($0)\(name)")
    }
    return (spellings + old).map { Route(.body($0), send: .url) }
  }

  /// OData's context URL, from which relative links start.
  static let odataContext: ValueSource = .firstOf([
    "/@odata.context", "/@context", "/odata.metadata",
  ])

  /// GraphQL connections (Relay): `{"data": {"repo": {"issues": {"pageInfo": {"hasNextPage": true,
  /// "endCursor": "…"}, "nodes": […]}}}}`.
  ///
  /// The query takes `$after` and `$first` as variables. Items are `nodes`, or else `edges`. The
  /// last page has an `endCursor` too; only `hasNextPage` tells. Any `errors` fail the page, with
  /// or without data. Backwards, the query takes `$before` and `$last` as well.
  /// - Parameter connection: Where the connection is, such as `/data/repo/issues`; the path of its
  ///   `nodes` or `edges` does as well.
  public static func relay(connection: PagePath) -> Pagination {
    let connections = connections(at: connection.text)
    func source(_ rest: String) -> ValueSource {
      let paths = connections.map { ValueSource.body(PagePath(stringLiteral: $0 + rest)) }
      return paths.count == 1 ? paths[0] : .firstOf(paths)
    }
    func routes(_ rest: String, _ send: Placement) -> NextSource {
      let paths = connections.map { NextSource.body(PagePath(stringLiteral: $0 + rest)) }
      return paths.count == 1 ? paths[0] : .firstOf(paths.map { Route($0, send: send) })
    }
    let lists = connections.flatMap { [$0 + "/nodes", $0 + "/edges"] }
      .map(PagePath.init(stringLiteral:))
    return Pagination(
      next: routes("/pageInfo/endCursor", .jsonBody("/variables/after")),
      send: .jsonBody("/variables/after"),
      request: RequestRule(isQuery: true), end: [.flag(source("/pageInfo/hasNextPage"))],
      items: .firstOf(connections.count == 1 ? lists : [connection] + lists.prefix(2)),
      size: PageSize(.jsonBody("/variables/first"), max: 100),
      total: TotalSource(source("/totalCount")),
      policy: PagePolicy(failure: [
        FailureRule(
          when: .value("/errors/0/extensions/code", .equals("THROTTLED")), .throttled,
          message: "/errors/0/message"),
        FailureRule(
          when: .value("/errors/0/type", .equals("RATE_LIMITED")), .throttled,
          message: "/errors/0/message"),
        FailureRule(when: .value("/errors"), message: "/errors/0/message"),
      ]),
      previous: PreviousRule(
        routes("/pageInfo/startCursor", .jsonBody("/variables/before")),
        send: .jsonBody("/variables/before"),
        end: [.flag(source("/pageInfo/hasPreviousPage"), ifAbsent: .end)],
        size: .jsonBody("/variables/last")), formats: [.json])
  }

  /// The connections that a path may mean: itself, and where it ends like one of a connection's lists,
  /// what is around it.
  private static func connections(at path: String) -> [String] {
    for list in ["/nodes", "/edges"] where path.hasSuffix(list) {
      return [path, String(path.dropLast(list.count))]
    }
    return [path]
  }

  /// Google's AIP-158: `{"books": […], "nextPageToken": "…"}`.
  ///
  /// For GET, or for the POST of a search, whose body has both. Page size: `pageSize`, or `maxResults`
  /// with older services; lowered silently. Pages may be
  /// short or empty in the middle, and an empty list is left out; only a missing or empty token is
  /// the end. Totals are estimates.
  /// - Parameters:
  ///   - items: Where the items are.
  ///   - size: The parameter for the page size.
  public static func google(items: PagePath, size: String = "pageSize") -> Pagination {
    Pagination(
      next: .body("/nextPageToken"), send: .member("/pageToken", or: "pageToken"),
      request: RequestRule(isQuery: true), items: .optional(.path(items)),
      size: PageSize(.member(PagePath(stringLiteral: "/" + size), or: size)),
      total: TotalSource(.firstOf(["/totalSize", "/pageInfo/totalResults"]), .estimate),
      policy: PagePolicy(
        failure: [
          FailureRule(
            when: .value("/error/status", .equals("INVALID_ARGUMENT"), statuses: [400]), .expired,
            message: "/error/message"),
          FailureRule(
            when: .value("/error/errors/0/reason", .contains("ateLimitExceeded"), statuses: [403]),
            .throttled, message: "/error/message"),
        ], marks: ["/kind", "/etag"]),
      previous: PreviousRule(
        .body("/prevPageToken"), send: .member("/pageToken", or: "pageToken")), formats: [.json])
  }

  /// JSON Feed 1.1: `{"items": […], "next_url": "…"}`.
  ///
  /// The last page has no `next_url`. An address that came before is a loop.
  public static let jsonFeed = Pagination(
    next: .body("/next_url"), items: "/items", formats: [.json])

  /// SCIM 2.0 (RFC 7644): `{"totalResults": 57, "startIndex": 1, "itemsPerPage": 20, "Resources":
  /// […]}`.
  ///
  /// For GET, or for POST to `.search` (§3.4.3). Page size: `count`, a wish: the walk advances by what came. Counts from 1; an empty page has no
  /// `Resources`.
  public static let scim = Pagination(
    next: .offset(first: 1), send: .member("/startIndex", or: "startIndex"),
    request: RequestRule(isQuery: true),
    end: [.total("/totalResults"), .emptyPage], items: .optional("/Resources"),
    size: PageSize(.member("/count", or: "count")), total: "/totalResults", formats: [.json])

  /// SCIM 2.0 with cursors (RFC 9865): `{"Resources": […], "nextCursor": "…"}`.
  ///
  /// Page size: `count`. The first request has an empty `cursor`, by which the server knows what is
  /// wanted; an old one is refused with 400 `expiredCursor`.
  public static let scimCursor = Pagination(
    next: .body("/nextCursor"), send: .member("/cursor", or: "cursor"),
    request: RequestRule(first: "", isQuery: true), items: .optional("/Resources"),
    size: PageSize(.member("/count", or: "count")), total: "/totalResults",
    policy: PagePolicy(failure: [
      FailureRule(
        when: .value("/scimType", .isOneOf(["expiredCursor", "invalidCursor"])), .expired,
        message: "/detail")
    ]), formats: [.json])

  /// TAXII 2.1: `{"more": true, "next": "…", "objects": […]}`.
  ///
  /// Page size: `limit`, a wish. An envelope without anything is an empty page, and the last one. The
  /// same `next` on every page is no loop: some servers, OASIS's own among them, name a session by it,
  /// of which no page can be asked for twice.
  public static let taxii = Pagination(
    next: .body("/next"), send: .query("next"),
    request: RequestRule(
      always: RequestConstants(header: ["Accept": "application/taxii+json;version=2.1"])),
    end: [.flag("/more", ifAbsent: .end)], items: .optional("/objects"),
    size: PageSize(.query("limit")), policy: PagePolicy(handle: true), formats: [.json])

  /// JMAP queries (RFC 8620), the first call of a request: `{"methodResponses": [["Email/query",
  /// {"ids": […], "position": 0, "total": 57}, "0"]]}`.
  ///
  /// For POST; page size: `limit`, lowered by the server, which then says so. The total is asked
  /// for with every request. An error stands in place of the response.
  public static let jmap = Pagination(
    next: .offset, send: .jsonBody("/methodCalls/0/1/position"),
    request: RequestRule(
      always: RequestConstants(body: ["/methodCalls/0/1/calculateTotal": true]), isQuery: true),
    end: [.total("/methodResponses/0/1/total"), .emptyPage], items: "/methodResponses/0/1/ids",
    size: PageSize(.jsonBody("/methodCalls/0/1/limit"), echo: "/methodResponses/0/1/limit"),
    total: "/methodResponses/0/1/total",
    policy: PagePolicy(failure: [
      FailureRule(
        when: .value("/methodResponses/0/0", .equals("error")),
        message: "/methodResponses/0/1/type")
    ]), formats: [.json])

  /// W3C Linked Data Platform paging: a page in JSON-LD, and a Link header beside it.
  ///
  /// Page size: `Prefer: return=representation; max-member-count="…"`, a wish. The first answer is
  /// 303, to the first page.
  /// - Parameter items: Where the members are, such as `/contains`; one may stand without a list.
  public static func ldp(items: ItemSelector) -> Pagination {
    Pagination(
      next: .linkHeader, items: .oneOrMany(items),
      size: PageSize(
        .header("Prefer"), format: "return=representation; max-member-count=\"{n}\""))
  }

  /// UPnP and DLNA, Browse: `<BrowseResponse><Result>&lt;DIDL-Lite…</Result>
  /// <NumberReturned>2</NumberReturned><TotalMatches>57</TotalMatches></BrowseResponse>` in an
  /// envelope.
  ///
  /// For POST, its body with `<StartingIndex>0</StartingIndex><RequestedCount>100</RequestedCount>`.
  /// The objects are XML inside a text: each page has one item, that text. The end is a page that
  /// returned none, because a total of 0 means that none is known.
  /// A fault comes with 500 and is not asked for again.
  public static let dlna = Pagination(
    next: .offset(step: .body("/Envelope/Body/BrowseResponse/NumberReturned")),
    send: .xmlBody("//StartingIndex"),
    request: RequestRule(isQuery: true),
    end: [.lastPage(when: .value("/Envelope/Body/BrowseResponse/NumberReturned", .equals("0")))],
    items: "/Envelope/Body/BrowseResponse/Result", size: PageSize(.xmlBody("//RequestedCount")),
    policy: PagePolicy(failure: [
      FailureRule(
        when: .value("/Envelope/Body/Fault"),
        message: .firstOf([
          "/Envelope/Body/Fault/detail/UPnPError/errorDescription",
          "/Envelope/Body/Fault/faultstring",
        ]))
    ]), formats: [.xml])

  /// WebDAV's sync-collection (RFC 6578): `<multistatus><response>…</response><sync-token>…
  /// </sync-token></multistatus>`.
  ///
  /// For REPORT, its body with `<sync-token/>` and `<limit><nresults>100</nresults></limit>`. Page
  /// size: `nresults`. A page with a response `HTTP/1.1 507 Insufficient Storage`, which says that of
  /// the collection and is no item, is not the last one (§3.6). The sync token of the last page is where the next walk
  /// begins; 403 with `valid-sync-token` means that it is too old.
  public static let webdavSync = Pagination(
    next: .body("/multistatus/sync-token"), send: .xmlBody("//sync-token"),
    end: [
      .lastPage(when: .value("/multistatus/response[contains(status,' 507')]", .isMissing))
    ],
    items: "/multistatus/response[not(contains(status,' 507'))]",
    size: PageSize(.xmlBody("//nresults")),
    policy: PagePolicy(failure: [
      FailureRule(when: .value("//valid-sync-token", statuses: [403, 409]), .expired)
    ]),
    resume: Route(.body("/multistatus/sync-token"), send: .xmlBody("//sync-token")), formats: [.xml]
  )

  static let formatPresets = [
    PaginationPreset("odata", "value, @odata.nextLink", .odata, aliases: ["dynamics", "graph"]),
    PaginationPreset(
      "relay", "GraphQL: pageInfo, nodes or edges at a path of yours",
      .relay(connection: "/data/connection"), aliases: ["graphQL"]),
    PaginationPreset(
      "google", "items elsewhere, nextPageToken (AIP-158)", .google(items: "/items"),
      aliases: ["aip158"],
      variants: [
        "gcs": .google(items: "/items", size: "maxResults"),
        "youtube": .google(items: "/items", size: "maxResults"),
      ]),
    PaginationPreset("jsonFeed", "items, next_url", .jsonFeed),
    PaginationPreset("scim", "Resources, startIndex from 1, totalResults", .scim),
    PaginationPreset("scimCursor", "Resources, nextCursor", .scimCursor),
    PaginationPreset("taxii", "objects, next, more", .taxii),
    PaginationPreset("jmap", "methodResponses[0][1].ids, position and total in a POST body", .jmap),
    PaginationPreset(
      "ldp", "items elsewhere, Link header, Prefer: max-member-count", .ldp(items: "/contains")),
    PaginationPreset("dlna", "Result, StartingIndex in a POST of SOAP, NumberReturned", .dlna),
    PaginationPreset(
      "webdavSync", "response, sync-token in a REPORT, until none has 507", .webdavSync),
  ]
}
