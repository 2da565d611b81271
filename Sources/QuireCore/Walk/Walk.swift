import Synchronization

/// One pass over a listing, which can be kept and shared: its pages as they are asked for, and its
/// report.
///
/// ```swift
/// let walk = issues.walk()
/// for try await page in walk { … }
/// print(walk.report.end)
/// ```
/// Another loop continues where the walk stopped: after an error with the page that failed, after
/// the end with nothing. Tasks that share a walk share its pages: one page is read at a time, and a
/// task that asks meanwhile waits for its turn and gets the page after it.
public final class Walk<Item: Sendable>: PageSequence, Sendable {
  /// A page.
  public typealias Element = Page<Item>
  /// `PageError` or `CancellationError`.
  public typealias Failure = any Error

  let reader: any PageReader<Item>
  let clock: any Clock<Duration>
  /// Makes a reader for the pages before the start; nil where there can be none.
  let makeBackwardReader: (@Sendable () -> any PageReader<Item>)?
  private let stopwatch: Stopwatch
  /// The task that closes the source, once it has begun.
  private let cleanup = Mutex<Task<Void, Never>?>(nil)
  let machine: Mutex<WalkMachine>
  /// The pages that loops over items are in the middle of.
  let open: Mutex<OpenPages<Item>>
  /// Whether a loop has left items unread in `open`, at the cost of one load.
  private let hasLeftovers: Atomic<Bool>
  /// The receipts of the pages that consumers without an iterator are handling.
  private let receipts = Mutex<[PageReceipt]>([])
  /// The queue of the tasks that wait for a page.
  private let turns = TurnQueue()
  /// The number of tasks that read a page or wait for their turn.
  private let asking = Atomic(0)
  /// The number of the walk within the process.
  private let number = WalkReading.newNumber()
  /// The bytes and requests that the walk may still spend; nil without limits on them.
  let allowance: ReadAllowance?
  /// The walk backward from the start; nil until a page before the start is asked for.
  let backward = Mutex<Walk<Item>?>(nil)

  init(
    _ reader: any PageReader<Item>, clock: any Clock<Duration>, machine: WalkMachine,
    allowance: ReadAllowance? = nil, open: OpenPages<Item> = OpenPages(),
    makeBackwardReader: (@Sendable () -> any PageReader<Item>)? = nil
  ) {
    self.reader = reader
    self.clock = clock
    self.makeBackwardReader = makeBackwardReader
    self.stopwatch = Stopwatch(clock)
    self.allowance =
      allowance ?? ReadAllowance(machine.limits, spent: machine.report.traffic)
    self.machine = Mutex(machine)
    hasLeftovers = Atomic(open.hasLeftovers)
    self.open = Mutex(open)
    if machine.report.pages > 0 { self.allowance?.delivered() }
  }

  deinit {
    if let closing = machine.withLock({ $0.abandoned() }) { closeSoon(closing) }
  }

  /// What the walk has done so far, and how it ended if it did.
  public var report: WalkReport {
    // Both under the lock of `open`, as in `received`: a page that has come, but that no loop has
    // got, is not counted.
    var report = open.withLock { open in
      var report = machine.withLock { $0.report }
      report.items -= open.unread
      report.checkpoint = open.checkpoint ?? report.checkpoint
      if open.unread > 0 { report.nextFailure = nil }
      return report
    }
    if let before = backward.withLock({ $0 })?.machine.withLock({ $0.report }) {
      (report.pagesBefore, report.itemsBefore) = (before.pages, before.items)
      report.traffic += before.traffic
      report.warn(before.warnings)
    }
    report.warn(reader.warnings(for: report.end))
    report.markCheckpoint()
    return report
  }

  /// Returns an iterator that continues the walk.
  public func makeAsyncIterator() -> Iterator { Iterator(self) }

  /// Ends the walk for its consumer, and frees what the server holds for it.
  ///
  /// Leaving a loop does the same in the background; call this to be sure that it happened. Returns
  /// after 5 seconds at the latest.
  public func close() async {
    abandon()
    await cleanup.withLock { $0 }?.value
  }

  /// Tells the reader what a consumer that keeps pages has of the page that is read next.
  package func expect(_ known: KnownPage) { reader.expect(known) }

  /// Drops requests that were sent ahead, because the next page is not read soon.
  func leaveNext() { reader.leaveNext() }

  /// Whether the walk has no more pages to give.
  var isOver: Bool { machine.withLock { $0.isOver } }

