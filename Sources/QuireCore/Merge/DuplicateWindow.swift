/// The digests of the items that were delivered last, in a form that positions can hold.
///
/// They are kept as hexadecimal text in chunks. The oldest chunk is dropped as a whole once the
/// others hold as many digests as the limit asks for.
struct DuplicateWindow: Sendable {
  /// The number of digests in a full chunk.
  private static let chunkSize = 32
  private static let digits = 16

  let limit: Int
  private var chunks: [JSONValue] = []
  private var count = 0

  init(limit: Int) { self.limit = limit }

  var isEmpty: Bool { chunks.isEmpty }
  var value: JSONValue { .array(chunks) }

  /// Adds digests. Returns older ones that are dropped for them.
  mutating func append(_ digests: [UInt64]) -> [UInt64] {
    guard limit > 0 else { return digests }
    var forgotten: [UInt64] = []
    for digest in digests {
      if case .string(var text)? = chunks.last, text.utf8.count < Self.chunkSize * Self.digits {
        chunks[chunks.count - 1] = .null
        text += MergeDigest.text(of: digest)
        chunks[chunks.count - 1] = .string(text)
      } else {
        chunks.append(.string(MergeDigest.text(of: digest)))
      }
      count += 1
      if let oldest = chunks.first?.string, count - oldest.utf8.count / Self.digits >= limit {
        forgotten += MergeDigest.digests(in: oldest) ?? []
        count -= oldest.utf8.count / Self.digits
        chunks.removeFirst()
      }
    }
    return forgotten
  }

  /// Restores the chunks of a stored position; returns false if they are malformed.
  mutating func restore(_ chunks: [JSONValue]) -> Bool {
    var all = 0
    for chunk in chunks {
      guard let text = chunk.string, !text.isEmpty, let digests = MergeDigest.digests(in: text)
      else { return false }
      all += digests.count
    }
    self.chunks = chunks
    count = all
    return true
  }

  var digests: Set<UInt64> {
    Set(chunks.flatMap { MergeDigest.digests(in: $0.string ?? "") ?? [] })
  }
}

/// FNV-1a of 64 bits, which is the same for the same bytes in every process. It gives no protection
/// from chosen bytes. Source: G. Fowler, L. C. Noll and P. Vo.
package struct FNV1a: Sendable {
  package private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  package init(_ bytes: some Sequence<UInt8> = []) { add(bytes) }

  package mutating func add(_ bytes: some Sequence<UInt8>) {
    // Other modules have no specialised code for a sequence, and would be slow byte by byte.
    let isDone: Void? = bytes.withContiguousStorageIfAvailable {
      for byte in $0 { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }
    if isDone == nil {
      for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }
  }
}

/// A digest of texts that is the same in every process, so that positions can hold and compare it:
/// FNV-1a, its bits mixed as by SplitMix64.
struct MergeDigest {
  private var state = FNV1a()

  init() {}

  init(_ text: String) { add(text) }

  /// Adds a text and a separator.
  mutating func add(_ text: String) {
    var text = text
    text.withUTF8 { state.add($0) }
    // No UTF-8 text contains this byte.
    state.add(CollectionOfOne(0xFF))
  }

  var value: UInt64 {
    var mixed = state.value
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  var text: String { Self.text(of: value) }

  /// Returns a digest as sixteen hexadecimal digits.
  static func text(of digest: UInt64) -> String {
    String(unsafeUninitializedCapacity: 16) { bytes in
      for index in 0..<16 {
        let digit = UInt8(truncatingIfNeeded: digest >> UInt64(60 - 4 * index)) & 0xF
        bytes[index] = digit + (digit < 10 ? 0x30 : 0x57)
      }
      return 16
    }
  }

  /// Returns the digests in a text made of results of `text(of:)`; nil if it has any other form.
  static func digests(in text: String) -> [UInt64]? {
    guard text.utf8.count.isMultiple(of: 16) else { return nil }
    var digests: [UInt64] = []
    var (digest, digits): (UInt64, Int) = (0, 0)
    for byte in text.utf8 {
      switch byte {
      case 0x30...0x39: digest = digest << 4 | UInt64(byte - 0x30)
      case 0x61...0x66: digest = digest << 4 | UInt64(byte - 0x57)
      default: return nil
      }
      digits += 1
      if digits == 16 {
        digests.append(digest)
        (digest, digits) = (0, 0)
      }
    }
    return digests
  }
}
