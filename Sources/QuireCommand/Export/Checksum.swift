/// CRC-32 as gzip and zlib count it (ISO 3309), of bytes that come in pieces.
///
/// It tells a file that was changed from one that was not. It is no protection from somebody who
/// wants two files to have the same one.
struct Checksum: Equatable, Sendable {
  private var state = UInt32.max

  /// Table `n` has what a byte does to the sum that `n` bytes follow.
  private static let tables: [UInt32] = {
    var tables = [UInt32](repeating: 0, count: 8 * 256)
    for byte in 0..<256 {
      var sum = UInt32(byte)
      for _ in 0..<8 { sum = sum & 1 == 1 ? 0xEDB8_8320 ^ sum >> 1 : sum >> 1 }
      tables[byte] = sum
    }
    for index in 256..<tables.count {
      let before = tables[index - 256]
      tables[index] = tables[Int(before & 0xFF)] ^ before >> 8
    }
    return tables
  }()

  /// Adds bytes; how they are cut into pieces does not matter.
  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    state = Self.tables.withUnsafeBufferPointer { tables in
      var sum = state
      var offset = 0
      // Eight bytes at a time, so that a file is read no slower than the disk gives it.
      while bytes.count - offset >= 8 {
        let word = UInt64(
          littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        let mixed = word ^ UInt64(sum)
        sum =
          tables[7 << 8 | Int(mixed & 0xFF)] ^ tables[6 << 8 | Int(mixed >> 8 & 0xFF)]
          ^ tables[5 << 8 | Int(mixed >> 16 & 0xFF)] ^ tables[4 << 8 | Int(mixed >> 24 & 0xFF)]
          ^ tables[3 << 8 | Int(mixed >> 32 & 0xFF)] ^ tables[2 << 8 | Int(mixed >> 40 & 0xFF)]
          ^ tables[1 << 8 | Int(mixed >> 48 & 0xFF)] ^ tables[Int(mixed >> 56)]
        offset += 8
      }
      for byte in bytes[offset...] {
        sum = tables[Int(UInt8(truncatingIfNeeded: sum) ^ byte)] ^ sum >> 8
      }
      return sum
    }
  }

  /// The sum as eight hexadecimal digits, as `crc32` prints it.
  var text: String {
    let digits = String(~state, radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }
}
