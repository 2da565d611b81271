import Foundation
import QuireCore
public import QuireFeeds

/// Checks the promises that every `FeedStore` makes.
///
/// ```swift
/// try await FeedStoreConformance { MyStore(at: path) }.check()
/// ```
/// The first store that is created is empty; each later one is opened on the contents of the one
/// before, unless `persists` is false. For a `SharedFeedStore`, leases are checked too.
public struct FeedStoreConformance: Sendable {
  private let persists: Bool
  private let makeStore: @Sendable () async throws -> any FeedStore

  /// Creates a check of the stores that `makeStore` creates.
  ///
  /// - Parameters:
  ///   - persists: Whether the contents of a store outlive it. Default true.
  ///   - makeStore: Creates a store; called again, opens it again.
  public init(
    persists: Bool = true, makeStore: @escaping @Sendable () async throws -> any FeedStore
  ) {
    self.persists = persists
    self.makeStore = makeStore
  }

  /// Checks every promise. Throws a `ConformanceFailure` for the first broken one.
  public func check() async throws {
    var store = try await makeStore()
    try await checkSubscriptions(store)
    try await checkPolls(store)
    if persists { store = try await makeStore() }
    try await checkPages(store)
    try await checkSelections(store)
    try await checkHub(store)
    try await checkReturn(store)
    try await checkEnd(store)
    try await checkRetention(store)
    try await checkMemory(store)
    try await checkNulls(store)
    try await checkRemoval(store)
    if let shared = store as? any SharedFeedStore {
      var other = shared
      // The store as another machine opens it, if its contents persist.
      if persists, let again = try await makeStore() as? any SharedFeedStore { other = again }
      try await checkLeases(shared, other)
      try await checkHolders(shared, other)
    }
  }

  private func checkLeases(_ one: any SharedFeedStore, _ other: any SharedFeedStore) async throws {
    for (url, due) in [
      ("https://x.test/1", 10.0), ("https://x.test/2", 20), ("https://y.test/", 5),
    ] {
      try await one.apply(.subscribe(FeedSubscription(url: url, at: due)))
    }
    try await one.apply(.unsubscribe(id: "https://b.test/feed"))
    func claim(
      _ store: any SharedFeedStore, _ holder: String, _ time: Double, _ limit: Int = 10,
      working: Set<String> = [], for lease: Duration = .seconds(600)
    ) async throws -> [String] {
      try await store.claim(
        FeedClaim(holder: holder, dueBy: time, limit: limit, lease: lease, working: working)
      ).map(\.id)
    }
    try await expect(claim(one, "A", 4).isEmpty, "What is not due is not claimed.")
    try await expect(
      claim(one, "A", 15, 1) == ["https://y.test/"], "The longest due is claimed first.")
    try await expect(
      claim(other, "B", 15) == ["https://x.test/1"], "What another holds is not claimed.")
    try await expect(
      claim(one, "A", 25) == ["https://y.test/"], "No feed of a host that another holds is claimed."
    )
    try await expect(
      claim(other, "B", 25, working: ["x.test"]).isEmpty, "What is worked on is not given again.")
    _ = try await claim(other, "B", 25, working: ["x.test", "y.test"], for: .zero)
    try await expect(
      claim(one, "A", 25, working: ["y.test"]) == ["https://x.test/1", "https://x.test/2"],
      "A lease that has ended is another's to take; one that is another's is not renewed.")
    try await expect(claim(other, "B", 25).isEmpty, "A lease that was taken is its holder's.")
    var subscription = FeedSubscription(url: "https://x.test/1", at: 10)
    subscription.schedule = PollSchedule(url: "https://x.test/1", at: 1_000)
    try await one.apply(
      .polled(FeedPoll(unchanged: subscription, changed: subscription, entries: [], time: 30)))
    try await expect(
      claim(one, "A", 25) == ["https://y.test/", "https://x.test/2"],
      "What was polled is not due until it is again; what is held and due is given again.")
  }

