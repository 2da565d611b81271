import FoundationEssentials
import QuireCore
import QuireHTTP
import QuireJSON
import QuirePagination
import Testing

@testable import QuireXML

@Suite("Items typed")
struct TypedItemTests {
  private func items<Item: Decodable & Sendable>(
    _ type: Item.Type, _ page: String, at selector: Pagination.Items = "//i",
    options: XMLDecodingOptions = XMLDecodingOptions(), badItems: BadItemPolicy = .throw,
    limits: DecodingLimits = .api
  ) throws -> DecodedItems<Item> {
    var session = try XMLPageDecoder<Item>(options: options).begin(
      DecodingContext(items: selector, badItems: badItems, limits: limits))
    for byte in page.utf8 { try session.receive([byte]) }
    _ = try session.finish()
    return try session.items()
  }

  struct Everything: Decodable, Sendable, Equatable {
    enum Kind: String, Decodable { case big, small }
    struct Owner: Decodable, Equatable {
      var id: UInt8
      var name: String?
    }
    var id: Int
    var text: String
    var ratio: Double
    var ok: Bool
    var kind: Kind
    var when: Date
    var blob: Data
    var link: URL
    var price: Decimal
    var tag: [String]
    var none: [Int]
    var owner: Owner
    var owners: [Owner]
    var missing: String?
    var empty: String?
    var blank: String
    var null: Int?
    var raw: JSONValue
  }

