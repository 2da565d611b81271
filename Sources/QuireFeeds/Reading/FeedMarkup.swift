import QuireXML

/// Serializes elements as HTML: XHTML in Atom, and markup that a publisher forgot to escape.
///
/// XML's own attributes are replaced: `xml:lang` becomes `lang`, and inside an `xml:base` addresses
/// become absolute.
struct FeedMarkup {
  private var output = ""
  private var growthLimit: LinkGrowthLimit

  /// Returns the content of an element as HTML; `scope` is that of the element.
  static func inner(_ node: XMLTreeNode, _ scope: FeedScope) -> String {
    var markup = FeedMarkup(growthLimit: LinkGrowthLimit(for: node.byteCount))
    for part in node.content { markup.write(part, scope, hasOwnBase: false) }
    return markup.output
  }

  /// The void elements, which have no end tag (HTML, §13.1.2).
  static let void: Set<String> = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track",
    "wbr",
  ]

  private mutating func write(
    _ part: XMLTreeNode.Content, _ scope: FeedScope, hasOwnBase: Bool
  ) {
    switch part {
    case .text(let text): Self.escape(text, to: &output)
    case .element(let node):
      let name = node.localName
      let special = node.attributes(in: FeedScope.xml)
      let hasOwnBase = hasOwnBase || special.contains { $0.name == "base" }
      let inner = special.isEmpty ? scope : scope.within(node)
      output += "<" + name
      for (name, value) in attributes(of: node, special) {
        var value = value
        if hasOwnBase {
          value = HTMLLinks.absolute(value, of: name.lowercased(), inner, &growthLimit) ?? value
        }
        output += " \(name)=\""
        Self.escape(value, to: &output, inValue: true)
        output += "\""
      }
      output += ">"
      guard !Self.void.contains(name.lowercased()) else { return }
      for part in node.content { write(part, inner, hasOwnBase: hasOwnBase) }
      output += "</" + name + ">"
    }
  }

  /// Returns the attributes of an element without XML's own ones, and with `xml:lang` as `lang`.
  private func attributes(
    of node: XMLTreeNode, _ special: [(name: String, value: String)]
  ) -> [(name: String, value: String)] {
    guard !special.isEmpty else { return node.attributes }
    let known = Set(special.map { [$0.name, $0.value] })
    var attributes = node.attributes.filter { !known.contains([$0.name, $0.value]) }
    if let language = special.first(where: { $0.name == "lang" }),
      !attributes.contains(where: { $0.name == "lang" })
    {
      attributes.append(language)
    }
    return attributes
  }

  static func escape(_ text: String, to output: inout String, inValue: Bool = false) {
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": output += "&amp;"
      case "<": output += "&lt;"
      case ">": output += "&gt;"
      case "\"" where inValue: output += "&quot;"
      default: output.unicodeScalars.append(scalar)
      }
    }
  }
}
