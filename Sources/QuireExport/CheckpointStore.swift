/// The door to a place for checkpoints, for sinks that cannot hold one themselves.
///
/// A fake takes six lines:
/// ```swift
/// final class OneCheckpoint: CheckpointStore, CheckpointSession, @unchecked Sendable {
///   private(set) var checkpoint: Checkpoint?
///   func open(_ name: String) -> any CheckpointSession { self }
///   func save(_ checkpoint: Checkpoint) { self.checkpoint = checkpoint }
///   func close() {}
/// }
/// ```
/// `CheckpointStoreConformance` in QuireTesting checks a store.
public protocol CheckpointStore: Sendable {
  /// Opens the checkpoint called `name` for one export alone.
  ///
  /// Throws `SinkError`: `.inUse` where another export has it, `.damaged` where what is stored cannot be
  /// read.
  func open(_ name: String) async throws -> any CheckpointSession
}

/// A checkpoint that one export has open. Used by one task at a time.
public protocol CheckpointSession: AnyObject {
  /// What was saved last; nil where nothing was.
  var checkpoint: Checkpoint? { get }

  /// Puts a checkpoint in the place of the last one, at once: whatever happens, a later `open` finds one
  /// of the two. Returns when it survives a loss of power.
  ///
  /// It is called in tasks that were cancelled, and then finishes all the same.
  func save(_ checkpoint: Checkpoint) async throws

  /// Lets the checkpoint go. Called once.
  func close() async
}

extension Sink {
  /// The same destination, with its checkpoints kept in `store` under `name`.
  ///
  /// Items and checkpoint are two promises then: the checkpoint is saved once the items are committed, and
  /// an export that is killed between the two repeats the items of that commit and loses none.
  public func storingCheckpoints(
    in store: some CheckpointStore, as name: String
  ) -> some Sink { StoringSink(base: self, store: store, name: name) }
}

private struct StoringSink<Base: Sink, Store: CheckpointStore>: Sink {
  let base: Base
  let store: Store
  let name: String

  var mode: SinkMode { base.mode }

  func open(_ opening: SinkOpening) async throws -> any SinkSession {
    let checkpoints = try await store.open(name)
    do {
      return Session(
        base: try await base.open(opening), checkpoints: checkpoints, restarts: opening.restarts)
    } catch {
      await checkpoints.close()
      throw error
    }
  }

  private final class Session: SinkSession {
    private let base: any SinkSession
    private let checkpoints: any CheckpointSession
    private(set) var checkpoint: Checkpoint?

    init(base: any SinkSession, checkpoints: any CheckpointSession, restarts: Bool) {
      self.base = base
      self.checkpoints = checkpoints
      checkpoint = restarts ? nil : checkpoints.checkpoint
    }

    func write(_ page: SinkPage) async throws { try await base.write(page) }

    func commit(_ checkpoint: Checkpoint) async throws {
      try await base.commit(checkpoint)
      try await checkpoints.save(checkpoint)
      self.checkpoint = checkpoint
    }

    func close() async {
      await base.close()
      await checkpoints.close()
    }
  }
}
