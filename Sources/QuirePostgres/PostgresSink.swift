import QuireCore
public import QuireExport
import QuirePagination

/// A sink that writes to a table of a PostgreSQL database, items and checkpoint in one transaction.
///
/// ```swift
/// let export = Export(
///   issues, to: PostgresSink("postgres://localhost/github", table: "issues", key: "/id"))
/// ```
/// Each member of the items has a column, added when the member first occurs: `bigint` for whole
/// numbers of 64 bits, `numeric` for other numbers, with every digit, `boolean`, `json` for objects
/// and arrays, `text`. A column that cannot hold a value becomes `numeric` or `text`, with all its
/// values; no column becomes narrower. The column `_rest` has, as JSON, what no column can hold:
/// members beyond the 300th, because a row of PostgreSQL has 8 KiB, a second member of a name, and
/// texts with the character NUL or half a surrogate pair. These have ␀ or U+FFFD for it in their
/// columns, even inside objects and arrays, because `->>` fails on a `json` value with NUL; in a key
/// they are JSON as the server wrote it, so that different keys differ. Items that are not objects
/// are in the column `value`.
///
/// The table `_quire` in the same schema holds the checkpoints, one row for each table. Items are
/// written by `COPY`. If the connection is lost, as by a restart of the server, the sink
/// reconnects, and repeats the commit unless it had succeeded.
public struct PostgresSink: Sink {
  /// What a run does if an earlier one is complete. Default: `.upsert` if items have a key, else
  /// `.once`.
  public let mode: SinkMode

  let connection: String
  let table: String
  let shape: TableShape
  /// The database for units of work, with one connection for all of a process.
  let units: PostgresDatabase

  /// Creates a sink for a table in the current schema of a database. `connection` is a URL or a
  /// list of keywords for libpq (PostgreSQL manual, 34.1.1); what it does not say comes from the
  /// environment, as in `psql`.
  ///
  /// With a `key`, items replace earlier ones with the same key, in every mode. `columns` are the
  /// columns of the table, in order; by default, one for each member. `item` is the name of a
  /// column for the whole item as the server wrote it, without white space; by default, there is
  /// none.
  public init(
    _ connection: String, table: String, key: TableKey? = nil, mode: SinkMode? = nil,
    columns: [TableColumn]? = nil, item: String? = nil
  ) {
    self.connection = connection
    self.table = table
    self.mode = mode ?? .standard(hasKey: key != nil)
    shape = TableShape(key: key, columns: columns, item: item)
    units = PostgresDatabase(connection, preparation: PostgresUnits.tables)
  }

  /// Opens the table for one export.
  ///
  /// Throws `SinkError`: `.inUse` if another export writes to the table, `.notOurs` if no export
  /// created it, `.otherRequest` if it was created with other settings, `.damaged` and
  /// `.writeFailed`.
  public func open(_ opening: SinkOpening) async throws -> any SinkSession {
    try checkName()
    // The lock ends with its connection, and is taken again with the next.
    let database = PostgresDatabase(
      connection, waitsAtFirst: false,
      onConnect: { [self] connection in
        try PostgresLedger(sink: self, connection: connection).lock()
      }, onWait: opening.onWait)
    do {
      let checkpoint = try await database.transaction(isStopping: opening.isStopping) {
        [self] connection in
        try opening.restarts ? nil : PostgresWriter(self, connection).open()
      }
      return PostgresSession(shape, checkpoint, closing: database) {
        [self] items, checkpoint, last, isFirst in
        try await database.transaction(isStopping: opening.isStopping) { connection in
          try PostgresWriter(self, connection)
            .commit(items, checkpoint, behind: last, restarts: opening.restarts && isFirst)
        }
      }
    } catch {
      await database.close()
      throw error
    }
  }

  /// Throws `.unsupported` if no table can have this name.
  package func checkName() throws(SinkError) {
    guard !table.isEmpty, table.utf8.count <= 63, !table.contains("\0"), !table.hasPrefix("_quire")
    else {
      throw SinkError(
        .unsupported,
        "No table can be called \(ServerText(table)): PostgreSQL's names have 1 to 63 bytes, and Quire "
          + "keeps those that begin with _quire. Choose another name.")
    }
  }
}

/// An open table of an export, or of one unit of work.
final class PostgresSession: SinkSession {
  /// Writes items and a checkpoint in one transaction. `last` is the checkpoint before; `isFirst` is
  /// whether this is the session's first commit.
  typealias Commit =
    @Sendable (
      _ items: [TableItem], _ checkpoint: Checkpoint, _ last: Checkpoint?, _ isFirst: Bool
    ) async throws -> Void

  private(set) var checkpoint: Checkpoint?
  private let shape: TableShape
  private let commit: Commit
  /// The database to close at the end; nil for one that other sessions use.
  private let database: PostgresDatabase?
  private var isFirst = true
  private var pending: [TableItem] = []

  init(
    _ shape: TableShape, _ checkpoint: Checkpoint?, closing database: PostgresDatabase? = nil,
    commit: @escaping Commit
  ) {
    (self.shape, self.checkpoint) = (shape, checkpoint)
    (self.database, self.commit) = (database, commit)
  }

  func write(_ page: SinkPage) async throws {
    pending += try TableItem.all(of: page, shape)
  }

  func commit(_ checkpoint: Checkpoint) async throws {
    try await commit(pending, checkpoint, self.checkpoint, isFirst)
    (pending, isFirst, self.checkpoint) = ([], false, checkpoint)
  }

  func close() async {
    pending = []
    await database?.close()
  }
}
