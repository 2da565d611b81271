public import QuireCore
public import QuireHTTP
public import QuireXML

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

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
