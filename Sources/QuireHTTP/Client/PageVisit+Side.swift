import HTTPTypes
import QuireCore

/// Requests beside those for pages.
extension PageVisit {
  /// Makes one attempt at an answer whose document counts and whose items do not.
  func answer<Item: Sendable>(
    decoder: any PageDecoder<Item>, traffic: inout Traffic
  ) async throws -> PageAnswer {
    do {
      let (response, hop) = try await send(traffic: &traffic)
      guard response.head.status.kind == .successful else {
        _ = try await judge(failed: response, hop: hop, decoder: decoder, traffic: &traffic)
        throw PageError(.status, "The server answered \(response.head.status.words).")
      }
      var session = try decoder.begin(context(of: response))
      while let slice = try await response.body.next() {
        traffic.bytes += slice.count
        try session.receive(slice)
        try Task.checkCancellation()
      }
      let answer = answer(to: response, at: hop, document: try session.finish())
      if case .failure(let failure) = try engine.screen(answer) {
        throw describe(failure, self.response(response.head, hop, [], decoder))
      }
      return answer
    } catch let error as PageError {
      throw Self.failure(error)
    }
  }

  /// Sends the request once; nobody waits for its answer to say anything.
  func discard(traffic: inout Traffic) async throws {
    let response: TransportResponse
    do {
      (response, _) = try await send(traffic: &traffic)
    } catch let failure as RetryMachine.Failure {
      throw failure.error
    }
    while try await response.body.next() != nil {}
    guard response.head.status.kind == .successful else {
      throw PageError(.status, "The server answered \(response.head.status.words).")
    }
  }
}
