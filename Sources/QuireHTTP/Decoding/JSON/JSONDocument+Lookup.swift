import QuireCore

/// Following paths.
extension JSONDocument {
  enum Lookup {
    case node(Int)
    /// Nothing there: `parent` is the last node that was reached.
    case absent(parent: Int)
  }

  /// Follows `path` from `start`.
  func find(_ path: PagePath, from start: Int = 0) throws -> Lookup {
    try find(path.steps[...], from: start, in: path, outside: [])
  }

  /// Follows `path` from the root of the page; behind a `*`, it goes into no item.
  func find(_ path: PagePath, outsideItemsOf selector: ItemSelector) throws -> Lookup {
    guard path.steps.contains(.each) else { return try find(path) }
    return try find(path.steps[...], from: 0, in: path, outside: itemNodes(of: selector))
  }

  private func find(
    _ steps: ArraySlice<PagePath.Step>, from start: Int, in path: PagePath,
    outside items: Set<Int>
  ) throws -> Lookup {
    var node = start
    for (index, step) in zip(steps.indices, steps) {
      if step == .each {
        let rest = steps[(index + 1)...]
        for child in children(of: node) where rest.isEmpty || !items.contains(child) {
          let found = try find(rest, from: child, in: path, outside: items)
          if case .node = found { return found }
        }
        return .absent(parent: node)
      }
      guard let child = try child(of: node, at: step, in: path) else {
        return .absent(parent: node)
      }
      node = child
      if index + 1 < steps.endIndex, path.steps[..<index].contains(.each), items.contains(node) {
        return .absent(parent: node)
      }
    }
    return .node(node)
  }

  private func elementsOrItself(_ node: Int) -> [Int] {
    word(at: node).kind == .array ? Array(elements(of: node)) : [node]
  }

  /// The values that are the page's items; none where they are not as the selector says.
  private func itemNodes(of selector: ItemSelector) -> Set<Int> {
    switch selector.arrangement {
    case .lists: Set(((try? lists(of: selector)) ?? []).flatMap(elementsOrItself))
    case .matches:
      Set(selector.paths.flatMap { (try? findAll($0)) ?? [] }.flatMap(elementsOrItself))
    case .members, .columns:
      Set(((try? lists(of: selector, kind: .object)) ?? []).flatMap { children(of: $0) })
    }
  }

  /// Every node that `path` leads to, in order; nil where no list or object is where its first `*`
  /// means one.
  func findAll(_ path: PagePath) throws -> [Int]? {
    var nodes = [0]
    var hasContainer = false
    for step in path.steps {
      if step == .each {
        hasContainer = hasContainer || nodes.contains { word(at: $0).kind.isContainer }
        nodes = nodes.flatMap { children(of: $0) }
      } else {
        nodes = try nodes.compactMap { try child(of: $0, at: step, in: path) }
      }
    }
    return hasContainer || !nodes.isEmpty ? nodes : nil
  }

  /// The elements of an array, the values of an object's members; nothing else has any.
  private func children(of node: Int) -> [Int] {
    switch word(at: node).kind {
    case .array: Array(elements(of: node))
    case .object: names(of: node).map { $0 + 1 }
    default: []
    }
  }

  private func child(of node: Int, at step: PagePath.Step, in path: PagePath) throws -> Int? {
    let word = word(at: node)
    switch (step, word.kind) {
    case (.name(let name), .object): return try member(named: name, of: node)
    case (.name(let name), .array):
      return Self.arrayIndex(name).flatMap { element(of: node, at: $0) }
    case (.last, .array): return word.length == 0 ? nil : element(of: node, at: word.length - 1)
    case (.last, .object): return try member(named: "-1", of: node)
    case (.filter(let name, let value), .array):
      return try elements(of: node).first { try matches($0, name, value) }
    default: return nil
    }
  }

  /// RFC 6901: digits without a leading zero.
  private static func arrayIndex(_ text: String) -> Int? {
    guard text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }),
      text == "0" || !text.hasPrefix("0")
    else { return nil }
    return Int(text)
  }

  /// The value of the member called `name`, nil when there is none.
  ///
  /// Throws `shape` when there are two: parsers disagree about which one counts.
  func member(named name: String, of object: Int) throws -> Int? {
    let wanted = Array(name.utf8)
    var found: Int?
    for candidate in names(of: object) where has(candidate, text: wanted) {
      guard found == nil else { throw duplicate(candidate, in: object) }
      found = candidate
    }
    return found.map { $0 + 1 }
  }

  /// Whether `node` is an object whose member `name` is `value`, or an array that contains it.
  private func matches(_ node: Int, _ name: String, _ value: String) throws -> Bool {
    guard word(at: node).kind == .object, let member = try member(named: name, of: node) else {
      return false
    }
    let wanted = Array(value.utf8)
    guard word(at: member).kind == .array else { return has(member, text: wanted) }
    return elements(of: member).contains { has($0, text: wanted) }
  }

  /// Whether the node is a string of that text, or a number or literal written so.
  func has(_ node: Int, text: [UInt8]) -> Bool {
    let word = word(at: node)
    switch word.kind {
    case .array, .object, .surrogateString, .invalidString: return false
    case .escapedString:
      // No escape is shorter than what it stands for.
      return word.length > text.count && unescaped(word.content) == text
    default: return word.length == text.count && bytes[word.content].elementsEqual(text)
    }
  }

  func duplicate(_ name: Int, in object: Int) -> PageError {
    let written = bytes[range(of: name)]
    let text = ServerText(bytes: written, limit: 128)
    return PageError(
      .shape,
      """
      The name \(text) occurs twice in the object at byte \(word(at: object).offset), again at byte \
      \(range(of: name).lowerBound); which of the two counts cannot be known.
      """)
  }
}
