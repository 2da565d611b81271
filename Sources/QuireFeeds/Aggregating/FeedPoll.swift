/// The results of a poll.
public struct FeedPoll: Sendable {
  /// The subscription after the poll, if no entry is new.
  public var unchanged: FeedSubscription
  /// The subscription after the poll, if an entry is new: its next poll may be sooner.
  public var changed: FeedSubscription
  /// The entries, in the publisher's order. Known entries are updated only if their `digest`
  /// differs, and keep their place in the order.
  public var entries: [FeedEntry]
  /// The time of the poll, in seconds since 1970.
  public var time: Double
  /// The holder of the lease, on a `SharedFeedStore`: the poll is stored only while the host
  /// belongs to that holder. Default nil: it is always stored.
  public var holder: String?
  /// The rule by which the store deletes old entries of the feed, once `entries` are stored. Default:
  /// all entries are kept.
  public var retention: EntryRetention
  /// Whether nothing was polled, because the feed or its server asks not to be polled at this time.
  private(set) var isPostponement = false

  /// Creates the results of a poll.
  public init(
    unchanged: FeedSubscription, changed: FeedSubscription, entries: [FeedEntry], time: Double,
    holder: String? = nil, retention: EntryRetention = EntryRetention()
  ) {
    self.unchanged = unchanged
    self.changed = changed
    self.entries = entries
    self.time = time
    self.holder = holder
    self.retention = retention
  }

  /// Creates the postponement of a poll; `subscription` has its new time.
  init(postponed subscription: FeedSubscription, at now: Double, holder: String? = nil) {
    self.init(
      unchanged: subscription, changed: subscription, entries: [], time: now, holder: holder)
    isPostponement = true
  }

  /// Whether a stored subscription includes this poll already, so that a store whose first attempt
  /// to write the poll had an unknown outcome need not repeat it.
  package func isStored(in known: FeedSubscription) -> Bool {
    !isPostponement && known.health.lastPoll != nil
      && known.health.lastPoll == unchanged.health.lastPoll
      && known.health.polls >= unchanged.health.polls
  }

  /// Whether `known` replaced the polled subscription, which was removed, and added again at the
  /// same address, during the poll.
  package func isOfEarlierSubscription(than known: FeedSubscription) -> Bool {
    known.health.polls < unchanged.health.polls - 1
  }

  /// Returns the effect of a first attempt to write this poll, as far as the stored subscription
  /// shows it.
  package func effect(storedIn known: FeedSubscription) -> FeedEffect {
    FeedEffect(added: max(0, known.health.entries - unchanged.health.entries))
  }

  /// Returns the subscription to store after a poll with this effect. Title, folders and the
  /// subscription at a hub are taken from `known`, because they may have changed during the poll. A
  /// notification during the poll makes the feed due again, because the poll may not include it.
  ///
  /// A subscription that was removed and added again during the poll stays as it is: with the
  /// poll's validators the server would not repeat the entries that were removed with the earlier
  /// subscription.
  public func subscription(after effect: FeedEffect, known: FeedSubscription) -> FeedSubscription {
    guard !isOfEarlierSubscription(than: known) else {
      var subscription = known
      subscription.health.entries += effect.added
      return subscription
    }
    var subscription = known.withState(of: effect.added > 0 ? changed : unchanged)
    if let told = known.push?.lastPush, told != subscription.push?.lastPush {
      subscription.schedule.pushed(at: max(told, time), lastPoll: time)
    }
    subscription.push = known.push
    subscription.health.entries = known.health.entries + effect.added
    return subscription
  }
}
