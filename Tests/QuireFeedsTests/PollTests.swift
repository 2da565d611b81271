import Foundation
import HTTPTypes
import QuireCore
import QuireHTTP
import QuireJSON
import QuirePagination
import Testing

@testable import QuireFeeds

@Suite("Feeds: asking again")
struct PollTests {
  private let hour = 3_600.0

  @Test("F4, 17-Polling: an hour lies between two polls, and up to a tenth more")
  func hourly() {
    for random in [0.0, 0.5, 0.999] {
      var schedule = PollSchedule(url: "https://a.test/", at: 1_000)
      #expect(schedule.isDue(at: 1_000))
      schedule.polled(PollOutcome(.changed), at: 1_000, random: random)
      #expect(!schedule.isDue(at: 1_000 + hour - 1))
      #expect((hour...hour * 1.1).contains(schedule.nextPoll - 1_000))
    }
  }

  @Test(
    "F3, 17-Polling: ttl, max-age and the update period make it longer, never shorter, and never over a day"
  )
  func longer() {
    func wait(_ outcome: PollOutcome) -> Double {
      var schedule = PollSchedule(url: "https://a.test/")
      schedule.polled(outcome, at: 0, random: 0)
      return schedule.nextPoll
    }
    #expect(wait(PollOutcome(.changed, maxAge: .seconds(60))) == hour)
    #expect(wait(PollOutcome(.changed, maxAge: .seconds(7_200))) == 2 * hour)
    let slow = FeedSchedule(timeToLive: .seconds(10_800))
    #expect(wait(PollOutcome(.changed, schedule: slow)) == 3 * hour)
    let weekly = FeedSchedule(updateInterval: .seconds(604_800))
    #expect(wait(PollOutcome(.changed, schedule: weekly)) == 24 * hour)
  }

  @Test("17-Polling: nothing is asked in skipHours and on skipDays, in UTC")
  func skips() {
    var schedule = PollSchedule(url: "https://a.test/")
    // 1970-01-01 was a Thursday.
    schedule.polled(
      PollOutcome(.changed, schedule: FeedSchedule(skipHours: [1, 2, 3])), at: 0, random: 0)
    #expect(schedule.nextPoll == 4 * hour)
    schedule = PollSchedule(url: "https://a.test/")
    schedule.polled(
      PollOutcome(.changed, schedule: FeedSchedule(skipDays: [4, 5])), at: 0, random: 0)
    #expect(schedule.nextPoll == 48 * hour)
    schedule = PollSchedule(url: "https://a.test/")
    schedule.polled(
      PollOutcome(.changed, schedule: FeedSchedule(skipHours: Set(0..<24))), at: 0, random: 0)
    #expect(schedule.nextPoll == hour)
  }

  @Test("17-Polling: a poll that is late does not fall into skipHours and skipDays")
  func lateInSkips() {
    var schedule = PollSchedule(url: "https://a.test/")
    schedule.polled(
      PollOutcome(.changed, schedule: FeedSchedule(skipHours: [2, 3])), at: 0, random: 0)
    #expect(schedule.nextPoll == hour)
    #expect(schedule.isDue(at: hour) && schedule.isDue(at: 2 * hour - 1))
    #expect(!schedule.isDue(at: 2 * hour) && !schedule.isDue(at: 4 * hour - 1))
    #expect(schedule.isDue(at: 4 * hour))
    schedule.postpone(at: 3 * hour)
    #expect(schedule.nextPoll == 4 * hour)
  }

  @Test(
    "17-Polling: the feed's hours and days hold after a failure, beside a hub, and for what that tells"
  )
  func skipsAlways() {
    let weekend = FeedSchedule(skipDays: [4, 5])
    // 1970-01-05 was a Monday; the feed wants no poll on Thursdays and Fridays.
    let wednesday = 6 * 24 * hour
    func known() -> PollSchedule {
      var schedule = PollSchedule(url: "https://a.test/")
      schedule.polled(PollOutcome(.changed, schedule: weekend), at: wednesday, random: 0)
      return schedule
    }
    var failing = known()
    failing.polled(PollOutcome(.failed), at: wednesday + 23.5 * hour, random: 0.5)
    #expect(failing.nextPoll == wednesday + 72 * hour)
    var silent = known()
    silent.leaveToHub(from: wednesday, until: .infinity)
    #expect(silent.nextPoll == wednesday + 72 * hour)
    silent.pushed(at: wednesday + 30 * hour, lastPoll: wednesday)
    #expect(silent.nextPoll == wednesday + 72 * hour)
  }

