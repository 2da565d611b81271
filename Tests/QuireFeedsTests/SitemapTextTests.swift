import HTTPTypes
import QuireCore
import QuireFeeds
import QuireHTTP
import QuirePagination
import Testing

@Suite("Feeds: sitemaps that are texts")
struct SitemapTextTests {
  private func read(
    _ text: String, type: String? = "text/plain", options: FeedOptions = FeedOptions()
  ) throws -> ParsedFeed {
    try ParsedFeed(
      Array(text.utf8), url: "https://a.test/sitemap.txt", contentType: type, options: options)
  }

  @Test("17-Sitemap: a sitemap that is a text has an entry for each line that is an address")
  func lines() throws {
    for (end, mark) in [("\n", ""), ("\r\n", "\u{FEFF}"), ("\r", "\n \n")] {
      let lines = ["https://a.test/1", " HTTP://a.test/2?x=\u{E9} ", "", "https://b.test/3"]
      for last in ["", end] {
        let parsed = try read(mark + lines.joined(separator: end) + last)
        #expect(parsed.feed.format == FeedFormat(.sitemap))
        #expect(
          parsed.entries.map(\.url) == [
            "https://a.test/1", "HTTP://a.test/2?x=\u{E9}", "https://b.test/3",
          ])
        #expect(parsed.feed.repairs == [])
      }
    }
    for type in [nil, "text/plain; charset=UTF-8", "application/octet-stream"] {
      #expect(try read("http://a.test/", type: type).entries.count == 1)
    }
  }

  @Test("17-Sitemap: a text sitemap is read however it is cut into slices, alone and listed")
  func walks() async throws {
    let text: HTTPFields = [.contentType: "text/plain"]
    let web = FeedWeb { url, _ in
      switch url {
      case "https://a.test/index":
        .init(
          body: "<sitemapindex xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'>"
            + "<sitemap><loc>https://a.test/t</loc></sitemap><sitemap><loc>https://a.test/u</loc></sitemap>"
            + "</sitemapindex>")
      case "https://a.test/t": .init(body: "https://a.test/1\nhttps://a.test/2", fields: text)
      case "https://a.test/u": .init(body: "https://a.test/3\n", fields: text)
      default: nil
      }
    }
    for (url, count) in [("https://a.test/t", 2), ("https://a.test/index", 3)] {
      var found: [String] = []
      for try await entry in PageClient(transport: web).feed(at: url).entries {
        found.append(entry.url ?? "")
      }
      #expect(found == (1...count).map { "https://a.test/\($0)" })
    }
    for size in [1, 2, 3, 7, 8, 9, 100] {
      var rest = Array(" \nhttps://a.test/1\r\nhttps://a.test/2\n".utf8)[...]
      var context = DecodingContext(contentType: "text/plain")
      context.isProvenWhole = true
      var session = FeedPageDecoder().begin(context)
      while !rest.isEmpty {
        try session.receive(Array(rest.prefix(size)))
        rest = rest.dropFirst(size)
      }
      _ = try session.finish()
      #expect(try session.items().items.map(\.url) == ["https://a.test/1", "https://a.test/2"])
    }
  }

  @Test(
    "17-Sitemap, 17-Repairs: lines of a text sitemap that are no web addresses are left out and counted, or refused"
  )
  func otherLines() throws {
    let text = "https://a.test/1\nnews\nftp://a.test/x\njavascript:alert(1)\n/2\nhttps://a.test/3\n"
    let parsed = try read(text)
    #expect(parsed.entries.map(\.url) == ["https://a.test/1", "https://a.test/3"])
    #expect(parsed.feed.repairs.map(\.description) == ["badAddress × 4"])
    #expect { try read(text, options: FeedOptions(isStrict: true)) } throws: {
      ($0 as? PageError)?.code == .malformed
    }
  }

  @Test("17-Media: a text that does not begin with an address is no feed")
  func otherTexts() {
    for (text, type) in [
      ("User-agent: *\nSitemap: https://a.test/s\n", "text/plain"), ("ht", "text/plain"),
      ("https://a.test/", "text/html"), ("httpd is down", "text/plain"),
    ] {
      #expect(throws: PageError.self, "\(text)") { try read(text, type: type) }
    }
  }

  @Test(
    "17-Sitemap: the limits of entries hold for a text sitemap, and one that may be cut off is refused"
  )
  func limits() {
    let two = "https://a.test/1\nhttps://a.test/2\n"
    for limits in [
      DecodingLimits(depth: 64, items: 1), DecodingLimits(depth: 64, items: 9, itemBytes: 12),
    ] {
      #expect { try read(two, options: FeedOptions(limits: limits)) } throws: {
        ($0 as? PageError)?.code == .limitExceeded
      }
    }
    var session = FeedPageDecoder().begin(DecodingContext(contentType: "text/plain"))
    #expect {
      try session.receive(Array(two.utf8))
      _ = try session.finish()
    } throws: {
      ($0 as? PageError)?.code == .truncated
    }
  }
}
