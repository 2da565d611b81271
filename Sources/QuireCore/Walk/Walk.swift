import Synchronization

/// One walk through a listing, held in hand: pages as they are asked for, and the report.
///
/// ```swift
/// let walk = issues.walk()
/// for try await page in walk { … }
/// print(walk.report.end)
/// ```
/// Looping again goes on where the walk stopped: after an error with the page that failed, after
/// the end with nothing. Tasks that share a walk share its pages: one page is read at a time, and
/// a task that asks meanwhile waits for its turn and gets the page after it.
public final class Walk<Item: Sendable>: PageSequence, Sendable {
  /// A page.
  public typealias Element = Page<Item>
  /// `PageError` or `CancellationError`.
  public typealias Failure = any Error

  let reader: any PageReader<Item>
  let clock: any Clock<Duration>
  /// Makes a reader for the pages before the start, where there can be one.
  let makeBackwardReader: (@Sendable () -> any PageReader<Item>)?
  private let stopwatch: Stopwatch
  /// The source being closed, once it is.
  private let parting = Mutex<Task<Void, Never>?>(nil)
  let machine: Mutex<WalkMachine>
  /// What loops over items are in the middle of.
  let open: Mutex<OpenPages<Item>>
  /// Whether there is something in `open` that a loop has left, at the cost of one load.
  private let hasLeftovers: Atomic<Bool>
  /// The receipts of the pages that consumers without an iterator have in hand.
  private let receipts = Mutex<[PageReceipt]>([])
  /// The waiters for a page, one after another.
  private let turns = TurnQueue()
  /// How many tasks read a page or wait for their turn.
  private let asking = Atomic(0)
  /// Which walk of the process it is.
  private let number = WalkReading.newNumber()
  /// What the walk may still read and request; nil without limits on that.
  let allowance: ReadAllowance?
  /// The walk from the start backwards; nil until it is asked for.
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
    // Together, as `received` changes them: a page that has come and no loop has yet is not counted.
    var report = open.withLock { open in
      var report = machine.withLock { $0.report }
      report.items -= open.unread
      report.checkpoint = open.checkpoint ?? report.checkpoint
      if open.unread > 0 { report.nextFailure = nil }
      return report
    }
    if let before = backward.withLock({ $0 })?.machine.withLock({ $0.report }) {
      (report.pagesBefore, report.itemsBefore) = (before.pages, before.items)
      report.traffic = report.traffic + before.traffic
      report.warn(before.warnings)
    }
    report.warn(reader.warnings(for: report.end))
    report.markCheckpoint()
    return report
  }

  /// Goes on with the walk.
  public func makeAsyncIterator() -> Iterator { Iterator(self) }

  /// Ends the walk for its consumer: what the server holds for it is freed.
  ///
  /// Leaving a loop does the same in the background; call this to be sure that it happened. Returns
  /// after 5 seconds at the latest.
  public func close() async {
    reader.leave()
    if let closing = machine.withLock({ $0.abandoned() }) { closeSoon(closing) }
    await parting.withLock { $0 }?.value
  }

  /// The consumer keeps pages, and has this of the one that is read next.
  package func expect(_ known: KnownPage) { reader.expect(known) }

  /// The page behind the last one is not read soon.
  func leaveNext() { reader.leaveNext() }

  /// Whether the walk has nothing more to give.
  var isOver: Bool { machine.withLock { $0.isOver } }

  /// Notes the end of a walk that is over, without waiting for the source to be closed.
  func settle() {
    reader.leave()
    if case .finish(let closing?) = machine.withLock({ $0.next(at: stopwatch.elapsed()) }) {
      closeSoon(closing)
    }
  }

  /// The next page; `mark` is where its items are noted as they are taken.
  func next(
    mark: ItemMark? = nil, isolation actor: isolated (any Actor)?
  ) async throws -> Page<Item>? {
    if let page = leftover(for: mark) { return page }
    // It would wait for itself.
    if WalkReading.isInside(self) { throw WalkMachine.nestedIteration }
    asking.add(1, ordering: .relaxed)
    var page: Page<Item>?
    defer { asked(isServed: page != nil) }
    try await turns.take()
    defer { turns.pass() }
    page = leftover(for: mark)
    if page != nil { return page }
    let action = proceed()
    if case .load(let position, let time) = action {
      page = try await load(position, within: time, mark)
    } else {
      try await finish(action)
    }
    return page
  }

  // Apart from the wait for the page, in whose frame the machine's work would lie; so are the steps below.
  @inline(never)
  private func proceed() -> WalkMachine.NextAction {
    machine.withLock { machine in
      if let allowance { machine.taken = allowance.taken }
      return machine.next(at: stopwatch.elapsed())
    }
  }

  /// The walk has nothing to load: the source is closed, and what went wrong is thrown.
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
    _ position: Position, within time: Duration?, _ mark: ItemMark?
  ) async throws -> Page<Item>? {
    let page: Page<Item>?
    do {
      try Task.checkCancellation()
      page = try await read(at: position, within: time)
      if let page, !page.head.isAbsent { return try received(page, mark) }
    } catch {
      throw await failed(error)
    }
    try await finish(receivedEnd(page))
    return nil
  }

  @inline(never)
  private func received(_ page: Page<Item>, _ mark: ItemMark?) throws -> Page<Item> {
    let now = stopwatch.elapsed()
    func received() throws -> Page<Item> {
      var page = page
      try machine.withLock { machine in
        if let refusal = machine.refusal(of: page) { throw refusal }
        machine.received(&page, at: now)
      }
      allowance?.took(page.traffic)
      allowance?.delivered()
      return page
    }
    guard let mark else { return try received() }
    return try open.withLock { $0.open(try received(), mark: mark) }
  }

  @inline(never)
  private func receivedEnd(_ absent: Page<Item>?) -> WalkMachine.NextAction {
    let traffic = absent?.traffic ?? WalkReport.Traffic(requests: 0)
    allowance?.took(traffic)
    return machine.withLock { $0.receivedEnd(after: traffic, at: stopwatch.elapsed()) }
  }

  /// What the answer took that ended the listing without a page, for the walk that reads through this one; told
  /// once.
  func takeEndTraffic() -> WalkReport.Traffic {
    machine.withLock { machine in
      defer { machine.report.endTraffic = WalkReport.Traffic(requests: 0) }
      return machine.report.endTraffic
    }
  }

  /// Reads a page; not for longer than `time`.
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

  /// The error to throw when reading a page ended with this one.
  private func failed(_ error: any Error) async -> any Error {
    // A transfer that was aborted may say so in words of its own.
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

  /// The page for the loop that writes to `mark`; a loop over pages has none.
  private func opened(_ page: Page<Item>, _ mark: ItemMark?) -> Page<Item> {
    guard let mark else { return page }
    return open.withLock { $0.open(page, mark: mark) }
  }

  /// What a loop over items has left of a page, for the next loop; nil without any.
  private func leftover(for mark: ItemMark?) -> Page<Item>? {
    hasLeftovers.load(ordering: .relaxed) ? takeLeftover(for: mark) : nil
  }

  @inline(never)
  private func takeLeftover(for mark: ItemMark?) -> Page<Item>? {
    let page = open.withLock { open in
      defer { hasLeftovers.store(open.hasLeftovers, ordering: .relaxed) }
      return open.takeLeftover()
    }
    return page.map { opened($0, mark) }
  }

  func enter() { machine.withLock { $0.entered() } }

  func leave(_ mark: ItemMark?) {
    if let mark {
      open.withLock { open in
        open.leave(mark)
        hasLeftovers.store(open.hasLeftovers, ordering: .relaxed)
      }
    }
    part { $0.left(isMidway: $1, isAsked: $2) }
  }

  /// A task that asked for a page has one, or gets none.
  private func asked(isServed: Bool) {
    asking.subtract(1, ordering: .relaxed)
    if !isServed { part { $0.gaveUp(isMidway: $1, isAsked: $2) } }
  }

  private func part(
    _ step: (inout WalkMachine, Bool, Bool) -> (isLeft: Bool, closing: WalkMachine.Closing?)
  ) {
    let isMidway = hasLeftovers.load(ordering: .relaxed)
    // Within the lock: a task that reads was counted before it took that.
    let (isLeft, closing) = machine.withLock {
      step(&$0, isMidway, asking.load(ordering: .relaxed) > 0)
    }
    if isLeft { reader.leave() }
    if let closing { closeSoon(closing) }
  }
}

