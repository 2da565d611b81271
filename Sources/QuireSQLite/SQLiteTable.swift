import GRDB
import GRDBSQLite
import QuireCore
package import QuireExport
import QuirePagination

/// A writer of items to a table.
struct SQLiteTable {
  private let name: String
  private let sink: SQLiteSink
  private var tableColumns: TableColumns
  /// The columns as the database has them; nil if the table does not exist yet.
  private var applied: [TableColumns.Column]?
  private var row: SQLiteRow?
  private var seen: [Int] = []
  private var mark = 0

  /// The columns of the table, with those that the items so far need.
  var columns: [TableColumns.Column] { tableColumns.columns }

  /// Creates a writer for a table. `stored` has its columns by the ledger or, if it does not exist
  /// yet, the ones that it will get.
  init(
    _ name: String, _ sink: SQLiteSink, _ database: Database, stored: [TableColumns.Column]?,
    exists: Bool = true
  ) throws {
    self.name = name
    self.sink = sink
    let connection = database.sqliteConnection
    let limit = min(
      sqlite3_limit(connection, SQLITE_LIMIT_COLUMN, -1),
      sqlite3_limit(connection, SQLITE_LIMIT_VARIABLE_NUMBER, -1))
    var foreign: [String] = []
    if let stored {
      // A staged table replaces the table, so it cannot use names of columns that others added
      // there.
      let names = Set(stored.map { Array($0.name.utf8) })
      foreign = try Self.columns(of: sink.table, database)
        .filter { !names.contains(Array($0.utf8)) }
      if exists { applied = stored }
    }
    tableColumns = TableColumns(
      sink.shape, in: .sqlite, limit: Int(limit) - foreign.count, stored: stored, foreign: foreign)
  }

  /// Writes items in their order, after changing the columns as they need.
  mutating func insert(_ items: [TableItem], _ database: Database) throws {
    guard !items.isEmpty else { return }
    try dropStandIn(database)
    let hasDeletions = items.contains(where: \.isDeletion)
    // Most pages fit the columns, and need no pass over their items before.
    let rest = hasDeletions ? items[...] : try insertFitting(items)
    guard !rest.isEmpty else { return }
    for item in rest {
      mark += 1
      try item.observe(by: &tableColumns, &seen, mark: mark)
    }
    try applyColumns(in: database)
    var row = try self.row ?? SQLiteRow(upsert, tableColumns, database)
    if hasDeletions {
      var deletion = try SQLiteRow(deletion, tableColumns, database)
      for item in rest {
        if item.isDeletion {
          try deletion.insert(item, by: &tableColumns)
        } else {
          try row.insert(item, by: &tableColumns)
        }
      }
    } else {
      for item in rest { try row.insert(item, by: &tableColumns) }
    }
    self.row = row
  }

  /// Writes items up to the first one that needs other columns; returns the rest.
  private mutating func insertFitting(_ items: [TableItem]) throws -> ArraySlice<TableItem> {
    guard var row, applied == tableColumns.columns else { return items[...] }
    self.row = nil
    defer { self.row = row }
    for index in items.indices {
      guard try row.insert(items[index], by: &tableColumns, isChecked: true) else {
        return items[index...]
      }
    }
    return []
  }

  /// The statement that deletes a row, with the parameters for its key where a row has them.
  private var deletion: String {
    let conditions = zip(tableColumns.key, tableColumns.keyNames).map { "\($1) = ?\($0.index + 1)" }
    return "DELETE FROM \(name.quotedName) WHERE \(conditions.joined(separator: " AND "))"
  }

  /// Drops a table that has had no item, whose only column is there because SQLite has no table
  /// without columns. A table to which others have added something stays.
  private mutating func dropStandIn(_ database: Database) throws {
    guard name == sink.table, let applied, applied.count == 1, applied[0].member == nil,
      applied[0].name == TableColumns.rest,
      try Bool.fetchOne(
        database,
        sql: """
          SELECT NOT EXISTS (SELECT 1 FROM \(name.quotedName)) AND (SELECT count(*) FROM pragma_table_xinfo(?1)) = 1 \
          AND (SELECT count(*) FROM sqlite_master WHERE tbl_name = ?1 COLLATE NOCASE) = 1
          """, arguments: [name]) == true
    else { return }
    row = nil
    try Self.drop(name, database)
    self = try SQLiteTable(name, sink, database, stored: nil)
  }

  /// Creates the table, or changes it to its columns, if they differ.
  mutating func applyColumns(in database: Database) throws {
    // SQLite has no table without columns.
    if tableColumns.columns.isEmpty { tableColumns.addRest() }
    guard applied != tableColumns.columns else { return }
    row = nil
    if let applied {
      try change(applied, database)
    } else {
      try create(database)
    }
    applied = tableColumns.columns
  }

  /// Renames columns whose names others have used meanwhile for columns of the sink's table. `live`
  /// has the columns of that table that are the sink's.
  mutating func giveWay(beside live: [TableColumns.Column], _ database: Database) throws {
    let own = Set(live.map { TableDialect.sqlite.folded($0.name.utf8) })
    let foreign = try Self.columns(of: sink.table, database)
      .filter { !own.contains(TableDialect.sqlite.folded($0.utf8)) }
    for (old, new) in tableColumns.renameColumns(conflictingWith: foreign) {
      row = nil
      try database.execute(
        sql: "ALTER TABLE \(name.quotedName) RENAME COLUMN \(old.quotedName) TO \(new.quotedName)")
      applied = tableColumns.columns
    }
  }

