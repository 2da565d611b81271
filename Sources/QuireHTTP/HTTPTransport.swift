public import HTTPTypes

/// The door to the wire: something that sends one HTTP request and streams back one response.
///
/// A transport never follows redirects, never retries and never decides what a response means;
/// pages are made above it. A fake takes five lines:
/// ```swift
/// struct Canned: HTTPTransport {
///   func send(_ request: TransportRequest) async throws -> TransportResponse {
///     TransportResponse(head: HTTPResponse(status: .ok), body: .bytes(Array("[1,2,3]".utf8)))
///   }
/// }
/// ```
/// Failures are `PageError`s with the codes of `PageError.Code` that name the wire:
/// `connectFailed`, `timedOut`, `tls`, `truncated`, `protocolViolation`, `limitExceeded`,
/// `corruptEncoding`, `invalidURL`, `clientClosed`. Cancelling the task aborts the transfer and
/// throws `CancellationError`, and so does dropping a body before its end. `TransportConformance`
/// in QuireTesting checks a transport.
public protocol HTTPTransport: Sendable {
  /// Sends `request` and returns once the final response head has arrived; the body follows.
  func send(_ request: TransportRequest) async throws -> TransportResponse
}

/// One request, ready for the wire.
public struct TransportRequest: Sendable {
  /// Method, scheme, authority, path with query, and header fields. The target goes out byte for
  /// byte.
  public var head: HTTPRequest

  /// The body; empty for none.
  public var body: [UInt8]

  /// How long each phase may take.
  public var timeouts: Timeouts

  /// How much may be read.
  public var limits: TransferLimits

  public init(
    head: HTTPRequest, body: [UInt8] = [], timeouts: Timeouts = .api, limits: TransferLimits = .api
  ) {
    self.head = head
    self.body = body
    self.timeouts = timeouts
    self.limits = limits
  }

  /// The whole target, `scheme://authority/path?query`, byte for byte.
  public var url: String {
    (head.scheme ?? "") + "://" + (head.authority ?? "") + (head.path ?? "")
  }
}

/// A response whose head has arrived and whose body is on its way.
public struct TransportResponse: Sendable {
  /// Status and header fields of the final response, interim responses skipped.
  public var head: HTTPResponse

  /// How the end of the body shows.
  public var framing: Framing

  /// The body, content coding removed.
  public var body: TransportBody

  /// How the end of a body shows on the wire.
  public enum Framing: Hashable, Sendable {
    /// By Content-Length, by chunks, or by the end of an HTTP/2 stream: the transport proves the
    /// body whole.
    case explicit
    /// By the end of the connection: only a format that shows its own end can prove the body whole.
    case untilClose
  }

  public init(head: HTTPResponse, framing: Framing = .explicit, body: TransportBody) {
    self.head = head
    self.framing = framing
    self.body = body
  }
}
