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
