import QuireCore
import Synchronization

/// Keeps the requests of one listing as far apart as its description and its server ask.
final class Pacer: Sendable {
  private let clock: any Clock<Duration>
  private let stopwatch: Stopwatch
  private let interval: Duration
  private let earliest = Mutex(Duration.zero)

  init(interval: Duration, clock: any Clock<Duration>) {
    self.interval = interval
    self.clock = clock
    stopwatch = Stopwatch(clock)
  }

  /// Returns when the next request may go out; `willWait` hears how long that takes, if it does.
  func ready(willWait: (Duration) -> Void = { _ in }) async throws {
    let now = stopwatch.elapsed()
    let wait = earliest.withLock { earliest in
      let begin = max(now, earliest)
      earliest = begin + interval
      return begin - now
    }
    guard wait > .zero else { return }
    willWait(wait)
    try await clock.sleep(for: wait)
  }

  /// Lets nothing out for a while.
  func wait(for duration: Duration) {
    let now = stopwatch.elapsed()
    earliest.withLock { $0 = max($0, now + duration) }
  }
}
