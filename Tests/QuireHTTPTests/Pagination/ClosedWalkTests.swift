import Foundation
import HTTPTypes
@testable import QuireCore
import QuireTesting
import Synchronization
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

@Suite("Walks that cannot be resumed")
struct ClosedWalkTests {
  /// Scrolls, points in time and statements, with three pages of two hits.
  private static let server: @Sendable (TransportRequest, Int) -> TransportResponse = {
    request, _ in
    let body = String(decoding: request.body, as: UTF8.self)
    if request.head.method == .delete { return .json("{}") }
    if request.url.contains("_pit?") { return .json(#"{"id":"P"}"#) }
    let page = body.contains("\"S2\"") || body.contains("[1]") || request.url.contains("2") ? 2 : 1
    return .json(
      #"{"_scroll_id":"S2","pit_id":"P","nextUri":"https://es.test/2","data":[1,2],"hits":{"hits":[{"sort":[\#(page)]},{"sort":[\#(page)]}]}}"#
    )
  }

  private func cursor(
    _ pagination: Pagination, _ server: CannedServer,
    onEvent: (@Sendable (PageEvent) -> Void)? = nil
  ) -> Cursor<RawItem> {
    var configuration = PageClient.Configuration()
    configuration.clock = ManualClock()
    configuration.onEvent = onEvent
    return PageClient(transport: server, configuration: configuration).cursor(
      at: "https://es.test/idx/_search?scroll=1m", pagination: pagination, pageSize: nil,
      request: .init(method: .post, body: .json(["size": 2])), decoder: JSONRawPageDecoder())
  }

  @Test(
    "12-L14: where the end of a walk closes it, the report says before that it cannot be resumed",
    arguments: [
      Pagination.elasticScroll, .elastic.opening(at: "idx/_pit?keep_alive=1m"),
      .openSearchPIT.opening(at: "idx/_search/point_in_time?keep_alive=1m"), .trino,
    ])
  func closes(pagination: Pagination) async throws {
    let server = CannedServer(Self.server)
    let walk = cursor(pagination, server).limited(to: Limits(pages: 1)).walk()
    for try await _ in walk {
      // Nothing is closed yet.
      #expect(walk.report.warnings.map(\.code) == [.notResumable])
      #expect(server.requests.allSatisfy { $0.head.method != .delete })
    }
    await walk.close()
    #expect(server.requests.last?.head.method == .delete)
    let report = walk.report
    #expect(report.warnings.first?.message.contains("closed when the walk ends") == true)
    let checkpoint = try #require(report.checkpoint)
    let stored = try JSONDecoder().decode(
      Position.self, from: try JSONEncoder().encode(checkpoint))
    for position in [checkpoint, stored] {
      let later = CannedServer(Self.server)
      let error = await #expect(throws: PageError.self) {
        for try await _ in cursor(pagination, later).resuming(from: position) {}
      }
      #expect(error?.code == .notResumable)
      #expect(later.requests.isEmpty)
    }
  }

  @Test("12-L14: what is closed is closed, whatever becomes of the body of the answer")
  func brokenBody() async throws {
    let failures = Mutex(0)
    let server = CannedServer { request, ordinal in
      guard request.head.method == .delete else { return Self.server(request, ordinal) }
      return TransportResponse(
        head: HTTPResponse(status: .ok),
        body: TransportBody { throw PageError(.truncated, "The connection was cut.") })
    }
    let listing = cursor(.elasticScroll, server) { event in
      if case .closeFailed = event { failures.withLock { $0 += 1 } }
    }
    let walk = listing.limited(to: Limits(pages: 1)).walk()
    for try await _ in walk {}
    await walk.close()
    #expect(server.requests.last?.head.method == .delete)
    #expect(failures.withLock { $0 } == 0)
  }

  @Test("12-L14: a paginator says so too, and so does the checkpoint of an error")
  func paginator() async throws {
    let server = CannedServer { request, ordinal in
      ordinal == 1 ? .status(400) : Self.server(request, ordinal)
    }
    let paginator = Paginator(cursor(.elasticScroll, server))
    let error = await #expect(throws: PageError.self) { for try await _ in paginator {} }
    #expect(paginator.report.warnings.map(\.code) == [.notResumable])
    let later = CannedServer(Self.server)
    let again = await #expect(throws: PageError.self) {
      let position = try #require(error?.checkpoint)
      for try await _ in cursor(.elasticScroll, later).resuming(from: position) {}
    }
    #expect(again?.code == .notResumable)
    #expect(later.requests.isEmpty)
  }

  @Test("12-L14: a walk that opens again what it lost is resumed, and so is one that holds nothing")
  func reopens() async throws {
    var reopening = Pagination.elastic.opening(at: "idx/_pit?keep_alive=1m")
    reopening.policy.expiry = .reopen
    for pagination in [reopening, .elasticOffset] {
      let walk = cursor(pagination, CannedServer(Self.server)).limited(to: Limits(pages: 1)).walk()
      for try await _ in walk {}
      #expect(walk.report.warnings.isEmpty)
      let position = try #require(walk.report.checkpoint)
      let later = CannedServer(Self.server)
      for try await _ in cursor(pagination, later).resuming(from: position) { break }
      #expect(!later.requests.isEmpty)
    }
  }

  @Test("12-L14: what was lost and could not be opened again is in the report with all requests")
  func failsToReopen() async throws {
    var pagination = Pagination.elastic.opening(at: "idx/_pit?keep_alive=1m")
    pagination.policy.expiry = .reopen
    let lost = #"{"error":{"root_cause":[{"type":"search_context_missing_exception"}]}}"#
    let server = CannedServer { request, ordinal in
      switch ordinal {
      case 0, 1: Self.server(request, ordinal)
      case 2: .status(404, [:], lost)
      default: .status(400)
      }
    }
    let walk = cursor(pagination, server).walk()
    #expect(try await walk.next()?.items.count == 2)
    await #expect(throws: PageError.self) { _ = try await walk.next() }
    #expect(server.requests.map(\.head.method) == [.post, .post, .post, .post])
    #expect(walk.report.traffic.requests == 4)
  }

  @Test("12-L14: a walk that came to its end has nothing to warn of")
  func exhausted() async throws {
    let server = CannedServer { request, ordinal in
      ordinal == 1
        ? .json(#"{"_scroll_id":"S2","hits":{"hits":[]}}"#) : Self.server(request, ordinal)
    }
    let walk = cursor(.elasticScroll, server).walk()
    for try await _ in walk {}
    #expect(walk.report.isComplete && walk.report.warnings.isEmpty)
    #expect(walk.report.checkpoint == nil)
  }
}
