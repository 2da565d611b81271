import Foundation
import GRDB
import QuireCore
import QuireFeeds
import QuireFeedsSQLite
import QuireTesting
import Testing

@Suite struct SQLiteFeedStoreTests {
  private func withPath(_ body: (String) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("quire-feeds-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await body(folder.appendingPathComponent("feeds.sqlite").path)
  }

  @Test("17-Aggregator: the store in SQLite keeps the promises of stores, opened anew too")
  func conformance() async throws {
    try await withPath { path in
      try await FeedStoreConformance { try SQLiteFeedStore(path: path) }.check()
      let permissions = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
      #expect(permissions as? Int == 0o600)
    }
  }

  @Test(
    "17-Aggregator: everything that is known of a subscription and an entry outlives the process")
  func persistence() async throws {
    try await withPath { path in
      let parsed = try ParsedFeed(
        Array(
          #"""
          {"version": "https://jsonfeed.org/version/1.1", "title": "T", "items": [
          {"id": "1", "title": "Ä & <b>", "content_html": "<p>x</p>", "tags": ["a"],
          "date_published": "2026-11-22T10:00:00Z", "attachments": [{"url": "https://a.test/1.mp3",
          "mime_type": "audio/mpeg", "size_in_bytes": 5}]}]}
          """#.utf8), url: "https://a.test/feed")
      var subscription = FeedSubscription(url: "https://a.test/feed", title: "Mine", folders: ["F"])
      subscription.feed = parsed.feed
      subscription.schedule.polled(PollOutcome(.gone), at: 10, random: 0)
      var entry = parsed.entries[0]
      entry.raw = nil
      do {
        let store = try SQLiteFeedStore(path: path)
        try await store.apply(.subscribe(subscription))
        let poll = FeedPoll(
          unchanged: subscription, changed: subscription, entries: parsed.entries, time: 2e9)
        try await store.apply(.polled(poll))
      }
      let store = try SQLiteFeedStore(path: path)
      subscription.health.entries = 1
      #expect(try await store.subscriptions() == [subscription])
      let page = try await store.entries(EntrySelection(text: "ä &"), at: nil, limit: 5)
      #expect(page.items.map(\.entry) == [entry])
    }
  }

  @Test("17-Aggregator: a file of another form is refused")
  func otherForm() async throws {
    try await withPath { path in
      _ = try SQLiteFeedStore(path: path)
      try await DatabaseQueue(path: path).write { try $0.execute(sql: "PRAGMA user_version = 3") }
      #expect(throws: PageError.self) { try SQLiteFeedStore(path: path) }
    }
  }

  @Test("17-Aggregator: a store that is asked by a cancelled task throws the cancellation itself")
  func cancellation() async throws {
    try await withPath { path in
      let store = try SQLiteFeedStore(path: path)
      let asking = Task {
        while !Task.isCancelled { await Task.yield() }
        return try await store.subscriptions()
      }
      asking.cancel()
      await #expect(throws: CancellationError.self) { try await asking.value }
    }
  }

  @Test("17-Aggregator: a file that is no store, or of a later version, is refused with a reason")
  func otherFiles() async throws {
    try await withPath { path in
      try Data("not a database, and long enough to be seen as none of them".utf8)
        .write(to: URL(fileURLWithPath: path))
      #expect(throws: PageError.self) { try SQLiteFeedStore(path: path) }
      #expect(throws: PageError.self) { try SQLiteFeedStore(path: path + "/no/folder") }
    }
  }
}
