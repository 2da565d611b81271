import QuireCore
import QuireLists
import QuireTesting
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct EnduranceTests {
  /// A million pages that are made as they are asked for.
  private static let pages = 1_000_000

  private static func cursor() -> Cursor<Int> {
    Cursor { position in
      let number = position?.value?.integer ?? 0
      return Page([number], next: number + 1 < pages ? Position(integerLiteral: number + 1) : nil)
    }
  }

  @Test("G20: a walk of a million pages delivers each of them once, in order")
  func walksAMillionPages() async throws {
    var expected = 0
    let walk = Self.cursor().walk()
    for try await page in walk {
      if page.items != [expected] || page.index != expected {
        Issue.record("page \(expected) was \(page.items), index \(page.index)")
        return
      }
      expected += 1
    }
    #expect(expected == Self.pages)
    #expect(walk.report.pages == Self.pages)
    #expect(walk.report.end.name == "exhausted")
  }

  /// An item that says when it is gone.
  final class Token: Sendable {
    let alive: Counter

    init(_ alive: Counter) {
      self.alive = alive
      alive.count(1)
    }

    deinit { alive.count(-1) }
  }

  final class Counter: Sendable {
    private let state = Mutex((now: 0, most: 0))

    var most: Int { state.withLock { $0.most } }

    func count(_ change: Int) {
      state.withLock {
        $0.now += change
        $0.most = max($0.most, $0.now)
      }
    }
  }

  private static func tokens(_ alive: Counter, pages: Int) -> Cursor<Token> {
    Cursor { position in
      let number = position?.value?.integer ?? 1
      let next = number < pages ? Position(integerLiteral: number + 1) : nil
      return Page((0..<10).map { _ in Token(alive) }, next: next)
    }
  }

  @Test("G20, P-3, P-6: neither a walk nor a paginator keeps what was handed out")
  func releasesPages() async throws {
    let walked = Counter()
    for try await _ in Self.tokens(walked, pages: 10_000) {}
    #expect(walked.most <= 2 * 10)
    let items = Counter()
    for try await _ in Self.tokens(items, pages: 10_000).items {}
    #expect(items.most <= 2 * 10)
    // One page in the consumer's hand, one begun, one ahead, and what a load's task has not let go
    // of yet.
    let paged = Counter()
    for try await _ in Paginator(Self.tokens(paged, pages: 10_000)) {}
    #expect(paged.most <= 8 * 10)
    let loaded = Counter()
    for try await _ in Paginator(Self.tokens(loaded, pages: 1000)).items {}
    #expect(loaded.most <= 8 * 10)
  }

  @Test("P-3: 50 pages of 20 ms, handled for 20 ms each, take 51 times 20 ms")
  func overlaps() async throws {
    let clock = ManualClock()
    let cursor = Cursor<Int>(clock: clock) { position in
      try await clock.sleep(for: .milliseconds(20))
      let number = position?.value?.integer ?? 1
      return Page([number], next: number < 50 ? Position(integerLiteral: number + 1) : nil)
    }
    let consumer = Task {
      var pages = 0
      for try await _ in Paginator(cursor) {
        try await clock.sleep(for: .milliseconds(20))
        pages += 1
      }
      return pages
    }
    for step in 0...50 {
      try await clock.waitForSleepers(step == 0 || step == 50 ? 1 : 2)
      clock.advance(by: .milliseconds(20))
    }
    #expect(try await consumer.value == 50)
    #expect(clock.now.offset == .milliseconds(51 * 20))
  }
}
