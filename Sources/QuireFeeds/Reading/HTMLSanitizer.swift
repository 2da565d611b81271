import QuirePagination

/// Rewrites HTML so that it runs no scripts, loads nothing invisibly and stays within its
/// container.
///
/// Only listed elements and attributes stay. Other tags and attributes are removed; scripts, styles
/// and frames are removed with their content. Open elements are closed in order. Links are made
/// absolute (except links within the page if its address is longer than 256 bytes) and kept only
/// for `http`, `https`, `mailto` and `tel`; pictures and media only for `http` and `https`. Every
/// link gets `rel="noopener noreferrer nofollow"`.
///
/// By default it allows those safe elements of the HTML Sanitizer API draft that are useful in
/// texts.
public struct HTMLSanitizer: Hashable, Sendable {
  /// The allowed elements, in lowercase.
  public var elements: Set<String> = [
    "a", "abbr", "address", "article", "aside", "audio", "b", "bdi", "bdo", "blockquote", "br",
    "caption", "cite", "code", "col", "colgroup", "dd", "del", "details", "dfn", "div", "dl", "dt",
    "em", "figcaption", "figure", "footer", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "i",
    "img", "ins", "kbd", "li", "mark", "ol", "p", "picture", "pre", "q", "rp", "rt", "ruby", "s",
    "samp", "section", "small", "source", "span", "strong", "sub", "summary", "sup", "table",
    "tbody", "td", "tfoot", "th", "thead", "time", "tr", "tt", "u", "ul", "var", "video", "wbr",
  ]
  /// The allowed attributes of any element, in lowercase.
  public var attributes: Set<String> = [
    "abbr", "alt", "cite", "colspan", "controls", "datetime", "dir", "headers", "height", "href",
    "lang", "media", "open", "poster", "reversed", "rowspan", "scope", "sizes", "span", "src",
    "srcset", "start", "title", "type", "value", "width",
  ]
  /// The maximum depth of nested elements; the tags of deeper ones are removed. Default 64.
  public var depth = 64

  /// Creates a sanitizer with the default lists.
  public init() {}

  /// Returns HTML rewritten, with `base` as the base of relative links. Links that would make the
  /// result several times as long are removed.
  public func sanitize(_ html: String, base: String? = nil) -> String {
    let scope = FeedScope(url: base)
    var html = html
    return html.withUTF8 { bytes in
      var output = ""
      var room = LinkRoom(for: bytes.count)
      var open: [String] = []
      var tokens = HTMLTokenizer(bytes)
      while let token = tokens.next() {
        switch token {
        case .text(let range):
          let text = String(decoding: HTMLText.resolved(bytes, range), as: UTF8.self)
          FeedMarkup.escape(text, to: &output)
        case .start(let name, let attributes, let isEmpty):
          guard elements.contains(name) else { continue }
          let isVoid = FeedMarkup.void.contains(name)
          guard isVoid || open.count < depth else { continue }
          write(name, attributes, scope, &room, to: &output)
          if isVoid { continue }
          if isEmpty { output += "</\(name)>" } else { open.append(name) }
        case .end(let name):
          guard let place = open.lastIndex(of: name) else { continue }
          while open.count > place { output += "</\(open.removeLast())>" }
        }
      }
      while let name = open.popLast() { output += "</\(name)>" }
      return output
    }
  }

  private func write(
    _ name: String, _ found: [HTMLToken.Attribute], _ scope: FeedScope, _ room: inout LinkRoom,
    to output: inout String
  ) {
    output += "<" + name
    for attribute in found where attributes.contains(attribute.name) {
      var value = attribute.value
      if HTMLLinks.attributes.contains(attribute.name) {
        guard let link = link(value, attribute.name, scope, &room) else { continue }
        value = link
      }
      output += " \(attribute.name)=\""
      FeedMarkup.escape(value, to: &output, inValue: true)
      output += "\""
    }
    if name == "a" { output += " rel=\"noopener noreferrer nofollow\"" }
    output += ">"
  }

