import Synchronization

/// Pages that were read, by their positions, for as many walks as like to share them.
///
/// Walks that want a page at the same time read it once. Walks forward and backward have pages of
/// their own: a transform may make others of them on the way back. Nothing is dropped before
/// `clear()`.
public final class PageCache<Item: Sendable>: Sendable {
  /// Where a page lies and which way it was come to.
  struct Key: Hashable, Sendable {
    var position: Position
    var direction: Position.Direction
  }

  /// What was at a position: a page, or nothing any more.
  enum Entry: Sendable {
    case page(Page<Item>)
    case end
  }

  /// What a walk does for a page.
  enum Lookup: Sendable {
    /// Takes what is there.
    case known(Entry)
    /// Reads it, and says what came of it to `finish`.
    case read(Reading)
    /// Waits for the walk that reads it.
    case wait(Suspension<Outcome>)
  }

  /// How a read ended for its waiters.
  enum Outcome: Sendable {
    case read(Entry)
    case failed(any Error)
    /// The walk that read it was cancelled, or came to a limit: another one is to read it.
    case abandoned
  }

  /// A page being read.
  final class Reading: Sendable {
    fileprivate let waiting = Mutex<[Suspension<Outcome>]>([])
  }

  private struct State: Sendable {
    var entries: [Key: Entry] = [:]
    var readings: [Key: Reading] = [:]
  }

  private let state = Mutex(State())

  /// An empty cache.
  public init() {}

  /// How many pages are held, the ends of listings included.
  public var count: Int { state.withLock { $0.entries.count } }

  /// Forgets everything. What is being read goes to its waiters, and is not kept.
  public func clear() { state.withLock { $0 = State() } }

  func lookUp(_ key: Key) -> Lookup {
    state.withLock { state in
      if let entry = state.entries[key] { return .known(entry) }
      if let reading = state.readings[key] {
        let suspension = Suspension<Outcome>()
        reading.waiting.withLock { $0.append(suspension) }
        return .wait(suspension)
      }
      let reading = Reading()
      state.readings[key] = reading
      return .read(reading)
    }
  }

  /// The reading has ended; it is the cache's no more, and its waiters are told.
  func finish(_ reading: Reading, of key: Key, _ outcome: Outcome) {
    state.withLock { state in
      guard state.readings[key] === reading else { return }
      state.readings[key] = nil
      if case .read(let entry) = outcome { state.entries[key] = entry }
    }
    for suspension in reading.waiting.withLock({ $0 }) { suspension.resume(returning: outcome) }
  }
}

extension Cursor {
  /// The same pages, each of them read once and then taken from `cache`, the last one included.
  ///
  /// Give cursors of the same listing the same cache to let them share it. Walks that come to a page
  /// at the same time share one reading of it, its failure too; when the walk that reads is cancelled or
  /// comes to a limit of its own, another one reads. A page from the cache has cost no request. Put this
  /// in front of transforms that remember earlier pages, such as `deduplicated(by:)`: behind them, a page
  /// from the cache is one that they have not seen.
  public func cached(in cache: PageCache<Item> = PageCache()) -> Cursor<Item> {
    deriving { base, context in
      CachedReader(base: base, cache: cache, direction: context.direction)
    }
  }
}

/// Reads from a cache what is in it.
struct CachedReader<Item: Sendable>: PagewiseReader {
  let base: any PageReader<Item>
  let cache: PageCache<Item>
  let direction: Position.Direction

  func read(at position: Position) async throws -> Page<Item>? {
    let key = PageCache<Item>.Key(position: position, direction: direction)
    while true {
      switch cache.lookUp(key) {
      case .known(let entry): return Self.page(entry)
      case .read(let reading): return try await read(key, reading)
      case .wait(let suspension):
        switch try await suspension.value() {
        case .read(let entry): return Self.page(entry)
        case .failed(let error): throw error
        case .abandoned: continue
        }
      }
    }
  }

  private func read(
    _ key: PageCache<Item>.Key, _ reading: PageCache<Item>.Reading
  ) async throws -> Page<Item>? {
    do {
      let page = try await base.read(at: key.position)
      cache.finish(reading, of: key, .read(page.map { .page($0) } ?? .end))
      return page
    } catch {
      // Others may have other limits than this walk; those on what a page may hold are the same for all.
      let isOwn = error is CancellationError || Task.isCancelled || error.isLimitOfWalk
      cache.finish(reading, of: key, isOwn ? .abandoned : .failed(error))
      throw error
    }
  }

  /// What is in the cache, at no cost.
  private static func page(_ entry: PageCache<Item>.Entry) -> Page<Item>? {
    guard case .page(var page) = entry else { return nil }
    let items = page.traffic.items
    page.traffic = WalkReport.Traffic(requests: 0)
    page.traffic.items = items
    return page
  }

  func copy() -> any PageReader<Item> {
    CachedReader(base: base.copy(), cache: cache, direction: direction)
  }
}
