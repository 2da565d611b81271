import Foundation
import Quire
import QuireFeeds
import QuireFeedsSQLite
import Synchronization

/// 10,000 feeds, three of ten hostile or broken, polled by one process into a file of SQLite, as they come
/// due within a minute; then the healthy ones again.
///
/// Each run is a process of its own, which prints its numbers.
enum FeedGauntlet {
  private static let count = 10_000
  /// Seconds in which the feeds come due.
  private static let span = 60.0

  static func measure(_ server: Server) async throws -> [Figure] {
    // A slow moment of the machine is a percentile's worth of feeds: pairs, and their median.
    let pairs = try (0..<3).map { _ in
      (
        clean: try Child.numbers(of: ["poll-healthy", server.base]),
        mixed: try Child.numbers(of: ["poll-all", server.base])
      )
    }
    .sorted { slowdown($0) < slowdown($1) }
    let (clean, mixed) = pairs[pairs.count / 2]
    let kinds = try FeedWeb.kinds.map { kind in
      (kind, try Child.numbers(of: ["poll-" + kind, server.base]))
    }
    func worst(_ name: String) -> (kind: String, value: Double) {
      kinds.map { ($0.0, $0.1[name] ?? .infinity) }.max { $0.1 < $1.1 } ?? ("", .infinity)
    }
    let (cpu, memory) = (worst("cpu"), worst("memory"))
    let healthy = Double((0..<count).count { !FeedWeb.isHostile($0) })
    let lost = pairs.map { healthy * Double(FeedWeb.entries) - ($0.mixed["entries"] ?? 0) }
    return [
      Figure(
        "10,000 feeds, 3 of 10 hostile: healthy entries lost", lost.max() ?? .infinity, "",
        .atMost(0)),
      Figure(
        "  memory at the peak", pairs.map { $0.mixed["peak"] ?? .infinity }.max() ?? .infinity,
        "MiB", .atMost(256)),
      Figure(
        "  healthy p99, to that without hostile ones",
        slowdown((clean, mixed)), "×", .atMost(1.2)),
      Figure("  healthy p99", (mixed["p99"] ?? 0) * 1_000, "ms"),
      Figure("  CPU of the worst hostile feed (\(cpu.kind))", cpu.value * 1_000, "ms", .atMost(50)),
      Figure("  memory of the worst (\(memory.kind))", memory.value, "MiB", .atMost(4)),
      Figure(
        "second poll: answers that are no 304", healthy - (clean["unchanged"] ?? 0), "", .atMost(0)),
      Figure("  requests a feed", (clean["requests"] ?? 0) / healthy, "", .atMost(1)),
      Figure(
        "  CPU, to that of the first poll",
        (clean["secondCPU"] ?? .infinity) / (clean["firstCPU"] ?? 1) * 100, "%", .atMost(10)),
      Figure("  CPU of the first poll, a feed", (clean["firstCPU"] ?? 0) / healthy * 1_000, "ms"),
    ]
  }

  /// How many times as long the healthy ones take among hostile ones, at their 99th percentile.
  private static func slowdown(
    _ pair: (clean: [String: Double], mixed: [String: Double])
  ) -> Double {
    (pair.mixed["p99"] ?? .infinity) / (pair.clean["p99"] ?? 1)
  }

  /// One run: `poll-all`, `poll-healthy`, or `poll-` and a kind of mischief.
  static func run(_ word: String, _ server: Server) async throws -> [String: Double] {
    switch word {
    case "poll-all": return try await pollAll(server, withHostile: true)
    case "poll-healthy": return try await pollAll(server, withHostile: false)
    default: return try await pollOne(String(word.dropFirst(5)), server)
    }
  }

  /// What polls did, as they are observed.
  private struct Seen {
    var polls = 0
    var added = 0
    var unchanged = 0
    var requests = 0
    var seconds: [Double] = []
  }

  private static func isHealthy(_ subscription: FeedSubscription) -> Bool {
    subscription.id.split(separator: "?").last.flatMap { Int($0) }.map { !FeedWeb.isHostile($0) }
      ?? false
  }

  private static func aggregator(
    _ store: any FeedStore, _ note: @escaping @Sendable (FeedPollReport) -> Void
  ) -> Aggregator {
    let settings = AggregatorSettings(limits: PollingLimits(concurrent: 256))
    return Aggregator(
      store: store, client: PageClient(configuration: .feed(operator: "https://example.org/bot")),
      settings: settings
    ) { event in
      if case .polled(let report) = event { note(report) }
    }
  }

