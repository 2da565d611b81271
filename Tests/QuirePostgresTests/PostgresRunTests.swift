import QuirePagination
import Foundation
import QuireCore
import QuireExport
import QuireJSON
import QuirePostgres
import QuireTesting
import Synchronization
import TestSupport
import Testing

@Suite(.disabled(if: Schema.isMissing, Schema.missing)) struct PostgresRunTests {
  @Test("16-Exact: an export into PostgreSQL that failed goes on behind what was committed")
  func goesOn() async throws {
    let schema = try Schema()
    for page in 1...4 {
      let source = ScriptedSource(sizes: 2, 2, 2, 2)
      source.fail(page)
      let export = Export(Cursor(source), to: schema.sink("t\(page)"))
      await #expect(throws: PageError.self) { try await export.run() }
      try await export.run()
      #expect(
        try schema.rows("SELECT value FROM t\(page) ORDER BY value") == (0..<8).map(String.init))
      let requests = source.requests
      #expect(try await "\(export.run().end)" == "already complete")
      #expect(source.requests == requests)
    }
  }

  @Test("16-Key: a later item takes the place of the one with its key in PostgreSQL, whole")
  func replacesByKey() async throws {
    let schema = try Schema()
    let sink = schema.sink(key: "/id")
    try await schema.write(
      sink, [#"{"id":1,"a":"x","b":1}"#, #"{"id":2,"a":"y"}"#, #"{"id":1,"a":"z"}"#])
    #expect(try schema.rows("SELECT * FROM t ORDER BY id") == ["1|z|null", "2|y|null"])
    try await schema.write(sink, [#"{"id":"n","a":"s"}"#, #"{"id":2,"c":3}"#])
    #expect(
      try schema.rows("SELECT id, a, c FROM t ORDER BY id") == ["1|z|null", "2|null|3", "n|s|null"])
    await #expect { try await schema.write(sink, [#"{"a":1}"#]) } throws: {
      SinkError.Code.unfit ~= $0
    }
    let parts = schema.sink("p", key: ["/n", "/repo/id"])
    try await schema.write(
      parts, [#"{"n":1,"repo":{"id":5},"t":"a"}"#, #"{"n":1,"repo":{"id":6},"t":"b"}"#],
      [#"{"n":1,"repo":{"id":5},"t":"c"}"#])
    #expect(try schema.rows(#"SELECT n, "repo/id", t FROM p ORDER BY 2"#) == ["1|5|c", "1|6|b"])
  }

  @Test(
    "16-Replace: a run that replaces in PostgreSQL is seen whole or not at all, under its views")
  func replaces() async throws {
    let schema = try Schema()
    let sink = schema.sink(mode: .replace)
    try await schema.write(sink, [#"{"a":1}"#, #"{"a":2}"#])
    try schema.rows("CREATE VIEW v AS SELECT a FROM t")
    try await schema.write(sink, [#"{"a":3}"#], [#"{"a":4,"b":1}"#], completes: false)
    #expect(try schema.rows("SELECT a FROM v ORDER BY a") == ["1", "2"])
    try await schema.write(sink, [#"{"a":5}"#])
    #expect(try schema.rows("SELECT a FROM v ORDER BY a") == ["3", "4", "5"])
    #expect(try schema.rows("SELECT to_regclass('_quire_staged_t')") == ["null"])
    try await schema.write(schema.sink("r"), [#"{"a":3}"#])
    try await schema.write(schema.sink("r"), [#"{"b":3}"#], restarts: true)
    #expect(try schema.columns("r") == ["b bigint"])
  }

  @Test("16-Lock: a database without a schema to write to is told from one that is in use")
  func lacksSchema() async throws {
    for path in ["", "missing"] {
      let schema = Schema(
        url: try PostgresServer.shared.get().url() + "?options=-csearch_path%3D\(path)")
      await #expect { _ = try await schema.sink().open(SinkOpening()) } throws: {
        SinkError.Code.writeFailed ~= $0 && "\($0)".contains("search_path")
      }
    }
  }

  @Test("A server of PostgreSQL that takes no changes is named before anything is requested")
  func namesReadOnlyServer() async throws {
    let schema = try Schema()
    try await schema.write(schema.sink(), [#"{"a":1}"#], completes: false)
    let standby = Schema(url: schema.url + "%20-cdefault_transaction_read_only%3Don")
    await #expect { _ = try await standby.sink().open(SinkOpening()) } throws: {
      SinkError.Code.writeFailed ~= $0 && "\($0)".contains("takes no changes")
    }
  }

  @Test("16-Lock: a second export into a table of PostgreSQL is refused, one into another is not")
  func locks() async throws {
    let schema = try Schema()
    let first = try await schema.sink().open(SinkOpening())
    await #expect { _ = try await schema.sink().open(SinkOpening()) } throws: {
      SinkError.Code.inUse ~= $0
    }
    try await schema.write(schema.sink("other"), [#"{"a":1}"#])
    await first.close()
    try await schema.write(schema.sink(), [#"{"a":1}"#])
    func code(_ sink: PostgresSink) async -> String {
      do {
        await (try sink.open(SinkOpening())).close()
        return "none"
      } catch { return "\((error as? SinkError)?.code.description ?? "\(error)")" }
    }
    try schema.rows("CREATE TABLE theirs (a int)")
    #expect(await code(schema.sink("theirs")) == "notOurs")
    #expect(await code(schema.sink(key: "/a")) == "otherRequest")
    try schema.rows("DROP TABLE t")
    #expect(await code(schema.sink()) == "damaged")
    #expect(await code(PostgresSink("postgres://127.0.0.1:1/x", table: "t")) == "writeFailed")
  }

  @Test(
    "16-Table: a table of PostgreSQL that lacks a column or its key's index is named before any request"
  )
  func refusesAlteredTable() async throws {
    for change in [
      "ALTER TABLE t DROP COLUMN b", "ALTER TABLE t RENAME COLUMN b TO c", "DROP INDEX t_id_idx",
    ] {
      let schema = try Schema()
      let sink = schema.sink(key: "/id")
      try await schema.write(sink, [#"{"id":1,"b":2}"#], completes: false)
      try schema.rows(change)
      await #expect { _ = try await sink.open(SinkOpening()) } throws: { error in
        SinkError.Code.damaged ~= error && "\(error)".contains("is not as an export left it")
      }
      try await schema.write(sink, [#"{"id":2,"b":3}"#], restarts: true)
      #expect(try schema.rows("SELECT * FROM t") == ["2|3"], "\(change)")
    }
    let schema = try Schema()
    try await schema.write(schema.sink(key: "/id"), [#"{"id":1,"b":2}"#], completes: false)
    try schema.rows("ALTER TABLE t ADD COLUMN mine int NOT NULL DEFAULT 7")
    try await schema.write(schema.sink(key: "/id"), [#"{"id":2,"b":3}"#])
    #expect(try schema.rows("SELECT * FROM t ORDER BY id") == ["1|2|7", "2|3|7"])
  }

  @Test("16-Exact: a server that crashes between commits costs no item and no run")
  func survivesCrash() async throws {
    let server = try PostgresServer()
    defer { server.stop() }
    let schema = Schema(url: server.url())
    let session = try await schema.sink().open(SinkOpening())
    for page in 0..<3 {
      try await session.write(SinkPage([try RawItem(Array(#"{"a":\#(page)}"#.utf8))]))
      if page > 0 { try server.crash() }
      var checkpoint = Checkpoint(sequence: page + 1)
      checkpoint.position = page == 2 ? nil : "p"
      try await session.commit(checkpoint)
    }
    await session.close()
    #expect(try schema.rows("SELECT a FROM t ORDER BY a") == ["0", "1", "2"])
  }

  @Test("16-Exact: to begin anew in PostgreSQL takes the place of a damaged checkpoint, too")
  func restartsOverDamage() async throws {
    let schema = try Schema()
    try await schema.write(schema.sink(), [#"{"a":1}"#])
    try schema.rows("UPDATE _quire SET checkpoint = 'x'")
    await #expect { try await schema.write(schema.sink(), [#"{"a":2}"#]) } throws: {
      SinkError.Code.damaged ~= $0
    }
    try await schema.write(schema.sink(), [#"{"a":3}"#], restarts: true)
    #expect(try schema.rows("SELECT a FROM t") == ["3"])
  }

  @Test("16-Exact: to begin anew in PostgreSQL takes the place of a view, too")
  func replacesViews() async throws {
    for kind in ["VIEW", "MATERIALIZED VIEW"] {
      let schema = try Schema()
      try schema.rows("CREATE \(kind) t AS SELECT 1 AS a")
      try await schema.write(schema.sink(), [#"{"a":2}"#], restarts: true)
      #expect(try schema.rows("SELECT * FROM t") == ["2"], "\(kind)")
    }
  }

  @Test("16-Exact: a connection that the server ends twice before its tables exist is made again")
  func reconnectsAtFirst() async throws {
    let schema = try Schema()
    try schema.rows("CREATE SEQUENCE tries")
    let database = PostgresDatabase(
      schema.url,
      preparation:
        "SELECT CASE WHEN nextval('tries') < 3 THEN pg_terminate_backend(pg_backend_pid()) END",
      waitsAtFirst: false)
    let tries = try await database.transaction { try $0.query("SELECT last_value FROM tries") }
    await database.close()
    #expect(tries == [["3"]])
  }

  @Test("16-Exact: a server that ends long queries does not end a commit")
  func outlastsQueries() async throws {
    let schema = try Schema()
    try await schema.write(schema.sink(mode: .append), [#"{"id":1}"#])
    try schema.rows(
      """
      CREATE FUNCTION slow() RETURNS trigger AS $$ BEGIN PERFORM pg_sleep(0.5); RETURN NULL; END $$
      LANGUAGE plpgsql; CREATE TRIGGER slow AFTER INSERT ON t EXECUTE FUNCTION slow()
      """)
    let hasty = Schema(url: schema.url + "%20-cstatement_timeout%3D200")
    try await hasty.write(hasty.sink(mode: .append), [#"{"id":2}"#])
    #expect(try schema.rows("SELECT id FROM t") == ["1", "2"])
  }

  @Test("16-Exact: a commit that the server ends for a deadlock is made again")
  func commitsAgain() async throws {
    let schema = try Schema()
    let sink = schema.sink(mode: .append)
    try await schema.write(sink, [#"{"a":1}"#])
    try schema.rows(
      """
      CREATE SEQUENCE tries;
      CREATE FUNCTION strike() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF nextval('tries') = 1 THEN RAISE 'deadlock detected' USING ERRCODE = '40P01'; END IF;
        RETURN NEW;
      END $$;
      CREATE TRIGGER strike BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION strike()
      """)
    try await schema.write(sink, [#"{"a":2}"#])
    #expect(try schema.rows("SELECT a FROM t ORDER BY a") == ["1", "2"])
    #expect(try schema.rows("SELECT last_value FROM tries") == ["2"])
  }

  private func commit(
    _ session: any SinkSession, _ number: Int, _ item: String, at position: Position
  ) async throws {
    try await session.write(SinkPage([try RawItem(Array(item.utf8))]))
    var checkpoint = Checkpoint(sequence: number)
    checkpoint.position = position
    try await session.commit(checkpoint)
  }

  @Test("16-Exact: where it cannot be read what a lost commit has come to, the error says why")
  func saysWhyUnread() async throws {
    let server = try PostgresServer()
    defer { server.stop() }
    let schema = Schema(url: server.url())
    let session = try await schema.sink().open(SinkOpening())
    try await commit(session, 1, #"{"a":1}"#, at: "p")
    try server.crash()
    // The same commit, as though its answer had been lost.
    let other = try await schema.sink().open(SinkOpening())
    try await commit(other, 2, #"{"a":2}"#, at: "q")
    await other.close()
    try schema.rows(
      """
      ALTER TABLE _quire RENAME TO _stored;
      CREATE SEQUENCE reads;
      CREATE FUNCTION strike() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN
        IF nextval('reads') = 1 THEN RAISE 'not now' USING ERRCODE = '57014'; END IF;
        RETURN true;
      END $$;
      CREATE VIEW _quire AS SELECT * FROM _stored WHERE strike()
      """)
    await #expect { try await commit(session, 2, #"{"a":2}"#, at: "q") } throws: {
      "\($0)".contains("not now")
    }
    await session.close()
    #expect(try schema.rows("SELECT a FROM t ORDER BY a") == ["1", "2"])
  }

  @Test("An export whose server is away ends when it is stopped, as a unit of work does")
  func stopsWaiting() async throws {
    let server = try PostgresServer()
    defer { server.stop() }
    let schema = Schema(url: server.url())
    let opening = SinkOpening(isStopping: { true })
    let unit = schema.sink("u").leased(Lease(work: "w", unit: "a", token: 1))
    let sessions = [try await schema.sink().open(opening), try await unit.open(opening)]
    server.stop()
    for session in sessions {
      await #expect(throws: CancellationError.self) {
        try await commit(session, 1, #"{"a":1}"#, at: "p")
      }
      await session.close()
    }
  }

  @Test("16-Lock: an export that ends a moment later, as a killed one does, refuses no other one")
  func waitsForEnd() async throws {
    let sink = try Schema().sink()
    let first = try await sink.open(SinkOpening())
    let second = Task {
      let session = try await sink.open(SinkOpening())
      await session.close()
    }
    try await Task.sleep(for: .milliseconds(500))
    await first.close()
    try await second.value
  }

  @Test("16-Stop: a server that accepts and says nothing holds no export that was stopped")
  func stopsWaitingForSilence() async throws {
    // Connections are accepted by the system, and nothing is said on them.
    let listener = try Listener(address: "127.0.0.1", backlog: 5)
    defer { close(listener.descriptor) }
    let sink = PostgresSink(
      "postgres://x@127.0.0.1:\(listener.port)/q?connect_timeout=60", table: "t")
    let start = ContinuousClock.now
    await #expect(throws: CancellationError.self) {
      _ = try await sink.open(SinkOpening(isStopping: { true }))
    }
    #expect(ContinuousClock.now - start < .seconds(30))
  }

  @Test(
    "16-Lock: a wait for the lock of another program is told, and ends when the export is stopped")
  func stopsWaitingForLock() async throws {
    let schema = try Schema()
    try await schema.write(schema.sink(mode: .append), [#"{"a":1}"#])
    let reasons = Mutex<[String]>([])
    // Stopped by the first wait that is told.
    var opening = SinkOpening { reasons.withLock { !$0.isEmpty } }
    opening.onWait = { _, error in reasons.withLock { $0.append("\(error)") } }
    let session = try await schema.sink(mode: .append).open(opening)
    try await schema.locking("t") {
      await #expect(throws: CancellationError.self) {
        try await commit(session, 2, #"{"a":2}"#, at: "p")
      }
    }
    await session.close()
    let told = reasons.withLock { $0 }
    #expect(told.count == 1 && told[0].contains("keeps the table locked"), "\(told)")
    #expect(try schema.rows("SELECT a FROM t") == ["1"])
  }

  @Test("16-Exact: what another export has committed meanwhile is not taken for one's own commit")
  func knowsItsCommit() async throws {
    let server = try PostgresServer()
    defer { server.stop() }
    let schema = Schema(url: server.url())
    let session = try await schema.sink().open(SinkOpening())
    try await commit(session, 1, #"{"a":1}"#, at: "p")
    // Its lock goes with its connection.
    try server.crash()
    let other = try await schema.sink().open(SinkOpening())
    try await commit(other, 2, #"{"a":2}"#, at: "of the other")
    await other.close()
    await #expect { try await commit(session, 2, #"{"a":3}"#, at: "q") } throws: {
      SinkError.Code.inUse ~= $0
    }
    await session.close()
    #expect(try schema.rows("SELECT a FROM t ORDER BY a") == ["1", "2"])
  }

  @Test(
    "16-Sinks: a table of PostgreSQL keeps the promises of every sink, whatever its mode",
    arguments: [SinkMode.once, .append, .replace, .upsert])
  func keepsPromises(mode: SinkMode) async throws {
    let schema = try Schema()
    var number = 0
    try await SinkConformance.check {
      number += 1
      let sink = schema.sink(
        "t\(number)", key: mode == .upsert ? "/id" : nil, mode: mode, item: "whole")
      return TableSink(sink, table: "t\(number)")
    } items: { sink in
      let exists = try schema.rows("SELECT to_regclass('\(sink.table)') IS NOT NULL") == ["t"]
      return exists ? try schema.rows("SELECT whole FROM \(sink.table)") : []
    }
  }

  @Test("16-Key: keys that differ only in what PostgreSQL cannot hold are different keys")
  func tellsUnheldKeysApart() async throws {
    let schema = try Schema()
    let keys = [
      #""b\ud800""#, #""b\ud801""#, #""b\ufffd""#, #""a\u0000""#, #""a␀""#, #"{"a":"\u0000"}"#,
      #"{"a":"␀"}"#,
    ]
    let items = keys.enumerated().map { #"{"id":\#($1),"n":\#($0)}"# }
    for _ in 0..<2 { try await schema.write(schema.sink(key: "/id"), items) }
    #expect(try schema.rows("SELECT n FROM t ORDER BY n") == (0..<7).map { "\($0)" })
  }

  @Test("16-Table: NUL and half surrogate pairs in objects do not make queries of PostgreSQL fail")
  func holdsUnheld() async throws {
    let schema = try Schema()
    try await schema.write(
      schema.sink(),
      [
        #"{"id":1,"o":{"a":"x\u0000y","b":["\ud800","\ud83d\ude00","\\u0000"]}}"#,
        #"{"id":2,"o":{"a":"z"}}"#,
      ])
    #expect(
      try schema.rows("SELECT o->>'a', o->'b'->>0, o->'b'->>1, o->'b'->>2 FROM t ORDER BY id")
        == ["x␀y|\u{FFFD}|😀|\\u0000", "z|null|null|null"])
    #expect(
      try schema.rows("SELECT _rest FROM t WHERE id = 1")
        == [#"{"o":{"a":"x\u0000y","b":["\ud800","\ud83d\ude00","\\u0000"]}}"#])
  }
}
