import QuireCore
public import QuireExport

/// Units of work in a PostgreSQL database, for workers on as many machines as connect to it.
///
/// ```swift
/// let leases = PostgresLeaseStore("postgres://db/github", work: "issues")
/// try await leases.add(repositories)
/// ```
/// The table `_quire_leases` of the current schema has a row for each unit. Workers take rows by `FOR UPDATE
/// SKIP LOCKED`, so that none waits for another; times are the server's, so that clocks of machines need not
/// agree; tokens grow even where the table was lost. A server that restarts is waited for, two minutes at
/// most.
public struct PostgresLeaseStore: LeaseStore {
  /// How long a lease is good for; see `LeaseStore.time`.
  public let time: Duration

  private let database: PostgresDatabase
  private let work: String
  private let round: Int

  /// The units of the work called `work`, in a database that libpq connects to.
  ///
  /// A later `round` begins its units anew, where the same ones are to be worked on again. `time`: 30
  /// seconds by default, in which a connection may be lost and made again; the units of a worker that died
  /// come free after it.
  public init(
    _ connection: String, work: String, round: Int = 1, time: Duration = .seconds(30)
  ) {
    self.init(
      PostgresDatabase(connection, preparation: Self.tables), work: work, round: round, time: time)
  }

  /// The units of a work in a database that is open.
  package init(_ database: PostgresDatabase, work: String, round: Int, time: Duration) {
    self.database = database
    self.work = work
    self.round = round
    self.time = time
  }

  /// What makes the table.
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

  /// Notes units; throws `SinkError` where the database cannot be written.
  public func add(_ units: [String]) async throws {
    try await database.transaction { connection in
      try Self.add(units, to: work, round: round, connection)
    }
  }

  /// Notes units within a transaction, a thousand by each statement.
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

  /// The statement that notes units which a query gives as work, unit and round.
  package static func insertion(_ query: String) -> String {
    """
    INSERT INTO _quire_leases AS known (work, unit, round) \(query) ON CONFLICT (work, md5(unit)) DO UPDATE \
    SET round = excluded.round, state = 'open', until = NULL, words = '' \
    WHERE known.round < excluded.round OR known.round = excluded.round AND known.state = 'failed'
    """
  }

  /// Takes a unit; throws `SinkError` where the database cannot be written.
  public func take() async throws -> LeaseSupply {
    try await database.transaction { connection in
      for place in ["until < clock_timestamp() ORDER BY until", "until IS NULL ORDER BY number"] {
        // A token is greater than all before it, those of a table that was lost among them.
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

  /// Keeps a lease; throws `SinkError` where the database cannot be written.
  public func renew(_ lease: Lease) async throws -> Bool {
    try await change(lease, "until = clock_timestamp() + $4::interval", interval)
  }

  /// Ends a lease; throws `SinkError` where the database cannot be written.
  public func end(_ lease: Lease, as end: LeaseEnd) async throws -> Bool {
    switch end {
    case .done(let words):
      try await change(lease, "state = 'done', until = NULL, words = $4", words)
    case .failed(let words):
      try await change(lease, "state = 'failed', until = NULL, words = $4", words)
    case .released: try await change(lease, "until = NULL, words = $4", "")
    }
  }

  /// Changes the row of a lease that is still its holder's. Done twice, it is the same.
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
