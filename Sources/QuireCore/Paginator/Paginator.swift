import Synchronization

/// A walk that loads ahead: the next page is loading while this one is being handled.
///
/// ```swift
/// for try await page in Paginator(issues) { … }
/// for try await issue in Paginator(issues).items { … }
/// ```
/// Nothing is loaded before the first page is asked for, never more than one page at a time, and
/// never further ahead than the consumer's pace allows. Leaving the loop, or releasing the
/// paginator and its iterators, cancels what is in flight. An error reaches the consumer after
/// everything that was loaded before it; the `next()` after it tries the same page again. If the
/// request for the next page makes the server forget this one, nothing is loaded ahead.
///
/// A paginator is one walk: another loop continues where the last one stopped, and two loops at the
/// same time share the pages, each of which goes to one of them. Pages are not kept once they are
/// delivered; `PagedList` in QuireLists keeps them.
public actor Paginator<Item: Sendable>: PageSequence {
  /// A page.
  public typealias Element = Page<Item>
  /// `PageError` or `CancellationError`.
  public typealias Failure = any Error

  typealias Machine = LookAheadMachine<Item>

  private let cursor: Cursor<Item>
  private let overlapsTransfers: Bool
  private let stopwatch: Stopwatch
  private var machine: Machine
  /// The walk, made with the first load.
  private var walk: Walk<Item>?
  private var load: (id: Int, task: Task<Void, Never>)?
  /// The urgency of the page that is being loaded.
  private var urgency: ReadUrgency?
  private var waiting: [Int: Suspension<Machine.Outcome>] = [:]
  private var tickets = 0
  private var times = WaitingTimes()
  private let iterators = Atomic<Int>(0)
  private let published: Mutex<Published>

  /// Creates a paginator that loads ahead in a walk of `cursor`.
  ///
  /// - Parameters:
  ///   - cursor: The listing, where to start, and when to stop.
  ///   - threshold: When the next page is loaded. Default: when more than 0.6 of the loaded items
  ///     are consumed. A page delivered as a whole counts as consumed up to its end.
  ///   - maxPagesAhead: The most pages that may be loaded and not begun. Default 1: more only helps
  ///     if the times of pages vary a lot. Less than 1 is `invalidArgument`, thrown by the first
  ///     `next()`.
  ///   - maxBytesAhead: The most bytes of those pages, as far as they are known before loading: the
  ///     next page counts as large as the largest so far, and is loaded only if it would fit. A
  ///     page that turns out larger exceeds the bound, and is the measure from then on. Default 16
  ///     MiB. To end such a transfer, set `Limits.bytes` for the walk or a limit of the source for
  ///     its pages.
  ///   - timeAhead: How long the items loaded ahead should last at the consumer's pace, in place of
  ///     `threshold`: below the low mark more is loaded, until they last for the high one, and
  ///     never beyond `maxPagesAhead` and `maxBytesAhead`. A mark counts as no less than the
  ///     longest time of the last 32 pages, so that the consumer need not wait for another page
  ///     that takes as long. Each change of the depth is among the report's `adjustments`. Default:
  ///     `threshold` decides.
  ///   - overlapsTransfers: Whether the next page is requested as soon as the head of this one says
  ///     where it is, by a Link or another field, while the body of this one still arrives. It
  ///     saves the time to the first byte of pages that take long to arrive, and takes a second
  ///     connection with HTTP/1. Only while a consumer waits, for bodies whose `Content-Length` is
  ///     within `maxBytesAhead`, and if the description lets nothing in a body end the listing.
  ///     Default: no, because the request is in vain if this page breaks off.
  public init(
    _ cursor: Cursor<Item>, threshold: Threshold = .standard, maxPagesAhead: Int = 1,
    maxBytesAhead: Int = 16 << 20, timeAhead: ClosedRange<Duration>? = nil,
    overlapsTransfers: Bool = false
  ) {
    self.cursor = cursor
    self.overlapsTransfers = overlapsTransfers
    stopwatch = Stopwatch(cursor.clock)
    let machine = Machine(
      start: cursor.start,
      limits: LookAhead(
        threshold: cursor.allowsLookAhead ? threshold : .onDemand, maxPages: maxPagesAhead,
        maxBytes: maxBytesAhead, time: cursor.allowsLookAhead ? timeAhead : nil))
    self.machine = machine
    published = Mutex(Published(delivered: machine.buffer.delivered))
  }

  deinit { load?.task.cancel() }

  /// Returns an iterator that continues the walk, page by page.
  public nonisolated func makeAsyncIterator() -> Iterator { Iterator(self) }

  /// The same walk, item by item; the next page becomes due with each item, not with each page.
  ///
  /// Another loop continues with the next item, even if the loop before was left in the middle of a
  /// page.
  public nonisolated var items: ItemSequence<ItemPages> {
    ItemSequence(ItemPages(paginator: self))
  }

  /// What the walk has done so far, as far as its pages were delivered. The traffic includes that
  /// of pages loaded ahead.
  public nonisolated var report: WalkReport {
    published.withLock { $0.report(isIterated: iterators.load(ordering: .acquiring) > 0) }
  }

  /// Returns when what the server holds for the walk is free again, after 5 seconds at the latest:
  /// for processes that are about to end. All iterators must be gone.
  package func close() async {
    await consumersLeft()
    await walk?.close()
  }

  /// Whether a page is being loaded that a consumer wants.
  var isLoading: Bool {
    if case .loading = machine.state { true } else { false }
  }

  // MARK: Consumers

  fileprivate func next(_ consumedCount: ConsumedCount?) async throws -> Page<Item>? {
    let begin = stopwatch.elapsed()
    if Task.isCancelled {
      machine.consumerCancelled()
      publish()
      throw CancellationError()
    }
    tickets += 1
    let ticket = tickets
    let effects = machine.next(
      consumedCount.map { .items($0) } ?? .page, ticket: ticket, at: begin)
    let outcome: Machine.Outcome
    if let known = effects.outcome {
      if let id = effects.start { start(id) }
      outcome = known
    } else {
      let suspension = Suspension<Machine.Outcome>()
      waiting[ticket] = suspension
      perform(effects)
      urgency?.raise(to: .waited)
      if machine.readsOn { urgency?.noteReadingOn() }
      outcome = try await suspension.value { [weak self] in
        Task { await self?.waiterCancelled(ticket) }
      }
    }
    times.waited(from: begin, to: stopwatch.elapsed())
    publish()
    switch outcome {
    case .page(let page): return page
    case .end: return nil
    case .failed(let error): throw error
    }
  }

  private func waiterCancelled(_ ticket: Int) { perform(machine.waiterCancelled(ticket: ticket)) }

  fileprivate nonisolated func iteratorBegan() { iterators.add(1, ordering: .releasing) }

  fileprivate nonisolated func iteratorEnded() {
    let (_, left) = iterators.subtract(1, ordering: .acquiringAndReleasing)
    if left == 0 { Task { await consumersLeft() } }
  }

  /// Cancels the load, and frees what the server holds, unless another loop has begun.
  private func consumersLeft() async {
    guard iterators.load(ordering: .acquiring) == 0 else { return }
    perform(machine.consumersLeft())
    await load?.task.value
    if iterators.load(ordering: .acquiring) == 0 { walk?.abandon() }
  }

  // MARK: Loads

  private func perform(_ effects: Machine.Effects) {
    if let id = effects.cancel, let load, load.id == id { load.task.cancel() }
    if let id = effects.start { start(id) }
    publish()
    for waking in effects.wake {
      waiting.removeValue(forKey: waking.ticket)?.resume(returning: waking.outcome)
    }
  }

  private func start(_ id: Int) {
    let walk = walk ?? cursor.walk()
    self.walk = walk
    // The task holds only the walk, not the paginator: the load ends with the paginator.
    let urgency = ReadUrgency(
      waiting.isEmpty ? .ahead : .waited, mostBytesToReadOn: machine.mostBytesToReadOn,
      overlapsTransfers: overlapsTransfers)
    if machine.readsOn { urgency.noteReadingOn() }
    self.urgency = urgency
    let task = Task { @concurrent [weak self] in
      let answer = await ReadUrgency.$current.withValue(urgency) {
        await LoadedPage.next(of: walk)
      }
      await self?.finished(id, answer)
    }
    load = (id, task)
  }

  private func finished(_ id: Int, _ answer: LoadedPage<Item>) {
    if load?.id == id { (load, urgency) = (nil, nil) }
    perform(machine.finished(id, answer, at: stopwatch.elapsed()))
    // The consumer may take its time, and need not hold the connection and a place at the host.
    if load == nil { walk?.leaveNext() }
  }

  private func publish() {
    // Made of the parts that are needed, because the machine as a whole would be copied.
    let now = Published(
      walk: walk, state: machine.state, delivered: machine.buffer.delivered,
      isCancelled: machine.isCancelled, hasPages: !machine.buffer.isEmpty, times: times,
      adjustments: machine.adjustments)
    published.withLock { $0 = now }
  }
}

