import QuireCore
import QuireJSON
public import QuirePagination

/// The parts of an item that a table stores, and the key by which it finds rows.
package struct TableShape: Sendable {
  /// The stored form of a shape. A table can only be continued with equal settings.
  package struct Settings: Codable, Hashable, Sendable {
    /// The paths of the key; empty for none.
    package var key: [String]
    /// The names and paths of the chosen columns; nil for all members.
    package var columns: [String]?
    /// The name of the column for the whole item; nil for none.
    package var item: String?
  }

  package let key: TableKey?
  package let columns: [TableColumn]?
  /// The name of the column for the whole item; nil for none.
  package let item: String?
  /// The names of the members that form the key.
  package let keyNames: [String]
  /// The parts of the key that are not members of the row yet.
  private let extras: [(name: String, path: PagePath)]

  package init(key: TableKey?, columns: [TableColumn]?, item: String?) {
    self.key = key
    self.columns = columns
    self.item = item
    let parts = (key?.paths ?? []).map { path -> (name: String, path: PagePath, isThere: Bool) in
      if let column = columns?.first(where: { $0.path == path }) {
        return (column.name, path, true)
      }
      let name = String(path.text.drop { $0 == "/" })
      if let member = path.memberName { return (member, path, columns == nil) }
      return (name.isEmpty ? "value" : name, path, false)
    }
    keyNames = parts.map(\.name)
    extras = parts.filter { !$0.isThere }.map { ($0.name, $0.path) }
  }

  package var settings: Settings {
    Settings(
      key: key?.paths.map(\.text) ?? [], columns: columns?.map { "\($0.name)=\($0.path.text)" },
      item: item)
  }

  /// Returns the object whose members form the row: the item itself if its members are all that is
  /// stored.
  ///
  /// An item that is not an object becomes the member `value` of one. Throws `malformed` for
  /// invalid JSON, and `SinkError` with the code `unfit` if a part of the key is missing.
  func object(of item: RawItem) throws -> RawItem {
    if columns == nil, extras.isEmpty, item.isIndexedObject { return item }
    let isObject = item.bytes.first == UInt8(ascii: "{")
    var members: [(String, ArraySlice<UInt8>)] = []
    for (name, path) in extras where isObject || !path.steps.isEmpty {
      guard let value = try item.compact(at: path) else { throw Self.unfit(path) }
      members.append((name, value[...]))
    }
    guard let columns else {
      guard isObject else { return try RawItem(Self.object(of: members + [("value", item.bytes)])) }
      if !item.isIndexedObject {
        let row = try RawItem(Array(item.bytes))
        members += try hiddenKeys(of: item, row)
        if members.isEmpty { return row }
      }
      // The item's own members follow the parts of the key.
      let own = item.bytes.dropFirst().drop { $0 <= 0x20 }
      var text = Self.object(of: members)
      text[text.count - 1] = own.first == UInt8(ascii: "}") ? 0x20 : UInt8(ascii: ",")
      text.append(contentsOf: own)
      return try RawItem(text)
    }
    for column in columns {
      members.append((column.name, try item.compact(at: column.path)?[...] ?? Self.null))
    }
    return try RawItem(Self.object(of: members))
  }

  /// Returns the parts of the key that an item of XML has, but not as members of `row`, its JSON:
  /// their elements stand apart there, or have a prefix.
  private func hiddenKeys(
    of item: RawItem, _ row: RawItem
  ) throws -> [(String, ArraySlice<UInt8>)] {
    try (key?.paths ?? []).compactMap { path in
      guard let name = path.memberName, try row.compact(at: path) == nil,
        let value = try item.compact(at: path)
      else { return nil }
      return (name, value[...])
    }
  }

  /// Returns the first part of the key that an item lacks, or has as null.
  func missingKey(of item: RawItem) throws -> PagePath? {
    let isObject = item.bytes.first == UInt8(ascii: "{")
    return try key?.paths.first { path in
      // What is no object is the member `value` of a row.
      guard isObject || path.steps.isEmpty else { return path.memberName != "value" }
      var value = try item.compact(at: path)
      if value == nil, isObject, !item.isIndexedObject {
        value = try RawItem(Array(item.bytes)).compact(at: path)
      }
      return value.map { $0[...] == Self.null } ?? true
    }
  }

  /// Returns an object with only the key of an item.
  func key(of item: RawItem) throws -> RawItem {
    guard let key else {
      throw SinkError(
        .unfit,
        "An item is gone at the server, and a table without a key does not know which it was.")
    }
    var members: [(String, ArraySlice<UInt8>)] = []
    for (name, path) in zip(keyNames, key.paths) {
      guard let value = try item.compact(at: path)?[...], value != Self.null else {
        throw Self.unfit(path)
      }
      members.append((name, value))
    }
    return try RawItem(Self.object(of: members))
  }

  private static let null = ArraySlice("null".utf8)

  private static func object(of members: [(String, ArraySlice<UInt8>)]) -> [UInt8] {
    var text = [UInt8(ascii: "{")]
    for (index, (name, value)) in members.enumerated() {
      if index > 0 { text.append(UInt8(ascii: ",")) }
      text.append(contentsOf: "\(JSONValue.string(name)):".utf8)
      text.append(contentsOf: value)
    }
    return text + [UInt8(ascii: "}")]
  }

  static func unfit(_ path: PagePath, _ item: String = "An item") -> SinkError {
    SinkError(
      .unfit,
      "\(item) has nothing at \(path.place), where its key should be: no later one could take its "
        + "place. Name a key that all items have, or none.")
  }
}

/// The paths to an item's key, by which a later item replaces an earlier one: one path, or several
/// together.
///
/// ```swift
/// SQLiteSink("github.db", table: "issues", key: "/id")
/// SQLiteSink("github.db", table: "comments", key: ["/repository", "/number"])
/// ```
/// Each path is a column of the table. The path of a member uses the member's column, such as `id`;
/// a deeper path has its own column, named after the path, such as `user/id`.
public struct TableKey: Hashable, Sendable, ExpressibleByStringLiteral,
  ExpressibleByArrayLiteral
{
  /// The paths, in order. Not empty.
  public let paths: [PagePath]

  /// Creates a key of one or several paths. Traps if there are none.
  public init(_ paths: [PagePath]) {
    precondition(!paths.isEmpty, "A key has at least one path.")
    self.paths = paths
  }

  /// Creates a key of one path. Traps if it is malformed, as `PagePath` does.
  public init(stringLiteral value: String) { self.init([PagePath(stringLiteral: value)]) }

  /// Creates a key of several paths.
  public init(arrayLiteral elements: PagePath...) { self.init(elements) }
}

extension PagePath {
  /// The name of the member if the path leads to a member of the item itself; nil for other paths.
  var memberName: String? {
    guard steps.count == 1, case .name(let name) = steps[0] else { return nil }
    return name
  }
}
