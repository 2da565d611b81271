/// Decides how a merge proceeds: which sources to load, what to deliver, and when to stop waiting
/// for a source.
///
/// Times are measured from the creation of the merge, by its runner.
struct MergeMachine<Item: Sendable, Key: Comparable & Sendable>: Sendable {
  enum Phase {
    /// The next page was not requested yet. → `loading`, `ended`
    case waiting
    /// The next page was requested, and may hold up the other sources. → `waiting`, `lagging`,
    /// `holding`, `failed`, `ended`
    case loading(since: Duration)
    /// The next page was requested too long ago to hold up the other sources. → `waiting`,
    /// `holding`, `failed`, `ended`
    case lagging
    /// A page is here, and not all of its items were taken. → `waiting`, `ended`
    case holding(Held)
    /// The next page could not be read. → `waiting`
    case failed(any Error)
    /// The source has no more pages.
    case ended
  }

  /// A page of a source, with items that were not taken yet.
  struct Held {
    var page: Page<Item>
    /// The number of items that were taken.
    var taken = 0
    /// Whether the source has no page behind this one.
    var isLast: Bool
    /// Whether the page came after the other sources had gone on without it.
    var isLate: Bool
  }

  struct Source {
    var phase = Phase.waiting
    /// The number of the latest load; answers to earlier loads are not accepted.
    var load = 0
  }

  /// One load of a source's next page, which identifies the answer to it.
  struct Load: Hashable {
    var source: Int
    var number: Int
  }

  enum Outcome {
    case page(Page<Item>)
    case end
    indirect case failure(PageError)
  }

  /// The consequences of an event: loads to begin and to cancel, a time at which to call
  /// `elapsed(at:)`, and what the consumer gets if it waits.
  struct Action {
    var loads: [Load] = []
    var cancelled: [Int] = []
    /// The sources whose last item was taken.
    var ended: [Int] = []
    var alarm: Duration?
    var outcome: Outcome?
  }

  let rules: MergeRules<Item, Key>
  var sources: [Source]
  /// The merge's place in each source, behind everything that was delivered.
  var positions: MergePositions
  var summary = MergeSummary()
  /// The traffic of all answers since the last page was delivered.
  var traffic = WalkReport.Traffic.zero
  /// The receipts of the pages whose last item was taken since the last page was delivered.
  var receipts: [PageReceipt] = []
  /// What the sources have adjusted since the last page was delivered.
  var adjustments: [WalkReport.Adjustment] = []
  private(set) var isAwaited = false
  /// Whether the consumer got the error of the failed sources.
  private var hasDeliveredFailure = false
  /// The error of an outer walk's limit that was reached, until the consumer gets it. No load
  /// begins before that.
  private var refusal: PageError?
  /// Whether `positions` has moved since the last page was delivered: pages without new items came.
  var hasMoved = false
  /// Whether the consumer got a page.
  var hasDelivered = false
  /// Whether a walk that reads through the merge has a limit on bytes or requests, and has
  /// delivered nothing yet.
  var isLimited = false
  /// The waiting sources, in the order in which they began to wait.
  private var queue: [Int]
  /// The loads in the order in which they began; some of them may have ended.
  private var begun: [Load] = []
  private var running = 0
  private var lagging: [Load] = []
  /// The sources that hold a page: by the keys of their next items or, without keys, in the order
  /// of arrival.
  var ready: MergeQueue<Key>
  /// The key of the item delivered last.
  var frontier: Key?
  var known: Set<UInt64>

  init(rules: MergeRules<Item, Key>, positions: MergePositions) {
    self.rules = rules
    self.positions = positions
    sources = (0..<positions.sources).map { source in
      Source(phase: positions.place(of: source) == .end ? .ended : .waiting)
    }
    queue = (0..<positions.sources).filter { positions.place(of: $0) != .end }
    ready = MergeQueue(precedes: rules.precedes)
    known = rules.duplicates == nil ? [] : positions.recent.digests
  }

  /// Handles the consumer's request for the next page. Once the consumer got the error of the
  /// failed sources, these are tried again.
  mutating func next(at now: Duration) -> Action {
    precondition(!isAwaited, "A merge was asked for a page while it was being asked for one.")
    isAwaited = true
    if hasDeliveredFailure {
      hasDeliveredFailure = false
      for (source, state) in sources.enumerated() {
        if case .failed = state.phase { enqueue(source) }
      }
    }
    return proceed(at: now)
  }

