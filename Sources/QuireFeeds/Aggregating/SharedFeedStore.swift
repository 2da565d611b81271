import QuireCore

/// A store that aggregators on several machines share: each host is asked by one of them at a time.
///
/// An `Aggregator` on such a store takes what is due by `claim(_:)`, a few feeds at a time, and knows of no
/// other feed. One that dies loses its hosts when their leases end. `SharedMemoryFeedStore` in QuireTesting is a
/// fake that keeps the promises within a process; `FeedStoreConformance` there checks them.
public protocol SharedFeedStore: FeedStore {
  /// Takes subscriptions that are due, the longest due first, with their hosts: until the lease ends, no other
  /// aggregator gets a feed of these hosts.
  ///
  /// What is claimed stays due until a poll of it is kept (`FeedChange.polled`): the aggregator that
  /// holds the host gets it again. A poll by a `FeedPoll.holder` that does not hold the feed's host any more is
  /// refused whole (`FeedEffect.isRefused`).
  func claim(_ claim: FeedClaim) async throws -> [FeedSubscription]

  /// The subscription whose hub calls back by this token (`FeedPush.token`), which may be a stranger's guess.
  func subscription(pushToken: String) async throws -> FeedSubscription?
}

/// What an aggregator asks of a store that it shares with others.
public struct FeedClaim: Hashable, Sendable {
  /// The aggregator, by a name that no other one has.
  public var holder: String
  /// Feeds that are due by then, in seconds since 1970; by a store's own clock too, where it has one: machines
  /// whose clocks differ would poll by turns.
  public var dueBy: Double
  /// How many subscriptions are wanted, at most.
  public var limit: Int
  /// How long hosts are held from now on, by the store's clock. Default a minute.
  public var lease: Duration
  /// Hosts that the aggregator works on: their leases begin anew, and none of their feeds is given.
  public var working: Set<String>

  /// A claim.
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

/// What an aggregator holds of a store that it shares, and when it asks for more.
///
/// Times are seconds since 1970.
struct ClaimMachine {
  /// The lease that is asked for: a minute, and the gap that the host is owed before another aggregator asks it.
  let lease: Duration
  /// Seconds of the lease within which a poll may begin: the rest is for clocks that differ.
  private static let usable = 45.0
  /// Seconds between claims where nothing more was due, in which leases are renewed too.
  private static let pause = 5.0

  private let most: Int
  private var until: [String: Double] = [:]
  /// When to claim next.
  private(set) var next = -Double.infinity
  /// Whether nothing more was due at the last claim.
  private(set) var isDry = false

  init(limits: PollingLimits) {
    most = limits.concurrent.times(2)
    lease = .seconds(60) + limits.hostGap
  }

  /// How many subscriptions to claim now; nil where it is not time, or enough are held.
  func wanted(at now: Double, holding count: Int) -> Int? {
    // Where the pause lies further ahead than it lasts, the clock was set back.
    let isTime = now >= next || next > now + Self.pause
    return isTime || (!isDry && count < most / 2) ? max(0, most - count) : nil
  }

  /// What was claimed at `now`: the hosts that are held from then on.
  mutating func claimed(
    _ hosts: Set<String>, working: Set<String>, wanted: Int, got: Int, at now: Double
  ) {
    until = until.filter { $0.value > now }
    // What was held too long may have passed to another: it is not renewed.
    let held = working.filter { until[$0] != nil }
    for host in hosts.union(held) { until[host] = now + Self.usable }
    if wanted > 0 { isDry = got < wanted }
    next = now + Self.pause
  }

  /// The hosts that are given back.
  mutating func release() -> Set<String> {
    defer { until = [:] }
    return Set(until.keys)
  }

  /// A host turned out to be another's.
  mutating func lost(_ host: String) { until[host] = nil }

  /// Something is new in the store.
  mutating func changed() { next = -.infinity }

  /// Whether a poll of a host may begin.
  func holds(_ host: String, at now: Double) -> Bool { until[host].map { now < $0 } ?? false }
}
