import Foundation
import QuireCore
import QuireExport

/// What one session does with the database.
///
/// SAFETY: its variables are used in work on the connection's queue alone, which is serial.
final class PostgresWriter: @unchecked Sendable {
  private let sink: PostgresSink
  private let restarts: Bool
  private let connection: PostgresConnection
  private let ledger: PostgresLedger
  /// The last commit; nil where there is none, and before a restart's first.
  private var committed: Checkpoint?
  private var isRestarted = false

  init(_ sink: PostgresSink, restarts: Bool) {
    self.sink = sink
    self.restarts = restarts
    connection = PostgresConnection(sink.connection)
    ledger = PostgresLedger(sink: sink, connection: connection)
  }

  /// Connects, locks, and returns what was committed.
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

  /// Writes items and the checkpoint as one transaction, and does so again where the connection is lost
  /// on the way and the transaction with it, or the server ends that for a deadlock.
  func commit(_ items: [TableItem], _ checkpoint: Checkpoint) async throws {
    try await connection.run { [self] in
      let end = ContinuousClock.now + PostgresDatabase.patience
      while true {
        do {
          try transact(items, checkpoint)
          (committed, isRestarted) = (checkpoint, true)
          return
        } catch {
          if connection.isOpen {
            let isOver = !connection.isConflict || ContinuousClock.now >= end
            try? connection.execute("ROLLBACK")
            if isOver { throw error }
            Thread.sleep(forTimeInterval: Self.pause)
            continue
          }
          try reconnect(until: end, error)
          // The answer to a commit may be what was lost; one that takes all away can be repeated. Another export
          // may have committed meanwhile, too, as often as this one.
          guard !restarts || isRestarted else { continue }
          do {
            if try ledger.read()?.checkpoint.bytes == checkpoint.bytes {
              (committed, isRestarted) = (checkpoint, true)
              return
            }
          } catch {
            // Where it is lost once more, the next try connects.
            guard !connection.isOpen else { throw error }
          }
        }
      }
    }
  }

  /// Seconds between two tries.
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
      Thread.sleep(forTimeInterval: Self.pause)
    }
    throw reason
  }

  private func transact(_ items: [TableItem], _ checkpoint: Checkpoint) throws {
    try connection.execute("BEGIN")
    try ledger.create()
    let isAnew = restarts && !isRestarted
    // What cannot be read is of no use to an export that begins anew.
    let record = try isAnew ? nil : ledger.read(locking: true)
    // The fence: an export that lost its lock, and does not know it yet, must not write over another's.
    if !isAnew {
      guard record?.checkpoint == committed else {
        throw SinkError(
          .inUse, "Another export has written to the table \(sink.table) meanwhile: this one ends.")
      }
    }
    var isStaged = record?.staged != nil
    var table = try PostgresTable(
      sink, connection, isStaged: isStaged, stored: record?.staged ?? record?.columns)
    if isAnew {
      try PostgresTable.drop(sink.table, ledger)
      try PostgresTable.drop(PostgresTable.stagedName(sink.table), ledger)
      try ledger.remove()
      try ledger.forgetUnits()
    } else if sink.mode == .replace, let committed, committed.isOver {
      isStaged = true
      try PostgresTable.drop(PostgresTable.stagedName(sink.table), ledger)
      table = try PostgresTable(
        sink, connection, isStaged: true, stored: record?.columns, exists: false)
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
