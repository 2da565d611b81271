/// The settings of an aggregator.
public struct AggregatorSettings: Sendable {
  /// The limits on polling.
  public var limits: PollingLimits
  /// The rules for the interval between polls, for new subscriptions.
  public var rules: PollRules
  /// The options for reading feeds.
  public var options: FeedOptions
  /// The number of pages to read at the first poll of a feed. Default 1.
  public var pagesAtFirst: Int
  /// The rule by which old entries are deleted. Default: all entries are kept.
  public var retention: EntryRetention
  /// The public address at which hubs reach `answer(hub:)`, such as `https://reader.example/hub/`;
  /// a token of the feed is appended to its path. Default nil: the aggregator subscribes to no hub.
  public var callback: String?

  /// Creates settings; every parameter has the default of its property.
  public init(
    limits: PollingLimits = PollingLimits(), rules: PollRules = PollRules(),
    options: FeedOptions = FeedOptions(), pagesAtFirst: Int = 1,
    retention: EntryRetention = EntryRetention(), callback: String? = nil
  ) {
    self.limits = limits
    self.rules = rules
    self.options = options
    self.pagesAtFirst = pagesAtFirst
    self.retention = retention
    self.callback = callback
  }
}

/// The limits on an aggregator's polls. Counts below 1 count as 1, and negative durations as zero.
public struct PollingLimits: Hashable, Sendable {
  /// The maximum number of simultaneous polls. Default 32.
  public var concurrent: Int { didSet { concurrent = max(1, concurrent) } }
  /// The maximum number of simultaneous polls of one host. Default 1, so that a publisher sees a
  /// single reader.
  public var concurrentPerHost: Int {
    didSet { concurrentPerHost = max(1, concurrentPerHost) }
  }
  /// The minimum time between the starts of two polls of one host. Default 2 seconds.
  public var hostGap: Duration { didSet { hostGap = max(.zero, hostGap) } }

  /// Creates limits; every parameter has the default of its property.
  public init(
    concurrent: Int = 32, concurrentPerHost: Int = 1, hostGap: Duration = .seconds(2)
  ) {
    self.concurrent = max(1, concurrent)
    self.concurrentPerHost = max(1, concurrentPerHost)
    self.hostGap = max(.zero, hostGap)
  }
}
