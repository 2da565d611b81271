import Foundation
import HTTPTypes
import QuireCore
import QuireHTTP
import QuireTesting
import Synchronization
import TestSupport
import Testing

@testable import QuireFeeds

/// What makes an entry the same one, a changed one, or a new one.
@Suite struct RecognitionTests {
  /// Polls a feed once for each document, and returns the effects and the entries stored last.
  private func poll(
    _ documents: [String], between: (any FeedStore) async throws -> Void = { _ in }
  ) async throws -> (effects: [FeedEffect], entries: [StoredEntry]) {
    let (store, effects) = (MemoryFeedStore(), Recorder<FeedEffect>())
    let time = Mutex(1_800_000_000.0)
    let current = Mutex("")
    let web = FeedWeb { _, _ in .init(body: current.withLock { $0 }) }
    var environment = Aggregator.Environment()
    environment.now = { time.withLock { $0 } }
    let aggregator = Aggregator(
      store: store, client: PageClient(transport: web, configuration: .feed),
      settings: AggregatorSettings(limits: PollingLimits(hostGap: .zero)),
      environment: environment
    ) { event in
      if case .polled(let report) = event { effects.note(report.effect) }
    }
    try await aggregator.subscribe(to: "https://a.test/f")
    for document in documents {
      current.withLock { $0 = document }
      try await aggregator.pollDue()
      try await between(store)
      time.withLock { $0 += 100_000 }
    }
    let entries = try await store.entries(EntrySelection(), at: nil, limit: 100).items
    return (effects.values, entries)
  }

  private func rss(_ items: String) -> String {
    "<rss version='2.0'><channel><title>T</title>\(items)</channel></rss>"
  }

  @Test("17-Aggregator: an entry whose address changes is updated, and stays the entry that it was")
  func movedEntry() async throws {
    func item(_ url: String) -> String {
      rss("<item><guid isPermaLink='false'>1</guid><title>A</title><link>\(url)</link></item>")
    }
    let documents = ["http://a.test/1", "https://a.test/1", "https://a.test/1"].map(item)
    let (effects, entries) = try await poll(documents) { store in
      try await store.apply(.mark([1], isRead: true))
    }
    #expect(effects == [FeedEffect(added: 1), FeedEffect(changed: 1), FeedEffect()])
    #expect(entries.map(\.entry.url) == ["https://a.test/1"])
    #expect(entries.map(\.number) == [1] && entries.allSatisfy(\.isRead))
  }

  @Test("17-Aggregator: an entry known by its address alone is the same one by http and by https")
  func secureEntry() async throws {
    let documents = ["http", "https"].map { scheme in
      rss("<item><title>A</title><link>\(scheme)://a.test/1</link></item>")
    }
    let (effects, entries) = try await poll(documents)
    #expect(effects == [FeedEffect(added: 1), FeedEffect(changed: 1)])
    #expect(entries.map(\.entry.url) == ["https://a.test/1"])
    let first = try #require(try parsed(documents[0]).entries.first)
    #expect(first.jsonFeedItem()["id"] == "http://a.test/1")
  }

  @Test("17-Aggregator: what a publisher leaves out or writes elsewhere makes no entry a new one")
  func sameEntry() async throws {
    let item = "<guid isPermaLink='false'>1</guid><title>A</title><link>https://a.test/1</link>"
    let (effects, entries) = try await poll([
      rss("<item>\(item)<pubDate>Tue, 03 Jun 2003 09:39:21 GMT</pubDate></item>"),
      rss("<item>\(item)<category>c</category></item>"),
      "<rss version='2.0'><channel/><item>\(item)</item></rss>",
      rss("<item><link>https://a.test/1</link><title>A</title><guid> 1 </guid></item>"),
    ])
    #expect(effects == [FeedEffect(added: 1)] + Array(repeating: FeedEffect(), count: 3))
    #expect(entries.map(\.date) == [1_054_633_161])
  }

  @Test(
    "17-Aggregator, X19: an entry keeps its identity where later ones share it, and is not told twice",
    arguments: ["<guid isPermaLink='false'>x</guid>", "<link>https://a.test/</link>"],
    [true, false])
  func laterSharedIdentity(identity: String, isNewestFirst: Bool) async throws {
    func document(_ titles: [String]) -> String {
      let items = titles.map { "<item><title>\($0)</title>\(identity)</item>" }
      return rss((isNewestFirst ? items : items.reversed()).joined())
    }
    var (effects, entries) = try await poll(
      [["A"], ["B", "A"], ["C", "B", "A"], ["C", "B"], ["A"]].map(document))
    #expect(effects == [1, 1, 1, 0, 0].map { FeedEffect(added: $0) })
    #expect(entries.compactMap(\.entry.title?.value).sorted() == ["A", "B", "C"])
    // The entry that has the identity may have left the feed.
    (effects, entries) = try await poll([["A"], ["C", "B"], ["D", "C", "B"]].map(document))
    #expect(effects == [1, 2, 1].map { FeedEffect(added: $0) })
    #expect(entries.count == 4)
  }

  @Test("17-Aggregator, X19: entries that differ in a category alone are all kept, each once")
  func alikeEntries() async throws {
    func document(_ categories: [Int]) -> String {
      rss(
        categories.map {
          "<item><title>A</title><guid>x</guid><category>\($0)</category></item>"
        }.joined())
    }
    let (effects, entries) = try await poll(
      [[3, 2, 1], [3, 2, 1], [2], [4, 3], [1]].map(document))
    #expect(effects == [3, 0, 0, 1, 0].map { FeedEffect(added: $0) })
    #expect(entries.count == 4)
  }

  @Test("X19, 17-Paging: a page that is read again has its entries again, and others stay known")
  func pageReadAgain() {
    func entry(_ id: Int) -> FeedEntry {
      var entry = FeedEntry()
      entry.id = "\(id)"
      return entry
    }
    var seen = SeenEntries()
    #expect(seen.new(in: [1, 2].map(entry)) == [0, 1])
    for _ in 0..<2 {
      #expect(seen.new(in: [2, 3].map(entry)) == [1])
      seen.forgetPage()
    }
    #expect(seen.new(in: [1, 2, 3].map(entry)) == [2])
    #expect(seen.new(in: [1, 2, 3].map(entry)) == [])
  }

  @Test("17-Dates: the first second of 1970 is the date of an entry that has none")
  func firstSecond() async throws {
    for date in ["Thu, 01 Jan 1970 00:00:00 +0000", "Thu, 01 Jan 1970 01:00:00 +0100"] {
      let (_, entries) = try await poll([
        rss("<item><guid>1</guid><pubDate>\(date)</pubDate></item>")
      ])
      let entry = try #require(entries.first)
      #expect(entry.entry.published == nil && entry.date == 1_800_000_000)
      #expect(entry.entry.repairs.map(\.kind) == [.unreadableDate])
    }
    var own = FeedEntry()
    own.id = "1"
    own.published = Date(timeIntervalSince1970: 0)
    let decoded = FeedEntry(jsonFeedItem: own.jsonFeedItem())
    #expect(decoded.published == own.published && decoded.repairs.isEmpty)
  }
}
