/// Decides when a paginator loads the next page, and which consumer gets which items.
///
/// One load runs at a time. A consumer that finds nothing loaded waits for the running load, or
/// starts one.
struct LookAheadMachine<Item: Sendable>: Sendable {
  typealias State = LookAhead.State
  typealias Delivery = LookAhead.Delivery

  /// What a consumer gets.
  enum Outcome: Sendable {
    case page(Page<Item>)
    case end
    case failed(any Error)
  }

  /// The outcome for a waiter.
  struct Waking {
    let ticket: Int
    let outcome: Outcome
  }

  /// The effects of an event, which are performed after the machine has decided.
  struct Effects {
    /// The outcome for the consumer that caused the event; nil if it waits.
    var outcome: Outcome?
    /// The outcomes for waiters, in the order in which they came.
    var wake: [Waking] = []
    /// The number of the load to start.
    var start: Int?
    /// The number of the load to cancel.
    var cancel: Int?
  }

  let limits: LookAhead
  private(set) var state = State.idle
  private(set) var buffer: PageBuffer<Item>
  private(set) var waiters: [(ticket: Int, delivery: Delivery)] = []
  /// Whether the last request of a consumer was cancelled.
  private(set) var isCancelled = false
  /// The changes of the depth.
  private(set) var adjustments: [WalkReport.Adjustment] = []
  private var pace = LookAheadPace()
  private var loads = 0
  /// Whether the last consumer asked for a whole page.
  private var takesPages = false
  /// The time of the present event.
  private var now = Duration.zero

  init(start: Position = .start, limits: LookAhead = LookAhead()) {
    self.limits = limits
    buffer = PageBuffer(start: start)
  }

  // MARK: Consumers

  /// Handles a consumer's request for its next page or items.
  mutating func next(_ delivery: Delivery, ticket: Int, at now: Duration = .zero) -> Effects {
    var effects = Effects()
    self.now = now
    pace.asked(at: now)
    isCancelled = false
    if case .page = delivery { takesPages = true } else { takesPages = false }
    buffer.markDeliveredConsumed()
    if let error = limits.error {
      effects.outcome = .failed(error)
    } else if buffer.hasPages {
      effects.outcome = .page(take(delivery))
      lookAhead(&effects)
    } else {
      switch state {
      case .exhausted:
        effects.outcome = .end
      case .failed(let error, isDelivered: false):
        state = .failed(error, isDelivered: true)
        effects.outcome = .failed(error)
      case .idle, .failed:
        waiters.append((ticket, delivery))
        start(&effects)
      case .loading, .cancelling:
        waiters.append((ticket, delivery))
      }
    }
    return effects
  }

  /// Notes that a consumer was cancelled before it asked.
  mutating func consumerCancelled() { isCancelled = true }

  /// Handles the cancellation of a waiter. With the last waiter, the load is cancelled.
  mutating func waiterCancelled(ticket: Int) -> Effects {
    var effects = Effects()
    guard let index = waiters.firstIndex(where: { $0.ticket == ticket }) else { return effects }
    waiters.remove(at: index)
    isCancelled = true
    effects.wake = [Waking(ticket: ticket, outcome: .failed(CancellationError()))]
    if waiters.isEmpty { cancel(&effects) }
    return effects
  }

  /// Cancels the load, unless a consumer waits for it: the last iterator is gone.
  mutating func consumersLeft() -> Effects {
    var effects = Effects()
    if waiters.isEmpty { cancel(&effects) }
    return effects
  }

  /// Whether the next page is loaded as soon as the present load has brought its page, which goes
  /// whole to a waiting consumer.
  var readsOn: Bool {
    mostBytesToReadOn != nil && !waiters.isEmpty && buffer.hasRoom(for: limits)
  }

  /// The most bytes of a page behind which the next one may be loaded at once when a consumer
  /// waits; nil if it may not be. It may be if consumers take whole pages, each of which makes the
  /// next page due.
  var mostBytesToReadOn: Int? {
    let isDue = limits.threshold.isExceeded(Progress(consumed: 1, loaded: 1, lastPage: 1))
    return takesPages && limits.time == nil && isDue ? limits.maxBytes : nil
  }

  // MARK: Loads

  /// Handles the end of the load with this number.
  mutating func finished(
    _ id: Int, _ answer: LoadedPage<Item>, at now: Duration = .zero
  ) -> Effects {
    var effects = Effects()
    self.now = now
    pace.loadEnded(isPage: answer.isPage, at: now)
    var looksAhead = true
    let isWanted: Bool
    switch state {
    case .loading(id): isWanted = true
    case .cancelling(id): isWanted = false
    case .idle, .loading, .cancelling, .failed, .exhausted:
      preconditionFailure("A paginator's load \(id) ended while it was \(state).")
    }
    if !isWanted { looksAhead = !waiters.isEmpty }
    state = .idle
    switch answer {
    case .page(let page, let isLast):
      // The page is kept even if its load was cancelled: the walk is beyond the page, which would
      // be lost.
      buffer.append(page)
      if isLast { state = .exhausted }
    case .end:
      state = .exhausted
    case .failed(let error) where isWanted:
      // Otherwise a source that fails or cancels on its own would be asked for ever.
      looksAhead = false
      if !(error is CancellationError) {
        state = .failed(error, isDelivered: !waiters.isEmpty)
      }
      wakeAll(.failed(error), &effects)
    case .failed: break
    }
    serve(&effects)
    if looksAhead { lookAhead(&effects) }
    return effects
  }

