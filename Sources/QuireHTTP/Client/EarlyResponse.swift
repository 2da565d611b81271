import QuireCore

/// The response to a request that is sent ahead of time. Releasing it cancels the request.
final class EarlyResponse {
  // SAFETY: only the task uses the exchange and creates the response; other code uses both only
  // after `waitUntilArrived()`.
  private struct Unchecked<Value>: @unchecked Sendable { let value: Value }

  /// Resumed when the request may go out.
  let start = Suspension<Void>()
  /// The urgency of the request, lower than the urgency of the page before it.
  private let urgency: ReadUrgency
  private let task: Task<Unchecked<Result<Exchange.Response, any Error>>, Never>
  private var result: Result<Exchange.Response, any Error>?

  init(_ exchange: Exchange, _ urgency: ReadUrgency) {
    self.urgency = urgency
    let exchange = Unchecked(value: exchange)
    task = ReadUrgency.$current.withValue(urgency) { [start] in
      Self.task(exchange, start)
    }
  }

  private static func task(
    _ exchange: Unchecked<Exchange>, _ start: Suspension<Void>
  ) -> Task<Unchecked<Result<Exchange.Response, any Error>>, Never> {
    Task {
      do {
        try await start.value()
        return Unchecked(value: .success(try await exchange.value.send()))
      } catch {
        return Unchecked(value: .failure(error))
      }
    }
  }

  deinit { task.cancel() }

  /// Waits until the response has arrived or failed. Sends the request if it has not gone out yet.
  func waitUntilArrived() async {
    start.resume(returning: ())
    result = await urgency.result(of: task).get().value
  }

  func response() throws -> Exchange.Response {
    guard let result else {
      preconditionFailure("A response that was not waited for is not there.")
    }
    return try result.get()
  }
}
