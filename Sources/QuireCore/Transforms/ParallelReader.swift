import Synchronization

/// Reads several pages at a time whose positions are known in advance, and returns them in order.
///
/// Pages are read ahead on a guess: when a page leads elsewhere, or nowhere, the pages read beyond
/// it are dropped, errors included. If the page behind the last one has other items, the last one
/// carries a warning. If guesses are wrong, for example because the server makes
/// pages smaller, only one page is read ahead, and that after more and more pages without a guess.
final class ParallelReader<Item: Sendable>: DerivedReader {
  private struct Read: Sendable {
    let position: Position
    /// Whether the read began before its page was asked for.
    let isGuess: Bool
    let number: Int
    let task: Task<(page: Page<Item>?, time: Duration), any Error>
    /// The urgency of the read, which is a guess until the page is asked for.
    let urgency: ReadUrgency
  }

  private struct State: Sendable {
    var window: ParallelWindow
    /// The reads that run or wait to be delivered, in order.
    var ahead: [Read] = []
    var total: Total?
    /// Whether a page that was asked for has been read.
    var hasDelivered = false
    /// The number of wrong guesses in a row, and of pages to read before the next guess.
    var misses = 0
    private var rest = 0
    private var hasWarned = false
    /// The number of pages after which no position was known in advance; nil once one was.
    private var pagesWithoutPositions: Int? = 0
    /// The first page with items, and the latest one.
    private var known: (first: PageContent, latest: PageContent)?

    init(limit: Int) { window = ParallelWindow(limit: limit) }

    /// Notes that a page led elsewhere than the pages read ahead. Returns whether to warn: once,
    /// with the second miss in a row.
    mutating func missed() -> Bool {
      misses += 1
      rest = 1 << min(misses, 10)
      guard misses > 1, !hasWarned else { return false }
      hasWarned = true
      return true
    }

    /// Notes whether positions are known after a page.
    mutating func noted(positionsAreKnown: Bool) {
      pagesWithoutPositions = positionsAreKnown ? nil : pagesWithoutPositions.map { $0 + 1 }
    }

    /// Returns whether to warn that no position is known: once, with the second page, because a
    /// source may need the first one's total.
    mutating func lacksPositions() -> Bool {
      guard let pagesWithoutPositions, pagesWithoutPositions > 1, !hasWarned else { return false }
      hasWarned = true
      return true
    }

    /// Notes the items of a page that was asked for.
    mutating func note(_ page: Page<Item>) {
      guard !page.items.isEmpty else { return }
      let content = PageContent(page)
      known = (known?.first ?? content, content)
    }

    /// Whether a page has items that neither the latest page nor the first one has: some servers
    /// answer with one of those behind the end.
    func isNew(_ page: Page<Item>) -> Bool {
      let content = PageContent(page)
      guard !page.items.isEmpty, content.fingerprint != nil else { return false }
      guard let known else { return true }
      return content.isNew(beside: known.first) && content.isNew(beside: known.latest)
    }

    /// Returns how many more pages may be read ahead.
    mutating func guesses(_ room: Int) -> Int {
      guard rest == 0 else {
        rest -= 1
        return 0
      }
      return misses > 0 ? min(room, 1) : room
    }
  }

  let base: any PageReader<Item>
  private let pages: Int?
  private let clock: any Clock<Duration>
  private let stopwatch: Stopwatch
  private let state: Mutex<State>

  init(_ base: any PageReader<Item>, limit: Int, context: ReaderContext) {
    self.base = base
    pages = context.limits.pages
    clock = context.clock
    stopwatch = Stopwatch(context.clock)
    state = Mutex(State(limit: limit))
  }

  deinit { dropAll() }

  func read(at position: Position) async throws -> Page<Item>? {
    let limit = state.withLock { $0.window.limit }
    guard 1...1024 ~= limit else {
      throw PageError(
        .invalidArgument, "parallel(\(limit)) cannot work; give a window of 1 to 1024.",
        attempts: 0)
    }
    let first = begin(at: position)
    do {
      return await received(try await value(of: first), first)
    } catch let error as PageError where error.code == .throttled && first.isGuess {
      // A throttled guess does not fail the page: the window is narrowed, and the page is read once
      // more.
      state.withLock { $0.window.throttled(first.number) }
      return try await readAgain(at: position, after: error.traffic)
    } catch {
      failed(error, first)
      throw error
    }
  }

