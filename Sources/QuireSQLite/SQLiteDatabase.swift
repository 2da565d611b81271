import Foundation
import GRDB
import QuireExport
import Synchronization

/// A connection to a database file, used on its own queue.
struct SQLiteDatabase: Sendable {
  private let queue: DatabaseQueue
  private let path: String
  private let opening: SinkOpening

  /// Opens the file, or creates it for its owner alone. Throws `SinkError`.
  ///
  /// Waits for the locks of other programs, until the export that `opening` is for is to stop.
  init(_ path: String, _ opening: SinkOpening = SinkOpening()) throws(SinkError) {
    self.path = path
    self.opening = opening
    // The file has positions, which only its owner may read; SQLite gives its journal the same
    // permissions. The path is resolved here, because SQLite would create the target of a link
    // readable by all, and treats names such as `file:a.db` and `:memory:` specially.
    let file = FileSink.resolved(path)
    let descriptor = open(file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    let reason = errno
    guard descriptor >= 0 || reason == EEXIST else {
      throw SinkError(
        .writeFailed, "\(path) cannot be written: \(String(cString: strerror(reason))).",
        reason: reason)
    }
    if descriptor >= 0 { Foundation.close(descriptor) }
    var status = stat()
    guard stat(path, &status) != 0 || status.st_mode & S_IFMT != S_IFDIR else {
      throw SinkError(
        .writeFailed, "\(path) is a directory. Name a file in it.", reason: EISDIR)
    }
    var configuration = Configuration()
    configuration.foreignKeysEnabled = false
    configuration.allowsUnsafeTransactions = true
    let wait = LockWait(opening, path)
    configuration.busyMode = .callback { tries in wait.goesOn(after: tries) }
    configuration.prepareDatabase { database in
      // The page size applies to new databases: items often have a kilobyte, and larger pages mean
      // fewer writes. `EXTRA` makes a commit durable when it returns: the end of its journal, too,
      // is on the disk.
      try database.execute(
        sql: "PRAGMA page_size = 16384; PRAGMA synchronous = EXTRA; PRAGMA cache_size = -20000")
      // A journal that is kept between commits saves confirmed writes. A write-ahead log is left
      // unchanged.
      if try String.fetchOne(database, sql: "PRAGMA journal_mode") == "delete" {
        try database.execute(sql: "PRAGMA journal_mode = PERSIST")
      }
      database.add(function: .shortestText)
    }
    do {
      queue = try DatabaseQueue(path: file, configuration: configuration)
    } catch {
      throw SinkError(error, path)
    }
  }

  /// Performs work on the queue, and rolls back its transaction if it fails. Throws `SinkError`, or
  /// `CancellationError` if the wait for another program's lock was stopped.
  func run<Value: Sendable>(
    _ work: @escaping @Sendable (Database) throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      queue.asyncWriteWithoutTransaction { database in
        let result = Result { try work(database) }
        if case .failure = result, database.isInsideTransaction { try? database.rollback() }
        continuation.resume(with: result.mapError { failure($0) })
      }
    }
  }

  private func failure(_ error: any Error) -> any Error {
    let mapped = SinkError(mapping: error, path)
    guard mapped.code == .inUse, opening.isStopping() else { return mapped }
    return CancellationError()
  }

  /// Rolls back an open transaction, and closes the connection.
  func close() async {
    await withCheckedContinuation { continuation in
      queue.asyncWriteWithoutTransaction { database in
        if database.isInsideTransaction { try? database.rollback() }
        // Deletes the journal, unless another connection is using it.
        if (try? String.fetchOne(database, sql: "PRAGMA journal_mode")) == "persist" {
          _ = try? String.fetchOne(database, sql: "PRAGMA journal_mode = DELETE")
        }
        continuation.resume()
      }
    }
    try? queue.close()
  }
}

