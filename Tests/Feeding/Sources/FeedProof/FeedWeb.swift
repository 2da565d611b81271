import Foundation

/// The feeds that the server has for an aggregator: healthy ones, and one of each kind of mischief.
enum FeedWeb {
  /// Different healthy feeds; each stands for many.
  static let healthy = 100
  /// Entries of a healthy feed.
  static let entries = 20

  /// The mischief that is a file; what the server itself does is in `nginx.conf.in`.
  private static let files: KeyValuePairs<String, @Sendable () -> String> = [
    "laughs": {
      let levels = (1...12).map { level in
        "<!ENTITY e\(level) \"\(String(repeating: "&e\(level - 1);", count: 12))\">"
      }
      return "<!DOCTYPE rss [<!ENTITY e0 \"ha\">\(levels.joined())]><rss><channel><title>&e12;"
    },
    "external": {
      "<!DOCTYPE rss [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><rss><channel><title>&a;</title></channel></rss>"
    },
    "deep": { String(repeating: "<rss>", count: 200_000) },
    "attributes": { "<rss" + (0..<100_000).map { " a\($0)=''" }.joined() + "/>" },
    "prefixes": { rss((0..<50_000).map { "<p\($0):a/>" }.joined()) },
    "unclosed": { rss("<title>&" + String(repeating: "<item><b>", count: 50_000)) },
    "stray": { rss("&" + String(repeating: "</b>", count: 100_000)) },
    "ampersands": { rss("<title>" + String(repeating: "&", count: 500_000) + "</title>") },
    "brackets": { rss("<title>" + String(repeating: "< ", count: 250_000) + "</title>") },
    "comments": { rss("&" + String(repeating: "<!-- ", count: 100_000)) },
    "many": {
      "<rss><channel>" + String(repeating: "<item/>", count: 60_000) + "</channel></rss>"
    },
    "huge": { rss("<title>" + String(repeating: "long ", count: 600_000) + "</title>") },
    "references": { rss("<title>" + String(repeating: "&amp;", count: 600_000) + "</title>") },
    "characters": { rss("<title>" + String(repeating: "&#38;", count: 600_000) + "</title>") },
    "mended": {
      rss("<title>& " + String(repeating: "&amp;", count: 600_000) + "</title>")
    },
    "authors": { atom(String(repeating: "<author><name>a</name></author>", count: 60_000)) },
    "links": { atom(String(repeating: "<link href='/a'/>", count: 60_000)) },
    "groups": {
      "<rss><item>"
        + String(repeating: "<a>" + String(repeating: "<b/>", count: 1_000) + "</a>", count: 300)
    },
    "tags": {
      "{\"version\":\"https://jsonfeed.org/version/1\",\"items\":[{\"id\":1,\"tags\":["
        + String(repeating: "\"a\",", count: 400_000) + "1]}]}"
    },
    "truncated": { String(rss("<title>a</title>").dropLast(20)) },
    "page": {
      "<!doctype html><html><body>" + String(repeating: "<p>no", count: 10_000) + "</body></html>"
    },
    "noise": {
      String((0..<200_000).map { Character(Unicode.Scalar(UInt8(33 + $0 * 7919 % 90))) })
    },
    "json": { "{\"version\":\"https://jsonfeed.org/version/1\",\"items\":[" + depth(100_000) },
  ]

  /// Every kind, by its path at the server.
  static let kinds =
    files.map(\.key) + ["bomb", "circle", "closed", "error", "throttled", "slow", "missing"]

  private static func rss(_ item: String) -> String {
    "<rss><channel><item>\(item)</item></channel></rss>"
  }

  private static func atom(_ parts: String) -> String {
    "<feed xmlns='http://www.w3.org/2005/Atom'><entry>\(parts)</entry></feed>"
  }

  private static func depth(_ count: Int) -> String { String(repeating: "[", count: count) }

  /// Writes the files that the server serves to a folder `feeds`.
  static func write(to folder: String) throws {
    let folder = folder + "/feeds"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for number in 0..<healthy {
      // What one of them says, no other does.
      let bytes = FeedPages.rss(entries, seed: UInt32(number), first: number * entries)
      try Data(bytes).write(to: URL(filePath: "\(folder)/\(number).xml"))
    }
    for (kind, text) in files {
      try Data(text().utf8).write(to: URL(filePath: "\(folder)/\(kind).xml"))
    }
    // A feed that grows to a gigabyte.
    let zeros = folder + "/bomb.xml"
    _ = try Child.output(of: [
      "/bin/sh", "-c",
      "(printf '<rss><channel><title>'; head -c 1000000000 /dev/zero | tr '\\0' 'a') | gzip -1 >'\(zeros)'",
    ])
  }

  /// The address of a feed by its number, each at a host of its own.
  static func url(_ number: Int, at server: Server) -> String {
    let port = server.base.split(separator: ":").last ?? "80"
    let host = "127.\(1 + number / 62_500).\(number / 250 % 250).\(1 + number % 250)"
    let path =
      isHostile(number)
      ? kinds[(number / 10 * 3 + number % 10) % kinds.count] : "\(number % healthy)"
    return "http://\(host):\(port)/feeds/\(path)?\(number)"
  }

  /// Whether the feed of a number is mischief: three of ten are.
  static func isHostile(_ number: Int) -> Bool { number % 10 < 3 }
}
