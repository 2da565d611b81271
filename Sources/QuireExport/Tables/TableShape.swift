import QuireCore
import QuireJSON
public import QuirePagination

/// What of an item goes into a table, and what it is found by.
package struct TableShape: Sendable {
  /// What is stored of it: what was written in another shape is another table.
  package struct Settings: Codable, Hashable, Sendable {
    /// Paths of the key.
    package var key: [String]
    /// Names and paths of the chosen columns; nil for all members.
    package var columns: [String]?
    /// The column that holds the whole item.
    package var item: String?
  }

  package let key: TableKey?
  package let columns: [TableColumn]?
  /// The column that holds the whole item; nil for none.
  package let item: String?
  /// The members that are the key.
  package let keyNames: [String]
  /// Parts of the key that no member holds yet.
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

  /// The object whose members are the row: the item, where nothing else is asked for.
  ///
  /// An item that is no object is the member `value` of one. Throws `malformed` for what is no JSON, and
  /// `SinkError` with the code `unfit` where a part of the key is missing.
  func object(of item: RawItem) throws -> RawItem {
    if columns == nil, extras.isEmpty, item.isIndexedObject { return item }
    let isObject = item.bytes.first == UInt8(ascii: "{")
    guard columns != nil || !extras.isEmpty else {
      return try RawItem(isObject ? Array(item.bytes) : Self.object(of: [("value", item.bytes)]))
    }
    var members: [(String, ArraySlice<UInt8>)] = []
    for (name, path) in extras where isObject || !path.steps.isEmpty {
      guard let value = try item.compact(at: path) else { throw Self.unfit(path) }
      members.append((name, value[...]))
    }
    guard let columns else {
      guard isObject else { return try RawItem(Self.object(of: members + [("value", item.bytes)])) }
      // Behind the parts of the key come the item's own members.
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

  /// The object that has an item's key alone.
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

  static func unfit(_ path: PagePath) -> SinkError {
    SinkError(
      .unfit,
      "An item has nothing at \(path.place), where its key should be: no later one could take its "
        + "place. Name a key that all items have, or none.")
  }
}

/// Where the key of an item is, by which a later one takes its place: one path, or several together.
///
/// ```swift
/// SQLiteSink("github.db", table: "issues", key: "/id")
/// SQLiteSink("github.db", table: "comments", key: ["/repository", "/number"])
/// ```
/// Each path is a column of the table: that of the member, such as `id`; for a path to something deeper
/// one of its own that is called as the path is, such as `user/id`.
public struct TableKey: Hashable, Sendable, ExpressibleByStringLiteral,
  ExpressibleByArrayLiteral
{
  /// The paths, in order; at least one.
  public let paths: [PagePath]

  /// A key at one path, or at several. Traps where there is none.
  public init(_ paths: [PagePath]) {
    precondition(!paths.isEmpty, "A key has at least one path.")
    self.paths = paths
  }

  /// A key at one path. Traps on a malformed one, as `PagePath` does.
  public init(stringLiteral value: String) { self.init([PagePath(stringLiteral: value)]) }

  /// A key of several parts.
  public init(arrayLiteral elements: PagePath...) { self.init(elements) }
}

extension PagePath {
  /// The name of the member where the path leads to one of the item's own.
  var memberName: String? {
    guard steps.count == 1, case .name(let name) = steps[0] else { return nil }
    return name
  }
}
