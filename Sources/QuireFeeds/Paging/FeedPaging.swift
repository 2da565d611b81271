import HTTPTypes
import QuireCore
import QuirePagination
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Finds the next page of a feed.
final class FeedPaging: Sendable {
  private let options: FeedOptions
  /// The indexes used last, by address, the latest last. All walks of a feed share them.
  private let indexes = Mutex<[(url: String, sitemaps: [ListedSitemap])]>([])
  /// The maximum number of indexes to keep: twice what a walk is in at most.
  private static let maximumIndexes = 2 * deepest
  /// The maximum number of nested indexes, which the protocol of sitemaps does not know at all.
  private static let deepest = 8

  /// A sitemap of an index, and whether it is to be requested (`FeedOptions.sitemapsSince`).
  private struct ListedSitemap {
    let url: String
    let isWanted: Bool
  }

  init(_ options: FeedOptions) { self.options = options }

  /// Returns the link policy of a feed: by default its own host, with and without `www.`.
  func links(from url: String) throws(PageError) -> LinkPolicy {
    if let links = options.links { return links }
    let reference = try URLReference(url)
    let origin = try Origin(url: url)
    guard let authority = reference.authority else { return .sameOrigin }
    let other =
      origin.host.hasPrefix("www.") ? String(origin.host.dropFirst(4)) : "www." + origin.host
    return .allow([authority, other])
  }

  /// Returns the page after `page`; nil if that is the last.
  func next(_ page: AnsweredPage) throws -> NextPage? {
    guard let document = page.document as? FeedDocument else { return nil }
    if let step = try sitemap(after: page, document) { return step }
    let feed = document.feed
    // A complete document has the whole feed (RFC 5005, section 2).
    if page.state["sitemaps"] != nil || feed.pages.isComplete { return nil }
    if let link = feed.pages.older ?? Self.linkField(of: page) {
      return NextPage(PageRequest(url: Self.secured(link, like: page.url)))
    }
    return numbered(after: page, feed)
  }

  /// Returns the `next` link of the header (RFC 8288), which may be relative.
  private static func linkField(of page: AnsweredPage) -> String? {
    LinkHeader(page.headerFields, of: page.url).first(relation: "next")?.target
  }

  /// Returns a link with https in place of http, if it leads to the host of a page that was loaded
  /// by https.
  static func secured(_ link: String, like url: String) -> String {
    guard url.hasPrefix("https://"), link.hasPrefix("http://"),
      let target = try? Origin(url: link), let page = try? Origin(url: url),
      target.host == page.host, [80, page.port].contains(target.port),
      var secured = try? URLReference(link)
    else { return link }
    secured.scheme = "https"
    if target.port != page.port, let authority = secured.authority, authority.hasSuffix(":80") {
      secured.authority = String(authority.dropLast(3))
    }
    return secured.text
  }

  // MARK: WordPress

  /// Returns the page with the next number (`?paged=`), if WordPress generated the feed and it has
  /// no links to pages.
  private func numbered(after page: AnsweredPage, _ feed: Feed) -> NextPage? {
    guard options.followsNumberedPages, page.itemCount > 0,
      feed.generator?.lowercased().contains("wordpress") == true,
      var url = try? URLReference(page.request.url)
    else { return nil }
    let query = QueryString(url.query)
    let current = page.state["paged"]?.integer ?? query["paged"].flatMap { Int($0) } ?? 1
    guard 1..<100_000 ~= current else { return nil }
    url.query = query.replacing([("paged", String(current + 1))]).raw
    return NextPage(
      PageRequest(url: url.text), state: ["paged": .number(String(current + 1))])
  }

  /// Whether a position leads to a numbered page (`?paged=`), so that an error there may mean the
  /// end.
  static func isNumbered(_ position: Position) -> Bool {
    (try? Bookmark(position))?.state?["paged"] != nil
  }

  // MARK: Sitemaps

  /// Whether a position leads to a sitemap that an index lists.
  static func isSitemap(_ position: Position) -> Bool {
    !stack((try? Bookmark(position))?.state).isEmpty
  }

  /// Returns the sitemap after a page: the first one of an index, or the next one in the index that
  /// lists the page.
  private func sitemap(after page: AnsweredPage, _ document: FeedDocument) throws -> NextPage? {
    var stack = Self.stack(page.state)
    if document.feed.format.family == .sitemapIndex {
      let url = page.request.url
      keep(document, at: url)
      // An index that contains itself is skipped: its sitemaps are read anyway.
      if !stack.contains(where: { $0.index == url }) {
        guard stack.count < Self.deepest else { throw Self.tooDeep(url) }
        stack.append((url, -1))
      }
    }
    return try sitemap(after: stack, like: page.url)
  }

