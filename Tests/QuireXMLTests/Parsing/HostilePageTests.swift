import Glibc
import QuireCore
import QuireHTTP
import QuireJSON
import QuirePagination
import QuireTesting
import Testing

@testable import QuireXML

@Suite("Hostile pages")
struct HostilePageTests {
  /// Parses in slices as they come from a socket, and returns what went wrong.
  private func failure(
    _ page: some Collection<UInt8>, leniency: XMLLeniency = [], decoding: DecodingLimits = .api
  ) throws -> (error: PageError, handed: Int) {
    let parser = try XMLPushParser(decoding: decoding, leniency: leniency)
    let bytes = Array(page)
    do throws(XMLFault) {
      for start in stride(from: 0, to: bytes.count, by: 16 << 10) {
        try parser.receive(bytes[start..<min(start + 16 << 10, bytes.count)])
      }
      try parser.finish()
    } catch {
      return (error.pageError, parser.state.pointee.fed)
    }
    Issue.record("The page was accepted.")
    return (PageError(.malformed, ""), 0)
  }

  private func failure(_ page: String, leniency: XMLLeniency = []) throws -> PageError {
    try failure(Array(page.utf8), leniency: leniency).error
  }

  /// Expects the limit's own error: what there is too much of, what to raise, and where it is.
  private func expectLimit(
    _ page: String, _ limit: String, _ property: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let error = try failure(page)
    #expect(error.code == .limitExceeded, sourceLocation: sourceLocation)
    for part in ["At line 1, column ", "more than \(limit)", "raise \(property)."] {
      #expect(
        error.description.contains(part), "\(error)", sourceLocation: sourceLocation)
    }
  }

  // MARK: Entities

  @Test("X1: a billion laughs end at the first entity")
  func billionLaughs() throws {
    let page = """
      <?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">
      <!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]><l>&c;</l>
      """
    let error = try failure(page)
    #expect(error.code == .malformed)
    #expect(error.message.contains("declares an entity"))
    #expect(error.message.contains("line 1"))
  }

  @Test("X2: an entity used a million times ends where it is declared")
  func quadraticBlowUp() throws {
    let entity = String(repeating: "a", count: 3_000)
    let uses = String(repeating: "&a;", count: 50_000)
    let (error, handed) = try failure(
      Array("<!DOCTYPE l [<!ENTITY a \"\(entity)\">]><l>\(uses)</l>".utf8))
    #expect(error.message.contains("declares an entity"))
    #expect(handed < 5_000)
  }

  @Test(
    "X3: parameter entities, external ones and conditional sections are refused",
    arguments: [
      ("<!DOCTYPE a [<!ENTITY % p \"<!ENTITY x 'y'>\">%p;]><a/>", "it declares an entity"),
      (
        "<!DOCTYPE a [<!ENTITY % p SYSTEM \"http://127.0.0.1:9/p\">%p;]><a/>",
        "it declares an entity"
      ),
      ("<!DOCTYPE a [%undeclared;]><a/>", "it uses a parameter entity"),
      ("<!DOCTYPE a [<![INCLUDE[<!ENTITY x 'y'>]]>]><a/>", "not valid XML"),
      ("<!DOCTYPE a [<!ENTITY x SYSTEM 'y' NDATA gif>]><a/>", "it declares an entity"),
      (
        "<!DOCTYPE a [<!ATTLIST b c CDATA 'by default'>]><a><b/></a>",
        "it declares a default value"
      ),
    ])
  func declarations(page: String, reason: String) throws {
    let error = try failure(page)
    #expect(error.code == .malformed)
    #expect(error.message.contains(reason), "\(error.message)")
    #expect(error.message.contains("at line 1, column "), "\(error.message)")
  }

  @Test("X4: a page opens no file, whatever it refers to")
  func externalEntities() throws {
    try expectUnopened { file in
      let loads = "<!DOCTYPE a SYSTEM \"\(file)\"><a/>"
      _ = try XMLDocument(Array(loads.utf8))
      let reads = "<!DOCTYPE a [<!ENTITY x SYSTEM \"file://\(file)\">]><a>&x;</a>"
      #expect(try failure(reads).code == .malformed)
      let parameter = "<!DOCTYPE a [<!ENTITY % x SYSTEM \"file://\(file)\">%x;]><a/>"
      #expect(try failure(parameter).code == .malformed)
    }
  }

  @Test(
    "X18: inclusions, links and style sheets are data of the page, and nothing is fetched for them")
  func inclusions() throws {
    try expectUnopened { file in
      let page = """
        <?xml-stylesheet href="\(file)"?><a xmlns:xi="http://www.w3.org/2001/XInclude" \
        xmlns:xlink="http://www.w3.org/1999/xlink" xsi:schemaLocation="u \(file)" \
        xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><xi:include href="\(file)"/>\
        <b xlink:href="\(file)" xlink:show="embed" xlink:actuate="onLoad"/></a>
        """
      let document = try XMLDocument(Array(page.utf8))
      #expect(try document.value(at: "/a/include/@href") == .string(file))
      #expect(try document.value(at: "/a/b/@href") == .string(file))
      #expect(document.count(at: "/a/*") == 2)
    }
  }

  @Test(
    "X5: Netscape's document type is tolerated, and HTML's names are read where they are forgiven")
  func namedCharacters() throws {
    let page = """
      <!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" \
      "http://my.netscape.com/publish/formats/rss-0.91.dtd">\
      <rss><title x="caf&eacute;&nbsp;&amp;">&Eacute;t&eacute; &amp; &euro;</title></rss>
      """
    #expect(try failure(page).message.contains("&eacute; is not defined"))
    let document = try XMLDocument(Array(page.utf8), leniency: .feed)
    #expect(try document.value(at: "/rss/title") == "Été & €")
    #expect(try document.value(at: "/rss/title/@x") == "café\u{A0}&")
    #expect(document.repairs == .namedCharacters)
    #expect(try failure("<a>&nonsense;</a>", leniency: .feed).message.contains("&nonsense;"))
  }

  @Test("an undefined entity is no silence, in an attribute either")
  func undefinedEntity() throws {
    let page = "<!DOCTYPE a SYSTEM \"x\"><a b=\"1&lost;2\"/>"
    #expect(try failure(page).message.contains("&lost; is not defined"))
  }

  // MARK: Sizes

  @Test("X6: elements within elements end at 128")
  func depth() throws {
    let deep = Array(String(repeating: "<a>", count: 1_000_000).utf8)
    let (error, handed) = try failure(deep)
    #expect(error.code == .limitExceeded)
    #expect(error.message.contains("128 elements within each other"))
    #expect(error.message.contains("At line 1, column 38"))
    #expect(error.description.contains("DecodingLimits.depth"))
    #expect(handed < 16 << 10)
    let raised = try failure(deep, decoding: DecodingLimits(depth: .max)).error
    #expect(raised.message.contains("4096 elements within each other"))
  }

  @Test("X7: attributes end at 256, and a tag at 64 KiB, however it arrives")
  func attributes() throws {
    let few = "<a" + (0..<300).map { " a\($0)=''" }.joined() + "/>"
    try expectLimit(few, "256 attributes", "XMLLimits.attributes")
    for construct in ["a", "xmlns:a"] {
      let many = "<a" + (0..<100_000).map { " \(construct)\($0)='u'" }.joined() + "/>"
      let (error, handed) = try failure(Array(many.utf8))
      #expect(error.message.contains("At line 1, column 1 "))
      #expect(error.message.contains("65536 bytes of a tag."))
      #expect(error.remedies == [.raise(.init("XMLLimits.tagBytes"))])
      #expect(handed == 0)
    }
    let open = Array(("<a b=\"" + String(repeating: "x>", count: 5 << 20)).utf8)
    #expect(try failure(open).error.message.contains("bytes of a tag"))
    // A lower limit than the size of a piece is that size, wherever the tag stands.
    func page(_ count: Int) -> [UInt8] {
      Array(
        "<a b='\(String(repeating: "x", count: count))'>\(String(repeating: "y", count: 9_000))</a>"
          .utf8)
    }
    _ = try XMLDocument(page(1_000), limits: XMLLimits(tagBytes: 4))
    let error = #expect(throws: PageError.self) {
      try XMLDocument(page(5_000), limits: XMLLimits(tagBytes: 4))
    }
    #expect(error?.message.contains("4096 bytes of a tag") == true)
  }

  @Test("X7: namespaces in scope end at 256, however they are spread")
  func namespaces() throws {
    let page = (0..<10).map { level in
      "<a" + (0..<50).map { " xmlns:p\(level)x\($0)='u\($0)'" }.joined() + ">"
    }.joined()
    try expectLimit(page, "256 namespaces in scope", "XMLLimits.namespaces")
  }

  @Test("X8: distinct names end at 256 KiB")
  func names() throws {
    let page = "<r>" + (0..<300_000).map { "<n\($0)/>" }.joined() + "</r>"
    let (error, handed) = try failure(Array(page.utf8))
    #expect(error.code == .limitExceeded)
    #expect(error.message.contains("At line 1, column "))
    #expect(error.message.contains("262144 bytes of distinct names."))
    #expect(error.remedies == [.raise(.init("XMLLimits.nameBytes"))])
    #expect(handed < 1 << 20)
  }

  @Test("X8, D-4: a namespace is kept once for all names in it, and names are counted, too")
  func namespaceOfNames() throws {
    let uri = "urn:" + String(repeating: "u", count: 60_000)
    let page = "<r xmlns='\(uri)'>" + (0..<500).map { "<n\($0)/>" }.joined() + "</r>"
    var copies: Set<UInt> = []
    for case var namespace? in try XMLDocument(Array(page.utf8)).index.names.map(\.namespace) {
      namespace.withUTF8 { _ = copies.insert(UInt(bitPattern: $0.baseAddress)) }
    }
    #expect(copies.count == 1)

    let elements = (0..<400).map { "<a\($0 % 20) xmlns='u\($0 / 20)'/>" }.joined()
    let many = Array("<r>\(elements)</r>".utf8)
    #expect(try XMLDocument(many, limits: XMLLimits(nameBytes: 500)).nameCount > 400)
    let error = #expect(throws: PageError.self) {
      try XMLDocument(many, limits: XMLLimits(nameBytes: 300))
    }
    #expect(error?.remedies == [.raise(.init("XMLLimits.nameBytes"))])
  }

  @Test("X9: text, CDATA, comments and instructions end at their limits")
  func longContent() throws {
    let long = String(repeating: "0123456789abcdef", count: (9 << 20) / 16)
    for page in ["<a>\(long)</a>", "<a><![CDATA[\(long)]]></a>"] {
      try expectLimit(page, "8388608 bytes of text", "XMLLimits.textBytes")
    }
    for page in ["<a><!--\(long)--></a>", "<a><?x \(long)?></a>", "<!--\(long)--><a/>"] {
      try expectLimit(page, "1048576 bytes of a comment", "XMLLimits.commentBytes")
    }
    try expectLimit("<\(long)/>", "65536 bytes of a tag", "XMLLimits.tagBytes")
    let comment = "<!DOCTYPE a [<!--\(String(repeating: "x", count: 5_000))-->]><a/>"
    for page in [comment, "<!DOCTYPE a [\(long)"] {
      try expectLimit(page, "4096 bytes of a document type", "XMLLimits.doctypeBytes")
    }
  }

  @Test("records end at the limit on events")
  func events() throws {
    var limits = DecodingLimits.api
    limits.events = 1_000
    let page = "<a>" + String(repeating: "<b>1</b>", count: 1_000) + "</a>"
    let error = try failure(Array(page.utf8), decoding: limits).error
    #expect(error.description.contains("DecodingLimits.events"))
  }

  // MARK: Broken pages

  @Test("X11: a page cut anywhere is truncated, not short")
  func truncation() throws {
    let page = Array(
      "<?xml version=\"1.0\"?><a><!-- c --><b x=\"1\">t&amp;</b><![CDATA[ d ]]></a>".utf8)
    for end in 0..<page.count {
      let (error, _) = try failure(page[..<end])
      #expect(error.code == .truncated, "cut at \(end): \(error.message)")
    }
    _ = try XMLDocument(page)
  }

  @Test("X12: what follows the root element is an error, and forgiven where that is asked for")
  func trailing() throws {
    for page in ["<a/>junk", "<a/><b/>", "<a></a>&amp;"] {
      let error = try failure(page)
      #expect(error.code == .malformed)
      #expect(error.message.contains("after the end of the root element"))
      let document = try XMLDocument(Array(page.utf8), leniency: .feed)
      #expect(document.repairs == .trailingContent)
    }
    #expect(try failure("<a><b></a>junk", leniency: .feed).code == .malformed)
  }

  @Test("X13: white space before the declaration is an error, and forgiven where that is asked for")
  func leadingWhiteSpace() throws {
    let page = "\n \u{FEFF}".prefix(2) + "<?xml version=\"1.0\"?><a/>"
    #expect(try failure(String(page)).code == .malformed)
    #expect(try XMLDocument(Array(page.utf8), leniency: .feed).repairs == .leadingWhiteSpace)
    let much = String(repeating: " ", count: 65) + "<?xml version=\"1.0\"?><a/>"
    #expect(try failure(much, leniency: .feed).code == .malformed)
    #expect(try XMLDocument(Array("\u{FEFF}<?xml version=\"1.0\"?><a/>".utf8)).repairs == [])
  }

  @Test(
    "X14: what is no character of XML is an error",
    arguments: [
      "\u{0}", "\u{1}", "\u{B}", "\u{FFFE}", "\u{FFFF}", "&#0;", "&#x110000;", "&#xD800;",
    ])
  func controlCharacters(text: String) throws {
    #expect(try failure("<a>x\(text)y</a>").code == .malformed)
    #expect(try failure("<a b='x\(text)y'/>").code == .malformed)
    guard !text.hasPrefix("&") else { return }
    let document = try XMLDocument(Array("<a b='x\(text)y'>x\(text)y</a>".utf8), leniency: .feed)
    #expect(try document.value(at: "/a") == "xy")
    #expect(try document.value(at: "/a/@b") == "xy")
    #expect(document.repairs == .controlCharacters)
  }

  @Test("X14: all that is no character is left out, wherever it stands, and nothing else")
  func manyControlCharacters() throws {
    let seed = UInt64.random(in: 0 ... .max)
    var generator = SeededGenerator(seed: seed)
    let scalars = Array(
      "\u{1}\u{1F}\t\n\u{20}ab\u{7F}é，\u{FFFD}\u{FFFE}\u{FFFF}\u{F000}😀".unicodeScalars)
    for _ in 0..<200 {
      var (text, kept) = ("", "")
      for _ in 0..<Int.random(in: 1..<80, using: &generator) {
        let scalar = scalars.randomElement(using: &generator) ?? "a"
        for _ in 0..<Int.random(in: 1..<12, using: &generator) {
          text.unicodeScalars.append(scalar)
          let isControl = scalar.value < 0x20 && scalar != "\t" && scalar != "\n"
          if !isControl, scalar.value & 0xFFFE != 0xFFFE { kept.unicodeScalars.append(scalar) }
        }
      }
      let document = try XMLDocument(Array("<a><![CDATA[x\(text)x]]></a>".utf8), leniency: .feed)
      #expect(document.root.wholeText == "x\(kept)x", "seed \(seed)")
    }
  }

  @Test(
    "X15: a page of tag soup is an error with its line and column, never repaired in silence",
    arguments: [
      "<a>\n  <b>R&D</b></a>", "<a>\n  <br></a>", "<a>\n <b x=1/></a>", "<a>\n<b <c/></a>",
    ])
  func tagSoup(page: String) throws {
    let error = try failure(page)
    #expect(error.code == .malformed)
    #expect(error.message.contains("line 2, column "))
  }

  @Test("X16: XML 1.1 is an error")
  func version() throws {
    let error = try failure("<?xml version=\"1.1\"?><a/>")
    #expect(error.code == .malformed)
    #expect(error.message.contains("1.1"))
  }

  @Test("an undeclared namespace prefix is an error")
  func undeclaredPrefix() throws {
    #expect(try failure("<a><p:b/></a>").message.contains("prefix"))
  }

  @Test(
    "HTML and JSON are named as what they are",
    arguments: [
      ("<!DOCTYPE html><html><br>", "HTML"), ("<html><body>", "HTML"),
      ("\n<HTML>", "HTML"), ("{\"a\": 1}", "JSON"),
      ("<?xml version='1.0'?><!DOCTYPE html PUBLIC 'x' 'y'><html xmlns='z'/>", "HTML"),
    ])
  func otherFormats(page: String, format: String) throws {
    let error = try failure(page)
    #expect(error.code == .unexpectedMediaType)
    #expect(error.message.contains("The page is \(format)"))
  }

  @Test(
    "A root element whose name only begins like HTML's is XML",
    arguments: [
      "<htmlReport/>", "<HTML5 a='1'/>", "<!DOCTYPE htmls><htmls/>", "<html.list></html.list>",
    ])
  func almostHTML(page: String) throws {
    #expect(throws: Never.self) { try XMLDocument(Array(page.utf8)) }
  }

  @Test("a message shows no more of the page than a name, on one line")
  func messages() throws {
    let name = String(repeating: "n", count: 10_000)
    let message = try failure("<\(name)>\n</x>").message
    #expect(message.utf8.count < 500)
    #expect(!message.contains("\n"))
  }
}
