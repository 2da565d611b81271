public import QuireCore

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The storage of a page's raw items, which can be read as JSON.
package protocol RawItemStorage: Sendable {
  /// Returns the item's JSON, with the page's own white space.
  func bytes(of node: Int) -> ArraySlice<UInt8>
  /// Appends the item's JSON without white space between tokens.
  func appendCompact(_ node: Int, to output: inout [UInt8])
  /// Returns the item as a value; throws `malformed` if a string in it is no Unicode text.
  func value(of node: Int) throws -> JSONValue
  /// Returns the item as the server wrote it, if that is not JSON; nil if it is.
  func sourceBytes(of node: Int) -> [UInt8]?
  /// Returns the value at a path below the item; nil if there is none. Throws as `value(of:)` does.
  func value(at path: PagePath, of node: Int) throws -> JSONValue?
  /// Returns the JSON of the value at a path below the item, without white space between tokens;
  /// nil if there is none.
  func compact(at path: PagePath, of node: Int) throws -> [UInt8]?
  /// Returns an object's members, in order, with the nodes of their values; nil if the item is no
  /// object. A name that is no Unicode text is returned as it was written, escapes included.
  func members(of node: Int) -> [(name: String, node: Int)]?
  /// Whether `visitMembers(of:_:finish:)` can visit objects.
  var indexesMembers: Bool { get }
  /// Calls `visit` with each member of an object, in order, then `finish`. Returns false if the
  /// item is no object. The members' bytes are valid until `finish` returns.
  func visitMembers(
    of node: Int, _ visit: (RawMember) throws -> Void, finish: () throws -> Void
  ) throws -> Bool
  /// Returns the value at a path below the item; nil if there is none, or if it is no Unicode text.
  func value(at path: String, of node: Int) -> JSONValue?
  /// Returns the whole number at a path below the item; nil if there is none.
  func integer(at path: String, of node: Int) -> Int?
  /// Decodes the item with `decoder`. Throws what the decoder throws, and as `value(of:)` does.
  func decode<Value: Decodable>(
    _ type: Value.Type, of node: Int, with decoder: JSONDecoder
  ) throws -> Value
}

extension RawItemStorage {
  /// Appends the item's bytes, for storages whose JSON has no white space.
  package func appendCompact(_ node: Int, to output: inout [UInt8]) { output += bytes(of: node) }

  /// Parses the item's bytes.
  package func value(of node: Int) throws -> JSONValue { try JSONValue(parsing: bytes(of: node)) }

  /// Decodes the item's bytes; a `JSONValue` in it keeps its text.
  package func decode<Value: Decodable>(
    _ type: Value.Type, of node: Int, with decoder: JSONDecoder
  ) throws -> Value {
    let source = ItemValue(root: try value(of: node))
    return try decoder.keeping(source).decode(type, from: Data(bytes(of: node)))
  }

  /// Looks the path up in the value of the whole item.
  package func value(at path: PagePath, of node: Int) throws -> JSONValue? {
    try value(of: node).value(at: path)
  }

  /// Writes the value at the path as new JSON.
  package func compact(at path: PagePath, of node: Int) throws -> [UInt8]? {
    try value(at: path, of: node).map { Array($0.description.utf8) }
  }

  /// Returns nil: most items are JSON.
  package func sourceBytes(of node: Int) -> [UInt8]? { nil }

  /// Returns nil: the storage has no index of members.
  package func members(of node: Int) -> [(name: String, node: Int)]? { nil }

  /// False: the storage has no index of members.
  package var indexesMembers: Bool { false }

  /// Returns false: the storage has no index of members.
  package func visitMembers(
    of node: Int, _ visit: (RawMember) throws -> Void, finish: () throws -> Void
  ) -> Bool { false }
}

/// A source of `JSONValue`s for a `JSONDecoder`, from an item. Under a key strategy, it has only
/// the values whose names the strategy leaves unchanged.
private struct ItemValue: JSONValueSource, Sendable {
  let root: JSONValue

  func value(at path: [any CodingKey]) -> JSONValue? {
    path.reduce(root as JSONValue?) { found, key in
      guard case .array(let elements)? = found else { return found?[key.stringValue] }
      return key.intValue.flatMap { elements.indices.contains($0) ? elements[$0] : nil }
    }
  }
}

/// A member of an object, as bytes of its page: readers of many items make no values.
package struct RawMember {
  /// The kind of a member's value.
  package enum Kind {
    case null, `false`, `true`, number
    /// A string without escapes, one with escapes, and one that is no Unicode text.
    case string, escapedString, invalidUnicodeString
    case container
  }

  /// The name as it was written between its quotes, escapes included.
  package let name: UnsafeBufferPointer<UInt8>
  package let kind: Kind
  /// The value as it was written; for a string, the text between its quotes.
  package let text: UnsafeBufferPointer<UInt8>
  /// The node of the value.
  package let node: Int

  package init(
    name: UnsafeBufferPointer<UInt8>, kind: Kind, text: UnsafeBufferPointer<UInt8>, node: Int
  ) {
    (self.name, self.kind, self.text, self.node) = (name, kind, text, node)
  }
}

/// An item of a page that has not been decoded into a type: JSON as the server wrote it, or XML,
/// mapped to JSON as by `XMLItem.value`.
///
/// It keeps its whole page in memory: decode it or copy its bytes, and release it.
public struct RawItem: Sendable, CustomStringConvertible {
  let storage: any RawItemStorage
  let node: Int

