import HTTPTypes
import QuireCore
import QuireHTTP
import QuirePagination

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Polls one feed, and turns the result into a change of the store.
struct FeedPoller: Sendable {
  let client: PageClient
  let settings: AggregatorSettings

  /// The result of a poll.
  struct PollResult: Sendable {
    var poll: FeedPoll
    var traffic: WalkReport.Traffic
    var isUnchanged: Bool
    var error: PageError?
    /// The error of older pages, if the first page was read.
    var olderPagesError: PageError?
  }

  /// The pages of a poll.
  private struct Reading {
    var first: Page<FeedEntry>?
    var entries: [FeedEntry] = []
    var feed: Feed?
    var traffic = WalkReport.Traffic()
    /// The error of any page, including older ones.
    var failure: PageError?

    /// The error of the poll; nil if the first page was read.
    var error: PageError? { first == nil ? failure ?? FeedPoller.noPage : nil }
    /// The error of older pages. The poll succeeded, and if the error may pass, the next poll
    /// requests the page again.
    var olderPagesError: PageError? { first == nil ? nil : failure }

    mutating func append(_ page: Page<FeedEntry>) {
      if first == nil { (first, feed) = (page, page.feed) }
      for var entry in page.items {
        // The raw form would keep the whole page in memory.
        entry.raw = nil
        entries.append(entry)
      }
    }
  }

  /// Polls a feed once. `isLast` is whether no other feed of its host waits, so that the connection
  /// need not be kept open. Throws only `CancellationError`.
  @concurrent func poll(
    _ subscription: FeedSubscription, at now: Double, random: Double, isLast: Bool
  ) async throws -> PollResult {
    let validators = PageValidators(subscription.validators, capacity: 256)
    var reading = try await read(subscription, validators, isLast: isLast)
    if let error = reading.error, error.serverPause != nil {
      var postponed = subscription
      postponed.schedule.polled(PollOutcome(of: error, at: now), at: now, random: random)
      return PollResult(
        poll: FeedPoll(postponed: postponed, at: now), traffic: reading.traffic, isUnchanged: false,
        error: error)
    }
    var known = subscription
    known.feed = reading.feed ?? subscription.feed
    if reading.error == nil { known.validators = validators.snapshot }
    if reading.first != nil {
      known.health.olderPagesError = reading.failure.flatMap { $0.mayPass ? $0.message : nil }
      noteNewest(of: reading, in: &known)
    }
    var shared = SharedIdentities(of: subscription)
    shared.separate(&reading.entries)
    shared.save(in: &known)
    record(reading, at: now, in: &known.health)
    var outcome = outcome(of: known, reading, now)
    let redirect = reading.first?.http?.permanentRedirect
    let isUnchanged = reading.first?.isUnchanged == true
    let unchanged = scheduled(known, outcome, now, random, redirect)
    if outcome.result == .unchanged, !isUnchanged { outcome.result = .changed }
    let poll = FeedPoll(
      unchanged: unchanged, changed: scheduled(known, outcome, now, random, redirect),
      entries: reading.entries, time: now, retention: settings.retention)
    return PollResult(
      poll: poll, traffic: reading.traffic, isUnchanged: isUnchanged, error: reading.error,
      olderPagesError: reading.olderPagesError)
  }

