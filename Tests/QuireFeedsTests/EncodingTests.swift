import QuireFeeds
import Testing

@Suite("Feeds: encodings")
struct EncodingTests {
  /// A feed in some encoding: the encodings that its declaration and its Content-Type give, and its
  /// title.
  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    var declared: String?
    var contentType: String?
    /// The bytes of the title.
    var title: [UInt8] = []
    /// Encodes the whole feed, for encodings that are not supersets of ASCII.
    var whole: (@Sendable (String) -> [UInt8])?
    let expected: String
    var repairs: [FeedRepair.Kind] = []

    var testDescription: String { name }

    var bytes: [UInt8] {
      let declaration = declared.map { "<?xml version=\"1.0\" encoding=\"\($0)\"?>" } ?? ""
      let (start, end) = (
        "\(declaration)<rss version='2.0'><channel><title>", "</title></channel></rss>"
      )
      if let whole { return whole(start + expected + end) }
      return Array(start.utf8) + title + Array(end.utf8)
    }
  }

  private static func wide(_ text: String, isBig: Bool, mark: Bool) -> [UInt8] {
    ((mark ? [0xFEFF] : []) + Array(text.utf16)).flatMap { unit -> [UInt8] in
      let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xFF))
      return isBig ? [high, low] : [low, high]
    }
  }

  static let cases: [Case] = [
    Case(
      name: "UTF-8 with a mark", declared: "utf-8", whole: { [0xEF, 0xBB, 0xBF] + Array($0.utf8) },
      expected: "é"),
    Case(
      name: "UTF-8 with a mark that says Latin 1", declared: "iso-8859-1",
      whole: { [0xEF, 0xBB, 0xBF] + Array($0.utf8) }, expected: "é", repairs: [.wrongEncoding]),
    Case(
      name: "UTF-16, little end first", declared: "utf-16",
      whole: { wide($0, isBig: false, mark: true) }, expected: "é日"),
    Case(
      name: "UTF-16, big end first", declared: "utf-16",
      whole: { wide($0, isBig: true, mark: true) }, expected: "é日"),
    Case(
      name: "UTF-16LE without a mark", declared: "utf-16le",
      whole: { wide($0, isBig: false, mark: false) }, expected: "é日"),
    Case(
      name: "UTF-16BE without a mark", declared: "utf-16be",
      whole: { wide($0, isBig: true, mark: false) }, expected: "é日"),
    Case(
      name: "UTF-16 that says UTF-8", declared: "utf-8",
      whole: { wide($0, isBig: false, mark: true) }, expected: "é日", repairs: [.wrongEncoding]),
    Case(
      name: "UTF-16 whose Content-Type says UTF-8", declared: "utf-16",
      contentType: "text/xml; charset=utf-8", whole: { wide($0, isBig: true, mark: true) },
      expected: "é"),
    Case(
      name: "UTF-8 whose Content-Type says UTF-16", contentType: "text/xml; charset=utf-16",
      title: [0xC3, 0xA9], expected: "é", repairs: [.wrongEncoding]),
    Case(
      name: "windows-1251 whose Content-Type says UTF-16", declared: "windows-1251",
      contentType: "text/xml; charset=utf-16", title: [0xCF, 0xF0], expected: "Пр",
      repairs: [.wrongEncoding, .legacyEncoding]),
    Case(
      name: "Shift_JIS", declared: "Shift_JIS", title: [0x93, 0xFA, 0x96, 0x7B], expected: "日本",
      repairs: [.legacyEncoding]),
    Case(
      name: "Shift_JIS by a name of Windows", declared: "windows-31j",
      title: [0x93, 0xFA, 0x87, 0x40], expected: "日①", repairs: [.legacyEncoding]),
    Case(
      name: "EUC-JP", declared: "EUC-JP", title: [0xC6, 0xFC, 0xCB, 0xDC], expected: "日本",
      repairs: [.legacyEncoding]),
    Case(
      name: "ISO-2022-JP", declared: "ISO-2022-JP",
      title: [0x1B, 0x24, 0x42, 0x46, 0x7C, 0x4B, 0x5C, 0x1B, 0x28, 0x42], expected: "日本",
      repairs: [.legacyEncoding]),
    Case(
      name: "GBK", declared: "GBK", title: [0xD6, 0xD0, 0xCE, 0xC4], expected: "中文",
      repairs: [.legacyEncoding]),
    Case(
      name: "GB2312 with characters of GBK", declared: "gb2312", title: [0x81, 0x40, 0xCE, 0xC4],
      expected: "丂文", repairs: [.legacyEncoding]),
    Case(
      name: "GB18030", declared: "gb18030", title: [0xD6, 0xD0, 0x81, 0x30, 0x84, 0x36],
      expected: "中¥", repairs: [.legacyEncoding]),
    Case(
      name: "Big5", declared: "big5", title: [0xA4, 0xA4, 0xA4, 0xE5], expected: "中文",
      repairs: [.legacyEncoding]),
    Case(
      name: "EUC-KR", declared: "euc-kr", title: [0xC7, 0xD1, 0xB1, 0xB9], expected: "한국",
      repairs: [.legacyEncoding]),
    Case(
      name: "KOI8-R", declared: "koi8-r", title: [0xF0, 0xD2, 0xC9, 0xD7, 0xC5, 0xD4],
      expected: "Привет", repairs: [.legacyEncoding]),
    Case(
      name: "KOI8-U", declared: "KOI8-U", title: [0xA4, 0xD2], expected: "єр",
      repairs: [.legacyEncoding]),
    Case(
      name: "windows-1251", declared: "Windows-1251", title: [0xCF, 0xF0, 0xE8, 0xE2, 0xE5, 0xF2],
      expected: "Привет", repairs: [.legacyEncoding]),
    Case(
      name: "ISO-8859-5", declared: "iso-8859-5", title: [0xBF, 0xE0], expected: "Пр",
      repairs: [.legacyEncoding]),
    Case(
      name: "ISO-8859-2", declared: "ISO-8859-2", title: [0xE8, 0xB9], expected: "čš",
      repairs: [.legacyEncoding]),
    Case(
      name: "windows-1250", declared: "windows-1250", title: [0xE8, 0x9A], expected: "čš",
      repairs: [.legacyEncoding]),
    Case(
      name: "ISO-8859-15", declared: "ISO-8859-15", title: [0xA4], expected: "€",
      repairs: [.legacyEncoding]),
    Case(
      name: "windows-1252", declared: "windows-1252", title: [0x93, 0xE9, 0x94, 0x80],
      expected: "“é”€", repairs: [.legacyEncoding]),
    Case(
      name: "ISO-8859-1 with characters of Windows", declared: "ISO-8859-1",
      title: [0x93, 0xE9, 0x94, 0x80], expected: "“é”€", repairs: [.legacyEncoding]),
    Case(
      name: "windows-1254", declared: "windows-1254", title: [0xFE], expected: "ş",
      repairs: [.legacyEncoding]),
    Case(
      name: "ISO-8859-7", declared: "iso-8859-7", title: [0xE1], expected: "α",
      repairs: [.legacyEncoding]),
    Case(
      name: "windows-1256", declared: "windows-1256", title: [0xC8], expected: "ب",
      repairs: [.legacyEncoding]),
    Case(
      name: "TIS-620", declared: "tis-620", title: [0xA1], expected: "ก", repairs: [.legacyEncoding]
    ),
    Case(
      name: "Macintosh", declared: "macintosh", title: [0x8E], expected: "é",
      repairs: [.legacyEncoding]),
    Case(
      name: "the Content-Type before the declaration (RFC 7303)", declared: "utf-8",
      contentType: "application/rss+xml; charset=\"windows-1251\"", title: [0xCF, 0xF0],
      expected: "Пр", repairs: [.legacyEncoding]),
    Case(
      name: "text/xml without charset is what the declaration says (RFC 7303)", declared: "koi8-r",
      contentType: "text/xml", title: [0xF0], expected: "П", repairs: [.legacyEncoding]),
    Case(
      name: "a Content-Type that says Latin 1 of what is UTF-8", declared: "utf-8",
      contentType: "text/xml; charset=ISO-8859-1", title: Array("é日".utf8), expected: "é日",
      repairs: [.legacyEncoding, .wrongEncoding]),
    Case(
      name: "a Content-Type that says UTF-8 of what is declared and is Latin 1",
      declared: "iso-8859-1", contentType: "text/xml; charset=utf-8", title: [0xE9], expected: "é",
      repairs: [.wrongEncoding]),
    Case(
      name: "a Content-Type that says UTF-8 of what is declared and is Cyrillic",
      declared: "windows-1251", contentType: "text/xml; charset=utf-8", title: [0xCF, 0xF0],
      expected: "Пр", repairs: [.legacyEncoding, .wrongEncoding]),
    Case(
      name: "a Content-Type that says US-ASCII of what is declared and is Japanese",
      declared: "shift_jis", contentType: "text/xml; charset=us-ascii",
      title: [0x93, 0xFA, 0x96, 0x7B], expected: "日本", repairs: [.legacyEncoding, .wrongEncoding]),
    Case(
      name: "a Content-Type that says UTF-8, rightly, of what declares something else",
      declared: "windows-1251", contentType: "text/xml; charset=utf-8", title: Array("é日".utf8),
      expected: "é日"),
    Case(
      name: "a Content-Type that says UTF-8, rightly, of what has broken bytes further on",
      declared: "windows-1251", contentType: "text/xml; charset=utf-8",
      title: Array("é".utf8) + [0xE9, 0x20], expected: "éé", repairs: [.wrongEncoding]),
    Case(
      name: "an unknown charset in the Content-Type", declared: "utf-8",
      contentType: "text/xml; charset=none", title: Array("é".utf8), expected: "é",
      repairs: [.wrongEncoding]),
    Case(
      name: "US-ASCII that is Latin 1", declared: "us-ascii", title: [0xE9], expected: "é",
      repairs: [.wrongEncoding]),
    Case(
      name: "no declaration, and Latin 1", title: [0xE9, 0x20, 0xE8], expected: "é è",
      repairs: [.wrongEncoding]),
    Case(
      name: "UTF-8 with bytes of Windows in it", declared: "utf-8",
      title: Array("日".utf8) + [0xE6, 0x97], expected: "日æ—", repairs: [.wrongEncoding]),
  ]

  @Test(
    "E2, 17-Repairs: feeds of every encoding are read, whether it is said rightly, wrongly or not at all",
    arguments: cases)
  func read(encoding: Case) throws {
    let feed = try ParsedFeed(encoding.bytes, contentType: encoding.contentType).feed
    #expect(feed.title?.value == encoding.expected)
    #expect(feed.repairs.map(\.kind) == encoding.repairs)
  }

  @Test("17-Json, 17-Repairs: a JSON Feed with a mark before it is read")
  func json() throws {
    let text = "{\"version\":\"https://jsonfeed.org/version/1\",\"title\":\"é\",\"items\":[]}"
    #expect(try ParsedFeed([0xEF, 0xBB, 0xBF] + Array(text.utf8)).feed.title?.value == "é")
  }
}
