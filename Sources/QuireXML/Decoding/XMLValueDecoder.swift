import QuireCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// `Decoder` over one value of a page.
struct XMLValueDecoder: Decoder {
  let context: XMLItemContext
  let value: XMLValue

  var codingPath: [any CodingKey] { context.codingPath(to: value.node) }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard value.role == .whole || value.role == .member else {
      throw context.mismatch([String: Any].self, value)
    }
    return KeyedDecodingContainer(XMLKeyedContainer<Key>(context: context, node: value.node))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    switch value.role {
    case .member: return XMLUnkeyedContainer(context, siblingsFrom: value.node)
    case .whole: return XMLUnkeyedContainer(context, childrenOf: value.node)
    case .list: return XMLUnkeyedContainer(context, emptyIn: value.node)
    case .attribute, .text: throw context.mismatch([Any].self, value)
    }
  }

  func singleValueContainer() -> any SingleValueDecodingContainer {
    XMLSingleValueContainer(context: context, value: value)
  }
}

/// A type whose value may be a list without elements, of which XML shows nothing.
private protocol XMLListType {}
extension Array: XMLListType {}
extension Set: XMLListType {}

extension XMLItemContext {
  /// Decodes what a key leads to; an array that nothing leads to is empty.
  func decode<T: Decodable>(_ type: T.Type, for key: any CodingKey, in node: Int) throws -> T {
    guard let value = find(key.stringValue, in: node) else {
      guard type is any XMLListType.Type else { throw missing(key, in: node) }
      return try T(from: XMLValueDecoder(context: self, value: XMLValue(node: node, role: .list)))
    }
    return try decode(type, found: value)
  }

  func decode<T: Decodable>(_ type: T.Type, _ value: XMLValue) throws -> T {
    let special: Any
    if type == Date.self {
      special = try date(value)
    } else if type == Data.self {
      special = try data(value)
    } else if type == URL.self {
      special = try url(value)
    } else if type == Decimal.self {
      special = try decimal(value)
    } else if type == JSONValue.self {
      special =
        value.role == .attribute || value.role == .text
        ? JSONValue.string(try string(value)) : try XMLMapping(index).value(of: value.node)
    } else {
      do {
        return try T(from: XMLValueDecoder(context: self, value: value))
      } catch {
        if failedNode == nil { failedNode = value.node }
        throw error
      }
    }
    guard let result = special as? T else { throw mismatch(type, value) }
    return result
  }
}
