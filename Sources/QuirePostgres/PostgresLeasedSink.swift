public import QuireExport
import QuirePagination
import Synchronization

extension PostgresSink {
  /// Returns a sink for one unit of work, for which a worker has a lease, in the same table. Many
  /// workers write to it at once, on any number of machines.
  ///
  /// Each unit has its own checkpoint. The transaction that commits it with its items also compares
  /// the lease's token with the greatest that has opened the unit: a worker that has lost its lease
  /// without knowing it writes nothing, and gets `SinkError.Code.leaseLost`. A unit that was
  /// completed in the lease's round requests nothing; in a later round, it begins another run by
  /// the sink's mode. Meanwhile, an export of the whole table is refused. The mode `.replace` is
  /// refused as unsupported, because no unit knows when all of them are done; give the items a key,
  /// or append.
  ///
  /// - Parameter lease: A lease of a `LeaseStore`, in this database or another one.
  public func leased(_ lease: Lease) -> some Sink {
    PostgresLeasedSink(base: self, lease: lease, isInRound: false)
  }

  /// Returns a sink for one unit between `beginRound` and `endRound`, where `.replace` is
  /// supported.
  package func unit(of lease: Lease) -> some Sink {
    PostgresLeasedSink(base: self, lease: lease, isInRound: true)
  }

  /// Begins a round of units. With `.replace`, it creates a staged table; with `restarts`, it
  /// removes the table and its checkpoints; with `forgetsUnits`, the checkpoints of its units.
  ///
  /// To be called by a worker with a lease for the round itself, before there are leases for its
  /// units; a repeated call has no effect. Returns whether the table has no items of earlier
  /// rounds. `onWait` is called before each wait.
  package func beginRound(
    _ lease: Lease, restarts: Bool, forgetsUnits: Bool, onWait: PostgresDatabase.WaitHandler
  ) async throws -> Bool {
    try checkName()
    return try await units.transaction(onWait: onWait) { connection in
      try PostgresUnits(self, lease, connection)
        .begin(restarts: restarts, forgetsUnits: forgetsUnits)
    }
  }

  /// Removes the checkpoint of a unit, so that a later round reads the unit from its beginning.
  package func forget(_ lease: Lease) async throws {
    try await units.transaction { connection in
      try PostgresUnits(self, lease, connection).forget()
    }
  }

  /// Completes a round: staged rows replace those of the table. `onWait` is called before each wait.
  package func endRound(
    _ lease: Lease, onWait: PostgresDatabase.WaitHandler
  ) async throws {
    try await units.transaction(onWait: onWait) { connection in
      try PostgresUnits(self, lease, connection).end()
    }
  }
}

/// A sink for one unit of work.
private final class PostgresLeasedSink: Sink {
  private let base: PostgresSink
  private let lease: Lease
  private let isInRound: Bool
  /// Whether the unit was completed in this round.
  private let isDone = Mutex(false)

  init(base: PostgresSink, lease: Lease, isInRound: Bool) {
    self.base = base
    self.lease = lease
    self.isInRound = isInRound
  }

  /// The mode of the unit: `.once` if it was completed in this round, and `.append` for `.replace`,
  /// because the staged table begins empty.
  var mode: SinkMode {
    if isDone.withLock({ $0 }) { return .once }
    return base.mode == .replace ? .append : base.mode
  }

  func open(_ opening: SinkOpening) async throws -> any SinkSession {
    try base.checkName()
    guard !opening.restarts else {
      throw SinkError(
        .unsupported, "A unit of work is not begun anew: add it to a later round of its work.")
    }
    guard isInRound || base.mode != .replace else {
      throw SinkError(
        .unsupported,
        "Units of work cannot replace the table \(base.table): none of them knows when all are done. Give its "
          + "items a key, by which later ones take the place of earlier ones, or append.")
    }
    let found = try await base.units.transaction(
      isStopping: opening.isStopping, onWait: opening.onWait
    ) { [base, lease] connection in
      try PostgresUnits(base, lease, connection).open()
    }
    isDone.withLock { $0 = found.isDone }
    return PostgresSession(base.shape, found.checkpoint) {
      [base, lease] items, checkpoint, last, _ in
      try await base.units.transaction(
        isStopping: opening.isStopping, onWait: opening.onWait
      ) { connection in
        try PostgresUnits(base, lease, connection).commit(items, checkpoint, behind: last)
      }
    }
  }
}
