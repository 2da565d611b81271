public import QuireCore

/// The answer that was no page, as the underlying error of a `PageError`.
struct HTTPFailure: Error {
  /// Status, header fields and the beginning of the body.
  let response: PageClient.Response
  /// The cursor that the server gives in place of one it no longer knows.
  var replacement: JSONValue?
}

extension PageError {
  /// The answer that was no page, with the first 64 KiB of its body; nil for failures of other kinds.
  public var response: PageClient.Response? { (underlying as? HTTPFailure)?.response }
}
