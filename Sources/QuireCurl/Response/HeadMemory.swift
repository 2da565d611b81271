import HTTPTypes

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The lines of the last head on a handle: most of them come again with the next page, and need not be
/// read again.
///
/// Only the driver's thread uses it.
final class HeadMemory {
  private struct Line {
    let bytes: [UInt8]
    let field: HTTPField
    let nameLength: Int
  }

  private var lines: [Line] = []

  /// The longest head, and the longest line, that is kept.
  private static let most = 48
  private static let longest = 256

  /// The field at a place in the head, if it is written as it was there last time.
  func field(_ number: Int, _ line: UnsafeRawBufferPointer) -> HTTPField? {
    guard number < lines.count, lines[number].bytes.count == line.count,
      Self.starts(line, with: lines[number].bytes, line.count)
    else { return nil }
    return lines[number].field
  }

  /// The name of the field at a place in the head, if the line has the one that was there last time.
  func name(_ number: Int, _ line: UnsafeRawBufferPointer) -> HTTPField.Name? {
    guard number < lines.count else { return nil }
    let last = lines[number]
    guard line.count > last.nameLength, line[last.nameLength] == UInt8(ascii: ":"),
      Self.starts(line, with: last.bytes, last.nameLength)
    else { return nil }
    return last.field.name
  }

  /// Keeps a line that was read; the name ends at `nameLength`.
  func note(
    _ number: Int, _ line: UnsafeRawBufferPointer, nameLength: Int, _ field: HTTPField
  ) {
    guard number < Self.most, number <= lines.count else { return }
    guard line.count <= Self.longest else {
      lines.removeSubrange(number...)
      return
    }
    let line = Line(bytes: Array(line), field: field, nameLength: nameLength)
    if number < lines.count { lines[number] = line } else { lines.append(line) }
  }

  private static func starts(
    _ line: UnsafeRawBufferPointer, with bytes: [UInt8], _ count: Int
  ) -> Bool {
    bytes.withUnsafeBytes { bytes in
      guard let line = line.baseAddress, let bytes = bytes.baseAddress else { return count == 0 }
      return memcmp(line, bytes, count) == 0
    }
  }
}