  /// What polls did so far.
  private final class Tally: Sendable {
    private let seen = Mutex(Seen())
    var value: Seen { seen.withLock { $0 } }

    func note(_ report: FeedPollReport) {
      seen.withLock {
        $0.polls += 1
        $0.requests += report.traffic.requests
        guard isHealthy(report.subscription) else { return }
        $0.added += report.effect.added
        $0.unchanged += report.isUnchanged ? 1 : 0
        $0.seconds.append(report.duration / .seconds(1))
      }
    }
  }

  private static func pollAll(
    _ server: Server, withHostile: Bool
  ) async throws -> [String: Double] {
    let file = FileManager.default.temporaryDirectory.appending(path: "quire-\(UUID()).sqlite")
    defer {
      for end in ["", "-wal", "-shm"] {
        try? FileManager.default.removeItem(atPath: file.path + end)
      }
    }
    let store = try SQLiteFeedStore(path: file.path)
    let numbers = (0..<count).filter { withHostile || !FeedWeb.isHostile($0) }
    let start = Date().timeIntervalSince1970 + 10
    for number in numbers {
      let due = start + span * Double(number * 7_919 % count) / Double(count)
      let url = FeedWeb.url(number, at: server)
      try await store.apply(.subscribe(FeedSubscription(url: url, at: due)))
    }
    let cpu = ProcessStatus.seconds
    let first = try await firstPoll(store, numbers.count)
    let firstCPU = ProcessStatus.seconds - cpu
    var result = [
      "entries": Double(first.added), "peak": Double(ProcessStatus.peakResidentBytes) / 1_048_576,
      "p99": percentile(first.seconds), "firstCPU": firstCPU,
    ]
    guard !withHostile else { return result }
    let tally = Tally()
    let before = ProcessStatus.seconds
    // As after a restart: all that is known comes from the file.
    let again = DueNow(base: try SQLiteFeedStore(path: file.path))
    try await aggregator(again) { tally.note($0) }.pollDue()
    result["secondCPU"] = ProcessStatus.seconds - before
    result["unchanged"] = Double(tally.value.unchanged)
    result["requests"] = Double(tally.value.requests)
    return result
  }

  /// Polls every feed once: it is an hour until the next time.
  private static func firstPoll(_ store: any FeedStore, _ count: Int) async throws -> Seen {
    let tally = Tally()
    let aggregator = aggregator(store) { tally.note($0) }
    let work = Task { try await aggregator.run() }
    while tally.value.polls < count { try await Task.sleep(for: .milliseconds(500)) }
    work.cancel()
    _ = await work.result
    return tally.value
  }

  private static func percentile(_ values: [Double]) -> Double {
    values.sorted()[values.count * 99 / 100]
  }

  private static func pollOne(_ kind: String, _ server: Server) async throws -> [String: Double] {
    let tally = Tally()
    let aggregator = aggregator(MemoryFeedStore()) { tally.note($0) }
    // Healthy feeds first, so that what every process needs once is there.
    for number in 3..<10 {
      try await aggregator.subscribe(to: FeedWeb.url(number, at: server))
      try await aggregator.pollDue()
    }
    let memory = ProcessStatus.residentBytes
    ProcessStatus.forgetPeak()
    let cpu = ProcessStatus.seconds
    try await aggregator.subscribe(to: "\(server.base)/feeds/\(kind)?0")
    try await aggregator.pollDue()
    let spent = ProcessStatus.seconds - cpu
    precondition(tally.value.polls == 8)
    return [
      "cpu": spent, "memory": Double(ProcessStatus.peakResidentBytes - memory) / 1_048_576,
    ]
  }
}

/// A store whose feeds are all due, whatever was decided before.
struct DueNow: FeedStore {
  let base: any FeedStore

  func subscriptions() async throws -> [FeedSubscription] {
    try await base.subscriptions().map { subscription in
      var subscription = subscription
      subscription.schedule = PollSchedule(url: subscription.schedule.url)
      return subscription
    }
  }

  func apply(_ change: FeedChange) async throws -> FeedEffect { try await base.apply(change) }

  func entries(
    _ selection: EntrySelection, at position: Position?, limit: Int
  ) async throws -> Page<StoredEntry> {
    try await base.entries(selection, at: position, limit: limit)
  }
}
