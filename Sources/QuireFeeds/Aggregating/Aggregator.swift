public import HTTPTypes
import QuireCore
public import QuireHTTP
import QuirePagination

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Polls subscribed feeds when they are due, and stores their entries.
///
/// ```swift
/// var configuration = PageClient.Configuration.feed
/// configuration.headers[.userAgent] = "Example/1.0 (+https://example.org/bot)"
/// let aggregator = Aggregator(store: store, client: PageClient(configuration: configuration))
/// try await aggregator.add(OPML(bytes))
/// try await aggregator.run()
/// ```
/// The results of a poll (the feed, its validators and its entries) are one change of the store, so
/// a process that is killed loses no entry and stores none twice. Only one aggregator may use a
/// store at a time, unless it is a `SharedFeedStore`, with which aggregators on several machines
/// share the work by leases.
public actor Aggregator {
  private let store: any FeedStore
  /// The store as one that several aggregators share; nil if it is not.
  private let shared: (any SharedFeedStore)?
  private let holder = UUID().uuidString
  private let poller: FeedPoller
  private let settings: AggregatorSettings
  private let environment: Environment
  private let observe: @Sendable (AggregatorEvent) -> Void
  private var queue: PollQueue
  private var claims: ClaimMachine
  /// The subscriptions of the store, by identifier; of a shared store only the claimed ones.
  private var known: [String: FeedSubscription] = [:]
  private var isLoaded = false
  private var isRunning = false
  /// The time of the last round of `run`.
  private var lastTime = -Double.infinity
  /// The suspension that `run` waits for.
  private var waiter: Suspension<Void>?
  /// The error of the store, which ends `run`.
  private var storeError: (any Error)?

  /// Randomness and time, which tests replace.
  package struct Environment: Sendable {
    package var random: @Sendable () -> Double = { Double.random(in: 0..<1) }
    package var now: @Sendable () -> Double = { Date().timeIntervalSince1970 }
    package var clock: any Clock<Duration> = ContinuousClock()

    package init() {}
  }

  /// Creates an aggregator of the subscriptions in a store.
  ///
  /// - Parameters:
  ///   - store: The store of subscriptions and entries.
  ///   - client: The client that polls. Its configuration should be based on `.feed` and name the
  ///     operator in `User-Agent`.
  ///   - settings: The settings.
  ///   - observe: Called after each event; the aggregator waits for it to return.
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

  /// Returns all subscriptions, ordered by identifier.
  public func subscriptions() async throws -> [FeedSubscription] {
    if let shared { return try await shared.subscriptions() }
    try await load()
    return known.values.sorted { $0.id < $1.id }
  }

  /// Subscribes to a feed, which is due at once. An existing subscription of the same address gets
  /// the title and the folders; if its feed has ended (410), it is due again too, and keeps its
  /// entries. Returns the subscription as this aggregator knows it; on a `SharedFeedStore` the
  /// stored one may be newer.
  ///
  /// An address with the scheme `feed:` counts as the address of the web that it means, which is
  /// the subscription's identifier.
  ///
  /// Throws `PageError.Code.invalidURL`, and the errors of the store.
  @discardableResult
  public func subscribe(
    to url: String, title: String? = nil, folders: [String] = []
  ) async throws -> FeedSubscription {
    let url = FeedScope.withoutFeedScheme(url)
    try await load()
    _ = try Origin(url: url)
    let wanted = FeedSubscription(
      url: url, title: title, folders: folders, rules: settings.rules, at: environment.now())
    try await store.apply(.subscribe(wanted.added(to: known[url])))
    // A poll may have ended while the store was busy.
    let subscription = wanted.added(to: known[url])
    if shared == nil {
      known[url] = subscription
      if !queue.contains(url) { schedule(subscription) }
    }
    claims.claimSoon()
    observe(.subscribed(url))
    wake()
    return subscription
  }

  /// Removes a subscription and its entries. If the store throws, the feed is still polled.
  public func unsubscribe(id: String) async throws {
    try await load()
    let removed = known.removeValue(forKey: id)
    queue.remove(id)
    do {
      try await store.apply(.unsubscribe(id: id))
    } catch {
      // In a shared store, the next claim returns it.
      if shared == nil, let removed, known[id] == nil {
        known[id] = removed
        schedule(removed)
        wake()
      }
      throw error
    }
    observe(.unsubscribed(id))
    wake()
  }

  /// Subscribes to all feeds of a list. Returns the addresses that are invalid. If the store
  /// throws, the feeds before the error stay subscribed.
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

  /// Returns all subscriptions as an OPML list, for other feed readers.
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
  /// Throws `CancellationError` then, the first error of the store, after which the aggregator does
  /// not continue, and `concurrentIteration` if it is running already.
  public func run() async throws { try await runRounds(until: nil) }

  /// Polls all feeds that are due now, once.
  ///
  /// Throws the same errors as `run()`.
  public func pollDue() async throws { try await runRounds(until: environment.now()) }

  private func runRounds(until end: Double?) async throws {
    guard !isRunning else {
      throw PageError(
        .concurrentIteration, "The aggregator is running already; it runs once at a time.",
        attempts: 0)
    }
    isRunning = true
    defer { isRunning = false }
    try await load()
    storeError = nil
    claims.claimSoon()
    do {
      try await withThrowingDiscardingTaskGroup { group in
        while let now = try await startRound(until: end, in: &group) {
          var next = queue.wake(after: now, onlyInLine: end != nil)
          if shared != nil { next = min(next ?? .infinity, claims.next) }
          try await pause(until: next, now)
          if let storeError { throw storeError }
        }
      }
      try await releaseHosts()
    } catch {
      try? await releaseHosts()
      throw storeError ?? (Task.isCancelled ? CancellationError() : error)
    }
  }

  /// Starts the polls that are due. Returns the time of this round; nil if there is nothing left to
  /// poll.
  private func startRound(
    until end: Double?, in group: inout ThrowingDiscardingTaskGroup<any Error>
  ) async throws -> Double? {
    let now = environment.now()
    if now < lastTime { reschedule(clockSetBackTo: now) }
    lastTime = now
    // The previous claim left out feeds of the hosts that were being polled then: claim them now.
    if let end, queue.isIdle(at: end) { claims.claimSoon() }
    try await claim(at: now, dueBy: end ?? now)
    if let end, isDone(at: end) { return nil }
    for id in queue.begin(at: now, dueBy: end ?? now) {
      guard let subscription = pollable(id, at: now) else { continue }
      let isLast = !queue.hasLine(at: subscription.host)
      group.addTask { await self.poll(subscription, isLast: isLast) }
    }
    if let storeError { throw storeError }
    if let end, isDone(at: end) { return nil }
    return now
  }

  /// Reschedules all hosts and feeds after the clock was set back: a clock that was ahead had
  /// postponed them.
  private func reschedule(clockSetBackTo now: Double) {
    queue.reopen(at: now)
    for subscription in known.values { schedule(subscription) }
  }

  /// Releases the leased hosts to other aggregators, after the host gap, because a poll may just
  /// have begun.
  private func releaseHosts() async throws {
    guard let shared else { return }
    for id in known.keys { queue.remove(id) }
    known = [:]
    let held = claims.release()
    guard !held.isEmpty else { return }
    let claim = FeedClaim(
      holder: holder, dueBy: 0, limit: 0, lease: settings.limits.hostGap, working: held)
    // A task of its own, which runs even if this one is cancelled.
    _ = try await Task { try await shared.claim(claim) }.value
  }

  /// Whether every feed that was due has been polled.
  private func isDone(at end: Double) -> Bool {
    queue.isIdle(at: end) && (shared == nil || claims.hasClaimedAll)
  }

  /// Claims due feeds of a shared store.
  private func claim(at now: Double, dueBy: Double) async throws {
    guard let shared else { return }
    let working = queue.hostNames
    guard let limit = claims.claimLimit(at: now, holding: working.count) else { return }
    let claimed = try await shared.claim(
      FeedClaim(
        holder: holder, dueBy: dueBy, limit: limit, lease: claims.lease, working: working))
    claims.claimed(
      Set(claimed.map(\.host)), working: working, limit: limit, count: claimed.count, at: now)
    for subscription in claimed where !queue.contains(subscription.id) {
      if subscription.schedule.isSkipped(now) {
        // Store the postponement, or the next claim would return this feed again instead of others.
        var postponed = subscription
        postponed.schedule.postpone(at: now)
        try await store.apply(.polled(FeedPoll(postponed: postponed, at: now, holder: holder)))
        continue
      }
      known[subscription.id] = subscription
      schedule(subscription)
    }
  }

  /// Returns the subscription to poll now; nil if it was removed, if it may not be polled at this
  /// time, or if its host may belong to another aggregator by now.
  private func pollable(_ id: String, at now: Double) -> FeedSubscription? {
    guard let subscription = known[id] else { return nil }
    if shared != nil, !claims.holds(subscription.host, at: now) {
      claims.lost(subscription.host)
      queue.ended(id, host: subscription.host, next: nil)
      return nil
    }
    if subscription.schedule.isSkipped(now) {
      let next = shared == nil ? subscription.schedule.due(by: now) : nil
      queue.ended(id, host: subscription.host, next: next)
      return nil
    }
    return subscription
  }

  /// Waits for `wake()`, but not beyond `time`.
  private func pause(until time: Double?, _ now: Double) async throws {
    let suspension = Suspension<Void>()
    waiter = suspension
    guard let time else { return try await suspension.value() }
    // At most a minute, because the wall clock may be set meanwhile.
    let pause = min(max(time - now, 0.001), 60)
    let alarm = Task { [clock = environment.clock] in
      try? await clock.sleep(for: .seconds(pause))
      suspension.resume(returning: ())
    }
    defer { alarm.cancel() }
    try await suspension.value()
  }

  private func wake() { waiter?.resume(returning: ()) }

  /// Polls one feed and stores the result. An error of the store ends `run()`.
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
      // A cancelled poll is not stored.
      if !Task.isCancelled { storeError = storeError ?? error }
      let latest = shared == nil ? known[subscription.id] : nil
      queue.ended(
        subscription.id, host: latest?.host ?? subscription.host, next: latest?.schedule.nextPoll)
    }
    wake()
  }

  /// Records a poll. Returns the subscription after it; nil if it was removed or belongs to another
  /// aggregator.
  private func finish(
    _ subscription: FeedSubscription, _ answer: FeedPoller.PollResult, _ effect: FeedEffect,
    _ duration: Duration
  ) -> FeedSubscription? {
    if effect.isRefused {
      claims.lost(subscription.host)
      known[subscription.id] = nil
    }
    guard let latest = known[subscription.id] else {
      queue.ended(subscription.id, host: subscription.host, next: nil)
      return nil
    }
    var new = self.subscription(latest, after: answer.poll, effect)
    if shared == nil, new.schedule.url != latest.schedule.url {
      // Here, and not before the poll is stored: of two feeds that move at once, one is the first.
      new.health.duplicateOf = known.values.filter {
        $0.schedule.url == new.schedule.url && $0.id != new.id
      }.map(\.id).min()
    }
    // In a shared store, the next claim decides which aggregator polls the feed next.
    known[new.id] = shared == nil ? new : nil
    let isOver = shared != nil || new.schedule.state == .ended
    queue.ended(
      new.id, host: new.host, next: isOver ? nil : new.schedule.due(by: environment.now()))
    observe(
      .polled(
        FeedPollReport(
          subscription: new, effect: effect, traffic: answer.traffic,
          isUnchanged: answer.isUnchanged, duration: duration, error: answer.error,
          olderPagesError: answer.olderPagesError)))
    return new
  }

  /// Returns a subscription after a poll. If it was removed and added again during the poll, it is
  /// still due, and only its number of entries changes.
  private func subscription(
    _ latest: FeedSubscription, after poll: FeedPoll, _ effect: FeedEffect
  ) -> FeedSubscription {
    guard queue.hasReturned(latest.id) else {
      return poll.subscription(after: effect, known: latest)
    }
    var latest = latest
    latest.health.entries += effect.added
    return latest
  }

  // MARK: Hubs

  /// Subscribes at the feed's hub, if it has one and the subscription is due.
  private func subscribeToHub(of subscription: FeedSubscription) async throws {
    guard let callback = settings.callback, let feed = subscription.feed,
      let push = FeedPush.due(
        by: feed, at: subscription.schedule.url, known: subscription.push, now: environment.now(),
        token: UUID().uuidString.lowercased())
    else { return }
    // Stored first, because hubs call back before they answer.
    try await save(push, of: subscription.id)
    do {
      // The hub's address comes from an untrusted feed.
      _ = try await poller.client.forUntrustedAddresses.response(
        to: push.request(callback: callback), decoder: BytesPageDecoder())
    } catch is PageError {
      // The hub is tried again after a day; until then the feed is polled as before.
    }
  }

  /// Stores a subscription at a hub, here and in the store.
  private func save(_ push: FeedPush, of id: String) async throws {
    known[id]?.take(push)
    try await store.apply(.push(push, id: id))
  }

  /// Answers a hub's request to the callback: the verification of a subscription, or the
  /// notification that a feed has changed, which makes the feed due. Request bodies are not needed.
  ///
  /// Requests that match no subscription get 404. Throws the errors of the store.
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
      try await save(push, of: subscription.id)
      return HubAnswer(.ok, text: challenge)
    case (.get, "denied"):
      push.denied(topic: query["hub.topic"])
      try await save(push, of: subscription.id)
      return HubAnswer(.ok)
    case (.post, _):
      push.delivered(at: now)
      try await save(push, of: subscription.id)
      if shared == nil, let latest = known[subscription.id] { schedule(latest) }
      claims.claimSoon()
      wake()
      return HubAnswer(.accepted)
    default: return HubAnswer(.notFound)
    }
  }

  private func subscription(pushToken token: String) async throws -> FeedSubscription? {
    // Tokens are UUIDs, so no other text is looked up.
    guard token.utf8.count == 36 else { return nil }
    if let shared { return try await shared.subscription(pushToken: token) }
    try await load()
    return known.values.first { $0.push?.token == token }
  }

  /// Reads the subscriptions of a store that is not shared, once.
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

  /// Queues a subscription for its next poll, unless polling has ended.
  private func schedule(_ subscription: FeedSubscription) {
    guard subscription.schedule.state != .ended else { return }
    let due = subscription.schedule.due(by: environment.now())
    queue.schedule(subscription.id, host: subscription.host, at: due)
  }
}
