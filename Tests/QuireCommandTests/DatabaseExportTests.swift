import Foundation
import GRDB
import TestSupport
import Testing

@Suite("quire export -o x.db", .timeLimit(.minutes(15))) struct DatabaseExportTests {
  private final class Place {
    let folder = FileManager.default.temporaryDirectory.appending(path: "quire-\(UUID())")
    var path: String { folder.appending(path: "x.db").path }

    init() throws {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func rows(_ sql: String) throws -> [String] {
      try DatabaseQueue(path: path).read { database in
        try Row.fetchAll(database, sql: sql).map { row in
          row.map { "\($1)".trimmingCharacters(in: ["\""]) }.joined(separator: "|")
        }
      }
    }
  }

  /// Two thousand items in pages of ten, each page a moment late.
  private func server(size: Int = 10) throws -> FaultServer {
    try FaultServer(keepsRequests: false) { request in
      let page = request.target.split(separator: "page=").dropFirst().first.flatMap { Int($0) } ?? 1
      let start = (page - 1) * size
      let items = (start..<min(2_000, start + size)).map {
        #"{"id":\#($0),"name":"item \#($0)","n":\#($0 % 7 == 0 ? "1.5" : "2")}"#
      }
      return [.respond("[\(items.joined(separator: ","))]")]
    }
  }

  private static let options = ["--next", "page", "--send", "query:page", "--end", "empty"]

  @Test(
    "16-Table: a name that is an address or a memory to SQLite is that of a file, its owner's alone"
  )
  func plainNames() async throws {
    let server = try server(size: 2_000)
    defer { server.stop() }
    for name in ["file:x.db", ":memory:.db", "file:x.db?mode=memory&a=.db"] {
      let place = try Place()
      let ending = try await Command.shell(
        "cd '\(place.folder.path)' && $quire export '\(server.url("/"))' --next pageNumber --send query:page "
          + "--end emptyPage --max-pages 1 -o '\(name)' --table t"
      ).end()
      #expect(ending.status == 0, "\(ending.errors)")
      let files = FileManager.default
      #expect(try files.contentsOfDirectory(atPath: place.folder.path) == [name])
      let path = place.folder.path + "/" + name
      #expect(try files.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
      try files.moveItem(atPath: path, toPath: place.path)
      #expect(try place.rows("SELECT count(*) FROM t") == ["2000"])
    }
  }

  @Test("16-Table: columns and keys find elements of XML that stand apart, and follow XML paths")
  func apartElements() async throws {
    let server = try FaultServer { _ in
      [
        .respond(
          "<r xmlns:p='u'><i><id>1</id><p:n>a</p:n></i><i><id>2</id><l r='x' h='y'/><p:n>b</p:n><l/></i></r>",
          headers: [("Content-Type", "application/xml")])
      ]
    }
    defer { server.stop() }
    let how = ["export", server.url("/"), "--next", "linkHeader", "--items", "/r/i"]
    let place = try Place()
    let file = place.folder.appending(path: "x.csv")
    let table = try await Command.quire(
      how + ["-o", file.path, "--columns", "id,n,h=/l[@r='x']/@h"])
    #expect(table.status == 0, "\(table.errors)")
    #expect(try String(contentsOf: file, encoding: .utf8) == "id,n,h\r\n1,a,\r\n2,b,y\r\n")
    let database = try await Command.quire(
      how + ["-o", place.path, "--table", "t", "--key", "/id"])
    #expect(database.status == 0, "\(database.errors)")
    #expect(try place.rows("SELECT id FROM t ORDER BY id") == ["1", "2"])
  }

  @Test(
    "16-Table: an export into a database goes on after SIGKILL at any page, and holds all once",
    .timeLimit(.minutes(15)))
  func survivesKills() async throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededNumbers(seed)
    let server = try server()
    defer { server.stop() }
    for keys in [[], ["--key", "/id"]] {
      let place = try Place()
      let arguments =
        ["export", server.url("/"), "-o", place.path, "--table", "items", "--commit-every", "0"]
        + Self.options + keys
      var kills = 0
      while true {
        let ending = try await Command(arguments).end(
          by: kills % 3 == 2 ? SIGTERM : SIGKILL, after: .random(in: 1...40, using: &random),
          at: server)
        guard ending.wasKilled || ending.status == 143 else { break }
        kills += 1
      }
      #expect(kills > 3, "seed \(seed)")
      let ending = try await Command.quire(arguments)
      #expect(ending.status == 0, "seed \(seed), kills \(kills): \(ending.errors)")
      #expect(
        try place.rows("SELECT count(*), count(DISTINCT id), min(rowid), max(id) FROM items")
          == ["2000|2000|1|1999"], "seed \(seed), kills \(kills)")
      #expect(
        try place.rows("SELECT count(*) FROM items WHERE name <> 'item ' || id OR rowid <> id + 1")
          == ["0"], "seed \(seed)")
      #expect(try place.rows("PRAGMA integrity_check") == ["ok"], "seed \(seed)")
    }
  }

  @Test("16-Table: a database that runs out of room says so, keeps what it had, and goes on")
  func runsOutOfRoom() async throws {
    let server = try server(size: 100)
    defer { server.stop() }
    let place = try Place()
    let line =
      "\"$quire\" export \(server.url("/")) -o \(place.path) --table items --next page "
      + "--send query:page --end empty"
    let full = try await Command.shell(line, maximumFileSize: 40).end()
    #expect(full.status == 1 && full.errors.contains(place.path), "\(full.errors)")
    let ending = try await Command.shell(line).end()
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(try place.rows("SELECT count(*), count(DISTINCT id) FROM items") == ["2000|2000"])
  }

  @Test("A database that is damaged during an export fails it with a report, and no usage error")
  func reportsDamage() async throws {
    let place = try Place()
    let path = place.path
    let server = try FaultServer { request in
      if request.target.hasSuffix("page=3"), let file = FileHandle(forUpdatingAtPath: path) {
        // Behind the header, and in the counter of changes, by which SQLite's cache is valid.
        try? file.seek(toOffset: 24)
        file.write(Data(repeating: 0xFF, count: 4))
        let end = (try? file.seekToEnd()) ?? 0
        try? file.seek(toOffset: 16_384)
        file.write(Data(repeating: 0xFF, count: Int(max(end, 16_384)) - 16_384))
        try? file.close()
      }
      return [.respond(#"[{"id":"\#(request.target)"}]"#)]
    }
    defer { server.stop() }
    let report = place.folder.appending(path: "report.json").path
    let ending = try await Command.quire(
      [
        "export", server.url("/"), "-o", path, "--table", "t", "--key", "id", "--report", report,
        "--commit-every", "0", "--look-ahead", "0",
      ] + Self.options)
    #expect(ending.status == 1 && ending.errors.contains("is damaged"), "\(ending.errors)")
    #expect(FileManager.default.fileExists(atPath: report))
  }

  @Test("16-Table: what a database needs is asked for, and what it cannot is refused")
  func refuses() async throws {
    for (arguments, words, status) in [
      (["-o", ""], "-o: the name is empty.", 2),
      (["-o", "x.db"], "--table", 2), (["-o", "x.db", "--table", ""], "--table is empty", 2),
      (["-o", "x.jsonl", "--table", "t"], "--table is for databases", 2),
      (["-o", "x.db", "--table", "t", "--mode", "upsert"], "--key", 2),
      (["-o", "x.db", "--table", "sqlite_x"], "sqlite_", 2),
      (["-o", "no/x.db", "--table", "t"], "No such file or directory", 2),
      (["-o", "/tmp/.db", "--table", "t", "--columns", "id,,x"], "a name is missing", 2),
      (
        ["-o", "/tmp/.db", "--table", "t", "--columns", "id,id"],
        "--columns: id and id are one column.", 2
      ),
      (
        ["-o", "/tmp/.db", "--table", "t", "--columns", "id,ID=/name"],
        "--columns: id and ID are one column.", 2
      ),
      (["-o", "/tmp/.csv", "--columns", "id,id=/name"], "id and id are one column.", 2),
      (
        ["-o", "/tmp/.db", "--table", "t", "--key", "/id", "--columns", "id=/name"],
        "--columns: id is the column of the key at /id, and not of /name.", 2
      ),
      (["-o", "/tmp/.db", "--table", "t", "--key", "/id,id"], "--key: /id is there twice.", 2),
      (["-o", "/tmp/.db", "--table", "_quire"], "--table: No table can be called", 2),
      // A server that is away is no fault of the command line.
      (
        ["-o", "postgres://secret:word@127.0.0.1:1/x", "--table", "t"], "cannot be connected to", 1
      ),
    ] {
      let ending = try await Command.quire(
        ["export", "http://127.0.0.1:1/"] + arguments + Self.options)
      #expect(ending.status == Int32(status) && ending.errors.contains(words), "\(ending.errors)")
      #expect(!ending.errors.contains("word@"), "\(ending.errors)")
    }
  }

  @Test(
    "16-Tool: a pipe whose name asks for a table or a database is refused, and one of lines is not")
  func refusesPipes() async throws {
    let place = try Place()
    for (name, more, isRefused) in [
      ("x.csv", [], true), ("x.db", ["--table", "t"], true), ("x.jsonl.gz", [], true),
      ("x", ["--columns", "id"], true), ("x", ["--mode", "append"], true),
      ("x.jsonl", ["--plan"], false), ("x", ["--plan"], false),
    ] {
      let path = place.folder.appending(path: name).path
      try? FileManager.default.removeItem(atPath: path)
      #expect(mkfifo(path, 0o600) == 0)
      let ending = try await Command.quire(
        ["export", "http://127.0.0.1:1/", "-o", path, "--patience", "0"] + more + Self.options)
      #expect(ending.status == (isRefused ? 2 : 1), "\(name): \(ending.errors)")
      #expect(ending.errors.contains("is a pipe or a device") == isRefused, "\(ending.errors)")
    }
  }

  @Test(
    "16-Tool: the README's export into SQLite, killed in the middle and run again, holds all once")
  func readme() async throws {
    // Ten pages, of which one does not come while the gate is closed.
    let gate = StallGate()
    let server = try FaultServer { request in
      let page = request.target.split(separator: "page=").dropFirst().first.flatMap { Int($0) } ?? 1
      let items = (0..<10).map { #"{"id":\#(page * 10 + $0),"title":"item"}"# }
      let response = FaultStep.respond(
        "[\(items.joined(separator: ","))]",
        headers: page < 10 ? [("Link", "</issues?page=\(page + 1)>; rel=\"next\"")] : [])
      return page == 7 ? [.stall(until: gate), response] : [response]
    }
    defer { server.stop() }
    let readme = try String(
      contentsOf: URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "README.md"), encoding: .utf8)
    let line = try #require(
      readme.replacing("\\\n", with: "").split(separator: "\n").first {
        $0.contains("quire export ") && $0.contains(".db ")
      })
    let place = try Place()
    let script = line.replacing("quire export", with: "exec $quire export")
      .replacing(#/https:[^ ]*/#, with: server.url("/issues"))
      .replacing(#/[a-z]+\.db/#, with: place.path)
    let shell = "export GITHUB_AUTH='Bearer x'; " + script
    let killed = try Command.shell(shell + " --commit-every 0")
    try await server.received(7)
    killed.send(signal: SIGKILL)
    #expect(try await killed.end().wasKilled)
    let held = try #require(try place.rows("SELECT count(*) FROM issues").first.flatMap { Int($0) })
    #expect(held > 0 && held < 100)
    gate.open()
    let ending = try await Command.shell(shell).end()
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(
      try place.rows("SELECT count(*), count(DISTINCT id), min(id), max(id) FROM issues")
        == ["100|100|10|109"])
    // What was committed was not asked for again.
    #expect(server.requests.count < 10 + 7)
  }

  @Test(
    "16-Table: an export into PostgreSQL by the tool goes on after SIGKILL at any page, and holds all once",
    .disabled(if: PostgresServer.programs == nil, "no PostgreSQL server is installed"),
    .timeLimit(.minutes(15)))
  func fillsPostgres() async throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededNumbers(seed)
    let (server, postgres) = (try server(), try PostgresServer())
    defer {
      server.stop()
      postgres.stop()
    }
    let arguments =
      [
        "export", server.url("/"), "-o", postgres.url(), "--table", "items", "--key", "/id",
        "--commit-every", "0",
      ] + Self.options
    func rows(_ sql: String) async throws -> Command.Ending {
      try await Command.run("/usr/bin/psql", "-At", postgres.url(), "-c", sql)
    }
    var kills = 0
    while true {
      let ending = try await Command(arguments).end(
        by: SIGKILL, after: .random(in: 1...25, using: &random), at: server)
      guard ending.wasKilled else {
        #expect(ending.status == 0, "seed \(seed), kills \(kills): \(ending.errors)")
        break
      }
      kills += 1
      // The server may take a moment to notice that the client is gone, and keeps its lock until then.
      _ = try await rows(
        "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE application_name = 'quire'"
      )
    }
    #expect(kills > 3, "seed \(seed)")
    let count = try await rows("SELECT count(*), count(DISTINCT id), max(id) FROM items")
    #expect(count.output == "2000|2000|1999\n", "seed \(seed), kills \(kills)")
  }
}
