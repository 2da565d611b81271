import Foundation
import HTTPTypes
import QuireCore
import QuireHTTP
import QuireTesting
import Synchronization
import Testing

@testable import QuireFeeds

/// The rules that publishers state for polls, as they write them, and as the aggregator obeys them.
@Suite struct PublisherRuleTests {
  /// Friday, 15 January 2027, 08:00 UTC.
  private static let start = 1_800_000_000.0
  private static let hour = 3_600.0

  private static func aggregator(
    _ web: FeedWeb, _ store: any FeedStore = MemoryFeedStore(),
    at now: @escaping @Sendable () -> Double
  ) -> Aggregator {
    var environment = Aggregator.Environment()
    environment.now = now
    environment.random = { 0 }
    return Aggregator(
      store: store, client: PageClient(transport: web, configuration: .feed),
      settings: AggregatorSettings(limits: PollingLimits(hostGap: .zero)),
      environment: environment)
  }

  private static func answer(
    _ status: Int = 200, _ fields: [String: String] = [:], _ channel: String = ""
  ) -> FeedWeb.Answer {
    var answer = FeedWeb.Answer(status: status, body: rssPage([1], channel))
    for (name, value) in fields {
      if let name = HTTPField.Name(name) { answer.fields[name] = value }
    }
    return answer
  }

  /// Answers, and the time after which the feed is due again, in seconds.
  private static let rules: [(FeedWeb.Answer, Double)] = [
    (answer(), hour),
    (answer(200, ["Cache-Control": "max-age=7200"]), 2 * hour),
    (answer(200, ["Cache-Control": "public, MAX-AGE=\"7200\", must-revalidate"]), 2 * hour),
    (answer(200, ["Cache-Control": "no-cache, max-age=0"]), hour),
    (answer(200, ["Cache-Control": "max-age=36000", "Age": "28800"]), 2 * hour),
    (answer(200, ["Cache-Control": "max-age=7200", "Age": "soon"]), 2 * hour),
    (answer(200, ["Cache-Control": "max-age=7200", "Age": "99999"]), hour),
    (answer(200, ["Cache-Control": "max-age=999999999"]), 24 * hour),
    (answer(200, ["Expires": "Fri, 15 Jan 2027 11:00:00 GMT"]), 3 * hour),
    (
      answer(
        200, ["Expires": "Friday, 15-Jan-27 10:00:00 GMT", "Date": "Fri, 15 Jan 2027 05:00:00 GMT"]),
      5 * hour
    ),
    (answer(200, ["Expires": "0"]), hour),
    (answer(200, ["Cache-Control": "max-age=7200"], "<ttl>300</ttl>"), 5 * hour),
    (answer(200, [:], "<ttl> 180 </ttl>"), 3 * hour),
    (answer(200, [:], "<ttl>soon</ttl>"), hour),
    (answer(200, [:], "<ttl>-5</ttl>"), hour),
    (
      answer(
        200, [:],
        "<sy:updatePeriod xmlns:sy='http://purl.org/rss/1.0/modules/syndication/'>daily</sy:updatePeriod>"
      ), 12 * hour
    ),
    (
      answer(200, [:], "<skipHours><hour>9</hour><hour>10</hour><hour>11</hour></skipHours>"),
      4 * hour
    ),
    (answer(200, [:], "<skipDays><day>Friday</day><day>saturday</day></skipDays>"), 40 * hour),
    (answer(200, ["Retry-After": "Fri, 15 Jan 2027 12:00:00 GMT"]), 4 * hour),
    (answer(429, ["Retry-After": "20000"]), 20_000),
    (answer(503, ["Retry-After": "Sat, 16 Jan 2027 08:00:00 GMT"]), 24 * hour),
    (answer(503, ["Retry-After": "Fri, 15 Jan 2027 07:00:00 GMT"]), hour),
    (answer(404), hour),
    (answer(410), .infinity),
  ]

