import Foundation
import GRDB
import Quire
import QuireCore
import QuireCurl
import QuireExport
import QuireHTTP
import QuireJSON
import QuirePagination
import QuireSQLite

/// The state of a sync between its runs, in a database beside the sync file: the current round, how
/// each listing ended, the values of parents, and the parents whose listing was read to its end.
/// The position that a listing has reached is stored in its destination alone.
///
/// State is written before the commit of the page that it belongs to, and writing it again changes
/// nothing.
final class SyncState: Sendable {
  /// A parent's item, reduced to the values that its children need.
  struct Parent: Sendable {
    var number: Int
    /// A JSON object of the values, named by `SyncPlaceholder.memberName(in:)`.
    var values: String

    /// The stand-in for the parent of a listing that has none.
    static let none = Parent(number: 0, values: "{}")
  }

  /// A parent's item on a page, to be stored.
  struct StoredParent: Sendable {
    /// The values that its children need, a JSON object.
    let values: String
    /// The item's identity across rounds: its key as a JSON array, or its values if it has no key.
    let item: String

    init(_ values: String, item: String? = nil) {
      self.values = values
      self.item = item ?? values
    }

    /// Creates a mark for an item deleted at the server, for which nothing is read any more. Its
    /// key takes the place of the values; the queries recognise it by the `[` of a JSON array.
    init(gone item: String) {
      (values, self.item) = (item, item)
    }
  }

  /// A parent whose listing was read to its end.
  struct ReadParent: Sendable {
    let values: String
    /// The greatest increment value in the listing; nil for none.
    let greatest: JSONValue?
  }

  /// The stored state of a listing.
  struct Record: Codable, Sendable {
    var name: String
    /// The round in which its last complete run began, and the round in which it last ended, in any
    /// way; 0 for none.
    var completeRound = 0
    var endedRound = 0
    /// The round in which the last run began, if the run reached the end of its parents but was
    /// incomplete: all that it read is in the destination. Nil if the last run was complete.
    var incompleteRound: Int?
    /// The number of the destination's run that this round is to complete; 0 before it began.
    var sinkRun = 0
    /// The number of the destination's run that was the last to reach its end; nil for none.
    var lastSinkRun: Int?
    /// The round in which the run began, under which its items are stored as parents.
    var runRound = 0
    /// Whether the first commit is still to remove the destination's earlier contents.
    var isRestarting = false
    /// The last and the first round whose parents the run reads. The first is set only if runs of
    /// the parent store only changes; otherwise one round has all parents.
    var parentRound = 0
    var firstParentRound: Int?
    /// The last round whose parents a complete run has read.
    var readParentRound: Int?
    /// For a listing that stores only changes: the last round whose items were dropped, and the
    /// last round that stored all items because its destination was empty.
    var droppedRound: Int?
    var fullRound: Int?
    var definition: [String: String] = [:]
    /// The greatest increment value that the last complete run has seen, as JSON. It is for
    /// display; the value in the destination counts.
    var watermark: String?
    /// The last round in which units were planned for several machines; nil for none.
    var planned: Int?
    /// When the run began and when it last ended, in seconds since 1970.
    var began = 0.0
    var ended = 0.0
    /// How the listing last ended; nil if it was never read.
    var outcome: SyncRun.Outcome?

    private enum CodingKeys: String, CodingKey {
      case name, runRound, isRestarting, parentRound, firstParentRound, definition, watermark
      case planned, began, ended, outcome, lastSinkRun
      case completeRound = "done"
      case endedRound = "tried"
      case incompleteRound = "reached"
      case sinkRun = "run"
      case readParentRound = "read"
      case droppedRound = "dropped"
      case fullRound = "whole"
    }

    init(name: String) { self.name = name }

    /// Creates the state of a listing that is to begin anew.
    init(restarting name: String) { (self.name, isRestarting) = (name, true) }

    /// The rounds under which parents may be stored that a listing is read for.
    var parentStores: Set<Int> { [completeRound, incompleteRound ?? completeRound, runRound] }

    /// The rounds whose parents the run reads; empty if it has read all of them.
    var parentRounds: Range<Int> {
      min(firstParentRound ?? parentRound, parentRound + 1)..<parentRound + 1
    }

    /// Returns the last round whose items `child` reads. Only in mode `upsert` may that be an
    /// incomplete round: a listing that is replaced needs all items, and one that is read once has
    /// no later round for the missing ones.
    func lastRound(for child: SyncListing) -> Int {
      child.destination.mode == .upsert ? incompleteRound ?? completeRound : completeRound
    }

