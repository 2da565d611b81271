import QuireExport
import Synchronization

/// A database that outlives restarts of its server: work is done again where the connection was lost on the
/// way.
package final class PostgresDatabase: Sendable {
  /// How long a lost connection is tried to be made again, unless the caller says otherwise.
  package static let patience: Duration = .seconds(120)
  /// The longest wait between two tries.
  private static let longestWait: Duration = .seconds(5)

  private let connection: PostgresConnection
  private let isPrepared = Mutex(false)
  private let preparation: String
  private let waitsAtFirst: Bool

  /// What a try came to.
  private enum Try<Value: Sendable>: Sendable {
    case done(Value)
    /// The server is away.
    case away(any Error)
    /// The server chose this transaction to end a deadlock.
    case conflict(any Error)
  }

  /// A database that is connected to when it is first needed; `preparation` makes the tables, and is run
  /// once, alone. `waitsAtFirst`: whether a server is waited for that was never reached.
  package init(_ target: String, preparation: String, waitsAtFirst: Bool = true) {
    connection = PostgresConnection(target)
    self.preparation = preparation
    self.waitsAtFirst = waitsAtFirst
  }

  /// Does work as one transaction. It is done again where its outcome was not heard, so that it has to
  /// come to the same when done twice.
  ///
  /// `patience` is how long a server that is away is waited for, with growing delays; nil for ever. A
  /// cancelled task tries once. Throws `SinkError`, and what the work throws.
  package func transaction<Value: Sendable>(
    patience: Duration? = PostgresDatabase.patience,
    _ work: @escaping @Sendable (PostgresConnection) throws -> Value
  ) async throws -> Value {
    let start = ContinuousClock.now
    var wait: Duration = .milliseconds(100)
    while true {
      let failure: any Error
      switch try await connection.run({ [self] in try attempt(work) }) {
      case .done(let value): return value
      case .conflict(let error): failure = error
      case .away(let error):
        guard waitsAtFirst || isPrepared.withLock({ $0 }) else { throw error }
        failure = error
      }
      let isOver = patience.map { ContinuousClock.now - start >= $0 } ?? false
      // Others may use the connection meanwhile.
      guard !isOver, (try? await Task.sleep(for: wait)) != nil else { throw failure }
      wait = min(wait * 2, Self.longestWait)
    }
  }

  /// Ends the connection; the next work makes another.
  package func close() async {
    try? await connection.run { [connection] in connection.close() }
  }

  private func attempt<Value: Sendable>(
    _ work: (PostgresConnection) throws -> Value
  ) throws -> Try<Value> {
    do {
      if !connection.isOpen { try connection.connect() }
      return .done(try transact(work))
    } catch {
      guard connection.isOpen else { return .away(error) }
      let isConflict = connection.isConflict
      try? connection.execute("ROLLBACK")
      if isConflict { return .conflict(error) }
      throw error
    }
  }

  private func transact<Value>(_ work: (PostgresConnection) throws -> Value) throws -> Value {
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
