import Foundation
import Synchronization
import TestSupport
import Testing

@testable import QuireCommand

@Suite(
  "quire sync on several machines",
  .disabled(if: PostgresServer.programs == nil, "no PostgreSQL server"))
struct SharedSyncTests {
  /// A forge whose copy is in a schema of its own, with comments that would be there twice if they came twice.
  private struct Copy {
    let forge: Forge
    let file: String
    let url: String

    init(
      server: PostgresServer? = nil, failing: @escaping @Sendable (String) -> Int? = { _ in nil }
    ) throws {
      let schema = "s\(UUID())".replacing("-", with: "").lowercased()
      url = try (server ?? PostgresServer.shared.get()).url(schema: schema)
      forge = try Forge(failing: failing)
      file = try forge.file(to: url)
      try change(
        "key: id\n    with: {repository: \"repos", to: "mode: once\n    with: {repository: \"repos")
    }

    func change(_ text: String, to other: String) throws {
      let old = try String(contentsOfFile: file, encoding: .utf8)
      #expect(old.contains(text))
      try old.replacing(text, with: other).write(toFile: file, atomically: true, encoding: .utf8)
    }

    var arguments: [String] { ["sync", file, "--state", url, "--lease", "1s"] }

    func rows(_ sql: String) async throws -> [String] {
      try await Command.run("/usr/bin/psql", "-At", url, "-c", sql).lines
    }

