import Foundation
import Quire
import QuireCore
import QuireCurl
import QuireExport
import QuireHTTP
import QuireJSON
import QuirePagination
import QuirePostgres

/// The state of a sync on several machines, in a PostgreSQL database: what `SyncState` is for one
/// machine, with the leases of units. How far a unit was read is stored in its destination alone.
final class SharedSyncState: Sendable {
  /// What a worker can do for a listing.
  enum Plan: Sendable {
    /// Not all of its parents have been read.
    case waiting
    /// Its units are planned: `leases(_:of:round:)` hands them out.
    case units(SyncState.Record)
    /// It has ended in this round.
    case over(SyncState.Record)
  }

  /// The three stages of a listing's run: beginning it, reading its units, and ending it. Each
  /// waits for the one before.
  enum Stage: String, CaseIterable { case begin, units, end }

  /// What a unit that is done has brought, as its lease stores it, or what all of them have.
  struct UnitCounts: Encodable, Sendable {
    var items = 0
    /// The number of parents whose listing was missing and was skipped.
    var skipped = 0
    /// Whether a listing of changes was read from its start, because its token had expired.
    var isRestarted = false
  }

  private let database: PostgresDatabase
  /// The sync file's name, which tells the syncs of a database apart.
  private let sync: String
  private let leaseTime: Duration

  /// Creates a state. `waits` is whether its database is waited for if it was never reached; `onWait`
  /// is called before each wait for it.
  init(
    _ url: String, sync: String, leaseTime: Duration, waits: Bool = true,
    onWait: @escaping @Sendable (Duration, any Error) -> Void = { _, _ in }
  ) {
    database = PostgresDatabase(
      url, preparation: PostgresLeaseStore.tables + ";" + Self.tables, waitsAtFirst: waits,
      onWait: onWait)
    self.sync = sync
    self.leaseTime = leaseTime
  }

  private static let tables = """
    CREATE TABLE IF NOT EXISTS _quire_rounds (sync text PRIMARY KEY, number bigint NOT NULL, \
    is_over boolean NOT NULL, is_partial boolean NOT NULL DEFAULT false);
    CREATE TABLE IF NOT EXISTS _quire_listings (sync text, name text, record text NOT NULL, \
    PRIMARY KEY (sync, name));
    CREATE TABLE IF NOT EXISTS _quire_parents (number bigint GENERATED ALWAYS AS IDENTITY, sync text \
    NOT NULL, listing text NOT NULL, round bigint NOT NULL, values text NOT NULL, item text NOT NULL);
    CREATE INDEX IF NOT EXISTS _quire_parents_order ON _quire_parents (sync, listing, round, number);
    CREATE UNIQUE INDEX IF NOT EXISTS _quire_parents_by_item ON _quire_parents \
    (sync, listing, round, md5(item));
    REVOKE ALL ON _quire_rounds, _quire_listings, _quire_parents FROM PUBLIC
    """

  /// Returns the leases of one stage of a listing's run.
  func leases(_ stage: Stage, of listing: String, round: Int) -> PostgresLeaseStore {
    PostgresLeaseStore(
      database, work: name(of: stage, listing), round: round, time: leaseTime)
  }

  private func name(of stage: Stage, _ listing: String) -> String {
    // The units of a listing named `a end` must not share a name with the end of `a`.
    let isPlain =
      stage == .units && !Stage.allCases.contains { listing.hasSuffix(" \($0.rawValue)") }
    return isPlain ? "\(sync)/\(listing)" : "\(sync)/\(listing) \(stage.rawValue)"
  }

  // MARK: Rounds

