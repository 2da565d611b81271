import QuireCore
import QuireHTTP
import QuireJSON
import QuirePagination
import QuireTesting
import Testing

@testable import QuireXML

@Suite("Items that are ready")
struct ReadyItemsTests {
  private struct Row: Codable, Sendable, Equatable {
    var id: Int
    var text: String?
  }

  private let page = """
    <?xml version="1.0"?><l:list xmlns:l="urn:l" xml:base="https://b.test/">
    <total a="&lt;1">3</total>
      <item id="1"><text>one &amp; <!-- c --> ü</text></item>
      <other><item id="7"/></other>
      <item id="2"/>
    <item id="3"><text><![CDATA[<three>]]></text><item id="8"/></item>
    <next> x </next>
    </l:list>
    """

  private func begin<Decoder: PageDecoder>(
    _ decoder: Decoder, items: Pagination.Items = "/list/item", badItems: BadItemPolicy = .throw,
    limits: DecodingLimits = .api
  ) throws -> any PageDecoding<Decoder.Item> {
    try decoder.begin(
      DecodingContext(items: items, badItems: badItems, limits: limits, delivery: .asItArrives))
  }

  /// What arrives of the page, byte by byte, with the place where it did.
  private func arrivals<Item: Sendable>(
    _ page: String, _ session: inout any PageDecoding<Item>
  ) throws -> [(end: Int, items: [Item])] {
    var arrivals: [(end: Int, items: [Item])] = []
    for (place, byte) in page.utf8.enumerated() {
      try session.receive([byte])
      let ready = try session.readyItems()
      if ready.count > 0 { arrivals.append((place + 1, ready.items)) }
    }
    return arrivals
  }

