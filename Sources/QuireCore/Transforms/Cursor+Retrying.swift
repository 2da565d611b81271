extension Cursor {
  /// The same pages; one that fails is asked for again, up to `attempts` times in all.
  ///
  /// For sources that do not retry by themselves; HTTP ones do. Waits `delay(n)` before the attempt
  /// after the n-th, by the cursor's clock. Each page has all its attempts. Neither an end nor a
  /// cancellation is retried, nor what can only fail again. Fewer than 1 is `invalidArgument`,
  /// thrown by the first `next()`.
  public func retrying(
    attempts: Int, delay: @escaping @Sendable (_ attempt: Int) -> Duration = { _ in .zero }
  ) -> Cursor<Item> {
    deriving { base, context in
      RetryingReader(base: base, attempts: attempts, delay: delay, clock: context.clock)
    }
  }
}

/// Reads a page again that could not be read.
struct RetryingReader<Item: Sendable>: DerivedReader {
  let base: any PageReader<Item>
  let attempts: Int
  let delay: @Sendable (Int) -> Duration
  let clock: any Clock<Duration>

  func read(at position: Position) async throws -> Page<Item>? {
    guard attempts >= 1 else {
      throw PageError(
        .invalidArgument, "retrying(attempts: \(attempts)) cannot work; give 1 or more.",
        attempts: 0)
    }
    var attempt = 1
    while true {
      do {
        var page = try await base.read(at: position)
        page?.traffic.requests += attempt - 1
        page?.traffic.retries += attempt - 1
        return page
      } catch let error where attempt < attempts && Self.isWorthRetrying(error) {
        let pause = delay(attempt)
        attempt += 1
        if pause > .zero { try await clock.sleep(for: pause) }
      }
    }
  }

  private static func isWorthRetrying(_ error: any Error) -> Bool {
    if error is CancellationError || Task.isCancelled { return false }
    return (error as? PageError)?.isFinal != true
  }

  func positions(after position: Position, total: Total?, count: Int) -> [Position] {
    base.positions(after: position, total: total, count: count)
  }

  func copy() -> any PageReader<Item> {
    RetryingReader(base: base.copy(), attempts: attempts, delay: delay, clock: clock)
  }

  func leave() { base.leave() }
  func close(at position: Position?) async { await base.close(at: position) }
  var needsClosing: Bool { base.needsClosing }
  var repeatedPositions: RepeatedPositions { base.repeatedPositions }
  var allowsLookAhead: Bool { base.allowsLookAhead }
  var identity: ListingIdentity? { base.identity }
}
