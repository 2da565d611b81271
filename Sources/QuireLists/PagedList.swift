public import QuireCore
import Synchronization

/// A listing for a list that people look at: all its pages, what it is doing, and loads by hand, by
/// gestures, and ahead of the reader.
///
/// ```swift
/// let list = PagedList(issues)
/// try await list.loadMore()
/// render(list.snapshot)
/// ```
/// Every loop over it begins with the first page, and a page that is not there yet is loaded for it. One
/// load runs at a time; calls for the same load join it. Letting go of the list and its loops cancels
/// what is in flight. Where asking for the next page makes the server forget this one, nothing is loaded
/// ahead.
///
/// The cursor's limits on pages and items are the end of the list: what lies behind them is not loaded, nor
/// jumped to. Those on bytes and requests are on what the list loads until `reload()`, pages that are loaded
/// again included; the one on the duration begins anew with each of these, and with each jump.
///
/// Views report where they are from wherever they draw, in order, and read the snapshot at once: so this
/// is a class with a lock, not an actor. Everything is decided under the lock and performed outside of
/// it; observers' queues are filled under it, so that all of them see one order.
public final class PagedList<Item: Sendable>: PageSequence, Sendable {
  /// A page.
  public typealias Element = Page<Item>
  /// `PageError` or `CancellationError`.
  public typealias Failure = any Error

  typealias Machine = ListMachine<Item>

  private struct State: Sendable {
    var machine: Machine
    /// Made with the first load.
    var walk: Walk<Item>?
    /// The walk of a reload or of a jump, until its first page is there; or one that reads a page again.
    var newWalk: Walk<Item>?
    /// The walk for what comes before, where it is not the one for what follows.
    var walkBefore: Walk<Item>?
    /// What walks that are over have done since the last reload.
    var past = WalkReport()
    var waiting: [Int: Suspension<Machine.Outcome>] = [:]
    var tickets = 0
    var task: (id: Int, task: Task<Void, Never>)?
    var observers: [Observer<ListEvent<Item>>] = []
    /// How often the snapshot may have changed, and what is told of that.
    var version = 0
    var listeners: [Observer<Void>] = []
  }

  private let cursor: Cursor<Item>
  private let allows: (lookAhead: Bool, window: Bool)
  private let stopwatch: Stopwatch
  private let state: Mutex<State>

  /// A list of what `cursor` reads. Nothing is loaded before a call or a loop asks for it.
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

  /// How the list loads. Options can be changed at any time, with effect from the next page or report
  /// on.
  public var options: ListOptions {
    get { state.withLock { $0.machine.options } }
    set {
      state.withLock { [allows] in $0.machine.use(newValue.allowed(allows)) }
    }
  }

  // MARK: What there is

  /// What there is and what is being done, all from the same moment. O(1).
  public var snapshot: ListSnapshot<Item> { state.withLock { $0.machine.snapshot } }

  /// The snapshot, and a number that grows whenever it may have changed.
  package var reading: (snapshot: ListSnapshot<Item>, version: Int) {
    state.withLock { ($0.machine.snapshot, $0.version) }
  }

  /// Tells that the snapshot may have changed.
  package func listen() -> EventQueue<Void> {
    let queue = EventQueue<Void>(isConflated: true)
    state.withLock { state in
      state.listeners.removeAll { !$0.isObserving }
      state.listeners.append(Observer(queue) { $0 })
    }
    return queue
  }

  /// The state now, and then every state it changes to, in order.
  ///
  /// Two states that follow one another differ. Every loop over this observes for itself, and ends with
  /// the list.
  public var states: ListUpdates<ListState> {
    ListUpdates { [weak self] in
      self?.observe({ $0.state }) { event in
        if case .changed(_, let state) = event { state } else { nil }
      } ?? .finished()
    }
  }

  /// Everything that happens from now on, in order: changes of the state, and the pages that cause
  /// them.
  public var events: ListUpdates<ListEvent<Item>> {
    ListUpdates { [weak self] in self?.observe({ _ in nil }) { $0 } ?? .finished() }
  }

  /// What the list has read since its last reload, pages that were loaded again included; its end and its
  /// checkpoint are those of the walk that loads more.
  public var report: WalkReport {
    state.withLock { state in
      var report = state.walk?.report ?? WalkReport()
      if let before = state.walkBefore { report.add(before.report) }
      report.add(state.past)
      return report
    }
  }

  /// How many callers wait.
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

  // MARK: Loading by hand

  /// Loads the next page, or waits for the one that is being loaded.
  ///
  /// Returns whether there is one; throws the error of the load.
  @discardableResult
  public func loadMore() async throws -> Bool {
    try await call { $0.loadMore(ticket: $1) }.hasLoaded
  }

