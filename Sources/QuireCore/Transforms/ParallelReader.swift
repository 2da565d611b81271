import Synchronization

/// Reads pages whose positions are known in advance several at a time, and hands them out in order.
///
/// Pages are read ahead on a guess: when a page leads elsewhere, or nowhere, whatever was read
/// beyond it is dropped, errors included.
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
    state = Mutex(State(window: ParallelWindow(limit: limit)))
  }

  deinit { dropAll() }

  func read(at position: Position) async throws -> Page<Item>? {
    let limit = state.withLock { $0.window.limit }
    guard limit >= 1 else {
      throw PageError(
        .invalidArgument, "parallel(\(limit)) cannot work; give a window of 1 or more.",
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
      if page?.next == nil || page?.next != state.ahead.first?.position { Self.drop(&state) }
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
