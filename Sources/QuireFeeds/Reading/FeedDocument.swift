public import QuireCore
public import QuirePagination

/// A page of a feed: what the feed says of itself, and the paths of its own format.
public struct FeedDocument: PageDocument {
  /// What the page says of the feed.
  public let feed: Feed
  private let base: any PageDocument

  init(_ feed: Feed, _ base: any PageDocument) {
    self.feed = feed
    self.base = base
  }

  /// The value at `path` of the page's own format.
  public func value(at path: PagePath) throws -> JSONValue? { try base.value(at: path) }

  /// The count at `path` of the page's own format.
  public func count(at path: PagePath) throws -> Int? { try base.count(at: path) }

  /// The value at `path` below the last item.
  public func value(at path: PagePath, inLastItemOf items: Pagination.Items) throws -> JSONValue? {
    try base.value(at: path, inLastItemOf: items)
  }

  /// What relative links at `path` start from.
  public func base(at path: PagePath) -> String? { base.base(at: path) }
}

/// One document of a feed, read.
public struct ParsedFeed: Hashable, Sendable {
  /// What the feed says of itself.
  public var feed: Feed
  /// Its entries, in the publisher's order.
  public var entries: [FeedEntry]

  init(feed: Feed, entries: [FeedEntry]) {
    self.feed = feed
    self.entries = entries
  }

  /// Reads a whole document.
  ///
  /// - Parameters:
  ///   - bytes: The document, in any format of `FeedFormat`; without content coding.
  ///   - url: Where it came from, which relative links start from. Default: nowhere, and they stay
  ///   relative.
  ///   - contentType: The Content-Type that it came with, whose charset comes before the document's own
  ///   declaration (RFC 7303).
  ///   - options: How it is read.
  ///
  /// Throws `PageError`: `unexpectedMediaType` for what is no feed, `truncated` for one that is cut off,
  /// `malformed`, `limitExceeded`.
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
