/// A walk that loads ahead: the next page is on its way while this one is being handled.
///
/// ```swift
/// for try await page in Paginator(issues) { … }
/// for try await issue in Paginator(issues).items { … }
/// ```
/// Nothing is loaded before the first page is asked for, never more than one page at a time, and
/// never further ahead than the consumer's pace allows. Leaving the loop, or letting go of the
/// paginator and its iterators, cancels what is in flight. An error reaches the consumer after
/// everything that was loaded before it. Where asking for the next page makes the server forget this
/// one, nothing is loaded ahead.
///
/// A paginator is one walk: another loop goes on where the last one stopped, and two loops at the
/// same time share the pages, each of which goes to one of them. Pages that were handed out are not
/// kept. With the retention `.all` they are: every loop begins with the first page, and `snapshot`,
/// `states` and page commands serve a list that people look at.
public actor Paginator<Item: Sendable>: PageSequence {
  /// A page.
  public typealias Element = Page<Item>
  /// `PageError` or `CancellationError`.
  public typealias Failure = any Error

  nonisolated let runner: PaginatorRunner<Item>

  /// Loads ahead in a walk of `cursor`.
  ///
  /// - Parameters:
  ///   - cursor: The listing, where to start, and when to stop.
  ///   - threshold: When the next page is loaded. Default: when more than 0.6 of the loaded items
  ///     are consumed. A page handed out as a whole counts as consumed up to its end.
  ///   - maxPagesAhead: How many pages may be loaded that nobody has begun. Default 1: more only
  ///     helps where the times of pages vary a lot. Less than 1 is thrown by the first `next()`.
  ///   - maxBytesAhead: How many bytes those pages may have, as far as that is known before they are
  ///     loaded: the next page is taken for as large as the largest so far, and only loaded where it
  ///     would fit. One that turns out larger goes beyond the bound by what it has more, and from then
  ///     on is the measure. Default 16 MiB. To end such a transfer, set `Limits.bytes` for the walk or
  ///     a limit of the source for its pages.
  ///   - retention: What is kept of the pages handed out. Default: nothing.
  ///   - list: How a list that people look at is served.
  public init(
    _ cursor: Cursor<Item>, threshold: Threshold = .standard, maxPagesAhead: Int = 1,
    maxBytesAhead: Int = 16 << 20, retention: Retention = .window,
    list: ListOptions = ListOptions()
  ) {
    var list = list
    if !cursor.allowsLookAhead { list.thresholdBefore = .onDemand }
    let limits = LookAhead(
      threshold: cursor.allowsLookAhead ? threshold : .onDemand, maxPages: maxPagesAhead,
      maxBytes: maxBytesAhead, retention: retention, list: list)
    runner = PaginatorRunner(cursor, limits: limits)
  }

  /// Goes on with the walk, page by page; with the retention `.all`, from the first page on.
  public nonisolated func makeAsyncIterator() -> Iterator { Iterator(runner) }

  /// The same walk, item by item; the next page becomes due with each item, not with each page.
  ///
  /// Another loop goes on with the next item, also after one that was left in the middle of a page.
  public nonisolated var items: ItemSequence<ItemPages> { ItemSequence(ItemPages(runner)) }

  /// Returns when what the server holds for the walk is free again, after 5 seconds at the latest:
  /// for processes that are about to end. All iterators must be gone.
  package nonisolated func close() async { await runner.close() }

  /// What the walk has done so far, as far as its pages were handed out. The traffic includes what
  /// is loaded ahead.
  public nonisolated var report: WalkReport { runner.report }
}

extension Paginator {
  /// A loop over the walk of a paginator. Dropping it cancels what is in flight, unless another one
  /// is there.
  public struct Iterator: AsyncIteratorProtocol {
    private let interest: PaginatorInterest<Item>

    init(_ runner: PaginatorRunner<Item>, mark: ItemMark? = nil) {
      interest = PaginatorInterest(runner, mark: mark)
    }

    /// The next page; nil at the end. After an error, the page that failed.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws -> Page<Item>? {
      try await interest.runner.next(
        interest.mark.map { .items($0) } ?? .page, reader: interest.reader)
    }

