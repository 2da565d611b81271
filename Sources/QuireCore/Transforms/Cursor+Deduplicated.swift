import Synchronization

extension Cursor {
  /// Only the first of all items with the same `key`: pages shift while a listing is read, and an
  /// item comes twice.
  ///
  /// Every key of the walk is remembered, so memory grows with the listing. The report counts what
  /// was dropped. A walk that resumes elsewhere begins without memory.
  public func deduplicated<Key: Hashable & Sendable>(
    by key: @escaping @Sendable (Item) -> Key
  ) -> Cursor<Item> {
    deriving { base, _ in DeduplicatingReader(base, key: key) }
  }
}

/// Drops items whose key has been met before. Reading a page again does not take its own items for
/// repetitions.
final class DeduplicatingReader<Item: Sendable, Key: Hashable & Sendable>: PageReader {
  private struct Memory: Sendable {
    var known: Set<Key> = []
    /// The page read last, and what it added.
    var last: (position: Position, keys: [Key])?
  }

  private let base: any PageReader<Item>
  private let key: @Sendable (Item) -> Key
  private let memory: Mutex<Memory>

  init(_ base: any PageReader<Item>, key: @escaping @Sendable (Item) -> Key) {
    self.base = base
    self.key = key
    memory = Mutex(Memory())
  }

  private init(
    copying base: any PageReader<Item>, key: @escaping @Sendable (Item) -> Key, memory: Memory
  ) {
    self.base = base
    self.key = key
    self.memory = Mutex(memory)
  }

  func read(at position: Position) async throws -> Page<Item>? {
    guard let page = try await base.read(at: position) else { return nil }
    return memory.withLock { memory in
      if let last = memory.last, last.position == position { memory.known.subtract(last.keys) }
      var kept: [Int] = []
      var added: [Key] = []
      for (index, item) in page.items.enumerated() {
        let key = key(item)
        guard memory.known.insert(key).inserted else { continue }
        kept.append(index)
        added.append(key)
      }
      memory.last = (position, added)
      guard kept.count < page.items.count else { return page }
      var result = page.withItems(kept.map { page.items[$0] })
      result.origins = page.origins(ofItems: kept)
      result.traffic.duplicates += page.items.count - kept.count
      return result
    }
  }

  func copy() -> any PageReader<Item> {
    DeduplicatingReader(copying: base.copy(), key: key, memory: memory.withLock { $0 })
  }

  func leave() { base.leave() }
  func close(at position: Position?) async { await base.close(at: position) }
  var needsClosing: Bool { base.needsClosing }
  var repeatedPositions: RepeatedPositions { base.repeatedPositions }
  var allowsLookAhead: Bool { base.allowsLookAhead }
  var identity: ListingIdentity? { base.identity }
}