  /// Checks that the holder of a lease counts. Runs after `checkLeases`, where A gets x.test and
  /// y.test.
  private func checkHolders(_ one: any SharedFeedStore, _ other: any SharedFeedStore) async throws {
    let subscription = FeedSubscription(url: "https://x.test/2", at: 20)
    func poll(_ number: Int, by holder: String?) async throws -> FeedEffect {
      try await other.apply(
        .polled(
          FeedPoll(
            unchanged: subscription, changed: subscription, entries: [entry(number, "")], time: 40,
            holder: holder)))
    }
    try await expect(
      poll(1, by: "B") == FeedEffect(isRefused: true),
      "A poll by one whose lease has passed to another is refused.")
    try await expect(poll(1, by: "A") == FeedEffect(added: 1), "A poll by the holder is kept.")
    try await expect(poll(2, by: nil) == FeedEffect(added: 1), "A poll without a holder is kept.")
    _ = try await one.claim(
      FeedClaim(holder: "A", dueBy: 0, limit: 0, lease: .zero, working: ["x.test", "y.test"]))
    let both = try await one.claim(FeedClaim(holder: "C", dueBy: 25, limit: 2)).map(\.id)
    let rest = try await other.claim(FeedClaim(holder: "D", dueBy: 25, limit: 2)).map(\.id)
    try expect(both.count == 2 && rest.isEmpty, "What is given back is another's to take.")
    try await one.apply(.subscribe(FeedSubscription(url: "https://z.test/1", at: 21)))
    try await one.apply(.subscribe(FeedSubscription(url: "https://z.test/2", at: 22)))
    try await one.apply(.subscribe(FeedSubscription(url: "https://w.test/", at: 23)))
    let first = try await one.claim(FeedClaim(holder: "E", dueBy: 25, limit: 2)).map(\.id)
    let next = try await other.claim(FeedClaim(holder: "F", dueBy: 25, limit: 2)).map(\.id)
    try expect(
      first == ["https://z.test/1", "https://z.test/2"] && next == ["https://w.test/"],
      "A host is held only where a feed of it is given.")
    let push = try await hub(one, "https://w.test/", token: "token of w")
    let found = try await other.subscription(pushToken: "token of w")
    let none = try await other.subscription(pushToken: "guess\0'")
    try expect(
      found?.id == "https://w.test/" && found?.push == push && none == nil,
      "A subscription is found by the token of its hub's callback.")
  }

  /// Checks a subscription that is removed and added again while a poll of the removed one runs.
  private func checkReturn(_ store: any FeedStore) async throws {
    let id = "https://r.test/feed"
    let added = FeedSubscription(url: id, title: "Again", at: 3)
    try await store.apply(.subscribe(added))
    var earlier = FeedSubscription(url: id)
    earlier.schedule = PollSchedule(url: id, at: 9_000)
    earlier.health.polls = 2
    try await store.apply(
      .polled(FeedPoll(unchanged: earlier, changed: earlier, entries: [], time: 40)))
    let kept = try await store.subscriptions().first { $0.id == id }
    try expect(
      kept == added, "A poll of a subscription that was removed does not change its successor.")
    try await store.apply(.unsubscribe(id: id))
  }

  /// Checks that a feed that has ended is polled again if it is subscribed to again.
  private func checkEnd(_ store: any FeedStore) async throws {
    let id = "https://e.test/feed"
    try await store.apply(.subscribe(FeedSubscription(url: id, at: 3)))
    var ended = FeedSubscription(url: id)
    ended.health.polls = 1
    ended.schedule.polled(PollOutcome(.gone), at: 40, random: 0)
    try await store.apply(
      .polled(FeedPoll(unchanged: ended, changed: ended, entries: [entry(1, "")], time: 40)))
    func kept() async throws -> FeedSubscription? {
      try await store.subscriptions().first { $0.id == id }
    }
    try await expect(kept()?.schedule.state == .ended, "A poll can end a feed.")
    try await store.apply(.subscribe(ended))
    try await expect(
      kept()?.schedule.state == .ended, "A new title alone does not begin an ended feed again.")
    try await store.apply(.subscribe(FeedSubscription(url: id, title: "Again", at: 50)))
    let begun = try await kept()
    let entries = try await store.entries(EntrySelection(subscription: id), at: nil, limit: 9).items
    try expect(
      begun?.schedule == PollSchedule(url: id, at: 50) && begun?.title == "Again"
        && begun?.health.entries == 1 && entries.count == 1,
      "Subscribing again begins an ended feed again, and keeps its entries.")
    try await store.apply(.unsubscribe(id: id))
  }

