/// The members of an object, by the keys of a type.
struct JSONKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let context: JSONItemContext
  let object: JSONObject

  var codingPath: [any CodingKey] { context.codingPath(of: object.place, node: object.node) }

  var allKeys: [Key] { context.keys(of: object).compactMap(Key.init(stringValue:)) }

  func contains(_ key: Key) -> Bool { context.find(key.stringValue, in: object) != nil }

  func decodeNil(forKey key: Key) throws -> Bool {
    context.word(at: try value(key)).isKind(.null)
  }

  // MARK: Finding

  @inline(__always)
  private func value(_ key: Key) throws -> Int {
    guard let node = context.find(key.stringValue, in: object) else { throw missing(key) }
    return node
  }

  /// The value for a key; nil when there is none, and for null.
  @inline(__always)
  private func present(_ key: Key) -> Int? {
    guard let node = context.find(key.stringValue, in: object),
      !context.word(at: node).isKind(.null)
    else { return nil }
    return node
  }

  @inline(never)
  private func missing(_ key: some CodingKey) -> DecodingError {
    .keyNotFound(
      key,
      .init(
        codingPath: codingPath,
        debugDescription: "No value associated with key \(key) (\"\(key.stringValue)\")."))
  }

  @inline(never)
  private func error(_ problem: JSONProblem, _ type: Any.Type, _ node: Int, _ key: Key) -> any Error
  {
    context.error(problem, type, node, object.place, key)
  }

  // MARK: Values

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try context.decode(type, at: value(key), in: object.place, key: key)
  }

  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    guard let node = present(key) else { return nil }
    return try context.decode(type, at: node, in: object.place, key: key)
  }

  @inline(__always)
  private func string(_ node: Int, _ key: Key) throws -> String {
    do {
      return try context.string(at: node)
    } catch { throw self.error(error, String.self, node, key) }
  }

  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    try string(value(key), key)
  }

  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    guard let node = present(key) else { return nil }
    return try string(node, key)
  }

  @inline(__always)
  private func bool(_ node: Int, _ key: Key) throws -> Bool {
    do {
      return try context.bool(at: node)
    } catch { throw self.error(error, Bool.self, node, key) }
  }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try bool(value(key), key) }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    guard let node = present(key) else { return nil }
    return try bool(node, key)
  }

  @inline(__always)
  private func float<Float: JSONFloat>(
    _ type: Float.Type, _ node: Int, _ key: Key
  ) throws -> Float {
    do {
      return try context.float(type, at: node)
    } catch { throw self.error(error, type, node, key) }
  }

  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    try float(type, value(key), key)
  }

  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try present(key).map { try float(type, $0, key) }
  }

  func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
    try float(type, value(key), key)
  }

  func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
    try present(key).map { try float(type, $0, key) }
  }

  @inline(__always)
  private func integer<Integer: FixedWidthInteger & Decodable>(
    _ type: Integer.Type, _ node: Int, _ key: Key
  ) throws -> Integer {
    do {
      return try context.integer(type, at: node)
    } catch { throw self.error(error, type, node, key) }
  }

  // MARK: Within

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try context.decoder(value(key), object.place, key, isNested: true).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try context.decoder(value(key), object.place, key, isNested: true).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder {
    context.decoder(
      context.find(JSONKey.super.stringValue, in: object), object.place, JSONKey.super)
  }

  func superDecoder(forKey key: Key) throws -> any Decoder {
    context.decoder(context.find(key.stringValue, in: object), object.place, key)
  }

  // MARK: Integers of every width: the protocol asks for each by name.

  func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    try integer(type, value(key), key)
  }

  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try present(key).map { try integer(type, $0, key) }
  }

  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
    try integer(type, value(key), key)
  }

  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
    try present(key).map { try integer(type, $0, key) }
  }

  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
    try integer(type, value(key), key)
  }

  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
    try present(key).map { try integer(type, $0, key) }
  }

  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
    try integer(type, value(key), key)
  }

  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
    try present(key).map { try integer(type, $0, key) }
  }

  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
    try integer(type, value(key), key)
  }

  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
    try present(key).map { try integer(type, $0, key) }
  }

  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
    try integer(type, value(key), key)
  }

  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
    try present(key).map { try integer(type, $0, key) }
  }

  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
    try integer(type, value(key), key)
  }

  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
    try present(key).map { try integer(type, $0, key) }
  }

  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
    try integer(type, value(key), key)
  }

  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
    try present(key).map { try integer(type, $0, key) }
  }

  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
    try integer(type, value(key), key)
  }

  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
    try present(key).map { try integer(type, $0, key) }
  }

  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
    try integer(type, value(key), key)
  }

  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
    try present(key).map { try integer(type, $0, key) }
  }

  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 {
    try integer(type, value(key), key)
  }

  func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? {
    try present(key).map { try integer(type, $0, key) }
  }

  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 {
    try integer(type, value(key), key)
  }

  func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? {
    try present(key).map { try integer(type, $0, key) }
  }
}
