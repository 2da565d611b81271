import FoundationEssentials
import QuireCore
import QuireHTTP
import QuireJSON
import QuirePagination
import Testing

struct Member: Decodable, Sendable, Equatable {
  struct Address: Decodable, Sendable, Equatable { let city: String }
  let id: Int
  let name: String
  var address: Address?
}

/// A page's items and document, the bytes handed over in slices that end where `splits` say.
func decode<Item>(
  _ decoder: some PageDecoder<Item>, _ page: [UInt8], _ context: DecodingContext, splits: [Int] = []
) throws -> (items: DecodedItems<Item>, document: any PageDocument) {
  var decoding = try decoder.begin(context)
  var start = 0
  for end in splits + [page.count] {
    try decoding.receive(Array(page[start..<end]))
    start = end
  }
  let document = try decoding.finish()
  return (try decoding.items(), document)
}

func decode<Item>(
  _ decoder: some PageDecoder<Item>, _ page: String, _ items: Pagination.Items = .root,
  badItems: BadItemPolicy = .throw, limits: DecodingLimits = .api, contentType: String? = nil
) throws -> DecodedItems<Item> {
  let context = DecodingContext(
    contentType: contentType, items: items, badItems: badItems, limits: limits)
  return try decode(decoder, Array(page.utf8), context).items
}

/// Who makes the items: every test of typed items holds for both.
enum TypedReader: CaseIterable, Sendable {
  case index, foundation

  var decoder: JSONDecoder { self == .index ? JSONDecoder() : SubclassedDecoder() }
  var members: JSONPageDecoder<Member> { JSONPageDecoder(decoder: decoder) }
  var numbers: JSONPageDecoder<Int> { JSONPageDecoder(decoder: decoder) }
}

