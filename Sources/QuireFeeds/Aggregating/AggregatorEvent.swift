public import QuireCore

/// An event of an aggregator, for metrics, logs and status pages.
public enum AggregatorEvent: Sendable {
  /// The report of a poll that has ended and has been stored.
  case polled(FeedPollReport)
  /// A subscription that was added or updated, by its identifier.
  case subscribed(String)
  /// A subscription that was removed, by its identifier.
  case unsubscribed(String)
}

/// The report of one poll.
public struct FeedPollReport: Sendable {
  /// The subscription after the poll.
  public let subscription: FeedSubscription
  /// The effect of the poll on the store.
  public let effect: FeedEffect
  /// The bytes and requests of the poll.
  public let traffic: WalkReport.Traffic
  /// Whether the server answered 304 (Not Modified).
  public let isUnchanged: Bool
  /// The duration of the poll, including storing.
  public let duration: Duration
  /// The error of the poll; nil if it succeeded.
  public let error: PageError?
  /// The reason why a poll that succeeded did not read all new entries: the error of an older page,
  /// or `limitExceeded` if the feed has more new pages than a poll reads. Nil if it read all that
  /// were wanted.
  public let olderPagesError: PageError?
}