/// The wait for the locks that other programs have on a database, as long as another export may
/// commit, or a reader read.
private final class LockWait: Sendable {
  /// How long a wait may last, and how long all waits together once the export is to stop.
  private static let (longest, last) = (Duration.seconds(60), Duration.milliseconds(500))

  /// The time between two notes of a wait.
  private static let noteTime: Duration = .seconds(2)

  private struct State {
    var began: ContinuousClock.Instant
    /// When the export was asked to stop; nil if it was not.
    var stopped: ContinuousClock.Instant?
    var noted: ContinuousClock.Instant
  }

  private let opening: SinkOpening
  private let path: String
  private let state = Mutex<State?>(nil)

  init(_ opening: SinkOpening, _ path: String) { (self.opening, self.path) = (opening, path) }

  /// Sleeps before the next try, and returns whether there is one. `tries` is 0 for a new wait.
  func goesOn(after tries: Int) -> Bool {
    let isStopping = opening.isStopping()
    let now = ContinuousClock.now
    let (goesOn, isNoted) = state.withLock { known in
      var state = known ?? State(began: now, noted: now)
      if tries == 0 { (state.began, state.noted) = (now, now) }
      state.stopped = isStopping ? state.stopped ?? now : nil
      let isNoted = now - state.noted >= Self.noteTime
      if isNoted { state.noted = now }
      known = state
      let goesOn =
        now - state.began < Self.longest && state.stopped.map { now - $0 < Self.last } ?? true
      return (goesOn, isNoted)
    }
    if goesOn, isNoted {
      opening.onWait(
        Self.noteTime,
        SinkError(
          .inUse, "\(path): another program keeps the database locked. End it, and go on."))
    }
    if goesOn { usleep(UInt32(min(tries + 1, 25)) * 1000) }
    return goesOn
  }
}

extension DatabaseFunction {
  /// The SQL function that converts a number to the shortest text of the same number: `CAST` writes
  /// only 15 digits.
  fileprivate static var shortestText: DatabaseFunction {
    DatabaseFunction("_quire_text", argumentCount: 1, pure: true) {
      values -> (any DatabaseValueConvertible)? in
      switch values[0].storage {
      case .double(let value): return NumberText.text(of: value)
      case .int64(let value): return String(value)
      case .null, .string, .blob: return values[0]
      }
    }
  }
}

extension SinkError {
  /// Creates an error from one of SQLite; a `SinkError` stays unchanged.
  package init(mapping error: any Error, _ path: String) {
    self = error as? SinkError ?? SinkError(error, path)
  }

  fileprivate init(_ error: any Error, _ path: String) {
    guard let error = error as? DatabaseError else {
      self.init(.writeFailed, "\(path): \(error)")
      return
    }
    let message = error.message ?? "\(error.resultCode)"
    switch error.resultCode {
    case .SQLITE_NOTADB:
      self.init(
        .unsupported, "\(path) is no SQLite database: nothing was changed. Name another file.")
    case .SQLITE_CORRUPT:
      self.init(
        .damaged, "\(path): the database is damaged (\(message)). Restore it from a copy.")
    case .SQLITE_BUSY, .SQLITE_LOCKED:
      self.init(
        .inUse,
        "\(path): another program has kept the database locked for a minute. End it, and go on.")
    case .SQLITE_FULL:
      self.init(
        .writeFailed,
        "\(path): there is no room left for the database (\(message)). Make room, and go on.")
    case .SQLITE_CANTOPEN:
      self.init(
        .writeFailed,
        "\(path): the database or its journal cannot be opened (\(message)). Its folder must be writable, and the "
          + "process allowed to open more files, such as by \"ulimit -n\". See to that, and go on.")
    case .SQLITE_TOOBIG:
      self.init(
        .unfit, "\(path): an item is larger than SQLite can hold (\(message)).")
    default:
      self.init(
        .writeFailed, "\(path): \(message) (SQLite \(error.extendedResultCode.rawValue)).")
    }
  }
}