    /// The next page; nil at the end. After an error, the page that failed.
    public mutating func next() async throws -> Page<Item>? {
      try await next(isolation: #isolation)
    }
  }

  /// The pages of a paginator, cut where its next page becomes due; what `items` is made of.
  public struct ItemPages: PageSequence, Sendable {
    /// A page, or a part of one.
    public typealias Element = Page<Item>
    /// `PageError` or `CancellationError`.
    public typealias Failure = any Error

    private let runner: PaginatorRunner<Item>

    init(_ runner: PaginatorRunner<Item>) { self.runner = runner }

    /// Goes on with the walk.
    public func makeAsyncIterator() -> Iterator { Iterator(runner, mark: ItemMark()) }
  }
}

@available(*, unavailable)
extension Paginator.Iterator: Sendable {}

/// Tells the paginator when the last copy of an iterator is gone.
final class PaginatorInterest<Item: Sendable>: Sendable {
  let runner: PaginatorRunner<Item>
  /// The number by which the paginator knows this reader.
  let reader: Int
  /// Where the items taken are noted, if they are taken one by one.
  let mark: ItemMark?

  init(_ runner: PaginatorRunner<Item>, mark: ItemMark?) {
    self.runner = runner
    self.mark = mark
    reader = runner.iteratorBegan()
  }

  deinit { runner.iteratorLeft(reader, mark: mark) }
}

// Loads by hand. Each call waits until its load has ended; calls for the same load join it.
extension Paginator {
  /// Loads the next page, or waits for the one that is being loaded.
  ///
  /// Returns whether there is one; throws the error of the load. Unless all pages are kept, nothing
  /// is loaded while as much as allowed is loaded and not begun.
  @discardableResult
  public func loadMore() async throws -> Bool {
    try await runner.call { $0.loadMore(ticket: $1) }.hasLoaded
  }

  /// Loads the page before the first one, where the server says where that is. Needs the retention
  /// `.all`.
  ///
  /// Returns whether there is one; throws the error of the load, which loads after the last page
  /// know nothing of. Observers are told by how many items all others move.
  @discardableResult
  public func loadBefore() async throws -> Bool {
    try await runner.call { $0.loadBefore(ticket: $1) }.hasLoaded
  }

  /// Tries again what failed last, or a listing that was empty. Returns false when nothing did;
  /// throws when it fails again.
  @discardableResult
  public func retry() async throws -> Bool {
    try await runner.call { $0.retry(ticket: $1) }.hasLoaded
  }

  /// Starts over. What is loaded stays until the new first page is there, and then makes room for
  /// it in one step; what a load cancelled by this brings is never seen. `ListOptions.onReload` has
  /// other ways. A reload that is on its way is joined: two calls at the same time are one request.
  ///
  /// Returns whether there is a page. Throws the error of the load, which is the state then; all
  /// else stays as it was: what is loaded, its totals, and the way on.
  @discardableResult
  public func reload() async throws -> Bool {
    try await runner.call { $0.reload(ticket: $1) }.hasLoaded
  }

  /// Turns to another page of what is held, and loads what is missing on the way there. Needs the
  /// retention `.all`.
  ///
  /// Commands are queued: three times `.next` while a page is being loaded are three pages, in
  /// order. Returns nil, and stays where it is, when there is no such page.
  @discardableResult
  public func turn(to command: PageCommand) async throws -> Page<Item>? {
    guard case .page(let page) = try await runner.call({ $0.turn(command, ticket: $1) }) else {
      return nil
    }
    return page
  }

  /// Loads the next page, or the first, if nothing is being loaded; waits for nothing.
  package nonisolated func requestMore() { runner.perform { $0.requested() } }

  /// Cancels what is being loaded. Whoever waits for it gets `CancellationError`, and the paginator
  /// is where it was before the load.
  public func cancel() { runner.perform { $0.cancelled() } }
}

extension PaginatorMachine.Outcome {
  fileprivate var hasLoaded: Bool {
    if case .loaded(let brought) = self { brought } else { false }
  }
}

