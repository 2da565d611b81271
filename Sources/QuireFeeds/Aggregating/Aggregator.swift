public import HTTPTypes
public import QuireCore
public import QuireHTTP
import QuirePagination

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// How an aggregator works.
public struct AggregatorSettings: Sendable {
  /// How politely it asks.
  public var limits: PollingLimits
  /// How often it asks for each feed, for subscriptions that are made from now on.
  public var rules: PollRules
  /// How feeds are read.
  public var options: FeedOptions
  /// How many pages of its history a feed is read at its first poll. Default 1.
  public var pagesAtFirst: Int
  /// Where hubs reach `answer(hub:)` from outside, such as `https://reader.example/hub/`; a token of the feed is
  /// added as the last part of the path. Default nil: no hub is subscribed to.
  public var callback: String?

  /// The defaults of the members, unless given.
  public init(
    limits: PollingLimits = PollingLimits(), rules: PollRules = PollRules(),
    options: FeedOptions = FeedOptions(), pagesAtFirst: Int = 1, callback: String? = nil
  ) {
    self.limits = limits
    self.rules = rules
    self.options = options
    self.pagesAtFirst = pagesAtFirst
    self.callback = callback
  }
}

/// Something that an aggregator did, for metrics, logs and pages that show it.
public enum AggregatorEvent: Sendable {
  /// A feed was polled.
  case polled(FeedPollReport)
  /// A feed was subscribed to, by its identifier.
  case subscribed(String)
  /// A subscription was ended.
  case unsubscribed(String)
}

/// What one poll did.
public struct FeedPollReport: Sendable {
  /// The subscription as it is now.
  public let subscription: FeedSubscription
  /// What it did to the store.
  public let effect: FeedEffect
  /// Bytes and requests.
  public let traffic: WalkReport.Traffic
  /// Whether the answer was 304.
  public let isUnchanged: Bool
  /// How long it took, storing included.
  public let duration: Duration
  /// Why it failed, if it did.
  public let error: PageError?
}

/// What a hub is answered.
public struct HubAnswer: Hashable, Sendable {
  /// Status and header fields.
  public let head: HTTPResponse
  /// The body.
  public let body: [UInt8]

  init(_ status: HTTPResponse.Status, text: String = "") {
    // Nothing that comes from outside is a page to show.
    head = HTTPResponse(status: status, headerFields: [.contentType: "text/plain; charset=utf-8"])
    body = Array(text.utf8)
  }
}

