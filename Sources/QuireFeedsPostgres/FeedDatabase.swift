import QuireCore
import QuireFeeds
import QuirePostgres

/// The connection of a store, with its tables.
struct FeedDatabase: Sendable {
  private let connection: PostgresConnection

  init(_ target: String) { connection = PostgresConnection(target) }

  /// Does work in one transaction, whole or not at all.
  func write<Value: Sendable>(
    _ work: @escaping @Sendable (PostgresConnection) throws -> Value
  ) async throws -> Value {
    try await using { connection in
      try connection.execute("BEGIN")
      do {
        let value = try work(connection)
        try connection.execute("COMMIT")
        return value
      } catch {
        try? connection.execute("ROLLBACK")
        throw error
      }
    }
  }

  /// Does work that changes nothing.
  func read<Value: Sendable>(
    _ work: @escaping @Sendable (PostgresConnection) throws -> Value
  ) async throws -> Value {
    try await using(work)
  }

  private func using<Value: Sendable>(
    _ work: @escaping @Sendable (PostgresConnection) throws -> Value
  ) async throws -> Value {
    do {
      return try await connection.run { [connection] in
        if !connection.isOpen {
          try connection.connect()
          do {
            try Self.prepare(connection)
          } catch {
            connection.close()
            throw error
          }
        }
        return try work(connection)
      }
    } catch let error as PageError {
      throw error
    } catch {
      throw PageError(
        .feedStore, "The store of feeds cannot be used: \(error)", attempts: 0, underlying: error)
    }
  }

  /// PostgreSQL has no NUL in its texts.
  static func storable(_ text: String) -> String {
    text.utf8.contains(0) ? text.replacing("\0", with: "\u{FFFD}") : text
  }

  /// The form of the tables.
  private static let version = 1

  private static func prepare(_ connection: PostgresConnection) throws {
    try connection.execute(
      """
      BEGIN;
      SELECT pg_advisory_xact_lock(hashtextextended('quire feeds', 0));
      CREATE TABLE IF NOT EXISTS quire_feed (
        id text PRIMARY KEY, host text NOT NULL, due float8 NOT NULL, body text NOT NULL);
      CREATE TABLE IF NOT EXISTS quire_host (
        name text PRIMARY KEY, holder text, until timestamptz NOT NULL DEFAULT '-infinity');
      CREATE TABLE IF NOT EXISTS quire_entry (
        number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        feed text NOT NULL REFERENCES quire_feed (id) ON DELETE CASCADE,
        kind text NOT NULL, identity text NOT NULL, digest text NOT NULL, date float8 NOT NULL,
        is_read boolean NOT NULL DEFAULT false, words text NOT NULL, body text NOT NULL);
      CREATE INDEX IF NOT EXISTS quire_feed_due ON quire_feed (due);
      CREATE INDEX IF NOT EXISTS quire_feed_host ON quire_feed (host, due);
      CREATE UNIQUE INDEX IF NOT EXISTS quire_entry_identity
        ON quire_entry (feed, kind, md5(identity));
      CREATE INDEX IF NOT EXISTS quire_entry_date ON quire_entry (date, number);
      CREATE INDEX IF NOT EXISTS quire_entry_feed ON quire_entry (feed, date, number);
      CREATE INDEX IF NOT EXISTS quire_entry_unread ON quire_entry (date, number) WHERE NOT is_read;
      CREATE TABLE IF NOT EXISTS quire_feeds_form (version int NOT NULL);
      INSERT INTO quire_feeds_form SELECT \(version) WHERE NOT EXISTS (SELECT FROM quire_feeds_form);
      COMMIT
      """)
    let found = try connection.query("SELECT max(version) FROM quire_feeds_form").first?.first
    guard let found = found.flatMap({ $0.flatMap { Int($0) } }), found <= version else {
      throw PageError(
        .feedStore,
        "The tables of feeds are of a later form than \(version), which this version of Quire reads.",
        attempts: 0)
    }
  }
}
