import Foundation
import HTTPTypes
import QuireCore
import QuireHTTP
import QuireTesting
import Synchronization
import TestSupport
import Testing

@testable import QuireFeeds

@Suite struct AggregatorTests {
  /// A publisher of feeds with numbered entries, which grow, move, fail and end as a test says.
  private final class Publisher: Sendable {
    struct Feed {
      var first = 0
      var last = 0
      var status = 200
      var fields: HTTPFields = [:]
    }

    let feeds = Mutex<[String: Feed]>([:])

    func change(_ url: String, _ change: (inout Feed) -> Void) {
      feeds.withLock { change(&$0[url, default: Feed()]) }
    }

    func answer(_ url: String, _ fields: HTTPFields) -> FeedWeb.Answer? {
      guard let feed = feeds.withLock({ $0[url] }) else { return nil }
      guard feed.status == 200 else {
        return FeedWeb.Answer(status: feed.status, body: "no", fields: feed.fields)
      }
      let tag = "\"\(feed.last)\""
      var own = feed.fields
      own[.eTag] = tag
      if fields[.ifNoneMatch] == tag { return FeedWeb.Answer(status: 304, fields: own) }
      return FeedWeb.Answer(body: rssPage(Array((feed.first...feed.last).reversed())), fields: own)
    }
  }

  private final class Clock: Sendable {
    let time = Mutex(1_800_000_000.0)
    var now: Double { time.withLock { $0 } }
    func advance(_ seconds: Double) { time.withLock { $0 += seconds } }
  }

  private func aggregator(
    _ store: any FeedStore, _ web: FeedWeb, _ clock: Clock, pagesAtFirst: Int = 1,
    events: Recorder<FeedPollReport> = Recorder()
  ) -> Aggregator {
    var environment = Aggregator.Environment()
    environment.now = { clock.now }
    environment.random = { 0.5 }
    let settings = AggregatorSettings(
      limits: PollingLimits(hostGap: .zero), pagesAtFirst: pagesAtFirst)
    return Aggregator(
      store: store, client: PageClient(transport: web, configuration: .feed), settings: settings,
      environment: environment
    ) { event in
      if case .polled(let report) = event { events.note(report) }
    }
  }

  private func ids(_ store: any FeedStore) async throws -> [String] {
    try await store.entries(EntrySelection(), at: nil, limit: 10_000).items.compactMap(\.entry.id)
  }

  @Test(
    "17-Aggregator: an older page that fails for the time being is asked for with the next poll, one that is gone is not",
    arguments: [503, 404])
  func olderPages(status: Int) async throws {
    let (clock, store) = (Clock(), MemoryFeedStore())
    let isFailing = Mutex(true)
    let web = FeedWeb { url, fields in
      if url.hasSuffix("2") {
        return isFailing.withLock { $0 } ? .init(status: status) : .init(body: rssPage([1, 2]))
      }
      if fields[.ifNoneMatch] != nil { return .init(status: 304) }
      return .init(
        body: rssPage([3, 4], "<atom:link rel='next' href='/2'/>"), fields: [.eTag: "\"1\""])
    }
    let aggregator = aggregator(store, web, clock, pagesAtFirst: 2)
    try await aggregator.subscribe(to: "https://a.test/f")
    try await aggregator.pollDue()
    #expect(try await ids(store).count == 2)
    var health = try #require(await aggregator.subscriptions().first).health
    #expect(health.lastError == nil && (health.olderPagesError != nil) == (status == 503))
    isFailing.withLock { $0 = false }
    for _ in 0..<2 {
      clock.advance(100_000)
      try await aggregator.pollDue()
    }
    #expect(try await ids(store).count == (status == 503 ? 4 : 2))
    health = try #require(await aggregator.subscriptions().first).health
    #expect(health.olderPagesError == nil)
    #expect(web.urls.count { $0.hasSuffix("2") } == (status == 503 ? 2 : 1))
  }

