/// A hash of many bytes, fast enough for every byte of every page.
///
/// Sixteen bytes at a time become the two factors of a 128-bit product, which is folded, as wyhash
/// does. It is keyed anew in every process, so that colliding contents cannot be prepared, but it
/// is no cryptographic hash.
package struct ContentDigest {
  private static let key = UInt64.random(in: .min ... .max) | 1
  private let key = Self.key
  private var state = Self.key

  package init() {}

  /// Adds bytes; where one call ends and the next begins counts.
  ///
  /// Four products at a time, none of which waits for another: a page is hashed at memory's speed.
  package mutating func add(_ bytes: UnsafeRawBufferPointer) {
    var lanes = (state, state ^ 0xA076_1D64_78BD_642F, ~state, state &+ 0xE703_7ED1_A0B4_28DB)
    var offset = 0
    while bytes.count - offset >= 64 {
      lanes.0 = mixed(lanes.0, bytes.word(at: offset), bytes.word(at: offset + 8))
      lanes.1 = mixed(lanes.1, bytes.word(at: offset + 16), bytes.word(at: offset + 24))
      lanes.2 = mixed(lanes.2, bytes.word(at: offset + 32), bytes.word(at: offset + 40))
      lanes.3 = mixed(lanes.3, bytes.word(at: offset + 48), bytes.word(at: offset + 56))
      offset += 64
    }
    state = mixed(mixed(lanes.0, lanes.1, lanes.2), lanes.3, UInt64(bytes.count))
    while bytes.count - offset >= 8 {
      state = mixed(state, bytes.word(at: offset), 0)
      offset += 8
    }
    var tail: UInt64 = 0
    for byte in bytes[offset...] { tail = tail << 8 | UInt64(byte) }
    state = mixed(state, tail, 0)
  }

  private func mixed(_ state: UInt64, _ first: UInt64, _ second: UInt64) -> UInt64 {
    let product = (state ^ first).multipliedFullWidth(by: key ^ second)
    return (product.high ^ product.low) &+ state
  }

  /// The hash of what was added.
  package var value: Int { Int(truncatingIfNeeded: state) }
}

extension UnsafeRawBufferPointer {
  fileprivate func word(at offset: Int) -> UInt64 {
    UInt64(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }
}
