public import HTTPTypes
public import QuireCore

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension PageClient {
  /// A cursor over the listing at `url`, its items decoded as `Item` from pages of JSON.
  ///
  /// Nothing is requested before the first `next()`; a URL or a description that cannot work is
  /// thrown there.
  /// - Parameters:
  ///   - item: The type of an item.
  ///   - url: The listing's first page, absolute; sent byte for byte.
  ///   - pagination: How the listing pages: a preset or a description of your own.
  ///   - pageSize: How many items to ask for in a page; lowered, and logged, where the description
  ///     knows a maximum. Default: the server's.
  ///   - request: Method, fields and body of the first request. Default: a GET without either.
  ///   - decoder: Decodes each item. Default: `JSONDecoder()`.
  ///   - delivery: When items are handed out. Default: when their page is complete.
  ///
  /// The module Quire has the same for pages of JSON or XML, and is preferred where it is imported.
  @_disfavoredOverload
  public func cursor<Item: Decodable & Sendable>(
    of item: Item.Type = Item.self, at url: String, pagination: Pagination,
    pageSize: Int? = nil, request: RequestOptions = RequestOptions(),
    decoder: JSONDecoder = JSONDecoder(), delivery: PageDelivery = .whole
  ) -> Cursor<Item> {
    cursor(
      at: url, pagination: pagination, pageSize: pageSize, request: request,
      decoder: JSONPageDecoder<Item>(decoder: decoder), delivery: delivery)
  }

  /// A cursor over the listing at `url`, its pages decoded by `decoder`; see
  /// `cursor(of:at:pagination:)`.
  public func cursor<Item: Sendable>(
    at url: String, pagination: Pagination, pageSize: Int? = nil,
    request: RequestOptions = RequestOptions(), decoder: any PageDecoder<Item>,
    delivery: PageDelivery = .whole
  ) -> Cursor<Item> {
    let first = PageRequest(
      method: request.method, url: request.url(for: url), headerFields: request.headers,
      body: request.body)
    let source = HTTPPageSource(
      client: self, pagination: pagination, first: first, pageSize: pageSize, decoder: decoder,
      secrets: request.secrets)
    let audit = { @Sendable in
      ListingAudit.walkAudit(
        of: pagination, hasPageSize: pageSize != nil, expectsTotal: request.expectsTotal)
    }
    switch delivery {
    case .asItArrives where !source.needsWholePages:
      return Cursor(inParts: source, clock: configuration.clock, audit: audit)
    case .whole, .asItArrives:
      return Cursor(source, clock: configuration.clock, audit: audit)
    }
  }

  /// Method, fields and body of a listing's first request.
  public struct RequestOptions: Sendable {
    /// Default GET.
    public var method: HTTPRequest.Method
    /// Fields for this listing, besides the client's. Default: none.
    public var headers: HTTPFields
    /// Default: none.
    public var body: PageRequest.Body
    /// Names and values for the query of the URL, encoded strictly: only unreserved characters stay
    /// as they are (RFC 3986, §2.3), in names also `$`, `[` and `]`. They take the place of the URL's
    /// own parameters of the same names; a name that comes twice is sent twice. Default: none.
    public var parameters: KeyValuePairs<String, String>
    /// Texts that are secret wherever the request or an answer has them, such as a token that is part
    /// of the URL's path: never shown in errors, logs and reports, and not stored in positions. What
    /// is called `token`, `api_key`, `password` and the like is known without being named. Texts of
    /// fewer than 6 bytes cannot be told from others, and have no effect. Default: none.
    public var secrets: [String] = []
    /// Whether the caller named the total, so that one that is never there is worth a warning even where
    /// servers of the preset may leave it out.
    package var expectsTotal = false

    /// The first request of a listing; a plain GET unless told otherwise.
    public init(
      method: HTTPRequest.Method = .get, headers: HTTPFields = [:],
      body: PageRequest.Body = .none, parameters: KeyValuePairs<String, String> = [:]
    ) {
      self.method = method
      self.headers = headers
      self.body = body
      self.parameters = parameters
    }

    /// The URL with the parameters in it; one that cannot be read is left to whoever sends it.
    func url(for text: String) -> String {
      guard !parameters.isEmpty, var url = try? URLReference(text) else { return text }
      url.query = QueryString(url.query).replacing(parameters.map { ($0.key, $0.value) }).raw
      return url.text
    }
  }
}