  /// Returns the current round, or begins another where the last is over. `some` names the listings
  /// of a partial run, and is empty for all; a run of all counts a partial round as over.
  ///
  /// The first round gets the time as its number: if this state is lost, that is still later than
  /// the rounds that destinations remember.
  func beginRound(of some: Set<String>) async throws -> Int {
    try await database.transaction { [self] connection in
      let row = try connection.query(
        """
        INSERT INTO _quire_rounds AS known \
        VALUES ($1, extract(epoch FROM clock_timestamp())::bigint, false, $2::boolean) \
        ON CONFLICT (sync) DO UPDATE SET is_over = false, \
        number = known.number + (known.is_over OR known.is_partial AND NOT $2::boolean)::int, \
        is_partial = CASE WHEN known.is_over THEN $2::boolean ELSE known.is_partial AND $2::boolean END \
        RETURNING number
        """, [sync, some.isEmpty ? "f" : "t"])
      let round = row.first?.first?.flatMap { Int($0) } ?? 1
      guard !some.isEmpty, try some.allSatisfy({ try record($0, connection).endedRound >= round })
      else { return round }
      try connection.query(
        "UPDATE _quire_rounds SET number = $2::bigint WHERE sync = $1", [sync, "\(round + 1)"])
      return round + 1
    }
  }

  /// Ends the round, all of whose listings have ended. A partial run ends only a round of some
  /// listings.
  func endRound(_ round: Int, isPartial: Bool) async throws {
    try await database.transaction { [sync] connection in
      _ = try connection.query(
        """
        UPDATE _quire_rounds SET is_over = true WHERE sync = $1 AND number = $2::bigint \
        AND (is_partial OR NOT $3::boolean)
        """, [sync, "\(round)", isPartial ? "t" : "f"])
    }
  }

  /// Forgets the state of listings, which then begin anew. Returns false, without a change, if a
  /// worker holds a lease.
  func restart(_ names: [String]) async throws -> Bool {
    try await database.transaction { [self] connection in
      let works = names.flatMap { listing in Stage.allCases.map { name(of: $0, listing) } }
      for work in works {
        let held = try connection.query(
          "SELECT 1 FROM _quire_leases WHERE work = $1 AND until > clock_timestamp() LIMIT 1",
          [work]
        )
        guard held.isEmpty else { return false }
      }
      for work in works {
        try connection.query("DELETE FROM _quire_leases WHERE work = $1", [work])
      }
      let round = try connection.query(
        "SELECT number FROM _quire_rounds WHERE sync = $1 AND NOT is_over", [sync]
      ).first?[0].flatMap { Int($0) }
      for listing in names {
        try connection.query(
          "DELETE FROM _quire_parents WHERE sync = $1 AND listing = $2", [sync, listing])
        try save(SyncState.Record(restarting: listing), connection)
      }
      // In another round, listings that were already read are read again.
      if let round, round > 0 {
        try connection.query(
          "UPDATE _quire_rounds SET number = $2::bigint WHERE sync = $1", [sync, "\(round + 1)"])
      }
      return true
    }
  }

  // MARK: Listings

  private func record(
    _ name: String, _ connection: PostgresConnection, locking: Bool = false
  ) throws -> SyncState.Record {
    let row = try connection.query(
      """
      SELECT record FROM _quire_listings WHERE sync = $1 AND name = $2\(locking ? " FOR UPDATE" : "")
      """, [sync, name])
    guard let text = row.first?.first.flatMap({ $0 }) else { return SyncState.Record(name: name) }
    return try SyncState.Record(storedJSON: text)
  }

  private func save(_ record: SyncState.Record, _ connection: PostgresConnection) throws {
    try connection.query(
      """
      INSERT INTO _quire_listings VALUES ($1, $2, $3) ON CONFLICT (sync, name) DO UPDATE SET \
      record = excluded.record
      """, [sync, record.name, try record.storedJSON])
  }

