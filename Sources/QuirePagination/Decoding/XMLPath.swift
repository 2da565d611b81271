/// A location path in an XML page: the part of XPath 1.0's abbreviated syntax that pagination needs.
///
/// `PagePath` documents the grammar. The document follows the steps.
package struct XMLPath: Hashable, Sendable {
  /// Whether the first step may match at any depth (`//`), or only right below the context (`/`).
  package var startsAnywhere: Bool
  /// The steps down, in order; none for the context. Only the last may be an attribute or text.
  package var steps: [Step]

  /// Whether spaces around a text that is no number are a part of the value. Line breaks and tabs
  /// never are: they are layout.
  package var keepsSpaces = false

  package enum Step: Hashable, Sendable {
    /// Child elements that pass every predicate, tested from left to right.
    case element(Name, [Predicate])
    /// The attribute with the name; all attributes for `Name.any`.
    case attribute(Name)
    /// The element's own text.
    case text
  }

  /// The name that an element or attribute must have.
  package enum Name: Hashable, Sendable {
    /// `*`: any name.
    case any
    /// A local name. The namespace nil allows any, and the empty string demands none.
    case local(String, namespace: String?)
  }

  package enum Predicate: Hashable, Sendable {
    /// The nth, from 1, of one parent's elements that pass the predicates before.
    case position(Int)
    /// The last of one parent's elements that pass the predicates before.
    case last
    /// The operand equals the text. An element's text is compared without white space around it.
    case equals(Operand, String)
    /// The operand exists, even as an empty element.
    case exists(Operand)
    /// The operand contains the text.
    case contains(Operand, String)
    /// The other predicate, which is neither `position` nor `last`, does not hold.
    indirect case not(Predicate)
  }

  /// The value that a predicate tests.
  package enum Operand: Hashable, Sendable {
    case attribute(Name)
    case child(Name)
    case childAttribute(Name, attribute: Name)
  }

  /// Whether the path searches, by `//` or by an element of any name, and could thus match inside
  /// an item by accident. A path of names is followed literally.
  package var searches: Bool {
    startsAnywhere
      || steps.contains { if case .element(.any, _) = $0 { true } else { false } }
  }

  package init(startsAnywhere: Bool, steps: [Step]) {
    self.startsAnywhere = startsAnywhere
    self.steps = steps
  }
}

/// A parser for the XML grammar of a `PagePath`.
struct XMLPathParser {
  /// An error in a path, as the end of the sentence "The path … ".
  struct Fault: Error {
    let complaint: String
    /// The prefix before a name, if that is the error.
    var prefix: String?
  }

  private var rest: Substring

  private init(_ text: Substring) { rest = text }

  /// Parses `text`, which is empty or starts with a slash.
  static func parse(_ text: Substring) throws(Fault) -> XMLPath {
    guard !text.isEmpty else { return XMLPath(startsAnywhere: false, steps: []) }
    var parser = XMLPathParser(text)
    let startsAnywhere = parser.take("//")
    guard startsAnywhere || parser.take("/") else {
      throw Fault(complaint: "does not start with \"/\" or \"//\"")
    }
    var steps = [try parser.step()]
    while !parser.rest.isEmpty {
      guard parser.take("/") else { throw parser.unexpected("\"/\" or \"[\"") }
      if case .element = steps[steps.count - 1] {
        steps.append(try parser.step())
      } else {
        throw Fault(complaint: "goes on behind an attribute or text(), which have nothing below")
      }
    }
    return XMLPath(startsAnywhere: startsAnywhere, steps: steps)
  }

  // MARK: Steps

  private mutating func step() throws(Fault) -> XMLPath.Step {
    if rest.hasPrefix("/") { throw Fault(complaint: "has \"//\" behind its start") }
    if take("@") { return .attribute(try name()) }
    if take("text()") { return .text }
    let name = try name()
    var predicates: [XMLPath.Predicate] = []
    while take("[") { predicates.append(try predicate()) }
    return .element(name, predicates)
  }

  private mutating func predicate() throws(Fault) -> XMLPath.Predicate {
    if take("last()]") { return .last }
    if let digit = rest.first, digit.isASCII, digit.isNumber { return try position() }
    let test = try test()
    guard take("]") else { throw unexpected("\"]\"") }
    return test
  }

