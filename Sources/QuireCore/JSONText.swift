/// Reads and writes the text of JSON strings (RFC 8259, section 7). What is read is given as the bytes
/// between the quotes, in a page that was validated before.
package enum JSONText {
  /// Appends the text as UTF-8. Half a surrogate pair becomes U+FFFD; invalid UTF-8 is kept.
  package static func append(_ written: UnsafeBufferPointer<UInt8>, to output: inout [UInt8]) {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: written.count) { text in
      guard let from = written.baseAddress, let to = text.baseAddress else { return }
      let count = resolve(from, written.count, into: to).count
      output.append(contentsOf: UnsafeBufferPointer(start: to, count: count))
    }
  }

  /// Writes the text of the `count` bytes at `from` to `to`, which has room for as many: an escape
  /// is at least as long as the character it stands for. Returns the length of the text, and
  /// whether it is ASCII.
  package static func resolve(
    _ from: UnsafePointer<UInt8>, _ count: Int, into to: UnsafeMutablePointer<UInt8>
  ) -> (count: Int, isASCII: Bool) {
    var (read, written) = (0, 0)
    // All bytes combined by OR, and the largest escaped character, to tell if the text is ASCII.
    var (seen, largest): (UInt64, UInt32) = (0, 0)
    while read < count {
      if read &+ 8 <= count {
        // All eight bytes are written; those from a backslash on will be overwritten.
        let chunk = UnsafeRawPointer(from + read).loadUnaligned(as: UInt64.self)
        UnsafeMutableRawPointer(to + written).storeBytes(of: chunk, as: UInt64.self)
        seen |= chunk
        let backslash = backslash(in: UInt64(littleEndian: chunk))
        let run = backslash == 0 ? 8 : backslash.trailingZeroBitCount >> 3
        read &+= run
        written &+= run
        if backslash == 0 { continue }
      } else if from[read] != UInt8(ascii: "\\") {
        to[written] = from[read]
        seen |= UInt64(from[read])
        read &+= 1
        written &+= 1
        continue
      }
      if from[read &+ 1] == UInt8(ascii: "u") {
        let (scalar, length) = scalar(from + read, left: count &- read)
        largest = max(largest, scalar.value)
        for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter {
          to[written] = byte
          written &+= 1
        }
        read &+= length
      } else {
        to[written] = character(forEscape: from[read &+ 1])
        written &+= 1
        read &+= 2
      }
    }
    return (written, seen & 0x8080_8080_8080_8080 == 0 && largest < 0x80)
  }

  /// Returns a mask whose lowest bit is the high bit of the first backslash; 0 if there is none.
  @inline(__always)
  private static func backslash(in chunk: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let difference = chunk ^ ones &* UInt64(UInt8(ascii: "\\"))
    return (difference &- ones) & ~difference & (ones &* 0x80)
  }

  /// Decodes an escape `\uXXXX`, or a surrogate pair of two. Returns the character, U+FFFD for half
  /// a pair, and the length of the escape. `left` is the number of bytes in the text from it on.
  private static func scalar(
    _ escape: UnsafePointer<UInt8>, left: Int
  ) -> (UnicodeScalar, length: Int) {
    let text = UnsafeBufferPointer(start: escape, count: left)
    let high = unit(text, at: 2)
    if let scalar = UnicodeScalar(high) { return (scalar, 6) }
    guard high < 0xDC00, left >= 12, text[6] == UInt8(ascii: "\\"), text[7] == UInt8(ascii: "u")
    else { return ("\u{FFFD}", 6) }
    let low = unit(text, at: 8)
    guard low & 0xFC00 == 0xDC00,
      let scalar = UnicodeScalar(0x10000 + ((high & 0x3FF) << 10 | (low & 0x3FF)))
    else { return ("\u{FFFD}", 6) }
    return (scalar, 12)
  }

  /// Returns the text of a member's name.
  package static func text(_ written: [UInt8]) -> String {
    guard written.contains(UInt8(ascii: "\\")) else {
      return String(decoding: written, as: UTF8.self)
    }
    var output: [UInt8] = []
    written.withUnsafeBufferPointer { append($0, to: &output) }
    return String(decoding: output, as: UTF8.self)
  }

  /// Appends a text in UTF-8 as a JSON string, with its quotes.
  package static func append(quoted text: UnsafeBufferPointer<UInt8>, to output: inout [UInt8]) {
    output.append(UInt8(ascii: "\""))
    var start = 0
    while true {
      let end = endOfPlain(text, from: start)
      output.append(contentsOf: UnsafeBufferPointer(rebasing: text[start..<end]))
      if end == text.count { break }
      start = end + 1
      switch text[end] {
      case 0x22, 0x5C: output += [0x5C, text[end]]
      case 0x0A: output += "\\n".utf8
      case 0x0D: output += "\\r".utf8
      case 0x09: output += "\\t".utf8
      default: output += ("\\u" + text[end].padded(to: 4, radix: 16)).utf8
      }
    }
    output.append(UInt8(ascii: "\""))
  }

  /// Appends a text as a JSON string, with its quotes.
  package static func append(quoted text: String, to output: inout [UInt8]) {
    var text = text
    text.withUTF8 { append(quoted: $0, to: &output) }
  }

  /// Returns the index of the first byte that JSON escapes, searched for by sixteen bytes.
  private static func endOfPlain(_ text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
    var place = start
    guard let bytes = text.baseAddress.map(UnsafeRawPointer.init) else { return place }
    while place + 16 <= text.count {
      let chunk = bytes.loadUnaligned(fromByteOffset: place, as: SIMD16<UInt8>.self)
      // The high bit marks each byte to escape; bytes that are not ASCII are masked out.
      let quote = (chunk ^ 0x22) &- 1
      let backslash = (chunk ^ 0x5C) &- 1
      let special = (quote | backslash | (chunk &- 0x20)) & ~chunk & 0x80
      let halves = unsafeBitCast(special, to: SIMD2<UInt64>.self)
      if halves[0] | halves[1] != 0 { break }
      place += 16
    }
    while place < text.count, text[place] >= 0x20, text[place] != 0x22, text[place] != 0x5C {
      place += 1
    }
    return place
  }

  /// Returns whether the text contains the character NUL, which JSON can only write as `\u0000`.
  package static func hasNUL(_ written: UnsafeBufferPointer<UInt8>) -> Bool {
    unstorableEscapes(in: written).contains { $0.unit == 0 }
  }

  /// Returns whether the text has escapes of characters that some databases cannot store: NUL, and
  /// halves of surrogate pairs.
  package static func hasUnstorableEscapes(_ written: UnsafeBufferPointer<UInt8>) -> Bool {
    !unstorableEscapes(in: written).isEmpty
  }

  /// Replaces these escapes: NUL by its symbol U+2400, unless `keepsNUL`, and halves of surrogate
  /// pairs by U+FFFD. The text may also be a whole JSON document.
  package static func replaceUnstorableEscapes(in text: inout [UInt8], keepsNUL: Bool = false) {
    let found = text.withUnsafeBufferPointer { unstorableEscapes(in: $0) }
    for (place, unit) in found where unit != 0 || !keepsNUL {
      text.replaceSubrange(place + 2..<place + 6, with: (unit == 0 ? "2400" : "fffd").utf8)
    }
  }

  private static func unstorableEscapes(
    in written: UnsafeBufferPointer<UInt8>
  ) -> [(place: Int, unit: UInt32)] {
    var found: [(place: Int, unit: UInt32)] = []
    guard written.contains(UInt8(ascii: "\\")) else { return found }
    var index = 0
    while index + 1 < written.count {
      guard written[index] == UInt8(ascii: "\\") else {
        index += 1
        continue
      }
      guard written[index + 1] == UInt8(ascii: "u") else {
        index += 2
        continue
      }
      let unit = unit(written, at: index + 2)
      let isEscape =
        index + 7 < written.count && written[index + 6] == UInt8(ascii: "\\")
        && written[index + 7] == UInt8(ascii: "u")
      if unit & 0xFC00 == 0xD800, isEscape,
        self.unit(written, at: index + 8) & 0xFC00 == 0xDC00
      {
        index += 12
        continue
      }
      if unit == 0 || unit & 0xF800 == 0xD800 { found.append((index, unit)) }
      index += 6
    }
    return found
  }

  private static func unit(_ written: UnsafeBufferPointer<UInt8>, at start: Int) -> UInt32 {
    var unit: UInt32 = 0
    for index in start..<min(start + 4, written.count) {
      let byte = written[index]
      let digit = byte <= UInt8(ascii: "9") ? byte &- UInt8(ascii: "0") : (byte | 0x20) &- 87
      unit = unit << 4 | UInt32(digit & 0xF)
    }
    return unit
  }

  /// Returns the byte that an escape other than `\\u` stands for.
  static func character(forEscape letter: UInt8) -> UInt8 {
    switch letter {
    case UInt8(ascii: "b"): 0x08
    case UInt8(ascii: "f"): 0x0C
    case UInt8(ascii: "n"): 0x0A
    case UInt8(ascii: "r"): 0x0D
    case UInt8(ascii: "t"): 0x09
    default: letter
    }
  }
}

extension UInt8 {
  /// The value of a hexadecimal digit, of either case; nil for any other character.
  @inlinable package var hexadecimalDigit: UInt8? {
    switch self {
    case 0x30...0x39: self - 0x30
    case 0x41...0x46, 0x61...0x66: (self | 0x20) - 0x61 + 10
    default: nil
    }
  }
}
