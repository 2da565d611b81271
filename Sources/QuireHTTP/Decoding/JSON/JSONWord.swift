/// One entry of a document's tape.
///
/// Every value and every name is a word: 4 bits of kind, 32 bits of byte offset, 28 bits of length.
/// A container is two words: the first counts its elements or members instead of its length, the
/// second holds the tape index behind the container and the byte offset behind its closing bracket.
/// Children follow their container in document order, names before their values.
struct JSONWord {
  let bits: UInt64

  enum Kind: UInt8 {
    case null, `false`, `true`
    case number
    /// A number longer than `DecodingLimits.numberLength`.
    case longNumber
    /// A string without escapes, valid UTF-8.
    case string
    /// A string with escapes, all of them readable.
    case escapedString
    /// A string with an escaped surrogate that has no partner: no text can hold it.
    case surrogateString
    /// A string that is not UTF-8.
    case invalidString
    case array, object
  }

  /// The longest string, and the largest count, a word can hold.
  static let maximumLength = 1 << 28 - 1
  /// The largest document whose offsets fit a word.
  static let maximumOffset = 1 << 32 - 1

  @inline(__always)
  init(bits: UInt64) { self.bits = bits }

  /// `offset` and `length` must be at most `maximumOffset` and `maximumLength`.
  @inline(__always)
  init(_ kind: Kind, at offset: Int, length: Int) {
    bits = UInt64(kind.rawValue) << 60 | UInt64(offset) << 28 | UInt64(length)
  }

  /// A container's second word.
  @inline(__always)
  static func closing(next: Int, endOffset: Int) -> UInt64 {
    UInt64(next) << 32 | UInt64(endOffset)
  }

  @inline(__always)
  var kind: Kind {
    // Only the scanner makes words, and only from a kind.
    Kind(rawValue: UInt8(bits >> 60)) ?? .null
  }

  /// The byte offset of the value; of a string, behind its opening quote.
  @inline(__always)
  var offset: Int { Int(bits >> 28 & 0xFFFF_FFFF) }

  /// Bytes of a scalar, without quotes; elements or members of a container.
  @inline(__always)
  var length: Int { Int(bits & 0xFFF_FFFF) }

  /// The text's bytes, without quotes.
  var content: Range<Int> { offset..<offset + length }
}

extension JSONWord.Kind {
  var isContainer: Bool { self == .array || self == .object }

  var isString: Bool {
    switch self {
    case .string, .escapedString, .surrogateString, .invalidString: true
    default: false
    }
  }

  /// Whether the value breaks a rule that costs the value and the item around it, not the page.
  var isFlawed: Bool { self == .longNumber || self == .surrogateString || self == .invalidString }
}
