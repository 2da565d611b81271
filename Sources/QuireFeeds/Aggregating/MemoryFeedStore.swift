public import QuireCore

/// A store in memory, for tests and for aggregators that start over with each run.
public actor MemoryFeedStore: FeedStore {
  private struct Stored {
    var entry: StoredEntry
    let identity: FeedEntry.Identity
    var digest: String
    /// The time at which the entry was found, in seconds since 1970.
    let found: Double
  }

  private var feeds: [String: FeedSubscription] = [:]
  private var stored: [Int64: Stored] = [:]
  private var numbers: [String: [FeedEntry.Identity: Int64]] = [:]
  /// The former numbers of entries that were deleted, by subscription and identity.
  private var deleted: [String: [FeedEntry.Identity: Int64]] = [:]
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
      deleted[id] = nil
      for (_, number) in numbers.removeValue(forKey: id) ?? [:] { stored[number] = nil }
      return FeedEffect()
    case .polled(let poll):
      guard let known = feeds[poll.unchanged.id] else { return FeedEffect() }
      var effect = FeedEffect()
      // The publisher's first entry is the newest: it gets the greatest number.
      for entry in poll.entries.reversed() { save(entry, of: known.id, at: poll.time, &effect) }
      effect.removed = deleteEntries(of: known.id, exceeding: poll.retention, at: poll.time)
      forgetDeleted(of: known.id, except: poll.entries)
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
    guard deleted[subscription]?[identity] == nil else { return }
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
    stored[last] = Stored(entry: new, identity: identity, digest: digest, found: now)
    effect.added += 1
  }

  /// Deletes the entries that exceed a rule, and returns their number.
  private func deleteEntries(
    of subscription: String, exceeding rule: EntryRetention, at now: Double
  ) -> Int {
    guard !rule.keepsAll else { return 0 }
    let entries = (numbers[subscription] ?? [:]).values.compactMap { stored[$0] }
      .sorted { ($0.entry.date, $0.entry.number) > ($1.entry.date, $1.entry.number) }
    let deadline = rule.deadline(at: now) ?? -.infinity
    let exceeding = entries.enumerated().filter { rank, stored in
      (rank >= rule.count ?? .max || stored.found < deadline)
        && (stored.entry.isRead || !rule.keepsUnread)
    }
    for (_, entry) in exceeding {
      stored[entry.entry.number] = nil
      numbers[subscription]?[entry.identity] = nil
      deleted[subscription, default: [:]][entry.identity] = entry.entry.number
    }
    return exceeding.count
  }

  /// Forgets the deleted entries that the feed no longer lists, except those found last.
  private func forgetDeleted(of subscription: String, except listed: [FeedEntry]) {
    guard !listed.isEmpty, let known = deleted[subscription] else { return }
    let listed = Set(listed.map(\.identity))
    let unlisted = known.filter { !listed.contains($0.key) }.sorted { $0.value > $1.value }
    for (identity, _) in unlisted.dropFirst(EntryRetention.rememberedCount) {
      deleted[subscription]?[identity] = nil
    }
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
