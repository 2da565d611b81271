import QuireCore
import QuireExport

/// The work on a table and on the row of a unit in `_quire_units`, within one transaction.
struct PostgresUnits {
  /// The statements that create this table and the table of checkpoints. They are run in a
  /// transaction of their own: inside those of units, they could deadlock.
  static let tables =
    PostgresLedger.tables + """
      ;
      CREATE TABLE IF NOT EXISTS _quire_units ("table" text NOT NULL, work text NOT NULL, unit text NOT NULL, \
      token bigint NOT NULL, round bigint NOT NULL DEFAULT 0, checkpoint text);
      CREATE UNIQUE INDEX IF NOT EXISTS _quire_units_unit ON _quire_units ("table", work, md5(unit));
      REVOKE ALL ON _quire_units FROM PUBLIC
      """
  /// The `listing` of a table's own checkpoint, which shows that its items are those of units.
  private static let listing = ["units": "leased"]

  private let sink: PostgresSink
  private let lease: Lease
  private let connection: PostgresConnection
  private let ledger: PostgresLedger

  init(_ sink: PostgresSink, _ lease: Lease, _ connection: PostgresConnection) {
    self.sink = sink
    self.lease = lease
    self.connection = connection
    ledger = PostgresLedger(sink: sink, connection: connection)
  }

  // MARK: Units

  /// Makes the lease the latest of the unit. Returns the unit's checkpoint, and whether it is
  /// complete in this round.
  func open() throws -> (checkpoint: Checkpoint?, isDone: Bool) {
    try lockTable()
    try check(try ledger.read())
    let row = try takeOver()
    return (row.checkpoint, row.checkpoint?.isComplete == true && row.round >= lease.round)
  }

  /// Writes items and the unit's checkpoint, unless they were committed before.
  func commit(_ items: [TableItem], _ checkpoint: Checkpoint, behind last: Checkpoint?) throws {
    try lockTable()
    let row = try connection.query(
      """
      SELECT token, checkpoint FROM _quire_units WHERE "table" = $1 AND work = $2 AND md5(unit) = \
      md5($3) FOR UPDATE
      """, [sink.table, lease.work, lease.unit]
    ).first
    guard let row, row[0] == "\(lease.token)" else { throw lost }
    let line = String(decoding: checkpoint.bytes, as: UTF8.self)
    // This commit succeeded before, but its answer was lost.
    if row[1] == line { return }
    guard try row[1].map({ try Checkpoint(bytes: $0.utf8) }) == last else { throw lost }
    try ledger.create()
    let record = try ledger.read(locking: true)
    try check(record)
    var table = try PostgresTable(
      ledger, isStaged: record?.staged != nil, stored: record?.staged ?? record?.columns)
    try table.insert(items)
    let isNew = record?.checkpoint.listing != Self.listing
    if isNew || table.columns != record?.staged ?? record?.columns {
      try ledger.write(
        isNew ? next(record) : record?.checkpoint ?? next(nil), table.columns,
        isStaged: record?.staged != nil)
    }
    try connection.query(
      """
      UPDATE _quire_units SET checkpoint = $4, round = CASE WHEN $5 = 'true' THEN $6::bigint ELSE round \
      END WHERE "table" = $1 AND work = $2 AND md5(unit) = md5($3)
      """,
      [
        sink.table, lease.work, lease.unit, line, "\(checkpoint.isComplete)", "\(lease.round)",
      ])
  }

  /// Removes the unit's checkpoint, unless a later lease has opened the unit.
  func forget() throws {
    try connection.query(
      """
      UPDATE _quire_units SET checkpoint = NULL WHERE "table" = $1 AND work = $2 AND md5(unit) = md5($3) \
      AND token = $4::bigint
      """, [sink.table, lease.work, lease.unit, "\(lease.token)"])
  }

  /// Takes two locks until the end of the transaction: one by which units change columns in turn,
  /// and one that excludes an export of the whole table. Throws `.inUse` if there is one.
  private func lockTable() throws {
    let key = "hashtextextended('quire ' || current_schema() || '.' || $1, 0)"
    try connection.query("SELECT pg_advisory_xact_lock(\(key) # 1)", [sink.table])
    let taken = try connection.query(
      "SELECT pg_try_advisory_xact_lock_shared(\(key))", [sink.table])
    guard taken.first?.first == "t" else {
      throw SinkError(
        .inUse,
        "An export of the whole table \(sink.table) is writing to it: units would be repeated. Wait for "
          + "it, or end it.")
    }
  }

