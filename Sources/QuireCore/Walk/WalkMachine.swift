/// Decides how one walk proceeds: what to load, what to deliver, and when and how it ends.
///
/// Times are measured from the creation of the walk, by its runner.
struct WalkMachine: Sendable {
  enum State {
    /// The page at this position comes next. → `loading`, `over`
    case ready(Position, Verdict)
    /// The page at this position is being read. → `ready`, `drained`, `over`
    case loading(Position)
    /// The last page was delivered. → `over`
    case drained
    /// No page comes any more.
    case over
  }

  /// Whether the next page may be loaded, as judged before the consumer asks for it.
  enum Verdict {
    case unjudged
    /// The page may be loaded. A retry keeps this verdict, so that it is not taken for a loop.
    case admitted
    /// The page will not be loaded, however often the consumer asks.
    indirect case refused(PageError)
    /// The continuation is broken: this error is thrown, and then the read is tried once more.
    indirect case broken(PageError)
  }

  /// What to do when the consumer asks for a page.
  enum NextAction {
    /// Read the page at this position, within the time that is left if the duration is limited.
    case load(Position, within: Duration?)
    /// Return nil.
    case finish(Closing?)
    indirect case fail(PageError, Closing?)
  }

  /// The duty to close the source, handed out once.
  struct Closing: Hashable {
    /// `Page.closing` of the last page, else the position at which the walk would have continued.
    var position: Position?
  }

  var report = WalkReport()

  let start: Position
  let limits: Limits
  /// The reason why the limits or the start cannot work; nil if they can.
  private let objection: PageError?
  var state: State
  private var memory: WalkMemory
  private var coverage: ListingCoverage
  var emptyPages = 0
  var startedAt: Duration?
  /// The traffic of all walks that share this one's limits; nil if there are no limits to share.
  var taken: WalkReport.Traffic?
  /// The pages and items of the listing in front of the start, which limits count, too.
  private var passed = (pages: 0, items: 0)
  private var lastChange: Duration = .zero
  /// Whether the page delivered last was a part, and more of that page follows.
  private(set) var isWithinPage = false
  private var iterators = 0
  /// Whether the last iterator was dropped while a task without an iterator asked for a page. If
  /// that task gets none, the walk is left.
  private var leavesWithLastRequest = false
  private var hasFetched = false
  private var closing: Position?
  private var isClosed = false

  init(
    start: Position = .start, visited: [Position] = [], limits: Limits = Limits(),
    repeatedPositions: Position.Repetition = .refused, loops: LoopGuard = LoopGuard(),
    objection: PageError? = nil, direction: Position.Direction = .forward,
    digest: @escaping @Sendable (Position) -> UInt64 = { $0.digest }
  ) {
    self.start = start
    self.limits = limits
    state = .ready(start, .unjudged)
    report.checkpoint = start
    memory = WalkMemory(
      start: start, visited: visited, comparedPages: limits.comparedPages,
      loops: repeatedPositions == .refused ? loops : nil, direction: direction, digest: digest)
    coverage = ListingCoverage(start: start, isForward: direction == .forward)
    self.objection = Self.objection(to: limits) ?? objection
  }

  /// Takes over from earlier walks for the same consumer: `pages` and `items` of the listing lie in
  /// front of the start, and the first of the walks began `elapsed` ago. `before` is the position
  /// of the page in front of the start, if it is known.
  mutating func takeOver(pages: Int, items: Int, after elapsed: Duration?, before: Position??) {
    passed = (pages, items)
    startedAt = elapsed.map { Duration.zero - $0 }
    coverage.before = before
  }

  /// The position of the page in front of the first one, once the first one was read.
  var before: Position?? { coverage.before }

  /// Handles the consumer's request for the next page.
  mutating func next(at now: Duration) -> NextAction {
    switch state {
    case .over:
      return .finish(nil)
    case .drained:
      return finish(exhaustion)
    case .loading(let position):
      preconditionFailure("A walk was asked for a page while it read the one at \(position).")
    case .ready(let position, let verdict):
      if startedAt == nil { startedAt = now } else { report.waitingForConsumer += now - lastChange }
      lastChange = now
      return proceed(to: position, verdict, at: now)
    }
  }

