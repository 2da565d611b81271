public import QuireCore

extension Pagination {
  /// The preset of that name.
  ///
  /// Throws `invalidArgument` for a name that is unknown, with the nearest one that is not.
  public static func preset(named name: String) throws(PageError) -> Pagination {
    if let preset = presets.first(where: { $0.name == name }) { return preset.pagination }
    let nearest = NearestName.find(name, in: presets.map(\.name))
    let hint = nearest.map { "Did you mean \"\($0)\"?" } ?? "\"quire presets\" lists them all."
    throw PageError(.invalidArgument, "There is no preset \"\(name)\". \(hint)")
  }

  /// Every preset, by name.
  public static let presets: [PaginationPreset] = [
    PaginationPreset("airtable", "records, offset", .airtable),
    PaginationPreset("asana", "data, next_page.offset", .asana),
    PaginationPreset("azureDevOps", "value, x-ms-continuationtoken header", .azureDevOps),
    PaginationPreset("azureTable", "value, two continuation headers", .azureTable),
    PaginationPreset("bigCommerce", "data, meta.pagination.links.next", .bigCommerce),
    PaginationPreset("bioRxiv", "collection, offset in the path at {cursor}", .bioRxiv),
    PaginationPreset("bitbucket", "values, next", .bitbucket),
    PaginationPreset("bitbucketServer", "values, nextPageStart, isLastPage", .bitbucketServer),
    PaginationPreset("cmr", "feed.entry, CMR-Search-After header", .cmr),
    PaginationPreset("cratesIO", "crates, meta.next_page", .cratesIO),
    PaginationPreset("crossref", "message.items, message.next-cursor", .crossref),
    PaginationPreset("datasette", "rows, next_url", .datasette),
    PaginationPreset("discord", "a list, newest first; before = last id", .discord),
    PaginationPreset("drf", "Django REST framework: results, next, count", .drf),
    PaginationPreset("europePMC", "resultList.result, nextCursorMark", .europePMC),
    PaginationPreset("facebook", "data, paging.next", .facebook),
    PaginationPreset("gbif", "results, offset, endOfRecords", .gbif),
    PaginationPreset("github", "a list or items, Link header", .github),
    PaginationPreset("gitlab", "a list, Link header at our own host", .gitlab),
    PaginationPreset(
      "google", "items elsewhere, nextPageToken (AIP-158)", .google(items: "/items")),
    PaginationPreset("hal", "_embedded, _links.next", .hal(items: "/_embedded/items")),
    PaginationPreset("hubSpot", "results, paging.next.after", .hubSpot),
    PaginationPreset("intercom", "data, pages.next", .intercom),
    PaginationPreset("jira", "issues, nextPageToken in a POST body, isLast", .jira),
    PaginationPreset("jiraOffset", "issues or values, startAt, total", .jiraOffset),
    PaginationPreset("jsonAPI", "data, links.next", .jsonAPI),
    PaginationPreset("jsonFeed", "items, next_url", .jsonFeed),
    PaginationPreset("laravel", "data, next_page_url or links.next", .laravel),
    PaginationPreset("linkHeader", "a list, Link header (RFC 8288)", .linkHeader),
    PaginationPreset("magento", "items, total_count, page number", .magento),
    PaginationPreset("mailgun", "items, paging.next until a page is empty", .mailgun),
    PaginationPreset("notion", "results, next_cursor in a POST body, has_more", .notion),
    PaginationPreset("ociRegistry", "tags or repositories, relative Link header", .ociRegistry),
    PaginationPreset("odata", "value, @odata.nextLink", .odata),
    PaginationPreset("offsetLimit", "a list, offset and limit", .offsetLimit()),
    PaginationPreset("openAlex", "results, meta.next_cursor", .openAlex),
    PaginationPreset("pages", "a list, page number until one is empty", .pages()),
    PaginationPreset("plaid", "added, modified, removed; next_cursor, has_more", .plaid),
    PaginationPreset("postgrest", "a list, Range and Content-Range", .postgrest),
    PaginationPreset(
      "relay", "GraphQL: pageInfo, nodes or edges at a path of yours",
      .relay(connection: "/data/connection")),
    PaginationPreset("salesforce", "records, nextRecordsUrl, done", .salesforce),
    PaginationPreset("salesforceBulk", "CSV, Sforce-Locator header", .salesforceBulk),
    PaginationPreset("sentry", "a list, Link header with results", .sentry),
    PaginationPreset("shopify", "items elsewhere, page_info in a Link", .shopify(items: "/orders")),
    PaginationPreset(
      "slack", "items elsewhere, response_metadata.next_cursor", .slack(items: "/members")),
    PaginationPreset("spring", "content, page from 0, last", .spring),
    PaginationPreset("stripe", "data, has_more; starting_after = last id", .stripe),
    PaginationPreset(
      "totalPages", "data, page number, meta.total_pages",
      .totalPages("/meta/total_pages", items: "/data")),
    PaginationPreset("walmart", "list.elements.order, list.meta.nextCursor", .walmart),
    PaginationPreset("wordpress", "a list, page number, X-WP-TotalPages header", .wordpress),
    PaginationPreset(
      "zendesk", "items elsewhere, links.next, meta.has_more", .zendesk(items: "/tickets")),
    PaginationPreset(
      "zendeskIncremental", "items elsewhere, after_url, end_of_stream",
      .zendeskIncremental(items: "/tickets")),
  ]
}
