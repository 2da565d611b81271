import QuireCore

/// Libraries, encyclopaedias and maps.
extension Pagination {
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
      policy: PagePolicy(failure: [
        FailureRule(
          when: .value("/error/code | //error/@code", .isOneOf(["maxlag", "ratelimited"])),
          .throttled, message: "/error/info | //error/@info"),
        FailureRule(
          when: .value("/error/code | //error/@code"), message: "/error/info | //error/@info"),
      ]))
  }

  /// OGC API Features and Records, and STAC: `{"features": […], "links": [{"rel": "next", "href":
  /// "…"}]}`.
  ///
  /// Page size: `limit`, 10 by default and 10,000 at most; in a POST it goes into the body by hand. A
  /// link may describe a whole request, with a method and a body.
  public static let ogcFeatures = Pagination(
    next: .body("/links[rel=next]"), send: .request, request: RequestRule(isQuery: true),
    items: "/features", size: PageSize(.query("limit"), default: 10, max: 10_000),
    total: TotalSource(.firstOf(["/numberMatched", "/context/matched"])))

  /// A sitemap, or an index of sitemaps: `<sitemapindex><sitemap><loc>…`, `<urlset><url><loc>…`.
  ///
  /// The index is a page without items; sitemaps follow in its order, nested indexes in place. Sitemaps
  /// on other hosts need `links(.allow([…]))`.
  public static let sitemap = Pagination(
    next: .index("/sitemapindex/sitemap", link: "/loc"), items: .optional("/urlset/url"))

  static let knowledgePresets = [
    PaginationPreset(
      "mediaWiki", "continue, items at a path of yours",
      .mediaWiki(items: "/query/allpages | //allpages/p", limit: "aplimit")),
    PaginationPreset("ogcFeatures", "features, links with rel next, or a request", .ogcFeatures),
    PaginationPreset("sitemap", "urlset/url, or a sitemapindex", .sitemap),
  ]
}
