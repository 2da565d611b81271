import Foundation
import GRDB
import QuireCore
import QuireJSON
import QuirePagination
import Synchronization
import TestSupport
import Testing

@Suite("quire sync", .timeLimit(.minutes(15))) struct SyncTests {
  @Test(
    "16-Sync: organisations, their repositories, issues and comments are in one database, once each"
  )
  func drains() async throws {
    let forge = try Forge()
    let file = try forge.file()
    let ending = try await Command.quire(["sync", file])
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(ending.errors.contains("comments: complete, 160 items"))
    #expect(try forge.rows("SELECT count(*) FROM organisations") == ["2"])
    #expect(try forge.rows("SELECT count(*), count(DISTINCT id) FROM repositories") == ["10|10"])
    #expect(try forge.rows("SELECT count(*), count(DISTINCT repository) FROM issues") == ["40|10"])
    #expect(
      try forge.rows("SELECT id, repository, issue FROM comments ORDER BY rowid")
        == Forge.allComments)
    // Each page of each parent once: one list of organisations, two pages for each parent below.
    let oneRun = 105
    #expect(forge.server.requests.count == oneRun)
    let again = try await Command.quire(["sync", file])
    #expect(again.status == 0, "\(again.errors)")
    #expect(forge.server.requests.count == 2 * oneRun)
    #expect(try forge.rows("SELECT count(*) FROM comments") == ["160"])
    let status = try await Command.quire(["sync", file, "--status"])
    #expect(status.output.contains("complete: 160 items") && status.status == 0)
    // What has come and is not committed is told, too.
    let log = try await Command.quire(
      ["sync", file, "--only", "organisations", "--restart", "--log", "json"])
    #expect(
      log.errors.contains(#""event":"running","items":2,"pages":1,"committedItems":0"#),
      "\(log.errors)")
  }

  @Test(
    "16-Sync: killed again and again, a sync of parents and children goes on, and holds all once",
    .timeLimit(.minutes(15)))
  func survivesKills() async throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededNumbers(seed)
    let forge = try Forge()
    let file = try forge.file()
    var kills = 0
    while kills < 40 {
      let parallel = Int.random(in: 1...3, using: &random)
      let ending = try await Command(["sync", file, "--parallel", "\(parallel)"]).end(
        by: SIGKILL, after: .random(in: 1...60, using: &random), at: forge.server)
      guard ending.wasKilled else { break }
      kills += 1
    }
    let ending = try await Command.quire(["sync", file])
    #expect(ending.status == 0, "seed \(seed), kills \(kills): \(ending.errors)")
    #expect(
      try forge.rows("SELECT id, repository, issue FROM comments ORDER BY rowid")
        == Forge.allComments,
      "seed \(seed), kills \(kills)")
    #expect(
      try forge.rows("SELECT count(*), count(DISTINCT id) FROM issues") == ["40|40"], "seed \(seed)"
    )
  }

  @Test(
    "16-Sync: by --parallel listings are read at the same time, and children after their parents")
  func readsAtTheSameTime() async throws {
    // Three of the four are answered once all three have been asked for.
    let server = try FaultServer { request in
      let answer = FaultStep.respond(#"{"items":[{"id":1}]}"#)
      guard request.path != "/a/1" else { return [answer] }
      return [.mark("asked"), .stallUntilReached("asked", times: 3), answer]
    }
    defer { server.stop() }
    let listings = ["a", "b", "c"].map { name in
      "  \(name): {url: \"\(server.url("/\(name)"))\", key: id, pagination: \(SyncPartTests.pages)}"
    }
    let child =
      "{for: a, key: id, url: \"\(server.url("/a/{id}"))\", pagination: \(SyncPartTests.pages)}"
    let copy = try SyncPartTests.Copy(([child] + listings).joined(separator: "\n"))
    let ending = try await copy.run("--parallel", "3")
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(Set(server.requests.prefix(3).map(\.path)) == ["/a", "/b", "/c"])
    #expect(server.requests.last?.path == "/a/1" && server.requests.count == 4)
    for table in ["a", "b", "c", "items"] {
      #expect(try copy.rows("SELECT count(*) FROM \(table)") == ["1"])
    }
    for number in ["0", "1025"] {
      #expect(try await copy.run("--parallel", number).status == 2)
    }
  }

  @Test(
    "16-Sync: by --parallel the listings of several parents are read at the same time, and written in order"
  )
  func readsParentsAtTheSameTime() async throws {
    let isBlocked = Mutex(true)
    let server = try FaultServer { request in
      guard request.path != "/parents" else {
        let parents = (1...8).map { "{\"id\":\($0),\"name\":\($0 == 6 ? "null" : "\"n\($0)\"")}" }
        return [.respond("{\"items\":[\(parents.joined(separator: ","))]}")]
      }
      // Two pages of each; three first pages are answered once all three have been asked for.
      let second = Query(request.target).number("page") != nil
      let answer = FaultStep.respond(
        "{\"items\":[{\"id\":\"\(request.target)\"}]\(second ? "" : ",\"next\":2")}")
      if request.path == "/n4/x", isBlocked.withLock({ $0 }) {
        return [.respond("{}", status: "451 No")]
      }
      guard !second, ["/n1/x", "/n2/x", "/n3/x"].contains(request.path) else { return [answer] }
      return [.mark("asked"), .stallUntilReached("asked", times: 3), answer]
    }
    defer { server.stop() }
    let copy = try SyncPartTests.Copy(
      "{for: parents, key: id, url: \"\(server.url("/{name}/x"))\", missing: skip, pagination: \(SyncPartTests.pages)}\n"
        + "  parents: {url: \"\(server.url("/parents"))\", key: id, pagination: \(SyncPartTests.pages)}"
    )
    let ending = try await copy.run("--parallel", "3")
    #expect(ending.status == 1 && ending.errors.contains("left out 1 parent"), "\(ending.errors)")
    #expect(ending.errors.contains("1 parent without a listing"), "\(ending.errors)")
    func rows(of parents: Int...) -> [String] {
      parents.flatMap { ["/n\($0)/x", "/n\($0)/x?page=2"] }
    }
    #expect(try copy.rows("SELECT id FROM items ORDER BY rowid") == rows(of: 1, 2, 3, 5, 7, 8))
    isBlocked.withLock { $0 = false }
    #expect(try await copy.run("--parallel", "3").status == 0)
    #expect(try copy.rows("SELECT id FROM items ORDER BY id") == rows(of: 1, 2, 3, 4, 5, 7, 8))
    // Nothing is asked for twice: one page of parents, and two pages of each but the one without a listing.
    #expect(
      server.requests.suffix(15).map(\.target).sorted()
        == (["/parents"] + rows(of: 1, 2, 3, 4, 5, 7, 8)).sorted())
  }

  @Test("16-Sync: of listings that are read at the same time one that fails stops no other")
  func failsBesideOthers() async throws {
    let forge = try Forge { $0 == "/labels" ? 403 : nil }
    let file = try forge.file(
      more:
        "  labels: {url: \"\(forge.server.url("/labels"))\", pagination: \(SyncPartTests.pages)}")
    let ending = try await Command.quire(["sync", file, "--parallel", "4"])
    #expect(ending.status == 1 && ending.errors.contains("labels: failed"), "\(ending.errors)")
    #expect(ending.errors.contains("comments: complete, 160 items"), "\(ending.errors)")
    #expect(
      try forge.rows("SELECT id, repository, issue FROM comments ORDER BY rowid")
        == Forge.allComments)
    // A second round asks for all again; what was stopped in one goes on.
    let stopped = try await Command(["sync", file, "--parallel", "4"]).end(
      by: SIGTERM, after: 30, at: forge.server)
    #expect(stopped.errors.contains("the same command goes on"), "\(stopped.errors)")
    let last = try await Command.quire(["sync", file, "--parallel", "4"])
    #expect(last.errors.contains("comments: complete, 160 items"), "\(last.errors)")
  }

  @Test(
    "16-Sync: one parent's listing that fails keeps no other waiting, and the next round reads it")
  func goesOnAfterFailure() async throws {
    let isFailing = Mutex(true)
    let forge = try Forge { path in
      path == "/repos/o1/r2/issues" && isFailing.withLock { $0 } ? 403 : nil
    }
    let file = try forge.file()
    let failed = try await Command.quire(["sync", file])
    #expect(failed.status == 1, "\(failed.errors)")
    #expect(failed.errors.contains("left out 1 parent whose listing failed: "), "\(failed.errors)")
    #expect(failed.errors.contains("issues: incomplete, 36 items;"))
    #expect(failed.errors.contains("comments: complete, 144 items"), "\(failed.errors)")
    #expect(try forge.rows("SELECT count(*) FROM issues") == ["36"])
    isFailing.withLock { $0 = false }
    let ending = try await Command.quire(["sync", file])
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(try forge.rows("SELECT count(*), count(DISTINCT id) FROM issues") == ["40|40"])
    #expect(try forge.rows("SELECT count(*) FROM comments") == ["160"])
  }

  @Test(
    "16-Sync: --only reads what the round has read, in another one, and ends no round of all listings"
  )
  func roundsOfSome() async throws {
    let forge = try Forge()
    let file = try forge.file()
    // Stopped in the middle of the round.
    let stopped = try await Command(["sync", file]).end(by: SIGKILL, after: 6, at: forge.server)
    #expect(stopped.wasKilled)
    func count(_ arguments: String...) async throws -> (requests: Int, errors: String) {
      let before = forge.server.requests.count
      let planned = try await Command.quire(["sync", file, "--plan"] + arguments)
      #expect(!planned.output.contains("done in this round"), "\(planned.output)")
      let ending = try await Command.quire(["sync", file] + arguments)
      #expect(ending.status == 0, "\(ending.errors)")
      return (forge.server.requests.count - before, ending.errors)
    }
    let some = try await count("--only", "organisations")
    #expect(some.requests > 0 && some.errors.contains("organisations: complete"))
    let again = try await count("--only", "organisations")
    #expect(again.requests > 0 && again.errors.contains("organisations: complete"))
    let before = forge.server.requests.count
    let rest = try await Command.quire(["sync", file])
    #expect(rest.status == 0 && rest.errors.contains("organisations: complete"), "\(rest.errors)")
    let asked = forge.server.requests.dropFirst(before).map(\.path)
    #expect(!asked.isEmpty && !asked.contains("/organisations"))
    // A round of some is over for those who read all.
    #expect(try await count().errors.contains("organisations: complete"))
    #expect(try await count("--only", "organisations").requests > 0)
    #expect(try await count().errors.contains("organisations: complete"))
  }

  @Test("A state that is another program's database is refused as that, and left as it is")
  func foreignState() async throws {
    let forge = try Forge()
    let file = try forge.file()
    for definition in ["listings (a)", "round (a)", "parents (a)", "seen (a)"] {
      let state = TemporaryFile()
      let foreign = try DatabaseQueue(path: state.path)
      try await foreign.write { try $0.execute(sql: "CREATE TABLE \(definition)") }
      let refused = try await Command.quire(["sync", file, "--state", state.path])
      #expect(refused.status == 1 && forge.server.requests.isEmpty)
      #expect(
        refused.errors.contains("\(state.path) is not what a sync has stored"), "\(refused.errors)")
      let tables = try await foreign.read {
        try String.fetchAll($0, sql: "SELECT name FROM sqlite_master")
      }
      #expect(tables == [String(definition.dropLast(4))])
    }
  }

  @Test("A state that has no room left is named, and what to do")
  func fullState() async throws {
    let forge = try Forge()
    let file = try forge.file()
    let full = try await Command.shell("$quire sync '\(file)'", maximumFileSize: 4).end()
    #expect(full.status == 1 && forge.server.requests.isEmpty)
    #expect(
      full.errors.contains("forge.state.db: ") && !full.errors.contains("while executing"),
      "\(full.errors)")
  }

  @Test("Where a key has changed, the refusal says by which options the listing begins anew")
  func changedKey() async throws {
    let forge = try Forge()
    let file = try forge.file()
    let only = ["--only", "organisations"]
    #expect(try await Command.quire(["sync", file] + only).status == 0)
    let text = try String(contentsOfFile: file, encoding: .utf8)
      .replacing("key: login", with: "key: name")
    try text.replacing("key: name", with: "key: [login, id]")
      .write(toFile: file, atomically: true, encoding: .utf8)
    let refused = try await Command.quire(["sync", file] + only)
    let advice = "--restart --only organisations begins anew."
    let plan = try await Command.quire(["sync", file, "--plan"] + only)
    #expect(
      plan.status == 1 && plan.output.contains("organisations: is refused, ")
        && plan.output.contains(advice), "\(plan.output)")
    let planned = try await Command.quire(["sync", file, "--plan", "--restart"] + only)
    #expect(planned.status == 0, "\(planned.output)")
    #expect(refused.status == 1 && refused.errors.contains(advice), "\(refused.errors)")
    let status = try await Command.quire(["sync", file, "--status"])
    #expect(status.output.contains(advice), "\(status.output)")
    try text.replacing("key: name", with: "mode: replace")
      .write(toFile: file, atomically: true, encoding: .utf8)
    #expect(try await Command.quire(["sync", file] + only).status == 1)
    let anew = try await Command.quire(["sync", file, "--restart"] + only)
    #expect(anew.status == 0, "\(anew.errors)")
    #expect(try forge.rows("SELECT count(*) FROM organisations") == ["2"])
  }

  @Test(
    "16-Sync: a plan refuses what a run would: another listing in the place of an unfinished one")
  func plansRefusals() async throws {
    let forge = try Forge { $0 == "/repos/o1/r2/issues" ? 401 : nil }
    let file = try forge.file()
    let only = ["--only", "organisations", "--only", "repositories", "--only", "issues"]
    #expect(try await Command.quire(["sync", file] + only).status == 1)
    let text = try String(contentsOfFile: file, encoding: .utf8)
    try text.replacing("with: {repository: id}", with: "with: {repository: full}").write(
      toFile: file, atomically: true, encoding: .utf8)
    let count = forge.server.requests.count
    for option in [[], ["--restart"]] {
      let plan = try await Command.quire(["sync", file, "--plan"] + only + option)
      let isRefused = plan.output.contains("issues: is refused, An unfinished run was of another")
      #expect(isRefused == option.isEmpty && plan.status == (isRefused ? 1 : 0), "\(plan.output)")
    }
    #expect(forge.server.requests.count == count)
    let refused = try await Command.quire(["sync", file] + only)
    #expect(
      refused.status == 1 && refused.errors.contains("issues: failed, An unfinished run was of"),
      "\(refused.errors)")
  }

  @Test("16-Sync: parents are not begun anew under a run that is in the middle of them")
  func keepsParentsOfRuns() async throws {
    let isFailing = Mutex(true)
    let forge = try Forge { path in
      path == "/repos/o1/r2/issues" && isFailing.withLock { $0 } ? 401 : nil
    }
    let file = try forge.file()
    let failed = try await Command.quire([
      "sync", file, "--only", "organisations", "--only", "repositories", "--only", "issues",
    ])
    #expect(failed.status == 1 && failed.errors.contains("issues: failed"), "\(failed.errors)")
    isFailing.withLock { $0 = false }
    let count = forge.server.requests.count
    let anew = ["sync", file, "--restart", "--only", "repositories"]
    let refused = try await Command.quire(anew)
    #expect(refused.status == 2 && refused.errors.contains("--only issues"), "\(refused.errors)")
    let planned = try await Command.quire(anew + ["--plan"])
    #expect(planned.status == 2 && planned.errors == refused.errors, "\(planned.output)")
    #expect(forge.server.requests.count == count)
    let ending = try await Command.quire(anew + ["--only", "issues"])
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(try forge.rows("SELECT count(*), count(DISTINCT id) FROM issues") == ["40|40"])
  }

  @Test("16-Sync: a parent's listing that is not there fails, or is skipped where the file says so")
  func skipsMissing() async throws {
    let forge = try Forge { $0 == "/repos/o1/r2/issues" ? 404 : nil }
    let file = try forge.file()
    let failed = try await Command.quire([
      "sync", file, "--only", "organisations", "--only", "repositories",
      "--only", "issues",
    ])
    #expect(failed.status == 1 && failed.errors.contains("missing: skip"), "\(failed.errors)")
    let text = try String(contentsOfFile: file, encoding: .utf8)
      .replacing("for: repositories", with: "for: repositories\n    missing: skip")
    try text.write(toFile: file, atomically: true, encoding: .utf8)
    let ending = try await Command.quire(["sync", file])
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(ending.errors.contains("36 items, 1 parent without a listing"), "\(ending.errors)")
  }

  @Test(
    "16-Sync: a later run asks only for what has changed since, and all of a parent that is new")
  func readsIncrements() async throws {
    let forge = try Forge()
    let file = try forge.file()
    let text = try String(contentsOfFile: file, encoding: .utf8)
      .replacing(
        "for: repositories",
        with: "for: repositories\n    since: {field: /t, parameter: since, lookBack: 24h}")
    try text.write(toFile: file, atomically: true, encoding: .utf8)
    let arguments = [
      "sync", file, "--only", "organisations", "--only", "repositories", "--only", "issues",
    ]
    #expect(try await Command.quire(arguments).status == 0)
    #expect(!forge.server.requests.contains { $0.target.contains("since=") })
    let count = forge.server.requests.count
    let again = try await Command.quire(arguments)
    #expect(again.status == 0, "\(again.errors)")
    let asked = forge.server.requests.dropFirst(count).filter { $0.path.hasSuffix("/issues") }
    #expect(asked.count == 10)
    #expect(
      asked.allSatisfy { $0.target.contains("since=2026-01-03T00%3A00%3A00Z") },
      "\(asked.map(\.target))")
    #expect(try forge.rows("SELECT count(*) FROM issues") == ["40"])
  }

  @Test("16-Sync: each listing can have its own destination, and files are replaced whole")
  func writesFiles() async throws {
    let forge = try Forge()
    let file = try forge.file()
    let text = try String(contentsOfFile: file, encoding: .utf8)
      .replacing("key: login", with: "to: organisations.jsonl")
    try text.write(toFile: file, atomically: true, encoding: .utf8)
    for _ in 0..<2 {
      let ending = try await Command.quire(["sync", file])
      #expect(ending.status == 0, "\(ending.errors)")
      let lines = try String(
        contentsOf: forge.folder.appending(path: "organisations.jsonl"), encoding: .utf8)
      #expect(lines == "{\"login\":\"o0\"}\n{\"login\":\"o1\"}\n")
    }
    #expect(try forge.rows("SELECT count(*) FROM comments") == ["160"])
  }

  @Test(
    "16-Sync: no value of a parent leads out of the path that its URL has",
    arguments: [("{n}", ".."), ("{n}", "."), ("{+n}", "a/../../b"), ("{+n}", "%2e%2E/b")])
  func staysInPath(placeholder: String, name: String) async throws {
    let forge = try Forge()
    let parents = #"[{"id":1,"n":"\#(name)"},{"id":2,"n":"..."}]"#
    let server = try FaultServer { request in
      [.respond(request.path == "/parents" ? parents : #"[{"id":1}]"#)]
    }
    defer { server.stop() }
    let file = forge.folder.appending(path: "x.yaml").path
    try """
    to: x.db
    listings:
      parents: {url: "\(server.url("/parents"))", preset: linkHeader, key: id}
      children: {for: parents, url: "\(server.url("/p/\(placeholder)/c"))", preset: linkHeader, key: id}
    """.write(toFile: file, atomically: true, encoding: .utf8)
    let ending = try await Command.quire(["sync", file])
    #expect(ending.status == 1 && ending.errors.contains("left out 1 parent"), "\(ending.errors)")
    #expect(server.requests.map(\.path) == ["/parents", "/p/.../c"])
  }

  @Test(
    "16-Sync: what a file cannot say is named with its place and the right word",
    arguments: [
      (
        "    key: login", "    kee: login",
        "or \"missing\". Did you mean \"key\"?"
      ),
      ("for: organisations", "for: organisation", "Did you mean \"organisations\"?"),
      ("{login}", "{login", "not closed"), ("for: organisations\n", "\n", "needs a parent"),
      ("listings:", "listing:", "Did you mean \"listings\"?"),
      ("key: login", "key: login\n    mode: upsrt", "Did you mean \"upsert\"?"),
      ("{+repositories:full}", "{repositorys:full}", "Did you mean \"repositories\"?"),
      ("key: login", "key: login\n    pageSize: many", "expected a whole number"),
      ("key: login", "key: login\n    pageSize: 0", "expected a whole number from 1 on"),
      ("to: forge.db", "to: forge.xyz", "listings.comments: to: /"),
      (
        "key: login", "key: login\n    to: x.jsonl",
        "/x.jsonl: a file cannot replace single items by their key (key, mode"
      ),
      (
        "key: login", "key: login\n    table: Issues",
        "listings.issues: Its items go where those of organ"
      ),
      ("key: login", "<<: 5", "<< merges mappings"),
      ("to: forge.db", "to: [", "no YAML: line "),
      ("  organisations:", "\torganisations:", "Indent by blanks, not tabs"),
      ("to: forge.db", "to: forge.db\nto: b.db", "to is there twice, in what begins at line 1."),
      ("for: organisations", "for: comments", "its own ancestor"),
      ("key: login", "key: login\n    method: 'P O'", "organisations.method: P O is not"),
      ("key: login", "key: login\n    body: 5", "\"body\" is not an object, a list or a text."),
      ("key: login", "key: login\n    body: {a: '{b}'}", "needs a parent"),
      ("key: login", "key: login\n    since: {field: /t}", "name the query parameter"),
      (
        "key: login", "key: login\n    body: {a: '{since:x}'}\n    since: {field: /t}",
        "has no x. Write {since:value}"
      ),
      (
        "/organisations\n", "/organisations?a={since:value}\n    since: {field: /t}\n",
        "organisations.since.start"
      ),
    ])
  func namesMistakes(old: String, new: String, words: String) async throws {
    let forge = try Forge()
    let file = try forge.file()
    let text = try String(contentsOfFile: file, encoding: .utf8)
    #expect(text.contains(old))
    try text.replacing(old, with: new).write(toFile: file, atomically: true, encoding: .utf8)
    let ending = try await Command.quire(["sync", file])
    #expect(ending.status == 2 && ending.errors.contains(words), "\(ending.errors)")
    #expect(forge.server.requests.isEmpty)
  }

  @Test(
    "16-Sync: a name that is twice in a file of JSON is refused, as YAML refuses it",
    arguments: [
      (
        #"{"listings": {"a": LISTING}, "listings": {"b": LISTING}}"#,
        #"the file: A sync file has "listings" twice;"#
      ),
      (#"{"listings": {"a": LISTING, "a": LISTING}}"#, #"listings: "a" is there twice;"#),
      (
        #"{"client": {"headers": {"X-A": "1", "X-A": "2"}}, "listings": {"a": LISTING}}"#,
        #"client.headers: "X-A" is there twice;"#
      ),
      (
        #"{"to": {"path": "a.db", "path": "b.db"}, "listings": {"a": LISTING}}"#,
        #"to: A destination has "path" twice;"#
      ),
    ])
  func refusesNamesTwice(text: String, words: String) async throws {
    let forge = try Forge()
    let file = (try forge.file() as NSString).deletingPathExtension + ".json"
    let listing = #"{"url": "http://127.0.0.1:1/a", "to": "a.jsonl", "pagination": "github"}"#
    try text.replacing("LISTING", with: listing).write(
      toFile: file, atomically: true, encoding: .utf8)
    let ending = try await Command.quire(["sync", file, "--plan"])
    #expect(
      ending.status == 2 && ending.errors.contains(words), "\(ending.errors)")
  }

  @Test("16-Sync: the plan names what would be done and requests nothing; a restart begins anew")
  func plans() async throws {
    let forge = try Forge()
    let file = try forge.file()
    let plan = try await Command.quire(["sync", file, "--plan"])
    #expect(
      plan.status == 0 && plan.output.contains("repositories: begins a run"), "\(plan.errors)")
    #expect(forge.server.requests.isEmpty)
    #expect(try await Command.quire(["sync", file]).status == 0)
    let later = try await Command.quire(["sync", file, "--plan"])
    #expect(
      later.output.contains("A new round, 2") && later.output.contains("for each of issues (40"))
    let anew = try await Command.quire(["sync", file, "--plan", "--restart"])
    #expect(anew.output.contains("comments: begins anew, "), "\(anew.output)")
    let restarted = try await Command.quire(["sync", file, "--restart"])
    #expect(restarted.status == 0, "\(restarted.errors)")
    #expect(try forge.rows("SELECT count(*) FROM comments") == ["160"])
  }

  @Test("16-Sync: the table of what is known has whole names, whatever they are written in")
  func showsNames() async throws {
    let forge = try Forge()
    let file = try forge.file(
      more: "  🍏🍎🍐🍊🍋🍌🍉🍇:\n    url: \(forge.server.url("/x"))\n    key: id\n    preset: github\n")
    let status = try await Command.quire(["sync", file, "--status"])
    #expect(status.output.contains("\n🍏🍎🍐🍊🍋🍌🍉🍇   "), "\(status.output)\(status.errors)")
  }

  @Test("16-Sync: what a command line cannot be right in is named, before anything is read")
  func namesOptions() async throws {
    let missing = try await Command.quire(["sync", "/nowhere/nope.yaml"])
    #expect(
      missing.status == 2 && missing.errors.contains("cannot read the file /nowhere/nope.yaml")
        && !missing.errors.contains("FILE"), "\(missing.errors)")
    let forge = try Forge()
    for (lease, words) in [("5x", "--lease"), ("30s", "--state postgres://")] {
      let ending = try await Command.quire(["sync", try forge.file(), "--lease", lease])
      #expect(ending.status == 2 && ending.errors.contains(words), "\(ending.errors)")
    }
    for plan in [[], ["--plan"]] {
      let ending = try await Command.quire(
        ["sync", try forge.file(), "--state", "/nowhere/nope.db"] + plan)
      #expect(ending.status == 2 && ending.errors.contains("/nowhere/nope.db"), "\(ending.errors)")
    }
    #expect(forge.server.requests.isEmpty)
  }

  @Test("16-Sync: a parent without what a child's URL needs is an error, or is skipped")
  func needsValues() async throws {
    let forge = try Forge()
    let file = try forge.file()
    let text = try String(contentsOfFile: file, encoding: .utf8)
      .replacing("{n}/comments", with: "{nn}/comments")
    try text.write(toFile: file, atomically: true, encoding: .utf8)
    let failed = try await Command.quire(["sync", file])
    #expect(failed.status == 1, "\(failed.errors)")
    #expect(
      failed.errors.contains("An item of issues has no text or number at /nn"), "\(failed.errors)")
    #expect(!forge.server.requests.contains { $0.path.contains("comments") })
    try text.replacing("for: issues", with: "for: issues\n    missing: skip")
      .write(toFile: file, atomically: true, encoding: .utf8)
    let skipped = try await Command.quire(["sync", file, "--restart"])
    #expect(skipped.errors.contains("0 items, 40 parents without a listing"), "\(skipped.errors)")
  }

  @Test("16-Sync: a mapping merges others by <<, its own members first")
  func mergesMappings() async throws {
    let forge = try Forge()
    let file = try forge.file(
      more: """
          first: &base {url: '\(forge.server.url("/organisations"))', key: login, preset: linkHeader, items: /items}
          second: {<<: *base, key: name, table: other}
          third: {table: more, <<: [{maxItems: 1}, *base]}
        """)
    let plan = try await Command.quire([
      "sync", file, "--plan", "--only", "second", "--only", "third",
    ])
    #expect(plan.status == 0, "\(plan.errors)")
    #expect(
      plan.output.contains("second: begins a run, from \(forge.server.url("/organisations")) to "))
    #expect(plan.output.contains(" other (upsert)") && plan.output.contains(" more (upsert)"))
  }

  @Test(
    "16-Sync: bodies have their parents' values, of whatever type, and what is new is asked for in them"
  )
  func fillsBodies() async throws {
    let server = try FaultServer { request in
      guard request.path == "/graphql" else {
        return [.respond(#"[{"login":"o0","n":7},{"login":"o1","n":8}]"#)]
      }
      let variables = try? JSONDocument(request.body).value(at: "/variables")
      let isSecond = variables?["after"] != nil
      let number = (variables?["n"]?.integer ?? 0) * 10 + (isSecond ? 1 : 0)
      return [
        .respond(
          """
          {"data":{"owner":{"things":{"nodes":[{"id":\(number),"t":"2026-01-01T00:0\(isSecond ? 1 : 0):00Z"}],
          "pageInfo":{"hasNextPage":\(!isSecond),"endCursor":"c"}}}}}
          """)
      ]
    }
    defer { server.stop() }
    let forge = try Forge()
    let file = forge.folder.appending(path: "x.yaml").path
    try """
    to: x.db
    listings:
      owners: {url: "\(server.url("/owners"))", preset: linkHeader, key: login}
      things:
        for: owners
        url: "\(server.url("/graphql"))"
        preset: relay
        items: /data/owner/things/nodes
        body: {query: "{owner}", variables: {owner: "{login}", n: "{n}", since: "{since:value}", words: [a, "{login} {n}"]}}
        key: id
        since: {field: /t, lookBack: 0s}
    """.replacing("\"{owner}\"", with: "\"{ owner }\"").write(
      toFile: file, atomically: true, encoding: .utf8)
    var asked: [[String]] = []
    for _ in 0..<2 {
      let count = server.requests.count
      let ending = try await Command.quire(["sync", file])
      #expect(ending.status == 0, "\(ending.errors)")
      asked.append(
        try server.requests.dropFirst(count).filter { $0.path == "/graphql" }.map {
          #expect($0.method == "POST")
          return try JSONDocument($0.body).value(at: "/variables").map(\.description) ?? ""
        })
    }
    func variables(_ owner: String, _ number: Int, _ since: String, _ after: String = "") -> String
    {
      #"{"owner":"\#(owner)","n":\#(number),"since":\#(since),"words":["a","{login} {n}"]\#(after)}"#
    }
    let new = #""2026-01-01T00:01:00Z""#
    let after = #","after":"c""#
    #expect(
      asked
        == ["null", new].map { since in
          [("o0", 7), ("o1", 8)].flatMap {
            [variables($0.0, $0.1, since), variables($0.0, $0.1, since, after)]
          }
        })
    #expect(
      try forge.rows("SELECT id FROM things ORDER BY id", in: "x.db") == ["70", "71", "80", "81"])
  }

  @Test("16-Lock: a second sync of a file is refused while the first one runs")
  func locks() async throws {
    let forge = try Forge()
    let slow = try FaultServer { _ in [.hold] }
    defer { slow.stop() }
    let file = try forge.file(
      more:
        "  slow:\n    url: \(slow.url("/x"))\n    key: id\n    pagination: {next: {body: /next}, send: {query: page}, items: /items}\n"
    )
    let first = try Command(["sync", file])
    try await slow.received()
    let second = try await Command.quire(["sync", file])
    #expect(second.status == 1 && second.errors.contains("another sync"), "\(second.errors)")
    let running = try await Command.quire(["sync", file, "--status"])
    #expect(running.output.contains("running"), "\(running.output)")
    // The same state by another name.
    let link = forge.folder.appending(path: "link.db").path
    try FileManager.default.createSymbolicLink(
      atPath: link, withDestinationPath: "forge.state.db")
    let linked = try await Command.quire(["sync", file, "--state", link])
    #expect(linked.status == 1 && linked.errors.contains("another sync"), "\(linked.errors)")
    first.send(signal: SIGTERM)
    #expect(try await first.end().status == 143)
    let stopped = try await Command.quire(["sync", file, "--status"])
    #expect(stopped.output.contains("stopped: the same command goes on"), "\(stopped.output)")
  }

  @Test(
    "16-Sync: a run that is stopped before it has stored anything says so, whatever the one before had"
  )
  func countsOwnItems() async throws {
    let isHolding = Mutex(false)
    let server = try FaultServer { _ in
      isHolding.withLock { $0 } ? [.hold] : [.respond(#"[{"id":1},{"id":2}]"#)]
    }
    defer { server.stop() }
    let forge = try Forge()
    let file = forge.folder.appending(path: "x.yaml").path
    try """
    to: x.db
    listings: {things: {url: "\(server.url("/things"))", preset: linkHeader, key: id}}
    """.write(toFile: file, atomically: true, encoding: .utf8)
    #expect(try await Command.quire(["sync", file]).errors.contains("things: complete, 2 items"))
    isHolding.withLock { $0 = true }
    let command = try Command(["sync", file])
    try await server.received(2)
    command.send(signal: SIGTERM)
    let ending = try await command.end()
    #expect(ending.errors.contains("things: interrupted, 0 items"), "\(ending.errors)")
  }

  @Test("16-Sync: the published JSON Schema is that of the tool")
  func publishesSchema() async throws {
    let printed = try await Command.quire(["sync", "--schema"]).output
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let published = try String(
      contentsOf: root.appending(path: "Examples/sync.schema.json"), encoding: .utf8)
    #expect(printed == published)
  }
}

/// Numbers that come again with their seed (SplitMix64).
struct SeededNumbers: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }
}