  /// Parses a predicate other than a position: a comparison, a function, or a name that must exist.
  private mutating func test() throws(Fault) -> XMLPath.Predicate {
    // No recursion: a server may name a path that is all "not(".
    var negations = 0
    while take("not(") { negations += 1 }
    let test = try plainTest()
    for _ in 0..<negations {
      guard take(")") else { throw unexpected("\")\"") }
    }
    return negations.isMultiple(of: 2) ? test : .not(test)
  }

  private mutating func plainTest() throws(Fault) -> XMLPath.Predicate {
    if take("contains(") {
      let operand = try operand()
      guard take(",") else { throw unexpected("\",\"") }
      rest = rest.drop { $0 == " " }
      let text = try literal()
      guard take(")") else { throw unexpected("\")\"") }
      return .contains(operand, text)
    }
    let operand = try operand()
    guard take("=") else {
      guard rest.hasPrefix("]") || rest.hasPrefix(")") else { throw unexpected("\"=\" or \"]\"") }
      return .exists(operand)
    }
    return .equals(operand, try literal())
  }

  /// Parses `@name`, `name` or `name/@name`.
  private mutating func operand() throws(Fault) -> XMLPath.Operand {
    if take("@") { return .attribute(try name()) }
    let child = try name()
    return take("/@") ? .childAttribute(child, attribute: try name()) : .child(child)
  }

  private mutating func position() throws(Fault) -> XMLPath.Predicate {
    let digits = rest.prefix { $0.isASCII && $0.isNumber }
    rest = rest.dropFirst(digits.count)
    guard let position = Int(digits), position > 0 else {
      throw Fault(complaint: "counts from \(digits), but positions start at 1")
    }
    guard take("]") else { throw unexpected("\"]\"") }
    return .position(position)
  }

  /// Parses a literal: `'value'`, with quotes of either kind.
  private mutating func literal() throws(Fault) -> String {
    guard let quote = rest.popFirst(), quote == "'" || quote == "\"" else {
      throw Fault(complaint: "compares with a value that has no quotes")
    }
    guard let end = rest.firstIndex(of: quote) else {
      throw Fault(complaint: "has a quote that is not closed")
    }
    let value = String(rest[..<end])
    rest = rest[rest.index(after: end)...]
    return value
  }

  // MARK: Names

  /// Parses `*`, `local` or `{namespace}local`.
  private mutating func name() throws(Fault) -> XMLPath.Name {
    if take("*") { return .any }
    var namespace: String?
    if take("{") {
      guard let end = rest.firstIndex(of: "}") else {
        throw Fault(complaint: "has a \"{\" that is not closed")
      }
      namespace = String(rest[..<end])
      rest = rest[rest.index(after: end)...]
    }
    let scalars = rest.unicodeScalars
    let end = scalars.firstIndex { !Self.continuesName($0) } ?? scalars.endIndex
    let local = rest[..<end]
    guard let first = local.unicodeScalars.first, Self.startsName(first) else {
      throw unexpected("a name")
    }
    rest = rest[end...]
    if rest.hasPrefix(":") {
      throw Fault(
        complaint: "has the prefix \"\(local)\", but names match whatever their prefix is: leave "
          + "it out, or write {namespace}name", prefix: String(local))
    }
    return .local(String(local), namespace: namespace)
  }

  private static func startsName(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    case "A"..."Z", "a"..."z", "_": true
    default: scalar.value >= 0x80
    }
  }

  private static func continuesName(_ scalar: Unicode.Scalar) -> Bool {
    startsName(scalar) || "0"..."9" ~= scalar || scalar == "-" || scalar == "."
  }

  // MARK: Characters

  private mutating func take(_ token: String) -> Bool {
    guard rest.utf8.starts(with: token.utf8) else { return false }
    rest = Substring(rest.utf8.dropFirst(token.utf8.count))
    return true
  }

  private func unexpected(_ expected: String) -> Fault {
    Fault(
      complaint: rest.isEmpty
        ? "ends where \(expected) should be" : "has \"\(rest)\" where \(expected) should be")
  }
}
