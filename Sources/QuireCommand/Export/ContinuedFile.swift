import ArgumentParser
import Foundation
import QuireCore
import QuireExport

/// A file that an export continues. It is checked before the first request, because no later error
/// would show that it is the wrong one or incomplete.
struct ContinuedFile {
  private let file: OutputFile
  private let size: Int

  init(_ file: OutputFile) {
    self.file = file
    size = file.length
  }

  /// What one reading of a file found.
  struct Content {
    /// The check sum of the whole file; nil if it could not be read.
    var checksum: FileSum?
    /// The check sum of the bytes that the report counts.
    fileprivate var recorded: FileSum?
    /// The number of whole lines, and the offset at which the last of them ends.
    fileprivate var lines = 0
    fileprivate var lineEnd = 0
    /// Whether a line ends at the last byte that the report counts.
    fileprivate var isLineEndRecorded = false
  }

  /// Reads the file once, up to where it is continued. Throws `CancellationError`.
  func content(upTo recorded: Int? = nil) throws -> Content {
    var content = Content()
    var (sum, offset) = (FileSum(), 0)
    if recorded == 0 { (content.recorded, content.isLineEndRecorded) = (sum, true) }
    var chunk = [UInt8](repeating: 0, count: 1 << 20)
    while offset < size {
      try Task.checkCancellation()
      guard let count = file.read(&chunk, at: offset), count > 0 else { return content }
      let used = min(count, size - offset)
      chunk.withUnsafeBytes { bytes in
        let part = bytes[..<used]
        if let recorded, (1...used).contains(recorded - offset) {
          let inside = recorded - offset
          var before = sum
          before.add(UnsafeRawBufferPointer(rebasing: part[..<inside]))
          content.recorded = before
          content.isLineEndRecorded = part[inside - 1] == UInt8(ascii: "\n")
        }
        sum.add(UnsafeRawBufferPointer(rebasing: part))
        for index in part.indices where part[index] == UInt8(ascii: "\n") {
          content.lines += 1
          content.lineEnd = offset + index + 1
        }
      }
      offset += used
    }
    content.checksum = sum
    return content
  }

  /// Reads the file, and throws a usage error if continuing it from `point` would join, repeat or
  /// lose items. `record` is the file's entry in the report to resume from.
  func checkedContent(for point: ResumePoint, record: FileRecord?) throws -> Content {
    let content = try content(upTo: record?.bytes)
    try check(content, point, record)
    return content
  }

  /// The part of a file that a later run keeps.
  struct Part {
    /// Its length in bytes; the run cuts off the rest.
    var bytes: Int
    /// Its check sum; nil if the file could not be read.
    var checksum: FileSum?
    /// Whether a line ends at its end.
    var endsLine: Bool
  }

  /// Reads the file, and returns the part to keep: what was committed as `aside` if the file begins
  /// with it and goes on as an export does, else all of it. Throws `CancellationError`.
  func part(committedAs aside: AsideFile?) throws -> Part {
    let content = try content(upTo: aside?.bytes)
    if let aside, let path = aside.path, path == file.resolvedPath, let sum = content.recorded,
      aside.checksum == sum.text, isOwn(at: aside.bytes)
    {
      return Part(bytes: aside.bytes, checksum: sum, endsLine: true)
    }
    // A file that cannot be read is taken to be whole.
    let endsLine = content.checksum == nil || content.lineEnd == size
    return Part(bytes: size, checksum: content.checksum, endsLine: endsLine)
  }

  /// Whether the file ends at `offset`, or goes on there as a line of an export does.
  private func isOwn(at offset: Int) -> Bool {
    var start = [UInt8](repeating: 0, count: min(size - offset, 2))
    guard !start.isEmpty else { return true }
    let count = file.read(&start, at: offset) ?? 0
    return count > 0 && "{\"".utf8.starts(with: start.prefix(count))
  }

