import QuireCore
import QuireFeeds
import QuirePostgres

/// The database and the tables of a store.
struct FeedDatabase: Sendable {
  private let database: PostgresDatabase

  init(_ target: String) {
    database = PostgresDatabase(target, preparation: Self.tables, waitsAtFirst: false)
  }

  /// Does work in one transaction. `patience` is that of `PostgresDatabase`.
  func transaction<Value: Sendable>(
    patience: Duration? = PostgresDatabase.patience,
    _ work: @escaping @Sendable (PostgresConnection) throws -> Value
  ) async throws -> Value {
    do {
      return try await database.transaction(patience: patience, work)
    } catch let error as PageError {
      throw error
    } catch {
      throw PageError(
        .feedStore, "The store of feeds cannot be used: \(error)", attempts: 0, underlying: error)
    }
  }

  /// The version of the tables.
  private static let version = 1

  private static let tables = """
    CREATE TABLE IF NOT EXISTS quire_feed (
      id text PRIMARY KEY, host text NOT NULL, due float8 NOT NULL, token text, body text NOT NULL);
    CREATE TABLE IF NOT EXISTS quire_host (
      name text PRIMARY KEY, holder text, until timestamptz NOT NULL DEFAULT '-infinity');
    CREATE TABLE IF NOT EXISTS quire_entry (
      number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      feed text NOT NULL REFERENCES quire_feed (id) ON DELETE CASCADE,
      kind text NOT NULL, identity text NOT NULL, digest text NOT NULL, date float8 NOT NULL,
      is_read boolean NOT NULL DEFAULT false, words text NOT NULL, body text NOT NULL);
    CREATE INDEX IF NOT EXISTS quire_feed_due ON quire_feed (due);
    CREATE INDEX IF NOT EXISTS quire_feed_host ON quire_feed (host, due);
    CREATE INDEX IF NOT EXISTS quire_feed_token ON quire_feed (token) WHERE token IS NOT NULL;
    CREATE UNIQUE INDEX IF NOT EXISTS quire_entry_identity
      ON quire_entry (feed, kind, md5(identity));
    CREATE INDEX IF NOT EXISTS quire_entry_date ON quire_entry (date, number);
    CREATE INDEX IF NOT EXISTS quire_entry_feed ON quire_entry (feed, date, number);
    CREATE INDEX IF NOT EXISTS quire_entry_unread ON quire_entry (date, number) WHERE NOT is_read;
    CREATE TABLE IF NOT EXISTS quire_feeds_form (version int NOT NULL);
    INSERT INTO quire_feeds_form SELECT \(version) WHERE NOT EXISTS (SELECT FROM quire_feeds_form);
    DO $$ BEGIN
      IF (SELECT max(version) FROM quire_feeds_form) > \(version) THEN
        RAISE 'The tables of feeds are of a later form than \(version), which this version of Quire reads';
      END IF;
    END $$
    """
}
