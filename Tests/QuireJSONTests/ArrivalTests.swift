import Foundation
import QuireCore
import QuireHTTP
import QuirePagination
import QuireTesting
import Testing

@testable import QuireJSON

/// Items of JSON that are delivered while their page arrives.
@Suite("JSON as it arrives")
struct ArrivalTests {
  private struct Arrival<Item: Sendable> {
    var items: [Item] = []
    var badItems: [BadItem] = []
    var digests: [Int] = []
    var ends: [Int] = []
    var document: (any PageDocument)?
    var error: PageError?
  }

  /// What arrives of a page in slices of these sizes, by turns.
  private func arrive<Item: Sendable>(
    _ decoder: some PageDecoder<Item>, _ page: [UInt8], _ items: Pagination.Items, slices: [Int],
    badItems: BadItemPolicy = .throw, limits: DecodingLimits = .api
  ) -> Arrival<Item> {
    var arrival = Arrival<Item>()
    func take(_ ready: DecodedItems<Item>, _ end: Int) {
      guard ready.count > 0 else { return }
      arrival.items += ready.items
      arrival.badItems += ready.badItems
      arrival.digests += ready.digests ?? []
      arrival.ends.append(end)
    }
    do {
      var session = try decoder.begin(
        DecodingContext(
          items: items, badItems: badItems, limits: limits, delivery: .asItArrives))
      var start = 0
      var number = 0
      while start < page.count {
        let end = min(page.count, start + slices[number % slices.count])
        number += 1
        try session.receive(Array(page[start..<end]))
        start = end
        take(try session.readyItems(), end)
      }
      arrival.document = try session.finish()
      take(try session.items(), page.count)
    } catch {
      arrival.error = error as? PageError
    }
    return arrival
  }

