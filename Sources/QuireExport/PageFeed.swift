import QuireCore
import QuirePagination
import Synchronization

/// The pages of an export's walk, delivered on demand. A wait for a page can time out without
/// losing the page.
///
/// Cancelling the feed cancels its requests, and no other work of the export.
final class PageFeed: Sendable {
  /// The outcome of a wait for the next page.
  enum Event: Sendable {
    case page(Page<RawItem>)
    /// The walk has ended; the report says why.
    case end
    case failed(any Error)
    /// The wait timed out; the page may still come.
    case late
  }

  private struct State: Sendable {
    /// Events that arrived while there was no waiter, in order.
    var ready: [Event] = []
    /// The waiter for the next event, if `ready` is empty. Code that takes it out of the state
    /// resumes it.
    var waiter: Suspension<Event>?
    /// The producer's wait until a page is requested.
    var demand = Suspension<Void>()
    var isAsked = false
    /// The time at which the wait ends, and the timer for it. Kept between waits, because many
    /// pages have the same time.
    var due: Duration?
    var alarm: Task<Void, any Error>?
  }

  private let walk: Walk<RawItem>?
  private let paginator: Paginator<RawItem>?
  private let clock: any Clock<Duration>
  private let stopwatch: Stopwatch
  private let state = Mutex(State())
  private let pump = Mutex<Task<Void, Never>?>(nil)

  /// Creates a feed that loads `lookAhead` pages ahead of the writer; 0 loads each page when it is
  /// requested.
  init(
    _ cursor: Cursor<RawItem>, lookAhead: Int, clock: any Clock<Duration>, stopwatch: Stopwatch
  ) {
    self.clock = clock
    self.stopwatch = stopwatch
    walk = lookAhead == 0 ? cursor.walk() : nil
    paginator = lookAhead == 0 ? nil : Paginator(cursor, maxPagesAhead: lookAhead)
    pump.withLock { $0 = Task { await self.produce() } }
  }

  /// The report of the walk.
  var report: WalkReport { walk?.report ?? paginator?.report ?? WalkReport() }

  /// Returns the next page, or `late` once the stopwatch reads `due`; with nil, waits without a
  /// limit.
  func next(by due: Duration?) async -> Event {
    let waiter = Suspension<Event>()
    let ready = state.withLock { state -> Event? in
      guard state.ready.isEmpty else { return state.ready.removeFirst() }
      state.waiter = waiter
      if !state.isAsked {
        state.isAsked = true
        state.demand.resume(returning: ())
      }
      if state.due != due {
        state.alarm?.cancel()
        (state.due, state.alarm) = (due, due.map(alarm))
      }
      return nil
    }
    if let ready { return ready }
    do {
      // The export runs in an unstructured task of its own, which is never cancelled.
      return try await waiter.value(onCancel: {})
    } catch {
      return .failed(error)
    }
  }

  private func alarm(at due: Duration) -> Task<Void, any Error> {
    Task {
      try await clock.sleep(for: due - stopwatch.elapsed())
      let waiter = state.withLock { state -> Suspension<Event>? in
        guard state.due == due else { return nil }
        (state.due, state.alarm) = (nil, nil)
        defer { state.waiter = nil }
        return state.waiter
      }
      waiter?.resume(returning: .late)
    }
  }

  /// Cancels the walk and its requests; the next event reports the cancellation.
  func cancel() { pump.withLock { $0 }?.cancel() }

  /// Cancels the walk, and returns once it is closed at the server.
  func close() async {
    let task = pump.withLock { $0 }
    task?.cancel()
    state.withLock { $0.alarm?.cancel() }
    await task?.value
    await walk?.close()
    await paginator?.close()
  }

  private func produce() async {
    do {
      if let walk {
        try await produce(from: walk.makeAsyncIterator())
      } else if let paginator {
        try await produce(from: paginator.makeAsyncIterator())
      }
    } catch {
      deliver(.failed(error))
    }
  }

  private func produce<Pages: AsyncIteratorProtocol>(
    from iterator: Pages
  ) async throws where Pages.Element == Page<RawItem>, Pages.Failure == any Error {
    var iterator = iterator
    while true {
      try await state.withLock { $0.demand }.value()
      guard let page = try await iterator.next(isolation: nil) else {
        deliver(.end)
        return
      }
      // Claimed because the next page is requested before this one is committed.
      page.head.receipts.deferConfirmation()
      deliver(.page(page))
    }
  }

  private func deliver(_ event: Event) {
    let waiter = state.withLock { state -> Suspension<Event>? in
      (state.demand, state.isAsked) = (Suspension(), false)
      defer { state.waiter = nil }
      if state.waiter == nil { state.ready.append(event) }
      return state.waiter
    }
    waiter?.resume(returning: event)
  }
}
