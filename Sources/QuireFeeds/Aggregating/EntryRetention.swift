/// The rule by which stores delete old entries of a feed.
///
/// A store applies the rule to a feed with every poll of it that is stored. The rule deletes an
/// entry that exceeds `age`, `count`, or both. The store remembers the identities of deleted
/// entries, so that they are not new again: all that the feed lists, and of those that it no longer
/// lists the 1,000 that were found last. Ages are by the clock of the aggregator, but in a database
/// that machines share no later than by its own.
public struct EntryRetention: Hashable, Sendable {
  /// The time after which an entry is deleted, since it was found rather than published, because a
  /// feed may list old entries. A negative time counts as zero. Default nil: never.
  public var age: Duration? { didSet { age = age.map { max(.zero, $0) } } }
  /// The number of entries of a feed to keep: the newest ones, in the order of
  /// `FeedStore.entries(_:at:limit:)`. A number below 1 counts as 1. Default nil: all.
  public var count: Int? { didSet { count = count.map { max(1, $0) } } }
  /// Whether unread entries are kept even if they exceed the rule. Default false.
  public var keepsUnread: Bool

  /// Creates a rule; by default all entries are kept.
  public init(age: Duration? = nil, count: Int? = nil, keepsUnread: Bool = false) {
    self.age = age.map { max(.zero, $0) }
    self.count = count.map { max(1, $0) }
    self.keepsUnread = keepsUnread
  }

  /// The number of identities to remember of a feed's deleted entries that it no longer lists.
  package static let rememberedCount = 1_000

  /// Whether the rule deletes no entry.
  package var keepsAll: Bool { age == nil && count == nil }

  /// Returns the time, in seconds since 1970, before which an entry must have been found to be
  /// deleted at `now`; nil if age does not matter.
  package func deadline(at now: Double) -> Double? { age.map { now - $0 / .seconds(1) } }
}
