public import QuireCore

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
      for entry in poll.entries.reversed() { save(entry, of: known.id, at: poll.time, &effect) }
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
  private func save(
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
