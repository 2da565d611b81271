/// A walk that loads ahead: the next page is on its way while this one is being handled.
///
/// ```swift
/// for try await page in Paginator(issues) { … }
/// for try await issue in Paginator(issues).items { … }
/// ```
/// Nothing is loaded before the first page is asked for, never more than one page at a time, and
/// never further ahead than the consumer's pace allows. Leaving the loop, or letting go of the
/// paginator and its iterators, cancels what is in flight. An error reaches the consumer after
/// everything that was loaded before it.
///
/// A paginator is one walk: another loop goes on where the last one stopped, and two loops at the
/// same time share the pages, each of which goes to one of them. Pages that were handed out are not
/// kept.
public actor Paginator<Item: Sendable>: PageSequence {
  /// A page.
  public typealias Element = Page<Item>
  /// `PageError` or `CancellationError`.
  public typealias Failure = any Error

  private let runner: PaginatorRunner<Item>

  /// Loads ahead in a walk of `cursor`.
  ///
  /// - Parameters:
  ///   - cursor: The listing, where to start, and when to stop.
  ///   - threshold: When the next page is loaded. Default: when more than 0.6 of the loaded items
  ///     are consumed. A page handed out as a whole counts as consumed up to its end.
  ///   - maxPagesAhead: How many pages may be loaded that nobody has begun. Default 1: more only
  ///     helps where the times of pages vary a lot. Less than 1 is thrown by the first `next()`.
  ///   - maxBytesAhead: How many bytes those pages may have. Default 16 MiB. The next page is
  ///     expected to be as large as the largest so far.
  public init(
    _ cursor: Cursor<Item>, threshold: Threshold = .standard, maxPagesAhead: Int = 1,
    maxBytesAhead: Int = 16 << 20
  ) {
    let limits = LookAhead(
      threshold: threshold, maxPages: maxPagesAhead, maxBytes: maxBytesAhead)
    runner = PaginatorRunner(cursor, limits: limits)
  }

  /// Goes on with the walk, page by page.
  public nonisolated func makeAsyncIterator() -> Iterator { Iterator(runner, .page) }

  /// The same walk, item by item; the next page becomes due with each item, not with each page.
  ///
  /// Leaving the loop leaves the items behind that were on their way to it.
  public nonisolated var items: ItemSequence<ItemPages> { ItemSequence(ItemPages(runner)) }

  /// What the walk has done so far, as far as its pages were handed out. The traffic includes what
  /// is loaded ahead.
  public nonisolated var report: WalkReport { runner.report }

  /// Loads the next page, or waits for the one that is being loaded.
  ///
  /// Returns whether there is one; throws the error of the load. Loads nothing while as much as
  /// allowed is loaded and not begun.
  @discardableResult
  public func loadMore() async throws -> Bool { try await runner.loadMore() }

  /// Tries again what failed last. Returns false when nothing did; throws when it fails again.
  @discardableResult
  public func retry() async throws -> Bool { try await runner.retry() }

  /// Starts over. What is loaded stays until the new first page is there, and then makes room for
  /// it in one step; what a load cancelled by this brings is never seen.
  ///
  /// Returns whether there is a page; throws the error of the load, and everything stays as it was.
  @discardableResult
  public func reload() async throws -> Bool { try await runner.reload() }

  /// Says by hand how many items from the start of the walk are consumed, where nobody iterates.
  ///
  /// The number only ever counts up. Pages that are consumed to their end are released.
  public func report(consumed: Int) { runner.reported(consumed: consumed) }
}
