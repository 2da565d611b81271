import Foundation
import QuireCore
import TestSupport
import Testing

@testable import QuireCommand

@Suite("quire feed", .timeLimit(.minutes(15)))
struct FeedCommandTests {
  private static let rss = """
    <rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><title>News &amp; more</title><ttl>60</ttl>
    <atom:link rel="next" href="/feed?page=2"/>
    <item><title>New</title><link>/new</link><guid isPermaLink="false">1</guid><description>&lt;b&gt;x&lt;/b&gt; & y</description>
    <comments>/c</comments><pubDate>Tue, 03 Jun 2025 09:39:21 GMT</pubDate></item></channel></rss>
    """
  private static let older = """
    <rss version="2.0"><channel><title>T</title><item><title>Old</title><guid isPermaLink="false">2</guid>
    <pubDate>Mon, 03 Jun 2024 09:39:21 GMT</pubDate></item></channel></rss>
    """

  /// What JSON would escape: a tab, and a family of people joined by U+200D.
  private static let tabs =
    "<rss version=\"2.0\"><channel><title>T</title><item>\t<title>👨\u{200D}👩</title></item></channel></rss>"

  /// A sitemap of two addresses, compressed as a file.
  private static let sitemap =
    "H4sIAAAAAAACA7MpLcopTi1RqMjNySu2Vc8oKSmw0tcvLy/XK84sSc1NLCjWyy9K1y9OzgByivWhgvoGepbqdjZAvXY2OfnJdvqGNvog2kYfLIQQN0IR14dYZgcA05rdnXUAAAA="

  private func serving(_ body: (String) async throws -> Void) async throws {
    let server = try FaultServer { request in
      switch request.target {
      case "/feed": [.respond(Self.rss, headers: [("Content-Type", "text/xml")])]
      case "/feed?page=2": [.respond(Self.older, headers: [("Content-Type", "text/xml")])]
      case "/sitemap.xml.gz":
        [
          .respond(
            Array(Data(base64Encoded: Self.sitemap) ?? Data()),
            headers: [("Content-Type", "application/x-gzip")])
        ]
      case "/list": [.respond("[1, 2]", headers: [("Content-Type", "application/json")])]
      case "/":
        [.respond("<html><link rel=alternate type='application/rss+xml' href=feed title=T>")]
      case "/members":
        request.values(of: "Authorization") == ["Bearer 0123456789"]
          ? [.respond("<html><link rel=alternate type='application/rss+xml' href=feed title=T>")]
          : [.respond("no", status: "401 Unauthorized")]
      case "/tabs": [.respond(Self.tabs, headers: [("Content-Type", "text/xml")])]
      default: [.respond("no", status: "404 Not Found")]
      }
    }
    defer { server.stop() }
    try await body(server.url(""))
  }

  private func lines(_ ending: Command.Ending) throws -> [JSONValue] {
    try ending.lines.map { try JSONValue(parsing: Array($0.utf8)) }
  }

  @Test("17-Tool: quire feed prints each entry of all pages as an item of JSON Feed, one a line")
  func entries() async throws {
    try await serving { origin in
      let ending = try await Command.quire(["feed", origin + "/feed"])
      #expect(ending.status == 0, "\(ending.errors)")
      let items = try lines(ending)
      #expect(items.map { $0["id"]?.string } == ["1", "2"])
      let item = items[0]
      #expect(item["url"]?.string == origin + "/new")
      #expect(item["title"]?.string == "New")
      #expect(item["content_html"]?.string == "<b>x</b> & y")
      #expect(item["summary"]?.string == "<b>x</b> & y")
      #expect(item["date_published"]?.string == "2025-06-03T09:39:21Z")
      #expect(item["_quire"]?["summary_type"]?.string == "html")
      #expect(item["_quire"]?["comments"]?["url"]?.string == origin + "/c")
      #expect(item["_quire"]?["raw"]?["guid"]?["#text"]?.string == "1")
      #expect(ending.errors.contains("bareAmpersand × 1"), "\(ending.errors)")
    }
  }

  @Test(
    "17-Tool: --pages and --since end the walk, --strict refuses, --html rewrites, --raw prints what the publisher wrote"
  )
  func options() async throws {
    try await serving { origin in
      let url = origin + "/feed"
      #expect(try await Command.quire(["feed", url, "--pages", "1"]).lines.count == 1)
      let since = try await Command.quire(["feed", url, "--since", "2025-01-01"])
      #expect(try lines(since).map { $0["id"]?.string } == ["1"])
      let strict = try await Command.quire(["feed", url, "--strict"])
      #expect(strict.status == 1 && strict.output.isEmpty)
      #expect(strict.errors.contains("line 3"), "\(strict.errors)")
      let clean = try await Command.quire(["feed", url, "--html", "sanitized", "--pages", "1"])
      #expect(try lines(clean).first?["content_html"]?.string == "<b>x</b> &amp; y")
      #expect(try await Command.quire(["feed", url, "--html", "none"]).status == 2)
      let raw = try await Command.quire(["feed", origin + "/feed?page=2", "--raw"])
      #expect(raw.output.hasPrefix("<item><title>Old</title>"), "\(raw.output)")
      #expect(try await Command.quire(["feed", url, "--since", "soon"]).status == 2)
      #expect(try await Command.quire(["feed", url, "--pages", "0"]).status == 2)
      #expect(try await Command.quire(["feed", url, "--feed", "--since", "2025"]).status == 2)
    }
  }

