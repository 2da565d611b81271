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
  /// A client over libcurl, whose connections all such clients share.
  ///
  /// - Parameters:
  ///   - headers: Fields for every request to a walk's home origin, such as credentials. Default:
  ///   none.
  ///   - configuration: Timeouts, limits, retries. Default: the profile for APIs.
  public init(headers: HTTPFields = [:], configuration: Configuration = Configuration()) {
    self.init(transport: CurlTransport.shared, headers: headers, configuration: configuration)
  }

  /// A client over libcurl, whose fields are named in text: `["X-Api-Key": key]`.
  ///
  /// Traps for a name that is no token (RFC 9110, §5.6.2); make `HTTPField.Name` of names from outside
  /// the program. Otherwise as `init(headers:configuration:)`.
  public init(
    headers: KeyValuePairs<String, String>, configuration: Configuration = Configuration()
  ) {
    self.init(headers: HTTPFields(named: headers), configuration: configuration)
  }
}

extension PageClient {
  /// A cursor over the listing at `url`, its items decoded as `Item` from pages of JSON or XML.
  ///
  /// Each page's Content-Type tells its format, and its first bytes where that says nothing; HTML is
  /// an error. Nothing is requested before the first `next()`; a URL or a description that cannot
  /// work is thrown there.
  /// - Parameters:
  ///   - item: The type of an item.
  ///   - url: The listing's first page, absolute; sent byte for byte.
  ///   - pagination: How the listing pages: a preset or a description of your own.
  ///   - pageSize: How many items to ask for in a page; lowered, and logged, where the description
  ///     knows a maximum. Default: the server's.
  ///   - request: Method, fields and body of the first request. Default: a GET without either.
  ///   - decoder: Decodes each item of JSON. Default: `JSONDecoder()`.
  ///   - xml: How elements of XML become items. Default: keys as they are.
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

  /// A cursor over the listing at `url`, its items as the server wrote them: from pages of JSON as
  /// they are, from pages of XML as `XMLItem.value` maps elements to JSON.
  ///
  /// Otherwise as `cursor(of:at:pagination:)`.
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
  /// Makes one plain request, such as that for a token, and returns the answer, of JSON or XML, with
  /// its whole body.
  ///
  /// Otherwise as `response(to:decoder:)`.
  public func response(
    to request: PageRequest, decoder: JSONDecoder = JSONDecoder(),
    xml: XMLDecodingOptions = XMLDecodingOptions()
  ) async throws -> Response {
    try await response(
      to: request,
      decoder: AutomaticPageDecoder(
        json: JSONPageDecoder<Bool>(decoder: decoder), xml: XMLPageDecoder<Bool>(options: xml)))
  }

  /// A cursor over a listing that no description can express, of JSON or XML: a closure decides what
  /// comes after each page, by paths of the page's format.
  ///
  /// ```swift
  /// client.cursor(of: Row.self, at: url, items: "/rows | /table/row") { page in
  ///   guard let day = try page.document.value(at: "/day | /table/@day")?.string else { return nil }
  ///   return NextPage(PageRequest(url: url + "?before=" + day))
  /// }
  /// ```
  /// Otherwise as `cursor(of:at:pagination:)`.
  /// - Parameters:
  ///   - item: The type of an item.
  ///   - url: The listing's first page, absolute.
  ///   - items: Where a page keeps its items.
  ///   - policy: Failures, links, lifecycle. Default: as in a description.
  ///   - request: Method, fields and body of the first request.
  ///   - decoder: Decodes each item of JSON. Default: `JSONDecoder()`.
  ///   - xml: How elements of XML become items. Default: keys as they are.
  ///   - delivery: When items are delivered. Default: when their page is complete.
  ///   - next: Returns what comes after a page; nil is the end. What it throws is raised after the page
  ///     was delivered.
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

  /// A cursor over a listing whose next page a closure decides, its items as the server wrote them, as
  /// `cursor(of:at:pagination:)` gives them for `RawItem`.
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
  /// Finds out from one answer, of JSON or XML, how the listing at `url` is paged, and asks for its
  /// second page to be sure.
  ///
  /// Otherwise as `detect(at:request:links:checks:decoder:)`.
  public func detect(
    at url: String, request: RequestOptions = RequestOptions(), links: LinkPolicy? = nil,
    checks: Int = 3
  ) async throws -> Detection {
    try await detect(
      at: url, request: request, links: links, checks: checks,
      decoder: AutomaticPageDecoder(json: JSONRawPageDecoder(), xml: XMLRawPageDecoder()))
  }
}

/// The address as a `URL` instead of a text; what it holds is sent byte for byte.
extension PageClient {
  /// A cursor over the listing at `url`, its items decoded as `Item`; see
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

  /// A cursor over the listing at `url`, its items as the server wrote them.
  public func cursor(
    of item: RawItem.Type, at url: URL, pagination: Pagination, pageSize: Int? = nil,
    request: RequestOptions = RequestOptions(), delivery: PageDelivery = .whole
  ) -> Cursor<RawItem> {
    cursor(
      of: item, at: url.absoluteString, pagination: pagination, pageSize: pageSize,
      request: request, delivery: delivery)
  }

  /// A cursor over the listing at `url`, its pages decoded by `decoder`.
  public func cursor<Item: Sendable>(
    at url: URL, pagination: Pagination, pageSize: Int? = nil,
    request: RequestOptions = RequestOptions(), decoder: any PageDecoder<Item>,
    delivery: PageDelivery = .whole
  ) -> Cursor<Item> {
    cursor(
      at: url.absoluteString, pagination: pagination, pageSize: pageSize, request: request,
      decoder: decoder, delivery: delivery)
  }

  /// Finds out how the listing at `url` is paged; see `detect(at:request:links:checks:)`.
  public func detect(
    at url: URL, request: RequestOptions = RequestOptions(), links: LinkPolicy? = nil,
    checks: Int = 3
  ) async throws -> Detection {
    try await detect(at: url.absoluteString, request: request, links: links, checks: checks)
  }
}
