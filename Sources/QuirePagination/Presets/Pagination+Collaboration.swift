import QuireCore

/// Where teams write, plan and keep files.
extension Pagination {
  /// Slack: `{"ok": true, "members": […], "response_metadata": {"next_cursor": "…"}}`.
  ///
  /// For GET or POST. Page size: `limit`, 1000 at most; pages may be short or empty in the middle. The end is an
  /// empty cursor. Errors come with 200 and `ok` false.
  /// - Parameter items: Where the items are, such as `/members` or `/channels`.
  public static func slack(items: ItemSelector) -> Pagination {
    Pagination(
      next: .body("/response_metadata/next_cursor"), send: argument("cursor"),
      request: RequestRule(isQuery: true), items: items,
      size: PageSize(argument("limit"), default: 100, max: 1000),
      policy: PagePolicy(failure: [
        FailureRule(when: .value("/error", .equals("invalid_cursor")), .expired, message: "/error"),
        FailureRule(
          when: .value("/error", .isOneOf(["ratelimited", "rate_limited"])), .throttled,
          message: "/error"),
        FailureRule(when: .value("/ok", .equals(false)), message: "/error"),
      ]), formats: [.json])
  }

  /// An argument of Slack: in a form, in JSON, or in the query.
  private static func argument(_ name: String) -> Placement {
    .firstOf([.form(name), .jsonBody(PagePath(stringLiteral: "/" + name)), .query(name)])
  }

  /// Notion: `{"results": […], "has_more": true, "next_cursor": "…"}`.
  ///
  /// For POST; page size: `page_size` in the body, 100 by default and at most. The first request
  /// has no cursor: null is refused. Lists by GET are `notionList` by name.
  public static let notion = Pagination(
    next: .body("/next_cursor"), send: .jsonBody("/start_cursor"),
    request: RequestRule(isQuery: true), end: [.flag("/has_more")], items: "/results",
    size: PageSize(.jsonBody("/page_size"), default: 100, max: 100), formats: [.json])

  /// Airtable: `{"records": […], "offset": "itr…/rec…"}`.
  ///
  /// Page size: `pageSize`, 100 by default and at most. The offset is no number, and expires in
  /// minutes with 422. 429 means to wait for half a minute.
  public static let airtable = Pagination(
    next: .body("/offset"), send: .query("offset"), items: "/records",
    size: PageSize(.query("pageSize"), default: 100, max: 100),
    policy: PagePolicy(failure: [
      FailureRule(
        when: .value("/error/type", .equals("LIST_RECORDS_ITERATOR_NOT_AVAILABLE")), .expired,
        message: "/error/message"),
      FailureRule(when: .status(429), .throttled, message: "/error/message", delay: 30),
    ]), formats: [.json])

  /// Asana: `{"data": […], "next_page": {"offset": "…"}}`.
  ///
  /// Page size: `limit`, 100 at most; without one there is no `next_page`, so 100 is always sent.
  public static let asana = Pagination(
    next: .body("/next_page/offset"), send: .query("offset"),
    request: RequestRule(always: RequestConstants(query: ["limit": "100"])), items: "/data",
    size: PageSize(.query("limit"), max: 100), formats: [.json])

  /// Trello's actions: a list, newest first.
  ///
  /// Page size: `limit`, 50 by default and 1000 at most. The cursor is the last item's id; the end
  /// is a short page.
  public static let trello = Pagination(
    next: .lastItem("/id"), send: .query("before"), end: [.shortPage, .emptyPage],
    size: PageSize(.query("limit"), default: 50, max: 1000), formats: [.json])

  /// Box: `{"entries": […], "limit": 100, "next_marker": "…"}`.
  ///
  /// Page size: `limit`, 100 by default and 1000 at most. Markers must be asked for, so
  /// `usemarker=true` is always sent.
  public static let box = Pagination(
    next: .body("/next_marker"), send: .query("marker"),
    request: RequestRule(always: RequestConstants(query: ["usemarker": "true"])),
    items: "/entries", size: PageSize(.query("limit"), default: 100, max: 1000), formats: [.json])

  /// Dropbox, `list_folder`: `{"entries": […], "cursor": "…", "has_more": true}`.
  ///
  /// For POST; page size: `limit` in the first body, 2000 at most. Goes on at `list_folder/continue`
  /// with nothing but the cursor; 409 means that it was reset. The last cursor is where the next walk
  /// begins.
  public static let dropbox = Pagination(
    next: .body("/cursor"), send: .jsonBody("/cursor"),
    request: RequestRule(
      keep: .none, then: RequestChange(url: "list_folder/continue"), isQuery: true),
    end: [.flag("/has_more")], items: "/entries", size: PageSize(.jsonBody("/limit"), max: 2000),
    policy: PagePolicy(failure: [
      FailureRule(
        when: .value("/error/.tag", .equals("reset"), statuses: [409]), .expired,
        message: "/error_summary")
    ]),
    resume: Route(.body("/cursor"), send: .jsonBody("/cursor")), formats: [.json])

  /// monday.com: `{"data": {"boards": [{"items_page": {"cursor": "…", "items": […]}}]}}`, then
  /// `{"data": {"next_items_page": {"cursor": "…", "items": […]}}}`.
  ///
  /// For POST, its query asking one board for `items_page (limit: $limit) {cursor items {…}}`. Page
  /// size: the variable `limit`, 25 by default and 500 at most. The other pages need another query,
  /// which asks for `fields`. Cursors live for an hour.
  /// - Parameter fields: What the other pages ask of each item.
  public static func monday(fields: String = "id name") -> Pagination {
    let query = """
      query ($cursor: String!, $limit: Int) { next_items_page (cursor: $cursor, limit: $limit) \
      { cursor items { \(fields) } } }
      """
    return Pagination(
      next: .firstOf([
        Route(
          .body("/data/boards/0/items_page/cursor"), send: .jsonBody("/variables/cursor")),
        Route(.body("/data/next_items_page/cursor"), send: .jsonBody("/variables/cursor")),
      ]),
      request: RequestRule(
        then: RequestChange(set: RequestConstants(body: ["/query": .string(query)])),
        isQuery: true),
      items: .firstOf([
        "/data/boards/0/items_page/items", "/data/next_items_page/items",
      ]),
      size: PageSize(.jsonBody("/variables/limit"), default: 25, max: 500),
      policy: PagePolicy(failure: [
        FailureRule(
          when: .value("/errors/0/extensions/code", .contains("ursorExpired")), .expired,
          message: "/errors/0/message"),
        FailureRule(when: .value("/errors"), message: "/errors/0/message"),
      ]), formats: [.json])
  }

  static let collaborationPresets = [
    PaginationPreset(
      "slack", "items elsewhere, response_metadata.next_cursor", .slack(items: "/members")),
    PaginationPreset(
      "notion", "results, next_cursor in a POST body, has_more", .notion,
      variants: [
        "notionList": .sent(
          by: .query("start_cursor"), size: .query("page_size"), .notion)
      ]),
    PaginationPreset("airtable", "records, offset", .airtable),
    PaginationPreset("asana", "data, next_page.offset", .asana),
    PaginationPreset("trello", "a list, newest first; before = last id", .trello),
    PaginationPreset("box", "entries, next_marker", .box),
    PaginationPreset("dropbox", "entries, cursor, has_more; goes on at …/continue", .dropbox),
    PaginationPreset("monday", "items_page.items, then next_items_page.items; cursor", .monday()),
  ]
}
