import QuirePagination

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// When a feed is asked next: a value that decides, without clock and without chance of its own.
///
/// ```swift
/// var schedule = PollSchedule(url: "https://example.org/feed")
/// if schedule.isDue(at: now) { … schedule.polled(outcome, at: now, random: .random(in: 0..<1)) }
/// ```
/// Times are seconds since 1970. The rules are those that publishers measure readers by:
///
/// - an hour between polls (`PollRules.shortest`), unless the feed says otherwise: `Cache-Control: max-age` and
///   `Expires`, `<ttl>`, `sy:updatePeriod` make it longer, never shorter, up to a day (`longest`);
/// - no poll in `skipHours` and on `skipDays`;
/// - `Retry-After` is obeyed, up to a week;
/// - a feed that changes rarely is asked rarely: between the shortest and the longest interval, three quarters of
///   the mean time between its changes;
/// - 301 and 308 move the address once the same target was seen twice in a row, by permanent redirects alone;
///   where the feed cannot be read there at the first poll, it moves back;
/// - 410 is the end;
/// - failures and 429 put the feed into the penalty box: for its interval, doubled with each failure up to a day,
///   with jitter so that feeds do not come out together;
/// - a next poll that lies further ahead than these rules put one off was set by a clock that was ahead: the feed
///   is due at once.
public struct PollSchedule: Hashable, Sendable, Codable {
  /// Whether a feed is asked at all.
  public enum State: String, Hashable, Sendable, Codable {
    /// It is asked by its interval.
    case active
    /// It failed, and is asked rarely.
    case penalized
    /// It said that it is gone (410); it is not asked again.
    case ended
  }

  /// The address to ask; a permanent move changes it.
  public private(set) var url: String
  /// When to ask next.
  public private(set) var nextPoll: Double
  /// Whether it is asked.
  public private(set) var state: State = .active
  /// Failures in a row.
  public private(set) var failures = 0
  /// The present interval between polls, in seconds.
  public private(set) var interval: Double
  /// What limits it.
  public var rules: PollRules
  /// When the feed changed last, as far as that was seen.
  private var lastChange: Double?
  /// The mean time between changes, in seconds; recent ones count more.
  private var meanChange: Double?
  /// A permanent redirect that was seen, and how often in a row.
  private var move: Move?
  /// Where it was before it moved, until it is read at the new address.
  private var formerURL: String?
  /// Where it must not move: the address was refused.
  private var refusedURL: String?
  /// Hours and days that the feed does not want to be asked in, as it said the last time.
  private var asked: FeedSchedule?
  /// When the server's last `Retry-After` ends.
  private var retryAt: Double?

  private struct Move: Hashable, Codable {
    var target: String
    var count: Int
  }

  /// A feed that was not asked yet, and is due at once.
  public init(url: String, rules: PollRules = PollRules(), at now: Double = 0) {
    self.url = url
    self.rules = rules
    nextPoll = now
    interval = rules.shortest
  }

  /// Whether it is time to ask.
  public func isDue(at now: Double) -> Bool { state != .ended && now >= due(by: now) }

  /// When it is due by a clock that says `now`: at once where another clock was far ahead at the last poll.
  func due(by now: Double) -> Double { isFar(nextPoll, from: now) ? -.infinity : nextPoll }

  /// Brings a next poll that a clock set which was far ahead back to the longest interval from `now` on.
  package mutating func bring(backTo now: Double) {
    guard state != .ended, isFar(nextPoll, from: now) else { return }
    nextPoll = allowed(from: now + rules.longest)
  }

  /// Whether a time is further ahead than anything that happens at `now` can put a poll off.
  private func isFar(_ time: Double, from now: Double) -> Bool {
    // No spread doubles an interval.
    let longest = max(2 * rules.longest, retryAt == nil ? 0 : rules.longestRetryAfter)
    return time > allowed(from: now + longest)
  }

  /// Takes what came of a poll at `now`; `random`, from 0 up to 1, spreads the next one.
  public mutating func polled(_ outcome: PollOutcome, at now: Double, random: Double) {
    guard state != .ended else { return }
    // What a clock that was ahead has taken for a change later than now would hide all until then.
    lastChange = lastChange.map { min($0, now) }
    retryAt = outcome.retryAfter.map { now + seconds($0) }
    switch outcome.result {
    case .gone where formerURL == nil:
      state = .ended
      nextPoll = .infinity
    case .gone, .failed:
      move = nil
      moveBack(outcome)
      fail(outcome, at: now, random)
    case .unchanged, .changed:
      formerURL = nil
      note(outcome.permanentRedirect)
      succeed(outcome, at: now, random)
    }
  }

