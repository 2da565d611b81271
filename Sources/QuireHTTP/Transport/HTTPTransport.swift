/// The door to the wire: something that sends one HTTP request and streams back one response.
///
/// A transport never follows redirects, never decides what a response means, and sends a request again
/// only as often as its `TransportRequest.replays` allows; pages are made above it. A fake takes five lines:
/// ```swift
/// struct Canned: HTTPTransport {
///   func send(_ request: TransportRequest) async throws -> TransportResponse {
///     TransportResponse(head: HTTPResponse(status: .ok), body: .bytes(Array("[1,2,3]".utf8)))
///   }
/// }
/// ```
/// Failures are `PageError`s with the codes of `PageError.Code` that name the wire:
/// `connectFailed`, `timedOut`, `tls`, `truncated`, `protocolViolation`, `limitExceeded`,
/// `corruptEncoding`, `invalidURL`, `clientClosed`; their `attempts` says how many requests went out
/// on the wire, if it was more than one. Cancelling the task aborts the transfer and throws
/// `CancellationError`, and so does dropping a body before its end. `TransportConformance` in
/// QuireTesting checks a transport.
public protocol HTTPTransport: Sendable {
  /// Sends `request` and returns once the final response head has arrived; the body follows.
  func send(_ request: TransportRequest) async throws -> TransportResponse
}
