import HTTPTypes
import QuireCore
import QuireTesting
import TestSupport
import Testing

@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

@Suite("What one walk may take", .timeLimit(.minutes(15)))
struct WalkBudgetTests {
  private let endless = CannedServer { request, ordinal in
    switch ordinal % 4 {
    case 1: .status(503)
    case 2: .status(302, ["Location": request.url + "&again=\(ordinal)"])
    default: .json(#"{"items":[\#(ordinal)],"next":"\#(ordinal)"}"#)
    }
  }

  private func cursor(_ limits: Limits) -> Cursor<Int> {
    var configuration = PageClient.Configuration()
    configuration.clock = InstantClock()
    return PageClient(transport: endless, configuration: configuration).cursor(
      of: Int.self, at: "https://api.test/?a=1",
      pagination: Pagination(next: .body("/next"), send: .query("t"), items: "/items")
    ).limited(to: limits)
  }

  @Test("15-Limits: no request goes out that is one too many, be it a retry or behind a redirect")
  func requests() async throws {
    for most in 1...9 {
      let before = endless.requests.count
      let walk = cursor(Limits(requests: most)).walk()
      var pages = 0
      let error = await #expect(throws: PageError.self) {
        for try await _ in walk { pages += 1 }
      }
      #expect(error?.code == .limitExceeded)
      #expect(error?.description.contains("Limits.requests") == true)
      #expect(endless.requests.count - before == most)
      #expect(walk.report.pages == pages && walk.report.checkpoint != nil)
      // Asking again does not help, and costs nothing.
      await #expect(throws: PageError.self) { try await walk.next() }
      #expect(endless.requests.count - before == most)
    }
    await #expect(throws: PageError.self) { try await cursor(Limits(requests: -1)).walk().next() }
  }
}
