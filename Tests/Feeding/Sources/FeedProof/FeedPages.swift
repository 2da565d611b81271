import Floor
import Foundation
import QuireFeeds

/// Reading a page of RSS of 1 MB into the model of feeds, against libxml2 with empty callbacks, and
/// against the readers of Python and Go where `run` has made them ready.
enum FeedPages {
  static func measure() async throws -> [Figure] {
    let page = rss(500)
    let broken = Array(
      String(decoding: page, as: UTF8.self).replacing(" and more", with: " & more").utf8)
    let seconds = try fastest(
      { precondition(page.withUnsafeBytes { floor_parse_xml($0.baseAddress, $0.count) } > 0) },
      {
        let count = try ParsedFeed(page, url: "https://example.org/feed").entries.count
        precondition(count == 500)
      },
      {
        let feed = try ParsedFeed(broken, url: "https://example.org/feed")
        precondition(feed.entries.count == 500 && feed.feed.repairs.first?.count == 500)
      })
    let megabytes = Double(page.count) / 1e6
    return [
      Figure("RSS to the feed model, to libxml2 alone", seconds[1] / seconds[0], "×", .atMost(3)),
      Figure("  RSS to the feed model", megabytes / seconds[1], "MB/s"),
      Figure("  RSS with 500 mistakes", megabytes / seconds[2], "MB/s"),
    ] + (try others(page, seconds[1]))
  }

  /// The seconds that the fastest of each contestant's rounds computes: all that is above it is the machine's
  /// other business.
  private static func fastest(_ contestants: (() throws -> Void)...) throws -> [Double] {
    var seconds = contestants.map { _ in Double.infinity }
    for _ in 0..<30 {
      for (index, contestant) in contestants.enumerated() {
        let start = ProcessStatus.threadSeconds
        try contestant()
        seconds[index] = min(seconds[index], ProcessStatus.threadSeconds - start)
      }
    }
    return seconds
  }

  /// The other readers: the environment names a command each that prints the seconds it needs for a file.
  private static func others(_ page: [UInt8], _ own: Double) throws -> [Figure] {
    let file = FileManager.default.temporaryDirectory.appending(path: "quire-\(UUID()).xml")
    try Data(page).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let known: KeyValuePairs<String, Figure.Bar?> = ["FEEDPARSER": .atLeast(50), "GOFEED": nil]
    return try known.compactMap { name, bar in
      guard let command = ProcessInfo.processInfo.environment[name] else { return nil }
      let output = try Child.output(of: ["/bin/sh", "-c", "\(command) '\(file.path)'"])
      guard let seconds = Double(output.filter { !$0.isWhitespace }) else {
        fatalError("\(name) printed \(output)")
      }
      return Figure("  speed by that of \(name.lowercased())", seconds / own, "×", bar)
    }
  }

  /// A feed like those of blogs: 2 KB an entry, its text in a CDATA section.
  static func rss(_ count: Int, seed: UInt32 = 7, first: Int = 0) -> [UInt8] {
    var text = """
      <?xml version="1.0" encoding="UTF-8"?>
      <rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/">
      <channel><title>Bench</title><link>https://example.org/</link><description>d</description>

      """
    var state = seed
    func words(_ count: Int) -> String {
      (0..<count).map { _ in
        state = state &* 1_664_525 &+ 1_013_904_223
        return "word\(state >> 22)"
      }.joined(separator: " ")
    }
    for index in first..<first + count {
      let body = words(187)
      text += """
        <item><title>Entry number \(index) and more</title><link>https://example.org/\(index)</link>
        <guid isPermaLink="false">urn:\(index)</guid><pubDate>Tue, 03 Jun 2025 09:\(10 + index % 50):21 GMT</pubDate>
        <dc:creator>Ann Author</dc:creator><category>one</category><category>two</category>
        <description>&lt;p&gt;\(body.prefix(150))&lt;/p&gt;</description>
        <content:encoded><![CDATA[<p>\(body)</p><p><a href="/x">y</a></p>]]></content:encoded></item>

        """
    }
    return Array((text + "</channel></rss>").utf8)
  }
}
