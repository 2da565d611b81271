import QuireCore

/// Decides what a list loads and when, and what its callers and observers get.
///
/// One load runs at a time. When it has ended, the next one is the most urgent that a waiter wants,
/// or else the one that is due.
struct ListMachine<Item: Sendable>: Sendable {
  typealias Content = ListContent<Item>

  enum Activity: Sendable {
    /// → `loading`
    case idle
    /// → `idle`, `cancelling`
    case loading(Running)
    /// The running load is no longer wanted. → `idle`
    case cancelling(Running)
  }

  /// A running load.
  struct Running: Sendable {
    var load: ListLoad
    var id: Int
    /// Whether the load is a retry of one that failed.
    var isRetry = false
  }

  /// A caller that waits for a load.
  struct Waiter: Sendable {
    enum Wish: Hashable {
      case load(ListLoad)
      /// The wish of a loop for the page after its last one.
      case page(after: Content.Place?)
      case navigate(PageCommand)
    }

    var ticket: Int
    var wish: Wish
    /// Whether a seek was already tried: then the missing pages are loaded in order.
    var hasSought = false
  }

  /// The result for a waiter.
  enum Outcome: Sendable {
    case page(Page<Item>, Content.Place?)
    /// Whether the load brought a page.
    case loaded(Bool)
    case end
    case failed(any Error)
  }

  /// The effects of an event, performed after the machine has decided.
  struct Effects {
    /// The result for the caller of the event; nil if it has to wait.
    var outcome: Outcome?
    var wake: [(ticket: Int, outcome: Outcome)] = []
    /// The load to start. `from` is the start of its walk; nil if it continues the walk of an end
    /// or starts with the first page.
    var start: (load: ListLoad, id: Int, from: ListStart?)?
    /// The number of the load to cancel.
    var cancel: Int?
    /// Whether the walk of the last load replaces the current one.
    var adoptsRun = false
    /// New walks for the ends of the known pages and where they start; `before` is the position
    /// that precedes the start, if known.
    var continues: [(end: Threshold.End, from: ListStart, before: Position??)] = []
    /// Events for observers, in order.
    var events: [ListEvent<Item>] = []
    /// Whether a load has ended.
    var hasEnded = false

    /// Whether the snapshot may have changed.
    var isNews: Bool {
      hasEnded || start != nil || cancel != nil || !wake.isEmpty || !events.isEmpty
    }
  }

  /// The thresholds at both ends, by reported offsets.
  struct Triggers: Sendable {
    var after: ThresholdLatch
    var before: ThresholdLatch
    /// The length of the content when a page was last loaded because the content did not fill its
    /// viewport. A view that reports the same length again does not show that page yet.
    var filledAt: Double?

    mutating func reset() {
      after.reset()
      before.reset()
      filledAt = nil
    }
  }

  /// The pages that a view shows, by reported items; and the errors of known pages, which are
  /// loaded again only when a caller asks.
  struct View: Sendable {
    var visible: ClosedRange<Int>?
    var failures: [Int: PageError] = [:]
  }

  /// The state to return to when a load ends, and the state and flag that observers got last.
  struct Shown: Sendable {
    var settled = ListState.idle
    var state = ListState.idle
    var canLoadMore = false
  }

  var options: ListOptions
  let start: Position
  /// Computes the position of the page that follows another by a number of pages; nil if the source
  /// cannot. Pure.
  private let position: @Sendable (Int, Position, Total?) -> Position?
  var activity = Activity.idle
  var content: Content
  var waiters: [Waiter] = []
  var shown = Shown()
  var triggers: Triggers
  var view = View()
  /// Whether a reloaded page equals the one held; nil if pages are not compared.
  var isSame: (@Sendable (Page<Item>, Page<Item>) -> Bool)?
  /// The number of loads that have begun.
  private(set) var loads = 0
  /// The time when the last load ended; nil unless `ListOptions.settling` needs it.
  var lastChange: Duration?
  /// Whether no item was held when the last load began, except for loads of earlier and of known
  /// pages.
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

  /// Returns the page held that a load reads again; nil if there is none.
  func held(by load: ListLoad) -> Page<Item>? {
    switch load {
    case .reload: content.pages.first { $0.position == start }
    case .again(let ordinal, _):
      content.held.contains(ordinal) ? content.pages[ordinal - content.first] : nil
    case .more, .before, .seek: nil
    }
  }

  /// The running load, unless it is being cancelled.
  var running: Running? {
    if case .loading(let running) = activity { running } else { nil }
  }

  /// Whether this load runs and is not being cancelled.
  func isLoading(_ id: Int) -> Bool { running?.id == id }

  /// Sets new options, effective from the next page or report.
  mutating func use(_ options: ListOptions) {
    self.options = options
    triggers.after.threshold = options.threshold
    triggers.before.threshold = options.thresholdBefore
  }

  // MARK: Starting and cancelling

