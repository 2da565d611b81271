import Foundation
import HTTPTypes
import QuireCore
import QuireHTTP
import QuireJSON
import QuirePagination
import QuireServing
import QuireTesting
import TestSupport
import Testing

@Suite struct PagedListingTests {
  private struct Row: Codable, Hashable, Sendable {
    var id: String
    var tag: String
  }

  /// A server of 95 rows, whose positions are the id of the last row, and the parameters it got.
  private struct Server: HTTPTransport {
    static let rows = (0..<95).map {
      Row(id: "r\($0 + 100)", tag: $0.isMultiple(of: 3) ? "a" : "b")
    }

    var listing: PagedListing
    var log = Recorder<String>()

    func send(_ request: TransportRequest) async throws -> TransportResponse {
      log.note(request.head.path ?? "")
      let answer = try answer(request.head)
      return TransportResponse(
        head: answer.head, framing: .explicit, body: .bytes(answer.body))
    }

    func answer(_ request: HTTPRequest, principal: String = "") throws -> PagedResponse {
      do {
        let asked = try listing.read(request, principal: principal)
        let tag = asked.parameter("tag")
        let all = Self.rows.filter { tag == nil || $0.tag == tag }
        let last = asked.position?.value?.string
        let rest = last.map { last in all.drop { $0.id <= last } } ?? all[...]
        let items = Array(rest.prefix(asked.size))
        let next = items.count < rest.count ? items.last.map { Position(.string($0.id)) } : nil
        let page = Page(items, next: next, total: Total(all.count, .items))
        return try listing.answer(page, to: asked)
      } catch {
        return try listing.refusal(of: error)
      }
    }
  }

  private static let styles: [(PagedListing.Style, Pagination)] = [
    (.link, .linkHeader), (.cursor, .laravelCursor), (.jsonAPI, .jsonAPI),
  ]

  private func listing(_ style: PagedListing.Style) throws -> PagedListing {
    PagedListing(style: style, keys: .init(try .random()), pageSize: 10, maxPageSize: 40)
  }

  private func get(_ path: String) -> HTTPRequest {
    HTTPRequest(method: .get, scheme: "https", authority: "api.example.org", path: path)
  }

