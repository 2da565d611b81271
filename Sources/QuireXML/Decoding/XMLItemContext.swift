import QuireHTTP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What the decoders of one page share. Used by one task at a time.
final class XMLItemContext {
  let index: XMLIndex
  let options: XMLDecodingOptions
  let numberLength: Int
  /// The item being decoded: paths in errors start below it.
  var item = 0
  /// Where the last error showed.
  var failedNode: Int?

  /// Fields mostly come in the order in which types ask for them: the search for the next one starts
  /// behind the last one.
  private var hintParent = -1
  private var hint = 0

  init(_ index: XMLIndex, _ options: XMLDecodingOptions, numberLength: Int) {
    self.index = index
    self.options = options
    self.numberLength = numberLength
  }

  // MARK: Finding

  /// The value for a key within an element; nil when there is none.
  func find(_ key: String, in node: Int) -> XMLValue? {
    let key = name(for: key)
    let start = node + 1
    let end = Int(index.records[node].next)
    let middle = hintParent == node && hint < end ? hint : start
    var attribute: Int?
    if let element = scan(for: key, middle, end, &attribute)
      ?? scan(for: key, start, middle, &attribute)
    {
      hintParent = node
      hint = Int(index.records[element].next)
      return XMLValue(node: element, role: .member)
    }
    return attribute.map { XMLValue(node: $0, role: .attribute) } ?? findSpecial(key, in: node)
  }

  /// The name that is looked for where a type asks for a key.
  func name(for key: String) -> String {
    switch options.keys {
    case .exact: key
    case .capitalized: key.prefix(1).uppercased() + key.dropFirst()
    case .custom(let change): change(key)
    }
  }

  @inline(__always)
  func value(_ key: some CodingKey, in node: Int) throws -> XMLValue {
    guard let value = find(key.stringValue, in: node) else { throw missing(key, in: node) }
    return value
  }

  /// The value for a key; nil when there is none, or it counts as nil.
  @inline(__always)
  func present(_ key: some CodingKey, in node: Int) -> XMLValue? {
    guard let value = find(key.stringValue, in: node), !isNil(value) else { return nil }
    return value
  }

  /// Moves the hint behind a value that was decoded, whatever happened within it.
  func leave(_ value: XMLValue, in node: Int) {
    hintParent = node
    hint = Int(index.records[value.node].next)
  }

  @inline(__always)
  private func scan(for key: String, _ start: Int, _ end: Int, _ attribute: inout Int?) -> Int? {
    var node = start
    while node < end {
      let record = index.records[node]
      switch record.kind {
      case .element: if index.names[record.name].local == key { return node }
      case .attribute, .composedAttribute:
        if attribute == nil, index.names[record.name].local == key { attribute = node }
      case .text, .composedText, .space, .composedSpace, .namespace: break
      }
      node = Int(record.next)
    }
    return nil
  }

  private func findSpecial(_ key: String, in node: Int) -> XMLValue? {
    if key == options.textKey { return XMLValue(node: node, role: .text) }
    let isAttribute = key.hasPrefix("@")
    let name = isAttribute ? key.dropFirst() : key[...]
    guard isAttribute || name.contains(":") else { return nil }
    if !isAttribute, let found = index.children(of: node).first(where: { matches($0, name) }) {
      return XMLValue(node: found, role: .member)
    }
    return index.attributes(of: node).first { matches($0, name) }
      .map { XMLValue(node: $0, role: .attribute) }
  }

  /// Whether a record's name is what a key asks for that is no plain local name.
  private func matches(_ node: Int, _ key: Substring) -> Bool {
    let name = index.name(of: node)
    guard let colon = key.firstIndex(of: ":") else { return name.local == key }
    guard let namespace = options.namespaces[String(key[..<colon])] else {
      return name.qualified == key
    }
    return name.namespace == namespace && name.local == key[key.index(after: colon)...]
  }

  /// The next element behind `node` that has its name; nil behind the last one.
  func sibling(of node: Int) -> Int? {
    let end = Int(index.records[Int(index.records[node].parent)].next)
    let name = index.records[node].name
    var next = Int(index.records[node].next)
    while next < end {
      let record = index.records[next]
      if record.kind == .element, isSame(record.name, name) { return next }
      next = Int(record.next)
    }
    return nil
  }

  private func isSame(_ name: Int, _ other: Int) -> Bool {
    if name == other { return true }
    let (one, two) = (index.names[name], index.names[other])
    return one.local == two.local && one.namespace == two.namespace
  }

  // MARK: Nothing

  private static let instances = "http://www.w3.org/2001/XMLSchema-instance"

  /// Whether a value counts as nil.
  func isNil(_ value: XMLValue) -> Bool {
    switch value.role {
    case .list: return false
    case .attribute, .text:
      return options.emptyIsNil && withBytes(of: value) { XMLText.trimmed($0).isEmpty }
    case .member, .whole: break
    }
    var node = value.node + 1
    let end = Int(index.records[value.node].next)
    if node == end { return options.emptyIsNil }
    var hasContent = false
    while node < end {
      let record = index.records[node]
      switch record.kind {
      case .text, .composedText, .element: return false
      case .attribute, .composedAttribute:
        let name = index.names[record.name]
        if name.local == "nil", name.namespace == Self.instances {
          let isTrue = index.value(of: node).elementsEqual("true".utf8)
          if isTrue || index.value(of: node).elementsEqual("1".utf8) { return true }
        }
        hasContent = true
      case .space, .composedSpace, .namespace: break
      }
      node += 1
    }
    return options.emptyIsNil && !hasContent
  }

  // MARK: Bytes

  @inline(__always)
  func withBytes<Result>(
    of value: XMLValue, _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
  ) rethrows -> Result {
    if value.role == .attribute { return try body(index.value(of: value.node)) }
    let first = value.node + 1
    if Int(index.records[value.node].next) == first + 1, index.records[first].kind.isText {
      return try body(index.value(of: first))
    }
    return try index.withText(of: value.node, body)
  }
}

/// Something that can be decoded.
struct XMLValue {
  enum Role: UInt8 {
    /// An element by itself: the item, or one of a list.
    case whole
    /// An element found by a key; others of its name may follow.
    case member
    case attribute
    /// An element's own text.
    case text
    /// A list without elements; the node is the element it is missing in.
    case list
  }

  let node: Int
  let role: Role
}
