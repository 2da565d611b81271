import Foundation
import GRDB
public import QuireCore
public import QuireFeeds

/// A feed store in an SQLite file, for an aggregator of one process.
///
/// ```swift
/// let store = try SQLiteFeedStore(path: "feeds.sqlite")
/// ```
/// Every change is made in one transaction, alone or with others, with a write-ahead log: a process
/// that is killed leaves the store as it was before or after a change. Other processes may read the
/// file meanwhile. The table `feed` has subscriptions as JSON, `entry` has entries as JSON Feed
/// items, and `deleted` what is remembered of entries that `EntryRetention` has deleted.
public struct SQLiteFeedStore: FeedStore {
  private let pool: DatabasePool
  private let changes: FeedChangeQueue

  /// Opens the file, or creates it, readable only by its owner.
  ///
  /// Throws `PageError.Code.feedStore` if the file cannot be used, or if another version
  /// has created its tables in another form.
  public init(path: String) throws {
    let descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if descriptor >= 0 { Foundation.close(descriptor) }
    var configuration = Configuration()
    configuration.busyMode = .timeout(30)
    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = NORMAL") }
    do {
      pool = try DatabasePool(path: path, configuration: configuration)
      try pool.write { try Self.prepare($0) }
      changes = FeedChangeQueue(pool) { try Self.apply($0, $1) }
    } catch {
      throw PageError.ofFeedStore(error)
    }
  }

  /// The version of the tables.
  private static let form = 2

  private static func prepare(_ database: Database) throws {
    let found = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
    guard [0, form].contains(found) else {
      throw PageError(
        .feedStore, "The file has the form \(found), and this version of Quire reads \(form).",
        attempts: 0)
    }
    guard found == 0 else { return }
    try database.execute(
      sql: """
          CREATE TABLE feed (id TEXT PRIMARY KEY NOT NULL, body TEXT NOT NULL);
          CREATE TABLE entry (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            feed TEXT NOT NULL REFERENCES feed (id) ON DELETE CASCADE,
            kind TEXT NOT NULL, identity TEXT NOT NULL, digest TEXT NOT NULL,
            date REAL NOT NULL, found REAL NOT NULL, isRead INTEGER NOT NULL DEFAULT 0,
            words TEXT NOT NULL, body TEXT NOT NULL, UNIQUE (feed, kind, identity));
          CREATE TABLE deleted (
            number INTEGER PRIMARY KEY NOT NULL,
            feed TEXT NOT NULL REFERENCES feed (id) ON DELETE CASCADE,
            key TEXT NOT NULL, UNIQUE (feed, key));
          CREATE INDEX entryByDate ON entry (date, number);
          CREATE INDEX entryByFeed ON entry (feed, date, number);
          CREATE INDEX entryUnread ON entry (date, number) WHERE isRead = 0;
          PRAGMA user_version = \(form);
        """)
  }

  /// Returns all subscriptions, ordered by identifier.
  public func subscriptions() async throws -> [FeedSubscription] {
    try await read { database in
      try String.fetchAll(database, sql: "SELECT body FROM feed ORDER BY id").map {
        try FeedRecord.value(of: FeedSubscription.self, $0)
      }
    }
  }

  /// Makes a change, atomically.
  @discardableResult
  public func apply(_ change: FeedChange) async throws -> FeedEffect {
    do {
      return try await changes.apply(change)
    } catch {
      throw PageError.ofFeedStore(error)
    }
  }