@Suite("JSON page decoder")
struct JSONPageDecoderTests {
  @Test(
    "D-2: items decode typed, in the server's order, and the document leads on",
    arguments: TypedReader.allCases)
  func typed(_ reader: TypedReader) throws {
    let page = #"""
      {"data": [{"id": 1, "name": "Ann", "address": {"city": "Köln"}}, {"id": 2, "name": "Bob"}],
       "next": 9007199254740993}
      """#
    let (items, document) = try decode(
      reader.members, Array(page.utf8), DecodingContext(items: "/data"))
    #expect(
      items.items == [
        Member(id: 1, name: "Ann", address: .init(city: "Köln")), Member(id: 2, name: "Bob"),
      ])
    #expect(items.count == 2)
    #expect(try document.value(at: "/next") == .number("9007199254740993"))
    #expect(try document.value(at: "/name", inLastItemOf: "/data") == "Bob")
    #expect(try document.value(at: "/address", inLastItemOf: "/data") == nil)
  }

  @Test("D-2: scalars are items as well as objects", arguments: TypedReader.allCases)
  func scalars(_ reader: TypedReader) throws {
    #expect(try decode(reader.numbers, "[1, 2, 3]").items == [1, 2, 3])
    #expect(
      try decode(JSONPageDecoder<String>(decoder: reader.decoder), #"["a", "\n"]"#).items == [
        "a", "\n",
      ])
    #expect(
      try decode(JSONPageDecoder<Int?>(decoder: reader.decoder), "[1, null]").items == [1, nil])
  }

  @Test("The user's own decoder brings its strategies", arguments: TypedReader.allCases)
  func ownDecoder(_ reader: TypedReader) throws {
    struct Row: Decodable, Sendable { let firstName: String }
    let decoder = reader.decoder
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    let items = try decode(
      JSONPageDecoder<Row>(decoder: decoder), #"[{"first_name": "Ann"}]"#)
    #expect(items.items.map(\.firstName) == ["Ann"])
  }

  @Test(
    "D-4: slices may end anywhere: every two of them decode alike", arguments: TypedReader.allCases)
  func splits(_ reader: TypedReader) throws {
    let page = Array(
      ("\u{FEFF}{\"a\": [{\"id\": 12, \"name\": \"é\\ud83d\\ude00\"}, {\"id\": 1.0, "
        + "\"name\": \"\\n\"}], \"next\": \"n\\u0041\"} ").utf8)
    for split in 0...page.count {
      let (items, document) = try decode(
        reader.members, page, DecodingContext(items: "/a"), splits: [split])
      #expect(items.items == [Member(id: 12, name: "é😀"), Member(id: 1, name: "\n")])
      #expect(try document.value(at: "/next") == "nA")
    }
  }

  @Test(
    "D-3: by default one bad item fails the page, naming its index, its path and what is wrong",
    arguments: TypedReader.allCases)
  func badItemThrows(_ reader: TypedReader) throws {
    let page = #"[{"id": 1, "name": "Ann"}, {"id": 2, "name": "Bob", "address": {"city": 7}}]"#
    let error = try #require(throws: PageError.self) { try decode(reader.members, page) }
    #expect(error.code == .itemDecoding)
    #expect(error.message.contains("Item 1 of the page"))
    #expect(error.message.contains("at /address/city"))
    #expect(error.message.contains("String"))
    #expect(error.underlying is DecodingError)
  }

  @Test(
    "D-3: collected, bad items are set aside with index, path, reason and bytes",
    arguments: TypedReader.allCases)
  func badItemsCollected(_ reader: TypedReader) throws {
    let page = #"""
      {"data": [{"id": 1, "name": "Ann"}, {"id": "2"}, {"name": "Cy"}, null, 1e999,
        {"id": 5, "name": "Eve"}], "next": "t"}
      """#
    let items = try decode(reader.members, page, "/data", badItems: .collect)
    #expect(items.items == [Member(id: 1, name: "Ann"), Member(id: 5, name: "Eve")])
    #expect(items.count == 6)
    #expect(items.badItems.map(\.index) == [1, 2, 3, 4])
    #expect(items.badItems[0].path == "/id")
    #expect(items.badItems[1].message.contains("\"id\" is missing"))
    #expect(
      items.badItems.map { String(decoding: $0.bytes, as: UTF8.self) } == [
        #"{"id": "2"}"#, #"{"name": "Cy"}"#, "null", "1e999",
      ])
  }

  @Test("J5: text that is no Unicode costs its item, not the page", arguments: TypedReader.allCases)
  func badText(_ reader: TypedReader) throws {
    var page = Array(#"{"data": [{"id": 1, "name": "Ann"}, {"id": 2, "name": ""#.utf8)
    page += [0xC0, 0x80]
    page += Array(
      #""}, {"id": 3, "name": "\udead"}, {"id": 4, "name": "Dan"}, {"id": 5, "na\ud800": 1}]}"#.utf8
    )
    let collect = DecodingContext(items: "/data", badItems: .collect)
    let items = try decode(reader.members, page, collect).items
    #expect(items.items.map(\.id) == [1, 4])
    #expect(items.badItems.map(\.index) == [1, 2, 4])
    #expect(items.badItems.map(\.path) == ["/name", "/name", "/\u{FFFD}"])
    #expect(
      items.badItems[0].bytes == [UInt8](#"{"id": 2, "name": ""#.utf8) + [0xC0, 0x80, 0x22, 0x7D])
    #expect(items.badItems[0].message.contains("UTF-8"))
    #expect(items.badItems[1].message.contains("surrogate"))

    let error = #expect(throws: PageError.self) {
      try decode(reader.members, page, DecodingContext(items: "/data"))
    }
    #expect(error?.code == .malformed)
    #expect(error?.message.contains("Item 1 of the page cannot be decoded, at /name") == true)
  }

  @Test(
    "J5: half a surrogate pair costs nothing where the item's type does not read it",
    arguments: TypedReader.allCases)
  func unreadSurrogate(_ reader: TypedReader) throws {
    let page = #"""
      [{"id": 1, "bio": "\ud83d", "name": "Ann"}, {"id": 2, "name": "\ud83d"},
        {"id": 3, "tags" : ["\udead" , {"\ud83d" : 1}], "name": "Cy"}]
      """#
    let items = try decode(reader.members, page, badItems: .collect)
    #expect(items.items == [Member(id: 1, name: "Ann")])
    // A name that cannot be read may be the one that a type asks for.
    #expect(items.badItems.map(\.path) == ["/name", "/tags/1/\u{FFFD}"])
    #expect(items.badItems.allSatisfy { $0.message.contains("surrogate") })
    // What is not read is not why an item fails.
    let other = try decode(
      reader.members, #"[{"id": "x", "bio": "\ud83d", "name": "Ann"}]"#, badItems: .collect)
    #expect(other.badItems.map(\.path) == ["/id"])
    #expect(other.badItems.allSatisfy { !$0.message.contains("surrogate") })
    let raw = try decode(JSONRawPageDecoder(), page).items
    #expect(try raw[0].decode(Member.self, with: reader.decoder).id == 1)
  }

  @Test(
    "J2: a number beyond the limit costs its item, not the page", arguments: TypedReader.allCases)
  func longNumber(_ reader: TypedReader) throws {
    let page = "[1, \(String(repeating: "9", count: 5_000)), 3]"
    let items = try decode(reader.numbers, page, badItems: .collect)
    #expect(items.items == [1, 3])
    #expect(items.badItems.map(\.index) == [1])
    #expect(throws: PageError.self) { try decode(reader.numbers, page) }
  }

  @Test(
    "J4, D-2: a name that comes twice is an error outside the items, and the first counts inside",
    arguments: TypedReader.allCases)
  func duplicates(_ reader: TypedReader) throws {
    for page in [
      #"{"next": "a", "data": [], "next": "b"}"#,
      #"{"data": [], "page": {"n\u0065xt": 1, "next": 1}}"#,
      #"{"data": [], "data": [1]}"#, #"{"data": [], "other": [[{"x": 1, "x": 2}]]}"#,
    ] {
      let error = #expect(throws: PageError.self, "\(page)") {
        try decode(reader.numbers, page, "/data")
      }
      #expect(error?.code == .shape)
      #expect(error?.message.contains("occurs twice") == true)
    }
    let items = try decode(
      reader.members, #"{"data": [{"id": 1, "name": "A", "name": "B"}]}"#, "/data")
    #expect(items.items == [Member(id: 1, name: "A")])
  }

  @Test(
    "D-4: too many items and too large an item are refused, naming the limit",
    arguments: TypedReader.allCases)
  func limits(_ reader: TypedReader) throws {
    for (limits, name) in [
      (DecodingLimits(items: 2), "DecodingLimits.items"),
      (DecodingLimits(itemBytes: 3), "DecodingLimits.itemBytes"),
    ] {
      let error = #expect(throws: PageError.self) {
        try decode(reader.numbers, "[1, 2345, 3]", badItems: .collect, limits: limits)
      }
      #expect(error?.code == .limitExceeded)
      #expect(error?.description.contains(name) == true)
    }
    #expect(
      try decode(reader.numbers, "[1, 2345, 3]", limits: DecodingLimits(items: 3, itemBytes: 4))
        .count == 3
    )
  }

  @Test(
    "A cancelled closure or decoder is never told as a bad item", arguments: TypedReader.allCases)
  func cancellation(_ reader: TypedReader) throws {
    struct Cancelled: Decodable, Sendable {
      init(from decoder: any Decoder) throws { throw CancellationError() }
    }
    #expect(throws: CancellationError.self) {
      try decode(
        JSONPageDecoder<Cancelled>(decoder: reader.decoder), "[1]", badItems: .collect)
    }
  }
}
