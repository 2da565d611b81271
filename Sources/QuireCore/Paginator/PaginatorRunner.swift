import Synchronization

/// Does what the machine decides: runs loads, lets those wait who have to, and tells those who
/// watch.
///
/// Everything is decided under one lock and performed outside of it; what observers are told is put
/// into their queues under the same lock, so that all of them see one order. Loads hold the runner
/// weakly, so that nothing outlives the paginator and its iterators.
package final class PaginatorRunner<Item: Sendable>: Sendable {
  typealias Machine = PaginatorMachine<Item>

  struct State: Sendable {
    var machine: Machine
    /// Made when it is needed: many paginators are never asked for a page.
    var walk: Walk<Item>?
    /// The walk of a reload, until its first page is there.
    var reloading: Walk<Item>?
    var waiting: [Int: Suspension<Machine.Outcome>] = [:]
    var tickets = 0
    var task: (id: Int, task: Task<Void, Never>)?
    var times = WaitingTimes()
    var listeners: [Listener<PaginatorEvent<Item>>] = []
  }

  let cursor: Cursor<Item>
  let stopwatch: Stopwatch
  let state: Mutex<State>

  init(_ cursor: Cursor<Item>, limits: LookAhead) {
    self.cursor = cursor
    stopwatch = Stopwatch(cursor.clock)
    state = Mutex(State(machine: Machine(start: cursor.start, limits: limits)))
  }

  deinit {
    let (task, listeners) = state.withLock { ($0.task, $0.listeners) }
    task?.task.cancel()
    for listener in listeners { listener.finish() }
  }

  // MARK: Consumers

  func next(_ helping: Machine.Helping, reader: Int) async throws -> Page<Item>? {
    let begin = stopwatch.elapsed()
    if Task.isCancelled {
      state.withLock { $0.machine.consumerCancelled() }
      throw CancellationError()
    }
    let outcome = try await wait { $0.next(helping, reader: reader, ticket: $1) }
    let end = stopwatch.elapsed()
    state.withLock { $0.times.waited(from: begin, to: end) }
    switch outcome {
    case .page(let page): return page
    case .end, .loaded: return nil
    case .failed(let error): throw error
    }
  }

  func reported(consumed: Int) {
    perform { [stopwatch] in $0.reported(consumed: consumed, at: $0.now(by: stopwatch)) }
  }

  func reported(offset: Double, in viewport: Viewport) {
    perform { [stopwatch] in
      $0.reported(offset: offset, in: viewport, at: $0.now(by: stopwatch))
    }
  }

  /// Returns the number by which the machine knows the reader.
  func iteratorBegan() -> Int {
    state.withLock { state in
      state.tickets += 1
      state.machine.iteratorBegan()
      return state.tickets
    }
  }

  func iteratorLeft(_ reader: Int, mark: ItemMark?) {
    let (left, task, walk) = state.withLock { state in
      let left = decide(&state) { $0.iteratorLeft(reader, mark: mark) }
      return (left, state.task?.task, state.machine.hasIterators ? nil : state.walk)
    }
    perform(left)
    guard let walk else { return }
    guard left.effects.cancel != nil, let task else { return walk.abandon() }
    Task {
      await task.value
      walk.abandon()
    }
  }

  func close() async {
    let (task, walk) = state.withLock { ($0.task?.task, $0.walk) }
    await task?.value
    await walk?.close()
  }

  // MARK: Callers

  /// Feeds a caller's wish to the machine, and waits until it is granted.
  func call(
    _ event: @Sendable (inout Machine, _ ticket: Int) -> Machine.Effects
  ) async throws -> Machine.Outcome {
    try Task.checkCancellation()
    let outcome = try await wait(event)
    if case .failed(let error) = outcome { throw error }
    return outcome
  }

  // MARK: Report

  /// The walk's report, seen from the consumer: what is loaded ahead does not count yet.
  var report: WalkReport {
    state.withLock { state in
      let store = state.machine.store
      var report = state.walk?.report ?? WalkReport()
      report.pages = store.pagesHandedOut
      report.items = store.taken
      // The end may have been an answer behind the last page, which then leads there.
      let isOver = state.walk != nil && report.checkpoint == nil && store.isRead
      report.checkpoint = isOver ? nil : store.checkpoint
      report.waitingForNetwork = state.times.forNetwork
      report.waitingForConsumer = state.times.forConsumer
      report.end = state.machine.end(ofWalk: report.end)
      if !store.isRead { report.nextFailure = nil }
      report.markCheckpoint()
      return report
    }
  }
}

extension PaginatorRunner {
  /// Looks at the machine, or sets what causes nothing at once.
  func withMachine<Result: Sendable>(_ body: @Sendable (inout Machine) -> Result) -> Result {
    state.withLock { body(&$0.machine) }
  }

  /// A queue of what is observed from now on, beginning with what `first` makes of the moment.
  func listen<Element: Sendable>(
    _ first: @Sendable (Machine) -> Element?,
    _ observation: @escaping @Sendable (PaginatorEvent<Item>) -> Element?
  ) -> Mailbox<Element> {
    state.withLock { state in
      let mailbox = Mailbox(first(state.machine).map { [$0] } ?? [])
      state.listeners.removeAll { !$0.isListening }
      state.listeners.append(Listener(mailbox, observation: observation))
      return mailbox
    }
  }
}

