import QuireCore
import QuireHTTP
import QuireJSON
import QuirePagination
import Testing

@testable import QuireXML

@Suite("Paths in XML")
struct PathTests {
  private func document(_ text: String) throws -> XMLDocument { try XMLDocument(Array(text.utf8)) }

  @Test("T31: names match whatever their prefix, text is trimmed, entities are read once")
  func basics() throws {
    let document = try document(
      "<x:r xmlns:x='u'><x:t total=' 3 '>\n a&amp;amp;b </x:t><empty/><blank> </blank></x:r>")
    #expect(try document.value(at: "/r/t") == "a&amp;b")
    #expect(try document.value(at: "//t/text()") == "a&amp;b")
    #expect(try document.value(at: "//t/@total") == "3")
    #expect(try document.value(at: "//empty") == nil)
    #expect(try document.value(at: "//blank") == nil)
    #expect(try document.value(at: "//absent") == nil)
    #expect(try document.value(at: "//t/@absent") == nil)
    #expect(try document.value(at: "/links[rel=next]/href") == nil)
    #expect(try document.value(at: "/meta/next | //t") == "a&amp;b")
  }

  @Test("T32: predicates on attributes, children, children's attributes and positions")
  func predicates() throws {
    let document = try document(
      """
      <f><l r='self' h='1'/><l r='next' h='2'/><e><id>a</id><rel v='x'/><u>1</u></e>\
      <e><id> b </id><rel v='next'/><u>2</u></e><e><u>3</u></e></f>
      """)
    #expect(try document.value(at: "//l[@r='next']/@h") == "2")
    #expect(try document.value(at: "/f/l[@r=\"self\"]/@h") == "1")
    #expect(try document.value(at: "//e[id='b']/u") == "2")
    #expect(try document.value(at: "//e[rel/@v='next']/u") == "2")
    #expect(try document.value(at: "/f/e[last()]/u") == "3")
    #expect(try document.value(at: "//e[2]/u") == "2")
    #expect(try document.value(at: "//e[rel/@v='x'][last()]/u") == "1")
    #expect(try document.value(at: "//e[9]/u") == nil)
    #expect(try document.value(at: "/f/*[3]/id") == "a")
    #expect(try document.value(at: "/f/*[@r='self']/@*") == ["r": "self", "h": "1"])
  }

  @Test("T32: relations are compared without case, and no other attribute is")
  func relations() throws {
    let document = try document("<f><l rel='NEXT' r='NEXT' h='1'/><l rel='nex' h='2'/></f>")
    #expect(try document.value(at: "/f/l[@rel='next']/@h") == "1")
    #expect(try document.value(at: "/f/l[@r='next']/@h") == nil)
    #expect(try document.value(at: "/f/l[not(@rel='next')]/@h") == "2")
    var session = try XMLItemPageDecoder().begin(
      DecodingContext(items: "/f/l[@rel='next']", delivery: .asItArrives))
    try session.receive(Array("<f><l rel='NEXT'/><l rel='nex'/></f>".utf8))
    #expect(try session.readyItems().items.map(\.description) == ["<l rel='NEXT'/>"])
  }

  @Test("X17: a namespace is told by its URI, whatever prefixes are bound to it")
  func namespaces() throws {
    let document = try document(
      """
      <rss xmlns:atom='http://www.w3.org/2005/Atom'><channel><link>site</link>\
      <a:link xmlns:a='http://www.w3.org/2005/Atom' href='n'/>\
      <atom:link xmlns:atom='urn:other' href='x'/></channel></rss>
      """)
    #expect(try document.value(at: "//{http://www.w3.org/2005/Atom}link/@href") == "n")
    #expect(try document.value(at: "//{urn:other}link/@href") == "x")
    #expect(try document.value(at: "//{}link") == "site")
    #expect(document.count(at: "//link") == 3)
  }

  @Test("X17: a path with a prefix of the page's names is refused with what to write instead")
  func prefixes() throws {
    let text = "<s:E xmlns:s='urn:s' xmlns:m='urn:m'><s:B><m:I>1</m:I></s:B></s:E>"
    let document = try document(text)
    let errors = [
      #expect(throws: PageError.self) { try document.value(at: "/s:E/s:B/m:I") },
      #expect(throws: PageError.self) { try document.value(at: "/E/B/m:I", outsideItemsOf: "/a") },
      #expect(throws: PageError.self) { try document.value(at: "/m:I", inLastItemOf: "/E/B") },
    ]
    for error in errors {
      #expect(error?.code == .shape)
      #expect(error?.message.contains("or write {namespace}name") == true)
    }
    for items in ["/s:E/s:B/m:I", .optional("/s:E/s:B/m:I")] as [Pagination.Items] {
      var session = try XMLRawPageDecoder().begin(DecodingContext(items: items))
      try session.receive(Array(text.utf8))
      _ = try session.finish()
      let error = #expect(throws: PageError.self) { try session.items() }
      #expect(error?.message.contains("has the prefix \"s\"") == true)
      #expect(error?.remedies.isEmpty == true)
    }
    // A description of JSON may be asked about a page of XML, such as an error.
    #expect(try document.value(at: "/hydra:view/hydra:next") == nil)
  }

  @Test(
    "T9 X17: xml:base counts from the inside out",
    arguments: [
      ("//next/@href", "https://f.test/archive/sub/"), ("//top/@href", "https://f.test/archive/"),
      ("//far/@href", "https://g.test/"),
    ])
  func bases(path: String, base: String) throws {
    let document = try document(
      """
      <feed xml:base="https://f.test/archive/"><top href="p"/><e xml:base="sub/"><next href="p2"/>\
      <far xml:base="https://g.test/" href="q"/></e></feed>
      """)
    #expect(document.base(at: try PagePath(path)) == base)
  }

