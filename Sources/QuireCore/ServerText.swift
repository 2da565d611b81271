/// A text from a server, made fit to be shown: one line of bounded length, without characters that
/// a terminal obeys or that hide or reorder other text.
///
/// Every text in a message that may come from a server goes through this type. Printable characters
/// stay; controls, line breaks, format characters such as those for bidirectional text, and
/// invisible characters become `\n`, `\u{1B}` and the like. A text that was cut ends with "…".
package struct ServerText: Hashable, Sendable, CustomStringConvertible {
  /// The text as it is shown.
  package let description: String

  /// The most bytes that are shown by default.
  package static let longest = 256

  /// Creates a text, cut to `limit` bytes if it is longer.
  package init(_ text: some StringProtocol, limit: Int = longest) {
    var shown = ""
    var count = 0
    for scalar in text.unicodeScalars {
      let piece = scalar.isPlain ? String(scalar) : scalar.visibleEscape
      count += piece.utf8.count
      guard count <= limit else {
        description = shown + "…"
        return
      }
      shown += piece
    }
    description = shown
  }

  /// Creates a text from bytes that should be UTF-8, cut to `limit` bytes.
  package init(bytes: some Collection<UInt8>, limit: Int = longest) {
    // Each byte is shown as at least one byte, so no more than `limit` of them can be shown.
    let isWhole = bytes.count <= limit
    let text = ServerText(String(decoding: bytes.prefix(limit), as: UTF8.self), limit: limit)
    description = isWhole || text.description.hasSuffix("…") ? text.description : "\(text)…"
  }
}

extension StringProtocol {
  /// The text on one line, of any length, with every character escaped that a terminal obeys or
  /// that hides or reorders other text.
  package var escapedForDisplay: String {
    if utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return String(self) }
    var shown = ""
    for scalar in unicodeScalars {
      if scalar.isPlain {
        shown.unicodeScalars.append(scalar)
      } else {
        shown += scalar.visibleEscape
      }
    }
    return shown
  }

  /// The text with each of its lines escaped for display; line breaks stay, because they are our
  /// own.
  package var escapedLinesForDisplay: String {
    split(separator: "\n", omittingEmptySubsequences: false).map(\.escapedForDisplay)
      .joined(separator: "\n")
  }
}

extension Unicode.Scalar {
  /// Whether the character is shown as what it is, and changes nothing around it.
  package var isPlain: Bool {
    if isASCII { return (0x20...0x7E).contains(value) }
    return switch properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse,
      .unassigned:
      false
    default: !properties.isDefaultIgnorableCodePoint
    }
  }

  fileprivate var visibleEscape: String {
    switch self {
    case "\n": "\\n"
    case "\r": "\\r"
    case "\t": "\\t"
    default: "\\u{\(String(value, radix: 16, uppercase: true))}"
    }
  }
}
