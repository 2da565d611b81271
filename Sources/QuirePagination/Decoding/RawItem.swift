public import QuireCore

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// What a page keeps its raw items in, as JSON.
package protocol RawItemStorage: Sendable {
  /// The item's bytes, as the page has them.
  func bytes(of node: Int) -> ArraySlice<UInt8>
  /// Appends the bytes without white space between tokens.
  func appendCompact(_ node: Int, to output: inout [UInt8])
  /// The item as a value; throws `malformed` for text that is no Unicode.
  func value(of node: Int) throws -> JSONValue
  /// The item's bytes as the server wrote them, where these are no JSON; nil where they are.
  func markup(of node: Int) -> [UInt8]?
  /// What is at a path below the item; nil where there is nothing. Throws as `value(of:)`.
  func value(at path: PagePath, of node: Int) throws -> JSONValue?
  /// The bytes of what is at a path below the item, without white space between tokens; nil where there is
  /// nothing.
  func compact(at path: PagePath, of node: Int) throws -> [UInt8]?
  /// The members of an object, in order, each by its name and the node of its value; nil where the item is
  /// none. A name that is no Unicode is as it was written, escapes included.
  func members(of node: Int) -> [(name: String, node: Int)]?
  /// Whether an object's members can be visited.
  var indexesMembers: Bool { get }
  /// Shows each member of an object, in order, then calls `finish`; false where the item is none. What
  /// is shown lives until `finish` returns.
  func visitMembers(
    of node: Int, _ visit: (RawMember) throws -> Void, finish: () throws -> Void
  ) throws -> Bool
  /// The value at a path below the item; nil where there is none, and for text that is no Unicode.
  func value(at path: String, of node: Int) -> JSONValue?
  /// The whole number at a path below the item.
  func integer(at path: String, of node: Int) -> Int?
  /// The item as `decoder` decodes it; throws what the decoder throws, and as `value(of:)`.
  func decode<Value: Decodable>(
    _ type: Value.Type, of node: Int, with decoder: JSONDecoder
  ) throws -> Value
}

extension RawItemStorage {
  /// Found in the whole item's value.
  package func value(at path: PagePath, of node: Int) throws -> JSONValue? {
    try value(of: node).value(at: path)
  }

  /// Written anew from the value.
  package func compact(at path: PagePath, of node: Int) throws -> [UInt8]? {
    try value(at: path, of: node).map { Array($0.description.utf8) }
  }

  /// Nil: most items are JSON.
  package func markup(of node: Int) -> [UInt8]? { nil }

  /// None: there is no index of them.
  package func members(of node: Int) -> [(name: String, node: Int)]? { nil }

  /// False.
  package var indexesMembers: Bool { false }

  /// None, as above.
  package func visitMembers(
    of node: Int, _ visit: (RawMember) throws -> Void, finish: () throws -> Void
  ) -> Bool { false }
}

/// A member of an object, in the bytes of its page: for readers of many items, which make no values.
package struct RawMember {
  /// What the value is.
  package enum Kind {
    case null, `false`, `true`, number
    /// A string whose bytes are its text, one with escapes, and one with what is no Unicode.
    case string, escapedString, flawedString
    case container
  }

  /// The name between its quotes, as it was written, escapes included.
  package let name: UnsafeBufferPointer<UInt8>
  package let kind: Kind
  /// The value as it was written, of a string what is between its quotes.
  package let text: UnsafeBufferPointer<UInt8>
  /// The node of the value.
  package let node: Int

  package init(
    name: UnsafeBufferPointer<UInt8>, kind: Kind, text: UnsafeBufferPointer<UInt8>, node: Int
  ) {
    (self.name, self.kind, self.text, self.node) = (name, kind, text, node)
  }
}

/// One item of a page as the server wrote it, not yet made into a type of yours: from JSON as it is, from
/// XML as `XMLItem.value` maps elements to JSON.
///
/// It keeps its whole page in memory: make what you need of it and let it go, or copy its bytes.
public struct RawItem: Sendable, CustomStringConvertible {
  let storage: any RawItemStorage
  let node: Int

  package init(_ storage: any RawItemStorage, node: Int) {
    self.storage = storage
    self.node = node
  }

  /// The bytes, with the server's own white space.
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

  /// The item as a lossless value, built anew at each call.
  ///
  /// Throws `malformed` when a string in it is no Unicode text, such as half a surrogate pair.
  public var value: JSONValue {
    get throws { try storage.value(of: node) }
  }

