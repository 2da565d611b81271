import QuireFeeds
import QuirePostgres

/// The changes of a store, within a transaction.
struct PostgresFeedChanges {
  let connection: PostgresConnection

  func apply(_ change: FeedChange) throws -> FeedEffect {
    // What one machine notes counts for all: no later time than the database's.
    let now = try time()
    switch change {
    case .subscribe(let wanted):
      try keep(wanted.kept(over: subscription(wanted.id)), at: now)
    case .unsubscribe(let id):
      try connection.query("DELETE FROM quire_feed WHERE id = $1", [FeedRecord.storable(id)])
    case .polled(let poll):
      guard let known = try subscription(poll.unchanged.id) else { break }
      if poll.isKept(in: known) { return poll.effect(keptIn: known) }
      guard try isHeld(known, by: poll.holder) else { return FeedEffect(isRefused: true) }
      var effect = FeedEffect()
      // The publisher's first entry is the newest: it gets the greatest number.
      for entry in poll.entries.reversed() {
        try keep(entry, of: known.id, at: min(poll.time, now), &effect)
      }
      try keep(poll.subscription(after: effect, known: known), at: now)
      return effect
    case .push(let push, let id):
      guard var known = try subscription(id) else { break }
      known.take(push)
      try keep(known, at: now)
    case .mark(let numbers, let isRead):
      let list = "{" + numbers.map(String.init).joined(separator: ",") + "}"
      try connection.query(
        "UPDATE quire_entry SET is_read = $1 WHERE number = ANY ($2::bigint[])",
        [isRead ? "t" : "f", list])
    }
    return FeedEffect()
  }

  /// A subscription, which no other transaction changes until this one ends.
  private func subscription(_ id: String) throws -> FeedSubscription? {
    try connection.query(
      "SELECT body FROM quire_feed WHERE id = $1 FOR UPDATE", [FeedRecord.storable(id)]
    ).first?.first?.map { try FeedRecord.value(of: FeedSubscription.self, $0) }
  }

  /// The database's time, in seconds since 1970.
  private static let clock = "extract(epoch FROM statement_timestamp())::float8"

  private func time() throws -> Double {
    let row = try connection.query("SELECT \(Self.clock)").first
    return row?.first?.flatMap { Double($0) } ?? .infinity
  }

  private func keep(_ subscription: FeedSubscription, at now: Double) throws {
    var subscription = subscription
    subscription.schedule.bring(backTo: now)
    let (host, schedule) = (FeedRecord.storable(subscription.host), subscription.schedule)
    let due = schedule.state == .ended ? "infinity" : "\(schedule.nextPoll)"
    try connection.query(
      """
      WITH host AS (INSERT INTO quire_host (name) VALUES ($2) ON CONFLICT DO NOTHING)
      INSERT INTO quire_feed (id, host, due, token, body) VALUES ($1, $2, $3::float8, $4, $5)
      ON CONFLICT (id) DO UPDATE
      SET host = excluded.host, due = excluded.due, token = excluded.token, body = excluded.body
      """,
      [
        FeedRecord.storable(subscription.id), host, due, subscription.push?.token,
        try FeedRecord.text(of: subscription),
      ])
  }

  private func keep(
    _ entry: FeedEntry, of feed: String, at now: Double, _ effect: inout FeedEffect
  ) throws {
    var entry = entry
    entry.raw = nil
    let (kind, digest) = (entry.identity.kind.rawValue, entry.digest)
    let identity = FeedRecord.storable(entry.identity.value)
    let known = try connection.query(
      """
      SELECT number, digest FROM quire_entry
      WHERE feed = $1 AND kind = $2 AND md5(identity) = md5($3)
      """, [feed, kind, identity]
    ).first
    if let known, known[1] == digest { return }
    let shown = StoredEntry(number: 0, subscription: feed, date: 0, entry: entry)
    let words = FeedRecord.storable(shown.searchText)
    let body = try FeedRecord.text(of: entry)
    if let known {
      try connection.query(
        "UPDATE quire_entry SET digest = $1, words = $2, body = $3 WHERE number = $4::bigint",
        [digest, words, body, known[0]])
      effect.changed += 1
    } else {
      try connection.query(
        """
        INSERT INTO quire_entry (feed, kind, identity, digest, date, words, body)
        VALUES ($1, $2, $3, $4, $5::float8, $6, $7)
        """,
        [
          feed, kind, identity, digest, "\(StoredEntry.date(of: entry, foundAt: now))", words, body,
        ])
      effect.added += 1
    }
  }

  // MARK: Leases

  /// Whether the host of a feed is still the holder's, until this transaction ends.
  private func isHeld(_ subscription: FeedSubscription, by holder: String?) throws -> Bool {
    guard let holder else { return true }
    return try !connection.query(
      "SELECT FROM quire_host WHERE name = $1 AND holder = $2 FOR SHARE",
      [FeedRecord.storable(subscription.host), holder]
    ).isEmpty
  }

  func claim(_ claim: FeedClaim) throws -> [FeedSubscription] {
    let lease = "\(claim.lease / .seconds(1))"
    // By the database's clock too, which a machine may be far ahead of; a minute is for clocks that just differ.
    let due = "due <= least($2::float8, \(Self.clock) + 60)"
    let working = try FeedRecord.text(of: claim.working.map(FeedRecord.storable).sorted())
    // In one order, so that two that renew do not wait for each other.
    try connection.query(
      """
      UPDATE quire_host SET until = clock_timestamp() + $2::float8 * interval '1 second'
      WHERE name IN (SELECT name FROM quire_host WHERE holder = $1
        AND name IN (SELECT json_array_elements_text($3::json)) ORDER BY name FOR UPDATE)
      """, [claim.holder, lease, working])
    // Locked are as many hosts as may be needed, so that others who claim now find the rest; taken are those of
    // the feeds.
    let free = try connection.query(
      """
      SELECT h.name FROM quire_host h
      JOIN (SELECT host, min(due) AS due FROM quire_feed WHERE \(due) GROUP BY host) f
        ON f.host = h.name
      WHERE (h.until <= clock_timestamp() OR h.holder = $1)
        AND h.name NOT IN (SELECT json_array_elements_text($3::json))
      ORDER BY f.due, h.name LIMIT $4::bigint FOR UPDATE OF h SKIP LOCKED
      """, [claim.holder, "\(claim.dueBy)", working, "\(claim.limit)"]
    ).compactMap { $0[0] }
    let feeds = try connection.query(
      """
      SELECT body, host FROM quire_feed
      WHERE host IN (SELECT json_array_elements_text($1::json)) AND \(due)
      ORDER BY due, id LIMIT $3::bigint
      """, [try FeedRecord.text(of: free), "\(claim.dueBy)", "\(claim.limit)"])
    let taken = Set(feeds.compactMap { $0[1] }).sorted()
    try connection.query(
      """
      UPDATE quire_host SET holder = $1,
        until = clock_timestamp() + $2::float8 * interval '1 second'
      WHERE name IN (SELECT json_array_elements_text($3::json))
      """, [claim.holder, lease, try FeedRecord.text(of: taken)])
    return try feeds.map { try FeedRecord.value(of: FeedSubscription.self, $0[0] ?? "") }
  }
}
