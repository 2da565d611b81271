public import QuireCore

/// A store of an aggregator's subscriptions and entries.
///
/// A change is atomic: the results of a poll and its entries are one change, so a process that is
/// killed loses no entry and stores none twice. `MemoryFeedStore` is an implementation for one
/// process; `FeedStoreConformance` in QuireTesting checks any store.
public protocol FeedStore: Sendable {
  /// Returns all subscriptions, ordered by identifier.
  func subscriptions() async throws -> [FeedSubscription]

  /// Makes a change. Does nothing if the subscription or entry no longer exists.
  @discardableResult
  func apply(_ change: FeedChange) async throws -> FeedEffect

  /// Returns a page of at most `limit` entries, newest first: by `StoredEntry.date`, then by
  /// `number`.
  ///
  /// `position` is nil for the first page, or the `next` of an earlier one. Entries that are added
  /// between two pages neither shift pages nor repeat entries.
  func entries(
    _ selection: EntrySelection, at position: Position?, limit: Int
  ) async throws -> Page<StoredEntry>
}

/// A change of a `FeedStore`.
public enum FeedChange: Sendable {
  /// Adds a subscription, or updates the title and folders of an existing one. An existing one whose
  /// feed has ended also gets the schedule, so that the feed is polled again.
  case subscribe(FeedSubscription)
  /// Removes a subscription and its entries.
  case unsubscribe(id: String)
  /// Stores the results of a poll, all or nothing, and deletes the entries of its feed that exceed
  /// `FeedPoll.retention`. An entry that the rule deletes stays known, as `EntryRetention` describes:
  /// it is neither added nor changed by a poll.
  case polled(FeedPoll)
  /// Stores a subscription at a hub, as `FeedSubscription.take(_:)` does.
  case push(FeedPush, id: String)
  /// Marks entries as read or unread, by number.
  case mark([Int64], isRead: Bool)
}

/// The effect of a change.
public struct FeedEffect: Hashable, Sendable {
  /// The number of new entries.
  public var added: Int
  /// The number of known entries whose text changed.
  public var changed: Int
  /// The number of entries that `FeedPoll.retention` deleted.
  public var removed: Int
  /// Whether a poll was refused because its lease had passed to another holder.
  public var isRefused: Bool

  /// Creates an effect; by default nothing changed.
  public init(added: Int = 0, changed: Int = 0, removed: Int = 0, isRefused: Bool = false) {
    self.added = added
    self.changed = changed
    self.removed = removed
    self.isRefused = isRefused
  }
}

extension PageError.Code {
  /// A feed store cannot be opened, read or written; `underlying` is the database's error.
  public static let feedStore = Self("feedStore")
}

extension PageError {
  /// Returns the error of a store for one of its database; a `PageError` and a cancellation stay
  /// what they are.
  package static func ofFeedStore(_ error: any Error) -> any Error {
    if error is PageError || error is CancellationError { return error }
    return PageError(
      .feedStore, "The store of feeds cannot be used: \(error)", attempts: 0, underlying: error)
  }
}