    /// Returns the last round of `parent` whose items a complete run has read; 0 for another
    /// parent.
    func readParentRound(of parent: String?) -> Int {
      definition["for"] == parent ? readParentRound ?? 0 : 0
    }

    /// Whether the state knows no run of the listing that has opened its destination.
    var isNew: Bool {
      completeRound == 0 && incompleteRound == nil && sinkRun == 0 && lastSinkRun == nil
    }
    /// Whether the next read continues an unfinished run.
    var isUnfinished: Bool { sinkRun > 0 || began > ended }
    /// Whether it does so on several machines, where each unit has a run of its own.
    var hasUnfinishedUnits: Bool { runRound > completeRound }
  }

  /// The names of the database's tables, which no listing may use.
  static let tables = ["round", "listings", "parents", "seen"]

  /// Returns the paths of a state's files: the database, SQLite's temporary files, and the lock.
  static func files(of path: String) -> [String] {
    ["", "-journal", "-wal", "-shm"].map { path + $0 } + [lock(of: path)]
  }

  /// Returns the path of a state's lock, beside the file that links lead to: all links are one
  /// state.
  static func lock(of path: String) -> String { FileSink.resolved(path) + "-lock" }

  private let queue: DatabaseQueue
  private let path: String

  /// Opens or creates the file. Throws `SyncFileError` if it is damaged or not a state, and
  /// `SinkError` for other failures.
  init(_ path: String) throws {
    self.path = path
    do {
      queue = try Self.open(path)
    } catch let error as DatabaseError
      where [.SQLITE_NOTADB, .SQLITE_CORRUPT, .SQLITE_ERROR].contains(error.resultCode)
    {
      throw SyncFileError(
        "state",
        "\(path) is not what a sync has stored, or it is damaged. Restore it, or move it away: then the listings "
          + "that others are read for are read anew.")
    } catch {
      throw SinkError(mapping: error, path)
    }
  }

  private func read<Value>(_ work: (Database) throws -> Value) throws -> Value {
    do { return try queue.read(work) } catch { throw SinkError(mapping: error, path) }
  }

  private func write<Value>(_ work: (Database) throws -> Value) throws -> Value {
    do { return try queue.write(work) } catch { throw SinkError(mapping: error, path) }
  }

  private static func open(_ path: String) throws -> DatabaseQueue {
    // An absolute path, because SQLite gives another meaning to names such as `file:a.db`.
    let path = FileSink.resolved(path)
    let descriptor = Foundation.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if descriptor >= 0 { close(descriptor) }
    var configuration = Configuration()
    configuration.busyMode = .timeout(60)
    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = EXTRA") }
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    // No number of a parent is given twice, because positions name parents by them.
    try queue.write { database in
      try database.execute(
        sql: """
          CREATE TABLE IF NOT EXISTS round (number INTEGER NOT NULL, isOver INTEGER NOT NULL, \
          isPartial INTEGER NOT NULL DEFAULT 0);
          CREATE TABLE IF NOT EXISTS listings (name TEXT PRIMARY KEY, record TEXT NOT NULL);
          CREATE TABLE IF NOT EXISTS parents (number INTEGER PRIMARY KEY AUTOINCREMENT, \
          listing TEXT NOT NULL, round INTEGER NOT NULL, "values" TEXT NOT NULL, item TEXT NOT NULL, \
          UNIQUE (listing, round, item));
          CREATE TABLE IF NOT EXISTS seen (listing TEXT NOT NULL, parent TEXT NOT NULL, \
          round INTEGER NOT NULL, before INTEGER NOT NULL DEFAULT 0, greatest TEXT, \
          PRIMARY KEY (listing, parent)) WITHOUT ROWID;
          CREATE INDEX IF NOT EXISTS parents_by_number ON parents (listing, number);
          CREATE INDEX IF NOT EXISTS parents_by_item ON parents (listing, item, number);
          CREATE INDEX IF NOT EXISTS parents_by_values ON parents (listing, "values", number);
          SELECT number, isOver, isPartial FROM round LIMIT 0; SELECT name, record FROM listings LIMIT 0;
          SELECT listing, parent, round, before, greatest FROM seen LIMIT 0
          """)
    }
    return queue
  }

  // MARK: Rounds

