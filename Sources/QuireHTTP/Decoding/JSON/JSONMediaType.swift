import QuireCore

/// Tells a page of JSON from the page of a captive portal, a login form or a proxy.
///
/// Content types lie both ways: JSON comes as text/html, and HTML as application/json. The first
/// byte does not.
enum JSONMediaType {
  /// Throws `unexpectedMediaType`, quoting the page's start, when the page is not meant to be JSON.
  static func check(_ page: [UInt8], contentType: String?) throws {
    let text = page.starts(with: [0xEF, 0xBB, 0xBF]) ? page[3...] : page[...]
    guard let first = text.first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) else { return }
    guard first == UInt8(ascii: "<") || !isPlausible(first, for: contentType) else { return }
    if isXML(text, contentType: contentType) {
      throw PageError(.unexpectedMediaType, "The page is XML, not JSON; decode it as XML.")
    }
    let kind = first == UInt8(ascii: "<") ? "HTML or XML" : "something else"
    let declared = contentType.map { "declared as \"\(quote($0.utf8, 128))\"" }
    throw PageError(
      .unexpectedMediaType,
      """
      The page is \(kind), not JSON, \(declared ?? "without a Content-Type"): a login page, a proxy \
      or another address answered. It starts with "\(quote(text, 256))".
      """)
  }

  /// Whether the page is XML by its own word or by its type, and no page of HTML.
  private static func isXML(_ text: ArraySlice<UInt8>, contentType: String?) -> Bool {
    let start = String(decoding: text.prefix(1024), as: UTF8.self).lowercased()
    guard !start.contains("<html"), !start.contains("<!doctype html") else { return false }
    let trimmed = start.drop { $0.isWhitespace }
    let type = (contentType ?? "").lowercased().prefix { $0 != ";" }.filter { $0 != " " }
    return trimmed.hasPrefix("<?xml ")
      || trimmed.hasPrefix("<") && (type.hasSuffix("/xml") || type.hasSuffix("+xml"))
  }

  private static func isPlausible(_ first: UInt8, for contentType: String?) -> Bool {
    let type = (contentType ?? "").lowercased().prefix { $0 != ";" }.filter { $0 != " " }
    if type.hasSuffix("/json") || type.hasSuffix("+json") { return true }
    switch type {
    case "", "text/plain", "application/octet-stream", "application/javascript",
      "text/javascript", "application/x-javascript":
      // A value, a guard, or an encoding that the document itself refuses in better words.
      return "{[\"-0123456789tfnw)\u{0}".utf8.contains(first) || first >= 0x80
    default: return "{[)".utf8.contains(first)
    }
  }

  /// The first bytes of a text; "…" tells where it was cut, so that half a secret is known for one.
  private static func quote(_ bytes: some Collection<UInt8>, _ count: Int) -> String {
    String(decoding: bytes.prefix(count), as: UTF8.self).unicodeScalars
      .map { $0.escaped(asASCII: true) }.joined() + (bytes.count > count ? "…" : "")
  }
}
