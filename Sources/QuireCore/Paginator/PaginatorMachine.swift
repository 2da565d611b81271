/// Decides what a paginator loads, when, and who gets what.
///
/// One load runs at a time. Whoever waits says what for; when a load has ended, the next one is the
/// most urgent of those that somebody waits for, or the one that is due.
package struct PaginatorMachine<Item: Sendable>: Sendable {
  /// What is loaded: the page that comes next, the page before the first one, or the first page of
  /// a new walk.
  enum Load: Hashable { case more, before, reload }

  /// A load that runs.
  struct Running: Hashable {
    var load: Load
    var id: Int
    /// Whether somebody asked for what failed before.
    var isRetry = false
  }

  enum Activity: Hashable {
    /// Nothing is being loaded. → `loading`
    case idle
    /// → `idle`, `cancelling`
    case loading(Running)
    /// Nobody wants the load that still runs. → `idle`
    case cancelling(Running)
  }

  /// What lies behind the last page.
  enum Tail {
    case open
    /// `isShown` when a consumer knows.
    case failed(Load, any Error, isShown: Bool)
    case exhausted
  }

  /// What lies before the first page.
  enum Head {
    case open
    case failed(PageError)
    case exhausted
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
  enum Helping {
    case page
    /// Items, which are noted as they are taken.
    case items(ItemMark? = nil)
  }

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
    /// What observers are told, in this order.
    var events: [PaginatorEvent<Item>] = []
  }

  struct Consumer {
    var ticket: Int
    var helping: Helping
    var reader: Int
  }

  /// Somebody who wants something loaded, and waits for it.
  struct Caller {
    enum Wish: Hashable {
      case load(Load)
      case turn(PageCommand)
    }

    var ticket: Int
    var wish: Wish
  }

  var limits: LookAhead
  let start: Position
  var activity = Activity.idle
  var tail = Tail.open
  var head = Head.open
  var store: PageStore<Item>
  var latch: ThresholdLatch
  /// The same for the page before the first one.
  var latchBefore: ThresholdLatch
  var consumers: [Consumer] = []
  var callers: [Caller] = []
  var iterators = 0
  private var loads = 0
  /// A page that came although a reload had cancelled its load. The walk is beyond it, so it is
  /// shown after all when the reload comes to nothing.
  var heldBack: (load: Load, answer: Answer)?
  /// When a load last ended, where that matters.
  var lastChange: Duration?
  /// The length of the content that a load was started for because it did not fill its viewport:
  /// the same report again means that the view does not show the page yet.
  var filledAt: Double?
  /// The page that page commands have turned to, by its number in the store.
  var currentPage = 0
  /// Whether no item was held when the last load began.
  var isInitial = true
  /// Whether the last thing a consumer heard of was its cancellation.
  var isCancelled = false
  /// What the last load led to.
  var settled = PaginatorState.idle
  /// What observers were told last.
  var announced = PaginatorState.idle
  var announcedCanLoadMore = false

  init(start: Position = .start, limits: LookAhead = LookAhead()) {
    self.start = start
    self.limits = limits
    store = PageStore(start: start, retention: limits.retention)
    latch = ThresholdLatch(limits.threshold)
    latchBefore = ThresholdLatch(limits.list.thresholdBefore, at: .leading)
  }

  /// Whether this load runs and somebody wants it.
  func isLoading(_ id: Int) -> Bool {
    if case .loading(let running) = activity { running.id == id } else { false }
  }

  /// Whether a loop is running.
  var hasIterators: Bool { iterators > 0 }

  // MARK: Starting and cancelling

  mutating func start(_ load: Load, _ effects: inout Effects, isRetry: Bool = false) {
    loads += 1
    if load != .before { isInitial = store.pages.allSatisfy(\.items.isEmpty) }
    activity = .loading(Running(load: load, id: loads, isRetry: isRetry))
    effects.start = (load, loads)
  }

  mutating func cancelLoad(_ effects: inout Effects) {
    guard case .loading(let running) = activity else { return }
    activity = .cancelling(running)
    effects.cancel = running.id
  }

  /// Sees to it that what somebody waits for is being loaded, the most urgent first.
  mutating func demandLoad(_ effects: inout Effects, isRetry: Bool = false) {
    guard case .idle = activity else { return }
    if callers.contains(where: { $0.wish == .load(.reload) }) {
      start(.reload, &effects, isRetry: isRetry)
    } else if !consumers.isEmpty || callers.contains(where: { $0.wish != .load(.before) }) {
      demandMore(&effects)
    } else if !callers.isEmpty, store.hasLoaded {
      start(.before, &effects)
    } else if !callers.isEmpty {
      demandMore(&effects)
    }
  }

  private mutating func demandMore(_ effects: inout Effects) {
    switch tail {
    case .open: start(.more, &effects)
    case .failed(let load, _, _): start(load, &effects, isRetry: true)
    case .exhausted: break
    }
  }

  /// Loads the next page if it is due and there is room for it.
  mutating func lookAhead(_ effects: inout Effects) {
    guard case .idle = activity, case .open = tail, limits.list.loadsAhead else { return }
    let isShort = limits.list.viewportItems.map { store.hasLoaded && store.loaded <= $0 } ?? false
    guard
      isShort
        || limits.threshold.isExceeded(store.progress) && store.hasRoom(for: limits)
    else { return }
    start(.more, &effects)
  }
}

