import CXML2
import QuireCore
import QuirePagination

/// The index of a page: a complete tape, with its names as text. A node is the index of a record; 0
/// is the root element.
// SAFETY: the memory is constant after `init`, and freed with the last reference.
final class XMLIndex: @unchecked Sendable {
  struct Name {
    let local: String
    let prefix: String?
    let namespace: String?
    /// The number of the page's first name with the same local name and namespace: the names of a
    /// group differ only in their prefix.
    let group: Int
    /// The number of the page's first name with the same prefix and local name, in any namespace.
    let spelling: Int
    /// See `bits(of:)`.
    let bits: UInt64

    /// The name as the page writes it.
    var qualified: String { prefix.map { "\($0):\(local)" } ?? local }

    /// Creates a name. `namespace` is shared by all its names, because each copy could have
    /// thousands of bytes.
    init(_ entry: XMLNameTable.Entry, namespace: String?, group: Int, spelling: Int) {
      local = String(xmlChars: entry.local)
      prefix = entry.prefix.map(String.init(xmlChars:))
      self.namespace = namespace
      self.group = group
      self.spelling = spelling
      bits = Self.bits(of: local)
    }

    /// Returns bits for a Bloom filter of local names: one bit for an ASCII name, all bits for any
    /// other, which may equal a name of other bytes.
    static func bits(of local: String) -> UInt64 {
      var local = local
      return local.withUTF8 { bytes in
        var sum: UInt8 = 0
        var all: UInt8 = 0
        for byte in bytes {
          all |= byte
          sum = sum &* 31 &+ byte
        }
        return all < 0x80 ? 1 &<< UInt64(sum) : .max
      }
    }
  }

  private let tape: XMLTape
  let records: UnsafeBufferPointer<XMLRecord>
  let source: UnsafeBufferPointer<UInt8>
  private let composed: UnsafeBufferPointer<UInt8>
  let names: [Name]
  /// The qualified names as JSON strings.
  let quotedNames: [[UInt8]]
  /// The breaches that leniency accepted.
  let repairs: XMLLeniency
  /// The longest number that is decoded, in bytes: `DecodingLimits.numberLength` of the page.
  let numberLength: Int

  /// Creates an index, which owns the tape's memory.
  init(
    _ tape: XMLTape, names: [Name], quotedNames: [[UInt8]], repairs: XMLLeniency, numberLength: Int
  ) {
    self.tape = tape
    records = tape.records.elements
    source = tape.source.elements
    composed = tape.composed.elements
    self.names = names
    self.quotedNames = quotedNames
    self.repairs = repairs
    self.numberLength = numberLength
  }

  deinit { tape.release() }

  // MARK: Moving

  @inline(__always)
  func record(_ node: Int) -> XMLRecord { records[node] }

  func name(of node: Int) -> Name { names[records[node].name] }

  /// Returns the child elements of a node, in order.
  func children(of node: Int) -> Children {
    Children(index: self, node: node + 1, end: Int(records[node].next), wanted: .element)
  }

  /// Returns the attributes of a node, in order.
  func attributes(of node: Int) -> Children {
    Children(index: self, node: node + 1, end: Int(records[node].next), wanted: .attribute)
  }

  struct Children: Sequence, IteratorProtocol {
    let index: XMLIndex
    var node: Int
    let end: Int
    let wanted: XMLRecord.Kind

    mutating func next() -> Int? {
      while node < end {
        let found = node
        let record = index.records[found]
        node = Int(record.next)
        switch record.kind {
        case .element:
          // Attributes come before everything else.
          return wanted == .element ? found : nil
        case .attribute, .composedAttribute: if wanted == .attribute { return found }
        case .text, .composedText, .space, .composedSpace: if wanted == .attribute { return nil }
        case .namespace: continue
        }
      }
      return nil
    }
  }

  // MARK: Values

