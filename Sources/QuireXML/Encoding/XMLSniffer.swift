import QuireCore
import QuirePagination

/// A reader of a page's first bytes, which determines its encoding and its format.
///
/// Source: XML 1.0, appendix F; RFC 7303, section 3.
enum XMLSniffer {
  struct Finding {
    var encoding: TextEncoding
    /// The encoding as the page or HTTP writes it.
    var label: String
    /// The number of bytes of the byte order mark; 0 if there is none.
    var markLength: Int
    /// The encoding that the page itself declares, where HTTP says that it is UTF-8 or US-ASCII:
    /// servers say so of all their pages.
    var alternative: TextEncoding?
  }

  /// The most bytes of white space before a declaration, and of the declaration.
  private static let longest = 1 << 10
  /// The number of bytes after white space that suffice to recognise HTML.
  private static let longestDoctype = 24
  private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// Whether more bytes could change the result.
  static func needsMore(_ head: [UInt8]) -> Bool {
    if head.count < 4 { return true }
    let text = text(of: head)
    if text.isEmpty { return head.count < longest }
    guard text.count < longest else { return false }
    let start = Array("<?xml".utf8)
    guard text.prefix(5).elementsEqual(start.prefix(text.count)) else {
      return text.first == UInt8(ascii: "<") && text.count < longestDoctype
    }
    return !text.contains(UInt8(ascii: ">"))
  }

  /// Returns the text after a byte order mark and white space, at most `longest` bytes, however
  /// many have arrived: the ends of slices must make no difference.
  private static func text(of head: [UInt8]) -> ArraySlice<UInt8> {
    let start = head.starts(with: mark) ? mark.count : 0
    let space = head[start...].prefix(longest - start).prefix(while: \.isWhiteSpace)
    return space.endIndex == longest ? [] : head[space.endIndex...].prefix(longest)
  }

  /// Returns the encoding of a page that starts with `head`; `charset` is the encoding by HTTP.
  static func encoding(of head: [UInt8], charset: String?) throws(XMLFault.Reason) -> Finding {
    if let marked = try byMark(head) { return marked }
    let shape = try byShape(head)
    if shape == nil { try refuseOtherFormats(head) }
    let declared = declaredEncoding(head)
    if let charset, !charset.isEmpty {
      let encoding = try named(charset)
      // "utf-16" without a mark: the bytes show the order, and big-endian is the standard's
      // default.
      let isWide = encoding == .utf16BigEndian || encoding == .utf16LittleEndian
      // Every other character of markup has a zero in UTF-16.
      if isWide, head.count >= 4, !head.prefix(4).contains(0) {
        throw .encoding("the server calls it \(ServerText(charset)), and its bytes are not")
      }
      let isDoubtful = encoding == .utf8 || encoding == .ascii
      return Finding(
        encoding: isWide ? shape ?? encoding : encoding, label: charset, markLength: 0,
        alternative: isDoubtful ? declared.flatMap { TextEncoding(label: $0) } : nil)
    }
    if let shape { return Finding(encoding: shape, label: "UTF-16", markLength: 0) }
    guard let declared else { return Finding(encoding: .utf8, label: "UTF-8", markLength: 0) }
    let encoding = try named(declared)
    // The declaration is not in UTF-16 itself: its writer meant the encoding of strings in memory.
    let isWide = encoding == .utf16BigEndian || encoding == .utf16LittleEndian
    return Finding(encoding: isWide ? .utf8 : encoding, label: declared, markLength: 0)
  }

  private static func byMark(_ head: [UInt8]) throws(XMLFault.Reason) -> Finding? {
    if head.starts(with: mark) {
      return Finding(encoding: .utf8, label: "UTF-8", markLength: mark.count)
    }
    if head.starts(with: [0xFF, 0xFE, 0, 0]) || head.starts(with: [0, 0, 0xFE, 0xFF]) {
      throw unsupported("UTF-32")
    }
    if head.starts(with: [0xFF, 0xFE]) {
      return Finding(encoding: .utf16LittleEndian, label: "UTF-16", markLength: 2)
    }
    if head.starts(with: [0xFE, 0xFF]) {
      return Finding(encoding: .utf16BigEndian, label: "UTF-16", markLength: 2)
    }
    return nil
  }

  /// Returns the encoding of UTF-16 without a mark, by the `<` that every page starts with.
  private static func byShape(_ head: [UInt8]) throws(XMLFault.Reason) -> TextEncoding? {
    guard head.count >= 4 else { return nil }
    switch (head[0], head[1], head[2], head[3]) {
    case (0, 0, 0, 0x3C), (0x3C, 0, 0, 0): throw unsupported("UTF-32")
    case (0x4C, 0x6F, 0xA7, 0x94): throw unsupported("EBCDIC")
    case (0, 0x3C, 0, _): return .utf16BigEndian
    case (0x3C, 0, _, 0): return .utf16LittleEndian
    default: return nil
    }
  }

  /// Returns the encoding in an XML declaration written in ASCII, nil if there is none.
  private static func declaredEncoding(_ head: [UInt8]) -> String? {
    let text = text(of: head)
    guard text.starts(with: "<?xml".utf8), let end = text.firstIndex(of: UInt8(ascii: ">")) else {
      return nil
    }
    let declaration = text[..<end]
    let key = Array("encoding".utf8)
    guard
      let place = declaration.indices.first(where: { declaration[$0...].starts(with: key) })
    else { return nil }
    let value = declaration[(place + key.count)...].drop { $0.isWhiteSpace || $0 == 0x3D }
    guard let quote = value.first, quote == 0x22 || quote == 0x27 else { return nil }
    return String(decoding: value.dropFirst().prefix { $0 != quote }, as: UTF8.self)
  }

  private static func refuseOtherFormats(_ head: [UInt8]) throws(XMLFault.Reason) {
    let text = text(of: head).prefix(longestDoctype)
    let start = String(decoding: text.prefix(9), as: UTF8.self).lowercased()
    let isDoctype = start.hasPrefix("<!doctype")
    let name = isDoctype ? text.dropFirst(9).drop(while: \.isWhiteSpace) : text.dropFirst()
    if text.first == UInt8(ascii: "<"), isHTML(name) {
      throw .otherFormat(.html)
    }
    if start.hasPrefix("{") || start.hasPrefix("[") {
      throw .otherFormat(.json)
    }
  }

  /// Whether the text starts with the name `html`, or with a longer name of which only that is
  /// here.
  private static func isHTML(_ text: ArraySlice<UInt8>) -> Bool {
    let name = text.prefix { !$0.isWhiteSpace && $0 != 0x2F && $0 != 0x3E && $0 != 0x5B }
    return String(decoding: name, as: UTF8.self).lowercased() == "html"
  }

  private static func named(_ label: String) throws(XMLFault.Reason) -> TextEncoding {
    guard let encoding = TextEncoding(label: label) else {
      throw unsupported(String(label.prefix(64)))
    }
    return encoding
  }

  private static func unsupported(_ name: String) -> XMLFault.Reason {
    .encoding("the encoding \(ServerText(name)) is not supported; ask for UTF-8")
  }
}
