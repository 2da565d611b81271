import ArgumentParser
import Foundation
import QuireCore

/// A file that `--from` continues. What is wrong with it would show in no error later, so it is
/// looked at before the first request.
struct ContinuedFile {
  private let option: String
  private let path: String

  init(_ option: String, _ path: String) { (self.option, self.path) = (option, path) }

  /// Throws a usage error where going on at `point` would glue, repeat or lose items.
  func check(_ point: ResumePoint) throws {
    // Opening a pipe that nobody writes to would wait for somebody.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0
    else { return }
    let size = Int(status.st_size)
    guard point.position != .start else {
      throw refusal(
        "has \(size) bytes, and the export to resume stopped before its first page: they are of "
          + "another one. Leave --from out to write the file anew, or name another file.")
    }
    let known = point.outputBytes.flatMap { isLineEnd(at: $0, in: descriptor) ? $0 : nil }
    if !isLineEnd(at: size, in: descriptor) {
      throw unfinished(descriptor, size: size, known: known)
    }
    guard let written = point.outputBytes, size != written else { return }
    guard size < written else {
      throw refusal(
        "has \(size) bytes, and had \(written) when the report was written: what came since would "
          + "come again. Resume from the last report, or \(cut(to: written)).")
    }
    throw refusal(
      "has \(size) bytes, and had \(written) when the report was written: items are missing. Leave "
        + "--from out to write the file anew, or write the rest to another file.")
  }

  private func unfinished(_ descriptor: Int32, size: Int, known: Int?) -> ValidationError {
    let (lines, end) = wholeLines(in: descriptor)
    var start = [UInt8](repeating: 0, count: min(size - end, 40))
    let count = pread(descriptor, &start, start.count, off_t(end))
    let text = String(decoding: start.prefix(max(count, 0)), as: UTF8.self).debugDescription
    let advice =
      known.map { "the report was written after \($0) bytes: \(cut(to: $0))" }
      ?? "take it away and go on: \(cut(to: end))"
    return refusal(
      "ends in the middle of a line, as a machine that stops leaves it: after "
        + "\(lines.counted("whole line")) (\(end) bytes) come \(size - end) bytes, "
        + "\(text)…, without a line end. The next item would be glued to them; \(advice).")
  }

  /// How many whole lines there are, and where they end.
  private func wholeLines(in descriptor: Int32) -> (count: Int, end: Int) {
    var (lines, end, offset) = (0, 0, 0)
    var chunk = [UInt8](repeating: 0, count: 1 << 20)
    while true {
      let count = pread(descriptor, &chunk, chunk.count, off_t(offset))
      guard count > 0 else { return (lines, end) }
      for index in 0..<count where chunk[index] == UInt8(ascii: "\n") {
        lines += 1
        end = offset + index + 1
      }
      offset += count
    }
  }

  /// Whether a line ends in front of `offset`.
  private func isLineEnd(at offset: Int, in descriptor: Int32) -> Bool {
    var byte: UInt8 = 0
    guard offset > 0 else { return offset == 0 }
    return pread(descriptor, &byte, 1, off_t(offset - 1)) == 1 && byte == UInt8(ascii: "\n")
  }

  private func cut(to size: Int) -> String {
    CommandLineText.quoted(["truncate", "-s", "\(size)", path])
  }

  private func refusal(_ reason: String) -> ValidationError {
    ValidationError("\(option) \(path) \(reason)")
  }
}