  /// Returns the current round, or begins another where `SyncSnapshot.begins(_:)` says so. `some`
  /// names the listings of a partial run; it is empty for all.
  func beginRound(of some: [String]) throws -> Int {
    let snapshot = try snapshot(of: some)
    guard snapshot.begins(some) else { return snapshot.round }
    try write { database in
      try database.execute(
        sql: "DELETE FROM round; INSERT INTO round (number, isOver, isPartial) VALUES (?, 0, ?)",
        arguments: [snapshot.round + 1, (snapshot.isOver || snapshot.isPartial) && !some.isEmpty])
    }
    return snapshot.round + 1
  }

  /// Ends the round, all of whose listings have ended in some way. A partial run ends only a round
  /// of some listings.
  func endRound(isPartial: Bool) throws {
    try write {
      try $0.execute(
        sql: "UPDATE round SET isOver = 1 WHERE isPartial OR NOT ?", arguments: [isPartial])
    }
  }

  func record(_ name: String) throws -> Record {
    try read { try Self.record(name, $0) }
  }

  func save(_ record: Record) throws {
    try write { try Self.save(record, $0) }
  }

  private static func record(_ name: String, _ database: Database) throws -> Record {
    guard
      let text = try String.fetchOne(
        database, sql: "SELECT record FROM listings WHERE name = ?", arguments: [name])
    else { return Record(name: name) }
    return try Record(storedJSON: text)
  }

  private static func save(_ record: Record, _ database: Database) throws {
    try database.execute(
      sql: "INSERT OR REPLACE INTO listings VALUES (?, ?)",
      arguments: [record.name, try record.storedJSON])
  }

  /// Forgets the state of a listing, which then begins anew even if the command stops before
  /// reaching it.
  func restart(_ name: String) throws {
    try write { database in
      for table in ["parents", "seen"] {
        try database.execute(sql: "DELETE FROM \(table) WHERE listing = ?", arguments: [name])
      }
      try Self.save(Record(restarting: name), database)
    }
  }

  // MARK: Parents

  /// Stores parents of the run, the parents whose listing it read to the end, and the record.
  func store(_ record: Record, parents: [StoredParent], finished: [ReadParent]) throws {
    try write { database in
      // A repeated item gets a new number, because the values that came last count.
      let parent = try database.cachedStatement(
        sql: """
          INSERT OR REPLACE INTO parents (listing, round, "values", item) VALUES (?, ?, ?, ?)
          """)
      for noted in parents {
        try parent.execute(arguments: [record.name, record.runRound, noted.values, noted.item])
      }
      let seen = try database.cachedStatement(
        sql: """
          INSERT INTO seen (listing, parent, round, greatest) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE \
          SET before = round, round = excluded.round, greatest = excluded.greatest \
          WHERE round <> excluded.round
          """)
      for parent in finished {
        try seen.execute(
          arguments: [record.name, parent.values, record.runRound, parent.greatest?.description])
      }
      try Self.save(record, database)
    }
  }

  /// The parents of some rounds. An item that several rounds stored appears as stored last, unless
  /// it was deleted by then. Items with the same values are one parent, with the number of the last.
  private static let parents = """
    FROM parents AS noted WHERE listing = :listing AND "values" NOT LIKE '[%' AND \(isLast("noted")) \
    AND NOT EXISTS (SELECT 1 FROM parents AS same WHERE same.listing = noted.listing \
    AND same."values" = noted."values" AND same.number > noted.number AND \(isLast("same")))
    """

  /// Whether a row is the last of its item in some rounds. The `+` keeps SQLite from choosing an
  /// index by round, because the order is that of numbers.
  private static func isLast(_ row: String) -> String {
    """
    +\(row).round BETWEEN :first AND :last AND NOT EXISTS (SELECT 1 FROM parents AS newer \
    WHERE newer.listing = \(row).listing AND newer.item = \(row).item AND newer.number > \(row).number \
    AND +newer.round BETWEEN :first AND :last)
    """
  }

  private static func arguments(
    _ listing: String, _ rounds: Range<Int>, _ number: Int
  ) -> StatementArguments {
    [
      "listing": listing, "first": rounds.lowerBound, "last": rounds.upperBound - 1,
      "number": number,
    ]
  }

  /// Returns the first parent after `number` in some rounds of a listing.
  func parent(
    of listing: String, in rounds: Range<Int>, after number: Int
  ) throws -> Parent? {
    try read { database in
      try Row.fetchOne(
        database,
        sql: """
          SELECT number, "values" \(Self.parents) AND number > :number ORDER BY number LIMIT 1
          """, arguments: Self.arguments(listing, rounds, number)
      ).map { Parent(number: $0[0], values: $0[1]) }
    }
  }

