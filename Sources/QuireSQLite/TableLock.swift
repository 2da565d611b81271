import Foundation
import QuireCore
import QuireExport

/// The right to write a table of a database file, which one export has at a time, in this process or
/// another. Advisory: nothing but Quire looks at it.
///
/// It is a lock of an open file description (Linux and macOS, `fcntl`) on one byte of a file beside the
/// database, the byte being chosen by the table's name. It ends with the process that has it, however that
/// ends. The database itself cannot be locked so: closing a descriptor of it would end SQLite's locks.
final class TableLock {
  private let path: String
  private var descriptor: Int32 = -1

  /// Throws `SinkError`: `.inUse`, or `.writeFailed` where the file cannot be made; and what `wait` throws, which
  /// lets the moment pass in which another export lets go of its table.
  init(
    database: String, table: String,
    wait: () async throws -> Void = { try await Task.sleep(for: .milliseconds(1)) }
  ) async throws {
    // One database has one lock file, whatever it is called, and before it is made.
    path = Self.path(of: FileSink.resolved(database))
    let hash = FNV1a(TableDialect.sqlite.folded(table.utf8)).value
    var waits = 0
    while true {
      let opened = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      guard opened >= 0 else {
        let reason = errno
        throw SinkError(
          .writeFailed,
          "\(database) cannot be written: \(String(cString: strerror(reason))).", reason: reason)
      }
      let place = Int(hash >> 2)
      let result = Self.take(opened, at: place, length: 1)
      // Another export may have taken the file away before the lock was ours.
      if result == 0, Self.isSame(opened, path) {
        descriptor = opened
        return
      }
      let isLettingGo = [EAGAIN, EACCES].contains(result) && Self.isWhole(opened, at: place)
      close(opened)
      switch result {
      case 0: continue
      case _ where isLettingGo && waits < 5_000:
        waits += 1
        try await wait()
      case EAGAIN, EACCES:
        throw SinkError(
          .inUse,
          "\(database): another export is writing to the table \(table): the two would repeat items. "
            + "Wait for it, end it, or write to another table. Nothing was requested.")
      default:
        throw SinkError(
          .unsupported,
          "\(database) is on a file system without locks (\(String(cString: strerror(result)))), where "
            + "no database is safe. Write to another one.", reason: result)
      }
    }
  }

  /// The file of locks beside a database.
  static func path(of database: String) -> String { database + "-quire" }

  /// Lets go; the file goes with its last lock.
  func release() {
    guard descriptor >= 0 else { return }
    if Self.take(descriptor, at: 0, length: 0) == 0, Self.isSame(descriptor, path) { unlink(path) }
    close(descriptor)
    descriptor = -1
  }

  deinit { release() }

  /// `F_OFD_SETLK`, which Swift's Glibc does not import.
  private static let setLock: Int32 = {
    #if canImport(Darwin)
      90
    #else
      37
    #endif
  }()

  /// `F_OFD_GETLK`, too.
  private static let getLock: Int32 = {
    #if canImport(Darwin)
      92
    #else
      36
    #endif
  }()

  private static func take(_ descriptor: Int32, at start: Int, length: Int) -> Int32 {
    while true {
      var lock = flock(
        l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: off_t(start),
        l_len: off_t(length), l_pid: 0)
      if fcntl(descriptor, setLock, &lock) == 0 { return 0 }
      if errno != EINTR { return errno }
    }
  }

  /// Whether what is in the way of a lock is that of the whole file, by which another one lets go of its table, or
  /// nothing any more.
  private static func isWhole(_ descriptor: Int32, at start: Int) -> Bool {
    var lock = flock(
      l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: off_t(start), l_len: 1, l_pid: 0)
    return fcntl(descriptor, getLock, &lock) == 0
      && (lock.l_len == 0 || lock.l_type == Int16(F_UNLCK))
  }

  private static func isSame(_ descriptor: Int32, _ path: String) -> Bool {
    var (opened, named) = (stat(), stat())
    return fstat(descriptor, &opened) == 0 && stat(path, &named) == 0
      && opened.st_dev == named.st_dev && opened.st_ino == named.st_ino
  }
}