  private func check(_ record: LedgerRow?) throws {
    try ledger.check(record)
    guard let checkpoint = record?.checkpoint, !checkpoint.isComplete,
      checkpoint.listing != Self.listing
    else { return }
    throw SinkError(
      .otherRequest,
      "The table \(sink.table) has an unfinished export of one machine. Finish it, or begin anew.")
  }

  /// Stores the lease's token in the unit's row, and returns the row. Throws `.leaseLost` if a
  /// later lease has opened the unit.
  private func takeOver() throws -> (checkpoint: Checkpoint?, round: Int) {
    let row = try connection.query(
      """
      INSERT INTO _quire_units AS known ("table", work, unit, token) VALUES ($1, $2, $3, $4::bigint) \
      ON CONFLICT ("table", work, md5(unit)) DO UPDATE SET token = excluded.token \
      WHERE known.token <= excluded.token RETURNING checkpoint, round
      """, [sink.table, lease.work, lease.unit, "\(lease.token)"]
    ).first
    guard let row else { throw lost }
    return (
      try row[0].map { try Checkpoint(bytes: $0.utf8) }, row[1].flatMap { Int($0) } ?? 0
    )
  }

  private var lost: SinkError {
    SinkError(
      .leaseLost,
      "Another worker has the unit \(ServerText(lease.unit)) of \(ServerText(lease.work)): this one was "
        + "away for longer than its lease. What it had not committed is left to the other.")
  }

  // MARK: Rounds

  /// Returns the table's own checkpoint for the beginning of a round.
  private func next(_ record: LedgerRow?) -> Checkpoint {
    var next = Checkpoint(
      sequence: (record?.checkpoint.sequence ?? 0) + 1, run: (record?.checkpoint.run ?? 0) + 1,
      listing: Self.listing)
    next.memory = ["round": .number("\(lease.round)"), "work": .string(lease.work)]
    return next
  }

  private func isBegun(_ record: LedgerRow?) -> Bool {
    let memory = record?.checkpoint.memory
    return memory?["round"]?.integer == lease.round && memory?["work"]?.string == lease.work
  }

  /// Begins a round, unless that was done before. Returns whether the table has no items of earlier
  /// rounds.
  func begin(restarts: Bool, forgetsUnits: Bool) throws -> Bool {
    try lockTable()
    let row = try takeOver()
    try ledger.create()
    let stored = try ledger.read(locking: true)
    guard row.round < lease.round else { return stored == nil }
    let record = restarts ? nil : stored
    if restarts { try ledger.removeAll() } else { try check(record) }
    try ledger.checkTable(record)
    if restarts || forgetsUnits { try forgetUnits() }
    // An earlier round that was never completed is discarded.
    if sink.mode == .replace, let record, record.checkpoint.isComplete || !isBegun(record) {
      try ledger.dropStaged()
      try forgetUnits()
      var staged = try PostgresTable(ledger, isStaged: true, stored: record.columns, exists: false)
      try staged.insert([])
      try ledger.write(next(record), staged.columns, isStaged: true)
    } else if let record, !isBegun(record) {
      try ledger.write(
        next(record), record.staged ?? record.columns, isStaged: record.staged != nil)
    }
    try connection.query(
      """
      UPDATE _quire_units SET round = $4::bigint WHERE "table" = $1 AND work = $2 AND md5(unit) = md5($3)
      """, [sink.table, lease.work, lease.unit, "\(lease.round)"])
    return record == nil
  }

  /// Removes the rows of all other units, whose items are gone or will be read again.
  private func forgetUnits() throws {
    try connection.query(
      "DELETE FROM _quire_units WHERE \"table\" = $1 AND NOT (work = $2 AND md5(unit) = md5($3))",
      [sink.table, lease.work, lease.unit])
  }

  /// Completes the round, unless that was done before.
  func end() throws {
    try lockTable()
    _ = try takeOver()
    try ledger.create()
    guard let record = try ledger.read(locking: true) else {
      // No unit had an item: readers find an empty table nevertheless.
      var table = try PostgresTable(ledger, isStaged: false, stored: nil)
      try table.insert([])
      var checkpoint = next(nil)
      (checkpoint.position, checkpoint.listing) = (nil, [:])
      return try ledger.write(checkpoint, table.columns, isStaged: false)
    }
    guard !record.checkpoint.isComplete else { return }
    try check(record)
    var table = try PostgresTable(
      ledger, isStaged: record.staged != nil, stored: record.staged ?? record.columns)
    if record.staged != nil { try table.takePlace(of: record.columns) }
    var checkpoint = record.checkpoint
    checkpoint.sequence += 1
    (checkpoint.position, checkpoint.listing) = (nil, [:])
    try ledger.write(checkpoint, table.columns, isStaged: false)
  }
}
