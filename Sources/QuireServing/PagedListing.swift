public import HTTPTypes
public import QuireCore
import QuirePagination

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A listing that your own server serves page by page, with sealed cursors.
///
/// ```swift
/// let entries = PagedListing(style: .link, keys: keys)
/// // In a handler of any framework:
/// do {
///   let asked = try entries.read(request)
///   let page = try await store.page(at: asked.position, size: asked.size)
///   return try entries.answer(page, to: asked)
/// } catch {
///   return try entries.refusal(of: error)
/// }
/// ```
/// A cursor is valid for the path and the query that it was issued for, in any order of parameters,
/// and for the `principal`: the user, if users see different items.
public struct PagedListing: Sendable {
  /// The format of pages and continuations.
  public enum Style: String, Hashable, Sendable, CaseIterable {
    /// The body is a list; `Link: <…>; rel="next"` (RFC 8288), with `first` and `prev`; the total
    /// is in `X-Total-Count`. Parameters `cursor` and `per_page`. Read by `Pagination.linkHeader`.
    case link
    /// `{"data": […], "next_cursor": "…" or null, "prev_cursor": …, "has_more": true, "total": …}`.
    /// Parameters `cursor` and `per_page`. Read by `Pagination.laravelCursor`.
    case cursor
    /// `{"data": […], "links": {"self", "first", "prev", "next"}, "meta": {"total": …}}` (JSON:API 1.1).
    /// Parameters `page[after]` and `page[size]`. Read by `Pagination.jsonAPI`.
    case jsonAPI

    var cursorName: String { self == .jsonAPI ? "page[after]" : "cursor" }
    var sizeName: String { self == .jsonAPI ? "page[size]" : "per_page" }
    var mediaType: String { self == .jsonAPI ? "application/vnd.api+json" : "application/json" }
  }

  /// The format of pages.
  public var style: Style
  /// The keys that seal cursors.
  public var keys: PageToken.Keys
  /// How long a cursor is valid. Default a day.
  public var lifetime: Duration
  /// The page size for clients that request none. Default 50.
  public var pageSize: Int
  /// The maximum page size; greater requests are lowered to it. Default 200.
  public var maxPageSize: Int
  /// A prefix for the path in links, such as `https://api.example.org`. Default empty: links are
  /// relative (RFC 3986, §4.2), which is right behind any proxy.
  public var base: String

  /// Creates a listing.
  public init(
    style: Style, keys: PageToken.Keys, lifetime: Duration = .seconds(86_400), pageSize: Int = 50,
    maxPageSize: Int = 200, base: String = ""
  ) {
    self.style = style
    self.keys = keys
    self.lifetime = lifetime
    self.pageSize = pageSize
    self.maxPageSize = maxPageSize
    self.base = base
  }

  /// Reads a client's request.
  ///
  /// Throws `PagedRefusal` for an invalid cursor or page size.
  public func read(
    _ request: HTTPRequest, principal: String = "", now: Date = Date()
  ) throws(PagedRefusal) -> PagedRequest {
    let target = request.path ?? "/"
    let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let query = QueryString(parts.count > 1 ? String(parts[1]) : nil)
    var asked = PagedRequest(
      position: nil, size: max(1, min(pageSize, maxPageSize)), path: String(parts.first ?? "/"),
      query: query, principal: principal)
    if let text = query[style.sizeName] {
      guard let size = Self.size(text), size >= 1 else { throw .size(text) }
      asked.size = max(1, min(size, maxPageSize))
    }
    guard let text = query[style.cursorName], !text.isEmpty else { return asked }
    do {
      asked.position = try PageToken(text).position(for: binding(of: asked), with: keys, now: now)
    } catch {
      throw .cursor(error)
    }
    return asked
  }

  /// Returns a whole number, or the greatest one for digits that are more; nil for other text.
  private static func size(_ text: String) -> Int? {
    let isNumber = !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    return isNumber ? Int(text) ?? .max : nil
  }

  /// Creates the answer to a request.
  ///
  /// `encode` writes one item as JSON. The page's `next` and `previous` are sealed. Its `total` is
  /// included if it is an exact number of items.
  public func answer<Item>(
    _ page: Page<Item>, to asked: PagedRequest, now: Date = Date(),
    encode: (Item) throws -> [UInt8]
  ) throws -> PagedResponse {
    let next = try page.next.map { try token(for: $0, asked, now) }
    let previous = try page.previous.map { try token(for: $0, asked, now) }
    let total = page.total.flatMap { $0.kind == .items ? $0.value : nil }
    let items = try page.items.map(encode)
    let links = Links(
      own: link(to: asked.query[style.cursorName], asked), first: link(to: nil, asked),
      previous: previous.map { link(to: $0, asked) }, next: next.map { link(to: $0, asked) })
    switch style {
    case .link: return linkResponse(items, links, total)
    case .cursor: return cursorResponse(items, next: next, previous: previous, total)
    case .jsonAPI: return documentResponse(items, links, total)
    }
  }

