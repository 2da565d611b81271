import QuireCore
import QuireHTTP
import QuireJSON
import QuirePagination
import Testing

@testable import QuireXML

@Suite("Encodings")
struct EncodingTests {
  private func text(
    _ bytes: [UInt8], charset: String? = nil, leniency: XMLLeniency = .feed
  ) throws -> JSONValue? {
    var result: JSONValue?
    // Whole, and byte by byte: a slice may end within a character.
    for slices in [[bytes], bytes.map { [$0] }] {
      let parser = try XMLPushParser(leniency: leniency, charset: charset)
      do throws(XMLFault) {
        for slice in slices { try parser.receive(slice) }
        try parser.finish()
      } catch {
        throw error.pageError
      }
      let value = try XMLDocument(index: parser.takeIndex()).value(at: "/a")
      #expect(slices.count == 1 || value == result)
      result = value
    }
    return result
  }

  private func page(_ encoding: String, _ text: [UInt8]) -> [UInt8] {
    Array("<?xml version='1.0' encoding='\(encoding)'?><a>".utf8) + text + Array("</a>".utf8)
  }

  @Test(
    "E1: the encodings of feeds are read",
    arguments: [
      ("windows-1251", [0xCF, 0xF0, 0xE8], "При"), ("KOI8-R", [0xF0, 0xD2, 0xC9], "При"),
      ("Shift_JIS", [0x93, 0xFA, 0x96, 0x7B], "日本"), ("EUC-JP", [0xC6, 0xFC, 0xCB, 0xDC], "日本"),
      ("ISO-2022-JP", [0x1B, 0x24, 0x42, 0x46, 0x7C, 0x4B, 0x5C, 0x1B, 0x28, 0x42], "日本"),
      ("GB2312", [0xD6, 0xD0, 0xCE, 0xC4], "中文"), ("GBK", [0xD6, 0xD0, 0xCE, 0xC4], "中文"),
      ("GB18030", [0xD6, 0xD0, 0x81, 0x30, 0x81, 0x30], "中\u{80}"),
      ("Big5", [0xA4, 0xA4, 0xA4, 0xE5], "中文"), ("EUC-KR", [0xC7, 0xD1], "한"),
      ("ISO-8859-1", [0xE9, 0x20, 0x80], "é €"), ("windows-1252", [0xE9, 0x80], "é€"),
      ("ISO-8859-15", [0xA4], "€"), ("US-ASCII", [0x41], "A"), ("utf-8", [0xC3, 0xA9], "é"),
    ] as [(String, [UInt8], String)])
  func golden(encoding: String, bytes: [UInt8], expected: String) throws {
    #expect(try text(page(encoding, bytes)) == .string(expected))
  }

  @Test("E1: UTF-16 is read in both orders, with a mark and without")
  func utf16() throws {
    let units = Array("<?xml version='1.0' encoding='UTF-16'?><a>é中😀</a>".utf16)
    let big = units.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    let little = units.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    for bytes in [big, little, [0xFE, 0xFF] + big, [0xFF, 0xFE] + little] {
      #expect(try text(bytes, leniency: []) == "é中😀")
      #expect(try text(bytes, charset: "utf-16", leniency: []) == "é中😀")
    }
  }

  @Test("E2: a page that is not in its encoding is an error, not mojibake")
  func wrongDeclaration() {
    for bytes in [page("UTF-8", [0xE9]), page("US-ASCII", [0xC3, 0xA9])] {
      let error = #expect(throws: PageError.self) { try text(bytes, leniency: []) }
      #expect(error?.code == .malformed)
      #expect(error?.message.contains("the next bytes are not U") == true)
    }
    let error = #expect(throws: PageError.self) { try text(page("EUC-JP", [0xFF, 0xFF])) }
    #expect(error?.message.contains("the next bytes are not EUC-JP") == true)
  }

