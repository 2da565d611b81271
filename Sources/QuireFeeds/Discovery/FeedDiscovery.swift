import HTTPTypes
import QuireCore
public import QuireHTTP
import QuirePagination

/// A feed that a web page leads to.
public struct DiscoveredFeed: Hashable, Sendable {
  /// How a feed was found.
  public enum Origin: String, Hashable, Sendable {
    /// The address that was asked is a feed.
    case itself
    /// `<link rel="alternate">` with the media type of a feed (HTML, §4.6.7.1), or `rel="feed"`.
    case link
    /// A Link header field with that relation (RFC 8288).
    case header
    /// A link for people that looks like a feed's.
    case anchor
    /// A path at which feeds usually are, asked because the page names none.
    case wellKnownPath
  }

  /// The feed's address, absolute.
  public var url: String
  /// The title that the page gives it, or its own.
  public var title: String?
  /// The media type that the page gives it.
  public var mediaType: String?
  /// Its format; nil where it was not asked.
  public var format: FeedFormat?
  /// How it was found.
  public var origin: Origin
}

extension PageClient {
  /// The feeds that the page at `url` leads to, in its order; the page itself, where it is a feed.
  ///
  /// A page that names none is searched for links that look like a feed's, and without those the usual paths
  /// are asked, such as `/feed`, `/rss` and `/atom.xml`, and `/sitemap.xml` at last. At most a thousand feeds are
  /// given. Throws where the page cannot be read.
  public func discoverFeeds(at url: String) async throws -> [DiscoveredFeed] {
    var client = self
    if !client.configuration.headers.contains(.accept) {
      client.configuration.headers[.accept] = "text/html, " + FeedListing.accept
    }
    let answer = try await client.response(
      to: PageRequest(url: url), decoder: BytesPageDecoder())
    if let own = Self.feed(in: answer) { return [own] }
    let page = WebPage(answer)
    if !page.feeds.isEmpty { return page.feeds }
    if !page.anchors.isEmpty { return page.anchors }
    if try Origin(url: answer.url) != Origin(url: url) {
      // Credentials are for the server that was asked, and not for one to which it redirects.
      client.configuration.headers = client.configuration.headers.harmlessElsewhere
    }
    return try await client.feedsAtUsualPaths(of: answer.url)
  }

  /// The answer as a feed, if it is one.
  private static func feed(in answer: Response) -> DiscoveredFeed? {
    guard
      let parsed = try? ParsedFeed(
        answer.body, url: answer.url, contentType: answer.headerFields[.contentType])
    else { return nil }
    return DiscoveredFeed(
      url: answer.url, title: parsed.feed.title?.plain,
      mediaType: answer.headerFields[.contentType], format: parsed.feed.format, origin: .itself)
  }

  private static let usualPaths = [
    "/feed", "/feed/", "/rss", "/rss.xml", "/atom.xml", "/feed.xml", "/index.xml", "/feed.json",
    "/blog/feed", "/sitemap.xml",
  ]

  private func feedsAtUsualPaths(of url: String) async throws -> [DiscoveredFeed] {
    let page = try URLReference(url)
    for path in Self.usualPaths {
      let target = try URLReference(path).resolved(against: page)
      do {
        let answer = try await response(
          to: PageRequest(url: target.text), decoder: BytesPageDecoder())
        guard var feed = Self.feed(in: answer) else { continue }
        feed.origin = .wellKnownPath
        return [feed]
      } catch is PageError {
        // Not there: the next path may be.
        continue
      }
    }
    return []
  }
}

/// What a web page says of feeds.
private struct WebPage {
  var feeds: [DiscoveredFeed] = []
  var anchors: [DiscoveredFeed] = []
  /// The addresses of `feeds`.
  private var seen: Set<String> = []

  /// A hostile page may name a million.
  private static let most = 1_000

  private static let types: Set<String> = [
    "application/rss+xml", "application/atom+xml", "application/rdf+xml",
    "application/feed+json", "application/x.atom+xml", "application/x-rss+xml", "application/xml",
    "text/xml", "application/rss", "application/atom", "text/rss", "text/atom", "text/rss+xml",
    "text/atom+xml", "text/rdf",
  ]

  /// JSON Feed 1 was announced as any JSON; so are other things, such as the API of WordPress.
  private static func isFeed(_ type: String, _ href: String) -> Bool {
    types.contains(type)
      || type == "application/json" && href.lowercased().contains("feed")
        && !href.contains("/wp-json/")
  }

  init(_ answer: PageClient.Response) {
    var scope = FeedScope(url: answer.url)
    for link in LinkHeader(answer.headerFields).all(relation: "alternate") {
      add(link.target, link.value(of: "type"), link.value(of: "title"), scope, .header)
    }
    var html = String(decoding: answer.body, as: UTF8.self)
    html.withUTF8 { bytes in
      var tokens = HTMLTokenizer(bytes)
      while let token = tokens.next() {
        guard case .start(let name, let attributes, _) = token else { continue }
        func value(_ name: String) -> String? { attributes.first { $0.name == name }?.value }
        switch name {
        case "base":
          if let base = value("href").flatMap({ scope.absolute($0) }) {
            scope = FeedScope(url: base)
          }
        case "link":
          let relations = (value("rel") ?? "").lowercased().split(whereSeparator: \.isWhitespace)
          guard let href = value("href") else { continue }
          if relations.contains("feed") {
            add(href, value("type") ?? "application/rss+xml", value("title"), scope, .link)
          } else if relations.contains("alternate") {
            add(href, value("type"), value("title"), scope, .link)
          }
        case "a":
          if let href = value("href") { addAnchor(href, value("title"), scope) }
        default: break
        }
      }
    }
  }

  private mutating func add(
    _ href: String, _ type: String?, _ title: String?, _ scope: FeedScope,
    _ origin: DiscoveredFeed.Origin
  ) {
    let name = (type ?? "").prefix { $0 != ";" }.lowercased().trimmingBlanks
    guard feeds.count < Self.most, Self.isFeed(name, href), let url = scope.absolute(href),
      seen.insert(url).inserted
    else { return }
    feeds.append(
      DiscoveredFeed(url: url, title: title, mediaType: name, format: nil, origin: origin))
  }

  private mutating func addAnchor(_ href: String, _ title: String?, _ scope: FeedScope) {
    guard anchors.count < 32, let url = scope.absolute(href),
      let reference = try? URLReference(url), reference.scheme?.hasPrefix("http") == true
    else { return }
    let path = reference.path.lowercased()
    let endings = [
      "/feed", "/feed/", "/rss", "/rss/", "/atom", ".rss", ".atom", "/rss.xml", "/atom.xml",
      "/feed.xml", "/index.xml", "/feed.json", ".rdf",
    ]
    guard endings.contains(where: { path.hasSuffix($0) }),
      !anchors.contains(where: { $0.url == url })
    else { return }
    anchors.append(
      DiscoveredFeed(url: url, title: title, mediaType: nil, format: nil, origin: .anchor))
  }
}
