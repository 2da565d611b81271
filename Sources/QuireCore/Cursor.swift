import Synchronization

/// A listing, ready to be walked: a source, where to start, and when to stop.
///
/// ```swift
/// for try await page in issues { … }
/// for try await issue in issues.items { … }
/// ```
/// A cheap value. Nothing is requested before the first `next()`, and then one page for each page
/// asked for. Every loop is a walk of its own from `start`; `walk()` makes one that can be held in
/// hand and asked for its report.
public struct Cursor<Item: Sendable>: PageSequence, Sendable {
  /// A page.
  public typealias Element = Page<Item>
  /// `PageError` or `CancellationError`.
  public typealias Failure = any Error

  /// Where every walk starts.
  public var start: Position

  /// Where walks stop before the server's end. Limits count what is delivered, after all
  /// transforms, wherever in the chain they were set.
  public var limits: Limits

  /// Positions that were visited before `start`: a return to one is a loop, too.
  public var visited: [Position] = []

  package let clock: any Clock<Duration>
  let makeReader: @Sendable (ReaderContext) -> any PageReader<Item>

  /// Walks whose pages `makeReader` reads, by one reader for each walk.
  package init(
    start: Position = .start, limits: Limits = Limits(), clock: any Clock<Duration>,
    makeReader: @escaping @Sendable (ReaderContext) -> any PageReader<Item>
  ) {
    self.start = start
    self.limits = limits
    self.clock = clock
    self.makeReader = makeReader
  }

  /// Walks over `source`. The clock measures the report's times and the limit on the duration.
  public init(
    _ source: some PageSource<Item>, from start: Position = .start, limits: Limits = Limits(),
    clock: any Clock<Duration> = ContinuousClock()
  ) {
    self.init(start: start, limits: limits, clock: clock) { _ in SourceReader(source: source) }
  }

  /// Walks over the pages that `page` fetches; it gets nil for the start of the listing, and returns nil
  /// when the listing ended before the position. See `PageSource.page(at:)`.
  public init(
    from start: Position = .start, limits: Limits = Limits(),
    clock: any Clock<Duration> = ContinuousClock(),
    page: @escaping @Sendable (Position?) async throws -> Page<Item>?
  ) {
    self.init(ClosureSource(fetch: page), from: start, limits: limits, clock: clock)
  }

  /// Walks over a source that keeps something from one page to the next: each walk, and each copy of one, has
  /// a source of its own.
  package static func ofEachWalk<Source: PageSource>(
    _ makeSource: @escaping @Sendable () -> Source
  ) -> Cursor where Source.Item == Item {
    Cursor(
      clock: ContinuousClock(),
      makeReader: { _ in OwnedReader<Item> { SourceReader(source: makeSource()) } })
  }

  /// The same listing from another position: a stored one, or `PageError.checkpoint`.
  ///
  /// A position that another listing made is refused by the first `next()`, with
  /// `PageError.Code.positionMismatch`, where the source can tell listings apart; see
  /// `Position.unchecked`. `visited` makes the loop guard remember what an earlier walk has seen.
  /// Default: nothing.
  public func resuming(from start: Position, visited: [Position] = []) -> Cursor {
    var cursor = self
    cursor.start = start
    cursor.visited = visited
    return cursor
  }

  /// The same listing with other limits.
  public func limited(to limits: Limits) -> Cursor {
    var cursor = self
    cursor.limits = limits
    return cursor
  }

  /// Whether a page may be asked for before the one in front of it was consumed.
  package var allowsLookAhead: Bool { probe.allowsLookAhead }

  /// What walks make of a position that comes back; see `PageSource.repeatedPositions`.
  package var repeatedPositions: Position.Repetition { probe.repeatedPositions }

  /// Where the page starts that comes `count` behind the one at `position`; nil where that cannot be
  /// told without reading. See `PageSource.positions(after:total:count:)`.
  package func position(_ count: Int, after position: Position, total: Total?) -> Position? {
    probe.positions(after: position, total: total, pages: count...count).first
  }

