import ArgumentParser
import Foundation
import QuireExport

/// A file that an export writes, or standard output. A regular file is locked.
final class OutputFile {
  /// The name in messages: `-o out.jsonl`, or `standard output`.
  let name: String
  /// The path; nil for standard output.
  let path: String?
  let descriptor: Int32
  /// Whether it is a regular file, which keeps what is written.
  let isFile: Bool
  /// Why it could not be locked; nil if it was.
  let lockFailure: Int32?
  /// Whether the file was created here and is still empty.
  var isNew: Bool
  /// The lock and the open descriptor of a regular file; nil for others and for standard output.
  private let claim: FileClaim?
  /// The descriptor for reading. It stays open, because closing any descriptor of a file releases
  /// the lock.
  private var reader: Int32?

  /// Opens `path`, or takes standard output if it is nil; `option` is for messages.
  ///
  /// Waits for the reader of a pipe; a cancelled wait throws `CancellationError`. Throws
  /// `OutputFailure` if the file cannot be opened, and `SinkError` with `inUse` if another export
  /// writes it.
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

  /// Removes the permissions of other users from a file that existed before.
  func makePrivate() {
    var status = stat()
    guard isFile, fstat(descriptor, &status) == 0, status.st_mode & 0o077 != 0 else { return }
    fchmod(descriptor, 0o600)
  }

  /// The file's absolute path with links resolved; nil if the system does not tell it.
  var resolvedPath: String? {
    try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
  }

  /// Asks the system to store the name of a regular file.
  func storeName() {
    guard isFile, let path = resolvedPath ?? path else { return }
    Self.storeNames(in: URL(fileURLWithPath: path).deletingLastPathComponent().path)
  }

  /// Asks the system to store which names a folder has. Not every file system can confirm it.
  static func storeNames(in folder: String) {
    let place = Foundation.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard place >= 0 else { return }
    _ = fsync(place)
    close(place)
  }

  /// The length of a regular file; 0 for anything else.
  var size: Int {
    var status = stat()
    return isFile && fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
  }

  /// The number of bytes before the next write: the whole file, or those before the offset if
  /// standard output is a file that does not append.
  var length: Int {
    let isWhole = path != nil || fcntl(descriptor, F_GETFL) & O_APPEND != 0
    return isWhole || !isFile ? size : max(0, Int(lseek(descriptor, 0, SEEK_CUR)))
  }

  /// Reads at most a chunk of bytes at `offset`, and returns their number; nil after a failure.
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
      // A blocking open would wait for the pipe's reader and could not be cancelled.
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

  /// Locks the file; returns the reason if files of its kind cannot be locked. Throws `SinkError`
  /// with `inUse` if another process has locked it.
  private static func lock(_ descriptor: Int32, named name: String) throws(SinkError) -> Int32? {
    switch FileLock.take(descriptor) {
    case .taken: return nil
    case .held(let other): throw SinkError(.inUse, FileClaim.inUse(name, by: other))
    case .unsupported(let reason): return reason
    }
  }
}

/// `--report`: where to write the report.
enum ReportFile: Equatable, Sendable {
  case standardOutput
  case file(String)

  /// Parses a path, or `-`.
  init(_ text: String) { self = text == "-" ? .standardOutput : .file(text) }

  /// The name in messages.
  var name: String {
    switch self {
    case .standardOutput: "standard output"
    case .file(let path): path
    }
  }

  /// Throws a usage error if the report could not be written: before the export, not after hours of
  /// it.
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

  /// Writes the report. A file is replaced only when the new one is complete.
  ///
  /// With `isPrivate`, only the user can read the file, even if others could read the replaced one:
  /// a report has a position, and a server may put secrets into positions. Waits for the reader of a pipe; a
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

  /// Returns the message that the content could not be written, with the reason.
  func failure(_ error: any Error, of content: String = "report") -> String {
    let reason = (error as? OutputFailure).map { ": \($0.words)" } ?? ""
    return "cannot write the \(content) to \(name)\(reason)."
  }

  /// Writes to a pipe, or to standard output if `path` is nil.
  private static func append(_ content: Data, to path: String?) async throws {
    let writer = LineWriter(
      try await OutputFile("--report", path: path, appending: true), appending: true)
    writer.append(content)
    try writer.commit()
  }

  /// Replaces a file atomically, so that a crash leaves the old or the new one.
  static func replace(_ path: String, with content: Data, mode: mode_t) throws {
    let target = URL(fileURLWithPath: path).resolvingSymlinksInPath()
    let folder = target.deletingLastPathComponent().path
    // A short name, because the name of the replaced file may have the maximum length.
    let new = "\(folder)/.quire-\(UInt64.random(in: .min ... .max))"
    let descriptor = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    guard descriptor >= 0 else { throw OutputFailure(reason: errno, path: path) }
    do {
      defer { close(descriptor) }
      try OutputFailure.write(Array(content), to: descriptor, path: path)
      try OutputFailure.sync(descriptor, path: path)
      guard rename(new, target.path) == 0 else { throw OutputFailure(reason: errno, path: path) }
    } catch {
      unlink(new)
      throw error
    }
    // The folder stores that the name now leads to the new file.
    OutputFile.storeNames(in: folder)
  }
}
