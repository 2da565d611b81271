/// Percent-encoding as URLs define it, one byte at a time. Source: RFC 3986, §2.1 and §2.3.
package enum PercentEncoding {
  /// `text` with every byte encoded that is neither unreserved nor one of the ASCII characters in
  /// `allowed`.
  package static func encode(_ text: String, allowing allowed: String = "") -> String {
    let extra = Array(allowed.utf8)
    var result: [UInt8] = []
    result.reserveCapacity(text.utf8.count)
    for byte in text.utf8 {
      if isUnreserved(byte) || extra.contains(byte) {
        result.append(byte)
      } else {
        result += [UInt8(ascii: "%"), hex[Int(byte >> 4)], hex[Int(byte & 15)]]
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// `text` with every `%XX` decoded, and `+` as a space where `plusIsSpace`; stray percent signs
  /// stay.
  package static func decode(_ text: some StringProtocol, plusIsSpace: Bool = false) -> String {
    String(decoding: decodedBytes(text, plusIsSpace: plusIsSpace), as: UTF8.self)
  }

  /// The same, whether it is UTF-8 or not.
  package static func decodedBytes(
    _ text: some StringProtocol, plusIsSpace: Bool = false
  ) -> [UInt8] {
    let bytes = Array(text.utf8)
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
        let high = Character(Unicode.Scalar(bytes[index + 1])).hexDigitValue,
        let low = Character(Unicode.Scalar(bytes[index + 2])).hexDigitValue
      {
        result.append(UInt8(high << 4 | low))
        index += 3
      } else {
        result.append(
          plusIsSpace && bytes[index] == UInt8(ascii: "+") ? UInt8(ascii: " ") : bytes[index])
        index += 1
      }
    }
    return result
  }

  private static let hex = Array("0123456789ABCDEF".utf8)

  /// Whether the byte stands for itself everywhere in a URL.
  package static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "_"), UInt8(ascii: "~"):
      true
    default: false
    }
  }
}
