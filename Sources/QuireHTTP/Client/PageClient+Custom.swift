public import HTTPTypes
public import QuireCore

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// An answer, as a closure sees it that decides what comes next.
public struct AnsweredPage {
  /// The request that was answered.
  public let request: PageRequest
  /// Where the answer came from after redirects.
  public let url: String
  /// The status.
  public let status: Int
  /// The header fields.
  public let headerFields: HTTPFields
  /// The decoded page, which paths can be asked of, in JSON as in XML.
  public let document: any PageDocument
  /// How many items the page has.
  public let itemCount: Int
  /// What the closure returned with the page before; null for the first.
  public let state: JSONValue
}

/// What a closure wants next.
public struct NextPage: Sendable {
  /// The request for it. Its link is subject to the link policy, its origin to the rules for
  /// credentials.
  public var request: PageRequest
  /// What the closure wants to be told again; it travels in positions, so it should be small.
  public var state: JSONValue

  /// A next page.
  public init(_ request: PageRequest, state: JSONValue = .null) {
    self.request = request
    self.state = state
  }
}

extension PageClient {
  /// A cursor over a listing that no description can express: a closure decides what comes after
  /// each page.
  ///
  /// ```swift
  /// // Everything that was seen must not come again.
  /// client.cursor(of: Place.self, at: url, items: "") { page in
  ///   guard page.itemCount > 0 else { return nil }
  ///   let seen = page.state.plainText + …
  ///   return NextPage(PageRequest(url: url + "&exclude=" + seen), state: .string(seen))
  /// }
  /// ```
  /// Everything else is as with a description: retries, links, credentials, limits, loops, resuming.
  /// - Parameters:
  ///   - item: The type of an item.
  ///   - url: The listing's first page, absolute.
  ///   - items: Where a page keeps its items.
  ///   - policy: Failures, links, lifecycle. Default: as in a description.
  ///   - request: Method, fields and body of the first request.
  ///   - decoder: Decodes each item.
  ///   - next: Returns what comes after a page; nil is the end. What it throws is raised after the page
  ///     was delivered.
  ///
  /// The module Quire has the same for pages of JSON or XML, and is preferred where it is imported.
  @_disfavoredOverload
  public func cursor<Item: Decodable & Sendable>(
    of item: Item.Type = Item.self, at url: String, items: ItemSelector,
    policy: PagePolicy = PagePolicy(), request: RequestOptions = RequestOptions(),
    decoder: JSONDecoder = JSONDecoder(),
    next: @escaping @Sendable (AnsweredPage) throws -> NextPage?
  ) -> Cursor<Item> {
    cursor(
      at: url, items: items, policy: policy, request: request,
      decoder: JSONPageDecoder<Item>(decoder: decoder), next: next)
  }

  /// A cursor over a listing whose next page a closure decides, its pages decoded by `decoder`; see
  /// `cursor(of:at:items:next:)`. The closure asks the document of each page by paths of its format.
  public func cursor<Item: Sendable>(
    at url: String, items: ItemSelector, policy: PagePolicy = PagePolicy(),
    request: RequestOptions = RequestOptions(), decoder: any PageDecoder<Item>,
    delivery: PageDelivery = .whole,
    next: @escaping @Sendable (AnsweredPage) throws -> NextPage?
  ) -> Cursor<Item> {
    let pagination = Pagination(
      next: .body("/"), send: .request, items: items, policy: policy)
    let first = PageRequest(
      method: request.method, url: request.url(for: url), headerFields: request.headers,
      body: request.body)
    let source = HTTPPageSource(
      client: self, pagination: pagination, first: first, pageSize: nil, decoder: decoder,
      secrets: request.secrets, custom: next)
    switch delivery {
    case .asItArrives where !source.needsWholePages:
      return Cursor(inParts: source, clock: configuration.clock)
    case .whole, .asItArrives: return Cursor(source, clock: configuration.clock)
    }
  }
}