  private func link(
    _ value: String, _ attribute: String, _ scope: FeedScope, _ room: inout LinkRoom
  ) -> String? {
    // A long base repeated for each footnote would use up the room for other links.
    if value.hasPrefix("#"), let base = scope.baseText, base.utf8.count > 256 {
      return FeedScope(url: nil).absolute(value)
    }
    return attribute == "srcset"
      ? Self.srcset(value) { room.link(for: $0) { safe($0, "src", scope) } }
      : room.link(for: value) { safe($0, attribute, scope) }
  }

  private func safe(_ value: String, _ attribute: String, _ scope: FeedScope) -> String? {
    guard let absolute = scope.absolute(value), let reference = try? URLReference(absolute) else {
      return nil
    }
    let schemes: Set<String> =
      attribute == "href" ? ["http", "https", "mailto", "tel"] : ["http", "https"]
    // Without a base the link stays relative, and has no scheme that could be unsafe.
    guard let scheme = reference.scheme?.lowercased() else { return absolute }
    return schemes.contains(scheme) ? absolute : nil
  }

  /// Returns the candidates of `srcset` with changed addresses; nil if none is left. An address
  /// ends at white space and may contain commas (HTML, section 4.8.4.2.2).
  fileprivate static func srcset(_ value: String, _ change: (String) -> String?) -> String? {
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

/// Limits how much absolute links may lengthen markup: a long base can apply to a million links.
struct LinkRoom {
  /// The number of bytes by which links may still grow.
  private var left: Int
  /// Whether a link was refused. From then on, links that need a base are refused without being
  /// resolved.
  private var isFull = false

  init(for bytes: Int) { left = 2_048 + 4 * bytes }

  /// Returns the link to write in place of `written`, and takes the room for it; nil if the link is
  /// invalid or there is no room.
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

  /// Returns the value of an attribute with absolute addresses; nil for other attributes, for
  /// invalid addresses, and if there is no room.
  static func absolute(
    _ value: String, of name: String, _ scope: FeedScope, _ room: inout LinkRoom
  ) -> String? {
    guard attributes.contains(name) else { return nil }
    return name == "srcset"
      ? HTMLSanitizer.srcset(value) { room.link(for: $0, scope.absolute) ?? $0 }
      : room.link(for: value, scope.absolute)
  }

  /// Returns HTML with absolute links, as far as there is room for them.
  static func absolute(_ html: String, base: String?) -> String {
    guard let base else { return html }
    let scope = FeedScope(url: base)
    var html = html
    return html.withUTF8 { bytes in
      var output: [UInt8] = []
      output.reserveCapacity(bytes.count + 256)
      var (copied, room) = (0, LinkRoom(for: bytes.count))
      var tokens = HTMLTokenizer(bytes)
      while let token = tokens.next() {
        guard case .start(_, let attributes, _) = token else { continue }
        for attribute in attributes where !attribute.range.isEmpty {
          guard let absolute = absolute(attribute.value, of: attribute.name, scope, &room),
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
}

extension FeedText {
  /// Returns the text with its HTML rewritten by `sanitizer`; a plain text stays the same.
  public func sanitized(by sanitizer: HTMLSanitizer = HTMLSanitizer()) -> FeedText {
    guard isMarkup else { return self }
    var text = self
    text.value = sanitizer.sanitize(value, base: base)
    text.kind = .html
    return text
  }

  /// Returns the text with relative links in its HTML made absolute, and nothing else changed.
  public func withAbsoluteLinks() -> FeedText {
    guard isMarkup else { return self }
    var text = self
    text.value = HTMLLinks.absolute(value, base: base)
    return text
  }

  func rewritten(_ html: FeedOptions.HTML, _ sanitizer: HTMLSanitizer) -> FeedText {
    switch html {
    case .asWritten: self
    case .absoluteLinks: withAbsoluteLinks()
    case .sanitized: sanitized(by: sanitizer)
    }
  }
}

extension FeedEntry {
  mutating func rewrite(_ html: FeedOptions.HTML, _ sanitizer: HTMLSanitizer) {
    title = title.map { $0.rewritten(html, sanitizer) }
    summary = summary.map { $0.rewritten(html, sanitizer) }
    content = content.map { $0.rewritten(html, sanitizer) }
    rights = rights.map { $0.rewritten(html, sanitizer) }
  }
}
