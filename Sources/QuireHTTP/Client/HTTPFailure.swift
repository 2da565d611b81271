import HTTPTypes
public import QuireCore

/// An answer that was no page, as the `underlying` error of a `PageError`.
public struct HTTPFailure: Error, CustomStringConvertible {
  /// Status, header fields and the beginning of the body.
  public let response: PageClient.Response
  /// The cursor that the server gives in place of one it no longer knows.
  var replacement: JSONValue?

  /// The status alone, such as `404 Not Found`: fields may hold secrets.
  public var description: String { response.head.status.words }
}

extension PageError {
  /// The answer that was no page, with the first 64 KiB of its body; nil for failures of other kinds.
  public var response: PageClient.Response? { (underlying as? HTTPFailure)?.response }
}
