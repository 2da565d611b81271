public import QuireCore

extension PageError.Code {
  // MARK: The wire

  /// No connection: refused, unreachable, name not found.
  public static let connectFailed = Self("connectFailed")
  /// A phase took longer than its `Timeouts` allow.
  public static let timedOut = Self("timedOut")
  /// The server's identity could not be verified, or TLS failed otherwise. Never retried.
  public static let tls = Self("tls")
  /// The response ended before it was complete.
  public static let truncated = Self("truncated")
  /// The server violated the HTTP protocol.
  public static let protocolViolation = Self("protocolViolation")
  /// The content coding is unknown, damaged, or nested.
  public static let corruptEncoding = Self("corruptEncoding")
  /// A URL cannot be used; the message says why.
  public static let invalidURL = Self("invalidURL")
  /// The client was shut down.
  public static let clientClosed = Self("clientClosed")

  // MARK: The answer

  /// The client's `CredentialSource` gave no credential; `underlying` is what it threw.
  public static let credentialsFailed = Self("credentialsFailed")
  /// The answer's status is neither that of a page nor that of an end.
  public static let status = Self("status")
  /// The server no longer knows the cursor.
  public static let cursorExpired = Self("cursorExpired")
  /// The server refuses to page any further, although more items exist.
  public static let resultWindowExceeded = Self("resultWindowExceeded")
  /// The body says that the request failed.
  public static let serverReportedFailure = Self("serverReportedFailure")
  /// The server answered 304 to a request without a condition.
  public static let unexpectedNotModified = Self("unexpectedNotModified")

  // MARK: The page

  /// The body has another format than the decoder's, such as an HTML page of a captive portal.
  public static let unexpectedMediaType = Self("unexpectedMediaType")
  /// The items are not where the description says, or not a list.
  public static let shape = Self("shape")
  /// An item does not fit its type; the message names the path.
  public static let itemDecoding = Self("itemDecoding")
  /// A field of the page beside its items does not fit its type; the message names the path.
  public static let fieldDecoding = Self("fieldDecoding")

  // MARK: Continuations

  /// The server says that more pages follow, but gives no continuation.
  public static let inconsistentTermination = Self("inconsistentTermination")
  /// The next link leads to another origin, and the link policy does not allow that.
  public static let crossOriginLink = Self("crossOriginLink")
  /// A redirect or next link that must not be followed.
  public static let refusedLink = Self("refusedLink")
  /// An address that a walk must not reach, such as one of a private network behind a redirect.
  public static let refusedAddress = Self("refusedAddress")
  /// A cursor that cannot be sent: too long, or with control characters.
  public static let invalidCursor = Self("invalidCursor")
}
