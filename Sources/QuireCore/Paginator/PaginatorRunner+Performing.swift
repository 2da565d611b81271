// Asks the machine under the lock, and performs what it decided outside of it.

import Synchronization

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
