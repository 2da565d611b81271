import Foundation
import QuireCore
import QuireExport

/// The work of one session on the database.
///
/// SAFETY: its variables are used only in work on the connection's queue, which is serial.
final class PostgresWriter: @unchecked Sendable {
  private let sink: PostgresSink
  private let restarts: Bool
  private let isStopping: @Sendable () -> Bool
  private let connection: PostgresConnection
  private let ledger: PostgresLedger
  /// The checkpoint of the last commit; nil if there is none, and before the first one of a
  /// restart.
  private var committed: Checkpoint?
  private var isRestarted = false

  init(_ sink: PostgresSink, _ opening: SinkOpening) {
    self.sink = sink
    (restarts, isStopping) = (opening.restarts, opening.isStopping)
    connection = PostgresConnection(sink.connection)
    ledger = PostgresLedger(sink: sink, connection: connection)
  }

  /// Connects, locks the table, and returns its checkpoint.
  func open() async throws -> Checkpoint? {
    try await connection.run { [self] in
      try connection.connect()
      try ledger.lock()
      guard !restarts else { return nil }
      let record = try ledger.read()
      try ledger.check(record)
      committed = record?.checkpoint
      return committed
    }
  }

  func close() async {
    try? await connection.run { [self] in connection.close() }
  }

  /// Writes items and the checkpoint as one transaction. Repeats it if it was lost with the
  /// connection, or aborted by the server because of a conflict. Throws `CancellationError` if the
  /// export is to stop and the server cannot be reached.
  func commit(_ items: [TableItem], _ checkpoint: Checkpoint) async throws {
    try await connection.run { [self] in
      let end = ContinuousClock.now + PostgresDatabase.patience
      while true {
        do {
          try transact(items, checkpoint)
          (committed, isRestarted) = (checkpoint, true)
          return
        } catch {
          guard connection.isOpen else {
            try reconnect(until: end, error)
            continue
          }
          let isOver = !connection.isConflict || ContinuousClock.now >= end
          try? connection.execute("ROLLBACK")
          if isOver { throw error }
          Thread.sleep(forTimeInterval: Self.pause)
        }
      }
    }
  }

  /// The delay between two attempts, in seconds.
  private static let pause = 0.2

  private func reconnect(until end: ContinuousClock.Instant, _ reason: any Error) throws {
    while ContinuousClock.now < end {
      do {
        try connection.connect()
        try ledger.lock()
        return
      } catch SinkError.Code.inUse {
        // The server may not have noticed yet that the old connection is gone.
        connection.close()
      } catch {}
      if isStopping() { throw CancellationError() }
      Thread.sleep(forTimeInterval: Self.pause)
    }
    throw reason
  }

  private func transact(_ items: [TableItem], _ checkpoint: Checkpoint) throws {
    try connection.execute("BEGIN")
    try ledger.create()
    let isAnew = restarts && !isRestarted
    // An export that begins again does not need the ledger, even if that is damaged.
    let record = try isAnew ? nil : ledger.read(locking: true)
    if !isAnew, record?.checkpoint != committed {
      // This commit succeeded before, but its answer was lost. Whole checkpoints are compared,
      // because another export may have committed as many times meanwhile.
      if record?.checkpoint == checkpoint { return try connection.execute("COMMIT") }
      // The fence: an export that lost its lock without knowing it must not overwrite another's
      // commits.
      throw SinkError(
        .inUse, "Another export has written to the table \(sink.table) meanwhile: this one ends.")
    }
    var isStaged = record?.staged != nil
    var table = try PostgresTable(
      ledger, isStaged: isStaged, stored: record?.staged ?? record?.columns)
    if isAnew {
      try ledger.removeAll()
      try ledger.forgetUnits()
    } else if sink.mode == .replace, let committed, committed.isOver {
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
    try connection.execute("COMMIT")
  }
}
