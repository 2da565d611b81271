import Foundation
import HTTPTypes
import QuireCore
import QuireFeeds
import QuireHTTP
import QuirePagination
import Synchronization
import Testing

@Suite("Feeds: pages")
struct PagingTests {
  private func ids(_ web: FeedWeb, _ url: String = "https://a.test/feed") async throws -> [String] {
    let client = PageClient(transport: web)
    var ids: [String] = []
    for try await entry in client.feed(at: url).entries { ids.append(entry.id ?? entry.url ?? "") }
    return ids
  }

  private func report(
    _ web: FeedWeb, _ url: String = "https://a.test/feed"
  ) async throws -> (ids: [String], report: WalkReport) {
    let walk = PageClient(transport: web).feed(at: url).pages.walk()
    var ids: [String] = []
    while let page = try await walk.next() { ids += page.items.compactMap(\.id) }
    return (ids, walk.report)
  }

  @Test(
    "17-Paging: a paged feed leads by rel=next (RFC 5005, section 3), and its first page says what it is"
  )
  func paged() async throws {
    let web = FeedWeb([
      "https://a.test/feed": rssPage([5, 4], "<atom:link rel='next' href='?page=2'/>"),
      "https://a.test/feed?page=2": rssPage([3, 2], "<atom:link rel='next' href='/feed?page=3'/>"),
      "https://a.test/feed?page=3": rssPage([1]),
    ])
    #expect(try await ids(web) == ["urn:5", "urn:4", "urn:3", "urn:2", "urn:1"])
    #expect(web.urls.count == 3)
    let feed = try await PageClient(transport: web).feed(at: "https://a.test/feed").properties()
    #expect(feed.title?.value == "T" && feed.pages.next == "https://a.test/feed?page=2")
    #expect(web.urls.count == 4)
  }

  @Test(
    "17-Paging: an archived feed leads by rel=prev-archive, and what archives repeat comes once (RFC 5005, section 4)"
  )
  func archived() async throws {
    let web = FeedWeb([
      "https://a.test/feed": rssPage([5, 4], "<atom:link rel='prev-archive' href='/2'/>"),
      "https://a.test/2": rssPage(
        [5, 4], "<atom:link rel='prev-archive' href='/1'/><atom:link rel='current' href='/feed'/>"),
      "https://a.test/1": rssPage([4, 3, 2, 1], "<atom:link rel='current' href='/feed'/>"),
    ])
    let (found, report) = try await report(web)
    #expect(found == [5, 4, 3, 2, 1].map { "urn:\($0)" })
    #expect(report.duplicatesDropped + report.traffic.duplicates >= 3)
    #expect(report.isComplete && report.warnings == [])
  }

  @Test(
    "17-Paging: an archive beside a next page is told of where the last page does not lead there",
    arguments: [("", ["unreadArchive"]), ("<atom:link rel='prev-archive' href='/1'/>", [])])
  func archiveBesideNext(links: String, codes: [String]) async throws {
    let both = "<atom:link rel='next' href='/2'/><atom:link rel='prev-archive' href='/1'/>"
    let web = FeedWeb([
      "https://a.test/feed": rssPage([3], both), "https://a.test/2": rssPage([2], links),
      "https://a.test/1": rssPage([1]),
    ])
    let (found, report) = try await report(web)
    #expect(found == (codes.isEmpty ? ["urn:3", "urn:2", "urn:1"] : ["urn:3", "urn:2"]))
    #expect(report.warnings.map(\.code.description) == codes)
  }

  @Test("17-Paging: no archive is told of that the next pages lead to themselves")
  func archiveAmongNext() async throws {
    let both = "<atom:link rel='next' href='/2'/><atom:link rel='prev-archive' href='/2'/>"
    let web = FeedWeb([
      "https://a.test/feed": rssPage([3], both), "https://a.test/2": rssPage([2]),
    ])
    let (found, report) = try await report(web)
    #expect(found == ["urn:3", "urn:2"] && report.warnings == [])
  }

