extension PagePath {
  /// Where the path leads, in words.
  package var place: String { Self.place(text) }

  /// Where a path of this text leads, in words.
  static func place(_ text: String) -> String {
    text.isEmpty ? "the root of the document" : "\"\(text)\""
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
