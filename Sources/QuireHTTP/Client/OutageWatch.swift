import QuireCore
import Synchronization

/// What the visits of one listing have in common while its server is away: one of them probes, the
/// others wait for what it finds, and all share what retries have cost.
final class OutageWatch: Sendable {
  private struct State {
    var debt = RetryDebt()
    var isProbed = false
    var followers: [Suspension<Void>] = []
  }

  private let state = Mutex(State())

  /// How many retries no page has paid for.
  var debt: Int { state.withLock(\.debt.count) }

  func retried() { state.withLock { $0.debt.retried() } }

  func paid() { state.withLock { $0.debt.paid() } }

  /// Takes the probing over; false while another visit does it.
  func lead() -> Bool {
    state.withLock { state in
      defer { state.isProbed = true }
      return !state.isProbed
    }
  }

  /// Ends the probing, because somebody answered or because it was given up: every other visit looks
  /// for itself.
  func leave() {
    let followers = state.withLock { state in
      defer { (state.isProbed, state.followers) = (false, []) }
      return state.followers
    }
    for follower in followers { follower.resume(returning: ()) }
  }

  /// Waits until the visit that probes has found something out.
  func follow() async throws {
    let follower = Suspension<Void>()
    let isProbed = state.withLock { state in
      if state.isProbed { state.followers.append(follower) }
      return state.isProbed
    }
    guard isProbed else { return }
    defer { state.withLock { $0.followers.removeAll { $0 === follower } } }
    try await follower.value()
  }
}
