/// The children and attributes of an element, by key.
struct XMLKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let context: XMLItemContext
  let node: Int

  var codingPath: [any CodingKey] { context.codingPath(to: node) }

  /// The keys of attributes and child elements, by local name, each once, in the page's order.
  var allKeys: [Key] {
    var seen: Set<String> = []
    return (Array(context.index.attributes(of: node)) + context.index.children(of: node))
      .map { context.index.name(of: $0).local }
      .filter { seen.insert($0).inserted }
      .compactMap { name in
        Key(stringValue: name) ?? context.key(for: name).flatMap { Key(stringValue: $0) }
      }
  }

  func contains(_ key: Key) -> Bool { context.find(key.stringValue, in: node) != nil }

  func decodeNil(forKey key: Key) -> Bool {
    context.find(key.stringValue, in: node).map(context.isNil) ?? true
  }

  // MARK: Values

  @inline(__always)
  private func value(_ key: Key) throws -> XMLValue { try context.value(key, in: node) }

  @inline(__always)
  private func present(_ key: Key) -> XMLValue? { context.present(key, in: node) }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try context.decode(type, for: key, in: node)
  }

  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    try context.decodeIfPresent(type, for: key, in: node)
  }

  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    try context.string(value(key))
  }

  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try present(key).map(context.string)
  }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try context.bool(value(key)) }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try present(key).map(context.bool)
  }

  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    try context.float(type, value(key))
  }

  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try present(key).map { try context.float(type, $0) }
  }

  func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
    try context.float(type, value(key))
  }

  func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
    try present(key).map { try context.float(type, $0) }
  }

  // MARK: Within

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try XMLValueDecoder(context: context, value: value(key)).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    let value = context.find(key.stringValue, in: node) ?? XMLValue(node: node, role: .list)
    return try XMLValueDecoder(context: context, value: value).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder {
    XMLValueDecoder(context: context, value: XMLValue(node: node, role: .whole))
  }

  func superDecoder(forKey key: Key) throws -> any Decoder {
    XMLValueDecoder(context: context, value: try value(key))
  }
}

/// Integers of every width, each of which the protocol requires by name.
extension XMLKeyedContainer {
  @inline(__always)
  private func integer<Integer: FixedWidthInteger>(
    _ type: Integer.Type, _ key: Key
  ) throws -> Integer {
    try context.integer(type, value(key))
  }

  @inline(__always)
  private func integerIfPresent<Integer: FixedWidthInteger>(
    _ type: Integer.Type, _ key: Key
  ) throws -> Integer? {
    try present(key).map { try context.integer(type, $0) }
  }

  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try integer(type, key) }

  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try integerIfPresent(type, key)
  }

  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try integer(type, key) }

  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
    try integerIfPresent(type, key)
  }

  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try integer(type, key) }

  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
    try integerIfPresent(type, key)
  }

  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try integer(type, key) }

  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
    try integerIfPresent(type, key)
  }

  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try integer(type, key) }

  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
    try integerIfPresent(type, key)
  }

  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try integer(type, key) }

  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
    try integerIfPresent(type, key)
  }

  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try integer(type, key) }

  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
    try integerIfPresent(type, key)
  }

  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try integer(type, key) }

  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
    try integerIfPresent(type, key)
  }

  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try integer(type, key) }

  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
    try integerIfPresent(type, key)
  }

  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try integer(type, key) }

  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
    try integerIfPresent(type, key)
  }

  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try integer(type, key) }

  func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? {
    try integerIfPresent(type, key)
  }

  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try integer(type, key) }

  func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? {
    try integerIfPresent(type, key)
  }
}

/// A container of a single value.
struct XMLSingleValueContainer: SingleValueDecodingContainer {
  let context: XMLItemContext
  let value: XMLValue

  var codingPath: [any CodingKey] { context.codingPath(to: value.node) }

