import CZlib
import QuireCore

/// CRC-32 as gzip and zlib count it (ISO 3309), of bytes that come in pieces.
///
/// It tells a file that was changed from one that was not. It is no protection from forgers: two files with the
/// same sum are easily made.
package struct FileSum: Equatable, Sendable {
  private var state: UInt

  /// The sum of nothing.
  package init() { state = 0 }

  /// Adds bytes; how they are cut into pieces does not matter.
  package mutating func add(_ bytes: UnsafeRawBufferPointer) {
    state = quire_crc32(state, bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count)
  }

  /// Adds bytes.
  package mutating func add(_ bytes: [UInt8]) { bytes.withUnsafeBytes { add($0) } }

  /// The sum as eight hexadecimal digits.
  package var text: String { state.padded(to: 8, radix: 16) }
}
