import QuirePagination

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The polling schedule of a feed: a pure value, with time and randomness as arguments.
///
/// ```swift
/// var schedule = PollSchedule(url: "https://example.org/feed")
/// if schedule.isDue(at: now) { … schedule.polled(outcome, at: now, random: .random(in: 0..<1)) }
/// ```
/// Times are seconds since 1970. The rules are those that publishers expect feed readers to follow:
///
/// - At least an hour between polls (`PollRules.shortest`). `Cache-Control: max-age`, `Expires`,
///   `<ttl>` and `sy:updatePeriod` make that longer, up to a day (`longest`), but never shorter.
///   Only a hub's notification makes the feed due sooner, a minute after the last poll.
/// - No poll in `skipHours` and on `skipDays`.
/// - `Retry-After` is obeyed, up to a week.
/// - A feed that changes rarely is polled rarely: after three quarters of the mean time between its
///   changes, within these limits, but before more than half of its entries can have left it.
/// - 301 and 308 change the address when two polls in a row were redirected to the same target, by
///   permanent redirects only, and when two in a row declared the same new address
///   (`itunes:new-feed-url`). If the first poll at the new address fails, the address changes back.
///   For a month, no declaration leads to an address that failed so, or that the feed has left. An
///   address by https is never changed to one by http.
/// - 410 ends polling.
/// - A failure, including 429, leaves the interval as it is, and each further one in a row doubles
///   it, up to a day. Jitter keeps feeds that failed together from being polled together. The other
///   feeds of a server that asks for a pause are delayed, which does not count as a failure.
/// - If the next poll is further ahead than these rules allow, a wrong clock has set it, and the
///   feed is due at once.
public struct PollSchedule: Hashable, Sendable, Codable {
  /// The states of a schedule.
  public enum State: String, Hashable, Sendable, Codable {
    /// The feed is polled at its interval.
    case active
    /// The last poll failed, and the feed is polled less often until a poll succeeds.
    case penalized
    /// The feed is gone (410), and is not polled again.
    case ended
  }

  /// The address to poll; a permanent redirect changes it.
  public private(set) var url: String
  /// The time of the next poll; infinite when polling has ended.
  public private(set) var nextPoll: Double
  /// Whether the feed is polled normally, less often after a failure, or no longer.
  public private(set) var state: State = .active
  /// The number of consecutive failures.
  public private(set) var failures = 0
  /// The interval between polls while they succeed, in seconds. Failures delay the next poll
  /// further, but do not change it.
  public private(set) var interval: Double
  /// The limits of the schedule.
  public var rules: PollRules
  /// The time of the last known change of the feed.
  private var lastChange: Double?
  /// The mean time between changes in seconds, weighted towards recent ones.
  private var meanChange: Double?
  /// The publication time of the page's middle entry.
  private var middleEntry: Double?
  /// The target of a permanent redirect, and the number of polls in a row that were redirected
  /// there.
  private var move: Move?
  /// The address before a move; nil once the feed has been read at the new address.
  private var formerURL: String?
  /// An address that the client refused after a move, so that the feed is not moved there again.
  private var refusedURL: String?
  /// The addresses that the feed has left, or that failed after a move, each with the time until
  /// which the feed is not moved there by its own declaration: that would go on for ever.
  private var avoidedURLs: [String: Double]?
  /// The schedule that the feed asked for last, with the hours and days to skip.
  private var asked: FeedSchedule?
  /// The end of the wait that the server asked for at the last poll (`Retry-After`).
  private var retryAt: Double?

  private struct Move: Hashable, Codable {
    var target: String
    var count: Int
  }

  /// Creates the schedule of a feed that has not been polled and is due at `now`.
  public init(url: String, rules: PollRules = PollRules(), at now: Double = 0) {
    self.url = url
    self.rules = rules
    nextPoll = now
    interval = rules.shortest
  }

  /// Whether the feed is due.
  public func isDue(at now: Double) -> Bool { state != .ended && now >= due(by: now) }

  /// Returns the time at which the feed is due, as seen at `now`.
  ///
  /// A next poll too far ahead was set by a wrong clock, so the feed is due at once. A poll that is
  /// late, because nothing ran when it was due, is postponed if `now` is in the hours or days to
  /// skip.
  func due(by now: Double) -> Double {
    let time = isFar(nextPoll, from: now) ? -.infinity : nextPoll
    return time <= now && isSkipped(now) ? allowed(from: now) : time
  }

  /// Whether the feed asks not to be polled at this time.
  func isSkipped(_ time: Double) -> Bool { allowed(from: time) > time }

  /// Postpones a late poll to the end of the hours or days to skip, if `now` is in them.
  mutating func postpone(at now: Double) { nextPoll = max(nextPoll, due(by: now)) }

