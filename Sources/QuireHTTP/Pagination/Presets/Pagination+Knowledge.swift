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

  /// NCBI's E-utilities, `esearch` with `usehistory=y`, in XML or JSON:
  /// `<eSearchResult><Count/><WebEnv/><QueryKey/><IdList>…`.
  ///
  /// Page size: `retmax`, 20 by default and 10,000 at most; PubMed refuses to go beyond 9,998. The
  /// session of the first page goes with every other. Three requests in a second at most.
  public static let entrez = Pagination(
    next: .offset, send: .query("retstart"),
    request: RequestRule(carry: [
      "WebEnv": CarriedValue(
        from: "/esearchresult/webenv | //eSearchResult/WebEnv", send: .query("WebEnv")),
      "query_key": CarriedValue(
        from: "/esearchresult/querykey | //eSearchResult/QueryKey", send: .query("query_key")),
    ]),
    end: [.total("/esearchresult/count | /eSearchResult/Count"), .emptyPage],
    items: "/esearchresult/idlist | /eSearchResult/IdList/Id",
    size: PageSize(.query("retmax"), default: 20, max: 10_000),
    total: "/esearchresult/count | /eSearchResult/Count",
    policy: PagePolicy(
      failure: [
        FailureRule(
          when: .value("/esearchresult/ERROR | //ERROR"), message: "/esearchresult/ERROR | //ERROR")
      ], pacing: Pacing(interval: 0.34)))

  /// OGC API Features and Records, and STAC: `{"features": […], "links": [{"rel": "next", "href":
  /// "…"}]}`.
  ///
  /// Page size: `limit`, 10 by default and 10,000 at most; in a POST it goes into the body by hand. A
  /// link may describe a whole request, with a method and a body.
  public static let ogcFeatures = Pagination(
    next: .body("/links[rel=next]"), send: .request, request: RequestRule(isQuery: true),
    items: "/features", size: PageSize(.query("limit"), default: 10, max: 10_000),
    total: TotalSource(.firstOf(["/numberMatched", "/context/matched"])))

  /// IIIF Change Discovery: `{"last": {"id": "…"}}`, then pages `{"orderedItems": […], "prev": {"id":
  /// "…"}}`.
  ///
  /// Walked from the end: the newest activities come first.
  public static let iiifDiscovery = Pagination(
    next: .firstOf([
      Route(.body("/prev/id"), send: .url), Route(.body("/last/id"), send: .url),
    ]),
    items: .optional("/orderedItems"), total: TotalSource("/totalItems", scope: .firstPage),
    policy: PagePolicy(reversesItems: true))

  /// The feed of a WordPress site: `<rss><channel><item>…`.
  ///
  /// Pages by `paged`; past the end the answer is 404, and a site that does not know the parameter
  /// sends its first page for ever, which ends the walk too.
  public static let wordpressFeed = Pagination(
    next: .pageNumber, send: .query("paged"),
    end: [.status([404]), .noNewItems(by: "/guid"), .emptyPage], items: "/rss/channel/item")

  /// A sitemap, or an index of sitemaps: `<sitemapindex><sitemap><loc>…`, `<urlset><url><loc>…`.
  ///
  /// The index is a page without items; sitemaps follow in its order, nested indexes in place. Sitemaps
  /// on other hosts need `links(.allow([…]))`.
  public static let sitemap = Pagination(
    next: .index("/sitemapindex/sitemap", link: "/loc"), items: .optional("/urlset/url"))

  static let knowledgePresets = [
    PaginationPreset("sitemap", "urlset/url, or a sitemapindex", .sitemap),
    PaginationPreset("entrez", "IdList, retstart, WebEnv", .entrez),
    PaginationPreset("iiifDiscovery", "orderedItems, prev, from the last page", .iiifDiscovery),
    PaginationPreset(
      "mediaWiki", "continue, items at a path of yours",
      .mediaWiki(items: "/query/allpages | //allpages/p", limit: "aplimit")),
    PaginationPreset("ogcFeatures", "features, links with rel next, or a request", .ogcFeatures),
    PaginationPreset("wordpressFeed", "RSS, paged", .wordpressFeed),
  ]
}
