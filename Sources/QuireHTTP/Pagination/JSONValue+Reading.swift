package import QuireCore

extension JSONValue {
  /// Whether there is nothing in it: null, blank text, an empty list or object.
  var isBlank: Bool {
    switch self {
    case .null: true
    case .string(let text): text.allSatisfy(\.isWhitespace)
    case .array(let elements): elements.isEmpty
    case .object(let members): members.isEmpty
    case .bool, .number: false
    }
  }

  /// The value as it goes into a URL or a header field: a text as it is, anything else as JSON.
  package var plainText: String {
    if case .string(let text) = self { text } else { description }
  }

  /// Whether both are written alike, whatever their kinds: `"0"` and `0` are the same.
  func isSame(as other: JSONValue) -> Bool { plainText == other.plainText }

  /// A whole number in any spelling, from a number's text or from a string that holds one.
  var wholeNumber: Int? {
    switch self {
    case .number(let text): WholeNumber.read(text)
    case .string(let text): WholeNumber.read(text, isText: true)
    case .null, .bool, .array, .object: nil
    }
  }

  /// A whole number of things: one that is not negative.
  var count: Int? { wholeNumber.flatMap { $0 >= 0 ? $0 : nil } }

  /// The link in a value: a text, or an object's `href`, `url`, `@id` or `id`, without the
  /// expressions of a URI template (JSON:API, HAL, Hydra, ActivityStreams).
  var link: String? {
    guard case .object = self else { return string }
    let names = ["href", "url", "@id", "id"]
    guard let text = names.lazy.compactMap({ self[$0]?.string }).first else { return nil }
    return self["templated"]?.boolean == true ? Self.withoutExpressions(text) : text
  }

  /// `/o?page=1{&sort}` without `{&sort}` (RFC 6570).
  private static func withoutExpressions(_ template: String) -> String {
    var result = ""
    var rest = template[...]
    while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
      result += rest[..<open]
      rest = rest[rest.index(after: close)...]
    }
    return result + rest
  }
}
