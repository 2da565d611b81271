/// The digests of the items that were delivered last, in a form that positions can hold.
///
/// They are kept as hexadecimal text in chunks, of which the oldest is dropped as a whole once the
/// others are enough.
struct DuplicateWindow: Sendable {
  /// Digests in a chunk that gets no more.
  private static let chunkSize = 32
  private static let digits = 16

  let limit: Int
  private var chunks: [JSONValue] = []
  private var count = 0

  init(limit: Int) { self.limit = limit }

  var isEmpty: Bool { chunks.isEmpty }
  var value: JSONValue { .array(chunks) }

  /// Adds digests; returns those that are forgotten for them.
  mutating func append(_ digests: [UInt64]) -> [UInt64] {
    var forgotten: [UInt64] = []
    for digest in digests where limit > 0 {
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

  /// Takes what a position says; false where that cannot be.
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

  /// All digests.
  var digests: Set<UInt64> {
    Set(chunks.flatMap { MergeDigest.digests(in: $0.string ?? "") ?? [] })
  }
}

/// FNV-1a of 64 bits: the same for the same bytes in every process. It protects from nothing. Source: G.
/// Fowler, L. C. Noll and P. Vo.
package struct FNV1a: Sendable {
  package private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

  package init(_ bytes: some Sequence<UInt8> = []) { add(bytes) }

  package mutating func add(_ bytes: some Sequence<UInt8>) {
    // Other modules have no code of their own for a sequence, and would be slow byte by byte.
    let isDone: Void? = bytes.withContiguousStorageIfAvailable {
      for byte in $0 { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }
    if isDone == nil {
      for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }
  }
}

/// A digest of texts that is the same in every process, to compare what positions hold: FNV-1a, its bits mixed
/// as by SplitMix64.
struct MergeDigest {
  private var state = FNV1a()

  init() {}

  init(_ text: String) { add(text) }

  /// Adds a text, and what tells it from the next one.
  mutating func add(_ text: String) {
    var text = text
    text.withUTF8 { state.add($0) }
    // No UTF-8 has this byte.
    state.add(CollectionOfOne(0xFF))
  }

  var value: UInt64 {
    var mixed = state.value
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  var text: String { Self.text(of: value) }

  /// Sixteen hexadecimal digits.
  static func text(of digest: UInt64) -> String {
    String(unsafeUninitializedCapacity: 16) { bytes in
      for index in 0..<16 {
        let digit = UInt8(truncatingIfNeeded: digest >> UInt64(60 - 4 * index)) & 0xF
        bytes[index] = digit + (digit < 10 ? 0x30 : 0x57)
      }
      return 16
    }
  }

  /// What `text(of:)` wrote, one behind the other; nil where it did not.
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