  private static func apply(_ change: FeedChange, _ database: Database) throws -> FeedEffect {
    switch change {
    case .subscribe(let wanted):
      try save(wanted.added(to: subscription(wanted.id, database)), database)
    case .unsubscribe(let id):
      try database.execute(sql: "DELETE FROM feed WHERE id = ?", arguments: [id])
    case .polled(let poll):
      guard var known = try subscriptionBeforePoll(poll.unchanged.id, database) else { break }
      if poll.isOfEarlierSubscription(than: known) {
        known = try subscription(known.id, database) ?? known
      }
      var effect = FeedEffect()
      // The publisher's first entry is the newest: it gets the greatest number.
      for entry in poll.entries.reversed() {
        try save(EntryRecord(entry), of: known.id, at: poll.time, &effect, database)
      }
      effect.removed = try deleteEntries(
        of: known.id, exceeding: poll.retention, at: poll.time, database)
      try forgetDeleted(of: known.id, except: poll.entries, database)
      try save(poll.subscription(after: effect, known: known), database)
      return effect
    case .push(let push, let id):
      guard var known = try subscription(id, database) else { break }
      known.take(push)
      try save(known, database)
    case .mark(let numbers, let isRead):
      for number in numbers {
        try database.execute(
          sql: "UPDATE entry SET isRead = ? WHERE number = ?", arguments: [isRead, number])
      }
    }
    return FeedEffect()
  }

  private static func subscription(
    _ id: String, _ database: Database
  ) throws -> FeedSubscription? {
    try String.fetchOne(database, sql: "SELECT body FROM feed WHERE id = ?", arguments: [id]).map {
      try FeedRecord.value(of: FeedSubscription.self, $0)
    }
  }

  /// Reads only the part of a subscription that a poll does not replace, because reading all of it
  /// takes longer than the rest of a poll without new entries.
  private static func subscriptionBeforePoll(_ id: String, _ database: Database) throws
    -> FeedSubscription?
  {
    let row = try Row.fetchOne(
      database.cachedStatement(
        sql: """
          SELECT json_extract(body, '$.title') AS title, json_extract(body, '$.folders') AS folders,
            json_extract(body, '$.push') AS push, json_extract(body, '$.health.entries') AS entries,
            json_extract(body, '$.health.polls') AS polls
          FROM feed WHERE id = ?
          """), arguments: [id])
    guard let row else { return nil }
    var known = FeedSubscription(url: id, title: row["title"])
    if let folders = row["folders"] as String?, folders != "[]" {
      known.folders = try FeedRecord.value(of: [String].self, folders)
    }
    known.push = try (row["push"] as String?).map { try FeedRecord.value(of: FeedPush.self, $0) }
    known.health.entries = row["entries"] ?? 0
    known.health.polls = row["polls"] ?? 0
    return known
  }

  private static func save(_ subscription: FeedSubscription, _ database: Database) throws {
    try database.cachedStatement(
      sql: """
        INSERT INTO feed (id, body) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET body = excluded.body
        """
    ).execute(arguments: [subscription.id, try FeedRecord.text(ofSubscription: subscription)])
  }

  private static func save(
    _ entry: EntryRecord, of feed: String, at now: Double, _ effect: inout FeedEffect,
    _ database: Database
  ) throws {
    let known = try Row.fetchOne(
      database.cachedStatement(
        sql: "SELECT number, digest FROM entry WHERE feed = ? AND kind = ? AND identity = ?"),
      arguments: [feed, entry.kind, entry.identity])
    if let known, known["digest"] == entry.digest { return }
    if let known {
      try database.cachedStatement(
        sql: "UPDATE entry SET digest = ?, words = ?, body = ? WHERE number = ?"
      ).execute(
        arguments: [entry.digest, entry.words, try entry.body(), known["number"] as Int64])
      effect.changed += 1
    } else if try !isDeleted(entry, of: feed, database) {
      try database.cachedStatement(
        sql: """
          INSERT INTO entry (feed, kind, identity, digest, date, found, words, body)
          VALUES (?, ?, ?, ?, ?, ?, ?, ?)
          """
      ).execute(
        arguments: [
          feed, entry.kind, entry.identity, entry.digest, entry.date(foundAt: now), now,
          entry.words, try entry.body(),
        ])
      effect.added += 1
    }
  }

  // MARK: Deleted entries

  private static func isDeleted(
    _ entry: EntryRecord, of feed: String, _ database: Database
  ) throws -> Bool {
    try Row.fetchOne(
      database.cachedStatement(sql: "SELECT 1 FROM deleted WHERE feed = ? AND key = ?"),
      arguments: [feed, entry.key]) != nil
  }