  /// Reads a page anew whose guess was throttled, which took `traffic`.
  private func readAgain(
    at position: Position, after traffic: WalkReport.Traffic
  ) async throws -> Page<Item>? {
    let read = state.withLock { launch(position, isGuess: false, &$0) }
    do {
      var page = await received(try await value(of: read), read) ?? Page.absent(after: .zero)
      page.traffic += traffic
      return page
    } catch var error as PageError {
      error.traffic += traffic
      failed(error, read)
      throw error
    } catch {
      failed(error, read)
      throw error
    }
  }

  /// Takes the page's read from those that run ahead, or begins it, and begins more reads ahead.
  private func begin(at position: Position) -> Read {
    state.withLock { state in
      if state.ahead.first?.position != position {
        Self.drop(&state)
        state.ahead = [launch(position, isGuess: false, &state)]
      }
      let last = state.ahead[state.ahead.count - 1].position
      var room = state.window.width - state.ahead.count
      if let pages { room = min(room, pages - state.window.launched) }
      // Guesses could use up a limit before the first page is delivered; a resumed walk would get
      // no further.
      let isCautious = !state.hasDelivered && WalkReading.isLimited
      if room > 0 { room = state.guesses(room) }
      if room > 0, base.allowsLookAhead, !base.deliversParts, !isCautious {
        let known = base.positions(after: last, total: state.total, pages: 1...room)
        state.noted(positionsAreKnown: !known.isEmpty)
        for next in known.prefix(room) {
          state.ahead.append(launch(next, isGuess: true, &state))
        }
      }
      return state.ahead.removeFirst()
    }
  }

  private func launch(_ position: Position, isGuess: Bool, _ state: inout State) -> Read {
    let urgency = ReadUrgency(isGuess ? .guess : ReadUrgency.current?.level ?? .waited)
    let task = ReadUrgency.$current.withValue(urgency) {
      Task { [base, stopwatch] in
        let begin = stopwatch.elapsed()
        let page = try await base.read(at: position)
        return (page: page, time: stopwatch.elapsed() - begin)
      }
    }
    return Read(
      position: position, isGuess: isGuess, number: state.window.launch(), task: task,
      urgency: urgency)
  }

  private func value(of read: Read) async throws -> (page: Page<Item>?, time: Duration) {
    try await read.urgency.result(of: read.task) { dropAll() }.get()
  }

  private func received(
    _ answer: (page: Page<Item>?, time: Duration), _ read: Read
  ) async -> Page<Item>? {
    var page = answer.page
    page?.head.onDelivery?()
    page?.head.onDelivery = nil
    if let found = page {
      state.withLock { $0.note(found) }
      if let count = await itemsBehind(found, within: answer.time) {
        page?.warnings.append(.itemsBehindEnd(count))
      }
    }
    state.withLock { state in
      state.hasDelivered = true
      // The warning would be wrong where pages are read one by one anyway.
      if let most = page?.head.readsAtOnce, most < state.window.limit, read.isGuess {
        page?.warnings.append(Self.narrowed(to: most, from: state.window.limit))
      }
      state.total = page?.total ?? state.total
      if let page, page.traffic.retries > 0 {
        state.window.throttled(read.number)
      } else {
        state.window.succeeded(read.number, after: answer.time)
      }
      let adjustments = state.window.takeAdjustments()
      if page == nil, !adjustments.isEmpty { page = Page.absent(after: .zero) }
      page?.head.adjustments += adjustments
      guard page?.next == nil || page?.next != state.ahead.first?.position else {
        state.misses = 0
        return
      }
      if let found = page, found.next != nil {
        if state.ahead.isEmpty ? state.lacksPositions() : state.missed() {
          page?.warnings.append(
            Self.oneByOne(found, state.window.limit, lacksPositions: state.ahead.isEmpty))
        }
      }
      Self.drop(&state)
    }
    return page
  }

