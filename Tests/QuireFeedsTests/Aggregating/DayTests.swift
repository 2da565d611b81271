import Foundation
import HTTPTypes
import QuireCore
import QuireHTTP
import QuireTesting
import Synchronization
import TestSupport
import Testing

@testable import QuireFeeds

/// A simulated day of many feeds, whose publishers differ: rates by the hour of the day, outages,
/// throttling, moves, and polling rules. The environment variable `FEEDS` sets their number;
/// default 40.
@Suite struct DayTests {
  private static let start = 1_800_057_600.0  // Midnight in UTC.
  private static let day = 86_400.0

  /// One publisher, and the requests that it has received.
  private struct Publisher {
    var published: [Double] = []
    var outage = 0.0..<0.0
    var movesAt = Double.infinity
    var throttlesAt = Double.infinity
    var timeToLive = 0.0
    var maxAge = 0.0
    var skipHours: Set<Int> = []
    /// The times of requests to its first and to its second address.
    var asked: [[Double]] = [[], []]
    /// The earliest time of the next request, according to the last answer.
    var notBefore = -Double.infinity
    var breaches: [String] = []
    /// The number of entries that answers have contained so far.
    var given = 0
    var delays: [Double] = []
  }

  private final class World: Sendable {
    let publishers: Mutex<[Publisher]>
    let time = Mutex(DayTests.start)
    var now: Double { time.withLock { $0 } }

    init(_ publishers: [Publisher]) { self.publishers = Mutex(publishers) }

    func answer(_ url: String, _ fields: HTTPFields) -> FeedWeb.Answer? {
      // Publisher 12 is at https://h12.test/, and after its move at https://n12.test/.
      guard let number = Int(url.dropFirst(9).prefix { $0.isNumber }) else { return nil }
      let isNew = url.dropFirst(8).first == "n"
      let now = now
      return publishers.withLock { DayTests.answer(&$0[number], number, isNew, fields, now) }
    }
  }

  private static func answer(
    _ publisher: inout Publisher, _ number: Int, _ isNew: Bool, _ fields: HTTPFields, _ now: Double
  ) -> FeedWeb.Answer {
    note(&publisher, isNew, now)
    if now >= publisher.movesAt, !isNew {
      return .init(status: 301, fields: [.location: "https://n\(number).test/"])
    }
    if publisher.outage.contains(now) { return .init(status: 500, body: "no") }
    if now >= publisher.throttlesAt {
      publisher.throttlesAt = .infinity
      publisher.notBefore = now + 7_200
      return .init(status: 429, body: "slow down", fields: [.retryAfter: "7200"])
    }
    let count = publisher.published.count { $0 <= now }
    for entry in publisher.published[publisher.given..<count] where entry > start {
      publisher.delays.append(now - entry)
    }
    publisher.given = max(publisher.given, count)
    let wish = max(publisher.timeToLive, publisher.maxAge)
    if wish > 0 { publisher.notBefore = now + wish }
    var answer = FeedWeb.Answer(fields: [.eTag: "\"\(count)\""])
    if publisher.maxAge > 0 { answer.fields[.cacheControl] = "max-age=\(Int(publisher.maxAge))" }
    if fields[.ifNoneMatch] == "\"\(count)\"" {
      answer.status = 304
      return answer
    }
    answer.body = page(publisher, count)
    return answer
  }

  /// Records a request, and the rules that it breaks.
  private static func note(_ publisher: inout Publisher, _ isNew: Bool, _ now: Double) {
    let last = publisher.asked[isNew ? 1 : 0].last
    if let last, now - last < 3_600 { publisher.breaches.append("asked after \(now - last) s") }
    if now < publisher.notBefore { publisher.breaches.append("asked before it may be") }
    let hour = Int(now / 3_600) % 24
    if publisher.given > 0, publisher.skipHours.contains(hour) {
      publisher.breaches.append("asked in hour \(hour)")
    }
    publisher.asked[isNew ? 1 : 0].append(now)
  }

  /// Returns a page of the last hundred entries, with the polling rules of the channel.
  private static func page(_ publisher: Publisher, _ count: Int) -> String {
    let items = (max(0, count - 100)..<count).reversed().map { number -> String in
      let date = Date(timeIntervalSince1970: publisher.published[number]).formatted(.iso8601)
      return "<item><guid>urn:\(number)</guid><dc:date>\(date)</dc:date></item>"
    }
    var wishes = publisher.timeToLive > 0 ? "<ttl>\(Int(publisher.timeToLive / 60))</ttl>" : ""
    if !publisher.skipHours.isEmpty {
      let hours = publisher.skipHours.sorted().map { "<hour>\($0)</hour>" }.joined()
      wishes += "<skipHours>\(hours)</skipHours>"
    }
    return "<rss xmlns:dc='http://purl.org/dc/elements/1.1/'><channel><title>T</title>\(wishes)"
      + items.joined() + "</channel></rss>"
  }

