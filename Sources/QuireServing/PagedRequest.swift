public import HTTPTypes
public import QuireCore
import QuirePagination

/// What a client asks a `PagedListing` for.
public struct PagedRequest: Sendable {
  /// Where the page starts; nil for the first one.
  public internal(set) var position: Position?
  /// How many items the page is to have, from 1.
  public internal(set) var size: Int
  let path: String
  let query: QueryString
  let principal: String

  /// The decoded value of a parameter of the query; nil where there is none.
  public func parameter(_ name: String) -> String? { query[name] }
}

/// A page for a client: what any server framework needs to answer.
public struct PagedResponse: Sendable {
  /// Status and fields, `Content-Type` and `Content-Length` among them.
  public var head: HTTPResponse
  /// The body, JSON.
  public var body: [UInt8]

  init(_ status: HTTPResponse.Status, _ mediaType: String, _ body: [UInt8]) {
    head = HTTPResponse(status: status)
    head.headerFields[.contentType] = mediaType
    head.headerFields[.contentLength] = String(body.count)
    self.body = body
  }
}

/// Why a request for a page is refused.
public enum PagedRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  /// The cursor is not accepted.
  case cursor(PageToken.Refusal)
  /// The size is no number above 0.
  case size(String)

  /// 400, or 410 for a cursor whose time is over.
  public var status: Int { self == .cursor(.expired) ? 410 : 400 }

  var title: String {
    switch self {
    case .cursor(.expired): "The cursor has expired"
    case .cursor: "The cursor is not valid"
    case .size: "The page size is not valid"
    }
  }

  /// What is wrong and what a client can do, in a sentence.
  public var description: String {
    switch self {
    case .cursor(.expired): "The cursor has expired. Begin again without one."
    case .cursor(.notGenuine):
      "The cursor was changed, or belongs to another query. Use it with the query that gave it."
    case .cursor(.malformed), .cursor(.unknownKey):
      "The cursor was not made by this server, or long ago. Begin again without one."
    case .size(let text):
      "The page size is \"\(text.prefix(40).escapedForDisplay)\"; give a whole number from 1."
    }
  }
}