  /// Moves the next poll to the longest interval from `now`, if a wrong clock had set it too far
  /// ahead.
  package mutating func limitNextPoll(at now: Double) {
    guard state != .ended, isFar(nextPoll, from: now) else { return }
    nextPoll = allowed(from: now + rules.longest)
  }

  /// Whether a time is further ahead than the rules can postpone a poll at `now`, so that only a
  /// wrong clock can have set it.
  private func isFar(_ time: Double, from now: Double) -> Bool {
    // Twice the longest interval, because jitter lengthens an interval by at most a quarter.
    let longest = max(2 * rules.longest, retryAt == nil ? 0 : rules.longestRetryAfter)
    return time > allowed(from: now + longest)
  }

  /// Records the outcome of a poll at `now`, and schedules the next one with the jitter `random`,
  /// from 0 up to but not including 1.
  public mutating func polled(_ outcome: PollOutcome, at now: Double, random: Double) {
    guard state != .ended else { return }
    // A last change in the future, which a wrong clock recorded, would hide all changes before it.
    lastChange = lastChange.map { min($0, now) }
    retryAt = outcome.retryAfter.map { now + seconds($0) }
    if outcome.isPaused {
      let wait = seconds(outcome.retryAfter) * (1 + 0.1 * random)
      nextPoll = allowed(from: now + min(wait, rules.longestRetryAfter))
      return
    }
    switch outcome.result {
    case .gone where formerURL == nil:
      state = .ended
      nextPoll = .infinity
    case .gone, .failed:
      move = nil
      moveBack(outcome, at: now)
      fail(outcome, at: now, random)
    case .unchanged, .changed:
      formerURL = nil
      noteMove(outcome, at: now)
      succeed(outcome, at: now, random)
    }
  }

  /// Makes the feed due after a hub's notification: at the earliest a minute after the last poll,
  /// after `Retry-After`, and outside of the hours and days to skip.
  mutating func pushed(at now: Double, lastPoll: Double?) {
    guard state != .ended else { return }
    let soonest = [lastPoll.map { $0 + 60 }, retryAt].compactMap(\.self)
      .filter { !isFar($0, from: now) }.reduce(now, max)
    nextPoll = min(nextPoll, allowed(from: soonest))
  }

  /// Postpones the next poll to the longest interval from `now`, or to the end of the hub's lease
  /// if that is sooner: until then the hub notifies of changes.
  mutating func leaveToHub(from now: Double, until end: Double) {
    guard state == .active else { return }
    nextPoll = allowed(from: max(nextPoll, min(now + rules.longest, end)))
  }

  // MARK: Outcomes

  private mutating func succeed(_ outcome: PollOutcome, at now: Double, _ random: Double) {
    (state, failures, asked) = (.active, 0, outcome.schedule)
    if case .changed = outcome.result { noteChange(at: outcome.newestEntry ?? now, now) }
    meanChange = meanChange ?? outcome.meanGap
    middleEntry = outcome.middleEntry ?? middleEntry
    interval = adaptedInterval(at: now, outcome)
    // Up to a tenth later, to spread the feeds of one host, and never before the end of
    // `Retry-After`.
    let wait = max(interval * (1 + 0.1 * random), seconds(outcome.retryAfter))
    nextPoll = allowed(from: now + wait)
  }

  /// Returns the first time, from `time` on, outside of the feed's hours and days to skip.
  private func allowed(from time: Double) -> Double {
    asked.map { rules.allowed(from: time, $0) } ?? time
  }

  private mutating func fail(_ outcome: PollOutcome, at now: Double, _ random: Double) {
    state = .penalized
    failures = min(failures + 1, 64)
    let doubled = max(rules.shortest, interval) * Double(1 << min(failures - 1, 10))
    // A quarter more or less, even at the longest interval, so that feeds that failed together are
    // not polled together.
    let wait = min(rules.longest, doubled) * (0.75 + 0.5 * random)
    nextPoll = allowed(from: now + max(wait, rules.shortest, seconds(outcome.retryAfter)))
  }

  private func seconds(_ duration: Duration?) -> Double {
    guard let duration else { return 0 }
    let seconds = Double(duration.components.seconds)
    return min(max(seconds, 0), rules.longestRetryAfter)
  }

  // MARK: Rates

  /// Records a change, and updates the mean time between changes.
  private mutating func noteChange(at time: Double, _ now: Double) {
    let time = min(time, now)
    if let lastChange, time > lastChange {
      let gap = time - lastChange
      meanChange = meanChange.map { $0 * 0.7 + gap * 0.3 } ?? gap
    }
    lastChange = max(lastChange ?? time, time)
  }

