/// Encoders cannot be trusted with numbers: most go through `Double`. So a number whose text a
/// 64-bit integer does not reproduce travels as `{"number": "1e400"}`, and an object as `{"object":
/// [["name", value], …]}`, which also keeps the order of its members. Everything else is written as
/// itself.
extension JSONValue: Codable {
  private enum Tag: String, CodingKey { case number, object }

  /// Reads what `encode(to:)` writes.
  public init(from decoder: any Decoder) throws {
    if let tagged = try? decoder.container(keyedBy: Tag.self) {
      self = try Self.decode(tagged: tagged)
      return
    }
    if var list = try? decoder.unkeyedContainer() {
      var elements: [JSONValue] = []
      while !list.isAtEnd { elements.append(try list.decode(JSONValue.self)) }
      self = .array(elements)
      return
    }
    let single = try decoder.singleValueContainer()
    if single.decodeNil() {
      self = .null
    } else if let value = try? single.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? single.decode(Int64.self) {
      self = .number(String(value))
    } else {
      self = .string(try single.decode(String.self))
    }
  }

  private static func decode(tagged: KeyedDecodingContainer<Tag>) throws -> JSONValue {
    if let text = try tagged.decodeIfPresent(String.self, forKey: .number) {
      return .number(text)
    }
    var pairs = try tagged.nestedUnkeyedContainer(forKey: .object)
    var members: [Member] = []
    while !pairs.isAtEnd {
      var pair = try pairs.nestedUnkeyedContainer()
      members.append(Member(try pair.decode(String.self), try pair.decode(JSONValue.self)))
    }
    return .object(members)
  }

  /// Writes numbers and objects so that nothing is lost.
  public func encode(to encoder: any Encoder) throws {
    switch self {
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
      for element in elements { try list.encode(element) }
    case .object(let members):
      var tagged = encoder.container(keyedBy: Tag.self)
      var pairs = tagged.nestedUnkeyedContainer(forKey: .object)
      for member in members {
        var pair = pairs.nestedUnkeyedContainer()
        try pair.encode(member.name)
        try pair.encode(member.value)
      }
    }
  }
}
