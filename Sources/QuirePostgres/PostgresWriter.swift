import QuireExport

/// The work of an export of a whole table, within one transaction.
struct PostgresWriter {
  private let sink: PostgresSink
  private let ledger: PostgresLedger

  init(_ sink: PostgresSink, _ connection: PostgresConnection) {
    self.sink = sink
    ledger = PostgresLedger(sink: sink, connection: connection)
  }

  /// Checks the table, and returns its checkpoint.
  func open() throws -> Checkpoint? {
    let record = try ledger.read()
    try ledger.check(record)
    try ledger.checkTable(record)
    return record?.checkpoint
  }

  /// Writes items and the checkpoint, unless they were committed before. `last` is the checkpoint of
  /// the commit before; with `restarts`, what is there is removed.
  func commit(
    _ items: [TableItem], _ checkpoint: Checkpoint, behind last: Checkpoint?, restarts: Bool
  ) throws {
    try ledger.create()
    // An export that begins again does not need the ledger, even if that is damaged.
    let record = try restarts ? nil : ledger.read(locking: true)
    if !restarts, record?.checkpoint != last {
      // This commit succeeded before, but its answer was lost. Whole checkpoints are compared,
      // because another export may have committed as many times meanwhile.
      if record?.checkpoint == checkpoint { return }
      // The fence: an export that lost its lock without knowing it must not overwrite another's
      // commits.
      throw SinkError(
        .inUse, "Another export has written to the table \(sink.table) meanwhile: this one ends.")
    }
    var isStaged = record?.staged != nil
    var table = try PostgresTable(
      ledger, isStaged: isStaged, stored: record?.staged ?? record?.columns)
    if restarts {
      try ledger.removeAll()
      try ledger.forgetUnits()
    } else if sink.mode == .replace, let last, last.isOver {
      isStaged = true
      try ledger.dropStaged()
      table = try PostgresTable(ledger, isStaged: true, stored: record?.columns, exists: false)
    }
    try table.insert(items)
    if isStaged, checkpoint.isComplete {
      try table.takePlace(of: record?.columns ?? [])
      try ledger.forgetUnits()
      isStaged = false
    }
    try ledger.write(checkpoint, table.columns, isStaged: isStaged)
  }
}
