import QuireCore
import QuirePagination

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The percent-encoding of a secret in a URL, described without the secret.
///
/// A description lists the bytes that are not spelled strictly (RFC 3986: unreserved characters as
/// they are, all others as `%XX` with capitals), each by its offset and a letter. For example, `1v`
/// is a slash at offset 1 that is not encoded. So a link can be restored byte for byte although its
/// secret was not stored.
enum SecretSpelling {
  private enum Style: Character {
    /// Not encoded although not unreserved; `kept` for a plus or a percent sign, which would mean
    /// something else.
    case verbatim = "v", kept = "k"
    /// `%XX` although unreserved.
    case escaped = "e"
    /// `%xX`, `%Xx` and `%xx`.
    case smallFirst = "f", smallLast = "l", small = "s"
    /// A plus for a space, and `%20` for a secret's plus.
    case plus = "p", space = "w"
    /// Not encoded, but in the other letter case, as in a host.
    case otherCase = "c"
  }

  /// Returns the spelling of `secret` in `raw`; nil if `raw` is something else.
  static func describe(_ raw: some Sequence<UInt8>, asSpellingOf secret: [UInt8]) -> String? {
    Array(raw).withUnsafeBufferPointer { raw in
      guard let (end, description) = describe(raw, from: 0, asSpellingOf: secret) else {
        return nil
      }
      return end == raw.count ? description : nil
    }
  }

  /// Returns the spelling of `secret` in `raw` from `start` on, and where it ends; nil if something
  /// else is there.
  static func describe(
    _ raw: UnsafeBufferPointer<UInt8>, from start: Int, asSpellingOf secret: [UInt8]
  ) -> (end: Int, description: String)? {
    var place = start
    var description = ""
    for (offset, byte) in secret.enumerated() {
      guard place < raw.count else { return nil }
      let first = raw[place]
      var style: Style?
      if let escape = Escape(raw, at: place),
        escape.byte == byte || (escape.byte == 0x20 && byte == plus)
      {
        style = escape.byte == byte ? escape.style : .space
        place += 3
      } else if first == byte {
        style = verbatimStyle(byte)
        place += 1
      } else {
        guard first == plus && byte == 0x20 || isOtherCase(first, of: byte) else { return nil }
        style = first == plus ? .plus : .otherCase
        place += 1
      }
      if let style { description += "\(offset)\(style.rawValue)" }
    }
    return (place, description)
  }

  private static func isOtherCase(_ byte: UInt8, of other: UInt8) -> Bool {
    byte ^ other == 0x20 && (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  /// Returns `secret` with the described spelling. A description of another secret is valid, too.
  static func spell(_ secret: [UInt8], _ description: some StringProtocol) -> String {
    var styles: [Int: Style] = [:]
    var offset = 0
    for character in description {
      if let digit = character.wholeNumberValue {
        offset = offset.times(10).plus(digit)
      } else {
        styles[offset] = Style(rawValue: character)
        offset = 0
      }
    }
    var result: [UInt8] = []
    for (offset, byte) in secret.enumerated() { result += spell(byte, styles[offset]) }
    return String(decoding: result, as: UTF8.self)
  }

  private static func spell(_ byte: UInt8, _ style: Style?) -> [UInt8] {
    switch style {
    case nil where PercentEncoding.isUnreserved(byte): [byte]
    // With a description of another secret, such a byte could end the parameter or mean something
    // else.
    case .verbatim where !"&#+%".utf8.contains(byte): [byte]
    case .kept where "+%".utf8.contains(byte): [byte]
    case .plus where byte == 0x20: [plus]
    case .space where byte == plus: Array("%20".utf8)
    case .otherCase where isOtherCase(byte, of: byte ^ 0x20): [byte ^ 0x20]
    default: Escape(byte, style ?? .escaped).bytes
    }
  }

  private static func verbatimStyle(_ byte: UInt8) -> Style? {
    if PercentEncoding.isUnreserved(byte) { return nil }
    return "+%".utf8.contains(byte) ? .kept : .verbatim
  }

  private static let plus = UInt8(ascii: "+")

  /// An escape `%XX`.
  private struct Escape {
    var byte: UInt8
    var bytes: [UInt8]
    /// The style of the digits; nil if it is strict.
    var style: Style?

    init?(_ text: UnsafeBufferPointer<UInt8>, at place: Int) {
      guard text[place] == UInt8(ascii: "%"), place + 2 < text.count,
        let high = text[place + 1].hexadecimalDigit, let low = text[place + 2].hexadecimalDigit
      else { return nil }
      byte = high << 4 | low
      bytes = []
      switch (text[place + 1] >= UInt8(ascii: "a"), text[place + 2] >= UInt8(ascii: "a")) {
      case (true, true): style = .small
      case (true, false): style = .smallFirst
      case (false, true): style = .smallLast
      case (false, false): style = PercentEncoding.isUnreserved(byte) ? .escaped : nil
      }
    }

    init(_ byte: UInt8, _ style: Style) {
      self.byte = byte
      self.style = style
      let isFirstSmall = style == .small || style == .smallFirst
      let isLastSmall = style == .small || style == .smallLast
      bytes = [UInt8(ascii: "%")]
      bytes += String(byte >> 4, radix: 16, uppercase: !isFirstSmall).utf8
      bytes += String(byte & 15, radix: 16, uppercase: !isLastSmall).utf8
    }
  }
}

/// The parts of base 64 that finding secrets needs (RFC 4648).
enum Base64 {
  /// Returns the base 64 digits that encode `value` wherever it occurs in a longer encoded text,
  /// for each of its three possible offsets in a group of three bytes.
  static func embeddedDigits(of value: [UInt8]) -> [[UInt8]] {
    (0..<3).map { lead in
      let digits = (Data(count: lead) + value).base64EncodedData()
      // Digits that also encode bits of adjacent bytes are left out.
      let first = (lead * 8 + 5) / 6
      return Array(digits[first..<max(first, (lead + value.count) * 8 / 6)])
    }
  }

  /// Returns digits in the alphabet for URLs (RFC 4648, §5).
  static func urlSafe(_ digits: [UInt8]) -> [UInt8] {
    digits.map {
      switch $0 {
      case UInt8(ascii: "+"): UInt8(ascii: "-")
      case UInt8(ascii: "/"): UInt8(ascii: "_")
      default: $0
      }
    }
  }

  /// Returns the text that `text` encodes, in either alphabet; nil for invalid base 64.
  static func decode(_ text: some StringProtocol) -> String? {
    var digits = text.utf8.filter { $0 != UInt8(ascii: "=") }.map { byte in
      switch byte {
      case UInt8(ascii: "-"): UInt8(ascii: "+")
      case UInt8(ascii: "_"): UInt8(ascii: "/")
      default: byte
      }
    }
    while !digits.count.isMultiple(of: 4) { digits.append(UInt8(ascii: "=")) }
    return Data(base64Encoded: Data(digits)).map { String(decoding: $0, as: UTF8.self) }
  }
}
