import Synchronization

/// A listing, ready to be walked: a source, where to start, and when to stop.
///
/// ```swift
/// for try await page in issues { … }
/// for try await issue in issues.items { … }
/// ```
/// A cursor is a cheap value. Nothing is requested before the first `next()`, and then one page for
/// each page asked for. Every loop is a walk of its own from `start`; `walk()` returns one that you
/// can keep and ask for its report.
public struct Cursor<Item: Sendable>: PageSequence, Sendable {
  /// A page.
  public typealias Element = Page<Item>
  /// `PageError` or `CancellationError`.
  public typealias Failure = any Error

  /// Where every walk starts.
  public var start: Position

  /// The limits at which walks stop before the server's end. They count what is delivered, after
  /// all transforms, wherever in the chain they were set.
  public var limits: Limits

  /// The positions visited before `start`: a return to one of them is a loop, too.
  public var visited: [Position] = []

  package let clock: any Clock<Duration>
  let makeReader: @Sendable (ReaderContext) -> any PageReader<Item>

  /// Creates a cursor. Each of its walks reads through a reader of its own, which `makeReader`
  /// makes.
  package init(
    start: Position = .start, limits: Limits = Limits(), clock: any Clock<Duration>,
    makeReader: @escaping @Sendable (ReaderContext) -> any PageReader<Item>
  ) {
    self.start = start
    self.limits = limits
    self.clock = clock
    self.makeReader = makeReader
  }

  /// Creates a cursor over `source`. The clock measures the report's times and the limit on the
  /// duration.
  public init(
    _ source: some PageSource<Item>, from start: Position = .start, limits: Limits = Limits(),
    clock: any Clock<Duration> = ContinuousClock()
  ) {
    self.init(start: start, limits: limits, clock: clock) { _ in SourceReader(source: source) }
  }

  /// Creates a cursor over the pages that `page` fetches. The closure receives nil for the start of
  /// the listing, and returns nil if the listing ended before the position. See
  /// `PageSource.page(at:)`.
  public init(
    from start: Position = .start, limits: Limits = Limits(),
    clock: any Clock<Duration> = ContinuousClock(),
    page: @escaping @Sendable (Position?) async throws -> Page<Item>?
  ) {
    self.init(ClosureSource(fetch: page), from: start, limits: limits, clock: clock)
  }

  /// Returns a cursor over a source that keeps state between pages: each walk, and each copy of a
  /// walk, has a source of its own.
  package static func ofEachWalk<Source: PageSource>(
    _ makeSource: @escaping @Sendable () -> Source
  ) -> Cursor where Source.Item == Item {
    Cursor(
      clock: ContinuousClock(),
      makeReader: { _ in OwnedReader<Item> { SourceReader(source: makeSource()) } })
  }

  /// Returns the same listing from another position: a stored one, or `PageError.checkpoint`.
  ///
  /// If another listing made the position, and the source can tell listings apart, the first
  /// `next()` throws `PageError.Code.positionMismatch`; see `Position.unchecked`. `visited` holds
  /// positions of an earlier walk, so that a return to one of them is a loop. Default: none.
  public func resuming(from start: Position, visited: [Position] = []) -> Cursor {
    var cursor = self
    cursor.start = start
    cursor.visited = visited
    return cursor
  }

  /// Returns the same listing with other limits.
  public func limited(to limits: Limits) -> Cursor {
    var cursor = self
    cursor.limits = limits
    return cursor
  }

  /// Whether a page may be requested before the previous page was consumed.
  package var allowsLookAhead: Bool { probe.allowsLookAhead }

  /// How walks treat a position that they have already visited; see `PageSource.repeatedPositions`.
  package var repeatedPositions: Position.Repetition { probe.repeatedPositions }

  /// Returns the position of the page `count` pages behind the one at `position`; nil if it cannot
  /// be computed without reading. See `PageSource.positions(after:total:count:)`.
  package func position(_ count: Int, after position: Position, total: Total?) -> Position? {
    probe.positions(after: position, total: total, pages: count...count).first
  }

