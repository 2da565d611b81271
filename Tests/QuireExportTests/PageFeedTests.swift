import QuireCore
import QuirePagination
import QuireTesting
import Testing

@testable import QuireExport

@Suite("The pages of an export", .timeLimit(.minutes(15)))
struct PageFeedTests {
  private func words(_ event: PageFeed.Event) -> String {
    switch event {
    case .page(let page): page.items.map(\.description).joined(separator: ",")
    case .end: "end"
    case .failed(let error): error is CancellationError ? "cancelled" : "failed"
    case .late: "late"
    }
  }

  @Test("16-Exact: a page that came while nothing waited stays in front of what ends the walk")
  func keepsPage() async throws {
    let clock = ManualClock()
    let source = listing([["1"], ["2"]])
    source.hold(1)
    let feed = PageFeed(
      Cursor(source), lookAhead: 0, clock: clock, stopwatch: Stopwatch(clock))
    async let first = feed.next(by: .seconds(5))
    try await clock.waitForSleepers()
    clock.advance(by: .seconds(5))
    let event = await first
    #expect(words(event) == "late")
    source.release(1)
    while feed.report.pages == 0 { await Task.yield() }
    await feed.close()
    #expect(await words(feed.next(by: nil)) == "1")
    #expect(await words(feed.next(by: nil)) == "cancelled")
  }

  @Test("16-Exact: pages come once and in order, however often the wait for one is left")
  func keepsOrder() async throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededGenerator(seed: seed)
    let numbers = (0..<8).map(String.init)
    for round in 0..<200 {
      let clock = ManualClock()
      let stopwatch = Stopwatch(clock)
      let feed = PageFeed(
        Cursor(listing(numbers.map { [$0] })), lookAhead: round % 2, clock: clock,
        stopwatch: stopwatch)
      let ticking = Task {
        while !Task.isCancelled {
          clock.advance(by: .seconds(1))
          await Task.yield()
        }
      }
      var found: [String] = []
      while !["end", "failed"].contains(found.last ?? "") {
        let wait = Int.random(in: 0...3, using: &random)
        let due = wait == 0 ? nil : stopwatch.elapsed() + .seconds(wait)
        let event = await words(feed.next(by: due))
        if event != "late" { found.append(event) }
      }
      ticking.cancel()
      await feed.close()
      #expect(found == numbers + ["end"], "seed \(seed), round \(round)")
    }
  }
}
