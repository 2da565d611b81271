/// The elements of an array, in order.
///
/// It has three words, so that an existential holds it without an allocation.
struct JSONUnkeyedContainer: UnkeyedDecodingContainer {
  let context: JSONItemContext
  private let array: UInt32
  private let place: JSONPlace
  private var next: UInt32
  private var position: UInt32 = 0

  init(_ context: JSONItemContext, _ array: Int, _ place: JSONPlace) {
    self.context = context
    self.array = UInt32(truncatingIfNeeded: array)
    self.place = place
    next = self.array + 2
  }

  var codingPath: [any CodingKey] { context.codingPath(of: place, node: Int(array)) }
  var count: Int? { length }
  var currentIndex: Int { Int(position) }
  var isAtEnd: Bool { currentIndex >= length }

  @inline(__always)
  private var length: Int { context.word(at: Int(array)).length }

  // MARK: Going on

  /// Returns the next element, which stays the next until `advance` is called. Throws
  /// `valueNotFound` at the end.
  @inline(__always)
  private func element(for type: Any.Type) throws -> Int {
    guard !isAtEnd else { throw atEnd(type) }
    return Int(next)
  }

  /// Returns the next element; nil for null and at the end, and then the index advances.
  private mutating func present() -> Int? {
    guard !isAtEnd else {
      position += 1
      return nil
    }
    guard context.word(at: Int(next)).isKind(.null) else { return Int(next) }
    advance()
    return nil
  }

  @inline(__always)
  private mutating func advance() {
    next = UInt32(truncatingIfNeeded: JSONWord.next(after: Int(next), on: context.tape))
    position += 1
  }

  @inline(never)
  private func atEnd(_ type: Any.Type) -> DecodingError {
    .valueNotFound(
      type,
      .init(
        codingPath: codingPath + [JSONIndexKey(currentIndex)],
        debugDescription: "Unkeyed container is at end."))
  }

  @inline(never)
  private func error(_ problem: JSONProblem, _ type: Any.Type) -> any Error {
    context.error(problem, type, Int(next), place, JSONIndexKey(currentIndex))
  }

  // MARK: Values

  mutating func decodeNil() throws -> Bool {
    guard context.word(at: try element(for: Never.self)).isKind(.null) else {
      return false
    }
    advance()
    return true
  }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    let node = try element(for: type)
    let value = try context.decode(type, at: node, in: place, key: JSONIndexKey(currentIndex))
    advance()
    return value
  }

  mutating func decodeIfPresent<T: Decodable>(_ type: T.Type) throws -> T? {
    guard present() != nil else { return nil }
    return try decode(type)
  }

  mutating func decode(_ type: String.Type) throws -> String {
    let node = try element(for: type)
    do {
      let value = try context.string(at: node)
      advance()
      return value
    } catch { throw self.error(error, type) }
  }

  mutating func decodeIfPresent(_ type: String.Type) throws -> String? {
    guard present() != nil else { return nil }
    return try decode(type)
  }

  mutating func decode(_ type: Bool.Type) throws -> Bool {
    let node = try element(for: type)
    do {
      let value = try context.bool(at: node)
      advance()
      return value
    } catch { throw self.error(error, type) }
  }

  mutating func decodeIfPresent(_ type: Bool.Type) throws -> Bool? {
    guard present() != nil else { return nil }
    return try decode(type)
  }

  mutating func decode(_ type: Double.Type) throws -> Double { try float(type) }

  mutating func decodeIfPresent(_ type: Double.Type) throws -> Double? {
    try floatIfPresent(type)
  }

  mutating func decode(_ type: Float.Type) throws -> Float { try float(type) }

  mutating func decodeIfPresent(_ type: Float.Type) throws -> Float? { try floatIfPresent(type) }

  @inline(__always)
  private mutating func float<Float: JSONFloat>(_ type: Float.Type) throws -> Float {
    let node = try element(for: type)
    do {
      let value = try context.float(type, at: node)
      advance()
      return value
    } catch { throw self.error(error, type) }
  }

  @inline(__always)
  private mutating func floatIfPresent<Float: JSONFloat>(_ type: Float.Type) throws -> Float? {
    guard present() != nil else { return nil }
    return try float(type)
  }

  @inline(__always)
  private mutating func integer<Integer: FixedWidthInteger & Decodable>(
    _ type: Integer.Type
  ) throws -> Integer {
    let node = try element(for: type)
    do {
      let value = try context.integer(type, at: node)
      advance()
      return value
    } catch { throw self.error(error, type) }
  }

  @inline(__always)
  private mutating func integerIfPresent<Integer: FixedWidthInteger & Decodable>(
    _ type: Integer.Type
  ) throws -> Integer? {
    guard present() != nil else { return nil }
    return try integer(type)
  }

  // MARK: Within

  mutating func nestedContainer<Key: CodingKey>(
    keyedBy type: Key.Type
  ) throws -> KeyedDecodingContainer<Key> {
    let node = try element(for: KeyedDecodingContainer<Key>.self)
    let key = JSONIndexKey(currentIndex)
    let container = try context.decoder(node, place, key, isNested: true).container(keyedBy: type)
    advance()
    return container
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    let node = try element(for: (any UnkeyedDecodingContainer).self)
    let key = JSONIndexKey(currentIndex)
    let container = try context.decoder(node, place, key, isNested: true).unkeyedContainer()
    advance()
    return container
  }

  mutating func superDecoder() throws -> any Decoder {
    let node = try element(for: (any Decoder).self)
    let decoder = context.decoder(node, place, JSONIndexKey(currentIndex))
    advance()
    return decoder
  }

  // MARK: Integers of every width: the protocol asks for each by name.

  mutating func decode(_ type: Int.Type) throws -> Int { try integer(type) }

  mutating func decodeIfPresent(_ type: Int.Type) throws -> Int? { try integerIfPresent(type) }

  mutating func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }

  mutating func decodeIfPresent(_ type: Int8.Type) throws -> Int8? { try integerIfPresent(type) }

  mutating func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }

  mutating func decodeIfPresent(_ type: Int16.Type) throws -> Int16? { try integerIfPresent(type) }

  mutating func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }

  mutating func decodeIfPresent(_ type: Int32.Type) throws -> Int32? { try integerIfPresent(type) }

  mutating func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }

  mutating func decodeIfPresent(_ type: Int64.Type) throws -> Int64? { try integerIfPresent(type) }

  mutating func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }

  mutating func decodeIfPresent(_ type: UInt.Type) throws -> UInt? { try integerIfPresent(type) }

  mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }

  mutating func decodeIfPresent(_ type: UInt8.Type) throws -> UInt8? { try integerIfPresent(type) }

  mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }

  mutating func decodeIfPresent(_ type: UInt16.Type) throws -> UInt16? {
    try integerIfPresent(type)
  }

  mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }

  mutating func decodeIfPresent(_ type: UInt32.Type) throws -> UInt32? {
    try integerIfPresent(type)
  }

  mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }

  mutating func decodeIfPresent(_ type: UInt64.Type) throws -> UInt64? {
    try integerIfPresent(type)
  }

  mutating func decode(_ type: Int128.Type) throws -> Int128 { try integer(type) }

  mutating func decodeIfPresent(_ type: Int128.Type) throws -> Int128? {
    try integerIfPresent(type)
  }

  mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try integer(type) }

  mutating func decodeIfPresent(_ type: UInt128.Type) throws -> UInt128? {
    try integerIfPresent(type)
  }
}