// MARK: - Iterating

extension Paginator {
  /// An iterator over the walk of a paginator. Dropping the last one cancels what is in flight.
  public struct Iterator: AsyncIteratorProtocol {
    private let token: IterationToken
    /// The receipts of the page that the consumer is handling; the walk may be further.
    private var receipts: [PageReceipt] = []

    fileprivate init(_ paginator: Paginator, consumedCount: ConsumedCount? = nil) {
      token = IterationToken(paginator, consumedCount: consumedCount)
    }

    /// Returns the next page, and nil at the end. After an error, tries the page that failed again.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws -> Page<Item>? {
      receipts.confirmBeforeNextRequest()
      let page = try await token.paginator.next(token.consumedCount)
      receipts = page?.head.receipts ?? []
      return page
    }

    /// Returns the next page, and nil at the end. After an error, tries the page that failed again.
    public mutating func next() async throws -> Page<Item>? {
      try await next(isolation: #isolation)
    }
  }

  /// The pages of a paginator, cut where its next page becomes due; the base of `items`.
  public struct ItemPages: PageSequence, Sendable {
    /// A page, or a part of one.
    public typealias Element = Page<Item>
    /// `PageError` or `CancellationError`.
    public typealias Failure = any Error

    fileprivate let paginator: Paginator

