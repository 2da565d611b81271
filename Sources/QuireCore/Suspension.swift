public import Synchronization

/// A wait of one task for a value from another task, which decides the race between delivery and
/// cancellation exactly once.
///
/// One task calls `value`; any thread calls `resume(returning:)` or `resume(throwing:)`, before or
/// after that. The first call wins, and every later one returns false. No task is resumed while a
/// lock is held.
///
/// A cancelled wait throws `CancellationError` at once, unless the waiter passes `onCancel`: then
/// the delivering task decides, after it has cleaned up.
///
/// Inlinable, so that other modules specialise it for their `Value`: every page is waited for.
@usableFromInline package final class Suspension<Value: Sendable>: Sendable {
  @usableFromInline let state = Mutex(State.pending)

  /// `pending` → `waiting` → `over`, or `pending` → `resolved` → `over`.
  @usableFromInline enum State {
    /// No waiter, and nothing delivered.
    case pending
    /// A task is suspended. Leaving this state resumes it, exactly once.
    case waiting(UnsafeContinuation<Value, any Error>)
    /// The outcome came before its waiter.
    case resolved(Result<Value, any Error>)
    /// The outcome was delivered.
    case over
  }

  @inlinable package init() {}

  /// Waits for the outcome. May be called once.
  ///
  /// - Parameter onCancel: What a cancelled wait does instead of ending at once. It must not block,
  ///   and it must lead to a `resume`. It may run before the wait begins, on any thread.
  @inlinable package func value(onCancel: (@Sendable () -> Void)? = nil) async throws -> Value {
    try await withTaskCancellationHandler {
      try await withUnsafeThrowingContinuation { wait(with: $0) }
    } onCancel: {
      if let onCancel { onCancel() } else { resume(throwing: CancellationError()) }
    }
  }

  /// Delivers the value; returns false if the wait was already decided.
  @discardableResult
  @inlinable package func resume(returning value: Value) -> Bool {
    resume(with: .success(value))
  }

  /// Ends the wait with an error; returns false if the wait was already decided.
  @discardableResult
  @inlinable package func resume(throwing error: any Error) -> Bool {
    resume(with: .failure(error))
  }

  /// Delivers the outcome; returns false if the wait was already decided.
  @discardableResult
  @inlinable package func resume(with outcome: Result<Value, any Error>) -> Bool {
    let (accepted, continuation) = state.withLock { state in
      switch state {
      case .pending:
        state = .resolved(outcome)
        return (true, UnsafeContinuation<Value, any Error>?.none)
      case .waiting(let continuation):
        state = .over
        return (true, continuation)
      case .resolved, .over:
        return (false, nil)
      }
    }
    continuation?.resume(with: outcome)
    return accepted
  }

  @inlinable func wait(with continuation: UnsafeContinuation<Value, any Error>) {
    let outcome = state.withLock { state -> Result<Value, any Error>? in
      switch state {
      case .pending:
        state = .waiting(continuation)
        return nil
      case .resolved(let outcome):
        state = .over
        return outcome
      case .waiting, .over:
        preconditionFailure("Suspension: value() was called twice")
      }
    }
    if let outcome { continuation.resume(with: outcome) }
  }
}

extension Suspension {
  /// Waits for the outcome, but no longer than `time`; after that, for the one of `overdue`.
  package func value(
    within time: Duration, by clock: any Clock<Duration>,
    overdue: @escaping @Sendable () -> Result<Value, any Error>
  ) async throws -> Value {
    let alarm = Task {
      do { try await clock.sleep(for: time.limitedForClock) } catch { return }
      resume(with: overdue())
    }
    defer { alarm.cancel() }
    return try await value()
  }
}

/// A queue that lets one task in at a time, in the order of arrival.
///
/// A task that is cancelled while it waits leaves the queue at once, with `CancellationError`; the
/// others keep their places.
final class TurnQueue: Sendable {
  private struct State: Sendable {
    var isTaken = false
    /// The waiters; some of them may have been cancelled.
    var waiting: [Suspension<Void>] = []
  }

  private let state = Mutex(State())

  /// Waits for a turn, which the caller must end by `pass()`.
  func take() async throws {
    let suspension = state.withLock { state -> Suspension<Void>? in
      guard state.isTaken else {
        state.isTaken = true
        return nil
      }
      let suspension = Suspension<Void>()
      state.waiting.append(suspension)
      return suspension
    }
    guard let suspension else { return }
    do {
      try await suspension.value()
    } catch {
      state.withLock { $0.waiting.removeAll { $0 === suspension } }
      throw error
    }
  }

  /// Ends a turn and gives it to the next waiter.
  func pass() {
    while true {
      let next = state.withLock { state -> Suspension<Void>? in
        guard !state.waiting.isEmpty else {
          state.isTaken = false
          return nil
        }
        return state.waiting.removeFirst()
      }
      // A waiter that was cancelled at the same moment refuses the turn, which then goes to the
      // next.
      guard let next, !next.resume(returning: ()) else { return }
    }
  }
}
