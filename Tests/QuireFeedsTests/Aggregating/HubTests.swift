import Foundation
import HTTPTypes
import QuireCore
import QuireHTTP
import QuirePagination
import QuireTesting
import Synchronization
import TestSupport
import Testing

@testable import QuireFeeds

/// Subscriptions at hubs (WebSub).
@Suite struct HubTests {
  private static let feed = """
    <feed xmlns="http://www.w3.org/2005/Atom"><id>f</id><title>T</title>
    <link rel="self" href="https://a.test/self"/><link rel="hub" href="https://hub.test/?a=1"/>
    <entry><id>1</id></entry></feed>
    """

  /// A publisher and its hub, which records the forms that it is sent.
  private final class Hub: HTTPTransport {
    let forms = Mutex<[String]>([])
    let polls = Mutex(0)
    let status: Int
    /// An action to run while a poll waits for its answer.
    let meanwhile = Mutex<(@Sendable () async throws -> Void)?>(nil)

    init(status: Int = 202) { self.status = status }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
      if request.url.hasPrefix("https://hub.test/") {
        forms.withLock { $0.append(String(decoding: request.body, as: UTF8.self)) }
        return TransportResponse(
          head: HTTPResponse(status: .init(code: status)), framing: .explicit, body: .bytes([]))
      }
      polls.withLock { $0 += 1 }
      try await meanwhile.withLock { $0 }?()
      return TransportResponse(
        head: HTTPResponse(status: .ok), framing: .explicit,
        body: .bytes(Array(HubTests.feed.utf8)))
    }
  }

  private final class Clock: Sendable {
    let time = Mutex(1_800_000_000.0)
    var now: Double { time.withLock { $0 } }
    func advance(_ seconds: Double) { time.withLock { $0 += seconds } }
  }

  private func aggregator(
    _ hub: Hub, _ clock: Clock, _ store: any FeedStore = MemoryFeedStore(),
    callback: String? = "https://reader.test/hub/"
  ) -> Aggregator {
    var environment = Aggregator.Environment()
    environment.now = { clock.now }
    environment.random = { 0.5 }
    return Aggregator(
      store: store, client: PageClient(transport: hub, configuration: .feed),
      settings: AggregatorSettings(limits: PollingLimits(hostGap: .zero), callback: callback),
      environment: environment)
  }

  private func ask(
    _ aggregator: Aggregator, _ method: HTTPRequest.Method, _ token: String, _ query: String = ""
  ) async throws -> HubAnswer {
    try await aggregator.answer(
      hub: HTTPRequest(
        method: method, scheme: "https", authority: "reader.test", path: "/hub/\(token)\(query)"))
  }

  private func token(_ aggregator: Aggregator) async throws -> String {
    try #require(await aggregator.subscriptions().first?.push?.token)
  }

  private let question =
    "?hub.mode=subscribe&hub.topic=https%3A%2F%2Fa.test%2Fself&hub.challenge=c%26%3C1&hub.lease_seconds=300000"

  @Test("17-Hub: a hub that a feed names is subscribed to, and answered what it asks back")
  func subscribing() async throws {
    let (hub, clock, store) = (Hub(), Clock(), MemoryFeedStore())
    let aggregator = aggregator(hub, clock, store)
    try await aggregator.subscribe(to: "https://a.test/feed")
    try await aggregator.pollDue()
    let token = try await token(aggregator)
    let form = try #require(hub.forms.withLock { $0.first })
    let parts = QueryString(form)
    #expect(parts["hub.mode"] == "subscribe" && parts["hub.topic"] == "https://a.test/self")
    #expect(parts["hub.callback"] == "https://reader.test/hub/\(token)")
    let answer = try await ask(aggregator, .get, token, question)
    #expect(answer.head.status == .ok && answer.body == Array("c&<1".utf8))
    #expect(answer.head.headerFields[.contentType]?.hasPrefix("text/plain") == true)
    let push = try #require(await store.subscriptions().first?.push)
    #expect(push.state == .active && push.leaseEnd == clock.now + 300_000)
  }

  @Test("17-Hub: what a hub tells makes the feed due, a minute after the last poll at the earliest")
  func delivering() async throws {
    let (hub, clock) = (Hub(), Clock())
    let aggregator = aggregator(hub, clock)
    try await aggregator.subscribe(to: "https://a.test/feed")
    try await aggregator.pollDue()
    let token = try await token(aggregator)
    _ = try await ask(aggregator, .get, token, question)
    for _ in 0..<3 { #expect(try await ask(aggregator, .post, token).head.status == .accepted) }
    try await aggregator.pollDue()
    #expect(hub.polls.withLock { $0 } == 1)
    clock.advance(60)
    try await aggregator.pollDue()
    #expect(hub.polls.withLock { $0 } == 2)
    // While the hub notifies, polls are as rare as the rules allow.
    let schedule = try #require(await aggregator.subscriptions().first?.schedule)
    #expect(schedule.nextPoll == clock.now + schedule.rules.longest)
    #expect(hub.forms.withLock { $0.count } == 1)
  }

  @Test(
    "17-Hub: what a hub tells while its feed is polled is not lost, also where the process ends")
  func tellingMeanwhile() async throws {
    let (hub, clock, store) = (Hub(), Clock(), MemoryFeedStore())
    let aggregator = aggregator(hub, clock, store)
    try await aggregator.subscribe(to: "https://a.test/feed")
    try await aggregator.pollDue()
    let token = try await token(aggregator)
    _ = try await ask(aggregator, .get, token, question)
    clock.advance(90_000)
    hub.meanwhile.withLock {
      $0 = {
        let answer = try await self.ask(aggregator, .post, token)
        #expect(answer.head.status == .accepted)
      }
    }
    try await aggregator.pollDue()
    hub.meanwhile.withLock { $0 = nil }
    #expect(hub.polls.withLock { $0 } == 2)
    let kept = try #require(await store.subscriptions().first)
    #expect(kept.schedule.nextPoll == clock.now + 60)
    #expect(try await aggregator.subscriptions() == [kept])
    clock.advance(60)
    try await self.aggregator(hub, clock, store).pollDue()
    #expect(hub.polls.withLock { $0 } == 3)
    let next = await store.subscriptions().first?.schedule.nextPoll ?? 0
    #expect(next > clock.now + 3_600)
  }

  @Test(
    "17-Hub, 17-Shared: what a hub tells one machine makes the feed due for another that holds it")
  func shared() async throws {
    let (hub, clock, store) = (Hub(), Clock(), SharedMemoryFeedStore())
    let (one, other) = (aggregator(hub, clock, store), aggregator(hub, clock, store))
    try await one.subscribe(to: "https://a.test/feed")
    try await other.pollDue()
    #expect(hub.forms.withLock { $0.count } == 1)
    let token = try await token(one)
    #expect(try await ask(one, .get, token, question).head.status == .ok)
    #expect(try await ask(one, .get, UUID().uuidString, question).head.status == .notFound)
    clock.advance(290_000)
    // The notification reaches `one` while `other` polls the feed and holds its host.
    hub.meanwhile.withLock {
      $0 = {
        let held = await store.claim(FeedClaim(holder: "third", dueBy: 1e12, limit: 9))
        #expect(held.isEmpty)
        let answer = try await self.ask(one, .post, token)
        #expect(answer.head.status == .accepted)
      }
    }
    try await other.pollDue()
    hub.meanwhile.withLock { $0 = nil }
    #expect(hub.polls.withLock { $0 } == 2)
    clock.advance(60)
    try await one.pollDue()
    #expect(hub.polls.withLock { $0 } == 3)
    // The aggregator that polled renewed the lease at the hub.
    #expect(hub.forms.withLock { $0.count } == 2)
  }

  @Test(
    "17-Hub, 17-Shared: two answers of a hub that two machines took at the same time both count")
  func crossing() throws {
    var subscription = FeedSubscription(url: "https://a.test/")
    let requested = FeedPush(
      hub: "https://hub.test/", topic: "https://a.test/", token: "t", state: .requested,
      requested: 100, leaseEnd: 100, lastPush: nil)
    subscription.take(requested)
    var (verified, delivered) = (requested, requested)
    let isMeant = verified.verified(topic: "https://a.test/", lease: 5_000, at: 200)
    #expect(isMeant)
    delivered.delivered(at: 201)
    var lapsed = subscription
    lapsed.take(verified)
    let again = FeedPush(
      hub: "https://hub.test/", topic: "https://a.test/", token: "t", state: .requested,
      requested: 6_000, leaseEnd: 5_200, lastPush: nil)
    lapsed.take(again)
    #expect(lapsed.push?.state == .requested && lapsed.push?.requested == 6_000)
    for answers in [[verified, delivered], [delivered, verified]] {
      var both = subscription
      for answer in answers { both.take(answer) }
      #expect(both.push?.state == .active && both.push?.leaseEnd == 5_200)
      #expect(both.push?.lastPush == 201)
    }
  }

  @Test("17-Hub: strangers, other topics and what was not asked for get 404, and change nothing")
  func strangers() async throws {
    let (hub, clock) = (Hub(), Clock())
    let aggregator = aggregator(hub, clock)
    try await aggregator.subscribe(to: "https://a.test/feed")
    try await aggregator.pollDue()
    let token = try await token(aggregator)
    let before = try await aggregator.subscriptions()
    for (method, path) in [
      (HTTPRequest.Method.post, "guess"), (.post, ""), (.post, UUID().uuidString.lowercased()),
      (.get, "guess" + question),
      (.get, token), (.get, token + "?hub.mode=subscribe"),
      (.get, token + question.replacing("self", with: "other")),
      (.get, token + question.replacing("hub.mode=subscribe", with: "hub.mode=unsubscribe")),
      (.delete, token),
    ] {
      let answer = try await ask(aggregator, method, path)
      #expect(answer.head.status == .notFound && answer.body.isEmpty, "\(method) \(path)")
    }
    #expect(try await aggregator.subscriptions() == before)
  }

  @Test("17-Hub: a lease is renewed before it ends, and a hub that refuses is left alone for a day")
  func leases() async throws {
    let (hub, clock) = (Hub(), Clock())
    let aggregator = aggregator(hub, clock)
    try await aggregator.subscribe(to: "https://a.test/feed")
    try await aggregator.pollDue()
    let token = try await token(aggregator)
    _ = try await ask(aggregator, .get, token, question)
    clock.advance(230_000)
    try await aggregator.pollDue()
    #expect(hub.forms.withLock { $0.count } == 2)
    #expect(hub.forms.withLock { $0[1] } == hub.forms.withLock { $0[0] })
    _ = try await ask(
      aggregator, .get, token, "?hub.mode=denied&hub.topic=https%3A%2F%2Fa.test%2Fself")
    #expect(try await aggregator.subscriptions().first?.push?.state == .denied)
    clock.advance(86_000)
    try await aggregator.pollDue()
    #expect(hub.forms.withLock { $0.count } == 2)
    clock.advance(90_000)
    try await aggregator.pollDue()
    #expect(hub.forms.withLock { $0.count } == 3)
  }

  @Test(
    "17-Hub: the token is the last part of the callback's path, whether or not that ends with a slash"
  )
  func callbackWithoutSlash() async throws {
    let (hub, clock) = (Hub(), Clock())
    let aggregator = aggregator(hub, clock, callback: "https://reader.test/hub")
    try await aggregator.subscribe(to: "https://a.test/feed")
    try await aggregator.pollDue()
    let token = try await token(aggregator)
    let form = try #require(hub.forms.withLock { $0.first })
    #expect(QueryString(form)["hub.callback"] == "https://reader.test/hub/\(token)")
  }

  @Test("17-Hub: a lease that is no number of seconds is the one that was asked for")
  func strangeLease() async throws {
    let (hub, clock) = (Hub(), Clock())
    let aggregator = aggregator(hub, clock)
    try await aggregator.subscribe(to: "https://a.test/feed")
    try await aggregator.pollDue()
    let token = try await token(aggregator)
    for (lease, seconds) in [("nan", 864_000.0), ("-inf", 60), ("inf", 3_456_000), ("x", 864_000)] {
      _ = try await ask(aggregator, .get, token, question.replacing("300000", with: lease))
      let push = try #require(await aggregator.subscriptions().first?.push)
      #expect(push.leaseEnd == clock.now + seconds, "\(lease)")
    }
  }

  @Test("17-Hub: polls are rare until the lease of a hub ends, and no longer")
  func shortLease() async throws {
    let (hub, clock) = (Hub(), Clock())
    let aggregator = aggregator(hub, clock)
    try await aggregator.subscribe(to: "https://a.test/feed")
    try await aggregator.pollDue()
    let token = try await token(aggregator)
    _ = try await ask(aggregator, .get, token, question.replacing("300000", with: "7200"))
    clock.advance(3_800)
    try await aggregator.pollDue()
    #expect(hub.polls.withLock { $0 } == 2 && hub.forms.withLock { $0.count } == 2)
    let schedule = try #require(await aggregator.subscriptions().first?.schedule)
    #expect(schedule.nextPoll <= clock.now + 4_000)
  }

  @Test("17-Hub: a hub that was subscribed to by a clock far ahead is asked again, and heard")
  func clockAhead() async throws {
    let (hub, clock) = (Hub(), Clock())
    let aggregator = aggregator(hub, clock)
    clock.advance(31_536_000)
    try await aggregator.subscribe(to: "https://a.test/feed")
    try await aggregator.pollDue()
    let early = try await token(aggregator)
    _ = try await ask(aggregator, .get, early, question)
    _ = try await ask(aggregator, .post, early)
    clock.advance(-31_536_000)
    try await aggregator.pollDue()
    #expect(hub.forms.withLock { $0.count } == 2)
    let late = try await token(aggregator)
    _ = try await ask(aggregator, .get, late, question)
    // The token of the earlier subscription is no longer valid.
    #expect(try await ask(aggregator, .post, early).head.status == .notFound)
    #expect(try await ask(aggregator, .post, late).head.status == .accepted)
    clock.advance(60)
    try await aggregator.pollDue()
    #expect(hub.polls.withLock { $0 } == 3)
  }

  @Test("17-Hub: a hub that is out of order leaves the feed to be polled as before")
  func failing() async throws {
    let (hub, clock) = (Hub(status: 500), Clock())
    let broken = aggregator(hub, clock)
    try await broken.subscribe(to: "https://a.test/feed")
    for _ in 0..<3 {
      try await broken.pollDue()
      clock.advance(8_000)
    }
    #expect(hub.polls.withLock { $0 } == 3)
    #expect(hub.forms.withLock { $0.count } == 1)
    // Without a callback address the aggregator subscribes to no hub.
    let silent = Hub()
    let other = aggregator(silent, clock, callback: nil)
    try await other.subscribe(to: "https://a.test/feed")
    try await other.pollDue()
    #expect(silent.forms.withLock { $0.isEmpty })
  }
}
