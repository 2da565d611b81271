import HTTPTypes
import QuireCore
import QuireHTTP
import QuireTesting
import Synchronization
import TestSupport
import Testing

@testable import QuireFeeds

/// Old entries are deleted by a rule, and none of them is new again.
@Suite struct RetentionTests {
  private static let day = 86_400.0

  /// Polls one feed of the entries `numbers`, once a day, into a store.
  private final class Reader: Sendable {
    let numbers = Mutex<[Int]>([])
    let time = Mutex(1_800_000_000.0)
    let store: any FeedStore = MemoryFeedStore()
    let effects = Recorder<FeedEffect>()
    private let retention: EntryRetention
    private let pages: Int

    init(_ retention: EntryRetention, pages: Int = 1) {
      (self.retention, self.pages) = (retention, pages)
    }

    /// Polls the feed with these entries, and returns the effect.
    func poll(_ entries: [Int]) async throws -> FeedEffect {
      numbers.withLock { $0 = entries }
      let web = FeedWeb { [self] _, fields in
        let body = rssPage(numbers.withLock { $0 })
        let tag = "\"\(body.utf8.reduce(0) { ($0 &* 31) &+ Int($1) })\""
        return fields[.ifNoneMatch] == tag
          ? .init(status: 304) : .init(body: body, fields: [.eTag: tag])
      }
      var environment = Aggregator.Environment()
      environment.now = { [self] in time.withLock { $0 } }
      environment.random = { 0 }
      let aggregator = Aggregator(
        store: store, client: PageClient(transport: web, configuration: .feed),
        settings: AggregatorSettings(pagesAtFirst: pages, retention: retention),
        environment: environment
      ) { [effects] event in
        if case .polled(let report) = event { effects.note(report.effect) }
      }
      try await aggregator.subscribe(to: "https://a.test/f")
      try await aggregator.pollDue()
      time.withLock { $0 += day }
      return try #require(effects.values.last)
    }

    func ids() async throws -> [String] {
      try await store.entries(EntrySelection(), at: nil, limit: 100).items.compactMap(\.entry.id)
    }
  }

  @Test(
    "17-Retention: a store keeps the newest entries of a feed, and none that the feed lists is new again"
  )
  func count() async throws {
    let reader = Reader(EntryRetention(count: 2))
    #expect(try await reader.poll([4, 3, 2, 1]) == FeedEffect(added: 4, removed: 2))
    #expect(try await reader.ids() == ["urn:4", "urn:3"])
    #expect(try await reader.poll([5, 4, 3, 2, 1]) == FeedEffect(added: 1, removed: 1))
    #expect(try await reader.ids() == ["urn:5", "urn:4"])
    // A publisher that takes an entry back lists an older one again.
    #expect(try await reader.poll([5, 4]) == FeedEffect())
    #expect(try await reader.poll([4, 3, 2, 1, 0]) == FeedEffect(added: 1, removed: 1))
    #expect(try await reader.store.subscriptions().map(\.health.entries) == [6])
  }

  @Test(
    "17-Retention: entries are deleted some time after they were found, also while the feed is unchanged"
  )
  func age() async throws {
    let reader = Reader(EntryRetention(age: .seconds(1.5 * Self.day)))
    #expect(try await reader.poll([2, 1]) == FeedEffect(added: 2))
    #expect(try await reader.poll([3, 2, 1]) == FeedEffect(added: 1))
    #expect(try await reader.poll([3, 2, 1]) == FeedEffect(removed: 2))
    #expect(try await reader.ids() == ["urn:3"])
    #expect(try await reader.poll([3, 2, 1]) == FeedEffect(removed: 1))
    #expect(try await reader.poll([4, 3, 2, 1]) == FeedEffect(added: 1))
    #expect(try await reader.ids() == ["urn:4"])
  }

  @Test("17-Retention: unread entries are kept where the rule says so, and all by default")
  func unread() async throws {
    let kept = Reader(EntryRetention(count: 1, keepsUnread: true))
    #expect(try await kept.poll([3, 2, 1]) == FeedEffect(added: 3))
    let numbers = try await kept.store.entries(EntrySelection(), at: nil, limit: 9).items
    try await kept.store.apply(.mark([numbers[0].number, numbers[2].number], isRead: true))
    #expect(try await kept.poll([3, 2, 1]) == FeedEffect(removed: 1))
    #expect(try await kept.ids() == ["urn:3", "urn:2"])
    let all = Reader(EntryRetention())
    for first in [1, 50] { _ = try await all.poll(Array(first..<(first + 40))) }
    #expect(try await all.ids().count == 80)
  }

  @Test("17-Retention: limits of a rule that are none count as the least")
  func limits() {
    var rule = EntryRetention(age: .seconds(-1), count: 0)
    #expect(rule == EntryRetention(age: .zero, count: 1))
    rule.age = .seconds(-9)
    rule.count = .min
    #expect(rule == EntryRetention(age: .zero, count: 1))
  }
}
