import QuireCore

/// Formats whose documents hold their own links.
extension Pagination {
  /// JSON:API 1.1: `{"data": […], "links": {"next": "…"}}`, the link a text or `{"href": "…"}`.
  ///
  /// Page size: `page[size]`, where the server has one. The last page has no `next`, or null.
  public static let jsonAPI = Pagination(
    next: .body("/links/next"), items: "/data", size: PageSize(.query("page[size]")),
    previous: PreviousRule(.body("/links/prev")), formats: [.json])

  /// HAL: `{"_embedded": {"orders": […]}, "_links": {"next": {"href": "…"}}, "page":
  /// {"totalElements": 57}}`.
  ///
  /// Page size: `size`. Links may be URI templates, whose expressions are dropped. A server that
  /// leaves `_embedded` out of an empty page needs `items: .optional(…)`.
  public static func hal(items: ItemSelector) -> Pagination {
    Pagination(
      next: .body("/_links/next"), items: items, size: PageSize(.query("size")),
      total: "/page/totalElements", formats: [.json])
  }

  /// Siren: `{"entities": […], "links": [{"rel": ["next"], "href": "…"}]}`.
  ///
  /// Page size: up to the server. The relation is a list, of which `next` may be one of several.
  public static let siren = Pagination(
    next: .body("/links[rel=next]/href"), items: "/entities", formats: [.json])

  /// Hydra and API Platform: `{"hydra:member": […], "hydra:view": {"hydra:next": "…"},
  /// "hydra:totalItems": 57}`, or the same names without `hydra:`.
  ///
  /// Page size: `itemsPerPage`, where the server allows it, 30 by default. The link is a path, as a
  /// text or as `{"@id": "…"}`. A member may stand without a list where it is the only one.
  public static let hydra = Pagination(
    next: .firstOf([
      Route(.body("/hydra:view/hydra:next"), send: .url), Route(.body("/view/next"), send: .url),
    ]),
    items: .oneOrMany(.firstOf(["/hydra:member", "/member"])),
    size: PageSize(.query("itemsPerPage")),
    total: TotalSource(.firstOf(["/hydra:totalItems", "/totalItems"])),
    policy: PagePolicy(linkBase: jsonLDBase), formats: [.json])

  /// What relative links of JSON-LD start from (JSON-LD 1.1, §4.1.3).
  private static let jsonLDBase: ValueSource = .firstOf(["/@context/@base", "/@context/-1/@base"])

  /// Collection+JSON: `{"collection": {"items": […], "links": [{"rel": "next", "href": "…"}],
  /// "metadata": {"total_hits": 57}}}`.
  ///
  /// Page size: up to the server. NASA's links say `http://` although the API is https: they are
  /// followed by https.
  public static let collectionJSON = Pagination(
    next: .body("/collection/links[rel=next]/href"), items: "/collection/items",
    total: "/collection/metadata/total_hits", policy: PagePolicy(links: .upgradeScheme),
    formats: [.json])

  /// ActivityStreams and ActivityPub: `{"type": "OrderedCollection", "first": "…", "totalItems":
  /// 57}`, then pages `{"orderedItems": […], "next": "…"}`.
  ///
  /// Page size: up to the server. The collection itself is a page without items; a first page
  /// inside it is fetched again by its `id`. A page's only item may stand without a list. Sends
  /// `Accept: application/activity+json` with every request.
  public static let activityStreams = Pagination(
    next: .firstOf([Route(.body("/next"), send: .url), Route(.body("/first"), send: .url)]),
    request: RequestRule(
      always: RequestConstants(header: ["Accept": "application/activity+json"])),
    items: .optional(.oneOrMany(.firstOf(["/orderedItems", "/items"]))), total: "/totalItems",
    policy: PagePolicy(linkBase: jsonLDBase), formats: [.json])

  /// IIIF Change Discovery 1.0: `{"type": "OrderedCollection", "last": {"id": "…"}}`, then pages
  /// `{"orderedItems": […], "prev": {"id": "…"}}`.
  ///
  /// No page size. Starts at the last page and goes back, so that the newest activity comes first:
  /// each page is turned around.
  public static let iiifDiscovery = Pagination(
    next: .firstOf([Route(.body("/prev"), send: .url), Route(.body("/last"), send: .url)]),
    items: .optional(.oneOrMany("/orderedItems")),
    total: TotalSource("/totalItems", scope: .firstPage),
    policy: PagePolicy(linkBase: jsonLDBase, reversesItems: true), formats: [.json])

  /// OGC API Features and Records, and STAC: `{"features": […], "links": [{"rel": "next", "href":
  /// "…"}]}`.
  ///
  /// Page size: `limit`, 10 by default and 10,000 at most, in a POST in its body. A
  /// link may describe a whole request, with a method and a body.
  public static let ogcFeatures = Pagination(
    next: .body("/links[rel=next]"), send: .request, request: RequestRule(isQuery: true),
    items: "/features", size: PageSize(.member("/limit", or: "limit"), default: 10, max: 10_000),
    total: TotalSource(.firstOf(["/numberMatched", "/context/matched"])), formats: [.json])

  static let hypermediaPresets = [
    PaginationPreset("jsonAPI", "data, links.next", .jsonAPI),
    PaginationPreset("hal", "_embedded, _links.next", .hal(items: "/_embedded/items")),
    PaginationPreset("siren", "entities, links[rel=next].href", .siren),
    PaginationPreset("hydra", "hydra:member or member, hydra:view.hydra:next", .hydra),
    PaginationPreset(
      "collectionJSON", "collection.items, collection.links[rel=next].href", .collectionJSON),
    PaginationPreset(
      "activityStreams", "orderedItems or items, next, at the beginning first", .activityStreams),
    PaginationPreset(
      "iiifDiscovery", "orderedItems backwards, at the beginning last, then prev", .iiifDiscovery),
    PaginationPreset(
      "ogcFeatures", "features, links with rel next, or a request", .ogcFeatures, aliases: ["stac"]),
  ]
}
