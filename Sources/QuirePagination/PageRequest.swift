public import HTTPTypes
public import QuireCore

/// The request for one page, without the fields and credentials that the client adds.
public struct PageRequest: Hashable, Sendable {
  /// The method, usually GET.
  public var method: HTTPRequest.Method
  /// The absolute URL, sent byte for byte.
  public var url: String
  /// The header fields of this request; the client adds its own.
  public var headerFields: HTTPFields
  /// The body, with its media type. Default none.
  public var body: Body

  /// The content of a request.
  public enum Body: Hashable, Sendable {
    /// No body.
    case none
    /// A JSON document, whose numbers keep their text; sent as `application/json`.
    case json(JSONValue)
    /// A form, `name=value&…` with names and values encoded; sent as
    /// `application/x-www-form-urlencoded`.
    case form(String)
    /// An XML document, such as a SOAP envelope; sent as `text/xml` in UTF-8.
    case xml(String)
    /// Any other content; the caller sets the Content-Type.
    case bytes([UInt8])

    /// A kind of content.
    enum Kind { case json, form, xml, bytes }

    /// The kind of the content; nil without a body.
    var kind: Kind? {
      switch self {
      case .none: nil
      case .json: .json
      case .form: .form
      case .xml: .xml
      case .bytes: .bytes
      }
    }
  }

  /// Creates a request, by default a GET without fields and body.
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
  /// Whether the method is safe, that is, only asks for data (RFC 9110, §9.2.1).
  package var isSafe: Bool {
    switch self {
    case .get, .head, .options: true
    default: ["QUERY", "PROPFIND", "REPORT", "SEARCH"].contains(rawValue)
    }
  }
}

extension HTTPFields {
  /// Returns these fields, followed by `others`.
  package func appending(_ others: HTTPFields) -> HTTPFields {
    var fields = self
    for field in others { fields.append(field) }
    return fields
  }

  /// Returns the value of a field, or of its first line if it has several.
  package func first(_ name: HTTPField.Name) -> String? { self[values: name].first }

  /// Returns the fields that pass the test.
  package func filtered(_ isKept: (HTTPField) -> Bool) -> HTTPFields {
    var fields = HTTPFields()
    for field in self where isKept(field) { fields.append(field) }
    return fields
  }
}

/// The way in which a walk continued after its cursor had expired; see `Pagination.ExpiryRule`.
public enum PageRecovery: String, Hashable, Sendable {
  /// The walk started over: this is the listing's first page.
  case restarted
  /// The walk opened its resource at the server again. No item is missing or repeated, but later
  /// changes may show.
  case reopened
  /// The server gave a new cursor, which may skip or repeat items that changed meanwhile.
  case resumed
  /// The walk started over behind the last item.
  case reanchored
}

/// An answered page, for a closure that decides on the next one.
public struct AnsweredPage {
  /// The request that was answered.
  public let request: PageRequest
  /// The URL of the answer, after redirects.
  public let url: String
  /// The status of the answer.
  public let status: Int
  /// The header fields of the answer.
  public let headerFields: HTTPFields
  /// The decoded page, which paths query in JSON as in XML.
  public let document: any PageDocument
  /// The number of items in the page.
  public let itemCount: Int
  /// The state that the closure returned with the page before; null for the first page.
  public let state: JSONValue
}

/// A next page, as a closure requests it.
public struct NextPage: Sendable {
  /// The request for the page. Its URL is subject to the link policy, and its origin to the rules
  /// for credentials.
  public var request: PageRequest
  /// The state that the closure gets with the page's answer. It is stored in positions, so it
  /// should be small.
  public var state: JSONValue

  /// Creates a next page.
  public init(_ request: PageRequest, state: JSONValue = .null) {
    self.request = request
    self.state = state
  }
}
