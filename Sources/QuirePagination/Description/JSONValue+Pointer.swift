package import QuireCore

extension JSONValue {
  /// Returns the value at a path; nil if there is none.
  package func value(at path: PagePath) -> JSONValue? { value(at: path.steps[...]) }

  private func value(at steps: ArraySlice<PagePath.Step>) -> JSONValue? {
    guard let step = steps.first else { return self }
    let rest = steps.dropFirst()
    switch (self, step) {
    case (.object, .name(let name)): return self[name]?.value(at: rest)
    case (.array(let elements), .name(let name)):
      guard let index = PagePath.index(name), elements.indices.contains(index) else { return nil }
      return elements[index].value(at: rest)
    case (.array(let elements), .last): return elements.last?.value(at: rest)
    case (.array(let elements), .each):
      return elements.lazy.compactMap { $0.value(at: rest) }.first
    case (.object(let members), .each):
      return members.lazy.compactMap { $0.value.value(at: rest) }.first
    case (.array(let elements), .filter(let name, let text)):
      return elements.first { $0[name]?.holds(text) == true }?.value(at: rest)
    default: return nil
    }
  }

  /// Whether the value is this text or a list that contains it.
  private func holds(_ text: String) -> Bool {
    switch self {
    case .array(let elements): elements.contains { $0.plainText == text }
    case .object: false
    case .null, .bool, .number, .string: plainText == text
    }
  }

  /// Returns this value with another one set at a path. Missing objects on the path are created.
  ///
  /// Throws `invalidArgument` if a value on the path has no members.
  func setting(_ value: JSONValue, at path: PagePath) throws(PageError) -> JSONValue {
    do {
      return try setting(value, at: path.steps[...])
    } catch {
      throw PageError(
        .invalidArgument,
        "The request body has no place for a value at \"\(path)\": something on the way is "
          + "neither an object nor a list that long.")
    }
  }

  /// Returns this value without the member at a path of names.
  func removing(_ path: PagePath) -> JSONValue { removing(path.steps[...]) }

  private func removing(_ steps: ArraySlice<PagePath.Step>) -> JSONValue {
    guard case .object(var members) = self, case .name(let name)? = steps.first,
      let index = members.firstIndex(where: { $0.name == name })
    else { return self }
    if steps.count == 1 {
      members.remove(at: index)
    } else {
      members[index].value = members[index].value.removing(steps.dropFirst())
    }
    return .object(members)
  }

  private struct NoPlace: Error {}

  private func setting(
    _ value: JSONValue, at steps: ArraySlice<PagePath.Step>
  ) throws(NoPlace) -> JSONValue {
    guard let step = steps.first else { return value }
    let rest = steps.dropFirst()
    switch (self, step) {
    case (.object(var members), .name(let name)):
      if let index = members.firstIndex(where: { $0.name == name }) {
        members[index].value = try members[index].value.setting(value, at: rest)
      } else {
        members.append(Member(name, try JSONValue.object([]).setting(value, at: rest)))
      }
      return .object(members)
    case (.null, .name):
      return try JSONValue.object([]).setting(value, at: steps)
    case (.array(var elements), _):
      let place: Int? =
        if case .name(let name) = step { PagePath.index(name) } else { elements.count - 1 }
      guard let place, elements.indices.contains(place) else { throw NoPlace() }
      elements[place] = try elements[place].setting(value, at: rest)
      return .array(elements)
    default:
      throw NoPlace()
    }
  }
}

extension JSONValue {
  /// Whether the value is null, blank, or an empty list or object.
  package var isBlank: Bool {
    switch self {
    case .null: true
    case .string(let text): text.trimmingBlanks.isEmpty
    case .array(let elements): elements.isEmpty
    case .object(let members): members.isEmpty
    case .bool, .number: false
    }
  }

  /// The value for a URL or a header field: a text as it is, any other value as JSON.
  package var plainText: String {
    if case .string(let text) = self { text } else { description }
  }

  /// Returns whether both values have the same text: `"0"` equals `0`.
  func isSame(as other: JSONValue) -> Bool { plainText == other.plainText }

  /// The whole number in a number or a text, in any notation; nil if there is none.
  var wholeNumber: Int? {
    switch self {
    case .number(let text): WholeNumber.read(text)
    case .string(let text): WholeNumber.read(text, isText: true)
    case .null, .bool, .array, .object: nil
    }
  }

  /// The whole number in a number or a text; nil if it is negative or there is none.
  package var count: Int? { wholeNumber.flatMap { $0 >= 0 ? $0 : nil } }

  /// The link in a value: a text, or an object's `href`, `url`, `@id` or `id`. The expressions of a
  /// URI template are left out (JSON:API, HAL, Hydra, ActivityStreams). A list of one object has
  /// that object's link (HAL, §4.1.1; JSON-LD).
  package var link: String? {
    switch self {
    case .array(let elements):
      guard elements.count == 1, case .object = elements[0] else { return nil }
      return elements[0].link
    case .object:
      let texts = Self.linkNames.lazy.compactMap { self[$0]?.string }
      guard let text = texts.first else { return nil }
      return self["templated"]?.boolean == true ? Self.withoutExpressions(text) : text
    case .null, .bool, .number, .string: return string
    }
  }

  private static let linkNames = ["href", "url", "@id", "id"]

  /// Whether the value stands for a link that is absent: false, `{"href": null}`, `{"href": ""}`.
  var isEmptyLink: Bool {
    switch self {
    case .array(let elements): return elements.count == 1 && elements[0].isEmptyLink
    case .object:
      let places = Self.linkNames.compactMap { self[$0] }
      return !places.isEmpty && places.allSatisfy { $0.isBlank || $0.isEmptyLink }
    case .bool(let isThere): return !isThere
    case .null, .number, .string: return false
    }
  }

  /// Returns the template without its expressions: `/o?page=1` for `/o?page=1{&sort}` (RFC 6570).
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

extension JSONValue {
  /// Returns whether this cursor precedes the other. Whole numbers of up to 128 bits and decimals
  /// are compared as numbers, in quotes too; anything else by the bytes of its text.
  func isLess(than other: JSONValue) -> Bool {
    let texts = (plainText, other.plainText)
    if let left = Int128(texts.0), let right = Int128(texts.1) { return left < right }
    if let left = decimal, let right = other.decimal, left != right { return left < right }
    return texts.0.utf8.lexicographicallyPrecedes(texts.1.utf8)
  }

  /// The number, or the number that a text of digits with a point is; nil for any other text, which
  /// may be an identifier such as `1e5`.
  private var decimal: Double? {
    switch self {
    case .number(let text): Double(text)
    case .string(let text):
      text.utf8.allSatisfy { (0x30...0x39).contains($0) || "-.".utf8.contains($0) }
        ? Double(text) : nil
    case .null, .bool, .array, .object: nil
    }
  }
}
