/// Holds tasks back until a test opens it. Replaces sleeping in tests.
public final class Gate: Sendable {
  private let open = Watched(false)
  private let arrivals = Watched(0)

  /// A closed gate.
  public init() {}

  /// Lets everybody through, from now on.
  public func openUp() { open.update { $0 = true } }

  /// Waits until the gate is open. Throws `CancellationError` when the task is cancelled.
  public func wait() async throws {
    arrive()
    try await open.wait { $0 }
    // Who was cancelled first does not get through, even if the gate opened in the same moment.
    try Task.checkCancellation()
  }

  /// Waits until somebody has come to the gate.
  func waitForArrival() async throws { try await arrivals.wait { $0 > 0 } }

  func arrive() { arrivals.update { $0 += 1 } }
}
