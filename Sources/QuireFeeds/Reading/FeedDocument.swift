public import QuireCore
public import QuirePagination

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The document of a feed's page: the feed's properties, and access by paths of its format.
public struct FeedDocument: PageDocument {
  /// The feed's properties in this page.
  public let feed: Feed
  /// For each of `feed.sitemaps`, the latest possible date of its last change; nil if the index
  /// gives none.
  let sitemapDates: [Date?]
  private let base: any PageDocument

  init(_ parsed: ParsedFeed, _ base: any PageDocument) {
    feed = parsed.feed
    sitemapDates = parsed.sitemapDates
    self.base = base
  }

  /// Returns the value at `path` in the page's format.
  public func value(at path: PagePath) throws -> JSONValue? { try base.value(at: path) }

  /// Returns the count at `path` in the page's format.
  public func count(at path: PagePath) throws -> Int? { try base.count(at: path) }

  /// Returns the value at `path` in the last item.
  public func value(at path: PagePath, inLastItemOf items: Pagination.Items) throws -> JSONValue? {
    try base.value(at: path, inLastItemOf: items)
  }

  /// Returns the base of relative links at `path`.
  public func base(at path: PagePath, outsideItemsOf items: Pagination.Items) -> String? {
    base.base(at: path, outsideItemsOf: items)
  }
}

/// A parsed feed document.
public struct ParsedFeed: Hashable, Sendable {
  /// The feed's properties.
  public var feed: Feed
  /// The entries, in the publisher's order.
  public var entries: [FeedEntry]
  /// For each of the feed's sitemaps, the latest possible date of its last change; nil if the index
  /// gives none.
  private(set) var sitemapDates: [Date?] = []

  init(feed: Feed, entries: [FeedEntry], sitemapDates: [Date?] = []) {
    self.feed = feed
    self.entries = entries
    self.sitemapDates = sitemapDates
  }

  /// Parses a whole document.
  ///
  /// - Parameters:
  ///   - bytes: The document, in any format of `FeedFormat`; without content coding.
  ///   - url: The address of the document, the base of relative links. Default nil: they stay
  ///     relative.
  ///   - contentType: The Content-Type of the document, whose charset takes precedence over the
  ///     document's own declaration (RFC 7303), unless it is UTF-8 and the document is not.
  ///   - options: How the feed is read.
  ///
  /// Throws `PageError`: `unexpectedMediaType` if the document is not a feed, `truncated` if it is
  /// incomplete, `malformed` if it cannot be repaired, or `limitExceeded`.
  public init(
    _ bytes: [UInt8], url: String? = nil, contentType: String? = nil,
    options: FeedOptions = FeedOptions()
  ) throws {
    var context = DecodingContext(contentType: contentType, limits: options.limits)
    context.url = url
    context.isProvenWhole = true
    var decoding = FeedPageDecoding(context, options)
    try decoding.receive(bytes)
    self = try decoding.read().parsed
  }
}