extension Mailbox {
  /// A queue of nothing, for those who listen too late.
  package static func finished() -> Mailbox {
    let mailbox = Mailbox()
    mailbox.finish()
    return mailbox
  }
}

// Asks the machine under the lock, and performs what it decided outside of it.
extension PaginatorRunner {
  /// What the machine decided, and what observers are to be woken for.
  struct Decision {
    var effects: Machine.Effects
    var notices: [@Sendable () -> Void] = []
  }

  /// Lets the machine decide, under the lock.
  func decide(
    _ state: inout State, _ event: (inout Machine) -> Machine.Effects
  ) -> Decision {
    var decision = Decision(effects: event(&state.machine))
    guard !decision.effects.events.isEmpty, !state.listeners.isEmpty else { return decision }
    state.listeners.removeAll { !$0.isListening }
    for event in decision.effects.events {
      for listener in state.listeners {
        if let notice = listener.post(event) { decision.notices.append(notice) }
      }
    }
    return decision
  }

  func perform(_ event: @Sendable (inout Machine) -> Machine.Effects) {
    perform(state.withLock { decide(&$0, event) })
  }

  /// Feeds an event to the machine and waits for its outcome if it is not there yet.
  func wait(
    _ event: @Sendable (inout Machine, Int) -> Machine.Effects
  ) async throws -> Machine.Outcome {
    let (ticket, decision, suspension) = state.withLock { state in
      state.tickets += 1
      let ticket = state.tickets
      let decision = decide(&state) { event(&$0, ticket) }
      // A command may be served at once, like those who waited.
      guard decision.effects.outcome(for: ticket) == nil else {
        return (ticket, decision, Suspension<Machine.Outcome>?.none)
      }
      let suspension = Suspension<Machine.Outcome>()
      state.waiting[ticket] = suspension
      return (ticket, decision, suspension)
    }
    perform(decision)
    guard let suspension else { return decision.effects.outcome(for: ticket) ?? .end }
    return try await suspension.value { [weak self] in
      self?.perform { $0.waiterCancelled(ticket: ticket) }
    }
  }

  func perform(_ decision: Decision) {
    let effects = decision.effects
    if let id = effects.cancel {
      let task = state.withLock { $0.task }
      if let task, task.id == id { task.task.cancel() }
    }
    if let (load, id) = effects.start { start(load, id: id) }
    for notice in decision.notices { notice() }
    guard !effects.wake.isEmpty else { return }
    let woken = state.withLock { state in
      effects.wake.map { (state.waiting.removeValue(forKey: $0.ticket), $0.outcome) }
    }
    for (suspension, outcome) in woken { suspension?.resume(returning: outcome) }
  }

  private func start(_ load: Machine.Load, id: Int) {
    let walk = state.withLock { state in
      if load != .reload, let walk = state.walk { return walk }
      let walk = cursor.walk()
      if load == .reload { state.reloading = walk } else { state.walk = walk }
      return walk
    }
    let task = Task { [weak self] in
      let answer = await Self.answer(of: walk, load)
      self?.finished(id, answer)
    }
    // Who wanted the load may have left before there was a task to cancel.
    let isWanted = state.withLock { state in
      if state.task.map({ $0.id < id }) ?? true { state.task = (id, task) }
      return state.machine.isLoading(id)
    }
    if !isWanted { task.cancel() }
  }

  private static func answer(of walk: Walk<Item>, _ load: Machine.Load) async -> Machine.Answer {
    do {
      if load == .before {
        guard let page = try await walk.previous() else { return .end }
        return .page(page, isLast: page.previous == nil)
      }
      guard let page = try await walk.next(isolation: nil) else { return .end }
      let isLast = walk.isOver
      if isLast { walk.settle() }
      return .page(page, isLast: isLast)
    } catch {
      return .failed(error)
    }
  }

  private func finished(_ id: Int, _ answer: Machine.Answer) {
    let (decision, left) = state.withLock { state in
      let now = state.machine.now(by: stopwatch)
      let decision = decide(&state) { $0.finished(id, answer, at: now) }
      // A walk that goes frees what its source holds, which is nothing to do under a lock.
      var left = state.reloading
      if decision.effects.adoptsReload { swap(&state.walk, &left) }
      state.reloading = nil
      if state.task?.id == id { state.task = nil }
      return (decision, left)
    }
    perform(decision)
    withExtendedLifetime(left) {}
  }
}

extension PaginatorMachine {
  /// The time, where the machine cares for it.
  func now(by stopwatch: Stopwatch) -> Duration? {
    limits.list.settling > .zero ? stopwatch.elapsed() : nil
  }
}

extension PaginatorMachine.Effects {
  /// What whoever caused the event under this ticket is told at once.
  fileprivate func outcome(for ticket: Int) -> PaginatorMachine.Outcome? {
    outcome ?? wake.first { $0.ticket == ticket }?.outcome
  }
}