  /// Deletes the entries that exceed a rule, remembers them, and returns their number.
  private static func deleteEntries(
    of feed: String, exceeding rule: EntryRetention, at now: Double, _ database: Database
  ) throws -> Int {
    var conditions: [(sql: String, arguments: StatementArguments)] = []
    if let deadline = rule.deadline(at: now) {
      // No entry is found before its date, by which the index finds the few that may be deleted.
      conditions.append(("date < ? AND found < ?", [deadline, deadline]))
    }
    if let count = rule.count {
      let last = """
        (date, number) < (SELECT date, number FROM entry WHERE feed = ?
          ORDER BY date DESC, number DESC LIMIT 1 OFFSET ?)
        """
      conditions.append((last, [feed, count - 1]))
    }
    let unread = rule.keepsUnread ? " AND isRead = 1" : ""
    var deleted = 0
    for (condition, arguments) in conditions {
      let rows = try Row.fetchAll(
        database,
        sql: "SELECT number, kind, identity FROM entry WHERE feed = ? AND \(condition)\(unread)",
        arguments: [feed] + arguments)
      for row in rows {
        let number: Int64 = row["number"]
        let key = EntryRecord.key(kind: row["kind"], identity: row["identity"])
        try database.cachedStatement(
          sql: "INSERT OR REPLACE INTO deleted (number, feed, key) VALUES (?, ?, ?)"
        ).execute(arguments: [number, feed, key])
        try database.cachedStatement(sql: "DELETE FROM entry WHERE number = ?")
          .execute(arguments: [number])
      }
      deleted += rows.count
    }
    return deleted
  }

  /// Forgets the deleted entries that the feed no longer lists, except those found last.
  private static func forgetDeleted(
    of feed: String, except listed: [FeedEntry], _ database: Database
  ) throws {
    guard !listed.isEmpty else { return }
    let isAny = try Row.fetchOne(
      database.cachedStatement(sql: "SELECT 1 FROM deleted WHERE feed = ?"), arguments: [feed])
    guard isAny != nil else { return }
    let keys = try FeedRecord.text(of: listed.map { EntryRecord($0).key })
    try database.cachedStatement(
      sql: """
        DELETE FROM deleted WHERE number IN (
          SELECT number FROM deleted
          WHERE feed = ? AND key NOT IN (SELECT value FROM json_each(?))
          ORDER BY number DESC LIMIT -1 OFFSET \(EntryRetention.rememberedCount))
        """
    ).execute(arguments: [feed, keys])
  }

  /// Returns a page of entries, newest first.
  public func entries(
    _ selection: EntrySelection, at position: Position?, limit: Int
  ) async throws -> Page<StoredEntry> {
    var conditions: [String] = []
    var arguments: StatementArguments = []
    if let position {
      let place = try StoredEntry.place(position)
      conditions.append("(date, number) < (?, ?)")
      arguments += [place.date, place.number]
    }
    if let feed = selection.subscription {
      conditions.append("feed = ?")
      arguments += [feed]
    }
    if selection.isUnread { conditions.append("isRead = 0") }
    if let text = selection.text?.lowercased(), !text.isEmpty {
      conditions.append("instr(words, ?) > 0")
      arguments += [text]
    }
    // One entry more than requested shows whether there is a next page.
    arguments += [StoredEntry.fetchLimit(forPageOf: limit)]
    let filter = conditions.isEmpty ? "" : "WHERE " + conditions.joined(separator: " AND ")
    let sql = """
      SELECT number, feed, date, isRead, body FROM entry \(filter)
      ORDER BY date DESC, number DESC LIMIT ?
      """
    let found = try await read { [arguments] database in
      try Row.fetchAll(database, sql: sql, arguments: arguments).map { row in
        StoredEntry(
          number: row["number"], subscription: row["feed"], date: row["date"],
          isRead: row["isRead"], entry: try FeedRecord.value(of: FeedEntry.self, row["body"]))
      }
    }
    return StoredEntry.page(of: found, limit: limit)
  }

  private func read<Value: Sendable>(
    _ work: @escaping @Sendable (Database) throws -> Value
  ) async throws -> Value {
    do {
      return try await pool.read(work)
    } catch {
      throw PageError.ofFeedStore(error)
    }
  }
}