  /// Finishes a walk that is over, without waiting for the source to be closed.
  func settle() {
    reader.leave()
    if case .finish(let closing?) = machine.withLock({ $0.next(at: stopwatch.elapsed()) }) {
      closeSoon(closing)
    }
  }

  /// Returns the next page; `consumedCount` counts the items that a loop over items consumes of it.
  func next(
    consumedCount: ConsumedCount? = nil, isolation actor: isolated (any Actor)?
  ) async throws -> Page<Item>? {
    if let page = leftover(for: consumedCount) { return page }
    // The walk would wait for itself.
    if WalkReading.isInside(self) { throw WalkMachine.nestedIteration }
    asking.add(1, ordering: .relaxed)
    var page: Page<Item>?
    defer { asked(isServed: page != nil) }
    try await turns.take()
    defer { turns.pass() }
    page = leftover(for: consumedCount)
    if page != nil { return page }
    let action = proceed()
    if case .load(let position, let time) = action {
      page = try await load(position, within: time, consumedCount)
    } else {
      try await finish(action)
    }
    return page
  }

  // Not inlined, like the steps below: the frame of a function that waits should not hold their
  // work.
  @inline(never)
  private func proceed() -> WalkMachine.NextAction {
    machine.withLock { machine in
      if let allowance { machine.taken = allowance.taken }
      return machine.next(at: stopwatch.elapsed())
    }
  }

  /// Closes the source of a walk that has nothing to load, and throws the error if there is one.
  @inline(never)
  private func finish(_ action: WalkMachine.NextAction) async throws {
    switch action {
    case .load: break
    case .finish(let closing):
      reader.leave()
      if let closing { await close(closing) }
    case .fail(let error, let closing):
      if let closing { await close(closing) }
      throw error
    }
  }

  private func load(
    _ position: Position, within time: Duration?, _ consumedCount: ConsumedCount?
  ) async throws -> Page<Item>? {
    var absent: Page<Item>?
    do {
      try Task.checkCancellation()
      if var page = try await read(at: position, within: time) {
        if !page.head.isAbsent {
          try received(&page, consumedCount)
          return page
        }
        absent = page
      }
    } catch {
      throw await failed(error)
    }
    try await finish(receivedEnd(absent))
    return nil
  }

  @inline(never)
  private func received(_ page: inout Page<Item>, _ consumedCount: ConsumedCount?) throws {
    let now = stopwatch.elapsed()
    func received() throws {
      try machine.withLock { machine in
        if let refusal = machine.refusal(of: page) { throw refusal }
        machine.received(&page, at: now)
      }
      allowance?.took(page.traffic)
      allowance?.delivered()
    }
    guard let consumedCount else { return try received() }
    try open.withLock { open in
      try received()
      open.register(&page, count: consumedCount)
    }
  }

  @inline(never)
  private func receivedEnd(_ absent: Page<Item>?) -> WalkMachine.NextAction {
    let traffic = absent?.traffic ?? .zero
    allowance?.took(traffic)
    return machine.withLock {
      $0.receivedEnd(
        after: traffic, absent?.head.adjustments ?? [], at: stopwatch.elapsed())
    }
  }

  /// Returns, once, the traffic and the adjustments of the answer that ended the listing without a
  /// page, for a walk that reads through this one.
  func takeEnd() -> (traffic: WalkReport.Traffic, adjustments: [WalkReport.Adjustment]) {
    machine.withLock { machine in
      defer { (machine.report.endTraffic, machine.report.endAdjustments) = (.zero, []) }
      return (machine.report.endTraffic, machine.report.endAdjustments)
    }
  }

  /// Reads a page, for no longer than `time`.
  private func read(at position: Position, within time: Duration?) async throws -> Page<Item>? {
    let reading = WalkReading(
      of: self, number: number, allowance: allowance, readsOn: machine.withLock { $0.readsOn })
    defer { reading.end() }
    return try await WalkReading.$current.withValue(reading) {
      guard let time else { return try await reader.read(at: position) }
      return try await Deadline.run(within: time, by: clock) { [reader] in
        try await reader.read(at: position)
      }
    }
  }

