import HTTPTypes
import QuireCore
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

@Suite("Links that lead back to the first page", .timeLimit(.minutes(15)))
struct FirstAddressTests {
  /// Drains a listing whose pages have ever new items and whose page 2 leads to `link`.
  private func drain(
    _ link: String, from first: String = "https://api.test/items?a=1&b=%7E2",
    resumingAfter pages: Int = 0
  ) async throws -> (requests: Int, error: PageError?) {
    let server = CannedServer { _, ordinal in
      let next = ordinal == 0 ? "https://api.test/items?cursor=2" : link
      return .json(#"{"items":[{"id":\#(ordinal)}],"next":"\#(next)"}"#)
    }
    var cursor = PageClient(transport: server).cursor(
      at: first, pagination: Pagination(next: .body("/next"), items: "/items"),
      decoder: JSONRawPageDecoder())
    if pages > 0 {
      let walk = cursor.limited(to: Limits(pages: pages)).walk()
      while try await walk.next() != nil {}
      cursor = cursor.resuming(from: try #require(walk.report.checkpoint))
    }
    do {
      for try await _ in cursor {}
      return (server.requests.count, nil)
    } catch let error as PageError {
      return (server.requests.count, error)
    }
  }

  @Test(
    "12-L11, C-5: a link to the first address is a loop at once, however it is spelt",
    arguments: [
      "https://api.test/items?a=1&b=%7E2", "HTTPS://API.Test:443/items?a=1&b=~2",
      "/items?b=~2&a=1", "?a=%31&b=%7e2", "https://api.test/./x/../items?a=1&b=~2#top",
      "//api.test/%69tems?a=1&b=~2&",
    ], [0, 1])
  func spellings(link: String, pages: Int) async throws {
    let (requests, error) = try await drain(link, resumingAfter: pages)
    #expect(error?.code == .loopDetected)
    #expect(requests == 2)
  }

  @Test(
    "12-L11: a link to another address is none",
    arguments: [
      "https://api.test/items?a=1&b=3", "https://api.test/items?a=1",
      "https://api.test/Items?a=1&b=~2",
      "https://api.test/items/?a=1&b=~2", "https://api.test/items?a=1&b=~2&b=~2",
    ])
  func others(link: String) async throws {
    let (requests, error) = try await drain(link)
    #expect(error?.code == .loopDetected)
    // The third page leads to itself.
    #expect(requests == 3)
  }

  @Test("12-L11: an empty path is the path of the root")
  func emptyPath() async throws {
    let (requests, error) = try await drain("https://api.test/", from: "https://api.test")
    #expect(error?.code == .loopDetected && requests == 2)
  }

  @Test("12-L11: a token and a number that make the first request again are a loop, too")
  func tokens() async throws {
    for (pagination, next) in [
      (Pagination(next: .body("/next"), send: .query("t"), items: "/items"), #""x""#),
      (Pagination(next: .body("/next"), send: .jsonBody("/t"), items: "/items"), #""x""#),
    ] {
      let server = CannedServer { _, ordinal in
        .json(#"{"items":[{"id":\#(ordinal)}],"next":\#(ordinal == 0 ? #""y""# : next)}"#)
      }
      let isBody = pagination.send == .jsonBody("/t")
      let walk = PageClient(transport: server).cursor(
        at: "https://api.test/items\(isBody ? "" : "?t=x")", pagination: pagination,
        request: PageClient.RequestOptions(
          method: isBody ? .post : .get, body: isBody ? .json(["t": "x"]) : .none),
        decoder: JSONRawPageDecoder()
      ).walk()
      let error = await #expect(throws: PageError.self) { for try await _ in walk {} }
      #expect(error?.code == .loopDetected)
      #expect(server.requests.count == 2)
    }
  }

  @Test("12-L11: the address that the first request was redirected to is the first one, too")
  func redirected() async throws {
    let server = CannedServer { request, ordinal in
      if request.url == "https://api.test/items" {
        return .status(301, ["Location": "/items/"])
      }
      let next = ordinal == 1 ? "https://api.test/items/?c=2" : "https://api.test/items/"
      return .json(#"{"items":[{"id":\#(ordinal)}],"next":"\#(next)"}"#)
    }
    let pagination = Pagination(next: .body("/next"), items: "/items")
    let walk = PageClient(transport: server)
      .cursor(
        at: "https://api.test/items", pagination: pagination, decoder: JSONRawPageDecoder()
      ).walk()
    let error = await #expect(throws: PageError.self) { for try await _ in walk {} }
    #expect(error?.code == .loopDetected)
    #expect(walk.report.pages == 2)
  }

  @Test(
    "12-A6, C-9: a transfer that goes beyond the limit on bytes is ended, and nothing more asked for"
  )
  func bytes() async throws {
    for make: @Sendable (Cursor<RawItem>) -> Cursor<RawItem> in [
      { $0 }, { $0.map { $0 } }, { $0.paged(by: 1) },
    ] {
      let server = CannedServer { _, ordinal in
        let filler = String(repeating: "x", count: ordinal == 1 ? 100_000 : 10)
        return .json(#"{"items":[{"id":\#(ordinal),"f":"\#(filler)"}],"next":"t\#(ordinal)"}"#)
      }
      let cursor = PageClient(transport: server).cursor(
        at: "https://api.test/items",
        pagination: Pagination(next: .body("/next"), send: .query("t"), items: "/items"),
        decoder: JSONRawPageDecoder())
      let walk = make(cursor.limited(to: Limits(bytes: 1000))).walk()
      #expect(try await walk.next()?.items.count == 1)
      for _ in 0..<2 {
        let error = await #expect(throws: PageError.self) { _ = try await walk.next() }
        #expect(error?.code == .limitExceeded)
      }
      #expect(server.requests.count == 2)
      #expect(walk.report.pages == 1)
    }
  }
}
