import QuireCore
import QuirePagination
import QuireXML
import Testing

@testable import QuireFeeds

@Suite("Feeds: hostile ones are given up early")
struct EarlyRefusalTests {
  /// A feed that never ends.
  struct Endless: Sendable, CustomTestStringConvertible {
    let name: String
    let start: String
    let piece: String
    /// The number of bytes within which the feed must be refused.
    var most = (2 << 20) + (128 << 10)
    var limit: String?

    var testDescription: String { name }
  }

  static let endless: [Endless] = [
    Endless(
      name: "a title", start: "<rss><channel><title>", piece: "long ", limit: "XMLLimits.textBytes"),
    Endless(
      name: "white space", start: "<rss><channel>", piece: "   \n", limit: "XMLLimits.textBytes"),
    Endless(
      name: "a section", start: "<rss><channel><title><![CDATA[", piece: "<b>",
      limit: "XMLLimits.textBytes"),
    Endless(
      name: "a title behind a bare ampersand", start: "<rss><channel><title>& ", piece: "long ",
      limit: "XMLLimits.textBytes"),
    Endless(
      name: "a section behind a bare ampersand",
      start: "<rss><channel><title>& </title><item><title><![CDATA[", piece: "<b>]]",
      limit: "XMLLimits.textBytes"),
    Endless(
      name: "a title of references", start: "<rss><channel><title>", piece: "&amp;",
      limit: "XMLLimits.textBytes"),
    Endless(
      name: "an attribute", start: "<rss><channel><link href=\"", piece: "long ", most: 2 << 17),
    Endless(
      name: "a comment behind a bare ampersand", start: "<rss><channel><title>& </title><!-- ",
      piece: "long "),
    Endless(name: "brackets", start: "<rss><channel><title>", piece: "< ", most: 1 << 20),
    Endless(name: "end tags", start: "<rss><channel><title>&", piece: "</b>", most: 1 << 20),
    Endless(
      name: "elements never closed", start: "<rss><channel><title>&", piece: "<i><b>",
      most: 1 << 20),
    Endless(
      name: "an unknown encoding", start: "<?xml version='1.0' encoding='x'?><a>", piece: "b"),
    Endless(name: "a declaration behind noise", start: "!<?xml version='1.0'?><rss>", piece: "b"),
    Endless(name: "nothing but white space", start: "", piece: " ", most: 1 << 17),
    Endless(
      name: "a string in JSON", start: "{\"title\":\"", piece: "long\\\"",
      limit: "DecodingLimits.itemBytes"),
    Endless(
      name: "an item in JSON", start: "{\"items\":[1,{", piece: "\"a\":1,", most: 1 << 18,
      limit: "DecodingLimits.items"),
    Endless(
      name: "long texts of an item in JSON", start: "{\"items\":[1,{",
      piece: "\"a\":\"\(String(repeating: "long", count: 100))\",",
      limit: "DecodingLimits.itemBytes"),
    Endless(
      name: "items in JSON", start: "{\"items\":[", piece: "{},", most: 1 << 18,
      limit: "DecodingLimits.items"),
    Endless(
      name: "depth in JSON", start: "{\"items\":", piece: "[", most: 1 << 15,
      limit: "DecodingLimits.depth"),
    Endless(
      name: "members in JSON", start: "{", piece: "\"a\":{},", most: 3 << 20,
      limit: "DecodingLimits.events"),
    Endless(
      name: "numbers in JSON", start: "{\"a\":{\"b\":[", piece: "1,", most: 1 << 18,
      limit: "DecodingLimits.items"),
    Endless(
      name: "tags of an item in JSON", start: "{\"items\":[{\"tags\":[", piece: "\"a\",",
      most: 1 << 19, limit: "DecodingLimits.items"),
    Endless(
      name: "authors of an entry", start: "<feed xmlns='http://www.w3.org/2005/Atom'><entry>",
      piece: "<author><name>a</name></author>", most: 1 << 18, limit: "DecodingLimits.items"),
    Endless(
      name: "links of an entry in groups", start: "<rss><item>",
      piece: "<a>" + String(repeating: "<b/>", count: 1_000) + "</a>", most: 1 << 20,
      limit: "DecodingLimits.items"),
    Endless(
      name: "persons with addresses behind a bare ampersand",
      start: "<feed><title>&</title><entry>", piece: "<author><url>a</url></author>",
      most: 2 << 20, limit: "DecodingLimits.items"),
    Endless(
      name: "white space in JSON", start: "{\"title\":", piece: "  \n",
      limit: "DecodingLimits.itemBytes"),
  ]

