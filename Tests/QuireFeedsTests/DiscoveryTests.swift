import HTTPTypes
import QuireCore
import QuireFeeds
import QuireHTTP
import QuirePagination
import Testing

@Suite("Feeds: finding them")
struct DiscoveryTests {
  /// A web page, and the addresses of the feeds that discovery must find from it.
  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let page: String
    var header: String?
    let expected: [String]

    var testDescription: String { name }
  }

  static let cases: [Case] = [
    Case(
      name: "links of every format, in their order, each address once",
      page: """
        <head><link rel="alternate" type="application/rss+xml" href="/rss"><link rel=alternate type=application/atom+xml href=/atom>
        <link rel="alternate" type="application/feed+json" href="/json"/><link rel="alternate" type="application/rdf+xml" href="/rdf">
        <link rel="alternate" type="application/rss+xml" href="https://a.test/rss"><link rel="ALTERNATE home" type="Application/RSS+XML; charset=utf-8" href="/two">
        """,
      expected: ["/rss", "/atom", "/json", "/rdf", "/two"]),
    Case(
      name: "media types of before, and JSON Feed 1 as any JSON",
      page: """
        <link rel=alternate type="text/xml" href="/x"><link rel=alternate type="application/xml" href="/y"><link rel=alternate type="application/x.atom+xml" href="/z">
        <link rel=alternate type="application/json" href="/feed.json"><link rel=feed href="/f">
        """,
      expected: ["/x", "/y", "/z", "/feed.json", "/f"]),
    Case(
      name: "what is no feed is none: other languages, APIs, oEmbed, style sheets, searches",
      page: """
        <link rel="alternate" hreflang="de" href="/de"><link rel="alternate" type="application/json" href="/wp-json/wp/v2/posts/1">
        <link rel="alternate" type="application/json+oembed" href="/o"><link rel="alternate stylesheet" type="text/css" href="/s">
        <link rel="search" type="application/opensearchdescription+xml" href="/q"><link type="application/rss+xml" href="/norel">
        <a href="/about">About</a>
        """,
      expected: []),
    Case(
      name: "a base before the links, entities and spaces in addresses, in capitals",
      page:
        "<BASE HREF='/b/'><LINK REL='alternate' TYPE='application/rss+xml' HREF=' f?a=1&amp;b=2\n'>",
      expected: ["/b/f?a=1&b=2"]),
    Case(
      name: "comments and scripts are not looked into",
      page: """
        <!-- <link rel=alternate type=application/rss+xml href=/no> --><script>"<link rel=alternate type=application/rss+xml href=/no2>"</script>
        <link rel=alternate type=application/rss+xml href=/yes>
        """,
      expected: ["/yes"]),
    Case(
      name: "a Link field before the page's own",
      page: "<link rel=alternate type=application/atom+xml href=/page>",
      header:
        "</field>; rel=\"alternate\"; type=\"application/rss+xml\", </de>; rel=alternate; hreflang=de",
      expected: ["/field", "/page"]),
    Case(
      name: "links for people, where a page names no feed",
      page:
        "<a href='/blog/feed/'>x</a><a href='index.rdf'>y</a><a href='/RSS.xml'>z</a><a href='/rssnews'>no</a><a href='mailto:feed@a.test'>no</a>",
      expected: ["/blog/feed/", "/index.rdf", "/RSS.xml"]),
    Case(
      name: "the scheme of feeds in links of the head",
      page: """
        <link rel=alternate type=application/rss+xml href='feed:https://a.test/x'>
        <link rel=feed href='FEED://HTTPS://a.test/y'>
        """,
      expected: ["/x", "/y"]),
    Case(
      name: "the first base of a page",
      page: "<base target=x><base href=/one/><base href=/two/><link rel=feed href=f>",
      expected: ["/one/f"]),
    Case(
      name: "addresses that would run something are none",
      page:
        "<link rel=alternate type=application/rss+xml href='javascript:x()'><link rel=alternate type=application/rss+xml href=/ok>",
      expected: ["/ok"]),
    Case(
      name: "addresses where no feed can be requested are none",
      page:
        "<link rel=feed href='file:///etc/x'><link rel=feed href='ftp://a.test/f'><link rel=feed href=/f>",
      expected: ["/f"]),
  ]

  @Test("17-Discovery: the feeds of a web page are found, and nothing else", arguments: cases)
  func found(page: Case) async throws {
    let web = FeedWeb { url, _ in
      guard url == "https://a.test/" else { return nil }
      var answer = FeedWeb.Answer(body: "<!doctype html><html>\(page.page)</html>")
      if let header = page.header { answer.fields[.link] = header }
      return answer
    }
    let found = try await PageClient(transport: web).discoverFeeds(at: "https://a.test/")
    #expect(found.map(\.url) == page.expected.map { "https://a.test" + $0 })
  }

  @Test(
    "17-Discovery: of a page that names more than a thousand feeds, the first thousand are given")
  func most() async throws {
    let links = (0..<1_200).map { "<link rel=feed href=/f\($0 / 2)><link rel=feed href=/g\($0)>" }
    let web = FeedWeb(["https://a.test/": "<html>\(links.joined())</html>"])
    let found = try await PageClient(transport: web).discoverFeeds(at: "https://a.test/")
    #expect(found.count == 1_000 && Set(found.map(\.url)).count == 1_000)
    #expect(found.prefix(3).map(\.url) == ["f0", "g0", "g1"].map { "https://a.test/" + $0 })
  }

  @Test(
    "17-Discovery: a page without feeds leads to the usual paths, and to a sitemap at last",
    arguments: [
      "/feed", "/rss", "/rss.xml", "/atom.xml", "/feed.xml", "/index.xml", "/feed.json",
      "/sitemap.xml",
    ])
  func usual(path: String) async throws {
    let web = FeedWeb { url, _ in
      switch url {
      case "https://a.test/blog/post": .init(body: "<html><body>no feed</body></html>")
      // Like many servers, this one answers missing paths with a web page.
      case "https://a.test" + path: .init(body: path == "/sitemap.xml" ? "<urlset/>" : rssPage([1]))
      default: .init(body: "<html>Welcome</html>")
      }
    }
    let found = try await PageClient(transport: web).discoverFeeds(at: "https://a.test/blog/post")
    #expect(found.map(\.url) == ["https://a.test" + path] && found[0].origin == .wellKnownPath)
  }

  @Test("17-Discovery: sitemaps that robots.txt names are found where nothing else leads to a feed")
  func robots() async throws {
    let web = FeedWeb([
      "https://a.test/": "<html>Welcome</html>",
      "https://a.test/robots.txt":
        "User-agent: *\r\nDisallow: /x\r\n sitemap : https://b.test/s.xml # all\nSitemap: /t.xml\nSitemap:\n"
        + "Sitemap: https://b.test/s.xml\nSitemap: javascript:x()",
      "https://a.test/sitemap.xml": "<urlset/>",
    ])
    let found = try await PageClient(transport: web).discoverFeeds(at: "https://a.test/")
    #expect(found.map(\.url) == ["https://b.test/s.xml", "https://a.test/t.xml"])
    #expect(found.allSatisfy { $0.origin == .robots })
  }

  /// The title of a feed, as a web page in windows-1251 has it: "Лента".
  private static let ribbon: [UInt8] = [0xCB, 0xE5, 0xED, 0xF2, 0xE0]

  @Test(
    "17-Discovery: the title of a feed is read in the encoding of its web page",
    arguments: [
      ("", "text/html; charset=windows-1251"), ("<meta charset='windows-1251'>", "text/html"),
      (
        "<script charset=utf-8></script><meta http-equiv=Content-Type content='text/html; charset=cp1251'>",
        nil
      ),
    ])
  func encodings(head: String, type: String?) async throws {
    let link = "<html>\(head)<link rel=feed href=/f title='"
    let page = Array(link.utf8) + Self.ribbon + Array("'>".utf8)
    let web = ByteWeb(page, type)
    let found = try await PageClient(transport: web).discoverFeeds(at: "https://a.test/")
    #expect(found.map(\.title) == ["Лента"])
  }

  @Test(
    "17-Discovery: a web page in UTF-16 has its feeds", arguments: [[0xFF, 0xFE], [0xFE, 0xFF]])
  func wide(mark: [UInt8]) async throws {
    let units = Array("<html><link rel=feed href=/f title=Лента>".utf16)
    let page = units.flatMap { unit in
      let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xFF))
      return mark[0] == 0xFF ? [low, high] : [high, low]
    }
    let web = ByteWeb(mark + page, "text/html")
    let found = try await PageClient(transport: web).discoverFeeds(at: "https://a.test/")
    #expect(found.map(\.title) == ["Лента"] && found.map(\.url) == ["https://a.test/f"])
  }

  @Test("17-Discovery: a byte order mark hides no sitemap of robots.txt")
  func markedRobots() async throws {
    let web = FeedWeb([
      "https://a.test/": "<html>Welcome</html>",
      "https://a.test/robots.txt": "\u{FEFF}Sitemap: /s.xml\nSitemap: ftp://a.test/t.xml",
    ])
    let found = try await PageClient(transport: web).discoverFeeds(at: "https://a.test/")
    #expect(found.map(\.url) == ["https://a.test/s.xml"])
  }

  @Test(
    "17-Discovery: a list of subscriptions gives all of its feeds, or the error that it has too many, or is too deep"
  )
  func longList() async throws {
    let outlines = (0..<1_500).map { "<outline xmlUrl='https://b.test/\($0)'/>" }.joined()
    let deep = String(repeating: "<outline text='F'>", count: 70)
    let client = PageClient(
      transport: FeedWeb([
        "https://a.test/l": "<opml><body>\(outlines)</body></opml>",
        "https://a.test/d": "<opml><body>\(deep)<outline xmlUrl='https://b.test/1'/>"
          + String(repeating: "</outline>", count: 70) + "</body></opml>",
      ]))
    #expect(try await client.discoverFeeds(at: "https://a.test/l").count == 1_500)
    var options = FeedOptions()
    options.limits.items = 1_499
    let long = await #expect(throws: PageError.self) {
      _ = try await client.discoverFeeds(at: "https://a.test/l", options: options)
    }
    #expect(long?.code == .limitExceeded && long?.remedies.isEmpty == false)
    let tooDeep = await #expect(throws: PageError.self) {
      _ = try await client.discoverFeeds(at: "https://a.test/d")
    }
    #expect(tooDeep?.code == .limitExceeded)
    options.limits.depth = 80
    #expect(try await client.discoverFeeds(at: "https://a.test/d", options: options).count == 1)
  }

  @Test("17-Discovery: a feed that is found is read by the options that are given")
  func limited() async throws {
    let client = PageClient(transport: FeedWeb(["https://a.test/f": rssPage([1, 2, 3])]))
    var options = FeedOptions()
    options.limits.items = 2
    let error = await #expect(throws: PageError.self) {
      _ = try await client.discoverFeeds(at: "https://a.test/f", options: options)
    }
    #expect(error?.code == .limitExceeded)
    options.limits.items = 3
    #expect(try await client.discoverFeeds(at: "https://a.test/f", options: options).count == 1)
  }

  @Test(
    "17-Discovery: a list of subscriptions gives its feeds, and says so where it is read as a feed")
  func subscriptions() async throws {
    let web = FeedWeb([
      "https://a.test/list.opml": """
      <?xml version="1.0"?><opml version="2.0"><head/><body><outline text="News">
      <outline text="A" xmlUrl="/a.xml"/><outline xmlUrl="javascript:x()"/>
      <outline text="B" xmlUrl="https://b.test/f"/></outline></body></opml>
      """
    ])
    let client = PageClient(transport: web)
    let found = try await client.discoverFeeds(at: "https://a.test/list.opml")
    #expect(found.map(\.url) == ["https://a.test/a.xml", "https://b.test/f"])
    #expect(found.map(\.title) == ["A", "B"] && found[0].origin == .subscription)
    let error = await #expect(throws: PageError.self) {
      _ = try await client.feed(at: "https://a.test/list.opml").properties()
    }
    #expect(
      error?.message.contains("OPML") == true && error?.remedies.first?.setting == .feedAddress)
  }

  @Test(
    "17-Discovery: credentials stay with the server that was asked, wherever it redirects, and the program's name goes along"
  )
  func redirected() async throws {
    let web = FeedWeb { url, _ in
      switch url {
      case "https://a.test/": .init(status: 302, fields: [.location: "https://b.test/"])
      case "https://b.test/": .init(body: "<html><body>no feed</body></html>")
      case "https://b.test/feed": .init(body: rssPage([1]))
      default: nil
      }
    }
    let client = PageClient(
      transport: web, headers: [.authorization: "Bearer 0123456789", .userAgent: "Reader/1.0"])
    let found = try await client.discoverFeeds(at: "https://a.test/")
    #expect(found.map(\.url) == ["https://b.test/feed"])
    #expect(web.fields.map { $0[.authorization] } == ["Bearer 0123456789", nil, nil])
    #expect(web.fields.map { $0[.userAgent] } == ["Reader/1.0", "Reader/1.0", "Reader/1.0"])
  }

  @Test(
    "17-Discovery: a list of subscriptions is known by its root, in any encoding, behind any comment, with any prefix",
    arguments: [
      "<!--\(String(repeating: " ", count: 5_000))--><opml><body>%</body></opml>",
      "<o:opml xmlns:o='urn:o'><o:body>%</o:body></o:opml>",
      "<?xml version='1.0'?><!DOCTYPE opml [<!ELEMENT opml ANY>]>\n<opml><body>%</body></opml>",
      "<br/><opml><body>%</body></opml>",
    ])
  func roots(text: String) async throws {
    let outline = text.hasPrefix("<o:") ? "o:outline" : "outline"
    let list = text.replacing("%", with: "<\(outline) text='A' xmlUrl='/a'/>")
    let web = FeedWeb(["https://a.test/l": list])
    let found = try await PageClient(transport: web).discoverFeeds(at: "https://a.test/l")
    #expect(found.map(\.url) == ["https://a.test/a"] && web.urls.count == 1)
  }

  @Test(
    "17-Discovery: a feed, or a list, that cannot be read is the error, and no other path is asked",
    arguments: [
      ("<rss version='2.0'><channel><item><title>a", PageError.Code.truncated),
      ("<!DOCTYPE rss [<!ENTITY a 'b'>]><rss><channel/></rss>", .malformed),
      ("<opml><body><outline text='A' xmlUrl='/a'/><outline text='", .truncated),
    ])
  func broken(text: String, code: PageError.Code) async throws {
    let web = FeedWeb(["https://a.test/f": text])
    let error = await #expect(throws: PageError.self) {
      _ = try await PageClient(transport: web).discoverFeeds(at: "https://a.test/f")
    }
    #expect(error?.code == code && web.urls.count == 1)
  }

  @Test(
    "17-Discovery: usual paths that are refused are the error, and a server that asks for fewer requests gets none",
    arguments: [(401, 12), (500, 12), (429, 2), (503, 2)])
  func refused(status: Int, requests: Int) async throws {
    let web = FeedWeb { url, _ in
      url == "https://a.test/" ? .init(body: "<html>Welcome</html>") : .init(status: status)
    }
    var client = PageClient(transport: web)
    client.configuration.retry = .feed
    let error = await #expect(throws: PageError.self) {
      _ = try await client.discoverFeeds(at: "https://a.test/")
    }
    #expect(error?.response?.head.status.code == status)
    #expect(web.urls.count == requests)
  }

  @Test("17-Media: JSON that is no feed is refused as such")
  func jsonList() {
    let error = #expect(throws: PageError.self) { try parsed("[{\"id\":\"1\"}]") }
    #expect(error?.code == .unexpectedMediaType && error?.message.contains("JSON Feed") == true)
  }
}

/// A transport that answers every address with the same bytes.
private struct ByteWeb: HTTPTransport {
  let body: [UInt8]
  let type: String?

  init(_ body: [UInt8], _ type: String?) { (self.body, self.type) = (body, type) }

  func send(_ request: TransportRequest) async throws -> TransportResponse {
    var fields = HTTPFields()
    if let type { fields[.contentType] = type }
    return TransportResponse(
      head: HTTPResponse(status: .ok, headerFields: fields), framing: .explicit,
      body: .bytes(body))
  }
}
