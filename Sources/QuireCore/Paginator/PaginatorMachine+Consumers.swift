// Those who read, and those who say how far they have read.

extension PaginatorMachine {
  mutating func iteratorBegan() { iterators += 1 }

  /// The last copy of an iterator is gone; with the last one goes what is in flight.
  mutating func iteratorLeft(_ reader: Int, mark: ItemMark? = nil) -> Effects {
    iterators -= 1
    store.forget(reader: reader, mark: mark)
    var effects = Effects()
    if iterators == 0, callers.isEmpty { cancelLoad(&effects) }
    announce(&effects)
    return effects
  }

  /// A consumer asks for its next page or items.
  mutating func next(_ helping: Helping, reader: Int, ticket: Int) -> Effects {
    var effects = Effects()
    isCancelled = false
    store.catchUp(reader)
    if let error = limits.objection {
      effects.outcome = .failed(error)
    } else if store.hasPages(for: reader) {
      effects.outcome = .page(take(helping, for: reader))
      lookAhead(&effects)
    } else if case .failed(let load, let error, isShown: false) = tail {
      tail = .failed(load, error, isShown: true)
      effects.outcome = .failed(error)
    } else if case .exhausted = tail, !isReloading {
      effects.outcome = .end
    } else {
      consumers.append(Consumer(ticket: ticket, helping: helping, reader: reader))
      demandLoad(&effects)
    }
    announce(&effects)
    return effects
  }

  /// A consumer was cancelled before it could ask.
  mutating func consumerCancelled() { isCancelled = true }

  /// The consumer says by hand how many items it is done with.
  mutating func reported(consumed: Int, at now: Duration? = nil) -> Effects {
    var effects = Effects()
    store.report(consumed: consumed)
    if !isSettling(at: now) { lookAhead(&effects) }
    if effects.start != nil { announce(&effects) }
    return effects
  }

  /// The consumer says where in a view it is.
  mutating func reported(
    offset: Double, in viewport: Viewport, at now: Duration? = nil
  ) -> Effects {
    var effects = Effects()
    guard limits.list.loadsAhead, store.hasLoaded, case .open = tail, case .idle = activity,
      !isSettling(at: now)
    else { return effects }
    let isShort =
      limits.list.fillsViewport && viewport.extent > 0 && viewport.scrollRange <= 0
      && viewport.content != filledAt
    guard latch.report(offset, in: viewport) != nil || isShort else { return effects }
    if isShort { filledAt = viewport.content }
    latch.latch()
    start(.more, &effects)
    announce(&effects)
    return effects
  }

  private func isSettling(at now: Duration?) -> Bool {
    guard let now, let lastChange else { return false }
    return now - lastChange < limits.list.settling
  }

  mutating func take(_ helping: Helping, for reader: Int) -> Page<Item> {
    guard case .items(let mark) = helping else { return store.takePage(for: reader) }
    var isLoading = false
    var isIdle = false
    switch (activity, tail) {
    case (.loading, _), (.cancelling, _): isLoading = true
    case (.idle, .open): isIdle = limits.list.loadsAhead
    case (.idle, .failed), (.idle, .exhausted): break
    }
    let page = store.takeHelping(for: reader, limits, isLoading: isLoading, isIdle: isIdle)
    return mark.map { store.open(page, mark: $0) } ?? page
  }
}
