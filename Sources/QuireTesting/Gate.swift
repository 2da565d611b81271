/// Holds tasks back until a test opens it. Replaces sleeping in tests.
public final class Gate: Sendable {
  private let open = Watched(false)

  /// A closed gate.
  public init() {}

  /// Lets everybody through, from now on.
  public func openUp() { open.update { $0 = true } }

  /// Waits until the gate is open. Throws `CancellationError` when the task is cancelled.
  public func wait() async throws { try await open.wait { $0 } }
}