  @Test(
    "17-Aggregator: a poll whose page is all new reads on to the known entries, also after a failure, and no further",
    arguments: [200, 503])
  func burst(status: Int) async throws {
    let (clock, store, last) = (Clock(), MemoryFeedStore(), FeedCounter())
    let isFailing = Mutex(false)
    // Pages of two entries, the newest first, down to entry 1.
    let web = FeedWeb { url, fields in
      let page = url.split(separator: "=").dropFirst().first.flatMap { Int($0) } ?? 1
      if page == 2, isFailing.withLock({ $0 }) { return .init(status: 503) }
      let newest = last.value - 2 * (page - 1)
      let tag = "\"\(newest)\""
      if fields[.ifNoneMatch] == tag { return .init(status: 304) }
      let next = newest > 2 ? "<atom:link rel='next' href='/f?page=\(page + 1)'/>" : ""
      return .init(body: rssPage([newest, newest - 1], next), fields: [.eTag: tag])
    }
    let events = Recorder<FeedPollReport>()
    let aggregator = aggregator(store, web, clock, events: events)
    try await aggregator.subscribe(to: "https://a.test/f")
    func poll() async throws -> Int {
      let before = web.urls.count
      try await aggregator.pollDue()
      clock.advance(100_000)
      return web.urls.count - before
    }
    last.value = 6
    #expect(try await poll() == 1)
    #expect(try await ids(store) == ["urn:6", "urn:5"])
    last.value = 7
    #expect(try await poll() == 1)
    last.value = 12
    isFailing.withLock { $0 = status == 503 }
    if status == 503 {
      #expect(try await poll() == 2)
      let health = try #require(await aggregator.subscriptions().first).health
      #expect(health.lastError == nil && health.olderPagesError != nil)
      isFailing.withLock { $0 = false }
    }
    #expect(try await poll() == 3)
    #expect(Set(try await ids(store)) == Set((5...12).map { "urn:\($0)" }))
    #expect(try await poll() == 1)
    let failures = events.values.compactMap(\.olderPagesError)
    #expect(failures.map { $0.response?.status.code } == (status == 503 ? [503] : []))
    // Whatever a feed links to, a poll is bounded, and says where it left entries out.
    last.value = 1_000
    #expect(try await poll() == 10)
    #expect(try await ids(store).count == 28)
    #expect(events.values.last?.olderPagesError?.code == .limitExceeded)
    #expect(try await poll() == 1)
    #expect(events.values.last?.olderPagesError == nil)
  }

  @Test("17-Aggregator, X19: a poll reads on to the known entries where all have one identifier")
  func burstOfOneIdentifier() async throws {
    let (clock, store, last) = (Clock(), MemoryFeedStore(), FeedCounter())
    // Pages of two entries, the newest first, down to entry 1.
    let web = FeedWeb { url, _ in
      let page = url.split(separator: "=").dropFirst().first.flatMap { Int($0) } ?? 1
      let newest = last.value - 2 * (page - 1)
      let items = [newest, newest - 1].map { "<item><guid>x</guid><title>\($0)</title></item>" }
      let next = newest > 2 ? "<a:link rel='next' href='/f?page=\(page + 1)'/>" : ""
      return .init(
        body:
          "<rss xmlns:a='http://www.w3.org/2005/Atom'><channel>\(next)\(items.joined())</channel></rss>"
      )
    }
    let aggregator = aggregator(store, web, clock)
    try await aggregator.subscribe(to: "https://a.test/f")
    for (number, requests) in [(6, 1), (12, 5), (13, 6)] {
      last.value = number
      try await aggregator.pollDue()
      clock.advance(100_000)
      #expect(web.urls.count == requests)
    }
    let titles = try await store.entries(EntrySelection(), at: nil, limit: 100).items.map {
      $0.entry.title?.value ?? ""
    }
    #expect(Set(titles) == Set((5...13).map { "\($0)" }) && titles.count == 9)
  }

  @Test("17-Aggregator: a poll that reaches its limit says which, of pages or of bytes")
  func gap() async throws {
    for (bytes, words) in [(32 << 20, "10 pages"), (1_000, "1000 bytes")] {
      let (clock, newest) = (Clock(), FeedCounter())
      let web = FeedWeb { url, _ in
        let page = url.split(separator: "=").dropFirst().first.flatMap { Int($0) } ?? 1
        let next = "<atom:link rel='next' href='/f?page=\(page + 1)'/>"
        return .init(body: rssPage([newest.value - page], next))
      }
      var configuration = PageClient.Configuration.feed
      configuration.transferLimits.decodedBytes = bytes
      var environment = Aggregator.Environment()
      environment.now = { clock.now }
      let events = Recorder<FeedPollReport>()
      let aggregator = Aggregator(
        store: MemoryFeedStore(), client: PageClient(transport: web, configuration: configuration),
        settings: AggregatorSettings(limits: PollingLimits(hostGap: .zero)),
        environment: environment
      ) { event in
        if case .polled(let report) = event { events.note(report) }
      }
      try await aggregator.subscribe(to: "https://a.test/f")
      for number in [2, 1_000] {
        newest.value = number
        try await aggregator.pollDue()
        clock.advance(100_000)
      }
      let error = try #require(events.values.last?.olderPagesError)
      #expect(error.code == .limitExceeded && error.message.contains(words), "\(error.message)")
    }
  }

