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
      return try await transport.send(stalling("/stall/head"))
    }
    task.cancel()
    try await expectCancellation(of: task)
  }

  private func checkCancelled(at target: String, stalls: Int) async throws {
    let task = Task { try await body(of: stalling(target)) }
    _ = try await body(of: request("/arrived/\(stalls)"))
    task.cancel()
    try await expectCancellation(of: task)
    try await expectDeparture("A cancelled transfer closes its connection.", stalls: stalls)
  }

  private func checkDropped(stalls: Int) async throws {
    func takeOneSlice() async throws {
      _ = try await transport.send(request("/stall/body")).body.next()
    }
    try await takeOneSlice()
    try await expectDeparture("A dropped body closes its connection.", stalls: stalls)
  }

  /// A request whose answer never comes, or never ends; a transport that cannot be cancelled gives
  /// up by these timeouts.
  private func stalling(_ target: String) -> TransportRequest {
    var request = request(target)
    request.timeouts = Timeouts(head: patience, stall: patience, total: patience)
    return request
  }

  private func expectDeparture(_ promise: String, stalls: Int) async throws {
    var left = request("/left/\(stalls)")
    left.timeouts.head = patience
    do {
      _ = try await body(of: left)
    } catch let error as PageError where error.code == .timedOut {
      throw ConformanceFailure(promise, evidence: "The server still waits after \(patience).")
    }
  }

  /// Far longer than closing a connection takes, far shorter than a person waits for a test.
  private var patience: Duration { .seconds(5) }

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