  // MARK: Definition

  /// Throws `.damaged` if others have taken away a column of the table, or the index of its key.
  func check(_ database: Database) throws {
    guard applied == tableColumns.columns else { return }
    do {
      // SQLite looks for both when it compiles the statement.
      _ = try database.makeStatement(sql: upsert)
    } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
      throw SinkError.altered(sink.table, of: sink.path, "SQLite: \(error.message ?? "").")
    }
  }

  private func create(_ database: Database) throws {
    // Includes the columns that others added to the table that this one replaces: later, only few
    // kinds of columns can be added to rows.
    let definitions =
      try tableColumns.columns.map(\.definition) + missing(from: sink.table, database)
    try database.execute(
      sql: "CREATE TABLE \(name.quotedName) (\(definitions.joined(separator: ", ")))")
    guard !tableColumns.key.isEmpty else { return }
    var index = "_quire_key_\(sink.table)"
    while try database.hasIndex(index) { index += "_" }
    try database.execute(
      sql: """
        CREATE UNIQUE INDEX \(index.quotedName) ON \(name.quotedName) \
        (\(tableColumns.keyNames.joined(separator: ", ")))
        """)
  }

  private func change(_ old: [TableColumns.Column], _ database: Database) throws {
    let changed = zip(old, tableColumns.columns).filter {
      $0.type.declaration != $1.type.declaration
    }
    if !changed.isEmpty {
      try SQLiteDefinition(table: name).widen(changed.map { ($0, $1) }, database)
    }
    for column in tableColumns.columns.dropFirst(old.count) {
      try database.execute(sql: "ALTER TABLE \(name.quotedName) ADD COLUMN \(column.definition)")
    }
  }

  /// The statement that inserts a row, or updates the one with its key.
  private var upsert: String {
    let names = tableColumns.names
    return """
      INSERT INTO \(name.quotedName) (\(names.joined(separator: ", "))) VALUES \
      (\(repeatElement("?", count: names.count).joined(separator: ", ")))\(tableColumns.conflictClause)
      """
  }

  // MARK: Tables

  /// Returns the names of all columns of a table, in order.
  private static func columns(of table: String, _ database: Database) throws -> [String] {
    try String.fetchAll(
      database, sql: "SELECT name FROM pragma_table_xinfo(?)", arguments: [table])
  }

  /// Returns the definitions of the columns of another table that this one lacks.
  private func missing(from other: String, _ database: Database) throws -> [String] {
    let names = try tableColumns.columns.map(\.name) + Self.columns(of: name, database)
    let own = Set(names.map { TableDialect.sqlite.folded($0.utf8) })
    // The definitions after those of the columns are the table's constraints, which `zip` leaves
    // out.
    let columns = zip(
      try Self.columns(of: other, database), try SQLiteDefinition(table: other).columns(database))
    return columns.filter { !own.contains(TableDialect.sqlite.folded($0.0.utf8)) }.map { $0.1 }
  }

  static func drop(_ name: String, _ database: Database) throws {
    let kind = try database.viewExists(name) ? "VIEW" : "TABLE"
    try database.execute(sql: "DROP \(kind) IF EXISTS \(name.quotedName)")
  }

  /// Replaces another table, which is dropped, by this one. Creates again the columns that others
  /// added to it, its indexes and its triggers.
  mutating func takePlace(of other: String, _ database: Database) throws {
    row = nil
    // Columns that were added since this table was created.
    for definition in try missing(from: other, database) {
      try database.execute(sql: "ALTER TABLE \(name.quotedName) ADD COLUMN \(definition)")
    }
    let definitions = try String.fetchAll(
      database,
      sql: """
        SELECT sql FROM sqlite_master WHERE tbl_name = ? COLLATE NOCASE AND type IN ('index', 'trigger') \
        AND sql IS NOT NULL AND name NOT LIKE '\\_quire\\_key\\_%' ESCAPE '\\'
        """, arguments: [other])
    // Leaves the views of the other table unchanged, so that they refer to this one from now on.
    try database.execute(sql: "PRAGMA legacy_alter_table = ON")
    defer { try? database.execute(sql: "PRAGMA legacy_alter_table = OFF") }
    try Self.drop(other, database)
    try database.execute(
      sql: "ALTER TABLE \(name.quotedName) RENAME TO \(other.quotedName)")
    for definition in definitions { try database.execute(sql: definition) }
    self = try SQLiteTable(other, sink, database, stored: tableColumns.columns)
  }
}

extension TableDialect {
  package static let sqlite = TableDialect(
    foldsCase: true, longestName: 1_000, hasLongDecimals: false, holdsNUL: true)
}

extension TableColumns.Column {
  fileprivate var definition: String {
    type.declaration.isEmpty ? name.quotedName : "\(name.quotedName) \(type.declaration)"
  }
}

extension ColumnType {
  /// The type in SQL; empty for a column without values.
  var declaration: String {
    switch self {
    case .none: ""
    case .boolean: "BOOLEAN"
    case .integer: "INTEGER"
    case .decimal: "REAL"
    case .number: "NUMERIC"
    case .json, .text: "TEXT"
    }
  }
}

extension Database {
  fileprivate func hasIndex(_ name: String) throws -> Bool {
    try Bool.fetchOne(
      self,
      sql:
        "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'index' AND name = ? COLLATE NOCASE)",
      arguments: [name]) ?? false
  }
}