  @Test("17-Paging: JSON Feed leads by next_url, and a Link header leads too")
  func others() async throws {
    let web = FeedWeb { url, _ in
      switch url {
      case "https://a.test/feed":
        .init(
          body: """
            {"version":"https://jsonfeed.org/version/1.1","title":"T","next_url":"https://a.test/2","items":[{"id":"1"}]}
            """)
      case "https://a.test/2":
        .init(body: rssPage([2]), fields: [.link: "</3>; rel=\"next\""])
      case "https://a.test/3": .init(body: rssPage([3]))
      default: nil
      }
    }
    #expect(try await ids(web) == ["1", "urn:2", "urn:3"])
  }

  @Test(
    "17-Paging: WordPress is asked by ?paged= until there is no page, or the server does not know it"
  )
  func wordPress() async throws {
    let generator = "<generator>https://wordpress.org/?v=6.4.2</generator>"
    let web = FeedWeb([
      "https://a.test/feed": rssPage([3], generator),
      "https://a.test/feed?paged=2": rssPage([2], generator),
      "https://a.test/feed?paged=3": rssPage([1], generator),
    ])
    var (found, report) = try await report(web)
    #expect(found == ["urn:3", "urn:2", "urn:1"])
    #expect(web.urls.last == "https://a.test/feed?paged=4" && report.isComplete)
    let deaf = FeedWeb { _, _ in .init(body: rssPage([2, 1], generator)) }
    (found, report) = try await self.report(deaf)
    #expect(found == ["urn:2", "urn:1"] && deaf.urls.count == 3)
    #expect(report.isComplete && report.warnings == [])
    let plain = FeedWeb(["https://a.test/feed": rssPage([1])])
    #expect(try await ids(plain) == ["urn:1"])
    #expect(plain.urls.count == 1)
  }

  @Test("17-Paging: a feed that says it is complete has no other page (RFC 5005, section 2)")
  func complete() async throws {
    let web = FeedWeb { _, _ in
      .init(
        body: rssPage(
          [1],
          "<generator>https://wordpress.org/</generator><atom:link rel='next' href='/2'/>"
            + "<fh:complete xmlns:fh='http://purl.org/syndication/history/1.0'/>"),
        fields: [.link: "</3>; rel=\"next\""])
    }
    let (found, report) = try await report(web)
    #expect(found == ["urn:1"] && web.urls.count == 1 && report.isComplete)
  }

  @Test("17-Paging: links that run in a circle are the end, and the report warns")
  func circle() async throws {
    let web = FeedWeb([
      "https://a.test/feed": rssPage([2], "<atom:link rel='next' href='/b'/>"),
      "https://a.test/b": rssPage([1], "<atom:link rel='next' href='/feed'/>"),
    ])
    let (found, report) = try await report(web)
    #expect(found == ["urn:2", "urn:1"] && web.urls.count == 2)
    #expect(report.warnings.map(\.code) == [.feedLoop])
    let endless = FeedWeb { url, _ in
      .init(body: rssPage([1], "<atom:link rel='next' href='\(url)x'/>"))
    }
    let other = try await self.report(endless)
    #expect(other.ids == ["urn:1"] && endless.urls.count == 4)
    #expect(other.report.warnings.map(\.code) == [.repeatingFeed])
  }

  @Test("17-Paging: archives that repeat the feed on many pages lead to their oldest entries")
  func overlappingArchives() async throws {
    // The feed has the newest 50 entries, and its archives 10 each.
    var pages = [
      "https://a.test/feed": rssPage(
        (51...100).reversed(), "<atom:link rel='prev-archive' href='/9'/>")
    ]
    for number in 0..<10 {
      let more = number > 0 ? "<atom:link rel='prev-archive' href='/\(number - 1)'/>" : ""
      let ids = (number * 10 + 1...number * 10 + 10).reversed()
      pages["https://a.test/\(number)"] = rssPage(Array(ids), more)
    }
    let (found, report) = try await report(FeedWeb(pages))
    #expect(found == (1...100).reversed().map { "urn:\($0)" })
    #expect(report.isComplete && report.warnings == [])
  }

