/// The children and attributes of an element, by key.
struct XMLKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let context: XMLItemContext
  let node: Int

  var codingPath: [any CodingKey] { context.codingPath(to: node) }

  /// The local names of elements and attributes, each once, in the page's order.
  var allKeys: [Key] {
    var seen: Set<String> = []
    return (Array(context.index.attributes(of: node)) + context.index.children(of: node))
      .map { context.index.name(of: $0).local }
      .filter { seen.insert($0).inserted }
      .compactMap(Key.init(stringValue:))
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
    guard let value = present(key) else { return nil }
    defer { context.leave(value, in: node) }
    return try context.decode(type, value)
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
    try context.double(value(key))
  }

  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try present(key).map(context.double)
  }

  func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
    Float(try context.double(value(key)))
  }

  func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
    try present(key).map { Float(try context.double($0)) }
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
