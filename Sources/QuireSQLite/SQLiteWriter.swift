import GRDB
import GRDBSQLite
import QuireCore
import QuireExport
import QuirePagination

/// What one session does with the database.
///
/// SAFETY: made and used on the database's queue alone; `checkpoint` is set once, before others see it.
final class SQLiteWriter: @unchecked Sendable {
  /// What the database holds.
  let checkpoint: Checkpoint?

  private let sink: SQLiteSink
  private let restarts: Bool
  /// What a new run has so far that is to take the place of the table; nil where none is staged.
  private var isStaged: Bool
  private var table: SQLiteTable
  private var isBegun = false
  private var isRestarted = false
  private let ledger: SQLiteLedger
  /// The columns of the table whose place a run is to take.
  private var live: [TableColumns.Column] = []

  /// Reads what the database holds.
  init(_ sink: SQLiteSink, _ database: Database, restarts: Bool) throws {
    self.sink = sink
    self.restarts = restarts
    ledger = SQLiteLedger(table: sink.table)
    // What cannot be read is of no use to an export that begins anew.
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
    try table.finish(database)
    if isStaged, checkpoint.isComplete {
      try table.takePlace(of: sink.table, database)
      isStaged = false
    }
    try ledger.write(
      checkpoint, sink, isStaged ? .staged(table.columns) : .live(table.columns), database)
    try database.commit()
    isBegun = false
  }

  /// Begins a transaction, and, with the first one, what a new run begins with. Others may have added columns since
  /// the last one.
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
      // It has the columns of the other, as wide as they are.
      table = try SQLiteTable(
        ledger.stagedName, sink, database, stored: table.columns, exists: false)
      isStaged = true
    }
  }
}
