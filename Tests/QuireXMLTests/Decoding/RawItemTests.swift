import QuireCore
import QuireHTTP
import QuireJSON
import QuirePagination
import Testing

@testable import QuireXML

@Suite("Items as they came")
struct RawItemTests {
  private func items(_ page: String, at selector: Pagination.Items) throws -> [XMLItem] {
    var session = try XMLItemPageDecoder().begin(DecodingContext(items: selector))
    try session.receive(Array(page.utf8))
    _ = try session.finish()
    return try session.items().items
  }

  @Test("an item keeps its bytes, and gets the namespaces it uses from around it")
  func bytes() throws {
    let page = """
      <r xmlns="urn:d" xmlns:x="urn:&amp;x" xmlns:o="urn:o"><i><b x:c='1>2'/><!-- c --></i><x:i \
      xmlns="" xmlns:o='urn:p' /></r>
      """
    let items = try items(page, at: "//i")
    #expect(
      items.map(\.description) == [
        "<i xmlns=\"urn:d\" xmlns:x=\"urn:&amp;x\" xmlns:o=\"urn:o\"><b x:c='1>2'/><!-- c --></i>",
        "<x:i xmlns:x=\"urn:&amp;x\" xmlns=\"\" xmlns:o='urn:p' />",
      ])
    for item in items {
      let again = try XMLDocument(item.bytes)
      #expect(again.index.name(of: 0).namespace == item.namespace)
    }
  }

  @Test("a path into a mapped item finds elements that stand apart, and attributes, by XML paths")
  func paths() throws {
    let page = """
      <r xmlns:d='urn:d'><i><id>1</id><link rel='self' href='s'/><d:name>n</d:name>\
      <link rel='next' href='a'/><m><d:t>x</d:t><d:u/><d:t>y</d:t></m><e> </e></i>\
      <i><id k='v'>2</id></i></r>
      """
    var session = try XMLRawPageDecoder().begin(DecodingContext(items: "/r/i"))
    try session.receive(Array(page.utf8))
    _ = try session.finish()
    let items = try session.items().items
    let found: [(PagePath, JSONValue?)] = [
      ("/id", "1"), ("/name", "n"), ("/d:name", "n"), ("//name", "n"), ("/id/text()", "1"),
      ("/link[@rel='next']/@href", "a"), ("/link/@href", ["s", "a"]), ("/m/d:t", ["x", "y"]),
      ("/{urn:d}name", "n"), ("/{urn:e}name", nil), ("/nosuch", nil), ("/e", " "), ("/d:id", nil),
      ("/link", [["@rel": "self", "@href": "s"], ["@rel": "next", "@href": "a"]]),
      ("/#content/0/id", "1"),
    ]
    for (path, value) in found {
      #expect(try items[0].value(at: path) == value, "\(path)")
      #expect(
        try items[0].compact(at: path) == value.map { Array($0.description.utf8) }, "\(path)")
    }
    #expect(try items[1].value(at: "/id") == ["@k": "v", "#text": "2"])
    #expect(try items[1].value(at: "/id/#text") == "2")
    #expect(try items[1].value(at: "/id/@k") == "v")
  }

  @Test(
    "an element maps to JSON without loss",
    arguments: [
      ("<i>text</i>", #""text""#), ("<i/>", #""""#), ("<i> </i>", #"" ""#),
      ("<i a='1' b='&quot;'/>", #"{"@a":"1","@b":"\""}"#),
      ("<i a='1'>t</i>", ##"{"@a":"1","#text":"t"}"##),
      ("<i>\n <a>1</a>\n <b/>\n</i>", #"{"a":"1","b":""}"#),
      ("<i><a>1</a><a>2</a><b>3</b></i>", #"{"a":["1","2"],"b":"3"}"#),
      ("<i><a>1</a><b>3</b><a>2</a></i>", ##"{"#content":[{"a":"1"},{"b":"3"},{"a":"2"}]}"##),
      ("<i>x<b>y</b> z</i>", ##"{"#content":["x",{"b":"y"}," z"]}"##),
      (
        "<p:i xmlns:p='u' xmlns='d' p:a='1'><p:b/></p:i>",
        #"{"@xmlns:p":"u","@xmlns":"d","@p:a":"1","p:b":""}"#
      ),
      (
        "<i><a>1</a><a xmlns='u'>2</a><b/></i>",
        ##"{"a":["1",{"@xmlns":"u","#text":"2"}],"b":""}"##
      ),
      (
        "<i xmlns:p='u'><p:a/><a/><p:a xmlns:p='v'/></i>",
        ##"{"@xmlns:p":"u","#content":[{"p:a":""},{"a":""},{"p:a":{"@xmlns:p":"v"}}]}"##
      ),
      ("<i xml:lang='en'><![CDATA[<&]]>&#9;</i>", ##"{"@xml:lang":"en","#text":"<&\t"}"##),
      ("<i a='1'><![CDATA[]]></i>", #"{"@a":"1"}"#),
      (
        "<i><b>1</b><![CDATA[]]><b/><c/><b/></i>",
        ##"{"#content":[{"b":"1"},{"b":""},{"c":""},{"b":""}]}"##
      ),
    ])
  func mapping(element: String, json: String) throws {
    let item = try #require(try items("<r>\(element)</r>", at: .root).first)
    #expect(try item.value.description == json)
    var session = try XMLRawPageDecoder().begin(DecodingContext(items: .root))
    try session.receive(Array("<r>\(element)\(element)</r>".utf8))
    _ = try session.finish()
    #expect(try session.items().items.map(\.description) == [json, json])
  }

  @Test("of many names as of few, one that comes back is told", arguments: [2, 63, 64, 65, 200])
  func manyNames(count: Int) throws {
    let names = (0..<count).map { "n\($0)" }
    let elements = names.map { "<\($0)/>" }.joined()
    func value(_ last: String) throws -> JSONValue {
      try #require(try items("<r><i>\(elements)\(last)</i></r>", at: "//i").first).value
    }
    #expect(
      try value("").description == "{\(names.map { "\"\($0)\":\"\"" }.joined(separator: ","))}")
    let last = names[count - 1]
    #expect(try value("<\(last)/>")[last] == ["", ""])
    for name in [names[0], names[count - 2]] {
      #expect(try value("<\(name)/>")["#content"] != nil, "\(name)")
    }
  }

  @Test("an item answers paths and becomes a type")
  func item() throws {
    struct Row: Decodable, Sendable { var n: Int }
    let item = try #require(try items("<r><i id='x'><n>1</n></i></r>", at: "//i").first)
    #expect(item.name == "i")
    #expect(try item.value(at: "/@id") == "x")
    #expect(try item.value(at: "/n") == "1")
    #expect(try item.value(at: "//n") == "1")
    #expect(try item.decode(Row.self).n == 1)
  }

  @Test("a closure makes items of XML as of JSON")
  func closure() throws {
    let decoder = ClosurePageDecoder(XMLRawPageDecoder()) { try $0.value["n"]?.integer ?? 0 }
    var session = try decoder.begin(DecodingContext(items: "//i"))
    try session.receive(Array("<r><i><n>1</n></i><i><n>2</n></i></r>".utf8))
    _ = try session.finish()
    #expect(try session.items().items == [1, 2])
    #expect(decoder.isSelfDelimiting)
  }
}
