import Foundation
import GRDB
import QuireCore
public import QuireExport
import QuirePagination

/// A sink that writes to a table of an SQLite database, items and checkpoint in one transaction.
///
/// ```swift
/// let export = Export(issues, to: SQLiteSink("github.db", table: "issues", key: "/id"))
/// ```
/// Each member of the items has a column, added when the member first occurs. Whole numbers of 64
/// bits are `INTEGER`, decimals that a `Double` reproduces are `REAL`, both together `NUMERIC`;
/// truth values are `BOOLEAN` (0 and 1); objects and arrays are JSON text. A column that cannot
/// hold a value becomes `TEXT`, with all its values, so that longer numbers keep their text; no
/// column becomes narrower. Names that differ only in case, or equal those of the sink's own
/// columns, get a number: `ID`, `id_2`. The column `_rest` has, as JSON, what no column can hold:
/// members beyond SQLite's limit of columns, a second member of a name, texts with half a surrogate
/// pair, which in a key are JSON as the server wrote it, so that different keys differ. Items that
/// are not objects are in the column `value`.
///
/// The table `_quire` holds the checkpoints, one row for each table. Readers, and exports into
/// other tables of the database, continue: a transaction is open only while a commit writes.
public struct SQLiteSink: Sink {
  /// What a run does if an earlier one is complete. Default: `.upsert` if items have a key, else
  /// `.once`.
  public let mode: SinkMode

  let path: String
  let table: String
  let shape: TableShape

  /// Creates a sink for a table of the database at `path`; both are created if they do not exist.
  ///
  /// With a `key`, items replace earlier ones with the same key, in every mode. `columns` are the
  /// columns of the table, in order; by default, one for each member. `item` is the name of a
  /// column for the whole item as the server wrote it, without white space; by default, there is
  /// none.
  public init(
    _ path: String, table: String, key: TableKey? = nil, mode: SinkMode? = nil,
    columns: [TableColumn]? = nil, item: String? = nil
  ) {
    self.path = path
    self.table = table
    self.mode = mode ?? .standard(hasKey: key != nil)
    shape = TableShape(key: key, columns: columns, item: item)
  }

  /// Opens the table for one export.
  ///
  /// Throws `SinkError`: `.inUse` if another export writes to the table, `.unsupported` if the file
  /// is not a database, `.notOurs` if no export created the table, `.otherRequest` if it was
  /// created with other settings, `.damaged` and `.writeFailed`.
  public func open(_ opening: SinkOpening) async throws -> any SinkSession {
    try checkName()
    let lock = try TableLock(lockPath, database: path, table: table)
    do {
      let database = try SQLiteDatabase(path, opening)
      let writer = try await database.run { database in
        try SQLiteWriter(self, database, restarts: opening.restarts)
      }
      return SQLiteSession(database, writer, lock, shape)
    } catch {
      if opening.isStopping(), (error as? SinkError)?.code == .inUse { throw CancellationError() }
      throw error
    }
  }

  /// The files that SQLite and exports have beside the database at times.
  package var companions: [String] {
    let file = FileSink.resolved(path)
    return [lockPath, file + "-journal", file + "-wal", file + "-shm"]
  }

  /// The path of the table's lock. Links and upper case make no difference.
  private var lockPath: String {
    let digest = FNV1a(TableDialect.sqlite.folded(table.utf8)).value
    return "\(FileSink.resolved(path))-quire-\(String(digest, radix: 16))"
  }

  /// Throws `.unsupported` if no table can have this name.
  package func checkName() throws(SinkError) {
    let name = table.lowercased()
    guard !name.isEmpty else {
      throw SinkError(.unsupported, "The name of the table is empty. Choose another name.")
    }
    guard !name.contains("\0"), !name.hasPrefix("sqlite_"),
      !name.hasPrefix("_quire")
    else {
      throw SinkError(
        .unsupported,
        "No table can be called \(ServerText(table)): SQLite keeps names that begin with sqlite_, and "
          + "Quire those that begin with _quire. Choose another name.")
    }
  }
}

/// An open table of an export.
final class SQLiteSession: SinkSession {
  /// The most bytes of items held in memory for the next commit, 64 MiB. Beyond it, items are
  /// written to the commit's transaction at once, for which other writers then wait.
  private static let held = 64 << 20

  private(set) var checkpoint: Checkpoint?
  private let database: SQLiteDatabase
  private let writer: SQLiteWriter
  private var lock: TableLock?
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
    lock = nil
  }

  private func take() -> [TableItem] {
    defer { (pending, pendingBytes) = ([], 0) }
    return pending
  }
}

/// The exclusive right to write to a table: that of a file beside the database, which exists as long
/// as this does. The database itself cannot be locked: closing a descriptor of it would release
/// SQLite's locks.
final class TableLock {
  private let path: String
  private let claim: FileClaim

  /// Throws `SinkError`: `.inUse` if another export has the right, `.writeFailed` if the file cannot
  /// be created, `.unsupported` if the file system has no locks.
  init(_ path: String, database: String, table: String) throws(SinkError) {
    self.path = path
    claim = try FileClaim(path) { other in
      "\(database): another export, \(other), is writing to the table \(table): the two would repeat "
        + "items. Wait for it, end it, or write to another table. Nothing was requested."
    }
    guard let reason = claim.lockFailure else { return }
    throw SinkError(
      .unsupported,
      "\(database) is on a file system without locks (\(String(cString: strerror(reason)))), where no "
        + "database is safe. Write to another one.", reason: reason)
  }

  // Before the lock is released: another export must not lock a file that is to be deleted.
  deinit { unlink(path) }
}