  /// What is at a path in the item, such as `/id`; nil where there is nothing. An explicit null is
  /// `.null`.
  ///
  /// Throws as `value` does, and `shape` where a name on the way occurs twice in its object.
  public func value(at path: PagePath) throws -> JSONValue? {
    try storage.value(at: path, of: node)
  }

  /// The bytes of what is at a path, as `compact` gives those of the item: of text that is no Unicode, too. Throws
  /// `shape` as `value(at:)` does.
  package func compact(at path: PagePath) throws -> [UInt8]? {
    try storage.compact(at: path, of: node)
  }

  /// The members of an object, in order, without a copy of their bytes; nil where the item is no object,
  /// and where its page has no index of them, as one of XML has none.
  package func members() -> [(name: String, value: RawItem)]? {
    storage.members(of: node)?.map { ($0.name, RawItem(storage, node: $0.node)) }
  }

  /// Shows each member of an object, in order, then calls `finish`, until which the bytes live; false where
  /// the item is no object, and where its page has no index.
  package func visitMembers(
    _ visit: (RawMember) throws -> Void, finish: () throws -> Void
  ) throws -> Bool {
    try storage.visitMembers(of: node, visit, finish: finish)
  }

  /// Whether the item is an object whose members can be visited.
  package var isIndexedObject: Bool {
    storage.indexesMembers && bytes.first == UInt8(ascii: "{")
  }

  /// The value of one of its members.
  package func value(of member: RawMember) -> RawItem { RawItem(storage, node: member.node) }

  /// The item as a type of yours.
  ///
  /// Throws what the decoder throws, and as `value` does for text that is no Unicode.
  public func decode<Value: Decodable>(
    _ type: Value.Type = Value.self, with decoder: JSONDecoder = JSONDecoder()
  ) throws -> Value {
    try storage.decode(type, of: node, with: decoder)
  }

  /// The item's own bytes where they are no JSON; nil where they are.
  package var markup: [UInt8]? { storage.markup(of: node) }

  /// The compact bytes as text.
  public var description: String { String(decoding: compact, as: UTF8.self) }
}

/// Values of an item without a type: looked up where the item is, none but the one that is asked for
/// being made.
///
/// A path is names with `/` between them, `user/login`; in a list, a number counts from 0: `labels/0`.
/// Write `~1` for a `/` in a name and `~0` for a `~` (RFC 6901). Of a name that occurs twice the first
/// counts.
///
/// ```swift
/// for try await issue in issues.items where issue.bool("locked") != true {
///   print(issue.integer("number") ?? 0, issue.string("user/login") ?? "nobody")
/// }
/// ```
extension RawItem {
  /// The value at a path; nil where there is none, and for text that is no Unicode.
  public subscript(path: String) -> JSONValue? { storage.value(at: path, of: node) }

  /// The text at a path; nil where there is none or another value.
  public func string(_ path: String) -> String? { storage.value(at: path, of: node)?.string }

  /// The whole number at a path, or the one that a text is; nil where there is none.
  public func integer(_ path: String) -> Int? { storage.integer(at: path, of: node) }

  /// The number at a path, or the one that a text is; nil where there is none, and for one that is too large.
  public func double(_ path: String) -> Double? {
    switch storage.value(at: path, of: node) {
    case .number(let text), .string(let text):
      // Swift reads `0x10` and `nan`, too.
      text.utf8.allSatisfy { (0x30...0x39).contains($0) || "+-.eE".utf8.contains($0) }
        ? Double(text).flatMap { $0.isFinite ? $0 : nil } : nil
    default: nil
    }
  }

  /// The truth value at a path, read as `JSONValue.boolean` reads it; nil where there is none.
  public func bool(_ path: String) -> Bool? { storage.value(at: path, of: node)?.boolean }
}

extension RawItemStorage {
  /// For items that are kept as bytes: made and looked into.
  package func value(at path: String, of node: Int) -> JSONValue? {
    path.split(separator: "/", omittingEmptySubsequences: false)
      .reduce(try? value(of: node)) { found, step in
        if case .array(let elements)? = found {
          return Int(step).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
        }
        let name = step.replacing("~1", with: "/").replacing("~0", with: "~")
        return found?[String(name)]
      }
  }

  package func integer(at path: String, of node: Int) -> Int? {
    value(at: path, of: node)?.integer
  }
}
