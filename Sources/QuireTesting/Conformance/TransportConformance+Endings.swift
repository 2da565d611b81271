import QuireCore
import QuireHTTP

extension TransportConformance {
  /// A body that is not whole does not end: it throws.
  func checkEndings() async throws {
    for target in ["/cut/10", "/cut/100000", "/cut-chunked/10"] {
      try await expectFailure("A body that was cut throws truncated.", codes: [.truncated]) {
        _ = try await body(of: request(target))
      }
    }
  }

  /// Cancelling or dropping ends the transfer, down to the socket.
  func checkCancellation() async throws {
    try await checkCancelledBeforeStart()
    try await checkCancelled(at: "/stall/head", stalls: 1)
    try await checkCancelled(at: "/stall/body", stalls: 2)
    try await checkDropped(stalls: 3)
  }

  private func checkCancelledBeforeStart() async throws {
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      return try await transport.send(request("/stall/head"))
    }
    task.cancel()
    try await expectCancellation(of: task)
  }

  private func checkCancelled(at target: String, stalls: Int) async throws {
    let task = Task { try await body(of: request(target)) }
    _ = try await body(of: request("/arrived/\(stalls)"))
    task.cancel()
    try await expectCancellation(of: task)
    _ = try await body(of: request("/left/\(stalls)"))
  }

  private func checkDropped(stalls: Int) async throws {
    func takeOneSlice() async throws {
      _ = try await transport.send(request("/stall/body")).body.next()
    }
    try await takeOneSlice()
    // Returns only if dropping the body has closed the connection.
    _ = try await body(of: request("/left/\(stalls)"))
  }

  private func expectCancellation<Success: Sendable>(
    of task: Task<Success, any Error>
  ) async throws {
    let promise = "A cancelled transfer throws CancellationError."
    do {
      _ = try await task.value
    } catch is CancellationError {
      return
    } catch {
      throw ConformanceFailure(promise, evidence: "It threw \(error)")
    }
    throw ConformanceFailure(promise, evidence: "It went on to its end.")
  }
}
