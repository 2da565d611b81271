import QuireCore
import Synchronization

/// A value under a lock that tests can wait for: a waiter resumes as soon as an update meets its
/// condition.
final class Watched<Value: Sendable>: Sendable {
  private struct Waiter {
    var condition: @Sendable (Value) -> Bool
    var suspension: Suspension<Void>
  }

  private struct State {
    var value: Value
    var waiters: [Waiter] = []
  }

  private let state: Mutex<State>

  init(_ value: Value) { state = Mutex(State(value: value)) }

  var value: Value { state.withLock { $0.value } }

  @discardableResult
  func update<Result: Sendable>(
    _ change: @Sendable (inout Value) -> Result
  ) -> Result {
    let (result, woken) = state.withLock { state in
      let result = change(&state.value)
      let value = state.value
      let woken = state.waiters.filter { $0.condition(value) }.map(\.suspension)
      state.waiters.removeAll { $0.condition(value) }
      return (result, woken)
    }
    for suspension in woken { suspension.resume(returning: ()) }
    return result
  }

  /// Waits until `condition` holds. Throws `CancellationError` when the task is cancelled.
  func wait(until condition: @escaping @Sendable (Value) -> Bool) async throws {
    let suspension = Suspension<Void>()
    let holds = state.withLock { state in
      if condition(state.value) { return true }
      state.waiters.append(Waiter(condition: condition, suspension: suspension))
      return false
    }
    if holds { return }
    defer { state.withLock { $0.waiters.removeAll { $0.suspension === suspension } } }
    try await suspension.value()
  }

  /// Waits until `condition` holds, even if the task is cancelled.
  func waitUncancelled(until condition: @escaping @Sendable (Value) -> Bool) async {
    let waiting = Task { try? await wait(until: condition) }
    await waiting.value
  }
}
