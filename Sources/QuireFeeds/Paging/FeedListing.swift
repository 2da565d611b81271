public import HTTPTypes
public import QuireCore
public import QuireHTTP
import QuirePagination

/// A feed, all pages of it, in one model whatever its format.
///
/// ```swift
/// for try await entry in client.feed(at: "https://example.org/feed").entries { … }
/// ```
/// Nothing is requested before the first page is asked for. Pages follow one another from the newest
/// entries to the oldest: by `next` and `prev-archive` of RFC 5005, JSON Feed's `next_url`, a Link header,
/// `?paged=` of WordPress; a sitemap index leads through its sitemaps. An entry that comes again on a later page is left
/// out, and a link that leads to a page of before is the end; the report counts the one and warns of the
/// other.
public struct FeedListing: Sendable {
  /// The pages; what each says of the feed is `page.feed`.
  public let pages: Cursor<FeedEntry>

  /// The entries of all pages.
  public var entries: ItemSequence<Cursor<FeedEntry>> { pages.items }

  /// What the feed says of itself, from its first page.
  ///
  /// Throws what a walk would throw.
  public func properties() async throws -> Feed {
    var iterator = pages.limited(to: Limits(pages: 1)).makeAsyncIterator()
    guard let feed = try await iterator.next()?.feed else {
      throw PageError(.exhausted, "There is no first page of the feed.")
    }
    return feed
  }
}

extension Page where Item == FeedEntry {
  /// What the page says of its feed; nil for a page that was unchanged, and for one of another source.
  ///
  /// Hubs and the feed's own address come from the answer's Link header fields where it has them, before the
  /// document (WebSub, §4).
  public var feed: Feed? {
    guard let http, var feed = (http.document as? FeedDocument)?.feed else { return nil }
    let links = LinkHeader(http.head.headerFields)
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
  /// The feed at `url`, in whatever format it comes.
  ///
  /// - Parameters:
  ///   - url: The feed's address, absolute; sent byte for byte. For that of a web page, see
  ///   `discoverFeeds(at:)`.
  ///   - options: How it is read. Default: leniently.
  ///   - headers: Fields for all pages of the feed, besides the client's; they do not leave its origin.
  ///   - secrets: Texts that are secret wherever they occur; see `RequestOptions.secrets`.
  ///
  /// A client for feeds from anywhere has the configuration `.feed`.
  public func feed(
    at url: String, options: FeedOptions = FeedOptions(), headers: HTTPFields = [:],
    secrets: [String] = []
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
      let decoder = FeedPageDecoder(options: options)
      return FeedListing(
        pages: Cursor(clock: client.configuration.clock) { _ in
          FeedPageReader(PageLoader(listing, decoder), paging)
        })
    } catch {
      return FeedListing(pages: Cursor(clock: client.configuration.clock) { _ in throw error })
    }
  }
}

extension FeedListing {
  /// What follows a page, `FeedPaging` says.
  static let pagination = Pagination(next: .body("/"), send: .request, items: .root)

  /// What feeds are asked for as.
  static let accept =
    "application/atom+xml, application/rss+xml, application/feed+json, application/rdf+xml;q=0.9, "
    + "application/xml;q=0.8, text/xml;q=0.8, application/json;q=0.7, */*;q=0.1"
}

extension PageClient.Configuration {
  /// For feeds from anywhere: by http too, and else the timeouts, limits and retries of the profile
  /// for feeds: 15 MiB on the wire and 32 MiB decoded for a page, 30 s, one attempt and no waiting, for a
  /// schedule asks again anyway.
  ///
  /// Publishers block readers that they cannot ask: `feed(operator:)` names who runs this one.
  public static var feed: PageClient.Configuration {
    var configuration = PageClient.Configuration()
    configuration.allowsPlainHTTP = true
    configuration.timeouts = .feed
    configuration.transferLimits = .feed
    configuration.decodingLimits = .feed
    configuration.retry = .feed
    return configuration
  }

  /// The same, with a User-Agent that names who runs the reader.
  ///
  /// - Parameter contact: An address that a publisher can turn to, such as `https://reader.example/bot`.
  public static func feed(operator contact: String) -> PageClient.Configuration {
    var configuration = feed
    configuration.headers[.userAgent] = "\(PageClient.userAgent) (+\(contact))"
    return configuration
  }
}
