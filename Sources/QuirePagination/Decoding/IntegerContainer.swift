/// A keyed container that reads integers of every width in one way. The standard library's protocol
/// asks for each width by name.
///
/// Inlinable, so that other modules specialise it for their container: each field is read by it.
package protocol IntegerContainer: KeyedDecodingContainerProtocol {
  func integer<Integer: FixedWidthInteger & Decodable>(
    _ type: Integer.Type, _ key: Key
  ) throws -> Integer
  /// Returns nil if there is no value, or if it counts as nil.
  func integerIfPresent<Integer: FixedWidthInteger & Decodable>(
    _ type: Integer.Type, _ key: Key
  ) throws -> Integer?
}

extension IntegerContainer {
  @inlinable package func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    try integer(type, key)
  }
  @inlinable package func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try integerIfPresent(type, key)
  }
  @inlinable package func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
    try integer(type, key)
  }
  @inlinable package func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
    try integerIfPresent(type, key)
  }
  @inlinable package func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
    try integer(type, key)
  }
  @inlinable package func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
    try integerIfPresent(type, key)
  }
  @inlinable package func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
    try integer(type, key)
  }
  @inlinable package func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
    try integerIfPresent(type, key)
  }
  @inlinable package func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
    try integer(type, key)
  }
  @inlinable package func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
    try integerIfPresent(type, key)
  }
  @inlinable package func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
    try integer(type, key)
  }
  @inlinable package func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
    try integerIfPresent(type, key)
  }
  @inlinable package func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
    try integer(type, key)
  }
  @inlinable package func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
    try integerIfPresent(type, key)
  }
  @inlinable package func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
    try integer(type, key)
  }
  @inlinable package func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
    try integerIfPresent(type, key)
  }
  @inlinable package func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
    try integer(type, key)
  }
  @inlinable package func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
    try integerIfPresent(type, key)
  }
  @inlinable package func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
    try integer(type, key)
  }
  @inlinable package func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
    try integerIfPresent(type, key)
  }
  @inlinable package func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 {
    try integer(type, key)
  }
  @inlinable package func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? {
    try integerIfPresent(type, key)
  }
  @inlinable package func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 {
    try integer(type, key)
  }
  @inlinable package func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128?
  {
    try integerIfPresent(type, key)
  }
}