  private func check(_ content: Content, _ point: ResumePoint, _ record: FileRecord?) throws {
    guard file.isFile else { return }
    guard size > 0 else {
      // A new file gets only the rest of the items.
      guard let record, record.bytes > 0, record.path == file.resolvedPath else { return }
      throw refusal(
        "is empty or was deleted, and had \(record.bytes) bytes when the report was written: items "
          + "are missing. \(anew)")
    }
    guard let whole = content.checksum else {
      throw refusal(
        "cannot be read, so nothing shows that it is the file to go on with. \(anew)")
    }
    if record == nil, file.path != nil, point.position == .start {
      throw refusal(
        "has \(size) bytes, and the export to resume stopped before its first page: they are of "
          + "another one. \(anew)")
    }
    let isKnown = record.map { isUnchanged(content.recorded, $0) } ?? false
    if content.lineEnd < size {
      let known = isKnown && content.isLineEndRecorded ? record?.bytes : nil
      throw unfinished(content, known: known)
    }
    guard let record else { return }
    guard size >= record.bytes else {
      throw refusal(
        "has \(size) bytes, and had \(record.bytes) when the report was written: items are missing. "
          + anew)
    }
    guard isKnown else {
      throw refusal(
        "has other content than when the report was written: its first \(record.bytes) bytes have "
          + "the CRC-32 \(content.recorded?.text ?? whole.text), and had \(record.checksum ?? ""). "
          + anew)
    }
    guard size > record.bytes else { return }
    throw refusal(
      "has \(size) bytes, and had \(record.bytes) when the report was written: what came since would "
        + "come again. Resume from the last report, or \(cut(to: record.bytes)).")
  }

  private func isUnchanged(_ sum: FileSum?, _ record: FileRecord) -> Bool {
    guard let sum else { return false }
    return record.checksum.map { $0 == sum.text } ?? true
  }

  private func unfinished(_ content: Content, known: Int?) -> ValidationError {
    let end = content.lineEnd
    var start = [UInt8](repeating: 0, count: min(size - end, 40))
    let count = file.read(&start, at: end) ?? 0
    let text = String(decoding: start.prefix(count), as: UTF8.self).debugDescription
    let advice =
      known.map { "the report was written after \($0) bytes: \(cut(to: $0))" }
      ?? "take it away and go on: \(cut(to: end))"
    return refusal(
      "ends in the middle of a line, as a machine that stops leaves it: after "
        + "\(content.lines.counted("whole line")) (\(end) bytes) come \(size - end) bytes, "
        + "\(text)…, without a line end. The next item would be glued to them; \(advice).")
  }

  /// The advice for a file that cannot be continued.
  private var anew: String {
    file.path != nil
      ? "Begin anew by --restart, or write the rest to another file."
      : "Leave --from out to fetch everything again, or write the rest to another file. A shell's > "
        + "empties a file before the export begins; >> and -o continue it."
  }

  private func cut(to size: Int) -> String {
    CommandLineText.quoted([
      "truncate", "-s", "\(size)", file.path ?? file.resolvedPath ?? "FILE",
    ])
  }

  private func refusal(_ reason: String) -> ValidationError {
    ValidationError("\(file.name) \(reason)")
  }
}

/// The file that a path or a descriptor refers to, independent of its spelling.
enum FileIdentity: Hashable {
  /// A file that exists.
  case file(FileNumber)
  /// A file that does not exist yet: its path without symbolic links.
  case path(String)

  /// Creates the identity of the file at `path`; nil for terminals and similar devices, which keep
  /// nothing that could be lost.
  init?(path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else {
      self = .path(FileSink.resolved(path))
      return
    }
    self.init(status)
  }

  /// Creates the identity of the file that is open as `descriptor`.
  init?(descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    self.init(status)
  }

  private init?(_ status: stat) {
    guard status.st_mode & S_IFMT != S_IFCHR else { return nil }
    self = .file(FileNumber(status))
  }
}

/// The entry of a written file in a report, by which a later export recognises the file to
/// continue.
struct FileRecord: Equatable, Sendable {
  /// The file's absolute path; nil if the system does not tell it.
  var path: String?
  /// The file's length in bytes once it held everything that the report counts.
  var bytes: Int
  /// The check sum of those bytes; nil if the file could not be read.
  var checksum: String?
}

extension FileRecord {
  /// Reads the entry whose members have names with `prefix`; nil if the report has none.
  init?(in report: JSONValue, prefix: String) {
    guard let bytes = report[prefix + "Bytes"]?.integer, bytes >= 0 else { return nil }
    self.init(
      path: report[prefix + "File"]?.string, bytes: bytes,
      checksum: report[prefix + "Checksum"]?.string)
  }

  /// Writes the entry with these names.
  func encode(into report: inout KeyedEncodingContainer<MemberName>, prefix: String) throws {
    try report.encodeIfPresent(path, forKey: MemberName(stringValue: prefix + "File"))
    try report.encode(bytes, forKey: MemberName(stringValue: prefix + "Bytes"))
    try report.encodeIfPresent(checksum, forKey: MemberName(stringValue: prefix + "Checksum"))
  }
}
