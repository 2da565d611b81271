public import HTTPTypes
public import QuireCore
import QuirePagination

/// A client's request for a page of a `PagedListing`.
public struct PagedRequest: Sendable {
  /// The position of the page; nil for the first one.
  public internal(set) var position: Position?
  /// The page size, at least 1.
  public internal(set) var size: Int
  let path: String
  let query: QueryString
  let principal: String

  /// Returns the decoded value of a query parameter; nil if there is none.
  public func parameter(_ name: String) -> String? { query[name] }
}

/// A response with a page, for any server framework.
public struct PagedResponse: Sendable {
  /// The status and the header fields, including `Content-Type` and `Content-Length`.
  public var head: HTTPResponse
  /// The body, in JSON.
  public var body: [UInt8]

  init(_ status: HTTPResponse.Status, _ mediaType: String, _ body: [UInt8]) {
    head = HTTPResponse(status: status)
    head.headerFields[.contentType] = mediaType
    head.headerFields[.contentLength] = String(body.count)
    self.body = body
  }
}

/// The reason why a request for a page is refused.
public enum PagedRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  /// The cursor is refused.
  case cursor(PageToken.Refusal)
  /// The page size is not a number above 0.
  case size(String)

  /// The status of the answer: 400, or 410 for an expired cursor.
  public var status: Int { self == .cursor(.expired) ? 410 : 400 }

  var title: String {
    switch self {
    case .cursor(.expired): "The cursor has expired"
    case .cursor: "The cursor is not valid"
    case .size: "The page size is not valid"
    }
  }

  /// What is wrong and what the client can do.
  public var description: String {
    switch self {
    case .cursor(.expired): "The cursor has expired. Start again without one."
    case .cursor(.notGenuine):
      "The cursor was changed, or belongs to another query. Use it with the query that returned it."
    case .cursor(.malformed), .cursor(.unknownKey):
      "The cursor is not from this server, or too old. Start again without one."
    case .size(let text):
      "The page size is \"\(text.prefix(40).escapedForDisplay)\"; give a whole number from 1."
    }
  }
}
