public import QuireHTTP
import QuirePagination

/// A feed that an aggregator polls, and its state.
public struct FeedSubscription: Hashable, Sendable, Codable, Identifiable {
  /// The address that was subscribed to. It stays the same when the feed moves.
  public let id: String
  /// The reader's title; nil to show the feed's own.
  public var title: String?
  /// The reader's folders that contain it, outermost first.
  public var folders: [String]
  /// The polling schedule and the current address.
  public var schedule: PollSchedule
  /// The validators of its pages, for conditional requests.
  public var validators: [String: PageValidators.Entry]
  /// The feed's own properties; nil before the first successful poll.
  public var feed: Feed?
  /// Statistics of its polls.
  public var health: FeedHealth
  /// The subscription at its hub; nil if there is none.
  public var push: FeedPush?

  /// Digests of the last 256 identifiers that the publisher gave to several entries; nil if there
  /// are none.
  var sharedIdentities: [String]?

  /// The digest of the entry that keeps each shared identifier, by the digest of the identifier; nil
  /// if there are none.
  var identityKeepers: [String: String]?

  /// Digests of the identities of the newest entries that were read, at most 16, with which a poll
  /// recognizes that it has read all new pages; nil before the first entry.
  var newest: [String]?

  /// Digests of the content of these entries, in the same order; nil before the first entry.
  var newestContents: [String]?

  /// Creates a subscription that has not been polled and is due at `now`, in seconds since 1970.
  public init(
    url: String, title: String? = nil, folders: [String] = [], rules: PollRules = PollRules(),
    at now: Double = 0
  ) {
    id = url
    self.title = title
    self.folders = folders
    schedule = PollSchedule(url: url, rules: rules, at: now)
    validators = [:]
    health = FeedHealth()
  }

  /// Returns `known` with this subscription's title and folders; this subscription if `known` is
  /// nil.
  func withState(of known: FeedSubscription?) -> FeedSubscription {
    guard var known else { return self }
    (known.title, known.folders) = (title, folders)
    return known
  }

  /// Returns the subscription to store for `FeedChange.subscribe`: as `withState(of:)`, but a feed that
  /// has ended gets this subscription's schedule.
  package func added(to known: FeedSubscription?) -> FeedSubscription {
    var subscription = withState(of: known)
    if subscription.schedule.state == .ended { subscription.schedule = schedule }
    return subscription
  }

  /// Updates the subscription at the hub. A notification makes the feed due, at the earliest a
  /// minute after the last poll.
  public mutating func take(_ push: FeedPush) {
    // Only a new request replaces a subscription at a hub with another token: a late verification
    // or notification of the earlier one must not undo it.
    let isRequest = push.state == .requested && push.lastPush == nil
    if let known = self.push, known.token != push.token, !isRequest { return }
    let before = self.push?.lastPush
    self.push = self.push.map(push.merged) ?? push
    if let told = self.push?.lastPush, told != before {
      schedule.pushed(at: told, lastPoll: health.lastPoll)
    }
  }

  /// The title to show: the reader's, the feed's own, or the address.
  public var name: String { title ?? feed?.title?.plain ?? schedule.url }

  /// The host that is polled. For an address without a host it is the beginning of the address, cut
  /// off because stores index it.
  package var host: String {
    (try? Origin(url: schedule.url))?.host ?? String(schedule.url.prefix(Origin.longestHost))
  }
}

/// Statistics of a feed's polls, for operators.
public struct FeedHealth: Hashable, Sendable, Codable {
  /// The number of polls.
  public var polls = 0
  /// The number of polls answered with 304, without a body.
  public var unchanged = 0
  /// The number of failed polls.
  public var failures = 0
  /// The number of entries that were found and stored.
  public var entries = 0
  /// The number of bytes of all answers, after content decoding.
  public var bytes = 0
  /// The time of the last poll, in seconds since 1970.
  public var lastPoll: Double?
  /// The time of the last successful poll.
  public var lastSuccess: Double?
  /// The error message of the last poll; nil if it succeeded.
  public var lastError: String?
  /// The error of older pages of the last poll, which the next poll requests again; nil if they
  /// were read, if none are wanted, or if the server no longer has them.
  public var olderPagesError: String?
  /// The identifier of another subscription whose feed was already at the address to which this one
  /// moved; nil if there was none, and always on a `SharedFeedStore`. Both feeds are polled and have
  /// the same entries: unsubscribe one of them. Stored with the poll after the move.
  public var duplicateOf: String?
  /// The number of repairs in the last feed that was read.
  public var repairs = 0

  /// Creates the statistics of a feed that has not been polled.
  public init() {}
}
