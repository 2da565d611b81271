public import HTTPTypes
public import QuireCore
import QuireCurl
public import QuireDetect
public import QuireHTTP
import QuireJSON
public import QuirePagination
public import QuireXML

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension PageClient {
  /// Creates a client over libcurl. All such clients share its connections.
  ///
  /// - Parameters:
  ///   - headers: Header fields for every request to a walk's home origin, such as credentials.
  ///     Default: none.
  ///   - configuration: Timeouts, limits and retries. Default: the profile for APIs.
  public init(headers: HTTPFields = [:], configuration: Configuration = Configuration()) {
    self.init(transport: CurlTransport.shared, headers: headers, configuration: configuration)
  }

  /// Creates a client over libcurl, with header fields named by strings: `["X-Api-Key": key]`.
  ///
  /// Traps for an invalid field name (RFC 9110, §5.6.2); create an `HTTPField.Name` for names from
  /// outside the program. Otherwise the same as `init(headers:configuration:)`.
  public init(
    headers: KeyValuePairs<String, String>, configuration: Configuration = Configuration()
  ) {
    self.init(headers: HTTPFields(named: headers), configuration: configuration)
  }
}

extension PageClient {
  /// Returns a cursor over the listing at `url`, with items decoded as `Item` from JSON or XML.
  ///
  /// The format is taken from each page's Content-Type, or else from its first bytes; HTML is an
  /// error. Nothing is requested before the first `next()`, which also throws for an invalid URL or
  /// description.
  /// - Parameters:
  ///   - item: The type of an item.
  ///   - url: The absolute URL of the first page; sent byte for byte.
  ///   - pagination: How the listing is paged: a preset or a description of your own.
  ///   - pageSize: The number of items to request per page; lowered to the description's maximum,
  ///     and logged. Default: the server's.
  ///   - request: Method, header fields and body of the first request. Default: a plain GET.
  ///   - decoder: Decodes JSON items. Default: `JSONDecoder()`.
  ///   - xml: How XML elements are decoded. Default: keys as they are.
  ///   - delivery: When items are delivered. Default: when their page is complete.
  public func cursor<Item: Decodable & Sendable>(
    of item: Item.Type = Item.self, at url: String, pagination: Pagination,
    pageSize: Int? = nil, request: RequestOptions = RequestOptions(),
    decoder: JSONDecoder = JSONDecoder(), xml: XMLDecodingOptions = XMLDecodingOptions(),
    delivery: PageDelivery = .whole
  ) -> Cursor<Item> {
    audited.cursor(
      at: url, pagination: pagination, pageSize: pageSize, request: request,
      decoder: AutomaticPageDecoder(
        json: JSONPageDecoder<Item>(decoder: decoder), xml: XMLPageDecoder<Item>(options: xml)),
      delivery: delivery)
  }

  /// Returns a cursor over the listing at `url`, with items as the server wrote them: JSON as it
  /// is, XML elements mapped to JSON as by `XMLItem.value`.
  ///
  /// Otherwise the same as `cursor(of:at:pagination:)`.
  public func cursor(
    of item: RawItem.Type, at url: String, pagination: Pagination, pageSize: Int? = nil,
    request: RequestOptions = RequestOptions(), delivery: PageDelivery = .whole
  ) -> Cursor<RawItem> {
    audited.cursor(
      at: url, pagination: pagination, pageSize: pageSize, request: request,
      decoder: AutomaticPageDecoder(json: JSONRawPageDecoder(), xml: XMLRawPageDecoder()),
      delivery: delivery)
  }
}

extension PageClient {
  /// Makes one plain request, for a token for example, and returns the whole answer, in JSON or
  /// XML.
  ///
  /// Otherwise the same as `response(to:decoder:)`.
  public func response(
    to request: PageRequest, decoder: JSONDecoder = JSONDecoder(),
    xml: XMLDecodingOptions = XMLDecodingOptions()
  ) async throws -> Response {
    try await response(
      to: request,
      decoder: AutomaticPageDecoder(
        json: JSONPageDecoder<Bool>(decoder: decoder), xml: XMLPageDecoder<Bool>(options: xml)))
  }

