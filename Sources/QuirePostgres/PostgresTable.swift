import QuireCore
import QuireExport
import QuirePagination

/// A writer of items to a table, within one transaction.
struct PostgresTable {
  private let name: String
  private let sink: PostgresSink
  private let connection: PostgresConnection
  private var tableColumns: TableColumns
  /// The columns as the database has them; nil if the table does not exist yet.
  private var applied: [TableColumns.Column]?

  /// The columns of the table, with those that the items so far need.
  var columns: [TableColumns.Column] { tableColumns.columns }

  /// Creates a writer for the table, or for the one staged for it. `stored` has its columns by the
  /// ledger; a table that does not exist yet will get these.
  init(
    _ ledger: PostgresLedger, isStaged: Bool, stored: [TableColumns.Column]?, exists: Bool = true
  ) throws {
    name = isStaged ? ledger.stagedName : ledger.sink.table
    (sink, connection) = (ledger.sink, ledger.connection)
    applied = exists ? stored : nil
    var foreign: [String] = []
    if let stored {
      // Staged rows are moved to the table itself, so they cannot use names of columns that others
      // added there.
      foreign = try Self.foreign(to: stored, in: sink.table, connection)
    }
    tableColumns = TableColumns(
      sink.shape, in: .postgres, limit: 300, stored: stored, foreign: foreign)
  }

  /// Writes items in their order, after changing the columns as they need.
  mutating func insert(_ items: [TableItem]) throws {
    var seen: [Int] = []
    for (mark, item) in items.enumerated() {
      try item.observe(by: &tableColumns, &seen, mark: mark + 1)
    }
    // A table may have no columns before its first item, but COPY needs one.
    if tableColumns.columns.isEmpty, !items.isEmpty { tableColumns.addRest() }
    try define()
    for run in TableItem.runs(of: items) { try write(run) }
  }

  /// Writes items that are all deletions, or all insertions and updates.
  private func write(_ items: ArraySlice<TableItem>) throws {
    guard let first = items.first else { return }
    let names = tableColumns.names.joined(separator: ", ")
    let keyNames = tableColumns.keyNames
    guard !keyNames.isEmpty else {
      return try copy(items, into: "\(name.quotedName) (\(names))", isNumbered: false)
    }
    try connection.execute(
      """
      CREATE TEMPORARY TABLE _quire_page ON COMMIT DROP AS SELECT \(names) FROM \(name.quotedName) \
      WITH NO DATA; ALTER TABLE _quire_page ADD COLUMN _quire_order bigint
      """)
    try copy(items, into: "_quire_page (\(names), _quire_order)", isNumbered: true)
    let keys = keyNames.joined(separator: ", ")
    if first.isDeletion {
      let conditions = keyNames.map { "live.\($0) = page.\($0)" }.joined(separator: " AND ")
      return try connection.execute(
        """
        DELETE FROM \(name.quotedName) AS live USING _quire_page AS page WHERE \(conditions); \
        DROP TABLE _quire_page
        """)
    }
    try connection.execute(
      """
      INSERT INTO \(name.quotedName) (\(names)) SELECT \(names) FROM (SELECT DISTINCT ON (\(keys)) * \
      FROM _quire_page ORDER BY \(keys), _quire_order DESC) AS page ORDER BY _quire_order\
      \(tableColumns.conflictClause)
      """)
    try connection.execute("DROP TABLE _quire_page")
  }

  private func copy(_ items: ArraySlice<TableItem>, into target: String, isNumbered: Bool) throws {
    var rows = PostgresRows(tableColumns, isNumbered: isNumbered)
    var next = items.startIndex
    try connection.copy("COPY \(target) FROM STDIN") {
      while next < items.endIndex, rows.bytes.count < 1 << 20 {
        try rows.append(items[next])
        next += 1
      }
      return rows.take()
    }
  }

  // MARK: Definition

  /// Throws `.damaged` if others have taken away a column of the table, or the index of its key.
  func check() throws {
    guard applied == tableColumns.columns, !tableColumns.columns.isEmpty else { return }
    let values = repeatElement("NULL", count: tableColumns.names.count).joined(separator: ", ")
    do {
      // The server looks for both when it plans the statement, which is not executed.
      try connection.execute(
        """
        EXPLAIN INSERT INTO \(name.quotedName) (\(tableColumns.names.joined(separator: ", "))) \
        VALUES (\(values))\(tableColumns.conflictClause)
        """)
    } catch let error as SinkError where connection.lacksColumn {
      throw SinkError.altered(sink.table, of: "The database", error.message)
    }
  }

