public import HTTPTypes
public import QuireCore
import QuirePagination

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A listing that a server of one's own hands out page by page, with sealed cursors.
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
/// A cursor is good for the path and the query it was given with, whatever their order, and for the
/// `principal`, which is the user where users see different things.
public struct PagedListing: Sendable {
  /// How pages and their continuation are written.
  public enum Style: String, Hashable, Sendable, CaseIterable {
    /// A list as the body, and `Link: <…>; rel="next"` (RFC 8288), with `first` and `prev`; the total in
    /// `X-Total-Count`. Parameters `cursor` and `per_page`. Read by `Pagination.linkHeader`.
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

  /// How pages are written.
  public var style: Style
  /// What seals the cursors.
  public var keys: PageToken.Keys
  /// How long a cursor is good for. Default a day.
  public var lifetime: Duration
  /// The items of a page for clients that do not ask for a number. Default 50.
  public var pageSize: Int
  /// The most items of a page; clients that ask for more, or for no number, get no more. Default 200.
  public var maxPageSize: Int
  /// What stands in front of the path in links, such as `https://api.example.org`. Default nothing: links
  /// are relative (RFC 3986, §4.2), and right behind every proxy.
  public var base: String

  /// A listing in a style.
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

  /// What a request asks for.
  ///
  /// Throws `PagedRefusal` for a cursor that is not accepted and for a size that is none.
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
      guard let size = Int(text), size >= 1 else { throw .size(text) }
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

  /// The answer to a request.
  ///
  /// `encode` writes one item as JSON. The page's `next` and `previous` are sealed; its `total` is told
  /// where it counts items exactly.
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

  /// The answer to a request, its items written by an encoder.
  public func answer<Item: Encodable>(
    _ page: Page<Item>, to asked: PagedRequest, now: Date = Date(),
    encoder: JSONEncoder = JSONEncoder()
  ) throws -> PagedResponse {
    try answer(page, to: asked, now: now) { Array(try encoder.encode($0)) }
  }

  /// The answer that tells a client why its request was refused: 400, or 410 for a cursor whose time is
  /// over, as a problem (RFC 9457), in JSON:API as an error object.
  ///
  /// Other errors are thrown again: what went wrong inside a server is not for its clients.
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

  /// What a cursor is bound to: path and parameters, in one order, and the principal.
  private func binding(of asked: PagedRequest) -> String {
    let pairs = asked.query.pairs.filter {
      $0.name != style.cursorName && $0.name != style.sizeName
    }.map { pair in
      JSONValue.array([
        .string(pair.name), .string(PercentEncoding.decode(pair.encoded, plusIsSpace: true)),
      ])
    }
    // Parameters of the same name keep their order.
    let sorted = pairs.enumerated().sorted {
      let (left, right) = ($0.element.first, $1.element.first)
      return left == right ? $0.offset < $1.offset : left < right
    }.map(\.element)
    return JSONValue.array([
      .string(style.rawValue), .string(asked.principal), .string(asked.path), .array(sorted),
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
    // Two slashes in front would name another host (RFC 3986, §4.2).
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

  /// `{"data": [items], …}`.
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

  /// The name of a pair.
  fileprivate var first: String {
    guard case .array(let parts) = self else { return "" }
    return parts.first?.string ?? ""
  }
}
