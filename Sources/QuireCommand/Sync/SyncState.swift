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

/// What is known between runs of a sync, in a database beside its file: which round it is in, how each
/// listing ended, the values of parents, and how far increments reach. How far each listing has come is in its
/// destination alone.
///
/// All is written before what it belongs to is committed there, and is the same when it is written again.
final class SyncState: Sendable {
  /// A parent's item, as far as its children need it.
  struct Parent: Sendable {
    var number: Int
    /// The values, as JSON: by placeholders of the ancestor's name and the path.
    var values: String
    /// The number by which the values were noted, where that is a later one.
    var noted: Int?

    /// Stands for the parent of a listing that has none.
    static let none = Parent(number: 0, values: "{}")
  }

  /// What a page says of a parent's item, to be noted.
  struct Noted: Sendable {
    /// The values that its children need, a JSON object.
    let values: String
    /// By what it is the same item in other rounds: its key, a JSON array, or, without one, its values.
    let item: String

    init(_ values: String, item: String? = nil) {
      self.values = values
      self.item = item ?? values
    }

    /// An item that is gone at the server: nothing is read for it any more. Instead of values it has its key.
    init(gone item: String) {
      (values, self.item) = (item, item)
    }
  }

  /// What is known of a listing.
  struct Record: Codable, Sendable {
    var name: String
    /// The round in which its last complete run began, and the round in which it ended last, however it
    /// did; 0 for none.
    var done = 0
    var tried = 0
    /// The round in which the last run began, where that came to the end of its parents and was incomplete: all that
    /// it has read is in the destination. Nil where the last one was complete.
    var reached: Int?
    /// The run of its destination that is to be completed in this round; 0 before it began.
    var run = 0
    /// The round in which the run began, by which its parents are known.
    var runRound = 0
    /// Whether the first commit is still to take away what the destination holds.
    var isRestarting = false
    /// The last round whose parents the run reads, and the first, where runs of the parent note only changes; nil
    /// for the same.
    var parentRound = 0
    var firstParentRound: Int?
    /// The last round whose parents a complete run has read.
    var read: Int?
    /// Of a listing that notes only changes: the last round whose items are not known any more, and the last one
    /// that has noted all items, because its destination was empty.
    var dropped: Int?
    var whole: Int?
    var definition: [String: String] = [:]
    /// The greatest value that the last complete run has seen, as JSON, to be shown; what counts is in the
    /// destination.
    var watermark: String?
    /// The last round in which the units of several machines were noted; nil for none.
    var planned: Int?
    /// When the run began, in seconds since 1970, and when it ended last.
    var began = 0.0
    var ended = 0.0
    /// How it ended last; nil before it was ever read.
    var outcome: SyncRun.Outcome?

    /// The rounds whose parents the run reads; none where it has read all.
    var parentRounds: Range<Int> {
      min(firstParentRound ?? parentRound, parentRound + 1)..<parentRound + 1
    }

    /// The last round whose items a child reads. One that is replaced as a whole needs all of them, and one that
    /// is read once has no later round for those that are missing.
    func lastRound(for child: SyncListing) -> Int {
      child.destination.mode == .upsert ? reached ?? done : done
    }

    /// The last round of a parent whose items a complete run has read.
    func read(of parent: String?) -> Int { definition["for"] == parent ? read ?? 0 : 0 }

    /// Whether its run goes on when it is read next.
    var isUnfinished: Bool { run > 0 || began > ended }
  }

  /// The tables that it makes.
  static let tables = ["round", "listings", "parents", "seen"]

  /// The file of a state, and those that are beside it at times.
  static func files(of path: String) -> [String] {
    ["", "-journal", "-wal", "-shm"].map { path + $0 } + [lock(of: path)]
  }

  /// The lock of a state, which is beside the file that links lead to: all of them are one state.
  static func lock(of path: String) -> String { FileSink.resolved(path) + "-lock" }

  private let queue: DatabaseQueue
  private let path: String

