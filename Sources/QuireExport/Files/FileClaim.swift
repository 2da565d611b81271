package import Foundation
import Synchronization

/// The exclusive right to write a file. Advisory: only Quire observes it.
///
/// It is a record lock (POSIX.1-2017, `fcntl`). The system releases it when its process ends in any
/// way, even if another process has the file open, and tells which process holds it. It is also
/// released when the process closes *any* descriptor of the file.
package enum FileLock {
  /// This process holds the lock now.
  case taken
  /// Another process holds the lock, named if the system tells its number: "process 12".
  case held(by: String)
  /// The file system has no locks; the value is `errno`.
  case unsupported(Int32)

  /// Tries to lock the file that is open for writing as `descriptor`, without waiting.
  package static func take(_ descriptor: Int32) -> FileLock {
    // The process that holds the lock may release it between the two calls, so this is retried.
    for _ in 0..<100 {
      var lock = wholeFile
      if fcntl(descriptor, F_SETLK, &lock) == 0 { return .taken }
      switch errno {
      case EINTR: continue
      case EACCES, EAGAIN: break
      default: return .unsupported(errno)
      }
      var other = wholeFile
      guard fcntl(descriptor, F_GETLK, &other) == 0 else { break }
      if other.l_type != Int16(F_UNLCK) {
        return .held(by: other.l_pid > 0 ? "process \(other.l_pid)" : "another process")
      }
    }
    return .held(by: "another process")
  }

  /// Returns whether another process has locked the file at `path`.
  package static func isHeld(_ path: String) -> Bool {
    let descriptor = open(path, O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var other = wholeFile
    return fcntl(descriptor, F_GETLK, &other) == 0 && other.l_type != Int16(F_UNLCK)
  }

  private static var wholeFile: flock {
    flock(l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: 0, l_len: 0, l_pid: 0)
  }
}

/// A file that is open for a single writer, among all processes and within this one.
package final class FileClaim: Sendable {
  /// The files that this process has claimed: a record lock does not exclude its own process.
  private static let claimed = Mutex<Set<FileNumber>>([])

  package let descriptor: Int32
  /// Whether this claim created the file.
  package let isNew: Bool
  /// The `errno` if the file system has no locks; nil if the file was locked.
  package let lockFailure: Int32?
  private let number: FileNumber

  /// Opens, creates if necessary, and locks the file. `mode` defaults to reading and writing.
  ///
  /// A created file is readable by its owner only, because items may be private. Throws
  /// `SinkError`; `inUse` makes the message if another writer, such as "process 12", holds the
  /// file. The default message says that it is an export.
  package init(
    _ path: String, mode: Int32? = nil, inUse: ((_ other: String) -> String)? = nil
  ) throws(SinkError) {
    let mode = mode ?? O_RDWR
    let claim = Self.claimed.withLock { Self.claim(path, mode, inUse, among: &$0) }
    (descriptor, isNew, lockFailure, number) = try claim.get()
  }

  deinit {
    Self.claimed.withLock { claimed in
      claimed.remove(number)
      close(descriptor)
    }
  }

  /// Returns whether a path leads to the file.
  func isAt(_ path: String) -> Bool { FileNumber(path: path) == number }

  /// Returns the message that another export writes to the destination called `name`.
  package static func inUse(_ name: String, by other: String) -> String {
    "\(name): another export, \(other), is writing to it: the two would repeat items and tear "
      + "lines. Wait for it, end it, or write to another file. Nothing was requested."
  }

  private typealias Claimed = (Int32, isNew: Bool, lockFailure: Int32?, FileNumber)

  private static func claim(
    _ path: String, _ mode: Int32, _ inUse: ((String) -> String)?,
    among claimed: inout Set<FileNumber>
  ) -> Result<Claimed, SinkError> {
    func refusal(_ other: String) -> Result<Claimed, SinkError> {
      .failure(SinkError(.inUse, inUse?(other) ?? Self.inUse(path, by: other)))
    }
    while true {
      // Checked before opening: closing the new descriptor would release the lock of the export
      // that holds the file.
      if let number = FileNumber(path: path), claimed.contains(number) {
        return refusal("another one of this program")
      }
      let flags = mode | O_CREAT | O_CLOEXEC | O_NONBLOCK
      let created = open(path, flags | O_EXCL, 0o600)
      let descriptor = created >= 0 ? created : open(path, flags, 0o600)
      guard descriptor >= 0 else {
        if errno == EINTR { continue }
        return .failure(SinkFile.failure(errno, "write to", path))
      }
      let lock = FileLock.take(descriptor)
      var status = stat()
      if case .held(let other) = lock {
        close(descriptor)
        return refusal(other)
      } else if fstat(descriptor, &status) == 0, case let number = FileNumber(status),
        number == FileNumber(path: path)
      {
        guard status.st_mode & S_IFMT == S_IFREG else {
          close(descriptor)
          return .failure(
            SinkError(
              .unsupported,
              "\(path) is no file: it keeps nothing that could be gone on with. Nothing was requested."
            ))
        }
        claimed.insert(number)
        let failure: Int32? = if case .unsupported(let reason) = lock { reason } else { nil }
        return .success((descriptor, created >= 0, failure, number))
      }
      // Another export has replaced or removed the file before it was locked.
      close(descriptor)
    }
  }
}

/// The identity of a file, independent of the path that leads to it.
package struct FileNumber: Hashable, Sendable {
  private let device: UInt64
  private let number: UInt64

  /// Creates the identity of the file at a path; nil if there is none.
  package init?(path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    self.init(status)
  }

  /// Creates the identity of a file from its status.
  package init(_ status: stat) {
    (device, number) = (UInt64(status.st_dev), UInt64(status.st_ino))
  }
}
