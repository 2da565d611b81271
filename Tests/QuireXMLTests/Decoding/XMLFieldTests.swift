import QuireCore
import QuireHTTP
import QuireJSON
import QuirePagination
import Testing

@testable import QuireXML

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("Fields of a page of XML")
struct XMLFieldTests {
  private struct Owner: Decodable, Equatable { let displayName: String }

  private let decoder = XMLPageDecoder<Owner>(options: XMLDecodingOptions(keys: .capitalized))
  private let page = """
    <List total="12"><Updated>2026-01-02T03:04:05Z</Updated><Owner><DisplayName>Ann</DisplayName>\
    </Owner><Tag>a</Tag><Tag>b</Tag><Count>many\u{202E}</Count><Empty/></List>
    """

  private func field<Value: Decodable>(_ path: PagePath, as type: Value.Type) throws -> Value? {
    try decoder.field(type, at: path, in: try XMLDocument(Array(page.utf8))) ?? nil
  }

  @Test("12-A4, D-1, C-12: a field of XML is decoded by the options of the items")
  func fields() throws {
    #expect(try field("/List/Updated", as: Date.self) == Date(timeIntervalSince1970: 1_767_323_045))
    #expect(try field("/List/Owner", as: Owner.self) == Owner(displayName: "Ann"))
    #expect(try field("/List/@total", as: Int.self) == 12)
    #expect(try field("/List/Tag", as: [String].self) == ["a", "b"])
    #expect(try field("/List/Empty", as: Int.self) == nil)
    #expect(try field("/List/Absent", as: Int.self) == nil)
  }

  @Test("fields keep to the digits that the page's limits allow, as items do")
  func digits() throws {
    let page = Array("<l><n>1.5</n><n>12.25</n></l>".utf8)
    let limits = DecodingLimits(numberLength: 4)
    let document = try XMLDocument(page, decoding: limits)
    #expect(try decoder.field(Double.self, at: "/l/n", in: document) == 1.5)
    #expect(throws: PageError.self) { try decoder.field([Double].self, at: "/l/n", in: document) }
    #expect(throws: PageError.self) { try decoder.field([Decimal].self, at: "/l/n", in: document) }
    let long = try XMLDocument(page, decoding: DecodingLimits(numberLength: 5))
    #expect(try decoder.field([Double].self, at: "/l/n", in: long) == [1.5, 12.25])
  }

  @Test("12-A4, 12-S2: a field that does not fit is a PageError with the place, escaped")
  func wrongFields() throws {
    let error = try #require(throws: PageError.self) {
      try field("/List/Count", as: Int.self)
    }
    #expect(error.code == .fieldDecoding)
    #expect(error.message.contains("The page's field at \"/List/Count\" cannot be decoded"))
    #expect(error.message.contains("line 1, column"))
    #expect(error.message.contains("many\\u{202E}"))
    #expect(error.underlying is DecodingError)
  }

  @Test(
    "12-S2, L2: names, attributes, entities and encodings of a page are escaped in its errors",
    arguments: ["\u{9B}31m", "\u{202E}", "\u{2028}quire: exhausted", "\u{85}"])
  func hostile(_ text: String) throws {
    let pages = [
      "<?xml version='1.0' encoding='x\(text)'?><a/>", "<a>&\(text)x;</a>", "<a\(text)>",
      "<a \(text)='1",
      "<r><ü\(text)/></r>", "<r><n>\(text)</n></r>", "<a><b></\(text)b></a>", "\(text)<a/>",
      "<x\u{B7}\u{203F}\u{2040}><i/><i/></x\u{B7}\u{203F}\u{2040}>", "<a x='\(text)' x='\(text)'/>",
    ]
    struct Row: Decodable, Sendable { let n: Int }
    for page in pages {
      for items in ["/none/x", "/r"] as [Pagination.Items] {
        var session = try XMLPageDecoder<Row>().begin(DecodingContext(items: items))
        do {
          try session.receive(Array(page.utf8))
          _ = try session.finish()
          _ = try session.items()
        } catch let error as PageError {
          #expect(isPlain("\(error)"), "\("\(error)".debugDescription)")
        }
      }
    }
  }
}

/// Whether nothing in a text is obeyed or hidden by a terminal.
private func isPlain(_ text: some StringProtocol) -> Bool {
  text.unicodeScalars.allSatisfy { $0.isPlain }
}
