public import QuireCore
public import QuireFeeds
import QuirePostgres

/// A feed store in a PostgreSQL database, for aggregators on several machines.
///
/// ```swift
/// let store = PostgresFeedStore("postgres://reader@database.example/feeds")
/// ```
/// Each aggregator has its own store on the same database. Due feeds are shared by leases on hosts
/// (`FOR UPDATE SKIP LOCKED`), so that each host is polled by one machine at a time. Every change
/// is one transaction. The tables `quire_feed`, `quire_host`, `quire_entry` and `quire_deleted` are in
/// the first schema of the search path. A store has one connection, opened at first use. If it is lost, an
/// aggregator waits for the server with growing delays; every other call waits at most two minutes.
public struct PostgresFeedStore: SharedFeedStore {
  private let database: PostgresDatabase

  /// Creates a store for a libpq connection URL or string, completed by the environment
  /// (`PGPASSWORD`, …).
  ///
  /// Every call throws `PageError.Code.feedStore` if the database cannot be used, immediately if it
  /// was never reached.
  public init(_ target: String) {
    database = PostgresDatabase(target, preparation: Self.tables, waitsAtFirst: false)
  }

  /// Returns all subscriptions, ordered by identifier.
  public func subscriptions() async throws -> [FeedSubscription] {
    try await transaction { connection in
      try connection.query(#"SELECT body FROM quire_feed ORDER BY id COLLATE "C""#).map {
        try FeedRecord.value(of: FeedSubscription.self, $0[0] ?? "")
      }
    }
  }

  /// Makes a change, in one transaction.
  @discardableResult
  public func apply(_ change: FeedChange) async throws -> FeedEffect {
    // The results of a poll would be lost, so it waits as long as needed.
    let isPoll = if case .polled = change { true } else { false }
    return try await transaction(patience: isPoll ? nil : PostgresDatabase.patience) {
      try PostgresFeedChanges(connection: $0).apply(change)
    }
  }

  /// Claims due subscriptions and their hosts; leases are measured by the database's clock.
  public func claim(_ claim: FeedClaim) async throws -> [FeedSubscription] {
    // An aggregator that stops does not wait: its leases expire anyway.
    let isLeaving = claim.limit == 0 && claim.dueBy <= 0
    return try await transaction(patience: isLeaving ? .zero : nil) {
      try PostgresFeedChanges(connection: $0).claim(claim)
    }
  }

  /// Returns the subscription with a token of a hub's callback, nil if there is none.
  public func subscription(pushToken: String) async throws -> FeedSubscription? {
    try await transaction { connection in
      try connection.query(
        "SELECT body FROM quire_feed WHERE token = $1", [FeedRecord.storable(pushToken)]
      ).first.map { try FeedRecord.value(of: FeedSubscription.self, $0[0] ?? "") }
    }
  }

  /// Returns a page of entries, newest first.
  public func entries(
    _ selection: EntrySelection, at position: Position?, limit: Int
  ) async throws -> Page<StoredEntry> {
    var conditions = ["true"]
    var values: [String?] = []
    func value(_ text: String) -> String {
      values.append(FeedRecord.storable(text))
      return "$\(values.count)"
    }
    if let position {
      let place = try StoredEntry.place(position)
      conditions.append(
        "(date, number) < (\(value("\(place.date)"))::float8, \(value("\(place.number)"))::bigint)")
    }
    if let feed = selection.subscription { conditions.append("feed = \(value(feed))") }
    if selection.isUnread { conditions.append("NOT is_read") }
    if let text = selection.text?.lowercased(), !text.isEmpty {
      conditions.append("position(\(value(text)) in words) > 0")
    }
    // One entry more than requested shows whether there is a next page.
    let sql = """
      SELECT number, feed, date, is_read, body FROM quire_entry
      WHERE \(conditions.joined(separator: " AND "))
      ORDER BY date DESC, number DESC LIMIT \(StoredEntry.fetchLimit(forPageOf: limit))
      """
    let found = try await transaction { [values] connection in
      try connection.query(sql, values).map { row in
        StoredEntry(
          number: row[0].flatMap { Int64($0) } ?? 0, subscription: row[1] ?? "",
          date: row[2].flatMap { Double($0) } ?? 0, isRead: row[3] == "t",
          entry: try FeedRecord.value(of: FeedEntry.self, row[4] ?? ""))
      }
    }
    return StoredEntry.page(of: found, limit: limit)
  }

  /// Performs work in one transaction. `patience` is that of `PostgresDatabase`.
  private func transaction<Value: Sendable>(
    patience: Duration? = PostgresDatabase.patience,
    _ work: @escaping @Sendable (PostgresConnection) throws -> Value
  ) async throws -> Value {
    do {
      return try await database.transaction(patience: patience, work)
    } catch {
      throw PageError.ofFeedStore(error)
    }
  }

  /// The version of the tables.
  private static let version = 2

  private static let tables = """
    CREATE TABLE IF NOT EXISTS quire_feed (
      id text PRIMARY KEY, host text NOT NULL, due float8 NOT NULL, token text, body text NOT NULL);
    CREATE TABLE IF NOT EXISTS quire_host (
      name text PRIMARY KEY, holder text, until timestamptz NOT NULL DEFAULT '-infinity');
    CREATE TABLE IF NOT EXISTS quire_entry (
      number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      feed text NOT NULL REFERENCES quire_feed (id) ON DELETE CASCADE,
      kind text NOT NULL, identity text NOT NULL, digest text NOT NULL, date float8 NOT NULL,
      found float8 NOT NULL, is_read boolean NOT NULL DEFAULT false, words text NOT NULL, body text NOT NULL);
    CREATE INDEX IF NOT EXISTS quire_feed_due ON quire_feed (due);
    CREATE INDEX IF NOT EXISTS quire_feed_host ON quire_feed (host, due);
    CREATE INDEX IF NOT EXISTS quire_feed_token ON quire_feed (token) WHERE token IS NOT NULL;
    CREATE TABLE IF NOT EXISTS quire_deleted (
      number bigint PRIMARY KEY,
      feed text NOT NULL REFERENCES quire_feed (id) ON DELETE CASCADE,
      key text NOT NULL);
    CREATE UNIQUE INDEX IF NOT EXISTS quire_deleted_key ON quire_deleted (feed, key);
    CREATE UNIQUE INDEX IF NOT EXISTS quire_entry_identity
      ON quire_entry (feed, kind, md5(identity));
    CREATE INDEX IF NOT EXISTS quire_entry_date ON quire_entry (date, number);
    CREATE INDEX IF NOT EXISTS quire_entry_feed ON quire_entry (feed, date, number);
    CREATE INDEX IF NOT EXISTS quire_entry_unread ON quire_entry (date, number) WHERE NOT is_read;
    CREATE TABLE IF NOT EXISTS quire_feeds_form (version int NOT NULL);
    INSERT INTO quire_feeds_form SELECT \(version) WHERE NOT EXISTS (SELECT FROM quire_feeds_form);
    DO $$ BEGIN
      IF EXISTS (SELECT FROM quire_feeds_form WHERE version <> \(version)) THEN
        RAISE 'The tables of feeds are of another form than \(version), which this version of Quire reads';
      END IF;
    END $$
    """
}