  /// Returns the reason why the page that was read must not be delivered; nil if it may be. With a
  /// reason, the caller reports a failed read.
  mutating func refusal<Item>(of page: Page<Item>) -> PageError? {
    switch memory.compare(page) {
    case .new(let overlap):
      if overlap > 0, !report.warnings.contains(where: { $0.code == .overlappingPages }) {
        report.warn([.overlap(of: overlap, onPage: pageIndex)])
      }
      return nil
    case .refusedBefore:
      return stall(Self.refusedBefore, after: page.traffic)
    case .repeated(let distance, let changed):
      if case .loading(let position) = state {
        let refusal = Trail.Refusal(
          of: page.head.fingerprint, identity: page.metadata.itemsIdentity)
        state = .loading(refuse(refusal, at: position))
      }
      return stall(stall(distance, changed), after: page.traffic)
    }
  }

  /// Notes that the page at a position is refused, so that neither a retry nor a walk that goes on
  /// from here delivers it. Returns the position with that.
  private mutating func refuse(_ page: Trail.Refusal, at position: Position) -> Position {
    var position = position
    memory.refuse(page)
    memory.mark(&position)
    report.checkpoint = position
    return position
  }

  private func stall(_ error: PageError, after traffic: WalkReport.Traffic) -> PageError {
    var error = error
    error.traffic = traffic
    error.traffic.items = 0
    return error
  }

  /// Handles the page that was read, and turns it into the one to deliver.
  mutating func received<Item>(_ page: inout Page<Item>, at now: Duration) {
    endLoading(at: now)
    (hasFetched, leavesWithLastRequest) = (true, false)
    page.index = pageIndex
    memory.mark(&page.position)
    coverage.received(page, isRest: isWithinPage, after: report.traffic)
    if let limit = limits.items { page.cut(toItems: limit - passed.items - report.items) }
    if !isWithinPage { report.pages += 1 }
    // Counted once: generic code looks up a type to ask whether an array is empty.
    let itemCount = page.items.count
    report.items += itemCount
    report.traffic += page.traffic
    report.duplicatesDropped += page.traffic.duplicates
    report.total = page.total ?? report.total
    if !page.warnings.isEmpty { report.warn(page.warnings) }
    if !page.head.adjustments.isEmpty { report.note(page.head.adjustments) }
    if itemCount > 0 || page.isUnchanged {
      emptyPages = 0
    } else if !isWithinPage {
      emptyPages += 1
    }
    isWithinPage = page.hasMoreParts
    closing = page.closing
    report.nextFailure = page.nextFailure
    if page.position.page == .start, let identity = page.head.answeredIdentity {
      memory.noteFirst(identity)
    }
    memory.passed(&page, filledPages: coverage.filledPages)
    advance(after: page)
  }

  /// Handles an answer that says that the listing ended before the page, and that took `traffic`
  /// and `adjustments`.
  mutating func receivedEnd(
    after traffic: WalkReport.Traffic = .zero, _ adjustments: [WalkReport.Adjustment] = [],
    at now: Duration
  ) -> NextAction {
    endLoading(at: now)
    hasFetched = true
    (report.endTraffic, report.endAdjustments) = (traffic, adjustments)
    report.traffic += traffic
    report.note(adjustments)
    report.checkpoint = nil
    return finish(exhaustion)
  }

  /// Handles a failed read. Returns the error to throw; the position stays the same.
  mutating func failed(_ error: any Error, at now: Duration) -> any Error {
    var position = endLoading(at: now)
    defer { state = .ready(position, .admitted) }
    if error is CancellationError {
      report.end = .cancelled
      return error
    }
    let failure = PageError(ofSource: error)
    // A walk inside the source has refused the page.
    if failure.code == .stalledContent, let refused = failure.checkpoint?.trail?.refused,
      refused != Trail.Refusal()
    {
      position = refuse(refused, at: position)
    }
    let located = locate(failure, at: position)
    report.traffic += located.traffic
    report.end = .failed(located)
    return located
  }

