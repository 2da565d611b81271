import QuirePagination
import QuireCore

/// The mapping of an element to JSON, without loss; `XMLItem.value` describes it.
struct XMLMapping {
  private let index: XMLIndex

  init(_ index: XMLIndex) { self.index = index }

  func value(of node: Int) throws -> JSONValue {
    var text: [UInt8] = []
    append(node, to: &text)
    return try JSONValue(parsing: text)
  }

  /// Appends the element as JSON text without white space.
  func append(_ node: Int, to output: inout [UInt8]) {
    let hasHeading = hasHeading(node)
    let children = shape(of: node)
    if !hasHeading, case .none = children {
      return appendText(of: node, to: &output)
    }
    var members = Members()
    if hasHeading { appendHeading(of: node, &members, to: &output) }
    switch children {
    case .none:
      if index.hasText(node) {
        members.begin("#text", to: &output)
        appendText(of: node, to: &output)
      }
    case .named: appendChildren(of: node, &members, to: &output)
    case .mixed:
      members.begin("#content", to: &output)
      appendContent(of: node, to: &output)
    }
    members.end(to: &output)
  }

  // MARK: Shapes

  private enum Children {
    case none
    /// Elements, with all of one name in a row.
    case named
    /// Text between elements, or a name that recurs after another one.
    case mixed
  }

  private func shape(of node: Int) -> Children {
    var names = NameSet()
    var last: Int?
    for child in index.children(of: node) {
      let name = index.spelling(of: child)
      if name == last { continue }
      guard names.insert(name) else { return .mixed }
      last = name
    }
    if last == nil { return .none }
    return index.hasWords(node) ? .mixed : .named
  }

  /// A set of names by number. A page has few names, so that it seldom allocates.
  private struct NameSet {
    private var few: UInt64 = 0
    private var more: Set<Int> = []

    /// Adds a name; returns false if it was in the set.
    mutating func insert(_ name: Int) -> Bool {
      guard name < 64 else { return more.insert(name).inserted }
      defer { few |= 1 << name }
      return few & 1 << name == 0
    }
  }

  private func hasHeading(_ node: Int) -> Bool {
    guard node + 1 < Int(index.record(node).next) else { return false }
    switch index.record(node + 1).kind {
    case .namespace, .attribute, .composedAttribute: return true
    case .element, .text, .composedText, .space, .composedSpace: return false
    }
  }

  // MARK: Parts

  /// Appends namespaces and attributes.
  private func appendHeading(of node: Int, _ members: inout Members, to output: inout [UInt8]) {
    var child = node + 1
    while child < Int(index.record(node).next) {
      let name = index.name(of: child)
      switch index.record(child).kind {
      case .namespace:
        members.begin(name.local.isEmpty ? "@xmlns" : "@xmlns:" + name.local, to: &output)
      case .attribute, .composedAttribute: members.begin("@" + name.qualified, to: &output)
      case .element, .text, .composedText, .space, .composedSpace: return
      }
      JSONText.append(quoted: index.value(of: child), to: &output)
      child += 1
    }
  }

  /// Appends a member for each name; several elements of a name are a list.
  private func appendChildren(
    of node: Int, _ members: inout Members, to output: inout [UInt8]
  ) {
    var children = index.children(of: node)
    var next = children.next()
    while let first = next {
      let name = index.spelling(of: first)
      members.begin(quoted: index.quotedNames[name], to: &output)
      next = children.next()
      let isList = next.map { index.spelling(of: $0) == name } ?? false
      if isList { output.append(UInt8(ascii: "[")) }
      append(first, to: &output)
      while let child = next, index.spelling(of: child) == name {
        output.append(UInt8(ascii: ","))
        append(child, to: &output)
        next = children.next()
      }
      if isList { output.append(UInt8(ascii: "]")) }
    }
  }