  @Test(
    "Q5, X9, X15: a feed without end is refused at its first limit, before more of it is kept",
    arguments: endless)
  func refused(feed: Endless) {
    var decoding = FeedPageDecoder().begin(DecodingContext())
    var slice = Array(feed.start.utf8)
    let piece = Array(String(repeating: feed.piece, count: (16 << 10) / feed.piece.utf8.count).utf8)
    var bytes = 0
    var error: PageError?
    while error == nil, bytes <= 20 << 20 {
      do {
        bytes += slice.count
        try decoding.receive(slice)
      } catch let failure as PageError {
        error = failure
      } catch {
        Issue.record(error)
        return
      }
      slice = piece
    }
    #expect(bytes <= feed.most, "It was refused after \(bytes) bytes.")
    #expect(error != nil)
    if let limit = feed.limit {
      #expect(error?.code == .limitExceeded)
      #expect(error?.remedies == [.raise(.init(limit))])
    }
  }

  @Test("X19: a feed with as many entries as may be is read, wherever they stand")
  func many() throws {
    let items = String(repeating: "<item><title>T</title><link>/</link></item>", count: 50_000)
    for text in [
      "<rss><channel>\(items)</channel></rss>",
      "<rss><channel><title>C</title></channel>\(items)</rss>",
      "<rss><channel><title>& C</title>\(items)</channel></rss>",
      "<channel>\(items)</channel>",
    ] {
      #expect(try read(Array(text.utf8), 1 << 20).entries.count == 50_000)
    }
  }

  private func read(_ bytes: [UInt8], _ size: Int) throws -> ParsedFeed {
    var context = DecodingContext()
    context.isProvenWhole = true
    var decoding = FeedPageDecoding(context, FeedOptions())
    for start in stride(from: 0, to: bytes.count, by: size) {
      try decoding.receive(Array(bytes[start..<min(start + size, bytes.count)]))
    }
    return try decoding.read().parsed
  }

  /// Feeds longer than the 64 KiB in which an XML declaration is looked for, and the repairs that
  /// each needs.
  static let long: [(String, [FeedRepair.Kind])] = {
    let items = (0..<3_000).map { "<item><guid>\($0)</guid><title>A title</title></item>" }
    let feed = "<rss><channel>\(items.joined())</channel></rss>"
    let mended = feed.replacing(
      "<title>A title</title></item></channel>", with: "<title>A & b</title></item></channel>")
    let other = "<?xml version='1.0' encoding='x-none'?>"
    return [
      (feed, []), (mended, [.bareAmpersand]),
      ("noise <?xml version='1.0'?>" + feed, [.textBeforeDocument]),
      ("noise <?xml version='1.0'?>" + mended, [.textBeforeDocument, .bareAmpersand]),
      (other + feed, [.wrongEncoding]), (other + mended, [.wrongEncoding, .bareAmpersand]),
      ("noise " + other + feed, [.textBeforeDocument, .wrongEncoding]),
    ]
  }()

  @Test("X13, E2, X15: a long feed is mended alike in slices of any size", arguments: long.indices)
  func slices(number: Int) throws {
    let (text, repairs) = Self.long[number]
    let whole = try read(Array(text.utf8), text.utf8.count)
    #expect(whole.entries.count == 3_000)
    #expect(Set(whole.feed.repairs.map(\.kind)) == Set(repairs))
    #expect(whole.feed.repairs.allSatisfy { $0.count == 1 })
    for size in [1_000, 16 << 10, 100_000] { #expect(try read(Array(text.utf8), size) == whole) }
  }

  @Test(
    "X19: a feed of JSON in small slices has all its entries, and what is in strings is no limit")
  func json() throws {
    let items = (0..<2_000).map {
      "{\"id\": \"\($0)\", \"title\": \"[[{,\\\\\\\"\(String(repeating: "[", count: 70))\", \"tags\": [1.5, null, []]}"
    }
    let text =
      "{\"version\": \"https://jsonfeed.org/version/1.1\",\n \"items\": [\n\(items.joined(separator: " ,\n"))]}"
    let whole = try read(Array(text.utf8), text.utf8.count)
    #expect(whole.entries.count == 2_000)
    for size in [1, 7, 1_000, 65_537] {
      #expect(try read(Array(text.utf8), size).entries.map(\.title) == whole.entries.map(\.title))
    }
  }
}
