import QuireCore
import QuirePagination
import Synchronization

/// The pages of an export's walk, one for each that is asked for, with a wait that can be left without
/// losing the page.
///
/// Cancelling the feed ends what is in flight and no other work of the export.
final class PageFeed: Sendable {
  /// What a wait for the next page brought.
  enum Event: Sendable {
    case page(Page<RawItem>)
    /// No page is left; the report says why.
    case end
    case failed(any Error)
    /// The time was up; the page may still come.
    case late
  }

  private struct State: Sendable {
    /// What has come while nothing waited, in order: a page, and perhaps the end behind it.
    var ready: [Event] = []
    /// The wait for what comes next, where nothing is ready. It is resumed by what takes it from here.
    var waiter: Suspension<Event>?
    /// The producer's wait until a page is wanted.
    var demand = Suspension<Void>()
    var isAsked = false
    /// When the wait for a page is over, and what ends it then. Many pages come by the same time.
    var due: Duration?
    var alarm: Task<Void, any Error>?
  }

  private let walk: Walk<RawItem>?
  private let paginator: Paginator<RawItem>?
  private let clock: any Clock<Duration>
  private let stopwatch: Stopwatch
  private let state = Mutex(State())
  private let pump = Mutex<Task<Void, Never>?>(nil)

  /// Loads `lookAhead` pages while earlier ones are written; 0 loads each page when it is asked for.
  init(
    _ cursor: Cursor<RawItem>, lookAhead: Int, clock: any Clock<Duration>, stopwatch: Stopwatch
  ) {
    self.clock = clock
    self.stopwatch = stopwatch
    walk = lookAhead == 0 ? cursor.walk() : nil
    paginator = lookAhead == 0 ? nil : Paginator(cursor, maxPagesAhead: lookAhead)
    pump.withLock { $0 = Task { await self.produce() } }
  }

  /// What the walk did.
  var report: WalkReport { walk?.report ?? paginator?.report ?? WalkReport() }

  /// The next page, or `late` once the stopwatch reads `due`; nil waits for ever.
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
      // The export goes on in a task of its own, which nothing cancels.
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

  /// Ends the walk: what is in flight is cancelled, and the next event says so.
  func cancel() { pump.withLock { $0 }?.cancel() }

  /// Cancels, and returns when the server holds nothing for the walk any more.
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
      // The next page is asked for before this one is committed.
      page.head.receipts.claim()
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
