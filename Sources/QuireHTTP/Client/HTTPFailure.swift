public import HTTPTypes
public import QuireCore

/// An answer that was no page, as the `underlying` error of a `PageError`.
public struct HTTPFailure: Error, CustomStringConvertible {
  /// Status and header fields, as they came.
  public let head: HTTPResponse
  /// The cursor that the server gives in place of one it no longer knows.
  var replacement: JSONValue?

  /// The status alone, such as `404 Not Found`: fields may hold secrets.
  public var description: String { head.status.words }
}

extension PageError {
  /// The head of the answer that was no page; nil for failures of other kinds.
  public var response: HTTPResponse? { (underlying as? HTTPFailure)?.head }
}
