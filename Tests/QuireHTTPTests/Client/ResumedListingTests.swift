import TestSupport
import Foundation
import HTTPTypes
import QuireCore
import QuireTesting
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

@Suite("A stored position and the listing it is used with", .timeLimit(.minutes(15)))
struct ResumedListingTests {
  /// A listing over numbers, as it is asked for.
  private struct Ask {
    var url = "https://api.test/items?state=open&api_key=one"
    var pagination = Self.numbered
    var size: Int? = 10
    var method = HTTPRequest.Method.get
    var body = PageRequest.Body.none
    var fields: HTTPFields = [:]

    static let numbered = Pagination(
      next: .pageNumber, send: .query("page"), end: [.emptyPage], items: "/items",
      size: Pagination.PageSize(.query("limit")))
    static let byOffset = Pagination(
      next: .offset, send: .query("offset"), end: [.emptyPage], items: "/items",
      size: Pagination.PageSize(.query("limit")))
    static let byToken = Pagination(
      next: .body("/next"), send: .query("cursor"), items: "/items",
      size: Pagination.PageSize(.query("limit"))
    )
    static let byServersPage = Pagination(
      next: .body("/page"), send: .query("page"), items: "/items",
      size: Pagination.PageSize(.query("limit")))
    static let byKey = Pagination(
      next: .lastItem(""), send: .query("after"), end: [.emptyPage], items: "/items",
      size: Pagination.PageSize(.query("limit")))
    static let byLink = Pagination(
      next: .body("/link"), items: "/items", size: Pagination.PageSize(.query("limit")))
    static let byBody = Pagination(
      next: .body("/next"), send: .jsonBody("/page/at"),
      request: Pagination.RequestRule(isQuery: true),
      items: "/items", size: Pagination.PageSize(.jsonBody("/page/size")))
    static let byForm = Pagination(
      next: .body("/next"), send: .form("at"), request: Pagination.RequestRule(isQuery: true),
      items: "/items", size: Pagination.PageSize(.form("size")))

    func with(_ change: (inout Ask) -> Void) -> Ask {
      var ask = self
      change(&ask)
      return ask
    }
  }