  @Test("17-Paging: WordPress is read on where a page was published between two requests")
  func shiftedWordPress() async throws {
    let generator = "<generator>https://wordpress.org/?v=6.4.2</generator>"
    let requests = FeedCounter()
    // Pages of two entries, of which the newest two come before the second request.
    let web = FeedWeb { url, _ in
      let page = url.split(separator: "=").dropFirst().first.flatMap { Int($0) } ?? 1
      let newest = (requests.value == 1 ? 6 : 8) - 2 * (page - 1)
      requests.value += 1
      return newest > 0
        ? .init(body: rssPage([newest, newest - 1], generator)) : .init(status: 404, body: "no")
    }
    let (found, report) = try await report(web)
    #expect(found == (1...6).reversed().map { "urn:\($0)" })
    #expect(report.isComplete && report.warnings == [])
  }

  /// Returns the titles of a feed of two pages whose entries all have the same identifier.
  private func titles(_ first: [String], _ second: [String]) async throws -> [String] {
    func page(_ titles: [String], _ more: String = "") -> String {
      "<rss xmlns:atom='http://www.w3.org/2005/Atom'><channel>\(more)"
        + titles.map { "<item><title>\($0)</title><guid>x</guid><link>http://e/</link></item>" }
        .joined() + "</channel></rss>"
    }
    let web = FeedWeb([
      "https://a.test/feed": page(first, "<atom:link rel='next' href='/2'/>"),
      "https://a.test/2": page(second),
    ])
    var titles: [String] = []
    for try await entry in PageClient(transport: web).feed(at: "https://a.test/feed").entries {
      titles.append(entry.title?.value ?? "")
    }
    return titles
  }

  @Test("X19: entries that share an identifier are told by their text, and none is lost")
  func sharedIdentifiers() async throws {
    #expect(try await titles(["a", "b"], ["b", "c"]) == ["a", "b", "c"])
  }

  @Test("X19, 17-Paging: an entry comes once where a later page shares its identifier with another")
  func identifierSharedLater() async throws {
    #expect(try await titles(["a"], ["a", "b"]) == ["a", "b"])
  }

  @Test("X19: entries that read alike are told by when and where they were published")
  func alikeEntries() async throws {
    let first = "<pubDate>Mon, 02 Jan 2006 15:04:05 GMT</pubDate>"
    let second = "<pubDate>Tue, 03 Jan 2006 15:04:05 GMT</pubDate>"
    for (one, other) in [
      (first, second), ("<link>http://e/</link>\(first)", "<link>http://e/</link>\(second)"),
      ("<guid>0</guid><link>http://e/1</link>", "<guid>0</guid><link>http://e/2</link>\(second)"),
    ] {
      let items = [one, other, one].map { "<item><title>T</title>\($0)</item>" }.joined()
      let web = FeedWeb(["https://a.test/f": "<rss><channel>\(items)</channel></rss>"])
      var count = 0
      for try await _ in PageClient(transport: web).feed(at: "https://a.test/f").entries {
        count += 1
      }
      #expect(count == 2, "\(one)")
    }
  }

  @Test(
    "X19: entries of one page are the same only if all of their properties are",
    arguments: [
      "<guid isPermaLink='false'>0</guid><title>T</title><link>http://e/#</link>",
      "<guid isPermaLink='false'>0</guid><title>T</title><category>#</category>",
      "<title>T</title><link>http://e/</link><author>u#@e.test (U)</author>",
      "<title>T</title><link>http://e/</link><g:point xmlns:g='http://www.georss.org/georss'># 1</g:point>",
      "<title>T</title><link>http://e/</link><description>#</description><c:encoded xmlns:c='http://purl.org/rss/1.0/modules/content/'>x</c:encoded>",
      "<title>T</title><link>http://e/</link><d:modified xmlns:d='http://purl.org/dc/terms/'>2020-01-0#</d:modified>",
      "<title>T</title><link>http://e/</link><m:thumbnail xmlns:m='http://search.yahoo.com/mrss/' url='http://e/#.jpg'/>",
    ])
  func differentEntries(item: String) async throws {
    func page(_ numbers: [Int], _ more: String = "") -> String {
      let items = numbers.map {
        "<item>\(item.replacingOccurrences(of: "#", with: "\($0)"))</item>"
      }
      return "<rss xmlns:a='http://www.w3.org/2005/Atom'><channel>\(more)\(items.joined())"
        + "</channel></rss>"
    }
    let web = FeedWeb([
      "https://a.test/feed": page([5, 4, 3, 4], "<a:link rel='next' href='/2'/>"),
      "https://a.test/2": page([4, 3, 2]),
    ])
    let (_, report) = try await report(web)
    #expect(report.items == 4 && report.traffic.duplicates == 3)
  }

