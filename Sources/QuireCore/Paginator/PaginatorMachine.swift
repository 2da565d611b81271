/// Decides what a paginator loads, when, and who gets what.
///
/// One load runs at a time. Whoever waits says what for; when a load has ended, the next one is the
/// most urgent of those that somebody waits for, or the one that is due.
struct PaginatorMachine<Item: Sendable>: Sendable {
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
  /// Whether nothing was held when the last load began.
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
    if load != .before { isInitial = store.pages.isEmpty }
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