  @Test("X17: bases within bases do not add up to more than two URLs may have")
  func longBases() throws {
    let base = "xml:base=\"\(String(repeating: "b", count: 7_000))/\""
    let open = "<a \(base)>" + String(repeating: "<b \(base)>", count: 100)
    let page = open + "<c/>" + String(repeating: "</b>", count: 100) + "</a>"
    #expect(try #require(document(page).base(at: "//c")).utf8.count <= 16 << 10)
  }

  @Test("what an item holds neither stands for what the page says nor counts as an item")
  func nesting() throws {
    let document = try document(
      """
      <OAI><list><record><metadata><record><resumptionToken>forged</resumptionToken></record>\
      </metadata></record><record/><resumptionToken>true</resumptionToken></list></OAI>
      """)
    #expect(try document.value(at: "//resumptionToken") == "true")
    #expect(document.count(at: "//record") == 2)
    #expect(try document.index.items(of: "//record").count == 2)
  }

  @Test("T33: items are the elements at a path, at several, or within the root")
  func items() throws {
    let document = try document(
      "<L><C><K>a</K></C><P><K>p</K></P><C><K>b</K></C><Empty/></L>")
    func keys(_ selector: Pagination.Items) throws -> [String?] {
      try document.index.pageItems(of: selector).map { node in
        try document.index.value(
          at: ("/K" as PagePath).xml ?? XMLPath(startsAnywhere: false, steps: []),
          from: .element(node))?.string
      }
    }
    #expect(try keys("//C") == ["a", "b"])
    #expect(try keys(.all(["/L/C", "/L/P"])) == ["a", "b", "p"])
    #expect(try keys(.firstOf(["//Nothing", "//P", "//C"])) == ["p"])
    #expect(try keys(.root) == ["a", "p", "b", nil])
    #expect(try keys("/L/Absent") == [])
    #expect(try keys(.optional("//Absent")) == [])
    #expect(try keys(.optional("/L/Absent/Item")) == [])
    // A page of another kind is no empty page.
    #expect(throws: PageError.self) { try keys(.optional("/Error/Absent")) }
    #expect(try document.value(at: "/K", inLastItemOf: "//C") == "b")
    #expect(document.count(at: "//C") == 2)
    #expect(document.count(at: "//Absent") == nil)
  }

  @Test("D-2: items that are not there are an error that says what is", arguments: ["//X", "/M/C"])
  func missing(path: String) throws {
    let document = try document("<L><C/><C/></L>")
    let error = #expect(throws: PageError.self) {
      try document.index.items(of: .path(try PagePath(path)))
    }
    #expect(error?.code == .shape)
    #expect(error?.message.contains("/L/C") == true)
    let attribute = #expect(throws: PageError.self) { try document.index.items(of: "//C/@x") }
    #expect(attribute?.code == .shape)
  }

  @Test(
    "A page of XML without items that has an error is one in the server's words, and no empty page",
    arguments: [
      ("<Error><Code>Denied</Code><Message>Not yours</Message></Error>", "Not yours"),
      ("<r><error>No credit</error></r>", "No credit"),
      ("<r><err/><fault msg='Busy'/></r>", "Busy"),
      ("<r><Status>No</Status><ErrorMessage>Old key</ErrorMessage><x/></r>", "Old key"),
    ])
  func errorWords(page: String, words: String) throws {
    let error = #expect(throws: PageError.self) {
      try document(page).index.pageItems(of: "/r/item")
    }
    #expect(
      error?.message == "The page has no items at \"/r/item\". It says: \"\(words)\".",
      "\(error as Any)")
    #expect(error?.remedies.isEmpty == true)
    for page in [
      "<r/>", "<r><total>0</total></r>",
      "<r><errorCode>0</errorCode><message>No match</message></r>",
      "<r><item/><error>some</error></r>",
    ] {
      #expect(try document(page).index.pageItems(of: "/r/item").count <= 1)
    }
  }

  @Test("V40 V41: an S3 listing answers the paths of its description")
  func s3() throws {
    let document = try document(
      """
      <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><IsTruncated>true\
      </IsTruncated><Contents><Key>a%2Bb.txt</Key></Contents><Contents><Key>z y</Key></Contents>\
      <CommonPrefixes><Prefix>dir%2F</Prefix></CommonPrefixes>\
      <NextContinuationToken>1ue+/x=</NextContinuationToken></ListBucketResult>
      """)
    #expect(try document.value(at: "//NextContinuationToken") == "1ue+/x=")
    #expect(try document.value(at: "//IsTruncated")?.boolean == true)
    #expect(try document.value(at: "//Contents[last()]/Key") == "z y")
    #expect(
      try document.index.items(
        of: .all(["/ListBucketResult/Contents", "/ListBucketResult/CommonPrefixes"])
      ).count == 3)
  }

  @Test("V25 V28 V29: attributes and texts of OAI-PMH, CSW and WFS are found")
  func ogc() throws {
    let oai = try document(
      """
      <OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><ListRecords><resumptionToken \
      completeListSize="2" cursor="1"/></ListRecords></OAI-PMH>
      """)
    #expect(try oai.value(at: "//resumptionToken") == nil)
    #expect(try oai.value(at: "//resumptionToken/@completeListSize")?.integer == 2)
    let csw = try document("<c:R xmlns:c='u'><c:SearchResults nextRecord='0'/></c:R>")
    #expect(try csw.value(at: "//SearchResults/@nextRecord") == "0")
    let wfs = try document("<w:FeatureCollection xmlns:w='u' next='https://w.test/?a=1&amp;b=2'/>")
    #expect(try wfs.value(at: "/FeatureCollection/@next") == "https://w.test/?a=1&b=2")
  }
}