  private func appendContent(of node: Int, to output: inout [UInt8]) {
    var isFirst = true
    output.append(UInt8(ascii: "["))
    var child = node + 1
    while child < Int(index.record(node).next) {
      let kind = index.record(child).kind
      if kind == .element || kind.isText {
        if !isFirst { output.append(UInt8(ascii: ",")) }
        isFirst = false
      }
      if kind == .element {
        var members = Members()
        members.begin(quoted: index.quotedNames[index.record(child).name], to: &output)
        append(child, to: &output)
        members.end(to: &output)
      } else if kind.isText {
        JSONText.append(quoted: index.value(of: child), to: &output)
      }
      child = Int(index.record(child).next)
    }
    output.append(UInt8(ascii: "]"))
  }

  private func appendText(of node: Int, to output: inout [UInt8]) {
    index.withText(of: node) { JSONText.append(quoted: $0, to: &output) }
  }

  // MARK: JSON

  /// An object being written.
  private struct Members {
    var isEmpty = true

    mutating func begin(_ name: String, to output: inout [UInt8]) {
      begin(quoted: XMLMapping.quoted(name), to: &output)
    }

    /// Begins a member, whose name is already a JSON string.
    mutating func begin(quoted name: [UInt8], to output: inout [UInt8]) {
      output.append(isEmpty ? UInt8(ascii: "{") : UInt8(ascii: ","))
      isEmpty = false
      output.append(contentsOf: name)
      output.append(UInt8(ascii: ":"))
    }

    func end(to output: inout [UInt8]) {
      if isEmpty { output.append(UInt8(ascii: "{")) }
      output.append(UInt8(ascii: "}"))
    }
  }

  /// Returns a text as a JSON string.
  static func quoted(_ text: String) -> [UInt8] {
    var output: [UInt8] = []
    JSONText.append(quoted: text, to: &output)
    return output
  }
}

extension XMLIndex {
  /// Returns the mapped value at a path below an element; a list for several, and nil for none. A
  /// path with prefixes goes by the names as the page writes them.
  func mapped(at path: PagePath, below node: Int) throws -> JSONValue? {
    let own = path.xml.map { self.matches(of: $0, from: .element(node)) }
    guard let matches = own ?? spelledMatches(of: path, below: node) else { return nil }
    if case .attribute(.any)? = matches.tail { return try value(of: matches) }
    let values = try outermost(matches).compactMap { node -> JSONValue? in
      switch matches.tail {
      case .attribute(let name)?:
        attributes(of: node).first { self.matches(name, $0) }.map { .string(string(of: $0)) }
      case .text?:
        hasText(node) ? .string(withText(of: node) { String(checkedUTF8: $0) }) : nil
      case .element?, nil: try XMLMapping(self).value(of: node)
      }
    }
    return values.count > 1 ? .array(values) : values.first
  }

  /// Returns the elements with the names of a path, prefixes included; nil if it has other steps.
  private func spelledMatches(of path: PagePath, below node: Int) -> Matches? {
    var elements = [node]
    for step in path.steps {
      guard case .name(let name) = step else { return nil }
      elements = elements.flatMap { parent in
        children(of: parent).filter { self.name(of: $0).qualified == name }
      }
    }
    return Matches(elements: elements)
  }

  /// The spelling of an element's name: see `Name.spelling`.
  @inline(__always)
  fileprivate func spelling(of node: Int) -> Int { names[records[node].name].spelling }

  /// Whether an element has child elements.
  func hasChildren(_ node: Int) -> Bool { has(node) { $0 == .element } }

  /// Whether an element has text of its own, white space included.
  func hasText(_ node: Int) -> Bool { has(node) { $0.isText } }

  /// Whether an element has text of its own that is more than white space.
  func hasWords(_ node: Int) -> Bool { has(node) { $0 == .text || $0 == .composedText } }

  private func has(_ node: Int, _ isWanted: (XMLRecord.Kind) -> Bool) -> Bool {
    var child = node + 1
    while child < Int(records[node].next) {
      if isWanted(records[child].kind) { return true }
      child = Int(records[child].next)
    }
    return false
  }
}
