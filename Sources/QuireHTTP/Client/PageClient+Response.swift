public import HTTPTypes
import QuireCore
public import QuirePagination

extension PageClient {
  /// An answer as a whole: that of one plain request, or the one that was refused as a page.
  ///
  /// Printed, it shows its status and the beginning of its body, secrets cut out; the body itself is as
  /// the server sent it.
  public struct Response: Sendable {
    /// Status and header fields.
    public let head: HTTPResponse
    /// Where it came from after redirects.
    public let url: String
    /// Where permanent redirects led before the first that is not one; nil where there were none.
    package let permanentRedirect: String?
    /// The body, content coding removed. Of a refused answer at most the first 64 KiB, and what came
    /// of them within 5 seconds.
    public let body: [UInt8]
    /// What printing shows of the body.
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

    /// The status.
    public var status: HTTPResponse.Status { head.status }

    /// The header fields.
    public var headerFields: HTTPFields { head.headerFields }

    /// The body as a value of yours, read as the listing's decoder reads items: JSON or XML, the whole
    /// document or root element being the value.
    ///
    /// ```swift
    /// struct Problem: Decodable { let title: String?; let detail: String? }   // RFC 9457
    /// let problem = try error.response?.decode(Problem.self)
    /// ```
    /// Throws `PageError`: `unexpectedMediaType` for a body of another format, `truncated` or
    /// `malformed` for one that is cut or broken, `itemDecoding` for one that does not fit, with what
    /// the decoder threw as `underlying`.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
      let context = DecodingContext(
        contentType: headerFields.first(.contentType), limits: limits)
      return try decoder.value(type, of: body, context)
    }
  }
}

extension PageClient.Response: CustomStringConvertible, CustomReflectable {
  /// The status and the beginning of the body, secrets cut out.
  public var description: String { shown }

  /// The same: what is dumped is read by people too.
  public var customMirror: Mirror { Mirror(self, children: ["description": shown]) }
}

extension PageClient {
  /// Makes one plain request, such as that for a token, and returns the answer with its whole body.
  ///
  /// ```swift
  /// let answer = try await client.response(
  ///   to: PageRequest(method: .post, url: tokenURL, body: .form("grant_type=client_credentials")))
  /// let token = try answer.decode(Token.self)
  /// ```
  /// It goes the way of a page: the same transport, timeouts, limits and signer, the client's fields
  /// and credentials to the request's own origin alone, redirects followed, secrets cut out of errors
  /// and logs, and retries where the method is safe to repeat. A status that is no success throws
  /// `status` or `throttled`, with the answer as `error.response`.
  /// - Parameters:
  ///   - request: The request, its URL absolute.
  ///   - decoder: Reads the body in `decode(_:)`.
  public func response<Item: Sendable>(
    to request: PageRequest, decoder: any PageDecoder<Item>
  ) async throws -> Response {
    let listing = try Listing(
      client: self, pagination: Pagination(next: .linkHeader()), first: request)
    let fetch = PageFetch(listing, decoder, request)
    return try await fetch.response()
  }
}