  @Test(
    "E2: a feed that is UTF-8 is read as such and else as declared or windows-1252, and says so",
    arguments: [
      ("UTF-8", [0xE9, 0x80], "é€", true), ("US-ASCII", [0xE9], "é", true),
      ("UTF-8", [0xC3, 0xA9, 0x20, 0xE9, 0x20, 0xC3, 0xA9], "é é é", true),
      ("US-ASCII", [0xC3, 0xA9], "é", true), ("US-ASCII", [0x41], "A", false),
      ("ISO-8859-1", [0xC3, 0xA9], "é", true), ("ISO-8859-1", [0xE9, 0xC3, 0xA9], "éÃ©", false),
      ("windows-1252", [0xE2, 0x82, 0xAC], "€", true), ("windows-1252", [0x80], "€", false),
      ("windows-1252", [0xC3, 0xA9, 0x20, 0xE9, 0x20, 0xC3, 0xA9], "é é é", true),
      ("windows-1251", [0xC3, 0xA9], "Г©", false), ("UTF-8", [0xC3, 0xA9], "é", false),
    ] as [(String, [UInt8], String, Bool)])
  func mislabelled(encoding: String, bytes: [UInt8], expected: String, isRepaired: Bool) throws {
    let page = page(encoding, bytes)
    #expect(try text(page) == .string(expected))
    let document = try XMLDocument(page, leniency: .feed)
    #expect(document.repairs.contains(.mislabelledEncodings) == isRepaired)
  }

  @Test(
    "E3: encodings off the list are refused by name",
    arguments: [
      "UTF-7", "IBM037", "ISO-2022-CN-EXT", "UTF-32", "x-nonsense",
    ])
  func refused(encoding: String) {
    let error = #expect(throws: PageError.self) { try text(page(encoding, [0x41])) }
    #expect(error?.code == .malformed)
    #expect(error?.message.contains(encoding) == true)
  }

  @Test(
    "E3: UTF-32 and EBCDIC are refused by their bytes",
    arguments: [
      [0, 0, 0xFE, 0xFF, 0, 0, 0, 0x3C], [0xFF, 0xFE, 0, 0, 0x3C, 0, 0, 0],
      [0x3C, 0, 0, 0, 0x61, 0, 0, 0],
      [0x4C, 0x6F, 0xA7, 0x94, 0x93, 0x40],
    ] as [[UInt8]])
  func refusedBytes(bytes: [UInt8]) {
    #expect(throws: PageError.self) { try text(bytes) }
  }

  @Test("E3: an API may not send what is not Unicode, and the message says what to do")
  func strict() {
    let error = #expect(throws: PageError.self) {
      try text(page("windows-1251", [0xCF]), leniency: [])
    }
    #expect(error?.message.contains("XMLLeniency.legacyEncodings") == true)
  }

  @Test("E4: a mark comes before HTTP, HTTP before the declaration")
  func precedence() throws {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let utf8: [UInt8] = [0xC3, 0xA9]
    let leniency = XMLLeniency.legacyEncodings
    // Of the three, the first that speaks is right; é in UTF-8 is Ã© in windows-1252.
    for (marked, http, declared, expected) in [
      (true, "windows-1251", "windows-1252", "é"), (true, nil, "windows-1252", "é"),
      (false, "utf-8", "windows-1252", "é"), (false, "windows-1252", "utf-8", "Ã©"),
      (false, nil, "windows-1252", "Ã©"), (false, nil, "utf-8", "é"),
    ] as [(Bool, String?, String, String)] {
      let bytes = (marked ? mark : []) + page(declared, utf8)
      #expect(try text(bytes, charset: http, leniency: leniency) == .string(expected))
    }
    #expect(try text(Array("<a>é</a>".utf8)) == "é")
    #expect(try text(page("UTF-16", utf8), leniency: []) == "é")
    let error = #expect(throws: PageError.self) {
      try text(page("utf-8", utf8), charset: "utf-16", leniency: [])
    }
    #expect(error?.message.contains("utf-16, and its bytes are not") == true)
  }

  @Test("E5: an error in the middle names its byte, line and column")
  func middle() {
    let bytes = Array("<a>\n<b>é</b>\n<b>".utf8) + [0xFF] + Array("</b></a>".utf8)
    let error = #expect(throws: PageError.self) { try text(bytes, leniency: []) }
    #expect(
      error?.message.contains("line 3, column 4 (byte 17)") == true, "\(error?.message ?? "")")
    #expect(error?.message.contains("not UTF-8") == true)
  }

  @Test(
    "overlong forms, surrogates and what is beyond Unicode are no UTF-8",
    arguments: [
      [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xF0, 0x80, 0x80, 0xBC],
      [0xF4, 0x90, 0x80, 0x80], [0xF8, 0x88, 0x80, 0x80, 0x80], [0x80], [0xE2, 0x82],
    ] as [[UInt8]])
  func malformed(bytes: [UInt8]) {
    #expect(throws: PageError.self) { try text(page("utf-8", bytes), leniency: []) }
  }
}
