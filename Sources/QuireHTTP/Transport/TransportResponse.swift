public import HTTPTypes

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
    /// By Content-Length or by chunks: the transport proves the body whole.
    case explicit
    /// By the end of the connection, or of an HTTP/2 stream that the transport cannot tell from one
    /// that was cut: only a format that shows its own end can prove the body whole.
    case untilClose
  }

  /// A response with this head, followed by this body.
  public init(head: HTTPResponse, framing: Framing = .explicit, body: TransportBody) {
    self.head = head
    self.framing = framing
    self.body = body
  }
}
