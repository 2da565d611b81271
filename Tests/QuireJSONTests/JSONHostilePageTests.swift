import QuireCore
import QuireHTTP
@testable import QuireJSON
import QuirePagination
import Testing

@Suite("Hostile JSON")
struct JSONHostilePageTests {
  func page(_ text: String) -> [UInt8] { Array(text.utf8) }

  @Test("J1, D-4: nesting is refused at the limit, however deep it goes", arguments: [5, 6, 7])
  func depth(_ exponent: Int) {
    let count = (0..<exponent).reduce(1) { product, _ in product * 10 }
    for bracket in ["[", "{\"a\":"] {
      let error = #expect(throws: PageError.self) {
        try JSONDocument(page(String(repeating: bracket, count: count)))
      }
      #expect(error?.code == .limitExceeded)
      #expect(error?.message.contains("128 containers") == true)
    }
  }

  @Test("J1: nesting up to the limit is read, and a raised limit costs no stack")
  func depthWithin() throws {
    for (depth, limit) in [(128, 128), (1_000_000, 1_000_000)] {
      let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
      let document = try JSONDocument(page(text), limits: DecodingLimits(depth: limit))
      #expect(try document.count(at: "") == 1)
    }
    #expect(throws: PageError.self) {
      try JSONDocument(page("[[]]"), limits: DecodingLimits(depth: 1))
    }
    #expect(try JSONDocument(page("1"), limits: DecodingLimits(depth: 0)).value(at: "") == 1)
  }

  @Test("J8, D-4: two million containers are read; three million exceed the events of a page")
  func containers() throws {
    let two = "[" + String(repeating: "[],", count: 2_000_000) + "[]]"
    #expect(try JSONDocument(page(two)).count(at: "") == 2_000_001)
    let three = "[" + String(repeating: "{},", count: 3_000_000) + "{}]"
    let error = #expect(throws: PageError.self) { try JSONDocument(page(three)) }
    #expect(error?.code == .limitExceeded)
    #expect(error?.message.contains("5000000") == true)
  }

  @Test("J8: 200,000 names in one object are checked for one that comes twice")
  func names() throws {
    let members = (0..<200_000).map { "\"name\($0)\":\($0)" }.joined(separator: ",")
    let single = try JSONDocument(page("{\(members)}"))
    #expect(throws: Never.self) { try single.checkEnvelope(outside: "/items") }
    #expect(try single.value(at: "/name199999") == 199_999)
    let double = try JSONDocument(page("{\(members),\"name\\u0037\":0}"))
    let error = #expect(throws: PageError.self) { try double.checkEnvelope(outside: "/items") }
    #expect(error?.code == .shape)
    #expect(error?.message.contains(#""name\u0037" occurs twice"#) == true)
  }

  @Test("J4: a name that comes twice in an item is its decoder's, whichever list the item is in")
  func itemsOfManyLists() throws {
    let items = try JSONDocument(page(#"{"g":[{"i":[{"a":1}]},{"i":[{"a":2,"a":3}]}]}"#))
    #expect(throws: Never.self) { try items.checkEnvelope(outside: "/g/*/i") }
    let beside = try JSONDocument(page(#"{"g":[{"i":[]},{"i":[],"b":2,"b":3}]}"#))
    #expect(throws: PageError.self) { try beside.checkEnvelope(outside: "/g/*/i") }
  }

  @Test("J2: a number beyond the limit costs only whoever asks for it")
  func longNumber() throws {
    let document = try JSONDocument(
      page("[\(String(repeating: "9", count: 100_000)), {\"next\": 7}]"))
    #expect(try document.value(at: "/1/next") == 7)
    let error = #expect(throws: PageError.self) { try document.value(at: "/0") }
    #expect(error?.code == .limitExceeded)
  }

  @Test("D-4: a page of no more events than allowed is read, of one more is not")
  func events() throws {
    // Six: two brackets each, the name, the number.
    let page = page(#"{"a":[1]}"#)
    #expect(throws: Never.self) { try JSONDocument(page, limits: DecodingLimits(events: 6)) }
    #expect(throws: PageError.self) { try JSONDocument(page, limits: DecodingLimits(events: 5)) }
  }

  @Test(
    "D-4: no limit ends the program, however high it is raised",
    arguments: [PageDelivery.whole, .asItArrives])
  func highestLimits(delivery: PageDelivery) throws {
    let limits = DecodingLimits(
      depth: .max, items: .max, itemBytes: .max, numberLength: .max, events: .max)
    let bytes = page(#"{"meta":{"n":[1.50]},"items":[{"a":[1,"x"]},{"a":[]}],"next":null}"#)
    var limitGuard = JSONLimitGuard(limits)
    try limitGuard.receive(bytes)
    var decoding = JSONRawPageDecoder().begin(
      DecodingContext(items: "/items", limits: limits, delivery: delivery))
    var count = 0
    for byte in bytes {
      try decoding.receive([byte])
      count += try decoding.readyItems().count
    }
    _ = try decoding.finish()
    count += try decoding.items().count
    #expect(count == 2)
    let document = try JSONDocument(bytes, limits: limits)
    #expect(try document.values(at: "/n", inItemsOf: .columns("/meta")) == [.number("1.50")])
  }

  @Test("D-4: brackets that close nothing lift no limit of a page that arrives")
  func strayBrackets() {
    for start in ["", "]]]]", "}]"] {
      let error = #expect(throws: PageError.self) {
        var limitGuard = JSONLimitGuard(DecodingLimits(items: 10))
        try limitGuard.receive(page(start + #"{"items":["# + String(repeating: "1,", count: 100)))
      }
      #expect(error?.code == .limitExceeded, "\(start)")
    }
  }

  @Test("J1, D-4: of a page that nests a million containers no value is made that ends the program")
  func deepValue() throws {
    func item(_ depth: Int) throws -> RawItem {
      let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
      return try RawItem(page(text), limits: DecodingLimits(depth: .max))
    }
    #expect(try item(4096).value.description.utf8.count == 8192)
    let deep = try item(1_000_000)
    #expect(deep.compact.count == 2_000_000)
    #expect(deep["0/0"] == nil)
    let error = #expect(throws: PageError.self) { try deep.value }
    #expect(error?.code == .limitExceeded)
  }
}
