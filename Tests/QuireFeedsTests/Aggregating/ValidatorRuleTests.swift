import HTTPTypes
import QuireCore
import QuireHTTP
import Synchronization
import Testing

@testable import QuireFeeds

/// Publishers' rule for validators: each poll returns the ETag and the Last-Modified of the answer
/// before.
@Suite struct ValidatorRuleTests {
  /// One answer of a publisher, and the validators that the poll which it answers must send.
  struct Step: Sendable {
    var status = 200
    var fields: [String: String] = [:]
    var body: String? = "1"
    /// The `If-None-Match` and `If-Modified-Since` that the request must have.
    var tag: String?
    var date: String?
  }

  struct Story: Sendable, CustomTestStringConvertible {
    let name: String
    let steps: [Step]

    var testDescription: String { name }
  }

  private static let old = "Tue, 03 Jun 2003 09:39:21 GMT"
  private static let new = "Wed, 4 jun 2003 09:39:21 +0000 "

  static let stories: [Story] = [
    Story(
      name: "both go back, and are renewed with every 200, though the content is the same",
      steps: [
        Step(fields: ["ETag": "\"a\"", "Last-Modified": old]),
        Step(fields: ["ETag": "W/\"b\"", "Last-Modified": new], tag: "\"a\"", date: old),
        Step(status: 304, tag: "W/\"b\"", date: "Wed, 4 jun 2003 09:39:21 +0000"),
        Step(status: 304, tag: "W/\"b\"", date: "Wed, 4 jun 2003 09:39:21 +0000"),
      ]),
    Story(
      name: "one that a 200 does not have any more is not sent any more",
      steps: [
        Step(fields: ["ETag": "\"a\"", "Last-Modified": old]),
        Step(fields: ["Last-Modified": old], tag: "\"a\"", date: old), Step(date: old), Step(),
      ]),
    Story(
      name: "a date that is none goes back as it came",
      steps: [Step(fields: ["Last-Modified": "yesterday"]), Step(status: 304, date: "yesterday")]),
    Story(
      name: "no failure makes a request unconditional",
      steps: [Step(fields: ["ETag": "\"a\""])]
        + [500, 503, 404, 403, 429, 400, 304].map { Step(status: $0, tag: "\"a\"") }
        + [Step(status: 200, body: "<html>", tag: "\"a\""), Step(status: 304, tag: "\"a\"")]),
    Story(
      name: "what a 304 says anew counts from then on (RFC 9111, section 4.3.4)",
      steps: [
        Step(fields: ["ETag": "\"a\"", "Last-Modified": old]),
        Step(status: 304, fields: ["ETag": "\"b\""], tag: "\"a\"", date: old),
        Step(status: 304, tag: "\"b\"", date: old),
      ]),
    Story(
      name: "an empty tag and one without quotes go back as they came",
      steps: [
        Step(fields: ["ETag": "abc-gzip"]), Step(fields: ["ETag": "\"\""], tag: "abc-gzip"),
        Step(status: 304, tag: "\"\""),
      ]),
  ]

  @Test(
    "F1, 17-Polling, 17-Validators: what is sent back at each poll is what the last answer with it said, byte for byte",
    arguments: stories)
  func story(story: Story) async throws {
    let time = Mutex(1_800_000_000.0)
    let place = Mutex(0)
    let web = FeedWeb { _, _ in
      let step = story.steps[min(place.withLock { $0 }, story.steps.count - 1)]
      var answer = FeedWeb.Answer(status: step.status)
      let isFeed = step.status == 200 && step.body == "1"
      answer.body = isFeed ? rssPage([1]) : step.status == 304 ? "" : step.body ?? ""
      for (name, value) in step.fields {
        if let name = HTTPField.Name(name) { answer.fields[name] = value }
      }
      return answer
    }
    var environment = Aggregator.Environment()
    environment.now = { time.withLock { $0 } }
    environment.random = { 0 }
    let store = MemoryFeedStore()
    for number in story.steps.indices {
      place.withLock { $0 = number }
      // Each poll has an aggregator of its own, as in another process, so validators come from the
      // store.
      let aggregator = Aggregator(
        store: store, client: PageClient(transport: web, configuration: .feed),
        settings: AggregatorSettings(),
        environment: environment)
      if number == 0 { try await aggregator.subscribe(to: "https://a.test/f") }
      try await aggregator.pollDue()
      time.withLock { $0 += 700_000 }
      let fields = try #require(web.fields.last)
      #expect(web.fields.count == number + 1)
      #expect(fields[.ifNoneMatch] == story.steps[number].tag, "poll \(number)")
      #expect(fields[.ifModifiedSince] == story.steps[number].date, "poll \(number)")
    }
  }

  @Test(
    "17-Polling, R17: redirects of each kind move a feed or do not, and its validators move along",
    arguments: [(301, true), (308, true), (302, false), (303, false), (307, false)])
  func redirects(status: Int, isPermanent: Bool) async throws {
    let time = Mutex(1_800_000_000.0)
    let web = FeedWeb { url, fields in
      if url.hasSuffix("/old") {
        return .init(status: status, fields: [.location: "https://a.test/new"])
      }
      if fields[.ifNoneMatch] == "\"n\"" { return .init(status: 304) }
      return .init(body: rssPage([1]), fields: [.eTag: "\"n\""])
    }
    var environment = Aggregator.Environment()
    environment.now = { time.withLock { $0 } }
    environment.random = { 0 }
    let aggregator = Aggregator(
      store: MemoryFeedStore(), client: PageClient(transport: web, configuration: .feed),
      settings: AggregatorSettings(),
      environment: environment)
    try await aggregator.subscribe(to: "https://a.test/old")
    for _ in 0..<4 {
      try await aggregator.pollDue()
      time.withLock { $0 += 100_000 }
    }
    let (old, new) = ("https://a.test/old", "https://a.test/new")
    #expect(
      web.urls
        == (isPermanent
          ? [old, new, old, new, new, new] : [old, new, old, new, old, new, old, new]))
    let sent = zip(web.urls, web.fields).filter { $0.0 == new }.map { $0.1[.ifNoneMatch] }
    #expect(sent == [nil, "\"n\"", "\"n\"", "\"n\""])
    #expect(try await aggregator.subscriptions().first?.schedule.url == (isPermanent ? new : old))
  }
}
