import Synchronization

/// Pages that were read, by their positions, for as many walks as like to share them.
///
/// A page is the same whichever way it is come to, so walks forward and backward share it, too.
/// Nothing is dropped before `clear()`.
public final class PageCache<Item: Sendable>: Sendable {
  /// What was at a position: a page, or nothing any more.
  enum Entry: Sendable {
    case page(Page<Item>)
    case end
  }

  private let entries = Mutex<[Position: Entry]>([:])

  /// An empty cache.
  public init() {}

  /// How many pages are held, the ends of listings included.
  public var count: Int { entries.withLock { $0.count } }

  /// Forgets everything.
  public func clear() { entries.withLock { $0 = [:] } }

  subscript(position: Position) -> Entry? {
    get { entries.withLock { $0[position] } }
    set { entries.withLock { $0[position] = newValue } }
  }
}

extension Cursor {
  /// The same pages, each of them read once and then taken from `cache`, the last one included.
  ///
  /// Give cursors of the same listing the same cache to let them share it. A page from the cache has
  /// cost no request.
  public func cached(in cache: PageCache<Item> = PageCache()) -> Cursor<Item> {
    deriving { base, _ in CachedReader(base: base, cache: cache) }
  }
}

/// Reads from a cache what is in it.
struct CachedReader<Item: Sendable>: PageReader {
  let base: any PageReader<Item>
  let cache: PageCache<Item>

  func read(at position: Position) async throws -> Page<Item>? {
    switch cache[position] {
    case .end: return nil
    case .page(var page):
      let items = page.traffic.items
      page.traffic = Traffic(requests: 0)
      page.traffic.items = items
      return page
    case nil: break
    }
    let page = try await base.read(at: position)
    cache[position] = page.map { .page($0) } ?? .end
    return page
  }

  func positions(after position: Position, total: Total?, count: Int) -> [Position] {
    base.positions(after: position, total: total, count: count)
  }

  func copy() -> any PageReader<Item> { CachedReader(base: base.copy(), cache: cache) }
  func leave() { base.leave() }
  func close(at position: Position?) async { await base.close(at: position) }
  var needsClosing: Bool { base.needsClosing }
  var repeatedPositions: RepeatedPositions { base.repeatedPositions }
  var allowsLookAhead: Bool { base.allowsLookAhead }
  var identity: ListingIdentity? { base.identity }
}
