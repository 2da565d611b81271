import QuireCore
import QuireTesting
import Testing

@testable import QuireHTTP

@Suite("Pace")
struct PacerTests {
  private func walk(_ pacing: Pacing, _ pages: [String]) async throws -> Duration {
    let clock = InstantClock()
    var configuration = PageClient.Configuration()
    configuration.clock = clock
    let client = PageClient(
      transport: CannedServer(pages.map { .json($0) }), configuration: configuration)
    let pagination = Pagination(
      next: .body("/next"), send: .query("t"), items: "/items", policy: PagePolicy(pacing: pacing))
    var count = 0
    for try await _ in client.cursor(
      of: Int.self, at: "https://a.test/", pagination: pagination)
    { count += 1 }
    #expect(count == pages.count)
    return clock.now.offset
  }

  private let pages = [
    #"{"items":[1],"next":"a","wait":2}"#, #"{"items":[2],"next":"b"}"#, #"{"items":[3]}"#,
  ]

  @Test("Requests are as far apart as the description says, and the first one waits for nothing")
  func interval() async throws {
    #expect(try await walk(Pacing(interval: 3), pages) == .seconds(6))
    #expect(try await walk(Pacing(), pages) == .zero)
  }

  @Test("V103: a page whose body asks to wait is delivered, and then waited for")
  func backoff() async throws {
    #expect(try await walk(Pacing(backoff: "/wait"), pages) == .seconds(2))
    #expect(try await walk(Pacing(interval: 3, backoff: "/wait"), pages) == .seconds(6))
  }

  @Test("T35: nothing is read ahead where asking acknowledges")
  func readsAhead() async throws {
    let server = CannedServer(pages.map { .json($0) })
    let pagination = Pagination(
      next: .body("/next"), send: .query("t"), items: "/items",
      policy: PagePolicy(pacing: Pacing(readsAhead: false)))
    let cursor = PageClient(transport: server).cursor(
      of: Int.self, at: "https://a.test/", pagination: pagination)
    var seen = 0
    for try await _ in Paginator(cursor, threshold: .remaining(items: 100)) {
      seen += 1
      #expect(server.requests.count == seen)
    }
    #expect(seen == 3)
  }
}