// Those who wait: who is served, and who is told.
extension PaginatorMachine {
  /// Serves those who wait, and then sees to what is wanted or due.
  mutating func proceed(_ effects: inout Effects, looksAhead: Bool) {
    if !isReloading {
      settleHeldBack(&effects)
      serveConsumers(&effects)
      serveTurns(&effects)
    }
    if case .exhausted = tail, !isReloading {
      wakeConsumers(.end, &effects)
      wakeCallers(.loaded(false), &effects) { $0.wish == .load(.more) }
    }
    if case .exhausted = head, !isReloading {
      wakeCallers(.loaded(false), &effects) { $0.wish == .load(.before) }
    }
    if case .open = tail, !isReloading, isFull {
      // They came while a load was being cancelled, and there is no room for another page.
      wakeCallers(.loaded(true), &effects) { $0.wish == .load(.more) }
    }
    demandLoad(&effects)
    if looksAhead { lookAhead(&effects) }
  }

  private mutating func serveConsumers(_ effects: inout Effects) {
    var waiting: [Consumer] = []
    for consumer in consumers {
      if store.hasPages(for: consumer.reader) {
        let page = take(consumer.helping, for: consumer.reader)
        effects.wake.append((consumer.ticket, .page(page)))
      } else {
        waiting.append(consumer)
      }
    }
    consumers = waiting
  }

  mutating func wakeCallers(
    _ outcome: Outcome, _ effects: inout Effects, _ isMeant: (Caller) -> Bool
  ) {
    for caller in callers where isMeant(caller) { effects.wake.append((caller.ticket, outcome)) }
    callers.removeAll(where: isMeant)
  }

  mutating func wakeConsumers(_ outcome: Outcome, _ effects: inout Effects) {
    effects.wake += consumers.map { ($0.ticket, outcome) }
    consumers = []
  }
}

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
    guard limits.list.loadsAhead, store.hasLoaded, case .idle = activity, !isSettling(at: now)
    else { return effects }
    let isShort =
      limits.list.fillsViewport && viewport.extent > 0 && viewport.scrollRange <= 0
      && viewport.content != filledAt
    if case .open = tail, latch.report(offset, in: viewport) != nil || isShort {
      latch.latch()
      start(.more, &effects)
    } else if isDueBefore(offset, in: viewport, isShort: isShort) {
      latchBefore.latch()
      start(.before, &effects)
    } else {
      return effects
    }
    if isShort { filledAt = viewport.content }
    announce(&effects)
    return effects
  }

  /// Whether the page before the first one is due at this place.
  private mutating func isDueBefore(
    _ offset: Double, in viewport: Viewport, isShort: Bool
  ) -> Bool {
    guard case .open = head, limits.retention == .all, latchBefore.threshold != .onDemand else {
      return false
    }
    return latchBefore.report(offset, in: viewport) != nil || isShort
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

// What those who watch are told.
extension PaginatorMachine {
  /// What the paginator is doing, for everybody to see.
  var state: PaginatorState {
    switch activity {
    case .loading(let running):
      switch running.load {
      case .reload: .loading
      case .more: store.hasLoaded ? .loadingMore : .loading
      case .before: settled
      }
    case .cancelling:
      if isReloading {
        .loading
      } else if consumers.isEmpty, !callers.contains(where: \.wantsMore) {
        settled
      } else {
        store.hasLoaded ? .loadingMore : .loading
      }
    case .idle: settled
    }
  }

  /// Tells observers how the state has changed since they were told last.
  mutating func announce(_ effects: inout Effects) { tell(state, &effects) }

  /// Tells observers what a page has led to, before what comes after it.
  mutating func announceSettled(_ effects: inout Effects) { tell(settled, &effects) }

  private mutating func tell(_ state: PaginatorState, _ effects: inout Effects) {
    guard announced != state else { return }
    let (old, could, can) = (announced, announcedCanLoadMore, canLoadMore(in: state))
    (announced, announcedCanLoadMore) = (state, can)
    if could, !can { effects.events.append(.canLoadMore(false)) }
    effects.events.append(.changed(from: old, to: state))
    if !could, can { effects.events.append(.canLoadMore(true)) }
  }

  /// Whether the next page is loaded when it is due.
  private func canLoadMore(in state: PaginatorState) -> Bool {
    switch state {
    case .content, .loadingMore: return true
    case .loadingError:
      // Only a reload that failed leaves a way on.
      if case .open = tail { return true } else { return false }
    case .idle, .loading, .empty, .exhausted, .loadingMoreError: return false
    }
  }

  /// What there is and what is being done, as one value.
  var snapshot: PaginatorSnapshot<Item> {
    var snapshot = PaginatorSnapshot(
      state: state, pages: store.pages, loaded: store.loaded + store.prepended,
      prepended: store.prepended, currentPage: max(0, currentPage - store.firstPage),
      isRefreshing: isReloading, isInitial: isInitial, canLoadMore: canLoadMore(in: state),
      canLoadBefore: true, isLoadingBefore: false)
    switch head {
    case .open: snapshot.canLoadBefore = store.hasLoaded && limits.retention == .all
    case .failed(let error): snapshot.errorBefore = error
    case .exhausted: snapshot.canLoadBefore = false
    }
    if case .loading(let running) = activity { snapshot.isLoadingBefore = running.load == .before }
    return snapshot
  }

  /// Why no more pages come to the consumer, when the walk behind them ended like that.
  func end(ofWalk end: WalkReport.End) -> WalkReport.End {
    switch (activity, tail) {
    case (.idle, .exhausted) where store.isRead: return end
    case (.idle, .failed(_, let error as PageError, isShown: true)): return .failed(error)
    default: break
    }
    if isCancelled { return .cancelled }
    return hasIterators || store.pagesHandedOut == 0 ? .running : .stoppedByConsumer
  }
}
