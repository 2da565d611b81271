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
      var growthLimit = LinkGrowthLimit(for: bytes.count)
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
          write(name, attributes, scope, &growthLimit, to: &output)
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
    _ name: String, _ found: [HTMLToken.Attribute], _ scope: FeedScope,
    _ growthLimit: inout LinkGrowthLimit, to output: inout String
  ) {
    output += "<" + name
    for attribute in found where attributes.contains(attribute.name) {
      var value = attribute.value
      if HTMLLinks.attributes.contains(attribute.name) {
        guard let link = link(value, attribute.name, scope, &growthLimit) else { continue }
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
    _ value: String, _ attribute: String, _ scope: FeedScope, _ growthLimit: inout LinkGrowthLimit
  ) -> String? {
    // A footnote is in the text itself.
    if value.hasPrefix("#") { return FeedScope(url: nil).absolute(value) }
    return attribute == "srcset"
      ? HTMLLinks.srcset(value) { growthLimit.link(for: $0) { safe($0, "src", scope) } }
      : growthLimit.link(for: value) { safe($0, attribute, scope) }
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

  /// Returns the text with relative links in its HTML made absolute, except those to a place in the
  /// text itself, such as `#note`, and nothing else changed.
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

extension Feed {
  mutating func rewrite(_ html: FeedOptions.HTML, _ sanitizer: HTMLSanitizer) {
    title = title.map { $0.rewritten(html, sanitizer) }
    subtitle = subtitle.map { $0.rewritten(html, sanitizer) }
    rights = rights.map { $0.rewritten(html, sanitizer) }
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
