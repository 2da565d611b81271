import Foundation
import QuireExport

/// Writes lines to a file or to standard output, buffered, and checks every error.
///
/// After `commit()` returns, the lines have left the process. After a failure a file is cut back to
/// the last commit, so that it never ends inside a line.
final class LineWriter {
  private let file: OutputFile
  private let descriptor: Int32
  private let isFile: Bool
  private var buffer: [UInt8] = []
  /// The file's length at the last commit.
  private var committed: off_t = 0
  /// The number of bytes that the file held when it was opened, which it keeps after a failure.
  private var inherited: off_t
  /// Whether the file is still to be emptied.
  private var isStale: Bool
  /// Whether bytes behind `committed` are still to be cut off.
  private var hasRest = false
  /// Whether everything committed is on disk, and the name of the file is.
  private(set) var isStored = true
  private var isNameStored = false
  /// The check sum of the file up to the last commit; nil if the file could not be read.
  private var checksum: FileSum?
  private let isStopping: @Sendable () -> Bool

  /// The number of bytes committed so far.
  private(set) var bytesWritten = 0

  /// Creates a writer into `file`.
  ///
  /// With `appending`, a file is continued. Otherwise the first commit empties it, so that its
  /// content is not lost if no page ever comes. A new file is deleted if nothing is committed.
  /// Standard output is written at its current offset.
  init(
    _ file: OutputFile, appending: Bool,
    isStopping: @escaping @Sendable () -> Bool = { Task.isCancelled }
  ) {
    self.isStopping = isStopping
    self.file = file
    (descriptor, isFile) = (file.descriptor, file.isFile)
    isStale = isFile && file.path != nil && !appending
    let length = file.length
    inherited = off_t(file.size)
    committed = off_t(isStale ? 0 : length)
    checksum = isStale ? FileSum() : nil
  }

  /// Continues the check sum with what `content` found in the file.
  func continueChecksum(from content: ContinuedFile.Content) { checksum = content.checksum }

  /// Continues behind the part of the file to keep: the first commit cuts off the rest, and ends a
  /// line that has no end.
  func goOn(behind part: ContinuedFile.Part) {
    hasRest = part.bytes < committed
    committed = off_t(part.bytes)
    checksum = part.checksum
    if !part.endsLine { buffer.append(UInt8(ascii: "\n")) }
  }

  /// Buffers the line that `write` appends, until the next commit.
  func appendLine(_ write: (inout [UInt8]) -> Void) {
    write(&buffer)
    buffer.append(UInt8(ascii: "\n"))
  }

  /// Buffers bytes without a line break.
  func append(_ bytes: some Sequence<UInt8>) { buffer.append(contentsOf: bytes) }

  /// Writes all buffered lines.
  ///
  /// Throws `OutputFailure`, or `CancellationError` if the export is to stop while the output's
  /// reader takes nothing.
  func commit() throws {
    try cutBack()
    do {
      try OutputFailure.write(buffer, to: descriptor, path: file.path, isStopping)
    } catch {
      if isFile { _ = ftruncate(descriptor, max(committed, inherited)) }
      throw error
    }
    file.isNew = false
    if !buffer.isEmpty { isStored = false }
    bytesWritten += buffer.count
    committed += off_t(buffer.count)
    buffer.withUnsafeBytes { checksum?.add($0) }
    buffer.removeAll(keepingCapacity: true)
  }

  private func cutBack() throws {
    guard isStale || hasRest else { return }
    guard ftruncate(descriptor, committed) == 0 else { throw failure }
    inherited = committed
    (isStale, hasRest, isStored) = (false, false, false)
  }

  /// Commits, and asks the system to store the file.
  func finish() throws {
    try commit()
    if isFile { try OutputFailure.sync(descriptor, path: file.path) }
  }

  /// Commits, and stores the file and its name if either has changed since the last call.
  func store() throws {
    try commit()
    guard !isStored else { return }
    try finish()
    if !isNameStored { file.storeName() }
    (isStored, isNameStored) = (true, true)
  }

  /// Asks the system to store what is committed to a file.
  func confirm() { if isFile { _ = fsync(descriptor) } }

  /// The file's entry in a report as of the last commit; nil if the output is not a file, or if the
  /// file still has its earlier content.
  var record: FileRecord? {
    guard isFile, !isStale else { return nil }
    return FileRecord(path: file.resolvedPath, bytes: Int(committed), checksum: checksum?.text)
  }

  private var failure: OutputFailure { OutputFailure(reason: errno, path: file.path) }
}

/// The error of an output that cannot be written.
struct OutputFailure: Error, CustomStringConvertible {
  /// The system's error number.
  var reason: Int32
  /// The file; nil for standard output.
  var path: String?

  /// Whether the reader of a pipe has closed it, as `head` does.
  var isClosedPipe: Bool { reason == EPIPE }

  var words: String { String(cString: strerror(reason)) }

  /// The error without a remedy, for commands that cannot be resumed.
  var complaint: String { "Cannot write to \(path ?? "standard output"): \(words)." }

  var description: String {
    complaint + (reason == ENOSPC || reason == EDQUOT ? " Make room, then resume." : "")
  }

  /// Returns once a file survives a loss of power. Throws only if data were lost: not every file
  /// system can confirm it.
  static func sync(_ descriptor: Int32, path: String?) throws {
    let reason = fsync(descriptor) == 0 ? 0 : errno
    if [EIO, ENOSPC, EDQUOT].contains(reason) { throw OutputFailure(reason: reason, path: path) }
  }

  /// Writes all bytes, in as many calls as needed. While a pipe takes none, waits until
  /// `isStopping` returns true, and then throws `CancellationError`.
  static func write(
    _ bytes: [UInt8], to descriptor: Int32, path: String?,
    _ isStopping: () -> Bool = { Task.isCancelled }
  ) throws {
    // A ready pipe takes this many bytes at once, so that no write blocks and cancelling always
    // works. A file gets each line whole, so that other writers' lines do not mix with it.
    let most = OutputFile.isRegular(descriptor) ? Int.max : Int(PIPE_BUF)
    var rest = bytes[...]
    while !rest.isEmpty {
      var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      while poll(&entry, 1, 100) <= 0 { if isStopping() { throw CancellationError() } }
      let count = rest.withUnsafeBytes {
        Foundation.write(descriptor, $0.baseAddress, min($0.count, most))
      }
      guard count >= 0 || errno == EINTR || errno == EAGAIN else {
        throw OutputFailure(reason: errno, path: path)
      }
      rest = rest.dropFirst(max(count, 0))
    }
  }
}