  /// Returns the error to throw when reading a page ended with `error`.
  private func failed(_ error: any Error) async -> any Error {
    // An aborted transfer may throw an error of its own.
    let cause: any Error = Task.isCancelled ? CancellationError() : error
    let isOverAllowance = allowance?.isExceeded == true && cause.isLimit
    guard cause is Deadline.Expired || isOverAllowance else {
      let failure = machine.withLock { $0.failed(cause, at: stopwatch.elapsed()) }
      if let failure = failure as? PageError { allowance?.took(failure.traffic) }
      return failure
    }
    reader.leave()
    let (refusal, closing) = machine.withLock {
      $0.capped(cause as? PageError, at: stopwatch.elapsed())
    }
    allowance?.took(refusal.traffic)
    if let closing { await close(closing) }
    return refusal
  }

  /// Returns what a loop over items has left of a page; nil if there is nothing.
  private func leftover(for consumedCount: ConsumedCount?) -> Page<Item>? {
    hasLeftovers.load(ordering: .relaxed) ? takeLeftover(for: consumedCount) : nil
  }

  @inline(never)
  private func takeLeftover(for consumedCount: ConsumedCount?) -> Page<Item>? {
    open.withLock { open in
      defer { hasLeftovers.store(open.hasLeftovers, ordering: .relaxed) }
      guard var page = open.takeLeftover() else { return nil }
      if let consumedCount { open.register(&page, count: consumedCount) }
      return page
    }
  }

  func enter() { machine.withLock { $0.entered() } }

  func leave(_ consumedCount: ConsumedCount?) {
    if let consumedCount {
      open.withLock { open in
        open.leave(consumedCount)
        hasLeftovers.store(open.hasLeftovers, ordering: .relaxed)
      }
    }
    part { $0.left(isMidway: $1, isAsked: $2) }
  }

  /// Notes that a task no longer asks for a page, because it has one or gets none.
  private func asked(isServed: Bool) {
    asking.subtract(1, ordering: .relaxed)
    if !isServed { part { $0.gaveUp(isMidway: $1, isAsked: $2) } }
  }

  private func part(
    _ step: (inout WalkMachine, Bool, Bool) -> (isLeft: Bool, closing: WalkMachine.Closing?)
  ) {
    let isMidway = hasLeftovers.load(ordering: .relaxed)
    // Inside the lock: a task that reads was counted before it took the lock.
    let (isLeft, closing) = machine.withLock {
      step(&$0, isMidway, asking.load(ordering: .relaxed) > 0)
    }
    if isLeft { reader.leave() }
    if let closing { closeSoon(closing) }
  }
}

// MARK: - Closing

extension Walk {
  /// Ends the walk for its consumer, and closes the source in the background.
  func abandon() {
    reader.leave()
    if let closing = machine.withLock({ $0.abandoned() }) { closeSoon(closing) }
  }

  private func closeSoon(_ closing: WalkMachine.Closing) {
    guard reader.needsClosing else { return }
    let (reader, clock) = (reader, clock)
    cleanup.withLock {
      $0 = Task.detachedCleanup(clock) { await reader.close(at: closing.position) }
    }
  }

  private func close(_ closing: WalkMachine.Closing) async {
    closeSoon(closing)
    await cleanup.withLock { $0 }?.value
  }
}

extension Walk {
  /// Returns the page before the first one read so far, and with each call the one before that; nil
  /// where the listing begins, or if the server does not say where it continues backward. If the
  /// walk begins inside a page, the items in front of its start come first, as a page of their own.
  ///
  /// Both directions are independent: neither moves the other. If no page was read yet, this reads
  /// the first one to learn what lies before it; that counts toward no limit, and the forward
  /// direction reads the page again. Pages have the indices −1, −2 and so on. Limits on pages and
  /// items do not count them; all other limits apply to both directions together.
  public func previous() async throws -> Page<Item>? {
    guard let walk = try await walkBackward(),
      var page = try await walk.next(isolation: nil)
    else { return nil }
    page.swapDirections()
    page.index = -1 - page.index
    return page
  }

  private func walkBackward() async throws -> Walk? {
    if let walk = backward.withLock({ $0 }) { return walk }
    guard let makeBackwardReader else { return nil }
    let reader = makeBackwardReader()
    // An unchanged page (304) does not say what lies before it, so it is requested unconditionally.
    reader.expect(KnownPage())
    let start = machine.withLock { $0.start }
    let before: Position?
    if start.itemOffset > 0 {
      before = start.page
    } else if let known = machine.withLock({ $0.before }) {
      before = known
    } else {
      before = try await reader.read(at: start)?.previous
    }
    guard let before else { return nil }
    var limits = machine.withLock { $0.limits }
    limits.pages = nil
    limits.items = nil
    var machine = WalkMachine(
      start: before, limits: limits, repeatedPositions: reader.repeatedPositions,
      loops: LoopGuard { reader.identity(of: $0) }, direction: .backward)
    machine.takeOver(pages: 0, items: 0, after: elapsed, before: nil)
    let walk = Walk(
      BackwardReader(base: reader, start: start), clock: clock, machine: machine,
      allowance: allowance)
    return backward.withLock { backward in
      // Another task may have been faster.
      if let faster = backward { return faster }
      backward = walk
      return walk
    }
  }
}

