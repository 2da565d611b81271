import QuireCore
package import QuirePagination

/// The columns of a table, their types, and the member of its items that each holds. A pure
/// machine: the caller applies the changes to the database.
package struct TableColumns: Sendable {
  /// A column of the table, as it is stored.
  package struct Column: Codable, Hashable, Sendable {
    /// The member whose values the column holds; nil for a column of the sink's own.
    package var member: String?
    package var name: String
    package var type: ColumnType
  }

  /// A part of the key: its path, and the index of its column.
  package struct KeyPart: Sendable {
    package let path: PagePath
    package let index: Int
  }

  /// The name of the column for members without a column, and for values that their column cannot
  /// hold. It holds a JSON object.
  package static let rest = "_rest"

  package private(set) var columns: [Column] = []
  package private(set) var key: [KeyPart] = []
  /// The indices of the columns for the whole item and for `rest`; nil if the table has none.
  package private(set) var itemIndex: Int?
  package private(set) var restIndex: Int?

  private let dialect: TableDialect
  /// The maximum number of columns.
  private let limit: Int
  private let keepsAll: Bool
  /// Names in use, case-folded if the database ignores case.
  private var taken: Set<[UInt8]> = []
  /// The index of each column by its member's name.
  private var indexes: [[UInt8]: Int] = [:]
  /// For each column, the column of the member that followed it in the last item, and that member's
  /// written name. Entry 0 is for the first member of an item.
  private var followers: [(index: Int, name: [UInt8])] = []
  private var last = 0

  /// Creates the columns of a new table, or restores the `stored` ones. `foreign` are the names of
  /// columns that other programs have added to the table.
  package init(
    _ shape: TableShape, in dialect: TableDialect, limit: Int, stored: [Column]? = nil,
    foreign: [String] = []
  ) {
    self.dialect = dialect
    self.limit = limit
    keepsAll = shape.columns == nil
    followers = [(-1, [])]
    let own = [Self.rest, shape.item].compactMap(\.self)
    for name in foreign + own + dialect.reserved { taken.insert(dialect.folded(name.utf8)) }
    for column in stored ?? [] { add(column) }
    key = zip(shape.key?.paths ?? [], shape.keyNames).map {
      KeyPart(path: $0, index: index(ofNew: $1))
    }
    for column in shape.columns ?? [] { _ = index(ofNew: column.name) }
    itemIndex = shape.item.map { index(ofOwn: $0) }
    restIndex = columns.firstIndex { $0.member == nil && $0.name == Self.rest }
  }

  // MARK: Members

  /// Returns the column of a member; nil if it has none. Fastest for members in the same order as
  /// in the item before.
  @inline(__always)
  package mutating func index(of name: UnsafeBufferPointer<UInt8>) -> Int? {
    let expected = followers[last].name
    if expected.count == name.count, followers[last].index >= 0,
      expected.withUnsafeBufferPointer({ isEqual($0, name) })
    {
      last = followers[last].index + 1
      return last - 1
    }
    return lookUp(name)
  }

  /// Starts a new item: the next member is its first one.
  @inline(__always)
  package mutating func beginItem() { last = 0 }

  private mutating func lookUp(_ written: UnsafeBufferPointer<UInt8>) -> Int? {
    let written = Array(written)
    // Most names are written without escapes.
    let plain = written.contains(UInt8(ascii: "\\")) ? nil : indexes[written]
    guard let found = plain ?? indexes[Array(JSONText.text(written).utf8)] else { return nil }
    followers[last] = (found, written)
    last = found + 1
    return found
  }

  /// Finds or adds the column of a member, and widens it for the member's value.
  ///
  /// Returns nil if the member has no column. Adds the column `rest` if the member needs it.
  mutating func observe(_ member: RawMember) -> Int? {
    guard let index = self.index(of: member.name) ?? indexOfNew(member.name) else {
      if keepsAll { addRest() }
      return nil
    }
    if columns[index].type != .text {
      let type = dialect.type(of: member)
      if columns[index].type != type { columns[index].type = columns[index].type.joined(type) }
    }
    if !dialect.holds(member) { addRest() }
    return index
  }

  /// Returns the column of a member; nil if the columns have to change for its value.
  package mutating func fittingIndex(of member: RawMember) -> Int? {
    guard let index = self.index(of: member.name), dialect.holds(member) else { return nil }
    let known = columns[index].type
    guard known != .text else { return index }
    let type = dialect.type(of: member)
    return known == type || known.joined(type) == known ? index : nil
  }

  /// Returns whether the column holds a part of the key.
  @inline(__always)
  package func isKey(_ index: Int) -> Bool {
    for part in key where part.index == index { return true }
    return false
  }

  /// Whether members without a column are kept in `rest`.
  package var keepsRest: Bool { keepsAll }

  /// Adds the column `rest` if the table has none.
  package mutating func addRest() {
    if restIndex == nil { restIndex = index(ofOwn: Self.rest, type: .json) }
  }

  // MARK: Columns

  private mutating func indexOfNew(_ name: UnsafeBufferPointer<UInt8>) -> Int? {
    // One column is reserved for `rest`.
    guard keepsAll, columns.count < limit - 1 else { return nil }
    return index(ofNew: JSONText.text(Array(name)))
  }

  private mutating func index(ofNew member: String) -> Int {
    indexes[Array(member.utf8)]
      ?? add(Column(member: member, name: freeName(for: member), type: .none))
  }

  private mutating func index(ofOwn name: String, type: ColumnType = .none) -> Int {
    columns.firstIndex { $0.member == nil && $0.name == name }
      ?? add(Column(member: nil, name: name, type: type))
  }

  @discardableResult
  private mutating func add(_ column: Column) -> Int {
    taken.insert(dialect.folded(column.name.utf8))
    columns.append(column)
    followers.append((-1, []))
    if let member = column.member { indexes[Array(member.utf8)] = columns.count - 1 }
    return columns.count - 1
  }

  /// Renames the columns of members whose names `foreign` columns have taken. Returns the old and
  /// new names.
  package mutating func renameColumns(
    conflictingWith foreign: [String]
  ) -> [(old: String, new: String)] {
    let names = Set(foreign.map { dialect.folded($0.utf8) })
    taken.formUnion(names)
    var changes: [(old: String, new: String)] = []
    for index in columns.indices {
      let old = columns[index].name
      guard let member = columns[index].member, names.contains(dialect.folded(old.utf8)) else {
        continue
      }
      let new = freeName(for: member)
      columns[index].name = new
      taken.insert(dialect.folded(new.utf8))
      changes.append((old, new))
    }
    return changes
  }

  /// Returns a name for the column of a member: the member's own if it is valid and free, else with
  /// a number added.
  private func freeName(for member: String) -> String {
    var name = member.replacing("\0", with: "\u{FFFD}")
    if name.isEmpty { name = "_" }
    name = name.cut(to: dialect.longestName)
    var candidate = name
    var number = 2
    while taken.contains(dialect.folded(candidate.utf8)) {
      let ending = "_\(number)"
      candidate = name.cut(to: dialect.longestName - ending.utf8.count) + ending
      number += 1
    }
    return candidate
  }
}

