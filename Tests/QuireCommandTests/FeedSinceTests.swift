import Foundation
import QuireCore
import Synchronization
import TestSupport
import Testing

@testable import QuireCommand

@Suite("quire feed: what is old, what is gone", .timeLimit(.minutes(15)))
struct FeedSinceTests {
  /// A page of Atom with two entries, changed in this year, that leads to a page.
  private static func atom(_ year: Int, number: Int, next: String?) -> String {
    let link = next.map { "<link rel='next' href='\($0)'/>" } ?? ""
    let entries = (0..<2).map {
      "<entry><id>urn:\(number)-\($0)</id><title>e</title><updated>\(year)-01-0\($0 + 1)T00:00:00Z</updated></entry>"
    }
    return
      "<feed xmlns='http://www.w3.org/2005/Atom'><id>urn:x</id><title>x</title>\(link)\(entries.joined())</feed>"
  }

  private static let space = "xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'"

  private static func sitemap(_ year: Int) -> String {
    "<urlset \(space)><url><loc>http://a.test/\(year)</loc><lastmod>\(year)-03-01</lastmod></url></urlset>"
  }

  /// An index of sitemaps, each with the date of its last change where there is one.
  private static func index(_ sitemaps: [(path: String, date: String?)]) -> String {
    let list = sitemaps.map { path, date in
      "<sitemap><loc>\(path)</loc>\(date.map { "<lastmod>\($0)</lastmod>" } ?? "")</sitemap>"
    }
    return "<sitemapindex \(space)>\(list.joined())</sitemapindex>"
  }

  private func body(_ target: String) -> (body: String, type: String)? {
    let parts = target.dropFirst().split(separator: "/").map(String.init)
    switch parts.first {
    // Pages of a feed: how it runs, and the years of its pages, of which the first is this one's.
    case "pages":
      let years = parts.dropFirst().compactMap { Int($0) }
      guard let year = years.first else { return nil }
      let rest = years.dropFirst().map(String.init).joined(separator: "/")
      let page = Self.atom(
        year, number: years.count, next: rest.isEmpty ? nil : "/pages/\(rest)")
      return (page, "application/atom+xml")
    case "undated":
      let years = [2020, 2021, 2025, 2022].map { (path: "/map/\($0)", date: String?.none) }
      return (Self.index(years), "application/xml")
    case "dated":
      let sitemaps = [
        (path: "/map/2020", date: "2020-03-01"), (path: "/map/2024", date: "2024-12-31"),
        (path: "/map/2025", date: "2025-03-01T10:00:00Z"), (path: "/map/2022", date: "2025"),
      ]
      return (Self.index(sitemaps), "application/xml")
    case "gone":
      let sitemaps = ["/map/2020", "/nothing", "/map/2021", "/text", "/nothing2"]
      return (Self.index(sitemaps.map { ($0, nil) }), "application/xml")
    // Pages of the same entries, each of which leads to another one.
    case "endless":
      let next = "/endless/\(parts.count)\(parts.dropFirst().map { "/" + $0 }.joined())"
      return (Self.atom(2025, number: 1, next: next), "application/atom+xml")
    case "text": return ("http://a.test/1\r\nhttp://a.test/2\r\n", "text/plain; charset=utf-8")
    case "map": return parts.last.flatMap { Int($0) }.map { (Self.sitemap($0), "text/xml") }
    default: return nil
    }
  }

  /// What is printed, what is said and what is asked for, of the feed at a path.
  private func read(
    _ path: String, _ options: [String] = []
  ) async throws -> (items: [String], ending: Command.Ending, asked: [String]) {
    let asked = Mutex<[String]>([])
    let server = try FaultServer { request in
      asked.withLock { $0.append(request.target) }
      guard let (body, type) = body(request.target) else {
        return [.respond("no", status: "404 Not Found")]
      }
      return [.respond(body, headers: [("Content-Type", type)])]
    }
    defer { server.stop() }
    let ending = try await Command.quire(["feed", server.url(path)] + options)
    let items = try ending.lines.map { line in
      let item = try JSONValue(parsing: Array(line.utf8))
      return item["url"]?.string ?? item["id"]?.string ?? ""
    }
    return (items, ending, asked.withLock { $0 })
  }

  @Test(
    "17-Tool: --since ends a feed only where its pages were seen to go from newer to older",
    arguments: [
      // Oldest first; pinned entries on the first page; nothing new; newest first.
      ("/pages/2021/2022/2023/2025", ["urn:1-0", "urn:1-1"], 4),
      ("/pages/2019/2025/2025/2020/2018", ["urn:4-0", "urn:4-1", "urn:3-0", "urn:3-1"], 4),
      ("/pages/2024/2023/2022/2021", [], 2),
      ("/pages/2025/2024/2023", ["urn:3-0", "urn:3-1"], 2),
    ])
  func order(path: String, items: [String], requests: Int) async throws {
    let found = try await read(path, ["--since", "2025-01-01"])
    #expect(found.items == items && found.ending.status == 0, "\(found.ending.errors)")
    #expect(found.asked.count == requests, "\(found.asked)")
  }

  @Test(
    "17-Sitemap, 17-Tool: --since reads all sitemaps of an index but those that it says to be older, in whatever order"
  )
  func sitemaps() async throws {
    let undated = try await read("/undated", ["--since", "2025-01-01"])
    #expect(undated.items == ["http://a.test/2025"] && undated.ending.status == 0)
    #expect(undated.asked.count == 5, "\(undated.asked)")
    let dated = try await read("/dated", ["--since", "2025-01-01"])
    #expect(dated.items == ["http://a.test/2025"] && dated.ending.status == 0)
    // A day may be in another zone, and a year alone may be any of its days.
    #expect(dated.asked == ["/dated", "/map/2024", "/map/2025", "/map/2022"])
  }

  @Test(
    "17-Sitemap, 17-Tool: a sitemap that is gone costs the others of its index nothing, is named, and makes the status 1"
  )
  func gone() async throws {
    let found = try await read("/gone")
    #expect(found.items == [2020, 2021, 1, 2].map { "http://a.test/\($0)" })
    #expect(found.ending.status == 1)
    #expect(found.ending.errors.contains("/nothing "), "\(found.ending.errors)")
    #expect(found.ending.errors.contains("/nothing2 "), "\(found.ending.errors)")
    #expect(found.ending.errors.contains("404"), "\(found.ending.errors)")
  }

  @Test(
    "17-Paging, 17-Tool: a feed whose pages repeat each other without end is ended, named, and makes the status 1"
  )
  func endless() async throws {
    let found = try await read("/endless")
    #expect(found.items == ["urn:1-0", "urn:1-1"] && found.ending.status == 1)
    #expect(found.ending.errors.contains("pages of the feed in a row"), "\(found.ending.errors)")
  }

  @Test("17-Sitemap, 17-Tool: --raw prints the lines of a sitemap that is a text as they are")
  func rawText() async throws {
    let server = try FaultServer { _ in
      [.respond("http://a.test/1\n\nhttp://a.test/2", headers: [("Content-Type", "text/plain")])]
    }
    defer { server.stop() }
    let ending = try await Command.quire(["feed", server.url("/"), "--raw"])
    #expect(ending.lines == ["http://a.test/1", "http://a.test/2"], "\(ending.errors)")
  }
}