  /// Plans the units of a listing in a round, unless another worker has done so. With `waits`,
  /// returns `.waiting` until the parent has ended in this round.
  func plan(
    _ listing: SyncListing, _ neededValues: [SyncPlaceholder], _ round: Int, waits: Bool
  ) async throws -> Plan {
    try await database.transaction { [self] connection in
      // One worker plans; the others find its plan.
      try connection.query(
        "SELECT pg_advisory_xact_lock(hashtextextended('quire sync ' || $1 || '/' || $2, 0))",
        [sync, listing.name])
      var record = try record(listing.name, connection, locking: true)
      if record.endedRound >= round { return .over(record) }
      if record.planned ?? 0 >= round { return .units(record) }
      let parent = try listing.parent.map { try self.record($0, connection) }
      if waits, let parent, parent.endedRound < round { return .waiting }
      if let plan = try end(&record, listing, neededValues, parent, round, connection) {
        return plan
      }
      if record.hasUnfinishedUnits {
        try reopen(record, connection)
      } else {
        try begin(&record, listing, parent, round, connection)
      }
      record.planned = round
      try save(record, connection)
      return .units(record)
    }
  }

  /// Ends a listing that needs no reading or cannot be read; returns nil for any other.
  private func end(
    _ record: inout SyncState.Record, _ listing: SyncListing, _ neededValues: [SyncPlaceholder],
    _ parent: SyncState.Record?, _ round: Int, _ connection: PostgresConnection
  ) throws -> Plan? {
    if listing.destination.mode == .once, record.completeRound > 0 {
      record.outcome = SyncRun.Outcome(kind: .complete, words: "it was read before")
    } else {
      let refusal = try SyncRun.Outcome.refusal(
        of: listing, record, isUnfinished: record.hasUnfinishedUnits, parent, neededValues
      ) { try firstParent(of: $0.name, in: $0.lastRound(for: listing), connection) }
      guard let refusal else { return nil }
      record.outcome = refusal
    }
    record.endedRound = round
    try save(record, connection)
    return .over(record)
  }

  /// Returns the values of the first parent that a listing stored in a round.
  private func firstParent(
    of listing: String, in round: Int, _ connection: PostgresConnection
  ) throws -> String? {
    try connection.query(
      """
      SELECT values FROM _quire_parents WHERE sync = $1 AND listing = $2 AND round = $3::bigint \
      AND values NOT LIKE '[%' ORDER BY number LIMIT 1
      """, [sync, listing, "\(round)"]
    ).first?.first.flatMap { $0 }
  }

  /// Reopens what failed in an earlier round, and the end of the run.
  private func reopen(_ record: SyncState.Record, _ connection: PostgresConnection) throws {
    for stage in [Stage.begin, .units] {
      try connection.query(
        """
        UPDATE _quire_leases SET state = 'open', until = NULL, words = '' WHERE work = $1 AND \
        round = $2::bigint AND state = 'failed'
        """, [name(of: stage, record.name), "\(record.runRound)"])
    }
    try connection.query(
      "UPDATE _quire_leases SET state = 'open', until = NULL WHERE work = $1 AND round = $2::bigint",
      [name(of: .end, record.name), "\(record.runRound)"])
  }

  private func begin(
    _ record: inout SyncState.Record, _ listing: SyncListing, _ parent: SyncState.Record?,
    _ round: Int, _ connection: PostgresConnection
  ) throws {
    // The outcome of the previous round stays, because a worker may still be in that round.
    record.begin(listing, in: round, parentRound: parent?.lastRound(for: listing) ?? 0)
    for stage in [Stage.begin, .end] {
      try PostgresLeaseStore.add(
        [stage.rawValue], to: name(of: stage, listing.name), round: round, connection)
    }
    let work = name(of: .units, listing.name)
    guard let parent else {
      return try PostgresLeaseStore.add(listing.units, to: work, round: round, connection)
    }
    try connection.query(
      // An item that several rounds stored counts as stored last, unless it was deleted by then.
      // Items with the same values are one unit.
      PostgresLeaseStore.insertion(
        """
        SELECT $1, values, $2::bigint FROM (SELECT DISTINCT ON (item) values, number \
        FROM _quire_parents WHERE sync = $3 AND listing = $4 AND round BETWEEN $5::bigint AND $6::bigint \
        ORDER BY item, number DESC) AS noted WHERE values NOT LIKE '[%' \
        GROUP BY values ORDER BY max(number)
        """),
      [
        work, "\(round)", sync, parent.name, "\(record.parentRounds.lowerBound)",
        "\(record.parentRounds.upperBound - 1)",
      ])
  }

