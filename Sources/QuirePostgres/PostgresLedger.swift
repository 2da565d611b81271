import Foundation
import QuireCore
import QuireExport

/// The ledger of a table: its row in `_quire`.
struct PostgresLedger {
  let sink: PostgresSink
  let connection: PostgresConnection

  private var table: String { sink.table }

  /// The name of the table in which a run is staged, until it replaces the table: at most 63 bytes.
  var stagedName: String {
    let prefix = "_quire_staged_"
    guard prefix.utf8.count + table.utf8.count > 63 else { return prefix + table }
    return prefix + String(FNV1a(table.utf8).value, radix: 16)
  }

  /// Takes the lock for writing the table, which ends with the connection. Waits for it a little,
  /// because the server may notice the end of a killed export late. Throws `.inUse` if another export
  /// has it, and `.writeFailed` if there is no schema to write to, or the server takes no changes.
  func lock() throws {
    let start = ContinuousClock.now
    var row = try tryLock()
    while row?.last == "f", ContinuousClock.now - start < PostgresConnection.lockWait {
      usleep(100_000)
      row = try tryLock()
    }
    guard row?[1] == "off" else {
      throw SinkError(
        .writeFailed,
        "PostgreSQL takes no changes to the table \(table): it is a standby or was set to be read-only. "
          + "Name the server that can be written, and go on.")
    }
    guard let schema = row?.first, schema != nil else {
      throw SinkError(
        .writeFailed,
        "The database has no schema for the table \(table): its search_path names none that exists. "
          + "Create the schema, or name another in the address, such as by "
          + "?options=-csearch_path%3Dpublic. Nothing was requested.")
    }
    guard row?.last == "t" else {
      throw SinkError(
        .inUse,
        "Another export is writing to the table \(table): the two would repeat items. Wait for it, end "
          + "it, or write to another table. Nothing was requested.")
    }
  }

  /// Tries to take the lock. Returns the schema, whether the server is read-only, as `on` or `off`,
  /// and whether the lock was taken, as `t` or `f`.
  private func tryLock() throws -> [String?]? {
    try connection.query(
      """
      SELECT current_schema(), current_setting('transaction_read_only'), \
      pg_try_advisory_lock(hashtextextended('quire ' || current_schema() || '.' || $1, 0))
      """, [table]
    ).first
  }

  func create() throws {
    guard try !exists("_quire") else { return }
    // Two exports may create it at the same time, which fails even with `IF NOT EXISTS`.
    try connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('quire', 0))")
    try connection.execute(Self.tables)
  }

  /// The statements that create the table.
  static let tables = """
    CREATE TABLE IF NOT EXISTS _quire ("table" text PRIMARY KEY, checkpoint text NOT NULL, \
    settings text NOT NULL, columns text NOT NULL, staged text); REVOKE ALL ON _quire FROM PUBLIC
    """

  /// Whether the current schema has a table or a view of a name.
  func exists(_ name: String) throws -> Bool { try kind(of: name) != nil }

  /// Returns what the current schema has by a name, as in `DROP TABLE`; nil if it is no table or view.
  private func kind(of name: String) throws -> String? {
    try connection.query(
      """
      SELECT CASE c.relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' \
      WHEN 'f' THEN 'FOREIGN TABLE' ELSE 'TABLE' END \
      FROM pg_class c WHERE c.relname = $1 AND c.relkind IN ('r', 'v', 'm', 'p', 'f') \
      AND c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
      """, [name]
    ).first?[0]
  }

  func read(locking: Bool = false) throws -> LedgerRow? {
    guard try exists("_quire"),
      let row = try connection.query(
        """
        SELECT checkpoint, settings, columns, staged FROM _quire WHERE "table" = $1\
        \(locking ? " FOR UPDATE" : "")
        """, [table]
      ).first
    else { return nil }
    return try LedgerRow(of: table, row[0], row[1], row[2], row[3])
  }

  /// Writes the checkpoint, and the columns of the table or of the one staged for it.
  func write(_ checkpoint: Checkpoint, _ columns: [TableColumns.Column], isStaged: Bool) throws {
    let line = String(decoding: checkpoint.bytes, as: UTF8.self)
    let columns = try columns.storedJSON
    if isStaged {
      try connection.query(
        "UPDATE _quire SET checkpoint = $1, staged = $2 WHERE \"table\" = $3",
        [line, columns, table])
    } else {
      try connection.query(
        """
        INSERT INTO _quire ("table", checkpoint, settings, columns, staged) VALUES ($1, $2, $3, $4, \
        NULL) ON CONFLICT ("table") DO UPDATE SET checkpoint = excluded.checkpoint, \
        settings = excluded.settings, columns = excluded.columns, staged = NULL
        """, [table, line, try sink.shape.settings.storedJSON, columns])
    }
  }

  /// Drops the table and the one staged for it, and removes the row.
  func removeAll() throws {
    try drop(table)
    try dropStaged()
    try connection.query("DELETE FROM _quire WHERE \"table\" = $1", [table])
  }

  /// Drops the staged table, if there is one.
  func dropStaged() throws { try drop(stagedName) }

  private func drop(_ name: String) throws {
    guard let kind = try kind(of: name) else { return }
    try connection.execute("DROP \(kind) \(name.quotedName)")
  }

  /// Removes the checkpoints of all units of work, whose items are gone.
  func forgetUnits() throws {
    guard try exists("_quire_units") else { return }
    try connection.query("DELETE FROM _quire_units WHERE \"table\" = $1", [table])
  }

  /// Throws if others have changed the table so that no rows can be written to it.
  func checkTable(_ record: LedgerRow?) throws {
    guard let record else { return }
    try PostgresTable(self, isStaged: false, stored: record.columns).check()
  }

  /// Throws if the table was created with other settings, or not by an export, or is missing.
  func check(_ record: LedgerRow?) throws {
    let exists = try exists(table)
    guard let record else {
      guard !exists else { throw SinkError.notOurs(table, of: "The database") }
      return
    }
    guard exists else { throw SinkError.missing(table, of: "The database") }
    try record.settings.check(sink.shape.settings, of: "The table \(table)")
  }
}
