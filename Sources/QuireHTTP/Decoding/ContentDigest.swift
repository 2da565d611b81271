/// A hash of many bytes, fast enough for every byte of every page.
///
/// Eight bytes at a time are folded into a 128-bit product. It is keyed anew in every process, so that
/// nobody can prepare contents that collide, but it is no cryptographic hash.
package struct ContentDigest {
  private static let key = UInt64.random(in: .min ... .max) | 1
  private var state = key

  package init() {}

  /// Adds bytes; where one call ends and the next begins counts.
  package mutating func add(_ bytes: UnsafeRawBufferPointer) {
    var rest = bytes
    while rest.count >= 8 {
      mix(UInt64(littleEndian: rest.loadUnaligned(as: UInt64.self)))
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(8))
    }
    var tail: UInt64 = 0
    for byte in rest { tail = tail << 8 | UInt64(byte) }
    mix(tail)
    mix(UInt64(bytes.count))
  }

  private mutating func mix(_ word: UInt64) {
    let product = (state ^ word).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
    state = (product.high ^ product.low) &+ Self.key
  }

  /// The hash of what was added.
  package var value: Int { Int(truncatingIfNeeded: state) }
}