// MARK: - Closing

extension Walk {
  /// Closes in the background.
  func abandon() {
    reader.leave()
    if let closing = machine.withLock({ $0.abandoned() }) { closeSoon(closing) }
  }

  private func closeSoon(_ closing: WalkMachine.Closing) {
    guard reader.needsClosing else { return }
    let (reader, clock) = (reader, clock)
    parting.withLock { $0 = Task.parting(clock) { await reader.close(at: closing.position) } }
  }

  private func close(_ closing: WalkMachine.Closing) async {
    closeSoon(closing)
    await parting.withLock { $0 }?.value
  }
}

extension Error {
  var isLimit: Bool { (self as? PageError)?.code == .limitExceeded }

  /// Whether that is one of a walk's `Limits`, and none on what a page may hold.
  var isLimitOfWalk: Bool {
    guard isLimit, let error = self as? PageError else { return false }
    return error.remedies.contains { $0.setting.description.hasPrefix("Limits.") }
  }
}

extension Walk {
  /// The page before the first one read so far, and with each call the one before that; nil where
  /// the listing begins, or where the server does not say where it goes on. Where the walk begins within
  /// a page, the items in front of its start come first, as a page of their own.
  ///
  /// Independent of the way forward: neither moves the other. Before the first page was read, this asks for it
  /// to learn the way, which counts against no limit; the way forward asks for it again. Pages have the indices
  /// −1, −2 and so on. Limits on pages and items do not count these; all others are on both ways together.
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
    // A page that is not changed does not say what lies before it.
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
    machine.goOn(pages: 0, items: 0, after: elapsed, before: nil)
    let walk = Walk(
      BackwardReader(base: reader, start: start), clock: clock, machine: machine,
      allowance: allowance)
    return backward.withLock { backward in
      // Another task was faster.
      if let faster = backward { return faster }
      backward = walk
      return walk
    }
  }
}

