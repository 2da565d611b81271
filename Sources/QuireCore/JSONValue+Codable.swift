/// JSON as itself, so that a value can be a member or an item of a type of your own.
///
/// Quire's decoders lose nothing: numbers keep their text, objects the order of their members and
/// names that come twice. Another decoder gives what it has: integers of 64 bits are exact, other
/// numbers pass through `Double`. So they do when a value is encoded, because no encoder takes more;
/// `description` writes the exact text.
extension JSONValue: Codable {
  private struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  /// Reads any JSON value.
  public init(from decoder: any Decoder) throws {
    if let source = Self.sourceKey.flatMap({ decoder.userInfo[$0] }) as? any JSONValueSource,
      let value = try source.value(at: decoder.codingPath)
    {
      self = value
    } else if let fields = try? decoder.container(keyedBy: Name.self) {
      self = .object(
        try fields.allKeys.map { name in
          Member(name.stringValue, try fields.decode(JSONValue.self, forKey: name))
        })
    } else if var list = try? decoder.unkeyedContainer() {
      var elements: [JSONValue] = []
      while !list.isAtEnd { elements.append(try list.decode(JSONValue.self)) }
      self = .array(elements)
    } else {
      self = try Self.scalar(try decoder.singleValueContainer())
    }
  }

  private static func scalar(_ single: any SingleValueDecodingContainer) throws -> JSONValue {
    if single.decodeNil() { return .null }
    if let value = try? single.decode(Bool.self) { return .bool(value) }
    if let value = try? single.decode(Int64.self) { return .number(String(value)) }
    if let value = try? single.decode(UInt64.self) { return .number(String(value)) }
    if let value = try? single.decode(Double.self), value.isFinite {
      return .number(value.description)
    }
    return .string(try single.decode(String.self))
  }

  /// Writes the value as JSON; throws `EncodingError` for a number that no `Double` holds.
  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .object(let members):
      var fields = encoder.container(keyedBy: Name.self)
      for member in members {
        try fields.encode(member.value, forKey: Name(stringValue: member.name))
      }
    case .array(let elements):
      var list = encoder.unkeyedContainer()
      for element in elements { try list.encode(element) }
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
      var single = encoder.singleValueContainer()
      if let value = Int64(text) {
        try single.encode(value)
      } else if let value = UInt64(text) {
        try single.encode(value)
      } else if let value = Double(text), value.isFinite {
        try single.encode(value)
      } else {
        throw EncodingError.invalidValue(
          self,
          EncodingError.Context(
            codingPath: encoder.codingPath,
            debugDescription: "The number \(text.prefix(40)) is beyond what an encoder can write."))
      }
    }
  }
}

/// What a decoder is reading, for values that must keep more of it than the decoder can hand out.
package protocol JSONValueSource: Sendable {
  /// The value at a decoder's coding path; nil when it cannot be told which one that is.
  func value(at path: [any CodingKey]) throws -> JSONValue?
}

extension JSONValue {
  /// Where a decoder's `userInfo` holds its `JSONValueSource`.
  package static let sourceKey = CodingUserInfoKey(rawValue: "quire.jsonValueSource")
}
