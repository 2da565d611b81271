public import QuireCore
public import QuireFeeds
import QuirePostgres

/// Subscriptions and entries in a database of PostgreSQL, for aggregators on several machines.
///
/// ```swift
/// let store = PostgresFeedStore("postgres://reader@database.example/feeds")
/// ```
/// Each aggregator has a store of its own on the same database. What is due is shared by leases on hosts
/// (`FOR UPDATE SKIP LOCKED`), so that each host is asked by one machine at a time. Every change is one
/// transaction. Tables, in the first schema of the search path: `quire_feed`, `quire_host`, `quire_entry`. A store
/// has one connection, which is made at first use. Where it is lost, an aggregator waits until the server is
/// there again, with growing delays; every other call waits two minutes at most.
public struct PostgresFeedStore: SharedFeedStore {
  private let database: FeedDatabase

  /// A store at what libpq connects to: a URL or words, completed by the environment (`PGPASSWORD`, …).
  ///
  /// Every call throws `PageError.Code.feedStore` where the database cannot be used, and at once where it was
  /// never reached.
  public init(_ target: String) { database = FeedDatabase(target) }

  /// All subscriptions, in the order of their identifiers.
  public func subscriptions() async throws -> [FeedSubscription] {
    try await database.transaction { connection in
      try connection.query(#"SELECT body FROM quire_feed ORDER BY id COLLATE "C""#).map {
        try FeedRecord.value(of: FeedSubscription.self, $0[0] ?? "")
      }
    }
  }

  /// Makes a change, in one transaction.
  @discardableResult
  public func apply(_ change: FeedChange) async throws -> FeedEffect {
    // What a poll brought is not asked for again.
    let isPoll = if case .polled = change { true } else { false }
    return try await database.transaction(patience: isPoll ? nil : PostgresDatabase.patience) {
      try PostgresFeedChanges(connection: $0).apply(change)
    }
  }

  /// Takes subscriptions that are due, with their hosts; leases count by the database's clock.
  public func claim(_ claim: FeedClaim) async throws -> [FeedSubscription] {
    // An aggregator that leaves, and wants nothing, does not wait: its leases end by themselves.
    let isLeaving = claim.limit == 0 && claim.dueBy <= 0
    return try await database.transaction(patience: isLeaving ? .zero : nil) {
      try PostgresFeedChanges(connection: $0).claim(claim)
    }
  }

  /// The subscription whose hub calls back by this token.
  public func subscription(pushToken: String) async throws -> FeedSubscription? {
    try await database.transaction { connection in
      try connection.query(
        "SELECT body FROM quire_feed WHERE token = $1", [FeedRecord.storable(pushToken)]
      ).first.map { try FeedRecord.value(of: FeedSubscription.self, $0[0] ?? "") }
    }
  }

  /// A page of entries, the newest first.
  public func entries(
    _ selection: EntrySelection, at position: Position?, limit: Int
  ) async throws -> Page<StoredEntry> {
    var conditions = ["true"]
    var values: [String?] = []
    func value(_ text: String) -> String {
      values.append(FeedRecord.storable(text))
      return "$\(values.count)"
    }
    if let position {
      let place = try StoredEntry.place(position)
      conditions.append(
        "(date, number) < (\(value("\(place.date)"))::float8, \(value("\(place.number)"))::bigint)")
    }
    if let feed = selection.subscription { conditions.append("feed = \(value(feed))") }
    if selection.isUnread { conditions.append("NOT is_read") }
    if let text = selection.text?.lowercased(), !text.isEmpty {
      conditions.append("position(\(value(text)) in words) > 0")
    }
    // One more than is wanted tells whether there is a next page.
    let sql = """
      SELECT number, feed, date, is_read, body FROM quire_entry
      WHERE \(conditions.joined(separator: " AND "))
      ORDER BY date DESC, number DESC LIMIT \(StoredEntry.count(showing: limit))
      """
    let found = try await database.transaction { [values] connection in
      try connection.query(sql, values).map { row in
        StoredEntry(
          number: row[0].flatMap { Int64($0) } ?? 0, subscription: row[1] ?? "",
          date: row[2].flatMap { Double($0) } ?? 0, isRead: row[3] == "t",
          entry: try FeedRecord.value(of: FeedEntry.self, row[4] ?? ""))
      }
    }
    return StoredEntry.page(of: found, limit: limit)
  }
}