  /// Loads the page before the first one, where the server says where that is, or the front of the page
  /// that the list begins within.
  ///
  /// Returns whether there is one; throws the error of the load, which loads after the last page
  /// know nothing of. Observers get by how many items all others move.
  @discardableResult
  public func loadBefore() async throws -> Bool {
    try await call { $0.loadBefore(ticket: $1) }.hasLoaded
  }

  /// Tries again what failed last, or a listing that was empty. Returns false when nothing did;
  /// throws when it fails again.
  @discardableResult
  public func retry() async throws -> Bool {
    try await call { $0.retry(ticket: $1) }.hasLoaded
  }

  /// Starts over. What is loaded stays until the new first page is there, and then makes room for
  /// it in one step; what a load cancelled by this brings is never seen. `ListOptions.onReload` has
  /// other ways. A reload that runs is joined: two calls at the same time are one request.
  ///
  /// Returns whether there is a page. Throws the error of the load, which is the state then; all
  /// else stays as it was: what is loaded, its totals, and where more follows.
  @discardableResult
  public func reload() async throws -> Bool {
    try await call { $0.reload(ticket: $1) }.hasLoaded
  }

  /// Shows another page, and loads what is missing for it. Returns nil, and stays where it is, when
  /// there is no such page.
  ///
  /// A page that is not held begins a new run there where its position is known in advance, by page
  /// number or by offset: it takes the place of what was loaded, in one step as with `reload()`, and the
  /// snapshot says how much lies before it. Elsewhere everything up to the page is loaded. Commands are
  /// queued: three times `.next` while a page is being loaded are three pages, in order.
  @discardableResult
  public func navigate(to command: PageCommand) async throws -> Page<Item>? {
    guard case .page(let page, _) = try await call({ $0.navigate(command, ticket: $1) }) else {
      return nil
    }
    return page
  }

  /// Loads the next page, or the first, if nothing is being loaded; waits for nothing.
  func requestMore() { perform { $0.requested() } }

  /// Cancels what is being loaded. Its waiters get `CancellationError`, and the list is where it was
  /// before the load.
  public func cancel() { perform { $0.cancelled() } }

  // MARK: Reports of a view

  /// Says which items a view shows, counted from the first one known: `itemsBefore` is the number of the
  /// first one held. Report as often as you like.
  ///
  /// Pages that a window dropped, or that are stale, are loaded again when they come into view, and the
  /// pages beside it before that. `ListOptions.threshold` and `thresholdBefore` decide on further ones, in
  /// items from the last one shown to the end, and from the first one shown to the start.
  public func report(visible: Range<Int>) {
    perform { [stopwatch] machine in
      let shift = machine.content.heldStart - machine.content.itemsBefore
      return machine.reported(
        visible: visible.lowerBound + shift..<visible.upperBound + shift,
        at: machine.now(by: stopwatch))
    }
  }

  /// The same, counted from the run's start, which does not move when a page comes before it.
  package func report(visibleInRun items: Range<Int>) {
    perform { [stopwatch] in $0.reported(visible: items, at: $0.now(by: stopwatch)) }
  }

  /// Pages of a store take the place of a first load, unless there was one.
  package func seed(
    _ pages: [Page<Item>], isSame: @escaping @Sendable (Page<Item>, Page<Item>) -> Bool
  ) {
    guard let first = pages.first, let last = pages.last else { return }
    let items = pages.reduce(0) { $0 + $1.items.count }
    // Parts of a page are one page.
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

  /// Says how many items from the first one on are consumed. The number only ever counts up.
  public func report(consumed: Int) {
    perform { [stopwatch] in $0.reported(consumed: consumed, at: $0.now(by: stopwatch)) }
  }

  /// Says where a view is. Report as often as you like.
  ///
  /// The next page is loaded once when the threshold is crossed, and not again before it came and
  /// the view went further than ever. Positions before the content never count; content that is
  /// shorter than its viewport always does, unless `ListOptions.fillsViewport` is off. Nothing is
  /// loaded before a first page was asked for.
  ///
  /// In the same way the page before the first one is loaded when `ListOptions.thresholdBefore` is
  /// crossed backwards, where the server says where that page is. One report starts one load: the page
  /// behind comes first. A view that shows a page from before the start reports the content's new
  /// length.
  public func report(offset: Double, in viewport: Viewport) {
    perform { [stopwatch] in
      $0.reported(offset: offset, in: viewport, at: $0.now(by: stopwatch))
    }
  }
}

extension Cursor {
  /// A walk of a list that has had others.
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
  /// Begins with the first page.
  public func makeAsyncIterator() -> Iterator { Iterator(list: self) }

  /// A loop over all pages.
  public struct Iterator: AsyncIteratorProtocol {
    let list: PagedList
    private var place: Machine.Content.Place?

    fileprivate init(list: PagedList) { self.list = list }

