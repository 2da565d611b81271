import HTTPTypes
import QuireCore
import QuireHTTP
import Synchronization

/// What an export put on the wire and got from it, whether or not its pages were written: pages that
/// were loaded ahead, refused or interrupted among it.
final class WireCount: Sendable {
  struct Numbers: Sendable {
    /// Requests, retries, replays and redirects included.
    var requests = 0
    /// Requests that repeated a failed one.
    var retries = 0
    /// Requests that libcurl repeated by itself, because the connection it used again was dead.
    var replays = 0
    /// Bytes of bodies, content coding removed.
    var bytes = 0
  }

  private let state = Mutex(Numbers())

  var numbers: Numbers { state.withLock { $0 } }

  func add(_ change: (inout Numbers) -> Void) { state.withLock { change(&$0) } }
}

/// A transport that counts what goes through it.
struct CountingTransport: HTTPTransport {
  let base: any HTTPTransport
  let count: WireCount
  var notes: WaitNotes?

  func send(_ request: TransportRequest) async throws -> TransportResponse {
    count.add { $0.requests += 1 }
    do {
      var response = try await base.send(request)
      if !RetryPolicy.outageStatuses.contains(response.head.status.code) { notes?.answered() }
      replayed(response.body.metrics.wireRequests)
      let body = response.body
      response.body = TransportBody(
        next: { [count] in
          let slice = try await body.next()
          if let slice { count.add { $0.bytes += slice.count } }
          return slice
        }, metrics: { body.metrics })
      return response
    } catch let error as PageError {
      replayed(error.attempts)
      throw error
    }
  }

  private func replayed(_ requests: Int) {
    let more = max(0, requests - 1)
    count.add {
      $0.requests += more
      $0.replays += more
    }
  }
}