  mutating func start(_ load: ListLoad, _ effects: inout Effects, isRetry: Bool = false) {
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

  /// Starts the most urgent load that a waiter wants.
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

  /// Whether a waiter can be served now; commands are served in order.
  private func isNext(_ waiter: Waiter) -> Bool {
    !waiter.isNavigation || waiter.ticket == waiters.first(where: \.isNavigation)?.ticket
  }

  /// Returns the load of a known page, if the waiter wants one; nil otherwise.
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

  /// Returns the load at an end of the pages held; nil at an end of the listing and after an error
  /// there.
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

  /// Loads the next page if it is due and the consumer has begun every page.
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

  /// Returns the start of a run at the page that a waiter wants, if that is far from the pages held
  /// and its position is known; nil otherwise.
  func seek(for waiter: Waiter) -> ListStart? {
    guard case .navigate(let command) = waiter.wish, !waiter.hasSought, content.hasLoaded,
      let number = content.distantPage(for: command), number >= content.listStart
    else { return nil }
    let count = number - content.listStart
    let known: Position? = count == 0 ? start : position(count, start, content.pages.last?.total)
    // Later pages add to this number: half of the range is left for them.
    let items = min(number.times(content.pageSize), Int.max / 2)
    return known.map { ListStart(position: $0, pages: number, items: items) }
  }

  // MARK: Loading by hand

  /// Loads the next page for a caller that waits for it.
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

  /// Starts to load the next page for a caller that does not wait for it.
  mutating func requested() -> Effects {
    var effects = Effects()
    guard case .idle = activity, let load = load(at: .trailing) else { return effects }
    start(load, &effects)
    announce(&effects)
    return effects
  }

  /// Loads the page before the first one for a caller that waits for it.
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

  /// Repeats the failed load for a caller that waits for it.
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
    case (.idle, .exhausted) where state == .empty:
      return reload(ticket: ticket)
    default:
      if case .failed = content.head { return loadBefore(ticket: ticket) }
      effects.outcome = .loaded(false)
    }
    announce(&effects)
    return effects
  }

  /// Whether a reload failed and the old pages are still held.
  var hasFailedToReload: Bool {
    if case .loadingError = state { content.hasLoaded } else { false }
  }

  /// Reloads the list for a caller that waits for it. The old pages stay until the new first page
  /// arrives, unless the options say otherwise.
  ///
  /// A load at either end is cancelled; a running reload is joined.
  mutating func reload(ticket: Int) -> Effects {
    var effects = Effects()
    waiters.append(Waiter(ticket: ticket, wish: .load(.reload)))
    view.failures = [:]
    if case .loading(let running) = activity, running.load == .reload { return effects }
    if options.onReload == .clear {
      clear(&effects)
      // After a cancelled reload there is nothing to continue from.
      content.tail = .failed(.reload, CancellationError(), isShown: true)
      shown.settled = .idle
    }
    cancelLoad(&effects)
    demandLoad(&effects)
    announce(&effects)
    return effects
  }

  /// Goes to another page for a caller that waits for it. Commands are served in order.
  mutating func navigate(_ command: PageCommand, ticket: Int) -> Effects {
    var effects = Effects()
    // Checked first, because sums with the command's number must not overflow.
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

  /// Delivers the page after `place` to a loop, or lets the loop wait for it.
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

  /// Removes a cancelled waiter. With the last waiter the load is cancelled too.
  mutating func waiterCancelled(ticket: Int) -> Effects {
    var effects = Effects()
    guard waiters.contains(where: { $0.ticket == ticket }) else { return effects }
    waiters.removeAll { $0.ticket == ticket }
    effects.wake = [(ticket, .failed(CancellationError()))]
    if waiters.isEmpty { cancelLoad(&effects) }
    announce(&effects)
    return effects
  }

  /// Cancels the running load and all waiters.
  mutating func cancelled() -> Effects {
    var effects = Effects()
    wake(.failed(CancellationError()), &effects) { _ in true }
    cancelLoad(&effects)
    announce(&effects)
    return effects
  }

  // MARK: Reports

  /// Notes how many items the consumer has used, and loads the next page if it is due now.
  mutating func reported(consumed: Int, at now: Duration? = nil) -> Effects {
    var effects = Effects()
    content.report(consumed: consumed)
    if !isSettling(at: now) { lookAhead(&effects) }
    if effects.start != nil { announce(&effects) }
    return effects
  }

  /// Notes the offset of a view, and loads a page at an end whose threshold it crosses.
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

  /// Notes the visible items of a view, counted from the run's start, and loads a page that they
  /// need.
  ///
  /// Dropped pages that are visible are loaded first, then dropped pages next to them, then the
  /// page before the first one or the next page, by their thresholds.
  mutating func reported(visible items: Range<Int>, at now: Duration? = nil) -> Effects {
    var effects = Effects()
    content.note(consumed: items.upperBound)
    view.visible = content.ordinals(ofItems: items)
    guard case .idle = activity, !isSettling(at: now) else {
      // A known page that is visible now may have failed, and its error is part of the state.
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
