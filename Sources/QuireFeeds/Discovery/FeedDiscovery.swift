import HTTPTypes
import QuireCore
public import QuireHTTP
import QuirePagination

/// A feed that was found from a web page.
public struct DiscoveredFeed: Hashable, Sendable {
  /// The ways in which a feed is found.
  public enum Origin: String, Hashable, Sendable {
    /// The requested address itself, which is a feed.
    case itself
    /// `<link rel="alternate">` with the media type of a feed (HTML, §4.6.7.1), or `rel="feed"`.
    case link
    /// A Link header field with the relation `alternate` (RFC 8288) and the media type of a feed.
    case header
    /// A link in the page's text whose address looks like a feed's.
    case anchor
    /// A common path of feeds, or `/sitemap.xml`, requested because the page has no link to a feed.
    case wellKnownPath
    /// A `Sitemap:` line of the server's robots.txt (RFC 9309, section 2.2.4), read if no link or
    /// common path leads to a feed.
    case robots
    /// An entry of the requested address, which is a list of subscriptions (OPML).
    case subscription
  }

  /// The absolute address of the feed.
  public var url: String
  /// The title that the page gives, or the feed's own.
  public var title: String?
  /// The media type that the page gives, or the feed's `Content-Type`; nil if unknown.
  public var mediaType: String?
  /// The format; nil if the feed was not requested.
  public var format: FeedFormat?
  /// The way in which the feed was found.
  public var origin: Origin

  /// The maximum number of feeds of a page: a hostile one may declare a million.
  fileprivate static let most = 1_000
}

extension PageClient {
  /// Finds the feeds of the web page at `url`, in the order of the page. If the address is itself a
  /// feed, returns that; if it is a list of subscriptions (OPML), the feeds of the list.
  ///
  /// If the page declares no feeds, it is searched for links that look like a feed's; without
  /// those, common paths such as `/feed`, `/rss` and `/atom.xml` are requested, and finally the
  /// sitemaps that `/robots.txt` names are returned, or `/sitemap.xml`. Returns at most a thousand
  /// feeds of a page, and all of a list.
  ///
  /// `options` are how a feed or a list is read that is found at the address or at one of the paths.
  ///
  /// Throws if the page cannot be read, or is a feed or a list that cannot be; if the server refuses
  /// further requests (429, 503); and if none of the paths leads to a feed, the first error of one
  /// that was not simply missing (404, 410).
  public func discoverFeeds(
    at url: String, options: FeedOptions = FeedOptions()
  ) async throws -> [DiscoveredFeed] {
    var client = self
    if !client.configuration.headers.contains(.accept) {
      client.configuration.headers[.accept] = "text/html, " + FeedListing.accept
    }
    let url = FeedScope.withoutFeedScheme(url)
    let answer = try await client.response(
      to: PageRequest(url: url), decoder: BytesPageDecoder())
    if let list = try Self.subscriptions(in: answer, options) { return list }
    if let own = try Self.feed(in: answer, options) { return [own] }
    let page = WebPage(answer)
    if !page.feeds.isEmpty { return page.feeds }
    if !page.anchors.isEmpty { return page.anchors }
    if try Origin(url: answer.url) != Origin(url: url) {
      // Credentials are for the requested server, not for one that it redirects to.
      client.configuration.headers = client.configuration.headers.harmlessElsewhere
    }
    return try await client.feedsAtUsualPaths(of: answer.url, options)
  }

  /// Returns the answer as a feed; nil if it is none. Throws if it is one that cannot be read.
  private static func feed(
    in answer: Response, _ options: FeedOptions
  ) throws -> DiscoveredFeed? {
    do {
      let parsed = try ParsedFeed(
        answer.body, url: answer.url, contentType: answer.headerFields[.contentType],
        options: options)
      return DiscoveredFeed(
        url: answer.url, title: parsed.feed.title?.plain,
        mediaType: answer.headerFields[.contentType], format: parsed.feed.format, origin: .itself)
    } catch let error as PageError {
      let roots = OpenElement.containers.union(["entry"])
      guard error.code != .unexpectedMediaType,
        roots.contains(OpenElement.rootName(of: answer.body) ?? "")
      else { return nil }
      throw error
    }
  }

