/// Decides what a paginator loads, when, and who gets what.
struct PaginatorMachine<Item: Sendable>: Sendable {
  /// What is loaded: the page that comes next, or the first page of a new walk.
  enum Load: Hashable { case more, reload }

  enum Phase {
    /// Nothing is being loaded, and more may follow. → `loading`
    case idle
    /// → `idle`, `ended`, `failed`, `cancelling`
    case loading(Load, id: Int, isRetry: Bool)
    /// Nobody wants the load that still runs; `then` starts when it has ended. → `idle`, `loading`,
    /// `ended`
    case cancelling(Load, id: Int, then: Load?)
    /// `isShown` when the consumer knows. → `loading`
    case failed(Load, any Error, isShown: Bool)
    /// The walk has no more. → `loading` by a reload
    case ended
  }

  /// What a load brought.
  enum Answer {
    case page(Page<Item>, isLast: Bool)
    case end
    case failed(any Error)
  }

  /// What somebody who waits is told.
  enum Outcome: Sendable {
    case page(Page<Item>)
    /// Whether the load brought a page.
    case loaded(Bool)
    case end
    case failed(any Error)
  }

  /// What a consumer asks for.
  enum Helping { case page, items }

  /// What an event leads to. All of it is performed after the machine has decided.
  struct Effects {
    /// For whoever caused the event; nil when it has to wait.
    var outcome: Outcome?
    var wake: [(ticket: Int, outcome: Outcome)] = []
    var start: (load: Load, id: Int)?
    /// The load with this number is to be cancelled.
    var cancel: Int?
    /// The walk of the last reload takes the place of the one so far.
    var adoptsReload = false
  }

  private struct Consumer {
    var ticket: Int
    var helping: Helping
  }

  let limits: LookAhead
  private(set) var phase = Phase.idle
  private(set) var window: PageWindow<Item>
  private var consumers: [Consumer] = []
  private var callers: [Int] = []
  private var iterators = 0
  private var loads = 0
  /// Whether the last thing a consumer heard of was its cancellation.
  private(set) var isCancelled = false

  /// Whether this load runs and somebody wants it.
  func isLoading(_ id: Int) -> Bool {
    if case .loading(_, id, _) = phase { true } else { false }
  }

  /// Why no more pages come to the consumer, when the walk behind them ended like that.
  func end(ofWalk end: WalkReport.End) -> WalkReport.End {
    switch phase {
    case .ended where window.isEmpty: return end
    case .failed(_, let error as PageError, isShown: true): return .failed(error)
    case .idle, .loading, .cancelling, .failed, .ended: break
    }
    if isCancelled { return .cancelled }
    return hasIterators || window.pagesHandedOut == 0 ? .running : .stoppedByConsumer
  }

  /// Whether a loop is running.
  var hasIterators: Bool { iterators > 0 }

  init(start: Position = .start, limits: LookAhead = LookAhead()) {
    self.limits = limits
    window = PageWindow(start: start)
  }

  // MARK: Consumers

  mutating func iteratorBegan() { iterators += 1 }

  /// The last copy of an iterator is gone; with the last one goes what is in flight.
  mutating func iteratorLeft() -> Effects {
    iterators -= 1
    var effects = Effects()
    if iterators == 0, callers.isEmpty { cancelLoad(&effects) }
    return effects
  }

  /// A consumer asks for its next page or items.
  mutating func next(_ helping: Helping, ticket: Int) -> Effects {
    var effects = Effects()
    isCancelled = false
    window.catchUp()
    if let error = limits.objection {
      effects.outcome = .failed(error)
    } else if !window.isEmpty {
      effects.outcome = .page(take(helping))
      lookAhead(&effects)
    } else if case .failed(let load, let error, isShown: false) = phase {
      phase = .failed(load, error, isShown: true)
      effects.outcome = .failed(error)
    } else if case .ended = phase {
      effects.outcome = .end
    } else {
      consumers.append(Consumer(ticket: ticket, helping: helping))
      demandLoad(&effects)
    }
    return effects
  }

  /// A consumer was cancelled before it could ask.
  mutating func consumerCancelled() { isCancelled = true }

  /// The consumer says by hand how far it is.
  mutating func reported(consumed: Int) -> Effects {
    var effects = Effects()
    window.report(consumed: consumed)
    lookAhead(&effects)
    return effects
  }

  // MARK: Callers

  /// Somebody wants the next page to be loaded, by hand.
  mutating func loadMore(ticket: Int) -> Effects {
    var effects = Effects()
    switch phase {
    case .ended: effects.outcome = .loaded(false)
    case .idle where !window.isEmpty && !window.hasRoom(for: limits):
      effects.outcome = .loaded(true)
    case .idle, .loading, .cancelling, .failed:
      callers.append(ticket)
      demandLoad(&effects)
    }
    return effects
  }

  /// Somebody wants what failed to be tried again.
  mutating func retry(ticket: Int) -> Effects {
    var effects = Effects()
    switch phase {
    case .failed:
      callers.append(ticket)
      demandLoad(&effects)
    case .loading(_, _, isRetry: true):
      callers.append(ticket)
    case .idle, .loading, .cancelling, .ended:
      effects.outcome = .loaded(false)
    }
    return effects
  }