  /// Handles the answer of a source; nil is its end. `isLast` tells that no page follows.
  ///
  /// Returns nil if the load was cancelled: the answer then belongs to the source's next load.
  mutating func received(
    _ page: Page<Item>?, isLast: Bool, by load: Load, at now: Duration
  ) -> Action? {
    guard let isLate = end(load) else { return nil }
    var action = Action()
    guard let page else {
      finish(load.source, &action)
      hasMoved = true
      return proceed(at: now, after: action)
    }
    traffic += page.traffic
    if !page.head.adjustments.isEmpty { note(page.head.adjustments, of: load.source) }
    if let first = page.items.first {
      sources[load.source].phase = .holding(Held(page: page, isLast: isLast, isLate: isLate))
      ready.insert(load.source, key: rules.key?(first))
    } else {
      receipts += page.head.receipts
      positions.move(load.source, to: page.checkpoint)
      hasMoved = true
      if isLast { finish(load.source, &action) } else { enqueue(load.source) }
    }
    return proceed(at: now, after: action)
  }

  /// Handles the failure of a source. Returns nil if the load was cancelled.
  mutating func failed(_ error: any Error, by load: Load, at now: Duration) -> Action? {
    guard end(load) != nil else { return nil }
    if let error = error as? PageError { traffic += error.traffic }
    fail(load.source, error)
    return proceed(at: now)
  }

  /// Handles an outer walk's limit that was reached while a source was read.
  ///
  /// The source has not failed: it is read again when the consumer asks again. Pages that other
  /// sources bring meanwhile were paid for, and are delivered first. Returns nil if the load was
  /// cancelled.
  mutating func limited(_ error: PageError, by load: Load, at now: Duration) -> Action? {
    guard end(load) != nil else { return nil }
    traffic += error.traffic
    enqueue(load.source)
    refusal = refusal ?? error
    return proceed(at: now)
  }

  /// Handles the passing of time.
  mutating func elapsed(at now: Duration) -> Action { proceed(at: now) }

  /// Handles the cancellation of the consumer. Returns the sources whose loads are to be cancelled.
  mutating func cancelled() -> [Int] {
    isAwaited = false
    var stopped: [Int] = []
    for (source, state) in sources.enumerated() {
      switch state.phase {
      case .loading, .lagging: stopped.append(source)
      default: break
      }
    }
    for source in stopped { enqueue(source) }
    begun = []
    lagging = []
    running = 0
    refusal = nil
    return stopped
  }

  /// Whether every source has ended or failed, and no item of their pages is left.
  var isOver: Bool {
    ready.isEmpty && queue.isEmpty && running == 0 && lagging.isEmpty
  }

  /// Whether the next item in order may be one that has not come yet.
  var isHeldUp: Bool { rules.key != nil && (running > 0 || !queue.isEmpty) }
}

// MARK: - Going on

extension MergeMachine {
  /// Adds to an action the loads that are due and, for the consumer, the next page if there is one.
  private mutating func proceed(at now: Duration, after action: Action = Action()) -> Action {
    var action = action
    markLagging(at: now, &action)
    guard isAwaited else { return action }
    while true {
      launch(at: now, &action)
      if isHeldUp || ready.isEmpty { break }
      // There is no page if all items that were taken are duplicates.
      guard let page = takePage(&action) else { continue }
      isAwaited = false
      action.outcome = .page(page)
      break
    }
    // In order, no item can be delivered before those of the source that was refused.
    if isAwaited, running == 0, isHeldUp || lagging.isEmpty, let refusal {
      isAwaited = false
      action.outcome = outcome(of: refusal)
    }
    if isAwaited, isOver {
      isAwaited = false
      action.outcome = conclusion
    }
    if isAwaited { action.alarm = deadline }
    return action
  }

  /// Returns what the consumer gets once an outer walk's limit was reached.
  ///
  /// If pages without new items came before, an empty page with a position behind them comes before
  /// the error: a walk that is resumed does not read them again.
  private mutating func outcome(of refusal: PageError) -> Outcome {
    defer { traffic = .zero }
    if hasMoved { return .page(deliver([], next: positions.position)) }
    self.refusal = nil
    var error = refusal
    error.traffic = traffic
    if rules.key != nil, !hasDelivered, isLimited {
      let open = sources.count(where: { if case .ended = $0.phase { false } else { true } })
      error.noteWithoutProgress(
        "a merge in order reads a page of each source before its first item, and "
          + "\(open.counted("source")) of this one \(open == 1 ? "has" : "have") more")
    }
    return .failure(error)
  }

