import QuireCore
import Testing

@testable import QuireXML

@Suite("Slices of a page")
struct SliceTests {
  @Test(
    "X10: every split into two slices, and single bytes, give the same events", arguments: Pages.all
  )
  func everySplit(page: String) throws {
    let bytes = Array(page.utf8)
    let whole = try events(of: [bytes])
    #expect(!whole.isEmpty)
    for cut in 0...bytes.count {
      let split = try events(of: [Array(bytes[..<cut]), Array(bytes[cut...])])
      #expect(split == whole, "cut at \(cut): \(page.utf8.prefix(cut).suffix(20))")
    }
    #expect(try events(of: bytes.map { [$0] }) == whole)
  }

  @Test("X10: pages longer than a piece give the same events however they are cut")
  func longPages() throws {
    let text = String(repeating: "é]]&amp;中 ", count: 3_000)
    let attribute = String(repeating: "x > y ' ", count: 2_000)
    let comment = String(repeating: "<!-- <a b=\"> -->", count: 1_000)
    let section = "<![CDATA[" + String(repeating: "<a '>]]", count: 2_000) + "]]>"
    let page = "<a b=\"\(attribute)\">\(text)<c/>\(section)\(comment)<d>\(text)</d></a>"
    let bytes = Array(page.utf8)
    let whole = try events(of: [bytes])
    for size in [1, 7, 100, 4_095, 4_096, 4_097, 10_000] {
      let slices = stride(from: 0, to: bytes.count, by: size).map {
        Array(bytes[$0..<min($0 + size, bytes.count)])
      }
      #expect(try events(of: slices) == whole, "slices of \(size)")
    }
  }

  @Test("X10: text that XML forbids is refused wherever it is cut")
  func forbiddenText() {
    let bytes = Array("<a>one ]]> two</a>".utf8)
    for cut in 0...bytes.count {
      #expect(throws: PageError.self) {
        try events(of: [Array(bytes[..<cut]), Array(bytes[cut...])])
      }
    }
  }

  @Test(
    "X10: a page that is broken is broken wherever it is cut",
    arguments: [
      "<x:a xm.ns:x=\"u\" y=\"z=\"w\"><x:c n=\"\"/<?xml ver></X:b></x:a>",
      "<a b='<c>'/>", "<a <b>", "<a><b c=\"></a>", "<a>\r\n<<?xml version='1.0'</a>",
    ])
  func faults(page: String) {
    let bytes = Array(page.utf8)
    for cut in 0...bytes.count {
      #expect(throws: PageError.self, "cut at \(cut)") {
        try events(of: [Array(bytes[..<cut]), Array(bytes[cut...])])
      }
    }
    #expect(throws: PageError.self) { try events(of: bytes.map { [$0] }) }
  }

  @Test("what libxml2 reports is what the page says")
  func truth() throws {
    let events = try events(of: [Array(Pages.lineEnds.utf8)])
    #expect(events.contains("@x=1 2"))
    #expect(events.contains("text \none\n\ntwo\n"))
    let plain = try QuireXMLTests.events(of: [Array(Pages.plain.utf8)])
    #expect(plain.contains("@b=x>y 'quoted' & AB"))
    #expect(plain.contains("text Größe <b> ]] ] > 中文 😀"))
  }
}