/// Polls the feeds that it is subscribed to, each when it is due, and keeps what they bring.
///
/// ```swift
/// var configuration = PageClient.Configuration.feed
/// configuration.headers[.userAgent] = "Example/1.0 (+https://example.org/bot)"
/// let aggregator = Aggregator(store: store, client: PageClient(configuration: configuration))
/// try await aggregator.add(OPML(bytes))
/// try await aggregator.run()
/// ```
/// What a poll has learnt of a feed, its validators and the entries it brought are one change of the store:
/// a process that is killed at any moment loses no entry and stores none twice. One aggregator at a time
/// works on a store, but for a `SharedFeedStore`, on which those of several machines share the work by leases.
public actor Aggregator {
  private let store: any FeedStore
  /// The store, where others work on it too.
  private let shared: (any SharedFeedStore)?
  private let holder = UUID().uuidString
  private let poller: FeedPoller
  private let settings: AggregatorSettings
  private let environment: Environment
  private let observe: @Sendable (AggregatorEvent) -> Void
  private var queue: PollQueue
  private var claims: ClaimMachine
  private var known: [String: FeedSubscription] = [:]
  private var isLoaded = false
  private var isRunning = false
  /// The time at which `run` looked last.
  private var lastTime = -Double.infinity
  /// What `run` waits by.
  private var waiter: Suspension<Void>?
  /// What the store threw; it ends `run`.
  private var failure: (any Error)?

  /// What tests replace: chance and time.
  package struct Environment: Sendable {
    package var random: @Sendable () -> Double = { Double.random(in: 0..<1) }
    package var now: @Sendable () -> Double = { Date().timeIntervalSince1970 }
    package var clock: any Clock<Duration> = ContinuousClock()

    package init() {}
  }

  /// An aggregator of what is in the store.
  ///
  /// - Parameters:
  ///   - store: Where subscriptions and entries are kept.
  ///   - client: What asks. Its configuration is to be made from `.feed`, and to name the operator in
  ///     `User-Agent`.
  ///   - settings: How it works.
  ///   - observe: Is told of what happens, after it happened; it holds up the aggregator while it runs.
  public init(
    store: any FeedStore, client: PageClient, settings: AggregatorSettings = AggregatorSettings(),
    observe: @escaping @Sendable (AggregatorEvent) -> Void = { _ in }
  ) {
    self.init(
      store: store, client: client, settings: settings, environment: Environment(), observe: observe
    )
  }

  package init(
    store: any FeedStore, client: PageClient, settings: AggregatorSettings,
    environment: Environment, observe: @escaping @Sendable (AggregatorEvent) -> Void = { _ in }
  ) {
    self.store = store
    shared = store as? any SharedFeedStore
    self.settings = settings
    self.environment = environment
    self.observe = observe
    poller = FeedPoller(client: client, settings: settings)
    queue = PollQueue(limits: settings.limits)
    claims = ClaimMachine(limits: settings.limits)
  }

  // MARK: Subscriptions

  /// All subscriptions, in the order of their identifiers.
  public func subscriptions() async throws -> [FeedSubscription] {
    if let shared { return try await shared.subscriptions() }
    try await load()
    return known.values.sorted { $0.id < $1.id }
  }

  /// Subscribes to a feed, which is due at once; a subscription of the same address gets the title and the
  /// folders. Returns what is known of it here: on a `SharedFeedStore`, others may know more.
  @discardableResult
  public func subscribe(
    to url: String, title: String? = nil, folders: [String] = []
  ) async throws -> FeedSubscription {
    try await load()
    _ = try Origin(url: url)
    let wanted = FeedSubscription(
      url: url, title: title, folders: folders, rules: settings.rules, at: environment.now())
    try await store.apply(.subscribe(wanted.kept(over: known[url])))
    // The store has been waited for: a poll may have ended meanwhile.
    let subscription = wanted.kept(over: known[url])
    if shared == nil {
      known[url] = subscription
      if !queue.contains(url) { schedule(subscription) }
    }
    claims.changed()
    observe(.subscribed(url))
    wake()
    return subscription
  }

  /// Ends a subscription, and removes its entries.
  public func unsubscribe(id: String) async throws {
    try await load()
    known[id] = nil
    queue.remove(id)
    try await store.apply(.unsubscribe(id: id))
    observe(.unsubscribed(id))
    wake()
  }

  /// Subscribes to all feeds of a list. Returns those of its addresses that are none. Throws what the store
  /// throws; those before it are subscribed to then.
  public func add(_ list: OPML) async throws -> [String] {
    var refused: [String] = []
    for outline in list.outlines {
      do {
        try await subscribe(to: outline.feedURL, title: outline.title, folders: outline.folders)
      } catch let error as PageError where error.code == .invalidURL {
        refused.append(outline.feedURL)
      }
    }
    return refused
  }

  /// All subscriptions as a list for other readers.
  public func list(title: String? = nil) async throws -> OPML {
    OPML(
      title: title,
      outlines: try await subscriptions().map { subscription in
        OPML.Outline(
          feedURL: subscription.schedule.url, title: subscription.name,
          url: subscription.feed?.url, folders: subscription.folders)
      })
  }

  // MARK: Polling

  /// Polls feeds as they become due, until the task is cancelled.
  ///
  /// Throws `CancellationError` then, and what the store throws: an aggregator does not go on without it.
  public func run() async throws { try await work(until: nil) }

  /// Polls all feeds that are due now, once, and returns.
  ///
  /// Throws as `run()`.
  public func pollDue() async throws { try await work(until: environment.now()) }

  private func work(until end: Double?) async throws {
    guard !isRunning else {
      throw PageError(
        .concurrentIteration, "The aggregator is running already; it runs once at a time.",
        attempts: 0)
    }
    isRunning = true
    defer { isRunning = false }
    try await load()
    failure = nil
    claims.changed()
    do {
      try await withThrowingDiscardingTaskGroup { group in
        while true {
          let now = environment.now()
          if now < lastTime { follow(clockSetBackTo: now) }
          lastTime = now
          try await claim(at: now, dueBy: end ?? now)
          if let end, isDone(at: end) { break }
          for id in queue.begin(at: now, dueBy: end ?? now) {
            guard let subscription = pollable(id, at: now) else { continue }
            let isLast = !queue.hasLine(at: subscription.host)
            group.addTask { await self.poll(subscription, isLast: isLast) }
          }
          if let failure { throw failure }
          if let end, isDone(at: end) { break }
          var next = queue.wake(after: now, onlyInLine: end != nil)
          if shared != nil { next = min(next ?? .infinity, claims.next) }
          try await pause(until: next, now)
          if let failure { throw failure }
        }
      }
      try await leave()
    } catch {
      try? await leave()
      throw failure ?? (Task.isCancelled ? CancellationError() : error)
    }
  }

  /// What was put off by a clock that was ahead is decided again.
  private func follow(clockSetBackTo now: Double) {
    queue.reopen(at: now)
    for subscription in known.values { schedule(subscription) }
  }

  /// Gives hosts back to the others who work on the store, after the gap: a poll may have begun just now.
  private func leave() async throws {
    guard let shared else { return }
    for id in known.keys { queue.remove(id) }
    known = [:]
    let held = claims.release()
    guard !held.isEmpty else { return }
    let claim = FeedClaim(
      holder: holder, dueBy: 0, limit: 0, lease: settings.limits.hostGap, working: held)
    // Also where the task is cancelled.
    _ = try await Task { try await shared.claim(claim) }.value
  }

  /// Whether all that was due is polled.
  private func isDone(at end: Double) -> Bool {
    queue.isIdle(at: end) && (shared == nil || claims.isDry)
  }

  /// Takes what is due of a store that others work on too.
  private func claim(at now: Double, dueBy: Double) async throws {
    guard let shared, let wanted = claims.wanted(at: now, holding: queue.count) else { return }
    let working = queue.hostNames
    let claimed = try await shared.claim(
      FeedClaim(
        holder: holder, dueBy: dueBy, limit: wanted, lease: claims.lease, working: working))
    claims.claimed(
      Set(claimed.map(\.host)), working: working, wanted: wanted, got: claimed.count, at: now)
    for subscription in claimed where !queue.contains(subscription.id) {
      known[subscription.id] = subscription
      schedule(subscription)
    }
  }

  /// The subscription to poll now; nil where it is gone, or where its host may be another's by now.
  private func pollable(_ id: String, at now: Double) -> FeedSubscription? {
    guard let subscription = known[id] else { return nil }
    if shared != nil, !claims.holds(subscription.host, at: now) {
      queue.ended(id, host: subscription.host, next: nil)
      return nil
    }
    return subscription
  }

  /// Waits until something has ended, or until a time.
  private func pause(until time: Double?, _ now: Double) async throws {
    let suspension = Suspension<Void>()
    waiter = suspension
    guard let time else { return try await suspension.value() }
    // The clock on the wall may be set meanwhile: not longer than a minute.
    let pause = min(max(time - now, 0.001), 60)
    let alarm = Task { [clock = environment.clock] in
      try? await clock.sleep(for: .seconds(pause))
      suspension.resume(returning: ())
    }
    defer { alarm.cancel() }
    try await suspension.value()
  }

  private func wake() { waiter?.resume(returning: ()) }

  /// Polls one feed and stores what came; what goes wrong with the store ends the work.
  private func poll(_ subscription: FeedSubscription, isLast: Bool) async {
    let watch = Stopwatch(environment.clock)
    let (now, random) = (environment.now(), environment.random())
    do {
      var answer = try await poller.poll(subscription, at: now, random: random, isLast: isLast)
      answer.poll.holder = shared == nil ? nil : holder
      let effect = try await store.apply(.polled(answer.poll))
      let new = finish(subscription, answer, effect, watch.elapsed())
      if answer.error == nil, let new { try await subscribeToHub(of: new) }
    } catch {
      // Of what is cancelled, nothing is kept.
      if !Task.isCancelled { failure = failure ?? error }
      let next = shared == nil ? subscription.schedule.nextPoll : nil
      queue.ended(subscription.id, host: subscription.host, next: next)
    }
    wake()
  }

  /// Takes note of a poll; the subscription as it is now, or nil where it is gone or another's.
  private func finish(
    _ subscription: FeedSubscription, _ answer: FeedPoller.Answer, _ effect: FeedEffect,
    _ duration: Duration
  ) -> FeedSubscription? {
    if effect.isRefused {
      claims.lost(subscription.host)
      known[subscription.id] = nil
    }
    guard let latest = known[subscription.id] else {
      queue.remove(subscription.id)
      return nil
    }
    let new = answer.poll.subscription(after: effect, known: latest)
    // Of a store that is shared, whose turn it is then is seen then.
    known[new.id] = shared == nil ? new : nil
    let isOver = shared != nil || new.schedule.state == .ended
    queue.ended(
      new.id, host: new.host, next: isOver ? nil : new.schedule.due(by: environment.now()))
    observe(
      .polled(
        FeedPollReport(
          subscription: new, effect: effect, traffic: answer.traffic,
          isUnchanged: answer.isUnchanged, duration: duration, error: answer.error)))
    return new
  }

  // MARK: Hubs

  /// Subscribes at the hub that a feed names, where it names one and that is due.
  private func subscribeToHub(of subscription: FeedSubscription) async throws {
    guard let callback = settings.callback, let feed = subscription.feed,
      let push = FeedPush.wanted(
        by: feed, at: subscription.schedule.url, known: subscription.push, now: environment.now(),
        token: UUID().uuidString.lowercased())
    else { return }
    // Kept first: hubs ask back before they answer.
    try await keep(push, of: subscription.id)
    do {
      // Where a hub is, a stranger's feed says.
      _ = try await poller.client.led.response(
        to: push.request(callback: callback), decoder: BytesPageDecoder())
    } catch is PageError {
      // It is asked again after a day; until then the feed is polled as before.
    }
  }

  private func keep(_ push: FeedPush, of id: String) async throws {
    known[id]?.take(push)
    try await store.apply(.push(push, id: id))
  }

  /// Answers what a hub sends to the callback: its question whether a subscription is meant, and the news
  /// that a feed has changed, which makes it due. Bodies are not needed.
  ///
  /// Whatever does not belong to a subscription gets 404. Throws what the store throws.
  public func answer(hub request: HTTPRequest) async throws -> HubAnswer {
    let target = try? URLReference(request.path ?? "/")
    let token = (target?.path ?? "").split(separator: "/").last.map(String.init) ?? ""
    guard let subscription = try await subscription(pushToken: token), var push = subscription.push
    else { return HubAnswer(.notFound) }
    let query = QueryString(target?.query)
    let now = environment.now()
    switch (request.method, query["hub.mode"]) {
    case (.get, "subscribe"):
      let lease = query["hub.lease_seconds"].flatMap { Double($0) }
      guard let challenge = query["hub.challenge"],
        push.verified(topic: query["hub.topic"], lease: lease, at: now)
      else { return HubAnswer(.notFound) }
      try await keep(push, of: subscription.id)
      return HubAnswer(.ok, text: challenge)
    case (.get, "denied"):
      push.refused(topic: query["hub.topic"])
      try await keep(push, of: subscription.id)
      return HubAnswer(.ok)
    case (.post, _):
      push.delivered(at: now)
      try await keep(push, of: subscription.id)
      if shared == nil, let latest = known[subscription.id] { schedule(latest) }
      claims.changed()
      wake()
      return HubAnswer(.accepted)
    default: return HubAnswer(.notFound)
    }
  }

  private func subscription(pushToken token: String) async throws -> FeedSubscription? {
    // A callback's token is a UUID; what is none is not looked for.
    guard token.utf8.count == 36 else { return nil }
    if let shared { return try await shared.subscription(pushToken: token) }
    try await load()
    return known.values.first { $0.push?.token == token }
  }

  private func load() async throws {
    guard !isLoaded, shared == nil else { return }
    let subscriptions = try await store.subscriptions()
    guard !isLoaded else { return }
    isLoaded = true
    for subscription in subscriptions {
      known[subscription.id] = subscription
      schedule(subscription)
    }
  }

  private func schedule(_ subscription: FeedSubscription) {
    guard subscription.schedule.state != .ended else { return }
    let due = subscription.schedule.due(by: environment.now())
    queue.schedule(subscription.id, host: subscription.host, at: due)
  }
}
