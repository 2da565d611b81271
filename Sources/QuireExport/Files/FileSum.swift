import CZlib
import QuireCore

/// A CRC-32 as gzip and zlib compute it (ISO 3309), of bytes that arrive in pieces.
///
/// It detects accidental changes of a file. It does not protect from forgery: files with equal sums
/// are easily made.
package struct FileSum: Equatable, Sendable {
  private var state: UInt

  /// Creates the sum of zero bytes.
  package init() { state = 0 }

  /// Adds bytes. The sum does not depend on how they are cut into pieces.
  package mutating func add(_ bytes: UnsafeRawBufferPointer) {
    state = quire_crc32(state, bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count)
  }

  /// Adds bytes.
  package mutating func add(_ bytes: [UInt8]) { bytes.withUnsafeBytes { add($0) } }

  /// The sum as eight hexadecimal digits.
  package var text: String { state.padded(to: 8, radix: 16) }
}
