public import HTTPTypes
public import QuireCore

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

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
    /// A form as it is sent, `name=value&…` with names and values already encoded, as
    /// `application/x-www-form-urlencoded`; `form(_:)` with `Parameters` encodes them.
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

  /// Creates a request, by default a GET without fields and body. `parameters` replace those of the
  /// URL's query that have the same names.
  public init(
    method: HTTPRequest.Method = .get, url: String, headerFields: HTTPFields = [:],
    body: Body = .none, parameters: Parameters = [:]
  ) {
    self.method = method
    self.url = parameters.added(to: url)
    self.headerFields = headerFields
    self.body = body
  }
}

extension PageRequest {
  /// Names and values of a query or a form, in order and without any encoding. A name may occur
  /// more than once.
  ///
  /// ```swift
  /// var parameters: PageRequest.Parameters = ["q": "R&D", "tag": "new", "tag": "free"]
  /// if let author { parameters.append("author", author) }
  /// ```
  /// They are sent percent-encoded: only unreserved characters are kept (RFC 3986, §2.3), in names
  /// also `$`, `[` and `]`.
  public struct Parameters: Sendable, ExpressibleByDictionaryLiteral {
    /// The names and values.
    public private(set) var pairs: [(name: String, value: String)] = []

    /// Creates parameters in this order.
    public init(dictionaryLiteral pairs: (String, String)...) {
      for (name, value) in pairs { append(name, value) }
    }

    /// Creates parameters of a dictionary, in the order of their names.
    public init(_ values: [String: String]) {
      for (name, value) in values.sorted(by: { $0.key < $1.key }) { append(name, value) }
    }

    /// Adds a parameter at the end.
    public mutating func append(_ name: String, _ value: String) { pairs.append((name, value)) }

    /// Returns the URL with these parameters in its query, in place of those with the same names. A
    /// malformed URL stays as it is, and is refused when it is sent.
    fileprivate func added(to url: String) -> String {
      guard !pairs.isEmpty, var target = try? URLReference(url) else { return url }
      target.query = QueryString(target.query).replacing(pairs).raw
      return target.text
    }

    /// The parameters as the content of a form.
    fileprivate var form: String { QueryString(nil).replacing(pairs).raw ?? "" }
  }
}

extension PageRequest.Body {
  /// A form of these parameters.
  public static func form(_ parameters: PageRequest.Parameters) -> Self { .form(parameters.form) }

  /// A JSON document of a value of yours, such as the variables of a GraphQL query. Throws the
  /// encoder's errors.
  public static func json(
    encoding value: some Encodable, with encoder: JSONEncoder = JSONEncoder()
  ) throws -> Self {
    .json(try JSONValue(parsing: encoder.encode(value)))
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
