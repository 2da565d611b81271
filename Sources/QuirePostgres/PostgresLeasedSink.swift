public import QuireExport
import QuirePagination
import Synchronization

extension PostgresSink {
  /// The same table, as a destination of the unit of work that a worker has a lease of: many write to it at
  /// once, on any number of machines.
  ///
  /// Each unit has a checkpoint of its own. The commit that brings its items and that checkpoint also compares
  /// the lease's token with the greatest that the unit was opened by, in one transaction: a worker that has
  /// lost its lease, and does not know it yet, writes nothing, and gets `SinkError.Code.leaseLost`. A unit
  /// that was completed in the lease's round requests nothing; in a later round, it begins another run by the
  /// sink's mode. An export of the table as a whole is refused meanwhile. A sink whose mode is `.replace` is
  /// refused, as unsupported: no unit knows when all of them are done, and the table can be given.
  ///
  /// - Parameter lease: What a `LeaseStore` gave, in this database or another one.
  public func leased(_ lease: Lease) -> some Sink {
    PostgresLeasedSink(base: self, lease: lease, isInRound: false)
  }

  /// The same between `beginRound` and `endRound`, which `.replace` needs.
  package func unit(of lease: Lease) -> some Sink {
    PostgresLeasedSink(base: self, lease: lease, isInRound: true)
  }

  /// Begins a round of units: `.replace` stages a table, and a restart takes away what there is.
  ///
  /// Called by a worker with a lease of its own for it, before there is any for the units; twice is once. Returns
  /// whether the table has nothing of earlier rounds.
  package func beginRound(_ lease: Lease, restarts: Bool) async throws -> Bool {
    try checkName()
    return try await units.transaction { connection in
      try PostgresUnits(self, lease, connection).begin(restarts: restarts)
    }
  }

  /// Forgets how far a unit has come: a later round reads it from its beginning.
  package func forget(_ lease: Lease) async throws {
    try await units.transaction { connection in
      try PostgresUnits(self, lease, connection).forget()
    }
  }

  /// Completes a round: what is staged takes the table's place.
  package func endRound(_ lease: Lease) async throws {
    try await units.transaction { connection in
      try PostgresUnits(self, lease, connection).end()
    }
  }
}

/// A table as the destination of one unit.
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

  /// What a unit does in a later round: what replaces goes to a table that begins empty.
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
    let found = try await base.units.transaction { [base, lease] connection in
      try PostgresUnits(base, lease, connection).open()
    }
    isDone.withLock { $0 = found.isDone }
    return Session(base, lease, found.checkpoint)
  }

  private final class Session: SinkSession {
    private(set) var checkpoint: Checkpoint?
    private let sink: PostgresSink
    private let lease: Lease
    private var pending: [TableItem] = []

    init(_ sink: PostgresSink, _ lease: Lease, _ checkpoint: Checkpoint?) {
      self.sink = sink
      self.lease = lease
      self.checkpoint = checkpoint
    }

    func write(_ page: SinkPage) async throws {
      pending += try TableItem.all(of: page, sink.shape)
    }

    func commit(_ checkpoint: Checkpoint) async throws {
      try await sink.units.transaction {
        [sink, lease, pending, last = self.checkpoint] connection in
        try PostgresUnits(sink, lease, connection).commit(pending, checkpoint, behind: last)
      }
      pending = []
      self.checkpoint = checkpoint
    }

    func close() async { pending = [] }
  }
}
