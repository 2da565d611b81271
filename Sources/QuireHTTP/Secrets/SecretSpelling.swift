/// How a secret is percent-encoded in a URL, told without the secret.
///
/// A description lists the bytes that are not spelled strictly (RFC 3986: unreserved characters as
/// they are, all others as `%XX` in capitals), each by its offset and a letter: `1v` for a slash
/// that stands as it is, say. So a link leaves byte for byte as it came (H-1), although the secret in
/// it was not stored (H-8).
enum SecretSpelling {
  private enum Style: Character {
    /// As it is, although not unreserved; and so a plus or a percent sign, which mean something else.
    case verbatim = "v", kept = "k"
    /// `%XX`, although unreserved.
    case escaped = "e"
    /// `%xX`, `%Xx` and `%xx`.
    case smallFirst = "f", smallLast = "l", small = "s"
    /// A plus for a space, and `%20` for a plus that was one.
    case plus = "p", space = "w"
  }

  /// How `raw` spells `secret`; nil when it spells something else.
  static func describe(_ raw: some Sequence<UInt8>, asSpellingOf secret: [UInt8]) -> String? {
    let raw = Array(raw)
    var rest = raw[...]
    var description = ""
    for (offset, byte) in secret.enumerated() {
      guard let first = rest.first else { return nil }
      var style: Style?
      if let escape = Escape(rest), escape.byte == byte || (escape.byte == 0x20 && byte == plus) {
        style = escape.byte == byte ? escape.style : .space
        rest = rest.dropFirst(3)
      } else {
        guard first == byte || (first == plus && byte == 0x20) else { return nil }
        style = first == byte ? verbatimStyle(byte) : .plus
        rest = rest.dropFirst()
      }
      if let style { description += "\(offset)\(style.rawValue)" }
    }
    return rest.isEmpty ? description : nil
  }

  /// `secret` as `description` says. Of another secret than was described, this is a good spelling
  /// too.
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
    // What would end the parameter or mean something else is of another secret.
    case .verbatim where !"&#+%".utf8.contains(byte): [byte]
    case .kept where "+%".utf8.contains(byte): [byte]
    case .plus where byte == 0x20: [plus]
    case .space where byte == plus: Array("%20".utf8)
    default: Escape(byte, style ?? .escaped).bytes
    }
  }

  private static func verbatimStyle(_ byte: UInt8) -> Style? {
    if PercentEncoding.isUnreserved(byte) { return nil }
    return "+%".utf8.contains(byte) ? .kept : .verbatim
  }

  private static let plus = UInt8(ascii: "+")

  /// `%XX`.
  private struct Escape {
    var byte: UInt8
    var bytes: [UInt8]
    /// Nil for the strict one.
    var style: Style?

    /// The one that `text` begins with.
    init?(_ text: ArraySlice<UInt8>) {
      let bytes = Array(text.prefix(3))
      guard bytes.count == 3, bytes[0] == UInt8(ascii: "%"),
        let high = Character(Unicode.Scalar(bytes[1])).hexDigitValue,
        let low = Character(Unicode.Scalar(bytes[2])).hexDigitValue
      else { return nil }
      byte = UInt8(high << 4 | low)
      self.bytes = bytes
      switch (bytes[1] >= UInt8(ascii: "a"), bytes[2] >= UInt8(ascii: "a")) {
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
