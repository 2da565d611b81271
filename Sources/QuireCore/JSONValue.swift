/// A JSON value that loses nothing: numbers keep their text, objects keep their order.
///
/// Continuation tokens have this type because they are not always strings: DynamoDB sends an
/// object, Elasticsearch an array, Telegram a number beyond 2⁵³. Two numbers are equal when their
/// texts are, two strings when their bytes are: strings that are equivalent in Unicode may be two
/// tokens. Source: RFC 8259.
public enum JSONValue: Hashable, Sendable {
  case null
  case bool(Bool)
  /// A number as the server wrote it, such as `1.10`, `9007199254740993` or `1e400`.
  case number(String)
  case string(String)
  case array([JSONValue])
  /// The members in the order the server wrote them.
  case object([Member])

  /// One name and its value in an object.
  public struct Member: Hashable, Sendable {
    /// The name, as the server wrote it.
    public var name: String
    /// The member's value.
    public var value: JSONValue

    /// Creates a member of an object.
    public init(_ name: String, _ value: JSONValue) {
      self.name = name
      self.value = value
    }
  }

  /// The value of the first member called `name`; nil when this is not an object or has no such
  /// member.
  public subscript(name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    let count = name.utf8.count
    return members.first { $0.name.utf8.count == count && $0.name.utf8.elementsEqual(name.utf8) }?
      .value
  }

  /// The text of a string; nil for every other kind.
  public var string: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }

  /// The whole number in a number's text, or in a string that holds one; nil for anything else.
  ///
  /// Servers that speak XML, headers or old JavaScript write numbers as strings.
  public var integer: Int? {
    switch self {
    case .number(let text), .string(let text): Int(text)
    case .null, .bool, .array, .object: nil
    }
  }

  /// The truth value, read leniently: `true`, `1`, `"true"`, `"1"`, `"yes"` and `"y"`, and their
  /// opposites; nil for anything else.
  public var boolean: Bool? {
    switch self {
    case .bool(let value): value
    case .number(let text), .string(let text):
      switch text.lowercased() {
      case "true", "1", "yes", "y": true
      case "false", "0", "no", "n": false
      default: nil
      }
    case .null, .array, .object: nil
    }
  }

  /// Returns the value with each value in it replaced by `transform`, innermost first.
  package func mapped(_ transform: (JSONValue) -> JSONValue) -> JSONValue {
    switch self {
    case .array(let elements): transform(.array(elements.map { $0.mapped(transform) }))
    case .object(let members):
      transform(.object(members.map { Member($0.name, $0.value.mapped(transform)) }))
    case .null, .bool, .number, .string: transform(self)
    }
  }
}

extension JSONValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  /// Creates a string.
  public init(stringLiteral value: String) { self = .string(value) }
  /// Creates a whole number.
  public init(integerLiteral value: Int) { self = .number(String(value)) }
  /// Creates a number with the shortest text that stands for the value: `0.10` is `0.1`.
  public init(floatLiteral value: Double) { self = .number(String(value)) }
  /// Creates a truth value.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// Creates an array.
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  /// Creates an object with its members in this order.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(elements.map { Member($0.0, $0.1) })
  }
}

/// Equality and hashing are written out because `String` compares by canonical equivalence, and
/// continuation tokens must be compared by their bytes.
extension JSONValue {
  /// Whether both values are the same, byte for byte.
  public static func == (left: JSONValue, right: JSONValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let left), .bool(let right)): left == right
    case (.number(let left), .number(let right)), (.string(let left), .string(let right)):
      left.utf8.elementsEqual(right.utf8)
    case (.array(let left), .array(let right)): left == right
    case (.object(let left), .object(let right)): left == right
    default: false
    }
  }

  /// Hashes the bytes that `==` compares.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .bool(let value): hasher.combine(value)
    case .number(let text): hasher.combine(bytesOf: text, as: 1)
    case .string(let text): hasher.combine(bytesOf: text, as: 2)
    case .array(let elements): hasher.combine(elements)
    case .object(let members): hasher.combine(members)
    }
  }
}