  @Test("X19: one identifier and address for all entries loses none where each has its own page")
  func sharedAcrossPages() async throws {
    #expect(try await titles(["a"], ["b"]) == ["a", "b"])
    #expect(try await titles(["a"], ["a"]) == ["a"])
  }

  @Test(
    "17-Sitemap: a sitemap index leads through its sitemaps, nested ones in place, and resumes in the middle"
  )
  func sitemapIndex() async throws {
    let space = "xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'"
    func index(_ urls: [String]) -> String {
      "<sitemapindex \(space)>" + urls.map { "<sitemap><loc>\($0)</loc></sitemap>" }.joined()
        + "</sitemapindex>"
    }
    func sitemap(_ url: String) -> String {
      "<urlset \(space)><url><loc>\(url)</loc></url></urlset>"
    }
    let web = FeedWeb([
      "https://a.test/sitemap.xml": index([
        "https://a.test/1", "https://a.test/i", "https://a.test/4",
      ]),
      "https://a.test/i": index(["https://a.test/2", "https://a.test/3"]),
      "https://a.test/1": sitemap("https://a.test/p1"),
      "https://a.test/2": sitemap("https://a.test/p2"),
      "https://a.test/3": sitemap("https://a.test/p3"),
      "https://a.test/4": sitemap("https://a.test/p4"),
    ])
    let url = "https://a.test/sitemap.xml"
    let all = try await ids(web, url)
    #expect(all == (1...4).map { "https://a.test/p\($0)" })
    #expect(web.urls.count == 6)
    // The walk can be resumed after every page, as in another process.
    let walk = PageClient(transport: web).feed(at: url).pages.walk()
    var seen: [String] = []
    while let page = try await walk.next() {
      seen += page.items.compactMap(\.url)
      guard let next = page.next else { continue }
      var rest: [String] = []
      let later = PageClient(transport: web).feed(at: url).pages.resuming(from: next)
      for try await entry in later.items { rest.append(entry.url ?? "") }
      #expect(seen + rest == all)
    }
  }

  @Test("17-Sitemap: sitemaps that list the same addresses, however many in a row, end no index")
  func repeatedSitemaps() async throws {
    let space = "xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'"
    let index = (1...7).map { "<sitemap><loc>https://a.test/\($0)</loc></sitemap>" }.joined()
    let web = FeedWeb { url, _ in
      guard let number = Int(url.dropFirst("https://a.test/".count)) else {
        return .init(body: "<sitemapindex \(space)>\(index)</sitemapindex>")
      }
      let names = number < 7 ? ["a", "b"] : ["a", "c"]
      let list = names.map { "<url><loc>https://a.test/p\($0)</loc></url>" }.joined()
      return .init(body: "<urlset \(space)>\(list)</urlset>")
    }
    let walk = PageClient(transport: web).feed(at: "https://a.test/s").pages.walk()
    var found: [String] = []
    while let page = try await walk.next() { found += page.items.compactMap(\.url) }
    #expect(found == ["a", "b", "c"].map { "https://a.test/p\($0)" })
    #expect(walk.report.isComplete && walk.report.warnings == [])
  }

  /// A transport that runs an action before each answer.
  private struct MeetingTransport: HTTPTransport {
    let base: FeedWeb
    let meanwhile: @Sendable (_ url: String) async -> Void

    func send(_ request: TransportRequest) async throws -> TransportResponse {
      await meanwhile(request.url)
      return try await base.send(request)
    }
  }