  @Test("D-1: every kind of value is read from elements and attributes")
  func everything() throws {
    let page = """
      <r xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><i id="7">
      <text> a &lt; b </text><ratio> 1.5e3 </ratio><ok>1</ok><kind>big</kind>
      <when>2025-03-01T12:00:00.25+01:00</when><blob> aGVs
      bG8= </blob><link>https://a.test/?b=1&amp;c=2</link><price>1.10</price>
      <tag>x</tag><tag/><owner><id>255</id><name>n</name></owner><tag>y</tag>
      <owners id="1"/><empty/><blank/><null xsi:nil="true"/><raw a="1">t</raw></i></r>
      """
    let item = try #require(try items(Everything.self, page).items.first)
    #expect(
      item
        == Everything(
          id: 7, text: " a < b ", ratio: 1_500, ok: true, kind: .big,
          when: Date(timeIntervalSince1970: 1_740_826_800.25), blob: Data("hello".utf8),
          link: try #require(URL(string: "https://a.test/?b=1&c=2")),
          price: try #require(Decimal(string: "1.10")), tag: ["x", "", "y"], none: [],
          owner: .init(id: 255, name: "n"), owners: [.init(id: 1)], missing: nil, empty: nil,
          blank: "", null: nil, raw: ["@a": "1", "#text": "t"]))
  }

  @Test("D-1: white space around a text belongs to a String, and not to what a text is read as")
  func whiteSpace() throws {
    struct Entry: Decodable, Sendable, Equatable {
      enum Kind: String, Decodable { case open, closed }
      enum Level: Int, Decodable { case low = 1 }
      var id: UUID
      var kind: Kind
      var other: Kind
      var level: Level
      var kinds: [Kind]
    }
    let id = "6F9619FF-8B86-D011-B42D-00C04FC964FF"
    let page = """
      <r><i kind="
      open"><id> \(id)\n</id><other>closed</other><level> 1 </level><kinds>
      open </kinds><kinds>closed</kinds></i></r>
      """
    let item = try #require(try items(Entry.self, page).items.first)
    #expect(
      item
        == Entry(
          id: try #require(UUID(uuidString: id)), kind: .open, other: .closed, level: .low,
          kinds: [.open, .closed]))
    #expect(throws: PageError.self) {
      try items(Entry.self, page.replacing("<other>closed", with: "<other> shut"))
    }
  }

  @Test("text beside attributes has a key of its own, and @ tells attributes from elements")
  func textKey() throws {
    struct Link: Decodable, Sendable, Equatable {
      enum CodingKeys: String, CodingKey { case text = "#text", type = "@type", inner = "type" }
      var text: String
      var type: String
      var inner: String?
    }
    let page = "<r><i type='a'>body</i><i type='b'>x<type>c</type>y</i></r>"
    #expect(
      try items(Link.self, page).items == [
        Link(text: "body", type: "a", inner: "a"), Link(text: "xy", type: "b", inner: "c"),
      ])
  }

  @Test("keys with prefixes match namespaces where they are given, and the page's names otherwise")
  func namespaces() throws {
    struct Entry: Decodable, Sendable, Equatable {
      enum CodingKeys: String, CodingKey { case title = "dc:title" }
      var title: String
    }
    let page =
      "<r xmlns:x='urn:dc' xmlns:dc='urn:no'><i><dc:title>1</dc:title><x:title>2</x:title></i></r>"
    #expect(try items(Entry.self, page).items == [Entry(title: "1")])
    let options = XMLDecodingOptions(namespaces: ["dc": "urn:dc"])
    #expect(try items(Entry.self, page, options: options).items == [Entry(title: "2")])
  }

  @Test("keys can be capitalized, or made by a closure")
  func keys() throws {
    struct Object: Decodable, Sendable, Equatable { var lastModified: String }
    let page = "<r><i><LastModified>t</LastModified></i></r>"
    #expect(
      try items(Object.self, page, options: .init(keys: .capitalized)).items
        == [Object(lastModified: "t")])
    let custom = XMLDecodingOptions(keys: .custom { _ in "LastModified" })
    #expect(try items(Object.self, page, options: custom).items == [Object(lastModified: "t")])
  }

  @Test("D-1: spelled keys lead to the cases of an enum, and leave those of dictionaries alone")
  func spelledKeys() throws {
    enum Event: Decodable, Sendable, Equatable { case created(id: Int), removed }
    struct Object: Decodable, Sendable, Equatable {
      enum CodingKeys: String, CodingKey { case metadata, lists, title = "dc:title" }
      var metadata: [String: String?]
      var lists: [String: [Int]]
      var title: String?
    }
    let capitalized = XMLDecodingOptions(keys: .capitalized, namespaces: ["dc": "urn:dc"])
    #expect(
      try items(
        Event.self, "<r><i><Created><Id>1</Id></Created></i><i a='b'><Removed/></i></r>",
        options: capitalized
      ).items == [.created(id: 1), .removed])
    let page = """
      <r><i xmlns:x="urn:dc"><Metadata Owner="o" name="n"><name>own</name><Empty/></Metadata>
      <Lists><a>1</a><B>2</B><a>3</a></Lists><x:Title>t</x:Title></i></r>
      """
    let object = Object(
      metadata: ["Owner": "o", "name": "own", "Empty": nil], lists: ["a": [1, 3], "B": [2]],
      title: "t")
    #expect(try items(Object.self, page, options: capitalized).items == [object])
    let closure = XMLDecodingOptions(
      keys: .custom { ["metadata": "Metadata", "lists": "Lists"][$0] ?? "Title" })
    #expect(try items(Object.self, page, options: closure).items == [object])
    let error = #expect(throws: PageError.self) {
      try items([String: Int].self, "<r><i><a>1</a><b>x</b></i></r>", options: capitalized)
    }
    #expect(error?.message.contains("at /b") == true, "\(error?.message ?? "")")
  }

  @Test("D-1: an optional list is not nil because its first element is empty")
  func listThatBeginsEmpty() throws {
    struct Object: Decodable, Sendable, Equatable {
      struct Part: Decodable, Equatable { var id: Int? }
      var tag: [String]?
      var set: Set<String>?
      var part: [Part]?
    }
    let page = """
      <r xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
      <i><tag/><tag>b</tag><set> </set><part/><set>c</set><part><id>1</id></part></i>
      <i><tag xsi:nil="true"/><tag/></i><i><tag/><part/></i></r>
      """
    #expect(
      try items(Object.self, page).items == [
        Object(tag: ["", "b"], set: [" ", "c"], part: [.init(id: nil), .init(id: 1)]),
        Object(tag: ["", ""], set: nil, part: nil), Object(tag: nil, set: nil, part: nil),
      ])
  }

  @Test("D-1: a list in a type of its own may have no elements, as an array may")
  func wrappedLists() throws {
    struct Lenient: Decodable, Sendable, Equatable {
      struct Skipped: Decodable {}
      var numbers: [Int] = []
      init(_ numbers: [Int]) { self.numbers = numbers }
      init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        while !list.isAtEnd {
          if let number = try? list.decode(Int.self) {
            numbers.append(number)
          } else {
            _ = try list.decode(Skipped.self)
          }
        }
      }
    }
    struct Tags: Decodable, Sendable, Equatable {
      var texts: [String]
      init(_ texts: [String]) { self.texts = texts }
      init(from decoder: any Decoder) throws {
        texts = try decoder.singleValueContainer().decode([String].self)
      }
    }
    struct Object: Decodable, Sendable, Equatable {
      var n: Lenient
      var tag: Tags
      var other: ContiguousArray<Int>
    }
    let page = "<r><i><n>1</n><n>x</n><n>2</n><tag>a</tag><other>3</other></i><i/></r>"
    #expect(
      try items(Object.self, page).items == [
        Object(n: Lenient([1, 2]), tag: Tags(["a"]), other: [3]),
        Object(n: Lenient([]), tag: Tags([]), other: []),
      ])
  }

  @Test("D-1, D-4: a type that follows the page down ends with an error, not with the stack")
  func deep() throws {
    struct Tree: Decodable, Sendable { var k: [Tree] }
    func page(_ depth: Int) -> String {
      let (start, end) = (String(repeating: "<k>", count: depth), "</k>")
      return "<r><i>\(start)\(String(repeating: end, count: depth))</i></r>"
    }
    let limits = DecodingLimits(depth: .max)
    #expect(try items(Tree.self, page(200), limits: limits).items.count == 1)
    let error = #expect(throws: PageError.self) {
      try items(Tree.self, page(4000), limits: limits)
    }
    #expect(error?.code == .itemDecoding)
  }

  @Test("D-1: what does not ask for elements is missing where there is none", arguments: 0..<3)
  func missingMembers(number: Int) throws {
    struct Constant: Decodable { init(from decoder: any Decoder) {} }
    struct Fallback: Decodable {
      init(from decoder: any Decoder) {
        _ = try? decoder.singleValueContainer().decode(JSONValue.self)
      }
    }
    struct Members: Decodable { var n: [Int] }
    struct Object: Decodable, Sendable {
      var constant: Constant
      var fallback: Fallback
      var members: Members
    }
    var names = ["constant", "fallback", "members"]
    let missing = names.remove(at: number)
    let members = names.map { "<\($0)><n>1</n></\($0)>" }.joined()
    let error = #expect(throws: PageError.self) {
      try items(Object.self, "<r><i>\(members)</i></r>")
    }
    #expect(error?.message.contains("\"\(missing)\"") == true, "\(error?.message ?? missing)")
  }

  @Test("D-1: what the options have in userInfo is there at every depth")
  func userInfo() throws {
    struct Part: Decodable, Sendable, Equatable {
      static let key = CodingUserInfoKey(rawValue: "tenant")
      var tenant: String?
      init(from decoder: any Decoder) throws {
        tenant = Self.key.flatMap { decoder.userInfo[$0] } as? String
      }
    }
    struct Object: Decodable, Sendable { var parts: [Part], sole: Part? }
    let key = try #require(Part.key)
    let page = "<r><i><parts>1</parts><parts><x/></parts><sole a='b'/></i></r>"
    let item = try items(
      Object.self, page, options: XMLDecodingOptions(userInfo: [key: "acme"])
    ).items.first
    #expect((item?.parts ?? []).map(\.tenant) + [item?.sole?.tenant] == ["acme", "acme", "acme"])
    #expect(try items(Object.self, page).items.first?.parts.map(\.tenant) == [nil, nil])
  }

  @Test("what is missing is named as it was sought, an attribute too")
  func soughtName() throws {
    struct Object: Decodable, Sendable { var no: Int }
    let options = XMLDecodingOptions(keys: .capitalized)
    #expect(try items(Object.self, "<r><i No='1'/></r>", options: options).items.first?.no == 1)
    let error = #expect(throws: PageError.self) {
      try items(Object.self, "<r><i no='1'/></r>", options: options)
    }
    #expect(error?.message.contains("neither an element nor an attribute \"No\"") == true)
  }

  @Test(
    "D-1: a decimal is the whole of its text, or none",
    arguments: [
      ("1.10", true), (" -.5 ", true), ("+3.", true), ("2.5E+3", true), ("1,5", false),
      ("1.234,56", false), ("12 EUR", false), ("1 000", false), ("1.2.3", false), ("0x10", false),
      ("--1", false), (".", false), ("1e", false), ("", false), ("NaN", false),
      ("1e999", false),
    ])
  func decimals(text: String, isNumber: Bool) throws {
    func read() throws -> Decimal? { try items(Decimal.self, "<r><i>\(text)</i></r>").items.first }
    if isNumber {
      let plain = text.filter { !$0.isWhitespace }
      #expect(try read() == Decimal(string: plain))
    } else {
      #expect(throws: PageError.self) { try read() }
    }
  }

  @Test("items may be scalars, lists and dictionaries")
  func shapes() throws {
    #expect(try items(Int.self, "<r><i>1</i><i> 2 </i></r>").items == [1, 2])
    #expect(try items([String].self, "<r><i><x>a</x> <y>b</y></i></r>").items == [["a", "b"]])
    #expect(
      try items([String: String].self, "<r><i x='1'><y>2</y></i></r>").items
        == [["x": "1", "y": "2"]])
    #expect(try items(String.self, "<r/>", at: "/r/i").items == [])
  }

  @Test(
    "an item that does not fit is named with its place and path",
    arguments: [
      ("<r>\n<i><a><n>1</n></a></i>\n <i><a><n>x</n></a></i></r>", "/a/n", "line 3, column 8"),
      ("<r>\n<i><a><n>1</n></a></i>\n <i><a/></i></r>", "/a", "line 3, column 5"),
      ("<r>\n<i><a><n>1</n></a></i>\n <i><a n='x'/></i></r>", "/a/@n", "line 3"),
      ("<r>\n<i><a><n>1</n></a></i>\n <i/></r>", "", "line 3, column 2"),
    ])
  func misfits(page: String, path: String, place: String) throws {
    struct Outer: Decodable, Sendable {
      struct Inner: Decodable { var n: Int }
      var a: Inner
    }
    let error = #expect(throws: PageError.self) { try items(Outer.self, page) }
    #expect(error?.code == .itemDecoding)
    #expect(error?.message.contains(place) == true, "\(error?.message ?? "")")
    #expect(error?.message.contains("Item 1 of the page") == true)
    let collected = try items(Outer.self, page, badItems: .collect)
    #expect(collected.items.count == 1)
    #expect(collected.badItems.map(\.index) == [1])
    #expect(collected.badItems.first?.path == path)
    #expect(collected.badItems.first?.bytes.starts(with: "<i".utf8) == true)
    #expect(collected.count == 2)
  }

  @Test(
    "numbers that do not fit and values that hold elements are errors",
    arguments: [
      "<r><i>256</i></r>", "<r><i>-1</i></r>", "<r><i>1.0</i></r>", "<r><i></i></r>",
      "<r><i>0x1</i></r>",
      "<r><i>1<b/></i></r>", "<r><i>1 2</i></r>",
    ])
  func numbers(page: String) {
    #expect(throws: PageError.self) { try items(UInt8.self, page) }
  }

  @Test("D-1: integers of 128 bits are read alone, as fields and in lists")
  func wideIntegers() throws {
    struct Wide: Decodable, Sendable, Equatable {
      var a: Int128
      var b: UInt128?
      var c: UInt128?
      var list: [Int128]
      var others: [UInt128?]
    }
    struct Pair: Decodable, Sendable {
      let first: Int128
      let second: UInt128?

      init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        first = try list.decode(Int128.self)
        second = try list.decodeIfPresent(UInt128.self)
      }
    }
    let page = """
      <r><i a='-170141183460469231731687303715884105728'>\
      <b>340282366920938463463374607431768211455</b><list>1</list><list>-2</list>\
      <others>3</others><others/></i></r>
      """
    #expect(
      try items(Wide.self, page).items
        == [Wide(a: .min, b: .max, c: nil, list: [1, -2], others: [3, nil])])
    #expect(try items(Int128.self, "<r><i> 5 </i></r>").items == [5])
    #expect(throws: PageError.self) { try items(UInt128.self, "<r><i>-1</i></r>") }
    let pair = try items(Pair.self, "<r><i><x>-1</x><y>2</y></i></r>").items.first
    #expect(pair?.first == -1)
    #expect(pair?.second == 2)
  }

  @Test("D-1: a number too large for its type is an error; INF and NaN are written")
  func largeNumbers() throws {
    struct Field: Decodable, Sendable { var f: Float? }
    func read<Number: Decodable & Sendable>(_ type: Number.Type, _ text: String) throws -> Number? {
      let decoded = try items(type, "<r><i><f>\(text)</f></i></r>", at: "//f")
      return decoded.items.first
    }
    #expect(try read(Float.self, "3.4e38") == Float(3.4e38))
    #expect(try read(Double.self, "1e300") == 1e300)
    #expect(try read(Double.self, "1e-400") == 0)
    #expect(try read(Float.self, "-INF") == -Float.infinity)
    #expect(try read(Double.self, "INF") == Double.infinity)
    #expect(try read(Double.self, "NaN")?.isNaN == true)
    for text in ["1e39", "-1e300", "1e999"] {
      #expect(throws: PageError.self) { try read(Float.self, text) }
      #expect(throws: PageError.self) {
        try items(Field.self, "<r><i><f>\(text)</f></i></r>")
      }
    }
    for text in ["1e309", "-1e999"] {
      #expect(throws: PageError.self) { try read(Double.self, text) }
    }
  }

  @Test("D-4: too many items, and items too large, end the page")
  func limits() throws {
    var limits = DecodingLimits.api
    limits.items = 2
    let many = #expect(throws: PageError.self) {
      try items(Int.self, "<r><i>1</i><i>2</i><i>3</i></r>", limits: limits)
    }
    #expect(many?.code == .limitExceeded)
    limits.itemBytes = 9
    let large = #expect(throws: PageError.self) {
      try items(String.self, "<r><i>1</i><i>long</i></r>", limits: limits)
    }
    #expect(large?.message.contains("Item 1") == true)
  }

  @Test("D-3, D-4: bad items that are nothing beside the namespaces around them end the page")
  func growth() throws {
    let namespace = "urn:" + String(repeating: "u", count: 10_000)
    let page = "<r xmlns='\(namespace)'>" + String(repeating: "<i>x</i>", count: 100) + "</r>"
    var limits = DecodingLimits.api
    let collected = try items(Int.self, page, badItems: .collect, limits: limits).badItems
    #expect(collected.count == 100)
    #expect(collected.allSatisfy { $0.bytes.count > 10_000 })
    limits.itemBytes = 100_000
    let error = #expect(throws: PageError.self) {
      try items(Int.self, page, badItems: .collect, limits: limits)
    }
    #expect(error?.remedies == [.raise(.init("DecodingLimits.itemBytes"))])
  }

  @Test(
    "dates of XML Schema are read, and nothing else",
    arguments: [
      ("1970-01-01T00:00:00Z", 0), ("2000-02-29", 951_782_400),
      ("2025-03-01T12:00Z", 1_740_830_400),
      ("2025-03-01t12:00:00.5z", 1_740_830_400.5), ("1969-12-31T23:59:59-00:30", 1_799),
      ("2025-02-29", nil), ("2025-13-01", nil), ("2025-03-01T25:00:00Z", nil), ("yesterday", nil),
      ("2025-02-28T24:00:00Z", 1_740_787_200), ("2025-02-28T24:30:00Z", nil),
      ("2025-02-28T24:00:01Z", nil),
      ("2025-03-01T12:00:00+", nil), ("", nil),
    ] as [(String, Double?)])
  func dates(text: String, seconds: Double?) {
    #expect(XMLDate.parse(text)?.timeIntervalSince1970 == seconds)
  }
}
