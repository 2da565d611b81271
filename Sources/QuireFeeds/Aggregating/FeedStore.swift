public import QuireCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The door to where an aggregator keeps subscriptions and entries.
///
/// A change is whole or did not happen: what a poll has learnt of a feed and the entries it brought are
/// one change, so that a process that is killed loses no entry and stores none twice.
/// `MemoryFeedStore` is a fake that keeps the promises within a process; `FeedStoreConformance` in
/// QuireTesting checks a store.
public protocol FeedStore: Sendable {
  /// All subscriptions, in the order of their identifiers.
  func subscriptions() async throws -> [FeedSubscription]

  /// Makes a change. What it is about may be gone meanwhile: then nothing happens.
  @discardableResult
  func apply(_ change: FeedChange) async throws -> FeedEffect

  /// A page of at most `limit` entries, the newest first: by `StoredEntry.date`, then by `number`.
  ///
  /// `position` is nil for the start, or what an earlier page gave as `next`. Entries that were added
  /// meanwhile neither shift the pages nor make an entry come twice.
  func entries(
    _ selection: EntrySelection, at position: Position?, limit: Int
  ) async throws -> Page<StoredEntry>
}

/// A change of what a `FeedStore` holds.
public enum FeedChange: Sendable {
  /// Adds a subscription; one of the same identifier gets its title and folders.
  case subscribe(FeedSubscription)
  /// Removes a subscription and its entries.
  case unsubscribe(id: String)
  /// Keeps what a poll has brought, all of it or nothing.
  case polled(FeedPoll)
  /// Keeps a subscription at a hub, as `FeedSubscription.take(_:)` does.
  case push(FeedPush, id: String)
  /// Marks entries as read or unread, by number.
  case mark([Int64], isRead: Bool)
}

/// What a poll has brought.
public struct FeedPoll: Sendable {
  /// The subscription as it is now, if none of the entries is new.
  public var unchanged: FeedSubscription
  /// The subscription as it is now, if one is: its next poll may be sooner.
  public var changed: FeedSubscription
  /// The entries that came, in the publisher's order. Of those that are known only those with another
  /// `digest` are changed, and stay where they are in the order.
  public var entries: [FeedEntry]
  /// When it was, in seconds since 1970.
  public var time: Double
  /// The holder of the lease under which it was made, on a `SharedFeedStore`: it is kept only while the host is
  /// that holder's. Default nil: it is kept in any case.
  public var holder: String?

  /// What a poll has brought.
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

  /// Whether a subscription is as this poll has left it: a store that was not told whether its first attempt to
  /// keep the poll went well need not try again.
  package func isKept(in known: FeedSubscription) -> Bool {
    known.health.lastPoll != nil && known.health.lastPoll == unchanged.health.lastPoll
      && known.health.polls >= unchanged.health.polls
  }

  /// What that first attempt did, as far as the subscription tells.
  package func effect(keptIn known: FeedSubscription) -> FeedEffect {
    FeedEffect(added: max(0, known.health.entries - unchanged.health.entries))
  }

  /// The subscription to keep after a poll with this effect. Title, folders and the subscription at a hub are
  /// those of `known`: they may have changed while the poll ran. What a hub told meanwhile makes the feed due
  /// again, for it may not be in what the poll brought.
  public func subscription(after effect: FeedEffect, known: FeedSubscription) -> FeedSubscription {
    var subscription = known.kept(over: effect.added > 0 ? changed : unchanged)
    if let told = known.push?.lastPush, told != subscription.push?.lastPush {
      subscription.schedule.pushed(at: max(told, time), lastPoll: time)
    }
    subscription.push = known.push
    subscription.health.entries = known.health.entries + effect.added
    return subscription
  }
}

/// What a change did.
public struct FeedEffect: Hashable, Sendable {
  /// Entries that were not known before.
  public var added: Int
  /// Entries that were known, and have another text now.
  public var changed: Int
  /// Whether nothing was kept of a poll, for its lease had passed to another holder.
  public var isRefused: Bool

  /// Nothing, unless given.
  public init(added: Int = 0, changed: Int = 0, isRefused: Bool = false) {
    self.added = added
    self.changed = changed
    self.isRefused = isRefused
  }
}

/// Which entries of a store are wanted.
public struct EntrySelection: Hashable, Sendable, Codable {
  /// Only of this subscription. Default: of all.
  public var subscription: String?
  /// Only those that are not read. Default: all.
  public var isUnread: Bool
  /// Only those whose title or text contains this, without regard to case. Default: all.
  public var text: String?

  /// All entries, unless given.
  public init(subscription: String? = nil, isUnread: Bool = false, text: String? = nil) {
    self.subscription = subscription
    self.isUnread = isUnread
    self.text = text
  }
}

/// An entry in a store.
public struct StoredEntry: Sendable, Codable {
  /// Its number, which it keeps for ever; later entries have greater ones.
  public var number: Int64
  /// The identifier of its subscription.
  public var subscription: String
  /// When it was published, in seconds since 1970, and where that is missing or in the future, when it was
  /// found: what entries are ordered by. It never changes.
  public var date: Double
  /// Whether it was marked as read.
  public var isRead: Bool
  /// The entry, without its raw form.
  public var entry: FeedEntry

  /// An entry in a store.
  public init(
    number: Int64, subscription: String, date: Double, isRead: Bool = false, entry: FeedEntry
  ) {
    self.number = number
    self.subscription = subscription
    self.date = date
    self.isRead = isRead
    self.entry = entry
  }

  /// What an entry that is found at `now` is ordered by.
  public static func date(of entry: FeedEntry, foundAt now: Double) -> Double {
    min(entry.date?.timeIntervalSince1970 ?? now, now)
  }

  /// How many entries tell whether there are more than `limit`, which is at least one.
  package static func count(showing limit: Int) -> Int { min(max(1, limit), .max - 1) + 1 }

  /// The page of the first `limit` of the entries that were found, the newest first.
  package static func page(of found: some Collection<StoredEntry>, limit: Int) -> Page<StoredEntry>
  {
    let items = Array(found.prefix(count(showing: limit) - 1))
    return Page(items, next: items.count < found.count ? items.last?.place : nil)
  }

  /// What the position behind an entry holds: its date, exactly, and its number.
  public var place: Position { Position([.string("\(date)"), .number("\(number)")]) }

  /// Reads `place`. Throws `PageError.Code.positionMismatch` for any other position.
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

/// A store in memory, for tests and for aggregators that begin anew with each start.
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

  /// An empty store.
  public init() {}

  /// All subscriptions, in the order of their identifiers.
  public func subscriptions() -> [FeedSubscription] { feeds.values.sorted { $0.id < $1.id } }

  /// Makes a change.
  @discardableResult
  public func apply(_ change: FeedChange) -> FeedEffect {
    switch change {
    case .subscribe(let subscription):
      feeds[subscription.id] = subscription.kept(over: feeds[subscription.id])
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

  /// A page of entries, the newest first.
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
  /// What is searched: title and text as plain words, in lower case.
  public var searchText: String { entry.searchText }
}

extension FeedEntry {
  var searchText: String {
    [title?.plain, text?.plain].compactMap(\.self).joined(separator: "\n").lowercased()
  }
}

extension PageError.Code {
  /// A store of feeds cannot be opened, read or written; `underlying` is the database's error.
  public static let feedStore = Self("feedStore")
}
