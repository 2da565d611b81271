import Synchronization

/// Does what the machine decides: runs loads, and lets those wait who have to.
///
/// Everything is decided under one lock and performed outside of it. Loads hold the runner weakly,
/// so that nothing outlives the paginator and its iterators.
final class PaginatorRunner<Item: Sendable>: Sendable {
  typealias Machine = PaginatorMachine<Item>

  private struct State: Sendable {
    var machine: Machine
    var walk: Walk<Item>
    /// The walk of a reload, until its first page is there.
    var reloading: Walk<Item>?
    var waiting: [Int: Suspension<Machine.Outcome>] = [:]
    var tickets = 0
    var task: (id: Int, task: Task<Void, Never>)?
    var times = WaitingTimes()
  }

  private let cursor: Cursor<Item>
  private let stopwatch: Stopwatch
  private let state: Mutex<State>

  init(_ cursor: Cursor<Item>, limits: LookAhead) {
    self.cursor = cursor
    stopwatch = Stopwatch(cursor.clock)
    state = Mutex(
      State(machine: Machine(start: cursor.start, limits: limits), walk: cursor.walk()))
  }

  deinit {
    state.withLock { $0.task }?.task.cancel()
  }

  // MARK: Consumers

  func next(_ helping: Machine.Helping) async throws -> Page<Item>? {
    let begin = stopwatch.elapsed()
    if Task.isCancelled {
      state.withLock { $0.machine.consumerCancelled() }
      throw CancellationError()
    }
    let outcome = try await wait { $0.next(helping, ticket: $1) }
    let end = stopwatch.elapsed()
    state.withLock { $0.times.waited(from: begin, to: end) }
    switch outcome {
    case .page(let page): return page
    case .end, .loaded: return nil
    case .failed(let error): throw error
    }
  }

  func reported(consumed: Int) {
    perform(state.withLock { $0.machine.reported(consumed: consumed) })
  }

  func iteratorBegan() { state.withLock { $0.machine.iteratorBegan() } }

  func iteratorLeft() {
    let (effects, task, walk) = state.withLock { state in
      let effects = state.machine.iteratorLeft()
      return (effects, state.task?.task, state.machine.hasIterators ? nil : state.walk)
    }
    perform(effects)
    guard let walk else { return }
    guard effects.cancel != nil, let task else { return walk.abandon() }
    Task {
      await task.value
      walk.abandon()
    }
  }

  // MARK: Callers

  func loadMore() async throws -> Bool { try await call { $0.loadMore(ticket: $1) } }

  func retry() async throws -> Bool { try await call { $0.retry(ticket: $1) } }

  func reload() async throws -> Bool { try await call { $0.reload(ticket: $1) } }

  private func call(
    _ event: @Sendable (inout Machine, Int) -> Machine.Effects
  ) async throws -> Bool {
    try Task.checkCancellation()
    switch try await wait(event) {
    case .loaded(let brought): return brought
    case .page, .end: return false
    case .failed(let error): throw error
    }
  }

  // MARK: Report

  /// The walk's report, seen from the consumer: what is loaded ahead does not count yet.
  var report: WalkReport {
    state.withLock { state in
      let window = state.machine.window
      var report = state.walk.report
      report.pages = window.pagesHandedOut
      report.items = window.handedOut
      report.checkpoint = window.checkpoint
      report.waitingForNetwork = state.times.forNetwork
      report.waitingForConsumer = state.times.forConsumer
      report.end = state.machine.end(ofWalk: report.end)
      return report
    }
  }
}

// MARK: - Performing

extension PaginatorRunner {
  /// Feeds an event to the machine and waits for its outcome if it is not there yet.
  private func wait(
    _ event: @Sendable (inout Machine, Int) -> Machine.Effects
  ) async throws -> Machine.Outcome {
    let (ticket, effects, suspension) = state.withLock { state in
      state.tickets += 1
      let ticket = state.tickets
      let effects = event(&state.machine, ticket)
      guard effects.outcome == nil else {
        return (ticket, effects, Suspension<Machine.Outcome>?.none)
      }
      let suspension = Suspension<Machine.Outcome>()
      state.waiting[ticket] = suspension
      return (ticket, effects, suspension)
    }
    perform(effects)
    guard let suspension else { return effects.outcome ?? .end }
    return try await suspension.value { [weak self] in self?.cancelWaiter(ticket) }
  }

  private func cancelWaiter(_ ticket: Int) {
    perform(state.withLock { $0.machine.waiterCancelled(ticket: ticket) })
  }

  private func perform(_ effects: Machine.Effects) {
    if let id = effects.cancel {
      let task = state.withLock { $0.task }
      if let task, task.id == id { task.task.cancel() }
    }
    if let (load, id) = effects.start { start(load, id: id) }
    guard !effects.wake.isEmpty else { return }
    let woken = state.withLock { state in
      effects.wake.map { (state.waiting.removeValue(forKey: $0.ticket), $0.outcome) }
    }
    for (suspension, outcome) in woken { suspension?.resume(returning: outcome) }
  }

  private func start(_ load: Machine.Load, id: Int) {
    let walk = state.withLock { state in
      guard load == .reload else { return state.walk }
      let walk = cursor.walk()
      state.reloading = walk
      return walk
    }
    let task = Task { [weak self] in
      let answer = await Self.answer(of: walk)
      self?.finished(id, answer)
    }
    // Who wanted the load may have left before there was a task to cancel.
    let isWanted = state.withLock { state in
      if state.task.map({ $0.id < id }) ?? true { state.task = (id, task) }
      return state.machine.isLoading(id)
    }
    if !isWanted { task.cancel() }
  }

  private static func answer(of walk: Walk<Item>) async -> Machine.Answer {
    do {
      guard let page = try await walk.next(isolation: nil) else { return .end }
      let isLast = walk.isOver
      if isLast { walk.settle() }
      return .page(page, isLast: isLast)
    } catch {
      return .failed(error)
    }
  }

  private func finished(_ id: Int, _ answer: Machine.Answer) {
    let effects = state.withLock { state in
      let effects = state.machine.finished(id, answer)
      if effects.adoptsReload, let walk = state.reloading { state.walk = walk }
      return effects
    }
    perform(effects)
  }
}