  package init(_ storage: any RawItemStorage, node: Int) {
    self.storage = storage
    self.node = node
  }

  /// The item's JSON, with the server's own white space; for XML, the mapped JSON.
  public var bytes: ArraySlice<UInt8> { storage.bytes(of: node) }

  /// The bytes without white space between tokens: one line. Numbers, strings and the order of
  /// members stay as the server wrote them.
  public var compact: [UInt8] {
    var output: [UInt8] = []
    appendCompact(to: &output)
    return output
  }

  /// Appends `compact` to `output`.
  public func appendCompact(to output: inout [UInt8]) {
    storage.appendCompact(node, to: &output)
  }

  /// The item as a lossless value, built anew at each access.
  ///
  /// Throws `malformed` if a string in it is no Unicode text, such as half a surrogate pair.
  public var value: JSONValue {
    get throws { try storage.value(of: node) }
  }

  /// Returns the value at a path in the item, such as `/id`; nil if there is none. An explicit null
  /// is `.null`.
  ///
  /// Throws as `value` does, and `shape` if a name on the path occurs twice in its object.
  public func value(at path: PagePath) throws -> JSONValue? {
    try storage.value(at: path, of: node)
  }

  /// Returns the JSON of the value at a path without white space between tokens, even if it is no
  /// Unicode text; nil if there is none. Throws `shape` as `value(at:)` does.
  package func compact(at path: PagePath) throws -> [UInt8]? {
    try storage.compact(at: path, of: node)
  }

  /// Returns an object's members, in order, without copying their bytes; nil if the item is no
  /// object, or if its page has no index of members, as in XML.
  package func members() -> [(name: String, value: RawItem)]? {
    storage.members(of: node)?.map { ($0.name, RawItem(storage, node: $0.node)) }
  }

  /// Calls `visit` with each member of an object, in order, then `finish`. Returns false if the
  /// item is no object, or if its page has no index of members. The members' bytes are valid until
  /// `finish` returns.
  package func visitMembers(
    _ visit: (RawMember) throws -> Void, finish: () throws -> Void
  ) throws -> Bool {
    try storage.visitMembers(of: node, visit, finish: finish)
  }

  /// Whether the item is an object whose members can be visited.
  package var isIndexedObject: Bool {
    storage.indexesMembers && bytes.first == UInt8(ascii: "{")
  }

  /// Returns the value of one of the item's members.
  package func value(of member: RawMember) -> RawItem { RawItem(storage, node: member.node) }

  /// Decodes the item.
  ///
  /// Throws what the decoder throws, and as `value` does for text that is no Unicode.
  public func decode<Value: Decodable>(
    _ type: Value.Type = Value.self, with decoder: JSONDecoder = JSONDecoder()
  ) throws -> Value {
    try storage.decode(type, of: node, with: decoder)
  }

  /// The item as the server wrote it, if that is not JSON; nil if it is.
  package var sourceBytes: [UInt8]? { storage.sourceBytes(of: node) }

  /// The item's compact JSON.
  public var description: String { String(decoding: compact, as: UTF8.self) }
}

/// Access to values of an item that is not decoded. Only the requested value is made.
///
/// A path is names with `/` between them, `user/login`; in a list, a number counts from 0:
/// `labels/0`. Write `~1` for a `/` in a name and `~0` for a `~` (RFC 6901). If a name occurs
/// twice, the first one counts.
///
/// ```swift
/// for try await issue in issues.items where issue.bool("locked") != true {
///   print(issue.integer("number") ?? 0, issue.string("user/login") ?? "nobody")
/// }
/// ```
extension RawItem {
  /// The value at a path; nil if there is none, or if it is no Unicode text.
  public subscript(path: String) -> JSONValue? { storage.value(at: path, of: node) }

  /// Returns the text at a path; nil if there is none, or if the value is no text.
  public func string(_ path: String) -> String? { storage.value(at: path, of: node)?.string }

  /// Returns the whole number at a path, which may be written as a text; nil if there is none.
  public func integer(_ path: String) -> Int? { storage.integer(at: path, of: node) }

  /// Returns the number at a path, which may be written as a text; nil for none or too large a one.
  public func double(_ path: String) -> Double? {
    switch storage.value(at: path, of: node) {
    case .number(let text), .string(let text):
      // `Double.init` also accepts `0x10` and `nan`.
      text.utf8.allSatisfy { (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0) }
        ? Double(text).flatMap { $0.isFinite ? $0 : nil } : nil
    default: nil
    }
  }

  /// Returns the truth value at a path, read as by `JSONValue.boolean`; nil if there is none.
  public func bool(_ path: String) -> Bool? { storage.value(at: path, of: node)?.boolean }
}

extension RawItemStorage {
  /// Looks the path up in the value of the whole item.
  package func value(at path: String, of node: Int) -> JSONValue? {
    path.split(separator: "/", omittingEmptySubsequences: false)
      .reduce(try? value(of: node)) { found, step in
        if case .array(let elements)? = found {
          return PagePath.index(step).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
        }
        let name = step.replacing("~1", with: "/").replacing("~0", with: "~")
        return found?[String(name)]
      }
  }

  package func integer(at path: String, of node: Int) -> Int? {
    value(at: path, of: node)?.integer
  }
}
