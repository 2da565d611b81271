public import HTTPTypes
public import QuireCore

/// The request for one page, before anything of the transport is in it.
public struct PageRequest: Hashable, Sendable {
  /// The method; a page is usually asked for with GET.
  public var method: HTTPRequest.Method
  /// The absolute URL, sent byte for byte.
  public var url: String
  /// The fields that belong to this request; the client adds its own.
  public var headerFields: HTTPFields
  /// The body.
  public var body: Body

  /// What a request carries.
  public enum Body: Hashable, Sendable {
    /// Nothing.
    case none
    /// A JSON document, its numbers in their own text; sent as `application/json`.
    case json(JSONValue)
    /// A form, `name=value&…` with names and values encoded; sent as
    /// `application/x-www-form-urlencoded`.
    case form(String)
    /// An XML document, such as a SOAP envelope; sent as `text/xml` in UTF-8.
    case xml(String)
    /// Anything else; the Content-Type is the caller's.
    case bytes([UInt8])
  }

  /// A request; a GET without fields or body unless told otherwise.
  public init(
    method: HTTPRequest.Method = .get, url: String, headerFields: HTTPFields = [:],
    body: Body = .none
  ) {
    self.method = method
    self.url = url
    self.headerFields = headerFields
    self.body = body
  }
}

extension HTTPRequest.Method {
  /// Whether the method asks for nothing but an answer (RFC 9110, §9.2.1).
  package var isSafe: Bool {
    switch self {
    case .get, .head, .options: true
    default: ["QUERY", "PROPFIND", "REPORT", "SEARCH"].contains(rawValue)
    }
  }
}

extension HTTPFields {
  /// These fields, then `others`.
  package func appending(_ others: HTTPFields) -> HTTPFields {
    var fields = self
    for field in others { fields.append(field) }
    return fields
  }

  /// The value of a field, that of its first line where there are several.
  package func first(_ name: HTTPField.Name) -> String? { self[values: name].first }

  /// The fields that pass.
  package func filtered(_ isKept: (HTTPField) -> Bool) -> HTTPFields {
    var fields = HTTPFields()
    for field in self where isKept(field) { fields.append(field) }
    return fields
  }
}

/// How a walk went on after the server had forgotten its cursor; see `Pagination.ExpiryRule`.
public enum PageRecovery: String, Hashable, Sendable {
  /// The listing was begun again: this is its first page.
  case restarted
  /// What a walk holds at the server was opened again; nothing is missing or comes twice, but what
  /// changed meanwhile may show.
  case reopened
  /// The server gave another cursor, which may have skipped or repeated what changed meanwhile.
  case resumed
  /// The listing was begun again behind the last item.
  case reanchored
}

/// An answer, as a closure sees it that decides what comes next.
public struct AnsweredPage {
  /// The request that was answered.
  public let request: PageRequest
  /// Where the answer came from after redirects.
  public let url: String
  /// The status.
  public let status: Int
  /// The header fields.
  public let headerFields: HTTPFields
  /// The decoded page, which paths can be asked of, in JSON as in XML.
  public let document: any PageDocument
  /// How many items the page has.
  public let itemCount: Int
  /// What the closure returned with the page before; null for the first.
  public let state: JSONValue
}

/// What a closure wants next.
public struct NextPage: Sendable {
  /// The request for it. Its link is subject to the link policy, its origin to the rules for
  /// credentials.
  public var request: PageRequest
  /// What the closure wants to be told again; it travels in positions, so it should be small.
  public var state: JSONValue

  /// A next page.
  public init(_ request: PageRequest, state: JSONValue = .null) {
    self.request = request
    self.state = state
  }
}
