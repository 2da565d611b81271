import QuireTesting
import Testing

@testable import QuireFeeds

@Suite struct PollQueueTests {
  @Test("17-Polite: a host is asked by one at a time, with a gap, and holds up no other host")
  func hosts() {
    var queue = PollQueue(limits: PollingLimits(concurrent: 3, hostGap: .seconds(10)))
    for feed in ["a1", "a2", "b1", "c1", "d1"] {
      queue.schedule(feed, host: String(feed.prefix(1)), at: 0)
    }
    #expect(Set(queue.begin(at: 0, dueBy: 0)).count == 3)
    #expect(queue.begin(at: 0, dueBy: 0) == [])
    #expect(queue.wake(after: 0) == nil)
    for feed in ["a1", "b1", "c1"] { queue.ended(feed, host: String(feed.prefix(1)), next: 100) }
    #expect(queue.begin(at: 1, dueBy: 1) == ["d1"])
    #expect(queue.wake(after: 1) == 10)
    #expect(queue.begin(at: 10, dueBy: 10) == ["a2"])
    #expect(!queue.isIdle(at: 10))
    queue.ended("a2", host: "a", next: nil)
    queue.ended("d1", host: "d", next: 50)
    #expect(queue.isIdle(at: 49))
    #expect(queue.begin(at: 50, dueBy: 50) == ["d1"])
  }

  @Test("17-Polite: limits of nothing let one feed in, and limits beyond counting end no program")
  func limits() {
    var limits = PollingLimits()
    limits.concurrent = 0
    limits.concurrentPerHost = -1
    limits.hostGap = .seconds(-1)
    #expect(limits == PollingLimits(concurrent: 1, concurrentPerHost: 1, hostGap: .zero))
    let claims = ClaimMachine(limits: PollingLimits(concurrent: .max))
    #expect(claims.claimLimit(at: 0, holding: 0) == .max)
  }

  @Test(
    "17-Polite: a clock that was set back closes no host for longer than its gap, and holds up no claim"
  )
  func clockSetBack() {
    let limits = PollingLimits(hostGap: .seconds(10))
    var queue = PollQueue(limits: limits)
    for feed in ["a1", "a2"] { queue.schedule(feed, host: "a", at: 0) }
    #expect(queue.begin(at: 90_000, dueBy: 90_000) == ["a1"])
    queue.ended("a1", host: "a", next: nil)
    queue.reopen(at: 5)
    #expect(queue.begin(at: 5, dueBy: 5) == [] && queue.wake(after: 5) == 15)
    #expect(queue.begin(at: 15, dueBy: 15) == ["a2"])
    var claims = ClaimMachine(limits: limits)
    claims.claimed([], working: [], limit: 8, count: 0, at: 90_000)
    #expect(claims.claimLimit(at: 90_001, holding: 0) == nil)
    #expect(claims.claimLimit(at: 5, holding: 0) == 64)
  }

  @Test("17-Polite: a feed that is removed or put off while it waits is not polled")
  func removal() {
    var queue = PollQueue(limits: PollingLimits(hostGap: .seconds(10)))
    for feed in ["a1", "a2", "a3"] { queue.schedule(feed, host: "a", at: 0) }
    #expect(queue.begin(at: 0, dueBy: 0) == ["a1"])
    queue.remove("a2")
    queue.schedule("a3", host: "a", at: 500)
    queue.remove("a1")
    #expect(queue.begin(at: 400, dueBy: 400) == [])
    queue.ended("a1", host: "a", next: nil)
    #expect(queue.running == 0)
    #expect(queue.begin(at: 500, dueBy: 500) == ["a3"])
  }

  @Test(
    "17-Polite, 17-Aggregator: a feed that is removed while it is polled occupies its host until then, added again or not"
  )
  func removalDuringPoll() {
    var queue = PollQueue(limits: PollingLimits(hostGap: .zero))
    for feed in ["a1", "a2"] { queue.schedule(feed, host: "a", at: 0) }
    #expect(queue.begin(at: 0, dueBy: 0) == ["a1"])
    queue.remove("a1")
    #expect(!queue.contains("a1") && queue.begin(at: 1, dueBy: 1) == [])
    queue.schedule("a1", host: "a", at: 1)
    #expect(queue.contains("a1") && queue.hasReturned("a1"))
    #expect(queue.begin(at: 1, dueBy: 1) == [] && queue.running == 1)
    queue.ended("a1", host: "a", next: 3)
    #expect(queue.begin(at: 2, dueBy: 2) == ["a2"])
    queue.ended("a2", host: "a", next: nil)
    #expect(queue.begin(at: 3, dueBy: 3) == ["a1"] && !queue.hasReturned("a1"))
  }

  @Test(
    "17-Polite: 300 simulated days ask no host more often than it may, and every feed when it is due"
  )
  func simulation() {
    let seed = UInt64.random(in: 0 ... .max)
    for round in 0..<UInt64(300) {
      if let flaw = Self.simulate(seed &+ round) {
        Issue.record("seed \(seed &+ round): \(flaw)")
        return
      }
    }
  }

  private static func simulate(_ seed: UInt64) -> String? {
    var random = SeededGenerator(seed: seed)
    let limits = PollingLimits(
      concurrent: .random(in: 1...6, using: &random),
      concurrentPerHost: .random(in: 1...3, using: &random),
      hostGap: .seconds(Int.random(in: 0...20, using: &random)))
    var queue = PollQueue(limits: limits)
    let gap = limits.hostGap / .seconds(1)
    var now = 0.0
    var due: [String: Double] = [:]
    var running: [(feed: String, until: Double)] = []
    var lastStart: [String: Double] = [:]
    for number in 0..<Int.random(in: 1...40, using: &random) {
      let feed = "\(number % Int.random(in: 1...8, using: &random)).\(number)"
      due[feed] = .random(in: 0...1_000, using: &random)
      queue.schedule(feed, host: String(feed.prefix(1)), at: due[feed] ?? 0)
    }
    var polls = 0
    while now < 86_400, polls < 2_000 {
      for feed in queue.begin(at: now, dueBy: now) {
        let host = String(feed.prefix(1))
        guard let time = due[feed], time <= now else { return "\(feed) is asked before its time" }
        if let last = lastStart[host], now - last < gap - 1e-6 {
          return "\(host) is asked too soon"
        }
        lastStart[host] = now
        running.append((feed, now + .random(in: 0.1...90, using: &random)))
        polls += 1
        if running.count > limits.concurrent { return "too many at once" }
        if running.filter({ $0.feed.hasPrefix(host) }).count > limits.concurrentPerHost {
          return "too many of one host at once"
        }
      }
      let end = running.map(\.until).min()
      guard let next = [end, queue.wake(after: now)].compactMap(\.self).min() else {
        return "nothing comes any more"
      }
      now = max(now, next)
      for (feed, until) in running where until <= now {
        due[feed] = now + .random(in: 60...7_200, using: &random)
        queue.ended(feed, host: String(feed.prefix(1)), next: due[feed])
      }
      running.removeAll { $0.until <= now }
    }
    return polls >= due.count ? nil : "only \(polls) polls"
  }
}
