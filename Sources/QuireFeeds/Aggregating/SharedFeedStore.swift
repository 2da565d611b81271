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