  /// Returns the bytes of an attribute, a text, a namespace declaration, or of an element's markup.
  @inline(__always)
  func value(of node: Int) -> UnsafeBufferPointer<UInt8> {
    let record = records[node]
    let range = Int(record.start)..<Int(record.start) + Int(record.length)
    switch record.kind {
    case .text, .space, .attribute, .element:
      return UnsafeBufferPointer(rebasing: source[range])
    case .composedText, .composedSpace, .composedAttribute, .namespace:
      return UnsafeBufferPointer(rebasing: composed[range])
    }
  }

  func string(of node: Int) -> String { String(checkedUTF8: value(of: node)) }

  /// Calls `body` with the element's own text, without the text of its child elements.
  func withText<Result>(
    of node: Int, _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
  ) rethrows -> Result {
    var only: Int?
    var child = node + 1
    let end = Int(records[node].next)
    while child < end {
      if records[child].kind.isText {
        guard only == nil else { return try withJoinedText(of: node, body) }
        only = child
      }
      child = Int(records[child].next)
    }
    return try body(only.map { value(of: $0) } ?? UnsafeBufferPointer(rebasing: source[0..<0]))
  }

  private func withJoinedText<Result>(
    of node: Int, _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
  ) rethrows -> Result {
    var bytes: [UInt8] = []
    var child = node + 1
    while child < Int(records[node].next) {
      if records[child].kind.isText { bytes += value(of: child) }
      child = Int(records[child].next)
    }
    return try bytes.withUnsafeBufferPointer(body)
  }

  /// Returns the element's own text without white space around it; nil if nothing is left.
  func trimmedText(of node: Int, keepsSpaces: Bool = false) -> String? {
    withText(of: node) { trimmed($0, keepsSpaces: keepsSpaces) }
  }

  private func trimmed(_ bytes: UnsafeBufferPointer<UInt8>, keepsSpaces: Bool) -> String? {
    let trimmed = keepsSpaces ? XMLText.trimmedOfLayout(bytes) : XMLText.trimmed(bytes)
    return trimmed.isEmpty ? nil : String(checkedUTF8: trimmed)
  }

  /// The place in the page where the source begins.
  var origin: XMLPlace { tape.origin }
}

extension XMLRecord.Kind {
  @inline(__always)
  var isText: Bool {
    switch self {
    case .text, .composedText, .space, .composedSpace: true
    case .element, .attribute, .composedAttribute, .namespace: false
    }
  }
}

extension String {
  init(xmlChars: UnsafePointer<xmlChar>) {
    self = String(
      decoding: UnsafeBufferPointer(start: xmlChars, count: Int(xmlStrlen(xmlChars))),
      as: UTF8.self)
  }

  /// Creates the text of a namespace, in which libxml2 leaves `&` as a reference.
  init(namespace: UnsafePointer<xmlChar>) {
    let bytes = UnsafeBufferPointer(start: namespace, count: Int(xmlStrlen(namespace)))
    self = String(
      decoding: bytes.contains(UInt8(ascii: "&"))
        ? XMLNamedCharacters.resolve(bytes) : Array(bytes),
      as: UTF8.self)
  }
}

/// Values at paths.
extension XMLIndex {
  /// Returns the value at a path, as `XMLDocument.value(at:)` does.
  func value(at path: XMLPath, from context: Context) throws -> JSONValue? {
    try value(of: matches(of: path, from: context))
  }

  /// Returns the value of the match that counts.
  func value(of matches: Matches) throws -> JSONValue? {
    guard let node = nearest(matches) else { return nil }
    switch matches.tail {
    case .attribute(.any)?:
      return .object(
        attributes(of: node).map { .init(name(of: $0).qualified, .string(string(of: $0))) })
    case .attribute(let name)?:
      let attribute = attributes(of: node).first { self.matches(name, $0) }
      return attribute.flatMap { trimmed(value(of: $0), keepsSpaces: matches.keepsSpaces) }
        .map(JSONValue.string)
    case .element? where hasChildren(node), nil where hasChildren(node):
      return try XMLMapping(self).value(of: node)
    case .text?, .element?, nil:
      return trimmedText(of: node, keepsSpaces: matches.keepsSpaces).map(JSONValue.string)
    }
  }