  /// Delivers loaded pages to the waiters, and starts a load for those that get none.
  private mutating func serve(_ effects: inout Effects) {
    while buffer.hasPages, !waiters.isEmpty {
      let waiter = waiters.removeFirst()
      effects.wake.append(
        Waking(ticket: waiter.ticket, outcome: .page(take(waiter.delivery))))
    }
    guard !waiters.isEmpty else { return }
    if case .exhausted = state { wakeAll(.end, &effects) } else { start(&effects) }
  }

  private mutating func wakeAll(_ outcome: Outcome, _ effects: inout Effects) {
    effects.wake += waiters.map { Waking(ticket: $0.ticket, outcome: outcome) }
    waiters = []
  }

  private mutating func start(_ effects: inout Effects) {
    loads += 1
    pace.loadBegan(at: now)
    state = .loading(loads)
    effects.start = loads
  }

  private mutating func cancel(_ effects: inout Effects) {
    guard case .loading(let id) = state else { return }
    state = .cancelling(id)
    effects.cancel = id
  }

  /// Loads the next page if it is due and there is room for it.
  private mutating func lookAhead(_ effects: inout Effects) {
    let bounds = bounds()
    guard case .idle = state, bounds.threshold.isExceeded(buffer.progress),
      buffer.hasRoom(for: bounds)
    else { return }
    start(&effects)
  }

  /// Returns the limits, with the threshold that the paces of loading and consuming ask for.
  private mutating func bounds() -> LookAhead {
    guard let marks = limits.time else { return limits }
    let progress = buffer.progress
    var bounds = limits
    if let items = pace.wanted(marks, left: progress.loaded - progress.consumed) {
      bounds.threshold = .remaining(items: items)
    }
    if let change = pace.aim(marks, perPage: progress.lastPage, most: limits.maxPages) {
      adjustments = Array((adjustments + [change]).suffix(WalkReport.mostAdjustments))
    }
    return bounds
  }

  private mutating func take(_ delivery: Delivery) -> Page<Item> {
    let page =
      switch delivery {
      case .page: buffer.takePage()
      case .items(let consumedCount):
        buffer.takeItems(bounds(), while: state, consumedCount: consumedCount)
      }
    pace.served(page.items.count, at: now)
    return page
  }
}

/// How far ahead of its consumers a paginator loads.
struct LookAhead: Sendable {
  var threshold = Threshold.standard
  /// The most pages that are loaded and not begun.
  var maxPages = 1
  /// The most bytes of those pages.
  var maxBytes = 16 << 20
  /// How long the items that are loaded and not consumed should last: below the low mark more is
  /// loaded, above the high mark no more. Nil if the threshold decides.
  var time: ClosedRange<Duration>?

  // Here and not in the machine, whose generic types would be looked up at each event.

  /// What a paginator is doing.
  enum State: Sendable {
    /// Nothing is being loaded, and more may follow. → `loading`
    case idle
    /// The load with this number runs. → `idle`, `cancelling`, `failed`, `exhausted`
    case loading(Int)
    /// No consumer wants the load that still runs. → `idle`, `exhausted`
    case cancelling(Int)
    /// The last load failed; `isDelivered` once a consumer got the error. → `loading`
    case failed(any Error, isDelivered: Bool)
    /// The walk is over. Final.
    case exhausted

    /// Whether a load runs.
    var isLoading: Bool {
      switch self {
      case .loading, .cancelling: true
      case .idle, .failed, .exhausted: false
      }
    }
  }

  /// What a consumer asks for.
  enum Delivery: Sendable {
    case page
    /// Items, with the count of those that are consumed.
    case items(ConsumedCount? = nil)
  }

  /// The error of bounds within which nothing can be loaded; nil if they work.
  var error: PageError? {
    let problem: String? =
      if maxPages < 1 {
        "\(maxPages) pages ahead; give 1 or more, or the threshold onDemand."
      } else if maxBytes < 0 {
        "\(maxBytes) bytes ahead; give 0 or more."
      } else if let time, time.lowerBound < .zero {
        "\(time.lowerBound) ahead; give 0 or more."
      } else {
        nil
      }
    return problem.map {
      PageError(.invalidArgument, "A paginator cannot load \($0)", attempts: 0)
    }
  }
}