extension Walk {
  /// Returns another walk that continues where this one is, with everything that was read and not
  /// delivered.
  ///
  /// From then on the two are independent. To begin anew, make a new walk of the cursor.
  public func copy() -> Walk { copy(machine.withLock { $0.copy() }) }

  /// Returns a copy of the walk; nil if it has come further than `progress`, because then a page of
  /// it has not reached its reader yet.
  func copy(at progress: WalkMachine.Progress) -> Walk? {
    let machine = machine.withLock { $0.copy() }
    return machine.progress == progress ? copy(machine) : nil
  }

  private func copy(_ machine: WalkMachine) -> Walk {
    Walk(
      reader.copy(), clock: clock, machine: machine, open: open.withLock { $0.copyWithoutLoops },
      makeBackwardReader: makeBackwardReader)
  }

  var progress: WalkMachine.Progress { machine.withLock { $0.progress } }

  /// The time since the walk began; nil if it has not begun.
  var elapsed: Duration? {
    machine.withLock { machine in machine.startedAt.map { stopwatch.elapsed() - $0 } }
  }
}

extension Walk {
  /// Returns the next page, and nil at the end and from then on. After an error, tries the page
  /// that failed again.
  public func next() async throws -> Page<Item>? {
    var consumed = receipts.withLock { receipts in
      defer { receipts = [] }
      return receipts
    }
    consumed.confirmBeforeNextRequest()
    let page = try await next(isolation: #isolation)
    if let page, !page.head.receipts.isEmpty { receipts.withLock { $0 += page.head.receipts } }
    return page
  }

  /// An iterator over a walk. Dropping the last one leaves the walk.
  public struct Iterator: AsyncIteratorProtocol {
    private let iterationToken: IterationToken<Item>
    /// The receipts of the page that the consumer is handling.
    private var receipts: [PageReceipt] = []

    init(_ walk: Walk, consumedCount: ConsumedCount? = nil) {
      iterationToken = IterationToken(walk, consumedCount: consumedCount)
    }

    /// Returns the next page, and nil at the end and from then on.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws -> Page<Item>? {
      receipts.confirmBeforeNextRequest()
      let page = try await iterationToken.walk.next(
        consumedCount: iterationToken.consumedCount, isolation: actor)
      receipts = page?.head.receipts ?? []
      return page
    }

    /// Returns the next page, and nil at the end and from then on.
    public mutating func next() async throws -> Page<Item>? {
      try await next(isolation: #isolation)
    }
  }
}

@available(*, unavailable)
extension Walk.Iterator: Sendable {}

extension Walk {
  /// The walk, item by item. Another loop continues with the next item, even if the loop before was
  /// left in the middle of a page, and the report counts the items consumed.
  public var items: ItemSequence<ItemPages> { ItemSequence(ItemPages(walk: self)) }

  /// The pages of a walk for a loop that takes their items one by one; the base of `items`.
  public struct ItemPages: PageSequence, Sendable {
    /// A page, or the items of a page that a loop left unread.
    public typealias Element = Page<Item>
    /// `PageError` or `CancellationError`.
    public typealias Failure = any Error

    let walk: Walk

    /// Returns an iterator that continues the walk.
    public func makeAsyncIterator() -> Iterator { Iterator(walk, consumedCount: ConsumedCount()) }
  }
}

/// A token that tells the walk when the last copy of an iterator is gone.
final class IterationToken<Item: Sendable>: Sendable {
  let walk: Walk<Item>
  /// Counts the consumed items of a loop over items; nil in a loop over pages.
  let consumedCount: ConsumedCount?

  init(_ walk: Walk<Item>, consumedCount: ConsumedCount? = nil) {
    self.walk = walk
    self.consumedCount = consumedCount
    walk.enter()
  }

  deinit { walk.leave(consumedCount) }
}