  @Test("17-Polling, 17-Hub: what a hub tells does not end a Retry-After")
  func pushedTooEarly() {
    var schedule = PollSchedule(url: "https://a.test/")
    schedule.polled(PollOutcome(.failed, retryAfter: .seconds(80_000)), at: 0, random: 0)
    schedule.pushed(at: 500, lastPoll: 0)
    #expect(schedule.nextPoll == 80_000)
    schedule.polled(PollOutcome(.changed), at: 80_000, random: 0)
    schedule.pushed(at: 80_010, lastPoll: 80_000)
    #expect(schedule.nextPoll == 80_060)
  }

  @Test("17-Polling: a clock that was far ahead silences no feed, and hides none of its silence")
  func clockAhead() {
    let (day, year) = (24 * hour, 365 * 24 * hour)
    var schedule = PollSchedule(url: "https://a.test/")
    schedule.polled(PollOutcome(.changed), at: year, random: 0)
    #expect(!schedule.isDue(at: year) && !schedule.isDue(at: year - day))
    #expect(schedule.isDue(at: 0))
    var restored = schedule
    restored.limitNextPoll(at: 0)
    #expect(restored.nextPoll == day && !restored.isDue(at: 0))
    // The change that the wrong clock dated a year ahead counts as one at time 0, with silence
    // since then.
    for time in [0, 2 * day] { schedule.polled(PollOutcome(.unchanged), at: time, random: 0) }
    #expect(schedule.interval == day)
    // A notification is not delayed by a Retry-After or a last poll of a time a year ahead.
    schedule.polled(PollOutcome(.failed, retryAfter: .seconds(80_000)), at: year, random: 0)
    schedule.pushed(at: 500, lastPoll: year)
    #expect(schedule.nextPoll == 500)
    schedule.polled(PollOutcome(.failed, retryAfter: .seconds(604_800)), at: 500, random: 0)
    #expect(!schedule.isDue(at: 500))
    schedule.polled(PollOutcome(.gone), at: 600, random: 0)
    schedule.limitNextPoll(at: 0)
    #expect(!schedule.isDue(at: 1e12) && schedule.nextPoll == .infinity)
  }

  @Test("17-Polling, H26: Retry-After is obeyed after failures and after success, up to a week")
  func retryAfter() {
    for result in [PollOutcome.Result.failed, .unchanged] {
      var schedule = PollSchedule(url: "https://a.test/")
      schedule.polled(PollOutcome(result, retryAfter: .seconds(200_000)), at: 0, random: 0)
      #expect(schedule.nextPoll == 200_000)
      schedule.polled(PollOutcome(result, retryAfter: .seconds(10_000_000)), at: 0, random: 0)
      #expect(schedule.nextPoll == 604_800)
    }
  }

  @Test(
    "17-Polling, F5: failures fill a penalty box that doubles to a day with jitter, and one success empties it"
  )
  func penalties() {
    var schedule = PollSchedule(url: "https://a.test/")
    var waits: [Double] = []
    var now = 0.0
    for _ in 0..<8 {
      schedule.polled(PollOutcome(.failed), at: now, random: 0.5)
      #expect(schedule.state == .penalized)
      waits.append(schedule.nextPoll - now)
      now = schedule.nextPoll
    }
    #expect(waits == [1, 2, 4, 8, 16, 24, 24, 24].map { $0 * hour })
    var early = schedule
    var late = schedule
    early.polled(PollOutcome(.failed), at: now, random: 0)
    late.polled(PollOutcome(.failed), at: now, random: 0.999)
    #expect(late.nextPoll - early.nextPoll > 10 * hour)
    schedule.polled(PollOutcome(.unchanged), at: now, random: 0)
    #expect(schedule.state == .active && schedule.failures == 0)
  }

  @Test("F2, 17-Polling: 410 is the end")
  func gone() {
    var schedule = PollSchedule(url: "https://a.test/")
    schedule.polled(PollOutcome(.gone), at: 0, random: 0)
    #expect(schedule.state == .ended && !schedule.isDue(at: 1e12))
    schedule.polled(PollOutcome(.changed), at: 1, random: 0)
    #expect(schedule.state == .ended)
  }