  /// Checks the deletion of old entries, and that they stay known.
  private func checkRetention(_ store: any FeedStore) async throws {
    let id = "https://k.test/feed"
    try await store.apply(.subscribe(FeedSubscription(url: id)))
    func poll(
      _ numbers: [Int], _ text: String = "", at time: Double, _ rule: EntryRetention
    ) async throws -> FeedEffect {
      let (feed, entries) = (FeedSubscription(url: id), numbers.map { entry($0, text) })
      let poll = FeedPoll(
        unchanged: feed, changed: feed, entries: entries, time: time, retention: rule)
      return try await store.apply(.polled(poll))
    }
    func kept() async throws -> [StoredEntry] {
      try await store.entries(EntrySelection(subscription: id), at: nil, limit: 100).items
    }
    let (three, age) = (EntryRetention(count: 3), EntryRetention(age: .seconds(50)))
    try await expect(
      poll([5, 4, 3, 2, 1], at: 100, three) == FeedEffect(added: 5, removed: 2),
      "Entries beyond the rule are deleted, and counted.")
    try await expect(
      kept().map(\.entry.id) == ["urn:5", "urn:4", "urn:3"], "The newest entries are kept.")
    try await expect(
      poll([5, 4, 3, 2, 1], at: 110, three) == FeedEffect(),
      "An entry that was deleted is not new again.")
    try await expect(
      poll([2, 1], "new", at: 120, EntryRetention()) == FeedEffect(),
      "An entry that was deleted is not changed.")
    try await expect(
      poll([6, 5], at: 140, age) == FeedEffect(added: 1),
      "A young entry is kept, whatever its date.")
    try await expect(
      poll([], at: 160, age) == FeedEffect(removed: 3),
      "Entries are deleted by the time since they were found, also by a poll without entries.")
    try await expect(
      kept().map(\.entry.id) == ["urn:6"], "Only entries beyond the rule are deleted.")
    try await expect(
      poll([6, 5, 4, 3, 2, 1], at: 170, age) == FeedEffect(), "What was deleted by age stays known."
    )
    let unread = EntryRetention(age: .seconds(50), count: 1, keepsUnread: true)
    try await expect(
      poll([7, 6], at: 500, unread) == FeedEffect(added: 1), "Unread entries are kept where asked.")
    try await store.apply(
      .mark(kept().filter { $0.entry.id == "urn:6" }.map(\.number), isRead: true))
    try await expect(
      poll([], at: 510, unread) == FeedEffect(removed: 1),
      "Read entries are deleted where unread ones are kept.")
    try await store.apply(.unsubscribe(id: id))
    try await store.apply(.subscribe(FeedSubscription(url: id)))
    try await expect(
      poll([7, 1], at: 600, EntryRetention()) == FeedEffect(added: 2),
      "A subscription that is removed takes what was deleted with it.")
    try await store.apply(.unsubscribe(id: id))
  }

  /// Checks how many deleted entries are remembered.
  private func checkMemory(_ store: any FeedStore) async throws {
    let id = "https://m.test/feed"
    try await store.apply(.subscribe(FeedSubscription(url: id)))
    let rule = EntryRetention(count: 1)
    let most = EntryRetention.rememberedCount
    func poll(_ numbers: [Int]) async throws -> FeedEffect {
      let (feed, entries) = (FeedSubscription(url: id), numbers.map { entry($0, "") })
      let poll = FeedPoll(
        unchanged: feed, changed: feed, entries: entries, time: 1e6, retention: rule)
      return try await store.apply(.polled(poll))
    }
    let all = Array((1...(most + 10)).reversed())
    let added = try await poll(all)
    let again = try await poll(all)
    try expect(
      added == FeedEffect(added: all.count, removed: all.count - 1) && again == FeedEffect(),
      "All deleted entries that a feed lists are remembered.")
    let (two, later) = (try await poll([all.count, 2]), try await poll([12, 10]))
    try expect(
      two == FeedEffect() && later == FeedEffect(),
      "The last deleted entries are remembered when they are no longer listed.")
    try await expect(
      poll([4]) == FeedEffect(added: 1, removed: 1),
      "Of deleted entries that are no longer listed, only the last are remembered.")
    try await store.apply(.unsubscribe(id: id))
  }

