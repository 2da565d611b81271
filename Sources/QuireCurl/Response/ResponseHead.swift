import HTTPTypes
import QuireHTTP

/// The head of a final response, and what it says about the body.
struct ResponseHead: Sendable {
  var response: HTTPResponse
  var isHTTP2: Bool
  /// The declared length; nil when there is none or chunks overrule it.
  var contentLength: Int?
  var isChunked: Bool
  /// Both a length and chunks were declared: a trick to smuggle requests, so the connection is not
  /// used again (RFC 9112 §6.3).
  var hasConflictingFraming: Bool
  /// False for answers to HEAD and for statuses that have no body.
  var canHaveBody: Bool

  /// The end of an HTTP/2 stream proves nothing: libcurl before 8.0 reports a stream that was reset
  /// without an error, in mid-body, as one that ended.
  var framing: TransportResponse.Framing {
    contentLength != nil || isChunked || !canHaveBody ? .explicit : .untilClose
  }
}