  @Test("items, envelope, last item and counts are those of the whole page")
  func envelope() throws {
    let rows = [
      Row(id: 1, text: "one &  ü"), Row(id: 2, text: nil), Row(id: 3, text: "<three>"),
    ]
    try DecoderConformance.check(
      XMLPageDecoder<Row>(), page: Array(page.utf8),
      context: DecodingContext(items: "/list/item"), items: rows)
    let whole = try XMLDocument(Array(page.utf8))
    for size in [1, 7, 50, 1_000] {
      var session = try begin(XMLPageDecoder<Row>())
      for slice in stride(from: 0, to: page.utf8.count, by: size) {
        try session.receive(Array(page.utf8.dropFirst(slice).prefix(size)))
        _ = try session.readyItems()
      }
      let document = try session.finish()
      for path: PagePath in ["//total", "/list/total/@a", "//next", "/list/other/item/@id"] {
        #expect(try document.value(at: path) == whole.value(at: path))
        #expect(
          document.base(at: path, outsideItemsOf: "/list/item")
            == whole.base(at: path, outsideItemsOf: "/list/item"))
      }
      #expect(try document.count(at: "/list/item") == 3)
      #expect(try document.value(at: "/@id", inLastItemOf: "/list/item") == "3")
    }
  }

  @Test("an item is ready when its end tag is there, but for the first 24 bytes of a page")
  func immediacy() throws {
    var session = try begin(XMLPageDecoder<Int>())
    let page = "<list>" + (1...500).map { "<item>\($0)</item>" }.joined() + "</list>"
    let arrivals = try arrivals(page, &session)
    #expect(arrivals.flatMap(\.items) == Array(1...500))
    #expect(arrivals.first?.end == 24)
    #expect(arrivals.dropFirst().first?.end == "<list><item>1</item><item>2</item>".utf8.count)
    _ = try session.finish()
    #expect(try session.items().items == [])
  }

  @Test("raw items keep what they need of the page around them")
  func raw() throws {
    var session = try begin(XMLItemPageDecoder())
    let items = try arrivals(page, &session).flatMap(\.items)
    _ = try session.finish()
    let rest = try session.items().items
    #expect(
      (items + rest).map(\.description) == [
        "<item xmlns:l=\"urn:l\" id=\"1\"><text>one &amp; <!-- c --> ü</text></item>",
        "<item xmlns:l=\"urn:l\" id=\"2\"/>",
        "<item xmlns:l=\"urn:l\" id=\"3\"><text><![CDATA[<three>]]></text><item id=\"8\"/></item>",
      ])
    #expect(try items[0].value(at: "/text") == "one &  ü")
  }

  @Test(
    "items at paths that need what comes later arrive with the end of the page",
    arguments: [
      "/list/item[last()]", "/list/item[2]", "/list/item[text='one']",
      .all(["/list/item", "/x/y"]),
      .firstOf(["/list/item", "/list/other"]),
    ] as [Pagination.Items])
  func fallback(selector: Pagination.Items) throws {
    var session = try begin(XMLItemPageDecoder(), items: selector)
    #expect(try arrivals(page, &session).isEmpty)
    _ = try session.finish()
    let whole = try XMLDocument(Array(page.utf8)).index.items(of: selector)
    #expect(try session.items().items.count == whole.count)
  }

  @Test(
    "items at paths that their start tags tell arrive early, and are those of the whole page",
    arguments: [
      "//item", "//other/item", "/list/item[@id='3']", "/*/*", "", "/{urn:l}list/{}item", "/list",
      .optional("//item"), "//{urn:l}item", "/list/item[@id='3'][@x='1']",
    ] as [Pagination.Items])
  func early(selector: Pagination.Items) throws {
    let index = try XMLDocument(Array(page.utf8)).index
    let whole = try? index.items(of: selector).map { XMLItem(index: index, node: $0).description }
    var session = try begin(XMLItemPageDecoder(), items: selector)
    let early = try arrivals(page, &session).flatMap(\.items)
    _ = try session.finish()
    let all = try? (early + session.items().items).map(\.description)
    #expect(all == whole)
    #expect(early.isEmpty == (whole?.isEmpty ?? true))
  }

  @Test("D-3: a bad item is set aside with its place in the page, whatever part it came in")
  func badItems() throws {
    let page = "<list>\n" + (0..<9).map { "<item>\($0 % 3 == 1 ? "x" : "1")</item>\n" }.joined()
    var session = try begin(XMLPageDecoder<Int>(), badItems: .collect)
    var bad: [BadItem] = []
    for byte in page.utf8 {
      try session.receive([byte])
      bad += try session.readyItems().badItems
    }
    for byte in "</list>".utf8 { try session.receive([byte]) }
    _ = try session.finish()
    bad += try session.items().badItems
    #expect(bad.map(\.index) == [1, 4, 7])
    #expect(bad[2].message.contains("line 9, column 1."))
    #expect(String(decoding: bad[2].bytes, as: UTF8.self) == "<item>x</item>")
  }

  @Test("D-4: limits count the whole page, and stop an item that does not end")
  func limits() throws {
    var limits = DecodingLimits.api
    limits.items = 10
    var session = try begin(XMLPageDecoder<Int>(), limits: limits)
    let page = "<list>" + String(repeating: "<item>1</item>", count: 20)
    let many = #expect(throws: PageError.self) { try arrivals(page, &session) }
    #expect(many?.message.contains("more than 10 items") == true)
    limits = .api
    limits.itemBytes = 100
    session = try begin(XMLPageDecoder<Int>(), limits: limits)
    let long = "<list><item>1</item><item>" + String(repeating: "<b/>", count: 100)
    let large = #expect(throws: PageError.self) { try arrivals(long, &session) }
    #expect(large?.message.contains("Item 1 of the page") == true)
    limits = .api
    limits.events = 100
    session = try begin(XMLPageDecoder<Int>(), limits: limits)
    let events = "<list>" + String(repeating: "<item>1</item>", count: 60)
    let error = #expect(throws: PageError.self) { try arrivals(events, &session) }
    #expect(error?.description.contains("DecodingLimits.events") == true)
  }

  @Test("an error names the place in the page, however much of it is forgotten")
  func places() throws {
    let page = "<list>\n" + String(repeating: "<item>1</item>\n", count: 1_000) + " <item>&x;"
    var session = try begin(XMLPageDecoder<Int>())
    let error = #expect(throws: PageError.self) { try arrivals(page, &session) }
    #expect(error?.message.contains("line 1002, column ") == true, "\(error?.message ?? "")")
  }

  @Test("D-4: items with new names come in larger parts: each part has all names before it")
  func newNames() throws {
    let matcher = try #require(XMLItemMatcher("/list/item"))
    let parser = try XMLPushParser(items: matcher)
    try parser.receive(Array("<list>".utf8))
    var parts: [XMLIndex] = []
    for number in 0..<2_000 {
      try parser.receive(Array("<item><n\(number)/></item>".utf8))
      if let part = parser.takeItems() { parts.append(part.index) }
    }
    #expect(1..<1_000 ~= parts.count)
    #expect(parser.takeItems(all: true)?.nodes.isEmpty == false)
  }

  @Test("the index of a page does not grow with its items, nor with the space between them")
  func memory() throws {
    let matcher = try #require(XMLItemMatcher("/list/item"))
    let parser = try XMLPushParser(items: matcher)
    let item =
      "\n  <item id=\"&amp;\"><text>" + String(repeating: "text ", count: 20) + "</text></item>"
    let slice = Array(String(repeating: item, count: 100).utf8)
    try parser.receive(Array("<list>".utf8))
    var largest = (source: 0, records: 0, composed: 0)
    for _ in 0..<200 {
      try parser.receive(slice)
      _ = parser.takeItems()
      let tape = parser.state.pointee.tape
      largest = (
        max(largest.source, tape.source.count), max(largest.records, tape.records.count),
        max(largest.composed, tape.composed.count)
      )
    }
    #expect(largest.source < 1_000)
    #expect(largest.records < 20)
    #expect(largest.composed < 1_000)
    try parser.receive(Array("</list>".utf8))
    try parser.finish()
  }
}