  /// Makes the feed due, for its hub says that it changed: a minute after the last poll at the earliest.
  mutating func pushed(at now: Double, lastPoll: Double?) {
    guard state != .ended else { return }
    let soonest = [lastPoll.map { $0 + 60 }, retryAt].compactMap(\.self)
      .filter { !isFar($0, from: now) }.reduce(now, max)
    nextPoll = min(nextPoll, allowed(from: soonest))
  }

  /// Puts the next poll off as far as the rules allow, for a hub tells of changes until its lease ends.
  mutating func leaveToHub(from now: Double, until end: Double) {
    guard state == .active else { return }
    nextPoll = allowed(from: max(nextPoll, min(now + rules.longest, end)))
  }

  // MARK: Outcomes

  private mutating func succeed(_ outcome: PollOutcome, at now: Double, _ random: Double) {
    (state, failures, asked) = (.active, 0, outcome.schedule)
    if case .changed = outcome.result { noteChange(at: outcome.newestEntry ?? now, now) }
    meanChange = meanChange ?? outcome.meanGap
    interval = adapted(at: now, outcome)
    // Up to a tenth later, so that feeds of one host spread; never earlier than the feed asks.
    let wait = max(interval * (1 + 0.1 * random), seconds(outcome.retryAfter))
    nextPoll = allowed(from: now + wait)
  }

  /// The first time from `time` on that the feed does not rule out.
  private func allowed(from time: Double) -> Double {
    asked.map { rules.allowed(from: time, $0) } ?? time
  }

  private mutating func fail(_ outcome: PollOutcome, at now: Double, _ random: Double) {
    state = .penalized
    failures = min(failures + 1, 64)
    let doubled = max(rules.shortest, interval) * Double(1 << min(failures - 1, 10))
    // A quarter more or less, at the longest as well: feeds that failed together are not asked together.
    let wait = min(rules.longest, doubled) * (0.75 + 0.5 * random)
    nextPoll = allowed(from: now + max(wait, rules.shortest, seconds(outcome.retryAfter)))
  }

  private func seconds(_ duration: Duration?) -> Double {
    guard let duration else { return 0 }
    let seconds = Double(duration.components.seconds)
    return min(max(seconds, 0), rules.longestRetryAfter)
  }

  // MARK: Rates

  private mutating func noteChange(at time: Double, _ now: Double) {
    let time = min(time, now)
    if let lastChange, time > lastChange {
      let gap = time - lastChange
      meanChange = meanChange.map { $0 * 0.7 + gap * 0.3 } ?? gap
    }
    lastChange = max(lastChange ?? time, time)
  }

  /// The interval by how often the feed changes and what it asks for.
  private func adapted(at now: Double, _ outcome: PollOutcome) -> Double {
    var wanted = rules.shortest
    if let lastChange {
      // A feed that has been silent for longer than usual is as slow as it seems.
      let silence = max(0, now - lastChange)
      wanted = max(meanChange ?? silence, silence / 2) * 0.75
    }
    let asked =
      [
        outcome.maxAge.map { seconds($0) }, outcome.schedule.timeToLive.map { seconds($0) },
        outcome.schedule.updateInterval.map { seconds($0) / 2 },
      ].compactMap(\.self).max() ?? 0
    return min(max(wanted, asked, rules.shortest), rules.longest)
  }

  // MARK: Moves

  private mutating func note(_ target: String?) {
    guard let target, target != url, target != refusedURL, (try? Origin(url: target)) != nil else {
      move = nil
      return
    }
    let count = move?.target == target ? (move?.count ?? 0) + 1 : 1
    move = Move(target: target, count: count)
    guard count >= rules.movesAfter else { return }
    formerURL = url
    url = target
    move = nil
  }

  /// Goes back where the feed was before a move, for it cannot be read at its new address.
  private mutating func moveBack(_ outcome: PollOutcome) {
    guard let former = formerURL else { return }
    if outcome.isRefused { refusedURL = url }
    (url, formerURL) = (former, nil)
  }
}

/// The limits of a `PollSchedule`, in seconds.
public struct PollRules: Hashable, Sendable, Codable {
  /// Between two polls, at least. Default: an hour.
  public var shortest: Double
  /// Between two polls, at most. Default: a day.
  public var longest: Double
  /// The longest `Retry-After` that is obeyed. Default: a week.
  public var longestRetryAfter: Double
  /// How often in a row a permanent redirect has to be seen. Default: twice.
  public var movesAfter: Int

  /// Rules; every parameter has the default of its property.
  public init(
    shortest: Double = 3_600, longest: Double = 86_400, longestRetryAfter: Double = 604_800,
    movesAfter: Int = 2
  ) {
    self.shortest = max(0, shortest)
    self.longest = max(longest, self.shortest)
    self.longestRetryAfter = longestRetryAfter
    self.movesAfter = max(1, movesAfter)
  }

  /// The first time from `time` on that is in none of the hours and days to skip. Where all are to be
  /// skipped, none is.
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
