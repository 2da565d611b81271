import HTTPTypes

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The last head on a handle: most of its lines come again with the next page, and need not be read again.
///
/// Only the driver's thread uses it.
final class HeadMemory {
  private struct Line {
    let bytes: [UInt8]
    /// Where its name ends.
    let nameLength: Int
  }

  // Unchecked: nothing here calls out, and every line of every head is looked up.
  @exclusivity(unchecked) private var lines: [Line] = []
  /// The fields of the lines, in their order.
  @exclusivity(unchecked) private(set) var fields = HTTPFields()

  /// The longest head, and the longest line, that is kept.
  private static let most = 48
  private static let longest = 256

  var count: Int { lines.count }

  /// Whether the line at a place in the head is written as it was there last time.
  func holds(_ line: UnsafeRawBufferPointer, at number: Int) -> Bool {
    number < lines.count && lines[number].bytes.count == line.count
      && Self.starts(line, with: lines[number].bytes, line.count)
  }

  /// The name of the field at a place in the head, if the line has the one that was there last time.
  func name(_ number: Int, _ line: UnsafeRawBufferPointer) -> HTTPField.Name? {
    guard number < lines.count else { return nil }
    let last = lines[number]
    guard line.count > last.nameLength, line[last.nameLength] == UInt8(ascii: ":"),
      Self.starts(line, with: last.bytes, last.nameLength)
    else { return nil }
    return fields[number].name
  }

  /// Takes a line in the place of the one of the same name; false where it is not kept.
  func replace(
    _ number: Int, _ line: UnsafeRawBufferPointer, nameLength: Int, _ field: HTTPField
  ) -> Bool {
    guard number < lines.count, line.count <= Self.longest else { return false }
    lines[number] = Line(bytes: Array(line), nameLength: nameLength)
    fields[number] = field
    return true
  }

  /// Keeps a line behind all others.
  func add(_ number: Int, _ line: UnsafeRawBufferPointer, nameLength: Int, _ field: HTTPField) {
    guard number == lines.count, number < Self.most, line.count <= Self.longest else { return }
    lines.append(Line(bytes: Array(line), nameLength: nameLength))
    fields.append(field)
  }

  /// Forgets the lines from this one on.
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
