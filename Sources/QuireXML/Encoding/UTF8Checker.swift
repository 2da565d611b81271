/// Checks UTF-8 (RFC 3629), at the speed of memory where it is ASCII.
enum UTF8Checker {
  private static let highBits: UInt64 = 0x8080_8080_8080_8080

  /// The end of the longest prefix of whole characters behind `start`.
  static func checkedEnd(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
    guard let base = bytes.baseAddress else { return start }
    let end = bytes.count
    var index = start
    while index < end {
      while index + 32 <= end {
        let word = UnsafeRawPointer(base + index)
        let bits =
          word.loadUnaligned(as: UInt64.self)
          | word.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
          | word.loadUnaligned(fromByteOffset: 16, as: UInt64.self)
          | word.loadUnaligned(fromByteOffset: 24, as: UInt64.self)
        if bits & highBits != 0 { break }
        index += 32
      }
      while index < end, base[index] < 0x80 { index += 1 }
      while index < end, base[index] >= 0x80 {
        let length = sequenceLength(base + index, left: end - index)
        if length == 0 { return index }
        index += length
      }
    }
    return index
  }

  /// Bytes of the character at `bytes`, 2 to 4; 0 when it is none, or not whole.
  @inline(__always)
  private static func sequenceLength(_ bytes: UnsafePointer<UInt8>, left: Int) -> Int {
    let first = bytes[0]
    func continues(_ index: Int) -> Bool { bytes[index] & 0xC0 == 0x80 }
    switch first {
    case 0xC2...0xDF: return left >= 2 && continues(1) ? 2 : 0
    case 0xE0...0xEF:
      guard left >= 3, continues(1), continues(2) else { return 0 }
      let isBad = first == 0xE0 && bytes[1] < 0xA0 || first == 0xED && bytes[1] > 0x9F
      return isBad ? 0 : 3
    case 0xF0...0xF4:
      guard left >= 4, continues(1), continues(2), continues(3) else { return 0 }
      let isBad = first == 0xF0 && bytes[1] < 0x90 || first == 0xF4 && bytes[1] > 0x8F
      return isBad ? 0 : 4
    default: return 0
    }
  }

  /// Whether these bytes could be the start of a character that is not whole yet.
  static func isStartOfCharacter(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let first = bytes.first, bytes.count < 4 else { return false }
    let length: Int
    switch first {
    case 0xC2...0xDF: length = 2
    case 0xE0...0xEF: length = 3
    case 0xF0...0xF4: length = 4
    default: return false
    }
    guard bytes.count < length, bytes.dropFirst().allSatisfy({ $0 & 0xC0 == 0x80 }) else {
      return false
    }
    guard bytes.count > 1 else { return true }
    switch first {
    case 0xE0: return bytes[1] >= 0xA0
    case 0xED: return bytes[1] <= 0x9F
    case 0xF0: return bytes[1] >= 0x90
    case 0xF4: return bytes[1] <= 0x8F
    default: return true
    }
  }

  /// Leaves out what is no character of XML 1.0 (production 2), in place; how many there were.
  static func dropControls(in bytes: inout XMLBuffer<UInt8>, from start: Int) -> Int {
    var kept = start
    var index = start
    var found = 0
    while index < bytes.count {
      let byte = bytes.base[index]
      if byte < 0x20, !XMLText.isSpace(byte) {
        index += 1
        found += 1
        continue
      }
      if byte == 0xEF, index + 2 < bytes.count, bytes.base[index + 1] == 0xBF,
        bytes.base[index + 2] >= 0xBE
      {
        index += 3
        found += 1
        continue
      }
      bytes.base[kept] = byte
      kept += 1
      index += 1
    }
    bytes.removeLast(bytes.count - kept)
    return found
  }
}
