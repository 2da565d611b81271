import CXML2

/// A tape that no longer grows, with its names as text. A node is the index of a record; 0 is the
/// root element.
// SAFETY: nobody writes to the memory after `init`, and it is freed with the last reference.
final class XMLIndex: @unchecked Sendable {
  struct Name {
    let local: String
    let prefix: String?
    let namespace: String?

    /// The name as the page writes it.
    var qualified: String { prefix.map { "\($0):\(local)" } ?? local }

    init(_ entry: XMLNameTable.Entry) {
      local = String(xmlChars: entry.local)
      prefix = entry.prefix.map(String.init(xmlChars:))
      namespace = entry.namespace.map(String.init(namespace:))
    }
  }

  private let tape: XMLTape
  let records: UnsafeBufferPointer<XMLRecord>
  let source: UnsafeBufferPointer<UInt8>
  private let composed: UnsafeBufferPointer<UInt8>
  let names: [Name]
  /// What was forgiven while parsing.
  let repairs: XMLLeniency

  /// Takes over the tape's memory.
  init(_ tape: XMLTape, names: [Name], repairs: XMLLeniency) {
    self.tape = tape
    records = UnsafeBufferPointer(start: tape.records.base, count: tape.records.count)
    source = UnsafeBufferPointer(start: tape.source.base, count: tape.source.count)
    composed = UnsafeBufferPointer(start: tape.composed.base, count: tape.composed.count)
    self.names = names
    self.repairs = repairs
  }

  deinit { tape.release() }

  // MARK: Moving

  @inline(__always)
  func record(_ node: Int) -> XMLRecord { records[node] }

  func name(of node: Int) -> Name { names[records[node].name] }

  /// The elements directly within a node, in order.
  func children(of node: Int) -> Children {
    Children(index: self, node: node + 1, end: Int(records[node].next), wanted: .element)
  }

  /// The attributes of a node, in order.
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

  /// The bytes of an attribute, a text or a namespace declaration.
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

  func string(of node: Int) -> String { String(decoding: value(of: node), as: UTF8.self) }

  /// Calls `body` with the element's own text: what is directly in it, elements left out.
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

  /// The element's own text without white space around it; nil when nothing is left.
  func trimmedText(of node: Int) -> String? {
    withText(of: node) {
      let trimmed = XMLText.trimmed($0)
      return trimmed.isEmpty ? nil : String(decoding: trimmed, as: UTF8.self)
    }
  }

  // MARK: Places

  /// Where an element stands, for messages: line and column from 1. Linear in the page.
  func place(of node: Int) -> String {
    tape.place(of: Int(records[node].start)).description
  }

  /// Where the source begins in the page.
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

  /// A namespace, in which libxml2 leaves `&` as a reference.
  init(namespace: UnsafePointer<xmlChar>) {
    let bytes = UnsafeBufferPointer(start: namespace, count: Int(xmlStrlen(namespace)))
    self = String(
      decoding: bytes.contains(UInt8(ascii: "&"))
        ? XMLNamedCharacters.resolve(bytes) : Array(bytes),
      as: UTF8.self)
  }
}
