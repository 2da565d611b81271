import QuireCore

/// Decides what a list loads, when, and what its callers and observers get.
///
/// One load runs at a time. A waiter says what for; when a load has ended, the next one is the most
/// urgent of those that are waited for, or the one that is due.
struct ListMachine<Item: Sendable>: Sendable {
  typealias Content = ListContent<Item>
  typealias Load = ListLoad

  enum Activity: Sendable {
    /// → `loading`
    case idle
    /// → `idle`, `cancelling`
    case loading(Running)
    /// No caller wants the load that still runs. → `idle`
    case cancelling(Running)
  }

  /// A load that runs.
  struct Running: Sendable {
    var load: Load
    var id: Int
    /// Whether a caller asked for what failed before.
    var isRetry = false
  }

  /// A caller that wants something loaded, and waits for it.
  struct Waiter: Sendable {
    enum Wish: Hashable {
      case load(Load)
      /// A loop wants the page behind the one it got last.
      case page(after: Content.Place?)
      case navigate(PageCommand)
    }

    var ticket: Int
    var wish: Wish
    /// Whether the page was sought already: what is missing then is loaded in order.
    var hasSought = false
  }

  /// What a waiter gets.
  enum Outcome: Sendable {
    case page(Page<Item>, Content.Place?)
    /// Whether the load brought a page.
    case loaded(Bool)
    case end
    case failed(any Error)
  }

  /// What an event leads to; all of it is performed after the machine has decided.
  struct Effects {
    /// For the caller that caused the event; nil when it waits.
    var outcome: Outcome?
    var wake: [(ticket: Int, outcome: Outcome)] = []
    /// The load to start; `from` is where its walk begins, where that goes on from neither end.
    var start: (load: Load, id: Int, from: ListStart?)?
    /// The number of the load to cancel.
    var cancel: Int?
    /// The walk of the last load takes the place of the one so far.
    var adoptsRun = false
    /// Other walks go on at the ends of what is known, from there; `before` is where the page in front of that
    /// starts, where it is known.
    var continues: [(end: Threshold.End, from: ListStart, before: Position??)] = []
    /// For observers, in this order.
    var events: [ListEvent<Item>] = []
    /// A load has ended.
    var hasEnded = false

    /// Whether a snapshot may differ from the one before.
    var isNews: Bool {
      hasEnded || start != nil || cancel != nil || !wake.isEmpty || !events.isEmpty
    }
  }

  /// What reported offsets have led to, at both ends.
  struct Triggers: Sendable {
    var after: ThresholdLatch
    var before: ThresholdLatch
    /// The length of the content for which a page was loaded because it did not fill its viewport: the
    /// same report again means that the view does not show the page yet.
    var filledAt: Double?

    mutating func reset() {
      after.reset()
      before.reset()
      filledAt = nil
    }
  }

  /// What reported items have led to: the pages that a view shows, and those that could not be loaded again, which
  /// are not tried before a caller asks for them.
  struct View: Sendable {
    var visible: ClosedRange<Int>?
    var failures: [Int: PageError] = [:]
  }

  /// What observers got last, and what the state is while nothing is loaded.
  struct Shown: Sendable {
    var settled = ListState.idle
    var state = ListState.idle
    var canLoadMore = false
  }

  var options: ListOptions
  let start: Position
  /// Where the page starts that comes so many behind a position, where the source can tell; pure.
  private let position: @Sendable (Int, Position, Total?) -> Position?
  var activity = Activity.idle
  var content: Content
  var waiters: [Waiter] = []
  var shown = Shown()
  var triggers: Triggers
  var view = View()
  /// Whether a page that was loaded again is the one that is held; nil where no page is compared.
  var isSame: (@Sendable (Page<Item>, Page<Item>) -> Bool)?
  /// How many loads have begun.
  private(set) var loads = 0
  /// When a load last ended, where that matters.
  var lastChange: Duration?
  /// Whether no item was held when the last load began.
  private(set) var isInitial = true

  init(
    start: Position = .start, options: ListOptions = ListOptions(),
    position: @escaping @Sendable (Int, Position, Total?) -> Position? = { _, _, _ in nil }
  ) {
    self.start = start
    self.options = options
    self.position = position
    content = Content(ListStart(position: start))
    triggers = Triggers(
      after: ThresholdLatch(options.threshold),
      before: ThresholdLatch(options.thresholdBefore, at: .leading))
  }

