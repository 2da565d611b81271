import QuireCore

/// Where code, issues and packages live.
extension Pagination {
  /// GitHub's REST API: a list (or `{"items": […]}` from search), and a Link header beside it.
  ///
  /// Page size: `per_page`, 30 by default and 100 at most. The page of `last` is the number of
  /// pages. 403 with nothing remaining is throttling; search refuses more than 1000 results.
  public static let github = Pagination(
    next: .linkHeader, items: .firstOf(["/items", "/workflow_runs", "/repositories", ""]),
    size: PageSize(.query("per_page"), default: 30, max: 100),
    total: TotalSource(.linkQueryItem("page", rel: "last"), .pages),
    policy: PagePolicy(failure: [
      FailureRule(
        when: .value(.header("x-ratelimit-remaining"), .equals("0"), statuses: [403, 429]),
        .throttled, message: "/message"),
      FailureRule(
        when: .value("/message", .contains("secondary rate limit"), statuses: [403]), .throttled,
        message: "/message"),
      FailureRule(
        when: .value("/message", .contains("first 1000"), statuses: [422]), .window,
        message: "/message"),
    ]), previous: .linkHeader, formats: [.json])

  /// GitLab: a list, and a Link header beside it.
  ///
  /// Page size: `per_page`, 20 by default and 100 at most. Links may name the inner host and are
  /// followed at ours. `X-Total` is left out above 10,000 items; beyond an offset of 50,000 the
  /// answer is 405: use `pagination=keyset` in the URL.
  public static let gitlab = Pagination(
    next: .linkHeader, size: PageSize(.query("per_page"), default: 20, max: 100),
    total: TotalSource(.header("X-Total")),
    policy: PagePolicy(
      failure: [FailureRule(when: .status(405), .window, message: "/error")], links: .rebase),
    previous: .linkHeader, formats: [.json])

  /// Bitbucket Cloud: `{"values": […], "next": "…", "size": 57}`.
  ///
  /// Page size: `pagelen`, 10 by default and 100 at most.
  public static let bitbucket = Pagination(
    next: .body("/next"), items: "/values",
    size: PageSize(.query("pagelen"), default: 10, max: 100), total: "/size", formats: [.json])

  /// Bitbucket Server and Data Center: `{"values": […], "isLastPage": false, "nextPageStart": 25}`.
  ///
  /// Page size: `limit`, 25 by default and 1000 at most. Filtered pages are short, and the next
  /// start is not the sum.
  public static let bitbucketServer = Pagination(
    next: .body("/nextPageStart"), send: .query("start"),
    end: [.flag("/isLastPage", continuesWhile: false)], items: "/values",
    size: PageSize(.query("limit"), default: 25, max: 1000), formats: [.json])

  /// Jira Cloud's `search/jql`: `{"issues": […], "nextPageToken": "…", "isLast": false}`.
  ///
  /// For POST; page size: `maxResults`, 50 by default and 5000 at most. Tokens live for a week. For
  /// GET, send both by query parameters of the same names.
  public static let jira = Pagination(
    next: .body("/nextPageToken"), send: .jsonBody("/nextPageToken"),
    request: RequestRule(isQuery: true), end: [.flag("/isLast", continuesWhile: false)],
    items: "/issues", size: PageSize(.jsonBody("/maxResults"), default: 50, max: 5000),
    formats: [.json])

  /// Jira's older lists: `{"startAt": 0, "maxResults": 50, "total": 57, "values": […]}`.
  ///
  /// Page size: `maxResults`, lowered silently: the walk advances by what came.
  public static let jiraOffset = Pagination(
    next: .offset, send: .query("startAt"),
    end: [.flag("/isLast", continuesWhile: false), .total("/total"), .emptyPage],
    items: .firstOf(["/issues", "/values"]),
    size: PageSize(.query("maxResults"), default: 50, echo: "/maxResults"), total: "/total",
    formats: [.json])

