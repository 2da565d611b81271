// What loads bring, and who is told.

extension PaginatorMachine {
  /// The load with this number has ended.
  mutating func finished(_ id: Int, _ answer: Answer, at now: Duration? = nil) -> Effects {
    var effects = Effects()
    switch activity {
    case .loading(let running) where running.id == id:
      activity = .idle
      settle(running.load, answer, &effects)
      // A source that fails or cancels by itself would otherwise be asked for ever.
      proceed(&effects, looksAhead: !answer.isFailure)
    case .cancelling(let running) where running.id == id:
      let isReplaced = isReloading
      activity = .idle
      if running.load != .reload, !answer.isFailure, !startsAnew {
        // It came all the same. The walk is beyond it now, so it must not be lost.
        if isReplaced {
          heldBack = (running.load, answer)
        } else {
          settle(running.load, answer, &effects)
        }
      }
      proceed(&effects, looksAhead: !consumers.isEmpty || !callers.isEmpty)
    case .idle, .loading, .cancelling:
      preconditionFailure("A paginator's load \(id) ended while it was \(activity).")
    }
    lastChange = now
    if answer.isCancellation { latch.answered(true) }
    announce(&effects)
    return effects
  }

  /// Whether nothing is left of the walk so far, so that only a first page can follow.
  private var startsAnew: Bool {
    if case .failed(.reload, _, _) = tail { true } else { false }
  }

  /// Whether the first page is being loaded anew, or is about to be.
  var isReloading: Bool {
    if case .loading(let running) = activity, running.load == .reload { return true }
    return callers.contains { $0.wish == .load(.reload) }
  }

  private mutating func settle(_ load: Load, _ answer: Answer, _ effects: inout Effects) {
    if answer.isCancellation, case .failed(let error) = answer {
      wakeCallers(.failed(error), &effects) { load == .before ? !$0.wantsMore : $0.wantsMore }
      if load != .before { wakeConsumers(.failed(error), &effects) }
    } else if load == .before {
      settleBefore(answer, &effects)
    } else {
      if load == .reload, !answer.isFailure { startOver(&effects) }
      settleAfter(load, answer, &effects)
    }
  }

  private mutating func settleAfter(_ load: Load, _ answer: Answer, _ effects: inout Effects) {
    switch answer {
    case .page(let page, let isLast):
      settlePage(page, isLast: isLast, &effects)
      wakeCallers(.loaded(true), &effects) { $0.joins(load) }
    case .end:
      tail = .exhausted
      if !store.hasLoaded { head = .exhausted }
      settleEnd(&effects)
      wakeCallers(.loaded(false), &effects) { $0.joins(load) }
    case .failed(let error):
      settleHeldBack(&effects)
      if load == .reload, limits.list.onReload == .clearOnFailure { clear(&effects) }
      let shown = error as? PageError ?? WalkMachine.sourceFailure(error)
      settled =
        load == .reload || !store.hasLoaded ? .loadingError(shown) : .loadingMoreError(shown)
      if load == .reload, store.hasLoaded {
        // What is there stays as it was, the way on included: only who joined the reload hears.
        return wakeCallers(.failed(error), &effects) { $0.joins(load) }
      }
      tail = .failed(load, error, isShown: !consumers.isEmpty)
      wakeCallers(.failed(error), &effects) { [store] in $0.wantsMore || !store.hasLoaded }
      wakeConsumers(.failed(error), &effects)
    }
  }

  mutating func settleHeldBack(_ effects: inout Effects) {
    guard let (load, answer) = heldBack else { return }
    heldBack = nil
    settle(load, answer, &effects)
  }

  private mutating func settlePage(
    _ page: Page<Item>, isLast: Bool, _ effects: inout Effects
  ) {
    let isFirst = !store.hasLoaded
    store.append(page)
    latch.answered(true)
    if page.items.isEmpty { filledAt = nil }
    if isFirst { head = page.previous == nil ? .exhausted : .open }
    tail = isLast ? .exhausted : .open
    if isLast, isEmptyListing { return settleEnd(&effects) }
    effects.events.append(isFirst ? .reloaded(page) : .appended(page))
    settled = .content
    announceSettled(&effects)
    if isLast { settleEnd(&effects) }
  }

  private mutating func settleBefore(_ answer: Answer, _ effects: inout Effects) {
    switch answer {
    case .page(let page, let isLast):
      store.prepend(page)
      head = isLast ? .exhausted : .open
      effects.events.append(.prepended(page, shift: page.items.count))
      wakeCallers(.loaded(true), &effects) { !$0.wantsMore }
    case .end:
      head = .exhausted
      wakeCallers(.loaded(false), &effects) { !$0.wantsMore }
    case .failed(let error):
      head = .failed(error as? PageError ?? WalkMachine.sourceFailure(error))
      wakeCallers(.failed(error), &effects) { !$0.wantsMore }
    }
  }

  private var isEmptyListing: Bool {
    store.loaded + store.prepended == 0 && !limits.list.deliversEmptyFirstPage
  }

  private mutating func settleEnd(_ effects: inout Effects) {
    if isEmptyListing {
      effects.events.append(.cleared)
      settled = .empty
    } else {
      settled = .exhausted
    }
  }

  /// The new first page is here: what was loaded before makes room for it.
  private mutating func startOver(_ effects: inout Effects) {
    discard()
    effects.adoptsReload = true
  }

  /// Drops everything that was loaded.
  mutating func clear(_ effects: inout Effects) {
    discard()
    effects.events.append(.cleared)
  }

  private mutating func discard() {
    store = PageStore(start: start, retention: limits.retention)
    currentPage = 0
    filledAt = nil
    latch.reset()
    heldBack = nil
    limits.list.loadsAhead = true
  }
}

extension PaginatorMachine.Answer {
  var isFailure: Bool {
    if case .failed = self { true } else { false }
  }

  var isCancellation: Bool {
    if case .failed(let error) = self { error is CancellationError } else { false }
  }
}
