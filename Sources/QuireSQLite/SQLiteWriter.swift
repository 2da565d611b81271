import GRDB
import GRDBSQLite
import QuireCore
import QuireExport
import QuirePagination

/// The work of one session on the database.
///
/// SAFETY: it is created and used only on the database's queue; `checkpoint` is set once, before it
/// is shared.
final class SQLiteWriter: @unchecked Sendable {
  /// The checkpoint in the database at the start; nil if there is none, and for a restart.
  let checkpoint: Checkpoint?

  private let sink: SQLiteSink
  private let restarts: Bool
  /// Whether `table` is staged, to replace the sink's table when the run is complete.
  private var isStaged: Bool
  private var table: SQLiteTable
  private var isBegun = false
  private var isRestarted = false
  private let ledger: SQLiteLedger
  /// The columns of the table that a staged run will replace.
  private var live: [TableColumns.Column] = []

  /// Reads the ledger, and checks the table and its settings. Throws `SinkError`.
  init(_ sink: SQLiteSink, _ database: Database, restarts: Bool) throws {
    // SQLite opens a file that cannot be written for reading.
    guard sqlite3_db_readonly(database.sqliteConnection, "main") == 0 else {
      throw SinkError(
        .writeFailed,
        "\(sink.path) cannot be written, only read: change its permissions. Nothing was requested.")
    }
    self.sink = sink
    self.restarts = restarts
    ledger = SQLiteLedger(sink: sink)
    // An export that begins again does not need the ledger, even if that is damaged.
    let record = try restarts ? nil : ledger.read(database)
    let exists = try database.tableExists(sink.table) || database.viewExists(sink.table)
    guard let record else {
      guard restarts || !exists else { throw SinkError.notOurs(sink.table, of: sink.path) }
      checkpoint = nil
      isStaged = false
      table = try SQLiteTable(sink.table, sink, database, stored: nil)
      return
    }
    try record.settings.check(
      sink.shape.settings, of: "The table \(sink.table) of \(sink.path)")
    let name = record.staged == nil ? sink.table : ledger.stagedName
    guard try exists && database.tableExists(name) else {
      throw SinkError.missing(sink.table, of: sink.path)
    }
    checkpoint = record.checkpoint
    isStaged = record.staged != nil
    live = record.columns
    table = try SQLiteTable(name, sink, database, stored: record.staged ?? record.columns)
    try table.check(database)
  }

  /// Writes items into a transaction that stays open.
  func add(_ items: [TableItem], to database: Database) throws {
    try begin(database)
    try table.insert(items, database)
  }

  /// Writes items and the checkpoint, and commits.
  func commit(_ items: [TableItem], _ checkpoint: Checkpoint, to database: Database) throws {
    try begin(database)
    try table.insert(items, database)
    try table.applyColumns(in: database)
    if isStaged, checkpoint.isComplete {
      try table.takePlace(of: sink.table, database)
      isStaged = false
    }
    try ledger.write(checkpoint, table.columns, isStaged: isStaged, database)
    try database.commit()
    isBegun = false
  }

  /// Begins a transaction, unless one is open, and with the first one the run. Gives way to columns
  /// that others have added since the last one.
  private func begin(_ database: Database) throws {
    guard !isBegun else { return }
    isBegun = true
    try database.beginTransaction(.immediate)
    if !isRestarted { try beginRun(database) }
    try table.giveWay(beside: isStaged ? live : table.columns, database)
  }

  private func beginRun(_ database: Database) throws {
    isRestarted = true
    try ledger.create(database)
    if restarts {
      try SQLiteTable.drop(sink.table, database)
      try SQLiteTable.drop(ledger.stagedName, database)
      try ledger.remove(database)
    } else if sink.mode == .replace, let checkpoint, checkpoint.isOver {
      try SQLiteTable.drop(ledger.stagedName, database)
      // The staged table begins with the columns of the table, as wide as they are.
      table = try SQLiteTable(
        ledger.stagedName, sink, database, stored: table.columns, exists: false)
      isStaged = true
    }
  }
}
