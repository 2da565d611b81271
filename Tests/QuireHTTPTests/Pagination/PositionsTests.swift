import QuireCore
import TestSupport
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

@Suite struct PositionsTests {
  private func engine(
    _ next: Pagination.Next, end: [Pagination.End] = [.emptyPage], pageSize: Int? = 10
  ) throws -> PaginationEngine {
    let url = "https://a.test/l"
    return try PaginationEngine(
      Pagination(
        next: next, send: .query("n"), end: end, size: Pagination.PageSize(.query("limit"))),
      first: PageRequest(url: url), home: try Origin(url: url), pageSize: pageSize)
  }

  @Test("P-9: offsets and page numbers are known in advance, as far as a total goes")
  func positions() throws {
    func offset(_ offset: Int) -> Position { Bookmark(.offset(offset)).position }
    func page(_ page: Int) -> Position { Bookmark(.page(page)).position }
    let offsets = try engine(.offset)
    #expect(
      offsets.counter.positions(after: nil, total: nil, pages: 1...3) == [10, 20, 30].map(offset))
    #expect(
      offsets.counter.positions(after: offset(20), total: Total(40), pages: 1...3) == [offset(30)])
    #expect(
      try engine(.offset, pageSize: nil).counter.positions(after: nil, total: nil, pages: 1...3)
        .isEmpty)
    let pages = try engine(.pageNumber)
    #expect(pages.counter.positions(after: nil, total: nil, pages: 1...2) == [page(2), page(3)])
    #expect(
      pages.counter.positions(after: page(2), total: Total(3, .pages), pages: 1...9) == [page(3)])
    #expect(pages.counter.positions(after: page(2), total: Total(25), pages: 1...9) == [page(3)])
    #expect(
      try engine(.body("/next")).counter.positions(after: nil, total: nil, pages: 1...3).isEmpty)
    // Far ones are as near, up to where numbers end.
    let far = 1_000_000_000_000
    #expect(
      offsets.counter.positions(after: nil, total: nil, pages: far...far) == [offset(10 * far)])
    #expect(pages.counter.positions(after: nil, total: nil, pages: far...far) == [page(1 + far)])
    #expect(offsets.counter.positions(after: nil, total: nil, pages: Int.max...Int.max).isEmpty)
    #expect(pages.counter.positions(after: page(.max - 1), total: nil, pages: 1...3).isEmpty)
  }

  @Test("Pages that are reversed drop the items that the next, older page repeats")
  func reversedOverlap() async throws {
    let server = CannedServer { request, _ in
      let page = Int(request.url.split(separator: "=").last ?? "0") ?? 0
      let next = page < 2 ? "\(page + 1)" : "null"
      return .json("{\"rows\":\([[6, 7, 8, 9], [3, 4, 5, 6], [1, 2, 3]][page]),\"next\":\(next)}")
    }
    let pagination = Pagination(
      next: .body("/next"), send: .query("c"), items: "/rows",
      policy: Pagination.Policy(overlap: 1, reversesItems: true))
    let cursor = PageClient(transport: server).cursor(
      at: "https://a.test/l?c=0", pagination: pagination, decoder: JSONRawPageDecoder())
    let items = try await cursor.items.collected()
    #expect(
      items.map { String(decoding: $0.bytes, as: UTF8.self) } == (1...9).reversed().map(String.init)
    )
  }

  @Test(
    "P-9, 14-Parallel: each page is asked for once where the number of pages promises the next one")
  func promisedPages() async throws {
    let server = CannedServer { request, _ in
      let page = Int(request.url.split(separator: "=").last ?? "1") ?? 1
      guard page <= 20 else { return .status(400, [:], #"{"code":"invalid_page_number"}"#) }
      return .json("[\(page)]", ["X-WP-Total": "20", "X-WP-TotalPages": "20"])
    }
    let cursor = PageClient(transport: server).cursor(
      at: "https://a.test/l?per_page=1&page=1", pagination: .wordpress,
      decoder: JSONRawPageDecoder())
    let items = try await cursor.parallel(6).items.collected()
    #expect(items.map { String(decoding: $0.bytes, as: UTF8.self) } == (1...20).map(String.init))
    // What ran on a guess behind the first page, of which no page had promised anything, is asked for again.
    #expect(server.requests.count <= 25)
  }
}