  private static let pages: [(page: String, items: Pagination.Items)] = [
    (
      #"{"meta":{"total":3,"data":[9]},"data":[{"id":1},{"id":2,"x":"]},[\"\\"},{"id":3}],"next":"n"}"#,
      "/data"
    ),
    (#" [ {"id":1} , {"id":2,"y":[[1,{}],"é"]},{"id":3}  ] "#, ""),
    (
      #"{"a":{"x":[{"data":[{"id":8}]}],"d\u0061ta":[{"id":1},{"id":2},{"id":3}],"z":null},"next":"n"}"#,
      "/a/data"
    ),
    (
      #"{"a":{"b":1},"next":"n","c":{"a":{"data":[7]}},"d":[],"data":[{"id":1},{"id":2},{"id":3}]}"#,
      "/data"
    ),
    ("\u{FEFF})]}'\n{\"data\":[{\"id\":1},\n{\"id\":2},\r\n\t{\"id\":3}],\"next\":\"n\"}", "/data"),
  ]

  private struct Row: Codable, Sendable, Equatable { let id: Int }

  private func rows(_ reader: TypedReader) -> JSONPageDecoder<Row> {
    JSONPageDecoder(decoder: reader.decoder)
  }

  @Test(
    "14-Arrival: items, envelope, last item and count are those of the whole page, however it is cut",
    arguments: TypedReader.allCases)
  func slices(_ reader: TypedReader) throws {
    for (text, items) in Self.pages {
      let page = Array(text.utf8)
      let whole = try JSONDocument(page)
      for size in 1...page.count {
        let arrival = arrive(rows(reader), page, items, slices: [size])
        #expect(arrival.error == nil, "\(text) by \(size)")
        #expect(arrival.items.map(\.id) == [1, 2, 3], "\(text) by \(size)")
        #expect(Set(arrival.digests).count == 3)
        let document = try #require(arrival.document)
        let path = try #require(items.paths.first)
        #expect(try document.count(at: path) == 3)
        #expect(try document.value(at: "/id", inLastItemOf: items) == 3)
        for path: PagePath in ["/next", "/meta/total", "/a/z", "/c/a/data/0", "/a/x/0/data/0/id"] {
          #expect(try document.value(at: path) == whole.value(at: path), "\(text) by \(size)")
        }
      }
    }
  }

  @Test(
    "14-Arrival: an item is delivered with the byte that ends it",
    arguments: TypedReader.allCases)
  func immediacy(_ reader: TypedReader) throws {
    let page = "{\"items\":[" + (1...300).map { "{\"id\":\($0)}" }.joined(separator: ",") + "]}"
    let arrival = arrive(rows(reader), Array(page.utf8), "/items", slices: [1])
    #expect(arrival.items.map(\.id) == Array(1...300))
    #expect(arrival.ends.first == "{\"items\":[{\"id\":1}".utf8.count)
    #expect(arrival.ends.count == 300)
  }

  @Test("14-Arrival: numbers, literals and strings are items as well as containers")
  func scalars() throws {
    for slices in [[1], [3], [100]] {
      let page = Array(#"[1,true ,null,"a\"]",[ ],{}, -2.50e1]"#.utf8)
      let arrival = arrive(JSONRawPageDecoder(), page, "", slices: slices)
      #expect(
        arrival.items.map(\.description) == [
          "1", "true", "null", #""a\"]""#, "[]", "{}", "-2.50e1",
        ])
    }
  }

  @Test(
    "14-Arrival: items before what is broken come first, then the error that says where",
    arguments: TypedReader.allCases)
  func broken(_ reader: TypedReader) throws {
    for (page, code, words): (String, PageError.Code, String) in [
      (#"[{"id":1},{"id":2} {"id":3}]"#, .malformed, "byte 19"),
      (#"[{"id":1},{"id":2},]"#, .malformed, "a value"),
      (#"[{"id":1},{"id":2},{"id":3]]"#, .malformed, "Item 2"),
      (#"[{"id":1},{"id":2},{"id":tru}]"#, .malformed, "Item 2"),
      (#"[{"id":1},{"id":2},{"id":"#, .truncated, "after 25 bytes"),
      (#"[{"id":1},{"id":2}"#, .truncated, "after 18 bytes"),
      (#"[{"id":1},{"id":2}]]"#, .malformed, "byte 19"),
      (#"[{"id":1},{"id":2},{"id":3"},{"id":4}]"#, .malformed, "Item 2"),
      (#"[{"id":1},{"id":2},{"id":"3},{"id":4}]"#, .malformed, "Item 2"),
    ] {
      let whole = #expect(throws: PageError.self) { try decode(rows(reader), page, "") }
      #expect(whole?.code == code, "\(page)")
      for size in [1, 5, 1_000] {
        let arrival = arrive(rows(reader), Array(page.utf8), "", slices: [size])
        #expect(arrival.items.map(\.id) == [1, 2], "\(page) by \(size)")
        #expect(arrival.error?.code == code, "\(page) by \(size)")
        #expect(arrival.error?.message.contains(words) == true, "\(arrival.error as Any)")
      }
    }
    let none = arrive(rows(reader), Array("[,1]".utf8), "", slices: [1])
    #expect(
      none.error?.message.contains("at byte 1, a value should follow, not \",\".") == true,
      "\(none.error as Any)")
  }

  @Test(
    "14-Arrival: bad items keep their numbers, and limits name the item",
    arguments: TypedReader.allCases)
  func limits(_ reader: TypedReader) throws {
    let page = Array(#"{"d":[{"id":1},{"id":"x"},{"id":3},{"no":1}]}"#.utf8)
    for size in [1, 20, 100] {
      let bad = arrive(
        rows(reader), page, "/d", slices: [size], badItems: .collect)
      #expect(bad.items.map(\.id) == [1, 3])
      #expect(bad.badItems.map(\.index) == [1, 3])
      #expect(bad.badItems.map(\.path) == ["/id", ""])
      let few = arrive(
        rows(reader), page, "/d", slices: [size], badItems: .collect,
        limits: DecodingLimits(items: 2))
      #expect(few.error?.code == .limitExceeded)
      let small = arrive(
        rows(reader), page, "/d", slices: [size], badItems: .collect,
        limits: DecodingLimits(itemBytes: 9))
      #expect(small.error?.code == .limitExceeded)
      #expect(small.error?.message.contains("Item 1") == true)
    }
    let stray = arrive(
      rows(reader), Array(#"[{"id":1"},{"id":2},{"id":3},{"id":4}]"#.utf8), "", slices: [1],
      limits: DecodingLimits(itemBytes: 20))
    #expect(stray.error?.code == .malformed)
    let deep = arrive(
      JSONRawPageDecoder(), Array("[[[]]]".utf8), "", slices: [1], limits: DecodingLimits(depth: 3))
    #expect(deep.items.count == 1)
  }

  @Test(
    "14-Arrival: a page without the list, or with a name twice, is refused as a whole one is",
    arguments: TypedReader.allCases)
  func misfits(_ reader: TypedReader) throws {
    for (page, items): (String, Pagination.Items) in [
      (#"{"other":[1]}"#, "/data"), (#"{"data":{"a":1}}"#, "/data"),
      (#"{"data":[1],"data":[2]}"#, "/data"),
      (#"{"next":1,"next":2,"data":[1]}"#, "/data"), ("<html>", "/data"), ("", ""), ("  ", ""),
    ] {
      let whole = #expect(throws: PageError.self) {
        try decode(JSONPageDecoder<Int>(decoder: reader.decoder), page, items)
      }
      for size in [1, 100] {
        let arrival = arrive(
          JSONPageDecoder<Int>(decoder: reader.decoder), Array(page.utf8), items, slices: [size])
        #expect(arrival.error?.code == whole?.code, "\(page)")
      }
    }
    let optional = arrive(
      JSONPageDecoder<Int>(decoder: reader.decoder), Array("{}".utf8), .optional("/data"),
      slices: [1])
    #expect(optional.error == nil)
    #expect(optional.items.isEmpty)
  }

  @Test(
    "14-Arrival: random pages, damaged ones among them, are what they are as a whole",
    arguments: 0..<12)
  func random(_ seed: UInt64) throws {
    var random = RandomJSON(seed: seed)
    var accepted = 0
    for round in 0..<150 {
      let (one, other) = (random.value(depth: 3), random.value(depth: 2))
      var bytes = Array(
        "{\"x\":\(random.text(of: other)),\"d\":[\(random.text(of: one)),\(random.text(of: other))],\"y\":1}"
          .utf8)
      if round % 3 > 0 {
        let letters = Array("[]{},:\"\\ \n0123456789-+.eEtfnu/\u{0}é".utf8)
        bytes[random.number(below: bytes.count)] = letters[random.number(below: letters.count)]
      }
      let whole = Result {
        try decode(JSONRawPageDecoder(), bytes, DecodingContext(items: "/d"))
      }
      let slices = [1 + random.number(below: 9), 1 + random.number(below: 40)]
      let arrival = arrive(JSONRawPageDecoder(), bytes, "/d", slices: slices)
      let text = String(decoding: bytes, as: UTF8.self)
      switch whole {
      case .success(let page):
        accepted += 1
        #expect(arrival.error == nil, "seed \(seed): \(text)")
        #expect(
          arrival.items.map(\.compact) == page.items.items.map(\.compact), "seed \(seed): \(text)")
      case .failure:
        #expect(arrival.error != nil, "seed \(seed): \(text)")
      }
    }
    #expect(accepted > 40)
  }

  @Test("14-Arrival: of a long page, nothing is kept but the envelope and the last item")
  func memory() throws {
    var splitter = try #require(JSONItemSplitter("/items", limits: .api))
    splitter.receive(Array(#"{"next":"n","items":["#.utf8)[...])
    var count = 0
    let slice = Array(String(repeating: #"{"id":1,"text":"some text"},"#, count: 1_000).utf8)
    for _ in 0..<100 {
      splitter.receive(slice[...])
      count += splitter.takeItems()?.ends.count ?? 0
      #expect(!splitter.hasItems)
      #expect(splitter.envelope.count == 21)
    }
    #expect(count == 100_000)
  }
}
