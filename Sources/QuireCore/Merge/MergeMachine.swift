/// Decides how a merge goes on: which sources to ask, what to deliver, and when not to wait any longer.
///
/// Times are measured from the creation of the merge, by its runner.
struct MergeMachine<Item: Sendable, Key: Comparable & Sendable>: Sendable {
  enum Phase {
    /// Its next page was not asked for. → `loading`, `ended`
    case waiting
    /// Its next page was asked for, and may hold up the others. → `waiting`, `lagging`, `holding`,
    /// `failed`, `ended`
    case loading(since: Duration)
    /// Its next page was asked for too long ago to hold up the others. → `waiting`, `holding`, `failed`,
    /// `ended`
    case lagging
    /// Its page is here. → `waiting`, `ended`
    case holding(Held)
    /// Its next page could not be read. → `waiting`
    case failed(any Error)
    /// It has no more.
    case ended
  }

  /// A page of a source, of which something is left.
  struct Held {
    var page: Page<Item>
    /// The items that were taken.
    var taken = 0
    /// Whether the source has no page behind this one.
    var isLast: Bool
    /// Whether the page came when the others had gone on.
    var isLate: Bool
  }

  struct Source {
    var phase = Phase.waiting
    /// The number of its latest load; the answers to earlier ones count for nothing.
    var load = 0
  }

  /// A request for the next page of a source, by which its answer is known.
  struct Load: Hashable {
    var source: Int
    var number: Int
  }

  enum Outcome {
    case page(Page<Item>)
    case end
    indirect case failure(PageError)
  }

  /// What an event leads to: loads to begin and to cancel, a time to come back at, and what the consumer
  /// gets if it waits.
  struct Action {
    var loads: [Load] = []
    var cancelled: [Int] = []
    /// Sources of which the last item was taken.
    var ended: [Int] = []
    var alarm: Duration?
    var outcome: Outcome?
  }

  let rules: MergeRules<Item, Key>
  var sources: [Source]
  /// Where the merge stands: behind all that was delivered.
  var positions: MergePositions
  var summary = MergeSummary()
  /// What arrived since the last page, whatever it was for.
  var traffic = WalkReport.Traffic(requests: 0)
  /// The receipts of the pages that were taken to their ends since the last page.
  var receipts: [PageReceipt] = []
  private(set) var isAwaited = false
  /// Whether the consumer got the error of the sources that failed.
  private var hasToldFailure = false
  /// The limit of the whole that was reached, until the consumer gets it: no load begins before.
  private var refusal: PageError?
  /// Whether the merge stands elsewhere than behind the page delivered last: pages without items came since.
  var hasMoved = false
  /// Whether the consumer got a page.
  var hasDelivered = false
  /// Whether a walk that the merge is read for has a limit on bytes or requests, and has delivered nothing yet.
  var isLimited = false
  /// The sources that wait, in the order in which they began to.
  private var queue: [Int]
  /// Loads in the order in which they began; those that have ended may be among them.
  private var begun: [Load] = []
  private var running = 0
  private var lagging: [Load] = []
  /// By the keys of their next items or, without keys, in the order of their arrival.
  var ready: MergeQueue<Key>
  /// The key delivered last.
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

  /// The consumer asks for the next page; sources that failed are tried again.
  mutating func next(at now: Duration) -> Action {
    precondition(!isAwaited, "A merge was asked for a page while it was being asked for one.")
    isAwaited = true
    if hasToldFailure {
      hasToldFailure = false
      for (source, state) in sources.enumerated() {
        if case .failed = state.phase { wait(source) }
      }
    }
    return proceed(at: now)
  }

  /// A source has answered; nil is its end. `isLast` says that no page follows.
  ///
  /// Returns nil where the load does not count any more: the answer is for the next one.
  mutating func received(
    _ page: Page<Item>?, isLast: Bool, by load: Load, at now: Duration
  ) -> Action? {
    guard let isLate = end(load) else { return nil }
    var action = Action()
    guard let page else {
      finish(load.source, &action)
      hasMoved = true
      return action + proceed(at: now)
    }
    traffic = traffic + page.traffic
    if let first = page.items.first {
      sources[load.source].phase = .holding(Held(page: page, isLast: isLast, isLate: isLate))
      ready.insert(load.source, key: rules.key?(first))
    } else {
      receipts += page.head.receipts
      positions.move(load.source, to: page.checkpoint)
      hasMoved = true
      if isLast { finish(load.source, &action) } else { wait(load.source) }
    }
    return action + proceed(at: now)
  }

  /// A source has failed. Returns nil where the load does not count any more.
  mutating func failed(_ error: any Error, by load: Load, at now: Duration) -> Action? {
    guard end(load) != nil else { return nil }
    if let error = error as? PageError { traffic = traffic + error.traffic }
    fail(load.source, error)
    return proceed(at: now)
  }

