import QuireCore

/// What stands where a server should say how much there is.
enum DeclaredTotal: Hashable {
  /// Nothing, or a word or number that means it is not known.
  case none
  /// A whole number, however it is spelt; a lower bound where the server says so.
  case number(Int, isLowerBound: Bool)
  /// Something else, in words that quote nothing of it.
  case other(String)

  /// Reads a value.
  init(_ value: JSONValue?) {
    switch value {
    case nil, .null: self = .none
    case .bool: self = .other("true or false")
    case .array: self = .other("a list")
    case .number(let text): self = Self.read(text, isText: false)
    case .string(let text):
      self = Self.isUnknown(text) ? .none : Self.read(text, isText: true)
    case .object: self = Self.object(value)
    }
  }

  /// `{"value": 10000, "relation": "gte"}`, as Elasticsearch and OpenSearch write a total.
  private static func object(_ value: JSONValue?) -> DeclaredTotal {
    let isLowerBound: Bool
    switch value?["relation"] {
    case nil, .null, "eq": isLowerBound = false
    case "gte": isLowerBound = true
    default: return .other("an object")
    }
    switch value?["value"] {
    case .some(let inner) where inner["value"] == nil:
      guard case .number(let number, _) = DeclaredTotal(inner) else { return DeclaredTotal(inner) }
      return .number(number, isLowerBound: isLowerBound)
    default: return .other("an object")
    }
  }

  private static func read(_ text: String, isText: Bool) -> DeclaredTotal {
    guard let number = WholeNumber.read(text, isText: isText) else {
      return .other(isText ? "a text" : "a number that is not whole")
    }
    return number >= 0 ? .number(number, isLowerBound: false) : .none
  }

  /// `*` in Content-Range (RFC 9110, §14.4), and what else stands for a number that nobody counted.
  private static func isUnknown(_ text: String) -> Bool {
    let words: Set = ["", "*", "?", "-", "unknown", "null", "none", "n/a", "nan"]
    return words.contains(text.trimmingBlanks.lowercased())
  }
}