  /// Sentry: a list, and `Link: <…>; rel="next"; results="true"` beside it.
  ///
  /// Page size: `per_page`, 100 at most. There is always a next link; its `results` tells.
  public static let sentry = Pagination(
    next: .linkHeader(where: ["results": "true"]), size: PageSize(.query("per_page"), max: 100),
    total: TotalSource(.header("X-Hits")),
    previous: PreviousRule(.linkHeader(rel: "previous", where: ["results": "true"])),
    formats: [.json])

  /// Azure DevOps: `{"count": 2, "value": […]}`, and `x-ms-continuationtoken` beside it.
  ///
  /// Page size: `$top`. The count is the page's, not the total.
  public static let azureDevOps = Pagination(
    next: .header("x-ms-continuationtoken"), send: .query("continuationToken"), items: "/value",
    size: PageSize(.query("$top")), formats: [.json])

  /// GitLab's keyset pagination: a list, and a Link header beside it.
  ///
  /// Page size: `per_page`, 20 by default and 100 at most. Has no window and no totals; sorts by
  /// `id` unless the request says otherwise. Not every list has it: the others answer 405.
  public static let gitlabKeyset = Pagination(
    next: .linkHeader,
    request: RequestRule(
      always: RequestConstants(query: ["pagination": "keyset", "order_by": "id"])),
    size: PageSize(.query("per_page"), default: 20, max: 100),
    policy: PagePolicy(links: .rebase), formats: [.json])

  /// Confluence, v1 and v2: `{"results": […], "_links": {"next": "/rest/api/content?start=25"}}`.
  ///
  /// Page size: `limit`, 25 by default and 250 at most. The link is relative to an address that
  /// differs between versions: only its `cursor` or `start` is taken.
  public static let confluence = Pagination(
    next: .firstOf([
      Route(.queryItem("cursor", of: .body("/_links/next")), send: .query("cursor")),
      Route(.queryItem("start", of: .body("/_links/next")), send: .query("start")),
    ]),
    items: "/results", size: PageSize(.query("limit"), default: 25, max: 250), formats: [.json])

  /// Gerrit: a list, of which the last item has `"_more_changes": true` when more follow.
  ///
  /// Page size: `n`, lowered silently. The offset is `S`; the `)]}'` before the list is skipped.
  public static let gerrit = Pagination(
    next: .offset, send: .query("S"), end: [.flag(.lastItem("/_more_changes"), ifAbsent: .end)],
    size: PageSize(.query("n")), formats: [.json])

  /// TeamCity: `{"count": 100, "nextHref": "/app/rest/builds?locator=start:100", "build": […]}`, or
  /// the same in XML.
  ///
  /// Page size: inside the locator, `count:100`. The link is relative; the count is the page's.
  /// - Parameter items: Where the items are, such as `/build`, or `/builds/build` in XML.
  public static func teamCity(items: ItemSelector) -> Pagination {
    Pagination(next: .body("/nextHref | /*/@nextHref"), items: items)
  }

  static let developmentPresets = [
    PaginationPreset("github", "a list or items, Link header", .github),
    PaginationPreset("gitlab", "a list, Link header at our own host", .gitlab),
    PaginationPreset("bitbucket", "values, next", .bitbucket),
    PaginationPreset("bitbucketServer", "values, nextPageStart, isLastPage", .bitbucketServer),
    PaginationPreset(
      "jira", "issues, nextPageToken in a POST body, isLast", .jira,
      variants: [
        "jiraGet": .sent(
          by: .query("nextPageToken"), size: .query("maxResults"), .jira)
      ]),
    PaginationPreset("jiraOffset", "issues or values, startAt, total", .jiraOffset),
    PaginationPreset("sentry", "a list, Link header with results", .sentry),
    PaginationPreset("azureDevOps", "value, x-ms-continuationtoken header", .azureDevOps),
    PaginationPreset("gitlabKeyset", "a list, Link header, pagination=keyset", .gitlabKeyset),
    PaginationPreset("confluence", "results, the cursor or start in _links.next", .confluence),
    PaginationPreset("gerrit", "a list, _more_changes in its last item", .gerrit),
    PaginationPreset(
      "teamCity", "items elsewhere, nextHref", .teamCity(items: "/build | /builds/build")),
  ]
}
