import QuireXML

/// Writes elements out as HTML: XHTML of Atom, and markup that a publisher forgot to escape.
enum FeedMarkup {
  /// What is within an element.
  static func inner(_ node: XMLTreeNode) -> String {
    var output = ""
    for part in node.content { write(part, to: &output) }
    return output
  }

  /// Elements that have no content (HTML, §13.1.2).
  static let void: Set<String> = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track",
    "wbr",
  ]

  private static func write(_ part: XMLTreeNode.Content, to output: inout String) {
    switch part {
    case .text(let text): escape(text, to: &output)
    case .element(let node):
      let name = node.localName
      output += "<" + name
      for (name, value) in node.attributes {
        output += " \(name)=\""
        escape(value, to: &output, inValue: true)
        output += "\""
      }
      output += ">"
      guard !void.contains(name.lowercased()) else { return }
      for part in node.content { write(part, to: &output) }
      output += "</" + name + ">"
    }
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
