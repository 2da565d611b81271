import Foundation

/// The right to write a file, which one export has at a time. Advisory: nothing but Quire looks at
/// it.
///
/// It is a record lock (POSIX.1-2017, `fcntl`): it ends with the process that has it, however that
/// ends, even where another one keeps the file open, and tells which process that is. It also ends
/// when the process closes *any* descriptor of the file.
enum FileLock: Equatable {
  /// It is ours now.
  case taken
  /// Another process has it; 0 where the system does not tell which.
  case held(by: pid_t)
  /// This file system has no locks; the system's error number.
  case unsupported(Int32)

  /// Tries to get the lock of the file that is open for writing as `descriptor`, without waiting.
  static func take(_ descriptor: Int32) -> FileLock {
    // The one who has it may let go between the two questions.
    for _ in 0..<100 {
      var lock = wholeFile
      if fcntl(descriptor, F_SETLK, &lock) == 0 { return .taken }
      switch errno {
      case EINTR: continue
      case EACCES, EAGAIN: break
      default: return .unsupported(errno)
      }
      var other = wholeFile
      guard fcntl(descriptor, F_GETLK, &other) == 0 else { return .held(by: 0) }
      if other.l_type != Int16(F_UNLCK) { return .held(by: max(other.l_pid, 0)) }
    }
    return .held(by: 0)
  }

  private static var wholeFile: flock {
    flock(l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: 0, l_len: 0, l_pid: 0)
  }
}
