/// Base 64 as far as secrets are found in it (RFC 4648).
enum Base64 {
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// How a text of base 64 shows that it encodes `value` somewhere inside: what is the same whatever
  /// stands around it, for each of the three places in a group where it may begin.
  static func traces(of value: [UInt8]) -> [[UInt8]] {
    (0..<3).map { lead in
      let digits = encode([UInt8](repeating: 0, count: lead) + value)
      // Digits that also encode bits of a neighbour are none of its own.
      let first = (lead * 8 + 5) / 6
      return Array(digits[first..<max(first, (lead + value.count) * 8 / 6)])
    }
  }

  /// The digits, without padding.
  static func encode(_ bytes: [UInt8]) -> [UInt8] {
    var digits: [UInt8] = []
    var (bits, count) = (0, 0)
    for byte in bytes {
      bits = bits << 8 | Int(byte)
      count += 8
      while count >= 6 {
        count -= 6
        digits.append(alphabet[bits >> count & 63])
      }
      bits &= 0xFF
    }
    if count > 0 { digits.append(alphabet[bits << (6 - count) & 63]) }
    return digits
  }

  /// The text that `text` encodes, in either alphabet; nil where it is no base 64.
  static func decode(_ text: some StringProtocol) -> String? {
    var bytes: [UInt8] = []
    var (bits, count) = (0, 0)
    for byte in text.utf8 where byte != UInt8(ascii: "=") {
      let digit: UInt8 =
        switch byte {
        case UInt8(ascii: "-"): UInt8(ascii: "+")
        case UInt8(ascii: "_"): UInt8(ascii: "/")
        default: byte
        }
      guard let value = alphabet.firstIndex(of: digit) else { return nil }
      bits = (bits << 6 | value) & 0xFFFF
      count += 6
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(bits >> count & 0xFF))
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
