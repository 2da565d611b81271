import QuireFeeds
import QuirePostgres

/// The changes of a feed store, within one transaction.
struct PostgresFeedChanges {
  let connection: PostgresConnection

  func apply(_ change: FeedChange) throws -> FeedEffect {
    // All machines share these times, so none is later than the database's.
    let now = try time()
    switch change {
    case .subscribe(let wanted):
      try save(wanted.added(to: subscription(wanted.id)), at: now)
    case .unsubscribe(let id):
      try connection.query("DELETE FROM quire_feed WHERE id = $1", [FeedRecord.storable(id)])
    case .polled(let poll):
      guard let known = try subscription(poll.unchanged.id) else { break }
      if poll.isStored(in: known) { return poll.effect(storedIn: known) }
      guard try isHeld(known, by: poll.holder) else { return FeedEffect(isRefused: true) }
      var effect = FeedEffect()
      // The publisher's first entry is the newest: it gets the greatest number.
      let entries = Array(poll.entries.reversed())
      for start in stride(from: 0, to: entries.count, by: Self.batch) {
        let batch = entries[start..<min(start + Self.batch, entries.count)]
        try save(batch, of: known.id, at: min(poll.time, now), &effect)
      }
      effect.removed = try deleteEntries(
        of: known.id, exceeding: poll.retention, at: min(poll.time, now))
      try forgetDeleted(of: known.id, except: poll.entries)
      try save(poll.subscription(after: effect, known: known), at: now)
      return effect
    case .push(let push, let id):
      guard var known = try subscription(id) else { break }
      known.take(push)
      try save(known, at: now)
    case .mark(let numbers, let isRead):
      let list = "{" + numbers.map(String.init).joined(separator: ",") + "}"
      try connection.query(
        "UPDATE quire_entry SET is_read = $1 WHERE number = ANY ($2::bigint[])",
        [isRead ? "t" : "f", list])
    }
    return FeedEffect()
  }

  /// Returns a subscription, and locks it until the end of the transaction.
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