  /// Returns the parent with the values that were stored last for its item, in any round, unless an
  /// item that is there still needs the parent's own.
  func newest(of parent: Parent) throws -> Parent {
    let values = try read { database in
      try String.fetchOne(
        database,
        sql: """
          SELECT newer."values" FROM parents JOIN parents AS newer USING (listing, item) \
          WHERE parents.number = ? AND newer.number > parents.number AND newer."values" NOT LIKE '[%' \
          AND NOT EXISTS (SELECT 1 FROM parents AS same WHERE same.listing = parents.listing \
          AND same."values" = parents."values" AND NOT EXISTS (SELECT 1 FROM parents AS later \
          WHERE later.listing = same.listing AND later.item = same.item AND later.number > same.number)) \
          ORDER BY newer.number DESC LIMIT 1
          """, arguments: [parent.number])
    }
    return Parent(number: parent.number, values: values ?? parent.values)
  }

  /// Returns the number of parents in some rounds, all or those before `number`.
  func countParents(
    of listing: String, in rounds: Range<Int>, before number: Int = .max
  ) throws -> Int {
    try read { database in
      try Int.fetchOne(
        database,
        sql: "SELECT count(*) \(Self.parents) AND number < :number",
        arguments: Self.arguments(listing, rounds, number)) ?? 0
    }
  }

  /// Returns the greatest increment value in the listing of a parent; nil if the child listing's
  /// last run that reached the end of its parents did not read it to its end, or found no value. The
  /// greatest value of all parents does not apply to such a parent.
  func greatest(of values: String, by record: Record) throws -> JSONValue? {
    let last = record.incompleteRound ?? record.completeRound
    guard last > 0 else { return nil }
    let text = try read { database in
      try String.fetchOne(
        database,
        sql: """
          SELECT greatest FROM seen WHERE listing = ? AND parent = ? \
          AND ? = CASE WHEN round = ? THEN before ELSE round END
          """, arguments: [record.name, values, last, record.runRound])
    }
    return try text.map { try JSONValue(parsing: $0) }
  }

  /// Forgets that a run read the listing of a parent to its end.
  func forget(_ values: String, of listing: String) throws {
    try write {
      try $0.execute(
        sql: "DELETE FROM seen WHERE listing = ? AND parent = ?", arguments: [listing, values])
    }
  }

  /// Forgets that runs of a listing read the listings of parents to their end.
  func forgetAll(of listing: String) throws {
    try write { try $0.execute(sql: "DELETE FROM seen WHERE listing = ?", arguments: [listing]) }
  }

  /// Deletes the parents of rounds up to `read`, except those of `rounds`, which runs still need.
  func dropParents(of listing: String, upTo read: Int, keeping rounds: [Int]) throws {
    try write { database in
      let known = try Int.fetchAll(
        database, sql: "SELECT DISTINCT round FROM parents WHERE listing = ?", arguments: [listing])
      for round in known where round <= read && !rounds.contains(round) {
        try database.execute(
          sql: "DELETE FROM parents WHERE listing = ? AND round = ?", arguments: [listing, round])
      }
    }
  }
}

/// The state of a sync's last round and of its listings.
struct SyncSnapshot: Sendable {
  /// The last round; 0 for none.
  var round = 0
  var isOver = true
  /// Whether the round is one of some listings. A run of all listings counts it as over.
  var isPartial = false
  var records: [String: SyncState.Record] = [:]
  /// The number of parents that a listing's last complete run stored, by the listing's name.
  var parents: [String: Int] = [:]
  /// The values of the first parent that a listing stored in a round, by the listing's name and the
  /// round.
  var firstParents: [String: [Int: String]] = [:]

  /// Forgets the state of a listing, as `SyncState.restart` does.
  mutating func restart(_ name: String) {
    records[name] = SyncState.Record(restarting: name)
    firstParents[name] = nil
  }

  func record(_ name: String) -> SyncState.Record { records[name] ?? SyncState.Record(name: name) }

  /// Whether the next run begins another round: the last one is over, or has nothing left for the
  /// listings to read. `some` names the listings of a partial run; it is empty for all.
  func begins(_ some: [String]) -> Bool {
    isOver || (some.isEmpty ? isPartial : some.allSatisfy { record($0).endedRound >= round })
  }
}