    func hasAll(_ what: String) async throws {
      #expect(
        try await rows("SELECT id, repository, issue FROM comments ORDER BY 1, 2, 3")
          == Forge.allComments.sorted(), "\(what)")
      #expect(
        try await rows("SELECT count(*), count(DISTINCT id) FROM issues") == ["40|40"], "\(what)")
    }
  }

  @Test("16-Machines: three workers share a sync, and each record is there once")
  func shares() async throws {
    let copy = try Copy()
    // No lease is lost, however slow the machine is.
    let arguments = copy.arguments.map { $0 == "1s" ? "60s" : $0 }
    let workers = try (0..<3).map { _ in try Command(arguments) }
    for worker in workers {
      let ending = try await worker.end()
      #expect(ending.status == 0, "\(ending.errors)")
    }
    try await copy.hasAll("three workers")
    // Each page of each unit once. A worker that comes late begins another round, without the comments.
    #expect((copy.forge.server.requests.count - 105) % 25 == 0)
    let status = try await Command.quire(copy.arguments + ["--status"])
    #expect(status.status == 0 && status.output.contains("complete: 40 items"), "\(status.output)")
    let plan = try await Command.quire(copy.arguments + ["--plan"])
    #expect(plan.output.contains("A new round"), "\(plan.output)")
  }

  @Test(
    "16-Machines: workers that are killed, and a server that crashes, leave each record there once",
    .timeLimit(.minutes(15)))
  func survivesKills() async throws {
    let seed = UInt64.random(in: 0 ... .max)
    var random = SeededNumbers(seed)
    let server = try PostgresServer()
    defer { server.stop() }
    let copy = try Copy(server: server)
    var workers = try (0..<3).map { _ in try Command(copy.arguments) }
    for kill in 0..<12 {
      if kill == 5 { try server.crash() }
      let index = Int.random(in: 0..<3, using: &random)
      _ = try await workers[index].end(
        by: SIGKILL, after: .random(in: 1...25, using: &random), at: copy.forge.server)
      workers[index] = try Command(copy.arguments)
    }
    for worker in workers {
      let ending = try await worker.end()
      #expect(ending.status == 0, "seed \(seed): \(ending.errors)")
    }
    try await copy.hasAll("seed \(seed)")
  }

  @Test("16-Machines: a worker tells what it waits for, as a sync on one machine does")
  func tellsWaits() async throws {
    let isAway = Mutex(true)
    let copy = try Copy { _ in
      isAway.withLock { isAway in
        defer { isAway = false }
        return isAway ? 503 : nil
      }
    }
    let ending = try await Command.quire(copy.arguments + ["--log", "json"])
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(
      ending.errors.contains(#"{"listing":"organisations","event":"retry""#), "\(ending.errors)")
  }

  @Test(
    "16-Machines: a state that refuses is told at once, and one that is away is waited for aloud")
  func tellsAwayState() async throws {
    let copy = try Copy()
    let (refusing, away) = (
      copy.url.replacing("quire@", with: "nobody@"), "postgres://quire@127.0.0.1:1/postgres"
    )
    let runs: [(state: String, options: [String])] = [
      (refusing, []), (refusing, ["--plan"]), (away, ["--plan"]), (away, ["--status"]),
    ]
    for (state, options) in runs {
      let ending = try await Command.quire(["sync", copy.file, "--state", state] + options)
      #expect(ending.status == 1, "\(ending.errors)")
      #expect(ending.errors.contains("The database cannot be connected to"), "\(ending.errors)")
    }
    let waiting = try Command(["sync", copy.file, "--state", away])
    await waiting.line {
      $0.contains("cannot be connected to") && $0.contains("Waiting: asking again in")
    }
    waiting.send(signal: SIGINT)
    #expect(try await waiting.end().status == 130)
    let json = try Command(["sync", copy.file, "--state", away, "--log", "json"])
    await json.line { $0.hasPrefix(#"{"event":"retry","message":"The database cannot"#) }
    json.send(signal: SIGINT)
    #expect(try await json.end().status == 130)
  }

  @Test(
    "16-Machines: a worker that is behind knows how a listing ended that the next round has begun")
  func knowsLastRound() async throws {
    let copy = try Copy()
    let file = try SyncFile(path: copy.file, forRequests: false)
    let listing = try #require(file.listings.first)
    let state = SharedSyncState(copy.url, sync: file.name, leaseTime: .seconds(60))
    guard case .units(let record) = try await state.plan(listing, [], 1, waits: false) else {
      Issue.record("The listing is to be read.")
      return
    }
    try await state.end(
      record, listing, 1, as: SyncRun.Outcome(kind: .complete, words: "2 items"), children: [])
    guard case .units = try await state.plan(listing, [], 2, waits: false),
      case .over(let known) = try await state.plan(listing, [], 1, waits: false)
    else {
      Issue.record("The listing is to be read again, and over in the first round.")
      return
    }
    #expect(known.outcome?.description == "complete: 2 items")
    await state.close()
  }

  @Test("16-Machines: what was read in a round of some listings is read again in one of all")
  func endsPartialRounds() async throws {
    let copy = try Copy()
    let state = SharedSyncState(copy.url, sync: "x", leaseTime: .seconds(60))
    let first = try await state.beginRound(of: ["a"])
    #expect(try await state.beginRound(of: ["a"]) == first)
    try await state.endRound(first, isPartial: true)
    #expect(try await state.beginRound(of: []) == first + 1)
    // One of some joins one of all, and does not end it.
    #expect(try await state.beginRound(of: ["a"]) == first + 1)
    try await state.endRound(first + 1, isPartial: true)
    #expect(try await state.beginRound(of: []) == first + 1)
    try await state.endRound(first + 1, isPartial: false)
    // One of some that was stopped is over for one of all.
    #expect(try await state.beginRound(of: ["a"]) == first + 2)
    #expect(try await state.beginRound(of: []) == first + 3)
    await state.close()
  }

  @Test("16-Machines: a unit that fails keeps no other waiting, and goes on in the next round")
  func goesOnAfterFailure() async throws {
    let isFailing = Mutex(true)
    let copy = try Copy { path in
      path == "/repos/o1/r2/issues" && isFailing.withLock { $0 } ? 403 : nil
    }
    let failed = try await Command.quire(copy.arguments)
    #expect(failed.status == 1, "\(failed.errors)")
    #expect(
      failed.errors.contains("issues: incomplete, 1 of 10 parents")
        && failed.errors.contains("comments: skipped"), "\(failed.errors)")
    #expect(try await copy.rows("SELECT count(*) FROM issues") == ["36"])
    isFailing.withLock { $0 = false }
    let ending = try await Command.quire(copy.arguments)
    #expect(ending.status == 0, "\(ending.errors)")
    try await copy.hasAll("after a failure")
  }

  @Test(
    "16-Machines, 16-Increment: a parent that is refused for good keeps no other's changes away",
    arguments: [451, 503])
  func readsOthersWhileOneIsRefused(status: Int) async throws {
    let isFailing = Mutex(false)
    let copy = try Copy { path in
      path == "/repos/o1/r2/issues" && isFailing.withLock { $0 } ? status : nil
    }
    try copy.change(
      "for: repositories",
      to: "for: repositories\n    since: {field: /t, parameter: since, lookBack: 24h}")
    try copy.change("mode: once\n", to: "key: id\n")
    try copy.change("listings:", to: "client: {retries: 0}\nlistings:")
    #expect(try await Command.quire(copy.arguments + ["--restart"]).status == 0)
    isFailing.withLock { $0 = true }
    for round in 1...3 {
      let count = copy.forge.server.requests.count
      let ending = try await Command.quire(copy.arguments + (round == 2 ? ["--restart"] : []))
      #expect(ending.status == 1, "\(ending.errors)")
      #expect(ending.errors.contains("issues: incomplete, 1 of 10 parents"), "\(ending.errors)")
      #expect(ending.errors.contains("comments: complete"), "\(ending.errors)")
      let asked = copy.forge.server.requests.dropFirst(count).map(\.target)
      let read = Set(
        asked.filter { $0.contains("/issues") && !$0.contains("comments") }.map {
          String($0.prefix { $0 != "?" })
        })
      #expect(read.count == 10, "round \(round): \(read)")
      #expect(asked.contains { $0.contains("since=") } == (round != 2), "round \(round)")
      let rows = try await copy.rows("SELECT count(*) FROM issues")
      #expect(rows == [round == 1 ? "40" : "36"], "round \(round)")
    }
    isFailing.withLock { $0 = false }
    let ending = try await Command.quire(copy.arguments)
    #expect(ending.status == 0, "\(ending.errors)")
    try await copy.hasAll("once it is read")
  }

  @Test("16-Machines: where a server is away for all parents, the run is not over, and goes on")
  func goesOnAfterOutage() async throws {
    let isAway = Mutex(true)
    let copy = try Copy { path in
      path.hasSuffix("/issues") && path != "/repos/o0/r0/issues" && isAway.withLock { $0 }
        ? 503 : nil
    }
    try copy.change("listings:", to: "client: {retries: 0}\nlistings:")
    let failed = try await Command.quire(copy.arguments)
    #expect(failed.status == 1, "\(failed.errors)")
    isAway.withLock { $0 = false }
    let ending = try await Command.quire(copy.arguments)
    #expect(ending.status == 0, "\(ending.errors)")
    try await copy.hasAll("after an outage")
  }

  @Test("16-Machines: a run that replaces is seen whole, and one that begins anew takes all away")
  func replaces() async throws {
    let copy = try Copy()
    try copy.change("mode: once", to: "mode: replace")
    for arguments in [[], [], ["--restart"], []] {
      let ending = try await Command.quire(copy.arguments + arguments)
      #expect(ending.status == 0, "\(ending.errors)")
      try await copy.hasAll("\(arguments)")
    }
    #expect(try await copy.rows("SELECT to_regclass('_quire_staged_comments') IS NULL") == ["t"])
  }

  @Test(
    "16-Machines, 16-Short: a unit that falls short is not complete, and a later round reads all anew",
    arguments: ["key: id", "mode: replace"])
  func fallsShort(words: String) async throws {
    let copy = try Copy()
    let lost = Mutex(0)
    let server = try FaultServer { request in
      let count = 4 - (request.target.contains("from=4") ? lost.withLock { $0 } : 0)
      let from = request.target.contains("from=4") ? 4 : 0
      let items = (from..<from + count).map { "{\"id\":\($0)}" }.joined(separator: ",")
      return [.respond("{\"total\":4,\"items\":[\(items)]}")]
    }
    defer { server.stop() }
    let path = copy.forge.folder.appending(path: "short.yaml").path
    let pages = "{next: {body: /next}, send: {query: page}, items: /items, total: {body: /total}}"
    try """
    to: \(copy.url)
    listings:
      x: {url: '\(server.url("/x"))', \(words), pagination: \(pages),
          split: {start: 0, end: 8, every: 4, lower: from, upper: to}}
    """.write(toFile: path, atomically: true, encoding: .utf8)
    let arguments = ["sync", path, "--state", copy.url]
    for (number, isShort) in [false, true, true, false].enumerated() {
      lost.withLock { $0 = isShort ? 1 : 0 }
      let ending = try await Command.quire(arguments)
      #expect(ending.status == (isShort ? 1 : 0), "round \(number): \(ending.errors)")
      #expect(ending.errors.contains("1 fewer than the server had declared") == isShort)
      #expect(try await copy.rows("SELECT count(*), count(DISTINCT id) FROM x") == ["8|8"])
      let status = try await Command.quire(arguments + ["--status"])
      #expect(status.output.contains(isShort ? "incomplete: " : " complete: 8"), "\(status.output)")
    }
  }

  @Test(
    "16-Machines: later rounds ask each parent's listing for what has changed since its own last one"
  )
  func readsIncrements() async throws {
    let copy = try Copy()
    try copy.change(
      "for: repositories",
      to: "for: repositories\n    since: {field: /t, parameter: since, lookBack: 24h}")
    for _ in 0..<2 {
      let ending = try await Command.quire(copy.arguments)
      #expect(ending.status == 0, "\(ending.errors)")
    }
    let asked = copy.forge.server.requests.filter { $0.target.contains("since=") }
    #expect(asked.count == 10)
    #expect(asked.allSatisfy { $0.target.contains("since=2026-01-03T00%3A00%3A00Z") })
    try await copy.hasAll("increments")
  }

  @Test("16-Machines: parents whose listing is not there, and skipped, are counted")
  func countsSkipped() async throws {
    let copy = try Copy { $0 == "/repos/o1/r2/issues" ? 404 : nil }
    try copy.change("for: repositories", to: "for: repositories\n    missing: skip")
    let ending = try await Command.quire(copy.arguments)
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(ending.errors.contains("36 items, 1 parent without a listing"), "\(ending.errors)")
  }

  @Test("16-Machines: that deletions were missed while a token expired is told")
  func tellsMissedDeletions() async throws {
    let server = try SyncPartTests.changes()
    defer { server.stop() }
    let copy = try Copy()
    try """
    to: \(copy.url)
    listings:
      items: {url: '\(server.url("/items"))', preset: graphDelta, key: id, changes: true, deleted: '/@removed'}
    """.write(toFile: copy.file, atomically: true, encoding: .utf8)
    for run in 1...3 {
      let ending = try await Command.quire(copy.arguments)
      #expect(ending.status == 0, "\(ending.errors)")
      #expect(ending.errors.contains("while the token expired stays") == (run == 3))
    }
    #expect(
      try await copy.rows("SELECT id, n FROM items ORDER BY id") == ["1|a", "2|b", "3|c", "4|d"])
  }

  @Test(
    "16-Machines: of parents that need the same values, one that is gone takes none from the others"
  )
  func keepsSharedValues() async throws {
    let copy = try Copy()
    let parents = SyncPartTests.NamedParents(#"{"id":1,"n":"a","t":1}"#)
    let server = try parents.serve()
    defer { server.stop() }
    let pages = "pagination: {next: {body: /next}, send: {query: page}, items: /items}"
    try """
    to: \(copy.url)
    listings:
      parents: {url: '\(server.url("/parents"))', key: id, deleted: /gone, since: {field: /t, parameter: after}, \(pages)}
      children: {url: '\(server.url("/{n}/x"))', for: parents, key: id, with: {n: n}, \(pages)}
    """.write(toFile: copy.file, atomically: true, encoding: .utf8)
    #expect(try await Command.quire(copy.arguments).status == 0)
    for items in [
      #"{"id":2,"n":"s","t":2},{"id":3,"n":"s","t":2},{"id":4,"n":"d","t":2},{"id":5,"n":"d","t":2}"#,
      #"{"id":3,"gone":true,"t":3},{"id":4,"gone":true,"t":3},{"id":5,"gone":true,"t":3}"#,
      #"{"id":6,"n":"s","t":4},{"id":7,"n":"f","t":4},{"id":8,"n":"f","t":4}"#,
      #"{"id":8,"n":"g","t":5}"#,
    ] {
      parents.items.withLock { $0 = items }
      let ending = try await Command.quire(copy.arguments + ["--only", "parents"])
      #expect(ending.status == 0, "\(ending.errors)")
    }
    let count = server.requests.count
    let ending = try await Command.quire(copy.arguments + ["--only", "children"])
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(server.requests.dropFirst(count).map(\.path) == ["/s/x", "/f/x", "/g/x"])
  }

  @Test("16-Machines: parents that changed in rounds without their children are read by the next")
  func readsChangedParentsOfAllRounds() async throws {
    let copy = try Copy()
    let family = SyncPartTests.Family([1: 1, 2: 2, 3: 3], [1: [10: 1], 2: [20: 2], 3: [30: 3]])
    let server = try family.serve()
    defer { server.stop() }
    let pages = "pagination: {next: {body: /next}, send: {query: page}, items: /items}"
    try """
    to: \(copy.url)
    listings:
      parents: {url: '\(server.url("/parents"))', key: id, since: {field: /t, parameter: after}, \(pages)}
      children: {url: '\(server.url("/{id}/x?t={t}"))', for: parents, key: id, \(pages)}
    """.write(toFile: copy.file, atomically: true, encoding: .utf8)
    #expect(try await Command.quire(copy.arguments).status == 0)
    for (parent, time) in [(1, 10), (1, 11), (2, 12), (3, 13)] {
      family.children.withLock { $0[parent]?[parent * 10 + 1] = time }
      family.parents.withLock { $0[parent] = time }
      let ending = try await Command.quire(copy.arguments + ["--only", "parents"])
      #expect(ending.status == 0, "\(ending.errors)")
    }
    let count = server.requests.count
    let ending = try await Command.quire(copy.arguments)
    #expect(ending.status == 0, "\(ending.errors)")
    // Each once, though the first one was noted by two rounds, with other values.
    let asked = server.requests.dropFirst(count).map(\.target).filter { $0.contains("/x?t=") }
    #expect(asked.sorted() == ["/1/x?t=11", "/2/x?t=12", "/3/x?t=13"])
    let all = ["10", "11", "20", "21", "30", "31"]
    #expect(try await copy.rows("SELECT id FROM children ORDER BY id") == all)
  }

  @Test(
    "16-Machines: parents that are not read again, and that a lost state knew, are not taken for none",
    arguments: ["mode: once", "mode: append, key: id, since: {field: /t, parameter: after}"])
  func refusesUnknownParents(words: String) async throws {
    let copy = try Copy()
    let server = try SyncPartTests.Family([1: 1], [1: [10: 1]]).serve()
    defer { server.stop() }
    let pages = "pagination: {next: {body: /next}, send: {query: page}, items: /items}"
    try """
    to: \(copy.url)
    listings:
      parents: {url: '\(server.url("/parents"))', \(words), \(pages)}
      children: {url: '\(server.url("/{id}/x"))', for: parents, key: id, \(pages)}
    """.write(toFile: copy.file, atomically: true, encoding: .utf8)
    for _ in 1...2 { #expect(try await Command.quire(copy.arguments).status == 0) }
    _ = try await copy.rows(
      "DROP TABLE _quire_rounds, _quire_listings, _quire_parents, _quire_leases")
    for _ in 1...2 {
      let refused = try await Command.quire(copy.arguments)
      #expect(
        refused.status == 1 && refused.errors.contains("--restart --only parents begins anew"),
        "\(refused.errors)")
    }
    let anew = try await Command.quire(copy.arguments + ["--restart"])
    #expect(anew.status == 0, "\(anew.errors)")
    #expect(try await copy.rows("SELECT id FROM children") == ["10"])
  }

  @Test("16-Machines: another destination is not filled for changed parents alone")
  func refusesEmptyDestination() async throws {
    let copy = try Copy()
    let family = SyncPartTests.Family([1: 1, 2: 2], [1: [10: 1], 2: [:]])
    let server = try family.serve()
    defer { server.stop() }
    let pages = "pagination: {next: {body: /next}, send: {query: page}, items: /items}"
    let text = """
      to: \(copy.url)
      listings:
        parents: {url: '\(server.url("/parents"))', key: id, since: {field: /t, parameter: after}, \(pages)}
        children: {url: '\(server.url("/{id}/x"))', for: parents, table: first, key: id, \(pages)}
      """
    try text.write(toFile: copy.file, atomically: true, encoding: .utf8)
    for _ in 1...2 { #expect(try await Command.quire(copy.arguments).status == 0) }
    try text.replacing("first", with: "second").write(
      toFile: copy.file, atomically: true, encoding: .utf8)
    family.parents.withLock { $0[2] = 3 }
    for _ in 1...2 {
      let refused = try await Command.quire(copy.arguments)
      #expect(
        refused.status == 1
          && refused.errors.contains("--restart --only parents --only children."),
        "\(refused.errors)")
    }
    let anew = try await Command.quire(
      copy.arguments + ["--restart", "--only", "parents", "--only", "children"])
    #expect(anew.status == 0, "\(anew.errors)")
    #expect(try await copy.rows("SELECT id FROM second") == ["10"])
    // Where all is empty, all is read.
    try text.replacing("first", with: "third").replacing(
      "key: id, since", with: "key: id, table: all, since"
    )
    .write(toFile: copy.file, atomically: true, encoding: .utf8)
    for _ in 1...2 {
      let ending = try await Command.quire(copy.arguments)
      #expect(ending.status == 0, "\(ending.errors)")
    }
    #expect(try await copy.rows("SELECT id FROM third") == ["10"])
  }

  @Test("16-Machines: a listing whose name ends like a work of another one has units of its own")
  func tellsWorksApart() async throws {
    let copy = try Copy()
    let names = ["a", "a begin", "a end", "a units", "a end units"]
    let server = try FaultServer { _ in [.respond(#"{"items":[{"id":1}]}"#)] }
    defer { server.stop() }
    let listings = names.map {
      "  \($0): {url: '\(server.url("/x"))', key: id, pagination: {next: {body: /next}, send: {query: p}, items: /items}}\n"
    }
    try "to: \(copy.url)\nlistings:\n\(listings.joined())".write(
      toFile: copy.file, atomically: true, encoding: .utf8)
    for _ in 0..<2 {
      let ending = try await Command.quire(copy.arguments)
      #expect(ending.status == 0, "\(ending.errors)")
    }
    for name in names { #expect(try await copy.rows("SELECT id FROM \"\(name)\"") == ["1"]) }
    #expect(server.requests.count == 2 * names.count)
  }

  @Test(
    "16-Machines: a destination on one machine is refused, and a worker's stop gives its unit back")
  func refuses() async throws {
    let copy = try Copy()
    let local = try copy.forge.file(to: "forge.db", named: "local.yaml")
    for plan in [[], ["--plan"]] {
      let refused = try await Command.quire(["sync", local, "--state", copy.url] + plan)
      #expect(
        refused.status == 2 && refused.errors.contains("is on one machine"), "\(refused.errors)")
      let parallel = try await Command.quire(copy.arguments + ["--parallel", "2"] + plan)
      #expect(
        parallel.status == 2 && parallel.errors.contains("--parallel is for one machine"),
        "\(parallel.errors)")
    }
    let short = try await Command.quire(Array(copy.arguments.dropLast()) + ["0"])
    #expect(short.status == 2 && short.errors.contains("needs a second"), "\(short.errors)")
    let slow = try FaultServer { _ in [.hold] }
    defer { slow.stop() }
    let text =
      "to: \(copy.url)\nlistings: {slow: {url: \(slow.url("/x")), key: id, preset: github}}\n"
    let path = copy.forge.folder.appending(path: "slow.yaml").path
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    let worker = try Command(["sync", path, "--state", copy.url])
    try await slow.received()
    let restart = try await Command.quire(["sync", path, "--state", copy.url, "--restart"])
    #expect(restart.status == 1 && restart.errors.contains("another machine"), "\(restart.errors)")
    worker.send(signal: SIGTERM)
    #expect(try await worker.end().status == 143)
    #expect(
      try await copy.rows("SELECT state, until IS NULL FROM _quire_leases WHERE work = 'slow/slow'")
        == ["open|t"])
  }
}