/// The columns in SQL.
extension TableColumns {
  /// The quoted names of all columns.
  package var names: [String] { columns.map(\.name.quotedName) }

  /// The quoted names of the columns of the key.
  package var keyNames: [String] { key.map { columns[$0.index].name.quotedName } }

  /// The end of a statement that inserts rows: a row whose key is known changes the row that has it.
  /// Empty without a key.
  package var conflictClause: String {
    guard !key.isEmpty else { return "" }
    let changes = zip(columns.indices, names).filter { !isKey($0.0) }
      .map { "\($0.1) = excluded.\($0.1)" }
    return " ON CONFLICT (\(keyNames.joined(separator: ", "))) DO "
      + (changes.isEmpty ? "NOTHING" : "UPDATE SET \(changes.joined(separator: ", "))")
  }
}

@inline(__always)
private func isEqual(
  _ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>
) -> Bool {
  for index in 0..<left.count where left[index] != right[index] { return false }
  return true
}

extension TableDialect {
  /// Returns whether a column can hold the text of a value unchanged.
  package func holds(_ member: RawMember) -> Bool {
    switch member.kind {
    case .invalidUnicodeString: false
    case .escapedString: holdsNUL || !JSONText.hasNUL(member.text)
    case .container: holdsNUL || !JSONText.hasUnstorableEscapes(member.text)
    default: true
    }
  }
}

extension String {
  fileprivate func cut(to length: Int) -> String {
    guard utf8.count > length else { return self }
    var result = ""
    var count = 0
    for scalar in unicodeScalars {
      count += String(scalar).utf8.count
      if count > length { break }
      result.unicodeScalars.append(scalar)
    }
    return result
  }
}
