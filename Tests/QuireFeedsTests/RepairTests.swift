import Foundation
import QuireCore
import QuireFeeds
import QuirePagination
import Testing

@Suite("Feeds: what is forgiven")
struct RepairTests {
  /// Returns a feed with `item` as the content of its only item.
  private func rss(_ item: String, before: String = "", after: String = "") -> String {
    "\(before)<rss version=\"2.0\"><channel><title>T</title><item>\(item)</item></channel></rss>\(after)"
  }

  /// Reads a feed leniently, and checks that strict reading refuses it.
  private func mended(_ text: String) throws -> (entry: FeedEntry, kinds: [FeedRepair]) {
    let document = try parsed(text)
    #expect(throws: PageError.self, "\(text)") {
      try parsed(text, at: nil, FeedOptions(isStrict: true))
    }
    #expect(document.entries.count == 1)
    return (try #require(document.entries.first), document.feed.repairs)
  }

  private func count(_ kind: FeedRepair.Kind, _ repairs: [FeedRepair]) -> Int {
    repairs.first { $0.kind == kind }?.count ?? 0
  }

  @Test(
    "17-Repairs, X5: undeclared entities of HTML are resolved and counted, unknown ones stay text")
  func entities() throws {
    var (entry, kinds) = try mended(rss("<title>a&nbsp;b &eacute;&eacute;</title>"))
    #expect(entry.title?.value == "a\u{A0}b éé")
    #expect(count(.undeclaredEntity, kinds) == 3)
    (entry, kinds) = try mended(rss("<title>a&nbsp;b &foo; &#0; c</title>"))
    #expect(count(.undeclaredEntity, kinds) == 1 && count(.unknownEntity, kinds) == 2)
    #expect(entry.title?.value == "a\u{A0}b &foo; &#0; c")
    let doctype =
      "<!DOCTYPE rss PUBLIC \"-//Netscape Communications//DTD RSS 0.91//EN\" \"http://my.netscape.com/publish/formats/rss-0.91.dtd\">"
    #expect(try mended(rss("<title>&eacute;</title>", before: doctype)).entry.title?.value == "é")
  }

  @Test(
    "17-Repairs, X15: bare ampersands and brackets in text, in links and in attributes are text")
  func bare() throws {
    var (entry, kinds) = try mended(
      rss(
        "<title>AT&T & more</title><link>http://e.org/?a=1&b=2</link><description>1 < 2 <3</description>"
      ))
    #expect(entry.title?.plain == "AT&T & more")
    #expect(entry.url == "http://e.org/?a=1&b=2")
    #expect(entry.summary?.value == "1 < 2 <3")
    #expect(count(.bareAmpersand, kinds) == 3)
    #expect(count(.bareLessThan, kinds) == 2)
    (entry, kinds) = try mended(
      rss("<enclosure url=\"http://e.org/?a&b\" length=1 type='audio/mpeg'/>"))
    #expect(entry.enclosures.first?.url == "http://e.org/?a&b")
    #expect(entry.enclosures.first?.length == 1)
    #expect(count(.badAttribute, kinds) == 1)
  }

  @Test("17-Repairs, X15: elements that are not closed, closed twice or out of order")
  func elements() throws {
    var (entry, kinds) = try mended(
      rss("<title>T</title><description><p>One<br>Two <b>three</description><link>http://e/</link>")
    )
    #expect(entry.summary?.kind == .html)
    #expect(entry.summary?.value == "<p>One<br>Two <b>three</b></p>")
    #expect(entry.url == "http://e/")
    #expect(count(.unclosedElement, kinds) == 3)
    #expect(count(.markupInText, kinds) == 1)
    (entry, kinds) = try mended(rss("<title>T</b></title></p><guid>1<link>http://e/</link>"))
    #expect(entry.id == "1" && entry.url == "http://e/" && entry.title?.value == "T")
    #expect(count(.strayEndTag, kinds) == 2)
    let two = try parsed(
      "<rss><channel><item><title>A</title><item><title>B</title></item></channel></rss>")
    #expect(two.entries.map(\.title?.value) == ["A", "B"])
  }

