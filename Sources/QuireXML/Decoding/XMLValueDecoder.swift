import QuireCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A `Decoder` of one value of a page.
struct XMLValueDecoder: Decoder {
  let context: XMLItemContext
  let value: XMLValue

  var codingPath: [any CodingKey] { context.codingPath(to: value.node) }
  var userInfo: [CodingUserInfoKey: Any] { context.userInfo }

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
    case .list:
      context.emptyLists += 1
      return XMLUnkeyedContainer(context, emptyIn: value.node)
    case .attribute, .text: throw context.mismatch([Any].self, value)
    }
  }

  func singleValueContainer() -> any SingleValueDecodingContainer {
    XMLSingleValueContainer(context: context, value: value)
  }
}

/// A collection, which may exist although its first element is empty.
private protocol XMLListType {}
extension Array: XMLListType {}
extension Set: XMLListType {}

/// A dictionary whose keys are the names in the page, which a key strategy leaves unchanged, as in
/// `JSONDecoder`. It is a protocol because only a cast can find the type of the values.
private protocol XMLStringDictionary {
  static func decode(_ value: XMLValue, _ context: XMLItemContext) throws -> Self
}

extension Dictionary: XMLStringDictionary where Key == String, Value: Decodable {
  fileprivate static func decode(_ value: XMLValue, _ context: XMLItemContext) throws -> Self {
    guard value.role == .whole || value.role == .member else {
      throw context.mismatch([String: Any].self, value)
    }
    let index = context.index
    var result: Self = [:]
    // A child element counts before an attribute of the same name, as for any key.
    let children = index.children(of: value.node).map { XMLValue(node: $0, role: .member) }
    let attributes = index.attributes(of: value.node).map { XMLValue(node: $0, role: .attribute) }
    for found in children + attributes {
      let name = index.name(of: found.node).local
      if result[name] == nil { result[name] = try context.decode(Value.self, found) }
    }
    return result
  }
}

extension XMLItemContext {
  /// Decodes the value for a key; nil if there is none or it counts as nil. A list of several
  /// elements is not nil if only its first element is.
  func decodeIfPresent<T: Decodable>(
    _ type: T.Type, for key: any CodingKey, in node: Int
  ) throws -> T? {
    guard let value = find(key.stringValue, in: node) else { return nil }
    if isNil(value) {
      guard value.role == .member, type is any XMLListType.Type, sibling(of: value.node) != nil
      else { return nil }
    }
    return try decode(type, found: value)
  }

  /// Decodes the value for a key; a collection without elements is empty.
  func decode<T: Decodable>(_ type: T.Type, for key: any CodingKey, in node: Int) throws -> T {
    if let value = find(key.stringValue, in: node) { return try decode(type, found: value) }
    guard let list = emptyList(type, in: node) else { throw missing(key, in: node) }
    return list
  }

  /// Returns a collection without elements; nil if the type does not decode elements. That is not
  /// known beforehand: types may wrap collections, for example to leave out bad elements.
  private func emptyList<T: Decodable>(_ type: T.Type, in node: Int) -> T? {
    let before = emptyLists
    let list = try? decode(type, XMLValue(node: node, role: .list))
    return emptyLists > before ? list : nil
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
    } else if type == UUID.self {
      special = try uuid(value)
    } else if type == JSONValue.self {
      special =
        value.role == .attribute || value.role == .text
        ? JSONValue.string(try string(value)) : try XMLMapping(index).value(of: value.node)
    } else if convertsKeys, let dictionary = type as? any XMLStringDictionary.Type {
      special = try dictionary.decode(value, self)
    } else {
      guard depth < Self.deepest else { throw tooDeep(value) }
      depth += 1
      defer { depth -= 1 }
      do {
        return try T(from: XMLValueDecoder(context: self, value: value))
      } catch {
        if let type = type as? any RawRepresentable.Type,
          let found = trimmedCase(type, value) as? T
        {
          return found
        }
        if failedNode == nil { failedNode = value.node }
        throw error
      }
    }
    guard let result = special as? T else { throw mismatch(type, value) }
    return result
  }
}