  /// Returns the element that the value at a path comes from.
  func place(for path: XMLPath, from context: Context) -> Int? {
    nearest(matches(of: path, from: context))
  }

  /// Returns the first of the matches nearest the root; for a path to an attribute, of those that
  /// have it.
  func nearest(_ matches: Matches) -> Int? {
    var best: (node: Int, depth: Int)?
    for node in matches.elements {
      if case .attribute(let name)? = matches.tail,
        !attributes(of: node).contains(where: { self.matches(name, $0) })
      {
        continue
      }
      let depth = depth(of: node)
      if best.map({ depth < $0.depth }) ?? true { best = (node, depth) }
      if depth == 0 { break }
    }
    return best?.node
  }

  private func depth(of node: Int) -> Int {
    var depth = 0
    var node = node
    while node != 0 {
      node = Int(records[node].parent)
      depth += 1
    }
    return depth
  }

  /// Returns the matches that are not inside another match.
  func outermost(_ matches: Matches) -> [Int] {
    var result: [Int] = []
    var end = 0
    for node in matches.elements where node >= end {
      switch matches.tail {
      case .attribute(let name)?:
        // Attributes do not nest.
        if attributes(of: node).contains(where: { self.matches(name, $0) }) { result.append(node) }
      case .text?, .element?, nil:
        result.append(node)
        end = Int(records[node].next)
      }
    }
    return result
  }

  // MARK: Bases

  private static let xmlNamespace = "http://www.w3.org/XML/1998/namespace"

  /// Returns the `xml:base` in force at an element, resolved from the inside out (XML Base, section
  /// 3).
  func base(of node: Int) -> String? {
    var base: String?
    var node = node
    while true {
      let own = attributes(of: node).first {
        let name = name(of: $0)
        return name.local == "base" && name.namespace == Self.xmlNamespace
      }
      if let own { base = Self.resolve(base, against: string(of: own)) }
      if node == 0 { return base }
      node = Int(records[node].parent)
    }
  }

  private static func resolve(_ reference: String?, against base: String) -> String {
    guard let reference else { return base }
    guard let inner = try? URLReference(reference), let outer = try? URLReference(base) else {
      return reference
    }
    return inner.resolved(against: outer).text
  }
}

/// Recognising items.
extension XMLIndex {
  /// Adds an item's attributes, its text and its child elements to its sample.
  func look(at node: Int, _ item: inout PageSample.Item) {
    look(at: node, 0, 0, &item, named: "")
  }

  /// `path` is the hash of the names that lead to the node, `prefix` these names themselves.
  private func look(
    at node: Int, _ path: Int, _ depth: Int, _ item: inout PageSample.Item,
    named prefix: @autoclosure () -> String
  ) {
    for attribute in attributes(of: node) where !item.isFull {
      let name = name(of: attribute)
      item.add(
        Self.digest("@" + name.local, path), holding: Self.digest(value(of: attribute)),
        named: Self.join(prefix(), "@" + name.qualified))
    }
    withText(of: node) { text in
      let text = XMLText.trimmed(text)
      guard !text.isEmpty else { return }
      item.add(path, holding: Self.digest(text), named: prefix())
    }
    for child in children(of: node) where !item.isFull {
      let name = name(of: child)
      let inner = Self.digest(name.local, path)
      if depth < PageSample.Item.deepest {
        look(
          at: child, inner, depth + 1, &item, named: Self.join(prefix(), name.qualified))
      } else {
        item.add(
          inner, holding: Self.digest(value(of: child)),
          named: Self.join(prefix(), name.qualified))
      }
    }
  }

  private static func join(_ prefix: String, _ name: String) -> String {
    prefix.isEmpty ? name : prefix + "/" + name
  }

  private static func digest(_ name: String, _ seed: Int) -> Int {
    var name = name
    return name.withUTF8 { digest($0, seed) }
  }

  private static func digest(_ bytes: UnsafeBufferPointer<UInt8>, _ seed: Int = 0) -> Int {
    ContentDigest.of(UnsafeRawBufferPointer(bytes), seed: seed)
  }
}
