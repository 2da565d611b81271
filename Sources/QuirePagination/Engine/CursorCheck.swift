import QuireCore

/// Checks of cursors, which come from a page or from a checkpoint that may have been edited.
enum CursorCheck {
  /// The most bytes of a link, and of a cursor that goes into a URL or a header field.
  static let longest = URLReference.longest
  /// The most bytes of a text in a body, where names of shards or a search's state may be long.
  private static let longestInBody = 256 << 10

  /// Throws `invalidCursor` for values too long to be sent by `placement`, and for control
  /// characters that it does not encode, which could end a header field or a request line.
  static func check(_ value: JSONValue, by placement: Pagination.Placement) throws(PageError) {
    let encodes = placement.encodesControls
    guard !placement.isInBody else { return try checkTexts(value, longestInBody, encodes) }
    try checkTexts(value, longest, encodes)
    if case .array = value { try checkLength(value.description.utf8.count, longest) }
    if case .object = value { try checkLength(value.description.utf8.count, longest) }
  }

  private static func checkTexts(
    _ value: JSONValue, _ longest: Int, _ encodesControls: Bool
  ) throws(PageError) {
    switch value {
    case .null, .bool: break
    case .number(let text), .string(let text): try check(text, longest, encodesControls)
    case .array(let elements):
      for element in elements { try checkTexts(element, longest, encodesControls) }
    case .object(let members):
      for member in members {
        try check(member.name, longest, encodesControls)
        try checkTexts(member.value, longest, encodesControls)
      }
    }
  }

  private static func check(
    _ text: String, _ longest: Int, _ encodesControls: Bool
  ) throws(PageError) {
    try checkLength(text.utf8.count, longest)
    guard !encodesControls else { return }
    var text = text
    if let byte = text.withUTF8({ $0.first { $0 < 0x20 || $0 == 0x7F } }) {
      throw PageError(
        .invalidCursor,
        "The cursor holds the control character 0x\(String(byte, radix: 16)) and cannot be sent. "
          + "Either the server is broken or the position was tampered with.")
    }
  }

  private static func checkLength(_ count: Int, _ longest: Int) throws(PageError) {
    guard count > longest else { return }
    throw PageError(
      .invalidCursor,
      "The cursor of \(count) bytes is longer than the \(longest) that can be sent.")
  }
}

extension Pagination.Placement {
  /// Whether a value goes into the body of a request.
  fileprivate var isInBody: Bool {
    if case .firstOf(let placements) = self { return placements.allSatisfy(\.isInBody) }
    return self == .request || bodyKind != nil
  }

  /// Whether control characters of a value are encoded: honest keys and cursors have some, such as
  /// the line feeds of base 64.
  fileprivate var encodesControls: Bool {
    switch self {
    case .query(_, let encoding), .path(_, let encoding): encoding != .verbatim
    case .jsonBody, .bodyMerge, .form: true
    case .url, .header, .xmlBody, .placeholder, .queryMerge, .request, .itemRange: false
    case .firstOf(let placements): placements.allSatisfy(\.encodesControls)
    }
  }
}
