import QuireCore

/// A store that aggregators on several machines share: each host is polled by one of them at a
/// time.
///
/// An `Aggregator` claims due feeds by `claim(_:)`, a few at a time, and polls no others. If its
/// process dies, its hosts become free when their leases expire. `SharedMemoryFeedStore` in
/// QuireTesting is an implementation for one process; `FeedStoreConformance` there checks any
/// store.
public protocol SharedFeedStore: FeedStore {
  /// Claims due subscriptions, the longest due first, and leases their hosts: until the lease
  /// expires, no other aggregator gets a feed of these hosts.
  ///
  /// A claimed feed stays due until a poll of it is stored (`FeedChange.polled`); until then,
  /// another claim by the holder of its host returns it again. A poll whose `FeedPoll.holder` no
  /// longer holds the host is refused as a whole (`FeedEffect.isRefused`).
  func claim(_ claim: FeedClaim) async throws -> [FeedSubscription]

  /// Returns the subscription with a callback token (`FeedPush.token`); nil if there is none. The
  /// token is from an unauthenticated request, and may be a guess.
  func subscription(pushToken: String) async throws -> FeedSubscription?
}

/// An aggregator's claim on a shared store.
public struct FeedClaim: Hashable, Sendable {
  /// The unique name of the aggregator.
  public var holder: String
  /// The time by which feeds must be due to be claimed, in seconds since 1970. If the store has its
  /// own clock, they must be due by that clock too; otherwise a machine whose clock is far ahead
  /// would poll feeds early, and in alternation with the others.
  public var dueBy: Double
  /// The maximum number of subscriptions to claim.
  public var limit: Int
  /// The length of the lease by the store's clock. Default a minute.
  public var lease: Duration
  /// The hosts that the aggregator is working on: their leases are renewed, and none of their feeds
  /// is returned.
  public var working: Set<String>

  /// Creates a claim.
  public init(
    holder: String, dueBy: Double, limit: Int, lease: Duration = .seconds(60),
    working: Set<String> = []
  ) {
    self.holder = holder
    self.dueBy = dueBy
    self.limit = max(0, limit)
    self.lease = max(.zero, lease)
    self.working = working
  }
}

/// Keeps track of an aggregator's leases in a shared store, and decides when it claims more.
///
/// Times are seconds since 1970.
struct ClaimMachine {
  /// The requested lease: a minute, plus the gap before another aggregator may poll the host.
  let lease: Duration
  /// The number of seconds of a lease in which a poll may start. The rest is a margin for clocks
  /// that differ.
  private static let usable = 45.0
  /// The number of seconds between claims while no more feeds are due. These claims also renew
  /// leases.
  private static let pause = 5.0

  /// The maximum number of subscriptions to hold: twice the number of concurrent polls.
  private let most: Int
  /// By host, the time until which a poll may start.
  private var until: [String: Double] = [:]
  /// The time of the next claim.
  private(set) var next = -Double.infinity
  /// Whether the last claim returned everything that was due.
  private(set) var isDry = false

  init(limits: PollingLimits) {
    most = limits.concurrent.times(2)
    lease = .seconds(60) + limits.hostGap
  }

  /// Returns the number of subscriptions to claim now; nil if it is too early or enough are held. A
  /// claim of zero only renews leases.
  func wanted(at now: Double, holding count: Int) -> Int? {
    // If the next claim is further ahead than a pause, the clock was set back.
    let isTime = now >= next || next > now + Self.pause
    return isTime || (!isDry && count < most / 2) ? max(0, most - count) : nil
  }

  /// Records a claim at `now` and the hosts that it leased.
  mutating func claimed(
    _ hosts: Set<String>, working: Set<String>, wanted: Int, got: Int, at now: Double
  ) {
    until = until.filter { $0.value > now }
    // A lease that has expired may belong to another aggregator, so it is not renewed.
    let held = working.filter { until[$0] != nil }
    for host in hosts.union(held) { until[host] = now + Self.usable }
    if wanted > 0 { isDry = got < wanted }
    next = now + Self.pause
  }

  /// Forgets all leases, and returns their hosts.
  mutating func release() -> Set<String> {
    defer { until = [:] }
    return Set(until.keys)
  }

  /// Removes a host whose lease has expired or passed to another aggregator. Its feeds may still be
  /// due, so the next claim is due at once.
  mutating func lost(_ host: String) {
    until[host] = nil
    isDry = false
    changed()
  }

  /// Makes the next claim due at once, because the store has changed.
  mutating func changed() { next = -.infinity }

  /// Whether the lease of a host allows a poll to start at `now`.
  func holds(_ host: String, at now: Double) -> Bool { until[host].map { now < $0 } ?? false }
}
