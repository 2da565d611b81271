/// Detects in bounded memory that a walk goes in circles.
///
/// The first 2²⁰ positions are remembered as 64-bit hashes in the order of the visits, so a return to
/// one of them is found at once, with the exact length of the cycle. Later positions are
/// watched by Brent's cycle finder, which needs no memory and finds a cycle after at most a few
/// rounds. The hashes are keyed anew in every process: colliding positions cannot be prepared.
/// Source: R. P. Brent, "An improved Monte Carlo factorization algorithm" (1980).
struct LoopGuard: Sendable {
  private var known = PositionHashes()
  private let capacity: Int
  private var step = 0
  /// The number of steps up to the page that the walk begins inside of, which is also the walk's
  /// first step.
  private var stepsToStart = 0
  private var watcher: Watcher?
  /// The hashes of positions that lead to the first page of the listing, if the walk was not there,
  /// or was there by another address.
  private var firsts: Set<Int> = []
  private let identify: @Sendable (Position) -> Int

  /// A position that is watched for, and the number of steps since then.
  private struct Watcher {
    var hash: Int
    var steps = 0
    var patience = 1
  }

  /// Creates a guard that remembers at most `capacity` positions exactly. Positions are the same if
  /// `identify` returns the same hash; default: if they are equal.
  init(
    capacity: Int = 1 << 20,
    identify: @escaping @Sendable (Position) -> Int = { $0.hashValue }
  ) {
    self.capacity = min(capacity, Int(UInt32.max))
    self.identify = identify
  }

  /// Notes a position. Returns the length of the cycle if it was visited before.
  mutating func visit(_ position: Position) -> Int? {
    let hash = identify(position)
    let isFull = known.count == capacity
    if let earlier = known.meet(hash, limit: capacity) {
      return step - earlier - (earlier < stepsToStart ? 1 : 0)
    }
    if isFull, let length = watch(hash) { return length }
    step += 1
    return nil
  }

  /// Notes the start of a walk, and the positions visited before it.
  ///
  /// A start inside a page is also a visit to that page. Wherever a forward walk begins, the first
  /// page of the listing lies behind it, so a position that leads there closes a circle, too.
  mutating func begin(
    at start: Position, after visited: [Position], _ direction: Position.Direction = .forward
  ) {
    let first = identify(.start)
    if direction == .forward, identify(start.page) != first { firsts.insert(first) }
    for position in visited { _ = visit(position) }
    if start.itemOffset > 0 {
      _ = visit(start.page)
      stepsToStart = step
    }
  }

  /// Notes another identity of the first page of the listing.
  mutating func noteFirst(_ identity: Int) { firsts.insert(identity) }

  /// Whether the position leads to the first page although the walk was not there, or was there by
  /// another request. The length of the circle is unknown then.
  func leadsToFirst(_ position: Position) -> Bool {
    !firsts.isEmpty && firsts.contains(identify(position))
  }

  private mutating func watch(_ hash: Int) -> Int? {
    guard var watcher else {
      self.watcher = Watcher(hash: hash)
      return nil
    }
    watcher.steps += 1
    if watcher.hash == hash { return watcher.steps }
    if watcher.steps == watcher.patience {
      watcher = Watcher(hash: hash, patience: watcher.patience * 2)
    }
    self.watcher = watcher
    return nil
  }
}

/// Hashes in the order in which they were met, in 13 to 18 bytes each.
///
/// The hashes are kept in blocks that never move. A hash table of their places finds them; only
/// that table is copied when it grows, which is less than a table of hashes would be.
struct PositionHashes: Sendable {
  private static let blockBits = 9
  private static let vacant = UInt32.max

  private var blocks: [[Int]] = []
  /// The places of hashes. Each is in the first vacant slot, beginning with the one that the hash's
  /// low bits select.
  private var slots = [UInt32](repeating: vacant, count: 16)
  private(set) var count = 0

  /// Returns the number of hashes met before `hash`; nil if `hash` was not met before. It is added
  /// then, unless `limit` hashes are known already.
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
    // The fuller the table, the more slots have to be looked at for one hash.
    if count * 5 > slots.count * 4 { grow() }
    return nil
  }

  private subscript(place: Int) -> Int {
    blocks[place >> Self.blockBits][place & ((1 << Self.blockBits) - 1)]
  }

  private mutating func append(_ hash: Int) {
    if count & ((1 << Self.blockBits) - 1) == 0 {
      blocks.append([])
      // The first block grows gradually, because most walks are short.
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