  /// Handles a read that was ended because a limit was reached; without an error, the limit is the
  /// one on the duration. Returns the duty to close, and the error to throw, from now on whenever
  /// the consumer asks.
  mutating func capped(_ error: PageError?, at now: Duration) -> (PageError, Closing?) {
    let position = endLoading(at: now)
    let refusal = locate(error ?? overtime(at: now), at: position)
    state = .ready(position, .refused(refusal))
    report.traffic += refusal.traffic
    report.end = .failed(refusal)
    return (refusal, takeClosing())
  }

  /// Notes that an iterator was made.
  mutating func entered() { iterators += 1 }

  /// Notes that an iterator was dropped. With the last one the walk is left, unless a task without
  /// an iterator asks for a page. A walk that is left in the middle of its last page has not come
  /// to its end.
  mutating func left(isMidway: Bool, isAsked: Bool) -> (isLeft: Bool, closing: Closing?) {
    iterators -= 1
    guard iterators == 0 else { return (false, nil) }
    leavesWithLastRequest = isAsked
    return isAsked ? (false, nil) : (true, abandoned(isMidway: isMidway))
  }

  /// Notes that a task that asked for a page got none. The walk is left if there is no iterator any
  /// more and no other task asks.
  mutating func gaveUp(isMidway: Bool, isAsked: Bool) -> (isLeft: Bool, closing: Closing?) {
    guard leavesWithLastRequest, iterators == 0, !isAsked else { return (false, nil) }
    leavesWithLastRequest = false
    return (true, abandoned(isMidway: isMidway))
  }

  /// Returns the walk for another consumer: without iterators, and with no read running.
  func copy() -> WalkMachine {
    var copy = self
    (copy.iterators, copy.leavesWithLastRequest) = (0, false)
    if case .loading(let position) = state { copy.state = .ready(position, .admitted) }
    return copy
  }

  /// How far a walk has come. The value changes with each page and with the end.
  struct Progress: Hashable {
    let pages: Int
    let items: Int
    let checkpoint: Position?
  }

  var progress: Progress {
    Progress(pages: report.pages, items: report.items, checkpoint: report.checkpoint)
  }

  /// The index of the page that comes next, or that is being read in parts.
  var pageIndex: Int { isWithinPage ? report.pages - 1 : report.pages }

  /// Ends the walk for its consumer. Returns the duty to close, if it is still open.
  mutating func abandoned(isMidway: Bool = false) -> Closing? {
    if !isMidway, case .drained = state, case .finish(let closing) = finish(exhaustion) {
      return closing
    }
    if case .running = report.end { report.end = .stoppedByConsumer }
    return takeClosing()
  }

  /// Whether none of the caller's limits can end the walk with the page that is being read.
  var readsOn: Bool {
    guard limits.items == nil, limits.bytes == nil, limits.requests == nil, limits.duration == nil
    else { return false }
    return limits.pages.map { passed.pages + report.pages + 1 < $0 } ?? true
  }

  /// Whether the consumer would get nil now.
  var isOver: Bool {
    switch state {
    case .over, .drained: true
    case .loading: false
    case .ready: objection == nil && reachedLimit != nil
    }
  }
}

// MARK: - Moving on

extension WalkMachine {
  private mutating func proceed(
    to position: Position, _ verdict: Verdict, at now: Duration
  ) -> NextAction {
    if let objection { return fail(locate(objection, at: position), nil) }
    if let limit = reachedLimit { return finish(.limit(limit)) }
    switch verdict {
    case .refused(let error):
      return fail(locate(error, at: position), takeClosing())
    case .broken(let error):
      state = .ready(position, .admitted)
      return fail(locate(error, at: position), nil)
    case .unjudged:
      if let error = judge(position, at: now) {
        state = .ready(position, .refused(error))
        return fail(error, takeClosing())
      }
    case .admitted: break
    }
    report.end = .running
    state = .loading(position)
    return .load(position, within: timeLeft(at: now))
  }