  /// Items 0 to 99, however they are asked for.
  private final class Server: HTTPTransport {
    let canned = CannedServer { request, _ in
      let text = request.url + "&" + String(decoding: request.body, as: UTF8.self)
      let words = text.split { !$0.isLetter && !$0.isNumber }
      func number(_ name: String) -> Int? {
        zip(words, words.dropFirst()).first { $0.0 == name }.flatMap { Int($0.1) }
      }
      let size = number("limit") ?? number("size") ?? 10
      let start =
        number("offset") ?? number("cursor") ?? number("at") ?? number("after").map { $0 + 1 }
        ?? number("page").map { ($0 - 1) * size } ?? 0
      let items = (start..<max(start, min(100, start + size))).map(String.init)
      let page = start / size + 2
      let hasNext = start + size < 100
      return .json(
        #"{"items":[\#(items.joined(separator: ","))],"next":\#(hasNext ? "\(start + size)" : "null"),"#
          + #""page":\#(hasNext ? "\(page)" : "null"),"link":"/items?state=open&limit=\#(size)&page=\#(page)"}"#
      )
    }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
      try await canned.send(request)
    }
  }

  private func cursor(_ ask: Ask, _ server: Server) -> Cursor<Int> {
    PageClient(transport: server, headers: ask.fields).cursor(
      of: Int.self, at: ask.url, pagination: ask.pagination, pageSize: ask.size,
      request: .init(method: ask.method, body: ask.body))
  }

  /// A position as another process reads it.
  private func stored(_ position: Position?) throws -> Position {
    let data = try JSONEncoder().encode(try #require(position))
    return try JSONDecoder().decode(Position.self, from: data)
  }

  private func stop(_ ask: Ask, after count: Int = 25) async throws -> Position {
    let walk = cursor(ask, Server()).limited(to: Limits(items: count)).walk()
    for try await _ in walk {}
    return try stored(walk.report.checkpoint)
  }

  private func refusal(_ ask: Ask, _ position: Position) async -> String? {
    let server = Server()
    do {
      for try await _ in cursor(ask, server).resuming(from: position) { break }
      return nil
    } catch {
      let error = error as? PageError
      #expect(error?.code == .positionMismatch)
      #expect(server.canned.requests.isEmpty)
      return error?.description
    }
  }

  @Test(
    "12-L6 G18 K6: another listing refuses a stored position, says what differs, requests nothing")
  func differences() async throws {
    let get = Ask()
    let post = Ask().with {
      $0.pagination = Ask.byBody
      $0.method = .post
      $0.body = .json(["query": "all", "page": ["size": 10]])
    }
    let form = Ask().with {
      $0.pagination = Ask.byForm
      $0.method = .post
      $0.body = .form("query=all")
    }
    let cases: [(Ask, Ask, String)] = [
      (get, get.with { $0.size = 5 }, "the page size (10 then, 5 now)"),
      (get, get.with { $0.size = nil }, "the page size"),
      (
        get, get.with { $0.url = "https://api.test/items?state=closed" },
        "differ in the URL's parameters."
      ),
      (get, get.with { $0.url = "https://api.test/items" }, "differ in the URL's parameters."),
      (get, get.with { $0.url += "&sort=age" }, "differ in the URL's parameters."),
      (
        get, get.with { $0.url = "https://api.test/other?state=open" }, "differ in the URL's path."
      ),
      (get, get.with { $0.url = "https://test.api/items?state=open" }, "differ in the host."),
      (get, get.with { $0.url = "http://127.0.0.1/items?state=open" }, "differ in the host."),
      (get, get.with { $0.pagination.items = "/things" }, "differ in the description."),
      (get, get.with { $0.pagination.send = .query("p") }, "the description"),
      (get, get.with { $0.pagination = Ask.byOffset }, "differ in the description."),
      (get.with { $0.pagination = Ask.byToken }, get, "the description"),
      (
        get, get.with { $0.method = .post },
        "differ in the method (GET then, POST now)."
      ),
      (
        post, post.with { $0.body = .json(["query": "some", "page": ["size": 10]]) },
        "differ in the body."
      ),
      (form, form.with { $0.body = .form("query=some") }, "differ in the body."),
    ]
    for (first, second, words) in cases {
      for count in [20, 25, 3] {
        let position = try await stop(first, after: count)
        let message = try #require(await refusal(second, position), "\(words), \(count) items")
        #expect(message.contains(words), "\(message)")
        #expect(message.contains("position.unchecked"))
      }
    }
  }

  @Test(
    "12-L6: what does not say which page is meant may differ: secrets, fields, order, ends, size")
  func indifferences() async throws {
    let get = Ask()
    let post = Ask().with {
      $0.pagination = Ask.byBody
      $0.method = .post
      $0.body = .json(["query": "all", "page": ["size": 10], "api_key": "one"])
    }
    let offset = get.with { $0.pagination = Ask.byOffset }
    let key = get.with { $0.pagination = Ask.byKey }
    let cases: [(Ask, Ask)] = [
      (get, get),
      (get, get.with { $0.url = "https://api.test/items?api_key=two&state=open" }),
      (get, get.with { $0.url = "https://api.test/items?state=%6Fpen" }),
      (get, get.with { $0.fields[.authorization] = "Bearer x" }),
      (get, get.with { $0.url += "&page=1" }), (get, get.with { $0.url += "&limit=10" }),
      (get, get.with { $0.pagination.end = [.emptyPage, .shortPage] }),
      (get, get.with { $0.pagination.items = .optional("/items") }),
      (get, get.with { $0.pagination.total = "/total" }),
      (offset, offset.with { $0.size = 7 }), (key, key.with { $0.size = 7 }),
      (
        post,
        post.with {
          $0.body = .json(["api_key": "two", "page": ["at": 3], "query": "all"])
        }
      ),
    ]
    for (index, (first, second)) in cases.enumerated() {
      let position = try await stop(first)
      let rest = cursor(second, Server()).resuming(from: position)
      #expect(try await rest.items.collect() == Array(25..<100), "case \(index)")
    }
    // A link brings its own size.
    let link = get.with { $0.pagination = Ask.byLink }
    #expect(await refusal(link.with { $0.size = 5 }, try await stop(link)) == nil)
  }

  @Test("12-L6: a page number is one whoever counted, and by another page size it is another place")
  func serversPageNumber() async throws {
    let ask = Ask().with { $0.pagination = Ask.byServersPage }
    let position = try await stop(ask, after: 20)
    #expect(await refusal(ask.with { $0.size = 4 }, position)?.contains("page size") == true)
    let rest = cursor(ask, Server()).resuming(from: position)
    #expect(try await rest.items.collect() == Array(20..<100))
  }

  @Test("12-L6: what is stored of a listing has no secret and nothing that could be read")
  func fingerprint() async throws {
    let ask = Ask().with {
      $0.pagination = Ask.byBody
      $0.method = .post
      $0.body = .json(["query": "all", "password": "canary"])
      $0.fields[.authorization] = "Bearer canary"
    }
    let position = try await stop(ask)
    let text = String(decoding: try JSONEncoder().encode(position), as: UTF8.self)
    for word in ["canary", "open", "query\\\":\\\"all", "api.test", "one"] {
      #expect(!text.contains(word), "\(text)")
    }
    #expect(text.utf8.count < 400)
  }

  @Test("12-L6 K6: a position of a listing with one changed byte in its JSON is refused")
  func damaged() async throws {
    let position = try await stop(Ask())
    let bytes = Array(try JSONEncoder().encode(position))
    for index in bytes.indices {
      for change: UInt8 in [1, 2, 16, 32] {
        var damaged = bytes
        damaged[index] ^= change
        #expect(throws: (any Error).self, "\(String(decoding: damaged, as: UTF8.self))") {
          try JSONDecoder().decode(Position.self, from: Data(damaged))
        }
      }
    }
  }

  @Test(
    "12-L6: a position without a seal is refused, and taken by an explicit word or made in code")
  func unsealed() async throws {
    let bare = try JSONDecoder().decode(
      Position.self, from: Data(#"{"value":{"object":[["page",3]]}}"#.utf8))
    let message = await refusal(Ask(), bare)
    #expect(message?.contains("does not say which listing made it") == true)
    let inside = try JSONDecoder().decode(Position.self, from: Data(#"{"itemOffset":3}"#.utf8))
    #expect(await refusal(Ask(), inside) != nil)
    let again = try stored(bare)
    #expect(await refusal(Ask(), again) != nil)
    for position in [bare.unchecked, Position(["page": 3])] {
      let rest = cursor(Ask(), Server()).resuming(from: position)
      #expect(try await rest.items.collect() == Array(20..<100))
    }
    let other = Ask().with { $0.size = 5 }
    let rest = cursor(other, Server()).resuming(from: try await stop(Ask()).unchecked)
    #expect(try await rest.items.collect().first == 15)
    let twice = Position(["page": 3, "page": 4])
    let error = await #expect(throws: PageError.self) {
      for try await _ in cursor(Ask(), Server()).resuming(from: twice) {}
    }
    #expect(error?.code == .invalidArgument)
  }

  @Test(
    "12-L6, C-8: pages of another size are resumed behind each of their items",
    arguments: [1, 3, 25])
  func resumesPaged(size: Int) async throws {
    for count in [1, 2, 3, 4, 9, 10, 11, 26] {
      let paged = cursor(Ask(), Server()).paged(by: size)
      let walk = paged.limited(to: Limits(items: count)).walk()
      for try await _ in walk {}
      let left = paged.walk()
      for try await item in left.items where item == count - 1 { break }
      for checkpoint in [walk.report.checkpoint, left.report.checkpoint] {
        let rest = cursor(Ask(), Server()).paged(by: size).resuming(from: try stored(checkpoint))
        #expect(try await rest.items.collected() == Array(count..<100), "behind \(count)")
      }
    }
  }

  @Test("12-L6: transforms and paginators refuse a position of another listing as well")
  func transformed() async throws {
    let position = try await stop(Ask())
    let server = Server()
    let other = cursor(Ask().with { $0.size = 5 }, server).resuming(from: position)
    let cursors = [
      other.map { $0 }, other.filter { _ in true }, other.paged(by: 3), other.deduplicated { $0 },
      other.cached(), other.retrying(attempts: 2), other.parallel(2), other.observed { _ in },
    ]
    for cursor in cursors {
      let error = await #expect(throws: PageError.self) { try await cursor.items.collect() }
      #expect(error?.code == .positionMismatch)
      let ahead = await #expect(throws: PageError.self) {
        try await Paginator(cursor).items.collect()
      }
      #expect(ahead?.code == .positionMismatch)
    }
    #expect(server.canned.requests.isEmpty)
  }
}
