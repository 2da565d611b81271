import QuireCore
import QuirePagination

/// One entry of a document's tape.
///
/// Every value and every name is a word: 4 bits of kind, 32 bits of byte offset, 28 bits of length.
/// A container is two words: the first counts its elements or members instead of its length, and
/// one bit of its kind says whether it has white space in it; the second holds the tape index after
/// the container and the byte offset after its closing bracket. Children follow their container in
/// document order, names before their values.
struct JSONWord {
  let bits: UInt64

  enum Kind: UInt8 {
    case null, `false`, `true`
    case number
    /// A number longer than `DecodingLimits.numberLength`.
    case longNumber
    /// A string of ASCII without escapes.
    case string
    /// A string without escapes, valid UTF-8 that is not all ASCII.
    case unicodeString
    /// A string with escapes, all of them readable.
    case escapedString
    /// A string with an escaped surrogate that has no partner: no text can hold it.
    case surrogateString
    /// A string that is not UTF-8.
    case invalidString
    case array, object
  }

  /// The bit that marks a container with white space between its tokens; both kinds have it clear.
  static let spaced: UInt64 = 0b0100 << 60

  /// The longest string, and the largest count, a word can hold.
  static let maximumLength = 1 << 28 - 1
  /// The largest document whose offsets fit a word.
  static let maximumOffset = 1 << 32 - 1

  @inline(__always)
  init(bits: UInt64) { self.bits = bits }

  /// `offset` and `length` must be at most `maximumOffset` and `maximumLength`.
  @inline(__always)
  init(_ kind: Kind, at offset: Int, length: Int) {
    bits =
      UInt64(kind.rawValue) << 60 | UInt64(truncatingIfNeeded: offset) << 28
      | UInt64(truncatingIfNeeded: length)
  }

  /// Returns the second word of a container.
  @inline(__always)
  static func closing(next: Int, endOffset: Int) -> UInt64 {
    UInt64(truncatingIfNeeded: next) << 32 | UInt64(truncatingIfNeeded: endOffset)
  }

  /// Returns the node after `node` and everything in it, on a tape.
  @inline(__always)
  static func next(after node: Int, on tape: UnsafePointer<UInt64>) -> Int {
    JSONWord(bits: tape[node]).isContainer ? Int(tape[node + 1] >> 32) : node + 1
  }

  @inline(__always)
  var kind: Kind {
    // The kind is never nil: only the scanner makes words, and only from kinds.
    Kind(rawValue: UInt8((isContainer ? bits & ~Self.spaced : bits) >> 60)) ?? .null
  }

  /// Whether this is an array or an object; containers are the last of the kinds.
  @inline(__always)
  var isContainer: Bool { bits >> 60 >= UInt64(Kind.array.rawValue) }

  @inline(__always)
  func isKind(_ kind: Kind) -> Bool {
    (kind.isContainer ? bits & ~Self.spaced : bits) >> 60 == UInt64(kind.rawValue)
  }

  /// Whether there is white space between the tokens of a container.
  var isSpaced: Bool { isContainer && bits & Self.spaced != 0 }

  /// The byte offset of the value; for a string, of its first byte after the quote.
  @inline(__always)
  var offset: Int { Int(bits >> 28 & 0xFFFF_FFFF) }

  /// The number of bytes of a scalar, without quotes, or of elements or members of a container.
  @inline(__always)
  var length: Int { Int(bits & 0xFFF_FFFF) }

  /// The range of the bytes of a scalar, without quotes.
  var content: Range<Int> { offset..<offset + length }
}

extension JSONWord.Kind {
  var isContainer: Bool { self == .array || self == .object }

  var isString: Bool {
    switch self {
    case .string, .unicodeString, .escapedString, .surrogateString, .invalidString: true
    default: false
    }
  }

  /// Whether the value cannot be read, which fails this value and its item, but not the page.
  var isFlawed: Bool { self == .longNumber || self == .surrogateString || self == .invalidString }
}

/// The reason why scanning stopped; `pageError` puts it into words.
struct JSONFault: Error {
  enum Reason {
    /// Another byte is where `expected` should be.
    case unexpected(expected: StaticString)
    /// The bytes ended where `expected` should follow.
    case ended(expected: StaticString)
    case depth(Int)
    case events(Int)
    case stringLength
  }

  var reason: Reason
  /// The offset of the byte where scanning stopped.
  var offset: Int

  /// Returns the error for the walk; `bytes` is the page without its padding.
  ///
  /// `shift` is the offset from which bytes of the page were left out, and their number.
  func pageError(in bytes: ArraySlice<UInt8>, _ shift: (from: Int, by: Int)? = nil) -> PageError {
    let place = place(in: bytes, shift)
    let offset = offset + (shift.map { self.offset >= $0.from ? $0.by : 0 } ?? 0)
    switch reason {
    case .unexpected(let expected):
      let found = bytes[self.offset...].first.map(Self.name) ?? "the end"
      return PageError(
        .malformed,
        "The page is not valid JSON: at \(place), \(expected) should follow, not \(found).",
        remedies: isNextLine(in: bytes, expected)
          ? [Remedy(.decoder, ["JSON Lines"], condition: "if each line is an item")] : [])
    case .ended(let expected):
      return PageError(
        .truncated,
        "The JSON page is cut off: it ends after \(offset) bytes, where \(expected) should follow."
      )
    case .depth(let limit):
      return PageError(
        .limitExceeded,
        "At \(place), the JSON page nests more than \(limit) containers.",
        remedies: [.raise(.init("DecodingLimits.depth"))])
    case .events(let limit):
      return PageError(
        .limitExceeded,
        """
        At \(place), the JSON page holds more than \(limit) values, names and brackets. \
        Ask for smaller pages.
        """, remedies: [.raise(.init("DecodingLimits.events"))])
    case .stringLength:
      return PageError(
        .limitExceeded,
        "The string at \(place) is longer than \(JSONWord.maximumLength) bytes.")
    }
  }

  /// Whether another value begins on a new line after a complete one: servers send JSON Lines under
  /// many content types.
  private func isNextLine(in bytes: ArraySlice<UInt8>, _ expected: StaticString) -> Bool {
    guard "\(expected)" == "\(JSONScanner.end)",
      let first = bytes[offset...].first, "{[".utf8.contains(first)
    else { return false }
    let before = bytes[..<offset]
    let space = before.reversed().prefix { $0.isWhiteSpace }
    return space.contains(0x0A) && before.dropLast(space.count).last.map("}]".utf8.contains) == true
  }

  private func place(in bytes: ArraySlice<UInt8>, _ shift: (from: Int, by: Int)?) -> String {
    // Lines in the bytes left out were not counted.
    if let shift, offset >= shift.from { return "byte \(offset + shift.by)" }
    let line = bytes.prefix(offset).reduce(1) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 }
    return "byte \(offset) (line \(line))"
  }

  /// Returns a byte in words, for messages.
  static func name(_ byte: UInt8) -> String {
    switch byte {
    case 0x21...0x7E: "\"\(UnicodeScalar(byte))\""
    default: "the byte 0x" + byte.padded(to: 2, radix: 16).uppercased()
    }
  }
}