extension Paginator {
  /// The state now, and then every state it changes to, in order.
  ///
  /// Two states that follow one another differ. Every loop over this listens for itself, and ends
  /// with the paginator.
  public nonisolated var states: Observations<PaginatorState> {
    Observations { [weak runner] in
      runner?.listen({ $0.state }) { event in
        if case .changed(_, let state) = event { state } else { nil }
      } ?? .finished()
    }
  }

  /// Everything that happens from now on, in order: changes of the state, and the pages that cause
  /// them.
  public nonisolated var events: Observations<PaginatorEvent<Item>> {
    Observations { [weak runner] in runner?.listen({ _ in nil }) { $0 } ?? .finished() }
  }

  /// What there is and what is being done, all from the same moment. O(1).
  public nonisolated var snapshot: PaginatorSnapshot<Item> {
    runner.withMachine { $0.snapshot }
  }
}

// Where a consumer is that does not iterate: a view that scrolls, for example. Reports may come as
// often as they like. They are heard in the order of their calls.
extension Paginator {
  /// When the next page is loaded. A new threshold takes effect with the next item or report.
  public nonisolated var threshold: Threshold {
    get { runner.withMachine { $0.limits.threshold } }
    set { runner.withMachine { $0.use(newValue) } }
  }

  /// When the page before the first one is loaded; see `ListOptions.thresholdBefore`. A new threshold
  /// takes effect with the next report.
  public nonisolated var thresholdBefore: Threshold {
    get { runner.withMachine { $0.limits.list.thresholdBefore } }
    set { runner.withMachine { $0.useBefore(newValue) } }
  }

  /// Whether pages are loaded when they are due; otherwise only when somebody waits for them. A
  /// reload turns it on again.
  public nonisolated var loadsAhead: Bool {
    get { runner.withMachine { $0.limits.list.loadsAhead } }
    set { runner.withMachine { $0.limits.list.loadsAhead = newValue } }
  }

  /// Says how many items from the first one on are consumed.
  ///
  /// The number only ever counts up. Unless all pages are kept, those that are consumed to their end
  /// are released.
  public nonisolated func report(consumed: Int) { runner.reported(consumed: consumed) }

  /// Says where in a view the consumer is.
  ///
  /// The next page is loaded once when the threshold is crossed, and not again before it came and
  /// the consumer went further than ever. Positions before the content never count; content that is
  /// shorter than its viewport always does, unless `ListOptions.fillsViewport` is off. Nothing is
  /// loaded before somebody has asked for a first page.
  ///
  /// In the same way the page before the first one is loaded when `thresholdBefore` is crossed on the way
  /// back, where the server says where that page is. One report starts one load: the page behind comes
  /// first. A view that shows a page from before the start reports the content's new length.
  public nonisolated func report(offset: Double, in viewport: Viewport) {
    runner.reported(offset: offset, in: viewport)
  }
}

extension PaginatorMachine {
  mutating func use(_ threshold: Threshold) {
    limits.threshold = threshold
    latch.threshold = threshold
  }

  mutating func useBefore(_ threshold: Threshold) {
    limits.list.thresholdBefore = threshold
    latchBefore.threshold = threshold
  }
}

/// A wish to turn to another page of what a paginator holds.
public enum PageCommand: Hashable, Sendable {
  /// The page after the one turned to last, which is loaded if it must be.
  case next
  /// The page before the one turned to last, if it is held.
  case previous
  /// The page with this number, counted from the first one held; everything up to it is loaded.
  case page(Int)
  /// The page that has this item, counted from the first one held; everything up to it is loaded.
  case item(Int)
}

/// Something that happened to a paginator, for whoever watches it.
public enum PaginatorEvent<Item: Sendable>: Sendable {
  /// The state changed; `from` is what the last change led to.
  case changed(from: PaginatorState, to: PaginatorState)
  /// A first page took the place of everything before it.
  case reloaded(Page<Item>)
  /// A page came after the last one.
  case appended(Page<Item>)
  /// A page came before the first one: every item moves by `shift`.
  case prepended(Page<Item>, shift: Int)
  /// Whether the next page is loaded when it is due.
  case canLoadMore(Bool)
  /// Everything that was loaded is gone.
  case cleared
}
