/// Integers of every width: the protocol asks for each by name.
extension XMLKeyedContainer {
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    try context.integer(type, context.value(key, in: node))
  }

  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try context.present(key, in: node).map { try context.integer(type, $0) }
  }

  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
    try context.integer(type, context.value(key, in: node))
  }

  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
    try context.present(key, in: node).map { try context.integer(type, $0) }
  }

  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
    try context.integer(type, context.value(key, in: node))
  }

  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
    try context.present(key, in: node).map { try context.integer(type, $0) }
  }

  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
    try context.integer(type, context.value(key, in: node))
  }

  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
    try context.present(key, in: node).map { try context.integer(type, $0) }
  }

  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
    try context.integer(type, context.value(key, in: node))
  }

  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
    try context.present(key, in: node).map { try context.integer(type, $0) }
  }

  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
    try context.integer(type, context.value(key, in: node))
  }

  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
    try context.present(key, in: node).map { try context.integer(type, $0) }
  }

  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
    try context.integer(type, context.value(key, in: node))
  }

  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
    try context.present(key, in: node).map { try context.integer(type, $0) }
  }

  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
    try context.integer(type, context.value(key, in: node))
  }

  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
    try context.present(key, in: node).map { try context.integer(type, $0) }
  }

  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
    try context.integer(type, context.value(key, in: node))
  }

  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
    try context.present(key, in: node).map { try context.integer(type, $0) }
  }

  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
    try context.integer(type, context.value(key, in: node))
  }

  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
    try context.present(key, in: node).map { try context.integer(type, $0) }
  }
}
