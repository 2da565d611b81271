import Foundation
import QuireCore
import QuireExport

/// A lock for writing a table of a database file, which one export has at a time, in this process
/// or another. It is advisory: only Quire checks it.
///
/// It is an open file description lock (`fcntl` of Linux and macOS) on one byte of a file beside
/// the database, chosen by the table's name. It ends with its process, even in a crash. The
/// database itself cannot be locked like this: closing a descriptor of it would release SQLite's
/// locks.
final class TableLock {
  private let path: String
  private var descriptor: Int32 = -1

  /// Takes the lock.
  ///
  /// Throws `SinkError`: `.inUse` if another export has it, `.writeFailed` if the file cannot be
  /// created, `.unsupported` if the file system has no locks; and the errors of `wait`, which is
  /// called while another export releases its table.
  init(
    database: String, table: String,
    wait: () async throws -> Void = { try await Task.sleep(for: .milliseconds(1)) }
  ) async throws {
    // The path is resolved, so that a database has one lock file under all its names, even before
    // it exists.
    path = Self.path(of: FileSink.resolved(database))
    let place = Int(FNV1a(TableDialect.sqlite.folded(table.utf8)).value >> 2)
    var waits = 0
    while true {
      let opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      guard opened >= 0 else {
        let reason = errno
        throw SinkError(
          .writeFailed,
          "\(database) cannot be written: \(String(cString: strerror(reason))).", reason: reason)
      }
      descriptor = opened
      let result = take(at: place, length: 1)
      // Another export may have deleted the file before this one had the lock.
      if result == 0, isStillLinked { return }
      let isBusy = [EAGAIN, EACCES].contains(result)
      let isLettingGo = isBusy && isBeingReleased(at: place) && waits < 5_000
      close(opened)
      descriptor = -1
      if isLettingGo {
        waits += 1
        try await wait()
      } else if isBusy {
        throw SinkError(
          .inUse,
          "\(database): another export is writing to the table \(table): the two would repeat items. "
            + "Wait for it, end it, or write to another table. Nothing was requested.")
      } else if result != 0 {
        throw SinkError(
          .unsupported,
          "\(database) is on a file system without locks (\(String(cString: strerror(result)))), where "
            + "no database is safe. Write to another one.", reason: result)
      }
    }
  }

  /// Returns the path of the lock file beside a database.
  static func path(of database: String) -> String { database + "-quire" }

  /// Releases the lock, and deletes the file if no other lock is on it.
  func release() {
    guard descriptor >= 0 else { return }
    if take(at: 0, length: 0) == 0, isStillLinked { unlink(path) }
    close(descriptor)
    descriptor = -1
  }

  deinit { release() }

  /// `F_OFD_SETLK` and `F_OFD_GETLK`, which Swift's Glibc does not import.
  private static let (setLock, getLock): (Int32, Int32) = {
    #if canImport(Darwin)
      (90, 92)
    #else
      (37, 36)
    #endif
  }()

  private static func lock(at start: Int, length: Int) -> flock {
    flock(
      l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: off_t(start),
      l_len: off_t(length), l_pid: 0)
  }

  private func take(at start: Int, length: Int) -> Int32 {
    while true {
      var lock = Self.lock(at: start, length: length)
      if fcntl(descriptor, Self.setLock, &lock) == 0 { return 0 }
      if errno != EINTR { return errno }
    }
  }

  /// Whether the conflicting lock is on the whole file, with which another export releases its
  /// table, or is gone.
  private func isBeingReleased(at start: Int) -> Bool {
    var lock = Self.lock(at: start, length: 1)
    return fcntl(descriptor, Self.getLock, &lock) == 0
      && (lock.l_len == 0 || lock.l_type == Int16(F_UNLCK))
  }

  /// Whether the open file is still the one at `path`.
  private var isStillLinked: Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && FileNumber(status) == FileNumber(path: path)
  }
}
