public import QuirePagination
public import QuireXML

/// How feeds are read.
public struct FeedOptions: Hashable, Sendable {
  /// What becomes of the HTML in titles, summaries and contents.
  public enum HTML: String, Hashable, Sendable, CaseIterable {
    /// It is delivered as the publisher wrote it. The default.
    case asWritten
    /// Relative links in it are made absolute, nothing else is changed.
    case absoluteLinks
    /// It is rewritten with what `HTMLSanitizer` lists, and links are made absolute.
    case sanitized
  }

  /// Whether a breach of XML, of JSON, or of what a feed's format says of dates and texts is an error.
  /// Default: no, it is forgiven and counted in `Feed.repairs`.
  public var isStrict: Bool
  /// What becomes of HTML. Default: as written.
  public var html: HTML
  /// What one page may hold. Default: `DecodingLimits.feed`.
  public var limits: DecodingLimits
  /// What one page of XML may hold besides. Default: `XMLLimits.feed`.
  public var xmlLimits: XMLLimits
  /// Which next links are followed. Default nil: links to the feed's own host, with and without `www.`, by
  /// https where the feed came so.
  public var links: LinkPolicy?
  /// Whether `?paged=2` and so on is asked for where WordPress made the feed. Default: yes.
  public var followsNumberedPages: Bool

  /// Options; every parameter has the default of its property.
  public init(
    isStrict: Bool = false, html: HTML = .asWritten, limits: DecodingLimits = .feed,
    xmlLimits: XMLLimits = .feed, links: LinkPolicy? = nil, followsNumberedPages: Bool = true
  ) {
    self.isStrict = isStrict
    self.html = html
    self.limits = limits
    self.xmlLimits = xmlLimits
    self.links = links
    self.followsNumberedPages = followsNumberedPages
  }
}

extension DecodingLimits {
  /// For feeds from anywhere: elements 64 deep, 50,000 entries in a page (as many as a sitemap may
  /// have), 2 MiB an entry, a million elements, attributes and texts. An entry, or a feed beside its entries, may
  /// have an eighth as many parts: links, persons, files, categories.
  public static let feed = DecodingLimits(
    depth: 64, items: 50_000, itemBytes: 2 << 20, events: 1_000_000)
}

extension XMLLimits {
  /// For feeds from anywhere: 2 MiB of text between two tags, as many as an entry may have.
  public static let feed = XMLLimits(textBytes: 2 << 20)
}
