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
