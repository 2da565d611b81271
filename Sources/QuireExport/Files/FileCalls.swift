import Foundation

/// The system's calls that a file sink makes, as values, so that a test can have each of them fail and
/// lose what a machine without power loses.
///
/// Each returns what the system does, or the negative error number.
struct FileCalls: Sendable {
  var open: @Sendable (_ path: String, _ flags: Int32) -> Int32
  var close: @Sendable (Int32) -> Void
  var size: @Sendable (Int32) -> Int
  var read: @Sendable (Int32, UnsafeMutableRawBufferPointer, _ offset: Int) -> Int
  var write: @Sendable (Int32, UnsafeRawBufferPointer, _ offset: Int) -> Int
  var truncate: @Sendable (Int32, Int) -> Int32
  /// Has the system begin to write a part of the file to its disk, and promises nothing: confirming it takes less
  /// time then.
  var beginSync: @Sendable (Int32, _ part: Range<Int>) -> Void
  var sync: @Sendable (Int32) -> Int32
  var rename: @Sendable (_ from: String, _ to: String) -> Int32
  var remove: @Sendable (String) -> Int32
  var syncFolder: @Sendable (String) -> Int32

  /// The system's own.
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
        // Linux writes what is not on disk then, and waits for nothing.
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
    })
}

/// Has the system confirm a file on disk. Its times need not survive where they can be left out: a checkpoint,
/// whose length stays, costs no entry of a journal then.
private func confirm(_ descriptor: Int32) -> Int32 {
  #if canImport(Darwin)
    fsync(descriptor)
  #else
    fdatasync(descriptor)
  #endif
}

extension FixedWidthInteger {
  /// What a call returned, or the negative error number.
  fileprivate var orError: Self { self < 0 ? Self(truncatingIfNeeded: -Int(errno)) : self }
}

/// An open file of which every error is looked at.
struct SinkFile {
  let calls: FileCalls
  let path: String
  let descriptor: Int32

  /// How long it is.
  var size: Int {
    get throws(SinkError) { try check(calls.size(descriptor), "look at") }
  }

  /// Writes all the bytes at an offset, in as many calls as it takes.
  func write(_ bytes: [UInt8], at offset: Int) throws(SinkError) {
    var done = 0
    while done < bytes.count {
      let count = bytes.withUnsafeBytes {
        calls.write(descriptor, UnsafeRawBufferPointer(rebasing: $0[done...]), offset + done)
      }
      if count == -Int(EINTR) || count == -Int(EAGAIN) { continue }
      // A file that takes nothing and says no reason would be asked for ever.
      done += try check(count == 0 ? -Int(EIO) : count, "write to")
    }
  }

  /// Reads up to the buffer's size at an offset; 0 at the end.
  func read(_ buffer: inout [UInt8], at offset: Int) throws(SinkError) -> Int {
    while true {
      let count = buffer.withUnsafeMutableBytes { calls.read(descriptor, $0, offset) }
      if count != -Int(EINTR) { return try check(count, "read") }
    }
  }

  /// Cuts the file, or fills it with zeros, to a length.
  func truncate(to length: Int) throws(SinkError) {
    while true {
      let result = calls.truncate(descriptor, length)
      if result != -EINTR { _ = try check(Int(result), "cut"); return }
    }
  }

  /// Has a part of the file be on its way to the disk while the next is made.
  func beginSync(_ part: Range<Int>) { calls.beginSync(descriptor, part) }

  /// Returns when the system confirms that what is in the file survives a loss of power.
  ///
  /// Never asked twice: after a failure the system forgets what it could not write.
  func sync() throws(SinkError) { try Self.checkSync(calls.sync(descriptor), path) }

  /// A file system that knows no such confirmation can lose nothing by it.
  static func checkSync(_ result: Int32, _ path: String) throws(SinkError) {
    switch -result {
    case ...0, EINVAL, ENOSYS, EOPNOTSUPP, EACCES: return
    default: throw failure(-result, "write to", path)
    }
  }

  private func check(_ result: Int, _ verb: String) throws(SinkError) -> Int {
    guard result < 0 else { return result }
    throw Self.failure(Int32(-result), verb, path)
  }

  static func failure(_ reason: Int32, _ verb: String, _ path: String) -> SinkError {
    let words = String(cString: strerror(reason))
    let advice =
      reason == ENOSPC || reason == EDQUOT
      ? " Make room, then run the same export again: it goes on." : ""
    return SinkError(.writeFailed, "Cannot \(verb) \(path): \(words).\(advice)", reason: reason)
  }
}
