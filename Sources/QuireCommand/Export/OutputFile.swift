import ArgumentParser
import Foundation
import QuireExport

/// A file that an export writes, or standard output: open, and locked where it is a regular file.
final class OutputFile {
  /// What messages call it: `-o out.jsonl`, or `standard output`.
  let name: String
  /// The file; nil for standard output.
  let path: String?
  let descriptor: Int32
  /// Whether it is a regular file, which keeps what is written.
  let isFile: Bool
  /// Why it could not be locked; nil where it was.
  let lockFailure: Int32?
  /// Whether it was made here and nothing is in it yet.
  var isNew: Bool
  /// Keeps it from other writers, and open; nil for what is no regular file, and for standard output.
  private let claim: FileClaim?
  /// Reads what is in it. Kept open, for closing any descriptor of a file gives up its lock.
  private var reader: Int32?

  /// Opens `path`, or takes standard output where it is nil; `option` is for messages.
  ///
  /// A pipe that nobody reads yet is waited for; a cancelled wait throws `CancellationError`. Throws
  /// `OutputFailure` for a file that cannot be opened, and `SinkError` with `inUse` for one that another
  /// export writes.
  init(
    _ option: String, path: String?, appending: Bool,
    isStopping: @escaping @Sendable () -> Bool = { false }
  ) async throws {
    self.path = path
    name = path.map { "\(option) \($0)" } ?? "standard output"
    isNew = false
    guard let path else {
      (descriptor, claim) = (STDOUT_FILENO, nil)
      isFile = Self.isRegular(descriptor)
      lockFailure = isFile ? try Self.lock(descriptor, named: name) : nil
      return
    }
    let mode = O_WRONLY | (appending ? O_APPEND : 0)
    var status = stat()
    if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
      descriptor = try await Self.openStream(path, mode, isStopping)
      (isFile, lockFailure, claim) = (false, nil, nil)
    } else {
      let claim = try Self.claim(path, mode, named: name)
      (descriptor, lockFailure, isNew) = (claim.descriptor, claim.lockFailure, claim.isNew)
      (isFile, self.claim) = (true, claim)
    }
  }

  deinit {
    guard let path else { return }
    if isNew, FileIdentity(descriptor: descriptor) == FileIdentity(path: path) { unlink(path) }
    if let reader { close(reader) }
    if claim == nil { close(descriptor) }
  }

  /// Takes from others what they may do with a file that was there before.
  func makePrivate() {
    var status = stat()
    guard isFile, fstat(descriptor, &status) == 0, status.st_mode & 0o077 != 0 else { return }
    fchmod(descriptor, 0o600)
  }

  /// The absolute path of the file, links followed; nil where the system does not tell.
  var resolvedPath: String? {
    try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
  }

  /// How long a regular file is; 0 for anything else.
  var size: Int {
    var status = stat()
    return isFile && fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
  }

  /// How much is in front of what is written next: the whole file, or, where standard output is one
  /// that does not append, what is before its offset.
  var length: Int {
    let isWhole = path != nil || fcntl(descriptor, F_GETFL) & O_APPEND != 0
    return isWhole || !isFile ? size : max(0, Int(lseek(descriptor, 0, SEEK_CUR)))
  }

  /// Reads bytes at `offset`, as many as there are up to the chunk's size; nil where that fails.
  func read(_ chunk: inout [UInt8], at offset: Int) -> Int? {
    let reader =
      self.reader
      ?? Foundation.open("/proc/self/fd/\(descriptor)", O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard reader >= 0 else { return nil }
    self.reader = reader
    while true {
      let count = pread(reader, &chunk, chunk.count, off_t(offset))
      if count >= 0 { return count }
      if errno != EINTR { return nil }
    }
  }

  private static func openStream(
    _ path: String, _ mode: Int32, _ isStopping: @Sendable () -> Bool
  ) async throws -> Int32 {
    while true {
      // Opening a pipe for writing would wait for a reader, and could not be cancelled.
      let descriptor = Foundation.open(path, mode | O_CLOEXEC | O_NONBLOCK)
      if descriptor >= 0 {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
        return descriptor
      }
      let reason = errno
      var status = stat()
      guard reason == ENXIO, stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFIFO else {
        if reason == EINTR { continue }
        throw OutputFailure(reason: reason, path: path)
      }
      try await Task.sleep(for: .milliseconds(50))
      if isStopping() { throw CancellationError() }
    }
  }

  static func isRegular(_ descriptor: Int32) -> Bool {
    var status = stat()
    return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  private static func claim(_ path: String, _ mode: Int32, named name: String) throws -> FileClaim {
    do throws(SinkError) {
      return try FileClaim(path, mode: mode) { FileClaim.inUse(name, by: $0) }
    } catch {
      guard let reason = error.reason else { throw error }
      throw OutputFailure(reason: reason, path: path)
    }
  }

  /// Locks the file, and returns why that is not possible where no file of its kind can be locked.
  private static func lock(_ descriptor: Int32, named name: String) throws(SinkError) -> Int32? {
    switch FileLock.take(descriptor) {
    case .taken: return nil
    case .held(let other): throw SinkError(.inUse, FileClaim.inUse(name, by: other))
    case .unsupported(let reason): return reason
    }
  }
}

/// `--report`: where the report goes.
enum ReportFile: Equatable, Sendable {
  case standardOutput
  case file(String)

  /// Reads a path, or `-`.
  init(_ text: String) { self = text == "-" ? .standardOutput : .file(text) }

  /// What messages call it.
  var name: String {
    switch self {
    case .standardOutput: "standard output"
    case .file(let path): path
    }
  }

  /// Throws a usage error where a report could not be written: better than after hours of export.
  func check(for option: String = "--report") throws {
    guard case .file(let path) = self else { return }
    var status = stat()
    let isThere = stat(path, &status) == 0
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    let isPlain = !isThere || status.st_mode & S_IFMT == S_IFREG
    if isThere, status.st_mode & S_IFMT == S_IFDIR {
      errno = EISDIR
    } else if access(isPlain ? folder : path, isPlain ? W_OK | X_OK : W_OK) == 0 {
      return
    }
    throw ValidationError(
      "\(option): cannot write to \(path): \(String(cString: strerror(errno))).")
  }

  /// Writes the report; where a file is to be replaced, the old one stays until the new one is whole.
  ///
  /// One that `isPrivate` is for nobody's eyes but the user's, whatever it replaces: it holds a
  /// position, and a server may put secrets into those. A pipe that nobody reads is waited for; a
  /// cancelled wait throws.
  func write(_ report: Data, isPrivate: Bool = true) async throws {
    switch self {
    case .standardOutput: try await Self.append(report, to: nil)
    case .file(let path):
      var status = stat()
      if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
        try await Self.append(report, to: path)
      } else {
        try Self.replace(path, with: report, mode: isPrivate ? 0o600 : 0o666)
      }
    }
  }

  /// That it could not be written, and why.
  func failure(_ error: any Error, of content: String = "report") -> String {
    let reason = (error as? OutputFailure).map { ": \($0.words)" } ?? ""
    return "cannot write the \(content) to \(name)\(reason)."
  }

  /// Writes into what takes bytes as they come: a pipe, or standard output where `path` is nil.
  private static func append(_ content: Data, to path: String?) async throws {
    let writer = LineWriter(
      try await OutputFile("--report", path: path, appending: true), appending: true)
    writer.append(content)
    try writer.commit()
  }

  /// Puts a file in the place of another at once, so that a crash leaves one of the two.
  static func replace(_ path: String, with content: Data, mode: mode_t) throws {
    let target = URL(fileURLWithPath: path).resolvingSymlinksInPath()
    let folder = target.deletingLastPathComponent().path
    // However long the other name is.
    let new = "\(folder)/.quire-\(UInt64.random(in: .min ... .max))"
    let descriptor = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    guard descriptor >= 0 else { throw OutputFailure(reason: errno, path: path) }
    do {
      defer { close(descriptor) }
      try OutputFailure.write(Array(content), to: descriptor, path: path)
      guard fsync(descriptor) == 0 || errno != EIO && errno != ENOSPC else {
        throw OutputFailure(reason: errno, path: path)
      }
      guard rename(new, target.path) == 0 else { throw OutputFailure(reason: errno, path: path) }
    } catch {
      unlink(new)
      throw error
    }
    // That the name leads to the new file is kept in the folder; not every file system can confirm it.
    let place = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if place >= 0 {
      _ = fsync(place)
      close(place)
    }
  }
}
