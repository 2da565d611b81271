import QuireCore
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
      offsets.positions(after: nil, total: nil, count: 3) == [offset(10), offset(20), offset(30)])
    #expect(
      offsets.positions(after: offset(20), total: Total(40), count: 3) == [offset(30)])
    #expect(
      try engine(.offset, pageSize: nil).positions(after: nil, total: nil, count: 3).isEmpty)
    let pages = try engine(.pageNumber)
    #expect(pages.positions(after: nil, total: nil, count: 2) == [page(2), page(3)])
    #expect(pages.positions(after: page(2), total: Total(3, .pages), count: 9) == [page(3)])
    #expect(pages.positions(after: page(2), total: Total(25), count: 9) == [page(3)])
    #expect(try engine(.body("/next")).positions(after: nil, total: nil, count: 3).isEmpty)
  }
}
