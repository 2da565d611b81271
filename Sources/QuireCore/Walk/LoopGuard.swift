/// Finds out that a walk goes in circles, in bounded memory.
///
/// The first 2²⁰ positions are remembered as 64-bit hashes in the order of the visits, so a return to
/// one of them is found at once, with the exact length of the cycle. Later positions are
/// watched by Brent's cycle finder, which needs no memory and finds a cycle after at most a few
/// rounds. The hashes are keyed anew in every process: nobody can prepare positions that collide.
/// Source: R. P. Brent, "An improved Monte Carlo factorization algorithm" (1980).
struct LoopGuard: Sendable {
  private var known = PositionHashes()
  private let capacity: Int
  private var step = 0
  /// Steps up to the page that the walk begins inside of, which is the walk's first step, too.
  private var stepsBefore = 0
  private var watcher: Watcher?
  /// What leads to the first page of the listing, where the walk was not there itself or came to it by
  /// another address.
  private var firsts: Set<Int> = []
  private let identify: @Sendable (Position) -> Int

  /// One position, and how long it has been watched for.
  private struct Watcher {
    var hash: Int
    var steps = 0
    var patience = 1
  }

  /// Remembers at most `capacity` positions exactly. Positions are the same where `identify` says so;
  /// default: where they are equal.
  init(
    capacity: Int = 1 << 20,
    identify: @escaping @Sendable (Position) -> Int = { $0.hashValue }
  ) {
    self.capacity = min(capacity, Int(UInt32.max))
    self.identify = identify
  }

  /// Takes note of a position. Returns the length of the cycle when it was visited before.
  mutating func visit(_ position: Position) -> Int? {
    let hash = identify(position)
    let isFull = known.count == capacity
    if let earlier = known.meet(hash, limit: capacity) {
      return step - earlier - (earlier < stepsBefore ? 1 : 0)
    }
    if isFull, let length = watch(hash) { return length }
    step += 1
    return nil
  }

  /// Takes note of where a walk begins that others may have been to before.
  ///
  /// A start inside a page is also a visit to that page. Wherever a walk forwards begins, the first
  /// page of the listing lies behind it, so leading there is a circle too.
  mutating func begin(
    at start: Position, after visited: [Position], _ direction: WalkDirection = .forward
  ) {
    let first = identify(.start)
    if direction == .forward, identify(start.page) != first { firsts.insert(first) }
    for position in visited { _ = visit(position) }
    if start.itemOffset > 0 {
      _ = visit(start.page)
      stepsBefore = step
    }
  }

  /// The first page of the listing has this address, too.
  mutating func noteFirst(_ address: Int) { firsts.insert(address) }

  /// Whether the position leads to the first page although the walk was not there, or went there by
  /// another address: how long the circle is cannot be told.
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