  /// Returns the number of items of the page behind the last one, if it was read ahead and repeats
  /// none that came; nil if nothing shows that the listing is longer. Waits for it no longer than
  /// `time`, because it is not needed.
  private func itemsBehind(_ page: Page<Item>, within time: Duration) async -> Int? {
    guard page.next == nil, page.nextFailure == nil, !page.hasMoreParts, !page.head.isAbsent,
      let read = state.withLock({ $0.ahead.first })
    else { return nil }
    let patience = Task { [clock] in
      try await clock.sleep(for: time)
      read.task.cancel()
    }
    defer { patience.cancel() }
    let behind = await withTaskCancellationHandler {
      try? await read.task.value.page
    } onCancel: {
      read.task.cancel()
    }
    guard let behind, state.withLock({ $0.isNew(behind) }) else { return nil }
    return behind.items.count
  }

  private static func narrowed(to most: Int, from limit: Int) -> WalkReport.Warning {
    WalkReport.Warning(
      .narrowedWindow,
      """
      parallel(\(limit)) reads \(most.counted("page")) at once: the transport sends no more requests \
      to one host at the same time. Raise its limit, or ask for a smaller window.
      """, remedy: Remedy(.connectionsPerHost, [String(limit)]))
  }

  private static func oneByOne(
    _ page: Page<Item>, _ limit: Int, lacksPositions: Bool
  ) -> WalkReport.Warning {
    let reason =
      lacksPositions
      ? "their positions are not known in advance"
      : "they lead elsewhere than can be reckoned: the last had "
        + page.items.count.counted("item")
    return WalkReport.Warning(
      .narrowedWindow, "parallel(\(limit)) reads pages one by one, because \(reason).",
      remedy: Remedy(
        .pageSize, ["\(page.items.count)"],
        condition: lacksPositions
          ? "if pages of this listing are counted and have that many items"
          : "if the server gives no more than that at a time"))
  }

  private func failed(_ error: any Error, _ read: Read) {
    state.withLock { state in
      if (error as? PageError)?.code == .throttled { state.window.throttled(read.number) }
      Self.drop(&state)
    }
  }

  private static func drop(_ state: inout State) {
    for read in state.ahead { read.task.cancel() }
    state.ahead = []
  }

  // MARK: The reader's other duties

  private func dropAll() { state.withLock { Self.drop(&$0) } }

  func leave() {
    dropAll()
    base.leave()
  }

  func copy() -> any PageReader<Item> {
    let limits = Limits(pages: pages)
    return ParallelReader(
      base.copy(), limit: state.withLock { $0.window.limit },
      context: ReaderContext(limits: limits, clock: clock))
  }
}

/// What tells a page's items from those of others.
private struct PageContent: Sendable {
  let fingerprint: Int?
  let sample: PageSample?

  init(_ page: Page<some Any>) {
    (fingerprint, sample) = (page.head.fingerprint, page.head.sample)
  }

  /// Whether these are other items than those of an earlier page, and do not end as those do: the
  /// last items that fit into a page come behind the end where a server moves an offset back.
  func isNew(beside earlier: PageContent) -> Bool {
    var pages = RecentPages(capacity: 1)
    _ = pages.compareAndRemember(earlier.fingerprint, earlier.sample)
    let comparison = pages.compareAndRemember(fingerprint, sample)
    guard comparison == .new(overlap: 0), pages.alike == 0 else { return false }
    return sample.flatMap { new in earlier.sample.map { !new.edges.end(as: $0.edges) } } ?? true
  }
}

extension WalkReport.Warning {
  fileprivate static func itemsBehindEnd(_ count: Int) -> Self {
    Self(
      .itemsBehindEnd,
      """
      The listing ended before a page that had been read ahead, and that has \(count.counted("item")): \
      the last page may be no sign of the end, and items are missing.
      """,
      remedy: Remedy(.end, condition: "if pages in the middle may be empty or not full"))
  }
}

extension WalkReport.Warning.Code {
  /// The page behind the one that ended the listing had been read ahead, and had other items.
  public static let itemsBehindEnd = Self("itemsBehindEnd")
  /// Fewer pages were read at once than `Cursor.parallel(_:)` allows: the transport sends no more
  /// requests to one host, or pages lead elsewhere than their positions promise.
  public static let narrowedWindow = Self("narrowedWindow")
}

extension Remedy.Setting {
  /// The number of connections that a transport opens to one host.
  public static let connectionsPerHost = Self("transport.connectionsPerHost")
}