  /// Returns the type of a column. A key needs a type with an order, which JSON does not have.
  private func declaration(_ column: TableColumns.Column) -> String {
    isKey(column) && column.type == .json ? "text" : column.type.postgresName
  }

  private func isKey(_ column: TableColumns.Column) -> Bool {
    tableColumns.key.contains {
      tableColumns.columns[$0.index].name.utf8.elementsEqual(column.name.utf8)
    }
  }

  private mutating func define() throws {
    guard applied != tableColumns.columns else { return }
    if let applied {
      try change(name, applied)
    } else {
      let definitions = tableColumns.columns.map { "\($0.name.quotedName) \(declaration($0))" }
      try connection.execute(
        "CREATE TABLE \(name.quotedName) (\(definitions.joined(separator: ", ")))")
      let keys = tableColumns.keyNames.joined(separator: ", ")
      if !keys.isEmpty {
        try connection.execute("CREATE UNIQUE INDEX ON \(name.quotedName) (\(keys))")
      }
    }
    applied = tableColumns.columns
  }

  /// Changes the columns with one statement, so that the table is rewritten at most once.
  private func change(_ name: String, _ old: [TableColumns.Column]) throws {
    var changes: [String] = []
    for (old, new) in zip(old, tableColumns.columns) where declaration(old) != declaration(new) {
      let column = new.name.quotedName
      let type = declaration(new)
      let isTrimmed =
        new.type == .text && [.decimal, .number].contains(old.type) && isKey(new)
      let value =
        switch old.type {
        case .none: "NULL"
        // As new rows write it: equal numbers have equal texts in a key.
        case _ where isTrimmed:
          "(CASE WHEN \(column)::text LIKE '%.%' THEN rtrim(rtrim(\(column)::text, '0'), '.') "
            + "ELSE \(column)::text END)"
        default: column
        }
      changes.append("ALTER COLUMN \(column) TYPE \(type) USING \(value)::\(type)")
    }
    for column in tableColumns.columns.dropFirst(old.count) {
      changes.append("ADD COLUMN \(column.name.quotedName) \(declaration(column))")
    }
    guard !changes.isEmpty else { return }
    try connection.execute(
      "ALTER TABLE \(name.quotedName) \(changes.joined(separator: ", "))")
  }

  // MARK: Tables

  /// Returns the names of a table's columns that are not among `own`: others have added them.
  private static func foreign(
    to own: [TableColumns.Column], in table: String, _ connection: PostgresConnection
  ) throws -> [String] {
    let names = Set(own.map { Array($0.name.utf8) })
    return try connection.query(
      """
      SELECT attname FROM pg_attribute WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped
      """, [table.quotedName]
    ).compactMap { $0[0] }.filter { !names.contains(Array($0.utf8)) }
  }

  /// Moves the staged rows to the table, whose views, indexes and rights stay. Readers see the old
  /// rows until the commit.
  mutating func takePlace(of live: [TableColumns.Column]) throws {
    // Columns that others added since the staging keep their names.
    let foreign = try Self.foreign(to: live, in: sink.table, connection)
    for (old, new) in tableColumns.renameColumns(conflictingWith: foreign) {
      try connection.execute(
        "ALTER TABLE \(name.quotedName) RENAME COLUMN \(old.quotedName) TO \(new.quotedName)")
    }
    try change(sink.table, live)
    let names = tableColumns.names.joined(separator: ", ")
    // Without columns there are no rows to move.
    let moving =
      names.isEmpty
      ? ""
      : "INSERT INTO \(sink.table.quotedName) (\(names)) SELECT \(names) FROM \(name.quotedName); "
    try connection.execute(
      "DELETE FROM \(sink.table.quotedName); \(moving)DROP TABLE \(name.quotedName)")
  }
}

extension TableDialect {
  static let postgres = TableDialect(
    foldsCase: false, longestName: 63,
    reserved: ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid", "_quire_order"],
    hasLongDecimals: true, holdsNUL: false)
}

extension ColumnType {
  fileprivate var postgresName: String {
    switch self {
    case .none, .text: "text"
    case .boolean: "boolean"
    case .integer: "bigint"
    case .decimal, .number: "numeric"
    case .json: "json"
    }
  }
}
