import QuireCore
import QuireHTTP
import QuireJSON
import QuirePagination
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

  @Test("D-4: no limit ends the program, however high it is raised")
  func highestLimits() throws {
    let limits = XMLLimits(
      attributes: .max, namespaces: .max, tagBytes: .max, commentBytes: .max, doctypeBytes: .max,
      nameBytes: .max, textBytes: .max)
    let decoding = DecodingLimits(
      depth: .max, items: .max, itemBytes: .max, numberLength: .max, events: .max)
    for page in Pages.all {
      let bytes = Array(page.utf8)
      for boundsEntries in [false, true] {
        let parser = try XMLPushParser(
          limits: limits, decoding: decoding, boundsEntries: boundsEntries)
        for byte in bytes { try parser.receive([byte]) }
        try parser.finish()
        #expect(parser.takeIndex().events == (try events(of: [bytes])))
      }
    }
    for delivery in [PageDelivery.whole, .asItArrives] {
      var session = try XMLRawPageDecoder(limits: limits).begin(
        DecodingContext(items: "/r/i", limits: decoding, delivery: delivery))
      try session.receive(Array("<r><i a='1'>x</i><i/></r>".utf8))
      var count = try session.readyItems().count
      _ = try session.finish()
      count += try session.items().count
      #expect(count == 2)
    }
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
    "X10: a page that is broken has one and the same error wherever it is cut",
    arguments: BrokenPage.all)
  func faults(page: BrokenPage) throws {
    let bytes = page.bytes
    var sliced = (0...bytes.count).map { [Array(bytes[..<$0]), Array(bytes[$0...])] }
    sliced.append(bytes.map { [$0] })
    for size in [2, 3, 5, 7] {
      sliced.append(
        stride(from: 0, to: bytes.count, by: size).map {
          Array(bytes[$0..<min($0 + size, bytes.count)])
        })
    }
    for slices in sliced {
      let error = #expect(throws: PageError.self) {
        try events(of: slices, leniency: page.leniency)
      }
      #expect(error?.code == page.code, "\(slices.map(\.count)): \(error?.message ?? "")")
    }
  }

  @Test("X10: a tag in three slices is read as one")
  func threeSlices() throws {
    let bytes = Array("<a><b c='1'>t<d e='>f'/><g h=\"i'>\"/></b>u</a>".utf8)
    let whole = try events(of: [bytes])
    for first in 0...bytes.count {
      for second in first...bytes.count {
        let slices = [bytes[..<first], bytes[first..<second], bytes[second...]].map(Array.init)
        #expect(try events(of: slices) == whole, "cut at \(first) and \(second)")
      }
    }
  }

  @Test(
    "X10: whatever the slices, items before what is broken are handed out, and then it is told",
    arguments: [
      ("<a><b>1</b><b>2</b><c", ["1", "2"], .truncated),
      ("<a><b>1</b><b>2</b></c>", ["1", "2"], .malformed),
      ("<a><b>1</b><b>x</b></c>", ["1"], .itemDecoding),
      ("<a><b>1</b><b>x</b><c>", ["1"], .itemDecoding),
      ("<a><b>1</b><b>22222222222222222222</b></c>", ["1"], .limitExceeded),
      ("<a><b>1</b><b>22222222222222222222</c>", ["1"], .limitExceeded),
      ("<a><b>1</b><b>2</b><b>3</b><b>4</b></c>", ["1", "2", "3"], .limitExceeded),
      ("<a><b>1</b><b>&x;                    </b>", ["1"], .malformed),
    ] as [(String, [String], PageError.Code)])
  func arrivingItems(page: String, items: [String], code: PageError.Code) throws {
    let bytes = Array((String(repeating: " ", count: 30) + page).utf8)
    var limits = DecodingLimits.api
    limits.itemBytes = 20
    limits.items = 3
    var sliced = (0...bytes.count).map { [Array(bytes[..<$0]), Array(bytes[$0...])] }
    sliced.append(bytes.map { [$0] })
    for slices in sliced {
      var handedOut: [String] = []
      let error = #expect(throws: PageError.self) {
        var session = try XMLPageDecoder<Int>().begin(
          DecodingContext(items: "/a/b", limits: limits, delivery: .asItArrives))
        for slice in slices {
          try session.receive(slice)
          handedOut += try session.readyItems().items.map(String.init)
        }
        _ = try session.finish()
      }
      #expect(error?.code == code, "\(slices.map(\.count)): \(error?.message ?? "")")
      #expect(items.starts(with: handedOut), "\(slices.map(\.count))")
    }
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
