package import QuirePagination

/// Which columns a table has, of which type, and which member of its items each holds. A machine: the
/// database does what has changed.
package struct TableColumns: Sendable {
  /// A column.
  package struct Column: Codable, Hashable, Sendable {
    /// The member whose values it holds; nil for a column of the sink's own.
    package var member: String?
    package var name: String
    package var type: ColumnType
  }

  /// A part of the key.
  package struct KeyPart: Sendable {
    package let path: PagePath
    package let place: Int
  }

  /// What holds members that have no column, or whose text a column cannot hold: a JSON object.
  package static let rest = "_rest"

  package private(set) var columns: [Column] = []
  package private(set) var key: [KeyPart] = []
  /// Where the whole item is kept, and where what has no other place.
  package private(set) var itemPlace: Int?
  package private(set) var restPlace: Int?

  private let dialect: TableDialect
  /// How many columns there may be.
  private let limit: Int
  private let keepsAll: Bool
  /// Names that are taken, folded where case does not count.
  private var taken: Set<[UInt8]> = []
  /// Columns by their member's name.
  private var places: [[UInt8]: Int] = [:]
  /// The column whose value came next to that of each, last time, and how its name was written.
  private var followers: [(place: Int, name: [UInt8])] = []
  private var last = 0

  /// The columns of a new table, or those that were `stored`; `foreign` are names of columns that others
  /// have added to it.
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
      KeyPart(path: $0, place: place(ofNew: $1))
    }
    for column in shape.columns ?? [] { _ = place(ofNew: column.name) }
    itemPlace = shape.item.map { place(ofOwn: $0) }
    restPlace = columns.firstIndex { $0.member == nil && $0.name == Self.rest }
  }

  // MARK: Members

  /// Where a member's values go; nil for one that has no column. Members mostly come in the order they
  /// came in before.
  @inline(__always)
  package mutating func place(of name: UnsafeBufferPointer<UInt8>) -> Int? {
    let expected = followers[last].name
    if expected.count == name.count, followers[last].place >= 0,
      expected.withUnsafeBufferPointer({ isEqual($0, name) })
    {
      last = followers[last].place + 1
      return last - 1
    }
    return lookUp(name)
  }

  /// Begins with the first member of an item.
  @inline(__always)
  package mutating func beginItem() { last = 0 }

  private mutating func lookUp(_ written: UnsafeBufferPointer<UInt8>) -> Int? {
    let written = Array(written)
    // Most names are written as they are, without escapes and in UTF-8.
    let plain = written.contains(UInt8(ascii: "\\")) ? nil : places[written]
    guard let found = plain ?? places[Array(JSONText.text(written).utf8)] else { return nil }
    followers[last] = (found, written)
    last = found + 1
    return found
  }

  /// Makes room for a member's value: finds its column or adds one, and widens it.
  ///
  /// Returns nil where it has no column. What has none, or whose text its column cannot hold, needs the
  /// column of the rest.
  mutating func observe(_ member: RawMember) -> Int? {
    guard let place = place(of: member.name) ?? placeOfNew(member.name) else {
      if keepsAll { addRest() }
      return nil
    }
    if columns[place].type != .text {
      let type = dialect.type(of: member)
      if columns[place].type != type { columns[place].type = columns[place].type.joined(type) }
    }
    if !dialect.holds(member) { addRest() }
    return place
  }

  /// Where a member's value goes; nil where the columns would have to change for it.
  package mutating func fittingPlace(of member: RawMember) -> Int? {
    guard let place = place(of: member.name), dialect.holds(member) else { return nil }
    let known = columns[place].type
    guard known != .text else { return place }
    let type = dialect.type(of: member)
    return known == type || known.joined(type) == known ? place : nil
  }

  /// Whether the column holds a part of the key that is a member.
  @inline(__always)
  package func isKey(_ place: Int) -> Bool {
    for part in key where part.place == place { return true }
    return false
  }

  /// Whether items keep members that have no column.
  package var keepsRest: Bool { keepsAll }

  /// Makes the column for what has no other.
  package mutating func addRest() {
    if restPlace == nil { restPlace = place(ofOwn: Self.rest, type: .json) }
  }

  // MARK: Columns

  private mutating func placeOfNew(_ name: UnsafeBufferPointer<UInt8>) -> Int? {
    // Room for the rest.
    guard keepsAll, columns.count < limit - 1 else { return nil }
    return place(ofNew: JSONText.text(Array(name)))
  }

  private mutating func place(ofNew member: String) -> Int {
    places[Array(member.utf8)]
      ?? add(Column(member: member, name: freeName(for: member), type: .none))
  }

  private mutating func place(ofOwn name: String, type: ColumnType = .none) -> Int {
    columns.firstIndex { $0.member == nil && $0.name == name }
      ?? add(Column(member: nil, name: name, type: type))
  }

  @discardableResult
  private mutating func add(_ column: Column) -> Int {
    taken.insert(dialect.folded(column.name.utf8))
    columns.append(column)
    followers.append((-1, []))
    if let member = column.member { places[Array(member.utf8)] = columns.count - 1 }
    return columns.count - 1
  }

  /// Gives other names to columns of members whose names are those of others by now: what each was called, and is.
  package mutating func giveWay(to foreign: [String]) -> [(old: String, new: String)] {
    let names = Set(foreign.map { dialect.folded($0.utf8) })
    taken.formUnion(names)
    var changes: [(old: String, new: String)] = []
    for place in columns.indices {
      let old = columns[place].name
      guard let member = columns[place].member, names.contains(dialect.folded(old.utf8)) else {
        continue
      }
      let new = freeName(for: member)
      columns[place].name = new
      taken.insert(dialect.folded(new.utf8))
      changes.append((old, new))
    }
    return changes
  }

  /// A name for a member's column: its own, where a column can have it and none has, else one with a
  /// number.
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

@inline(__always)
private func isEqual(
  _ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>
) -> Bool {
  for index in 0..<left.count where left[index] != right[index] { return false }
  return true
}

extension TableDialect {
  /// Whether a column can hold a value's text as it is.
  func holds(_ member: RawMember) -> Bool {
    switch member.kind {
    case .flawedString: false
    case .escapedString: holdsNUL || !JSONText.hasNUL(member.text)
    case .container: holdsNUL || !JSONText.hasUnheld(member.text)
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
