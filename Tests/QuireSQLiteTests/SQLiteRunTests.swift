import Foundation
import GRDB
import QuireCore
import QuireExport
import QuireJSON
import QuirePagination
@testable import QuireSQLite
import QuireTesting
import Synchronization
import TestSupport
import Testing

@Suite struct SQLiteRunTests {
  @Test(
    "16-Exact: an export into a table that failed goes on behind what was committed, at every page")
  func goesOn() async throws {
    for page in 1...4 {
      let tables = try Tables()
      let source = ScriptedSource(sizes: 2, 2, 2, 2)
      source.fail(page)
      let export = Export(Cursor(source), to: tables.sink())
      await #expect(throws: PageError.self) { try await export.run() }
      try await export.run()
      #expect(try tables.rows("SELECT value FROM t ORDER BY rowid") == (0..<8).map { "i\($0)" })
      let requests = source.requests
      #expect(try await "\(export.run().end)" == "already complete")
      #expect(source.requests == requests)
    }
  }

  @Test("Q1: a database whose journal cannot be opened is named, and what to do")
  func journalNotOpened() async throws {
    let tables = try Tables()
    // A folder in its place is refused as a lack of descriptors is.
    try FileManager.default.createDirectory(
      atPath: tables.path + "-journal", withIntermediateDirectories: false)
    let error = await #expect(throws: SinkError.self) {
      try await tables.write(tables.sink(), [#"{"id":1}"#])
    }
    #expect(error?.code == .writeFailed)
    #expect(error?.message.contains("open more files") == true)
  }

  @Test("An export that waits for another program's lock ends when it is stopped")
  func stopsWaiting() async throws {
    let tables = try Tables()
    var configuration = Configuration()
    configuration.allowsUnsafeTransactions = true
    let other = try DatabaseQueue(path: tables.path, configuration: configuration)
    try other.inDatabase { try $0.execute(sql: "BEGIN IMMEDIATE") }
    let source = ScriptedSource(sizes: 2, 2)
    let export = Export(Cursor(source), to: tables.sink())
    let task = Task { await export.outcome() }
    try await source.wait { $0.requests == [1, 2] }
    try await Task.sleep(for: .milliseconds(500))
    task.cancel()
    let report = await task.value
    #expect("\(report.end)" == "cancelled")
    try other.inDatabase { try $0.execute(sql: "ROLLBACK") }
    try await export.run()
    #expect(try tables.rows("SELECT value FROM t ORDER BY rowid") == (0..<4).map { "i\($0)" })
  }

  @Test("16-Key: a later item takes the place of the one with its key, whole, where that one stood")
  func replacesByKey() async throws {
    let tables = try Tables()
    let sink = tables.sink(key: "/id")
    #expect(sink.mode == .upsert)
    try await tables.write(
      sink, [#"{"id":1,"a":"x","b":1}"#, #"{"id":2,"a":"y"}"#, #"{"id":1,"a":"z"}"#])
    #expect(try tables.rows("SELECT * FROM t") == ["i1|z|null", "i2|y|null"])
    try await tables.write(sink, [#"{"id":"n","a":"s"}"#, #"{"id":2,"c":3}"#])
    #expect(try tables.rows("SELECT id, a, c FROM t") == ["1|z|null", "2|null|i3", "n|s|null"])
    #expect(try tables.rows("PRAGMA integrity_check") == ["ok"])
  }

  @Test("16-Key: keys can have parts and lie deeper, and an item without its key is refused")
  func hasPartsOfKeys() async throws {
    let tables = try Tables()
    let sink = tables.sink(key: ["/n", "/repo/id"])
    try await tables.write(
      sink, [#"{"n":1,"repo":{"id":5},"t":"a"}"#, #"{"n":1,"repo":{"id":6},"t":"b"}"#],
      [#"{"n":1,"repo":{"id":5},"t":"c"}"#])
    #expect(try tables.rows(#"SELECT n, "repo/id", t FROM t"#) == ["i1|i5|c", "i1|i6|b"])
    for line in [#"{"n":2}"#, #"{"repo":{"id":5}}"#, #"{"n":null,"repo":{"id":5}}"#] {
      await #expect { try await tables.write(sink, [line]) } throws: { SinkError.Code.unfit ~= $0 }
    }
    #expect(try tables.rows("SELECT count(*) FROM t") == ["i2"])
  }

  @Test("16-Key: an item without its key is named, and the pages before it are committed")
  func namesItemWithoutKey() async throws {
    let tables = try Tables()
    for odd in [#"{"a":1}"#, #"{"id":null}"#, "5"] {
      let pages = [[#"{"id":1}"#], [#"{"id":2}"#, odd], [#"{"id":3}"#]]
      let source = ScriptedSource(
        items: try pages.map { try $0.map { try RawItem(Array($0.utf8)) } })
      var export = Export(Cursor(source), to: tables.sink(key: "/id"))
      export.restarts = true
      await #expect {
        try await export.run()
      } throws: {
        SinkError.Code.unfit ~= $0
          && "\($0)".hasPrefix(#"Item 2 of page 2 of this run has nothing at "/id""#)
      }
      #expect(try tables.rows("SELECT id FROM t") == ["i1"])
    }
  }

  @Test("16-Replace: a run that replaces is seen whole or not at all, and keeps indexes and views")
  func replaces() async throws {
    let tables = try Tables()
    let sink = tables.sink(mode: .replace)
    try await tables.write(sink, [#"{"a":1}"#, #"{"a":2}"#])
    try tables.execute("CREATE INDEX mine ON t (a); CREATE VIEW v AS SELECT a FROM t")
    try await tables.write(sink, [#"{"a":3}"#], [#"{"a":4,"b":1}"#], completes: false)
    #expect(try tables.rows("SELECT a FROM v") == ["i1", "i2"])
    try await tables.write(sink, [#"{"a":5}"#])
    #expect(try tables.rows("SELECT a FROM v") == ["i3", "i4", "i5"])
    #expect(try tables.rows("SELECT b FROM t") == ["null", "i1", "null"])
    #expect(
      try tables.rows("SELECT name FROM sqlite_master ORDER BY name") == [
        "_quire", "mine", "sqlite_autoindex__quire_1", "t", "v",
      ])
    try await tables.write(tables.sink("k", key: "/a", mode: .replace), [#"{"a":3}"#])
    for run in 4..<7 {
      try await tables.write(tables.sink("k", key: "/a", mode: .replace), [#"{"a":\#(run)}"#])
      #expect(try tables.rows("SELECT a FROM k") == ["i\(run)"])
    }
  }

  @Test("16-Replace: a run that replaces keeps the columns and indexes that its user has added")
  func keepsForeignColumns() async throws {
    let tables = try Tables()
    let sink = tables.sink(mode: .replace)
    try await tables.write(sink, [#"{"a":1}"#])
    try tables.execute(
      """
      ALTER TABLE t ADD COLUMN [no, te] TEXT DEFAULT 'it''s, (mine';
      ALTER TABLE t ADD COLUMN twice /* a, once more */ AS (a * 2);
      CREATE INDEX mine ON t (twice, [no, te])
      """)
    for run in 2...3 {
      try await tables.write(sink, [#"{"a":\#(run)}"#], [#"{"a":0,"TWICE":"x"}"#])
      #expect(
        try tables.rows(#"SELECT a, "no, te", twice, twice_2 FROM t"#)
          == ["i\(run)|it's, (mine|i\(2 * run)|null", "i0|it's, (mine|i0|x"])
      #expect(try tables.rows("SELECT name FROM pragma_index_list('t')") == ["mine"])
    }
    #expect(try tables.rows("PRAGMA integrity_check") == ["ok"])
  }

  @Test("16-Replace: columns are kept that cannot be added to rows, or were added within a run")
  func keepsForeignColumnsOfRows() async throws {
    let tables = try Tables()
    let sink = tables.sink(mode: .replace)
    try await tables.write(sink, [#"{"a":1}"#])
    try tables.execute(
      """
      CREATE TABLE mine (
        a INTEGER, id INTEGER PRIMARY KEY, code TEXT UNIQUE, -- none, yet
        n NOT NULL DEFAULT 1, noted TEXT DEFAULT CURRENT_TIMESTAMP, more AS (a + n) STORED,
        CHECK (a >= 0));
      INSERT INTO mine (a) SELECT a FROM t;
      DROP TABLE t;
      ALTER TABLE mine RENAME TO t
      """)
    for run in 2...3 {
      try await tables.write(sink, [#"{"a":\#(run)}"#], completes: false)
      try tables.execute("ALTER TABLE t ADD COLUMN late\(run) DEFAULT 'late'")
      try await tables.write(sink, [#"{"a":0}"#])
      #expect(
        try tables.rows("SELECT a, id, code, n, noted IS NULL, more, late2, late\(run) FROM t")
          == [
            "i\(run)|i1|null|i1|i0|i\(run + 1)|late|late", "i0|i2|null|i1|i0|i1|late|late",
          ])
    }
    #expect(try tables.rows("SELECT origin FROM pragma_index_list('t')") == ["u"])
    #expect(try tables.rows("PRAGMA integrity_check") == ["ok"])
  }

  @Test("16-Table, 16-Replace: a column that its user adds within a run stays, whatever items have")
  func keepsLateColumns() async throws {
    let tables = try Tables()
    let replacing = tables.sink(mode: .replace)
    try await tables.write(replacing, [#"{"a":1}"#])
    try await tables.write(replacing, [#"{"a":2,"note":"x"}"#], completes: false)
    try tables.execute(
      "ALTER TABLE t ADD COLUMN NOTE DEFAULT 'mine'; CREATE INDEX mine ON t (NOTE)")
    try await tables.write(replacing, [#"{"a":3,"note":"y"}"#])
    #expect(
      try tables.rows("SELECT a, note, note_2 FROM t ORDER BY a") == ["i2|mine|x", "i3|mine|y"])
    #expect(try tables.rows("SELECT name FROM pragma_index_info('mine')") == ["NOTE"])
    // While a session is open.
    let session = try await tables.sink("k").open(SinkOpening())
    for (number, line) in [#"{"a":1}"#, #"{"a":2,"late":"x"}"#].enumerated() {
      try await session.write(SinkPage([RawItem(Array(line.utf8))]))
      try await session.commit(Checkpoint(sequence: number + 1))
      if number == 0 { try tables.execute("ALTER TABLE k ADD COLUMN late DEFAULT 'mine'") }
    }
    await session.close()
    #expect(try tables.rows("SELECT a, late, late_2 FROM k") == ["i1|mine|null", "i2|mine|x"])
  }

  @Test("16-Exact: to begin anew takes away what was there with the first commit, not before")
  func restarts() async throws {
    let tables = try Tables()
    try await tables.write(tables.sink(), [#"{"a":1}"#])
    let session = try await tables.sink().open(SinkOpening(restarts: true))
    #expect(session.checkpoint == nil)
    try await session.write(SinkPage([try RawItem(Array(#"{"b":1}"#.utf8))]))
    #expect(try tables.rows("SELECT a FROM t") == ["i1"])
    var checkpoint = Checkpoint()
    checkpoint.sequence = 1
    try await session.commit(checkpoint)
    #expect(try tables.columns() == ["b INTEGER"])
    await session.close()
  }

  @Test("16-Exact: to begin anew takes the place of a checkpoint that cannot be read, too")
  func restartsOverDamage() async throws {
    let tables = try Tables()
    try await tables.write(tables.sink(), [#"{"a":1}"#])
    try tables.execute("UPDATE _quire SET checkpoint = 'x'")
    await #expect { try await tables.write(tables.sink(), [#"{"a":2}"#]) } throws: {
      SinkError.Code.damaged ~= $0
    }
    try await tables.write(tables.sink(), [#"{"a":3}"#], restarts: true)
    #expect(try tables.rows("SELECT a FROM t") == ["i3"])
  }

  @Test("16-Lock: a database that a link leads to is its owner's alone, and locked as any other")
  func makesLinkedDatabase() async throws {
    let tables = try Tables()
    let files = FileManager.default
    let real = tables.folder.appending(path: "real")
    try files.createDirectory(at: real, withIntermediateDirectories: true)
    let path = real.appending(path: "y.db").path
    try files.createSymbolicLink(atPath: tables.path, withDestinationPath: path)
    let session = try await tables.sink().open(SinkOpening())
    await #expect {
      _ = try await SQLiteSink(path, table: "t").open(SinkOpening())
    } throws: {
      SinkError.Code.inUse ~= $0
    }
    await session.close()
    let mode = try files.attributesOfItem(atPath: path)[.posixPermissions]
    #expect(mode as? Int == 0o600)
  }

  @Test("16-Lock: a second export into a table is refused, one into another table is not")
  func locks() async throws {
    let tables = try Tables()
    let first = try await tables.sink().open(SinkOpening())
    await #expect { _ = try await tables.sink("T").open(SinkOpening()) } throws: {
      SinkError.Code.inUse ~= $0
    }
    try await tables.write(tables.sink("other"), [#"{"a":1}"#])
    await first.close()
    try await tables.write(tables.sink(), [#"{"a":1}"#])
    #expect(try FileManager.default.contentsOfDirectory(atPath: tables.folder.path) == ["x.db"])
    let mode = try FileManager.default.attributesOfItem(atPath: tables.path)[.posixPermissions]
    #expect(mode as? Int == 0o600)
  }

  @Test(
    "16-Lock: a wait for the lock of another program is told, and ends when the export is stopped")
  func stopsWaitingForLock() async throws {
    let tables = try Tables()
    let reasons = Mutex<[String]>([])
    // Stopped by the first wait that is told.
    var opening = SinkOpening { reasons.withLock { !$0.isEmpty } }
    opening.onWait = { _, error in reasons.withLock { $0.append("\(error)") } }
    let session = try await tables.sink().open(opening)
    try await session.write(SinkPage([try RawItem(Array(#"{"a":1}"#.utf8))]))
    var configuration = Configuration()
    configuration.allowsUnsafeTransactions = true
    let other = try DatabaseQueue(path: tables.path, configuration: configuration)
    try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN EXCLUSIVE") }
    await #expect(throws: CancellationError.self) {
      try await session.commit(Checkpoint(sequence: 1))
    }
    try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
    await session.close()
    let told = reasons.withLock { $0 }
    #expect(told.count == 1 && told[0].contains("keeps the database locked"), "\(told)")
  }

  @Test(
    "16-Table: a table of others', another key, a file that is no database, a lost table: each is named"
  )
  func refuses() async throws {
    let tables = try Tables()
    try tables.execute("CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)")
    func code(_ sink: SQLiteSink) async -> String {
      do {
        await (try sink.open(SinkOpening())).close()
        return "none"
      } catch { return "\((error as? SinkError)?.code.description ?? "\(error)")" }
    }
    #expect(await code(tables.sink("theirs")) == "notOurs")
    try await tables.write(tables.sink(key: "/id"), [#"{"id":1}"#])
    #expect(await code(tables.sink(key: "/n")) == "otherRequest")
    #expect(await code(tables.sink("sqlite_x")) == "unsupported")
    try tables.execute("DROP TABLE t")
    #expect(await code(tables.sink(key: "/id")) == "damaged")
    let text = tables.folder.appending(path: "text.db").path
    try Data("This is no database, but a text of some length.\n".utf8).write(
      to: URL(filePath: text))
    #expect(await code(SQLiteSink(text, table: "t")) == "unsupported")
    #expect(await code(SQLiteSink("/nowhere/x.db", table: "t")) == "writeFailed")
  }

  @Test("16-Table: a table that lacks a column or the index of its key is named before any request")
  func refusesAlteredTable() async throws {
    for change in [
      "ALTER TABLE t DROP COLUMN b", "ALTER TABLE t RENAME COLUMN b TO c",
      "DROP INDEX _quire_key_t",
    ] {
      let tables = try Tables()
      let sink = tables.sink(key: "/id")
      try await tables.write(sink, [#"{"id":1,"b":2}"#], completes: false)
      try tables.execute(change)
      await #expect { _ = try await sink.open(SinkOpening()) } throws: { error in
        SinkError.Code.damaged ~= error && "\(error)".contains("is not as an export left it")
      }
      try await tables.write(sink, [#"{"id":2,"b":3}"#], restarts: true)
      #expect(try tables.rows("SELECT * FROM t") == ["i2|i3"], "\(change)")
    }
    let tables = try Tables()
    try await tables.write(tables.sink(key: "/id"), [#"{"id":1,"b":2}"#], completes: false)
    try tables.execute("ALTER TABLE t ADD COLUMN mine; ALTER TABLE t RENAME COLUMN b TO B")
    try await tables.write(tables.sink(key: "/id"), [#"{"id":2,"b":3}"#])
    #expect(try tables.rows("SELECT * FROM t") == ["i1|i2|null", "i2|i3|null"])
  }

  @Test(
    "16-Table: an item that the columns do not hold as they are changes them, wherever in a page it stands"
  )
  func changesWithinPage() async throws {
    let plain = (0..<6).map { #"{"id":\#($0),"a":1}"# }
    for (odd, rows) in [
      (#"{"id":9,"a":1.5}"#, ["i9|d1.5|null", "i0|i1|null"]),
      (#"{"id":9,"a":"x"}"#, ["i9|x|null", "i0|1|null"]),
      (#"{"id":9,"a":1,"b":2}"#, ["i9|i1|i2", "i0|i1|null"]),
      (#"{"id":9,"b":"\ud800"}"#, ["i9|null|\u{FFFD}", "i0|i1|null"]),
      (#"{"a":1,"id":9,"a":2}"#, ["i9|i1|null", "i0|i1|null"]),
    ] {
      for index in 0...6 {
        let tables = try Tables()
        var page = plain
        page.insert(odd, at: index)
        let sink = tables.sink(key: "/id")
        let session = try await sink.open(SinkOpening())
        for (number, lines) in [[#"{"id":-1,"a":1,"b":null}"#], page, plain].enumerated() {
          try await session.write(SinkPage(lines.map { try RawItem(Array($0.utf8)) }))
          try await session.commit(Checkpoint(sequence: number + 1))
        }
        await session.close()
        #expect(
          try tables.rows("SELECT id, a, b FROM t WHERE id IN (9, 0) ORDER BY id DESC") == rows,
          "\(odd) at \(index)")
        #expect(try tables.rows("SELECT count(*) FROM t") == ["i8"])
      }
    }
    let tables = try Tables()
    try await tables.write(tables.sink(key: "/id"), plain)
    await #expect {
      try await tables.write(tables.sink(key: "/id"), plain + [#"{"a":1}"#])
    } throws: {
      SinkError.Code.unfit ~= $0
    }
  }

  @Test(
    "16-Table: a database that keeps its log ahead of it goes on doing so, and no journal is left")
  func keepsJournalMode() async throws {
    for mode in ["wal", "delete"] {
      let tables = try Tables()
      try tables.execute("PRAGMA journal_mode = \(mode); CREATE TABLE mine (a)")
      try await tables.write(tables.sink(), [#"{"a":1}"#])
      #expect(try tables.rows("PRAGMA journal_mode") == [mode])
      let names = try FileManager.default.contentsOfDirectory(atPath: tables.folder.path)
      #expect(!names.contains("x.db-journal"), "\(names)")
    }
  }

  @Test("16-Table: what a reader sees is whole: no transaction is open between commits")
  func letsOthersRead() async throws {
    let tables = try Tables()
    let session = try await tables.sink().open(SinkOpening())
    let items = try (0..<1000).map { try RawItem(Array(#"{"a":\#($0)}"#.utf8)) }
    try await session.write(SinkPage(items))
    try tables.execute("CREATE TABLE mine (a)")
    var checkpoint = Checkpoint()
    checkpoint.sequence = 1
    try await session.commit(checkpoint)
    try await session.write(SinkPage(items))
    #expect(try tables.rows("SELECT count(*) FROM t") == ["i1000"])
    await session.close()
    #expect(try tables.rows("SELECT count(*) FROM t") == ["i1000"])
  }

  @Test(
    "16-Sinks: a table of SQLite keeps the promises of every sink, whatever its mode",
    arguments: [SinkMode.once, .append, .replace, .upsert])
  func keepsPromises(mode: SinkMode) async throws {
    let tables = try Tables()
    var number = 0
    try await SinkConformance.check {
      number += 1
      let sink = tables.sink(
        "t\(number)", key: mode == .upsert ? "/id" : nil, mode: mode, item: "whole")
      return TableSink(sink, table: "t\(number)")
    } items: { sink in
      let exists = try tables.rows("SELECT name FROM sqlite_master WHERE name = '\(sink.table)'")
      return exists.isEmpty ? [] : try tables.rows("SELECT whole FROM \(sink.table)")
    }
  }
}
