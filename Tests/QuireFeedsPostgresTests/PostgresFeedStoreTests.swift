import Foundation
import HTTPTypes
import QuireCore
import QuireFeeds
import QuireFeedsPostgres
import QuireHTTP
import QuirePagination
import QuireTesting
import Synchronization
import TestSupport
import Testing

@Suite(
  .enabled(
    if: PostgresServer.programs != nil,
    "no PostgreSQL server is installed (Debian package postgresql)"))
struct PostgresFeedStoreTests {
  private func database() throws -> String {
    let name = "feeds_" + UUID().uuidString.replacing("-", with: "").lowercased()
    return try PostgresServer.shared.get().url(schema: name)
  }

  @Test(
    "17-Aggregator, 17-Shared: the store in PostgreSQL keeps the promises of stores, opened anew too"
  )
  func conformance() async throws {
    let url = try database()
    try await FeedStoreConformance { PostgresFeedStore(url) }.check()
  }

  @Test(
    "17-Shared: eight stores that claim at once get every feed once, and no host is given to two")
  func disjoint() async throws {
    let url = try database()
    let first = PostgresFeedStore(url)
    for number in 0..<120 {
      let feed = FeedSubscription(url: "https://host\(number / 3).test/\(number)", at: 1)
      try await first.apply(.subscribe(feed))
    }
    let claims = try await withThrowingTaskGroup(of: [FeedSubscription].self) { group in
      for holder in 0..<8 {
        group.addTask {
          let store = PostgresFeedStore(url)
          var mine: [FeedSubscription] = []
          while true {
            let hosts = Set(mine.compactMap { try? Origin(url: $0.id).host })
            let more = try await store.claim(
              FeedClaim(holder: "\(holder)", dueBy: 10, limit: 9, working: hosts))
            if more.isEmpty { return mine }
            mine += more
          }
        }
      }
      return try await group.reduce(into: [[FeedSubscription]]()) { $0.append($1) }
    }
    #expect(claims.flatMap { $0 }.count == 120)
    #expect(Set(claims.flatMap { $0.map(\.id) }).count == 120)
    let hosts = claims.map { Set($0.compactMap { try? Origin(url: $0.id).host }) }
    #expect(hosts.reduce(0) { $0 + $1.count } == 40, "a host is held by two")
  }

  @Test("17-Shared: texts with what PostgreSQL has not, and identifiers of any length, are kept")
  func odd() async throws {
    let store = PostgresFeedStore(try database())
    let subscription = FeedSubscription(url: "https://a.test/feed")
    try await store.apply(.subscribe(subscription))
    var (long, null) = (FeedEntry(), FeedEntry())
    long.id = String(repeating: "x", count: 100_000)
    null.id = "a\0b"
    null.title = FeedText("with \0 in it")
    let poll = FeedPoll(
      unchanged: subscription, changed: subscription, entries: [long, null], time: 5)
    #expect(try await store.apply(.polled(poll)).added == 2)
    #expect(try await store.apply(.polled(poll)) == FeedEffect())
    let page = try await store.entries(EntrySelection(), at: nil, limit: 5)
    #expect(page.items.map(\.entry.id) == [long.id, null.id])
    #expect(page.items[1].entry.title == null.title)
  }

  @Test("17-Shared: tables of another form are refused")
  func otherForm() async throws {
    let url = try database()
    let server = try PostgresServer.shared.get()
    try await PostgresFeedStore(url).apply(.subscribe(FeedSubscription(url: "https://a.test/feed")))
    let later = "UPDATE quire_feeds_form SET version = 3"
    #expect(server.run(["psql", "-q", url, "-c", later]) == 0)
    await #expect(throws: PageError.self) { try await PostgresFeedStore(url).subscriptions() }
  }

  @Test("17-Shared: entries whose identifiers differ only in how an accent is written are two")
  func accents() async throws {
    let store = PostgresFeedStore(try database())
    let subscription = FeedSubscription(url: "https://a.test/feed")
    try await store.apply(.subscribe(subscription))
    let entries = ["e\u{301}", "\u{E9}"].map { id in
      var entry = FeedEntry()
      entry.id = id
      return entry
    }
    let poll = FeedPoll(
      unchanged: subscription, changed: subscription, entries: entries, time: 5)
    #expect(try await store.apply(.polled(poll)).added == 2)
    #expect(try await store.entries(EntrySelection(), at: nil, limit: 5).items.count == 2)
  }

  @Test(
    "17-Shared: a poll of many entries is kept in the publisher's order, one that comes twice once")
  func large() async throws {
    let store = PostgresFeedStore(try database())
    let subscription = FeedSubscription(url: "https://a.test/feed")
    try await store.apply(.subscribe(subscription))
    func entry(_ number: Int, _ title: String) -> FeedEntry {
      var entry = FeedEntry()
      entry.id = "\(number)"
      entry.title = FeedText(title)
      return entry
    }
    func keep(_ entries: [FeedEntry]) async throws -> FeedEffect {
      let poll = FeedPoll(
        unchanged: subscription, changed: subscription, entries: entries, time: 5)
      return try await store.apply(.polled(poll))
    }
    let all = (0..<600).map { entry($0, "first") }
    // The publisher's last is the oldest: what stands further up is later.
    let repeated = all + [entry(599, "old"), entry(3, "old")]
    #expect(try await keep(repeated) == FeedEffect(added: 600, changed: 2))
    #expect(try await keep(all) == FeedEffect())
    let found = try await store.entries(EntrySelection(), at: nil, limit: 1_000).items
    let expected = all.filter { $0.id != "3" } + [all[3]]
    #expect(found.map(\.entry.id) == expected.map(\.id))
    #expect(found.allSatisfy { $0.entry.title?.value == "first" })
    let more = (0..<900).map { entry($0, "second") }
    #expect(try await keep(more) == FeedEffect(added: 300, changed: 600))
  }