  /// Returns a cursor over a listing that no description can express, in JSON or XML: a closure
  /// finds the next page, using paths of the page's format.
  ///
  /// ```swift
  /// client.cursor(of: Row.self, at: url, items: "/rows | /table/row") { page in
  ///   guard let day = try page.document.value(at: "/day | /table/@day")?.string else { return nil }
  ///   return NextPage(PageRequest(url: url, parameters: ["before": day]))
  /// }
  /// ```
  /// Otherwise the same as `cursor(of:at:pagination:)`.
  /// - Parameters:
  ///   - item: The type of an item.
  ///   - url: The absolute URL of the first page.
  ///   - items: The place of the items in a page.
  ///   - policy: Failures, links and sessions. Default: the defaults of `Pagination.Policy`.
  ///   - request: Method, header fields and body of the first request.
  ///   - decoder: Decodes JSON items. Default: `JSONDecoder()`.
  ///   - xml: How XML elements are decoded. Default: keys as they are.
  ///   - delivery: When items are delivered. Default: when their page is complete.
  ///   - next: Returns the request for the page after this one, or nil at the end. An error that it
  ///     throws is thrown after the page was delivered.
  public func cursor<Item: Decodable & Sendable>(
    of item: Item.Type = Item.self, at url: String, items: Pagination.Items,
    policy: Pagination.Policy = Pagination.Policy(), request: RequestOptions = RequestOptions(),
    decoder: JSONDecoder = JSONDecoder(), xml: XMLDecodingOptions = XMLDecodingOptions(),
    delivery: PageDelivery = .whole,
    next: @escaping @Sendable (AnsweredPage) throws -> NextPage?
  ) -> Cursor<Item> {
    cursor(
      at: url, items: items, policy: policy, request: request,
      decoder: AutomaticPageDecoder(
        json: JSONPageDecoder<Item>(decoder: decoder), xml: XMLPageDecoder<Item>(options: xml)),
      delivery: delivery, next: next)
  }

  /// Returns a cursor over a listing whose next page a closure finds, with items as the server
  /// wrote them; see `cursor(of:at:pagination:)` for `RawItem`.
  public func cursor(
    of item: RawItem.Type, at url: String, items: Pagination.Items,
    policy: Pagination.Policy = Pagination.Policy(),
    request: RequestOptions = RequestOptions(), delivery: PageDelivery = .whole,
    next: @escaping @Sendable (AnsweredPage) throws -> NextPage?
  ) -> Cursor<RawItem> {
    cursor(
      at: url, items: items, policy: policy, request: request,
      decoder: AutomaticPageDecoder(json: JSONRawPageDecoder(), xml: XMLRawPageDecoder()),
      delivery: delivery, next: next)
  }
}

extension PageClient {
  /// Detects how the listing at `url` is paged, in JSON or XML, and verifies it by loading further
  /// pages.
  ///
  /// Otherwise the same as `detect(at:request:links:checks:decoder:)`.
  public func detect(
    at url: String, request: RequestOptions = RequestOptions(), links: LinkPolicy? = nil,
    checks: Int = 6
  ) async throws -> Detection {
    try await detect(
      at: url, request: request, links: links, checks: checks,
      decoder: AutomaticPageDecoder(json: JSONRawPageDecoder(), xml: XMLRawPageDecoder()))
  }
}

/// Methods that take a `URL` instead of a string; its text is sent byte for byte.
extension PageClient {
  /// Returns a cursor over the listing at `url`, with items decoded as `Item`; see
  /// `cursor(of:at:pagination:)`.
  public func cursor<Item: Decodable & Sendable>(
    of item: Item.Type = Item.self, at url: URL, pagination: Pagination, pageSize: Int? = nil,
    request: RequestOptions = RequestOptions(), decoder: JSONDecoder = JSONDecoder(),
    xml: XMLDecodingOptions = XMLDecodingOptions(), delivery: PageDelivery = .whole
  ) -> Cursor<Item> {
    cursor(
      of: item, at: url.absoluteString, pagination: pagination, pageSize: pageSize,
      request: request, decoder: decoder, xml: xml, delivery: delivery)
  }

  /// Returns a cursor over the listing at `url`, with items as the server wrote them.
  public func cursor(
    of item: RawItem.Type, at url: URL, pagination: Pagination, pageSize: Int? = nil,
    request: RequestOptions = RequestOptions(), delivery: PageDelivery = .whole
  ) -> Cursor<RawItem> {
    cursor(
      of: item, at: url.absoluteString, pagination: pagination, pageSize: pageSize,
      request: request, delivery: delivery)
  }

  /// Returns a cursor over the listing at `url`, with pages decoded by `decoder`.
  public func cursor<Item: Sendable>(
    at url: URL, pagination: Pagination, pageSize: Int? = nil,
    request: RequestOptions = RequestOptions(), decoder: any PageDecoder<Item>,
    delivery: PageDelivery = .whole
  ) -> Cursor<Item> {
    cursor(
      at: url.absoluteString, pagination: pagination, pageSize: pageSize, request: request,
      decoder: decoder, delivery: delivery)
  }

  /// Detects how the listing at `url` is paged; see `detect(at:request:links:checks:)`.
  public func detect(
    at url: URL, request: RequestOptions = RequestOptions(), links: LinkPolicy? = nil,
    checks: Int = 6
  ) async throws -> Detection {
    try await detect(at: url.absoluteString, request: request, links: links, checks: checks)
  }
}
