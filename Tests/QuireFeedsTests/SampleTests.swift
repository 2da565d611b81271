import QuireCore
import QuireJSON
import QuirePagination
import TestSupport
import Testing

@testable import QuireFeeds

/// A document of `Tests/Fixtures/feeds`, and the values that must be read from it.
///
/// A sample begins with a line of `## ` and its name; a line of `@url ` gives its address. The
/// lines of `= ` at its end are facts: a path into its JSON Feed and the value there (null for
/// none), or `#path` and the number of elements there.
struct FeedSample: Sendable, CustomTestStringConvertible {
  let name: String
  var url = "https://example.org/feed"
  var text = ""
  var facts: [(path: String, value: String)] = []

  var testDescription: String { name }

  static let all: [FeedSample] = {
    let names = (try? Fixtures.names(in: "feeds")) ?? []
    return names.flatMap { name -> [FeedSample] in
      let bytes = (try? Fixtures.bytes("feeds/" + name)) ?? []
      return samples(String(decoding: bytes, as: UTF8.self))
    }
  }()

  private static func samples(_ text: String) -> [FeedSample] {
    var samples: [FeedSample] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("## ") { samples.append(FeedSample(name: String(line.dropFirst(3)))) }
      guard let last = samples.indices.last, !line.hasPrefix("## ") else { continue }
      if line.hasPrefix("@url ") {
        samples[last].url = String(line.dropFirst(5))
      } else if line.hasPrefix("= ") {
        let parts = line.dropFirst(2).split(separator: " ", maxSplits: 1)
        samples[last].facts.append((String(parts[0]), String(parts[1])))
      } else if samples[last].facts.isEmpty {
        samples[last].text += line + "\n"
      }
    }
    return samples
  }
}

@Suite("Feeds: samples of the specifications and of the wild")
struct SampleTests {
  /// Returns the document as JSON Feed.
  private static func json(_ document: ParsedFeed) -> JSONValue {
    guard case .object(let members) = document.feed.jsonFeed else { return .null }
    let items = document.entries.map { $0.jsonFeedItem(includingRaw: false) }
    return .object(members + [.init("items", .array(items))])
  }

  /// Returns the value at a path; nil if there is none.
  private static func value(_ root: JSONValue, at path: Substring) -> JSONValue? {
    path.split(separator: "/").reduce(Optional(root)) { value, name in
      guard case .array(let elements)? = value else { return value?[String(name)] }
      return Int(name).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
    }
  }

  private static func value(_ text: String) throws -> JSONValue {
    guard text != "null" else { return .null }
    return try RawItem(Array(text.utf8)).value
  }

  @Test(
    "17-Rss, 17-Rdf, 17-Atom, 17-Json, 17-Sitemap, 17-Modules, 17-Repairs: every format and module is read as its specification's samples say",
    arguments: FeedSample.all)
  func facts(sample: FeedSample) throws {
    let document = try parsed(sample.text, at: sample.url)
    let json = Self.json(document)
    for (path, expected) in sample.facts {
      if path.hasPrefix("#") {
        var count: Int?
        if case .array(let found)? = Self.value(json, at: path.dropFirst()) { count = found.count }
        #expect(count == Int(expected), "\(path) is \(count ?? -1)")
      } else {
        let found = Self.value(json, at: path[...]) ?? .null
        #expect(found == (try Self.value(expected)), "\(path) is \(found)")
      }
    }
    #expect(!sample.facts.isEmpty)
  }

  @Test(
    "17-Repairs, 17-Form: strict reading takes the samples that need no repair and refuses the others, and all survive as JSON Feed",
    arguments: FeedSample.all)
  func forms(sample: FeedSample) throws {
    let document = try parsed(sample.text, at: sample.url)
    let strict = FeedOptions(isStrict: true)
    // A legacy encoding is not a violation, and is counted only by lenient reading.
    if document.feed.repairs.allSatisfy({ $0.kind == .legacyEncoding }) {
      #expect(try parsed(sample.text, at: sample.url, strict).entries == document.entries)
    } else {
      #expect(throws: PageError.self) { try parsed(sample.text, at: sample.url, strict) }
    }
    #expect(Feed(jsonFeed: document.feed.jsonFeed).jsonFeed == document.feed.jsonFeed)
    for entry in document.entries {
      let item = entry.jsonFeedItem(includingRaw: false)
      #expect(FeedEntry(jsonFeedItem: item).jsonFeedItem(includingRaw: false) == item)
    }
  }

  @Test("17-Repairs: a sample is read alike in slices of any size", arguments: FeedSample.all)
  func slices(sample: FeedSample) throws {
    let bytes = Array(sample.text.utf8)
    let whole = try parsed(sample.text, at: sample.url)
    for size in [1, 17, 1_000] {
      var context = DecodingContext()
      context.url = sample.url
      context.isProvenWhole = true
      var decoding = FeedPageDecoding(context, FeedOptions())
      for start in stride(from: 0, to: bytes.count, by: size) {
        try decoding.receive(Array(bytes[start..<min(start + size, bytes.count)]))
      }
      #expect(try decoding.read().parsed == whole, "slices of \(size)")
    }
  }

  @Test(
    "17-Rss, 17-Rdf, 17-Atom, 17-Json, 17-Sitemap: there is a sample of every format and version")
  func everyFormat() throws {
    let formats = Set(try FeedSample.all.map { try parsed($0.text).feed.format.description })
    let wanted = [
      "rdf 0.90", "rdf 1.0", "rss 0.91", "rss 0.92", "rss 0.93", "rss 0.94", "rss 2.0", "atom 0.3",
      "atom 1.0", "jsonFeed 1", "jsonFeed 1.1", "sitemap 0.9", "sitemapIndex 0.9",
    ]
    #expect(formats.isSuperset(of: wanted), "\(Set(wanted).subtracting(formats))")
  }
}
