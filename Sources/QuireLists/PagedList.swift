public import QuireCore
import Synchronization

/// A list for a view: the pages of a listing, its state, and loads by calls, by gestures and ahead
/// of the reader.
///
/// ```swift
/// let list = PagedList(issues)
/// try await list.loadMore()
/// render(list.snapshot)
/// ```
/// Every loop over it starts with the first page and loads the pages it needs. One load runs at a
/// time; calls for the same load join it. Releasing the list and its loops cancels the running
/// load. Nothing is loaded ahead if requesting the next page invalidates the current one.
///
/// The cursor's limits on pages and items are the end of the list: nothing beyond them is loaded or
/// jumped to. Its limits on bytes and requests cover all loads since the last `reload()`, including
/// pages loaded again. Its limit on duration starts anew with each of these loads and with each
/// jump.
///
/// Views report from any thread and read the snapshot at once, so this is a class with a lock
/// instead of an actor. Decisions are made under the lock and performed outside of it; observers'
/// queues are filled under it, so that all observers see one order.
public final class PagedList<Item: Sendable>: PageSequence, Sendable {
  /// A page.
  public typealias Element = Page<Item>
  /// `PageError` or `CancellationError`.
  public typealias Failure = any Error

  typealias Machine = ListMachine<Item>

  private struct State: Sendable {
    var machine: Machine
    /// The walk that loads more pages; nil before the first load.
    var walk: Walk<Item>?
    /// The walk of a reload or a jump until its first page arrives, or one that loads a page again.
    var newWalk: Walk<Item>?
    /// The walk that loads before the first page, if it is not `walk`.
    var walkBefore: Walk<Item>?
    /// The reports of walks that have ended since the last reload.
    var past = WalkReport()
    var waiting: [Int: Suspension<Machine.Outcome>] = [:]
    var tickets = 0
    var task: (id: Int, task: Task<Void, Never>)?
    var observers: [Observer<ListEvent<Item>>] = []
    /// A number that grows whenever the snapshot may have changed, and the listeners to such
    /// changes.
    var version = 0
    var listeners: [Observer<Void>] = []
  }

  private let cursor: Cursor<Item>
  private let allows: (lookAhead: Bool, window: Bool)
  private let stopwatch: Stopwatch
  private let state: Mutex<State>

  /// Creates a list of the pages that `cursor` reads. Nothing is loaded before a call or a loop
  /// asks for it.
  public init(_ cursor: Cursor<Item>, options: ListOptions = ListOptions()) {
    self.cursor = cursor
    allows = (cursor.allowsLookAhead, cursor.repeatedPositions == .refused)
    stopwatch = Stopwatch(cursor.clock)
    let machine = Machine(
      start: cursor.start, options: options.allowed(allows),
      position: cursor.position(_:after:total:))
    state = Mutex(State(machine: machine))
  }

  deinit {
    let (task, observers, listeners) = state.withLock { ($0.task, $0.observers, $0.listeners) }
    task?.task.cancel()
    for observer in observers { observer.finish() }
    for listener in listeners { listener.finish() }
  }

  /// The rules by which the list loads. They can be changed at any time, effective from the next
  /// page or report.
  public var options: ListOptions {
    get { state.withLock { $0.machine.options } }
    set {
      state.withLock { [allows] in $0.machine.use(newValue.allowed(allows)) }
    }
  }

  // MARK: Content and state

  /// The content and the state at this moment. O(1), or O(dropped pages) with a window.
  public var snapshot: ListSnapshot<Item> { state.withLock { $0.machine.snapshot } }

  /// The snapshot, and a number that grows whenever it may have changed.
  package var reading: (snapshot: ListSnapshot<Item>, version: Int) {
    state.withLock { ($0.machine.snapshot, $0.version) }
  }

  /// Returns a queue that gets an element whenever the snapshot may have changed.
  package func listen() -> EventQueue<Void> {
    let queue = EventQueue<Void>(isConflated: true)
    state.withLock { state in
      state.listeners.removeAll { !$0.isObserving }
      state.listeners.append(Observer(queue) { $0 })
    }
    return queue
  }

  /// The current state, and then every new state in order.
  ///
  /// Consecutive states differ. Every loop over it is its own observer, and ends with the list.
  public var states: ListUpdates<ListState> {
    ListUpdates { [weak self] in
      self?.observe({ $0.state }) { event in
        if case .changed(_, let state) = event { state } else { nil }
      } ?? .finished()
    }
  }

  /// All events from now on, in order: changes of the state, and the pages that cause them.
  public var events: ListUpdates<ListEvent<Item>> {
    ListUpdates { [weak self] in self?.observe({ _ in nil }) { $0 } ?? .finished() }
  }

