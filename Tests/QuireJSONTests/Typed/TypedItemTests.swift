import Foundation
import QuireCore
import QuireJSON
import QuirePagination
import Testing

/// What an item says of itself beyond what `JSONDecoder` would.
@Suite("Typed items of JSON")
struct TypedItemTests {
  private func error<Item: Decodable & Sendable>(
    _ type: Item.Type, _ page: String, _ items: Pagination.Items = .root,
    decoder: JSONDecoder = JSONDecoder()
  ) throws -> PageError {
    try #require(throws: PageError.self) {
      try decode(JSONPageDecoder<Item>(decoder: decoder), page, items)
    }
  }

  @Test(
    "14-Typed: an error names the item, the pointer into it and the byte of the page",
    arguments: TypedReader.allCases)
  func places(_ reader: TypedReader) throws {
    struct Row: Decodable, Sendable {
      struct Inner: Decodable { let size: [UInt8] }
      let id: Int
      let inner: Inner
    }
    let page = #"{"data":[{"id":1,"inner":{"size":[1]}},{"id":2,"inner":{"size":[1,"x"]}}]}"#
    let mismatch = try error(Row.self, page, "/data", decoder: reader.decoder)
    #expect(mismatch.message.contains("Item 1 of the page cannot be decoded, at /inner/size/1"))
    #expect(mismatch.message.contains("Expected to decode UInt8 but found a string instead."))
    #expect(mismatch.message.contains("It stands at byte \(try byte(of: #""x""#, in: page)) of"))

    let missing = try error(
      Row.self, #"[{"id":1},{"id":2}]"#, decoder: reader.decoder)
    #expect(missing.message.contains("\"inner\" is missing. It stands at byte 1 of the page."))
  }

  private func byte(of text: String, in page: String) throws -> Int {
    let range = try #require(page.range(of: text))
    return page.utf8.distance(from: page.startIndex, to: range.lowerBound)
  }

  @Test(
    "14-Typed: a number that does not fit is named with its place, which JSONDecoder leaves out")
  func unfitNumbers() throws {
    struct Row: Decodable, Sendable { let sizes: [String: Int8] }
    let page = #"[{"sizes":{"a":1,"b/c":300}}]"#
    let unfit = try error(Row.self, page)
    #expect(unfit.message.contains("at /sizes/b~1c"))
    #expect(unfit.message.contains("The number 300 does not fit into Int8."))
    #expect(unfit.message.contains("byte \(try byte(of: "300", in: page))"))
    guard case DecodingError.dataCorrupted(let context)? = unfit.underlying else {
      Issue.record("\(String(describing: unfit.underlying))")
      return
    }
    #expect(context.codingPath.isEmpty)
  }

  @Test(
    "14-Typed: items composed of other parts of a page have a pointer and no byte",
    arguments: TypedReader.allCases)
  func composed(_ reader: TypedReader) throws {
    struct Row: Decodable, Sendable { let a: Int }
    let selector = Pagination.Items.columns("/table")
    let wrong = try error(Row.self, #"{"table":{"a":[1,"x"]}}"#, selector, decoder: reader.decoder)
    #expect(wrong.message.contains("Item 1 of the page cannot be decoded, at /a"))
    #expect(!wrong.message.contains("byte"))
  }

  @Test(
    "14-Typed: a decoder that outlives its item still reads it, and knows the names that led to it")
  func escaped() throws {
    final class Escape: Decodable {
      let decoder: any Decoder
      let container: KeyedDecodingContainer<JSONName>
      let list: any UnkeyedDecodingContainer
      init(from decoder: any Decoder) throws {
        self.decoder = decoder
        container = try decoder.container(keyedBy: JSONName.self)
        list = try container.nestedUnkeyedContainer(forKey: JSONName("list"))
      }
    }
    struct Outer: Decodable { let inner: [Escape] }
    func escape(_ number: Int) throws -> Escape {
      let text = #"{"inner":[{"a":"\#(number)","list":[\#(number),"end"]}]}"#
      let outer = try RawItem(Array(text.utf8)).decode(Outer.self)
      return outer.inner[0]
    }
    let kept = try escape(1)
    _ = try escape(2)
    #expect(try kept.container.decode(String.self, forKey: JSONName("a")) == "1")
    #expect(kept.decoder.codingPath.map(\.stringValue) == ["inner", "Index 0"])
    var list = kept.list
    #expect(try list.decode(Int.self) == 1)
    let error = try #require(throws: DecodingError.self) { try list.decode(Int.self) }
    guard case .typeMismatch(_, let context) = error else {
      Issue.record("\(error)")
      return
    }
    #expect(context.codingPath.map(\.stringValue) == ["inner", "Index 0", "list", "Index 1"])
  }

  @Test(
    "14-Typed: of the items of one page, a container that was kept reads its own",
    arguments: TypedReader.allCases)
  func keptContainers(_ reader: TypedReader) throws {
    struct Kept: Decodable, @unchecked Sendable {
      // SAFETY: the test reads the items where it got them.
      let container: KeyedDecodingContainer<JSONName>
      init(from decoder: any Decoder) throws {
        container = try decoder.container(keyedBy: JSONName.self)
      }
    }
    let decoder = JSONPageDecoder<Kept>(decoder: reader.decoder)
    let items = try decode(decoder, #"[{"a":1,"b":2},{"b":3,"a":4},{"é":5}]"#).items
    #expect(
      try items.map { try $0.container.decodeIfPresent(Int.self, forKey: JSONName("a")) } == [
        1, 4, nil,
      ])
    #expect(try items[2].container.decode(Int.self, forKey: JSONName("e\u{301}")) == 5)
  }

  @Test("14-Typed: containers of the same keys that are in use together read their own objects")
  func containersTogether() throws {
    struct Tree: Decodable {
      let name: String
      let again: String
      let children: [Tree]

      enum CodingKeys: CodingKey { case name, children }

      init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let other = try decoder.container(keyedBy: CodingKeys.self)
        children = try container.decode([Tree].self, forKey: .children)
        name = try container.decode(String.self, forKey: .name)
        again = try other.decode(String.self, forKey: .name)
      }

      var names: [String] { [name, again] + children.flatMap(\.names) }
    }
    let leaf = #"{"children":[],"name":"c"}"#
    let text = #"{"name":"a","children":[{"children":[\#(leaf)],"name":"b"},\#(leaf)]}"#
    let tree = try RawItem(Array(text.utf8)).decode(Tree.self)
    #expect(tree.names == ["a", "a", "b", "b", "c", "c", "c", "c"])
  }

  @Test("14-Typed: a container outlives the decoder that was kept and asked for it")
  func lateContainer() throws {
    struct Keeping: Decodable {
      let decoder: any Decoder
      init(from decoder: any Decoder) throws { self.decoder = decoder }
    }
    func container() throws -> KeyedDecodingContainer<JSONName> {
      let kept = try RawItem(Array(#"{"a":1,"b":{"c":2}}"#.utf8)).decode(Keeping.self)
      return try kept.decoder.container(keyedBy: JSONName.self)
    }
    let late = try container()
    #expect(try late.decode(Int.self, forKey: JSONName("a")) == 1)
    let inner = try late.nestedContainer(keyedBy: JSONName.self, forKey: JSONName("b"))
    #expect(try inner.decode(Int.self, forKey: JSONName("c")) == 2)
  }

  @Test("14-Typed: a type that follows the page down ends with an error, not with the stack")
  func deep() throws {
    indirect enum Tree: Decodable {
      case leaf, branch(Tree)
      init(from decoder: any Decoder) throws {
        var list = try decoder.unkeyedContainer()
        self = list.isAtEnd ? .leaf : .branch(try list.decode(Tree.self))
      }
    }
    func item(_ depth: Int) throws -> RawItem {
      let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
      return try RawItem(Array(text.utf8), limits: DecodingLimits(depth: 100_000))
    }
    _ = try item(500).decode(Tree.self)
    #expect(throws: DecodingError.self) { try item(50_000).decode(Tree.self) }
  }

  @Test("14-Typed: a subclass is left to Foundation, and asked itself; JSON5 changes nothing")
  func foundation() throws {
    // SAFETY: it adds a method, and no state, to a decoder that is Sendable.
    final class Shouting: JSONDecoder, @unchecked Sendable {
      override func decode<T: Decodable>(_ type: T.Type, from data: Data) throws -> T {
        try super.decode(type, from: Data(String(decoding: data, as: UTF8.self).uppercased().utf8))
      }
    }
    #expect(try decode(JSONPageDecoder<String>(decoder: Shouting()), #"["a"]"#).items == ["A"])
    let five = JSONDecoder()
    five.allowsJSON5 = true
    #expect(try decode(JSONPageDecoder<Double>(decoder: five), "[1.5]").items == [1.5])
    let open = JSONDecoder()
    open.assumesTopLevelDictionary = true
    struct Row: Decodable, Sendable { let a: Int }
    #expect(try decode(JSONPageDecoder<Row>(decoder: open), #"[{"a":1}]"#).items.map(\.a) == [1])
  }
}