    /// The next page; nil at the end. After an error, the page that failed; after a reload, the first.
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

    /// The next page; nil at the end. After an error, the page that failed; after a reload, the first.
    public mutating func next() async throws -> Page<Item>? {
      try await next(isolation: #isolation)
    }
  }
}

@available(*, unavailable)
extension PagedList.Iterator: Sendable {}

// MARK: - Running the machine

extension PagedList {
  /// What the machine decided, and what wakes observers.
  private struct Decision {
    var effects: Machine.Effects
    var notices: [@Sendable () -> Void] = []
  }

  /// Feeds a caller's wish to the machine, and waits until it is granted.
  private func call(
    _ event: @Sendable (inout Machine, _ ticket: Int) -> Machine.Effects
  ) async throws -> Machine.Outcome {
    try Task.checkCancellation()
    let outcome = try await wait(event)
    if case .failed(let error) = outcome { throw error }
    return outcome
  }

  private func wait(
    _ event: @Sendable (inout Machine, Int) -> Machine.Effects
  ) async throws -> Machine.Outcome {
    if let error = options.error { throw error }
    let suspension = Suspension<Machine.Outcome>()
    let (ticket, decision, known) = state.withLock { state in
      state.tickets += 1
      let ticket = state.tickets
      let decision = Self.decide(&state) { event(&$0, ticket) }
      // A command may be served at once, like those that waited.
      let effects = decision.effects
      let known = effects.outcome ?? effects.wake.first { $0.ticket == ticket }?.outcome
      if known == nil { state.waiting[ticket] = suspension }
      return (ticket, decision, known)
    }
    perform(decision)
    if let known { return known }
    return try await suspension.value { [weak self] in
      self?.perform { $0.waiterCancelled(ticket: ticket) }
    }
  }

  /// Lets the machine decide, under the lock.
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
    let (walk, known) = walk(for: load, from: start)
    walk.expect(known.map(KnownPage.init) ?? KnownPage())
    // Only the walk is held: the load ends with the list.
    let task = Task { @concurrent [weak self] in
      var answer =
        await load == .before ? LoadedPage.previous(of: walk) : LoadedPage.next(of: walk)
      if case .page(let page, let isLast) = answer {
        answer = .page(page.filled(from: known), isLast: isLast)
      }
      self?.finished(id, answer)
    }
    // The load may have been cancelled before there was a task.
    let isWanted = state.withLock { state in
      if state.task.map({ $0.id < id }) ?? true { state.task = (id, task) }
      return state.machine.isLoading(id)
    }
    if !isWanted { task.cancel() }
  }

  /// The walk that a load goes on with, and what is held of the page that it reads.
  private func walk(
    for load: ListLoad, from start: ListStart?
  ) -> (Walk<Item>, known: Page<Item>?) {
    state.withLock { state in
      (Self.walk(for: load, from: start, &state, cursor), state.machine.held(by: load))
    }
  }

  private static func walk(
    for load: ListLoad, from start: ListStart?, _ state: inout State, _ cursor: Cursor<Item>
  ) -> Walk<Item> {
    switch load {
    case .before where state.walkBefore != nil:
      return state.walkBefore ?? cursor.walk()
    case .again, .seek:
      // One page, by a walk that is not continued; or the first one of a run.
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
      // A page of a load that was cancelled may be dropped.
      var receipts: [PageReceipt] = []
      if state.machine.isLoading(id), case .page(let page, _) = answer {
        receipts = page.head.receipts
      }
      let isReload = state.machine.running?.load == .reload
      let decision = Self.decide(&state) { $0.finished(id, answer, at: now) }
      // Releasing a walk frees what its source holds, which must not happen under the lock.
      var left: [Walk<Item>?] = [state.newWalk]
      if decision.effects.adoptsRun {
        left = [state.walk, state.walkBefore]
        (state.walk, state.walkBefore) = (state.newWalk, nil)
      }
      for (end, from, before) in decision.effects.continues {
        let walk = cursor.walk(from: from, after: state.walk, before: before)
        switch end {
        case .leading:
          left.append(state.walkBefore)
          state.walkBefore = walk
        case .trailing:
          // What comes before is where it was for the walk so far.
          left.append(state.walkBefore == nil ? nil : state.walk)
          state.walkBefore = state.walkBefore ?? state.walk
          state.walk = walk
        }
      }
      state.newWalk = nil
      if isReload, decision.effects.adoptsRun {
        state.past = WalkReport()
      } else {
        for walk in left { state.past.add(walk?.report ?? WalkReport()) }
      }
      if state.task?.id == id { state.task = nil }
      return (decision, left, receipts)
    }
    // The list has the page, whatever becomes of those who wait for it.
    receipts.give()
    perform(decision)
    withExtendedLifetime(left) {}
  }
}