  @Test("17-Repairs, X13: text before the declaration: white space, warnings of PHP, comments")
  func before() throws {
    for text in [
      "\n\n <?xml version=\"1.0\"?>",
      "<br />\n<b>Warning</b>: x in y<br />\n<?xml version=\"1.0\"?>",
      "Notice: foo <?xml version='1.0' encoding='utf-8'?>", "junk ",
      "\u{FEFF}\u{FEFF}<?xml version=\"1.0\"?>",
    ] {
      let (entry, kinds) = try mended(rss("<title>ü</title>", before: text))
      #expect(entry.title?.value == "ü")
      #expect(count(.textBeforeDocument, kinds) == 1, "\(text) \(kinds)")
    }
  }

  @Test("17-Repairs, X12: anything behind the root element is left out and counted")
  func behind() throws {
    for text in ["<!-- x --><p>ad</p>", "<rss/>", "&nbsp; junk & more"] {
      let (entry, kinds) = try mended(rss("<title>T</title>", after: text))
      #expect(entry.title?.value == "T")
      #expect(count(.trailingContent, kinds) == 1)
    }
  }

  @Test("17-Repairs, X14: control characters are left out, each counted")
  func controls() throws {
    let (entry, kinds) = try mended(rss("<title>a\u{1}b\u{8}\u{FFFE}c</title>"))
    #expect(entry.title?.value == "abc")
    #expect(count(.controlCharacter, kinds) == 3)
  }

  @Test("17-Repairs, X17: prefixes without a namespace mean what they usually do")
  func prefixes() throws {
    let (entry, kinds) = try mended(
      rss("<dc:creator>Ann</dc:creator><media:thumbnail url='/t.jpg'/><foo:bar x:y='1'/>"))
    #expect(entry.authors == [FeedPerson(name: "Ann")])
    #expect(entry.image == "https://example.org/t.jpg")
    #expect(count(.undeclaredPrefix, kinds) == 4)
  }

  @Test("17-Repairs, E2: wrong, missing and old encodings are read, and named")
  func encodings() throws {
    func document(_ declared: String, _ bytes: [UInt8], charset: String? = nil) throws -> ParsedFeed
    {
      let head = declared.isEmpty ? "" : "<?xml version='1.0' encoding='\(declared)'?>"
      return try ParsedFeed(
        Array("\(head)<rss version='2.0'><channel><title>".utf8) + bytes
          + Array("</title></channel></rss>".utf8),
        contentType: charset.map { "text/xml; charset=\($0)" })
    }
    var feed = try document("utf-8", [0x63, 0x61, 0x66, 0xE9]).feed
    #expect(feed.title?.value == "café" && feed.repairs.map(\.kind) == [.wrongEncoding])
    // Only a character that was cut in half, and one in another encoding, are read differently.
    let czech = Array("Žluť".utf8)
    for declared in ["utf-8", "iso-8859-1", ""] {
      feed = try document(declared, czech + [0xC5, 0x20] + czech + [0x92] + czech).feed
      #expect(feed.title?.value == "ŽluťÅ Žluť’Žluť", "\(declared)")
      #expect(feed.repairs.contains { $0.kind == .wrongEncoding })
    }
    feed = try document("windows-1252", [0xE9] + Array("Ã©".utf8)).feed
    #expect(feed.title?.value == "éÃ\u{192}Â©")
    feed = try document("", [0x93, 0x61, 0x94]).feed
    #expect(feed.title?.value == "“a”")
    feed = try document("iso-8859-1", Array("café".utf8)).feed
    #expect(feed.title?.value == "café" && feed.repairs.contains { $0.kind == .wrongEncoding })
    feed = try document("windows-1251", [0xCF, 0xF0]).feed
    #expect(feed.title?.value == "Пр" && feed.repairs.map(\.kind) == [.legacyEncoding])
    feed = try document("us-ascii", Array("é".utf8)).feed
    #expect(feed.title?.value == "é")
    feed = try document("utf-8", [0xCF, 0xF0], charset: "windows-1251").feed
    #expect(feed.title?.value == "Пр")
    feed = try document("utf8-mb4", Array("é".utf8)).feed
    #expect(feed.title?.value == "é" && feed.repairs.map(\.kind) == [.wrongEncoding])
    for size in [2, 70_000] {
      let bytes = Array(repeatElement([0xCF, 0xF0] as [UInt8], count: size / 2).joined())
      feed = try document("windows-1251", bytes, charset: "utf8mb4").feed
      #expect(feed.title?.value == String(repeating: "Пр", count: size / 2), "\(size)")
      #expect(Set(feed.repairs.map(\.kind)) == [.wrongEncoding, .legacyEncoding])
    }
    feed = try document("gb2312", [0xC4, 0xE3, 0xFF, 0xBA, 0xC3]).feed
    #expect(feed.title?.value == "你\u{FFFD}好")
    #expect(feed.repairs.map(\.kind) == [.legacyEncoding, .wrongEncoding])
    let broken = try document("windows-1251", [0xCF, 0xF0, 0x26, 0x20]).feed
    #expect(broken.title?.value == "Пр&")
  }

