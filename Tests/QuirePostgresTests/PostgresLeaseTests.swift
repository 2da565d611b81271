@testable import QuirePostgres
import Foundation
import QuireCore
import QuireExport
import QuireJSON
import QuirePagination
import QuireTesting
import TestSupport
import Testing

@Suite(.disabled(if: Schema.isMissing, Schema.missing)) struct PostgresLeaseTests {
  @Test("16-Machines: leases in PostgreSQL keep what every store promises")
  func conforms() async throws {
    let schema = try Schema()
    try await LeaseStoreConformance.check(PostgresLeaseStore(schema.url, work: "w")) { lease in
      try schema.rows(
        "UPDATE _quire_leases SET until = now() - interval '1 s' WHERE unit = '\(lease.unit)'")
    }
  }

  @Test("16-Machines: a later round begins its units anew, and works of other names are others")
  func rounds() async throws {
    let schema = try Schema()
    for round in 1...2 {
      let store = PostgresLeaseStore(schema.url, work: "w", round: round)
      try await store.add(["a"])
      #expect(try await LeasedWork(store).run { _ in }.done == 1)
      #expect(try await store.take() == .none)
    }
    #expect(try await PostgresLeaseStore(schema.url, work: "v").take() == .none)
  }

  @Test("16-Machines: tables whose making the server ends for a deadlock are made again")
  func preparedAgain() async throws {
    let schema = try Schema()
    try schema.rows("CREATE SEQUENCE tries")
    let preparation = """
      DO $$ BEGIN
        IF nextval('tries') = 1 THEN RAISE 'deadlock detected' USING ERRCODE = '40P01'; END IF;
      END $$
      """
    for waitsAtFirst in [false, true] {
      try schema.rows("ALTER SEQUENCE tries RESTART")
      let database = PostgresDatabase(
        schema.url, preparation: preparation, waitsAtFirst: waitsAtFirst)
      // Among thousands of tests, one may wait for its turn longer than a server is waited for.
      try await database.transaction(patience: nil) { try $0.execute("SELECT 1") }
      #expect(try schema.rows("SELECT last_value FROM tries") == ["2"])
    }
  }

  @Test("16-Machines: a server that refuses a user or lacks a database is not waited for")
  func waitsForNothing() async throws {
    let address = try PostgresServer.shared.get().url()
    let wrong = [
      address.replacing("quire@", with: "nobody@"), address.replacing("/postgres", with: "/none"),
    ]
    for url in wrong {
      let waits = Recorder<Duration>()
      let database = PostgresDatabase(url, onWait: { wait, _ in waits.note(wait) })
      // With patience for ever, a wait would not end.
      await #expect { try await database.transaction(patience: nil) { _ in } } throws: {
        "\($0)".contains("cannot be connected to")
      }
      #expect(waits.count == 1, "One more attempt, because the server may have just started.")
    }
  }

  @Test("16-Machines: a server that does not answer is waited for, and each wait is told")
  func tellsWaits() async throws {
    // Nothing listens there.
    let url = "postgres://quire@127.0.0.1:1/postgres"
    let waits = Recorder<Duration>()
    let database = PostgresDatabase(url, onWait: { wait, _ in waits.note(wait) })
    await #expect(throws: CancellationError.self) {
      try await database.transaction(patience: nil, isStopping: { waits.count > 1 }) { _ in }
    }
    #expect(waits.values == [.milliseconds(100), .milliseconds(200)])
    let impatient = PostgresDatabase(
      url, waitsAtFirst: false, onWait: { wait, _ in waits.note(wait) })
    await #expect(throws: SinkError.self) {
      try await impatient.transaction(patience: nil) { _ in }
    }
    #expect(waits.count == 2)
  }

  @Test("16-Machines: of two holders of a unit, only the later one commits, and goes on exactly")
  func fences() async throws {
    let schema = try Schema()
    let sink = schema.sink()
    let zombie = try await sink.leased(lease("a", 1)).open(SinkOpening())
    try await zombie.write(page(#"{"n":0}"#))
    try await zombie.commit(checkpoint(1))
    try await zombie.write(page(#"{"n":1}"#))
    let heir = try await sink.leased(lease("a", 2)).open(SinkOpening())
    #expect(heir.checkpoint == checkpoint(1))
    await #expect { try await zombie.commit(checkpoint(2)) } throws: {
      SinkError.Code.leaseLost ~= $0
    }
    await #expect { _ = try await sink.leased(lease("a", 1)).open(SinkOpening()) } throws: {
      SinkError.Code.leaseLost ~= $0
    }
    try await heir.write(page(#"{"n":1}"#))
    try await heir.commit(checkpoint(2))
    #expect(try schema.rows("SELECT n FROM t ORDER BY n") == ["0", "1"])
  }

  @Test("16-Machines: units write to one table at once, with columns of any of them")
  func shares() async throws {
    let schema = try Schema()
    let names = (0..<8).map { "u\($0)" }
    try await withThrowingTaskGroup { group in
      for name in names {
        let sink = schema.sink()
        group.addTask {
          let session = try await sink.leased(lease(name, 1)).open(SinkOpening())
          for number in 1...5 {
            try await session.write(page(#"{"u":"\#(name)","\#(name)\#(number % 2)":\#(number)}"#))
            try await session.commit(checkpoint(number, isComplete: number == 5))
          }
          await session.close()
        }
      }
      try await group.waitForAll()
    }
    #expect(
      try schema.rows("SELECT count(*), count(DISTINCT u), sum(u30), sum(u31) FROM t") == [
        "40|8|6|9"
      ])
    // What is written by units is not gone on with by an export of the whole.
    await #expect {
      try await Export(Cursor(ScriptedSource(sizes: 1)), to: schema.sink()).run()
    } throws: { SinkError.Code.otherRequest ~= $0 }
  }

  @Test("16-Machines: an export of a whole table keeps units away from it")
  func excludes() async throws {
    let schema = try Schema()
    let whole = try await schema.sink().open(SinkOpening())
    await #expect {
      _ = try await schema.sink().leased(lease("a", 1)).open(SinkOpening())
    } throws: {
      SinkError.Code.inUse ~= $0
    }
    await whole.close()
    _ = try await schema.sink().leased(lease("a", 1)).open(SinkOpening())
  }

  @Test(
    "16-Machines: a unit that is complete is read no more in its round, and again in the next one")
  func runsOnceInARound() async throws {
    let schema = try Schema()
    let source = ScriptedSource(sizes: 2)
    func run(_ round: Int, _ token: Int64) async throws -> ExportReport {
      var lease = lease("a", token)
      lease.round = round
      return try await Export(Cursor(source), to: schema.sink(mode: .append).leased(lease)).run()
    }
    #expect(try await run(1, 1).items == 2)
    #expect(try await "\(run(1, 2).end)" == "already complete")
    #expect(try await run(2, 3).items == 2)
    #expect(try schema.rows("SELECT count(*) FROM t") == ["4"])
  }

  @Test(
    "16-Machines: units that cannot replace a table are refused, and a restart of the whole forgets them"
  )
  func replacesNothing() async throws {
    let schema = try Schema()
    await #expect {
      _ = try await schema.sink(mode: .replace).leased(lease("a", 1)).open(SinkOpening())
    } throws: { SinkError.Code.unsupported ~= $0 }
    let source = ScriptedSource(sizes: 2)
    try await Export(Cursor(source), to: schema.sink(mode: .append).leased(lease("a", 1))).run()
    var whole = Export(Cursor(ScriptedSource(sizes: 1)), to: schema.sink())
    whole.restarts = true
    try await whole.run()
    #expect(try schema.rows("SELECT count(*) FROM _quire_units") == ["0"])
    let again = Export(Cursor(source), to: schema.sink(mode: .append).leased(lease("a", 2)))
    #expect(try await again.run().items == 2)
    #expect(try schema.rows("SELECT count(*) FROM t") == ["3"])
  }

  @Test("16-Machines: units go to no table that an export as a whole could not have")
  func refusesNames() async throws {
    let schema = try Schema()
    for name in ["", "_quire_units", String(repeating: "t", count: 64)] {
      await #expect {
        _ = try await schema.sink(name).leased(lease("a", 1)).open(SinkOpening())
      } throws: {
        SinkError.Code.unsupported ~= $0
      }
    }
  }

  @Test("16-Machines: units are noted in their order, each once, however many there are")
  func notesMany() async throws {
    let schema = try Schema()
    let store = PostgresLeaseStore(schema.url, work: "w")
    let units = (0..<2_500).map { "{\"unit\":\"\($0)\"}" }
    try await store.add(units + units.prefix(10))
    #expect(
      try schema.rows("SELECT unit FROM _quire_leases ORDER BY number") == units)
  }

  @Test("16-Machines: a server that crashes while units are committed costs no item and no lease")
  func survivesCrash() async throws {
    let server = try PostgresServer()
    defer { server.stop() }
    let schema = Schema(url: server.url())
    let store = PostgresLeaseStore(schema.url, work: "w")
    try await store.add(["a", "b"])
    let sink = schema.sink()
    let report = try await LeasedWork(store).run { lease in
      let session = try await sink.leased(lease).open(SinkOpening())
      for number in 1...3 {
        try await session.write(page(#"{"u":"\#(lease.unit)","n":\#(number)}"#))
        if number == 2 { try server.crash() }
        try await session.commit(checkpoint(number, isComplete: number == 3))
      }
      await session.close()
    }
    #expect(report.done == 2 && report.failures.isEmpty && report.lost == 0)
    #expect(
      try schema.rows("SELECT u, n FROM t ORDER BY u, n") == [
        "a|1", "a|2", "a|3", "b|1", "b|2", "b|3",
      ])
  }
}

private func lease(_ unit: String, _ token: Int64) -> Lease {
  Lease(work: "w", unit: unit, token: token)
}

private func page(_ line: String) throws -> SinkPage { SinkPage([try RawItem(Array(line.utf8))]) }

private func checkpoint(_ sequence: Int, isComplete: Bool = false) -> Checkpoint {
  var checkpoint = Checkpoint(sequence: sequence)
  checkpoint.position = isComplete ? nil : Position(.string("p\(sequence)"))
  return checkpoint
}