  @Test(
    "17-Aggregator: a poll reads on to the known entries behind entries that are pinned to the first page",
    arguments: [0, 1, 2])
  func pinnedEntries(pins: Int) async throws {
    let (clock, store, last) = (Clock(), MemoryFeedStore(), FeedCounter())
    // Pages of four entries, the newest first; the first page has old ones above them.
    let web = FeedWeb { url, fields in
      let page = url.split(separator: "=").dropFirst().first.flatMap { Int($0) } ?? 1
      let tag = "\"\(last.value)\""
      if fields[.ifNoneMatch] == tag { return .init(status: 304) }
      let above = page == 1 ? 0 : 4 * (page - 1) - pins
      let newest = (0..<(page == 1 ? 4 - pins : 4)).map { last.value - above - $0 }
      let old = page == 1 ? (0..<pins).map { 900 + $0 } : []
      let items = (old + newest).map { id in
        let time = Date(timeIntervalSince1970: Double(id < 900 ? 1_700_000_000 + id : id))
        return "<item><guid>urn:\(id)</guid><dc:date>\(FeedTime.text(time) ?? "")</dc:date></item>"
      }.joined()
      return .init(
        body: """
          <rss xmlns:atom='http://www.w3.org/2005/Atom' xmlns:dc='http://purl.org/dc/elements/1.1/'>
          <channel><atom:link rel='next' href='/f?page=\(page + 1)'/>\(items)</channel></rss>
          """, fields: [.eTag: tag])
    }
    let aggregator = aggregator(store, web, clock)
    try await aggregator.subscribe(to: "https://a.test/f")
    var known: Set<String> = []
    for (number, requests) in [(500, 1), (501, 1), (501, 1), (506, 2), (515, 3), (516, 1)] {
      last.value = number
      let before = web.urls.count
      try await aggregator.pollDue()
      clock.advance(100_000)
      #expect(web.urls.count - before == requests, "entry \(number)")
      let now = Set(try await ids(store))
      #expect(now.isSuperset(of: known) && now.contains("urn:\(number)"))
      known = now
    }
    #expect(known.isSuperset(of: (500...516).map { "urn:\($0)" }))
  }

  @Test("17-Aggregator, 17-Sitemap: a sitemap index is no feed, and its error names a sitemap")
  func sitemapIndex() async throws {
    let space = "xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'"
    let web = FeedWeb([
      "https://a.test/sitemap.xml":
        "<sitemapindex \(space)><sitemap><loc>https://a.test/1.xml</loc></sitemap></sitemapindex>",
      "https://a.test/1.xml": "<urlset \(space)><url><loc>https://a.test/p</loc></url></urlset>",
    ])
    let (clock, store) = (Clock(), MemoryFeedStore())
    let aggregator = aggregator(store, web, clock, pagesAtFirst: 5)
    try await aggregator.subscribe(to: "https://a.test/sitemap.xml")
    for count in 1...2 {
      try await aggregator.pollDue()
      let health = try #require(await aggregator.subscriptions().first).health
      #expect(health.failures == count && health.lastSuccess == nil)
      #expect(health.lastError?.contains("such as https://a.test/1.xml") == true)
      clock.advance(100_000)
    }
    #expect(try await ids(store) == [] && !web.urls.contains("https://a.test/1.xml"))
  }

  @Test("17-Aggregator: the store in memory keeps the promises of stores")
  func memoryStore() async throws {
    try await FeedStoreConformance(persists: false) { MemoryFeedStore() }.check()
  }