  @Test(
    "17-Json, 17-Repairs: text of JSON that is none costs its bytes, and neither entry nor feed")
  func jsonText() throws {
    let pair = #"\ud83d\ude00 \\ud83d"#
    let text =
      #"{"version":"https://jsonfeed.org/version/1.1","title":"T\ud83d","items":["#
      + #"{"id":"1","title":"a\ud83d","content_text":"\#(pair)"},{"id":"2","title":"~"},"#
      + #"{"id":"3","title":"b","content_text":"\#(pair)"},{"id":"4","title":"~\udc00x"}]}"#
    let bytes = text.utf8.map { $0 == UInt8(ascii: "~") ? 0xE9 : $0 }
    let page = try ParsedFeed(bytes)
    #expect(page.feed.title?.value == "T\u{FFFD}")
    #expect(page.entries.map(\.id) == ["1", "2", "3", "4"])
    #expect(
      page.entries.map(\.title?.value) == ["a\u{FFFD}", "\u{FFFD}", "b", "\u{FFFD}\u{FFFD}x"])
    #expect(page.entries[0].content?.value == #"😀 \ud83d"#)
    #expect(page.entries[0].content == page.entries[2].content)
    #expect(page.entries.map(\.repairs.count) == [1, 1, 0, 1])
    #expect(page.feed.repairs.count == 1 && count(.wrongEncoding, page.feed.repairs) == 4)
    #expect(throws: PageError.self) {
      try ParsedFeed(bytes, options: FeedOptions(isStrict: true))
    }
  }

  @Test(
    "17-Json, 17-Repairs: stray commas and control characters of JSON cost neither text nor feed")
  func jsonSyntax() throws {
    let text = """
      {"version":"https://jsonfeed.org/version/1.1","title":"T",
      "items":[{"id":"1","title":"a,]\\",}\tb\u{1}","tags":["x" , ],},
      {"id":"2","content_text":"one\ntwo","title":"N\\u0000\\u001fL\\n"} , ] , }
      """
    let (entries, feed) = try (parsed(text).entries, parsed(text).feed)
    #expect(entries.map(\.title?.plain) == ["a,]\",}\tb", "NL\n"])
    #expect(entries.last?.content?.value == "one\ntwo")
    #expect(entries.first?.categories.map(\.term) == ["x"])
    #expect(count(.strayComma, feed.repairs) == 4)
    #expect(count(.controlCharacter, feed.repairs) == 4)
    #expect(throws: PageError.self) {
      try parsed(text, at: nil, FeedOptions(isStrict: true))
    }
    for broken in ["[1,,2]", "{\"a\":,}", "[1 2]"] {
      #expect(throws: PageError.self) {
        try parsed("{\"version\":\"https://jsonfeed.org/version/1\",\"items\":\(broken)}")
      }
    }
    let hostile = String(repeating: "\n", count: 20_000)
    #expect(throws: PageError.self) {
      try parsed("{\"version\":\"https://jsonfeed.org/version/1\",\"title\":\"\(hostile)\"}")
    }
  }

  @Test("17-Form, 17-Repairs: repairs keep their order as JSON")
  func repairsAsJSON() throws {
    var (entry, kinds) = try mended(
      rss("<title>a & b &nbsp; ]]> c</title><pubDate>soon</pubDate><link>http://[</link>"))
    entry.raw = nil
    var feed = Feed(FeedFormat(.rss))
    feed.repairs = kinds
    #expect(kinds.count >= 4)
    for _ in 0..<8 {
      var copy = try JSONDecoder().decode(FeedEntry.self, from: JSONEncoder().encode(entry))
      copy.raw = nil
      #expect(copy.repairs == entry.repairs)
      #expect(try JSONDecoder().decode(Feed.self, from: JSONEncoder().encode(feed)) == feed)
    }
  }

  @Test(
    "17-Repairs: an unescaped CDATA end, a doubled attribute, dashes in a comment, a missing end")
  func others() throws {
    var (entry, kinds) = try mended(rss("<title>a ]]> b</title>"))
    #expect(entry.title?.value == "a ]]> b" && count(.sectionEnd, kinds) == 1)
    (entry, kinds) = try mended(rss("<enclosure url='/a' url='/b' type='x/y'/>"))
    #expect(entry.enclosures.map(\.url) == ["https://example.org/a"])
    #expect(count(.badAttribute, kinds) == 1)
    (entry, kinds) = try mended(rss("<!-- a -- b --><title>T</title>"))
    #expect(entry.title?.value == "T" && count(.badMarkup, kinds) == 1)
    (entry, kinds) = try mended("<rss><channel><item><title>T</title></item>")
    #expect(count(.missingEnd, kinds) == 1)
  }

  @Test(
    "X11, 17-Repairs: a feed that is cut off within an entry is cut off, however lenient the reading"
  )
  func cut() throws {
    let whole = rss(
      "<title>T &amp; U</title><description><![CDATA[x]]></description><link>http://e/</link>")
    let bytes = Array(whole.utf8)
    func place(behind text: String) throws -> Int {
      let wanted = Array(text.utf8)
      return try #require(bytes.indices.first { bytes[$0...].starts(with: wanted) }) + wanted.count
    }
    let (start, end) = (try place(behind: "<item>"), try place(behind: "</item>"))
    for count in start..<end {
      let part = String(decoding: bytes.prefix(count), as: UTF8.self)
      let error = #expect(throws: PageError.self, "\(part)") { try parsed(part) }
      #expect(error?.code == .truncated, "\(part): \(String(describing: error))")
    }
    for part in [
      "<rss><channel><title>My fe", "<rss><channel>", "<rss><channel><title>T</title>",
      "<rss><channel><item><title>T</title></item><title>My fe", "<sitemapindex>",
      "<feed xmlns='http://www.w3.org/2005/Atom'><entry><id>1</id></entry><title>My",
    ] {
      let error = #expect(throws: PageError.self, "\(part)") { try parsed(part) }
      #expect(error?.code == .truncated, "\(part): \(String(describing: error))")
    }
  }

  @Test("17-Repairs: a title with markup is HTML and counted, one with a bracket is plain")
  func titles() throws {
    let (entry, kinds) = try mended(rss("<title>A &lt;b&gt;bold&lt;/b&gt; &amp;amp; title</title>"))
    #expect(entry.title?.kind == .html && entry.title?.plain == "A bold & title")
    #expect(count(.markupInText, kinds) == 1)
    let plain = try parsed(rss("<title>if a &lt; b &amp;&amp; c &gt; d, &lt;foo&gt;</title>"))
    #expect(plain.entries[0].title == FeedText("if a < b && c > d, <foo>"))
    #expect(plain.feed.repairs == [])
  }

  private struct Refusal: Error, Equatable {
    var code: PageError.Code?
  }

  /// Returns the entries of a feed that arrives in slices, or the code of the error.
  private static func outcome(of slices: [[UInt8]]) -> Result<[FeedEntry], Refusal> {
    var context = DecodingContext()
    context.isProvenWhole = true
    var session = FeedPageDecoder().begin(context)
    do {
      for slice in slices { try session.receive(slice) }
      _ = try session.finish()
      return .success(try session.items().items)
    } catch {
      return .failure(Refusal(code: (error as? PageError)?.code))
    }
  }

  /// The encodings of a long feed: UTF-8 (`unicode`) and Latin-1 (`latin`) as declared, Latin-1
  /// declared as UTF-8 (`western`), UTF-16 with a byte order mark (`wide`), and Latin-1 after other
  /// text (`junk`).
  enum Writing: String, CaseIterable {
    case unicode, latin, western, wide, junk
  }

  @Test(
    "17-Repairs: a long feed is mended as a short one, in any encoding, wherever slices end and damage begins",
    arguments: Writing.allCases, [0, 2_000])
  func long(_ writing: Writing, _ damaged: Int) throws {
    let items = (0..<3_000).map {
      "<item><title>é Item \($0) \($0 < damaged ? "+" : "&") more</title></item>"
    }
    let declared = [.latin, .junk].contains(writing) ? "ISO-8859-1" : "UTF-8"
    let text =
      (writing == .junk ? "junk " : "") + "<?xml version='1.0' encoding='\(declared)'?>\r\n"
      + "<rss><channel>\(items.joined())</channel></rss>"
    let encoding: String.Encoding =
      switch writing {
      case .unicode: .utf8
      case .latin, .western, .junk: .isoLatin1
      case .wide: .utf16
      }
    let bytes = try Array(#require(text.data(using: encoding)))
    for size in [1_000, 70_000, bytes.count] {
      var context = DecodingContext()
      context.isProvenWhole = true
      var session = FeedPageDecoder().begin(context)
      for start in stride(from: 0, to: bytes.count, by: size) {
        try session.receive(Array(bytes[start..<min(bytes.count, start + size)]))
      }
      let feed = try #require(try session.finish() as? FeedDocument).feed
      let entries = try session.items().items
      #expect(entries.count == 3_000)
      #expect(entries.last?.title?.value == "é Item 2999 & more")
      #expect(entries.first?.title?.value == "é Item 0 \(damaged > 0 ? "+" : "&") more")
      #expect(count(.bareAmpersand, feed.repairs) == 3_000 - damaged)
      #expect(count(.wrongEncoding, feed.repairs) == (writing == .western ? 1 : 0))
      #expect(count(.textBeforeDocument, feed.repairs) == (writing == .junk ? 1 : 0))
    }
  }

  @Test("17-Media: a long document of XML that is no feed is refused for that")
  func longDocument() {
    let text = "<svg>" + String(repeating: "<g>text</g>", count: 20_000) + "</svg>"
    let error = #expect(throws: PageError.self) { try parsed(text) }
    #expect(error?.code == .unexpectedMediaType)
  }

  @Test(
    "X10, 17-Repairs: a feed that is damaged at random is read or refused, wherever slices end")
  func damage() throws {
    let whole = Array(
      rss(
        "<title>T &amp; <b>U</b></title><description><![CDATA[<p>x</p>]]></description><!-- c --><a:b c='d' e=\"f\"/>",
        before: "<?xml version='1.0'?>"
      ).utf8)
    var state: UInt64 = 42
    func random(_ limit: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % limit
    }
    var read = 0
    for round in 0..<4_000 {
      var bytes = whole
      for _ in 0...random(4) {
        let place = random(bytes.count)
        switch random(4) {
        case 0: bytes.remove(at: place)
        case 1: bytes[place] = Array("<>&;\"'/=! ]-x\u{1}".utf8)[random(14)]
        case 2: bytes.insert(Array("<>&;\"'/=! ]-x?".utf8)[random(14)], at: place)
        default: bytes.removeSubrange(place..<min(bytes.count, place + random(9)))
        }
        if bytes.isEmpty { break }
      }
      let outcome = Self.outcome(of: [bytes])
      if case .success = outcome { read += 1 }
      let slice = 1 + random(7)
      let slices = stride(from: 0, to: bytes.count, by: slice).map {
        Array(bytes[$0..<min(bytes.count, $0 + slice)])
      }
      #expect(Self.outcome(of: slices) == outcome, "round \(round) of seed 42")
      if round == 3_999 { #expect(read > 800, "seed 42: \(read) of 4000 were read") }
    }
  }
}
