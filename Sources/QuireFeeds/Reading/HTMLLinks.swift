/// Limits how much absolute links may lengthen markup: a long base can apply to a million links.
struct LinkGrowthLimit {
  /// The number of bytes by which links may still grow.
  private var left: Int
  /// Whether a link was refused. From then on, links that need a base are refused without being
  /// resolved.
  private var isFull = false

  init(for bytes: Int) { left = 2_048 + 4 * bytes }

  /// Returns the link to write in place of `written`, and counts its growth; nil if the link is
  /// invalid or grows too much.
  mutating func link(for written: String, _ resolved: (String) -> String?) -> String? {
    guard !isFull || Self.hasScheme(written), let link = resolved(written) else { return nil }
    let growth = Self.escapedCount(link) - Self.escapedCount(written)
    isFull = isFull || growth > left
    guard growth <= left else { return nil }
    left -= max(0, growth)
    return link
  }

  /// Whether a link needs no base.
  private static func hasScheme(_ link: String) -> Bool {
    ["http:", "https:", "mailto:", "tel:"].contains { link.hasPrefix($0) }
  }

  /// Returns the number of bytes of a link in an attribute, where `&` is escaped.
  private static func escapedCount(_ link: String) -> Int {
    link.utf8.reduce(0) { $0 + ($1 == 0x26 ? 5 : 1) }
  }
}

/// Makes links in HTML absolute, and changes nothing else.
enum HTMLLinks {
  /// The attributes with addresses as values, in lowercase; `srcset` has several.
  static let attributes: Set<String> = [
    "action", "background", "cite", "data", "formaction", "href", "longdesc", "poster", "src",
    "srcset", "xlink:href",
  ]

  /// Returns the value of an attribute with absolute addresses; nil for other attributes, and for
  /// addresses that are invalid or grow too much.
  static func absolute(
    _ value: String, of name: String, _ scope: FeedScope, _ growthLimit: inout LinkGrowthLimit
  ) -> String? {
    guard attributes.contains(name) else { return nil }
    return name == "srcset"
      ? srcset(value) { growthLimit.link(for: $0, scope.absolute) ?? $0 }
      : growthLimit.link(for: value, scope.absolute)
  }

  /// Returns HTML with absolute links, as far as the limit on their growth allows. Links to a place
  /// in the text itself stay.
  static func absolute(_ html: String, base: String?) -> String {
    guard let base else { return html }
    let scope = FeedScope(url: base)
    var html = html
    return html.withUTF8 { bytes in
      var output: [UInt8] = []
      output.reserveCapacity(bytes.count + 256)
      var (copied, growthLimit) = (0, LinkGrowthLimit(for: bytes.count))
      var tokens = HTMLTokenizer(bytes)
      while let token = tokens.next() {
        guard case .start(_, let attributes, _) = token else { continue }
        for attribute in attributes
        where !attribute.range.isEmpty && !attribute.value.hasPrefix("#") {
          guard let absolute = absolute(attribute.value, of: attribute.name, scope, &growthLimit),
            absolute != attribute.value
          else { continue }
          var escaped = ""
          FeedMarkup.escape(absolute, to: &escaped, inValue: true)
          output += bytes[copied..<attribute.range.lowerBound]
          // Quotes are escaped again, because the value may have contained the surrounding one as a
          // character reference.
          let value =
            attribute.isQuoted ? escaped.replacing("'", with: "&#39;") : "\"\(escaped)\""
          output += value.utf8
          copied = attribute.range.upperBound
        }
      }
      output += bytes[copied...]
      return String(decoding: output, as: UTF8.self)
    }
  }

  /// Returns the candidates of `srcset` with changed addresses; nil if none is left. An address
  /// ends at white space and may contain commas (HTML, section 4.8.4.2.2).
  static func srcset(_ value: String, _ change: (String) -> String?) -> String? {
    var candidates: [String] = []
    var rest = value.prefix(16_384)
    while true {
      rest = rest.drop { $0.isWhitespace || $0 == "," }
      var url = rest.prefix { !$0.isWhitespace }
      if url.isEmpty { return candidates.isEmpty ? nil : candidates.joined(separator: ", ") }
      rest = rest[url.endIndex...]
      var descriptor: Substring?
      if url.hasSuffix(",") {
        while url.hasSuffix(",") { url.removeLast() }
      } else {
        let words = rest.prefix { $0 != "," }
        rest = rest[words.endIndex...]
        descriptor = words.split(whereSeparator: \.isWhitespace).first
      }
      guard let changed = change(String(url)) else { continue }
      candidates.append(descriptor.map { "\(changed) \($0)" } ?? changed)
    }
  }
}
