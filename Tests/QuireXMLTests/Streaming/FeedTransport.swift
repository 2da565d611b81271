import HTTPTypes
import QuireCore
import QuireHTTP
import QuireJSON
import QuirePagination
import QuireTesting
import Synchronization

/// A transport that answers each request with the next of its bodies, piece by piece, and knows how
/// many bodies somebody still holds.
final class FeedTransport: HTTPTransport {
  enum Piece: Sendable {
    case bytes(String)
    case wait(Gate)
    case fail(PageError.Code)
  }

  private struct State {
    var bodies: ArraySlice<[Piece]>
    var urls: [String] = []
    var open = 0
  }

  private let state: Mutex<State>

  init(_ bodies: [[Piece]]) { state = Mutex(State(bodies: bodies[...])) }

  var urls: [String] { state.withLock { $0.urls } }
  /// Bodies that were neither read to their end nor dropped.
  var open: Int { state.withLock { $0.open } }

  fileprivate func count(_ change: Int) { state.withLock { $0.open += change } }

  func send(_ request: TransportRequest) async throws -> TransportResponse {
    try Task.checkCancellation()
    let pieces = state.withLock { state in
      state.urls.append(request.url)
      return state.bodies.popFirst()
    }
    guard let pieces else { throw PageError(.connectFailed, "There are no more bodies.") }
    let body = Body(pieces, of: self)
    return TransportResponse(
      head: HTTPResponse(status: .ok, headerFields: [.contentType: "text/xml"]),
      body: TransportBody(next: { try await body.next() }))
  }

  private final class Body: Sendable {
    private let rest: Mutex<ArraySlice<Piece>>
    private let transport: FeedTransport

    init(_ pieces: [Piece], of transport: FeedTransport) {
      rest = Mutex(pieces[...])
      self.transport = transport
      transport.count(1)
    }

    deinit { transport.count(-1) }

    func next() async throws -> [UInt8]? {
      while let piece = rest.withLock({ $0.popFirst() }) {
        switch piece {
        case .bytes(let text): return Array(text.utf8)
        case .wait(let gate): try await gate.wait()
        case .fail(let code): throw PageError(code, "The body ends here.")
        }
      }
      return nil
    }
  }
}