  private func checkHub(_ store: any FeedStore) async throws {
    let id = "https://b.test/feed"
    var later = FeedSubscription(url: id)
    later.schedule = PollSchedule(url: id, at: 9_000)
    later.health.lastPoll = 5_000
    func poll(at time: Double) async throws {
      later.health.polls += 1
      try await store.apply(
        .polled(FeedPoll(unchanged: later, changed: later, entries: [], time: time)))
    }
    try await poll(at: 5_000)
    var push = try await hub(store, id, token: "token")
    func due() async throws -> Double? {
      try await store.subscriptions().first { $0.id == id }?.schedule.nextPoll
    }
    try await expect(due() == 9_000, "A subscription at a hub alone makes no feed due.")
    push.delivered(at: 5_010)
    try await store.apply(.push(push, id: id))
    try await expect(due() == 5_060, "What a hub tells makes the feed due.")
    // A poll that began before the push and ends after it.
    try await poll(at: 5_000)
    try await expect(due() == 5_060, "What a hub tells while a poll runs is not lost by it.")
    later.push = push
    try await poll(at: 6_000)
    try await expect(due() == 9_000, "What a hub told before a poll is done with by it.")
  }

  /// Stores a subscription at a hub, and returns it.
  private func hub(_ store: any FeedStore, _ id: String, token: String) async throws -> FeedPush {
    let push = FeedPush(
      hub: "https://hub.test/", topic: id, token: token, state: .active, requested: 1,
      leaseEnd: 1e12, lastPush: nil)
    try await store.apply(.push(push, id: id))
    return push
  }

  private func checkSubscriptions(_ store: any FeedStore) async throws {
    try await expect(store.subscriptions().isEmpty, "A new store holds no subscription.")
    var first = FeedSubscription(url: "https://a.test/feed", title: "A", at: 5)
    try await store.apply(.subscribe(FeedSubscription(url: "https://b.test/feed")))
    try await store.apply(.subscribe(first))
    try await expect(
      store.subscriptions().map(\.id) == ["https://a.test/feed", "https://b.test/feed"],
      "Subscriptions come in the order of their identifiers.")
    try await expect(
      store.subscriptions().first == first, "A subscription comes back as it was given.")
    first.title = "Other"
    first.folders = ["One", "Two"]
    try await store.apply(.subscribe(first))
    let both = try await store.subscriptions()
    try expect(
      both.first == first && both.count == 2,
      "Subscribing again changes title and folders, and adds nothing.")
  }

  private func checkPolls(_ store: any FeedStore) async throws {
    let effect = try await store.apply(.polled(try await poll(store, [1, 2, 3], at: 100)))
    try expect(effect == FeedEffect(added: 3), "New entries are added, and counted.")
    let again = try await store.apply(.polled(try await poll(store, [1, 2, 3, 4], at: 200)))
    try expect(again == FeedEffect(added: 1), "Entries that are known are not added again.")
    let changed = try await store.apply(.polled(try await poll(store, [2], "new", at: 300)))
    try expect(changed == FeedEffect(changed: 1), "An entry with another text is changed.")
    let nothing = try await store.apply(.polled(try await poll(store, [2], "new", at: 400)))
    try expect(nothing == FeedEffect(), "An entry that is the same is left alone.")
    var moving = try await poll(store, [2], "new", at: 450)
    moving.entries[0].url = "https://a.test/2"
    let moved = try await store.apply(.polled(moving))
    try expect(moved == FeedEffect(changed: 1), "An entry with another address is changed.")
    let subscription = try await store.subscriptions().first
    try expect(
      subscription?.health.entries == 4 && subscription?.health.lastError == "unchanged"
        && subscription?.schedule.url == "https://a.test/feed" && subscription?.title == "Other",
      "A poll keeps the subscription that belongs to what it brought, and the reader's title.")
    let other = FeedSubscription(url: "https://gone.test/feed")
    let foreign = FeedPoll(unchanged: other, changed: other, entries: [entry(9, "")], time: 1)
    let none = try await store.apply(.polled(foreign))
    let count = try await store.subscriptions().count
    try expect(
      none == FeedEffect() && count == 2,
      "A poll of a feed whose subscription is gone does nothing.")
  }

