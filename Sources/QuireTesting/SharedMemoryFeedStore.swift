public import QuireCore
public import QuireFeeds

/// A store in memory that several aggregators of a process share by leases, for tests of programs
/// that run on several machines.
public actor SharedMemoryFeedStore: SharedFeedStore {
  private let base = MemoryFeedStore()
  /// The holder of each host, and the end of the lease.
  private var leases: [String: (holder: String, end: ContinuousClock.Instant)] = [:]
  /// The number of polls being stored for each host, which keeps its holder meanwhile.
  private var kept: [String: Int] = [:]

  /// Creates an empty store.
  public init() {}

  /// Returns all subscriptions, in the order of their identifiers.
  public func subscriptions() async -> [FeedSubscription] { await base.subscriptions() }

  /// Applies a change. A poll is refused if its holder has lost the lease of the host.
  @discardableResult
  public func apply(_ change: FeedChange) async -> FeedEffect {
    guard case .polled(let poll) = change, let holder = poll.holder,
      let host = await subscriptions().first(where: { $0.id == poll.unchanged.id })?.host
    else { return await base.apply(change) }
    guard leases[host]?.holder == holder else { return FeedEffect(isRefused: true) }
    kept[host, default: 0] += 1
    defer { kept[host, default: 1] -= 1 }
    return await base.apply(change)
  }

  /// Returns a page of entries, the newest first.
  public func entries(
    _ selection: EntrySelection, at position: Position?, limit: Int
  ) async throws -> Page<StoredEntry> {
    try await base.entries(selection, at: position, limit: limit)
  }

  /// Returns the subscription with this token of a hub's callback; nil if there is none.
  public func subscription(pushToken: String) async -> FeedSubscription? {
    await subscriptions().first { $0.push?.token == pushToken }
  }

  /// Claims due subscriptions and their hosts for a holder.
  public func claim(_ claim: FeedClaim) async -> [FeedSubscription] {
    let subscriptions = await base.subscriptions()
    let now = ContinuousClock.now
    for host in claim.working where leases[host]?.holder == claim.holder {
      leases[host]?.end = now + claim.lease
    }
    let due = subscriptions.filter { subscription in
      let lease = leases[subscription.host]
      let isKept = kept[subscription.host, default: 0] > 0
      let isFree = lease.map { $0.holder == claim.holder || $0.end <= now && !isKept } ?? true
      return isFree && subscription.schedule.isDue(at: claim.dueBy)
        && !claim.working.contains(subscription.host)
    }
    let claimed = due.sorted { ($0.schedule.nextPoll, $0.id) < ($1.schedule.nextPoll, $1.id) }
      .prefix(claim.limit)
    for subscription in claimed {
      leases[subscription.host] = (claim.holder, now + claim.lease)
    }
    return Array(claimed)
  }
}
