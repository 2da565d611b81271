public import QuireCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

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
  /// Stores the results of a poll, all or nothing.
  case polled(FeedPoll)
  /// Stores a subscription at a hub, as `FeedSubscription.take(_:)` does.
  case push(FeedPush, id: String)
  /// Marks entries as read or unread, by number.
  case mark([Int64], isRead: Bool)
}

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
  /// Whether nothing was polled, because the feed or its server asks not to be polled at this time.
  private(set) var isPostponement = false

  /// Creates the results of a poll.
  public init(
    unchanged: FeedSubscription, changed: FeedSubscription, entries: [FeedEntry], time: Double,
    holder: String? = nil
  ) {
    self.unchanged = unchanged
    self.changed = changed
    self.entries = entries
    self.time = time
    self.holder = holder
  }

  /// Creates the postponement of a poll; `subscription` has its new time.
  init(postponed subscription: FeedSubscription, at now: Double, holder: String? = nil) {
    self.init(
      unchanged: subscription, changed: subscription, entries: [], time: now, holder: holder)
    isPostponement = true
  }

  /// Whether a stored subscription includes this poll already, so that a store whose first attempt
  /// to write the poll had an unknown outcome need not repeat it.
  package func isKept(in known: FeedSubscription) -> Bool {
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
  package func effect(keptIn known: FeedSubscription) -> FeedEffect {
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
    var subscription = known.kept(over: effect.added > 0 ? changed : unchanged)
    if let told = known.push?.lastPush, told != subscription.push?.lastPush {
      subscription.schedule.pushed(at: max(told, time), lastPoll: time)
    }
    subscription.push = known.push
    subscription.health.entries = known.health.entries + effect.added
    return subscription
  }
}

/// The effect of a change.
public struct FeedEffect: Hashable, Sendable {
  /// The number of new entries.
  public var added: Int
  /// The number of known entries whose text changed.
  public var changed: Int
  /// Whether a poll was refused because its lease had passed to another holder.
  public var isRefused: Bool

  /// Creates an effect; by default nothing changed.
  public init(added: Int = 0, changed: Int = 0, isRefused: Bool = false) {
    self.added = added
    self.changed = changed
    self.isRefused = isRefused
  }
}

/// A selection of a store's entries.
public struct EntrySelection: Hashable, Sendable, Codable {
  /// The subscription to select the entries of, by identifier. Default nil: all subscriptions.
  public var subscription: String?
  /// Whether to select only unread entries. Default false.
  public var isUnread: Bool
  /// The text that an entry's title or text must contain, ignoring case. Default nil: all entries.
  public var text: String?

  /// Creates a selection; by default all entries.
  public init(subscription: String? = nil, isUnread: Bool = false, text: String? = nil) {
    self.subscription = subscription
    self.isUnread = isUnread
    self.text = text
  }
}

/// An entry in a store.
public struct StoredEntry: Sendable, Codable {
  /// The number of the entry, which never changes; later entries have greater ones.
  public var number: Int64
  /// The identifier of its subscription.
  public var subscription: String
  /// The date by which entries are ordered, in seconds since 1970: the publication date, or the
  /// time at which the entry was found if that date is unknown or in the future. It never changes.
  public var date: Double
  /// Whether it was marked as read.
  public var isRead: Bool
  /// The entry, without its raw form.
  public var entry: FeedEntry

  /// Creates an entry of a store.
  public init(
    number: Int64, subscription: String, date: Double, isRead: Bool = false, entry: FeedEntry
  ) {
    self.number = number
    self.subscription = subscription
    self.date = date
    self.isRead = isRead
    self.entry = entry
  }

  /// Returns the date by which to order an entry that was found at `now`.
  public static func date(of entry: FeedEntry, foundAt now: Double) -> Double {
    min(entry.date?.timeIntervalSince1970 ?? now, now)
  }

  /// Returns the number of entries to read for a page of `limit`: one more, to know whether there
  /// is a next page. A limit below 1 counts as 1.
  package static func count(showing limit: Int) -> Int { min(max(1, limit), .max - 1) + 1 }

  /// Returns the page of the first `limit` of the entries in `found`, which are ordered, newest
  /// first.
  package static func page(of found: some Collection<StoredEntry>, limit: Int) -> Page<StoredEntry>
  {
    let items = Array(found.prefix(count(showing: limit) - 1))
    return Page(items, next: items.count < found.count ? items.last?.place : nil)
  }

  /// The position after an entry: its exact date and its number.
  public var place: Position { Position([.string("\(date)"), .number("\(number)")]) }