  /// Somebody wants to start over. What was loaded stays until the new first page is there.
  mutating func reload(ticket: Int) -> Effects {
    var effects = Effects()
    callers.append(ticket)
    switch phase {
    case .loading(let load, let id, _):
      phase = .cancelling(load, id: id, then: .reload)
      effects.cancel = id
    case .cancelling(let load, let id, _):
      phase = .cancelling(load, id: id, then: .reload)
    case .idle, .failed, .ended:
      start(.reload, &effects)
    }
    return effects
  }

  /// Somebody who waits was cancelled. The load goes with the last one who waits for it.
  mutating func waiterCancelled(ticket: Int) -> Effects {
    var effects = Effects()
    let wasConsumer = consumers.contains { $0.ticket == ticket }
    guard wasConsumer || callers.contains(ticket) else { return effects }
    consumers.removeAll { $0.ticket == ticket }
    callers.removeAll { $0 == ticket }
    effects.wake = [(ticket, .failed(CancellationError()))]
    isCancelled = wasConsumer
    if consumers.isEmpty, callers.isEmpty, wasConsumer || iterators == 0 { cancelLoad(&effects) }
    return effects
  }

  // MARK: Loads

  /// The load with this number has ended.
  mutating func finished(_ id: Int, _ answer: Answer) -> Effects {
    var effects = Effects()
    switch phase {
    case .loading(let load, id, _):
      settle(load, answer, &effects, looksAhead: true)
    case .cancelling(let load, id, let then):
      phase = .idle
      if load == .more, then != .reload, !answer.isFailure {
        // It came all the same. The walk is beyond it now, so it must not be lost.
        settle(load, answer, &effects, looksAhead: then != nil)
      } else if let then {
        start(then, &effects)
      }
    case .idle, .loading, .cancelling, .failed, .ended:
      preconditionFailure("A paginator's load \(id) ended while it was \(phase).")
    }
    return effects
  }
}

// MARK: - Deciding

extension PaginatorMachine {
  private mutating func settle(
    _ load: Load, _ answer: Answer, _ effects: inout Effects, looksAhead: Bool
  ) {
    if load == .reload, !answer.isFailure {
      window = PageWindow(start: window.start)
      effects.adoptsReload = true
    }
    switch answer {
    case .page(let page, let isLast):
      window.append(page)
      phase = isLast ? .ended : .idle
      wakeCallers(.loaded(true), &effects)
    case .end:
      phase = .ended
      wakeCallers(.loaded(false), &effects)
    case .failed(let error):
      phase = .failed(load, error, isShown: !consumers.isEmpty)
      wakeCallers(.failed(error), &effects)
      wakeConsumers(.failed(error), &effects)
    }
    serveConsumers(&effects)
    if looksAhead { lookAhead(&effects) }
  }

  private mutating func serveConsumers(_ effects: inout Effects) {
    while !window.isEmpty, let consumer = consumers.first {
      consumers.removeFirst()
      effects.wake.append((consumer.ticket, .page(take(consumer.helping))))
    }
    if case .ended = phase { wakeConsumers(.end, &effects) }
    if !consumers.isEmpty { demandLoad(&effects) }
  }

  private mutating func take(_ helping: Helping) -> Page<Item> {
    switch helping {
    case .page: return window.takePage()
    case .items:
      var isLoading = false
      var isIdle = false
      switch phase {
      case .loading, .cancelling: isLoading = true
      case .idle: isIdle = true
      case .failed, .ended: break
      }
      return window.takeHelping(limits, isLoading: isLoading, isIdle: isIdle)
    }
  }

  private mutating func wakeCallers(_ outcome: Outcome, _ effects: inout Effects) {
    effects.wake += callers.map { ($0, outcome) }
    callers = []
  }

  private mutating func wakeConsumers(_ outcome: Outcome, _ effects: inout Effects) {
    effects.wake += consumers.map { ($0.ticket, outcome) }
    consumers = []
  }

  /// Loads the next page if it is due and there is room for it.
  private mutating func lookAhead(_ effects: inout Effects) {
    guard case .idle = phase, window.hasRoom(for: limits),
      limits.threshold.isExceeded(consumed: window.consumed, loaded: window.loaded)
    else { return }
    start(.more, &effects)
  }

  /// Sees to it that what somebody waits for is being loaded.
  private mutating func demandLoad(_ effects: inout Effects) {
    switch phase {
    case .idle: start(.more, &effects)
    case .failed(let load, _, _): start(load, &effects, isRetry: true)
    case .cancelling(let load, let id, let then):
      phase = .cancelling(load, id: id, then: then ?? .more)
    case .loading, .ended: break
    }
  }

  private mutating func start(_ load: Load, _ effects: inout Effects, isRetry: Bool = false) {
    loads += 1
    phase = .loading(load, id: loads, isRetry: isRetry)
    effects.start = (load, loads)
  }

  private mutating func cancelLoad(_ effects: inout Effects) {
    switch phase {
    case .loading(let load, let id, _):
      phase = .cancelling(load, id: id, then: nil)
      effects.cancel = id
    case .cancelling(let load, let id, _):
      phase = .cancelling(load, id: id, then: nil)
    case .idle, .failed, .ended: break
    }
  }
}

extension PaginatorMachine.Answer {
  fileprivate var isFailure: Bool {
    if case .failed = self { true } else { false }
  }
}