  /// Opens or makes the file. Throws `SyncFileError` for one that is something else, or damaged.
  init(_ path: String) throws {
    self.path = path
    do {
      queue = try Self.open(path)
    } catch let error as DatabaseError
      where [.SQLITE_NOTADB, .SQLITE_CORRUPT, .SQLITE_ERROR].contains(error.resultCode)
    {
      throw SyncFileError(
        "state",
        "\(path) is not what a sync has stored, or it is damaged. Restore it, or move it away: then all is read "
          + "anew.")
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
    // From the root: SQLite has other uses for names such as `file:a.db`.
    let path = FileSink.resolved(path)
    let descriptor = Foundation.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    if descriptor >= 0 { close(descriptor) }
    var configuration = Configuration()
    configuration.busyMode = .timeout(60)
    configuration.prepareDatabase { try $0.execute(sql: "PRAGMA synchronous = EXTRA") }
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    try queue.write { database in
      try database.execute(
        sql: """
          CREATE TABLE IF NOT EXISTS round (number INTEGER NOT NULL, isOver INTEGER NOT NULL, \
          isPartial INTEGER NOT NULL DEFAULT 0);
          CREATE TABLE IF NOT EXISTS listings (name TEXT PRIMARY KEY, record TEXT NOT NULL);
          CREATE TABLE IF NOT EXISTS parents (number INTEGER PRIMARY KEY, listing TEXT NOT NULL, \
          round INTEGER NOT NULL, "values" TEXT NOT NULL, UNIQUE (listing, round, "values"));
          CREATE INDEX IF NOT EXISTS parents_by_number ON parents (listing, number);
          DROP INDEX IF EXISTS parents_in_order;
          CREATE TABLE IF NOT EXISTS seen (listing TEXT NOT NULL, parent TEXT NOT NULL, \
          round INTEGER NOT NULL, before INTEGER NOT NULL DEFAULT 0, \
          PRIMARY KEY (listing, parent)) WITHOUT ROWID
          """)
      if try !database.columns(in: "round").contains(where: { $0.name == "isPartial" }) {
        try database.execute(
          sql: "ALTER TABLE round ADD COLUMN isPartial INTEGER NOT NULL DEFAULT 0")
      }
      if try !database.columns(in: "seen").contains(where: { $0.name == "before" }) {
        try database.execute(sql: "ALTER TABLE seen ADD COLUMN before INTEGER NOT NULL DEFAULT 0")
      }
      if try !database.columns(in: "parents").contains(where: { $0.name == "item" }) {
        try database.execute(
          sql: "ALTER TABLE parents ADD COLUMN item TEXT; UPDATE parents SET item = \"values\"")
      }
      try database.execute(
        sql: """
          CREATE INDEX IF NOT EXISTS parents_by_item ON parents (listing, item, number);
          SELECT number, isOver FROM round LIMIT 0; SELECT name, record FROM listings LIMIT 0;
          SELECT listing, round, "values" FROM parents LIMIT 0; SELECT listing, parent, round FROM seen LIMIT 0
          """)
    }
    return queue
  }

  // MARK: Rounds

  /// The round that goes on, or a new one, as `SyncKnown.begins` says: for all listings, or for `some` of them.
  func beginRound(of some: [String] = []) throws -> Int {
    let known = try known(some)
    guard known.begins(some) else { return known.round }
    try write { database in
      try database.execute(
        sql: "DELETE FROM round; INSERT INTO round (number, isOver, isPartial) VALUES (?, 0, ?)",
        arguments: [known.round + 1, (known.isOver || known.isPartial) && !some.isEmpty])
    }
    return known.round + 1
  }

  /// All listings of the round have ended, however they did, or, where `isPartial`, those of a round of some.
  func endRound(isPartial: Bool = false) throws {
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
    return try JSONDecoder().decode(Record.self, from: Data(text.utf8))
  }

  private static func save(_ record: Record, _ database: Database) throws {
    let text = String(decoding: try JSONEncoder().encode(record), as: UTF8.self)
    try database.execute(
      sql: "INSERT OR REPLACE INTO listings VALUES (?, ?)", arguments: [record.name, text])
  }

  /// Forgets what is known of a listing, which begins anew: also where the command is stopped before it comes to it.
  func restart(_ name: String) throws {
    try write { database in
      for table in ["parents", "seen"] {
        try database.execute(sql: "DELETE FROM \(table) WHERE listing = ?", arguments: [name])
      }
      var record = Record(name: name)
      record.isRestarting = true
      try Self.save(record, database)
    }
  }

  // MARK: Parents

  /// Notes parents of the run, those whose listing it has read to its end, and the record.
  func note(_ record: Record, parents: [Noted], finished: [String]) throws {
    try write { database in
      // What comes again gets a new number: of an item's values, those that came last count.
      let parent = try database.cachedStatement(
        sql: """
          INSERT OR REPLACE INTO parents (listing, round, "values", item) VALUES (?, ?, ?, ?)
          """)
      for noted in parents {
        try parent.execute(arguments: [record.name, record.runRound, noted.values, noted.item])
      }
      let seen = try database.cachedStatement(
        sql: """
          INSERT INTO seen (listing, parent, round) VALUES (?, ?, ?) ON CONFLICT DO UPDATE \
          SET before = round, round = excluded.round WHERE round <> excluded.round
          """)
      for values in finished {
        try seen.execute(arguments: [record.name, values, record.runRound])
      }
      try Self.save(record, database)
    }
  }

  /// The parents of rounds, those that several of them have noted once, as the last one did; without those that are
  /// gone by then. `+` keeps the rounds out of the choice of an index: the order is that of numbers.
  private static let parents = """
    FROM parents AS noted WHERE listing = :listing AND +round BETWEEN :first AND :last \
    AND "values" NOT LIKE '[%' AND NOT EXISTS (SELECT 1 FROM parents WHERE listing = noted.listing \
    AND item = noted.item AND number > noted.number AND +round BETWEEN :first AND :last)
    """

  private static func arguments(
    _ listing: String, _ rounds: Range<Int>, _ number: Int
  ) -> StatementArguments {
    [
      "listing": listing, "first": rounds.lowerBound, "last": rounds.upperBound - 1,
      "number": number,
    ]
  }

  /// The first parent of a listing's rounds behind a number.
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

  /// The parent with the values that were noted of its item last, in whatever round.
  func newest(of parent: Parent) throws -> Parent {
    let number = try read { database in
      try Int.fetchOne(
        database,
        sql: """
          SELECT max(newer.number) FROM parents JOIN parents AS newer USING (listing, item) \
          WHERE parents.number = ? AND newer.number > parents.number AND newer."values" NOT LIKE '[%'
          """, arguments: [parent.number])
    }
    return try number.map { try self.parent(parent, notedAs: $0) } ?? parent
  }

  /// The parent with the values that have a number, or its own where they are not known any more.
  func parent(_ parent: Parent, notedAs number: Int) throws -> Parent {
    let values = try read { database in
      try String.fetchOne(
        database, sql: "SELECT \"values\" FROM parents WHERE number = ?", arguments: [number])
    }
    return values.map { Parent(number: parent.number, values: $0, noted: number) } ?? parent
  }

  /// How many parents of rounds there are, all or those before a number.
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

  /// Whether the last run of a child's listing that came to the end of its parents has read it to its end for one of
  /// them: what increments have reached since then is no news of others.
  func hasSeen(_ values: String, by record: Record) throws -> Bool {
    let last = record.reached ?? record.done
    guard last > 0 else { return false }
    return try read { database in
      try Bool.fetchOne(
        database,
        sql: """
          SELECT EXISTS (SELECT 1 FROM seen WHERE listing = ? AND parent = ? \
          AND ? = CASE WHEN round = ? THEN before ELSE round END)
          """, arguments: [record.name, values, last, record.runRound]) ?? false
    }
  }

  /// Forgets that a run has read the listing of a parent to its end.
  func forget(_ values: String, of listing: String) throws {
    try write {
      try $0.execute(
        sql: "DELETE FROM seen WHERE listing = ? AND parent = ?", arguments: [listing, values])
    }
  }

  /// Drops the parents of rounds that no run needs any more: but for some, all up to the last one that is read.
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

/// What is known between runs, to be shown.
struct SyncKnown: Sendable {
  /// The last round; 0 where none was.
  var round = 0
  var isOver = true
  /// Whether it is one of some listings, which is over for those who read all.
  var isPartial = false
  var records: [String: SyncState.Record] = [:]
  /// How many parents a listing's last complete run has noted.
  var parents: [String: Int] = [:]

  func record(_ name: String) -> SyncState.Record { records[name] ?? SyncState.Record(name: name) }

  /// Whether the next run of all listings, or of `some`, begins another round: where the last one is over, or has
  /// nothing left for them.
  func begins(_ some: [String]) -> Bool {
    isOver || (some.isEmpty ? isPartial : some.allSatisfy { record($0).tried >= round })
  }
}

extension SyncState {
  /// What is known of listings.
  func known(_ names: [String]) throws -> SyncKnown {
    var known = SyncKnown()
    let row = try read {
      try Row.fetchOne($0, sql: "SELECT number, isOver, isPartial FROM round")
    }
    if let row { (known.round, known.isOver, known.isPartial) = (row[0], row[1], row[2]) }
    for name in names {
      let record = try record(name)
      known.records[name] = record
      known.parents[name] = try countParents(of: name, in: record.done..<record.done + 1)
    }
    return known
  }
}

// How a record changes, on one machine and on several.
extension SyncState.Record {
  /// A run begins, which reads the parents of a round of theirs.
  mutating func begin(_ listing: SyncListing, in round: Int, parentRound: Int) {
    firstParentRound = listing.readsChangedParents ? read(of: listing.parent) + 1 : nil
    definition = listing.definition
    (runRound, self.parentRound) = (round, parentRound)
    began = Date().timeIntervalSince1970
  }

  /// The destination has nothing yet, because it is another one or was taken away. Throws where it would get the
  /// items of those parents alone that have changed.
  mutating func beginEmpty(_ listing: SyncListing, parent: Self?) throws(SinkError) {
    if listing.readsChangedParents, let parent, parentRounds.lowerBound > 1,
      !parentRounds.contains(parent.whole ?? 0)
    {
      throw SinkError(
        .unfit,
        "The destination has nothing yet, and \(parent.name) is read for what has changed: it would lack the "
          + "items of all others. Begin both anew by --restart --only \(parent.name) --only \(listing.name)."
      )
    }
    if listing.notesChanges { whole = runRound }
  }

  /// Up to which round no reader needs the parents that the listing has noted, but for those of a round that
  /// one is in the middle of.
  mutating func drop(_ listing: SyncListing, readBy readers: [Self]) -> Int {
    guard listing.notesChanges else { return .max }
    // What has no reader yet is not kept for one.
    let read = readers.map { $0.read(of: name) }.min() ?? done
    dropped = max(dropped ?? 0, read)
    return read
  }

  /// The listing ended in a round, however it did.
  mutating func end(_ outcome: SyncRun.Outcome, of listing: SyncListing, in round: Int) {
    tried = round
    ended = max(Date().timeIntervalSince1970, began)
    self.outcome = outcome
    switch outcome.kind {
    case .complete:
      // One that is read once has its parents where it was read.
      if listing.destination.mode != .once || done == 0 { done = runRound }
      (run, isRestarting, read, reached) = (0, false, parentRound, nil)
      watermark = outcome.watermark?.description ?? watermark
    // The next round reads it anew.
    case .incomplete:
      if listing.destination.mode == .upsert { reached = runRound }
      (run, runRound, isRestarting) = (0, done, false)
    // The next round goes on with the run.
    case .limited, .failed, .interrupted, .skipped, .running: break
    }
  }
}