  /// Reads the pages of a poll. Throws only `CancellationError`.
  private func read(
    _ subscription: FeedSubscription, _ validators: PageValidators, isLast: Bool
  ) async throws -> Reading {
    var client = client
    client.configuration.validators = validators
    if !Self.isAtSubscribedOrigin(subscription) { client = client.forUntrustedAddresses }
    let limits = limits(of: subscription)
    // A poll seldom reads more than one page of a feed with known entries.
    let readsOn = subscription.newest == nil && limits.pages != 1
    client.configuration.keepsConnections = !isLast || readsOn
    let walk = client.feed(
      at: subscription.schedule.url, options: settings.options, isLast: Self.isLast(subscription)
    ).pages.limited(to: limits).walk()
    var reading = Reading()
    do {
      for try await page in walk {
        if let index = page.feed, index.format.family == .sitemapIndex {
          throw Self.sitemapIndexError(index)
        }
        reading.append(page)
      }
    } catch is CancellationError {
      throw CancellationError()
    } catch {
      reading.failure = PageError(ofSource: error)
    }
    let report = walk.report
    if subscription.newest != nil, reading.first != nil, let limit = limit(reachedBy: report) {
      reading.failure = Self.gapError(report.pages, limit)
    }
    reading.traffic = report.traffic
    return reading
  }

  /// The maximum number of pages of a poll of a feed whose entries are known.
  private static let maximumPages = 10

  /// Returns the limits of a poll. If entries of the feed are known, all its pages together are
  /// limited like one page, because a hostile feed has new entries on each.
  private func limits(of subscription: FeedSubscription) -> Limits {
    if subscription.newest != nil {
      return Limits(
        pages: Self.maximumPages, bytes: client.configuration.transferLimits.decodedBytes)
    }
    let isFirst =
      subscription.health.lastSuccess == nil || subscription.health.olderPagesError != nil
    return Limits(pages: isFirst ? max(1, settings.pagesAtFirst) : 1)
  }

  /// Returns a check whether a page is the last to read: whether it has a known entry, or is
  /// unchanged. Returns nil if no entry is known.
  private static func isLast(
    _ subscription: FeedSubscription
  ) -> (@Sendable (Page<FeedEntry>) -> Bool)? {
    guard let newest = subscription.newest.map(Set.init) else { return nil }
    let contents = subscription.newestContents.map(Set.init)
    let shared = Set(subscription.sharedIdentities ?? [])
    let isRetry = subscription.health.olderPagesError != nil
    return { page in
      if page.isUnchanged { return !isRetry }
      var counts: [FeedEntry.Identity: Int] = [:]
      for entry in page.items { counts[entry.identity, default: 0] += 1 }
      return page.items.contains { entry in
        let identity = entry.identity
        guard newest.contains(identity.storedDigest) else { return false }
        // An identifier that several entries share does not show which one is known.
        guard let contents, counts[identity] ?? 0 > 1 || shared.contains(identity.storedDigest)
        else { return true }
        return contents.contains(entry.distinctDigest)
      }
    }
  }

  /// Records the digests of the newest entries; not if there are none, or if a later poll may read the
  /// older pages, which end at the entries that were known before.
  private func noteNewest(of reading: Reading, in subscription: inout FeedSubscription) {
    guard subscription.health.olderPagesError == nil, !reading.entries.isEmpty else { return }
    let newest = Self.unpinned(reading.entries).prefix(16)
    subscription.newest = newest.map(\.identity.storedDigest)
    subscription.newestContents = newest.map(\.distinctDigest)
  }

  /// Returns the entries without those that the publisher has pinned to the top. A pinned entry is
  /// known at every poll, so it does not show that the entries after it are known too.
  ///
  /// Entries before the one with the latest date count as pinned, if they are at most half of all:
  /// in a feed of another order, none is pinned.
  private static func unpinned(_ entries: [FeedEntry]) -> ArraySlice<FeedEntry> {
    func date(_ index: Int) -> Date { entries[index].date ?? .distantPast }
    let latest = entries.indices.max { date($0) < date($1) } ?? 0
    return latest <= entries.count / 2 ? entries[latest...] : entries[...]
  }

  /// Whether a feed is still at the origin that the reader subscribed to, or has only changed from
  /// http to https there. Any other address was chosen by the publisher.
  private static func isAtSubscribedOrigin(_ subscription: FeedSubscription) -> Bool {
    guard subscription.schedule.url != subscription.id else { return true }
    guard let home = try? Origin(url: subscription.id),
      let now = try? Origin(url: subscription.schedule.url)
    else { return false }
    let isUpgrade =
      home.scheme == "http" && home.port == 80 && now.scheme == "https" && now.port == 443
    return home == now || isUpgrade && home.host == now.host
  }

