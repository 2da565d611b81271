import TestSupport
import QuireCore
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

@Suite("Listings that stand still", .timeLimit(.minutes(15)))
struct StalledListingTests {
  private func drain(
    _ server: CannedServer, _ pagination: Pagination, limits: Limits = Limits()
  ) async throws -> (items: [Int], error: PageError?) {
    var cursor = PageClient(transport: server)
      .cursor(of: Int.self, at: "https://api.test/items", pagination: pagination)
    cursor.limits = limits
    var items: [Int] = []
    do {
      for try await page in cursor { items += page.items }
      return (items, nil)
    } catch let error as PageError {
      return (items, error)
    }
  }

  /// Reads a listing by walks of so many pages, each from the checkpoint of the one before, until one fails or so
  /// many pages came.
  private func drain(
    _ server: CannedServer, _ pagination: Pagination, byWalksOf length: Int, atMost most: Int
  ) async throws -> (pages: Int, error: PageError?) {
    let cursor = PageClient(transport: server)
      .cursor(of: Int.self, at: "https://api.test/items", pagination: pagination)
    var (position, pages) = (Position.start, 0)
    while pages < most {
      let walk = cursor.resuming(from: position).limited(to: Limits(pages: length)).walk()
      do {
        for try await _ in walk { pages += 1 }
        position = try #require(walk.report.checkpoint)
      } catch let error as PageError {
        return (pages, error)
      }
    }
    return (pages, nil)
  }

  @Test("R8, G1: next links to the page itself or to an earlier one end before an item comes twice")
  func earlierURL() async throws {
    for length in 1...4 {
      let server = CannedServer { _, ordinal in
        let page = ordinal % length
        let next = (page + 1) % length
        return .json(#"{"items":[\#(page)],"next":"https://api.test/items?page=\#(next)"}"#)
      }
      let (items, error) = try await drain(
        server, Pagination(next: .body("/next"), items: "/items"))
      #expect(items == Array(0..<length))
      #expect(error?.code == .stalledContent)
    }
  }

  @Test("G3: tokens always new over the same items are an error, and no item comes twice")
  func newTokens() async throws {
    let server = CannedServer { _, ordinal in
      let items = ["[1,2]", "[3,4]", "[5,6]"][ordinal % 3]
      return .json(#"{"items":\#(items),"next":"t\#(ordinal)"}"#)
    }
    let pagination = Pagination(next: .body("/next"), send: .query("token"), items: "/items")
    let (items, error) = try await drain(server, pagination)
    #expect(items == [1, 2, 3, 4, 5, 6])
    #expect(error?.code == .stalledContent)
    #expect(error?.pageIndex == 3)
    #expect(error?.message.contains("the page 3 pages ago") == true)
    #expect(error?.traffic.requests == 1)
  }

  @Test("G4: a server that clamps offsets behind the end to its last page is an error there")
  func clampedOffsets() async throws {
    let server = CannedServer { _, ordinal in .json(ordinal == 0 ? "[1,2]" : "[3]") }
    let pagination = Pagination(next: .offset(), send: .query("offset"), end: [.emptyPage])
    let (items, error) = try await drain(server, pagination)
    #expect(items == [1, 2, 3])
    #expect(error?.code == .stalledContent)
    #expect(server.requests.count == 3)
  }

  @Test("G16: a server that ignores the page number is found out at the second page")
  func ignoredParameter() async throws {
    let server = CannedServer { _, _ in .json("[1,2]") }
    let pagination = Pagination(next: .pageNumber(), send: .query("page"), end: [.emptyPage])
    let (items, error) = try await drain(server, pagination)
    #expect(items == [1, 2])
    #expect(error?.code == .stalledContent)
    #expect(server.requests.count == 2)
  }

  @Test("C-5: a server that ignores the page number is found out by walks of one page each, too")
  func ignoredParameterAcrossWalks() async throws {
    let server = CannedServer { _, _ in .json("[1,2]") }
    let pagination = Pagination(next: .pageNumber(), send: .query("page"), end: [.emptyPage])
    let (pages, error) = try await drain(server, pagination, byWalksOf: 1, atMost: 10)
    #expect(error?.code == .stalledContent)
    #expect(pages == 2)
  }

  @Test("C-5: a circle of cursors is found by short walks, though the items before it are counted")
  func circleAcrossWalks() async throws {
    let server = CannedServer { _, ordinal in
      .json(#"{"items":[\#(ordinal)],"next":"t\#(ordinal % 5)","total":1000}"#)
    }
    let pagination = Pagination(
      next: .body("/next"), send: .query("token"), items: "/items", total: "/total")
    let (pages, error) = try await drain(server, pagination, byWalksOf: 2, atMost: 40)
    #expect(error?.code == .loopDetected)
    #expect(pages < 20)
  }

  @Test("G3: pages that may well be the same are compared only if the caller wants that")
  func samePages() async throws {
    let server = CannedServer { _, ordinal in .json(ordinal < 5 ? "[7]" : "[]") }
    let pagination = Pagination(next: .offset(), send: .query("offset"), end: [.emptyPage])
    let (items, error) = try await drain(server, pagination, limits: Limits(comparedPages: 0))
    #expect(items == [7, 7, 7, 7, 7])
    #expect(error == nil)
  }
}