  private mutating func advance<Item>(after page: Page<Item>) {
    if let failure = page.nextFailure {
      state = .ready(page.end, failure.isFinal ? .refused(failure) : .broken(failure))
      report.checkpoint = page.end
    } else if let next = page.next {
      state = .ready(next, .unjudged)
      report.checkpoint = next
    } else if let doubt = page.head.endDoubt, case .truncationSuspected = exhaustion {
      state = .ready(page.end, .broken(doubt))
      report.checkpoint = page.end
    } else {
      state = .drained
      report.checkpoint = nil
    }
  }

  @discardableResult
  private mutating func endLoading(at now: Duration) -> Position {
    guard case .loading(let position) = state else {
      preconditionFailure("A walk got the answer to a read while it was \(state).")
    }
    report.waitingForNetwork += now - lastChange
    lastChange = now
    return position
  }

  private mutating func fail(_ error: PageError, _ closing: Closing?) -> NextAction {
    report.nextFailure = nil
    report.end = .failed(error)
    return .fail(error, closing)
  }

  private mutating func finish(_ end: WalkReport.End) -> NextAction {
    report.end = end
    if case .exhausted = end { report.warn(coverage.warnings(of: report)) }
    state = .over
    return .finish(takeClosing())
  }

  private mutating func takeClosing() -> Closing? {
    guard hasFetched, !isClosed else { return nil }
    isClosed = true
    return Closing(position: closing ?? report.checkpoint)
  }
}

// Reasons to stop a walk before the server's end, and the messages for them.
extension WalkMachine {
  /// The caller's own limit that is reached; nil if none is.
  var reachedLimit: WalkReport.Limit? {
    if let pages = limits.pages, passed.pages + report.pages >= pages, !isWithinPage {
      return .pages
    }
    if let items = limits.items, passed.items + report.items >= items { return .items }
    return nil
  }

  /// How a walk ends if the server ended it.
  var exhaustion: WalkReport.End { coverage.end(of: report) }

  /// Returns the reason why the page at `position` must not be loaded; nil if it may be.
  mutating func judge(_ position: Position, at now: Duration) -> PageError? {
    // The rest of a page that is arriving is no new place in the listing.
    if !isWithinPage, let loop = memory.loop(at: position, after: report.pages) {
      var position = position
      memory.mark(&position)
      // Equal positions may have different trails.
      if report.checkpoint == position { report.checkpoint = position }
      return locate(loop.length.map(Self.loop) ?? Self.returnToFirst, at: position)
    }
    return exceededCap(at: now).map { locate($0, at: position) }
  }

  private func exceededCap(at now: Duration) -> PageError? {
    if emptyPages > limits.consecutiveEmptyPages {
      return PageError(
        .limitExceeded,
        "\(emptyPages) empty pages came in a row, more than \(limits.consecutiveEmptyPages).",
        remedies: [
          Remedy(
            .end, ["emptyPage"],
            condition:
              "if an empty page is the end of the listing, and no flag or total that says otherwise"
          ),
          Remedy(
            .init("Limits.consecutiveEmptyPages"), condition: "if the server filters that much"),
        ])
    }
    let taken = taken ?? report.traffic
    if let bytes = limits.bytes, taken.bytes >= bytes {
      return PageError(
        .limitExceeded,
        """
        The walk has read \(taken.bytes) bytes of the \(bytes) it may. Resume from the checkpoint.
        """, remedies: [Remedy(.init("Limits.bytes"), condition: "to read more in one walk")])
    }
    if let requests = limits.requests, taken.requests >= requests {
      return PageError(
        .limitExceeded,
        """
        The walk has sent \(taken.requests.counted("request")) of the \(requests) it may. Resume \
        from the checkpoint.
        """, remedies: [Remedy(.init("Limits.requests"), condition: "to send more in one walk")])
    }
    return timeLeft(at: now).map { $0 <= .zero } == true ? overtime(at: now) : nil
  }

  /// Returns how long the walk may still take; nil without a limit.
  func timeLeft(at now: Duration) -> Duration? {
    limits.duration.map { $0 - (now - (startedAt ?? now)) }
  }

  func overtime(at now: Duration) -> PageError {
    PageError(
      .limitExceeded,
      """
      The walk has taken \((now - (startedAt ?? now)).words) of the \
      \((limits.duration ?? .zero).words) it may. Resume from the checkpoint.
      """, remedies: [Remedy(.init("Limits.duration"), condition: "to give one walk longer")])
  }

