/// A unit of work that is one worker's for a time.
public struct Lease: Hashable, Sendable {
  /// What the work is called.
  public var work: String
  /// The unit, such as a name or a JSON text of what is to be read.
  public var unit: String
  /// Which round of the work this is; see `LeaseStore`.
  public var round: Int
  /// Grows with each lease of the unit: of two holders, the one with the greater token has it.
  public var token: Int64

  /// A lease, as a store gives it.
  public init(work: String, unit: String, round: Int = 1, token: Int64) {
    self.work = work
    self.unit = unit
    self.round = round
    self.token = token
  }
}

/// The door to units of work that workers on several machines share.
///
/// ```swift
/// let leases = PostgresLeaseStore("postgres://db/github", work: "issues")
/// try await leases.add(repositories)
/// let report = try await LeasedWork(leases).run { lease in
///   try await Export(issues(of: lease.unit), to: sink.leased(lease)).run()
/// }
/// ```
/// A unit is open until it ends, as done or as failed. An open one is leased to one worker at a time: until
/// that ends it, gives it back, or has not renewed it for `time`. A worker that was slow may believe that it
/// still has a unit; its token, checked with each commit, keeps it from writing. A fake is an actor around a
/// dictionary; `LeaseStoreConformance` in QuireTesting checks a store.
public protocol LeaseStore: Sendable {
  /// How long a lease is good for after it was taken or renewed.
  var time: Duration { get }

  /// Notes units. Those that are known in this round stay as they are, except that failed ones are open
  /// again; those of earlier rounds begin another one.
  func add(_ units: [String]) async throws

  /// Takes a unit that is open and has no holder: one whose holder has lost it first.
  func take() async throws -> LeaseSupply

  /// Keeps a lease for another `time`. Returns false where another worker has the unit now.
  func renew(_ lease: Lease) async throws -> Bool

  /// Ends a lease. Returns false where another worker has the unit now: then nothing changes.
  func end(_ lease: Lease, as end: LeaseEnd) async throws -> Bool
}

/// What a store has for a worker that asks for a unit.
public enum LeaseSupply: Hashable, Sendable {
  /// A unit to work on.
  case lease(Lease)
  /// All open units are being worked on by others, and one of them may come free.
  case held
  /// No unit is open.
  case none
}

/// How a lease ended.
public enum LeaseEnd: Hashable, Sendable {
  /// The unit is done; what it brought, in words or a number.
  case done(String)
  /// The unit failed, and stays so until it is added again.
  case failed(String)
  /// The worker gives it back: the next one goes on with it.
  case released
}

extension SinkError.Code {
  /// Another worker has the unit of work: its time had run out. What was committed stays, and the other
  /// goes on behind it.
  public static let leaseLost = Self("leaseLost")
}
