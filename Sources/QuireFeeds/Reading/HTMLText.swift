import QuirePagination
import QuireXML

/// Reads HTML as text, in linear time for any input.
enum HTMLText {
  /// Whether a text contains markup: a tag of an HTML element, or a reference.
  static func isMarkup(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { bytes in
      guard bytes.contains(where: { $0 == 0x3C || $0 == 0x26 }) else { return false }
      let lastEnd = bytes.lastIndex(of: 0x3E) ?? 0
      var index = 0
      while index < bytes.count {
        if bytes[index] == 0x3C, index < lastEnd, HTMLToken.isTag(bytes, at: index) { return true }
        if bytes[index] == 0x26, HTMLReference.read(bytes, at: index) != nil { return true }
        index += 1
      }
      return false
    }
  }

  /// Returns the text of HTML without its markup; see `FeedText.plain`.
  static func plain(_ html: String) -> String {
    var html = html
    return html.withUTF8 { bytes in
      var writer = PlainWriter()
      var tokens = HTMLTokenizer(bytes)
      while let token = tokens.next() {
        switch token {
        case .text(let range): writer.write(bytes, range)
        case .start(let name, _, _), .end(let name): writer.writeTag(name)
        }
      }
      return writer.result
    }
  }

  /// Returns a range of bytes with its references resolved, and everything else unchanged.
  static func resolved(
    _ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>, inValue: Bool = false
  ) -> [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(range.count)
    var index = range.lowerBound
    while index < range.upperBound {
      if bytes[index] == 0x26,
        let (text, end) = HTMLReference.readOpen(bytes, at: index, inValue: inValue),
        end <= range.upperBound
      {
        output += text.utf8
        index = end
      } else {
        output.append(bytes[index])
        index += 1
      }
    }
    return output
  }

  private struct PlainWriter {
    private var output: [UInt8] = []
    /// The space or line break to write before the next word.
    private var gap: UInt8 = 0

    private static let blocks: Set<String> = [
      "address", "article", "aside", "blockquote", "br", "caption", "dd", "details", "div", "dl",
      "dt", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header",
      "hr", "li", "main", "nav", "ol", "p", "pre", "section", "summary", "table", "tr", "ul",
    ]

    /// Separates the texts before and after a tag, if its element is displayed as a block or a cell.
    mutating func writeTag(_ name: String) {
      if Self.blocks.contains(name) {
        gap = 0x0A
      } else if gap == 0, name == "td" || name == "th" {
        gap = 0x20
      }
    }

    mutating func write(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) {
      for byte in HTMLText.resolved(bytes, range) {
        if byte.isWhiteSpace || byte == 0x0C {
          if gap == 0 { gap = 0x20 }
          continue
        }
        if gap != 0, !output.isEmpty { output.append(gap) }
        gap = 0
        output.append(byte)
      }
    }

    var result: String { String(decoding: output, as: UTF8.self) }
  }
}

/// A character reference in HTML.
enum HTMLReference {
  /// Returns the text of the reference at an `&`, and the index after it; nil if it is not a known
  /// reference.
  static func read(_ bytes: UnsafeBufferPointer<UInt8>, at start: Int) -> (text: String, end: Int)?
  {
    var index = start + 1
    guard index < bytes.count else { return nil }
    if bytes[index] == UInt8(ascii: "#") { return number(bytes, index + 1, needsEnd: true) }
    let limit = min(bytes.count, index + 32)
    while index < limit, HTMLToken.isName(bytes[index]) { index += 1 }
    guard index < bytes.count, bytes[index] == UInt8(ascii: ";"), index > start + 1 else {
      return nil
    }
    let name = String(decoding: bytes[(start + 1)..<index], as: UTF8.self)
    return HTMLNamedCharacter.text(name).map { ($0, index + 1) }
  }

  /// Like `read`, but also accepts what browsers accept without a semicolon: numbers, and the names
  /// of Latin-1 and of XML's own four characters. In an attribute value neither a letter, a digit
  /// nor `=` may follow (HTML, §13.2.5.73 and §13.5).
  static func readOpen(
    _ bytes: UnsafeBufferPointer<UInt8>, at start: Int, inValue: Bool
  ) -> (text: String, end: Int)? {
    if let found = read(bytes, at: start) { return found }
    guard start + 1 < bytes.count else { return nil }
    if bytes[start + 1] == UInt8(ascii: "#") { return number(bytes, start + 2, needsEnd: false) }
    // The longest of these names has six letters, the shortest two.
    let limit = min(bytes.count, start + 7)
    var end = start + 1
    while end < limit, HTMLToken.isName(bytes[end]) { end += 1 }
    while end > start + 2 {
      let name = String(decoding: bytes[(start + 1)..<end], as: UTF8.self)
      if let text = HTMLNamedCharacter.text(name), needsNoEnd(text) {
        let next = end < bytes.count ? bytes[end] : 0
        if inValue, HTMLToken.isName(next) || next == UInt8(ascii: "=") { return nil }
        return (text, end)
      }
      end -= 1
    }
    return nil
  }

  /// Whether browsers accept a reference to this character without a semicolon.
  private static func needsNoEnd(_ text: String) -> Bool {
    guard let scalar = text.unicodeScalars.first else { return false }
    return 0xA0...0xFF ~= scalar.value || "&<>\"".unicodeScalars.contains(scalar)
  }

  private static func number(
    _ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, needsEnd: Bool
  ) -> (text: String, end: Int)? {
    var index = start
    var isHex = false
    if index < bytes.count, bytes[index] | 0x20 == UInt8(ascii: "x") {
      isHex = true
      index += 1
    }
    var value: UInt32 = 0
    let first = index
    while index < bytes.count, index - first < 10,
      let digit = Character(Unicode.Scalar(bytes[index])).hexDigitValue, isHex || digit < 10
    {
      value = value &* (isHex ? 16 : 10) &+ UInt32(digit)
      index += 1
    }
    guard index > first, index - first < 10, let scalar = scalar(value) else { return nil }
    let hasEnd = index < bytes.count && bytes[index] == UInt8(ascii: ";")
    guard hasEnd || !needsEnd else { return nil }
    return (String(scalar), hasEnd ? index + 1 : index)
  }

  /// Returns the character of a number, using Windows-1252 for Unicode's C1 controls (HTML,
  /// §13.2.5.80).
  private static func scalar(_ value: UInt32) -> Unicode.Scalar? {
    if 0x80...0x9F ~= value { return Windows1252.scalar(of: UInt8(value)) }
    guard value >= 0x20 || value == 9 || value == 10 || value == 13 else { return nil }
    return Unicode.Scalar(value)
  }
}
