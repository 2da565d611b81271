public import HTTPTypes
import QuireCore
public import QuirePagination

extension PageClient {
  /// A complete answer: to a plain request, or one that was refused as a page.
  ///
  /// Its description shows the status and the beginning of the body with secrets redacted; `body`
  /// itself is as the server sent it.
  public struct Response: Sendable {
    /// The status and header fields.
    public let head: HTTPResponse
    /// The URL that answered, after redirects.
    public let url: String
    /// The URL to which permanent redirects led before the first temporary one; nil without any.
    package let permanentRedirect: String?
    /// The body, with its content coding removed. Of a refused answer, at most the first 64 KiB,
    /// and only what came within 5 seconds.
    public let body: [UInt8]
    /// The description of the answer.
    private let shown: String
    private let decoder: any PageDecoder
    private let limits: DecodingLimits

    init(
      _ head: HTTPResponse, url: String, permanentRedirect: String?, body: [UInt8],
      decoder: any PageDecoder, limits: DecodingLimits, redactor: Redactor
    ) {
      self.head = head
      self.url = url
      self.permanentRedirect = permanentRedirect
      self.body = body
      self.decoder = decoder
      self.limits = limits
      shown =
        redactor.printable(head.status.words) + (body.isEmpty ? "" : ": " + redactor.snippet(body))
    }

    /// The status code and reason.
    public var status: HTTPResponse.Status { head.status }

    /// The header fields of the head.
    public var headerFields: HTTPFields { head.headerFields }

    /// Decodes the body as the listing's decoder decodes items: JSON or XML, with the whole
    /// document or root element as the value.
    ///
    /// ```swift
    /// struct Problem: Decodable { let title: String?; let detail: String? }   // RFC 9457
    /// let problem = try error.response?.decode(Problem.self)
    /// ```
    /// Throws `PageError`: `unexpectedMediaType` for a body of another format, `truncated` or
    /// `malformed` for an incomplete or invalid one, and `itemDecoding` for one that does not fit,
    /// with the decoder's error as `underlying`.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
      let context = DecodingContext(
        contentType: headerFields.first(.contentType), limits: limits)
      return try decoder.value(type, of: body, context)
    }
  }
}

extension PageClient.Response: CustomStringConvertible, CustomReflectable {
  /// The status and the beginning of the body, with secrets redacted.
  public var description: String { shown }

  /// The description only, because dumped values are read by people, too.
  public var customMirror: Mirror { Mirror(self, children: ["description": shown]) }
}

extension PageClient {
  /// Sends one plain request, such as one for a token, and returns the complete answer.
  ///
  /// ```swift
  /// let answer = try await client.response(
  ///   to: PageRequest(method: .post, url: tokenURL, body: .form("grant_type=client_credentials")))
  /// let token = try answer.decode(Token.self)
  /// ```
  /// Treated as a request for a page: with the same transport, timeouts, limits and signer, the
  /// client's fields and credentials for the request's own origin only, redirects, redaction of
  /// secrets in errors and logs, and retries if the method is safe to repeat. A status other than
  /// success throws `status` or `throttled`, with the answer as `error.response`.
  /// - Parameters:
  ///   - request: The request, with an absolute URL.
  ///   - decoder: The decoder that `Response.decode(_:)` uses.
  public func response<Item: Sendable>(
    to request: PageRequest, decoder: any PageDecoder<Item>
  ) async throws -> Response {
    let listing = try Listing(
      client: self, pagination: Pagination(next: .linkHeader()), first: request)
    let fetch = PageFetch(listing, decoder, request)
    return try await fetch.response()
  }
}
