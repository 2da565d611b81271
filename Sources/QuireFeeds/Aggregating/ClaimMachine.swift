import QuireCore

/// Keeps track of an aggregator's leases in a shared store, and decides when it claims more.
///
/// Times are seconds since 1970.
struct ClaimMachine {
  /// The requested lease: a minute, plus the gap before another aggregator may poll the host.
  let lease: Duration
  /// The number of seconds of a lease in which a poll may start. The rest is a margin for clocks
  /// that differ.
  private static let usableLease = 45.0
  /// The number of seconds between claims while no more feeds are due. These claims also renew
  /// leases.
  private static let claimInterval = 5.0

  /// The maximum number of subscriptions to hold: twice the number of concurrent polls.
  private let maximumHeld: Int
  /// By host, the time until which a poll may start.
  private var pollDeadlines: [String: Double] = [:]
  /// The time of the next claim.
  private(set) var next = -Double.infinity
  /// Whether the last claim returned everything that was due.
  private(set) var hasClaimedAll = false

  init(limits: PollingLimits) {
    maximumHeld = limits.concurrent.times(2)
    lease = .seconds(60) + limits.hostGap
  }

  /// Returns the number of subscriptions to claim now; nil if it is too early or enough are held. A
  /// claim of zero only renews leases.
  func claimLimit(at now: Double, holding count: Int) -> Int? {
    // If the next claim is further ahead than a pause, the clock was set back.
    let isTime = now >= next || next > now + Self.claimInterval
    return isTime || (!hasClaimedAll && count < maximumHeld / 2) ? max(0, maximumHeld - count) : nil
  }

  /// Records a claim at `now` and the hosts that it leased.
  mutating func claimed(
    _ hosts: Set<String>, working: Set<String>, limit: Int, count: Int, at now: Double
  ) {
    pollDeadlines = pollDeadlines.filter { $0.value > now }
    // A lease that has expired may belong to another aggregator, so it is not renewed.
    let held = working.filter { pollDeadlines[$0] != nil }
    for host in hosts.union(held) { pollDeadlines[host] = now + Self.usableLease }
    if limit > 0 { hasClaimedAll = count < limit }
    next = now + Self.claimInterval
  }

  /// Forgets all leases, and returns their hosts.
  mutating func release() -> Set<String> {
    defer { pollDeadlines = [:] }
    return Set(pollDeadlines.keys)
  }

  /// Removes a host whose lease has expired or passed to another aggregator. Its feeds may still be
  /// due, so the next claim is due at once.
  mutating func lost(_ host: String) {
    pollDeadlines[host] = nil
    hasClaimedAll = false
    claimSoon()
  }

  /// Makes the next claim due at once, because the store has changed.
  mutating func claimSoon() { next = -.infinity }

  /// Whether the lease of a host allows a poll to start at `now`.
  func holds(_ host: String, at now: Double) -> Bool {
    pollDeadlines[host].map { now < $0 } ?? false
  }
}
