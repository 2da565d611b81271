import TestSupport
import QuireCore
import QuireTesting
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

@Suite("Pace")
struct PacerTests {
  private func walk(_ pacing: Pagination.Pacing, _ pages: [String]) async throws -> Duration {
    let clock = InstantClock()
    var configuration = PageClient.Configuration()
    configuration.clock = clock
    let client = PageClient(
      transport: CannedServer(pages.map { .json($0) }), configuration: configuration)
    let pagination = Pagination(
      next: .body("/next"), send: .query("t"), items: "/items",
      policy: Pagination.Policy(pacing: pacing))
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
    #expect(try await walk(Pagination.Pacing(interval: 3), pages) == .seconds(6))
    #expect(try await walk(Pagination.Pacing(), pages) == .zero)
  }

  @Test("A pace that is no number stops no walk, nor does a server's limit of next to nothing")
  func oddNumbers() async throws {
    for interval in [Double.nan, -1] {
      #expect(try await walk(Pagination.Pacing(interval: interval), pages) == .zero)
    }
    let fields = [
      "X-RateLimit-Limit": "1e-300", "X-RateLimit-Remaining": "0", "X-RateLimit-Window": "10",
    ]
    let server = CannedServer([.json("[1]", fields)])
    let cursor = PageClient(transport: server).cursor(
      of: Int.self, at: "https://a.test/", pagination: .linkHeader)
    #expect(try await cursor.drained() == [[1]])
  }

  @Test("V103: a page whose body asks to wait is delivered, and then waited for")
  func backoff() async throws {
    #expect(try await walk(Pagination.Pacing(backoff: "/wait"), pages) == .seconds(2))
    #expect(try await walk(Pagination.Pacing(interval: 3, backoff: "/wait"), pages) == .seconds(6))
  }

  @Test(
    "12-K3: a wait that a page asks for is bounded by the retry limits, and is an error beyond them, behind the page",
    arguments: [("900", true), ("901", false), ("864000", false), ("1e300", false)])
  func boundedBackoff(asked: String, isWaitedFor: Bool) async throws {
    let clock = InstantClock()
    var configuration = PageClient.Configuration()
    configuration.clock = clock
    let server = CannedServer([
      .json(#"{"items":[1],"next":"a","wait":\#(asked)}"#), .json(#"{"items":[2]}"#),
    ])
    let client = PageClient(transport: server, configuration: configuration)
    let pagination = Pagination(
      next: .body("/next"), send: .query("t"), items: "/items",
      policy: Pagination.Policy(pacing: Pagination.Pacing(backoff: "/wait")))
    let cursor = client.cursor(of: Int.self, at: "https://a.test/", pagination: pagination)
    let walk = cursor.walk()
    #expect(try await walk.next()?.items == [1])
    if isWaitedFor {
      #expect(try await walk.next()?.items == [2])
      #expect(clock.now.offset == .seconds(900))
      return
    }
    let error = await #expect(throws: PageError.self) { try await walk.next() }
    #expect(error?.code == .throttled)
    #expect(error?.description.contains("RetryPolicy.maximumRetryAfter") == true)
    #expect(clock.now.offset == .zero)
    #expect(server.requests.count == 1)
    // Later, the walk goes on where it stood.
    let checkpoint = try #require(walk.report.checkpoint)
    await #expect(throws: PageError.self) {
      try await cursor.resuming(from: checkpoint).items.collect()
    }
    try await clock.sleep(for: .seconds(1e12))
    #expect(try await cursor.resuming(from: checkpoint).items.collect() == [2])
  }

  @Test("T35: nothing is read ahead where asking acknowledges")
  func readsAhead() async throws {
    let server = CannedServer(pages.map { .json($0) })
    let pagination = Pagination(
      next: .body("/next"), send: .query("t"), items: "/items",
      policy: Pagination.Policy(pacing: Pagination.Pacing(readsAhead: false)))
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