  @Test(
    "17-Aggregator, F1: a feed is asked when it is due, conditionally, and each entry is kept once")
  func polling() async throws {
    let (publisher, clock, store) = (Publisher(), Clock(), MemoryFeedStore())
    let web = FeedWeb { publisher.answer($0, $1) }
    let events = Recorder<FeedPollReport>()
    let aggregator = aggregator(store, web, clock, events: events)
    publisher.change("https://a.test/f") { $0.last = 4 }
    publisher.change("https://b.test/f") { $0.last = 2 }
    try await aggregator.subscribe(to: "https://a.test/f", title: "A")
    try await aggregator.subscribe(to: "https://b.test/f", folders: ["F"])
    #expect(web.urls.isEmpty)
    try await aggregator.pollDue()
    #expect(try await ids(store).count == 8)
    try await aggregator.pollDue()
    #expect(web.urls.count == 2)
    clock.advance(1_800)
    try await aggregator.pollDue()
    #expect(web.urls.count == 2)
    clock.advance(86_400)
    publisher.change("https://a.test/f") { $0.last = 6 }
    try await aggregator.pollDue()
    #expect(web.urls.count == 4)
    #expect(web.fields.suffix(2).allSatisfy { $0[.ifNoneMatch] != nil })
    #expect(try await ids(store).count == 10)
    #expect(events.values.map(\.effect.added).sorted() == [0, 2, 3, 5])
    #expect(events.values.filter(\.isUnchanged).map(\.subscription.id) == ["https://b.test/f"])
    let health = try await aggregator.subscriptions().map(\.health)
    #expect(health.map(\.entries) == [7, 3])
    #expect(health.map(\.unchanged) == [0, 1])
    #expect(try await store.subscriptions() == aggregator.subscriptions())
    #expect(try await aggregator.list().outlines.map(\.title) == ["A", "T"])
  }

  @Test(
    "17-Aggregator: a clock that was far ahead silences no feed, in this process or in the next")
  func clockAhead() async throws {
    let (clock, store) = (Clock(), MemoryFeedStore())
    let web = FeedWeb { _, _ in .init(body: rssPage([1])) }
    let first = aggregator(store, web, clock)
    try await first.subscribe(to: "https://a.test/f")
    for (number, jump) in [1.0, -1, 1, -1].enumerated() {
      clock.advance(jump * 31_536_000)
      // The last jump is followed by a restart.
      let aggregator = number == 3 ? aggregator(store, web, clock) : first
      for _ in 0..<2 { try await aggregator.pollDue() }
      #expect(web.urls.count == number + 1)
    }
  }

  /// A transport that records which requests keep their connection.
  private struct Line: HTTPTransport {
    let web: FeedWeb
    let kept = Recorder<String>()

    func send(_ request: TransportRequest) async throws -> TransportResponse {
      if request.keepsConnection { kept.note(request.url) }
      return try await web.send(request)
    }
  }

  @Test(
    "17-Polite: a connection is kept where feeds of its host wait, and else closed with the poll")
  func connections() async throws {
    let feeds = ["https://a.test/1", "https://a.test/2", "https://b.test/"]
    let line = Line(
      web: FeedWeb(Dictionary(uniqueKeysWithValues: feeds.map { ($0, rssPage([1])) })))
    let settings = AggregatorSettings(limits: PollingLimits(hostGap: .zero))
    let aggregator = Aggregator(
      store: MemoryFeedStore(), client: PageClient(transport: line, configuration: .feed),
      settings: settings)
    for feed in feeds { try await aggregator.subscribe(to: feed) }
    try await aggregator.pollDue()
    #expect(line.web.urls.sorted() == feeds)
    #expect(line.kept.values.map { $0.dropLast() } == ["https://a.test/"])
  }

  @Test(
    "17-Aggregator, F2, F5: a feed that is gone is not asked again, and one that fails more seldom")
  func failures() async throws {
    let (publisher, clock, store) = (Publisher(), Clock(), MemoryFeedStore())
    let web = FeedWeb { publisher.answer($0, $1) }
    let aggregator = aggregator(store, web, clock)
    publisher.change("https://gone.test/f") { $0.status = 410 }
    publisher.change("https://bad.test/f") { $0.status = 500 }
    for url in ["https://gone.test/f", "https://bad.test/f"] {
      try await aggregator.subscribe(to: url)
    }
    for _ in 0..<48 {
      try await aggregator.pollDue()
      clock.advance(1_800)
    }
    #expect(web.urls.filter { $0.contains("gone") }.count == 1)
    try await aggregator.subscribe(to: "https://gone.test/f")
    for _ in 0..<2 { try await aggregator.pollDue() }
    #expect(web.urls.filter { $0.contains("gone") }.count == 2)
    #expect((2...7).contains(web.urls.filter { $0.contains("bad") }.count))
    let bad = try #require(await aggregator.subscriptions().first)
    #expect(bad.health.lastError?.contains("500") == true)
    #expect(bad.schedule.state == .penalized)
    publisher.change("https://bad.test/f") { $0.status = 200 }
    clock.advance(200_000)
    try await aggregator.pollDue()
    #expect(try await aggregator.subscriptions().first?.health.lastError == nil)
    #expect(try await ids(store).count == 1)
  }

