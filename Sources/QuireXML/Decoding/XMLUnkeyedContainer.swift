/// The elements of a list, in order.
struct XMLUnkeyedContainer: UnkeyedDecodingContainer {
  private enum Source {
    /// Elements of one name.
    case siblings
    /// Elements of any name.
    case children(end: Int)
  }

  let context: XMLItemContext
  /// The element around the list, for messages.
  private let place: Int
  private let source: Source
  private var node: Int?
  private(set) var currentIndex = 0

  init(_ context: XMLItemContext, siblingsFrom node: Int) {
    self.context = context
    self.node = node
    place = node
    source = .siblings
  }

  init(_ context: XMLItemContext, childrenOf node: Int) {
    self.context = context
    self.node = context.index.children(of: node).first { _ in true }
    place = node
    source = .children(end: Int(context.index.records[node].next))
  }

  init(_ context: XMLItemContext, emptyIn node: Int) {
    self.context = context
    place = node
    source = .siblings
  }

  var codingPath: [any CodingKey] { context.codingPath(to: place) }
  var count: Int? { nil }
  var isAtEnd: Bool { node == nil }

  private mutating func next(_ type: Any.Type) throws -> XMLValue {
    guard let found = node else {
      throw DecodingError.valueNotFound(
        type, .init(codingPath: codingPath, debugDescription: "The list is at its end."))
    }
    currentIndex += 1
    switch source {
    case .siblings: node = context.sibling(of: found)
    case .children(let end):
      var next = Int(context.index.records[found].next)
      while next < end, context.index.records[next].kind != .element { next += 1 }
      node = next < end ? next : nil
    }
    return XMLValue(node: found, role: .whole)
  }

  mutating func decodeNil() -> Bool {
    guard let node, context.isNil(XMLValue(node: node, role: .whole)) else { return false }
    _ = try? next(Never.self)
    return true
  }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    let value = try next(type)
    return try context.decode(type, value)
  }

  mutating func nestedContainer<Key: CodingKey>(
    keyedBy type: Key.Type
  ) throws -> KeyedDecodingContainer<Key> {
    let value = try next([String: Any].self)
    return try XMLValueDecoder(context: context, value: value).container(keyedBy: type)
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let value = try next([Any].self)
    return try XMLValueDecoder(context: context, value: value).unkeyedContainer()
  }

  mutating func superDecoder() throws -> any Decoder {
    XMLValueDecoder(context: context, value: try next((any Decoder).self))
  }
}