  /// The page held that a load reads anew.
  func held(by load: Load) -> Page<Item>? {
    switch load {
    case .reload: content.pages.first { $0.position == start }
    case .again(let ordinal, _):
      content.held.contains(ordinal) ? content.pages[ordinal - content.first] : nil
    case .more, .before, .seek: nil
    }
  }

  /// The load that runs and is wanted.
  var running: Running? {
    if case .loading(let running) = activity { running } else { nil }
  }

  /// Whether this load runs and is wanted.
  func isLoading(_ id: Int) -> Bool { running?.id == id }

  /// Takes new options, effective with the next page or report.
  mutating func use(_ options: ListOptions) {
    self.options = options
    triggers.after.threshold = options.threshold
    triggers.before.threshold = options.thresholdBefore
  }

  // MARK: Starting and cancelling

  mutating func start(_ load: Load, _ effects: inout Effects, isRetry: Bool = false) {
    loads += 1
    if !load.isBeside { isInitial = content.pages.allSatisfy(\.items.isEmpty) }
    activity = .loading(Running(load: load, id: loads, isRetry: isRetry))
    var from: ListStart?
    switch load {
    case .again(let ordinal, _): from = content.start(content.position(of: ordinal), at: ordinal)
    case .seek(let start):
      let pages = start.pages - content.listStart
      from = ListStart(position: start.position, pages: pages, items: pages * content.pageSize)
    case .more, .before, .reload: break
    }
    effects.start = (load, loads, from)
  }

  mutating func cancelLoad(_ effects: inout Effects) {
    guard case .loading(let running) = activity else { return }
    activity = .cancelling(running)
    effects.cancel = running.id
  }

  /// Sees to it that what is waited for is being loaded, the most urgent first.
  mutating func demandLoad(_ effects: inout Effects, isRetry: Bool = false) {
    guard case .idle = activity, !waiters.isEmpty else { return }
    if waiters.contains(where: { $0.wish == .load(.reload) }) {
      start(.reload, &effects, isRetry: isRetry)
    } else if let index = waiters.firstIndex(where: \.isNavigation),
      let start = seek(for: waiters[index])
    {
      waiters[index].hasSought = true
      self.start(.seek(start), &effects)
    } else if let load = waiters.lazy.filter(isNext).compactMap(again(for:)).first {
      start(load, &effects, isRetry: isRetry)
    } else if content.hasLoaded, !waiters.contains(where: \.wantsMore) {
      start(.before, &effects)
    } else {
      switch content.tail {
      case .open: start(.more, &effects)
      case .failed(let load, _, _): start(load, &effects, isRetry: true)
      case .exhausted: break
      }
    }
  }

  /// Whether a waiter can be served before others: commands are served in order.
  private func isNext(_ waiter: Waiter) -> Bool {
    !waiter.isNavigation || waiter.ticket == waiters.first(where: \.isNavigation)?.ticket
  }

  /// The load of a page that is known, where that is what is waited for.
  func again(for waiter: Waiter) -> ListLoad? {
    switch waiter.wish {
    case .load(.again(let ordinal, _)):
      content.known.contains(ordinal) ? .again(ordinal) : nil
    case .load(.more): content.back.isEmpty ? nil : .again(content.held.upperBound)
    case .load(.before): content.front.isEmpty ? nil : .again(content.first - 1)
    case .load: nil
    case .navigate(let command): content.dropped(for: command).map { .again($0) }
    case .page(let place):
      content.isDropped(content.ordinal(after: place))
        ? .again(content.ordinal(after: place), isForLoop: true) : nil
    }
  }

  /// The load at an end of what is held, where there can be one.
  private func load(at end: Threshold.End) -> ListLoad? {
    switch end {
    case .trailing:
      if !content.back.isEmpty { return .again(content.held.upperBound) }
      if case .open = content.tail { return .more }
    case .leading:
      if !content.front.isEmpty { return .again(content.first - 1) }
      if case .open = content.head { return .before }
    }
    return nil
  }

