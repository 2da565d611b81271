import QuireCore
package import QuirePagination

/// An item to write to a table, as an object whose members can be visited.
package struct TableItem: Sendable {
  private let whole: RawItem
  private let object: RawItem
  /// Whether to delete the row with the item's key; the object then has only the key.
  package let isDeletion: Bool

  /// Creates the object of an item as `shape` defines it. Throws as `TableShape.object(of:)`.
  package init(_ item: RawItem, _ shape: TableShape) throws {
    whole = item
    object = try shape.object(of: item)
    isDeletion = false
  }

  /// Creates the deletion of an item's row. Throws `SinkError` with the code `unfit` if a part of
  /// the key is missing or the table has no key.
  package init(deletionOf item: RawItem, _ shape: TableShape) throws {
    whole = item
    object = try shape.key(of: item)
    isDeletion = true
  }

  /// Returns the items and deletions of a page. Throws as both initializers, and names the item
  /// that has no key.
  package static func all(of page: SinkPage, _ shape: TableShape) throws -> [TableItem] {
    for (index, item) in page.items.enumerated() {
      guard let path = try shape.missingKey(of: item) else { continue }
      var error = TableShape.unfit(
        path, "Item \(index + 1) of page \(page.index + 1) of this run")
      error.sparesEarlierPages = true
      throw error
    }
    return try page.items.map { try TableItem($0, shape) }
      + page.deleted.map { try TableItem(deletionOf: $0, shape) }
  }

  /// Divides items into runs of consecutive writes and consecutive deletions.
  package static func runs(of items: [TableItem]) -> [ArraySlice<TableItem>] {
    var runs: [ArraySlice<TableItem>] = []
    var start = items.startIndex
    for index in items.indices where items[index].isDeletion != items[start].isDeletion {
      runs.append(items[start..<index])
      start = index
    }
    if start < items.endIndex { runs.append(items[start...]) }
    return runs
  }

  /// The length of the item in bytes.
  package var count: Int { whole.bytes.count }

  /// Visits each member in order, then calls `finish`. The members' bytes are valid until `finish`
  /// returns.
  @inline(__always)
  package func visit(_ visit: (RawMember) throws -> Void, finish: () throws -> Void) throws {
    _ = try object.visitMembers(visit, finish: finish)
  }

  /// Appends a member's value as JSON without white space.
  package func append(_ member: RawMember, to output: inout [UInt8]) {
    object.value(of: member).appendCompact(to: &output)
  }

  /// Appends a member to `text`, the beginning of a JSON object. Begins the object if `text` is
  /// empty.
  package func add(_ member: RawMember, to text: inout [UInt8]) {
    text.append(text.isEmpty ? UInt8(ascii: "{") : UInt8(ascii: ","))
    text.append(UInt8(ascii: "\""))
    text.append(contentsOf: member.name)
    text.append(contentsOf: [UInt8(ascii: "\""), UInt8(ascii: ":")])
    append(member, to: &text)
  }

  /// Appends the whole item as JSON without white space.
  package func append(to output: inout [UInt8]) { whole.appendCompact(to: &output) }

  /// Finds or adds a column for each member, and widens it. `seen` has for each column the `mark`
  /// of the last item with a value for it.
  ///
  /// Throws `SinkError` with the code `unfit` if a part of the key is missing or null.
  package func observe(
    by columns: inout TableColumns, _ seen: inout [Int], mark: Int
  ) throws {
    columns.beginItem()
    var keyed = 0
    try visit(
      { member in
        guard let place = columns.observe(member) else { return }
        while seen.count <= place { seen.append(0) }
        guard seen[place] != mark else {
          // The first of several members with one name has the column; `rest` holds the others.
          columns.addRest()
          return
        }
        seen[place] = mark
        if member.kind != .null, columns.isKey(place) { keyed += 1 }
      }, finish: {})
    if keyed < columns.key.count { throw TableShape.unfit(try missingKey(of: &columns)) }
  }

  /// Returns the first part of the key that is missing or null.
  private func missingKey(of columns: inout TableColumns) throws -> PagePath {
    var present: Set<Int> = []
    try visit(
      { member in
        if let place = columns.observe(member), member.kind != .null { present.insert(place) }
      }, finish: {})
    return columns.key.first { !present.contains($0.index) }?.path ?? columns.key[0].path
  }
}
