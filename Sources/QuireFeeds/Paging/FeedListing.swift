public import HTTPTypes
public import QuireCore
public import QuireHTTP
import QuirePagination

/// All pages of a feed, in one model for every format.
///
/// ```swift
/// for try await entry in client.feed(at: "https://example.org/feed").entries { … }
/// ```
/// Nothing is requested before the first page is asked for. Pages go from the newest entries to the
/// oldest: by `next` and `prev-archive` of RFC 5005, JSON Feed's `next_url`, a Link header, or
/// WordPress's `?paged=`; a sitemap index leads through its sitemaps. Entries that an earlier page
/// already had are omitted, and counted in the report. A link back to an earlier page ends the
/// walk, with a warning in the report; so do pages that have repeated more entries than were read.
public struct FeedListing: Sendable {
  /// The pages; each page's feed properties are `page.feed`.
  public let pages: Cursor<FeedEntry>

  /// The entries of all pages.
  public var entries: ItemSequence<Cursor<FeedEntry>> { pages.items }

  /// Reads the feed's properties from its first page.
  ///
  /// Throws the same errors as a walk.
  public func properties() async throws -> Feed {
    var iterator = pages.limited(to: Limits(pages: 1)).makeAsyncIterator()
    guard let feed = try await iterator.next()?.feed else {
      throw PageError(.exhausted, "There is no first page of the feed.")
    }
    return feed
  }
}

extension Page where Item == FeedEntry {
  /// The page's feed properties; nil for an unchanged page, and for a page of another source.
  ///
  /// Hubs and the feed's own address are taken from the Link header fields before the document
  /// (WebSub, §4).
  public var feed: Feed? {
    guard let http, var feed = (http.document as? FeedDocument)?.feed else { return nil }
    let links = LinkHeader(http.head.headerFields, of: http.url)
    let scope = FeedScope(url: http.url)
    func targets(_ relation: String) -> [String] {
      links.all(relation: relation).compactMap { scope.absolute($0.target) }
    }
    let hubs = targets("hub").map { FeedHub($0) }
    if !hubs.isEmpty { feed.hubs = hubs + feed.hubs.filter { !hubs.contains($0) } }
    feed.feedURL = targets("self").first ?? feed.feedURL
    return feed
  }
}

extension PageClient {
  /// Returns the listing of the feed at `url`, in any format.
  ///
  /// - Parameters:
  ///   - url: The absolute address of the feed; sent byte for byte. For the address of a web page,
  ///     see `discoverFeeds(at:)`.
  ///   - options: How the feed is read. Default: leniently.
  ///   - headers: Header fields for all pages of the feed, besides the client's; they do not leave
  ///     its origin.
  ///   - secrets: Texts to redact wherever they occur; see `RequestOptions.secrets`.
  ///
  /// A client for untrusted feeds should have the configuration `.feed`.
  public func feed(
    at url: String, options: FeedOptions = FeedOptions(), headers: HTTPFields = [:],
    secrets: [String] = []
  ) -> FeedListing {
    feed(at: url, options: options, headers: headers, secrets: secrets, isLast: nil)
  }

  /// Returns the listing of a feed that ends after the first page for which `isLast` is true.
  func feed(
    at url: String, options: FeedOptions, headers: HTTPFields = [:], secrets: [String] = [],
    isLast: (@Sendable (Page<FeedEntry>) -> Bool)?
  ) -> FeedListing {
    var client = self
    for field in headers { client.configuration.headers.append(field) }
    if !client.configuration.headers.contains(.accept) {
      client.configuration.headers[.accept] = FeedListing.accept
    }
    let paging = FeedPaging(options)
    let first = PageRequest(url: url)
    do {
      var pagination = FeedListing.pagination
      pagination.policy.links = try paging.links(from: url)
      let listing = try Listing(
        client: client, pagination: pagination, first: first, secrets: secrets,
        custom: paging.next)
      let redactor = Redactor(
        fields: headers, urls: [url], known: secrets.map { Array($0.utf8) })
      let decoder = FeedPageDecoder(options, hiding: redactor)
      return FeedListing(
        pages: Cursor(clock: client.configuration.clock) { _ in
          FeedPageReader(PageLoader(listing, decoder), paging, isLast)
        })
    } catch {
      return FeedListing(pages: Cursor(clock: client.configuration.clock) { _ in throw error })
    }
  }
}

extension FeedListing {
  /// Returns the address that a `feed:` address means; any other unchanged.
  package static func webAddress(of address: String) -> String {
    FeedScope.withoutFeedScheme(address)
  }

  /// The description of feeds. Its rule for the next page is a placeholder, because `FeedPaging`
  /// finds that page.
  static let pagination = Pagination(next: .body("/"), send: .request, items: .root)

  /// The `Accept` field of requests for feeds.
  static let accept =
    "application/atom+xml, application/rss+xml, application/feed+json, application/rdf+xml;q=0.9, "
    + "application/xml;q=0.8, text/xml;q=0.8, application/json;q=0.7, */*;q=0.1"
}

extension PageClient.Configuration {
  /// The profile for feeds from anywhere: allows http; limits a page to 15 MiB on the wire, 32 MiB
  /// decoded and 30 s; and makes one attempt without waiting, because a schedule polls again
  /// anyway.
  ///
  /// Publishers block readers that they cannot contact: `feed(operator:)` names the operator.
  public static var feed: PageClient.Configuration {
    var configuration = PageClient.Configuration()
    configuration.allowsPlainHTTP = true
    configuration.timeouts = .feed
    configuration.transferLimits = .feed
    configuration.decodingLimits = .feed
    configuration.retry = .feed
    return configuration
  }

  /// The profile for feeds, with the operator in the User-Agent.
  ///
  /// - Parameter contact: An address for publishers to contact, such as
  ///   `https://reader.example/bot`.
  public static func feed(operator contact: String) -> PageClient.Configuration {
    var configuration = feed
    configuration.headers[.userAgent] = "\(PageClient.userAgent) (+\(contact))"
    return configuration
  }
}