extension JSONValue.Member {
  /// Whether names and values are the same, byte for byte.
  public static func == (left: Self, right: Self) -> Bool {
    left.name.utf8.elementsEqual(right.name.utf8) && left.value == right.value
  }

  /// Hashes the bytes that `==` compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(bytesOf: name, as: 3)
    hasher.combine(value)
  }
}

extension Hasher {
  fileprivate mutating func combine(bytesOf text: String, as kind: UInt8) {
    var text = text
    combine(kind)
    combine(text.utf8.count)
    text.withUTF8 { combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}

extension JSONValue: CustomStringConvertible {
  /// The value as compact JSON text (RFC 8259): no white space, numbers as they were written,
  /// non-ASCII characters unescaped.
  public var description: String {
    var text: [UInt8] = []
    write(to: &text)
    return String(decoding: text, as: UTF8.self)
  }

  private func write(to text: inout [UInt8]) {
    switch self {
    case .null: text += "null".utf8
    case .bool(let value): text += (value ? "true" : "false").utf8
    case .number(let number): text += number.utf8
    case .string(let string): JSONText.append(quoted: string, to: &text)
    case .array(let elements):
      text.append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { text.append(UInt8(ascii: ",")) }
        element.write(to: &text)
      }
      text.append(UInt8(ascii: "]"))
    case .object(let members):
      text.append(UInt8(ascii: "{"))
      for (index, member) in members.enumerated() {
        if index > 0 { text.append(UInt8(ascii: ",")) }
        JSONText.append(quoted: member.name, to: &text)
        text.append(UInt8(ascii: ":"))
        member.value.write(to: &text)
      }
      text.append(UInt8(ascii: "}"))
    }
  }
}

/// A JSON value is coded as plain JSON, so that it can be an item, or a member of your own types.
///
/// Quire's decoders lose nothing: numbers keep their text, objects the order of their members and
/// repeated names. Through other decoders, 64-bit integers are exact and other numbers pass through
/// `Double`. The same holds for all encoders, which accept no other numbers; `description` writes
/// the exact text.
extension JSONValue: Codable {
  /// Reads any JSON value.
  public init(from decoder: any Decoder) throws {
    let source =
      (decoder as? any JSONValueSource)
      ?? (Self.sourceKey.flatMap { decoder.userInfo[$0] } as? any JSONValueSource)
    if let source, let value = try source.value(at: decoder.codingPath) {
      self = value
    } else if let fields = try? decoder.container(keyedBy: MemberName.self) {
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

  /// Writes the value as JSON; throws `EncodingError` for a number that is neither a 64-bit integer
  /// nor a finite `Double`.
  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .object(let members):
      var fields = encoder.container(keyedBy: MemberName.self)
      for member in members {
        try fields.encode(member.value, forKey: MemberName(stringValue: member.name))
      }
    case .array(let elements):
      var list = encoder.unkeyedContainer()
      for element in elements { try list.encode(element) }
    case .null:
      var single = encoder.singleValueContainer()
      try single.encodeNil()
    case .bool(let value): try value.encode(to: encoder)
    case .string(let value): try value.encode(to: encoder)
    case .number(let text):
      if let value = Int64(text) {
        try value.encode(to: encoder)
      } else if let value = UInt64(text) {
        try value.encode(to: encoder)
      } else if let value = Double(text), value.isFinite {
        try value.encode(to: encoder)
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

/// A coding key of any name.
package struct MemberName: CodingKey, ExpressibleByStringLiteral {
  package let stringValue: String
  package var intValue: Int? { nil }

  package init(stringValue: String) { self.stringValue = stringValue }
  package init(stringLiteral name: String) { stringValue = name }
  package init?(intValue: Int) { nil }
}

/// The text behind a decoder, for values that must keep more of it than a `Decoder` can express.
/// The decoder itself conforms, or an object in its `userInfo`.
package protocol JSONValueSource {
  /// Returns the value at a decoder's coding path; nil if the path does not identify one value.
  func value(at path: [any CodingKey]) throws -> JSONValue?
}

extension JSONValue {
  /// The `userInfo` key of a decoder's `JSONValueSource`.
  package static let sourceKey = CodingUserInfoKey(rawValue: "quire.jsonValueSource")
}