  @Test("17-Aggregator: of feeds that move to one address, the second names the first, also later")
  func moveToOneAddress() async throws {
    let (publisher, clock, store) = (Publisher(), Clock(), MemoryFeedStore())
    let events = Recorder<FeedPollReport>()
    let web = FeedWeb { publisher.answer($0, $1) }
    let aggregator = aggregator(store, web, clock, events: events)
    let ids = ["https://a.test/f", "https://b.test/f"]
    for id in ids {
      publisher.change(id) {
        $0.status = 301
        $0.fields[.location] = "https://new.test/f"
      }
      try await aggregator.subscribe(to: id)
    }
    publisher.change("https://new.test/f") { $0.last = 3 }
    for _ in 0..<2 {
      try await aggregator.pollDue()
      clock.advance(90_000)
    }
    let told = events.values.compactMap(\.subscription.health.duplicateOf)
    #expect(told.count == 1 && ids.contains(told[0]), "\(told)")
    try await aggregator.pollDue()
    let stored = await store.subscriptions().map(\.health.duplicateOf)
    #expect(stored == (told == [ids[0]] ? [nil, ids[0]] : [ids[1], nil]))
    #expect(events.values.allSatisfy { $0.error == nil })
  }

  @Test("17-Aggregator: a permanent move is followed after it was seen twice, and the entries stay")
  func move() async throws {
    let (publisher, clock, store) = (Publisher(), Clock(), MemoryFeedStore())
    let web = FeedWeb { publisher.answer($0, $1) }
    let aggregator = aggregator(store, web, clock)
    publisher.change("https://old.test/f") {
      $0.status = 301
      $0.fields[.location] = "https://old.test/new"
    }
    publisher.change("https://old.test/new") { $0.last = 3 }
    try await aggregator.subscribe(to: "https://old.test/f")
    for _ in 0..<3 {
      try await aggregator.pollDue()
      clock.advance(90_000)
    }
    let subscription = try #require(await aggregator.subscriptions().first)
    #expect(subscription.id == "https://old.test/f")
    #expect(subscription.schedule.url == "https://old.test/new")
    #expect(web.urls.last == "https://old.test/new")
    #expect(web.urls.filter { $0 == "https://old.test/f" }.count == 2)
    #expect(try await ids(store).count == 4)
  }

  @Test(
    "17-Aggregator, R17: a feed that names a private address as its new home is asked at its own again"
  )
  func privateMove() async throws {
    let (clock, store) = (Clock(), MemoryFeedStore())
    let number = FeedCounter()
    let web = FeedWeb { url, _ in
      url.hasPrefix("https://a.test/")
        ? .init(
          body: rssPage(
            [number.value],
            """
            <itunes:new-feed-url xmlns:itunes='http://www.itunes.com/dtds/podcast-1.0.dtd'>\
            https://192.168.1.1/admin</itunes:new-feed-url>
            """)) : .init(body: "secret")
    }
    let aggregator = aggregator(store, web, clock)
    try await aggregator.subscribe(to: "https://a.test/f")
    var moved = 0
    for _ in 0..<8 {
      try await aggregator.pollDue()
      if try await aggregator.subscriptions().first?.schedule.url != "https://a.test/f" {
        moved += 1
      }
      clock.advance(200_000)
      number.value += 1
    }
    #expect(moved == 1)
    #expect(Set(web.urls) == ["https://a.test/f"])
    #expect(try await ids(store).count == 7)
  }

  /// A shared store whose claims a closure answers.
  private struct ClaimingStore: SharedFeedStore {
    var base = SharedMemoryFeedStore()
    let claiming: @Sendable (SharedMemoryFeedStore, FeedClaim) async -> [FeedSubscription]

    func subscriptions() async throws -> [FeedSubscription] { await base.subscriptions() }
    func apply(_ change: FeedChange) async throws -> FeedEffect { await base.apply(change) }
    func entries(
      _ selection: EntrySelection, at position: Position?, limit: Int
    ) async throws -> Page<StoredEntry> {
      try await base.entries(selection, at: position, limit: limit)
    }
    func subscription(pushToken: String) async throws -> FeedSubscription? { nil }
    func claim(_ claim: FeedClaim) async throws -> [FeedSubscription] {
      await claiming(base, claim)
    }
  }