  private mutating func launch(at now: Duration, _ action: inout Action) {
    // Several loads at once could use up a limit before the first page is delivered, and a resumed
    // walk would get no further. After a page without items, or the end of a source, it would.
    let isCautious = isLimited && !hasDelivered && !hasMoved && rules.key == nil
    let count = min(queue.count, (isCautious ? 1 : rules.options.concurrentLoads) - running)
    guard count > 0, refusal == nil else { return }
    for source in queue.prefix(count) {
      sources[source].load += 1
      sources[source].phase = .loading(since: now)
      let load = Load(source: source, number: sources[source].load)
      if rules.options.skew != nil { begun.append(load) }
      action.loads.append(load)
    }
    running += count
    queue.removeFirst(count)
  }

  /// Stops waiting for the sources whose time is over. If too many of them lag, the longest-lagging
  /// ones are given up.
  private mutating func markLagging(at now: Duration, _ action: inout Action) {
    guard let skew = rules.options.skew else { return }
    var over = 0
    for load in begun {
      if let since = start(of: load) {
        guard now - since >= skew else { break }
        sources[load.source].phase = .lagging
        running -= 1
        lagging.append(load)
        summary.lagged.insert(load.source)
      }
      over += 1
    }
    begun.removeFirst(over)
    while lagging.count > rules.options.concurrentLoads {
      let load = lagging.removeFirst()
      action.cancelled.append(load.source)
      fail(load.source, MergeSummary.unanswered(in: skew))
    }
  }

  /// The time at which the next load will have lasted for the skew; nil without one.
  private var deadline: Duration? {
    guard let skew = rules.options.skew else { return nil }
    return begun.lazy.compactMap { start(of: $0) }.first.map { $0 + skew }
  }

  /// Returns when a load began that may still hold up the other sources; nil for any other load.
  private func start(of load: Load) -> Duration? {
    guard sources[load.source].load == load.number,
      case .loading(let since) = sources[load.source].phase
    else { return nil }
    return since
  }

  /// Ends a load. Returns whether the other sources had gone on without it; nil if it was
  /// cancelled.
  private mutating func end(_ load: Load) -> Bool? {
    guard sources[load.source].load == load.number else { return nil }
    switch sources[load.source].phase {
    case .loading:
      running -= 1
      return false
    case .lagging:
      lagging.removeAll { $0 == load }
      return true
    case .waiting, .holding, .failed, .ended:
      return nil
    }
  }

  mutating func enqueue(_ source: Int) {
    sources[source].phase = .waiting
    queue.append(source)
  }

  mutating func finish(_ source: Int, _ action: inout Action) {
    sources[source].phase = .ended
    positions.move(source, to: nil)
    action.ended.append(source)
  }

  /// Notes what the answer took that ended a source without a page.
  mutating func note(
    end: (traffic: WalkReport.Traffic, adjustments: [WalkReport.Adjustment]), of source: Int
  ) {
    traffic += end.traffic
    if !end.adjustments.isEmpty { note(end.adjustments, of: source) }
  }

  private mutating func note(_ new: [WalkReport.Adjustment], of source: Int) {
    for var adjustment in new {
      adjustment.reason = "Source \(source) of the merge: \(adjustment.reason)"
      adjustments.append(adjustment)
    }
    adjustments = Array(adjustments.suffix(WalkReport.mostAdjustments))
  }

  private mutating func fail(_ source: Int, _ error: any Error) {
    sources[source].phase = .failed(error)
    summary.failures[source] = error
  }

  /// What the consumer gets when nothing is left, or nothing but failed sources. Traffic that
  /// brought no new item is still counted, in an error or in a page without items. Adjustments wait
  /// for the page behind an error.
  private var conclusion: Outcome {
    mutating get {
      var errors: [Int: any Error] = [:]
      for (source, state) in sources.enumerated() {
        if case .failed(let error) = state.phase { errors[source] = error }
      }
      guard errors.isEmpty else {
        var failure = MergeSummary.failure(errors, of: sources.count)
        failure.traffic = traffic
        traffic = .zero
        hasDeliveredFailure = true
        return .failure(failure)
      }
      if traffic.duplicates == 0, traffic.requests == 0, adjustments.isEmpty { return .end }
      let hasDuplicates = traffic.duplicates > 0
      var page = deliver([], next: nil)
      page.head.isAbsent = !hasDuplicates
      return .page(page)
    }
  }
}