  @Test(
    "17-Polling, R17: a permanent redirect moves the address when it was seen twice in a row to one target"
  )
  func moves() {
    var schedule = PollSchedule(url: "https://a.test/")
    func poll(_ target: String?) {
      schedule.polled(PollOutcome(.changed, permanentRedirect: target), at: 0, random: 0)
    }
    poll("https://b.test/")
    #expect(schedule.url == "https://a.test/")
    poll(nil)
    poll("https://b.test/")
    poll("https://c.test/")
    #expect(schedule.url == "https://a.test/")
    poll("https://c.test/")
    #expect(schedule.url == "https://c.test/")
  }

  @Test(
    "17-Polling: no feed moves to what is no address",
    arguments: ["", "b.test", "ftp://b.test/", "https://\(String(repeating: "b", count: 3_000))/"])
  func movesNowhere(target: String) {
    var schedule = PollSchedule(url: "https://a.test/")
    for _ in 0..<3 {
      schedule.polled(PollOutcome(.changed, permanentRedirect: target), at: 0, random: 0)
    }
    #expect(schedule.url == "https://a.test/")
  }

  @Test(
    "17-Polling: a feed that cannot be read where it moved is asked where it was, and gone is only what was there"
  )
  func movesBack() {
    var schedule = PollSchedule(url: "https://a.test/")
    func move() {
      for _ in 0..<2 {
        schedule.polled(
          PollOutcome(.changed, permanentRedirect: "https://b.test/"), at: 0, random: 0)
      }
    }
    for result in [PollOutcome.Result.failed, .gone] {
      move()
      #expect(schedule.url == "https://b.test/")
      schedule.polled(PollOutcome(result), at: 0, random: 0)
      #expect(schedule.url == "https://a.test/" && schedule.state == .penalized)
    }
    // A feed that was read at the new address once stays there.
    move()
    schedule.polled(PollOutcome(.unchanged), at: 0, random: 0)
    schedule.polled(PollOutcome(.failed), at: 0, random: 0)
    #expect(schedule.url == "https://b.test/")
    schedule.polled(PollOutcome(.gone), at: 0, random: 0)
    #expect(schedule.state == .ended)
  }

  @Test(
    "17-Polling: a feed that changes every two days is asked once a day at most, a lively one every hour"
  )
  func adaptive() throws {
    func polls(every gap: Double, isStored: Bool = false) throws -> Int {
      var schedule = PollSchedule(url: "https://a.test/")
      var (now, count, lastSeen) = (0.0, 0, -1.0)
      while now < 30 * 86_400 {
        count += 1
        let newest = (now / gap).rounded(.down) * gap
        schedule.polled(
          PollOutcome(newest > lastSeen ? .changed : .unchanged, newestEntry: newest), at: now,
          random: 0)
        lastSeen = newest
        now = schedule.nextPoll
        if isStored {
          schedule = try JSONDecoder().decode(
            PollSchedule.self, from: JSONEncoder().encode(schedule))
        }
      }
      return count
    }
    let slow = try polls(every: 2 * 86_400)
    #expect((28...60).contains(slow))
    #expect(try polls(every: 1_800) > 700)
    // A stored schedule makes the same decisions.
    #expect(try polls(every: 2 * 86_400, isStored: true) == slow)
  }

  @Test("17-Polling: an outcome is read of a page and of an error")
  func outcomes() async throws {
    let web = FeedWeb { url, _ in
      switch url {
      case "https://a.test/moved":
        .init(status: 301, fields: [.location: "https://a.test/temporary"])
      case "https://a.test/temporary":
        .init(status: 302, fields: [.location: "https://a.test/feed"])
      case "https://a.test/feed":
        .init(body: rssPage([1], "<ttl>5</ttl>"), fields: [.cacheControl: "public, max-age=7200"])
      case "https://a.test/busy": .init(status: 429, fields: [.retryAfter: "120"])
      default: .init(status: 410)
      }
    }
    var configuration = PageClient.Configuration.feed
    configuration.retry = RetryPolicy(attempts: 1)
    let client = PageClient(transport: web, configuration: configuration)
    let pages = try await all(client.feed(at: "https://a.test/moved").pages)
    let outcome = PollOutcome(of: pages[0], isNew: true, at: 0)
    #expect(outcome.result == .changed && outcome.maxAge == .seconds(7_200))
    #expect(outcome.permanentRedirect == "https://a.test/temporary")
    #expect(outcome.schedule.timeToLive == .seconds(300))
    var error = await #expect(throws: PageError.self) {
      try await client.feed(at: "https://a.test/busy").pages.collect()
    }
    var failed = PollOutcome(of: try #require(error), at: 0)
    #expect(failed.result == .failed && failed.retryAfter == .seconds(120))
    error = await #expect(throws: PageError.self) {
      try await client.feed(at: "https://b.test/gone").pages.collect()
    }
    failed = PollOutcome(of: try #require(error), at: 0)
    #expect(failed.result == .gone)
  }