  @Test(
    "17-Sitemap: indexes are read eight deep, a deeper one is an error, and one that lists itself is passed over"
  )
  func nestedIndexes() async throws {
    func index(_ name: String) -> String {
      "<sitemapindex><sitemap><loc>https://a.test/\(name)</loc></sitemap></sitemapindex>"
    }
    func web(_ depth: Int, _ last: String) -> FeedWeb {
      var pages = (1..<depth).reduce(into: [:]) { $0["https://a.test/\($1)"] = index("\($1 + 1)") }
      pages["https://a.test/\(depth)"] = index(last)
      pages["https://a.test/s"] = "<urlset><url><loc>https://a.test/p</loc></url></urlset>"
      return FeedWeb(pages)
    }
    #expect(try await ids(web(8, "s"), "https://a.test/1") == ["https://a.test/p"])
    #expect(try await ids(web(8, "8"), "https://a.test/1") == [])
    let error = await #expect(throws: PageError.self) {
      _ = try await ids(web(9, "s"), "https://a.test/1")
    }
    #expect(error?.code == .limitExceeded && error?.message.contains("https://a.test/9") == true)
  }

  @Test("17-Sitemap: an index whose address has a secret is requested once in a walk")
  func secretIndex() async throws {
    let list = ["1", "2"].map { "<sitemap><loc>https://a.test/\($0)</loc></sitemap>" }.joined()
    let web = FeedWeb([
      "https://a.test/i?token=s3cr3t-t0ken": "<sitemapindex>\(list)</sitemapindex>",
      "https://a.test/1": "<urlset><url><loc>https://a.test/p1</loc></url></urlset>",
      "https://a.test/2": "<urlset><url><loc>https://a.test/p2</loc></url></urlset>",
    ])
    let found = try await ids(web, "https://a.test/i?token=s3cr3t-t0ken")
    #expect(found == ["https://a.test/p1", "https://a.test/p2"])
    #expect(web.urls.count == 3)
  }

  @Test("17-Sitemap: a walk through an index keeps its place while another goes through it")
  func twoWalks() async throws {
    let space = "xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'"
    func index(_ names: [String]) -> String {
      "<sitemapindex \(space)>"
        + names.map { "<sitemap><loc>https://a.test/\($0)</loc></sitemap>" }.joined()
        + "</sitemapindex>"
    }
    func sitemap(_ name: String) -> String {
      "<urlset \(space)><url><loc>https://a.test/p\(name)</loc></url></urlset>"
    }
    let web = FeedWeb([
      "https://a.test/s": index(["i", "3"]), "https://a.test/i": index(["1", "2"]),
      "https://a.test/1": sitemap("1"), "https://a.test/2": sitemap("2"),
      "https://a.test/3": sitemap("3"),
    ])
    let other = Mutex<FeedListing?>(nil)
    let meeting = MeetingTransport(base: web) { url in
      guard url == "https://a.test/1", let listing = other.withLock({ $0.take() }) else { return }
      _ = try? await listing.pages.collect()
    }
    let listing = PageClient(transport: meeting).feed(at: "https://a.test/s")
    other.withLock { $0 = listing }
    var found: [String] = []
    for try await entry in listing.entries { found.append(entry.url ?? "") }
    #expect(found == (1...3).map { "https://a.test/p\($0)" })
    #expect(web.urls.count == 10)
  }

  @Test(
    "17-Sitemap: sitemaps of an index that are gone are passed over with a warning each, also in a row, at the end and in what is resumed",
    arguments: [404, 410])
  func missingSitemaps(status: Int) async throws {
    let space = "xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'"
    @Sendable func index(_ names: [String]) -> String {
      "<sitemapindex \(space)>"
        + names.map { "<sitemap><loc>https://a.test/\($0)</loc></sitemap>" }.joined()
        + "</sitemapindex>"
    }
    @Sendable func body(_ url: String) -> String? {
      let name = url.dropFirst("https://a.test/".count)
      if name == "sitemap.xml" { return index(["gone1", "gone2", "1", "inner", "2", "gone3"]) }
      if name == "inner" { return index(["3", "gone4"]) }
      guard name.count == 1 else { return nil }
      return "<urlset \(space)><url><loc>https://a.test/p\(name)</loc></url></urlset>"
    }
    let web = FeedWeb { url, _ in body(url).map { .init(body: $0) } ?? .init(status: status) }
    let pages = PageClient(transport: web).feed(at: "https://a.test/sitemap.xml").pages
    let walk = pages.walk()
    var (found, places): ([String], [Position]) = ([], [])
    while let page = try await walk.next() {
      found += page.items.compactMap(\.url)
      if let next = page.next { places.append(next) }
    }
    #expect(found == [1, 3, 2].map { "https://a.test/p\($0)" })
    let warnings = walk.report.warnings
    #expect(warnings.map(\.code) == Array(repeating: .missingSitemap, count: 4))
    for (number, warning) in warnings.enumerated() {
      let name = "https://a.test/gone\([1, 2, 4, 3][number])"
      #expect(warning.message.contains(name) && warning.message.contains("\(status)"), "\(warning)")
    }
    // The walk can be resumed at every position, as in another process.
    for (number, place) in places.enumerated() {
      let later = PageClient(transport: web).feed(at: "https://a.test/sitemap.xml").pages
      var rest: [String] = []
      for try await item in later.resuming(from: place).items { rest.append(item.url ?? "") }
      #expect(found.suffix(rest.count) == rest[...], "\(number): \(rest)")
      #expect(rest.count == [3, 3, 3, 2, 2, 1, 1, 0][number], "\(number): \(rest)")
    }
  }

  @Test(
    "17-Sitemap: an index that is gone itself, a sitemap that fails otherwise, and a missing page of a feed stay errors"
  )
  func otherFailures() async throws {
    let space = "xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'"
    let web = FeedWeb { url, _ in
      switch url {
      case "https://a.test/s":
        .init(
          body:
            "<sitemapindex \(space)><sitemap><loc>https://a.test/refused</loc></sitemap></sitemapindex>"
        )
      case "https://a.test/refused": .init(status: 403)
      case "https://a.test/feed":
        .init(body: rssPage([2, 1], "<atom:link rel='next' href='/none'/>"))
      default: nil
      }
    }
    for url in ["https://a.test/s", "https://a.test/feed", "https://a.test/nothing"] {
      let error = await #expect(throws: PageError.self) { try await ids(web, url) }
      #expect(error?.code == .status, "\(url)")
    }
  }

  @Test(
    "17-Sitemap: sitemaps that an index says were changed before a date are not asked for where they are not wanted"
  )
  func oldSitemaps() async throws {
    let space = "xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'"
    let dates = [
      "1": "2024-05-01", "2": "2025-05-01", "3": "soon", "4": "2024", "5": "2024-05-31T20:00:00Z",
    ]
    let index = dates.sorted { $0.key < $1.key }.map { name, date in
      "<sitemap><loc>https://a.test/\(name)</loc><lastmod>\(date)</lastmod></sitemap>"
    }
    let web = FeedWeb { url, _ in
      url.hasSuffix("/s")
        ? .init(body: "<sitemapindex \(space)>\(index.joined())</sitemapindex>")
        : .init(body: "<urlset \(space)><url><loc>\(url)/p</loc></url></urlset>")
    }
    let client = PageClient(transport: web)
    let since = try #require(FeedDate.read("2024-06-01"))
    for (options, names) in [
      (FeedOptions(), ["1", "2", "3", "4", "5"]),
      (FeedOptions(sitemapsSince: since), ["2", "3", "4", "5"]),
    ] {
      var found: [String] = []
      for try await entry in client.feed(at: "https://a.test/s", options: options).entries {
        found.append(entry.url ?? "")
      }
      #expect(found == names.map { "https://a.test/\($0)/p" })
    }
  }

  @Test(
    "R5: next links stay on the feed's host, with and without www., and become https where the feed is"
  )
  func hosts() async throws {
    let web = FeedWeb([
      "https://a.test/feed": rssPage([3], "<atom:link rel='next' href='http://a.test/2'/>"),
      "https://a.test/2": rssPage([2], "<atom:link rel='next' href='https://www.a.test/3'/>"),
      "https://www.a.test/3": rssPage([1], "<atom:link rel='next' href='https://evil.test/4'/>"),
    ])
    let walk = PageClient(transport: web).feed(at: "https://a.test/feed").pages.walk()
    var ids: [String] = []
    await #expect(throws: PageError.self) {
      while let page = try await walk.next() { ids += page.items.compactMap(\.id) }
    }
    #expect(ids == ["urn:3", "urn:2", "urn:1"])
    #expect(!web.urls.contains { $0.contains("evil") })
  }

  @Test(
    "17-Paging: a next link by http that names the port of http, or the feed's own, becomes https, too"
  )
  func ports() async throws {
    let web = FeedWeb([
      "https://a.test/feed": rssPage([2], "<atom:link rel='next' href='http://a.test:80/2?x'/>"),
      "https://a.test/2?x": rssPage([1]),
      "https://a.test:8443/feed": rssPage(
        [4], "<atom:link rel='next' href='http://a.test:8443/2'/>"),
      "https://a.test:8443/2": rssPage([3]),
    ])
    #expect(try await ids(web) == ["urn:2", "urn:1"])
    #expect(try await ids(web, "https://a.test:8443/feed") == ["urn:4", "urn:3"])
  }

  @Test(
    "X11, N20: a body that only its connection ends is not taken for whole without its end tags")
  func unproven() async throws {
    let cut = "<rss><channel><item><title>T</title></item>"
    let web = FeedWeb { url, _ in
      .init(body: cut, framing: url.hasSuffix("open") ? .untilClose : .explicit)
    }
    let client = PageClient(transport: web)
    let whole = try await client.feed(at: "https://a.test/whole").pages.collect()
    #expect(whole.count == 1)
    let error = await #expect(throws: PageError.self) {
      try await client.feed(at: "https://a.test/open").pages.collect()
    }
    #expect(error?.code == .truncated)
  }

  @Test("17-Discovery: a page's feeds are found by links, by anchors, at usual paths, or in itself")
  func discovery() async throws {
    let web = FeedWeb([
      "https://a.test/": """
      <!doctype html><html><head><base href="/blog/"><LINK REL="alternate stylesheet" HREF="x.css" type="text/css">
      <link rel=alternate type="application/rss+xml" title="Main &amp; all" href=feed.xml>
      <link rel="alternate" type="application/atom+xml; charset=utf-8" href="/atom">
      <link rel="alternate" hreflang="de" href="/de"></head></html>
      """,
      "https://b.test/":
        "<html><body><a href='/about'>x</a><a href='/news/rss.xml'>RSS</a></body></html>",
      "https://c.test/": "<html><body>nothing</body></html>",
      "https://c.test/feed.xml": rssPage([1]),
      "https://d.test/": rssPage([1]),
    ])
    let client = PageClient(transport: web)
    let links = try await client.discoverFeeds(at: "https://a.test/")
    #expect(links.map(\.url) == ["https://a.test/blog/feed.xml", "https://a.test/atom"])
    #expect(links[0].title == "Main & all" && links[0].origin == .link)
    let anchors = try await client.discoverFeeds(at: "https://b.test/")
    #expect(anchors.map(\.url) == ["https://b.test/news/rss.xml"] && anchors[0].origin == .anchor)
    let usual = try await client.discoverFeeds(at: "https://c.test/")
    #expect(usual.map(\.url) == ["https://c.test/feed.xml"] && usual[0].origin == .wellKnownPath)
    let itself = try await client.discoverFeeds(at: "https://d.test/")
    #expect(itself.map(\.format?.family) == [.rss] && itself[0].origin == .itself)
  }

  @Test("R20, 17-Html: no secret of a feed's address is in its entries")
  func secretBase() async throws {
    let page = """
      <rss version='2.0'><channel><item><guid>1</guid><link>#e1</link><title>A &lt;b&gt;x&lt;/b&gt;</title>
      <description>&lt;a href="b"&gt;x&lt;/a&gt;</description></item></channel></rss>
      """
    let json =
      #"{"version":"https://jsonfeed.org/version/1.1","items":[{"id":"1","content_html":"<p>x</p>"}]}"#
    let web = FeedWeb([
      "https://a.test/f?token=s3cr3t-t0ken": page, "https://a.test/s3cr3t-t0ken/f": page,
      "https://a.test/j?token=s3cr3t-t0ken": json,
    ])
    for (url, base) in [
      ("f?token=s3cr3t-t0ken", "f"), ("s3cr3t-t0ken/f", "…/f"), ("j?token=s3cr3t-t0ken", "j"),
    ] {
      let listing = PageClient(transport: web).feed(
        at: "https://a.test/" + url, secrets: ["s3cr3t-t0ken"])
      for try await entry in listing.entries {
        let text = entry.content ?? entry.summary
        #expect(text?.base == "https://a.test/" + base)
        #expect(text?.sanitized().value.contains("s3cr3t") == false)
        #expect(entry.title?.base?.contains("s3cr3t") != true)
      }
    }
  }
}
