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
  package func first(_ name: HTTPField.Name) -> String? {
    firstIndex { $0.name == name }.map { self[$0].value }
  }

  /// Returns the fields that pass the test.
  package func filtered(_ isKept: (HTTPField) -> Bool) -> HTTPFields {
    var fields = HTTPFields()
    for field in self where isKept(field) { fields.append(field) }
    return fields
  }
}
