import QuireHTTP
import QuirePagination
import QuireXML

/// The scope of an element: the base of relative addresses and the language.
struct FeedScope {
  /// `xml:base`, else the feed's address without its query, which only a link to the feed itself
  /// would need, and which may have a secret; nil if neither is known.
  private var base: URLReference?
  /// The text of `base` without named secrets.
  private(set) var baseText: String?
  private let redactor: Redactor?
  /// Whether an `xml:base` set the base, rather than the feed's address.
  private(set) var hasOwnBase = false
  var language: String?

  static let xml = "http://www.w3.org/XML/1998/namespace"

  init(url: String?, hiding redactor: Redactor? = nil) {
    self.redactor = redactor
    base = url.flatMap { try? URLReference($0) }
    base?.query = nil
    baseText = shown(base)
  }

  private func shown(_ base: URLReference?) -> String? {
    base.map { redactor?.scrub($0.text) ?? $0.text }
  }

  /// Returns the scope within an element, which may have `xml:base` and `xml:lang`.
  func within(_ node: XMLTreeNode) -> FeedScope {
    var scope = self
    for (name, value) in node.attributes(in: Self.xml) {
      // Addresses relative to a script would be scripts too.
      if name == "base", let inner = Self.reference(value), !Self.isUnsafe(inner) {
        scope.base = base.map { inner.resolved(against: $0) } ?? inner
        scope.baseText = shown(scope.base)
        scope.hasOwnBase = true
      }
      if name == "lang" { scope.language = value.isEmpty ? nil : value }
    }
    return scope
  }

  /// Returns the absolute address; nil if it is invalid or must not be followed.
  ///
  /// Addresses that violate RFC 3986 are repaired as browsers do (URL Standard, section 4.4). White
  /// space and control characters are removed at both ends, tabs and line breaks everywhere. A
  /// backslash before the query of a web address becomes a slash. Other forbidden characters are
  /// percent-encoded.
  func absolute(_ text: String) -> String? {
    if Self.isPlainlyAbsolute(text) { return text }
    guard let reference = Self.reference(text) else { return nil }
    if reference.scheme != nil {
      let isImage =
        reference.scheme?.lowercased() == "data" && reference.path.lowercased().hasPrefix("image/")
      return Self.isUnsafe(reference) && !isImage ? nil : reference.text
    }
    guard let base, base.scheme != nil else { return reference.text }
    return reference.resolved(against: base).text
  }

  /// Returns the address that a `feed:` address means: `http://a.test/` for `feed://a.test/`, and
  /// `https://a.test/` for `feed:https://a.test/`. Returns any other address unchanged.
  static func withoutFeedScheme(_ address: String) -> String {
    let text = address.trimmingBlanks
    guard text.prefix(5).lowercased() == "feed:" else { return address }
    let inner = String(text.dropFirst(5))
    // Some pages write `feed://https://a.test/`.
    for start in [inner, String(inner.dropFirst(2))] {
      let scheme = start.prefix { $0 != ":" }.lowercased()
      let rest = start.dropFirst(scheme.count)
      if ["http", "https"].contains(scheme), rest.hasPrefix("://") { return scheme + rest }
    }
    return inner.hasPrefix("//") ? "http:" + inner : address
  }

  /// Whether a browser would run or show the contents of the address itself: `javascript:`,
  /// `vbscript:`, `data:`.
  private static func isUnsafe(_ reference: URLReference) -> Bool {
    ["javascript", "vbscript", "data"].contains(reference.scheme?.lowercased())
  }

  /// Whether an address is absolute and valid already, as most are.
  private static func isPlainlyAbsolute(_ text: String) -> Bool {
    var text = text
    return text.withUTF8 { bytes in
      guard bytes.count <= 2_048,
        bytes.starts(with: "https://".utf8) || bytes.starts(with: "http://".utf8)
      else { return false }
      return bytes.allSatisfy {
        $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\\") && $0 != UInt8(ascii: "<")
          && $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "\"")
      }
    }
  }

  /// Parses an address, repairing it if necessary. Returns nil for an empty or invalid one.
  private static func reference(_ text: String) -> URLReference? {
    // `URLReference` accepts these characters, but they could end an attribute into which a program
    // writes the address without escaping it.
    let hasQuotes = text.utf8.contains { $0 == 0x22 || $0 == 0x3C || $0 == 0x3E }
    if !hasQuotes, let reference = try? URLReference(text) {
      return reference.text.isEmpty ? nil : reference
    }
    let repaired = repaired(text)
    return repaired.isEmpty ? nil : try? URLReference(repaired)
  }

  /// Returns an address repaired as `absolute(_:)` describes.
  private static func repaired(_ text: String) -> String {
    let written = trimmed(text.utf8.filter { $0 != 0x09 && $0 != 0x0A && $0 != 0x0D })
    let isWebAddress = isWebAddress(written)
    var bytes: [UInt8] = []
    var isInPath = true
    for byte in written {
      if byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") { isInPath = false }
      switch byte {
      case UInt8(ascii: "\\") where isInPath && isWebAddress: bytes.append(UInt8(ascii: "/"))
      case 0...0x20, 0x7F, UInt8(ascii: "\\"), UInt8(ascii: "<"), UInt8(ascii: ">"),
        UInt8(ascii: "\""):
        let digits = String(byte, radix: 16, uppercase: true)
        bytes += Array("%".utf8) + Array((digits.count == 1 ? "0" + digits : digits).utf8)
      default: bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Returns the bytes without spaces and control characters at both ends.
  private static func trimmed(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
    guard let last = bytes.lastIndex(where: { $0 > 0x20 }) else { return [] }
    return bytes[...last].drop { $0 <= 0x20 }
  }

  /// Whether an address has no scheme, or one in which browsers read a backslash as a slash.
  private static func isWebAddress(_ address: ArraySlice<UInt8>) -> Bool {
    let start = address.prefix { !"/\\?#".utf8.contains($0) }
    guard let colon = start.firstIndex(of: UInt8(ascii: ":")) else { return true }
    let scheme = String(decoding: start[..<colon], as: UTF8.self).lowercased()
    return ["http", "https", "ftp", "ws", "wss", "file"].contains(scheme)
  }
}
