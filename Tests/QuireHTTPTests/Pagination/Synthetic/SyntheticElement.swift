@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

/// An element of the XML that the synthetic server sends, and whatever a path finds in it.
struct SyntheticElement {
  var name: String
  var attributes: [(name: String, value: String)] = []
  var children: [SyntheticElement] = []
  var text = ""

  init(_ name: String) { self.name = name }

  /// The element as text.
  var markup: String {
    let attributes = attributes.map { " \($0.name)=\"\(Self.escape($0.value))\"" }.joined()
    let content = children.map(\.markup).joined() + Self.escape(text)
    return "<\(name)\(attributes)>\(content)</\(name)>"
  }

  private static func escape(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
  }

  /// Puts a text where a path leads to, and makes what is missing on the way.
  mutating func plant(_ value: String, at steps: ArraySlice<XMLPath.Step>) {
    switch steps.first {
    case nil, .text: text = value
    case .attribute(let name): set(name.text, to: value)
    case .element(let name, let predicates):
      let index = child(name, predicates)
      children[index].plant(value, at: steps.dropFirst())
    }
  }

  /// Puts elements where a path leads to, next to each other.
  mutating func plant(_ elements: [SyntheticElement], at steps: ArraySlice<XMLPath.Step>) {
    guard case .element(let name, let predicates) = steps.first else { return }
    guard steps.count > 1 else {
      children += elements.map {
        var element = $0
        element.name = name.text
        return element
      }
      return
    }
    children[child(name, predicates)].plant(elements, at: steps.dropFirst())
  }

  private mutating func set(_ name: String, to value: String) {
    attributes.removeAll { $0.name == name }
    attributes.append((name, value))
  }

  /// The place of the child that a step means; a new one where there is none.
  private mutating func child(_ name: XMLPath.Name, _ predicates: [XMLPath.Predicate]) -> Int {
    let candidates = children.indices.filter { name == .any || children[$0].name == name.text }
    if case .position(let number) = predicates.first {
      guard candidates.count < number else { return candidates[number - 1] }
      let missing = number - candidates.count
      children += Array(repeating: SyntheticElement(name.text), count: missing)
      return children.count - 1
    }
    if let found = candidates.last(where: { index in
      predicates.allSatisfy { children[index].passes($0) }
    }) {
      return found
    }
    var element = SyntheticElement(name.text)
    for predicate in predicates { element.satisfy(predicate) }
    children.append(element)
    return children.count - 1
  }

  private func passes(_ predicate: XMLPath.Predicate) -> Bool {
    switch predicate {
    case .position, .last: true
    case .equals(let operand, let value): holds(operand) { $0 == value }
    case .exists(let operand): holds(operand) { _ in true }
    case .contains(let operand, let part): holds(operand) { $0.contains(part) }
    case .not(let predicate): !passes(predicate)
    }
  }

  private mutating func satisfy(_ predicate: XMLPath.Predicate) {
    switch predicate {
    case .position, .last: break
    case .equals(let operand, let value): satisfy(operand, value)
    case .exists(let operand): satisfy(operand, "x")
    case .contains(let operand, let part): satisfy(operand, part)
    // What is not there yet does not hold.
    case .not: break
    }
  }

  private func holds(_ operand: XMLPath.Operand, _ test: (String) -> Bool) -> Bool {
    switch operand {
    case .attribute(let name): attributes.contains { $0.name == name.text && test($0.value) }
    case .child(let name): children.contains { $0.name == name.text && test($0.text) }
    case .childAttribute(let name, let attribute):
      children.contains { $0.name == name.text && $0.holds(.attribute(attribute), test) }
    }
  }

  private mutating func satisfy(_ operand: XMLPath.Operand, _ text: String) {
    switch operand {
    case .attribute(let name): set(name.text, to: text)
    case .child(let name): plant(text, at: [.element(name, [])])
    case .childAttribute(let name, let attribute):
      plant(text, at: [.element(name, []), .attribute(attribute)])
    }
  }
}

extension XMLPath.Name {
  /// The local name; something for any.
  var text: String {
    switch self {
    case .any: "any"
    case .local(let name, _): name
    }
  }
}