  /// Accounts for an empty destination. Throws as `SyncState.Record.beginEmpty` does.
  func beginEmpty(_ listing: SyncListing) async throws {
    try await database.transaction { [self] connection in
      var record = try record(listing.name, connection, locking: true)
      try record.beginEmpty(listing, parent: listing.parent.map { try self.record($0, connection) })
      try save(record, connection)
    }
  }

  /// Stores the parents on a page, before the page is committed.
  func store(_ parents: [SyncState.StoredParent], of listing: String, round: Int) async throws {
    guard !parents.isEmpty else { return }
    let pairs = parents.map { JSONValue.array([.string($0.item), .string($0.values)]) }
    try await database.transaction { [sync] connection in
      // The values that came last for an item count. In sorted order, so that two workers never wait
      // for each other.
      _ = try connection.query(
        """
        INSERT INTO _quire_parents (sync, listing, round, item, values) SELECT DISTINCT ON (parent->>0) \
        $1, $2, $3::bigint, parent->>0, parent->>1 FROM json_array_elements($4::json) WITH ORDINALITY \
        AS list (parent, place) ORDER BY parent->>0, place DESC \
        ON CONFLICT (sync, listing, round, md5(item)) DO UPDATE SET number = DEFAULT, \
        values = excluded.values
        """, [sync, listing, "\(round)", "\(JSONValue.array(pairs))"])
    }
  }

  /// Whether the run was begun in its destination.
  func isBegun(_ record: SyncState.Record) async throws -> Bool {
    try await database.transaction { [self] connection in
      try connection.query(
        "SELECT 1 FROM _quire_leases WHERE work = $1 AND round = $2::bigint AND state = 'done'",
        [name(of: .begin, record.name), "\(record.runRound)"]
      ).isEmpty == false
    }
  }

  /// Returns some of the other parents of a run, first those whose listing was read.
  func others(than unit: String, of record: SyncState.Record) async throws -> [SyncState.Parent] {
    try await database.transaction { [self] connection in
      try connection.query(
        """
        SELECT unit FROM _quire_leases WHERE work = $1 AND round = $2::bigint AND md5(unit) <> md5($3) \
        ORDER BY state = 'done' DESC, number LIMIT \(SyncSource.mostFailuresInARow)
        """, [name(of: .units, record.name), "\(record.runRound)", unit]
      ).compactMap { $0[0].map { SyncState.Parent(number: 0, values: $0) } }
    }
  }

  /// Returns what the run's units that are done have brought, the number of all units, and the
  /// outcomes of the units that are not done, the most frequent first.
  func ends(of record: SyncState.Record) async throws -> (
    done: UnitCounts, units: Int, failed: [(outcome: SyncRun.Outcome, count: Int)]
  ) {
    let unit = [name(of: .units, record.name), "\(record.runRound)"]
    return try await database.transaction { connection in
      let done =
        try connection.query(
          """
          SELECT count(*), sum((counts->>'items')::bigint), \
          sum((counts->>'skipped')::bigint), bool_or((counts->>'isRestarted')::boolean) FROM \
          (SELECT words::json AS counts FROM _quire_leases WHERE work = $1 AND round = $2::bigint \
          AND state = 'done') AS done
          """, unit
        ).first ?? []
      let failed = try connection.query(
        """
        SELECT words, count(*) FROM _quire_leases WHERE work = $1 AND round = $2::bigint \
        AND state <> 'done' GROUP BY words ORDER BY 2 DESC
        """, unit
      ).map {
        (outcome: SyncRun.Outcome(words: $0[0] ?? ""), count: $0[1].flatMap { Int($0) } ?? 0)
      }
      let counts = done.map { $0.flatMap { Int($0) } ?? 0 }
      return (
        UnitCounts(items: counts[1], skipped: counts[2], isRestarted: done[3] == "t"),
        failed.reduce(counts[0]) { $0 + $1.count }, failed
      )
    }
  }