  @Test("17-Shared: what a poll brings after its lease has passed to another is refused whole")
  func fencing() async throws {
    let (clock, base) = (Clock(), SharedMemoryFeedStore())
    let events = Recorder<FeedPollReport>()
    let web = FeedWeb { _, _ in .init(body: rssPage([1])) }
    let taking = TakingTransport(base: web) { _ in
      let taken = await base.claim(FeedClaim(holder: "other", dueBy: 1e12, limit: 9))
      #expect(taken.count == 1)
    }
    var environment = Aggregator.Environment()
    environment.now = { clock.now }
    let shortLeases = ClaimingStore(base: base) { base, claim in
      var claim = claim
      claim.lease = .zero
      return await base.claim(claim)
    }
    let aggregator = Aggregator(
      store: shortLeases, client: PageClient(transport: taking, configuration: .feed),
      settings: AggregatorSettings(), environment: environment
    ) { event in
      if case .polled(let report) = event { events.note(report) }
    }
    try await aggregator.subscribe(to: "https://a.test/f")
    let before = await base.subscriptions()
    try await aggregator.pollDue()
    #expect(web.urls.count == 1 && events.values.isEmpty)
    #expect(await base.subscriptions() == before)
    #expect(try await ids(base) == [])
  }

  @Test("17-Shared, 17-Polite: feeds that wait for their host keep no others from being claimed")
  func busyHost() async throws {
    let (clock, base, limits, gate) = (Clock(), SharedMemoryFeedStore(), Recorder<Int>(), Gate())
    for number in 0..<20 {
      let url = "https://\(number < 10 ? "busy.test/" : "a")\(number)"
      await base.apply(
        .subscribe(FeedSubscription(url: url, at: clock.now - 100 + Double(number))))
    }
    let store = ClaimingStore(base: base) { base, claim in
      limits.note(claim.limit)
      if limits.count == 2 { gate.openUp() }
      // Advance the time, so that the next claim is due.
      clock.advance(5)
      return await base.claim(claim)
    }
    var environment = Aggregator.Environment()
    environment.now = { clock.now }
    let web = FeedWeb { _, _ in .init(body: rssPage([1])) }
    let aggregator = Aggregator(
      store: store, client: PageClient(transport: web, configuration: .feed),
      settings: AggregatorSettings(
        limits: PollingLimits(concurrent: 4, hostGap: .seconds(1_000))),
      environment: environment)
    let running = Task { try await aggregator.run() }
    try await gate.wait()
    running.cancel()
    _ = await running.result
    #expect(limits.values.prefix(2) == [8, 7])
  }

  @Test("17-Shared: a round polls a due feed that a claim left out because its host was busy")
  func leftOutOfClaim() async throws {
    let (clock, base, gate) = (Clock(), SharedMemoryFeedStore(), Gate())
    let claims = Recorder<Int>()
    for number in 0..<9 {
      let url = "https://\(number % 8).test/\(number)"
      await base.apply(
        .subscribe(FeedSubscription(url: url, at: clock.now - 100 + Double(number))))
    }
    let store = ClaimingStore(base: base) { base, claim in
      let claimed = await base.claim(claim)
      claims.note(claimed.count)
      if claims.count == 2 { gate.openUp() }
      return claimed
    }
    let web = FeedWeb { _, _ in .init(body: rssPage([1])) }
    let waiting = TakingTransport(base: web) { url in
      if url == "https://0.test/0" { try? await gate.wait() }
    }
    var environment = Aggregator.Environment()
    environment.now = { clock.now }
    let aggregator = Aggregator(
      store: store, client: PageClient(transport: waiting, configuration: .feed),
      settings: AggregatorSettings(limits: PollingLimits(concurrent: 4, hostGap: .zero)),
      environment: environment)
    try await aggregator.pollDue()
    #expect(claims.values.prefix(2) == [8, 0])
    #expect(Set(web.urls).count == 9 && web.urls.count == 9)
  }

