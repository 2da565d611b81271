import QuirePagination

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
    guard next == UInt8(ascii: ">") || next == UInt8(ascii: "/") || next.isWhiteSpace else {
      return false
    }
    let name = String(decoding: bytes[first..<index], as: UTF8.self).lowercased()
    return known.contains(name)
  }

  /// Whether the byte is an ASCII letter or digit.
  static func isName(_ byte: UInt8) -> Bool {
    0x41...0x5A ~= byte || 0x61...0x7A ~= byte || 0x30...0x39 ~= byte
  }

  static let known: Set<String> = [
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
    while index < bytes.count, !bytes[index].isWhiteSpace, bytes[index] != 0x2F,
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
      if bytes[index].isWhiteSpace {
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
    while index < bytes.count, !bytes[index].isWhiteSpace,
      ![0x2F, 0x3E, 0x3D].contains(bytes[index])
    { index += 1 }
    var attribute = HTMLToken.Attribute(
      name: String(decoding: bytes[start..<index], as: UTF8.self).lowercased())
    var next = index
    while next < bytes.count, bytes[next].isWhiteSpace { next += 1 }
    guard next < bytes.count, bytes[next] == 0x3D else { return attribute }
    index = next + 1
    while index < bytes.count, bytes[index].isWhiteSpace { index += 1 }
    guard index < bytes.count else { return attribute }
    let quote = bytes[index]
    attribute.isQuoted = quote == 0x22 || quote == 0x27
    if attribute.isQuoted { index += 1 }
    let valueStart = index
    while index < bytes.count,
      attribute.isQuoted
        ? bytes[index] != quote : !bytes[index].isWhiteSpace && bytes[index] != 0x3E
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