  private static let returnToFirst = PageError(
    .loopDetected,
    """
    The server leads back to the first page of the listing; the walk would never end. All pages so \
    far were delivered.
    """, attempts: 0)

  private static func loop(_ length: Int) -> PageError {
    let circle =
      length == 1
      ? "The server answered with the position of the page it had just sent"
      : "The server leads in a circle of \(length) pages"
    return PageError(
      .loopDetected, "\(circle); the walk would never end. All pages so far were delivered.",
      remedies: length > 1
        ? []
        : [
          Remedy(.end, ["sameCursor"], condition: "if that is how the server ends a listing"),
          Remedy(.handle, ["true"], condition: "if it is meant, as with the handle of a scroll"),
        ], attempts: 0)
  }

  private static let refusedBefore = PageError(
    .stalledContent,
    """
    The server sent the same items again with which the walk had stopped before, under another \
    position than the page that had them first; they were not delivered twice.
    """,
    remedies: stallRemedies(mayBeOver: true))

  private static func stallRemedies(mayBeOver: Bool) -> [Remedy] {
    (mayBeOver ? [Remedy(.end, ["noNewItems"], condition: "if all items came before")] : []) + [
      Remedy(.send),
      Remedy(
        .init("Limits.comparedPages"), ["0"],
        condition: "only where pages of this listing may well be the same"),
    ]
  }

  func stall(_ distance: Int, _ changed: [String]) -> PageError {
    let earlier = distance == 1 ? "the page before" : "the page \(distance) pages ago"
    let delivered =
      if isWithinPage {
        "those that came before the page was whole were delivered twice"
      } else if memory.alikePages > 0 {
        "\(memory.alikePages.counted("page")) before it that looked like an earlier one were delivered"
      } else {
        "they were not delivered twice"
      }
    // After pages that differ, a repetition of the first or the last one may be how the listing
    // ends.
    let mayBeOver =
      changed.isEmpty && report.pages > 1 && (distance == 1 || distance == report.pages)
    let cause =
      mayBeOver
      ? "It may end its listings so, or not heed what the request asks for."
      : "Most likely it does not heed what the request asks for."
    return PageError(
      .stalledContent,
      """
      The server sent the same items as on \(earlier)\(Self.but(for: changed)), under another position; \
      \(delivered). \
      \(cause)
      """,
      remedies: Self.stallRemedies(mayBeOver: mayBeOver))
  }

  /// Returns words that name the members that differ. The names are the server's.
  private static func but(for changed: [String]) -> String {
    guard !changed.isEmpty else { return "" }
    let names = changed.prefix(3).map {
      $0.isEmpty ? "their own text" : "\"\(ServerText($0, limit: 60))\""
    }
    let others = changed.count - names.count
    let rest = others > 0 ? " and \(others.counted("other member"))" : ""
    return ", but for \(names.joined(separator: ", "))\(rest)"
  }

  static func objection(to limits: Limits) -> PageError? {
    let numbers = [
      ("pages", limits.pages), ("items", limits.items), ("bytes", limits.bytes),
      ("requests", limits.requests),
      ("consecutiveEmptyPages", limits.consecutiveEmptyPages),
      ("comparedPages", limits.comparedPages),
    ]
    for (name, number) in numbers {
      guard let number, number < 0 else { continue }
      return PageError(
        .invalidArgument, "Limits.\(name) is \(number); give 0 or more.", attempts: 0)
    }
    guard let duration = limits.duration, duration < .zero else { return nil }
    return PageError(
      .invalidArgument, "Limits.duration is \(duration); give zero or more.", attempts: 0)
  }

  static let nestedIteration = PageError(
    .concurrentIteration,
    """
    A walk was asked for a page from inside of its own reading, where it would wait for itself. Take \
    the page in a task of its own once the reading is over, or make another walk of the cursor.
    """, attempts: 0)

  /// Returns the error with its place in this walk.
  func locate(_ error: PageError, at position: Position) -> PageError {
    var error = error
    error.pageIndex = pageIndex
    error.position = position
    error.checkpoint = position.afterWalk
    return error
  }
}