  @Test(
    "17-Shared, 17-Polite: a host passes to another machine after its gap, given back or not",
    arguments: [Duration.zero, .seconds(6_000)])
  func gapBetweenMachines(gap: Duration) async throws {
    let (store, limits) = (SharedMemoryFeedStore(), PollingLimits(hostGap: gap))
    let aggregator = Aggregator(
      store: store,
      client: PageClient(transport: FeedWeb { _, _ in .init(body: rssPage([1])) }),
      settings: AggregatorSettings(limits: limits))
    try await aggregator.subscribe(to: "https://a.test/f")
    try await aggregator.pollDue()
    let taken = await store.claim(FeedClaim(holder: "other", dueBy: 1e12, limit: 9))
    #expect(taken.count == (gap == .zero ? 1 : 0))
    // The lease includes the gap, for an aggregator that dies without returning its hosts.
    #expect(ClaimMachine(limits: limits).lease == .seconds(60) + gap)
  }

  /// A transport that runs an action before each answer.
  private struct TakingTransport: HTTPTransport {
    let base: FeedWeb
    let meanwhile: @Sendable (_ url: String) async -> Void

    func send(_ request: TransportRequest) async throws -> TransportResponse {
      await meanwhile(request.url)
      return try await base.send(request)
    }
  }

  @Test(
    "17-Aggregator: a feed that is removed and added again while it is polled has its entries, and is polled when it is due"
  )
  func returning() async throws {
    let (clock, store) = (Clock(), MemoryFeedStore())
    let web = FeedWeb { _, fields in
      fields[.ifNoneMatch] == nil
        ? .init(body: rssPage([1, 2]), fields: [.eTag: "\"1\""]) : .init(status: 304)
    }
    let aggregator = Mutex<Aggregator?>(nil)
    let taking = TakingTransport(base: web) { _ in
      guard web.urls.count == 1, let aggregator = aggregator.withLock({ $0 }) else { return }
      try? await aggregator.unsubscribe(id: "https://a.test/f")
      _ = try? await aggregator.subscribe(to: "https://a.test/f", title: "Again")
    }
    var environment = Aggregator.Environment()
    environment.now = { clock.now }
    let polling = Aggregator(
      store: store, client: PageClient(transport: taking, configuration: .feed),
      settings: AggregatorSettings(limits: PollingLimits(hostGap: .zero)),
      environment: environment)
    aggregator.withLock { $0 = polling }
    try await polling.subscribe(to: "https://a.test/f")
    try await polling.pollDue()
    clock.advance(100_000)
    // Two polls: during the first the feed is removed and added again, and the second is the first
    // of the new subscription.
    try await polling.pollDue()
    #expect(web.fields.map { $0[.ifNoneMatch] } == [nil, "\"1\"", nil])
    #expect(try await ids(store).count == 2)
    let subscription = try #require(await polling.subscriptions().first)
    #expect(subscription.title == "Again" && subscription.health.entries == 2)
    #expect(!subscription.schedule.isDue(at: clock.now))
    #expect(await store.subscriptions() == [subscription])
  }

  @Test(
    "17-Polling, 17-Shared: a feed that is late is not polled in the hours that it asks to skip",
    arguments: [false, true])
  func lateInSkips(isShared: Bool) async throws {
    let clock = Clock()
    // A shared store that compares only due times, as a database does. The wide claim takes the
    // leases.
    let store = ClaimingStore { base, claim in
      var wide = claim
      wide.dueBy = 1e12
      return await base.claim(wide).filter { $0.schedule.nextPoll <= claim.dueBy }
    }
    // The test starts at 08:00 UTC, so the next poll is due at 09:00.
    let web = FeedWeb { _, _ in
      .init(body: rssPage([1], "<skipHours><hour>10</hour><hour>11</hour></skipHours>"))
    }
    let aggregator = aggregator(
      isShared ? store : MemoryFeedStore() as any FeedStore, web, clock)
    try await aggregator.subscribe(to: "https://a.test/f")
    for (hours, count) in [(0.0, 1), (2.5, 1), (1, 1), (0.5, 2)] {
      clock.advance(hours * 3_600)
      try await aggregator.pollDue()
      #expect(web.urls.count == count)
    }
  }

  /// A store that fails at random, either before or after it has made the change.
  private struct FlakyStore: FeedStore {
    struct Crash: Error {}

    let base: MemoryFeedStore
    let generator: @Sendable () -> Int

    func subscriptions() async throws -> [FeedSubscription] { await base.subscriptions() }

    func apply(_ change: FeedChange) async throws -> FeedEffect {
      let fate = generator()
      if fate == 0 { throw Crash() }
      let effect = await base.apply(change)
      if fate == 1 { throw Crash() }
      return effect
    }

