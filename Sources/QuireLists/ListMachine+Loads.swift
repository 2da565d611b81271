import QuireCore

// What loads bring, and who gets it.
extension ListMachine {
  /// The load with this number has ended.
  mutating func finished(
    _ id: Int, _ answer: LoadedPage<Item>, at now: Duration? = nil
  ) -> Effects {
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
      if !running.load.isNewRun, !answer.isFailure, !startsAnew {
        // A late page: the walk is beyond it, so it must not be lost.
        if isReplaced {
          content.late = (running.load, answer)
        } else {
          settle(running.load, answer, &effects)
        }
      }
      proceed(&effects, looksAhead: !waiters.isEmpty)
    case .idle, .loading, .cancelling:
      preconditionFailure("A list's load \(id) ended while it was \(activity).")
    }
    lastChange = now
    if answer.isCancellation {
      triggers.after.answered(true)
      triggers.before.reset()
      triggers.filledAt = nil
    }
    announce(&effects)
    return effects
  }

  /// Whether nothing is left of the walk so far, so that only a first page can follow.
  private var startsAnew: Bool {
    if case .failed(.reload, _, _) = content.tail { true } else { false }
  }

  /// Whether the first page is being loaded anew, or is about to be.
  var isReloading: Bool {
    if case .loading(let running) = activity, running.load == .reload { return true }
    return waiters.contains { $0.wish == .load(.reload) }
  }

  private mutating func settle(
    _ load: Load, _ answer: LoadedPage<Item>, _ effects: inout Effects
  ) {
    if answer.isCancellation, case .failed(let error) = answer {
      return wake(.failed(error), &effects) { load == .before ? !$0.wantsMore : $0.wantsMore }
    }
    switch load {
    case .before:
      settleBefore(answer, &effects)
    case .more:
      settleAfter(load, answer, &effects)
    case .reload:
      if !answer.isFailure { startOver(at: ListStart(position: start), &effects) }
      settleAfter(load, answer, &effects)
    case .seek(let start):
      settleSeek(start, answer, &effects)
    }
  }

  private mutating func settleAfter(
    _ load: Load, _ answer: LoadedPage<Item>, _ effects: inout Effects
  ) {
    switch answer {
    case .page(let page, let isLast):
      settlePage(page, isLast: isLast, &effects)
      wake(.loaded(true), &effects) { $0.joins(load) }
    case .end:
      content.tail = .exhausted
      if !content.hasLoaded { content.head = .exhausted }
      settleEnd(&effects)
      wake(.loaded(false), &effects) { $0.joins(load) }
    case .failed(let error):
      settleLate(&effects)
      if load == .reload, options.onReload == .clearOnFailure { clear(&effects) }
      let error = error as? PageError ?? PageError(ofSource: error)
      shown.settled =
        load == .reload || !content.hasLoaded ? .loadingError(error) : .loadingMoreError(error)
      if load == .reload, content.hasLoaded {
        // What is there stays as it was: only the callers that joined the reload get the error.
        return wake(.failed(error), &effects) { $0.joins(load) }
      }
      let isShown = waiters.contains(where: \.isLoop)
      content.tail = .failed(load, error, isShown: isShown)
      wake(.failed(error), &effects) { [content] in $0.wantsMore || !content.hasLoaded }
    }
  }

  /// A page that was sought came, or there is none: then everything stays as it was.
  private mutating func settleSeek(
    _ start: ListStart, _ answer: LoadedPage<Item>, _ effects: inout Effects
  ) {
    let seeker = waiters.first { $0.hasSought }?.ticket
    switch answer {
    case .page(let page, let isLast) where !page.items.isEmpty || !isLast:
      startOver(at: start, &effects)
      settlePage(page, isLast: isLast, &effects)
    case .page, .end:
      wake(.end, &effects) { $0.ticket == seeker }
    case .failed(let error):
      wake(.failed(error), &effects) { $0.ticket == seeker }
    }
  }

  private mutating func settleLate(_ effects: inout Effects) {
    guard let (load, answer) = content.late else { return }
    content.late = nil
    settle(load, answer, &effects)
  }

  private mutating func settlePage(
    _ page: Page<Item>, isLast: Bool, _ effects: inout Effects
  ) {
    let isFirst = !content.hasLoaded
    content.append(page)
    triggers.after.answered(true)
    // The content is as long as before, so that the same offset counts again.
    if page.items.isEmpty { triggers.reset() }
    if isFirst { content.head = page.previous == nil ? .exhausted : .open }
    content.tail = isLast ? .exhausted : .open
    if isLast, isEmptyListing { return settleEnd(&effects) }
    effects.events.append(isFirst ? .reloaded(page) : .appended(page))
    shown.settled = .content
    announce(shown.settled, &effects)
    if isLast { settleEnd(&effects) }
  }

  private mutating func settleBefore(_ answer: LoadedPage<Item>, _ effects: inout Effects) {
    switch answer {
    case .page(let page, let isLast):
      content.prepend(page)
      content.head = isLast ? .exhausted : .open
      triggers.before.answered(true)
      if page.items.isEmpty { triggers.reset() }
      effects.events.append(.prepended(page, shift: page.items.count))
      wake(.loaded(true), &effects) { !$0.wantsMore }
    case .end:
      content.head = .exhausted
      wake(.loaded(false), &effects) { !$0.wantsMore }
    case .failed(let error):
      content.head = .failed(PageError(ofSource: error))
      wake(.failed(error), &effects) { !$0.wantsMore }
    }
  }

  private var isEmptyListing: Bool {
    content.loaded + content.prepended + content.before.items == 0
      && !options.deliversEmptyFirstPage
  }

  private mutating func settleEnd(_ effects: inout Effects) {
    // What did not fill its viewport may be filled from the other end.
    triggers.filledAt = nil
    if isEmptyListing {
      effects.events.append(.cleared)
      shown.settled = .empty
    } else {
      shown.settled = .exhausted
    }
  }

  /// The first page of a new run is here: what was loaded before makes room for it.
  private mutating func startOver(at start: ListStart, _ effects: inout Effects) {
    content = content.replaced(at: start)
    triggers.reset()
    options.loadsAhead = true
    effects.adoptsRun = true
  }

  /// Drops everything that was loaded.
  mutating func clear(_ effects: inout Effects) {
    content = content.replaced(at: ListStart(position: start))
    triggers.reset()
    options.loadsAhead = true
    effects.events.append(.cleared)
  }

  // MARK: Waiters

  /// Serves the waiters, and then sees to what is wanted or due.
  private mutating func proceed(_ effects: inout Effects, looksAhead: Bool) {
    if !isReloading {
      settleLate(&effects)
      serveLoops(&effects)
      serveNavigations(&effects)
      if content.isExhausted {
        wake(.end, &effects) { $0.isLoop }
        wake(.loaded(false), &effects) { $0.wish == .load(.more) }
      }
      if case .exhausted = content.head {
        wake(.loaded(false), &effects) { $0.wish == .load(.before) }
      }
    }
    demandLoad(&effects)
    if looksAhead { lookAhead(&effects) }
  }

  private mutating func serveLoops(_ effects: inout Effects) {
    var waiting: [Waiter] = []
    for waiter in waiters {
      if case .page(let last) = waiter.wish, let (page, place) = content.page(after: last) {
        effects.wake.append((waiter.ticket, .page(page, place)))
      } else {
        waiting.append(waiter)
      }
    }
    waiters = waiting
  }

  /// Serves commands from the front until one has to wait.
  mutating func serveNavigations(_ effects: inout Effects) {
    while let index = waiters.firstIndex(where: \.isNavigation),
      let outcome = serve(waiters[index])
    {
      effects.wake.append((waiters.remove(at: index).ticket, outcome))
    }
  }

  /// What a command leads to; nil when it has to wait for pages.
  private mutating func serve(_ waiter: Waiter) -> Outcome? {
    guard case .navigate(let command) = waiter.wish,
      content.hasLoaded || content.isExhausted, !isReloading
    else { return nil }
    if content.pages.isEmpty { return .end }
    let index = content.index(for: command)
    if let index, content.pages.indices.contains(index) {
      content.current = index
      return .page(content.pages[index], nil)
    }
    if seek(for: waiter) != nil { return nil }
    return index.map { $0 < 0 } ?? false || content.isExhausted ? .end : nil
  }

  mutating func wake(
    _ outcome: Outcome, _ effects: inout Effects, _ isMeant: (Waiter) -> Bool
  ) {
    for waiter in waiters where isMeant(waiter) { effects.wake.append((waiter.ticket, outcome)) }
    waiters.removeAll(where: isMeant)
  }
}

extension ListMachine.Waiter {
  var isNavigation: Bool {
    if case .navigate = wish { true } else { false }
  }

  var isLoop: Bool {
    if case .page = wish { true } else { false }
  }

  /// Whether this load is what is waited for: a reload serves a wish for the next page, too.
  func joins(_ load: ListLoad) -> Bool {
    wish == .load(load) || load == .reload && wish == .load(.more)
  }

  /// Whether a page behind the last one, or a new first page, is what is waited for.
  var wantsMore: Bool { wish != .load(.before) }
}