  /// The report of all reads since the last reload, including pages loaded again. Its end and
  /// checkpoint are those of the walk that loads more.
  public var report: WalkReport {
    state.withLock { state in
      var report = state.walk?.report ?? WalkReport()
      if let before = state.walkBefore { report.add(before.report) }
      report.add(state.past)
      return report
    }
  }

  /// The number of waiting callers.
  var waiters: Int { state.withLock { $0.machine.waiters.count } }

  private func observe<Element: Sendable>(
    _ first: (Machine) -> Element?,
    _ observation: @escaping @Sendable (ListEvent<Item>) -> Element?
  ) -> EventQueue<Element> {
    state.withLock { state in
      let queue = EventQueue(first(state.machine).map { [$0] } ?? [])
      state.observers.removeAll { !$0.isObserving }
      state.observers.append(Observer(queue, observation: observation))
      return queue
    }
  }

  // MARK: Loading

  /// Loads the next page, or joins the load that is running.
  ///
  /// Returns whether there is one. Throws the error of the load.
  @discardableResult
  public func loadMore() async throws -> Bool {
    try await call { $0.loadMore(ticket: $1) }.hasLoaded
  }

  /// Loads the page before the first one, if the server gives its position; or the start of the
  /// source page that the list begins within.
  ///
  /// Returns whether there is one. Throws the error of the load, which does not affect loads after
  /// the last page. Observers learn by how many items all others move.
  @discardableResult
  public func loadBefore() async throws -> Bool {
    try await call { $0.loadBefore(ticket: $1) }.hasLoaded
  }

  /// Repeats the load that failed last, or the first load of an empty listing. Returns false if
  /// there is none to repeat; throws if it fails again.
  @discardableResult
  public func retry() async throws -> Bool {
    try await call { $0.retry(ticket: $1) }.hasLoaded
  }

  /// Reloads the list. The old pages stay until the new first page arrives and replaces them in one
  /// step; `ListOptions.onReload` offers other policies. The page of a load that this cancels is
  /// shown only if the reload fails. A running reload is joined: two calls at the same time are one
  /// request.
  ///
  /// Returns whether there is a page. Throws the error of the load, which becomes the state.
  /// Everything else stays: the pages, their totals, and the position of the next page.
  @discardableResult
  public func reload() async throws -> Bool {
    try await call { $0.reload(ticket: $1) }.hasLoaded
  }

  /// Goes to another page, and loads the pages that it needs. Returns nil, and stays on the current
  /// page, if there is no such page.
  ///
  /// If the page is not held and its position can be computed from its page number or offset, a new
  /// run starts there and replaces everything loaded, in one step as `reload()` does; `pagesBefore`
  /// and `itemsBefore` of the snapshot count the pages and items before it. Otherwise all pages up
  /// to it are loaded. Commands are queued: three times `.next` during a load are three pages, in
  /// order.
  @discardableResult
  public func navigate(to command: PageCommand) async throws -> Page<Item>? {
    guard case .page(let page, _) = try await call({ $0.navigate(command, ticket: $1) }) else {
      return nil
    }
    return page
  }

  /// Starts to load the next page, or the first one, unless a load is running; does not wait.
  func requestMore() { perform { $0.requested() } }

  /// Cancels the running load. Its waiters get `CancellationError`, and the list returns to the
  /// state before it.
  public func cancel() { perform { $0.cancelled() } }

  // MARK: Reports of a view

  /// Reports the visible items, counted from the first known one: `itemsBefore` is the index of the
  /// first one held. May be called as often as you like.
  ///
  /// Dropped or stale pages are loaded again when they come into view, and dropped pages next to
  /// the visible ones before that. `ListOptions.threshold` and `thresholdBefore` decide on further
  /// pages, by the items from the last visible one to the end and from the first visible one to the
  /// start.
  public func report(visible: Range<Int>) {
    let visible = visible.clampedToRows
    perform { [stopwatch] machine in
      let shift = machine.content.heldStart - machine.content.itemsBefore
      return machine.reported(
        visible: visible.lowerBound + shift..<visible.upperBound + shift,
        at: machine.now(by: stopwatch))
    }
  }

  /// Reports the visible items, counted from the run's start, which does not move when a page is
  /// added before it.
  package func report(visibleInRun items: Range<Int>) {
    perform { [stopwatch] in $0.reported(visible: items, at: $0.now(by: stopwatch)) }
  }

  /// Shows pages from a store in place of a first load; does nothing after the first load.
  package func seed(
    _ pages: [Page<Item>], isSame: @escaping @Sendable (Page<Item>, Page<Item>) -> Bool
  ) {
    guard let first = pages.first, let last = pages.last else { return }
    let items = pages.reduce(0) { $0 + $1.items.count }
    // All parts of a page count as one.
    let whole = pages.count(where: { !$0.hasMoreParts })
    let walk = cursor.walk(
      from: ListStart(position: last.next ?? last.position, pages: whole, items: items),
      after: nil)
    let walkBefore = cursor.walk(from: ListStart(position: first.position), after: walk)
    let decision = state.withLock { state in
      let decision = Self.decide(&state) { $0.seeded(pages, isSame: isSame) }
      if !decision.effects.events.isEmpty { (state.walk, state.walkBefore) = (walk, walkBefore) }
      return decision
    }
    perform(decision)
  }

