import QuireExport
import Synchronization

/// A database whose transactions survive restarts of its server: they are repeated if the
/// connection was lost.
package final class PostgresDatabase: Sendable {
  /// Called with the length of a wait and its reason.
  package typealias WaitHandler = @Sendable (Duration, any Error) -> Void

  /// The default time for which a lost connection is retried, two minutes.
  package static let patience: Duration = .seconds(120)
  /// The longest delay between two attempts.
  private static let longestWait: Duration = .seconds(5)

  private let connection: PostgresConnection
  private let isPrepared = Mutex(false)
  private let preparation: String
  private let waitsAtFirst: Bool
  private let onWait: WaitHandler
  private let onConnect: @Sendable (PostgresConnection) throws -> Void

  /// The outcome of an attempt.
  private enum Try<Value: Sendable>: Sendable {
    case done(Value)
    /// The server cannot be reached. `wasReached` tells whether it was, by this connection.
    case away(any Error, wasReached: Bool)
    /// The server aborted this transaction because of a conflict with another, such as a deadlock.
    case conflict(any Error)
    /// Another program keeps a lock that the transaction needs.
    case locked(any Error)
  }

  /// Creates a database, which connects at first use.
  ///
  /// - Parameters:
  ///   - preparation: The statements that create the tables, run once in their own transaction; empty
  ///     for none.
  ///   - waitsAtFirst: Whether to wait for a server that was never reached. A server that accepts
  ///     connections, but not this one, is not waited for.
  ///   - onConnect: Work on each new connection. If it fails, the server counts as not reached.
  ///   - onWait: Called before each wait for a server that cannot be reached, or for a lock.
  package init(
    _ target: String, preparation: String = "", waitsAtFirst: Bool = true,
    onConnect: @escaping @Sendable (PostgresConnection) throws -> Void = { _ in },
    onWait: @escaping WaitHandler = { _, _ in }
  ) {
    connection = PostgresConnection(target)
    self.preparation = preparation
    self.waitsAtFirst = waitsAtFirst
    self.onWait = onWait
    self.onConnect = onConnect
  }

  /// Performs work as one transaction. Repeats it if its outcome is unknown, so doing it twice must
  /// have the same effect as doing it once.
  ///
  /// `patience` is the time to wait for a server that cannot be reached, with growing delays, or for
  /// another program's lock; nil is forever. A cancelled task makes one attempt. Once `isStopping`
  /// returns true, throws `CancellationError` if two attempts have not reached the server, one has
  /// not got the lock, or the server does not answer. `onWait` is called besides the database's own.
  /// Throws `SinkError`, and the errors of the work.
  package func transaction<Value: Sendable>(
    patience: Duration? = PostgresDatabase.patience,
    isStopping: @escaping @Sendable () -> Bool = { false },
    onWait tellCaller: WaitHandler = { _, _ in },
    _ work: @escaping @Sendable (PostgresConnection) throws -> Value
  ) async throws -> Value {
    let start = ContinuousClock.now
    var wait: Duration = .milliseconds(100)
    var isRepeated = false
    var isInVain = false
    while true {
      let failure: any Error
      var told: Duration?
      switch try await connection.run(isStopping: isStopping, { [self] in try attempt(work) }) {
      case .done(let value): return value
      case .conflict(let error): failure = error
      case .locked(let error):
        if isStopping() { throw CancellationError() }
        failure = error
        told = PostgresConnection.lockWait
        // The attempt has waited itself.
        wait = .milliseconds(100)
      case .away(let error, let wasReached):
        if !wasReached, !isPrepared.withLock({ $0 }) {
          guard waitsAtFirst, !isInVain else {
            throw isStopping() ? CancellationError() as any Error : error
          }
          // Asked before the next attempt: a server that starts up may accept that one.
          isInVain = try await connection.run(isStopping: isStopping) { [connection] in
            connection.waitsInVain()
          }
        }
        // At first, only the connection may have been lost.
        if isRepeated, isStopping() { throw CancellationError() }
        isRepeated = true
        failure = error
        told = wait
      }
      if let patience, ContinuousClock.now - start >= patience { throw failure }
      if let told {
        onWait(told, failure)
        tellCaller(told, failure)
      }
      // Other transactions may use the connection during the delay.
      guard (try? await Task.sleep(for: wait)) != nil else { throw failure }
      wait = min(wait * 2, Self.longestWait)
    }
  }

  /// Closes the connection; the next transaction opens another.
  package func close() async {
    guard !connection.isGivenUp else { return connection.closeLater() }
    try? await connection.run { [connection] in connection.close() }
  }

  private func attempt<Value: Sendable>(
    _ work: (PostgresConnection) throws -> Value
  ) throws -> Try<Value> {
    var wasReached = connection.isOpen
    do {
      if !wasReached { try connect() }
      wasReached = true
      return .done(try transact(work))
    } catch {
      guard connection.isOpen else { return .away(error, wasReached: wasReached) }
      let (isConflict, isLocked) = (connection.isConflict, connection.isLocked)
      try? connection.execute("ROLLBACK")
      if isConflict { return .conflict(error) }
      if isLocked { return .locked(error) }
      throw error
    }
  }

  private func connect() throws {
    try connection.connect()
    do {
      try onConnect(connection)
    } catch {
      connection.close()
      throw error
    }
  }

  private func transact<Value>(_ work: (PostgresConnection) throws -> Value) throws -> Value {
    try connection.execute("BEGIN")
    if !isPrepared.withLock({ $0 }) {
      if !preparation.isEmpty {
        // Two workers may create the tables at the same time, which fails even with
        // `IF NOT EXISTS`.
        try connection.execute("SELECT pg_advisory_xact_lock(hashtextextended('quire', 0))")
        try connection.execute(preparation)
        // Releases the locks on the tables before the work takes others.
        try connection.execute("COMMIT")
        try connection.execute("BEGIN")
      }
      isPrepared.withLock { $0 = true }
    }
    let value = try work(connection)
    try connection.execute("COMMIT")
    return value
  }
}