  private func publisher(_ number: Int, _ chance: inout SeededGenerator) -> Publisher {
    var publisher = Publisher()
    // From three entries an hour to one in three days.
    let gap = 1_200 * pow(216, Double.random(in: 0..<1, using: &chance))
    var time = Self.start - min(gap * 40, 30 * Self.day)
    while time < Self.start + Self.day {
      let hour = Int(time / 3_600) % 24
      // Entries are three times as frequent by day as by night.
      let pace = 8..<22 ~= hour ? 0.75 : 2.25
      time += -log(Double.random(in: 1e-9..<1, using: &chance)) * gap * pace
      if time < Self.start + Self.day { publisher.published.append(time.rounded()) }
    }
    let moment = Self.start + Double.random(in: 0.1..<0.7, using: &chance) * Self.day
    switch number % 20 {
    case 3, 13: publisher.outage = moment..<moment + 14_400
    case 5: publisher.movesAt = moment
    case 7: publisher.throttlesAt = moment
    case 9, 19: publisher.timeToLive = 10_800
    case 11: publisher.maxAge = 7_200
    case 17: publisher.skipHours = [0, 1, 2, 3, 4, 5]
    default: break
    }
    return publisher
  }

  @Test(
    "17-Day, 17-Polite, 17-Aggregator: a day of many feeds breaks no publisher's rule, brings every entry once, and is early"
  )
  func day() async throws {
    let given = ProcessInfo.processInfo.environment["FEEDS"].flatMap { Int($0) }
    let count = given ?? 40
    // With few feeds the delays depend on the publishers, so they are always the same ones.
    let seed = given == nil ? 17 : UInt64.random(in: 0 ... .max)
    var chance = SeededGenerator(seed: seed)
    let world = World((0..<count).map { publisher($0, &chance) })
    let store = MemoryFeedStore()
    for number in 0..<count {
      let due = Self.start + Double.random(in: 0..<3_600, using: &chance)
      await store.apply(.subscribe(FeedSubscription(url: "https://h\(number).test/", at: due)))
    }
    var environment = Aggregator.Environment()
    environment.now = { world.now }
    let random = Mutex(chance)
    environment.random = { random.withLock { Double.random(in: 0..<1, using: &$0) } }
    let web = FeedWeb { world.answer($0, $1) }
    let aggregator = Aggregator(
      store: store, client: PageClient(transport: web, configuration: .feed),
      settings: AggregatorSettings(limits: PollingLimits(hostGap: .zero)), environment: environment)
    while world.now < Self.start + Self.day {
      try await aggregator.pollDue()
      world.time.withLock { $0 += 30 }
    }
    try await judge(world, store, web, seed)
  }

  private func judge(
    _ world: World, _ store: MemoryFeedStore, _ web: FeedWeb, _ seed: UInt64
  ) async throws {
    let publishers = world.publishers.withLock { $0 }
    let breaches = publishers.flatMap(\.breaches)
    #expect(breaches.isEmpty, "seed \(seed): \(breaches.prefix(5))")
    let found = try await store.entries(EntrySelection(), at: nil, limit: 10_000_000).items
    let kept = Dictionary(grouping: found, by: \.subscription).mapValues { $0.map(\.entry.id) }
    var wrong = 0
    for (number, publisher) in publishers.enumerated() {
      let ids = kept["https://h\(number).test/"] ?? []
      let known = max(0, publisher.published.count { $0 <= Self.start } - 100)
      wrong += ids.count - Set(ids).count
      // Entries that left the feed before the subscription do not count as lost.
      for entry in known..<max(known, publisher.given) where !ids.contains("urn:\(entry)") {
        wrong += 1
      }
    }
    #expect(wrong == 0, "seed \(seed)")
    let delays = publishers.flatMap(\.delays).sorted()
    let requests = publishers.flatMap { $0.asked.flatMap { $0 } }.count
    let fixed = fixed(publishers, requests).sorted()
    let (median, other) = (delays[delays.count / 2], fixed[fixed.count / 2])
    let bar = publishers.count < 1_000 ? 0.75 : 0.5
    #expect(median <= other * bar, "seed \(seed): \(median) s, and by a fixed schedule \(other) s")
    print(
      """
      day: \(publishers.count) feeds, \(requests) requests, \(delays.count) entries, \(breaches.count) rules \
      broken, \(wrong) entries lost or twice; median delay \(Int(median)) s, \
      \(Double(Int(median / other * 100)) / 100) of a fixed schedule's (seed \(seed))
      """)
  }

  /// Returns the delays of a fixed schedule: one interval for all feeds, the same number of
  /// requests, and no outages.
  private func fixed(_ publishers: [Publisher], _ requests: Int) -> [Double] {
    let interval = Self.day * Double(publishers.count) / Double(requests)
    return publishers.enumerated().flatMap { number, publisher in
      let phase = interval * Double(number) / Double(publishers.count)
      return publisher.published.filter { $0 > Self.start }.map { time in
        let since = (time - Self.start - phase).truncatingRemainder(dividingBy: interval)
        return interval - (since < 0 ? since + interval : since)
      }
    }
  }
}