  @Test(
    "17-Serving: a client reads every style with a preset, whatever else the query asks",
    arguments: [0, 1, 2])
  func roundTrip(_ index: Int) async throws {
    let (style, preset) = Self.styles[index]
    for (query, rows) in [("", Server.rows), ("?tag=a", Server.rows.filter { $0.tag == "a" })] {
      let server = Server(listing: try listing(style))
      let client = PageClient(transport: server)
      let walk = client.cursor(
        at: "https://api.example.org/rows\(query)", pagination: preset,
        decoder: JSONPageDecoder<Row>()
      ).walk()
      #expect(try await walk.items.collect() == rows)
      #expect(walk.report.isComplete)
      #expect(server.log.count == (rows.count + 9) / 10)
      let half = client.cursor(
        at: "https://api.example.org/rows\(query)", pagination: preset,
        decoder: JSONPageDecoder<Row>()
      ).limited(to: Limits(items: 15)).walk()
      _ = try await half.items.collect()
      let rest = client.cursor(
        at: "https://api.example.org/rows\(query)", pagination: preset,
        decoder: JSONPageDecoder<Row>()
      ).resuming(from: try #require(half.report.checkpoint))
      #expect(try await rest.items.collect() == Array(rows.dropFirst(15)))
    }
  }

  @Test(
    "17-Serving: a cursor is bound to path, parameters and user, in any order of the parameters")
  func binding() throws {
    let server = Server(listing: try listing(.cursor))
    func cursor(_ path: String) throws -> String {
      let body = Data(try server.answer(get(path), principal: "eve").body)
      let members = try JSONSerialization.jsonObject(with: body) as? [String: Any]
      return try #require(members?["next_cursor"] as? String)
    }
    func status(_ path: String, by principal: String) throws -> Int {
      let response = try server.answer(get(path), principal: principal)
      return response.head.status.code
    }
    let token = try cursor("/rows?tag=a&x=1")
    #expect(try status("/rows?x=1&cursor=\(token)&tag=a", by: "eve") == 200)
    #expect(try status("/rows?x=%31&tag=a&per_page=7&cursor=\(token)", by: "eve") == 200)
    for path in ["/rows?tag=b&x=1", "/rows?tag=a", "/other?tag=a&x=1", "/rows?tag=a&x=1&x=2"] {
      #expect(try status("\(path)&cursor=\(token)", by: "eve") == 400)
    }
    #expect(try status("/rows?tag=a&x=1&cursor=\(token)", by: "mallory") == 400)
    #expect(try status("/rows?cursor=", by: "eve") == 200)
  }

  @Test(
    "17-Serving: refusals are 400, or 410 after a cursor's time, as problems in the style's form")
  func refusals() throws {
    for (style, _) in Self.styles {
      let listing = try listing(style)
      let server = Server(listing: listing)
      let (cursor, size) =
        style == .jsonAPI ? ("page[after]", "page[size]") : ("cursor", "per_page")
      for path in [
        "/rows?\(cursor)=no", "/rows?\(size)=0", "/rows?\(size)=ten", "/rows?\(size)=-5",
        "/rows?\(size)=", "/rows?\(size)=5.", "/rows?\(size)=+5",
      ] {
        let answer = try server.answer(get(path))
        #expect(answer.head.status == .badRequest)
        let body = try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any]
        #expect(body?[style == .jsonAPI ? "errors" : "detail"] != nil)
      }
      let asked = try listing.read(get("/rows"))
      let late = try listing.answer(
        Page([1], next: "x"), to: asked, now: Date(timeIntervalSinceNow: -90_000)
      ) { Array("\($0)".utf8) }
      let text =
        late.head.headerFields[HTTPField.Name("Link")!].map {
          $0 + String(decoding: late.body, as: UTF8.self)
        }
        ?? String(decoding: late.body, as: UTF8.self)
      let token = try #require(text.firstMatch(of: /(?:cursor(?:=|":")|%5D=|\]=)([\w-]{40,})/)).1
      #expect(try server.answer(get("/rows?\(cursor)=\(token)")).head.status == .gone)
    }
    struct Own: Error {}
    #expect(throws: Own.self) { try listing(.link).refusal(of: Own()) }
  }

  @Test(
    "17-Serving: a size above the most gets the most, and links keep the size that was asked for")
  func sizes() throws {
    let server = Server(listing: try listing(.link))
    var small = try listing(.link)
    for (most, size) in [(4, 4), (40, 10), (0, 1)] {
      small.maxPageSize = most
      #expect(try small.read(get("/rows")).size == size)
    }
    #expect(try server.listing.read(get("/rows?per_page=99999999999999999999")).size == 40)
    let answer = try server.answer(get("/rows?per_page=1000&tag=b"))
    #expect(try JSONDecoder().decode([Row].self, from: Data(answer.body)).count == 40)
    let link = try #require(answer.head.headerFields[HTTPField.Name("Link")!])
    #expect(link.contains("</rows?per_page=1000&tag=b>; rel=\"first\""))
    #expect(answer.head.headerFields[HTTPField.Name("X-Total-Count")!] == "63")
    #expect(answer.head.headerFields[.contentLength] == "\(answer.body.count)")
  }

  @Test("17-Serving: no path a client sends leads its links to another host or out of the field")
  func hostilePaths() throws {
    let server = Server(listing: try listing(.link))
    for path in [
      "//evil.example/rows", "/rows>; rel=\"next\", <https://evil.example", "/a\r\nX: y",
    ] {
      var request = get("/")
      request.path = path
      let answer = try server.answer(request)
      let link = try #require(answer.head.headerFields[HTTPField.Name("Link")!])
      #expect(!link.contains("<//"))
      #expect(!link.contains("<https"))
      #expect(!link.contains("\n"))
      #expect(link.split(separator: ">;").count == 3)
    }
  }
}
