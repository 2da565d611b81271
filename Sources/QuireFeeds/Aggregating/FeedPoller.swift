import HTTPTypes
import QuireCore
import QuireHTTP
import QuirePagination

/// Asks for one feed, and makes what came into a change of the store.
struct FeedPoller: Sendable {
  let client: PageClient
  let settings: AggregatorSettings

  /// What came of a poll.
  struct Answer: Sendable {
    var poll: FeedPoll
    var traffic: WalkReport.Traffic
    var isUnchanged: Bool
    var error: PageError?
  }

  /// Pages that were read.
  private struct Reading {
    var first: Page<FeedEntry>?
    var entries: [FeedEntry] = []
    var feed: Feed?
  }

  /// Polls a feed once; `isLast` where its host is not asked again soon. Throws only `CancellationError`.
  @concurrent func poll(
    _ subscription: FeedSubscription, at now: Double, random: Double, isLast: Bool
  ) async throws -> Answer {
    let validators = PageValidators(subscription.validators, capacity: 256)
    var client = client
    client.configuration.validators = validators
    if !Self.isAtHome(subscription) { client = client.led }
    let isFirst =
      subscription.health.lastSuccess == nil || subscription.health.olderPagesError != nil
    let pages = isFirst ? max(1, settings.pagesAtFirst) : 1
    client.configuration.keepsConnections = !isLast || pages > 1
    let walk = client.feed(at: subscription.schedule.url, options: settings.options).pages
      .limited(to: Limits(pages: pages)).walk()
    var reading = Reading()
    var failure: (any Error)?
    do {
      for try await page in walk { Self.take(page, &reading) }
    } catch is CancellationError {
      throw CancellationError()
    } catch {
      failure = error
    }
    var shared = subscription.sharedIdentities ?? []
    Self.tellApart(&reading.entries, &shared)
    // Where an older page failed, the feed itself was read, and the next poll asks for that page.
    let error = reading.first == nil ? failure ?? Self.nothing : nil
    var known = subscription
    known.feed = reading.feed ?? subscription.feed
    known.sharedIdentities = shared.isEmpty ? nil : shared
    if error == nil { known.validators = validators.snapshot }
    known.health.olderPagesError =
      reading.first == nil
      ? subscription.health.olderPagesError : failure.flatMap(Self.mayPass)?.message
    note(walk.report.traffic, reading, error, at: now, in: &known.health)
    var outcome = outcome(of: known, reading, error, now)
    let redirect = reading.first?.http?.permanentRedirect
    let unchanged = scheduled(known, outcome, now, random, redirect)
    if outcome.result == .unchanged, reading.first?.isUnchanged == false {
      outcome.result = .changed
    }
    let poll = FeedPoll(
      unchanged: unchanged, changed: scheduled(known, outcome, now, random, redirect),
      entries: reading.entries, time: now)
    return Answer(
      poll: poll, traffic: walk.report.traffic, isUnchanged: reading.first?.isUnchanged == true,
      error: error.map(PageError.init(ofPoll:)))
  }

  /// Whether a feed is asked where its reader subscribed to it, be it by https now. Anywhere else it was led by
  /// its publisher.
  private static func isAtHome(_ subscription: FeedSubscription) -> Bool {
    guard subscription.schedule.url != subscription.id else { return true }
    guard let home = try? Origin(url: subscription.id),
      let now = try? Origin(url: subscription.schedule.url)
    else { return false }
    let isUpgrade =
      home.scheme == "http" && home.port == 80 && now.scheme == "https" && now.port == 443
    return home == now || isUpgrade && home.host == now.host
  }

  /// The error of an older page that may come another time: not where the server says that it is not there, nor
  /// where it is none.
  private static func mayPass(_ error: any Error) -> PageError? {
    let error = PageError(ofPoll: error)
    let status = error.response?.status.code ?? 0
    let isTransient =
      status >= 500 || RetryPolicy.laterStatuses.contains(status)
      || [.connectFailed, .timedOut, .truncated, .throttled].contains(error.code)
    return isTransient ? error : nil
  }

  private static let nothing = PageError(.exhausted, "The feed has no page.")