  /// Reports how many items are consumed, from the first one on. The number never decreases.
  public func report(consumed: Int) {
    perform { [stopwatch] in $0.reported(consumed: consumed, at: $0.now(by: stopwatch)) }
  }

  /// Reports the offset of a view. May be called as often as you like.
  ///
  /// The next page is loaded once when the threshold is crossed, and again only after it has
  /// arrived and the view has scrolled further than before. Offsets before the content never count.
  /// Content shorter than its viewport always does, unless `ListOptions.fillsViewport` is false.
  /// Nothing is loaded before the first page was asked for.
  ///
  /// Likewise the page before the first one is loaded when `ListOptions.thresholdBefore` is crossed
  /// backwards, if the server gives its position. One report starts one load, of the next page if
  /// both are due. A view that shows a page added at the start reports the new length of the
  /// content.
  public func report(offset: Double, in viewport: Viewport) {
    perform { [stopwatch] in
      $0.reported(offset: offset, in: viewport, at: $0.now(by: stopwatch))
    }
  }
}

extension Cursor {
  /// Returns a walk that continues the counts of the list's earlier walks.
  fileprivate func walk(
    from start: ListStart, after other: Walk<Item>?, before: Position?? = nil
  ) -> Walk<Item> {
    resuming(from: start.position)
      .walk(after: other, pages: start.pages, items: start.items, before: before)
  }
}

extension ListMachine.Outcome {
  fileprivate var hasLoaded: Bool {
    if case .loaded(let brought) = self { brought } else { false }
  }
}

// MARK: - Looping

extension PagedList {
  /// Starts with the first page.
  public func makeAsyncIterator() -> Iterator { Iterator(list: self) }

  /// An iterator over all pages.
  public struct Iterator: AsyncIteratorProtocol {
    let list: PagedList
    private var place: Machine.Content.Place?

    fileprivate init(list: PagedList) { self.list = list }

    /// Returns the next page; nil at the end. After an error, that is the page that failed, and
    /// after a reload the first page.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws -> Page<Item>? {
      let place = place
      switch try await list.call({ $0.next(after: place, ticket: $1) }) {
      case .page(let page, let place):
        self.place = place
        return page
      case .end, .loaded, .failed: return nil
      }
    }

    /// Returns the next page; nil at the end. After an error, that is the page that failed, and
    /// after a reload the first page.
    public mutating func next() async throws -> Page<Item>? {
      try await next(isolation: #isolation)
    }
  }
}

@available(*, unavailable)
extension PagedList.Iterator: Sendable {}

// MARK: - Running the machine

extension PagedList {
  /// The decision of the machine, and the closures that wake observers.
  private struct Decision {
    var effects: Machine.Effects
    var notices: [@Sendable () -> Void] = []
  }

  /// Feeds a caller's event to the machine and waits for the outcome.
  private func call(
    _ event: @Sendable (inout Machine, _ ticket: Int) -> Machine.Effects
  ) async throws -> Machine.Outcome {
    try Task.checkCancellation()
    if let error = options.error { throw error }
    let suspension = Suspension<Machine.Outcome>()
    let (ticket, decision, known) = state.withLock { state in
      state.tickets += 1
      let ticket = state.tickets
      let decision = Self.decide(&state) { event(&$0, ticket) }
      // A command may be served at once, together with commands that waited.
      let effects = decision.effects
      let known = effects.outcome ?? effects.wake.first { $0.ticket == ticket }?.outcome
      if known == nil { state.waiting[ticket] = suspension }
      return (ticket, decision, known)
    }
    perform(decision)
    let outcome: Machine.Outcome
    if let known {
      outcome = known
    } else {
      outcome = try await suspension.value { [weak self] in
        self?.perform { $0.waiterCancelled(ticket: ticket) }
      }
    }
    if case .failed(let error) = outcome { throw error }
    return outcome
  }

  /// Feeds an event to the machine, and queues the machine's events for observers. Called under the
  /// lock.
  private static func decide(
    _ state: inout State, _ event: (inout Machine) -> Machine.Effects
  ) -> Decision {
    var decision = Decision(effects: event(&state.machine))
    if decision.effects.isNews {
      state.version += 1
      for listener in state.listeners {
        if let notice = listener.post(()) { decision.notices.append(notice) }
      }
    }
    guard !decision.effects.events.isEmpty, !state.observers.isEmpty else { return decision }
    state.observers.removeAll { !$0.isObserving }
    for event in decision.effects.events {
      for observer in state.observers {
        if let notice = observer.post(event) { decision.notices.append(notice) }
      }
    }
    return decision
  }