  /// Creates the answer to a request, with items written by `encoder`.
  public func answer<Item: Encodable>(
    _ page: Page<Item>, to asked: PagedRequest, now: Date = Date(),
    encoder: JSONEncoder = JSONEncoder()
  ) throws -> PagedResponse {
    try answer(page, to: asked, now: now) { Array(try encoder.encode($0)) }
  }

  /// Creates the answer to a refused request: 400, or 410 for an expired cursor, as problem details
  /// (RFC 9457) or a JSON:API error object.
  ///
  /// Throws any other error again, because errors inside a server are not for its clients.
  public func refusal(of error: any Error) throws -> PagedResponse {
    guard let refusal = error as? PagedRefusal else { throw error }
    let status = HTTPResponse.Status(code: refusal.status)
    let problem: JSONValue = [
      "status": style == .jsonAPI
        ? .string("\(refusal.status)") : .number("\(refusal.status)"),
      "title": .string(refusal.title), "detail": .string(refusal.description),
    ]
    let body = style == .jsonAPI ? JSONValue.object([.init("errors", [problem])]) : problem
    return PagedResponse(
      status, style == .jsonAPI ? style.mediaType : "application/problem+json",
      Array(body.description.utf8))
  }
}

// MARK: - Cursors and links

extension PagedListing {
  fileprivate struct Links {
    var own: String
    var first: String
    var previous: String?
    var next: String?
  }

  /// Returns the query that a cursor is sealed for: style, principal, path and sorted parameters.
  private func binding(of asked: PagedRequest) -> String {
    let pairs = asked.query.pairs.filter {
      $0.name != style.cursorName && $0.name != style.sizeName
    }
    // Parameters of the same name keep their order.
    let sorted = pairs.enumerated().sorted {
      ($0.element.name, $0.offset) < ($1.element.name, $1.offset)
    }
    let parameters = sorted.map { _, pair in
      JSONValue.array([
        .string(pair.name), .string(PercentEncoding.decode(pair.encoded, plusIsSpace: true)),
      ])
    }
    return JSONValue.array([
      .string(style.rawValue), .string(asked.principal), .string(asked.path), .array(parameters),
    ]).description
  }

  private func token(for position: Position, _ asked: PagedRequest, _ now: Date) throws -> String {
    try PageToken(
      sealing: position, for: binding(of: asked), with: keys, lifetime: lifetime, now: now
    ).text
  }

  private func link(to cursor: String?, _ asked: PagedRequest) -> String {
    var query = asked.query
    if let cursor {
      query.set(style.cursorName, encoded: PercentEncoding.encode(cursor))
    } else {
      query.keep { $0 != style.cursorName }
    }
    // A path that begins with two slashes would be another host (RFC 3986, §4.2).
    let path = asked.path.hasPrefix("//") && base.isEmpty ? "/." + asked.path : asked.path
    let target = base + path + (query.raw.map { "?" + $0 } ?? "")
    return PercentEncoding.encode(target, allowing: "!$&'()*+,;=:@/?%[]")
  }
}

// MARK: - Styles

extension PagedListing {
  private func linkResponse(_ items: [[UInt8]], _ links: Links, _ total: Int?) -> PagedResponse {
    var response = PagedResponse(.ok, style.mediaType, Self.list(items))
    let relations = [("first", links.first), ("prev", links.previous), ("next", links.next)]
    let value = relations.compactMap { name, target in
      target.map { "<\($0)>; rel=\"\(name)\"" }
    }.joined(separator: ", ")
    if let name = HTTPField.Name("Link") { response.head.headerFields[name] = value }
    if let total, let name = HTTPField.Name("X-Total-Count") {
      response.head.headerFields[name] = String(total)
    }
    return response
  }

  private func cursorResponse(
    _ items: [[UInt8]], next: String?, previous: String?, _ total: Int?
  ) -> PagedResponse {
    var members: [JSONValue.Member] = [
      .init("next_cursor", .text(next)), .init("prev_cursor", .text(previous)),
      .init("has_more", .bool(next != nil)),
    ]
    if let total { members.append(.init("total", .number(String(total)))) }
    return PagedResponse(.ok, style.mediaType, Self.object(items, members))
  }

  private func documentResponse(
    _ items: [[UInt8]], _ links: Links, _ total: Int?
  ) -> PagedResponse {
    var members: [JSONValue.Member] = [
      .init(
        "links",
        [
          "self": .string(links.own), "first": .string(links.first), "prev": .text(links.previous),
          "next": .text(links.next),
        ])
    ]
    if let total { members.append(.init("meta", ["total": .number(String(total))])) }
    return PagedResponse(.ok, style.mediaType, Self.object(items, members))
  }

  /// Returns `{"data": [items], …}`.
  private static func object(_ items: [[UInt8]], _ members: [JSONValue.Member]) -> [UInt8] {
    Array("{\"data\":".utf8) + list(items) + Array(",".utf8)
      + Array(JSONValue.object(members).description.utf8.dropFirst())
  }

  private static func list(_ items: [[UInt8]]) -> [UInt8] {
    [UInt8(ascii: "[")] + items.joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "]")]
  }
}

extension JSONValue {
  fileprivate static func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }
}
