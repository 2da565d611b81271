import Synchronization

/// Reads many listings as one: asks `MergeMachine`, runs its loads, and passes the answers to it.
///
/// Every source is read by a walk of its own, so it has the limits, loop guard, retries and
/// transforms that it has alone.
final class MergingReader<Item: Sendable, Key: Comparable & Sendable>: PageReader {
  typealias Machine = MergeMachine<Item, Key>

  private struct State: Sendable {
    var machine: Machine
    /// A walk for each source; nil where a source had ended before the merge began.
    var walks: [Walk<Item>?]
    /// The progress of each walk when its last answer was accepted, at first when it was made.
    var progress: [WalkMachine.Progress?]
    /// The running loads by source. A cancelled load stays here until the next one of its source.
    var loads: [Int: Task<Void, Never>] = [:]
    /// The answers of cancelled loads by source; each is the answer to the next load.
    var early: [Int: Answer] = [:]
    var waiter: Suspension<Void>?
    /// What the consumer gets. It stays here if the consumer is cancelled at the same moment.
    var outcome: Machine.Outcome?
    var alarm: (task: Task<Void, Never>, time: Duration)?
    /// The position of the next page.
    var position: Position?
  }

  /// The answer of a source; without a page it is the source's end.
  private struct Answer: Sendable {
    var page: Page<Item>?
    var isLast: Bool
  }

  let identity: ListingIdentity?
  let needsClosing: Bool
  private let sources: [Cursor<Item>]
  private let rules: MergeRules<Item, Key>
  private let clock: any Clock<Duration>
  private let stopwatch: Stopwatch
  private let state = Mutex<State?>(nil)

  init(
    _ sources: [Cursor<Item>], _ rules: MergeRules<Item, Key>, clock: any Clock<Duration>,
    identity: ListingIdentity?, needsClosing: Bool
  ) {
    self.sources = sources
    self.rules = rules
    self.clock = clock
    self.identity = identity
    self.needsClosing = needsClosing
    stopwatch = Stopwatch(clock)
  }

  deinit { cancelLoads() }

  func read(at position: Position) async throws -> Page<Item>? {
    if let objection = rules.options.objection { throw objection }
    try begin(at: position)
    let suspension = Suspension<Void>()
    perform { state in
      state.machine.isLimited = WalkReading.isLimited
      guard state.outcome == nil else {
        suspension.resume(returning: ())
        return Machine.Action()
      }
      state.waiter = suspension
      return state.machine.next(at: self.stopwatch.elapsed())
    }
    do {
      try await suspension.value()
    } catch {
      cancelLoads()
      throw error
    }
    guard let outcome = state.withLock({ $0?.outcome.take() }) else { throw CancellationError() }
    switch outcome {
    case .end: return nil
    case .failure(let error): throw error
    case .page(var page):
      page.position = position
      page.traffic.items = page.items.count + page.traffic.duplicates
      state.withLock { $0?.position = page.next }
      return page
    }
  }

  /// Prepares to read at `position`: continues behind the last page or, after a jump, with new
  /// walks.
  private func begin(at position: Position) throws {
    let isNext = state.withLock { $0 != nil && $0?.position == position }
    if isNext { return }
    cancelLoads()
    let positions = try MergePositions(
      position, sources: sources.count, window: rules.options.duplicateWindow, listing: identity)
    let walks = sources.indices.map { walk(of: $0, at: positions) }
    let machine = Machine(rules: rules, positions: positions)
    state.withLock {
      $0 = State(
        machine: machine, walks: walks, progress: walks.map { $0?.progress }, position: position)
    }
  }

  /// Returns a new walk from the merge's place in a source; nil at its end.
  private func walk(of source: Int, at positions: MergePositions) -> Walk<Item>? {
    switch positions.place(of: source) {
    case .start, nil: sources[source].walk()
    case .end: nil
    case .within(let place): sources[source].resuming(from: place).walk()
    }
  }

  // MARK: Performing

  /// The actions that are left to do outside of the lock.
  private struct Effects: Sendable {
    var cancelled: [Task<Void, Never>] = []
    var ended: [Walk<Item>] = []
    var waiter: Suspension<Void>?
  }

  /// Passes an event to the machine, and performs its action.
  private func perform(_ event: (inout State) -> Machine.Action) {
    let effects = state.withLock { state -> Effects in
      guard var current = state.take() else { return Effects() }
      defer { state = current }
      var effects = Effects()
      let action = event(&current)
      effects.cancelled = action.cancelled.compactMap { current.loads[$0] }
      effects.ended = action.ended.compactMap { current.walks[$0] }
      for load in action.loads {
        if let walk = current.walks[load.source] {
          let previous = current.loads[load.source]
          current.loads[load.source] = task(for: load, of: walk, after: previous)
        }
      }
      if let time = action.alarm { setAlarm(at: time, &current) }
      if let outcome = action.outcome {
        current.outcome = outcome
        effects.waiter = current.waiter.take()
      }
      return effects
    }
    for task in effects.cancelled { task.cancel() }
    for walk in effects.ended { walk.settle() }
    effects.waiter?.resume(returning: ())
  }