  /// Parses the output of `place`. Throws `PageError.Code.positionMismatch` for any other position.
  public static func place(
    _ position: Position
  ) throws(PageError) -> (date: Double, number: Int64) {
    guard case .array(let parts)? = position.value, parts.count == 2,
      let date = parts[0].string.flatMap({ Double($0) }), date.isFinite,
      let number = parts[1].integer
    else {
      throw PageError(
        .positionMismatch, "The position is none of a list of entries. Begin at the start.",
        remedies: [Remedy(.position, ["start"])], attempts: 0)
    }
    return (date, Int64(number))
  }
}

/// A store in memory, for tests and for aggregators that start over with each run.
public actor MemoryFeedStore: FeedStore {
  private struct Stored {
    var entry: StoredEntry
    var identity: FeedEntry.Identity
    var digest: String
  }

  private var feeds: [String: FeedSubscription] = [:]
  private var stored: [Int64: Stored] = [:]
  private var numbers: [String: [FeedEntry.Identity: Int64]] = [:]
  private var last: Int64 = 0

  /// Creates an empty store.
  public init() {}

  /// Returns all subscriptions, ordered by identifier.
  public func subscriptions() -> [FeedSubscription] { feeds.values.sorted { $0.id < $1.id } }

  /// Makes a change; see `FeedStore.apply(_:)`.
  @discardableResult
  public func apply(_ change: FeedChange) -> FeedEffect {
    switch change {
    case .subscribe(let subscription):
      feeds[subscription.id] = subscription.added(to: feeds[subscription.id])
      return FeedEffect()
    case .unsubscribe(let id):
      feeds[id] = nil
      for (_, number) in numbers.removeValue(forKey: id) ?? [:] { stored[number] = nil }
      return FeedEffect()
    case .polled(let poll):
      guard let known = feeds[poll.unchanged.id] else { return FeedEffect() }
      var effect = FeedEffect()
      // The publisher's first entry is the newest: it gets the greatest number.
      for entry in poll.entries.reversed() { keep(entry, of: known.id, at: poll.time, &effect) }
      feeds[known.id] = poll.subscription(after: effect, known: known)
      return effect
    case .push(let push, let id):
      feeds[id]?.take(push)
      return FeedEffect()
    case .mark(let marked, let isRead):
      for number in marked { stored[number]?.entry.isRead = isRead }
      return FeedEffect()
    }
  }

  /// Adds an entry, or updates a known one whose digest differs.
  private func keep(
    _ entry: FeedEntry, of subscription: String, at now: Double, _ effect: inout FeedEffect
  ) {
    var entry = entry
    entry.raw = nil
    let (identity, digest) = (entry.identity, entry.digest)
    if let number = numbers[subscription]?[identity] {
      guard stored[number]?.digest != digest else { return }
      stored[number]?.entry.entry = entry
      stored[number]?.digest = digest
      effect.changed += 1
      return
    }
    last += 1
    numbers[subscription, default: [:]][identity] = last
    let new = StoredEntry(
      number: last, subscription: subscription, date: StoredEntry.date(of: entry, foundAt: now),
      entry: entry)
    stored[last] = Stored(entry: new, identity: identity, digest: digest)
    effect.added += 1
  }

  /// Returns a page of entries, newest first. Throws `positionMismatch` for a position of another
  /// listing.
  public func entries(
    _ selection: EntrySelection, at position: Position?, limit: Int
  ) throws -> Page<StoredEntry> {
    let place = try position.map { position throws(PageError) in try StoredEntry.place(position) }
    let text = selection.text?.lowercased()
    let found = stored.values.map(\.entry).filter { entry in
      if let place, (entry.date, entry.number) >= (place.date, place.number) { return false }
      if let wanted = selection.subscription, wanted != entry.subscription { return false }
      if selection.isUnread, entry.isRead { return false }
      return text.map { entry.searchText.contains($0) } ?? true
    }.sorted { ($0.date, $0.number) > ($1.date, $1.number) }
    return StoredEntry.page(of: found, limit: limit)
  }
}

extension StoredEntry {
  /// The text to search in: title and text without markup, in lowercase.
  public var searchText: String { entry.searchText }
}

extension FeedEntry {
  var searchText: String {
    [title?.plain, text?.plain].compactMap(\.self).joined(separator: "\n").lowercased()
  }
}

extension PageError.Code {
  /// A feed store cannot be opened, read or written; `underlying` is the database's error.
  public static let feedStore = Self("feedStore")
}