extension Walk {
  /// Another walk that goes on where this one is, with everything it has read and not delivered.
  ///
  /// From here on they know nothing of one another. To begin anew, make a new walk of the cursor.
  public func copy() -> Walk { copy(machine.withLock { $0.copy() }) }

  /// Another walk, unless this one has come further than that: then a page of it is on its way to its reader.
  func copy(at progress: WalkMachine.Progress) -> Walk? {
    let machine = machine.withLock { $0.copy() }
    return machine.progress == progress ? copy(machine) : nil
  }

  private func copy(_ machine: WalkMachine) -> Walk {
    Walk(
      reader.copy(), clock: clock, machine: machine, open: open.withLock { $0.left },
      makeBackwardReader: makeBackwardReader)
  }

  /// How far the walk has come.
  var progress: WalkMachine.Progress { machine.withLock { $0.progress } }

  /// How long ago the walk began; nil where it has not.
  var elapsed: Duration? {
    machine.withLock { machine in machine.startedAt.map { stopwatch.elapsed() - $0 } }
  }
}

extension Walk {
  /// The next page; nil at the end, for ever. After an error, the page that failed.
  public func next() async throws -> Page<Item>? {
    var consumed = receipts.withLock { receipts in
      defer { receipts = [] }
      return receipts
    }
    consumed.askedForMore()
    let page = try await next(isolation: #isolation)
    if let page, !page.head.receipts.isEmpty { receipts.withLock { $0 += page.head.receipts } }
    return page
  }

  /// A loop over a walk. Dropping the last one ends the consumer's interest in the walk.
  public struct Iterator: AsyncIteratorProtocol {
    private let interest: WalkInterest<Item>
    /// The receipts of the page that the consumer has in hand.
    private var receipts: [PageReceipt] = []

    init(_ walk: Walk, mark: ItemMark? = nil) { interest = WalkInterest(walk, mark: mark) }

    /// The next page; nil at the end, for ever.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws -> Page<Item>? {
      receipts.askedForMore()
      let page = try await interest.walk.next(mark: interest.mark, isolation: actor)
      receipts = page?.head.receipts ?? []
      return page
    }

    /// The next page; nil at the end, for ever.
    public mutating func next() async throws -> Page<Item>? {
      try await next(isolation: #isolation)
    }
  }
}

@available(*, unavailable)
extension Walk.Iterator: Sendable {}

extension Walk {
  /// The walk, item by item. Another loop goes on with the next item, also after one that was left in
  /// the middle of a page, and the report counts the items taken.
  public var items: ItemSequence<ItemPages> { ItemSequence(ItemPages(walk: self)) }

  /// The pages of a walk for a loop that takes their items one by one; what `items` is made of.
  public struct ItemPages: PageSequence, Sendable {
    /// A page, or what a loop has left of one.
    public typealias Element = Page<Item>
    /// `PageError` or `CancellationError`.
    public typealias Failure = any Error

    let walk: Walk

    /// Goes on with the walk.
    public func makeAsyncIterator() -> Iterator { Iterator(walk, mark: ItemMark()) }
  }
}

/// Tells the walk when the last copy of an iterator is gone.
final class WalkInterest<Item: Sendable>: Sendable {
  let walk: Walk<Item>
  /// Where the items taken are noted, if they are taken one by one.
  let mark: ItemMark?

  init(_ walk: Walk<Item>, mark: ItemMark? = nil) {
    self.walk = walk
    self.mark = mark
    walk.enter()
  }

  deinit { walk.leave(mark) }
}
