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

  /// Somebody wants to start over. What was loaded stays until the new first page is there, unless
  /// the options say otherwise.
  mutating func reload(ticket: Int) -> Effects {
    var effects = Effects()
    callers.append(Caller(ticket: ticket, wish: .load(.reload)))
    limits.list.loadsAhead = true
    latch.reset()
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

  // MARK: Page commands

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

extension PaginatorMachine.Caller {
  var isTurn: Bool {
    if case .turn = wish { true } else { false }
  }

  /// Whether a page behind the last one, or a new first page, is what is waited for.
  var wantsMore: Bool { wish != .load(.before) }
}
