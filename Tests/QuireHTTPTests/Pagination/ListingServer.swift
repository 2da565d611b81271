import HTTPTypes
import QuireCore
import QuireDetect
import QuireHTTP
import QuireJSON
import QuirePagination
import Synchronization

@testable import QuireHTTP

/// A listing of consecutive numbers that is served in pages of any size, by any of these protocols.
final class ListingServer: HTTPTransport {
  /// How the listing is paged.
  enum Style: CaseIterable {
    /// `?cursor=…`, the next one in the body; pages may be empty.
    case token
    /// A cursor in a JSON body.
    case body
    /// `?offset=…&limit=…`, lowered to `maximum`, and a total.
    case offset
    /// `?page=…`, until one is empty.
    case page
    /// A Link header.
    case link
    /// `?cursor=…`, which on the last page is a word that means none.
    case sentinel
    /// `?cursor=…`, which on the last page is there too, beside a flag that says the end.
    case flag
    /// `?cursor=…`, the next one in an element of XML; pages may be empty.
    case xml
    /// `?page=…`, and the number of pages.
    case pages
  }

  /// What a last page of the style `sentinel` has in place of a cursor.
  static let sentinel = "null"

  let style: Style
  /// How many items each page has; for an offset, only how many at most.
  let sizes: [Int]
  let cursors: [String]
  let maximum: Int
  private let log = Mutex(0)

  init(_ style: Style, sizes: [Int], cursors: [String], maximum: Int) {
    self.style = style
    self.sizes = sizes
    self.cursors = cursors
    self.maximum = maximum
  }

  /// All numbers of the listing.
  var items: [Int] { Array(0..<sizes.reduce(0, +)) }

  /// How many requests came.
  var requests: Int { log.withLock { $0 } }

  /// How many requests a walk needs at least that asks for so many items a page.
  func fewestRequests(pageSize: Int?) -> Int {
    let length = min(pageSize ?? maximum, maximum)
    return switch style {
    case .token, .body, .link, .sentinel, .flag, .xml, .pages: sizes.count
    case .offset: max(1, (items.count + length - 1) / length)
    case .page: (sizes.firstIndex(of: 0) ?? sizes.count) + 1
    }
  }

  /// How to page the listing.
  var pagination: Pagination {
    switch style {
    case .token: Pagination(next: .body("/next"), send: .query("cursor"), items: "/items")
    case .body:
      Pagination(
        next: .body("/next"), send: .jsonBody("/page/after"),
        request: Pagination.RequestRule(isQuery: true), items: "/items")
    case .offset: .offsetLimit.items(at: "/items").total(at: "/total")
    case .page: .pages.items(at: "/items")
    case .link: .linkHeader.items(at: "/items")
    case .sentinel:
      Pagination(
        next: .body("/next"), send: .query("cursor"),
        end: [.noNext(sentinels: [Self.sentinel])], items: "/items")
    case .flag:
      Pagination(
        next: .body("/next"), send: .query("cursor"), end: [.flag("/more")], items: "/items")
    case .xml:
      Pagination(next: .body("/l/next"), send: .query("cursor"), items: "/l/items/i")
    case .pages: .pages.items(at: "/items").total(at: Pagination.TotalSource("/pages", .pages))
    }
  }

  func send(_ request: TransportRequest) async throws -> TransportResponse {
    log.withLock { $0 += 1 }
    let query = QueryString(try URLReference(request.url).query)
    switch style {
    case .token, .link, .sentinel, .flag, .xml: return page(try place(of: query["cursor"]))
    case .body:
      let document = try JSONDocument(request.body.isEmpty ? Array("{}".utf8) : request.body)
      return page(try place(of: try document.value(at: "/page/after")?.string))
    case .page, .pages: return page((query["page"].flatMap(Int.init) ?? 1) - 1)
    case .offset:
      let offset = query["offset"].flatMap(Int.init) ?? 0
      let limit = min(query["limit"].flatMap(Int.init) ?? maximum, maximum)
      return answer(items.dropFirst(offset).prefix(limit), nil)
    }
  }

  private func place(of cursor: String?) throws -> Int {
    guard let cursor else { return 0 }
    guard let index = cursors.firstIndex(of: cursor) else { throw UnknownCursor(cursor: cursor) }
    return index + 1
  }

  private func page(_ index: Int) -> TransportResponse {
    guard sizes.indices.contains(index) else { return answer([], nil) }
    let start = sizes[..<index].reduce(0, +)
    let isLast = index + 1 == sizes.count
    var cursor = isLast ? nil : cursors[index]
    if isLast, style == .sentinel { cursor = Self.sentinel }
    if isLast, style == .flag { cursor = cursors[index] }
    return answer(items[start..<start + sizes[index]], cursor, isLast: isLast)
  }

  private func answer(
    _ items: ArraySlice<Int>, _ cursor: String?, isLast: Bool = false
  ) -> TransportResponse {
    if style == .xml { return markup(items, cursor) }
    var body: [JSONValue.Member] = [
      .init("items", .array(items.map { .number(String($0)) })),
      .init("total", .number(String(self.items.count))),
      .init("pages", .number(String(sizes.count))), .init("more", .bool(!isLast)),
    ]
    var head = HTTPResponse(status: .ok)
    if let cursor, style == .link {
      let target = "/l?cursor=" + PercentEncoding.encode(cursor)
      head.headerFields[HTTPField.Name("Link") ?? .location] = "<\(target)>; rel=\"next\""
    } else if let cursor {
      body.append(.init("next", .string(cursor)))
    }
    let bytes = Array(JSONValue.object(body).description.utf8)
    return TransportResponse(head: head, body: .bytes(bytes))
  }

  private func markup(_ items: ArraySlice<Int>, _ cursor: String?) -> TransportResponse {
    let list = items.map { "<i><id>\($0)</id></i>" }.joined()
    // Not by characters: a mark behind an ampersand makes another one of it.
    let text = (cursor ?? "").unicodeScalars.map { scalar in
      ["&", "<", ">"].contains(scalar) ? "&#\(scalar.value);" : String(scalar)
    }.joined()
    var head = HTTPResponse(status: .ok)
    head.headerFields[.contentType] = "application/xml"
    let page = "<l><items>\(list)</items><next>\(text)</next></l>"
    return TransportResponse(head: head, body: .bytes(Array(page.utf8)))
  }

  /// A cursor that the server never gave.
  struct UnknownCursor: Error { var cursor: String }
}
