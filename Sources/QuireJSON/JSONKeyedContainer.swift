/// The members of an object, by the keys of a type.
struct JSONKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let reading: JSONKeyedReading

  var codingPath: [any CodingKey] {
    with { context, object in context.codingPath(of: object.place, node: object.node) }
  }

  var allKeys: [Key] {
    with { context, object in context.keys(of: object).compactMap(Key.init(stringValue:)) }
  }

  func contains(_ key: Key) -> Bool { with { $0.find(key.stringValue, in: $1) != nil } }

  func decodeNil(forKey key: Key) throws -> Bool {
    try value(key, Never.self) { $0.word(at: $1).isKind(.null) }
  }

  // MARK: Finding

  /// Calls `body` without counting references to the context.
  @inline(__always)
  private func with<Result>(
    _ body: (JSONItemContext, JSONObject) throws -> Result
  ) rethrows -> Result {
    try reading.context._withUnsafeGuaranteedRef { try body($0, reading.object) }
  }

  /// Returns what `read` makes of the value for a key; throws `keyNotFound` if there is none.
  @inline(__always)
  private func value<Value>(
    _ key: Key, _ type: Any.Type,
    _ read: (JSONItemContext, Int) throws(JSONProblem) -> Value
  ) throws -> Value {
    try with { context, object -> Value in
      guard let node = context.find(key.stringValue, in: object) else { throw missing(key) }
      do throws(JSONProblem) {
        return try read(context, node)
      } catch { throw self.error(error, type, node, key) }
    }
  }

  /// Returns what `read` makes of the value for a key; nil if there is none, and for null.
  @inline(__always)
  private func valueIfPresent<Value>(
    _ key: Key, _ type: Any.Type,
    _ read: (JSONItemContext, Int) throws(JSONProblem) -> Value
  ) throws -> Value? {
    try with { context, object -> Value? in
      guard let node = context.find(key.stringValue, in: object),
        !context.word(at: node).isKind(.null)
      else { return nil }
      do throws(JSONProblem) {
        return try read(context, node)
      } catch { throw self.error(error, type, node, key) }
    }
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
    with { context, object in context.error(problem, type, node, object.place, key) }
  }

  // MARK: Values

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try with { context, object in
      guard let node = context.find(key.stringValue, in: object) else { throw missing(key) }
      return try context.decode(type, at: node, in: object.place, key: key)
    }
  }

  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    try with { context, object in
      guard let node = context.find(key.stringValue, in: object),
        !context.word(at: node).isKind(.null)
      else { return nil }
      return try context.decode(type, at: node, in: object.place, key: key)
    }
  }

  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    try value(key, type) { context, node throws(JSONProblem) in try context.string(at: node) }
  }

  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try valueIfPresent(key, type) { context, node throws(JSONProblem) in
      try context.string(at: node)
    }
  }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    try value(key, type) { context, node throws(JSONProblem) in try context.bool(at: node) }
  }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try valueIfPresent(key, type) { context, node throws(JSONProblem) in try context.bool(at: node)
    }
  }

  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    try value(key, type) { context, node throws(JSONProblem) in
      try context.float(type, at: node)
    }
  }

  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try valueIfPresent(key, type) { context, node throws(JSONProblem) in
      try context.float(type, at: node)
    }
  }

  func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
    try value(key, type) { context, node throws(JSONProblem) in
      try context.float(type, at: node)
    }
  }

  func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
    try valueIfPresent(key, type) { context, node throws(JSONProblem) in
      try context.float(type, at: node)
    }
  }

  // MARK: Within

  /// Returns a decoder with its own context for the value of a key.
  private func decoder(for key: Key) throws -> JSONValueDecoder {
    try with { context, object in
      guard let node = context.find(key.stringValue, in: object) else { throw missing(key) }
      return context.decoder(node, object.place, key, isNested: true)
    }
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try decoder(for: key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try decoder(for: key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { superDecoder(JSONKey.super) }

  func superDecoder(forKey key: Key) throws -> any Decoder { superDecoder(key) }

  private func superDecoder(_ key: some CodingKey) -> any Decoder {
    with { context, object in
      context.decoder(context.find(key.stringValue, in: object), object.place, key)
    }
  }

  // MARK: Integers of every width: the protocol asks for each by name.

  @inline(__always)
  private func integer<Integer: FixedWidthInteger & Decodable>(
    _ type: Integer.Type, _ key: Key
  ) throws -> Integer {
    try value(key, type) { context, node throws(JSONProblem) in
      try context.integer(type, at: node)
    }
  }

  @inline(__always)
  private func integerIfPresent<Integer: FixedWidthInteger & Decodable>(
    _ type: Integer.Type, _ key: Key
  ) throws -> Integer? {
    try valueIfPresent(key, type) { context, node throws(JSONProblem) in
      try context.integer(type, at: node)
    }
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

/// The object that a keyed container reads. It is kept apart from the container, so that one
/// container serves many objects: making one costs as much as reading five members.
final class JSONKeyedReading {
  // SAFETY: a container that outlives its item retains the context by `owner`: see
  // `JSONItemContext.detachIfKept`.
  let context: Unmanaged<JSONItemContext>
  fileprivate var owner: JSONItemContext?
  fileprivate(set) var object: JSONObject

  fileprivate init(_ context: JSONItemContext, _ object: JSONObject) {
    self.context = .passUnretained(context)
    self.object = object
  }
}

/// The keyed containers that a context reuses.
struct JSONKeyedContainers {
  /// The most containers kept. A page has few types; containers for others are made anew.
  private static var most: Int { 16 }

  private struct Entry {
    let keys: ObjectIdentifier
    /// A `KeyedDecodingContainer`, which is a single reference. It is free while there is no other.
    var container: AnyObject
    let reading: JSONKeyedReading

    @inline(__always)
    var isFree: Bool {
      mutating get {
        // With an explicit type: a direct call would test a copy of the reference.
        let isUnique: (inout AnyObject) -> Bool = isKnownUniquelyReferenced
        return isUnique(&container)
      }
    }
  }

  private var entries: [Entry] = []

  /// Returns a container that is not in use, for another object; nil if there is none.
  @inline(__always)
  mutating func take<Key: CodingKey>(
    _ type: Key.Type, for object: JSONObject
  ) -> KeyedDecodingContainer<Key>? {
    for index in entries.indices
    where entries[index].keys == ObjectIdentifier(type) && entries[index].isFree {
      entries[index].reading.object = object
      return unsafeBitCast(entries[index].container, to: KeyedDecodingContainer<Key>.self)
    }
    return nil
  }

  /// Makes a container. Keeps it for reuse if `isSettled`, that is, if `settle` will be called
  /// after the item; otherwise the container retains the context.
  mutating func make<Key: CodingKey>(
    _ type: Key.Type, of object: JSONObject, _ context: JSONItemContext, isSettled: Bool
  ) -> KeyedDecodingContainer<Key> {
    let reading = JSONKeyedReading(context, object)
    let container = KeyedDecodingContainer(JSONKeyedContainer<Key>(reading: reading))
    let isReference =
      MemoryLayout<KeyedDecodingContainer<Key>>.size == MemoryLayout<AnyObject>.size
    if isSettled, isReference, entries.count < Self.most {
      entries.append(
        Entry(
          keys: ObjectIdentifier(type), container: unsafeBitCast(container, to: AnyObject.self),
          reading: reading))
    } else {
      reading.owner = context
    }
    return container
  }

  /// Drops the containers that are still in use, and has them retain the context.
  @inline(__always)
  mutating func settle(_ context: JSONItemContext) {
    for index in entries.indices.reversed() where !entries[index].isFree {
      entries[index].reading.owner = context
      entries.remove(at: index)
    }
  }
}
