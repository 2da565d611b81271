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
        case .start(let name, _, _): writer.start(name)
        case .end(let name): writer.end(name)
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

    mutating func start(_ name: String) { end(name) }

    mutating func end(_ name: String) {
      if Self.blocks.contains(name) {
        gap = 0x0A
      } else if gap == 0, name == "td" || name == "th" {
        gap = 0x20
      }
    }

    mutating func write(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) {
      for byte in HTMLText.resolved(bytes, range) {
        if XMLSpace.isSpace(byte) || byte == 0x0C {
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

/// A token of HTML.
enum HTMLToken {
  case text(Range<Int>)
  /// A start tag, with its name in lowercase.
  case start(name: String, attributes: [Attribute], isEmpty: Bool)
  /// An end tag, with its name in lowercase.
  case end(name: String)

  struct Attribute {
    /// The name in lowercase.
    var name: String
    /// The value with its references resolved.
    var value = ""
    /// The range of the value in the input, without its quotes; empty if there is no value.
    var range = 0..<0
    var isQuoted = false
  }

  /// Whether a tag of a known HTML element, or a comment, starts at `start`.
  static func isTag(_ bytes: UnsafeBufferPointer<UInt8>, at start: Int) -> Bool {
    var index = start + 1
    if index < bytes.count, bytes[index] == UInt8(ascii: "/") { index += 1 }
    if bytes.count - index > 2, bytes[index] == UInt8(ascii: "!"),
      bytes[index + 1] == UInt8(ascii: "-")
    {
      return true
    }
    let first = index
    while index < bytes.count, index - first < 16, isName(bytes[index]) { index += 1 }
    guard index > first, index < bytes.count else { return false }
    let next = bytes[index]
    guard next == UInt8(ascii: ">") || next == UInt8(ascii: "/") || XMLSpace.isSpace(next) else {
      return false
    }
    let name = String(decoding: bytes[first..<index], as: UTF8.self).lowercased()
    return known.contains(name)
  }

  /// Whether the byte is an ASCII letter or digit.
  static func isName(_ byte: UInt8) -> Bool {
    0x41...0x5A ~= byte || 0x61...0x7A ~= byte || 0x30...0x39 ~= byte
  }

  private static let known: Set<String> = [
    "a", "abbr", "acronym", "address", "article", "aside", "audio", "b", "big", "blockquote", "br",
    "button", "caption", "center", "cite", "code", "col", "colgroup", "dd", "del", "details", "dfn",
    "div", "dl", "dt", "em", "embed", "figcaption", "figure", "font", "footer", "form", "h1", "h2",
    "h3", "h4", "h5", "h6", "header", "hr", "html", "i", "iframe", "img", "input", "ins", "kbd",
    "li", "link", "main", "map", "mark", "meta", "nav", "noscript", "object", "ol", "p", "param",
    "picture", "pre", "q", "s", "samp", "script", "section", "small", "source", "span", "strike",
    "strong", "style", "sub", "summary", "sup", "svg", "table", "tbody", "td", "tfoot", "th",
    "thead", "time", "title", "tr", "track", "tt", "u", "ul", "var", "video", "wbr",
  ]
}

/// Divides HTML into tokens, like browsers where it matters. Comments, declarations and the
/// contents of scripts, styles and the like are skipped. A `<` that does not begin a tag is text.
struct HTMLTokenizer {
  private let bytes: UnsafeBufferPointer<UInt8>
  private var index = 0
  /// The elements whose end tag was searched for in vain, so that each is searched for only once.
  private var unclosed: Set<String> = []
  /// Whether `-->` may still occur; false after a search that did not find it.
  private var hasCommentEnd = true

  init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  /// Elements whose content is not text of the document.
  private static let silent: Set<String> = [
    "script", "style", "template", "noembed", "noframes", "iframe", "xmp", "plaintext", "textarea",
  ]

  mutating func next() -> HTMLToken? {
    while index < bytes.count {
      if bytes[index] == 0x3C, let token = markup() {
        if case .some(let token) = token { return token }
        continue
      }
      let start = index
      index += 1
      while index < bytes.count, bytes[index] != 0x3C { index += 1 }
      return .text(start..<index)
    }
    return nil
  }

  /// Reads the tag at `index`. Returns `.some(nil)` for skipped markup, and nil for text.
  private mutating func markup() -> HTMLToken?? {
    guard index + 1 < bytes.count else { return nil }
    switch bytes[index + 1] {
    case UInt8(ascii: "!"), UInt8(ascii: "?"):
      skipDeclaration()
      return .some(nil)
    case UInt8(ascii: "/"): return endTag().map { .some($0) }
    case let byte where 0x41...0x5A ~= byte & 0xDF: return startTag().map { .some($0) }
    default: return nil
    }
  }

  private mutating func skipDeclaration() {
    let isComment =
      index + 3 < bytes.count && bytes[index + 2] == 0x2D && bytes[index + 3] == 0x2D
    if isComment, hasCommentEnd {
      // `<!-->` and `<!--->` are complete comments (HTML, §13.2.5.43).
      var end = index + 2
      while end + 2 < bytes.count {
        if bytes[end] == 0x2D, bytes[end + 1] == 0x2D, bytes[end + 2] == 0x3E {
          index = end + 3
          return
        }
        end += 1
      }
      hasCommentEnd = false
    }
    while index < bytes.count, bytes[index] != 0x3E { index += 1 }
    index = min(index + 1, bytes.count)
  }

  private mutating func name() -> String {
    let start = index
    while index < bytes.count, !XMLSpace.isSpace(bytes[index]), bytes[index] != 0x2F,
      bytes[index] != 0x3E, bytes[index] != 0x3C
    { index += 1 }
    return String(decoding: bytes[start..<index], as: UTF8.self).lowercased()
  }

  private mutating func endTag() -> HTMLToken? {
    guard index + 2 < bytes.count, 0x41...0x5A ~= bytes[index + 2] & 0xDF else { return nil }
    index += 2
    let name = name()
    while index < bytes.count, bytes[index] != 0x3E { index += 1 }
    index = min(index + 1, bytes.count)
    return .end(name: name)
  }

  private mutating func startTag() -> HTMLToken? {
    index += 1
    let name = name()
    var attributes: [HTMLToken.Attribute] = []
    var isEmpty = false
    while index < bytes.count, bytes[index] != 0x3E {
      if XMLSpace.isSpace(bytes[index]) {
        index += 1
      } else if bytes[index] == 0x2F {
        isEmpty = index + 1 < bytes.count && bytes[index + 1] == 0x3E
        index += 1
      } else {
        let attribute = attribute()
        if attributes.count < 64, !attributes.contains(where: { $0.name == attribute.name }) {
          attributes.append(attribute)
        }
      }
    }
    index = min(index + 1, bytes.count)
    if Self.silent.contains(name), !isEmpty { skipContent(of: name) }
    return .start(name: name, attributes: attributes, isEmpty: isEmpty)
  }

  private mutating func attribute() -> HTMLToken.Attribute {
    let start = index
    index += 1
    while index < bytes.count, !XMLSpace.isSpace(bytes[index]),
      ![0x2F, 0x3E, 0x3D].contains(bytes[index])
    { index += 1 }
    var attribute = HTMLToken.Attribute(
      name: String(decoding: bytes[start..<index], as: UTF8.self).lowercased())
    var next = index
    while next < bytes.count, XMLSpace.isSpace(bytes[next]) { next += 1 }
    guard next < bytes.count, bytes[next] == 0x3D else { return attribute }
    index = next + 1
    while index < bytes.count, XMLSpace.isSpace(bytes[index]) { index += 1 }
    guard index < bytes.count else { return attribute }
    let quote = bytes[index]
    attribute.isQuoted = quote == 0x22 || quote == 0x27
    if attribute.isQuoted { index += 1 }
    let valueStart = index
    while index < bytes.count,
      attribute.isQuoted
        ? bytes[index] != quote : !XMLSpace.isSpace(bytes[index]) && bytes[index] != 0x3E
    { index += 1 }
    attribute.range = valueStart..<index
    if attribute.isQuoted { index = min(index + 1, bytes.count) }
    let value = HTMLText.resolved(bytes, attribute.range, inValue: true)
    attribute.value = String(decoding: value, as: UTF8.self)
    return attribute
  }

  /// Skips everything up to the end tag of an element, or to the end of the input if there is none.
  private mutating func skipContent(of name: String) {
    guard !unclosed.contains(name) else {
      index = bytes.count
      return
    }
    let wanted = Array(name.utf8)
    while index + wanted.count + 1 < bytes.count {
      if bytes[index] == 0x3C, bytes[index + 1] == 0x2F,
        (0..<wanted.count).allSatisfy({ bytes[index + 2 + $0] | 0x20 == wanted[$0] })
      {
        return
      }
      index += 1
    }
    unclosed.insert(name)
    index = bytes.count
  }
}
