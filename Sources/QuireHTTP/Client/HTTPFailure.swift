public import HTTPTypes
public import QuireCore

/// The head of an answer that was no page, as the underlying error of a `PageError`.
struct HTTPFailure: Error {
  /// Status and header fields.
  let head: HTTPResponse
  /// The cursor that the server gives in place of one it no longer knows.
  var replacement: JSONValue?
}

extension PageError {
  /// The head of the answer that was no page; nil for failures of other kinds.
  public var response: HTTPResponse? { (underlying as? HTTPFailure)?.head }
}
