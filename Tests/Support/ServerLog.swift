import Synchronization

/// The events of a server so far, and the tasks that wait for more.
final class ServerLog: Sendable {
  struct Events: Sendable {
    var requests: [ReceivedRequest] = []
    var received = 0
    var requestsByPath: [String: Int] = [:]
    var accepted = 0
    /// Connections that the peer closed or reset.
    var lostPeers = 0
    /// Connections that the script or the end of the server closed.
    var closedHere = 0
    /// Failed TLS handshakes, with OpenSSL's reason.
    var failedHandshakes: [String] = []
    var marks: [String: Int] = [:]
    /// Bytes of the steps `.floodUntilBlocked` that were sent.
    var bytesFlooded = 0

    var open: Int { accepted - lostPeers - closedHere - failedHandshakes.count }
  }

  private struct Waiter {
    let isOver: @Sendable (Events) -> Bool
    let continuation: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var events = Events()
    var waiters: [Int: Waiter] = [:]
    var nextWaiter = 0
  }

  private let state = Mutex(State())

  var events: Events { state.withLock { $0.events } }

  /// Changes the log, then resumes the tasks whose wait is over.
  @discardableResult
  func record<Result: Sendable>(_ change: (inout Events) -> sending Result) -> Result {
    let (result, woken) = state.withLock { state in
      let result = change(&state.events)
      let over = state.waiters.filter { $0.value.isOver(state.events) }
      for identifier in over.keys { state.waiters[identifier] = nil }
      return (result, over.values.map(\.continuation))
    }
    for continuation in woken { continuation.resume() }
    return result
  }

  /// Returns once `isOver` holds; throws `CancellationError` if the task is cancelled first.
  func wait(until isOver: @escaping @Sendable (Events) -> Bool) async throws {
    let identifier = state.withLock { state in
      state.nextWaiter += 1
      return state.nextWaiter
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        enroll(Waiter(isOver: isOver, continuation: continuation), as: identifier)
      }
    } onCancel: {
      let waiter = state.withLock { $0.waiters.removeValue(forKey: identifier) }
      waiter?.continuation.resume(throwing: CancellationError())
    }
  }

  private func enroll(_ waiter: Waiter, as identifier: Int) {
    let isOver = state.withLock { state in
      let isOver = waiter.isOver(state.events) || Task.isCancelled
      if !isOver { state.waiters[identifier] = waiter }
      return isOver
    }
    guard isOver else { return }
    waiter.continuation.resume(
      with: Task.isCancelled ? .failure(CancellationError()) : .success(()))
  }
}
