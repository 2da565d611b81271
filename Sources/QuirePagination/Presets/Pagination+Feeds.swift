import QuireCore

/// Feeds, and what is harvested like them.
extension Pagination {
  /// Atom feeds, OPDS 1 and AtomPub: `<feed><entry>…</entry><link rel="next" href="…"/></feed>`
  /// (RFC 5005, section 3).
  ///
  /// No page size. Links may be relative to `xml:base`. Entries may move between pages while one
  /// reads, and come twice.
  public static let atom = Pagination(
    next: .body("/feed/link[@rel='next']/@href"), items: "/feed/entry",
    total: TotalSource("/feed/totalResults", .estimate),
    previous: PreviousRule(.body("/feed/link[@rel='previous']/@href")), formats: [.xml])

  /// Archived Atom feeds, newest first: `<feed><link rel="prev-archive" href="…"/><entry>…` (RFC
  /// 5005, section 4).
  ///
  /// No page size. The documents behind the first never change. An entry that was edited comes again
  /// with the same `id`: the one that comes first is the newest.
  public static let atomArchive = Pagination(
    next: .body("/feed/link[@rel='prev-archive']/@href"), items: "/feed/entry", formats: [.xml])

  /// RSS with links to further pages: `<rss><channel><link rel="next" href="…"/><item>…`, the link
  /// being Atom's.
  ///
  /// No page size. Most feeds have one page. In RSS 1.0, items stand beside the channel.
  public static let rss = Pagination(
    next: .body("//channel/link[@rel='next']/@href"),
    items: .firstOf(["/rss/channel/item", "/RDF/item"]), formats: [.xml])

  /// OAI-PMH 2.0, for records, identifiers and sets: `<OAI-PMH><ListRecords><record>…</record>
  /// <resumptionToken completeListSize="57">…</resumptionToken></ListRecords></OAI-PMH>`.
  ///
  /// For GET, or for POST of a form. No page size. The token excludes every argument but `verb`; the last page has an empty one or
  /// none. An empty list is the error `noRecordsMatch`, which ends the walk. 503 with Retry-After is
  /// how servers ask to go slower. Deleted records are items like others.
  public static let oaiPMH = Pagination(
    next: .body("/OAI-PMH/*/resumptionToken"), send: .parameter("resumptionToken"),
    request: RequestRule(keep: .only(["verb"]), isQuery: true),
    end: [.status([200], matching: .value("/OAI-PMH/error/@code", .equals("noRecordsMatch")))],
    items: .firstOf([
      "/OAI-PMH/ListRecords/record", "/OAI-PMH/ListIdentifiers/header", "/OAI-PMH/ListSets/set",
    ]),
    total: TotalSource("/OAI-PMH/*/resumptionToken/@completeListSize", .estimate),
    policy: PagePolicy(failure: [
      FailureRule(
        when: .value("/OAI-PMH/error/@code", .equals("badResumptionToken")), .expired,
        message: "/OAI-PMH/error"),
      FailureRule(
        when: .value("/OAI-PMH/error/@code", .notEquals("noRecordsMatch")),
        message: "/OAI-PMH/error"),
    ]), formats: [.xml])

  /// WordPress's feeds by number: `<rss><channel><item><guid>…</guid></item>…`, or the same as Atom,
  /// or as RSS 1.0.
  ///
  /// Page size: set at the server. Past the end the answer is 404; a server that does not know
  /// `paged` repeats the first page, which ends the walk.
  public static let wordpressFeed = Pagination(
    next: .pageNumber, send: .query("paged"),
    end: [.status([404]), .noNewItems(by: "/guid"), .emptyPage],
    items: .firstOf(["/rss/channel/item", "/feed/entry", "/RDF/item"]), formats: [.xml])

  /// A sitemap, or an index of sitemaps: `<sitemapindex><sitemap><loc>…`, `<urlset><url><loc>…`.
  ///
  /// The index is a page without items; sitemaps follow in its order, nested indexes in place, and
  /// may be gzip files. Sitemaps on other hosts need `links(.allow([…]))`.
  public static let sitemap = Pagination(
    next: .index("/sitemapindex/sitemap", link: "/loc"),
    items: .optional(.all(["/urlset/url", "/sitemapindex/url"])), formats: [.xml])

  static let feedPresets = [
    PaginationPreset("atom", "feed/entry, link rel=next", .atom, aliases: ["atomPub", "opds"]),
    PaginationPreset("atomArchive", "feed/entry, link rel=prev-archive", .atomArchive),
    PaginationPreset("oaiPMH", "record, header or set; resumptionToken", .oaiPMH),
    PaginationPreset("rss", "channel/item, link rel=next", .rss),
    PaginationPreset("wordpressFeed", "rss/channel/item or feed/entry, paged", .wordpressFeed),
    PaginationPreset("sitemap", "urlset/url, or a sitemapindex", .sitemap),
  ]
}
