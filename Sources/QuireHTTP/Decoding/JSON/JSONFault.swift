import QuireCore

/// Why scanning stopped, before it is told in words.
struct JSONFault: Error {
  enum Reason {
    /// Something else stands where `expected` should be.
    case unexpected(expected: StaticString)
    /// The bytes ended where `expected` should follow.
    case ended(expected: StaticString)
    case depth(Int)
    case events(Int)
    case stringLength
  }

  var reason: Reason
  /// The byte at which it shows.
  var offset: Int

  /// The error for the walk; `bytes` is the page up to and without the padding.
  func pageError(in bytes: ArraySlice<UInt8>) -> PageError {
    switch reason {
    case .unexpected(let expected):
      let found = bytes[offset...].first.map(Self.name) ?? "the end"
      return PageError(
        .malformed,
        "The page is not valid JSON: at \(place(in: bytes)), \(expected) should follow, not \(found)."
      )
    case .ended(let expected):
      return PageError(
        .truncated,
        "The JSON page is cut off: it ends after \(offset) bytes, where \(expected) should follow."
      )
    case .depth(let limit):
      return PageError(
        .limitExceeded,
        """
        At \(place(in: bytes)), the JSON page nests more than \(limit) containers; raise \
        DecodingLimits.depth if that is right for this API.
        """)
    case .events(let limit):
      return PageError(
        .limitExceeded,
        """
        At \(place(in: bytes)), the JSON page holds more than \(limit) values, names and brackets; \
        ask for smaller pages or raise DecodingLimits.events.
        """)
    case .stringLength:
      return PageError(
        .limitExceeded,
        "The string at \(place(in: bytes)) is longer than \(JSONWord.maximumLength) bytes.")
    }
  }

  private func place(in bytes: ArraySlice<UInt8>) -> String {
    let line = bytes.prefix(offset).reduce(1) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 }
    return "byte \(offset) (line \(line))"
  }

  private static func name(_ byte: UInt8) -> String {
    switch byte {
    case 0x21...0x7E: return "\"\(UnicodeScalar(byte))\""
    default:
      let hex = String(byte, radix: 16, uppercase: true)
      return "the byte 0x" + (hex.count == 1 ? "0" : "") + hex
    }
  }
}
