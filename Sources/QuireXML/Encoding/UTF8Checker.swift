import QuirePagination

/// A validator of UTF-8 (RFC 3629), which checks ASCII at the speed of memory.
enum UTF8Checker {
  private static let highBits: UInt64 = 0x8080_8080_8080_8080

  /// Returns the end of the valid, complete characters from `start` on.
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

  /// Returns the number of bytes of the character at `bytes`, 2 to 4; 0 if it is invalid or
  /// incomplete.
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

  /// Whether these bytes could be the start of an incomplete character: some continuation of them is
  /// one.
  static func isStartOfCharacter(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    guard 1...3 ~= bytes.count else { return false }
    return [0x80 as UInt8, 0xBF].contains { continuation in
      let whole = Array(bytes) + repeatElement(continuation, count: 3)
      return whole.withUnsafeBufferPointer {
        $0.baseAddress.map { sequenceLength($0, left: 4) } ?? 0 > bytes.count
      }
    }
  }

  /// Removes characters that XML 1.0 does not allow (production 2), in place. Returns their number.
  static func dropControls(in bytes: inout XMLBuffer<UInt8>, from start: Int) -> Int {
    let (base, count) = (bytes.base, bytes.count)
    var kept = start
    var index = start
    var found = 0
    while index < count {
      let end = plainEnd(UnsafePointer(base), from: index, to: count)
      if kept < index { (base + kept).update(from: base + index, count: end - index) }
      kept += end - index
      index = end
      guard index < count else { break }
      if base[index] != 0xEF {
        index += 1
        found += 1
      } else if index + 2 < count, base[index + 1] == 0xBF, base[index + 2] >= 0xBE {
        index += 3
        found += 1
      } else {
        base[kept] = 0xEF
        kept += 1
        index += 1
      }
    }
    bytes.removeLast(count - kept)
    return found
  }

  /// Returns the index of the first byte that is a control character or 0xEF, with which U+FFFE and
  /// U+FFFF begin.
  private static func plainEnd(
    _ bytes: UnsafePointer<UInt8>, from start: Int, to end: Int
  ) -> Int {
    var index = start
    while index < end {
      while index + 8 <= end {
        let word = UnsafeRawPointer(bytes + index).loadUnaligned(as: UInt64.self)
        // The high bits show whether any byte is below 0x20, or is 0xEF.
        let low = (word &- 0x2020_2020_2020_2020) & ~word
        let other = word ^ 0xEFEF_EFEF_EFEF_EFEF
        if (low | (other &- 0x0101_0101_0101_0101) & ~other) & highBits != 0 { break }
        index += 8
      }
      let stop = min(index + 8, end)
      while index < stop {
        let byte = bytes[index]
        if byte == 0xEF || byte < 0x20 && !byte.isWhiteSpace { return index }
        index += 1
      }
    }
    return end
  }
}