  @Test(
    "17-Polling, H26, F2, F3, F4: what a publisher says in its answer is when the feed is asked again",
    arguments: rules.indices)
  func rule(number: Int) async throws {
    let (answer, wait) = Self.rules[number]
    let aggregator = Self.aggregator(FeedWeb { _, _ in answer }) { Self.start }
    try await aggregator.subscribe(to: "https://a.test/f")
    try await aggregator.pollDue()
    let schedule = try #require(await aggregator.subscriptions().first?.schedule)
    #expect(
      schedule.nextPoll - Self.start == wait, "\(answer.status) \(answer.fields) \(answer.body)")
  }

  @Test(
    "17-Polling, H26: a host that wants to be left alone puts off its other feeds, which have not failed"
  )
  func pause() async throws {
    let time = Mutex(Self.start)
    let clock = ManualClock()
    // Ten years are a mistake, of which a week is believed.
    for wait in ["7200", "315360000"] {
      let end = min(Double(wait) ?? 0, 168 * Self.hour)
      let first = time.withLock { $0 }
      let web = FeedWeb { url, _ in
        time.withLock { $0 } < first + end
          ? Self.answer(429, ["Retry-After": wait]) : Self.answer()
      }
      var environment = Aggregator.Environment()
      environment.now = { time.withLock { $0 } }
      environment.random = { 0.99 }
      var configuration = PageClient.Configuration.feed
      configuration.clock = clock
      let aggregator = Aggregator(
        store: MemoryFeedStore(),
        client: PageClient(transport: web, configuration: configuration),
        settings: AggregatorSettings(limits: PollingLimits(hostGap: .zero)),
        environment: environment)
      let feeds = ["1", "2", "3"].map { "https://\(wait).test/\($0)" }
      for feed in feeds { try await aggregator.subscribe(to: feed) }
      try await aggregator.pollDue()
      #expect(web.urls == [feeds[0]])
      let known = try await aggregator.subscriptions()
      #expect(known.map(\.schedule.failures) == [1, 0, 0])
      #expect(known.map(\.health.failures) == [1, 0, 0] && known[1].health.lastError == nil)
      #expect(known.allSatisfy { $0.schedule.nextPoll >= first + end })
      let latest = known.map(\.schedule.nextPoll).max() ?? 0
      clock.advance(by: .seconds(latest - first))
      time.withLock { $0 = latest }
      try await aggregator.pollDue()
      #expect(web.urls.dropFirst().sorted() == feeds)
    }
  }

  @Test(
    "17-Polling, 17-Aggregator: no entry leaves a lively feed unseen, however old one is that is pinned",
    arguments: [40, 1_825, 20_833])
  func pinned(days: Double) async throws {
    let time = Mutex(Self.start)
    @Sendable func published() -> Int { Int((time.withLock { $0 } - Self.start) / Self.hour) }
    @Sendable func date(_ time: Double) -> String {
      Date(timeIntervalSince1970: time).formatted(.iso8601)
    }
    let web = FeedWeb { _, _ in
      var items = (published() - 14...published()).reversed().map {
        ($0, date(Self.start + Double($0) * Self.hour))
      }
      items.append((-1_000, date(Self.start - days * 24 * Self.hour)))
      let body = items.map { "<item><guid>urn:\($0)</guid><dc:date>\($1)</dc:date></item>" }
      // A prefix that needs no namespace.
      return .init(body: "<rss><channel>\(body.joined())</channel></rss>")
    }
    let store = MemoryFeedStore()
    let aggregator = Self.aggregator(web, store) { time.withLock { $0 } }
    try await aggregator.subscribe(to: "https://a.test/f")
    while published() < 240 {
      try await aggregator.pollDue()
      let schedule = try #require(await aggregator.subscriptions().first?.schedule)
      time.withLock { $0 = schedule.nextPoll }
    }
    try await aggregator.pollDue()
    let found = try await store.entries(EntrySelection(), at: nil, limit: 1_000).items
    #expect(found.count == published() + 16)
  }

  @Test(
    "17-Polling, F1: what a feed asks for holds while it is unchanged, by ETags weak or strange")
  func unchanged() async throws {
    for tag in ["W/\"a,b\"", "\"\"", "no-quotes", "\"with space é\""] {
      let time = Mutex(Self.start)
      let web = FeedWeb { _, fields in
        if fields[.ifNoneMatch] == tag { return .init(status: 304) }
        var answer = Self.answer(200, ["ETag": tag], "<ttl>300</ttl>")
        if fields[.ifNoneMatch] != nil { answer.status = 500 }
        return answer
      }
      let aggregator = Self.aggregator(web) { time.withLock { $0 } }
      try await aggregator.subscribe(to: "https://a.test/f")
      for number in 1...3 {
        try await aggregator.pollDue()
        #expect(web.urls.count == number)
        let subscription = try #require(await aggregator.subscriptions().first)
        #expect(subscription.health.unchanged == number - 1, "\(tag)")
        #expect(subscription.schedule.nextPoll - time.withLock { $0 } >= 5 * Self.hour)
        time.withLock { $0 = subscription.schedule.nextPoll }
      }
    }
  }

  @Test(
    "17-Aggregator, X19: entries to which a publisher gave one identifier are all kept, each once")
  func sharedIdentifiers() async throws {
    let time = Mutex(Self.start)
    let last = FeedCounter()
    let web = FeedWeb { _, _ in
      let items = (1...last.value + 2).reversed().map {
        "<item><guid isPermaLink='false'>same</guid><title>T\($0)</title><link>https://a.test/</link></item>"
      }
      return .init(body: "<rss><channel>\(items.joined())</channel></rss>")
    }
    let store = MemoryFeedStore()
    let aggregator = Self.aggregator(web, store) { time.withLock { $0 } }
    try await aggregator.subscribe(to: "https://a.test/f")
    for number in [1, 1, 2, 5, 5] {
      last.value = number
      try await aggregator.pollDue()
      time.withLock { $0 += 100_000 }
      let titles = try await store.entries(EntrySelection(), at: nil, limit: 100).items.compactMap {
        $0.entry.title?.value
      }
      #expect(titles == (1...number + 2).reversed().map { "T\($0)" })
    }
    #expect(try await aggregator.subscriptions().first?.health.entries == 7)
  }

  @Test(
    "17-Aggregator, X19: an entry with a shared identifier is one entry, whichever of the others are there"
  )
  func departingIdentifiers() async throws {
    let time = Mutex(Self.start)
    let number = FeedCounter()
    // For each poll, the titles of the entries with the shared identifier.
    let polls = [["A", "B", "B2"], ["A", "B"], ["B"], ["C"], ["D", "B"]]
    let web = FeedWeb { _, _ in
      let items = polls[number.value].map {
        "<item><guid isPermaLink='false'>x</guid><title>\($0.prefix(1))</title><link>/\($0)</link></item>"
      }
      return .init(body: "<rss><channel>\(items.joined())</channel></rss>")
    }
    let store = MemoryFeedStore()
    let aggregator = Self.aggregator(web, store) { time.withLock { $0 } }
    try await aggregator.subscribe(to: "https://a.test/f")
    for (poll, count) in [3, 3, 3, 4, 5].enumerated() {
      number.value = poll
      try await aggregator.pollDue()
      time.withLock { $0 += 100_000 }
      let found = try await store.entries(EntrySelection(), at: nil, limit: 100).items
      #expect(found.count == count, "poll \(poll)")
    }
  }

  @Test("17-Aggregator, R17: a feed's word that it has moved stands while the feed is unchanged")
  func movedAndUnchanged() async throws {
    let time = Mutex(Self.start)
    let web = FeedWeb { url, fields in
      if url.hasSuffix("new") { return .init(body: rssPage([1, 2])) }
      if fields[.ifNoneMatch] != nil { return .init(status: 304) }
      return .init(
        body: rssPage(
          [1],
          "<itunes:new-feed-url xmlns:itunes='http://www.itunes.com/dtds/podcast-1.0.dtd'>https://a.test/new</itunes:new-feed-url>"
        ), fields: [.eTag: "\"1\""])
    }
    let aggregator = Self.aggregator(web) { time.withLock { $0 } }
    try await aggregator.subscribe(to: "https://a.test/old")
    for _ in 0..<3 {
      try await aggregator.pollDue()
      time.withLock { $0 += 100_000 }
    }
    #expect(web.urls.map { $0.suffix(3) } == ["old", "old", "new"])
  }

  /// Polls a feed at `https://a.test/old` nine times, which says that it has moved to `address`, and
  /// returns the addresses that were asked for, and the subscription.
  private static func poll(
    movedTo address: String, _ answer: @escaping @Sendable (_ url: String) -> FeedWeb.Answer?
  ) async throws -> (urls: [String], subscription: FeedSubscription) {
    let time = Mutex(start)
    let moved =
      "<itunes:new-feed-url xmlns:itunes='http://www.itunes.com/dtds/podcast-1.0.dtd'>\(address)</itunes:new-feed-url>"
    let web = FeedWeb { url, _ in
      url == "https://a.test/old" ? .init(body: rssPage([1], moved)) : answer(url)
    }
    let aggregator = Self.aggregator(web) { time.withLock { $0 } }
    try await aggregator.subscribe(to: "https://a.test/old")
    for _ in 0..<9 {
      try await aggregator.pollDue()
      time.withLock { $0 += 100_000 }
    }
    return (web.urls, try #require(await aggregator.subscriptions().first))
  }

  @Test(
    "17-Aggregator, R17: no feed moves from https to http by its own word, but at its host by https"
  )
  func movedToPlainHTTP() async throws {
    let other = try await Self.poll(movedTo: "http://b.test/new") { _ in
      .init(body: rssPage([1]))
    }
    #expect(other.urls == Array(repeating: "https://a.test/old", count: 9))
    let own = try await Self.poll(movedTo: "http://a.test/new") { _ in .init(body: rssPage([1])) }
    #expect(own.subscription.schedule.url == "https://a.test/new")
    #expect(own.urls.allSatisfy { $0.hasPrefix("https:") } && own.urls.count == 9)
  }

  @Test("17-Aggregator, R17: a feed's word that it has moved to a dead address is tried once")
  func movedToDeadAddress() async throws {
    let (urls, subscription) = try await Self.poll(movedTo: "https://a.test/new") { _ in nil }
    #expect(urls.count { $0.hasSuffix("new") } == 1 && urls.count == 9)
    #expect(subscription.schedule.state == .active)
    #expect(subscription.schedule.url == "https://a.test/old")
  }

  @Test(
    "17-Aggregator, R17: a feed stays where the address that it declares leads back to it",
    arguments: [true, false])
  func movedInCircle(isRedirect: Bool) async throws {
    let (urls, subscription) = try await Self.poll(movedTo: "https://a.test/new") { _ in
      isRedirect
        ? .init(status: 301, fields: [.location: "https://a.test/old"])
        : .init(
          body: rssPage(
            [1],
            "<i:new-feed-url xmlns:i='http://www.itunes.com/dtds/podcast-1.0.dtd'>https://a.test/old</i:new-feed-url>"
          ))
    }
    let last = isRedirect ? "https://a.test/old" : "https://a.test/new"
    #expect(urls.suffix(5) == Array(repeating: last, count: 5)[...])
    #expect(subscription.schedule.url == last && subscription.schedule.state == .active)
    // A stored schedule without the addresses to avoid, of an earlier version, is read.
    let data = try JSONEncoder().encode(subscription.schedule)
    var stored = try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
    #expect(stored.removeValue(forKey: "avoidedURLs") != nil)
    let earlier = try JSONDecoder().decode(
      PollSchedule.self, from: JSONSerialization.data(withJSONObject: stored))
    #expect(earlier.url == last && earlier != subscription.schedule)
  }

  @Test(
    "17-Polling, F2: gone is what is gone at the feed's own address, or where it has moved for good",
    arguments: [
      ([], true), ([301], true), ([308, 301], true), ([302], false), ([301, 307], false),
      ([307, 301], false),
    ])
  func gone(redirects: [Int], isOver: Bool) async throws {
    let web = FeedWeb { url, _ in
      let hop = Int(url.suffix(1)) ?? 0
      guard hop < redirects.count else { return .init(status: 410) }
      return .init(
        status: redirects[hop], fields: [.location: "https://a.test/\(hop + 1)"])
    }
    let aggregator = Self.aggregator(web) { Self.start }
    try await aggregator.subscribe(to: "https://a.test/0")
    try await aggregator.pollDue()
    #expect(
      try await aggregator.subscriptions().first?.schedule.state == (isOver ? .ended : .penalized))
  }

  @Test(
    "17-Aggregator, X19: entries that read alike are all kept where time or place tells them apart")
  func alikeEntries() async throws {
    let time = Mutex(Self.start)
    let items = [
      "<pubDate>Mon, 02 Jan 2006 15:04:05 GMT</pubDate>",
      "<pubDate>Tue, 03 Jan 2006 15:04:05 GMT</pubDate>",
      "<link>/s</link><pubDate>Mon, 02 Jan 2006 15:04:05 GMT</pubDate>",
      "<link>/s</link><pubDate>Tue, 03 Jan 2006 15:04:05 GMT</pubDate>",
      "<guid>0</guid><link>/1</link>",
      "<guid>0</guid><link>/2</link><pubDate>Tue, 03 Jan 2006 15:04:05 GMT</pubDate>",
    ].map { "<item><title>T</title>\($0)</item>" }
    let body = "<rss><channel>\(items.joined())</channel></rss>"
    let store = MemoryFeedStore()
    let aggregator = Self.aggregator(FeedWeb(["https://a.test/f": body]), store) {
      time.withLock { $0 }
    }
    try await aggregator.subscribe(to: "https://a.test/f")
    for _ in 1...2 {
      try await aggregator.pollDue()
      let found = try await store.entries(EntrySelection(), at: nil, limit: 100).items
      #expect(
        found.count == 6,
        "\(found.map { ($0.entry.identity.text, $0.entry.url, $0.entry.published) })")
      time.withLock { $0 += 100_000 }
    }
  }

  @Test(
    "17-Aggregator, X19: entries without identifier are known by their address, and without one by their text"
  )
  func missingIdentifiers() async throws {
    let time = Mutex(Self.start)
    let body = """
      <rss><channel><item><link>/1</link><title>A</title></item><item><title>B</title></item>
      <item><description>B</description></item><item><title>B</title></item><item/></channel></rss>
      """
    let store = MemoryFeedStore()
    let aggregator = Self.aggregator(FeedWeb(["https://a.test/f": body]), store) {
      time.withLock { $0 }
    }
    try await aggregator.subscribe(to: "https://a.test/f")
    for _ in 0..<3 {
      try await aggregator.pollDue()
      time.withLock { $0 += 100_000 }
      let found = try await store.entries(EntrySelection(), at: nil, limit: 100).items
      #expect(found.map(\.entry.identity.kind) == [.link, .digest, .digest, .digest])
    }
  }

  @Test(
    "17-Hub: hubs and the feed's own address in Link header fields come before those of the document"
  )
  func linkHeader() async throws {
    let body = rssPage(
      [1], "<atom:link rel='hub' href='https://old.test/'/><atom:link rel='self' href='/old'/>")
    let web = FeedWeb { _, _ in
      .init(
        body: body,
        fields: [
          .link:
            "<https://hub.test/>; rel=hub, </topic>; rel=\"self\", <https://two.test/>; rel=\"hub x\""
        ])
    }
    let client = PageClient(transport: web, configuration: .feed)
    let feed = try await client.feed(at: "https://a.test/f").properties()
    #expect(
      feed.hubs.map(\.url) == ["https://hub.test/", "https://two.test/", "https://old.test/"])
    #expect(feed.feedURL == "https://a.test/topic")
  }
}