  private func all<Item>(_ cursor: Cursor<Item>) async throws -> [Page<Item>] {
    var pages: [Page<Item>] = []
    for try await page in cursor { pages.append(page) }
    return pages
  }

  // MARK: Validators

  /// Returns a web of three pages with validators. Page 2 changes with `version`.
  private func versioned(_ version: @escaping @Sendable () -> Int = { 1 }) -> FeedWeb {
    FeedWeb { url, fields in
      let page = url.hasSuffix("feed") ? 1 : Int(url.suffix(1)) ?? 0
      let tag = page == 2 ? "W/\"p2-\(version())\"" : "\"p\(page)\""
      let date = "Tue, 03 Jun 2003 09:39:21 GMT"
      var answer = FeedWeb.Answer(fields: [.eTag: tag, .lastModified: date])
      if fields[.ifNoneMatch] == tag, fields[.ifModifiedSince] == date {
        answer.status = 304
        return answer
      }
      let next = page < 3 ? "<atom:link rel='next' href='/\(page + 1)'/>" : ""
      answer.body = rssPage([page * 10 + version()], next)
      return answer
    }
  }

  @Test(
    "F1, 17-Validators: ETag and Last-Modified go back byte for byte for each page, and a 304 is an unchanged page"
  )
  func unchanged() async throws {
    let web = versioned()
    var client = PageClient(transport: web)
    let validators = PageValidators()
    client.configuration.validators = validators
    let listing = client.feed(at: "https://a.test/feed")
    let first = try await all(listing.pages)
    #expect(first.map(\.isUnchanged) == [false, false, false])
    let second = try await all(listing.pages)
    #expect(second.map(\.isUnchanged) == [true, true, true])
    #expect(second.allSatisfy { $0.items.isEmpty && $0.http?.head.status.code == 304 })
    #expect(second.reduce(0) { $0 + $1.traffic.bytes } == 0)
    #expect(
      web.fields.prefix(3).allSatisfy { $0[.ifNoneMatch] == nil && $0[.ifModifiedSince] == nil })
    #expect(web.fields.suffix(3).map { $0[.ifNoneMatch] } == ["\"p1\"", "W/\"p2-1\"", "\"p3\""])
    // The validators survive being stored and restored.
    let later = PageValidators(validators.snapshot)
    client.configuration.validators = later
    let third = try await all(client.feed(at: "https://a.test/feed").pages)
    #expect(third.map(\.isUnchanged) == [true, true, true])
    later.removeAll()
    let fourth = try await all(client.feed(at: "https://a.test/feed").pages)
    #expect(fourth.map(\.isUnchanged) == [false, false, false])
  }

  @Test("17-Validators: a page that changed is read, and its new validators are kept")
  func changed() async throws {
    let version = FeedCounter()
    let web = versioned { version.value }
    var client = PageClient(transport: web)
    client.configuration.validators = PageValidators()
    let listing = client.feed(at: "https://a.test/feed")
    _ = try await all(listing.pages)
    version.value = 2
    let second = try await all(listing.pages)
    #expect(second.map(\.isUnchanged) == [true, false, true])
    #expect(second[1].items.map(\.id) == ["urn:22"])
    let third = try await all(listing.pages)
    #expect(third.map(\.isUnchanged) == [true, true, true])
    #expect(web.fields.last?[.ifNoneMatch] == "\"p3\"")
    #expect(web.fields.dropLast().last?[.ifNoneMatch] == "W/\"p2-2\"")
  }

  @Test("17-Validators: an answer without validators leaves none, and the next request is plain")
  func dropped() async throws {
    let version = FeedCounter()
    let web = FeedWeb { _, _ in
      version.value += 1
      return .init(
        body: rssPage([version.value]), fields: version.value == 2 ? [.eTag: "\"a\""] : [:])
    }
    var client = PageClient(transport: web)
    client.configuration.validators = PageValidators()
    for _ in 0..<4 { _ = try await all(client.feed(at: "https://a.test/feed").pages) }
    #expect(web.fields.map { $0[.ifNoneMatch] } == [nil, "\"a\"", nil, nil])
  }

  @Test("H17: without validators of ours, a 304 stays an error")
  func unexpected() async throws {
    let web = FeedWeb { _, _ in .init(status: 304) }
    var client = PageClient(transport: web)
    for validators in [nil, PageValidators()] {
      client.configuration.validators = validators
      let error = await #expect(throws: PageError.self) {
        try await client.feed(at: "https://a.test/feed").pages.collect()
      }
      #expect(error?.code == .unexpectedNotModified)
    }
  }

  @Test(
    "17-Validators: a listing of JSON by Link headers is asked for by its validators like any other"
  )
  func anyListing() async throws {
    let web = FeedWeb { url, fields in
      let page = Int(url.suffix(1)) ?? 1
      var answer = FeedWeb.Answer(fields: [.eTag: "\"\(page)\""])
      if page < 3 { answer.fields[.link] = "</items?page=\(page + 1)>; rel=\"next\"" }
      if fields[.ifNoneMatch] == "\"\(page)\"" {
        answer.status = 304
      } else {
        answer.body = "[\(page)]"
      }
      return answer
    }
    var client = PageClient(transport: web)
    client.configuration.validators = PageValidators()
    let cursor = client.cursor(
      at: "https://a.test/items?page=1", pagination: Pagination(next: .linkHeader()),
      decoder: JSONRawPageDecoder())
    #expect(try await all(cursor).map(\.items.count) == [1, 1, 1])
    let walk = cursor.walk()
    while let page = try await walk.next() { #expect(page.isUnchanged && page.items.isEmpty) }
    #expect(walk.report.pages == 3 && walk.report.isComplete && web.urls.count == 6)
  }

  @Test(
    "17-Validators: pages whose requests differ in words alone, however long, have validators of their own"
  )
  func told() async throws {
    let long = String(repeating: "x", count: 3_000)
    let cursors = ["news", "sport", long + "1", long + "2"]
    let web = FeedWeb { url, fields in
      let place = cursors.firstIndex { url.hasSuffix("/" + $0) || url.hasSuffix("=" + $0) } ?? 0
      var answer = FeedWeb.Answer(body: "[\(place)]", fields: [.eTag: "\"\(place)\""])
      if place + 1 < cursors.count {
        let next = url.contains("?") ? "?cursor=" : "/"
        answer.fields[.link] = "<\(next)\(cursors[place + 1])>; rel=\"next\""
      }
      if fields[.ifNoneMatch] == "\"\(place)\"" { (answer.status, answer.body) = (304, "") }
      return answer
    }
    for start in ["https://a.test/list?cursor=news", "https://a.test/news"] {
      var client = PageClient(transport: web)
      client.configuration.validators = PageValidators()
      let cursor = client.cursor(
        at: start, pagination: Pagination(next: .linkHeader()), decoder: JSONRawPageDecoder())
      #expect(try await all(cursor).map(\.isUnchanged) == [false, false, false, false])
      #expect(try await all(cursor).map(\.isUnchanged) == [true, true, true, true])
      #expect(
        web.fields.suffix(4).map { $0[.ifNoneMatch] } == ["\"0\"", "\"1\"", "\"2\"", "\"3\""])
    }
  }

  @Test("17-Polling: the profile for feeds names its operator")
  func operatorName() async throws {
    let web = FeedWeb(["https://a.test/feed": rssPage([1])])
    let client = PageClient(
      transport: web, configuration: .feed(operator: "https://reader.example/bot"))
    _ = try await client.feed(at: "https://a.test/feed").pages.collect()
    #expect(web.fields[0][.userAgent]?.contains("+https://reader.example/bot") == true)
    #expect(web.fields[0][.accept]?.contains("application/rss+xml") == true)
  }

  @Test("H-8, 17-Validators: what is kept of a page does not hold the secrets of its request")
  func secrets() async throws {
    let web = FeedWeb { url, _ in
      let next =
        url.contains("page=2")
        ? "" : "<atom:link rel='next' href='?api_key=hunter2hunter2&amp;page=2'/>"
      return .init(body: rssPage([url.count], next), fields: [.eTag: "\"a\""])
    }
    var client = PageClient(transport: web)
    let validators = PageValidators()
    client.configuration.validators = validators
    _ = try await all(client.feed(at: "https://a.test/feed?api_key=hunter2hunter2").pages)
    #expect(validators.snapshot.count == 2)
    #expect(!"\(validators.snapshot)".contains("hunter2"))
  }
}
