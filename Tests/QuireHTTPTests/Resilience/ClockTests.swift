import HTTPTypes
import QuireCore
import QuireTesting
import Synchronization
import TestSupport
import Testing

@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

@Suite("Clocks that are wrong, and machines that slept")
struct ClockTests {
  private final class Pages: Sendable {
    let count = Atomic(0)
  }

  @Test("N23: however the time of day is set meanwhile, a wait is as long as the server said")
  func timeOfDay() async throws {
    let clock = ManualClock()
    let calls = Atomic(0)
    let server = CannedServer { _, ordinal in
      // Seven seconds from what the server takes for the time, which is years from ours.
      ordinal == 0
        ? .status(
          429,
          [
            "Date": "Sun, 06 Nov 1994 08:49:37 GMT",
            "Retry-After": "Sun, 06 Nov 1994 08:49:44 GMT",
          ]) : .json(#"{"items":[1]}"#)
    }
    var configuration = PageClient.Configuration()
    configuration.clock = clock
    var environment = PageClient.Environment()
    // Someone sets it an hour on, and two back, each time that it is looked at.
    environment.now = {
      let count = calls.add(1, ordering: .relaxed).newValue
      return 1_700_000_000 + Double(count % 2 == 0 ? 3600 : -3600)
    }
    let cursor = PageClient(transport: server, configuration: configuration).with(environment)
      .cursor(
        of: Int.self, at: "https://api.test/",
        pagination: Pagination(next: .body("/next"), send: .query("page"), items: "/items"))
    let walk = Task { try await cursor.items.collected() }
    let time = Task {
      while true {
        try await clock.waitForSleepers(1)
        clock.advanceToNextDeadline()
      }
    }
    defer { time.cancel() }
    #expect(try await walk.value == [1])
    #expect(
      clock.now.offset >= .seconds(7) && clock.now.offset < .seconds(10), "\(clock.now.offset)")
  }

  @Test(
    "N24: a machine that slept for hours goes on where it was, and its walks do not all ask at once"
  )
  @SimulationActor func sleep() {
    let seed = UInt64.random(in: .min ... .max)
    let clock = ManualClock()
    let server = SimulatedServer(clock, family: .draft7, limit: 50, pages: 10)
    let client = server.client()
    let pages = Pages()
    SimulatedServer.run(clock, seed: seed, until: .seconds(25)) {
      for number in 0..<100 {
        let cursor = client.cursor(
          of: Int.self, at: "https://api.test/\(number)", pagination: SimulatedServer.pagination)
        Task {
          do { for try await _ in cursor { pages.count.add(1, ordering: .relaxed) } } catch {}
        }
      }
    }
    #expect(pages.count.load(ordering: .relaxed) < 300, "seed \(seed)")
    // Everything that sleeps wakes at once, eight hours late.
    SimulatedServer.run(clock, seed: seed) { clock.advance(by: .seconds(8 * 3600)) }
    let seen = server.seen.withLock { $0 }
    #expect(pages.count.load(ordering: .relaxed) == 1_000, "seed \(seed)")
    #expect(
      seen.refused * 100 <= seen.requests, "seed \(seed): \(seen.refused) of \(seen.requests)")
    #expect(seen.requests <= 1_020, "seed \(seed)")
  }
}
