import Foundation
import GRDB
import QuireCore
public import QuireExport
import QuirePagination

/// A table of an SQLite database as a destination: items and checkpoint are one transaction.
///
/// ```swift
/// let export = Export(issues, to: SQLiteSink("github.db", table: "issues", key: "/id"))
/// ```
/// Each member of the items is a column, added when it first comes. Whole numbers of 64 bits are
/// `INTEGER`, decimals `REAL` where a `Double` gives them back, both together `NUMERIC`; truth values are
/// `BOOLEAN` (0 and 1); objects and arrays are JSON text. A column that cannot hold a value becomes
/// `TEXT` with all it has, and no column becomes narrower: longer numbers keep their text. Names that
/// differ only in case, and those of columns of the sink's own, get a number: `ID`, `id_2`. What no column
/// can hold (more members than SQLite has columns, a name twice in one item, half a surrogate pair) is in
/// the column `_rest`, as JSON. Items that are no objects are the column `value`.
///
/// The table `_quire` holds the checkpoints, one row for each table. Readers and exports into other
/// tables of the database go on; a transaction is open only while a commit writes.
public struct SQLiteSink: Sink {
  /// What a run does that finds a complete one. Default: `.upsert` where items have a key, else `.once`.
  public let mode: SinkMode

  let path: String
  let table: String
  let shape: TableShape

  /// A table of the database at `path`; both are made where they are missing.
  ///
  /// Items with a `key` take the place of earlier ones with the same, in every mode. `columns` are
  /// those of the table, in order; by default there is one for each member. The column `item` holds the whole item as the server
  /// wrote it, without white space; by default none does.
  public init(
    _ path: String, table: String, key: TableKey? = nil, mode: SinkMode? = nil,
    columns: [TableColumn]? = nil, item: String? = nil
  ) {
    self.path = path
    self.table = table
    self.mode = mode ?? (key == nil ? .once : .upsert)
    shape = TableShape(key: key, columns: columns, item: item)
  }

  /// Opens the table for one export.
  ///
  /// Throws `SinkError`: `.inUse` where another export writes to the table, `.unsupported` where the file is no
  /// database, `.notOurs` where the table is no export's, `.otherRequest` where the table was made with other settings,
  /// `.damaged` and `.writeFailed`.
  public func open(_ opening: SinkOpening) async throws -> any SinkSession {
    try checkName()
    let lock = try await TableLock(database: path, table: table)
    do {
      let database = try SQLiteDatabase(path)
      let writer = try await database.run { database in
        try SQLiteWriter(self, database, restarts: opening.restarts)
      }
      return SQLiteSession(database, writer, lock, shape)
    } catch {
      lock.release()
      throw error
    }
  }

  /// What SQLite and exports have beside the database at times.
  package var companions: [String] {
    let file = FileSink.resolved(path)
    return [TableLock.path(of: file), file + "-journal", file + "-wal", file + "-shm"]
  }

  /// Throws where no table can be called so.
  package func checkName() throws(SinkError) {
    let name = table.lowercased()
    guard !name.isEmpty, !name.contains("\0"), !name.hasPrefix("sqlite_"),
      !name.hasPrefix("_quire")
    else {
      throw SinkError(
        .unsupported,
        "No table can be called \(ServerText(table)): SQLite keeps names that begin with sqlite_, and "
          + "Quire those that begin with _quire. Choose another name.")
    }
  }
}

/// An export's table, open.
final class SQLiteSession: SinkSession {
  /// Bytes of items that are held for the next commit; what is beyond goes into its transaction at once,
  /// which other writers then wait for.
  private static let held = 64 << 20

  private(set) var checkpoint: Checkpoint?
  private let database: SQLiteDatabase
  private let writer: SQLiteWriter
  private let lock: TableLock
  private let shape: TableShape
  private var pending: [TableItem] = []
  private var pendingBytes = 0

  init(
    _ database: SQLiteDatabase, _ writer: SQLiteWriter, _ lock: TableLock, _ shape: TableShape
  ) {
    self.shape = shape
    self.database = database
    self.writer = writer
    self.lock = lock
    checkpoint = writer.checkpoint
  }

  func write(_ page: SinkPage) async throws {
    let new = try TableItem.all(of: page, shape)
    pendingBytes += new.reduce(0) { $0 + $1.count }
    pending += new
    guard pendingBytes > Self.held else { return }
    let items = take()
    try await database.run { [writer] in try writer.add(items, to: $0) }
  }

  func commit(_ checkpoint: Checkpoint) async throws {
    let items = take()
    try await database.run { [writer] in try writer.commit(items, checkpoint, to: $0) }
    self.checkpoint = checkpoint
  }

  func close() async {
    pending = []
    await database.close()
    lock.release()
  }

  private func take() -> [TableItem] {
    defer { (pending, pendingBytes) = ([], 0) }
    return pending
  }
}