  /// Returns the interval that suits the rate of the feed's changes and the schedule that it asks
  /// for, within the limits of the rules.
  private func adaptedInterval(at now: Double, _ outcome: PollOutcome) -> Double {
    var wanted = rules.shortest
    if let lastChange {
      // A long silence counts as a slower rate of changes.
      let silence = max(0, now - lastChange)
      wanted = max(meanChange ?? silence, silence / 2) * 0.75
    }
    // Half of its entries are newer, so in this time as many will leave it again.
    if let middleEntry { wanted = min(wanted, now - middleEntry) }
    let asked =
      [
        outcome.maxAge.map { seconds($0) }, outcome.schedule.timeToLive.map { seconds($0) },
        outcome.schedule.updateInterval.map { seconds($0) / 2 },
      ].compactMap(\.self).max() ?? 0
    return min(max(wanted, asked, rules.shortest), rules.longest)
  }

  // MARK: Moves

  /// Counts the polls in a row that were redirected to one address, or whose feed declared it, and
  /// moves the feed there after `PollRules.movesAfter` of them.
  private mutating func noteMove(_ outcome: PollOutcome, at now: Double) {
    let declared = outcome.declaredURL.flatMap { isAvoided($0, at: now) ? nil : $0 }
    guard let target = outcome.permanentRedirect ?? declared, canMove(to: target) else {
      move = nil
      return
    }
    let count = move?.target == target ? (move?.count ?? 0) + 1 : 1
    move = Move(target: target, count: count)
    guard count >= rules.movesAfter else { return }
    avoid(url, at: now)
    formerURL = url
    url = target
    move = nil
  }

  private func canMove(to target: String) -> Bool {
    guard target != url, target != refusedURL, let origin = try? Origin(url: target) else {
      return false
    }
    return origin.scheme == "https" || (try? Origin(url: url))?.scheme != "https"
  }

  /// Restores the address before a move, because the feed could not be read at the new address.
  private mutating func moveBack(_ outcome: PollOutcome, at now: Double) {
    guard let former = formerURL else { return }
    if outcome.isRefused { refusedURL = url }
    avoid(url, at: now)
    (url, formerURL) = (former, nil)
  }

  /// The time for which a feed is not moved to an address by its own declaration, in seconds.
  private static let avoidance = 30.0 * 86_400
  /// The maximum number of addresses to avoid.
  private static let maximumAvoided = 8

  private mutating func avoid(_ url: String, at now: Double) {
    var avoided = avoidedURLs ?? [:]
    avoided[url] = now + Self.avoidance
    if avoided.count > Self.maximumAvoided, let first = avoided.min(by: { $0.value < $1.value }) {
      avoided[first.key] = nil
    }
    avoidedURLs = avoided
  }

  private func isAvoided(_ url: String, at now: Double) -> Bool {
    // A time further ahead was set by a wrong clock.
    avoidedURLs?[url].map { (0...Self.avoidance).contains($0 - now) } ?? false
  }
}

/// The limits of a `PollSchedule`, in seconds.
public struct PollRules: Hashable, Sendable, Codable {
  /// The minimum time between two polls. Default: an hour.
  public var shortest: Double
  /// The maximum time between two polls. Default: a day.
  public var longest: Double
  /// The longest `Retry-After` that is obeyed. Default: a week.
  public var longestRetryAfter: Double
  /// The number of polls in a row that must be redirected permanently to the same target before the
  /// address changes. Default: two.
  public var movesAfter: Int

  /// Creates rules; every parameter has the default of its property.
  public init(
    shortest: Double = 3_600, longest: Double = 86_400, longestRetryAfter: Double = 604_800,
    movesAfter: Int = 2
  ) {
    self.shortest = max(0, shortest)
    self.longest = max(longest, self.shortest)
    self.longestRetryAfter = longestRetryAfter
    self.movesAfter = max(1, movesAfter)
  }

  /// Returns the first time, from `time` on, outside of the hours and days to skip. A schedule that
  /// excludes every hour is ignored.
  func allowed(from time: Double, _ schedule: FeedSchedule) -> Double {
    guard abs(time) < 1e12, !schedule.skipHours.isEmpty || !schedule.skipDays.isEmpty else {
      return time
    }
    var hour = Int((time / 3_600).rounded(.down))
    for step in 0..<(24 * 8) {
      let (day, hourOfDay) = hour.dividedRoundingDown(by: 24)
      let weekday = CivilTime.weekday(ofDay: day) + 1
      if !schedule.skipHours.contains(hourOfDay), !schedule.skipDays.contains(weekday) {
        return step == 0 ? time : Double(hour) * 3_600
      }
      hour += 1
    }
    return time
  }
}
