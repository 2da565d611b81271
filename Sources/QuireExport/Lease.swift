/// The right of one worker to a unit of work, for a limited time.
public struct Lease: Hashable, Sendable {
  /// The name of the work.
  public var work: String
  /// The unit, such as a name, or a JSON text that says what to read.
  public var unit: String
  /// The round of the work, from 1; see `LeaseStore`.
  public var round: Int
  /// A number that grows with each lease of the unit. The holder with the greatest token has the
  /// unit.
  public var token: Int64

  /// Creates a lease. Called by stores.
  public init(work: String, unit: String, round: Int = 1, token: Int64) {
    self.work = work
    self.unit = unit
    self.round = round
    self.token = token
  }
}

/// A store of units of work that workers on several machines share.
///
/// ```swift
/// let leases = PostgresLeaseStore("postgres://db/github", work: "issues")
/// try await leases.add(repositories)
/// let report = try await LeasedWork(leases).run { lease in
///   try await Export(issues(of: lease.unit), to: sink.leased(lease)).run()
/// }
/// ```
/// A unit is open until it ends, as done or as failed. An open unit is leased to one worker at a
/// time, until the worker ends or returns it, or has not renewed the lease for `time`. A slow
/// worker may believe that it still has a unit; the token, which is checked with each commit, keeps
/// it from writing.
///
/// A fake is an actor around a dictionary. `LeaseStoreConformance` in QuireTesting checks a store.
public protocol LeaseStore: Sendable {
  /// How long a lease is valid after it was taken or renewed.
  var time: Duration { get }

  /// Adds units. Of the units known in this round, failed ones are opened again and others stay
  /// unchanged. Units known from earlier rounds are opened for this one.
  func add(_ units: [String]) async throws

  /// Leases an open unit without a holder; first those whose lease has run out.
  func take() async throws -> LeaseSupply

  /// Extends a lease to another `time` from now. Returns false if the unit has another holder.
  func renew(_ lease: Lease) async throws -> Bool

  /// Ends a lease. Returns false, and changes nothing, if the unit has another holder.
  func end(_ lease: Lease, as end: LeaseEnd) async throws -> Bool
}

/// A store's answer to a worker that asks for a unit.
public enum LeaseSupply: Hashable, Sendable {
  /// A unit to work on.
  case lease(Lease)
  /// All open units have holders; a lease may run out.
  case held
  /// No unit is open.
  case none
}

/// How a lease ended.
public enum LeaseEnd: Hashable, Sendable {
  /// The unit is done. The text is its result, in words or as a number.
  case done(String)
  /// The unit failed, and is not leased again until it is added again. The text is the error.
  case failed(String)
  /// The worker returns the unit, and the next holder continues it.
  case released
}

extension SinkError.Code {
  /// The unit of work has another holder, because the lease had run out. Committed pages are kept,
  /// and the other worker continues after them.
  public static let leaseLost = Self("leaseLost")
}
