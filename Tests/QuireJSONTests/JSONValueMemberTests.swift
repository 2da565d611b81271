import Foundation
import QuireCore
import QuireHTTP
import QuireJSON
import QuirePagination
import Testing

/// `JSONValue` as a member or an item of a caller's own type.
@Suite struct JSONValueMemberTests {
  private struct Place: Decodable, Sendable {
    let street: String
    let extraData: JSONValue
    var more: [String: JSONValue]?
    var list: [JSONValue]?
  }

  private func items<Item: Decodable & Sendable>(
    _ text: String, as type: Item.Type = Item.self, decoder: JSONDecoder = JSONDecoder()
  ) throws -> [Item] {
    let context = DecodingContext(items: .root)
    var decoding = JSONPageDecoder<Item>(decoder: decoder).begin(context)
    try decoding.receive(Array(text.utf8))
    _ = try decoding.finish()
    return try decoding.items().items
  }

  @Test(
    "12-L18: an item that is a JSONValue is the server's JSON, whatever its members are called",
    arguments: [
      #"{"street":"Main","number":"42"}"#, #"{"number":1}"#, #"{"object":[["a",1]]}"#, "1.5",
      "1.10",
      "9007199254740993.25", "18446744073709551616", "1e400", "-0", "null", "true", #""x""#,
      #"{"b":1,"a":2,"b":3}"#, "[]", "{}", #"[[1.0],{"":null}]"#,
    ])
  func items(text: String) throws {
    let values = try items("[\(text)]", as: JSONValue.self)
    #expect(values.map(\.description) == [text])
  }

  @Test(
    "12-L18: a JSONValue keeps its text anywhere in an item: in members, lists and dictionaries")
  func members() throws {
    let text = """
      [{"street":"Main","extraData":{"number":"42","x":1.50},"more":{"a":1.0,"b":[1e2]},"list":[1.0,{"n":2.0}]}]
      """
    let place = try #require(
      try items(text, as: Place.self).first)
    #expect(place.extraData.description == #"{"number":"42","x":1.50}"#)
    #expect(place.more?["a"] == .number("1.0"))
    #expect(place.more?["b"]?.description == "[1e2]")
    #expect(place.list?.map(\.description) == ["1.0", #"{"n":2.0}"#])
  }

  @Test(
    "12-L18: key strategies find the member that the decoder means")
  func keyStrategies() throws {
    let snake = JSONDecoder()
    snake.keyDecodingStrategy = .convertFromSnakeCase
    let text = #"[{"street":"Main","extra_data":1.50}]"#
    #expect(try items(text, as: Place.self, decoder: snake).first?.extraData == .number("1.50"))

    struct Key: CodingKey {
      let stringValue: String
      var intValue: Int? { nil }
      init(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }
    }
    let custom = JSONDecoder()
    custom.keyDecodingStrategy = .custom { path in
      Key(stringValue: String(path[path.count - 1].stringValue.dropFirst()))
    }
    let prefixed = #"[{"_street":"Main","_extraData":1.50}]"#
    #expect(
      try items(prefixed, as: Place.self, decoder: custom).first?.extraData == .number("1.50"))
  }

  @Test(
    "12-L18: a raw item decodes a JSONValue without loss, and dates by the caller's strategy")
  func rawItems() throws {
    struct Event: Decodable { let at: Date, payload: JSONValue }
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    let item = try RawItem(Array(#"{"at":"1970-01-01T00:01:00Z","payload":[1.00]}"#.utf8))
    let event = try item.decode(Event.self, with: decoder)
    #expect(event.at == Date(timeIntervalSince1970: 60))
    #expect(event.payload.description == "[1.00]")
  }

  @Test("12-L18: another decoder reads natural JSON, and an encoder writes it")
  func foundation() throws {
    let text = #"{"a":[1,1.5,18446744073709551615,null,true,"x"],"number":"42"}"#
    let value = try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
    #expect(value["number"] == "42")
    #expect(value["a"]?.description == #"[1,1.5,18446744073709551615,null,true,"x"]"#)
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    #expect(String(decoding: try encoder.encode(value), as: UTF8.self) == text)
    #expect(throws: EncodingError.self) { try encoder.encode(JSONValue.number("1e400")) }
  }

  @Test("12-L18: a list of many JSONValues costs linear time")
  func manyValues() throws {
    struct Wide: Decodable, Sendable { let list: [JSONValue] }
    let text = "[{\"list\":[\(repeatElement("1.0", count: 100_000).joined(separator: ","))]}]"
    let wide = try #require(
      try items(text, as: Wide.self).first)
    #expect(wide.list.count == 100_000)
    #expect(wide.list.allSatisfy { $0 == .number("1.0") })
  }

  @Test("12-L18, C-8: inside a position the same values survive any encoder")
  func positions() throws {
    let value: JSONValue = .object([.init("number", .string("42")), .init("n", .number("1e400"))])
    let data = try JSONEncoder().encode(Position(value))
    #expect(try JSONDecoder().decode(Position.self, from: data).value == value)
  }
}