  /// Stores how a listing ended in a round.
  func end(
    _ record: SyncState.Record, _ listing: SyncListing, _ round: Int, as outcome: SyncRun.Outcome,
    children: [String]
  ) async throws {
    try await database.transaction { [self] connection in
      var record = try self.record(record.name, connection, locking: true)
      guard record.endedRound < round else { return }
      // If the next round has already planned the run, the run ends in that round too.
      record.end(outcome, of: listing, in: max(round, record.planned ?? 0))
      let readers = try children.map { try self.record($0, connection) }
      let (read, kept) = record.drop(listing, readBy: readers)
      try save(record, connection)
      try connection.query(
        """
        DELETE FROM _quire_parents WHERE sync = $1 AND listing = $2 AND round <= $3::bigint \
        AND round <> ALL ($4::bigint[])
        """,
        [sync, record.name, "\(read)", "{\(kept.map(String.init).joined(separator: ","))}"])
      try connection.query(
        "DELETE FROM _quire_leases WHERE work = $1 AND round < $2::bigint",
        [name(of: .units, record.name), "\(record.runRound)"])
    }
  }

  /// Returns the state of the last round and of the named listings, for display.
  func snapshot(of names: [String]) async throws -> SyncSnapshot {
    try await database.transaction { [self] connection in
      var snapshot = SyncSnapshot()
      let row = try connection.query(
        "SELECT number, is_over, is_partial FROM _quire_rounds WHERE sync = $1", [sync]
      ).first
      (snapshot.round, snapshot.isOver) = (row?[0].flatMap { Int($0) } ?? 0, row?[1] != "f")
      snapshot.isPartial = row?[2] == "t"
      for name in names {
        var record = try record(name, connection)
        if record.planned ?? 0 > record.endedRound {
          record.outcome = SyncRun.Outcome(
            kind: .running, words: try progress(of: record, connection))
        }
        snapshot.records[name] = record
        snapshot.parents[name] = try connection.query(
          """
          SELECT count(DISTINCT values) FROM _quire_parents WHERE sync = $1 AND listing = $2 \
          AND round = $3::bigint AND values NOT LIKE '[%'
          """, [sync, name, "\(record.completeRound)"]
        ).first?[0].flatMap { Int($0) }
        for round in record.parentStores {
          snapshot.firstParents[name, default: [:]][round] = try firstParent(
            of: name, in: round, connection)
        }
      }
      return snapshot
    }
  }

  private func progress(
    of record: SyncState.Record, _ connection: PostgresConnection
  ) throws -> String {
    let row =
      try connection.query(
        """
        SELECT count(*), count(*) FILTER (WHERE state = 'done'), count(*) FILTER (WHERE state = 'failed'), \
        count(*) FILTER (WHERE until > clock_timestamp()) FROM _quire_leases WHERE work = $1 AND \
        round = $2::bigint
        """, [name(of: .units, record.name), "\(record.runRound)"]
      ).first?.map { $0 ?? "0" } ?? ["0", "0", "0", "0"]
    return "\(row[1]) of \(row[0]) units done, \(row[2]) failed, \(row[3]) being worked on"
  }

  func close() async { await database.close() }
}

extension SyncRun.Outcome {
  /// Creates the outcome of a unit from the words of its lease. For a unit that could not be begun,
  /// these are only its reason.
  init(words: String) {
    self = (try? Self(storedJSON: words)) ?? Self(kind: .failed, words: words)
  }
}
