import Foundation
import QuireExport
import Synchronization

/// A database that outlives restarts of its server: work is done again where the connection was lost on the
/// way.
package final class PostgresDatabase: Sendable {
  /// How long a lost connection is tried to be made again.
  static let patience: TimeInterval = 120

  private let connection: PostgresConnection
  private let isPrepared = Mutex(false)
  private let preparation: String

  /// A database that is connected to when it is first needed; `preparation` makes the tables, and is run
  /// once, alone.
  package init(_ target: String, preparation: String) {
    connection = PostgresConnection(target)
    self.preparation = preparation
  }

  /// Does work as one transaction. It is done again where its outcome was not heard, so that it has to
  /// come to the same when done twice.
  ///
  /// A cancelled task tries once and does not wait for a server that is away. Throws `SinkError`, and what
  /// the work throws.
  package func transaction<Value: Sendable>(
    _ work: @escaping @Sendable (PostgresConnection) throws -> Value
  ) async throws -> Value {
    let isStopping = Atomic(false)
    return try await withTaskCancellationHandler {
      try await connection.run { [self] in
        let end = Date() + Self.patience
        while true {
          do {
            if !connection.isOpen { try connection.connect() }
            return try attempt(work)
          } catch {
            guard !connection.isOpen, Date() < end, !isStopping.load(ordering: .relaxed) else {
              try? connection.execute("ROLLBACK")
              throw error
            }
            Thread.sleep(forTimeInterval: 0.1)
          }
        }
      }
    } onCancel: {
      isStopping.store(true, ordering: .relaxed)
    }
  }

  /// Ends the connection; the next work makes another.
  package func close() async {
    try? await connection.run { [connection] in connection.close() }
  }

  private func attempt<Value>(_ work: (PostgresConnection) throws -> Value) throws -> Value {
    try connection.execute("BEGIN")
    if !isPrepared.withLock({ $0 }) {
      // Two workers may make the tables at once, which `IF NOT EXISTS` does not stand.
      try connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('quire', 0))")
      try connection.execute(preparation)
      // The locks that it takes on the tables are let go before the work takes others.
      try connection.execute("COMMIT")
      isPrepared.withLock { $0 = true }
      try connection.execute("BEGIN")
    }
    let value = try work(connection)
    try connection.execute("COMMIT")
    return value
  }
}
