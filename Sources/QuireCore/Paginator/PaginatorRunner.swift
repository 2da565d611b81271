import Synchronization

/// Does what the machine decides: runs loads, lets those wait who have to, and tells those who
/// watch.
///
/// Everything is decided under one lock and performed outside of it; what observers are told is put
/// into their queues under the same lock, so that all of them see one order. Loads hold the runner
/// weakly, so that nothing outlives the paginator and its iterators.
final class PaginatorRunner<Item: Sendable>: Sendable {
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