    func entries(
      _ selection: EntrySelection, at position: Position?, limit: Int
    ) async throws -> Page<StoredEntry> {
      try await base.entries(selection, at: position, limit: limit)
    }
  }

  @Test(
    "17-Aggregator: stopped before or after any change, 200 times, no entry is lost or stored twice"
  )
  func crashes() async throws {
    let seed = UInt64.random(in: 0 ... .max)
    let random = Mutex(SeededGenerator(seed: seed))
    let (publisher, clock, store) = (Publisher(), Clock(), MemoryFeedStore())
    let web = FeedWeb { publisher.answer($0, $1) }
    let urls = (0..<5).map { "https://\($0).test/f" }
    for url in urls {
      publisher.change(url) { $0.last = 5 }
      await store.apply(.subscribe(FeedSubscription(url: url, at: clock.now)))
    }
    var crashes = 0
    for _ in 0..<200 {
      let flaky = FlakyStore(base: store) {
        random.withLock { Int.random(in: 0..<6, using: &$0) }
      }
      do {
        try await aggregator(flaky, web, clock).pollDue()
      } catch is FlakyStore.Crash {
        crashes += 1
      }
      clock.advance(3_700)
      for url in urls where random.withLock({ Bool.random(using: &$0) }) {
        // The feed keeps its last 60 entries, about as many as it gets in two days.
        publisher.change(url) {
          $0.last += 1
          $0.first = max(0, $0.last - 60)
        }
      }
    }
    clock.advance(90_000)
    try await aggregator(store, web, clock).pollDue()
    let found = try await store.entries(EntrySelection(), at: nil, limit: 100_000).items
    for url in urls {
      let last = publisher.feeds.withLock { $0[url]?.last ?? 0 }
      let ids = found.filter { $0.subscription == url }.compactMap(\.entry.id)
      #expect(Set(ids) == Set((0...last).map { "urn:\($0)" }), "seed \(seed)")
      #expect(ids.count == last + 1, "seed \(seed)")
    }
    #expect(crashes > 50)
  }

  @Test("17-Aggregator: a feed that the store did not remove is still polled")
  func failedRemoval() async throws {
    let (clock, store, fate) = (Clock(), MemoryFeedStore(), FeedCounter())
    let web = FeedWeb(["https://a.test/f": rssPage([1])])
    let aggregator = aggregator(FlakyStore(base: store) { fate.value }, web, clock)
    fate.value = 2
    try await aggregator.subscribe(to: "https://a.test/f")
    fate.value = 0
    await #expect(throws: FlakyStore.Crash.self) {
      try await aggregator.unsubscribe(id: "https://a.test/f")
    }
    fate.value = 2
    try await aggregator.pollDue()
    #expect(try await ids(store) == ["urn:1"])
    try await aggregator.unsubscribe(id: "https://a.test/f")
    #expect(try await ids(store) == [] && web.urls.count == 1)
  }

  @Test(
    "17-Aggregator: run goes on until it is cancelled, takes new subscriptions, and runs once at a time"
  )
  func running() async throws {
    let (publisher, clock, store) = (Publisher(), Clock(), MemoryFeedStore())
    let web = FeedWeb { publisher.answer($0, $1) }
    let events = Recorder<FeedPollReport>()
    let (arrived, arrivals) = AsyncStream.makeStream(of: Void.self)
    var environment = Aggregator.Environment()
    environment.now = { clock.now }
    let aggregator = Aggregator(
      store: store, client: PageClient(transport: web, configuration: .feed),
      settings: AggregatorSettings(), environment: environment
    ) { event in
      guard case .polled(let report) = event else { return }
      events.note(report)
      arrivals.yield()
    }
    let running = Task { try await aggregator.run() }
    publisher.change("https://a.test/f") { $0.last = 1 }
    try await aggregator.subscribe(to: "https://a.test/f")
    for await _ in arrived { break }
    await #expect(throws: PageError.self) { try await aggregator.run() }
    running.cancel()
    await #expect(throws: CancellationError.self) { try await running.value }
    #expect(events.values.map(\.effect.added) == [2])
    for text in ["no address", "feed:/f", "feed:javascript:f"] {
      await #expect(throws: PageError.self) { try await aggregator.subscribe(to: text) }
    }
    let same = try await aggregator.subscribe(to: "feed:https://a.test/f", title: "F")
    #expect(same.id == "https://a.test/f" && same.title == "F")
    try await aggregator.unsubscribe(id: "https://a.test/f")
    #expect(try await ids(store) == [])
  }
}
