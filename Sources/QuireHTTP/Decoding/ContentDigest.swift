/// A hash of many bytes, fast enough for every byte of every page.
///
/// Eight bytes at a time are folded into a 128-bit product. It is keyed anew in every process, so that
/// nobody can prepare contents that collide, but it is no cryptographic hash.
package struct ContentDigest {
  private static let key = UInt64.random(in: .min ... .max) | 1
  private let key = Self.key
  private var state = Self.key

  package init() {}

  /// Adds bytes; where one call ends and the next begins counts.
  ///
  /// Four words at a time, none of which waits for another: a page is hashed at memory's speed.
  package mutating func add(_ bytes: UnsafeRawBufferPointer) {
    var lanes = (state, state ^ 0xA076_1D64_78BD_642F, ~state, state &+ 0xE703_7ED1_A0B4_28DB)
    var offset = 0
    while bytes.count - offset >= 32 {
      lanes.0 = mixed(lanes.0, bytes.word(at: offset))
      lanes.1 = mixed(lanes.1, bytes.word(at: offset + 8))
      lanes.2 = mixed(lanes.2, bytes.word(at: offset + 16))
      lanes.3 = mixed(lanes.3, bytes.word(at: offset + 24))
      offset += 32
    }
    state = mixed(mixed(lanes.0, lanes.1), mixed(lanes.2, lanes.3))
    while bytes.count - offset >= 8 {
      state = mixed(state, bytes.word(at: offset))
      offset += 8
    }
    var tail: UInt64 = 0
    for byte in bytes[offset...] { tail = tail << 8 | UInt64(byte) }
    state = mixed(mixed(state, tail), UInt64(bytes.count))
  }

  private func mixed(_ state: UInt64, _ word: UInt64) -> UInt64 {
    let product = (state ^ word).multipliedFullWidth(by: 0x9E37_79B9_7F4A_7C15)
    return (product.high ^ product.low) &+ key
  }

  /// The hash of what was added.
  package var value: Int { Int(truncatingIfNeeded: state) }
}

extension UnsafeRawBufferPointer {
  fileprivate func word(at offset: Int) -> UInt64 {
    UInt64(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }
}