  @Test(
    "17-Shared, 17-Polling: a machine whose clock is far ahead silences no feed for the others, and polls none early"
  )
  func clockAhead() async throws {
    let store = PostgresFeedStore(try database())
    let (day, ahead) = (86_400.0, Date().timeIntervalSince1970 + 31_536_000)
    var subscription = FeedSubscription(url: "https://a.test/feed", at: 1)
    try await store.apply(.subscribe(subscription))
    subscription.schedule.polled(PollOutcome(.changed), at: ahead, random: 0)
    var entry = FeedEntry()
    entry.id = "1"
    let poll = FeedPoll(
      unchanged: subscription, changed: subscription, entries: [entry], time: ahead)
    #expect(try await store.apply(.polled(poll)).added == 1)
    let soon = Date().timeIntervalSince1970 + 2 * day
    let kept = try #require(await store.subscriptions().first)
    let found = try await store.entries(EntrySelection(), at: nil, limit: 1).items
    #expect(kept.schedule.nextPoll < soon && found.allSatisfy { $0.date < soon })
    let claim = FeedClaim(holder: "ahead", dueBy: ahead, limit: 9)
    #expect(try await store.claim(claim).isEmpty)
  }

  @Test(
    "17-Shared, 17-Polling: what a clock far ahead put off, and the store has kept so, is claimed; what its own rules put off is not"
  )
  func clockWasAhead() async throws {
    let url = try database()
    let store = PostgresFeedStore(url)
    let now = Date().timeIntervalSince1970
    for host in ["rare", "silenced"] {
      let feed = FeedSubscription(
        url: "https://\(host).test/", rules: PollRules(longest: 100_000_000), at: now + 90_000_000)
      try await store.apply(.subscribe(feed))
    }
    let claim = FeedClaim(holder: "one", dueBy: now, limit: 9)
    #expect(try await store.claim(claim).isEmpty)
    // As the store kept it before it asked its own clock.
    let change = """
      UPDATE quire_feed SET body = replace(body, '100000000', '86400') WHERE id LIKE '%silenced%'
      """
    #expect(try PostgresServer.shared.get().run(["psql", "-q", url, "-c", change]) == 0)
    #expect(try await store.claim(claim).map(\.id) == ["https://silenced.test/"])
  }

  @Test(
    "17-Shared: an aggregator goes on by itself after the server has crashed; one never reached is named at once"
  )
  func outage() async throws {
    let server = try PostgresServer()
    defer { server.stop() }
    let store = PostgresFeedStore(server.url())
    let client = PageClient(
      transport: AnswerTransport { "<rss><channel><title>\($0.url)</title></channel></rss>" },
      configuration: .feed)
    let (polls, polled) = AsyncStream.makeStream(of: String.self)
    let aggregator = Aggregator(store: store, client: client) { event in
      if case .polled(let report) = event { polled.yield(report.subscription.id) }
    }
    let running = Task { try await aggregator.run() }
    let urls = (0..<4).map { "https://\($0).test/" }
    var events = polls.makeAsyncIterator()
    for url in urls {
      try await aggregator.subscribe(to: url)
      #expect(await events.next() == url)
      try server.crash()
    }
    #expect(try await store.subscriptions().map(\.health.polls) == [1, 1, 1, 1])
    running.cancel()
    await #expect(throws: CancellationError.self) { try await running.value }
    let away = PostgresFeedStore("postgres://quire@127.0.0.1:1/none")
    let error = await #expect(throws: PageError.self) { try await away.subscriptions() }
    #expect(error?.code == .feedStore)
  }

  @Test(
    "17-Shared, 17-Aggregator: two aggregators on one database poll each feed once between them")
  func aggregators() async throws {
    let url = try database()
    let asked = Mutex<[String: Int]>([:])
    let client = PageClient(
      transport: AnswerTransport { request in
        asked.withLock { $0[request.url, default: 0] += 1 }
        return """
          <rss><channel><title>T</title><item><guid>\(request.url)</guid></item></channel></rss>
          """
      }, configuration: .feed)
    let settings = AggregatorSettings(limits: PollingLimits(concurrent: 4, hostGap: .zero))
    let both = (0..<2).map { _ in
      Aggregator(store: PostgresFeedStore(url), client: client, settings: settings)
    }
    for number in 0..<40 {
      try await both[0].subscribe(to: "https://host\(number / 2).test/\(number)")
    }
    try await withThrowingDiscardingTaskGroup { group in
      for aggregator in both { group.addTask { try await aggregator.pollDue() } }
    }
    #expect(asked.withLock { $0.count } == 40)
    #expect(asked.withLock { $0.values.allSatisfy { $0 == 1 } })
    let store = PostgresFeedStore(url)
    #expect(try await store.entries(EntrySelection(), at: nil, limit: 100).items.count == 40)
    // Hosts were given back: another one begins at once.
    for number in 0..<20 {
      try await store.apply(.subscribe(FeedSubscription(url: "https://host\(number).test/", at: 1)))
    }
    let free = try await store.claim(FeedClaim(holder: "other", dueBy: 10, limit: 100))
    #expect(free.count == 20)
  }
}

/// Answers each request with a feed.
private struct AnswerTransport: HTTPTransport {
  let answer: @Sendable (TransportRequest) -> String

  func send(_ request: TransportRequest) async throws -> TransportResponse {
    TransportResponse(
      head: HTTPResponse(status: .ok), framing: .explicit,
      body: .bytes(Array(answer(request).utf8)))
  }
}
