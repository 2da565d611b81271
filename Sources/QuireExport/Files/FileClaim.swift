package import Foundation
import Synchronization

/// The right to write a file, which one export has at a time. Advisory: nothing but Quire looks at it.
///
/// It is a record lock (POSIX.1-2017, `fcntl`): it ends with the process that has it, however that
/// ends, even where another one keeps the file open, and tells which process that is. It also ends
/// when the process closes *any* descriptor of the file.
package enum FileLock: Equatable {
  /// It is ours now.
  case taken
  /// Another process has it, named as far as the system tells which: "process 12".
  case held(by: String)
  /// This file system has no locks; the system's error number.
  case unsupported(Int32)

  /// Tries to get the lock of the file that is open for writing as `descriptor`, without waiting.
  package static func take(_ descriptor: Int32) -> FileLock {
    // The process that holds it may let go between the two calls.
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

  /// Whether another process has the lock of the file at `path`.
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

/// A file that is open for one writer alone, in this process and beside others.
package final class FileClaim: Sendable {
  /// The files of this process that are claimed: a record lock does not keep a process from itself.
  private static let claimed = Mutex<Set<FileNumber>>([])

  package let descriptor: Int32
  /// Whether the file was made here.
  package let isNew: Bool
  /// The system's error number where no file of its kind can be locked; nil where it was.
  package let lockFailure: Int32?
  private let number: FileNumber

  /// Opens the file, makes it where it is not there, and locks it; `mode` is for reading and writing by default.
  /// `inUse` says that another writer, such as "process 12", has it; by default that one is an export.
  ///
  /// What is made here is its owner's alone: items may be private. Throws `SinkError`.
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

  /// That another export writes to what a message calls `name`.
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
      // Opening it would be closed again, and that takes the lock from the export that has it.
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
      // Another export has put a new file in its place, or taken its own away, before the lock was ours.
      close(descriptor)
    }
  }
}

/// By what a file is known, whatever leads to it.
package struct FileNumber: Hashable, Sendable {
  private let device: UInt64
  private let number: UInt64

  /// That of the file that a path leads to.
  package init?(path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    self.init(status)
  }

  /// That of the file that the system says this of.
  package init(_ status: stat) {
    (device, number) = (UInt64(status.st_dev), UInt64(status.st_ino))
  }
}
