import QuireCore
import QuireHTTP
import QuireJSON
import QuirePagination
import Testing

@testable import QuireXML

@Suite("The format of a page")
struct AutomaticPageDecoderTests {
  struct Row: Decodable, Sendable, Equatable { var id: Int }

  private func items(_ page: [UInt8], _ contentType: String?) throws -> [Row] {
    let decoder = AutomaticPageDecoder(json: JSONPageDecoder<Row>(), xml: XMLPageDecoder<Row>())
    #expect(decoder.isSelfDelimiting)
    let context = DecodingContext(contentType: contentType, items: "/rows | /r/row")
    var results: [[Row]] = []
    for slices in [[page], page.map { [$0] }] {
      var session = decoder.begin(context)
      for slice in slices { try session.receive(slice) }
      _ = try session.finish()
      results.append(try session.items().items)
    }
    #expect(results[0] == results[1])
    return results[0]
  }

  static let json = #"{"rows": [{"id": 1}, {"id": 2}]}"#
  static let xml = "<r><row id='1'/><row><id>2</id></row></r>"

  @Test(
    "D-1: one type and one description read both formats, told by Content-Type or first byte",
    arguments: [
      (json, "application/json"), (json, "application/vnd.api+json; charset=utf-8"), (json, nil),
      (json, "text/html"), (" \n" + json, "text/plain"), (xml, "application/xml"),
      (xml, "application/atom+xml"), (xml, "text/xml; charset=utf-8"), (xml, nil),
      (xml, "text/plain"), ("\u{FEFF}" + xml, nil), ("\n " + xml, "application/octet-stream"),
    ] as [(String, String?)])
  func formats(page: String, contentType: String?) throws {
    #expect(try items(Array(page.utf8), contentType) == [Row(id: 1), Row(id: 2)])
  }

  @Test("UTF-16 is told as XML by its first character")
  func wide() throws {
    let page = Self.xml.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    #expect(try items(page, nil) == [Row(id: 1), Row(id: 2)])
    #expect(try items([0xFF, 0xFE] + page, nil) == [Row(id: 1), Row(id: 2)])
  }

  @Test(
    "N25: HTML is an error that says so, whatever it is declared as",
    arguments: [nil, "text/html", "application/json", "application/xml"] as [String?])
  func html(contentType: String?) {
    let page = Array("<!DOCTYPE html><html><body><p>Log in<br></html>".utf8)
    let error = #expect(throws: PageError.self) { try items(page, contentType) }
    #expect(error?.code == .unexpectedMediaType)
    #expect(error?.message.contains("HTML") == true)
  }

  @Test(
    "N25: a well-formed part of HTML that is declared as HTML is no page, and XML that is so is one",
    arguments: ["<h1>Maintenance</h1>", "<form><input name='u'/></form>", "<P>Log in</P>"])
  func partsOfHTML(page: String) throws {
    let decoder = AutomaticPageDecoder(json: JSONRawPageDecoder(), xml: XMLRawPageDecoder())
    for slices in [[Array(page.utf8)], page.utf8.map { [$0] }] {
      let error = #expect(throws: PageError.self) {
        var session = decoder.begin(DecodingContext(contentType: "text/html; charset=utf-8"))
        for slice in slices { try session.receive(slice) }
        _ = try session.finish()
      }
      #expect(error?.code == .unexpectedMediaType)
      #expect(error?.message.contains("HTML") == true)
    }
    #expect(try items(Array(Self.xml.utf8), "text/html") == [Row(id: 1), Row(id: 2)])
  }

  @Test("N25: an element around a text is no empty list, wherever the items are expected")
  func text() throws {
    let decoder = AutomaticPageDecoder(json: JSONRawPageDecoder(), xml: XMLRawPageDecoder())
    func count(_ page: String, _ items: Pagination.Items) throws -> Int {
      var session = decoder.begin(DecodingContext(contentType: "application/xml", items: items))
      try session.receive(Array(page.utf8))
      _ = try session.finish()
      return try session.items().count
    }
    for items in [.root, "/Error/item", .optional("/Error/item"), .optional(.root)]
      as [Pagination.Items]
    {
      let error = #expect(throws: PageError.self) { try count("<Error>Busy</Error>", items) }
      #expect(error?.code == .shape)
      #expect(error?.message.contains("Busy") == true)
    }
    for page in ["<list/>", "<list> \n </list>", "<list n='0'></list>"] {
      #expect(try count(page, .root) == 0)
    }
  }

  @Test("D-4: white space without end is an error after 64 KiB of it")
  func silence() throws {
    let decoder = AutomaticPageDecoder(json: JSONPageDecoder<Row>(), xml: XMLPageDecoder<Row>())
    var session = decoder.begin(DecodingContext(contentType: "text/plain"))
    let spaces = [UInt8](repeating: 0x20, count: 1 << 16)
    try session.receive(spaces)
    let error = #expect(throws: PageError.self) { try session.receive(spaces) }
    #expect(error?.code == .malformed)
  }

  @Test("an empty page is no page of either format", arguments: [nil, "text/xml"] as [String?])
  func empty(contentType: String?) {
    #expect(throws: PageError.self) { try items([], contentType) }
  }
}
