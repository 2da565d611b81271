import QuireCore

/// Cloud storage and databases.
extension Pagination {
  /// Azure Table storage: `{"value": […]}`, and up to two continuation headers beside it.
  ///
  /// Page size: `$top`, 1000 at most. The cursor has two parts, of which the second may be missing;
  /// pages may be empty in the middle.
  public static let azureTable = Pagination(
    next: .all([
      "NextPartitionKey": .header("x-ms-continuation-NextPartitionKey"),
      "NextRowKey": .header("x-ms-continuation-NextRowKey"),
    ]),
    send: .queryMerge, items: "/value", size: PageSize(.query("$top"), default: 1000, max: 1000),
    formats: [.json])

  /// Azure Cosmos DB for NoSQL: `{"Documents": […], "_count": 2}`, and `x-ms-continuation` beside
  /// it.
  ///
  /// For POST; page size: `x-ms-max-item-count`, 100 by default. Pages may be empty in the middle;
  /// the token is JSON and goes back byte for byte.
  public static let cosmosDB = Pagination(
    next: .header("x-ms-continuation"), send: .header("x-ms-continuation"),
    request: RequestRule(
      always: RequestConstants(header: [
        "Content-Type": "application/query+json", "x-ms-documentdb-isquery": "true",
      ]), isQuery: true),
    items: "/Documents", size: PageSize(.header("x-ms-max-item-count"), default: 100),
    formats: [.json])

  /// Azure Resource Manager: `{"value": […], "nextLink": "https://…"}`.
  ///
  /// Page size: `$top`, where the service takes one. Links go out byte for byte, spaces encoded;
  /// pages may be empty in the middle.
  public static let arm = Pagination(
    next: .body("/nextLink"), items: "/value", size: PageSize(.query("$top")), formats: [.json])

  /// Kubernetes: `{"items": […], "metadata": {"continue": "…", "remainingItemCount": 37}}`.
  ///
  /// Page size: `limit`; without one everything comes at once. A token lives for 5 to 15 minutes,
  /// then the answer is 410; with `policy.expiry = .resume("/metadata/continue")` the walk goes on
  /// by the token in that answer, over what changed meanwhile.
  public static let kubernetes = Pagination(
    next: .body("/metadata/continue"), send: .query("continue"),
    items: .optional("/items"), size: PageSize(.query("limit")),
    total: TotalSource("/metadata/remainingItemCount", .remaining),
    policy: PagePolicy(failure: [FailureRule(when: .status(410), .expired, message: "/message")]),
    formats: [.json])

  /// OpenStack Swift and other lists by marker: a list of `{"name": "…"}` and `{"subdir": "…"}`.
  ///
  /// Page size: `limit`, 10,000 by default and at most. The marker is the last item's name; the end
  /// is an empty page or 204. The total is that of the container, whatever prefix or delimiter is
  /// asked for, and late by a while.
  public static let swift = Pagination(
    next: .firstOf([
      Route(.lastItem("/name"), send: .query("marker")),
      Route(.lastItem("/subdir"), send: .query("marker")),
    ]),
    request: RequestRule(always: RequestConstants(query: ["format": "json"])),
    end: [.emptyPage, .status([204])],
    size: PageSize(.query("limit"), default: 10_000, max: 10_000),
    total: TotalSource(.header("X-Container-Object-Count"), .estimate), formats: [.json])

  /// OpenStack's lists with links: `{"servers": […], "servers_links": [{"rel": "next", "href":
  /// "…"}]}`.
  ///
  /// Page size: `limit`. Links name the host that the service sees, and are followed at ours.
  /// - Parameter items: Where the items are, such as `/servers`; the links are beside them.
  public static func openStackLinks(items: PagePath) -> Pagination {
    Pagination(
      next: .body(PagePath(stringLiteral: items.text + "_links[rel=next]/href")),
      items: .path(items), size: PageSize(.query("limit")), policy: PagePolicy(links: .rebase),
      formats: [.json])
  }

  /// Changes in Microsoft Graph: `{"value": […], "@odata.nextLink": "…"}`, on the last page
  /// `"@odata.deltaLink"`.
  ///
  /// Page size: `Prefer: odata.maxpagesize=…`, a wish. What was removed is an item with `@removed`;
  /// an item may come twice, and the last one counts. The delta link of the last page is where the
  /// next walk begins; 410 means that it is too old.
  public static let graphDelta = Pagination(
    next: .firstOf(odataLinks("nextLink")),
    end: [.bodyHas("/@odata.deltaLink")], items: "/value",
    size: PageSize(.header("Prefer"), format: "odata.maxpagesize={n}"),
    policy: PagePolicy(
      failure: [FailureRule(when: .status(410), .expired, message: "/error/message")],
      linkBase: odataContext),
    resume: Route(.body("/@odata.deltaLink"), send: .url), formats: [.json])

  /// Changes in Google's Calendar, People and Directory: `{"items": […], "nextPageToken": "…"}`, on
  /// the last page `"nextSyncToken"`.
  ///
  /// Page size: `maxResults`. An empty list is left out. The sync token of the last page is where
  /// the next walk begins; 410 means that it is too old.
  /// - Parameter items: Where the items are.
  public static func googleSync(items: ItemSelector = "/items") -> Pagination {
    Pagination(
      next: .body("/nextPageToken"), send: .query("pageToken"), items: .optional(items),
      size: PageSize(.query("maxResults")),
      policy: PagePolicy(failure: [
        FailureRule(when: .status(410), .expired, message: "/error/message")
      ]),
      resume: Route(.body("/nextSyncToken"), send: .query("syncToken")), formats: [.json])
  }

  static let cloudPresets = [
    PaginationPreset("azureTable", "value, two continuation headers", .azureTable),
    PaginationPreset("cosmosDB", "Documents, x-ms-continuation header", .cosmosDB),
    PaginationPreset("arm", "value, nextLink", .arm, aliases: ["azure"]),
    PaginationPreset(
      "kubernetes", "items, metadata.continue, metadata.remainingItemCount", .kubernetes),
    PaginationPreset("swift", "a list, marker = last name, X-Container-Object-Count", .swift),
    PaginationPreset(
      "openStackLinks", "servers, servers_links[rel=next].href",
      .openStackLinks(items: "/servers")),
    PaginationPreset("graphDelta", "value, @odata.nextLink until @odata.deltaLink", .graphDelta),
    PaginationPreset("googleSync", "items, nextPageToken until nextSyncToken", .googleSync()),
  ]
}
