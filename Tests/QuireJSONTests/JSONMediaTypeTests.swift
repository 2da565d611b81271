import QuireCore
import QuireHTTP
import QuireJSON
import QuirePagination
import Testing

@Suite("JSON media types")
struct JSONMediaTypeTests {
  let decoder = JSONPageDecoder<Int>()

  @Test(
    "N25: a page of something else is named and quoted, never taken for an empty page",
    arguments: [
      ("<html>log in</html>", String?.some("text/html; charset=utf-8"), "<html>log in</html>"),
      ("\n <!DOCTYPE html>", "application/json", "\\n <!DOCTYPE html>"),
      ("<Error/>", nil, "<Error/>"), ("Please log in", "text/html", "Please log in"),
      ("Service down", nil, "Service down"), ("id,name", "text/csv", "id,name"),
      ("\u{1B}[31m\"é", "text/plain", #"\u{1B}[31m\"\u{00E9}"#),
    ])
  func otherPages(_ page: String, _ contentType: String?, _ quoted: String) {
    let error = #expect(throws: PageError.self) {
      try decode(decoder, page, contentType: contentType)
    }
    #expect(error?.code == .unexpectedMediaType)
    #expect(error?.message.contains("not JSON") == true)
    #expect(error?.message.contains("\"\(quoted)\"") == true, "\(error as Any)")
  }

  @Test(
    "N25: a page that may be XML or a table has a remedy that says so, and HTML has none",
    arguments: [
      ("<r/>", "application/json", "XML"), ("<?xml version='1.0'?><r/>", "application/json", "XML"),
      ("a,b\n1,2\n", "text/plain", "CSV"), ("<html>", "application/json", nil),
      ("<h1>x</h1>", "text/html", nil), ("Log in", "application/xml", nil),
    ] as [(String, String, String?)])
  func remedies(page: String, contentType: String, decoder: String?) {
    let error = #expect(throws: PageError.self) {
      try decode(self.decoder, page, contentType: contentType)
    }
    #expect(error?.remedies.first?.values.first == decoder)
  }

  @Test("N25: at most 256 bytes are quoted")
  func quoteLength() {
    let page = "<" + String(repeating: "a", count: 1_000)
    let error = #expect(throws: PageError.self) { try decode(decoder, page) }
    #expect(error?.message.contains("<" + String(repeating: "a", count: 255) + "…\"") == true)
  }

  @Test(
    "The first byte decides where the Content-Type is missing or odd",
    arguments: [
      nil, "application/json", "application/json; charset=utf-8", "APPLICATION/JSON", "text/plain",
      "application/octet-stream", "application/vnd.api+json", "application/hal+json;v=1",
      "text/javascript", "text/html", "image/png",
    ] as [String?])
  func oddTypes(_ contentType: String?) throws {
    #expect(try decode(decoder, " [1]", contentType: contentType).items == [1])
    #expect(try decode(decoder, ")]}'\n[1]", contentType: contentType).items == [1])
  }

  @Test("An empty body is cut off, whatever it was declared as", arguments: ["text/html", nil])
  func emptyBody(_ contentType: String?) {
    let error = #expect(throws: PageError.self) {
      try decode(decoder, " ", contentType: contentType)
    }
    #expect(error?.code == .truncated)
  }
}