  /// By what the listing is known from others; nil where nothing is known.
  package var identity: ListingIdentity? { probe.identity }

  /// A reader that is asked and reads nothing.
  var probe: any PageReader<Item> {
    makeReader(ReaderContext(limits: limits, clock: clock))
  }

  /// A new walk from `start`.
  public func walk() -> Walk<Item> { walk(after: nil) }

  /// A walk from `start` for a consumer that has had others: limits on pages and items count those of the listing
  /// in front of it, those on bytes and requests what `other` has taken, and the one on the duration begins anew.
  /// `before` is where the page before it starts, where that is known.
  package func walk(
    after other: Walk<Item>?, pages: Int = 0, items: Int = 0, before: Position?? = nil
  ) -> Walk<Item> {
    let context = ReaderContext(limits: limits, clock: clock)
    let reader = makeReader(context)
    var machine = WalkMachine(
      start: start, visited: visited, limits: limits, repeatedPositions: reader.repeatedPositions,
      loops: LoopGuard { reader.identity(of: $0) },
      objection: reader.identity?.objection(to: start))
    machine.goOn(pages: pages, items: items, after: nil, before: before)
    return Walk(reader, clock: clock, machine: machine, allowance: other?.allowance) {
      [makeReader] in
      var context = context
      context.direction = .backward
      return makeReader(context)
    }
  }

  /// Starts a walk of its own with the first `next()`.
  public func makeAsyncIterator() -> Iterator { Iterator(self) }

  /// One walk over the pages.
  public struct Iterator: AsyncIteratorProtocol {
    private let cursor: Cursor
    private var interest: WalkInterest<Item>?
    /// The receipts of the page that the consumer has in hand.
    private var receipts: [PageReceipt] = []

    init(_ cursor: Cursor) { self.cursor = cursor }

    /// The next page; nil at the end, for ever. After an error, the page that failed.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws -> Page<Item>? {
      receipts.askedForMore()
      let interest = interest ?? WalkInterest(cursor.walk())
      self.interest = interest
      let page = try await interest.walk.next(isolation: actor)
      receipts = page?.head.receipts ?? []
      return page
    }

    /// The next page; nil at the end, for ever. After an error, the page that failed.
    public mutating func next() async throws -> Page<Item>? {
      try await next(isolation: #isolation)
    }
  }
}

@available(*, unavailable)
extension Cursor.Iterator: Sendable {}

/// A sequence of pages that can also be read item by item.
///
/// `Cursor`, `Walk` and `Paginator` are such sequences.
public protocol PageSequence<Item>: AsyncSequence
where Element == Page<Item>, Failure == any Error {
  associatedtype Item: Sendable
  /// The pages that `items` reads: another type where the sequence has to know how far a loop over items
  /// came, as a `Walk` does.
  associatedtype ItemPages: PageSequence<Item> = Self

  /// The same pages, item by item. Empty pages are skipped; nothing is requested before the first
  /// item is asked for, nor the next page before all items of this one were delivered.
  var items: ItemSequence<ItemPages> { get }
}

extension PageSequence where ItemPages == Self {
  /// The same pages, item by item. Empty pages are skipped; nothing is requested before the first
  /// item is asked for, nor the next page before all items of this one were delivered.
  @inlinable public var items: ItemSequence<Self> { ItemSequence(self) }
}

extension PageSequence {
  /// All items of all pages, in order, once the last one has come: for listings that fit into memory.
  ///
  /// Throws what the loop would throw; the items before that are lost with it.
  public func collect() async throws -> [Item] {
    var all: [Item] = []
    var receipts: [PageReceipt] = []
    for try await page in self {
      // The caller has nothing before it has everything.
      page.head.receipts.claim()
      receipts += page.head.receipts
      all += page.items
      // Of a loop over items, which counts them as they are taken.
      page.mark?.items.store(page.items.count, ordering: .relaxed)
    }
    receipts.give()
    return all
  }
}
