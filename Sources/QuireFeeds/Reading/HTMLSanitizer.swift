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
/// The list is the part of the HTML Sanitizer API draft's safe elements that is useful in texts.
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
  /// The most nested elements; deeper ones are removed. Default 64.
  public var depth = 64

  /// Creates a sanitizer with the default lists.
  public init() {}

  /// Rewrites HTML; `base` is the base of relative links. Links that would make the result several
  /// times as long are removed.
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
    _ name: String, _ found: [(name: String, value: String)], _ scope: FeedScope,
    _ room: inout LinkRoom, to output: inout String
  ) {
    output += "<" + name
    for (attribute, value) in found where attributes.contains(attribute) {
      var value = value
      if HTMLLinks.attributes.contains(attribute) {
        guard let link = link(value, attribute, scope), room.takes(link, for: value) else {
          continue
        }
        value = link
      }
      output += " \(attribute)=\""
      FeedMarkup.escape(value, to: &output, inValue: true)
      output += "\""
    }
    if name == "a" { output += " rel=\"noopener noreferrer nofollow\"" }
    output += ">"
  }

  private func link(_ value: String, _ attribute: String, _ scope: FeedScope) -> String? {
    if attribute == "srcset" { return Self.srcset(value) { safe($0, "src", scope) } }
    return safe(value, attribute, scope)
  }

  private func safe(_ value: String, _ attribute: String, _ scope: FeedScope) -> String? {
    guard let absolute = scope.absolute(value), let reference = try? URLReference(absolute) else {
      return nil
    }
    let schemes: Set<String> =
      attribute == "href" ? ["http", "https", "mailto", "tel"] : ["http", "https"]
    // Without a base the link stays relative, and cannot lead to another site.
    guard let scheme = reference.scheme?.lowercased() else { return absolute }
    guard schemes.contains(scheme) else { return nil }
    guard value.hasPrefix("#") else { return absolute }
    // A long base repeated for each footnote would use up the room for other links.
    let fragment = absolute.drop { $0 != "#" }
    return absolute.utf8.count - fragment.utf8.count > 256 ? String(fragment) : absolute
  }

  /// The candidates of `srcset` with changed addresses; nil if none is left. An address ends at
  /// white space and may contain commas (HTML, section 4.8.4.2.2).
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
  private var left: Int

  init(for bytes: Int) { left = 2_048 + 4 * bytes }

  /// Whether there is room to replace a link; if so, takes the room.
  mutating func takes(_ link: String, for written: String) -> Bool {
    let growth = link.utf8.count - written.utf8.count
    guard growth <= left else { return false }
    left -= max(0, growth)
    return true
  }
}

/// Makes links in HTML absolute, and changes nothing else.
enum HTMLLinks {
  /// The attributes with addresses as values, in lowercase; `srcset` has several.
  static let attributes: Set<String> = [
    "action", "background", "cite", "data", "formaction", "href", "longdesc", "poster", "src",
    "srcset", "xlink:href",
  ]

  /// The value of an attribute with absolute addresses; nil for other attributes and invalid
  /// addresses.
  static func absolute(_ value: String, of name: String, _ scope: FeedScope) -> String? {
    guard attributes.contains(name) else { return nil }
    return name == "srcset"
      ? HTMLSanitizer.srcset(value) { scope.absolute($0) ?? $0 } : scope.absolute(value)
  }

  static func absolute(_ html: String, base: String?) -> String {
    guard let base else { return html }
    let scope = FeedScope(url: base)
    let input = Array(html.utf8)
    var output: [UInt8] = []
    output.reserveCapacity(input.count + 256)
    var copied = 0
    var room = LinkRoom(for: input.count)
    for found in values(in: input) {
      let value = String(decoding: input[found.range], as: UTF8.self)
      let resolved = value.utf8.contains(0x26) ? HTMLText.resolved(value: value) : value
      guard let absolute = Self.absolute(resolved, of: found.name, scope), absolute != resolved,
        room.takes(absolute, for: resolved)
      else { continue }
      var escaped = ""
      FeedMarkup.escape(absolute, to: &escaped, inValue: true)
      output += input[copied..<found.range.lowerBound]
      output += found.isQuoted ? Array(escaped.utf8) : Array("\"\(escaped)\"".utf8)
      copied = found.range.upperBound
    }
    output += input[copied...]
    return String(decoding: output, as: UTF8.self)
  }

  private struct Value {
    var name: String
    var range: Range<Int>
    var isQuoted: Bool
  }

  /// The ranges of the values of link attributes.
  private static func values(in input: [UInt8]) -> [Value] {
    var found: [Value] = []
    var index = 0
    while index + 1 < input.count {
      guard input[index] == 0x3C, 0x41...0x5A ~= input[index + 1] & 0xDF else {
        index += 1
        continue
      }
      index += 1
      while index < input.count, input[index] != 0x3E {
        guard XMLSpace.isSpace(input[index]) else {
          index += 1
          continue
        }
        while index < input.count, XMLSpace.isSpace(input[index]) { index += 1 }
        if let value = value(in: input, &index) { found.append(value) }
      }
    }
    return found
  }

  /// The value of the attribute at `index` if it is a link. Moves `index` behind the attribute.
  private static func value(in input: [UInt8], _ index: inout Int) -> Value? {
    let start = index
    while index < input.count, !XMLSpace.isSpace(input[index]),
      ![0x2F, 0x3E, 0x3D].contains(input[index])
    {
      index += 1
    }
    let name = String(decoding: input[start..<index], as: UTF8.self).lowercased()
    var next = index
    while next < input.count, XMLSpace.isSpace(input[next]) { next += 1 }
    guard next < input.count, input[next] == 0x3D else { return nil }
    index = next + 1
    while index < input.count, XMLSpace.isSpace(input[index]) { index += 1 }
    guard index < input.count else { return nil }
    let quote = input[index]
    let isQuoted = quote == 0x22 || quote == 0x27
    if isQuoted { index += 1 }
    let valueStart = index
    while index < input.count,
      isQuoted ? input[index] != quote : !XMLSpace.isSpace(input[index]) && input[index] != 0x3E
    { index += 1 }
    let range = valueStart..<index
    if isQuoted, index < input.count { index += 1 }
    guard attributes.contains(name), !range.isEmpty else { return nil }
    return Value(name: name, range: range, isQuoted: isQuoted)
  }
}

extension FeedText {
  /// The text with its HTML rewritten by `sanitizer`; a plain text stays the same.
  public func sanitized(by sanitizer: HTMLSanitizer = HTMLSanitizer()) -> FeedText {
    guard isMarkup else { return self }
    var text = self
    text.value = sanitizer.sanitize(value, base: base)
    text.kind = .html
    return text
  }

  /// The text with relative links in its HTML made absolute, and nothing else changed.
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
