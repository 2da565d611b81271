public import QuireCore
public import QuireHTTP
import QuireJSON
public import QuirePagination

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// Listings of JSON, for tests of the modules below Quire.
extension PageClient {
  /// A cursor over pages of JSON.
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

  /// A cursor over pages of JSON with a closure that returns the next page.
  @_disfavoredOverload
  public func cursor<Item: Decodable & Sendable>(
    of item: Item.Type = Item.self, at url: String, items: Pagination.Items,
    policy: Pagination.Policy = Pagination.Policy(), request: RequestOptions = RequestOptions(),
    decoder: JSONDecoder = JSONDecoder(),
    next: @escaping @Sendable (AnsweredPage) throws -> NextPage?
  ) -> Cursor<Item> {
    cursor(
      at: url, items: items, policy: policy, request: request,
      decoder: JSONPageDecoder<Item>(decoder: decoder), next: next)
  }

  /// An answer of JSON.
  @_disfavoredOverload
  public func response(
    to request: PageRequest, decoder: JSONDecoder = JSONDecoder()
  ) async throws -> Response {
    try await response(to: request, decoder: JSONPageDecoder<Bool>(decoder: decoder))
  }
}
