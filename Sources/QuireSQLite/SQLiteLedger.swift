import GRDB
import QuireCore
import QuireExport

/// The ledger of a table: its row in `_quire`.
struct SQLiteLedger {
  let sink: SQLiteSink

  private var table: String { sink.table }

  /// The name of the table in which a run is staged, until it replaces the table.
  var stagedName: String { "_quire_staged_\(table)" }

  func create(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE TABLE IF NOT EXISTS _quire ("table" TEXT PRIMARY KEY COLLATE NOCASE, checkpoint TEXT \
        NOT NULL, settings TEXT NOT NULL, columns TEXT NOT NULL, staged TEXT)
        """)
  }

  func read(_ database: Database) throws -> LedgerRow? {
    guard try database.tableExists("_quire"),
      let row = try Row.fetchOne(
        database,
        sql: "SELECT checkpoint, settings, columns, staged FROM _quire WHERE \"table\" = ?",
        arguments: [table])
    else { return nil }
    return try LedgerRow(
      of: table, row[0] as String?, row[1] as String?, row[2] as String?, row[3] as String?)
  }

  /// Writes the checkpoint, and the columns of the table or of the one staged for it.
  func write(
    _ checkpoint: Checkpoint, _ columns: [TableColumns.Column], isStaged: Bool, _ database: Database
  ) throws {
    let line = String(decoding: checkpoint.bytes, as: UTF8.self)
    let columns = try columns.storedJSON
    if isStaged {
      try database.execute(
        sql: "UPDATE _quire SET checkpoint = ?, staged = ? WHERE \"table\" = ?",
        arguments: [line, columns, table])
    } else {
      try database.execute(
        sql: """
          INSERT INTO _quire ("table", checkpoint, settings, columns, staged) VALUES (?, ?, ?, ?, NULL) \
          ON CONFLICT DO UPDATE SET checkpoint = excluded.checkpoint, settings = excluded.settings, \
          columns = excluded.columns, staged = NULL
          """, arguments: [table, line, try sink.shape.settings.storedJSON, columns])
    }
  }

  func remove(_ database: Database) throws {
    try database.execute(sql: "DELETE FROM _quire WHERE \"table\" = ?", arguments: [table])
  }
}
