import QuireCore
public import QuireExport

/// A store of units of work in a PostgreSQL database, for workers on any number of machines.
///
/// ```swift
/// let leases = PostgresLeaseStore("postgres://db/github", work: "issues")
/// try await leases.add(repositories)
/// ```
/// The table `_quire_leases` of the current schema has a row for each unit. Workers take rows by
/// `FOR UPDATE SKIP LOCKED`, so that no worker waits for another. Times are the server's, so the
/// clocks of machines need not agree. Tokens grow even if the table was lost. Calls wait at most
/// two minutes for a server that restarts.
public struct PostgresLeaseStore: LeaseStore {
  /// The time for which a lease is valid; see `LeaseStore.time`.
  public let time: Duration

  private let database: PostgresDatabase
  private let work: String
  private let round: Int

  /// Creates a store of the units of the work called `work`, in a database that libpq connects to.
  ///
  /// A later `round` begins its units again, to work on the same ones once more. `time` is 30
  /// seconds by default, enough to reconnect after a lost connection; the units of a worker that
  /// died are free after it.
  public init(
    _ connection: String, work: String, round: Int = 1, time: Duration = .seconds(30)
  ) {
    self.init(
      PostgresDatabase(connection, preparation: Self.tables), work: work, round: round, time: time)
  }

  /// Creates a store of the units of a work in an existing database.
  package init(_ database: PostgresDatabase, work: String, round: Int, time: Duration) {
    self.database = database
    self.work = work
    self.round = round
    self.time = time
  }

  /// The statements that create the table.
  package static let tables = """
    CREATE TABLE IF NOT EXISTS _quire_leases (number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, \
    work text NOT NULL, unit text NOT NULL, round bigint NOT NULL, state text NOT NULL DEFAULT 'open', \
    token bigint NOT NULL DEFAULT 0, until timestamptz, words text NOT NULL DEFAULT '');
    CREATE UNIQUE INDEX IF NOT EXISTS _quire_leases_unit ON _quire_leases (work, md5(unit));
    CREATE INDEX IF NOT EXISTS _quire_leases_free ON _quire_leases (work, round, number) \
    WHERE state = 'open' AND until IS NULL;
    CREATE INDEX IF NOT EXISTS _quire_leases_held ON _quire_leases (work, round, until) \
    WHERE state = 'open' AND until IS NOT NULL;
    REVOKE ALL ON _quire_leases FROM PUBLIC
    """

  /// Adds units, and begins those again that failed in this round or are of an earlier one. Throws
  /// `SinkError` if the database cannot be written.
  public func add(_ units: [String]) async throws {
    try await database.transaction { connection in
      try Self.add(units, to: work, round: round, connection)
    }
  }

  /// Adds units within a transaction, a thousand with each statement.
  package static func add(
    _ units: [String], to work: String, round: Int, _ connection: PostgresConnection
  ) throws {
    for start in stride(from: 0, to: units.count, by: 1_000) {
      let list = JSONValue.array(
        units[start..<min(start + 1_000, units.count)].map { .string($0) })
      try connection.query(
        insertion(
          """
          SELECT $1, unit, $2::bigint FROM json_array_elements_text($3::json) WITH ORDINALITY AS list (unit, \
          place) GROUP BY unit ORDER BY min(place)
          """), [work, "\(round)", "\(list)"])
    }
  }

  /// Returns the statement that adds units, which a query gives as work, unit and round.
  package static func insertion(_ query: String) -> String {
    """
    INSERT INTO _quire_leases AS known (work, unit, round) \(query) ON CONFLICT (work, md5(unit)) DO UPDATE \
    SET round = excluded.round, state = 'open', until = NULL, words = '' \
    WHERE known.round < excluded.round OR known.round = excluded.round AND known.state = 'failed'
    """
  }

  /// Takes a unit, preferably one whose lease has expired. Throws `SinkError` if the database
  /// cannot be written.
  public func take() async throws -> LeaseSupply {
    try await database.transaction { connection in
      for place in ["until < clock_timestamp() ORDER BY until", "until IS NULL ORDER BY number"] {
        // A token contains the time, so that it is greater than all before it, even those of a lost
        // table.
        let taken = try connection.query(
          """
          WITH free AS (SELECT number FROM _quire_leases WHERE work = $1 AND round = $2::bigint \
          AND state = 'open' AND \(place) LIMIT 1 FOR UPDATE SKIP LOCKED) \
          UPDATE _quire_leases AS lease SET until = clock_timestamp() + $3::interval, token = \
          greatest(token + 1, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint) \
          FROM free WHERE lease.number = free.number RETURNING unit, token
          """, [work, "\(round)", interval])
        if let row = taken.first, let unit = row[0], let token = row[1].flatMap({ Int64($0) }) {
          return .lease(Lease(work: work, unit: unit, round: round, token: token))
        }
      }
      let open = try connection.query(
        """
        SELECT 1 FROM _quire_leases WHERE work = $1 AND round = $2::bigint AND state = 'open' LIMIT 1
        """, [work, "\(round)"])
      return open.isEmpty ? .none : .held
    }
  }

  /// Extends a lease; returns false if it was lost. Throws `SinkError` if the database cannot be
  /// written.
  public func renew(_ lease: Lease) async throws -> Bool {
    try await change(lease, "until = clock_timestamp() + $4::interval", interval)
  }

  /// Ends a lease; returns false if it was lost. Throws `SinkError` if the database cannot be
  /// written.
  public func end(_ lease: Lease, as end: LeaseEnd) async throws -> Bool {
    switch end {
    case .done(let words):
      try await change(lease, "state = 'done', until = NULL, words = $4", words)
    case .failed(let words):
      try await change(lease, "state = 'failed', until = NULL, words = $4", words)
    case .released: try await change(lease, "until = NULL, words = $4", "")
    }
  }

  /// Changes the row of a lease, and returns whether the lease still holds it. Repeating the change
  /// has no effect.
  private func change(_ lease: Lease, _ change: String, _ value: String) async throws -> Bool {
    try await database.transaction { connection in
      try connection.query(
        """
        UPDATE _quire_leases SET \(change) WHERE work = $1 AND md5(unit) = md5($2) \
        AND token = $3::bigint AND round = $5::bigint RETURNING 1
        """, [lease.work, lease.unit, "\(lease.token)", value, "\(lease.round)"]
      ).isEmpty == false
    }
  }

  private var interval: String {
    let parts = time.components
    return "\(parts.seconds * 1000 + parts.attoseconds / 1_000_000_000_000_000) milliseconds"
  }
}