  /// Loads the next page if it is due and every page is begun.
  mutating func lookAhead(_ effects: inout Effects) {
    guard case .idle = activity, options.loadsAhead else { return }
    if let visible = view.visible,
      let ordinal = content.wanted(by: visible, without: view.failures.keys)
    {
      return start(.again(ordinal), &effects)
    }
    guard case .open = content.tail, content.back.isEmpty else { return }
    let isShort =
      options.viewportItems.map { content.hasLoaded && content.loaded <= $0 } ?? false
    guard isShort || options.threshold.isExceeded(content.progress) && content.isBegun,
      hasRoom(for: content.held.upperBound)
    else { return }
    start(.more, &effects)
  }

  /// The run that begins at the page a waiter wants, where that is far from what is held and its
  /// position is known.
  func seek(for waiter: Waiter) -> ListStart? {
    guard case .navigate(let command) = waiter.wish, !waiter.hasSought, content.hasLoaded,
      let number = content.distantPage(for: command), number >= content.listStart
    else { return nil }
    let count = number - content.listStart
    let known: Position? = count == 0 ? start : position(count, start, content.pages.last?.total)
    // Pages that come are added to what is reckoned.
    let items = min(number.times(content.pageSize), Int.max / 2)
    return known.map { ListStart(position: $0, pages: number, items: items) }
  }

  // MARK: Loading by hand

  /// The next page is wanted.
  mutating func loadMore(ticket: Int) -> Effects {
    var effects = Effects()
    if content.isExhausted, content.back.isEmpty, !isReloading {
      effects.outcome = .loaded(false)
    } else {
      wait(ticket, for: .load(.more), &effects)
    }
    announce(&effects)
    return effects
  }

  /// The next page is due by a rule of the caller's, which does not wait for it.
  mutating func requested() -> Effects {
    var effects = Effects()
    guard case .idle = activity, let load = load(at: .trailing) else { return effects }
    start(load, &effects)
    announce(&effects)
    return effects
  }

  /// The page before the first one is wanted.
  mutating func loadBefore(ticket: Int) -> Effects {
    var effects = Effects()
    if case .exhausted = content.head, content.front.isEmpty, !isReloading {
      effects.outcome = .loaded(false)
    } else {
      wait(ticket, for: .load(.before), &effects)
    }
    announce(&effects)
    return effects
  }

  /// What failed is to be tried again.
  mutating func retry(ticket: Int) -> Effects {
    var effects = Effects()
    let failed = failures.keys.max()
    view.failures = [:]
    switch (activity, content.tail) {
    case (.loading(let running), _) where running.isRetry:
      waiters.append(Waiter(ticket: ticket, wish: .load(running.load)))
    case _ where hasFailedToReload:
      waiters.append(Waiter(ticket: ticket, wish: .load(.reload)))
      demandLoad(&effects, isRetry: true)
    case _ where failed != nil:
      if let failed { waiters.append(Waiter(ticket: ticket, wish: .load(.again(failed)))) }
      demandLoad(&effects, isRetry: true)
    case (_, .failed(let load, _, _)):
      wait(ticket, for: .load(load), &effects)
    case (.idle, .exhausted) where shown.settled == .empty:
      return reload(ticket: ticket)
    default:
      if case .failed = content.head { return loadBefore(ticket: ticket) }
      effects.outcome = .loaded(false)
    }
    announce(&effects)
    return effects
  }

  /// Whether what was loaded is still there because it could not be loaded anew.
  var hasFailedToReload: Bool {
    if case .loadingError = state { content.hasLoaded } else { false }
  }

  /// The listing is to be loaded anew. What was loaded stays until the new first page is there, unless
  /// the options say otherwise.
  ///
  /// A load at either end is cancelled for it; a reload that runs already brings the same and is joined.
  mutating func reload(ticket: Int) -> Effects {
    var effects = Effects()
    waiters.append(Waiter(ticket: ticket, wish: .load(.reload)))
    view.failures = [:]
    if case .loading(let running) = activity, running.load == .reload { return effects }
    if options.onReload == .clear {
      clear(&effects)
      // A reload that is cancelled leaves nothing to go on from.
      content.tail = .failed(.reload, CancellationError(), isShown: true)
      shown.settled = .idle
    }
    cancelLoad(&effects)
    demandLoad(&effects)
    announce(&effects)
    return effects
  }

  /// Another page is to be shown. Commands are served in order.
  mutating func navigate(_ command: PageCommand, ticket: Int) -> Effects {
    var effects = Effects()
    // Whatever the listing is: other numbers are added to it.
    guard command.isPossible else {
      effects.outcome = .end
      return effects
    }
    waiters.append(Waiter(ticket: ticket, wish: .navigate(command)))
    serveNavigations(&effects)
    demandLoad(&effects)
    announce(&effects)
    return effects
  }