  /// The identity of the listing; nil if the source cannot tell listings apart.
  package var identity: ListingIdentity? { probe.identity }

  /// A reader that answers questions about the listing and reads no page.
  var probe: any PageReader<Item> {
    makeReader(ReaderContext(limits: limits, clock: clock))
  }

  /// Returns a new walk from `start`.
  public func walk() -> Walk<Item> { walk(after: nil) }

  /// Returns a walk from `start` for a consumer that has had other walks.
  ///
  /// Limits on pages and items also count the `pages` and `items` of the listing in front of
  /// `start`; limits on bytes and requests also count what `other` has spent; the limit on the
  /// duration begins anew. `before` is the position of the page in front of `start`, if it is
  /// known.
  package func walk(
    after other: Walk<Item>?, pages: Int = 0, items: Int = 0, before: Position?? = nil
  ) -> Walk<Item> {
    let context = ReaderContext(limits: limits, clock: clock)
    let reader = makeReader(context)
    var machine = WalkMachine(
      start: start, visited: visited, limits: limits, repeatedPositions: reader.repeatedPositions,
      loops: LoopGuard { reader.identity(of: $0) },
      objection: reader.identity?.objection(to: start), digest: { reader.digest(of: $0) })
    machine.takeOver(pages: pages, items: items, after: nil, before: before)
    return Walk(reader, clock: clock, machine: machine, allowance: other?.allowance) {
      [makeReader] in
      var context = context
      context.direction = .backward
      return makeReader(context)
    }
  }

  /// Returns an iterator over a walk of its own, which begins with the first `next()`.
  public func makeAsyncIterator() -> Iterator { Iterator(self) }

  /// An iterator over one walk.
  public struct Iterator: AsyncIteratorProtocol {
    private let cursor: Cursor
    private var iterationToken: IterationToken<Item>?
    /// The receipts of the page that the consumer is handling.
    private var receipts: [PageReceipt] = []

    init(_ cursor: Cursor) { self.cursor = cursor }

    /// Returns the next page, and nil at the end and from then on. After an error, tries the page
    /// that failed again.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws -> Page<Item>? {
      receipts.confirmBeforeNextRequest()
      let iterationToken = iterationToken ?? IterationToken(cursor.walk())
      self.iterationToken = iterationToken
      let page = try await iterationToken.walk.next(isolation: actor)
      receipts = page?.head.receipts ?? []
      return page
    }

    /// Returns the next page, and nil at the end and from then on. After an error, tries the page
    /// that failed again.
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
  /// The pages that `items` reads; another type if the sequence has to know how far a loop over
  /// items came, as a `Walk` does.
  associatedtype ItemPages: PageSequence<Item> = Self

  /// The same pages, item by item. Pages without items are skipped. Nothing is requested before the
  /// first item is asked for, and the next page only once all items of this one were delivered.
  var items: ItemSequence<ItemPages> { get }
}

extension PageSequence where ItemPages == Self {
  /// The same pages, item by item. Pages without items are skipped. Nothing is requested before the
  /// first item is asked for, and the next page only once all items of this one were delivered.
  @inlinable public var items: ItemSequence<Self> { ItemSequence(self) }
}

extension PageSequence {
  /// Returns all items of all pages, in order, once the last one has come: for listings that fit
  /// into memory.
  ///
  /// Throws the error that the loop would throw; the items before it are lost.
  public func collect() async throws -> [Item] {
    var all: [Item] = []
    var receipts: [PageReceipt] = []
    for try await page in self {
      // The caller gets the pages only at the end: asking for more does not mean that they are
      // consumed.
      page.head.receipts.deferConfirmation()
      receipts += page.head.receipts
      all += page.items
      // Pages of a loop over items have a count of the consumed items.
      page.consumedCount?.items.store(page.items.count, ordering: .relaxed)
    }
    receipts.confirm()
    return all
  }
}
