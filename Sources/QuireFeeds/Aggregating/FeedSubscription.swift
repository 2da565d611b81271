public import QuireHTTP
import QuirePagination

/// A feed that an aggregator polls, and all that it knows of it.
public struct FeedSubscription: Hashable, Sendable, Codable, Identifiable {
  /// The address that was subscribed to. It stays, also when the feed moves.
  public let id: String
  /// What the reader calls it; nil for what it calls itself.
  public var title: String?
  /// The reader's folders around it, the outermost first.
  public var folders: [String]
  /// When it is polled, and at which address.
  public var schedule: PollSchedule
  /// By what its pages are asked for again.
  public var validators: [String: PageValidators.Entry]
  /// What it says of itself; nil before the first poll that brought something.
  public var feed: Feed?
  /// How it does.
  public var health: FeedHealth
  /// The subscription at its hub; nil where there is none.
  public var push: FeedPush?

  /// Digests of the identifiers that its publisher has given to several entries, the last 256; nil without any.
  var sharedIdentities: [String]?

  /// A subscription that was not polled yet, and is due at `now`, in seconds since 1970.
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

  /// What is kept where this one is subscribed to: the one that is `known`, with this one's title and folders.
  package func kept(over known: FeedSubscription?) -> FeedSubscription {
    guard var known else { return self }
    (known.title, known.folders) = (title, folders)
    return known
  }

  /// Takes what became of the subscription at the hub. What the hub has told makes the feed due, a minute after
  /// the last poll at the earliest.
  public mutating func take(_ push: FeedPush) {
    // Only a request takes the place of another: what has come of an earlier one does not undo the later.
    let isRequest = push.state == .requested && push.lastPush == nil
    if let known = self.push, known.token != push.token, !isRequest { return }
    let before = self.push?.lastPush
    self.push = self.push.map(push.merged) ?? push
    if let told = self.push?.lastPush, told != before {
      schedule.pushed(at: told, lastPoll: health.lastPoll)
    }
  }

  /// What to call it: the reader's title, its own, its address.
  public var name: String { title ?? feed?.title?.plain ?? schedule.url }

  /// The host that is polled for it; of an address without one the beginning, for stores index it.
  package var host: String {
    (try? Origin(url: schedule.url))?.host ?? String(schedule.url.prefix(Origin.longestHost))
  }
}

/// How a feed does, for an aggregator's operators.
public struct FeedHealth: Hashable, Sendable, Codable {
  /// Polls in all.
  public var polls = 0
  /// Polls that were answered by 304, at the cost of no body.
  public var unchanged = 0
  /// Polls that failed.
  public var failures = 0
  /// Entries found.
  public var entries = 0
  /// Decoded bytes in all.
  public var bytes = 0
  /// When it was polled last, in seconds since 1970.
  public var lastPoll: Double?
  /// When that last went well.
  public var lastSuccess: Double?
  /// What went wrong at the last poll, in a sentence; nil when nothing did.
  public var lastError: String?
  /// Why older pages of the first poll have not come, which the next poll asks for again; nil where they have,
  /// where none are wanted, and where the server does not have them any more.
  public var olderPagesError: String?
  /// How many things had to be forgiven in what came last.
  public var repairs = 0

  /// Of a feed that was not polled.
  public init() {}
}