  func decodeNil() -> Bool { context.isNil(value) }
  func decode(_ type: String.Type) throws -> String { try context.string(value) }
  func decode(_ type: Bool.Type) throws -> Bool { try context.bool(value) }
  func decode(_ type: Double.Type) throws -> Double { try context.float(type, value) }
  func decode(_ type: Float.Type) throws -> Float { try context.float(type, value) }
  func decode(_ type: Int.Type) throws -> Int { try context.integer(type, value) }
  func decode(_ type: Int8.Type) throws -> Int8 { try context.integer(type, value) }
  func decode(_ type: Int16.Type) throws -> Int16 { try context.integer(type, value) }
  func decode(_ type: Int32.Type) throws -> Int32 { try context.integer(type, value) }
  func decode(_ type: Int64.Type) throws -> Int64 { try context.integer(type, value) }
  func decode(_ type: UInt.Type) throws -> UInt { try context.integer(type, value) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try context.integer(type, value) }
  func decode(_ type: UInt16.Type) throws -> UInt16 { try context.integer(type, value) }
  func decode(_ type: UInt32.Type) throws -> UInt32 { try context.integer(type, value) }
  func decode(_ type: UInt64.Type) throws -> UInt64 { try context.integer(type, value) }
  func decode(_ type: Int128.Type) throws -> Int128 { try context.integer(type, value) }
  func decode(_ type: UInt128.Type) throws -> UInt128 { try context.integer(type, value) }
  func decode<T: Decodable>(_ type: T.Type) throws -> T { try context.decode(type, value) }
}

/// The elements of a list, in order.
struct XMLUnkeyedContainer: UnkeyedDecodingContainer {
  let context: XMLItemContext
  /// The node for coding paths: the element around the list, or the first of the siblings.
  private let place: Int
  /// The child elements behind `node`; nil for a list of sibling elements of one name.
  private var children: XMLIndex.Children?
  /// The next element.
  private var node: Int?
  private(set) var currentIndex = 0

  init(_ context: XMLItemContext, siblingsFrom node: Int) {
    self.context = context
    self.node = node
    place = node
  }

  init(_ context: XMLItemContext, childrenOf node: Int) {
    self.context = context
    var children = context.index.children(of: node)
    self.node = children.next()
    self.children = children
    place = node
  }

  init(_ context: XMLItemContext, emptyIn node: Int) {
    self.context = context
    place = node
  }

  var codingPath: [any CodingKey] { context.codingPath(to: place) }
  var count: Int? { nil }
  var isAtEnd: Bool { node == nil }

  /// Reads the next element and moves past it. If `read` throws, the element stays the next, as in
  /// `JSONDecoder`.
  private mutating func next<Result>(
    _ type: Any.Type, _ read: (XMLValue) throws -> Result
  ) throws -> Result {
    guard let found = node else {
      throw DecodingError.valueNotFound(
        type, .init(codingPath: codingPath, debugDescription: "The list is at its end."))
    }
    let result = try read(XMLValue(node: found, role: .whole))
    currentIndex += 1
    node = children == nil ? context.sibling(of: found) : children?.next()
    return result
  }

  mutating func decodeNil() -> Bool {
    guard let node, context.isNil(XMLValue(node: node, role: .whole)) else { return false }
    _ = try? next(Never.self) { _ in }
    return true
  }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    let context = context
    return try next(type) { try context.decode(type, $0) }
  }

  /// Required here, because the standard library's defaults for 128 bits throw.
  mutating func decode(_ type: Int128.Type) throws -> Int128 {
    let context = context
    return try next(type) { try context.integer(type, $0) }
  }

  mutating func decode(_ type: UInt128.Type) throws -> UInt128 {
    let context = context
    return try next(type) { try context.integer(type, $0) }
  }

  mutating func nestedContainer<Key: CodingKey>(
    keyedBy type: Key.Type
  ) throws -> KeyedDecodingContainer<Key> {
    let context = context
    return try next([String: Any].self) {
      try XMLValueDecoder(context: context, value: $0).container(keyedBy: type)
    }
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let context = context
    return try next([Any].self) {
      try XMLValueDecoder(context: context, value: $0).unkeyedContainer()
    }
  }

  mutating func superDecoder() throws -> any Decoder {
    let context = context
    return try next((any Decoder).self) { XMLValueDecoder(context: context, value: $0) }
  }
}