  @Test("17-Sitemap, 17-Tool: a sitemap that is a compressed file is read as one that is not")
  func compressedSitemap() async throws {
    try await serving { origin in
      let ending = try await Command.quire(["feed", origin + "/sitemap.xml.gz"])
      #expect(try lines(ending).map { $0["url"]?.string } == [origin + "/1", origin + "/2"])
    }
  }

  @Test(
    "17-Tool: --feed prints the feed's own properties, --discover the feeds of a page, and a page alone fails with advice"
  )
  func others() async throws {
    try await serving { origin in
      let feed = try await Command.quire(["feed", origin + "/feed", "--feed"])
      let properties = try #require(try lines(feed).first)
      #expect(properties["version"]?.string == "https://jsonfeed.org/version/1.1")
      #expect(properties["title"]?.string == "News & more")
      #expect(properties["next_url"]?.string == origin + "/feed?page=2")
      #expect(properties["items"] == nil)
      #expect(properties["_quire"]?["ttl_seconds"] == 3600)
      let found = try await Command.quire(["feed", "--discover", origin + "/"])
      #expect(
        try lines(found).first?["url"]?.string == origin + "/feed", "\(found.output)\(found.errors)"
      )
      let scheme = try await Command.quire(["feed", "--pages", "1", "feed:" + origin + "/feed"])
      #expect(scheme.status == 0 && scheme.lines.count == 1, "\(scheme.errors)")
      let page = try await Command.quire(["feed", origin + "/"])
      #expect(page.status == 1 && page.errors.contains("--discover"), "\(page.errors)")
      let list = try await Command.quire(["feed", origin + "/list"])
      #expect(list.status == 1 && !list.errors.contains("--format"), "\(list.errors)")
    }
  }

  @Test("17-Tool: entries that cannot be written are said to be, without advice to resume")
  func fullDevice() async throws {
    try await serving { origin in
      let command = try Command.shell("exec \"$quire\" feed \(origin)/feed > /dev/full")
      let ending = try await command.end()
      #expect(ending.status == 1 && ending.errors.contains("standard output"), "\(ending.errors)")
      #expect(
        !ending.errors.contains("resume") && !ending.errors.contains("[source"), "\(ending.errors)")
    }
  }

  @Test("17-Tool: --raw prints what JSON would escape as the publisher wrote it")
  func rawText() async throws {
    try await serving { origin in
      let raw = try await Command.quire(["feed", origin + "/tabs", "--raw"])
      #expect(raw.output == "<item>\t<title>👨\u{200D}👩</title></item>\n", "\(raw.errors)")
    }
  }

  @Test("17-Tool: --discover sends header fields, and refuses options that it has no use for")
  func discovering() async throws {
    try await serving { origin in
      let field = ["-H", "Authorization: Bearer 0123456789"]
      let found = try await Command.quire(["feed", "--discover", origin + "/members"] + field)
      #expect(found.status == 0, "\(found.errors)")
      #expect(try lines(found).map { $0["url"]?.string } == [origin + "/feed"])
      for options in [
        ["--strict"], ["--html", "sanitized"], ["--links", "rebase"], ["--secret", "0123456789"],
      ] {
        let ending = try await Command.quire(["feed", "--discover", origin + "/"] + options)
        #expect(ending.status == 2 && ending.errors.contains(options[0]), "\(ending.errors)")
      }
      let feed = try await Command.quire(["feed", origin + "/feed", "--feed", "--pages", "1"])
      #expect(feed.status == 2, "\(feed.errors)")
    }
  }

  @Test("17-Tool: the first signal ends quire feed though nobody reads what it prints")
  func unreadEntries() async throws {
    let title = String(repeating: "x", count: 4_000)
    let items = (0..<50).map { "<item><guid>\($0)</guid><title>\(title)</title></item>" }.joined()
    let server = try FaultServer { _ in
      [
        .respond(
          "<rss version=\"2.0\"><channel><title>T</title>\(items)</channel></rss>",
          headers: [("Content-Type", "text/xml")])
      ]
    }
    defer { server.stop() }
    let pipe = try NamedPipe()
    let command = try Command.shell("exec \"$quire\" feed \(server.url("/feed")) > \(pipe.path)")
    await pipe.waitForBytes()
    command.send(signal: SIGINT)
    #expect(try await command.end().status == 128 + SIGINT)
  }
}
