/// A JSON value that loses nothing: numbers keep their text, objects keep their order.
///
/// Cursors travel in this type, because a continuation token is not always a string: DynamoDB sends
/// an object, Elasticsearch an array, Telegram a number beyond 2⁵³. Two numbers are equal when
/// their texts are, two strings when their bytes are: what Unicode calls equivalent may be two
/// cursors. Source: RFC 8259.
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
    /// What the name stands for.
    public var value: JSONValue

    /// A member of an object.
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

  /// A whole number, read leniently: from a number's text or from a string that holds one.
  ///
  /// Servers that speak XML, headers or old JavaScript write numbers as strings; anything else is
  /// nil.
  public var integer: Int? {
    switch self {
    case .number(let text), .string(let text): Int(text)
    case .null, .bool, .array, .object: nil
    }
  }

  /// A truth value, read leniently: `true`, `1`, `"true"`, `"1"` and `"yes"`, and their opposites.
  public var boolean: Bool? {
    switch self {
    case .bool(let value): value
    case .number(let text), .string(let text):
      switch text.lowercased() {
      case "true", "1", "yes": true
      case "false", "0", "no": false
      default: nil
      }
    case .null, .array, .object: nil
    }
  }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// A string.
  public init(stringLiteral value: String) { self = .string(value) }
  /// A number.
  public init(integerLiteral value: Int) { self = .number(String(value)) }
  /// A truth value.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// An array.
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  /// An object, its members in this order.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(elements.map { Member($0.0, $0.1) })
  }
}
