/// A hash of many bytes, fast enough for every byte of every page.
///
/// Each sixteen bytes become the two factors of a 128-bit product, whose halves are folded, as in
/// wyhash. The key is random in each process, so that colliding contents cannot be prepared, but
/// this is no cryptographic hash. Digests that positions hold have a key that is the same everywhere.
package struct ContentDigest {
  private static let key = UInt64.random(in: .min ... .max) | 1
  private static let storedKey: UInt64 = 0x9E37_79B9_7F4A_7C15
  private let key: UInt64
  private var state: UInt64

  package init() {
    key = Self.key
    state = key
  }

  private init(key: UInt64) {
    self.key = key
    state = key
  }

  /// An empty digest that gives the same hash of the same bytes in every process, so that a position
  /// can hold it. Colliding contents can be prepared; they end no walk but that of the server that
  /// sends them.
  package static var stored: ContentDigest { ContentDigest(key: storedKey) }

  /// Returns the hash of some bytes. Different seeds give different hashes of the same bytes.
  package static func of(_ bytes: UnsafeRawBufferPointer, seed: Int = 0) -> Int {
    var digest = ContentDigest()
    digest.state ^= UInt64(bitPattern: Int64(seed))
    digest.add(bytes)
    return digest.value
  }

  /// Returns a hash of the number of bytes and of the first and last 128 of them, at the same cost
  /// for an item of any size.
  package static func sketch(of bytes: UnsafeRawBufferPointer) -> Int {
    let end = 128
    guard bytes.count > 2 * end else { return of(bytes) }
    var digest = ContentDigest()
    digest.state ^= UInt64(bytes.count)
    digest.add(UnsafeRawBufferPointer(rebasing: bytes.prefix(end)))
    digest.add(UnsafeRawBufferPointer(rebasing: bytes.suffix(end)))
    return digest.value
  }

  /// Adds bytes. The hash depends on how they are divided among calls.
  ///
  /// The loop computes four independent products at a time, so that hashing runs at memory speed.
  package mutating func add(_ bytes: UnsafeRawBufferPointer) {
    let count = UInt64(bytes.count)
    guard var place = bytes.baseAddress else { return state = mixed(state, count, 0) }
    let end = place + bytes.count
    if end - place >= 64 {
      var lanes = (state, state ^ 0xA076_1D64_78BD_642F, ~state, state &+ 0xE703_7ED1_A0B4_28DB)
      repeat {
        lanes.0 = mixed(lanes.0, place.word(at: 0), place.word(at: 8))
        lanes.1 = mixed(lanes.1, place.word(at: 16), place.word(at: 24))
        lanes.2 = mixed(lanes.2, place.word(at: 32), place.word(at: 40))
        lanes.3 = mixed(lanes.3, place.word(at: 48), place.word(at: 56))
        place += 64
      } while end - place >= 64
      state = mixed(mixed(lanes.0, lanes.1, lanes.2), lanes.3, 0)
    }
    while end - place > 16 {
      state = mixed(state, place.word(at: 0), place.word(at: 8))
      place += 16
    }
    let (first, last) = Self.tail(place, count: end - place)
    state = mixed(mixed(state, first, last), count, 0)
  }

  /// Returns up to sixteen bytes as two words, in which some bytes may occur twice.
  @inline(__always)
  private static func tail(_ bytes: UnsafeRawPointer, count: Int) -> (UInt64, UInt64) {
    if count >= 8 { return (bytes.word(at: 0), bytes.word(at: count - 8)) }
    if count >= 4 {
      let first = bytes.loadUnaligned(as: UInt32.self)
      let last = bytes.loadUnaligned(fromByteOffset: count - 4, as: UInt32.self)
      return (UInt64(first), UInt64(last))
    }
    guard count > 0 else { return (0, 0) }
    let byte = { UInt64(bytes.load(fromByteOffset: $0, as: UInt8.self)) }
    return (byte(0) << 16 | byte(count / 2) << 8 | byte(count - 1), 0)
  }

  @inline(__always)
  private func mixed(_ state: UInt64, _ first: UInt64, _ second: UInt64) -> UInt64 {
    let product = (state ^ first).multipliedFullWidth(by: key ^ second)
    return (product.high ^ product.low) &+ state
  }

  /// The hash of the bytes added so far.
  package var value: Int { Int(truncatingIfNeeded: state) }
}

extension UnsafeRawPointer {
  @inline(__always)
  fileprivate func word(at offset: Int) -> UInt64 {
    UInt64(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }
}