  /// Returns the feeds of an answer that is a list of subscriptions; nil if it is none. Throws if it
  /// is one that cannot be read.
  private static func subscriptions(
    in answer: Response, _ options: FeedOptions
  ) throws -> [DiscoveredFeed]? {
    let isList = OpenElement.rootName(of: answer.body) == "opml"
    // Other text may precede the root.
    guard isList || answer.body.prefix(4_096).containsText("<opml") else { return nil }
    let list: OPML
    do {
      list = try OPML(answer.body, options)
    } catch {
      if isList { throw error }
      return nil
    }
    guard list.outlines.count <= options.limits.items else {
      throw PageError(
        .limitExceeded,
        "The list of subscriptions has \(list.outlines.count) feeds, more than \(options.limits.items).",
        remedies: [.raise(.init("DecodingLimits.items"))])
    }
    let scope = FeedScope(url: answer.url)
    var parts = PartCounter(options.limits)
    return try list.outlines.compactMap { outline in
      guard let url = scope.absolute(outline.feedURL) else { return nil }
      parts.takeGrowth(url.utf8.count - outline.feedURL.utf8.count)
      try parts.check()
      return DiscoveredFeed(url: url, title: outline.title, origin: .subscription)
    }
  }

  private static let usualPaths = [
    "/feed", "/feed/", "/rss", "/rss.xml", "/atom.xml", "/feed.xml", "/index.xml", "/feed.json",
    "/blog/feed", robotsPath, "/sitemap.xml",
  ]
  private static let robotsPath = "/robots.txt"

  private func feedsAtUsualPaths(
    of url: String, _ options: FeedOptions
  ) async throws -> [DiscoveredFeed] {
    let page = try URLReference(url)
    var failure: PageError?
    for path in Self.usualPaths {
      let target = try URLReference(path).resolved(against: page)
      do {
        let answer = try await response(
          to: PageRequest(url: target.text), decoder: BytesPageDecoder())
        if path == Self.robotsPath {
          let sitemaps = Self.sitemaps(in: answer)
          if sitemaps.isEmpty { continue }
          return sitemaps
        }
        guard var feed = try Self.feed(in: answer, options) else { continue }
        feed.origin = .wellKnownPath
        return [feed]
      } catch let error as PageError {
        // This path leads to no feed, but the next one may.
        switch error.response?.head.status.code {
        case 404, 410: continue
        case 429, 503: throw error
        default: failure = failure ?? error
        }
      }
    }
    if let failure { throw failure }
    return []
  }

  /// Returns the sitemaps that a robots.txt names.
  private static func sitemaps(in robots: Response) -> [DiscoveredFeed] {
    let scope = FeedScope(url: robots.url)
    var seen: Set<String> = []
    var found: [DiscoveredFeed] = []
    // RFC 9309, section 2.3, allows it.
    let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let text = robots.body.dropFirst(
      robots.body.starts(with: byteOrderMark) ? byteOrderMark.count : 0)
    for line in text.split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
      let words = String(decoding: line.prefix { $0 != UInt8(ascii: "#") }, as: UTF8.self)
        .split(separator: ":", maxSplits: 1)
      guard words.count == 2, String(words[0]).trimmingBlanks.lowercased() == "sitemap",
        let url = scope.webAddress(String(words[1])), seen.insert(url).inserted
      else { continue }
      found.append(DiscoveredFeed(url: url, origin: .robots))
      if found.count == DiscoveredFeed.most { break }
    }
    return found
  }
}

/// The feeds that a web page declares or links to.
private struct WebPage {
  var feeds: [DiscoveredFeed] = []
  var anchors: [DiscoveredFeed] = []
  /// The addresses of `feeds`.
  private var seen: Set<String> = []

  private static let types = FeedFormat.mediaTypes.union([
    "application/x.atom+xml", "application/x-rss+xml", "application/rss", "application/atom",
    "text/rss", "text/atom", "text/rss+xml", "text/atom+xml", "text/rdf",
  ])

  /// Whether a link leads to a feed. JSON Feed 1 had no media type but `application/json`, which
  /// other resources have too, such as the WordPress API: there the address decides.
  private static func isFeed(_ type: String, _ href: String) -> Bool {
    types.contains(type)
      || type == "application/json" && href.lowercased().contains("feed")
        && !href.contains("/wp-json/")
  }

