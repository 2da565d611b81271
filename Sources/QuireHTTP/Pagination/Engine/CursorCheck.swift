import QuireCore

/// What no cursor may hold, wherever it came from: a page, or a checkpoint that someone edited.
enum CursorCheck {
  /// The most bytes a cursor or link may have.
  static let longest = 8 << 10

  /// Throws `invalidCursor` for control characters, which could end a header field or a request
  /// line, and for texts too long to be sent.
  static func check(_ value: JSONValue) throws(PageError) {
    try checkCharacters(value)
    if case .array = value { try checkLength(value.description.utf8.count) }
    if case .object = value { try checkLength(value.description.utf8.count) }
  }

  /// The same for what goes into a body, where only each text must not be too long.
  static func checkCharacters(_ value: JSONValue) throws(PageError) {
    switch value {
    case .null, .bool: break
    case .number(let text), .string(let text): try check(text)
    case .array(let elements):
      for element in elements { try checkCharacters(element) }
    case .object(let members):
      for member in members {
        try check(member.name)
        try checkCharacters(member.value)
      }
    }
  }

  private static func check(_ text: String) throws(PageError) {
    try checkLength(text.utf8.count)
    var text = text
    if let byte = text.withUTF8({ $0.first { $0 < 0x20 || $0 == 0x7F } }) {
      throw PageError(
        .invalidCursor,
        "The cursor holds the control character 0x\(String(byte, radix: 16)) and cannot be sent. "
          + "Either the server is broken or the position was tampered with.")
    }
  }

  private static func checkLength(_ count: Int) throws(PageError) {
    guard count > longest else { return }
    throw PageError(
      .invalidCursor,
      "The cursor of \(count) bytes is longer than the \(longest) that can be sent.")
  }
}
