/// A text that a server chose, fit to be shown: one line of bounded length, without what a terminal
/// obeys or what hides or reorders other text.
///
/// Whatever stands in a message and may come from a server goes through this type. Printable
/// characters stay; controls, line breaks, format characters such as those for bidirectional text,
/// and what has no look of its own become `\n`, `\u{1B}` and the like. A text that was cut ends with
/// "…".
package struct ServerText: Hashable, Sendable, CustomStringConvertible {
  /// The text as it is shown.
  package let description: String

  /// The most bytes that are shown.
  package static let longest = 256

  /// A text, cut to `limit` bytes where it is longer.
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

  /// Bytes that should be UTF-8.
  package init(bytes: some Collection<UInt8>, limit: Int = longest) {
    // A byte is shown as a byte or more.
    let isWhole = bytes.count <= limit
    let text = ServerText(String(decoding: bytes.prefix(limit), as: UTF8.self), limit: limit)
    description = isWhole || text.description.hasSuffix("…") ? text.description : "\(text)…"
  }
}

extension StringProtocol {
  /// The text on one line, with everything escaped that a terminal obeys, hides or reorders by; of
  /// any length.
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

  /// The same for a text of several lines, whose line breaks are ours.
  package var escapedLinesForDisplay: String {
    split(separator: "\n", omittingEmptySubsequences: false).map(\.escapedForDisplay)
      .joined(separator: "\n")
  }
}

extension Unicode.Scalar {
  /// Whether it is shown as what it is, and changes nothing around it.
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

extension Int {
  /// So many things in words, in the plural unless it is one: `3 pages`.
  package func counted(_ one: String, _ many: String? = nil) -> String {
    "\(self) " + (self == 1 ? one : many ?? one + "s")
  }
}

extension BinaryInteger {
  /// The digits of a number that is not negative, with zeros in front of them up to a width.
  package func padded(to width: Int, radix: Int = 10) -> String {
    let digits = String(self, radix: radix)
    return String(repeating: "0", count: Swift.max(0, width - digits.count)) + digits
  }
}
