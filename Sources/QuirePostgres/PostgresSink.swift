import QuireCore
public import QuireExport
import QuirePagination

/// A table of a PostgreSQL database as a destination: items and checkpoint are one transaction.
///
/// ```swift
/// let export = Export(
///   issues, to: PostgresSink("postgres://localhost/github", table: "issues", key: "/id"))
/// ```
/// Each member of the items is a column, added when it first comes: `bigint` for whole numbers of 64 bits,
/// `numeric` for all others, which keep every digit, `boolean`, `json` for objects and arrays, `text`. A
/// column that cannot hold a value becomes `numeric` or `text` with all it has, and none becomes narrower.
/// The column `_rest` has, as JSON, what no column can hold: members beyond the 300th, because a row of
/// PostgreSQL has 8 KiB, a name twice in one item, and texts with the character NUL, which stand as ␀ in
/// their columns, those in objects and arrays too: `->>` fails on a `json` value that has one. Items that are no objects are the column `value`.
///
/// The table `_quire` beside it holds the checkpoints, one row for each table. Items come by `COPY`. A
/// connection that is lost, as by a restart of the server, is made again, and the commit repeated unless
/// it had come through.
public struct PostgresSink: Sink {
  /// What a run does that finds a complete one. Default: `.upsert` where items have a key, else `.once`.
  public let mode: SinkMode

  let connection: String
  let table: String
  let shape: TableShape
  /// What units of work are committed to; one connection for all of a process.
  let units: PostgresDatabase

  /// A table in the current schema of a database that libpq connects to, by a URL or a list of keywords
  /// (PostgreSQL manual, 34.1.1); what it does not say comes from the environment, as in `psql`.
  ///
  /// Items with a `key` take the place of earlier ones with the same, in every mode. `columns` are
  /// those of the table, in order; by default there is one for each member. The column `item` holds the whole item as the server
  /// wrote it, without white space; by default none does.
  public init(
    _ connection: String, table: String, key: TableKey? = nil, mode: SinkMode? = nil,
    columns: [TableColumn]? = nil, item: String? = nil
  ) {
    self.connection = connection
    self.table = table
    self.mode = mode ?? (key == nil ? .once : .upsert)
    shape = TableShape(key: key, columns: columns, item: item)
    units = PostgresDatabase(connection, preparation: PostgresUnits.tables)
  }

  /// Opens the table for one export.
  ///
  /// Throws `SinkError`: `.inUse` where another export writes to the table, `.notOurs` where no export made
  /// it, `.otherRequest` where it was made with other settings, `.damaged` and `.writeFailed`.
  public func open(_ opening: SinkOpening) async throws -> any SinkSession {
    try checkName()
    let writer = PostgresWriter(self, restarts: opening.restarts)
    do {
      let checkpoint = try await writer.open()
      return PostgresSession(writer, checkpoint, shape)
    } catch {
      await writer.close()
      throw error
    }
  }

  /// Throws where no table can be called so.
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

/// An export's table, open.
final class PostgresSession: SinkSession {
  private(set) var checkpoint: Checkpoint?
  private let writer: PostgresWriter
  private let shape: TableShape
  private var pending: [TableItem] = []

  init(_ writer: PostgresWriter, _ checkpoint: Checkpoint?, _ shape: TableShape) {
    self.shape = shape
    self.writer = writer
    self.checkpoint = checkpoint
  }

  func write(_ page: SinkPage) async throws {
    pending += try TableItem.all(of: page, shape)
  }

  func commit(_ checkpoint: Checkpoint) async throws {
    try await writer.commit(pending, checkpoint)
    pending = []
    self.checkpoint = checkpoint
  }

  func close() async {
    pending = []
    await writer.close()
  }
}
