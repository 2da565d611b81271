/// A place for the checkpoints of sinks that cannot store one themselves.
///
/// A fake takes seven lines:
/// ```swift
/// // SAFETY: one export has the checkpoint open, and uses it from one task at a time.
/// final class OneCheckpoint: CheckpointStore, CheckpointSession, @unchecked Sendable {
///   private(set) var checkpoint: Checkpoint?
///   func open(_ name: String) -> any CheckpointSession { self }
///   func save(_ checkpoint: Checkpoint) { self.checkpoint = checkpoint }
///   func close() {}
/// }
/// ```
/// `CheckpointStoreConformance` in QuireTesting checks a store.
public protocol CheckpointStore: Sendable {
  /// Opens the checkpoint called `name` for the exclusive use of one export.
  ///
  /// Throws `SinkError`: `.inUse` if another export has it open, `.damaged` if the stored
  /// checkpoint cannot be read.
  func open(_ name: String) async throws -> any CheckpointSession
}

/// A checkpoint that one export has open. Used by one task at a time.
public protocol CheckpointSession: AnyObject {
  /// The checkpoint saved last; nil if none was saved.
  var checkpoint: Checkpoint? { get }

  /// Replaces the stored checkpoint atomically: after a crash, `open` finds either the old one or
  /// the new one. Returns once the new one survives a loss of power.
  ///
  /// Must complete even if the calling task is cancelled.
  func save(_ checkpoint: Checkpoint) async throws

  /// Closes the checkpoint, so that another export can open it. Called once.
  func close() async
}

extension Sink {
  /// Returns the same destination with its checkpoints kept in `store` under `name`.
  ///
  /// Items and checkpoint are then no longer committed as one: the checkpoint is saved after the
  /// items. An export that is killed in between repeats the items of that commit, and loses none.
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

  private final class Session: PausableSession {
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

    func pause() async throws { try await (base as? any PausableSession)?.pause() }

    func close() async {
      await base.close()
      await checkpoints.close()
    }
  }
}
