/// Decides when to poll each feed, within the limits.
///
/// Times are seconds since 1970. Due feeds of a busy host wait for it in line, and do not delay
/// feeds of other hosts.
struct PollQueue: Sendable {
  private struct Feed {
    var host: String
    var phase: Phase
  }

  /// The phase of a feed; arrows name the phases that can follow.
  private enum Phase {
    /// Not due. → `ready`
    case scheduled(at: Double)
    /// Due, and waiting for its host or the limits. → `polling`
    case ready
    /// Being polled. → `scheduled`, `removed`
    case polling
    /// Removed while it is polled; its host stays occupied until that poll ends. → `returned`
    case removed
    /// Added again while the poll of the removed feed runs. → `scheduled`, `removed`
    case returned
  }

  private struct Host {
    var running = 0
    /// The time at which the next poll may start.
    var openAt = -Double.infinity
    /// The due feeds, in the order in which they became due.
    var line: [String] = []
  }

  private let limits: PollingLimits
  private let gap: Double
  private var feeds: [String: Feed] = [:]
  private var hosts: [String: Host] = [:]
  /// Feeds by the time of their next poll; may include outdated times.
  private var scheduled = TimedHeap()
  /// Hosts with waiting feeds, by the time at which they may be polled; may include outdated times.
  private var open = TimedHeap()
  private(set) var running = 0

  init(limits: PollingLimits) {
    self.limits = limits
    gap = limits.hostGap / .seconds(1)
  }

  /// The hosts of all known feeds.
  var hostNames: Set<String> { Set(feeds.values.map(\.host)) }

  /// Whether a feed is known.
  func contains(_ feed: String) -> Bool {
    if case .removed? = feeds[feed]?.phase { false } else { feeds[feed] != nil }
  }

  /// Whether feeds wait for a host.
  func hasLine(at host: String) -> Bool { hosts[host]?.line.isEmpty == false }

  /// Whether a feed is being polled.
  func isPolling(_ feed: String) -> Bool {
    switch feeds[feed]?.phase {
    case .polling?, .removed?, .returned?: true
    case .scheduled?, .ready?, nil: false
    }
  }

  /// Whether a feed was removed and added again since its running poll began.
  func hasReturned(_ feed: String) -> Bool {
    if case .returned? = feeds[feed]?.phase { true } else { false }
  }

  /// Schedules a poll. A known feed is rescheduled, unless it is being polled: then
  /// `ended(_:host:next:)` sets the time.
  mutating func schedule(_ feed: String, host: String, at time: Double) {
    switch feeds[feed]?.phase {
    case .polling?, .returned?: return
    case .removed?:
      feeds[feed]?.phase = .returned
      return
    case .ready?: leaveLine(feed)
    case .scheduled?, nil: break
    }
    feeds[feed] = Feed(host: host, phase: .scheduled(at: time))
    scheduled.insert(feed, at: time)
  }

  /// Removes a feed. A running poll is not stopped, and occupies its host until
  /// `ended(_:host:next:)`.
  mutating func remove(_ feed: String) {
    switch feeds[feed]?.phase {
    case .ready?: leaveLine(feed)
    case .polling?, .returned?, .removed?:
      feeds[feed]?.phase = .removed
      return
    case .scheduled?, nil: break
    }
    feeds[feed] = nil
  }

  /// Returns the feeds to poll now, of those due by `due`. Each counts as being polled until
  /// `ended(_:host:next:)`.
  mutating func begin(at now: Double, dueBy due: Double) -> [String] {
    enterLines(at: due)
    var begun: [String] = []
    while running < limits.concurrent, let (host, time) = open.first, time <= now {
      open.removeFirst()
      guard var state = hosts[host], !state.line.isEmpty, state.openAt <= now,
        state.running < limits.concurrentPerHost
      else { continue }
      let feed = state.line.removeFirst()
      state.running += 1
      state.openAt = now + gap
      hosts[host] = state
      offer(host)
      running += 1
      feeds[feed]?.phase = .polling
      begun.append(feed)
    }
    return begun
  }

  /// Records the end of a poll. `next` is the time of the feed's next poll; nil removes the feed.
  mutating func ended(_ feed: String, host: String, next: Double?) {
    guard isPolling(feed) else { return }
    release(feed)
    feeds[feed] = nil
    if let next { schedule(feed, host: host, at: next) }
  }

  /// Adapts to a clock that was set back to `now`: no host stays blocked for longer than the gap.
  mutating func reopen(at now: Double) {
    for (host, state) in hosts where state.openAt > now + gap {
      hosts[host]?.openAt = now + gap
      offer(host)
    }
  }

  /// Returns the time at which the next poll can start; nil if that depends only on running polls.
  /// With `onlyInLine`, feeds that are not due yet do not count.
  func wake(after now: Double, onlyInLine: Bool = false) -> Double? {
    let next = onlyInLine ? nil : scheduled.first?.time
    guard running < limits.concurrent, let host = open.first?.time else { return next }
    return min(next ?? host, host)
  }

  /// Whether no feed is being polled or due.
  func isIdle(at now: Double) -> Bool {
    running == 0 && (scheduled.first?.time ?? .infinity) > now
      && hosts.values.allSatisfy(\.line.isEmpty)
  }

  // MARK: Lines

  /// Moves feeds that are due by `now` into the lines of their hosts.
  private mutating func enterLines(at now: Double) {
    while let (feed, time) = scheduled.first, time <= now {
      scheduled.removeFirst()
      guard let state = feeds[feed], case .scheduled(time) = state.phase else { continue }
      feeds[feed]?.phase = .ready
      hosts[state.host, default: Host()].line.append(feed)
      offer(state.host)
    }
  }

  private mutating func leaveLine(_ feed: String) {
    guard let host = feeds[feed]?.host else { return }
    hosts[host]?.line.removeAll { $0 == feed }
    forget(host)
  }

  /// Queues a host with waiting feeds for the time when it may be polled.
  private mutating func offer(_ host: String) {
    guard let state = hosts[host], !state.line.isEmpty, state.running < limits.concurrentPerHost
    else { return }
    open.insert(host, at: state.openAt)
  }

  private mutating func release(_ feed: String) {
    guard let host = feeds[feed]?.host else { return }
    running -= 1
    hosts[host]?.running -= 1
    offer(host)
    forget(host)
  }

  /// Removes a host that has neither due feeds nor running polls. With a gap, hosts are kept,
  /// because the times of their last polls still count.
  private mutating func forget(_ host: String) {
    guard let state = hosts[host], state.line.isEmpty, state.running == 0, gap == 0 else { return }
    hosts[host] = nil
  }
}

/// A binary heap of names by time, earliest first.
struct TimedHeap: Sendable {
  private var entries: [(name: String, time: Double)] = []

  var first: (name: String, time: Double)? { entries.first }

  mutating func insert(_ name: String, at time: Double) {
    entries.append((name, time))
    var child = entries.count - 1
    while child > 0, entries[child].time < entries[(child - 1) / 2].time {
      entries.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  mutating func removeFirst() {
    entries.swapAt(0, entries.count - 1)
    entries.removeLast()
    var parent = 0
    while 2 * parent + 1 < entries.count {
      var child = 2 * parent + 1
      if child + 1 < entries.count, entries[child + 1].time < entries[child].time { child += 1 }
      guard entries[child].time < entries[parent].time else { return }
      entries.swapAt(child, parent)
      parent = child
    }
  }
}
