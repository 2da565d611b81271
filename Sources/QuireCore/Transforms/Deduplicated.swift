import Synchronization

extension Cursor {
  /// Returns only the first of all items with the same `key`: pages shift while a listing is read,
  /// so that items come twice.
  ///
  /// Every key of the walk is remembered, so memory grows with the listing. The report counts the
  /// dropped items.
  ///
  /// Keys are not part of a position, which would grow with them. So a walk that begins behind the
  /// start of the listing does not know which items came before: pass as `known` the keys of the
  /// items that an earlier walk has delivered, at least those of the pages shortly before. Without
  /// them the report warns by `WalkReport.Warning.Code.forgottenKeys`. An empty set says that no
  /// items came before.
  public func deduplicated<Key: Hashable & Sendable>(
    known: Set<Key>? = nil, by key: @escaping @Sendable (Item) -> Key
  ) -> Cursor<Item> {
    deriving { base, _ in
      DeduplicatingReader(
        base, key: key, memory: .init(known: known ?? [], mayHaveForgotten: known == nil))
    }
  }
}

extension WalkReport.Warning.Code {
  /// A walk that drops repeated items began behind the start of its listing, without the keys of the
  /// items before; see `Cursor.deduplicated(known:by:)`.
  public static let forgottenKeys = Self("forgottenKeys")
}

extension Remedy.Setting {
  /// The keys of the items that earlier walks have delivered.
  public static let knownKeys = Self("deduplicated.known")
}

/// Drops items whose key was met before. When a page is read again, its own items do not count as
/// repetitions.
final class DeduplicatingReader<Item: Sendable, Key: Hashable & Sendable>: DerivedReader {
  struct Memory: Sendable {
    var known: Set<Key>
    /// The page read last, and the keys that it added.
    var last: (position: Position, keys: [Key])?
    /// Whether items whose keys are not known may have been delivered before the first page.
    var mayHaveForgotten: Bool
    var first: Position?
  }

  let base: any PageReader<Item>
  private let key: @Sendable (Item) -> Key
  private let memory: Mutex<Memory>

  init(_ base: any PageReader<Item>, key: @escaping @Sendable (Item) -> Key, memory: Memory) {
    self.base = base
    self.key = key
    self.memory = Mutex(memory)
  }

  func read(at position: Position) async throws -> Page<Item>? {
    guard var page = try await base.read(at: position) else { return nil }
    // Outside the lock: the closure may use the walk.
    let keys = page.items.map(key)
    return memory.withLock { memory in
      memory.first = memory.first ?? position
      if memory.mayHaveForgotten, position == memory.first, position != .start {
        page.warnings.append(Self.forgottenKeys)
      }
      if let last = memory.last, last.position == position { memory.known.subtract(last.keys) }
      var kept: [Int] = []
      var added: [Key] = []
      for (index, key) in keys.enumerated() {
        guard memory.known.insert(key).inserted else { continue }
        kept.append(index)
        added.append(key)
      }
      memory.last = (position, added)
      guard kept.count < page.items.count else { return page }
      var result = page.withItems(kept.map { page.items[$0] })
      // Dropped items are not delivered twice: the page is not to be reported as overlapping the
      // last one.
      result.head.sample?.edges = PageEdges()
      result.head.origins = page.origins(ofItems: kept)
      result.traffic.duplicates += page.items.count - kept.count
      return result
    }
  }

  private static var forgottenKeys: WalkReport.Warning {
    WalkReport.Warning(
      .forgottenKeys,
      """
      The walk began behind the start of the listing, and deduplicated(by:) does not know the items \
      before: one that was delivered then may come again. Give the keys of those as "known".
      """, remedy: Remedy(.knownKeys))
  }

  func copy() -> any PageReader<Item> {
    DeduplicatingReader(base.copy(), key: key, memory: memory.withLock { $0 })
  }
}