  init(_ answer: PageClient.Response) {
    var (scope, hasBase) = (FeedScope(url: answer.url), false)
    for link in LinkHeader(answer.headerFields, of: answer.url).all(relation: "alternate") {
      add(link.target, link["type"], link["title"], scope, .header)
    }
    // Valid UTF-8, with U+FFFD in place of what is none.
    var html = String(decoding: Self.text(of: answer), as: UTF8.self)
    html.withUTF8 { bytes in
      var tokens = HTMLTokenizer(bytes)
      while let token = tokens.next() {
        guard case .start(let name, let attributes, _) = token else { continue }
        func value(_ name: String) -> String? { attributes.first { $0.name == name }?.value }
        switch name {
        case "base" where !hasBase:
          // The first one counts (HTML, §4.2.3).
          if let base = value("href").flatMap({ scope.absolute($0) }) {
            (scope, hasBase) = (FeedScope(url: base), true)
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
    guard feeds.count < DiscoveredFeed.most, Self.isFeed(name, href),
      let url = scope.webAddress(FeedScope.withoutFeedScheme(href)), seen.insert(url).inserted
    else { return }
    feeds.append(
      DiscoveredFeed(url: url, title: title, mediaType: name, format: nil, origin: origin))
  }

  private mutating func addAnchor(_ href: String, _ title: String?, _ scope: FeedScope) {
    let web = FeedScope.withoutFeedScheme(href)
    guard anchors.count < 32, let url = scope.webAddress(web),
      let path = try? URLReference(url).path.lowercased()
    else { return }
    let endings = [
      "/feed", "/feed/", "/rss", "/rss/", "/atom", ".rss", ".atom", "/rss.xml", "/atom.xml",
      "/feed.xml", "/index.xml", "/feed.json", ".rdf",
    ]
    guard web != href || endings.contains(where: { path.hasSuffix($0) }),
      !anchors.contains(where: { $0.url == url })
    else { return }
    anchors.append(
      DiscoveredFeed(url: url, title: title, mediaType: nil, format: nil, origin: .anchor))
  }
}

extension WebPage {
  /// The number of bytes in which a page declares its encoding (HTML, §4.2.5.4).
  private static let headSize = 1_024

  /// Returns the page in UTF-8; one in an unknown encoding as it is.
  ///
  /// A byte order mark counts before the charset of HTTP, and that before the page's own declaration
  /// (HTML, §13.2.3.1).
  private static func text(of answer: PageClient.Response) -> [UInt8] {
    let body = answer.body
    if body.starts(with: [0xFF, 0xFE]) {
      return TextEncoding.utf16LittleEndian.utf8(of: body.dropFirst(2)) ?? body
    }
    if body.starts(with: [0xFE, 0xFF]) {
      return TextEncoding.utf16BigEndian.utf8(of: body.dropFirst(2)) ?? body
    }
    let charset = MediaType(answer.headerFields[.contentType]).charset ?? declaredCharset(in: body)
    guard !body.starts(with: [0xEF, 0xBB, 0xBF]), let charset,
      let encoding = TextEncoding(label: charset), encoding.isASCIICompatible
    else { return body }
    return encoding.utf8(of: body[...]) ?? body
  }

  /// Returns the encoding in a `meta` element, which is `charset`, or part of a Content-Type.
  private static func declaredCharset(in body: [UInt8]) -> String? {
    body.prefix(headSize).withUnsafeBufferPointer { bytes in
      var tokens = HTMLTokenizer(bytes)
      while let token = tokens.next() {
        guard case .start("meta", let attributes, _) = token else { continue }
        for attribute in attributes {
          if attribute.name == "charset" { return attribute.value }
          if attribute.name == "content", let charset = MediaType(attribute.value).charset {
            return charset
          }
        }
      }
      return nil
    }
  }
}

extension FeedScope {
  /// Returns the absolute address; nil if it is invalid, or none of the web, such as `file:` and
  /// `ftp:`, where no feed can be requested.
  fileprivate func webAddress(_ text: String) -> String? {
    guard let url = absolute(text), let scheme = try? URLReference(url).scheme?.lowercased() else {
      return nil
    }
    return ["http", "https"].contains(scheme) ? url : nil
  }
}
