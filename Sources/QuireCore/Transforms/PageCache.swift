import Synchronization

/// Pages that were read, by their positions, which any number of walks can share.
///
/// Walks that want a page at the same time read it once. Forward and backward walks have separate
/// pages, because a transform may make other pages backward. No page is dropped before `clear()`.
public final class PageCache<Item: Sendable>: Sendable {
  /// The position of a page, and the direction in which it was read.
  struct Key: Hashable, Sendable {
    var position: Position
    var direction: Position.Direction
  }

  /// The result of a read: a page, or the end of the listing.
  enum Entry: Sendable {
    case page(Page<Item>)
    case end
  }

  /// What a walk has to do for a page.
  enum Lookup: Sendable {
    /// Take the entry that is there.
    case known(Entry)
    /// Read the page, and pass the result to `finish(_:of:_:)`.
    case read(PendingRead)
    /// Wait for the walk that reads the page.
    case wait(Suspension<Outcome>)
  }

  /// The result of a read for its waiters.
  enum Outcome: Sendable {
    case read(Entry)
    case failed(any Error)
    /// The walk that read the page was cancelled, or came to a limit: another one has to read it.
    case abandoned
  }

  /// A page that is being read.
  final class PendingRead: Sendable {
    fileprivate let waiting = Mutex<[Suspension<Outcome>]>([])
  }

  private struct State: Sendable {
    var entries: [Key: Entry] = [:]
    var pendingReads: [Key: PendingRead] = [:]
  }

  private let state = Mutex(State())

  /// Creates an empty cache.
  public init() {}

  /// The number of pages held, ends of listings included.
  public var count: Int { state.withLock { $0.entries.count } }

  /// Drops all entries. Pages that are being read go to their waiters, and are not kept.
  public func clear() { state.withLock { $0 = State() } }

  func lookUp(_ key: Key) -> Lookup {
    state.withLock { state in
      if let entry = state.entries[key] { return .known(entry) }
      if let reading = state.pendingReads[key] {
        let suspension = Suspension<Outcome>()
        reading.waiting.withLock { $0.append(suspension) }
        return .wait(suspension)
      }
      let reading = PendingRead()
      state.pendingReads[key] = reading
      return .read(reading)
    }
  }

  /// Ends a reading: keeps its result, unless the cache was cleared meanwhile, and passes it to the
  /// waiters.
  func finish(_ reading: PendingRead, of key: Key, _ outcome: Outcome) {
    state.withLock { state in
      guard state.pendingReads[key] === reading else { return }
      state.pendingReads[key] = nil
      if case .read(let entry) = outcome { state.entries[key] = entry }
    }
    for suspension in reading.waiting.withLock({ $0 }) { suspension.resume(returning: outcome) }
  }
}

extension Cursor {
  /// Returns the same pages, each of them read once and then taken from `cache`, the last one
  /// included.
  ///
  /// Give cursors of the same listing the same cache to let them share it. Walks that come to a
  /// page at the same time share one read of it, its failure too; if the walk that reads is
  /// cancelled, or comes to a limit of its own, another one reads. A page from the cache costs no
  /// request. Put this in front of transforms that remember earlier pages, such as
  /// `deduplicated(by:)`: behind them, they would not see the pages that come from the cache.
  public func cached(in cache: PageCache<Item> = PageCache()) -> Cursor<Item> {
    deriving { base, context in
      CachedReader(base: base, cache: cache, direction: context.direction)
    }
  }
}

/// Reads through a cache.
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
    _ key: PageCache<Item>.Key, _ reading: PageCache<Item>.PendingRead
  ) async throws -> Page<Item>? {
    do {
      let page = try await base.read(at: key.position)
      cache.finish(reading, of: key, .read(page.map { .page($0) } ?? .end))
      return page
    } catch {
      // Other walks may have other limits on the walk, but limits on the content of a page apply to
      // all.
      let isOwn = error is CancellationError || Task.isCancelled || error.isLimitOfWalk
      cache.finish(reading, of: key, isOwn ? .abandoned : .failed(Self.withoutTraffic(error)))
      throw error
    }
  }

  /// Returns the error for walks that waited for the read, which cost them nothing.
  private static func withoutTraffic(_ error: any Error) -> any Error {
    guard var error = error as? PageError else { return error }
    error.traffic = .zero
    return error
  }

  /// Returns the page of an entry, without traffic except the number of its items.
  private static func page(_ entry: PageCache<Item>.Entry) -> Page<Item>? {
    guard case .page(var page) = entry else { return nil }
    let items = page.traffic.items
    page.traffic = .zero
    page.traffic.items = items
    return page
  }

  /// Does nothing: a page without items, because it has not changed, would be of no use to other
  /// walks.
  func expect(_ known: KnownPage) {}

  func copy() -> any PageReader<Item> {
    CachedReader(base: base.copy(), cache: cache, direction: direction)
  }
}