  private static let noPage = PageError(.exhausted, "The feed has no page.")

  /// Returns the limit of a poll that ended its walk; nil if none did.
  private func limit(reachedBy report: WalkReport) -> String? {
    switch report.end {
    case .limit: "\(Self.maximumPages) pages"
    case .failed(let error)
    where error.remedies.contains(where: { $0.setting.description == "Limits.bytes" }):
      "\(client.configuration.transferLimits.decodedBytes) bytes"
    default: nil
    }
  }

  /// The error of a feed with more new entries than a poll reads.
  private static func gapError(_ pages: Int, _ limit: String) -> PageError {
    PageError(
      .limitExceeded,
      "All entries on the first \(pages.counted("page")) of the feed are new, and a poll reads no more than "
        + "\(limit). Those between them and the entries known before were not read; a walk of the whole "
        + "feed has them.")
  }

  /// The error of a subscription to a sitemap index, whose sitemaps are feeds of their own.
  private static func sitemapIndexError(_ index: Feed) -> PageError {
    let first = index.sitemaps.first.map { ", such as \(ServerText($0, limit: 200))" } ?? ""
    return PageError(
      .unexpectedMediaType,
      "The address is an index of \(index.sitemaps.count) sitemaps and has no entries itself. "
        + "Subscribe to its sitemaps\(first).", remedies: [Remedy(.feedAddress)])
  }

  /// Records the result of a poll in the statistics of its feed.
  private func record(
    _ reading: Reading, at now: Double, in health: inout FeedHealth
  ) {
    health.polls += 1
    health.bytes += reading.traffic.bytes
    health.lastPoll = now
    if let error = reading.error {
      health.failures += 1
      health.lastError = error.message
    } else {
      health.lastSuccess = now
      health.lastError = nil
      if reading.first?.isUnchanged == true { health.unchanged += 1 }
      if let feed = reading.feed { health.repairs = feed.repairs.count }
    }
  }

  /// Returns the outcome of the poll, as if no entry were new.
  private func outcome(
    of subscription: FeedSubscription, _ reading: Reading, _ now: Double
  ) -> PollOutcome {
    guard let page = reading.first else {
      return PollOutcome(of: reading.error ?? Self.noPage, at: now)
    }
    var outcome = PollOutcome(
      of: page, isNew: false, schedule: subscription.feed?.schedule ?? FeedSchedule(), at: now)
    // Stays valid while the feed is unchanged.
    outcome.declaredURL = subscription.feed?.newFeedURL.map {
      FeedPaging.secured($0, like: subscription.schedule.url)
    }
    return outcome
  }

  /// Returns the key of an address in the validators.
  private func key(of url: String) -> String {
    Redactor(fields: client.configuration.headers, urls: [url]).identity(of: .get, url)
  }

  /// Returns the subscription with the time of its next poll. If a permanent redirect has moved the
  /// feed, its validators move along, because the new address sent them.
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
  /// This client, for addresses from untrusted feeds: it connects only to public addresses, and to
  /// the networks that its configuration allows by name.
  var forUntrustedAddresses: PageClient {
    let own = configuration.addresses
    guard own != .unrestricted else { return self }
    var client = self
    client.configuration.addresses = .publicOnly
    client.configuration.addresses.networks = own.networks
    client.configuration.addresses.ports = own.ports
    return client
  }
}

extension PageError {
  /// Whether a later request may succeed: not if the server says that the page does not exist, nor
  /// if the page is invalid.
  fileprivate var mayPass: Bool {
    let status = response?.status.code ?? 0
    return status >= 500 || PassingStatus.later.contains(status)
      || [.connectFailed, .timedOut, .truncated, .throttled].contains(code)
  }
}