  private func save(_ subscription: FeedSubscription, at now: Double) throws {
    var subscription = subscription
    subscription.schedule.limitNextPoll(at: now)
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
        try FeedRecord.text(ofSubscription: subscription),
      ])
  }

  // MARK: Entries

  /// The number of entries per statement: few statements with little memory.
  private static let batch = 250

  /// An entry in a JSON list that a statement reads as rows: its key, or everything that is
  /// written.
  private struct EntryRow: Encodable {
    let place: Int
    let kind: String
    let identity: String
    /// The number of the stored entry; nil for a new one.
    var number: String?
    var digest: String?
    var date: String?
    var words: String?
    var body: String?

    /// Whether the entry was deleted, and is only remembered.
    var isDeleted: Bool { number != nil && digest == nil }

    init(_ record: EntryRecord, at place: Int) {
      (self.place, kind, identity) = (place, record.kind, record.identity)
    }

    mutating func write(_ record: EntryRecord) throws {
      (digest, words, body) = (record.digest, record.words, try record.body())
    }
  }

  /// Returns SQL that reads a JSON list as rows with the given members.
  private static func rows(_ parameter: String, _ members: String) -> String {
    "json_to_recordset(\(parameter)::json) AS given (\(members))"
  }

  /// Stores entries with three statements, as if one after the other.
  private func save(
    _ entries: some Collection<FeedEntry>, of feed: String, at now: Double,
    _ effect: inout FeedEffect
  ) throws {
    let records = entries.map(EntryRecord.init)
    let keys = records.enumerated().map { EntryRow($1, at: $0) }
    let known = try stored(keys, of: feed)
    var written: [EntryRow] = []
    // The index in `written` of each entry, by bytes, as the database compares them.
    var places: [[UInt8]: Int] = [:]
    for (key, record) in zip(keys, records) {
      let name = Array("\(key.kind)\0\(key.identity)".utf8)
      let place = places[name]
      let last = place.map { written[$0] } ?? known[key.place]
      if known[key.place]?.isDeleted == true { continue }
      if let last, last.digest == record.digest { continue }
      if last == nil { effect.added += 1 } else { effect.changed += 1 }
      var row = last ?? key
      try row.write(record)
      row.date = row.date ?? "\(record.date(foundAt: now))"
      if let place {
        written[place] = row
      } else {
        places[name] = written.count
        written.append(row)
      }
    }
    try insert(written.filter { $0.number == nil }, into: feed, at: now)
    try update(written.filter { $0.number != nil })
  }

  /// Returns the stored and the deleted entries among `keys`, with number and digest, by place.
  private func stored(_ keys: [EntryRow], of feed: String) throws -> [Int: EntryRow] {
    let found = try connection.query(
      """
      SELECT given.place, entry.number, entry.digest
      FROM \(Self.rows("$2", "place int, kind text, identity text"))
      JOIN quire_entry AS entry ON entry.feed = $1 AND entry.kind = given.kind
        AND md5(entry.identity) = md5(given.identity)
      UNION ALL
      SELECT given.place, deleted.number, NULL
      FROM \(Self.rows("$2", "place int, kind text, identity text"))
      JOIN quire_deleted AS deleted ON deleted.feed = $1
        AND deleted.key = given.kind || md5(given.identity)
      """, [feed, try FeedRecord.text(of: keys)])
    var known: [Int: EntryRow] = [:]
    for row in found {
      guard let place = row[0].flatMap({ Int($0) }) else { continue }
      var key = keys[place]
      (key.number, key.digest) = (row[1], row[2])
      known[place] = key
    }
    return known
  }

  private func insert(_ rows: [EntryRow], into feed: String, at now: Double) throws {
    guard !rows.isEmpty else { return }
    let members =
      "place int, kind text, identity text, digest text, date float8, words text, body text"
    try connection.query(
      """
      INSERT INTO quire_entry (feed, kind, identity, digest, date, found, words, body)
      SELECT $1::text, kind, identity, digest, date, $3::float8, words, body
      FROM \(Self.rows("$2", members)) ORDER BY place
      """, [feed, try FeedRecord.text(of: rows), "\(now)"])
  }

  private func update(_ rows: [EntryRow]) throws {
    guard !rows.isEmpty else { return }
    try connection.query(
      """
      UPDATE quire_entry AS entry
      SET digest = given.digest, words = given.words, body = given.body
      FROM \(Self.rows("$1", "number bigint, digest text, words text, body text"))
      WHERE entry.number = given.number
      """, [try FeedRecord.text(of: rows)])
  }

  // MARK: Deleted entries

  /// Deletes the entries that exceed a rule, remembers them, and returns their number.
  private func deleteEntries(
    of feed: String, exceeding rule: EntryRetention, at now: Double
  ) throws -> Int {
    var conditions: [(sql: String, value: String)] = []
    if let deadline = rule.deadline(at: now) {
      // No entry is found before its date, by which the index finds the few that may be deleted.
      conditions.append(("date < $2::float8 AND found < $2::float8", "\(deadline)"))
    }
    if let count = rule.count {
      let last = """
        (date, number) < (SELECT date, number FROM quire_entry WHERE feed = $1
          ORDER BY date DESC, number DESC LIMIT 1 OFFSET $2::bigint)
        """
      conditions.append((last, "\(count - 1)"))
    }
    let unread = rule.keepsUnread ? " AND is_read" : ""
    return try conditions.reduce(0) { deleted, condition in
      let rows = try connection.query(
        """
        WITH gone AS (
          DELETE FROM quire_entry WHERE feed = $1 AND \(condition.sql)\(unread)
          RETURNING number, kind, identity)
        INSERT INTO quire_deleted (number, feed, key)
        SELECT number, $1::text, kind || md5(identity) FROM gone
        RETURNING number
        """, [feed, condition.value])
      return deleted + rows.count
    }
  }

  /// Forgets the deleted entries that the feed no longer lists, except those found last.
  private func forgetDeleted(of feed: String, except listed: [FeedEntry]) throws {
    guard !listed.isEmpty else { return }
    // Most feeds have so few that all are remembered: the keys of the entries need not be sent.
    let isOver = try !connection.query(
      "SELECT FROM quire_deleted WHERE feed = $1 OFFSET \(EntryRetention.rememberedCount) LIMIT 1",
      [feed]
    ).isEmpty
    guard isOver else { return }
    let keys = listed.enumerated().map { EntryRow(EntryRecord($1), at: $0) }
    try connection.query(
      """
      DELETE FROM quire_deleted WHERE number IN (
        SELECT number FROM quire_deleted
        WHERE feed = $1 AND key NOT IN (
          SELECT kind || md5(identity) FROM \(Self.rows("$2", "kind text, identity text")))
        ORDER BY number DESC OFFSET \(EntryRetention.rememberedCount))
      """, [feed, try FeedRecord.text(of: keys)])
  }

  // MARK: Leases

  /// Whether the holder still has the lease of a feed's host; locks it until the end of the
  /// transaction.
  private func isHeld(_ subscription: FeedSubscription, by holder: String?) throws -> Bool {
    guard let holder else { return true }
    return try !connection.query(
      "SELECT FROM quire_host WHERE name = $1 AND holder = $2 FOR SHARE",
      [FeedRecord.storable(subscription.host), holder]
    ).isEmpty
  }

  /// A poll this many seconds ahead was scheduled by a wrong clock: a month is more than a week of
  /// `Retry-After` and a week of days to skip.
  private static let farthest = 2_678_400.0

  /// Whether a feed is due by `$2` and by the database's clock, which a machine may be far ahead of.
  /// A minute allows for clocks that merely differ.
  private static let isDue = """
    (due <= least($2::float8, \(clock) + 60) OR (due > \(clock) + \(farthest) AND due < 'infinity'))
    """

  func claim(_ claim: FeedClaim) throws -> [FeedSubscription] {
    let lease = "\(claim.lease / .seconds(1))"
    let working = try FeedRecord.text(of: claim.working.map(FeedRecord.storable).sorted())
    // In one order, so that two aggregators that renew do not deadlock.
    try connection.query(
      """
      UPDATE quire_host SET until = clock_timestamp() + $2::float8 * interval '1 second'
      WHERE name IN (SELECT name FROM quire_host WHERE holder = $1
        AND name IN (SELECT json_array_elements_text($3::json)) ORDER BY name FOR UPDATE)
      """, [claim.holder, lease, working])
    let feeds = try dueFeeds(ofHosts: try lockFreeHosts(claim, working), claim)
    let taken = Set(feeds.compactMap { $0.host }).sorted()
    try connection.query(
      """
      UPDATE quire_host SET holder = $1,
        until = clock_timestamp() + $2::float8 * interval '1 second'
      WHERE name IN (SELECT json_array_elements_text($3::json))
      """, [claim.holder, lease, try FeedRecord.text(of: taken)])
    return feeds.map { $0.subscription }
  }

  /// Locks as many hosts as the claim may need and returns their names, so that other claims find
  /// the rest.
  private func lockFreeHosts(_ claim: FeedClaim, _ working: String) throws -> [String] {
    try connection.query(
      """
      SELECT h.name FROM quire_host h
      JOIN (SELECT host, min(due) AS due FROM quire_feed WHERE \(Self.isDue) GROUP BY host) f
        ON f.host = h.name
      WHERE (h.until <= clock_timestamp() OR h.holder = $1)
        AND h.name NOT IN (SELECT json_array_elements_text($3::json))
      ORDER BY f.due, h.name LIMIT $4::bigint FOR UPDATE OF h SKIP LOCKED
      """, [claim.holder, "\(claim.dueBy)", working, "\(claim.limit)"]
    ).compactMap { $0[0] }
  }

  private func dueFeeds(
    ofHosts hosts: [String], _ claim: FeedClaim
  ) throws -> [(subscription: FeedSubscription, host: String?, now: Double)] {
    try connection.query(
      """
      SELECT body, host, \(Self.clock) FROM quire_feed
      WHERE host IN (SELECT json_array_elements_text($1::json)) AND \(Self.isDue)
      ORDER BY due, id LIMIT $3::bigint
      """, [try FeedRecord.text(of: hosts), "\(claim.dueBy)", "\(claim.limit)"]
    ).map { row in
      (
        subscription: try FeedRecord.value(of: FeedSubscription.self, row[0] ?? ""), host: row[1],
        now: row[2].flatMap { Double($0) } ?? 0
      )
    }.filter { feed in
      // A feed that its own rules postpone so far is not due.
      let schedule = feed.subscription.schedule
      return schedule.nextPoll <= feed.now + Self.farthest || schedule.isDue(at: feed.now)
    }
  }
}
