import QuireCore

/// An element as a JSON value, without loss.
///
/// - An element that has neither attributes nor elements in it is a string: its text, as it is.
/// - Any other is an object, in the page's order: `"@name"` for an attribute, `"@xmlns"` and
///   `"@xmlns:p"` for namespaces declared on it, then its elements by their names as they are
///   written. A name that occurs several times in a row holds an array.
/// - Text beside attributes is `"#text"`.
/// - Where text stands between elements, or elements of one name apart from each other, the order
///   means something: `"#content"` holds it all as an array, texts as strings and elements as
///   objects with one member.
///
/// White space between elements, comments and processing instructions are left out. Values are
/// strings: XML has no others.
struct XMLMapping {
  private let index: XMLIndex

  init(_ index: XMLIndex) { self.index = index }

  func value(of node: Int) -> JSONValue {
    var members = heading(of: node)
    let children = Array(index.children(of: node))
    if children.isEmpty {
      let text = index.withText(of: node) { String(decoding: $0, as: UTF8.self) }
      if members.isEmpty { return .string(text) }
      if !text.isEmpty { members.append(.init("#text", .string(text))) }
      return .object(members)
    }
    if let groups = groups(of: children), !hasText(node) {
      for (name, nodes) in groups {
        let values = nodes.map(value(of:))
        members.append(.init(name, values.count == 1 ? values[0] : .array(values)))
      }
    } else {
      members.append(.init("#content", .array(content(of: node))))
    }
    return .object(members)
  }

  /// Namespaces and attributes.
  private func heading(of node: Int) -> [JSONValue.Member] {
    var members: [JSONValue.Member] = []
    var child = node + 1
    let end = Int(index.record(node).next)
    while child < end {
      switch index.record(child).kind {
      case .namespace:
        let prefix = index.name(of: child).local
        let key = prefix.isEmpty ? "@xmlns" : "@xmlns:" + prefix
        members.append(.init(key, .string(index.string(of: child))))
      case .attribute, .composedAttribute:
        members.append(
          .init("@" + index.name(of: child).qualified, .string(index.string(of: child))))
      case .element, .text, .composedText, .space, .composedSpace: return members
      }
      child += 1
    }
    return members
  }

  /// The elements by name, in order; nil when a name comes back after another one.
  private func groups(of children: [Int]) -> [(name: String, nodes: [Int])]? {
    var groups: [(name: String, nodes: [Int])] = []
    var seen: Set<String> = []
    for child in children {
      let name = index.name(of: child).qualified
      if groups.last?.name == name {
        groups[groups.count - 1].nodes.append(child)
      } else {
        guard seen.insert(name).inserted else { return nil }
        groups.append((name, [child]))
      }
    }
    return groups
  }

  /// Whether an element has text of its own beside its elements.
  private func hasText(_ node: Int) -> Bool {
    var child = node + 1
    while child < Int(index.record(node).next) {
      let kind = index.record(child).kind
      if kind == .text || kind == .composedText { return true }
      child = Int(index.record(child).next)
    }
    return false
  }

  private func content(of node: Int) -> [JSONValue] {
    var values: [JSONValue] = []
    var child = node + 1
    while child < Int(index.record(node).next) {
      let kind = index.record(child).kind
      if kind == .element {
        values.append(.object([.init(index.name(of: child).qualified, value(of: child))]))
      } else if kind.isText {
        values.append(.string(index.string(of: child)))
      }
      child = Int(index.record(child).next)
    }
    return values
  }
}
