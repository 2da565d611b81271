import QuireHTTP

/// Following paths. Linear in the page for each step of a path: an element is looked at once for
/// its own sake and once for its parent's.
extension XMLIndex {
  /// Where a path starts.
  enum Context {
    /// Around the root element.
    case document
    /// An element; `/` is the element itself.
    case element(Int)
  }

  /// What a path leads to.
  struct Matches {
    /// The elements, in document order; for a path to attributes or text, those around them.
    var elements: [Int]
    /// The attribute or text that the path ends in.
    var tail: XMLPath.Step?
  }

  func matches(of path: XMLPath, from context: Context) -> Matches {
    var steps = path.steps[...]
    var tail: XMLPath.Step?
    switch steps.last {
    case .attribute?, .text?: tail = steps.removeLast()
    case .element?, nil: break
    }
    var elements: [Int]
    if path.startsAnywhere, case .element(let name, let predicates)? = steps.popFirst() {
      elements = descendants(of: context, name, predicates)
    } else if path.startsAnywhere {
      elements = span(of: context).filter { records[$0].kind == .element }
    } else {
      elements = first(steps.popFirst(), in: context)
    }
    for case .element(let name, let predicates) in steps {
      let test = NameTest(name, in: self)
      elements = elements.flatMap { select(children(of: $0).filter(test.passes), predicates) }
    }
    return Matches(elements: elements.sorted(), tail: tail)
  }

  private func span(of context: Context) -> Range<Int> {
    switch context {
    case .document: 0..<records.count
    case .element(let node): node..<Int(records[node].next)
    }
  }

  private func first(_ step: XMLPath.Step?, in context: Context) -> [Int] {
    guard case .element(let name, let predicates)? = step else {
      if case .element(let node) = context { return [node] }
      return [0]
    }
    let test = NameTest(name, in: self)
    switch context {
    case .document: return select([0].filter(test.passes), predicates)
    case .element(let node): return select(children(of: node).filter(test.passes), predicates)
    }
  }

  private func descendants(
    of context: Context, _ name: XMLPath.Name, _ predicates: [XMLPath.Predicate]
  ) -> [Int] {
    let test = NameTest(name, in: self)
    let span = span(of: context)
    if !predicates.contains(where: \.isPositional) {
      let below = context.isDocument ? span : span.dropFirst()
      return below.filter { node in
        test.passes(node) && predicates.allSatisfy { passes(node, $0) }
      }
    }
    var found = context.isDocument ? select([0].filter(test.passes), predicates) : []
    for parent in span where records[parent].kind == .element {
      found += select(children(of: parent).filter(test.passes), predicates)
    }
    return found
  }

  // MARK: Predicates

  /// The elements, all of one parent, that pass every predicate in turn.
  private func select(_ elements: [Int], _ predicates: [XMLPath.Predicate]) -> [Int] {
    predicates.reduce(elements) { rest, predicate in
      switch predicate {
      case .position(let position): position <= rest.count ? [rest[position - 1]] : []
      case .last: rest.suffix(1)
      case .attribute, .child, .childAttribute, .exists, .contains, .not:
        rest.filter { passes($0, predicate) }
      }
    }
  }

  private func passes(_ node: Int, _ predicate: XMLPath.Predicate) -> Bool {
    switch predicate {
    case .position, .last: true
    case .attribute(let name, let value): has(node, name, value)
    case .child(let name, let value):
      children(of: node).contains { child in
        matches(name, child)
          && withText(of: child) { XMLText.trimmed($0).elementsEqual(value.utf8) }
      }
    case .childAttribute(let name, let attribute, let value):
      children(of: node).contains { matches(name, $0) && has($0, attribute, value) }
    case .exists(let operand): holds(node, operand) { _ in true }
    case .contains(let operand, let part):
      holds(node, operand) { String(decoding: $0, as: UTF8.self).contains(part) }
    case .not(let predicate): !passes(node, predicate)
    }
  }

  /// Whether one of the values that an operand means passes a test.
  private func holds(
    _ node: Int, _ operand: XMLPath.Operand, _ test: (UnsafeBufferPointer<UInt8>) -> Bool
  ) -> Bool {
    switch operand {
    case .attribute(let name):
      attributes(of: node).contains { matches(name, $0) && test(value(of: $0)) }
    case .child(let name):
      children(of: node).contains { child in matches(name, child) && withText(of: child, test) }
    case .childAttribute(let name, let attribute):
      children(of: node).contains { matches(name, $0) && holds($0, .attribute(attribute), test) }
    }
  }

  private func has(_ node: Int, _ attribute: XMLPath.Name, _ value: String) -> Bool {
    attributes(of: node).contains {
      matches(attribute, $0) && self.value(of: $0).elementsEqual(value.utf8)
    }
  }

  /// Whether the name of an element or attribute is what a path asks for.
  func matches(_ wanted: XMLPath.Name, _ node: Int) -> Bool {
    names[records[node].name].matches(wanted)
  }

  /// A name test for many nodes: each name of the page is compared once.
  private struct NameTest {
    private let index: XMLIndex
    private let isWanted: [Bool]

    init(_ wanted: XMLPath.Name, in index: XMLIndex) {
      self.index = index
      isWanted = index.names.map { $0.matches(wanted) }
    }

    func passes(_ node: Int) -> Bool {
      let record = index.records[node]
      return record.kind == .element && isWanted[record.name]
    }
  }
}

extension XMLIndex.Name {
  /// Whether this is what a path asks for.
  func matches(_ wanted: XMLPath.Name) -> Bool {
    switch wanted {
    case .any: true
    case .local(let local, let namespace):
      self.local == local && (namespace == nil || namespace == self.namespace ?? "")
    }
  }
}

extension XMLIndex.Context {
  var isDocument: Bool { if case .document = self { true } else { false } }
}

extension XMLPath.Predicate {
  fileprivate var isPositional: Bool {
    switch self {
    case .position, .last: true
    case .attribute, .child, .childAttribute, .exists, .contains, .not: false
    }
  }
}

extension XMLIndex {
  /// The way from an item down to a node, as a path; empty for the item itself.
  func path(to node: Int, below item: Int) -> String {
    var steps: [String] = []
    var node = node
    while node > item {
      let isElement = records[node].kind == .element
      steps.append((isElement ? "/" : "/@") + name(of: node).qualified + suffix(of: node))
      node = Int(records[node].parent)
    }
    return steps.reversed().joined()
  }

  /// `[n]` for one of several elements of the same name.
  private func suffix(of node: Int) -> String {
    guard records[node].kind == .element else { return "" }
    let name = records[node].name
    let same = children(of: Int(records[node].parent)).filter { records[$0].name == name }
    guard same.count > 1, let position = same.firstIndex(of: node) else { return "" }
    return "[\(position + 1)]"
  }
}
