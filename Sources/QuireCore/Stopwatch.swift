/// The time since its creation, by any clock.
package struct Stopwatch: Sendable {
  /// The time that has passed.
  package let elapsed: @Sendable () -> Duration

  package init(_ clock: any Clock<Duration>) {
    elapsed = Self.start(clock)
  }

  private static func start<C: Clock<Duration>>(_ clock: C) -> @Sendable () -> Duration {
    let beginning = clock.now
    return { beginning.duration(to: clock.now) }
  }
}

/// Work with a time limit.
enum Deadline {
  /// The error when the time was up before the work was done.
  struct Expired: Error {}

  private enum Outcome<Value: Sendable>: Sendable {
    case done(Value)
    case expired
  }

  /// Runs `work` for at most `time`, then cancels it and waits until it has ended.
  ///
  /// Throws `Expired` if the work still brought no result. Cancelling the caller cancels the work,
  /// too.
  static func run<Value: Sendable>(
    within time: Duration, by clock: any Clock<Duration>,
    _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    try await withThrowingTaskGroup(of: Outcome<Value>.self) { group in
      group.addTask { .done(try await work()) }
      group.addTask {
        try await clock.sleep(for: time.limitedForClock)
        return .expired
      }
      defer { group.cancelAll() }
      let first = await group.nextResult()
      if case .success(.done(let value))? = first { return value }
      group.cancelAll()
      // A value that came at the same moment, or in spite of the cancellation, is not lost.
      if case .success(.done(let value))? = await group.nextResult() { return value }
      if case .failure(let error)? = first { throw error }
      throw Expired()
    }
  }
}

extension Task where Success == Void, Failure == Never {
  /// Runs the last work of a walk in a task of its own, which the consumer's cancellation does not
  /// reach. The returned task ends with the work, or after 5 seconds even if the work ignores its
  /// cancellation.
  @discardableResult
  package static func detachedCleanup(
    _ clock: any Clock<Duration>, _ work: @escaping @Sendable () async -> Void
  ) -> Task<Void, Never> {
    Task {
      let over = Suspension<Void>()
      let work = Task {
        await work()
        over.resume(returning: ())
      }
      try? await over.value(within: .seconds(5), by: clock) { .success(()) }
      work.cancel()
    }
  }
}

extension Duration {
  /// The seconds of a century, which is longer than any limit.
  private static let longest = 3.2e9

  /// Returns a server's time to wait, from zero to a century; nil if it is no number.
  package static func wait(seconds: Double) -> Duration? {
    seconds.isNaN ? nil : .seconds(min(max(seconds, 0), longest))
  }

  /// Returns the duration multiplied by `count`, limited to a century.
  package func times(_ count: Int) -> Duration {
    self / .seconds(1) * Double(count) < Self.longest ? self * count : .seconds(Self.longest)
  }

  /// The duration limited to a century, for clocks, which overflow with longer ones.
  var limitedForClock: Duration { times(1) }
}
