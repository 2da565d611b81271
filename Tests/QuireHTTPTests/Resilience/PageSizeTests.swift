import HTTPTypes
import QuireCore
import QuireTesting
import TestSupport
import Testing

@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

@Suite("Pages that are too large", .timeLimit(.minutes(15)))
struct PageSizeTests {
  /// A hundred items, of which the server serves `most` at a time.
  private func server(
    _ most: Int, by place: String, refusal: @escaping @Sendable () throws -> TransportResponse
  ) -> CannedServer {
    CannedServer { request, ordinal in
      let query = QueryString(request.url.split(separator: "?").dropFirst().first.map(String.init))
      let limit = query["limit"].flatMap { Int($0) } ?? 100
      let start = query[place].flatMap { Int($0) } ?? 0
      // Lifted after a while.
      guard limit <= most || ordinal > 12 else { return try refusal() }
      let items = (start..<min(100, start + limit)).map { #"{"id":\#($0 + 1)}"# }
      return .json(#"{"items":[\#(items.joined(separator: ","))]}"#)
    }
  }

  private struct Row: Decodable, Sendable { var id: Int }

  private func drain(
    _ server: CannedServer, _ next: Pagination.Next, _ place: String,
    end: [Pagination.End] = [.emptyPage]
  ) async throws -> ([Int], WalkReport) {
    var configuration = PageClient.Configuration()
    configuration.clock = InstantClock()
    let client = PageClient(transport: server, configuration: configuration)
    let pagination = Pagination(
      next: next, send: .query(place), end: end, items: "/items",
      size: Pagination.PageSize(.query("limit")))
    let walk = client.cursor(
      of: Row.self, at: "https://api.test/", pagination: pagination, pageSize: 32
    ).walk()
    var items: [Int] = []
    for try await page in walk { items += page.items.map(\.id) }
    return (items, walk.report)
  }

  @Test(
    "15-Size: a page that is too large is asked for by halves, grows again, and no item is lost",
    arguments: ["413", "504", "timeout", "complaint"])
  func halves(_ kind: String) async throws {
    for (next, place) in [
      (Pagination.Next.lastItem("/id"), "after"), (.offset(), "offset"),
    ] {
      for end in [[Pagination.End.emptyPage], [.shortPage]] {
        let server = server(kind == "504" || kind == "timeout" ? 16 : 8, by: place) {
          switch kind {
          case "413": return .status(413)
          case "504": return .status(504)
          case "complaint": return .status(500, [:], #"{"error":"Response too large, try less"}"#)
          default:
            throw PageError(
              .timedOut, "It took too long.", remedies: [.raise(.init("Timeouts.total"))])
          }
        }
        let (items, report) = try await drain(server, next, place, end: end)
        #expect(items == Array(1...100), "\(kind) \(place)")
        #expect(report.warnings.contains { $0.code == .pageSizeChanged }, "\(report.warnings)")
        let sizes = server.requests.compactMap { request in
          QueryString(request.url.split(separator: "?").dropFirst().first.map(String.init))["limit"]
        }
        #expect(sizes.prefix(2) == ["32", "16"], "\(sizes)")
        #expect(sizes.dropFirst(2).contains("16"), "it grows again: \(sizes)")
      }
    }
  }

  @Test("15-Size: where another size would skip items, the page fails as it is")
  func numbersOfPages() async throws {
    let server = server(8, by: "page") { .status(413) }
    let error = await #expect(throws: PageError.self) {
      try await drain(server, .pageNumber(), "page")
    }
    #expect(error?.code == .status)
    #expect(server.requests.count == 1)
  }
}