  /// Returns the sitemap after the missing one at a position; nil if that was the last.
  func sitemap(afterMissing position: Position) throws -> Bookmark? {
    let missing = try Bookmark(position)
    guard case .request(let link) = missing.target, let url = link["href"]?.string,
      let next = try sitemap(after: Self.stack(missing.state), like: url)
    else { return nil }
    var bookmark = Bookmark(.request(["href": .string(next.request.url), "method": "GET"]))
    bookmark.state = next.state
    return bookmark
  }

  /// Returns the next sitemap of the innermost index that has one left. Throws `cursorExpired` if
  /// an index has not been read.
  private func sitemap(
    after place: [(index: String, place: Int)], like url: String
  ) throws -> NextPage? {
    var stack = place
    while let (index, place) = stack.popLast() {
      guard let list = sitemaps(at: index) else {
        throw PageError(
          .cursorExpired, "The sitemap index that lists this sitemap is not known. Start again.")
      }
      guard -1..<list.count ~= place,
        let next = list[(place + 1)...].firstIndex(where: \.isWanted)
      else { continue }
      stack.append((index, next))
      let state = JSONValue.array(
        stack.map { .array([.string($0.index), .number(String($0.place))]) })
      return NextPage(
        PageRequest(url: Self.secured(list[next].url, like: url)), state: ["sitemaps": state])
    }
    return nil
  }

  /// Returns the sitemaps of an index. Those whose last change, according to the index, is before
  /// `FeedOptions.sitemapsSince` are not wanted.
  private func sitemaps(of index: FeedDocument) -> [ListedSitemap] {
    zip(index.feed.sitemaps, index.sitemapDates).map { url, date in
      var isOld = false
      if let since = options.sitemapsSince, let date { isOld = date < since }
      return ListedSitemap(url: url, isWanted: !isOld)
    }
  }

  /// The error of an index that is in too many others; what it lists would be missing.
  private static func tooDeep(_ url: String) -> PageError {
    // Without the query, which may have a secret.
    let place = ServerText(String(url.prefix { $0 != "?" }), limit: 200)
    return PageError(
      .limitExceeded,
      "The sitemap index at \(place) is nested in \(deepest) others, and no deeper one is "
        + "read. Read it by its own address.")
  }

  private func keep(_ index: FeedDocument, at url: String) {
    let sitemaps = sitemaps(of: index)
    indexes.withLock { indexes in
      indexes.removeAll { $0.url == url }
      indexes.append((url, sitemaps))
      if indexes.count > Self.maximumIndexes { indexes.removeFirst() }
    }
  }

  /// Returns the sitemaps of an index; nil if it is not kept.
  private func sitemaps(at url: String) -> [ListedSitemap]? {
    indexes.withLock { indexes in
      guard let place = indexes.firstIndex(where: { $0.url == url }) else { return nil }
      indexes.append(indexes.remove(at: place))
      return indexes.last?.sitemaps
    }
  }

  /// Returns the indexes that contain a page, outermost first, each with the place of the page's
  /// sitemap in it.
  private static func stack(_ state: JSONValue?) -> [(index: String, place: Int)] {
    guard case .array(let levels)? = state?["sitemaps"] else { return [] }
    return levels.compactMap { level in
      guard case .array(let parts) = level, parts.count == 2, let url = parts[0].string,
        let place = parts[1].integer
      else { return nil }
      return (url, place)
    }
  }

  /// Returns the indexes that must be read again before the page after a resumed position can be
  /// found.
  func missingIndexes(at position: Position) -> [String] {
    Self.stack((try? Bookmark(position))?.state).map(\.index).filter { sitemaps(at: $0) == nil }
  }

  /// Stores an index that a walk passes by the address that the next position has of it, which lacks
  /// secrets, so that it is not requested again.
  func passed(_ document: any PageDocument, at position: Position, before next: Position) {
    guard (document as? FeedDocument)?.feed.format.family == .sitemapIndex else { return }
    let outer = Self.stack((try? Bookmark(position))?.state).map(\.index)
    found(document, at: missingIndexes(at: next).filter { !outer.contains($0) })
  }

  /// Stores an index that was read again, by its address and by the redacted address that positions
  /// contain.
  func found(_ document: any PageDocument, at urls: [String]) {
    guard let document = document as? FeedDocument else { return }
    for url in urls { keep(document, at: url) }
  }
}