extension SyncState {
  /// Returns the state of the last round and of the named listings.
  func snapshot(of names: [String]) throws -> SyncSnapshot {
    var snapshot = SyncSnapshot()
    let row = try read {
      try Row.fetchOne($0, sql: "SELECT number, isOver, isPartial FROM round")
    }
    if let row { (snapshot.round, snapshot.isOver, snapshot.isPartial) = (row[0], row[1], row[2]) }
    for name in names {
      let record = try record(name)
      snapshot.records[name] = record
      snapshot.parents[name] = try countParents(
        of: name, in: record.completeRound..<record.completeRound + 1)
      for round in record.parentStores {
        snapshot.firstParents[name, default: [:]][round] = try parent(
          of: name, in: round..<round + 1, after: -1)?.values
      }
    }
    return snapshot
  }
}

// Changes of a record, shared by syncs on one machine and on several.
extension SyncState.Record {
  /// Begins a run, which reads the parents of rounds up to `parentRound`.
  mutating func begin(_ listing: SyncListing, in round: Int, parentRound: Int) {
    firstParentRound = listing.readsChangedParents ? readParentRound(of: listing.parent) + 1 : nil
    definition = listing.definition
    (runRound, self.parentRound) = (round, parentRound)
    began = Date().timeIntervalSince1970
  }

  /// Accounts for a destination that is empty because it is new or was deleted. Throws `SinkError`
  /// if it would get only the items of changed parents.
  mutating func beginEmpty(_ listing: SyncListing, parent: Self?) throws(SinkError) {
    if let parent, lacksParents(listing, parent) {
      throw SinkError(
        .unfit,
        "The destination has nothing yet, and \(parent.name) is read for what has changed: it would lack the "
          + "items of all others. Begin both anew by --restart --only \(parent.name) --only \(listing.name)."
      )
    }
    if listing.notesChanges { fullRound = runRound }
    lastSinkRun = nil
  }

  /// Throws `SinkError` if a destination is an older copy, as from a backup, which lacks what was
  /// read since for changed parents.
  func checkAge(
    _ checkpoint: Checkpoint, of listing: SyncListing, parent: Self?
  ) throws(SinkError) {
    guard let parent, lacksParents(listing, parent), isAhead(of: checkpoint) else { return }
    throw SinkError(
      .unfit,
      "The destination is older than the state of this sync, and \(parent.name) is read for what has changed: "
        + "it would lack the items of all that changed in between. Begin both anew by --restart --only "
        + "\(parent.name) --only \(listing.name).")
  }

  /// Whether the state knows later runs than a destination, which is an older copy.
  func isAhead(of checkpoint: Checkpoint) -> Bool { checkpoint.run < lastSinkRun ?? 0 }

  /// Whether the run reads changed parents alone.
  private func lacksParents(_ listing: SyncListing, _ parent: Self) -> Bool {
    listing.readsChangedParents && parentRounds.lowerBound > 1
      && !parentRounds.contains(parent.fullRound ?? 0)
  }

  /// Returns the last round whose parents no reader needs, `Int.max` unless the listing stores only
  /// changes, and the rounds that runs still need nevertheless. Remembers the former as dropped.
  mutating func drop(
    _ listing: SyncListing, readBy readers: [Self]
  ) -> (upTo: Int, keeping: [Int]) {
    let kept = readers.map(\.parentRound) + [completeRound, runRound, incompleteRound ?? 0]
    guard listing.notesChanges else { return (.max, kept) }
    // Items are not kept for readers that may be added later.
    let read = readers.map { $0.readParentRound(of: name) }.min() ?? completeRound
    droppedRound = max(droppedRound ?? 0, read)
    return (read, kept)
  }

  /// Records how the listing ended in a round.
  mutating func end(_ outcome: SyncRun.Outcome, of listing: SyncListing, in round: Int) {
    endedRound = round
    ended = max(Date().timeIntervalSince1970, began)
    self.outcome = outcome
    if sinkRun > 0, [.complete, .incomplete].contains(outcome.kind) { lastSinkRun = sinkRun }
    switch outcome.kind {
    case .complete:
      // A listing that is read once keeps its parents under the round that read it.
      if listing.destination.mode != .once || completeRound == 0 { completeRound = runRound }
      (sinkRun, isRestarting, readParentRound, incompleteRound) = (0, false, parentRound, nil)
      watermark = outcome.watermark?.description ?? watermark
    // The next round reads it anew. What is read once has no run after the one that fell short.
    case .incomplete:
      let mode = listing.destination.mode
      if mode == .upsert { incompleteRound = runRound }
      (sinkRun, runRound, isRestarting) = (0, completeRound, mode == .once)
    // The next round goes on with the run.
    case .limited, .failed, .interrupted, .skipped, .running: break
    }
  }
}
