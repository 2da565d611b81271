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

  mutating func decodeIfPresent(_ type: String.Type) throws -> String? {
    guard present() != nil else { return nil }
    return try decode(type)
  }

  mutating func decodeIfPresent(_ type: Bool.Type) throws -> Bool? {
    guard present() != nil else { return nil }
    return try decode(type)
  }

  /// Required here, because the standard library's defaults for 128 bits throw.
  mutating func decode(_ type: Int128.Type) throws -> Int128 { try wide(type) }

  mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try wide(type) }

  private mutating func wide<Integer: FixedWidthInteger & Decodable>(
    _ type: Integer.Type
  ) throws -> Integer {
    let node = try element(for: type)
    do {
      let value = try context.integer(type, at: node)
      advance()
      return value
    } catch { throw context.error(error, type, node, place, JSONIndexKey(currentIndex)) }
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
}
