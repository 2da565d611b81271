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

  /// The defaults of the members, unless given.
  public init(
    limits: PollingLimits = PollingLimits(), rules: PollRules = PollRules(),
    options: FeedOptions = FeedOptions(), pagesAtFirst: Int = 1
  ) {
    self.limits = limits
    self.rules = rules
    self.options = options
    self.pagesAtFirst = pagesAtFirst
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
  public let traffic: Traffic
  /// Whether the answer was 304.
  public let isUnchanged: Bool
  /// How long it took, storing included.
  public let duration: Duration
  /// Why it failed, if it did.
  public let error: PageError?
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
/// works on a store.
public actor Aggregator {
  private let store: any FeedStore
  private let poller: FeedPoller
  private let settings: AggregatorSettings
  private let environment: Environment
  private let observe: @Sendable (AggregatorEvent) -> Void
  private var queue: PollQueue
  private var known: [String: FeedSubscription] = [:]
  private var isLoaded = false
  private var isRunning = false
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
    self.settings = settings
    self.environment = environment
    self.observe = observe
    poller = FeedPoller(client: client, settings: settings)
    queue = PollQueue(limits: settings.limits)
  }

  // MARK: Subscriptions

  /// All subscriptions, in the order of their identifiers.
  public func subscriptions() async throws -> [FeedSubscription] {
    try await load()
    return known.values.sorted { $0.id < $1.id }
  }

  /// Subscribes to a feed, which is due at once; a subscription of the same address gets the title and the
  /// folders.
  @discardableResult
  public func subscribe(
    to url: String, title: String? = nil, folders: [String] = []
  ) async throws -> FeedSubscription {
    try await load()
    _ = try Origin(url: url)
    let now = environment.now()
    var subscription =
      known[url] ?? FeedSubscription(url: url, rules: settings.rules, at: now)
    subscription.title = title
    subscription.folders = folders
    try await store.apply(.subscribe(subscription))
    // The store has been waited for: a poll may have ended meanwhile.
    if var latest = known[url] {
      latest.title = title
      latest.folders = folders
      subscription = latest
    }
    known[url] = subscription
    if !queue.contains(url) { schedule(subscription) }
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

  /// Subscribes to all feeds of a list. Returns those of its addresses that are none.
  public func add(_ list: OPML) async throws -> [String] {
    var refused: [String] = []
    for outline in list.outlines {
      do {
        try await subscribe(to: outline.feedURL, title: outline.title, folders: outline.folders)
      } catch is PageError {
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
    do {
      try await withThrowingDiscardingTaskGroup { group in
        while end.map({ !queue.isIdle(at: $0) }) ?? true {
          let now = environment.now()
          for id in queue.begin(at: now, dueBy: end ?? now) {
            guard let subscription = known[id] else { continue }
            group.addTask { await self.poll(subscription) }
          }
          if let failure { throw failure }
          if let end, queue.isIdle(at: end) { break }
          try await pause(until: queue.wake(after: now, onlyInLine: end != nil), now)
          if let failure { throw failure }
        }
      }
    } catch {
      throw failure ?? error
    }
  }

  /// Waits until a time, or until something has ended.
  private func pause(until time: Double?, _ now: Double) async throws {
    let suspension = Suspension<Void>()
    waiter = suspension
    // The clock on the wall may be set meanwhile: not longer than a minute.
    let pause = min(max((time ?? .infinity) - now, 0.001), 60)
    let alarm = Task { [clock = environment.clock] in
      try? await clock.sleep(for: .seconds(pause))
      suspension.resume(returning: ())
    }
    defer { alarm.cancel() }
    try await suspension.value()
  }

  private func wake() { waiter?.resume(returning: ()) }

  /// Polls one feed and stores what came; what goes wrong with the store ends the work.
  private func poll(_ subscription: FeedSubscription) async {
    let watch = Stopwatch(environment.clock)
    let (now, random) = (environment.now(), environment.random())
    do {
      let answer = try await poller.poll(subscription, at: now, random: random)
      let effect = try await store.apply(.polled(answer.poll))
      finish(subscription, answer, effect, watch.elapsed())
    } catch {
      if !(error is CancellationError) { failure = failure ?? error }
      queue.ended(subscription.id, host: subscription.host, next: subscription.schedule.nextPoll)
    }
    wake()
  }

  private func finish(
    _ subscription: FeedSubscription, _ answer: FeedPoller.Answer, _ effect: FeedEffect,
    _ duration: Duration
  ) {
    guard let latest = known[subscription.id] else {
      queue.remove(subscription.id)
      return
    }
    let new = answer.poll.subscription(after: effect, known: latest)
    known[new.id] = new
    queue.ended(
      new.id, host: new.host, next: new.schedule.state == .ended ? nil : new.schedule.nextPoll)
    observe(
      .polled(
        FeedPollReport(
          subscription: new, effect: effect, traffic: answer.traffic,
          isUnchanged: answer.isUnchanged, duration: duration, error: answer.error)))
  }

  private func load() async throws {
    guard !isLoaded else { return }
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
    queue.schedule(subscription.id, host: subscription.host, at: subscription.schedule.nextPoll)
  }
}
