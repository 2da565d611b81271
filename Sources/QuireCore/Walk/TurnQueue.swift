import Synchronization

/// Lets one task in at a time, in the order in which they came.
///
/// A task that is cancelled while it waits leaves the queue at once, with `CancellationError`; the
/// others keep their places.
final class TurnQueue: Sendable {
  private struct State: Sendable {
    var isTaken = false
    /// Those who wait; who was cancelled may still be among them.
    var waiting: [Suspension<Void>] = []
  }

  private let state = Mutex(State())

  /// Waits for a turn. Whoever got one must `pass()` it on.
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

  /// Ends a turn: the next task has it.
  func pass() {
    while true {
      let next = state.withLock { state -> Suspension<Void>? in
        guard !state.waiting.isEmpty else {
          state.isTaken = false
          return nil
        }
        return state.waiting.removeFirst()
      }
      // Who was cancelled in the same moment has no use for the turn.
      guard let next, !next.resume(returning: ()) else { return }
    }
  }
}
