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
