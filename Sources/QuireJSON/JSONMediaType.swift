import QuireCore
import QuirePagination

/// A check that tells a page of JSON from the page of a captive portal, a login form or a proxy.
///
/// Content types are wrong both ways: JSON is sent as text/html, and HTML as application/json. The
/// first byte is reliable.
enum JSONMediaType {
  /// Throws `unexpectedMediaType`, with the page's start, if the page is not meant to be JSON.
  static func check(_ page: [UInt8], contentType: String?) throws {
    // Nearly every page of JSON begins so, and is accepted with any content type.
    if let first = page.first, first == UInt8(ascii: "{") || first == UInt8(ascii: "[") { return }
    let text = page.starts(with: [0xEF, 0xBB, 0xBF]) ? page[3...] : page[...]
    guard let first = text.first(where: { !$0.isWhiteSpace }) else { return }
    guard first == UInt8(ascii: "<") || !isPlausible(first, for: contentType) else { return }
    if isXML(text, contentType: contentType) {
      throw PageError(
        .unexpectedMediaType, "The page is XML, not JSON.", remedies: [Remedy(.decoder, ["XML"])])
    }
    let kind = first == UInt8(ascii: "<") ? "HTML or XML" : "something else"
    let declared = contentType.map { "declared as \"\(quote($0.utf8, 128))\"" }
    throw PageError(
      .unexpectedMediaType,
      """
      The page is \(kind), not JSON, \(declared ?? "without a Content-Type"): a login page, a proxy \
      or another address answered. It starts with "\(quote(text, 256))".
      """,
      remedies: [remedy(for: text, contentType: contentType)].compactMap(\.self))
  }

  /// Returns the decoder that may fit the page; nil for HTML, and for other things.
  private static func remedy(for text: ArraySlice<UInt8>, contentType: String?) -> Remedy? {
    if isTable(text) { return Remedy(.decoder, ["CSV"], condition: "if it is a table") }
    let isMarkup = text.first { !$0.isWhiteSpace } == UInt8(ascii: "<")
    guard isMarkup, !MediaType.startsAsHTML(text), !MediaType(contentType).isHTML else {
      return nil
    }
    return Remedy(.decoder, ["XML"], condition: "if it is XML")
  }

  /// Whether the first two lines have the same number of commas, at least one, as in a table.
  private static func isTable(_ text: ArraySlice<UInt8>) -> Bool {
    let lines = text.prefix(4096).split(separator: UInt8(ascii: "\n"), maxSplits: 2)
    guard lines.count > 1, lines[0].first != UInt8(ascii: "<") else { return false }
    let commas = lines.prefix(2).map { $0.count { $0 == UInt8(ascii: ",") } }
    return commas[0] > 0 && commas[0] == commas[1]
  }

  /// Whether the page is XML, by its declaration or its content type, and not HTML.
  private static func isXML(_ text: ArraySlice<UInt8>, contentType: String?) -> Bool {
    guard !MediaType.startsAsHTML(text) else { return false }
    let start = text.drop(while: \.isWhiteSpace)
    return start.starts(with: "<?xml ".utf8)
      || start.first == UInt8(ascii: "<") && MediaType(contentType).format == .xml
  }

  private static func isPlausible(_ first: UInt8, for contentType: String?) -> Bool {
    let type = MediaType(contentType)
    if type.format == .json { return true }
    switch type.name {
    case "", "text/plain", "application/octet-stream", "application/javascript",
      "text/javascript", "application/x-javascript":
      // A value, a guard, or another encoding, for which `JSONDocument` has a better message.
      return "{[\"-0123456789tfnw)\u{0}".utf8.contains(first) || first >= 0x80
    default: return "{[)".utf8.contains(first)
    }
  }

  /// Returns the first bytes of a text. "…" marks a cut, so that redaction recognises half a secret
  /// there.
  private static func quote(_ bytes: some Collection<UInt8>, _ count: Int) -> String {
    String(decoding: bytes.prefix(count), as: UTF8.self).unicodeScalars
      .map { $0.escaped(asASCII: true) }.joined() + (bytes.count > count ? "…" : "")
  }
}

/// The bytes that may precede the JSON of a page.
enum JSONPrologue {
  /// Returns the number of bytes to skip: a UTF-8 byte order mark, white space, and one guard
  /// against cross-site script inclusion.
  ///
  /// Throws `malformed` for UTF-16 and UTF-32.
  static func length(of bytes: ArraySlice<UInt8>) throws -> Int {
    try refuseWideEncodings(bytes.prefix(4))
    var start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    start += bytes[start...].prefix { $0.isWhiteSpace }.count
    for (prefix, needsLine) in guards where bytes[start...].starts(with: prefix.utf8) {
      guard needsLine else { return start + prefix.utf8.count }
      let rest = bytes[(start + prefix.utf8.count)...]
      let lineEnd = rest.prefix(2).firstIndex(of: UInt8(ascii: "\n"))
      if let lineEnd, rest[..<lineEnd].allSatisfy({ $0 == UInt8(ascii: "\r") }) {
        return lineEnd + 1
      }
    }
    return start
  }

  /// The guards in use: Gerrit and Angular's server side, Google, Facebook; and whether a line end
  /// must follow.
  private static let guards: [(prefix: String, needsLine: Bool)] = [
    (")]}'", true), (")]}',", true), ("while(1);", false), ("for(;;);", false),
    ("for (;;);", false),
  ]

  /// Throws `malformed` for UTF-16 and UTF-32. JSON starts with an ASCII character, so one of the
  /// first two bytes is 0 only in these.
  private static func refuseWideEncodings(_ head: ArraySlice<UInt8>) throws {
    guard head.count >= 2 else { return }
    let (first, second) = (head[0], head[1])
    let isMarked = first == 0xFF && second == 0xFE || first == 0xFE && second == 0xFF
    guard isMarked || (first == 0) != (second == 0) || first == 0 && head.count == 4 else { return }
    throw PageError(
      .malformed,
      """
      The page is encoded in UTF-16 or UTF-32; JSON between systems must be UTF-8 \
      (RFC 8259, section 8.1). Ask the server for UTF-8.
      """)
  }
}
