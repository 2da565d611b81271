/// Hashes in the order they were met, in 13 to 18 bytes each.
///
/// The hashes themselves stand in blocks that never move. A table of their places finds them, which
/// is all that has to be copied when it grows: less than a table of hashes would be.
struct PositionHashes: Sendable {
  private static let blockBits = 9
  private static let vacant = UInt32.max

  private var blocks: [[Int]] = []
  /// Places of hashes, each in the first vacant slot behind the one that the hash's low bits choose.
  private var slots = [UInt32](repeating: vacant, count: 16)
  private(set) var count = 0

  /// How many hashes were met before `hash` was. If it never was, it is met now, unless `limit`
  /// hashes are known already.
  mutating func meet(_ hash: Int, limit: Int) -> Int? {
    var slot = hash & (slots.count - 1)
    while slots[slot] != Self.vacant {
      let place = Int(slots[slot])
      if self[place] == hash { return place }
      slot = (slot + 1) & (slots.count - 1)
    }
    guard count < limit else { return nil }
    slots[slot] = UInt32(count)
    append(hash)
    // The nearer to full, the longer the rows of slots that have to be looked through.
    if count * 5 > slots.count * 4 { grow() }
    return nil
  }

  private subscript(place: Int) -> Int {
    blocks[place >> Self.blockBits][place & ((1 << Self.blockBits) - 1)]
  }

  private mutating func append(_ hash: Int) {
    if count & ((1 << Self.blockBits) - 1) == 0 {
      blocks.append([])
      // The first block grows by itself: most walks are short.
      if count > 0 { blocks[blocks.count - 1].reserveCapacity(1 << Self.blockBits) }
    }
    blocks[blocks.count - 1].append(hash)
    count += 1
  }

  private mutating func grow() {
    let mask = slots.count * 2 - 1
    slots = []  // before the larger one is there
    slots = Array(repeating: Self.vacant, count: mask + 1)
    for place in 0..<count {
      var slot = self[place] & mask
      while slots[slot] != Self.vacant { slot = (slot + 1) & mask }
      slots[slot] = UInt32(place)
    }
  }
}
