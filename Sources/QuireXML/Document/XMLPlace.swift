/// A place in a page, as UTF-8.
struct XMLPlace: CustomStringConvertible {
  /// Bytes before it.
  var offset = 0
  /// From 1.
  var line = 1
  /// In bytes from 1.
  var column = 1

  var description: String { "line \(line), column \(column)" }

  /// Moves behind these bytes. Linear in them.
  mutating func advance(over bytes: UnsafeBufferPointer<UInt8>) {
    var lines = 0
    for byte in bytes where byte == UInt8(ascii: "\n") { lines += 1 }
    offset += bytes.count
    line += lines
    let last = lines == 0 ? nil : bytes.lastIndex(of: UInt8(ascii: "\n"))
    column = last.map { bytes.count - $0 } ?? column + bytes.count
  }
}