    /// Returns an iterator that continues the walk.
    public func makeAsyncIterator() -> Iterator {
      Iterator(paginator, consumedCount: ConsumedCount())
    }
  }

  /// A token of an iterator: without any of them, loading ahead ends.
  private final class IterationToken: Sendable {
    let paginator: Paginator
    /// Counts the consumed items of a loop over items; nil in a loop over pages.
    let consumedCount: ConsumedCount?

    init(_ paginator: Paginator, consumedCount: ConsumedCount?) {
      self.paginator = paginator
      self.consumedCount = consumedCount
      paginator.iteratorBegan()
    }

    deinit {
      consumedCount?.leave()
      paginator.iteratorEnded()
    }
  }
}

@available(*, unavailable)
extension Paginator.Iterator: Sendable {}

// MARK: - Report

extension Paginator {
  /// The parts of a report, as of the last step.
  private struct Published: Sendable {
    var walk: Walk<Item>?
    var state = LookAhead.State.idle
    let delivered: DeliveredPages<Item>
    var isCancelled = false
    var hasPages = false
    var times = WaitingTimes()
    var adjustments: [WalkReport.Adjustment] = []

    /// Returns the walk's report as the consumer sees it: pages loaded ahead do not count yet.
    func report(isIterated: Bool) -> WalkReport {
      var report = walk?.report ?? WalkReport()
      let isRead = !hasPages && delivered.open.unread == 0
      report.pages = delivered.pages
      report.items = delivered.consumed
      // The walk may have read its last page meanwhile, which does not count before the machine
      // knows of it. The end may also have been an answer of its own behind the last page, which
      // then leads there.
      let isOver = isExhausted && report.checkpoint == nil && isRead
      report.checkpoint = isOver ? nil : delivered.checkpoint
      report.note(adjustments)
      report.waitingForNetwork = times.forNetwork
      report.waitingForConsumer = times.forConsumer
      report.end = end(ofWalk: report.end, isRead: isRead, isIterated: isIterated)
      if !isRead || state.isLoading { report.nextFailure = nil }
      report.markCheckpoint()
      return report
    }

    private var isExhausted: Bool { if case .exhausted = state { true } else { false } }

    /// Returns why no more pages come to the consumer, if the walk ended with `end`.
    private func end(
      ofWalk end: WalkReport.End, isRead: Bool, isIterated: Bool
    ) -> WalkReport.End {
      switch state {
      case .exhausted where isRead: return end
      case .failed(let error as PageError, isDelivered: true): return .failed(error)
      case .idle, .loading, .cancelling, .failed, .exhausted: break
      }
      if isCancelled { return .cancelled }
      return isIterated || delivered.pages == 0 ? .running : .stoppedByConsumer
    }
  }
}

/// The times in which a consumer waited for pages, and the walk for the consumer.
private struct WaitingTimes: Sendable {
  private(set) var forNetwork: Duration = .zero
  private(set) var forConsumer: Duration = .zero
  private var lastDelivery: Duration?

  /// Notes that the consumer asked at `begin` and was served at `end`.
  mutating func waited(from begin: Duration, to end: Duration) {
    if let lastDelivery { forConsumer += max(.zero, begin - lastDelivery) }
    forNetwork += end - begin
    lastDelivery = end
  }
}

/// The result of loading one page of a walk.
package enum LoadedPage<Item: Sendable>: Sendable {
  /// A page; `isLast` if the walk has no more pages in that direction.
  case page(Page<Item>, isLast: Bool)
  case end
  case failed(any Error)

  /// Loads the next page of the walk.
  @concurrent package static func next(of walk: Walk<Item>) async -> LoadedPage {
    do {
      guard let page = try await walk.next(isolation: nil) else { return .end }
      let isLast = walk.isOver
      if isLast { walk.settle() }
      return .page(page, isLast: isLast)
    } catch {
      return .failed(error)
    }
  }

  /// Loads the page before the first one of the walk.
  @concurrent package static func previous(of walk: Walk<Item>) async -> LoadedPage {
    do {
      guard let page = try await walk.previous() else { return .end }
      return .page(page, isLast: page.previous == nil)
    } catch {
      return .failed(error)
    }
  }

  /// Whether the load brought a page.
  var isPage: Bool {
    if case .page = self { true } else { false }
  }

  /// Whether the load failed.
  package var isFailure: Bool {
    if case .failed = self { true } else { false }
  }

  /// Whether the load was cancelled, by the source or from outside.
  package var isCancellation: Bool {
    if case .failed(let error) = self { error is CancellationError } else { false }
  }
}