  private func perform(_ event: @Sendable (inout Machine) -> Machine.Effects) {
    perform(state.withLock { Self.decide(&$0, event) })
  }

  private func perform(_ decision: Decision) {
    let effects = decision.effects
    if let id = effects.cancel {
      let task = state.withLock { $0.task }
      if let task, task.id == id { task.task.cancel() }
    }
    if let (load, id, from) = effects.start { start(load, id: id, from: from) }
    for notice in decision.notices { notice() }
    guard !effects.wake.isEmpty else { return }
    let woken = state.withLock { state in
      effects.wake.map { (state.waiting.removeValue(forKey: $0.ticket), $0.outcome) }
    }
    for (suspension, outcome) in woken { suspension?.resume(returning: outcome) }
  }

  private func start(_ load: ListLoad, id: Int, from start: ListStart?) {
    let (walk, known) = state.withLock { state in
      (Self.walk(for: load, from: start, &state, cursor), state.machine.held(by: load))
    }
    walk.expect(known.map(KnownPage.init) ?? KnownPage())
    // The task holds the walk but not the list, so that the load ends with the list.
    let task = Task { @concurrent [weak self] in
      var answer =
        await load == .before ? LoadedPage.previous(of: walk) : LoadedPage.next(of: walk)
      if case .page(let page, let isLast) = answer {
        answer = .page(page.filled(from: known), isLast: isLast)
      }
      self?.finished(id, answer)
    }
    // The load may have been cancelled before its task existed.
    let isWanted = state.withLock { state in
      if state.task.map({ $0.id < id }) ?? true { state.task = (id, task) }
      return state.machine.isLoading(id)
    }
    if !isWanted { task.cancel() }
  }

  /// Returns the walk for a load. A new walk becomes part of the state.
  private static func walk(
    for load: ListLoad, from start: ListStart?, _ state: inout State, _ cursor: Cursor<Item>
  ) -> Walk<Item> {
    switch load {
    case .before where state.walkBefore != nil:
      return state.walkBefore ?? cursor.walk()
    case .again, .seek:
      // The walk of a single page, or of the first page of a new run.
      let start = start ?? ListStart(position: cursor.start)
      let walk = cursor.walk(from: start, after: state.walk)
      state.newWalk = walk
      return walk
    case .more, .before:
      let walk = state.walk ?? cursor.walk()
      state.walk = walk
      return walk
    case .reload:
      let walk = cursor.walk()
      state.newWalk = walk
      return walk
    }
  }

  private func finished(_ id: Int, _ answer: LoadedPage<Item>) {
    let (decision, left, receipts) = state.withLock { state in
      let now = state.machine.now(by: stopwatch)
      // The page of a cancelled load may be dropped, so it confirms no receipts.
      var receipts: [PageReceipt] = []
      if state.machine.isLoading(id), case .page(let page, _) = answer {
        receipts = page.head.receipts
      }
      let isReload = state.machine.running?.load == .reload
      let decision = Self.decide(&state) { $0.finished(id, answer, at: now) }
      let left = replaceWalks(as: decision.effects, &state)
      if isReload, decision.effects.adoptsRun {
        state.past = WalkReport()
      } else {
        for walk in left { state.past.add(walk?.report ?? WalkReport()) }
      }
      if state.task?.id == id { state.task = nil }
      return (decision, left, receipts)
    }
    // The list has the page now, even if its waiters are cancelled.
    receipts.confirm()
    perform(decision)
    withExtendedLifetime(left) {}
  }

  /// Replaces the walks, and returns the unused ones. The caller keeps them until the lock is
  /// released, because the end of a walk frees what its source holds.
  private func replaceWalks(as effects: Machine.Effects, _ state: inout State) -> [Walk<Item>?] {
    var left: [Walk<Item>?] = [state.newWalk]
    if effects.adoptsRun {
      left = [state.walk, state.walkBefore]
      (state.walk, state.walkBefore) = (state.newWalk, nil)
    }
    for (end, from, before) in effects.continues {
      let walk = cursor.walk(from: from, after: state.walk, before: before)
      switch end {
      case .leading:
        left.append(state.walkBefore)
        state.walkBefore = walk
      case .trailing:
        // The walk so far still loads the pages before the first one.
        left.append(state.walkBefore == nil ? nil : state.walk)
        state.walkBefore = state.walkBefore ?? state.walk
        state.walk = walk
      }
    }
    state.newWalk = nil
    return left
  }
}

extension Range<Int> {
  /// The range, clamped to rows that no list reaches, so that sums with row numbers cannot overflow.
  package var clampedToRows: Range<Int> { clamped(to: -(1 << 53)..<1 << 53) }
}