  private static func take(_ page: Page<FeedEntry>, _ reading: inout Reading) {
    if reading.first == nil {
      reading.first = page
      reading.feed = page.feed
    }
    for var entry in page.items {
      // It would keep its page in memory.
      entry.raw = nil
      reading.entries.append(entry)
    }
  }

  /// What is to tell an entry and stands for different ones tells nothing: a digest of each, with when and where it
  /// was published, takes its place, or one would be stored over the other. So it stays when the others are gone
  /// from the feed: `shared` are digests of the identities that were found to be several entries'. Which entries
  /// are different, `SeenEntries` has decided: of those that are the same, one came.
  private static func tellApart(_ entries: inout [FeedEntry], _ shared: inout [String]) {
    var places: [FeedEntry.Identity: [Int]] = [:]
    for (place, entry) in entries.enumerated() { places[entry.identity, default: []].append(place) }
    let known = Set(shared)
    func name(_ identity: FeedEntry.Identity) -> String {
      var digest = StableDigest()
      digest.add(identity.text)
      return digest.text
    }
    let several = places.filter { identity, places in
      places.count > 1 || !known.isEmpty && known.contains(name(identity))
    }
    for (identity, places) in several.sorted(by: { $0.value[0] < $1.value[0] }) {
      let name = name(identity)
      if !known.contains(name) { shared.append(name) }
      for place in places {
        entries[place].id = FeedEntry.Identity(.digest, entries[place].digest(withPlace: true)).text
      }
    }
    shared = shared.suffix(mostShared)
  }

  /// A publisher gives one identifier to all of its entries, or to a few by mistake.
  private static let mostShared = 256

  private func note(
    _ traffic: WalkReport.Traffic, _ reading: Reading, _ error: (any Error)?, at now: Double,
    in health: inout FeedHealth
  ) {
    health.polls += 1
    health.bytes += traffic.bytes
    health.lastPoll = now
    if let error {
      health.failures += 1
      health.lastError = PageError(ofPoll: error).message
    } else {
      health.lastSuccess = now
      health.lastError = nil
      if reading.first?.isUnchanged == true { health.unchanged += 1 }
      if let feed = reading.feed { health.repairs = feed.repairs.count }
    }
  }

  /// What came, as if none of the entries were new.
  private func outcome(
    of subscription: FeedSubscription, _ reading: Reading, _ error: (any Error)?, _ now: Double
  ) -> PollOutcome {
    guard let page = reading.first, error == nil else {
      return PollOutcome(of: error ?? Self.nothing, at: now)
    }
    var outcome = PollOutcome(
      of: page, isNew: false, schedule: subscription.feed?.schedule ?? FeedSchedule(), at: now)
    // A feed's own word on where it has moved counts as a permanent redirect does, and stands while the feed is
    // unchanged.
    outcome.permanentRedirect = outcome.permanentRedirect ?? subscription.feed?.newFeedURL
    return outcome
  }

  /// By what validators know the page at an address.
  private func key(of url: String) -> String {
    Redactor(fields: client.configuration.headers, urls: [url]).identity(of: .get, url)
  }

  /// The subscription with the time of its next poll. Where a permanent redirect has moved the feed, its
  /// validators move along: they came from there.
  private func scheduled(
    _ subscription: FeedSubscription, _ outcome: PollOutcome, _ now: Double, _ random: Double,
    _ redirect: String?
  ) -> FeedSubscription {
    var subscription = subscription
    let former = subscription.schedule.url
    subscription.schedule.polled(outcome, at: now, random: random)
    if let redirect, redirect != former, subscription.schedule.url == redirect {
      subscription.validators[key(of: redirect)] = subscription.validators[key(of: former)]
    }
    if let push = subscription.push, push.isActive(at: now) {
      subscription.schedule.leaveToHub(from: now, until: push.leaseEnd)
    }
    return subscription
  }
}

extension PageClient {
  /// The client for addresses to which strangers lead: public ones, and what else is allowed by name.
  var led: PageClient {
    let own = configuration.addresses
    guard own != .unrestricted else { return self }
    var client = self
    client.configuration.addresses = .publicOnly.allowing(own.networks)
    client.configuration.addresses.ports = own.ports
    return client
  }
}

extension PageError {
  fileprivate init(ofPoll error: any Error) {
    self = (error as? PageError) ?? PageError(.sourceFailed, "\(error)", underlying: error)
  }
}
