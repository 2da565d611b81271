import QuireCore

extension PagePath {
  /// Where the path leads, in words.
  package var place: String { Self.place(text) }

  /// Where a path of this text leads, in words.
  static func place(_ text: String) -> String {
    text.isEmpty ? "the root of the document" : "\"\(text)\""
  }

  /// Paths that a page has, the likeliest first, and how to use that one.
  ///
  /// They are made of names that the server chose: what would not be the same between any quotes is
  /// shown, and not advised to be copied.
  package static func advice(_ paths: [String]) -> String {
    let shown = paths.map { ServerText($0).description }.joined(separator: ", ")
    guard let first = paths.first(where: isQuotable) else { return shown + "." }
    return "\(shown); use .items(at: \"\(first)\")."
  }

  /// Whether a path of the server's names can be copied into Swift or a shell within quotes.
  package static func isQuotable(_ path: String) -> Bool {
    path.utf8.count <= ServerText.longest
      && path.unicodeScalars.allSatisfy { $0.isPlain && !"\"'\\`$!".unicodeScalars.contains($0) }
  }

  /// The step that leads to the member or index `name`, escaped (RFC 6901): `/a~1b`.
  static func pointer(to name: String) -> String {
    var text = "/"
    for character in name.unicodeScalars {
      switch character {
      case "~": text += "~0"
      case "/": text += "~1"
      default: text.unicodeScalars.append(character)
      }
    }
    return text
  }
}