  private func checkPages(_ store: any FeedStore) async throws {
    let whole = try await store.entries(EntrySelection(), at: nil, limit: 100)
    try expect(
      whole.items.map(\.entry.id) == ["urn:4", "urn:3", "urn:2", "urn:1"] && whole.next == nil,
      "Entries come the newest first, each once.")
    try expect(
      whole.items[2].entry.title?.value == "Entry 2 new" && whole.items[2].date == 2,
      "An entry that was changed stays where it was in the order.")
    var (ids, position): ([String?], Position?) = ([], nil)
    for round in 0..<5 {
      let page = try await store.entries(EntrySelection(), at: position, limit: 1)
      ids += page.items.map(\.entry.id)
      position = page.next
      if round == 0 {
        try await store.apply(.polled(try await poll(store, [5], at: 500)))
      }
      if position == nil { break }
    }
    try expect(
      ids == ["urn:4", "urn:3", "urn:2", "urn:1"],
      "Entries that are added while pages are read neither shift nor repeat any.")
    let most = try await store.entries(EntrySelection(), at: nil, limit: .max)
    let least = try await store.entries(EntrySelection(), at: nil, limit: .min)
    try expect(
      most.items.count == 5 && most.next == nil && least.items.count == 1 && least.next != nil,
      "A page has as many entries as there are at most, and one at least.")
    let foreign = try? await store.entries(EntrySelection(), at: "token", limit: 1)
    try expect(foreign == nil, "A position of another listing is refused.")
  }

  private func checkSelections(_ store: any FeedStore) async throws {
    let all = try await store.entries(EntrySelection(), at: nil, limit: 100).items
    let number = all[0].number
    try await store.apply(.mark([number], isRead: true))
    let unread = try await store.entries(EntrySelection(isUnread: true), at: nil, limit: 100).items
    try expect(
      unread.map(\.number) == all.dropFirst().map(\.number),
      "Entries that are marked as read are not among the unread.")
    try await store.apply(.mark([number], isRead: false))
    let marked = try await store.entries(EntrySelection(isUnread: true), at: nil, limit: 100).items
    try expect(marked.count == all.count, "A mark can be taken back.")
    let found = try await store.entries(EntrySelection(text: "ENTRY 3"), at: nil, limit: 100).items
    try expect(found.map(\.entry.id) == ["urn:3"], "Texts are searched without regard to case.")
    let odd = try await store.entries(EntrySelection(text: "100%_'\""), at: nil, limit: 100).items
    try expect(odd.isEmpty, "A text with signs of a query language is a text.")
    let none = EntrySelection(subscription: "https://b.test/feed")
    let other = try await store.entries(none, at: nil, limit: 100).items
    try expect(other.isEmpty, "A selection of one subscription has no entries of another.")
  }

  private func checkRemoval(_ store: any FeedStore) async throws {
    try await store.apply(.unsubscribe(id: "https://a.test/feed"))
    let left = try await store.entries(EntrySelection(), at: nil, limit: 100)
    let rest = try await store.subscriptions().map(\.id)
    try expect(
      left.items.isEmpty && rest == ["https://b.test/feed"],
      "A subscription that ends takes its entries with it.")
  }

  private func checkNulls(_ store: any FeedStore) async throws {
    guard let subscription = try await store.subscriptions().first else { return }
    var (one, other) = (entry(1, "\0 one"), entry(2, "\0 other"))
    (one.id, other.id) = ("p\0one", "p\0other")
    let poll = FeedPoll(
      unchanged: subscription, changed: subscription, entries: [one, other], time: 600)
    let (first, again) = (
      try await store.apply(.polled(poll)), try await store.apply(.polled(poll))
    )
    let found = try await store.entries(EntrySelection(text: "other"), at: nil, limit: 9).items
    try expect(
      first.added == 2 && again == FeedEffect() && found.map(\.entry.id) == ["p\0other"],
      "Texts and identifiers do not end at a NUL.")
  }

  // MARK: Samples

  private func entry(_ number: Int, _ text: String) -> FeedEntry {
    var entry = FeedEntry()
    entry.id = "urn:\(number)"
    entry.title = FeedText(text.isEmpty ? "Entry \(number)" : "Entry \(number) \(text)")
    entry.published = Date(timeIntervalSince1970: Double(number))
    return entry
  }

  /// Returns a poll of the first subscription with these entries, the newest first.
  private func poll(
    _ store: any FeedStore, _ numbers: [Int], _ text: String = "", at time: Double
  ) async throws -> FeedPoll {
    guard let subscription = try await store.subscriptions().first else {
      throw ConformanceFailure("A subscription is kept.", evidence: "It is gone.")
    }
    var (unchanged, changed) = (subscription, subscription)
    unchanged.health.lastError = "unchanged"
    changed.health.lastError = "changed"
    (unchanged.title, changed.title) = ("stale", "stale")
    return FeedPoll(
      unchanged: unchanged, changed: changed,
      entries: numbers.reversed().map { entry($0, text) }, time: time)
  }
}
