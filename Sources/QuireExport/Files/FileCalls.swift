import Foundation

/// The system calls of a file sink as closures, so that tests can make each of them fail and
/// simulate a loss of power.
///
/// Each returns the result of the call, or the negated `errno`.
struct FileCalls: Sendable {
  var open: @Sendable (_ path: String, _ flags: Int32) -> Int32
  var close: @Sendable (Int32) -> Void
  var size: @Sendable (Int32) -> Int
  var read: @Sendable (Int32, UnsafeMutableRawBufferPointer, _ offset: Int) -> Int
  var write: @Sendable (Int32, UnsafeRawBufferPointer, _ offset: Int) -> Int
  var truncate: @Sendable (Int32, Int) -> Int32
  /// Asks the system to begin writing a part of the file to disk, without a guarantee; a later
  /// `sync` then takes less time.
  var beginSync: @Sendable (Int32, _ part: Range<Int>) -> Void
  var sync: @Sendable (Int32) -> Int32
  var rename: @Sendable (_ from: String, _ to: String) -> Int32
  var remove: @Sendable (String) -> Int32
  var syncFolder: @Sendable (String) -> Int32
  /// Gives a file the owner, the group and the permissions of another, as far as the process may.
  var imitate: @Sendable (_ file: Int32, _ model: Int32) -> Void = { _, _ in }

  /// The calls of the operating system.
  static let system = FileCalls(
    open: { Foundation.open($0, $1 | O_CLOEXEC, 0o600).orError },
    close: { _ = Foundation.close($0) },
    size: { descriptor in
      var status = stat()
      return fstat(descriptor, &status) == 0 ? Int(status.st_size) : -Int(errno)
    },
    read: { pread($0, $1.baseAddress, $1.count, off_t($2)).orError },
    write: { pwrite($0, $1.baseAddress, $1.count, off_t($2)).orError },
    truncate: { ftruncate($0, off_t($1)).orError },
    beginSync: { descriptor, part in
      #if canImport(Glibc)
        // Linux starts to write the dirty pages of the range, and does not wait for them.
        _ = posix_fadvise(
          descriptor, off_t(part.lowerBound), off_t(part.count), POSIX_FADV_DONTNEED)
      #endif
    },
    sync: { confirm($0).orError },
    rename: { Foundation.rename($0, $1).orError },
    remove: { unlink($0).orError },
    syncFolder: { folder in
      let descriptor = Foundation.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      guard descriptor >= 0 else { return -errno }
      defer { Foundation.close(descriptor) }
      return fsync(descriptor).orError
    },
    imitate: { file, model in
      var status = stat()
      guard fstat(model, &status) == 0 else { return }
      var mode = status.st_mode & 0o777
      // Only few may give a file away. If it cannot get the group, another one gets no rights.
      if fchown(file, status.st_uid, status.st_gid) != 0,
        fchown(file, uid_t.max, status.st_gid) != 0
      {
        mode &= ~0o070
      }
      _ = fchmod(file, mode)
    })
}

/// Makes the content of a file durable. `fdatasync` skips the timestamps, so overwriting a
/// checkpoint without changing its length costs no journal entry.
private func confirm(_ descriptor: Int32) -> Int32 {
  #if canImport(Darwin)
    fsync(descriptor)
  #else
    fdatasync(descriptor)
  #endif
}

extension FixedWidthInteger {
  /// The result of a system call, or the negated `errno` if it failed.
  fileprivate var orError: Self { self < 0 ? Self(truncatingIfNeeded: -Int(errno)) : self }
}

/// An open file that throws the errors of all its system calls.
struct SinkFile {
  let calls: FileCalls
  let path: String
  let descriptor: Int32

  /// The length of the file in bytes.
  var size: Int {
    get throws(SinkError) { try check(calls.size(descriptor), "look at") }
  }

  /// Writes all the bytes at an offset, by as many calls as needed.
  func write(_ bytes: [UInt8], at offset: Int) throws(SinkError) {
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes {
        calls.write(descriptor, UnsafeRawBufferPointer(rebasing: $0[done...]), offset + done)
      }
      if count == -Int(EINTR) || count == -Int(EAGAIN) { continue }
      // A write of zero bytes without an error would be repeated forever.
      done += try check(count == 0 ? -Int(EIO) : count, "write to")
    }
  }

  /// Reads up to the buffer's size at an offset; returns 0 at the end of the file.
  func read(_ buffer: inout [UInt8], at offset: Int) throws(SinkError) -> Int {
    while true {
      let count = buffer.withUnsafeMutableBytes { calls.read(descriptor, $0, offset) }
      if count != -Int(EINTR) { return try check(count, "read") }
    }
  }

  /// Sets the length of the file, cutting it or filling it with zeros.
  func truncate(to length: Int) throws(SinkError) {
    while true {
      let result = calls.truncate(descriptor, length)
      if result != -EINTR { _ = try check(Int(result), "cut"); return }
    }
  }

  /// Starts writing a part of the file to disk while the caller produces the next.
  func beginSync(_ part: Range<Int>) { calls.beginSync(descriptor, part) }

  /// Returns once the content of the file survives a loss of power.
  ///
  /// Not repeated after a failure: the system may have dropped the data that it could not write.
  func sync() throws(SinkError) { try Self.checkSync(calls.sync(descriptor), path) }

  /// Throws if `result` is an error, except for those of file systems that cannot confirm writes.
  static func checkSync(_ result: Int32, _ path: String) throws(SinkError) {
    switch -result {
    case ...0, EINVAL, ENOSYS, EOPNOTSUPP, EACCES: return
    default: throw failure(-result, "write to", path)
    }
  }

  /// Closes the file.
  func close() { calls.close(descriptor) }

  private func check(_ result: Int, _ verb: String) throws(SinkError) -> Int {
    guard result < 0 else { return result }
    throw Self.failure(Int32(-result), verb, path)
  }

  static func failure(_ reason: Int32, _ verb: String, _ path: String) -> SinkError {
    let words = String(cString: strerror(reason))
    let remedy: String? =
      switch reason {
      case ENOSPC, EDQUOT: "Make room"
      case EMFILE: "Raise the limit on open files, such as by \"ulimit -n\""
      case ENFILE: "Let other programs close files"
      default: nil
      }
    let advice = remedy.map { " \($0), then run the same export again: it goes on." } ?? ""
    return SinkError(.writeFailed, "Cannot \(verb) \(path): \(words).\(advice)", reason: reason)
  }
}

extension SinkFile {
  /// Opens the file at `path`.
  init(_ path: String, _ flags: Int32, _ calls: FileCalls) throws(SinkError) {
    let descriptor = calls.open(path, flags)
    guard descriptor >= 0 else { throw Self.failure(-descriptor, "open", path) }
    self.init(calls: calls, path: path, descriptor: descriptor)
  }
}
