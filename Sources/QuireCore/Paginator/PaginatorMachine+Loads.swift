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
    if answer.isCancellation {
      latch.answered(true)
      latchBefore.reset()
      filledAt = nil
    }
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
    if page.items.isEmpty { showsNothingNew() }
    if isFirst { head = page.previous == nil ? .exhausted : .open }
    tail = isLast ? .exhausted : .open
    if isLast, isEmptyListing { return settleEnd(&effects) }
    effects.events.append(isFirst ? .reloaded(page) : .appended(page))
    settled = .content
    announceSettled(&effects)
    if isLast { settleEnd(&effects) }
  }

  /// A page without items came: the content is as long as before, so that the same place counts again.
  private mutating func showsNothingNew() {
    latch.reset()
    latchBefore.reset()
    filledAt = nil
  }

  private mutating func settleBefore(_ answer: Answer, _ effects: inout Effects) {
    switch answer {
    case .page(let page, let isLast):
      store.prepend(page)
      head = isLast ? .exhausted : .open
      latchBefore.answered(true)
      if page.items.isEmpty { showsNothingNew() }
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
    // What did not fill its viewport may be filled from the other end.
    filledAt = nil
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
    latchBefore.reset()
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

// Those who want something loaded by hand.
extension PaginatorMachine {
  /// Somebody wants the next page to be loaded, by hand.
  mutating func loadMore(ticket: Int) -> Effects {
    var effects = Effects()
    if case .exhausted = tail, !isReloading {
      effects.outcome = .loaded(false)
    } else if case .idle = activity, case .open = tail, isFull {
      effects.outcome = .loaded(true)
    } else {
      callers.append(Caller(ticket: ticket, wish: .load(.more)))
      demandLoad(&effects)
    }
    announce(&effects)
    return effects
  }

  /// Whether as much as allowed is loaded and not begun.
  var isFull: Bool {
    limits.retention == .window && store.frontier.page < store.endPage
      && !store.hasRoom(for: limits)
  }

  /// The next page is due by a rule of somebody else's, who does not wait for it.
  mutating func requested() -> Effects {
    var effects = Effects()
    guard case .idle = activity, case .open = tail else { return effects }
    start(.more, &effects)
    announce(&effects)
    return effects
  }

  /// Somebody wants the page before the first one to be loaded.
  mutating func loadBefore(ticket: Int) -> Effects {
    var effects = Effects()
    if limits.retention == .window {
      effects.outcome = .failed(
        PageError(
          .invalidArgument,
          "Pages before the start need a paginator that keeps its pages; give it retention .all.",
          attempts: 0))
    } else if case .exhausted = head, !isReloading {
      effects.outcome = .loaded(false)
    } else {
      callers.append(Caller(ticket: ticket, wish: .load(.before)))
      demandLoad(&effects)
    }
    announce(&effects)
    return effects
  }

  /// Somebody wants what failed to be tried again.
  mutating func retry(ticket: Int) -> Effects {
    var effects = Effects()
    switch (activity, tail) {
    case (.loading(let running), _) where running.isRetry:
      callers.append(Caller(ticket: ticket, wish: .load(running.load)))
    case _ where hasFailedToReload:
      callers.append(Caller(ticket: ticket, wish: .load(.reload)))
      demandLoad(&effects, isRetry: true)
    case (_, .failed(let load, _, _)):
      callers.append(Caller(ticket: ticket, wish: .load(load)))
      demandLoad(&effects)
    case (.idle, .exhausted) where settled == .empty:
      return reload(ticket: ticket)
    default:
      if case .failed = head { return loadBefore(ticket: ticket) }
      effects.outcome = .loaded(false)
    }
    announce(&effects)
    return effects
  }

  /// Whether what was loaded is still there because it could not be loaded anew.
  private var hasFailedToReload: Bool {
    if case .loadingError = state { store.hasLoaded } else { false }
  }

  /// Somebody wants to start over. What was loaded stays until the new first page is there, unless
  /// the options say otherwise.
  ///
  /// A load of the page behind or in front of what there is, is cancelled for it; a reload that runs
  /// already brings the same and is joined.
  mutating func reload(ticket: Int) -> Effects {
    var effects = Effects()
    callers.append(Caller(ticket: ticket, wish: .load(.reload)))
    if case .loading(let running) = activity, running.load == .reload { return effects }
    if limits.list.onReload == .clear {
      clear(&effects)
      // A reload that is cancelled leaves nothing to go on from.
      tail = .failed(.reload, CancellationError(), isShown: true)
      settled = .idle
    }
    cancelLoad(&effects)
    demandLoad(&effects)
    announce(&effects)
    return effects
  }

  /// Somebody who waits was cancelled. The load goes with the last one who waits for it.
  mutating func waiterCancelled(ticket: Int) -> Effects {
    var effects = Effects()
    let wasConsumer = consumers.contains { $0.ticket == ticket }
    guard wasConsumer || callers.contains(where: { $0.ticket == ticket }) else { return effects }
    consumers.removeAll { $0.ticket == ticket }
    callers.removeAll { $0.ticket == ticket }
    effects.wake = [(ticket, .failed(CancellationError()))]
    isCancelled = wasConsumer
    if consumers.isEmpty, callers.isEmpty, wasConsumer || iterators == 0 { cancelLoad(&effects) }
    announce(&effects)
    return effects
  }

  /// The current load is not wanted any more, whoever waits for it.
  mutating func cancelled() -> Effects {
    var effects = Effects()
    wakeConsumers(.failed(CancellationError()), &effects)
    wakeCallers(.failed(CancellationError()), &effects) { _ in true }
    cancelLoad(&effects)
    announce(&effects)
    return effects
  }
}

extension PaginatorMachine.Caller {
  var isTurn: Bool {
    if case .turn = wish { true } else { false }
  }

  /// Whether this load is what is waited for: a reload is good for those, too, who want more.
  func joins(_ load: PaginatorMachine.Load) -> Bool {
    wish == .load(load) || load == .reload && wish == .load(.more)
  }

  /// Whether a page behind the last one, or a new first page, is what is waited for.
  var wantsMore: Bool { wish != .load(.before) }
}

// Page commands: turning to what is held, and loading what is missing on the way there.
extension PaginatorMachine {
  /// Somebody wants to turn to a page. Commands are served in order.
  mutating func turn(_ command: PageCommand, ticket: Int) -> Effects {
    var effects = Effects()
    if limits.retention == .window {
      effects.outcome = .failed(
        PageError(
          .invalidArgument,
          "Page commands need a paginator that keeps its pages; give it retention .all.",
          attempts: 0))
      return effects
    }
    callers.append(Caller(ticket: ticket, wish: .turn(command)))
    serveTurns(&effects)
    demandLoad(&effects)
    announce(&effects)
    return effects
  }

  /// Serves commands from the front until one has to wait.
  mutating func serveTurns(_ effects: inout Effects) {
    while let index = callers.firstIndex(where: \.isTurn), let outcome = serve(callers[index]) {
      effects.wake.append((callers.remove(at: index).ticket, outcome))
    }
  }

  /// What the first command in the queue leads to; nil when it has to wait for pages.
  private mutating func serve(_ caller: Caller) -> Outcome? {
    guard case .turn(let command) = caller.wish, store.hasLoaded || isExhausted, !isReloading else {
      return nil
    }
    guard !store.pages.isEmpty else { return .end }
    let target: Int? =
      switch command {
      case .next: currentPage + 1
      case .previous: currentPage - 1
      case .page(let index): store.firstPage + max(0, index)
      case .item(let item): store.page(ofItem: max(0, item))
      }
    guard let target, target < store.endPage else { return isExhausted ? .end : nil }
    guard target >= store.firstPage else { return .end }
    currentPage = target
    return .page(store.pages[target - store.firstPage])
  }

  private var isExhausted: Bool {
    if case .exhausted = tail { true } else { false }
  }
}

extension PageStore {
  /// The number of the page with this item, counted from the first one held; nil when it is not
  /// loaded.
  func page(ofItem item: Int) -> Int? {
    var rest = item
    for (index, page) in pages.enumerated() {
      if rest < page.items.count { return firstPage + index }
      rest -= page.items.count
    }
    return nil
  }
}
