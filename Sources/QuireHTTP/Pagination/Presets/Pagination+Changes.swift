import QuireCore

/// Listings that can be asked again later for what changed since: their last page has what such a walk
/// starts with, at `page.http?.resume`.
extension Pagination {
  /// Google's Calendar, People and Directory: `{"items": […], "nextPageToken": "…"}`, and
  /// `nextSyncToken` on the last page.
  ///
  /// Page size: `maxResults`. 410 means that the sync token is too old: begin again without one.
  /// - Parameter items: Where the items are.
  public static func googleSync(items: ItemSelector = "/items") -> Pagination {
    Pagination(
      next: .body("/nextPageToken"), send: .query("pageToken"), items: .optional(items),
      size: PageSize(.query("maxResults")),
      policy: PagePolicy(failure: [
        FailureRule(when: .status(410), .expired, message: "/error/message")
      ]),
      resume: Route(.body("/nextSyncToken"), send: .query("syncToken")))
  }

  /// Microsoft Graph's delta queries: `{"value": […], "@odata.nextLink": "…"}`, and
  /// `@odata.deltaLink` on the last page.
  ///
  /// Page size: `Prefer: odata.maxpagesize=…`. Items may repeat; the last one counts. 410 means that
  /// the link is too old: begin again.
  public static let graphDelta = Pagination(
    next: .body("/@odata.nextLink"), end: [.bodyHas("/@odata.deltaLink")], items: "/value",
    size: PageSize(.header("Prefer"), format: "odata.maxpagesize={n}"),
    policy: PagePolicy(failure: [
      FailureRule(when: .status(410), .expired, message: "/error/message")
    ]),
    resume: Route(.body("/@odata.deltaLink"), send: .url))

  /// Dropbox's `/files/list_folder`: `{"entries": […], "cursor": "…", "has_more": true}`.
  ///
  /// For POST; page size: `limit` in the first body, 2000 at most. All later pages come from
  /// `list_folder/continue`, whose body has the cursor alone. 409 with the tag `reset` means that it
  /// is no longer known.
  public static let dropbox = Pagination(
    next: .body("/cursor"), send: .jsonBody("/cursor"),
    request: RequestRule(
      keep: .none, then: RequestChange(url: "list_folder/continue"), isQuery: true),
    end: [.flag("/has_more")], items: "/entries",
    size: PageSize(.jsonBody("/limit"), max: 2000),
    policy: PagePolicy(failure: [
      FailureRule(
        when: .value("/error/.tag", .equals("reset"), statuses: [409]), .expired,
        message: "/error_summary")
    ]),
    resume: Route(.body("/cursor"), send: .jsonBody("/cursor")))

  /// WebDAV's sync-collection (RFC 6578): `<multistatus><response/>…<sync-token/></multistatus>`.
  ///
  /// For REPORT with a body that has a `sync-token` element, empty at first; page size: `nresults`,
  /// where the body has it. A page that says 507 about the collection itself is not the last.
  public static let webdavSync = Pagination(
    next: .body("//multistatus/sync-token"), send: .xmlBody("//sync-token"),
    end: [.bodyLacks("//response[status='HTTP/1.1 507 Insufficient Storage']")],
    items: "/multistatus/response", size: PageSize(.xmlBody("//nresults")),
    policy: PagePolicy(failure: [
      FailureRule(when: .value("//valid-sync-token", statuses: [403, 409]), .expired)
    ]),
    resume: Route(.body("//multistatus/sync-token"), send: .xmlBody("//sync-token")))

  static let changePresets = [
    PaginationPreset("dropbox", "entries, cursor, has_more; list_folder/continue", .dropbox),
    PaginationPreset("googleSync", "items, nextPageToken, nextSyncToken", .googleSync()),
    PaginationPreset("graphDelta", "value, @odata.nextLink, @odata.deltaLink", .graphDelta),
    PaginationPreset("webdavSync", "multistatus/response, sync-token", .webdavSync),
  ]
}