  /// A loop asks for the page behind `place`.
  mutating func next(after place: Content.Place?, ticket: Int) -> Effects {
    var effects = Effects()
    if let (page, place) = content.page(after: place) {
      effects.outcome = .page(page, place)
      lookAhead(&effects)
    } else if content.isDropped(content.ordinal(after: place)) {
      wait(ticket, for: .page(after: place), &effects)
    } else if case .failed(let load, let error, isShown: false) = content.tail {
      content.tail = .failed(load, error, isShown: true)
      effects.outcome = .failed(error)
    } else if content.isExhausted, !isReloading {
      effects.outcome = .end
    } else {
      wait(ticket, for: .page(after: place), &effects)
    }
    announce(&effects)
    return effects
  }

  private mutating func wait(_ ticket: Int, for wish: Waiter.Wish, _ effects: inout Effects) {
    waiters.append(Waiter(ticket: ticket, wish: wish))
    demandLoad(&effects)
  }

  /// A waiter was cancelled. The load goes with the last one.
  mutating func waiterCancelled(ticket: Int) -> Effects {
    var effects = Effects()
    guard waiters.contains(where: { $0.ticket == ticket }) else { return effects }
    waiters.removeAll { $0.ticket == ticket }
    effects.wake = [(ticket, .failed(CancellationError()))]
    if waiters.isEmpty { cancelLoad(&effects) }
    announce(&effects)
    return effects
  }

  /// The current load is not wanted any more.
  mutating func cancelled() -> Effects {
    var effects = Effects()
    wake(.failed(CancellationError()), &effects) { _ in true }
    cancelLoad(&effects)
    announce(&effects)
    return effects
  }

  // MARK: Reports

  /// The consumer says how many items it is done with.
  mutating func reported(consumed: Int, at now: Duration? = nil) -> Effects {
    var effects = Effects()
    content.report(consumed: consumed)
    if !isSettling(at: now) { lookAhead(&effects) }
    if effects.start != nil { announce(&effects) }
    return effects
  }

  /// The consumer says where in a view it is.
  mutating func reported(
    offset: Double, in viewport: Viewport, at now: Duration? = nil
  ) -> Effects {
    var effects = Effects()
    guard options.loadsAhead, content.hasLoaded, case .idle = activity, !isSettling(at: now)
    else { return effects }
    let isShort =
      options.fillsViewport && viewport.extent > 0 && viewport.scrollRange <= 0
      && viewport.content != triggers.filledAt
    if let load = load(at: .trailing), triggers.after.report(offset, in: viewport) != nil || isShort
    {
      triggers.after.latch()
      start(load, &effects)
    } else if let load = load(at: .leading),
      load != .before || options.thresholdBefore != .onDemand,
      triggers.before.report(offset, in: viewport) != nil || isShort
    {
      triggers.before.latch()
      start(load, &effects)
    } else {
      return effects
    }
    if isShort { triggers.filledAt = viewport.content }
    announce(&effects)
    return effects
  }

  /// A view shows these items, counted from the run's start.
  ///
  /// What it shows is loaded again where it was dropped, and so is the page beside it; then the page before
  /// the first one is due by its threshold, or the next one.
  mutating func reported(visible items: Range<Int>, at now: Duration? = nil) -> Effects {
    var effects = Effects()
    content.show(items)
    view.visible = content.ordinals(ofItems: items)
    guard case .idle = activity, !isSettling(at: now) else {
      // A page that is shown, and failed, is in the state.
      announce(&effects)
      return effects
    }
    lookAhead(&effects)
    let ahead = Progress(
      consumed: content.loaded - items.lowerBound, loaded: content.loaded + content.prepended,
      lastPage: content.pages.first?.items.count ?? 0)
    if effects.start == nil, options.loadsAhead, case .open = content.head, content.front.isEmpty,
      triggers.before.isArmed, options.thresholdBefore.isExceeded(ahead),
      hasRoom(for: content.first - 1)
    {
      triggers.before.latch()
      start(.before, &effects)
    }
    announce(&effects)
    return effects
  }

  private func isSettling(at now: Duration?) -> Bool {
    guard let now, let lastChange else { return false }
    return now - lastChange < options.settling
  }
}
