import Foundation
import QuireExport

/// Writes lines to a file or to standard output: buffered, and with every error looked at.
///
/// What `commit()` has returned for is out of the process. After a failure the output is cut back
/// to the last commit where it is a file, so that it never ends inside a line.
final class LineWriter {
  private let file: OutputFile
  private let descriptor: Int32
  private let isFile: Bool
  private var buffer: [UInt8] = []
  /// Where the last commit ended in a file.
  private var committed: off_t = 0
  /// Bytes that a file held when it was opened, and keeps after a failure, too.
  private var inherited: off_t
  /// Whether a file is still to be emptied.
  private var isStale: Bool
  /// The check sum of a file up to the last commit; nil where it could not be read.
  private var checksum: FileSum?
  private let isStopping: @Sendable () -> Bool

  /// Bytes committed so far.
  private(set) var bytesWritten = 0

  /// Writes into `file`.
  ///
  /// One that has a path is continued where `appending`, and otherwise emptied with the first commit:
  /// what it holds is not lost to a walk that never comes to its first page. A new one is taken away
  /// again where nothing is committed. Standard output is written wherever it stands.
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

  /// Writes on behind what `content` found in the file.
  func go(on content: ContinuedFile.Content) { checksum = content.checksum }

  /// Adds the line that `write` appends; it stays in memory until the next commit.
  func appendLine(_ write: (inout [UInt8]) -> Void) {
    write(&buffer)
    buffer.append(UInt8(ascii: "\n"))
  }

  /// Adds bytes that are no line of ours.
  func append(_ bytes: some Sequence<UInt8>) { buffer.append(contentsOf: bytes) }

  /// Writes all lines so far.
  ///
  /// Throws `OutputFailure`, or `CancellationError` when the export is to stop and the output's reader
  /// takes nothing.
  func commit() throws {
    try emptyIfStale()
    do {
      try OutputFailure.write(buffer, to: descriptor, path: file.path, isStopping)
    } catch {
      if isFile { _ = ftruncate(descriptor, max(committed, inherited)) }
      throw error
    }
    file.isNew = false
    bytesWritten += buffer.count
    committed += off_t(buffer.count)
    buffer.withUnsafeBytes { checksum?.add($0) }
    buffer.removeAll(keepingCapacity: true)
  }

  private func emptyIfStale() throws {
    guard isStale else { return }
    guard ftruncate(descriptor, 0) == 0 else { throw failure }
    inherited = 0
    isStale = false
  }

  /// Commits, and has the system confirm it where the output is a file.
  func finish() throws {
    try commit()
    // Not every file system can; what counts is whether data were lost.
    if !confirm(), errno == EIO || errno == ENOSPC { throw failure }
  }

  /// Has the system confirm what is committed to a file; whether it did.
  @discardableResult
  func confirm() -> Bool { !isFile || fsync(descriptor) == 0 }

  /// What a report keeps of the file as of the last commit; nil where the output is none, and where
  /// the file still has what was in it before.
  var record: FileRecord? {
    guard isFile, !isStale else { return nil }
    return FileRecord(path: file.resolvedPath, bytes: Int(committed), checksum: checksum?.text)
  }

  private var failure: OutputFailure { OutputFailure(reason: errno, path: file.path) }
}

/// The output takes no more.
struct OutputFailure: Error, CustomStringConvertible {
  /// The system's error number.
  var reason: Int32
  /// The file; nil for standard output.
  var path: String?

  /// Whether the reader of a pipe has gone, as `head` does when it has seen enough.
  var isClosedPipe: Bool { reason == EPIPE }

  /// The reason in the system's words.
  var words: String { String(cString: strerror(reason)) }

  /// What went wrong, without what to do about it, for a command that cannot be resumed.
  var complaint: String { "Cannot write to \(path ?? "standard output"): \(words)." }

  var description: String {
    complaint + (reason == ENOSPC || reason == EDQUOT ? " Make room, then resume." : "")
  }

  /// Writes all the bytes, in as many calls as it takes. A pipe that takes none is waited for until the export
  /// `isStopping`, which throws `CancellationError`.
  static func write(
    _ bytes: [UInt8], to descriptor: Int32, path: String?,
    _ isStopping: () -> Bool = { Task.isCancelled }
  ) throws {
    // A pipe that is ready takes this much at once, so that a write never blocks and cancelling always works; into a
    // file a line goes whole, beside those of others.
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
