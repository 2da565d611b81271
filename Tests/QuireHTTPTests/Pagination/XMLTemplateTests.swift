import HTTPTypes
import QuireCore
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

@Suite("Bodies of XML")
struct XMLTemplateTests {
  private static let envelope = """
    <?xml version="1.0"?><!-- <View Offset="no"/> --><s:Envelope xmlns:s='urn:s'>
      <s:Body note="a > b"><m:View MaxEntriesReturned="2" Offset = '0' Base="Beginning"/>
        <m:Token/><m:Mark  a="1" /><m:Count> 5 </m:Count><![CDATA[<View/>]]></s:Body>
    </s:Envelope>
    """

  @Test(
    "T17: a value is set at a path of names, and every other byte stays",
    arguments: [
      ("//View/@Offset", "Offset = '0'", "Offset = '7'"),
      ("/Envelope/Body/View/@Offset", "Offset = '0'", "Offset = '7'"),
      ("//View/@New", #"Base="Beginning"/>"#, #"Base="Beginning" New="7"/>"#),
      ("//Token", "<m:Token/>", "<m:Token>7</m:Token>"),
      ("//Mark/text()", #"<m:Mark  a="1" />"#, #"<m:Mark  a="1" >7</m:Mark>"#),
      ("//Body/Count", "<m:Count> 5 </m:Count>", "<m:Count>7</m:Count>"),
    ])
  func sets(_ path: PagePath, _ before: String, _ after: String) throws {
    let result = try XMLTemplate(Self.envelope).setting("7", at: path)
    #expect(Self.envelope.contains(before))
    #expect(result == Self.envelope.replacing(before, by: after))
    #expect(try XMLTemplate(result).value(at: path) == "7")
  }

  @Test(
    "A value takes the place of a text with comments and CDATA sections, and of the attribute without a prefix",
    arguments: [
      ("<a><P>1<!-- <P> --></P></a>", "//P", "1", "<a><P>7</P></a>"),
      ("<a><P>&lt;<![CDATA[<&amp;]]>&gt;<?x?></P></a>", "//P", "<<&amp;>", "<a><P>7</P></a>"),
      ("<a><P x:o='9' o='1'/></a>", "//P/@o", "1", "<a><P x:o='9' o='7'/></a>"),
      ("<a><P x:o='9'/></a>", "//P/@o", "9", "<a><P x:o='7'/></a>"),
    ])
  func marked(_ body: String, _ path: PagePath, _ value: String, _ after: String) throws {
    #expect(try XMLTemplate(body).value(at: path) == value)
    #expect(try XMLTemplate(body).setting("7", at: path) == after)
  }

  @Test("A value can hold anything: it is escaped, and read back as it was")
  func escapes() throws {
    let value = "a<b>&\"c' ]]> &amp; é<\u{301}"
    for path: PagePath in ["//View/@Offset", "//Token", "//View/@New"] {
      let result = try XMLTemplate(Self.envelope).setting(value, at: path)
      #expect(result.contains("a&lt;b&gt;&amp;&quot;c&apos; ]]&gt; &amp;amp; é&lt;\u{301}"))
      #expect(try XMLTemplate(result).value(at: path) == value)
    }
  }

  @Test(
    "An element that is missing, or holds others, is an error that says what to do",
    arguments: ["//Nowhere", "//Body", "/Body/View/@Offset", "//*", "//View[2]", "/a/{u}b"])
  func misfits(_ path: PagePath) {
    let error = #expect(throws: PageError.self) {
      try XMLTemplate(Self.envelope).setting("7", at: path)
    }
    #expect(error?.code == .invalidArgument)
  }

  @Test("A body that ends in the middle of a tag leads to an error, not to a trap")
  func cutOff() {
    let bytes = Array(Self.envelope.utf8)
    for end in bytes.indices {
      let text = String(decoding: bytes[..<end], as: UTF8.self)
      _ = try? XMLTemplate(text).setting("7", at: "//View/@Offset")
      _ = try? XMLTemplate(text).value(at: "//Count")
    }
  }

  @Test("A counter goes on from the number in the body")
  func counter() throws {
    let body = #"<v Offset="4" Max="2"/>"#
    let description = Pagination(
      next: .offset, send: .xmlBody("//v/@Offset"), end: [.shortPage],
      size: Pagination.PageSize(.xmlBody("//v/@Max")))
    let engine = try PaginationEngine(
      description, first: PageRequest(method: .post, url: "https://a.test/", body: .xml(body)),
      home: Origin(url: "https://a.test/"))
    #expect(engine.pageSize == 2)
    let answer = PageAnswer(
      request: try engine.builder.request(at: nil), url: "https://a.test/", status: 200,
      headerFields: [:],
      document: try JSONDocument(Array("[1,2]".utf8)), position: .start)
    let next = try #require(engine.finder.continuation(after: answer, itemCount: 2).next)
    #expect(try engine.builder.request(at: next).body == .xml(#"<v Offset="6" Max="2"/>"#))
    #expect(throws: PageError.self) {
      try PaginationEngine(
        description, first: PageRequest(method: .post, url: "https://a.test/"),
        home: Origin(url: "https://a.test/"), pageSize: 2)
    }
  }
}
