import HTTPTypes

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The last head on a handle. Most of its lines come again with the next page, and need not be
/// parsed again.
///
/// Only the driver's thread uses it.
final class HeadMemory {
  private struct Line {
    let bytes: [UInt8]
    /// The length of its name.
    let nameLength: Int
  }

  // Unchecked: nothing here calls other code, and every line of every head is looked up.
  @exclusivity(unchecked) private var lines: [Line] = []
  /// The fields of the lines, in their order.
  @exclusivity(unchecked) private(set) var fields = HTTPFields()

  /// The most lines that are kept, and the most bytes of a line.
  private static let maximumLines = 48
  private static let maximumLineBytes = 256

  /// Whether the line with this number in the head is the same as last time.
  func holds(_ line: UnsafeRawBufferPointer, at number: Int) -> Bool {
    number < lines.count && lines[number].bytes.count == line.count
      && Self.starts(line, with: lines[number].bytes, line.count)
  }

  /// Returns the name of the field with this number, if the line has the same name as last time.
  func name(_ number: Int, _ line: UnsafeRawBufferPointer) -> HTTPField.Name? {
    guard number < lines.count else { return nil }
    let last = lines[number]
    guard line.count > last.nameLength, line[last.nameLength] == UInt8(ascii: ":"),
      Self.starts(line, with: last.bytes, last.nameLength)
    else { return nil }
    return fields[number].name
  }

  /// Replaces the line with this number by one of the same name; returns false if it is not kept.
  func replace(
    _ number: Int, _ line: UnsafeRawBufferPointer, nameLength: Int, _ field: HTTPField
  ) -> Bool {
    guard number < lines.count, line.count <= Self.maximumLineBytes else { return false }
    lines[number] = Line(bytes: Array(line), nameLength: nameLength)
    fields[number] = field
    return true
  }

  /// Adds a line behind all others, unless it is too long or one too many.
  func add(_ number: Int, _ line: UnsafeRawBufferPointer, nameLength: Int, _ field: HTTPField) {
    guard number == lines.count, number < Self.maximumLines, line.count <= Self.maximumLineBytes
    else { return }
    lines.append(Line(bytes: Array(line), nameLength: nameLength))
    fields.append(field)
  }

  /// Forgets the lines from this number on.
  func forget(from number: Int) {
    guard number < lines.count else { return }
    lines.removeSubrange(number...)
    fields.removeSubrange(number...)
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