  private func task(
    for load: Machine.Load, of walk: Walk<Item>, after previous: Task<Void, Never>?
  ) -> Task<Void, Never> {
    Task { [weak self] in
      // A cancelled load may not have noticed its cancellation, and its page must not be lost.
      await previous?.value
      let early = self?.state.withLock { state -> Answer? in
        guard state?.walks[load.source] === walk else { return nil }
        return state?.early.removeValue(forKey: load.source)
      }
      if let early { return self?.ended(load, of: walk, .success(early)) ?? () }
      do {
        let page = try await walk.next(isolation: nil)
        self?.ended(load, of: walk, .success(Answer(page: page, isLast: walk.isOver)))
      } catch {
        self?.ended(load, of: walk, .failure(error))
      }
    }
  }

  private func ended(
    _ load: Machine.Load, of walk: Walk<Item>, _ outcome: Result<Answer, any Error>
  ) {
    let now = stopwatch.elapsed()
    perform { state in
      // After a jump another walk reads the source, and this answer is of no use to it.
      guard state.walks[load.source] === walk else { return Machine.Action() }
      let action: Machine.Action?
      switch outcome {
      case .success(let answer):
        if answer.page == nil { state.machine.note(end: walk.takeEnd(), of: load.source) }
        action = state.machine.received(
          answer.page, isLast: answer.isLast, by: load, at: now)
        if action == nil {
          state.early[load.source] = answer
        } else {
          state.progress[load.source] = walk.progress
        }
      case .failure(let error as PageError) where error.isLimit && WalkReading.isOverLimit:
        action = state.machine.limited(error, by: load, at: now)
      case .failure(let error):
        action = state.machine.failed(error, by: load, at: now)
      }
      if action != nil { state.loads[load.source] = nil }
      return action ?? Machine.Action()
    }
  }

  /// Sets an alarm for `time`, unless an earlier one is set.
  private func setAlarm(at time: Duration, _ state: inout State) {
    if let alarm = state.alarm, alarm.time <= time { return }
    state.alarm?.task.cancel()
    let pause = time - stopwatch.elapsed()
    let task = Task { [weak self, clock] in
      guard (try? await clock.sleep(for: max(pause, .zero).limitedForClock)) != nil else { return }
      self?.rang(at: time)
    }
    state.alarm = (task, time)
  }

  private func rang(at time: Duration) {
    perform { state in
      if state.alarm?.time == time { state.alarm = nil }
      return state.machine.elapsed(at: max(time, self.stopwatch.elapsed()))
    }
  }

  // MARK: The reader's other duties

  func leave() {
    guard cancelLoads(duringRead: false) else { return }
    for walk in state.withLock({ $0?.walks ?? [] }) { walk?.reader.leave() }
  }

  /// Cancels the running loads, and returns whether it did. Without `duringRead`, it leaves loads
  /// alone that a read waits for: that read belongs to a loop that began while the previous one was
  /// left.
  @discardableResult
  private func cancelLoads(duringRead: Bool = true) -> Bool {
    let tasks = state.withLock { state -> [Task<Void, Never>]? in
      guard var current = state.take() else { return [] }
      defer { state = current }
      guard duringRead || current.waiter == nil else { return nil }
      let tasks = Array(current.loads.values) + (current.alarm.map { [$0.task] } ?? [])
      _ = current.machine.cancelled()
      current.alarm = nil
      current.waiter = nil
      return tasks
    }
    for task in tasks ?? [] { task.cancel() }
    return tasks != nil
  }

  func copy() -> any PageReader<Item> {
    let copy = MergingReader(
      sources, rules, clock: clock, identity: identity, needsClosing: needsClosing)
    guard let current = state.withLock({ $0 }) else { return copy }
    var machine = current.machine
    _ = machine.cancelled()
    let walks = current.walks.enumerated().map { source, walk -> Walk<Item>? in
      guard current.loads[source] != nil, current.early[source] == nil,
        let progress = current.progress[source]
      else { return walk?.copy() }
      // A walk that is still reading may have gone on before its page is here.
      return walk?.copy(at: progress) ?? self.walk(of: source, at: machine.positions)
    }
    copy.state.withLock {
      $0 = State(
        machine: machine, walks: walks, progress: walks.map { $0?.progress },
        early: current.early, outcome: current.outcome, position: current.position)
    }
    return copy
  }

  func close(at position: Position?) async {
    let walks = state.withLock { $0?.walks ?? [] }
    await withTaskGroup { group in
      for walk in walks.compactMap(\.self) { group.addTask { await walk.close() } }
    }
  }

  func warnings(for end: WalkReport.End) -> [WalkReport.Warning] {
    guard let (summary, walks) = state.withLock({ $0.map { ($0.machine.summary, $0.walks) } })
    else { return [] }
    var warnings = summary.warnings(skew: rules.options.skew)
    for (source, walk) in walks.enumerated() {
      warnings += walk?.report.warnings(from: "Source \(source) of the merge") ?? []
    }
    return warnings
  }

  // Every page of a merge moves at least one source, and each source's walk guards against loops.
  var repeatedPositions: Position.Repetition { .allowed }
  var allowsLookAhead: Bool { true }
}

extension WalkReport.Warning.Code {
  /// A source of a merge, or a listing that `flatMap` reads, delivered fewer items than its server
  /// had declared.
  public static let truncatedSource = Self("truncatedSource")
}

extension WalkReport {
  /// Returns the warnings of a walk that is part of another walk, prefixed with its name.
  func warnings(from name: String) -> [Warning] {
    var all: [Warning] = []
    if case .truncationSuspected = end {
      all.append(Warning(.truncatedSource, "\(name): \(self)."))
    }
    return all
      + warnings.map { warning in
        var warning = warning
        warning.message = "\(name): \(warning.message)"
        return warning
      }
  }
}
