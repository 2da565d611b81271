import GRDB
import QuireCore
import QuireFeeds
import Synchronization

/// A queue of changes to the file. Changes that arrive during a write form the next transaction.
/// Each change is atomic, and complete when the file has it.
final class FeedChangeQueue: Sendable {
  private struct PendingChange: Sendable {
    let change: FeedChange
    let end = Suspension<FeedEffect>()
  }

  private let pool: DatabasePool
  private let perform: @Sendable (FeedChange, Database) throws -> FeedEffect
  private let waiting = Mutex<[PendingChange]>([])

  init(
    _ pool: DatabasePool, _ perform: @escaping @Sendable (FeedChange, Database) throws -> FeedEffect
  ) {
    self.pool = pool
    self.perform = perform
  }

  func apply(_ change: FeedChange) async throws -> FeedEffect {
    try Task.checkCancellation()
    let own = PendingChange(change: change)
    let isFirst = waiting.withLock { waiting in
      waiting.append(own)
      return waiting.count == 1
    }
    if isFirst { pool.asyncWriteWithoutTransaction { [self] in write(to: $0) } }
    // A change that has started is not cancelled, so that its effect is known.
    return try await own.end.value(onCancel: {})
  }

  private func write(to database: Database) {
    let batch = waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
    var effects: [Result<FeedEffect, any Error>] = []
    do {
      try database.inTransaction {
        for pending in batch { effects.append(try effect(of: pending.change, database)) }
        return .commit
      }
    } catch {
      effects = batch.map { _ in .failure(error) }
    }
    for (pending, effect) in zip(batch, effects) { pending.end.resume(with: effect) }
  }

  /// Makes one change in a savepoint, so that its failure undoes no other, and returns its effect.
  private func effect(
    of change: FeedChange, _ database: Database
  ) throws -> Result<FeedEffect, any Error> {
    var result = Result<FeedEffect, any Error>.success(FeedEffect())
    // An error that the savepoint cannot undo, such as a full disk, ends the whole transaction.
    try database.inSavepoint {
      result = Result { try perform(change, database) }
      return if case .success = result { .commit } else { .rollback }
    }
    return result
  }
}
