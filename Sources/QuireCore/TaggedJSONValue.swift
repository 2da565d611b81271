/// A JSON value as positions store it, through any encoder without loss.
///
/// Encoders cannot be trusted with numbers: most go through `Double`. So a number whose text a
/// 64-bit integer does not reproduce travels as `{"number": "1e400"}`, and an object as `{"object":
/// [["name", value], …]}`, which also keeps the order of its members. Everything else is written as
/// itself.
struct TaggedJSONValue: Codable {
  let value: JSONValue

  private enum Tag: String, CodingKey { case number, object }

  init(_ value: JSONValue) { self.value = value }

  /// Reads what `encode(to:)` writes.
  init(from decoder: any Decoder) throws {
    if let tagged = try? decoder.container(keyedBy: Tag.self) {
      value = try Self.decode(tagged: tagged)
      return
    }
    if var list = try? decoder.unkeyedContainer() {
      var elements: [JSONValue] = []
      while !list.isAtEnd { elements.append(try list.decode(TaggedJSONValue.self).value) }
      value = .array(elements)
      return
    }
    let single = try decoder.singleValueContainer()
    if single.decodeNil() {
      value = .null
    } else if let truth = try? single.decode(Bool.self) {
      value = .bool(truth)
    } else if let integer = try? single.decode(Int64.self) {
      value = .number(String(integer))
    } else {
      value = .string(try single.decode(String.self))
    }
  }

  private static func decode(tagged: KeyedDecodingContainer<Tag>) throws -> JSONValue {
    if let text = try tagged.decodeIfPresent(String.self, forKey: .number) {
      return .number(text)
    }
    var pairs = try tagged.nestedUnkeyedContainer(forKey: .object)
    var members: [JSONValue.Member] = []
    while !pairs.isAtEnd {
      var pair = try pairs.nestedUnkeyedContainer()
      let name = try pair.decode(String.self)
      members.append(.init(name, try pair.decode(TaggedJSONValue.self).value))
    }
    return .object(members)
  }

  /// Writes numbers and objects so that nothing is lost.
  func encode(to encoder: any Encoder) throws {
    switch value {
    case .null:
      var single = encoder.singleValueContainer()
      try single.encodeNil()
    case .bool(let value):
      var single = encoder.singleValueContainer()
      try single.encode(value)
    case .string(let value):
      var single = encoder.singleValueContainer()
      try single.encode(value)
    case .number(let text):
      if let integer = Int64(text), String(integer) == text {
        var single = encoder.singleValueContainer()
        try single.encode(integer)
      } else {
        var tagged = encoder.container(keyedBy: Tag.self)
        try tagged.encode(text, forKey: .number)
      }
    case .array(let elements):
      var list = encoder.unkeyedContainer()
      for element in elements { try list.encode(TaggedJSONValue(element)) }
    case .object(let members):
      var tagged = encoder.container(keyedBy: Tag.self)
      var pairs = tagged.nestedUnkeyedContainer(forKey: .object)
      for member in members {
        var pair = pairs.nestedUnkeyedContainer()
        try pair.encode(member.name)
        try pair.encode(TaggedJSONValue(member.value))
      }
    }
  }
}
