public import HTTPTypes

/// The head of an answer that was no page, as the underlying error of a `PageError`.
public struct HTTPFailure: Error {
  /// Status and header fields.
  public let head: HTTPResponse
}
