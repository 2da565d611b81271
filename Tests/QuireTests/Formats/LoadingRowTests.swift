import Quire
import QuireLists
import Testing

/// The loading rows of the systems that Quire follows, over pages of either format.
@Suite("X-16: loading, in JSON and in XML", .timeLimit(.minutes(15)))
struct LoadingRowTests {
  typealias Row = PageServer.Row

  private func rows(_ range: Range<Int>) -> [Row] { range.map { Row(id: $0) } }

  private var byCounting: Pagination {
    Pagination(next: .pageNumber, send: .query("page"), items: "/items | /page/items/i")
  }

  @Test(
    "X-16 TI-01 TI-09 TI-10: pages come as they are, empty ones too, and nothing behind the last",
    arguments: PageFormat.allCases, [[2, 1], [0, 0, 3], [2, 0, 1], [1]])
  func pages(format: PageFormat, sizes: [Int]) async throws {
    let server = PageServer(format, sizes)
    #expect(try await server.cursor().pages().map(\.count) == sizes)
    #expect(server.requests == Array(1...sizes.count))
    var items: [Row] = []
    for try await item in server.cursor().items { items.append(item) }
    #expect(items == rows(0..<sizes.reduce(0, +)))
  }

  @Test(
    "X-16 TI-02: what a page says beside its items survives a filter",
    arguments: PageFormat.allCases)
  func metadata(format: PageFormat) async throws {
    struct Bank: Decodable, Equatable { var name: String }
    let server = PageServer(format, [4])
    for try await page in server.cursor().filter({ $0.id % 2 == 0 }) {
      #expect(page.items == [Row(id: 0), Row(id: 2)])
      #expect(try page.field("/bank | /page/bank", as: Bank.self) == Bank(name: "X"))
    }
  }

  @Test(
    "X-16 TI-03: the position moves only with a page that came", arguments: PageFormat.allCases)
  func position(format: PageFormat) async throws {
    let server = PageServer(format, [1, 1, 1])
    server.fail(2, times: 2)
    var pages = server.cursor().makeAsyncIterator()
    #expect(try await pages.next()?.items == rows(0..<1))
    for _ in 0..<2 {
      await #expect(throws: PageError.self) { _ = try await pages.next() }
    }
    #expect(try await pages.next()?.items == rows(1..<2))
    #expect(try await pages.next()?.items == rows(2..<3))
    #expect(try await pages.next() == nil)
    #expect(server.requests == [1, 2, 2, 2, 3])
  }

  @Test(
    "X-16 TI-04: a listing that says how much remains ends where nothing does",
    arguments: PageFormat.allCases)
  func remaining(format: PageFormat) async throws {
    let server = PageServer(format, [1, 1, 1])
    var pagination = byCounting
    pagination.end = [.total(Pagination.TotalSource("/remaining | /page/remaining", .remaining))]
    #expect(try await server.cursor(pagination).pages().count == 3)
    #expect(server.requests == [1, 2, 3])
  }

  @Test(
    "X-16 TI-05: a number of pages ends the walk with that page",
    arguments: PageFormat.allCases, [3, 1, 0])
  func totalPages(format: PageFormat, count: Int) async throws {
    let server = PageServer(format, Array(repeating: 1, count: count))
    var pagination = byCounting
    pagination.end = [.pages("/pages | /page/pages")]
    #expect(try await server.cursor(pagination).pages().flatMap { $0 } == rows(0..<count))
    #expect(server.requests == Array(1...max(count, 1)))
  }

  @Test("X-16 TI-06: a status that means the end is no error", arguments: PageFormat.allCases)
  func endStatus(format: PageFormat) async throws {
    let server = PageServer(format, [1, 1, 1])
    server.fail(3, status: 404)
    var pagination = byCounting
    pagination.end = [.status([404])]
    #expect(try await server.cursor(pagination).pages() == [rows(0..<1), rows(1..<2)])
  }

  @Test(
    "X-16 TI-07: the states are those of the pages, whatever these are written in",
    arguments: PageFormat.allCases)
  func states(format: PageFormat) async throws {
    let list = PagedList(PageServer(format, [2, 1]).cursor())
    var states = list.states.makeAsyncIterator()
    try await list.loadMore()
    try await list.loadMore()
    for expected in ["idle", "loading", "content", "loadingMore", "content", "exhausted"] {
      #expect(await states.next()?.description == expected)
    }
  }

  @Test(
    "X-16 TI-08 TI-11: a listing of nothing is empty, by its page or by its status",
    arguments: PageFormat.allCases, [200, 204])
  func empty(format: PageFormat, status: Int) async throws {
    let server = PageServer(format, [0])
    if status != 200 { server.fail(1, status: status) }
    var pagination = PageServer.byNumber
    pagination.end = [.status([204])]
    let list = PagedList(server.cursor(pagination))
    for try await item in list.items { Issue.record("\(item) came") }
    #expect(list.snapshot.state == .empty)
    #expect(server.requests == [1])
  }

  @Test(
    "X-16 TI-12: an error of the first page is thrown before any item, and not asked again",
    arguments: PageFormat.allCases)
  func firstError(format: PageFormat) async throws {
    let server = PageServer(format, [1])
    server.fail(1)
    var items: [Row] = []
    let error = await #expect(throws: PageError.self) {
      for try await item in server.cursor().items { items.append(item) }
    }
    #expect(error?.code == .status)
    #expect(items == [])
    #expect(server.requests == [1])
  }

  @Test(
    "X-16 TI-13 TI-14: an error of a page loaded ahead comes behind all items, and another loop goes on",
    arguments: PageFormat.allCases)
  func laterError(format: PageFormat) async throws {
    let server = PageServer(format, [10, 10])
    server.fail(2, times: 1)
    let paginator = Paginator(server.cursor())
    var items: [Row] = []
    let error = await #expect(throws: PageError.self) {
      for try await item in paginator.items { items.append(item) }
    }
    #expect(error?.code == .status)
    #expect(items == rows(0..<10))
    for try await item in paginator.items { items.append(item) }
    #expect(items == rows(0..<20))
    #expect(server.requests == [1, 2, 2])
  }
}
