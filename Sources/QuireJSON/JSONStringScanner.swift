import QuireCore
import QuirePagination

/// A scanner for the part of a string that is not plain ASCII: escapes and UTF-8 (RFC 3629).
///
/// Text that no Unicode string can hold does not stop the scan: a quote or a backslash is never
/// part of a longer UTF-8 sequence, so the structure does not depend on the bytes between. The
/// fault is recorded, and thrown only when the string is read.
enum JSONStringScanner {
  /// Reads from `start`, inside a string, to its closing quote. Returns the kind of the string and
  /// the index of the quote.
  @inline(never)
  static func scan(
    _ bytes: UnsafePointer<UInt8>, from start: Int, end pageEnd: Int
  ) throws(JSONFault) -> (kind: JSONWord.Kind, end: Int) {
    var index = start
    var isEscaped = false
    var isASCII = true
    var hasLoneSurrogate = false
    var isValid = true
    while true {
      let byte = bytes[index]
      if byte >= 0x80 {
        let length = sequenceLength(bytes + index)
        isValid = isValid && length > 0
        isASCII = false
        index &+= max(length, 1)
        continue
      }
      if byte == UInt8(ascii: "\"") { break }
      if byte == UInt8(ascii: "\\") {
        isEscaped = true
        let escape = try readEscape(bytes, at: index, end: pageEnd)
        hasLoneSurrogate = hasLoneSurrogate || escape.isLoneSurrogate
        index &+= escape.length
      } else if byte < 0x20 {
        throw fault("the rest of a string", bytes, at: index, end: pageEnd)
      }
      while true {
        let plain = JSONScanner.plainBytes(bytes + index)
        index &+= plain
        if plain < 16 { break }
      }
    }
    let kind: JSONWord.Kind =
      !isValid
      ? .invalidString
      : hasLoneSurrogate
        ? .surrogateString : isEscaped ? .escapedString : isASCII ? .string : .unicodeString
    return (kind, index)
  }

  /// Skips the part of a string that is in a slice of a page: past its closing quote, or to the end
  /// of the slice. `isEscaped` is whether the byte before, possibly in an earlier slice, is the
  /// backslash of an escape.
  static func skip(
    _ slice: UnsafeBufferPointer<UInt8>, from start: Int, isEscaped: inout Bool
  ) -> (end: Int, isClosed: Bool) {
    guard let bytes = slice.baseAddress else { return (start, false) }
    var index = start
    while index < slice.count {
      if isEscaped {
        isEscaped = false
        index += 1
        continue
      }
      while index + 16 <= slice.count {
        let plain = JSONScanner.plainBytes(bytes + index)
        index += plain
        if plain < 16 { break }
      }
      guard index < slice.count else { break }
      let byte = slice[index]
      index += 1
      if byte == UInt8(ascii: "\\") { isEscaped = true }
      if byte == UInt8(ascii: "\"") { return (index, true) }
    }
    return (index, false)
  }

  /// Returns the length of the UTF-8 sequence at `bytes`, 2 to 4; 0 if it is overlong, a surrogate,
  /// beyond U+10FFFF, cut short or does not start a sequence. The padding makes reading ahead safe.
  @inline(__always)
  static func sequenceLength(_ bytes: UnsafePointer<UInt8>) -> Int {
    let first = bytes[0]
    let second = bytes[1]
    switch first {
    case 0xC2...0xDF:
      return isContinuation(second) ? 2 : 0
    case 0xE0...0xEF:
      guard isContinuation(second), isContinuation(bytes[2]) else { return 0 }
      let isBad = first == 0xE0 && second < 0xA0 || first == 0xED && second > 0x9F
      return isBad ? 0 : 3
    case 0xF0...0xF4:
      guard isContinuation(second), isContinuation(bytes[2]), isContinuation(bytes[3]) else {
        return 0
      }
      let isBad = first == 0xF0 && second < 0x90 || first == 0xF4 && second > 0x8F
      return isBad ? 0 : 4
    default:
      return 0
    }
  }

  @inline(__always)
  private static func isContinuation(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }

  /// Checks the escape whose backslash is at `index`; a surrogate pair is one escape.
  @inline(__always)
  private static func readEscape(
    _ bytes: UnsafePointer<UInt8>, at index: Int, end: Int
  ) throws(JSONFault) -> (length: Int, isLoneSurrogate: Bool) {
    switch bytes[index &+ 1] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
      UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      return (2, false)
    case UInt8(ascii: "u"):
      let unit = try readUnit(bytes, at: index + 2, end: end)
      guard unit & 0xF800 == 0xD800 else { return (6, false) }
      guard unit < 0xDC00, bytes[index + 6] == UInt8(ascii: "\\"),
        bytes[index + 7] == UInt8(ascii: "u")
      else { return (6, true) }
      let low = try readUnit(bytes, at: index + 8, end: end)
      // A second unit that is not a low surrogate is read again, as the start of its own escape.
      return low & 0xFC00 == 0xDC00 ? (12, false) : (6, true)
    default:
      throw fault("one of \"\\/bfnrtu", bytes, at: index + 1, end: end)
    }
  }

  private static func readUnit(
    _ bytes: UnsafePointer<UInt8>, at start: Int, end: Int
  ) throws(JSONFault) -> UInt16 {
    var unit: UInt16 = 0
    for index in start..<start + 4 {
      guard let digit = bytes[index].hexadecimalDigit else {
        throw fault("a hexadecimal digit", bytes, at: index, end: end)
      }
      unit = unit << 4 | UInt16(digit)
    }
    return unit
  }

  private static func fault(
    _ expected: StaticString, _ bytes: UnsafePointer<UInt8>, at index: Int, end: Int
  ) -> JSONFault {
    JSONFault(
      reason: index >= end ? .ended(expected: expected) : .unexpected(expected: expected),
      offset: min(index, end))
  }
}
