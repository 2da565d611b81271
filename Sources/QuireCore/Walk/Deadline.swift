/// Work that must not take longer than it may.
enum Deadline {
  /// The time was up before the work was done, and the work was ended.
  struct Expired: Error {}

  private enum Outcome<Value: Sendable>: Sendable {
    case done(Value)
    case expired
  }

  /// Does `work` for `time` at most, then cancels it and waits until it has ended.
  ///
  /// Throws `Expired` where the work did not come to a result all the same. Its cancellation from
  /// outside ends both.
  static func run<Value: Sendable>(
    within time: Duration, by clock: any Clock<Duration>,
    _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    try await withThrowingTaskGroup(of: Outcome<Value>.self) { group in
      group.addTask { .done(try await work()) }
      group.addTask {
        try await clock.sleep(for: time)
        return .expired
      }
      defer { group.cancelAll() }
      if case .done(let value)? = try await group.next() { return value }
      group.cancelAll()
      // What came in the same moment is not thrown away.
      if case .success(.done(let value))? = await group.nextResult() { return value }
      throw Expired()
    }
  }
}