  /// A limit of the whole was reached while a source was read, which has not failed: it is asked again where the
  /// consumer asks again. What others bring meanwhile was paid for, and is delivered first. Returns nil where the
  /// load does not count any more.
  mutating func limited(_ error: PageError, by load: Load, at now: Duration) -> Action? {
    guard end(load) != nil else { return nil }
    traffic = traffic + error.traffic
    wait(load.source)
    refusal = refusal ?? error
    return proceed(at: now)
  }

  /// Time has passed.
  mutating func elapsed(at now: Duration) -> Action { proceed(at: now) }

  /// The consumer does not wait any longer. Returns the sources whose loads are to be cancelled.
  mutating func cancelled() -> [Int] {
    isAwaited = false
    var stopped: [Int] = []
    for (source, state) in sources.enumerated() {
      switch state.phase {
      case .loading, .lagging: stopped.append(source)
      default: break
      }
    }
    for source in stopped { wait(source) }
    begun = []
    lagging = []
    running = 0
    refusal = nil
    return stopped
  }

  /// Whether every source has ended or failed, and nothing is left of their pages.
  var isOver: Bool {
    ready.isEmpty && queue.isEmpty && running == 0 && lagging.isEmpty
  }

  /// Whether the next item in order may be one that is not here yet.
  var isHeldUp: Bool { rules.key != nil && (running > 0 || !queue.isEmpty) }
}

// MARK: - Going on

extension MergeMachine {
  /// Decides what to do now.
  private mutating func proceed(at now: Duration) -> Action {
    var action = Action()
    leaveBehind(at: now, &action)
    guard isAwaited else { return action }
    while true {
      launch(at: now, &action)
      if isHeldUp || ready.isEmpty { break }
      // There is no page where everything that was taken had come before.
      guard let page = takePage(&action) else { continue }
      isAwaited = false
      action.outcome = .page(page)
      break
    }
    // In order, nothing can come before the source that was refused.
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

  /// What the consumer gets where a limit of the whole was reached. Pages without items that came until then are
  /// not asked for again by a walk that is resumed: a page leads behind them first.
  private mutating func outcome(of refusal: PageError) -> Outcome {
    defer { traffic = WalkReport.Traffic(requests: 0) }
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
    // Together they could take what a limit allows for one page: no merge that is resumed would get further. One
    // behind a page without items, or behind the end of a source, has got further.
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

  /// Goes on without the sources that have had their time. Too many of them are given up.
  private mutating func leaveBehind(at now: Duration, _ action: inout Action) {
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

  /// When the next load will have had its time.
  private var deadline: Duration? {
    guard let skew = rules.options.skew else { return nil }
    return begun.lazy.compactMap { start(of: $0) }.first.map { $0 + skew }
  }

  /// When a load began that may still hold up the others.
  private func start(of load: Load) -> Duration? {
    guard sources[load.source].load == load.number,
      case .loading(let since) = sources[load.source].phase
    else { return nil }
    return since
  }

  /// A load has ended. Returns whether the others had gone on without it; nil where nothing was loading.
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

  mutating func wait(_ source: Int) {
    sources[source].phase = .waiting
    queue.append(source)
  }

  mutating func finish(_ source: Int, _ action: inout Action) {
    sources[source].phase = .ended
    positions.move(source, to: nil)
    action.ended.append(source)
  }

  private mutating func fail(_ source: Int, _ error: any Error) {
    sources[source].phase = .failed(error)
    summary.failures[source] = error
  }

  /// What the consumer gets when nothing but sources that failed is left, or nothing at all. What came
  /// last and brought nothing new is still to be counted.
  private var conclusion: Outcome {
    mutating get {
      defer { traffic = WalkReport.Traffic(requests: 0) }
      var errors: [Int: any Error] = [:]
      for (source, state) in sources.enumerated() {
        if case .failed(let error) = state.phase { errors[source] = error }
      }
      guard errors.isEmpty else {
        var failure = MergeSummary.failure(errors, of: sources.count)
        failure.traffic = traffic
        hasToldFailure = true
        return .failure(failure)
      }
      guard traffic.duplicates > 0 else {
        return traffic.requests > 0 ? .page(Page.absent(after: traffic)) : .end
      }
      var page = Page<Item>([])
      page.traffic = traffic
      return .page(page)
    }
  }
}

extension MergeMachine.Action {
  static func + (left: Self, right: Self) -> Self {
    var both = right
    both.loads = left.loads + right.loads
    both.cancelled = left.cancelled + right.cancelled
    both.ended = left.ended + right.ended
    return both
  }
}
