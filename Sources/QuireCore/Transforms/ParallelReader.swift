import Synchronization

/// Reads pages whose positions are known in advance several at a time, and hands them out in order.
///
/// Pages are read ahead on a guess: when a page leads elsewhere, or nowhere, whatever was read
/// beyond it is dropped, errors included. Where guesses are wrong, such as behind pages that the server
/// makes smaller, one page is tried ahead, and that after more and more pages.
final class ParallelReader<Item: Sendable>: DerivedReader {
  private struct Read: Sendable {
    var position: Position
    var number: Int
    var task: Task<(page: Page<Item>?, time: Duration), any Error>
    /// A guess until the page is asked for.
    var urgency: ReadUrgency
  }

  private struct State: Sendable {
    var window: ParallelWindow
    /// What runs or waits to be delivered, in order.
    var ahead: [Read] = []
    var total: Total?
    /// Whether a page was read that was asked for.
    var hasDelivered = false
    /// How many guesses in a row were wrong, and how many pages are read without another one.
    var misses = 0
    private var rest = 0
    private var isToldOf = false

    init(limit: Int) { window = ParallelWindow(limit: limit) }

    /// A page led where none was read ahead, though some were. Returns whether that is to be told: once, when it is
    /// no accident any more.
    mutating func missed() -> Bool {
      misses += 1
      rest = 1 << min(misses, 10)
      guard misses > 1, !isToldOf else { return false }
      isToldOf = true
      return true
    }

    /// How many pages more are read ahead at most.
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
      return received(try await value(of: first), first)
    } catch let error as PageError where error.code == .throttled && first.isGuess {
      // No read waited for it when it was too much, so it counts as not asked yet.
      state.withLock { $0.window.throttled(first.read.number) }
    } catch {
      failed(error, first.read)
      throw error
    }
    let second = state.withLock { (isGuess: false, read: launch(position, &$0)) }
    do {
      return received(try await value(of: second), second)
    } catch {
      failed(error, second.read)
      throw error
    }
  }

  /// Takes the read of that page out of those that run ahead, or begins it, and reads on ahead.
  private func begin(at position: Position) -> (isGuess: Bool, read: Read) {
    state.withLock { state in
      var isGuess = true
      if state.ahead.first?.position != position {
        Self.drop(&state)
        state.ahead = [launch(position, &state)]
        isGuess = false
      }
      let last = state.ahead[state.ahead.count - 1].position
      var room = state.window.width - state.ahead.count
      if let pages { room = min(room, pages - state.window.launches) }
      // Guesses could take what a limit allows for the first page: no walk that is resumed would get further.
      let isCautious = !state.hasDelivered && WalkReading.isLimited
      if room > 0 { room = state.guesses(room) }
      if room > 0, base.allowsLookAhead, !base.deliversParts, !isCautious {
        let known = base.positions(after: last, total: state.total, pages: 1...room)
        for next in known.prefix(room) {
          state.ahead.append(launch(next, &state))
        }
      }
      return (isGuess, state.ahead.removeFirst())
    }
  }

  private func launch(_ position: Position, _ state: inout State) -> Read {
    let urgency = ReadUrgency(.guess)
    let task = ReadUrgency.$current.withValue(urgency) {
      Task { [base, stopwatch] in
        let begin = stopwatch.elapsed()
        let page = try await base.read(at: position)
        return (page: page, time: stopwatch.elapsed() - begin)
      }
    }
    return Read(
      position: position, number: state.window.launch(), task: task, urgency: urgency)
  }

  private func value(
    of read: (isGuess: Bool, read: Read)
  ) async throws -> (page: Page<Item>?, time: Duration) {
    let reader = ReadUrgency.current
    let following = read.read.urgency.follow(reader)
    defer { reader?.ignore(following) }
    return try await withTaskCancellationHandler {
      try await read.read.task.value
    } onCancel: {
      read.read.task.cancel()
      dropAll()
    }
  }

  private func received(
    _ answer: (page: Page<Item>?, time: Duration), _ read: (isGuess: Bool, read: Read)
  ) -> Page<Item>? {
    var page = answer.page
    state.withLock { state in
      state.hasDelivered = true
      // Where pages are read one by one anyway, nothing is held back.
      if let most = page?.head.readsAtOnce, most < state.window.limit, read.isGuess {
        page?.warnings.append(Self.narrowed(to: most, from: state.window.limit))
      }
      state.total = page?.total ?? state.total
      if let page, page.traffic.retries > 0 {
        state.window.throttled(read.read.number)
      } else {
        state.window.succeeded(read.read.number, after: answer.time)
      }
      page?.head.adjustments += state.window.takeAdjustments()
      guard page?.next == nil || page?.next != state.ahead.first?.position else {
        state.misses = 0
        return
      }
      if let found = page, found.next != nil, !state.ahead.isEmpty, state.missed() {
        page?.warnings.append(Self.misguided(by: found, state.window.limit))
      }
      Self.drop(&state)
    }
    return page
  }

  private static func narrowed(to most: Int, from limit: Int) -> WalkReport.Warning {
    WalkReport.Warning(
      .narrowedWindow,
      """
      parallel(\(limit)) reads \(most.counted("page")) at once: the transport sends no more requests \
      to one host at the same time. Raise its limit, or ask for a smaller window.
      """, remedy: Remedy(.connectionsPerHost, [String(limit)]))
  }

  private static func misguided(by page: Page<Item>, _ limit: Int) -> WalkReport.Warning {
    WalkReport.Warning(
      .narrowedWindow,
      "parallel(\(limit)) reads pages one by one, because they lead elsewhere than can be reckoned: the last had "
        + "\(page.items.count.counted("item")).",
      remedy: Remedy(
        .pageSize, ["\(page.items.count)"],
        condition: "if the server gives no more than that at a time"))
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

extension WalkReport.Warning.Code {
  /// Fewer pages were read at once than `Cursor.parallel(_:)` was told, because the transport sends no
  /// more requests to one host.
  public static let narrowedWindow = Self("narrowedWindow")
}

extension Remedy.Setting {
  /// How many connections to one host a transport opens.
  public static let connectionsPerHost = Self("transport.connectionsPerHost")
}
