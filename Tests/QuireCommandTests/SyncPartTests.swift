import Foundation
import GRDB
import Synchronization
import TestSupport
import Testing

@Suite("quire sync in parts and by changes") struct SyncPartTests {
  /// A folder with a sync file, and what its database holds.
  final class Copy {
    let folder: URL
    let file: String

    init(_ listing: String, client: String = "{}") throws {
      folder = FileManager.default.temporaryDirectory.appending(path: "quire-\(UUID())")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      file = folder.appending(path: "x.yaml").path
      try "to: x.db\nclient: \(client)\nlistings:\n  items: \(listing)\n".write(
        toFile: file, atomically: true, encoding: .utf8)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func run(_ arguments: String...) async throws -> Command.Ending {
      try await Command.quire(["sync", file] + arguments)
    }

    func rows(_ sql: String) throws -> [String] {
      try DatabaseQueue(path: folder.appending(path: "x.db").path).read {
        try Row.fetchAll($0, sql: sql).map { row in
          row.map { "\($1)".trimmingCharacters(in: ["\""]) }.joined(separator: "|")
        }
      }
    }
  }

  static let pages =
    #"{next: {body: /next}, send: {query: page}, items: /items, policy: {failure: [{when: {status: [422]}, class: window}]}}"#

  /// Items 0 to 99 between two keys, ten to a page, of which it gives thirty.
  private static func server() throws -> FaultServer {
    try FaultServer { request in
      let query = Query(request.target)
      let (from, to) = (query.number("from") ?? 0, query.number("to") ?? 100)
      let start = query.number("page") ?? 0
      guard start < 30 else { return [.respond("{\"message\":\"no more\"}", status: "422 No")] }
      let all = (0..<100).filter { $0 >= from && $0 < to }
      let items = all.dropFirst(start).prefix(10).map { "{\"id\":\($0)}" }.joined(separator: ",")
      let next = start + 10 < all.count ? ",\"next\":\(start + 10)" : ""
      return [.respond("{\"items\":[\(items)]\(next)}")]
    }
  }

  @Test(
    "16-Parts: a listing of a sync is read in parts, which are halved where the server gives no more",
    arguments: [
      "url: URL/items, split: {start: 0, end: 100, every: 90, lower: from, upper: to}",
      "url: 'URL/items?from={split:lower}&to={split:upper}', split: {start: 0, end: 100, every: 1000}",
    ])
  func splits(words: String) async throws {
    let server = try Self.server()
    defer { server.stop() }
    let copy = try Copy(
      "{\(words.replacing("URL", with: server.url(""))), mode: append, pagination: \(Self.pages)}")
    let ending = try await copy.run()
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(
      try copy.rows("SELECT count(*), count(DISTINCT id), max(id) FROM items") == ["100|100|99"])
  }

  /// Pages of ten of so many items as there are, declared to be so many.
  private static func counting(
    _ state: @escaping @Sendable () -> (count: Int, total: Int)
  ) throws -> FaultServer {
    try FaultServer { request in
      let start = Query(request.target).number("page") ?? 0
      let (count, total) = state()
      let items = (start..<max(start, min(count, start + 10))).map { "{\"id\":\($0)}" }
      let next = start + 10 < count ? ",\"next\":\(start + 10)" : ""
      return [.respond("{\"total\":\(total),\"items\":[\(items.joined(separator: ","))]\(next)}")]
    }
  }

  private static let counted =
    "{next: {body: /next}, send: {query: page}, items: /items, total: {body: /total}}"

  @Test(
    "16-Short: a listing with fewer items than declared is not complete, fails the sync, and is read anew",
    arguments: [
      "key: id", "mode: replace", "split: {start: 0, end: 9, every: 9, lower: a, upper: b}",
    ])
  func fallsShort(words: String) async throws {
    let state = Mutex((count: 30, total: 30))
    let server = try Self.counting { state.withLock { $0 } }
    defer { server.stop() }
    let copy = try Copy("{url: '\(server.url("/x"))', \(words), pagination: \(Self.counted)}")
    #expect(try await copy.run().status == 0)
    for round in 0..<2 {
      state.withLock { $0 = (20, 30) }
      let requests = server.requests.count
      let short = try await copy.run()
      #expect(short.status == 1, "\(short.errors)")
      #expect(
        short.errors.contains("incomplete, 20 items, 10 fewer than the server had declared"),
        "\(short.errors)")
      #expect(server.requests.count == requests + 2, "round \(round)")
      #expect(try copy.rows("SELECT count(*) FROM items") == ["30"])
      #expect(try await copy.run("--status").output.contains("incomplete: 20 items"))
    }
    state.withLock { $0 = (31, 31) }
    let whole = try await copy.run()
    #expect(whole.status == 0, "\(whole.errors)")
    #expect(try copy.rows("SELECT count(*), count(DISTINCT id) FROM items") == ["31|31"])
    #expect(try await copy.run("--status").output.contains("complete: 31 items"))
  }

  @Test(
    "16-Short: a listing that is read once and fell short is read anew, until it is whole",
    arguments: ["mode: once", "mode: once, key: id"])
  func readsOnceAgain(words: String) async throws {
    let state = Mutex((count: 20, total: 30))
    let server = try Self.counting { state.withLock { $0 } }
    defer { server.stop() }
    let copy = try Copy("{url: '\(server.url("/x"))', \(words), pagination: \(Self.counted)}")
    for _ in 0..<2 {
      let short = try await copy.run()
      #expect(short.status == 1 && short.errors.contains("10 fewer"), "\(short.errors)")
      #expect(try copy.rows("SELECT count(*) FROM items") == ["20"])
    }
    #expect(try await copy.run("--plan").output.contains("items: begins anew"))
    state.withLock { $0 = (30, 30) }
    let whole = try await copy.run()
    #expect(whole.status == 0, "\(whole.errors)")
    let requests = server.requests.count
    #expect(try await copy.run().status == 0 && server.requests.count == requests)
    #expect(try copy.rows("SELECT count(*), count(DISTINCT id) FROM items") == ["30|30"])
  }

  @Test("16-Short: the listing of one parent that falls short makes the whole one incomplete")
  func parentFallsShort() async throws {
    let server = try FaultServer { request in
      let start = Query(request.target).number("page") ?? 0
      guard request.path != "/parents" else {
        return [.respond(#"{"total":2,"items":[{"id":1},{"id":2}]}"#)]
      }
      let count = request.path.hasPrefix("/1/") ? 4 : 3
      let items = (start..<min(count, start + 2)).map { "{\"id\":\"\(request.path)\($0)\"}" }
      let next = start + 2 < count ? ",\"next\":\(start + 2)" : ""
      return [.respond("{\"total\":4,\"items\":[\(items.joined(separator: ","))]\(next)}")]
    }
    defer { server.stop() }
    let copy = try Copy(
      "{url: '\(server.url("/{id}/x"))', for: parents, pagination: \(Self.counted)}\n"
        + "  parents: {url: '\(server.url("/parents"))', key: id, pagination: \(Self.counted)}")
    let ending = try await copy.run()
    #expect(ending.status == 1, "\(ending.errors)")
    #expect(
      ending.errors.contains("parents: complete, 2 items")
        && ending.errors.contains("items: incomplete, 7 items, 1 fewer"), "\(ending.errors)")
  }

  @Test("16-Short, 16-Limit: what a parent's listing lacks counts once where a limit cut its page")
  func countsMissingOnce() async throws {
    let server = try FaultServer { request in
      let items = request.path == "/parents" ? [1] : [1, 2, 3]
      let texts = items.map { "{\"id\":\($0)}" }.joined(separator: ",")
      return [.respond("{\"total\":\(items.count == 1 ? 1 : 4),\"items\":[\(texts)]}")]
    }
    defer { server.stop() }
    let copy = try Copy(
      "{url: '\(server.url("/{id}/x"))', for: parents, key: id, maxItems: 2, pagination: \(Self.counted)}\n"
        + "  parents: {url: '\(server.url("/parents"))', key: id, pagination: \(Self.counted)}")
    let limited = try await copy.run()
    #expect(limited.status == 0 && limited.errors.contains("items: limited"), "\(limited.errors)")
    let short = try await copy.run()
    #expect(
      short.status == 1 && short.errors.contains("items: incomplete, 3 items, 1 fewer"),
      "\(short.errors)")
  }

  @Test("16-Limit: a listing with a limit goes on behind it in each run, until it has all")
  func goesOnBehindLimit() async throws {
    for limit in ["maxItems: 25", "maxPages: 2"] {
      let server = try Self.counting { (45, 45) }
      defer { server.stop() }
      let copy = try Copy(
        "{url: '\(server.url("/x"))', mode: append, \(limit), pagination: \(Self.counted)}")
      var counts: [String] = []
      for _ in 0..<3 {
        let ending = try await copy.run()
        #expect(ending.status == 0, "\(ending.errors)")
        counts += try copy.rows("SELECT count(*) FROM items")
        if counts.last == "45" { break }
        #expect(ending.errors.contains("limited") && ending.errors.contains("the next goes on"))
      }
      #expect(counts == (limit == "maxPages: 2" ? ["20", "40", "45"] : ["25", "45"]))
      #expect(try copy.rows("SELECT count(DISTINCT id) FROM items") == ["45"])
      #expect(try await copy.run("--status").output.contains("complete: 45 items"))
    }
  }

  /// A server of 250 parents, of which every hundredth has an item, and parts that have none before the last.
  @Test(
    "16-Parts, 16-Sync: however many parents or parts have no items, the others are read",
    arguments: ["children", "missing", "parts"])
  func passesEmpty(kind: String) async throws {
    let server = try FaultServer { request in
      let target = request.target
      if target.hasPrefix("/p?") || target == "/p" {
        let parents = (1...250).map { "{\"id\":\($0)}" }.joined(separator: ",")
        // Half a surrogate pair is no text that an address could have.
        let odd = kind == "missing" ? #",{"id":"\ud83d"}"# : ""
        return [.respond("{\"items\":[\(parents)\(odd)]}")]
      }
      if target.hasPrefix("/parts") {
        let from = Query(target).number("from") ?? 0
        return [.respond("{\"items\":[\(from == 249 ? "{\"id\":1}" : "")]}")]
      }
      let parent = Int(target.split(separator: "?")[0].dropFirst(3)) ?? 0
      if parent % 100 == 0 { return [.respond("{\"items\":[{\"id\":\(parent)}]}")] }
      return [
        kind == "missing"
          ? .respond("{}", status: "404 Not Found") : .respond("{\"items\":[]}")
      ]
    }
    defer { server.stop() }
    let pages = "pagination: {next: {body: /next}, send: {query: page}, items: /items}"
    let copy = try Copy(
      kind == "parts"
        ? "{url: \(server.url("/parts")), key: id, \(pages), split: {start: 0, end: 250, every: 1, lower: from, upper: to}}"
        : "{url: '\(server.url("/c/{id}"))', for: p, key: id, missing: skip, \(pages)}\n  p: {url: \(server.url("/p")), key: id, \(pages)}"
    )
    for _ in 0..<2 {
      let ending = try await copy.run()
      #expect(ending.status == 0, "\(ending.errors.suffix(500))")
    }
    #expect(try copy.rows("SELECT id FROM items") == (kind == "parts" ? ["1"] : ["100", "200"]))
  }

  @Test(
    "16-Increment, 16-Sync: what changes of a parent while its listing fails is read once it does not",
    arguments: ["status", "cursor"])
  func readsLeftOut(kind: String) async throws {
    let state = Mutex((isFailing: false, time: "01"))
    let server = try FaultServer { request in
      let target = request.target
      guard target.hasPrefix("/c/") else {
        return [.respond(#"{"items":[{"id":1},{"id":2},{"id":3}]}"#)]
      }
      let (isFailing, time) = state.withLock { $0 }
      let id = target.dropFirst(3).first.map(String.init) ?? ""
      let next = isFailing && id == "2" && kind == "cursor" ? #","next":{"a":"\u0001"}"# : ""
      if isFailing, id == "2", kind == "status" {
        return [.respond("{}", status: "403 Forbidden")]
      }
      // Parent 2 changes while it fails, the others behind that.
      let (number, day) = (id == "2" ? 2 : 3, id == "2" && time == "03" ? "02" : time)
      let since = target.split(separator: "s=").dropFirst().first.map(String.init) ?? ""
      let value = "2024-01-\(day)T00:00:00Z"
      let isNew = !next.isEmpty ? false : since.prefix(10) <= value.prefix(10)
      return [
        .respond(
          "{\"items\":[\(isNew ? "{\"id\":\(id),\"n\":\(number),\"t\":\"\(value)\"}" : "")]\(next)}"
        )
      ]
    }
    defer { server.stop() }
    let pages = "pagination: {next: {body: /next}, send: {query: page}, items: /items}"
    let copy = try Copy(
      "{url: '\(server.url("/c/{id}"))', for: p, key: id, since: {field: /t, parameter: s}, \(pages)}\n"
        + "  p: {url: \(server.url("/p")), key: id, \(pages)}")
    func days() throws -> [String] {
      try copy.rows("SELECT substr(t, 9, 2) FROM items ORDER BY id")
    }
    #expect(try await copy.run().status == 0)
    #expect(try days() == ["01", "01", "01"])
    state.withLock { $0 = (true, "03") }
    let left = try await copy.run()
    #expect(left.status == 1 && left.errors.contains("left out 1 parent"), "\(left.errors)")
    #expect(try days() == ["03", "01", "03"])
    state.withLock { $0.isFailing = false }
    let ending = try await copy.run()
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(try days() == ["03", "02", "03"])
  }

  @Test("16-Sync: a state that is something else, or damaged, is named, and stays as it is")
  func namesDamagedState() async throws {
    let copy = try Copy("{url: 'http://127.0.0.1:1/x', pagination: \(Self.pages)}")
    let state = copy.folder.appending(path: "x.state.db")
    let text = Data(String(repeating: "no state of a sync\n", count: 100).utf8)
    try text.write(to: state)
    let ending = try await copy.run()
    #expect(
      ending.status == 1 && ending.errors.contains("x.state.db is not what"), "\(ending.errors)")
    #expect(try Data(contentsOf: state) == text)
  }

  @Test(
    "16-Sync: a run in the middle of parents that a lost state knew is refused, not gone on with among others"
  )
  func refusesUnknownParents() async throws {
    let family = Family([1: 1, 2: 2, 3: 3], [1: [10: 1], 2: [20: 2], 3: [30: 3]])
    let server = try family.serve()
    defer { server.stop() }
    let copy = try Copy(
      "{url: '\(server.url("/{id}/x"))', for: parents, key: id, maxItems: 2, pagination: \(Self.pages)}\n"
        + "  parents: {url: '\(server.url("/parents"))', key: id, pagination: \(Self.pages)}")
    #expect(try await copy.run().errors.contains("items: limited, 2 items"))
    try FileManager.default.removeItem(at: copy.folder.appending(path: "x.state.db"))
    // As many parents as before, and another one in front of the last.
    family.parents.withLock { $0 = [0: 0, 1: 1, 3: 3] }
    family.children.withLock { $0[0] = [5: 1] }
    let refused = try await copy.run()
    #expect(
      refused.status == 1 && refused.errors.contains("parents that are not known any more"),
      "\(refused.errors)")
    let anew = try await copy.run("--restart", "--only", "items")
    #expect(anew.status == 0, "\(anew.errors)")
    #expect(try await copy.run().status == 0)
    #expect(try copy.rows("SELECT id FROM items ORDER BY id") == ["5", "10", "30"])
  }

  @Test(
    "16-Sync: what the file did not ask of parents when they were read is not taken for null",
    arguments: ["with: {changed: t}", "url: 'URL/{t}/x', missing: skip"])
  func needsNotedValues(words: String) async throws {
    let family = Family([1: 1, 2: 2], [1: [10: 1], 2: [20: 2]])
    let server = try family.serve()
    defer { server.stop() }
    let url = words.hasPrefix("url") ? "" : "url: 'URL/{id}/x', "
    func file(_ words: String) -> String {
      """
      to: x.db
      listings:
        parents: {url: 'URL/parents', mode: replace, pagination: \(Self.pages)}
        items: {\(words), for: parents, pagination: \(Self.pages)}
      """.replacing("URL", with: server.url(""))
    }
    let copy = try Copy("{}")
    try file("url: 'URL/{id}/x'").write(toFile: copy.file, atomically: true, encoding: .utf8)
    #expect(try await copy.run().status == 0)
    try file(url + words).write(toFile: copy.file, atomically: true, encoding: .utf8)
    for arguments in [["--only", "items"], []] {
      let plan = try await Command.quire(["sync", copy.file, "--plan"] + arguments)
      let isRefused = plan.output.contains("items: is refused, The items of parents were read")
      #expect(
        isRefused != arguments.isEmpty && plan.status == (isRefused ? 1 : 0), "\(plan.output)")
    }
    for _ in 1...2 {
      let refused = try await copy.run("--only", "items")
      #expect(
        refused.status == 1
          && refused.errors.contains(
            "The items of parents were read before the file asked for /t of them."),
        "\(refused.errors)")
      #expect(try copy.rows("SELECT id FROM items ORDER BY id") == ["10", "20"])
    }
    let ending = try await copy.run()
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(try copy.rows("SELECT id FROM items ORDER BY id") == ["10", "20"])
  }

  @Test("16-Increment: where the file adds a member of the parent, all items get it")
  func addsMembers() async throws {
    let family = Family([1: 1, 2: 2], [1: [10: 5], 2: [20: 6]])
    let server = try family.serve()
    defer { server.stop() }
    let since = "since: {field: /t, parameter: after}"
    let copy = try Copy(
      "{url: '\(server.url("/{id}/x"))', for: parents, key: id, \(since), pagination: \(Self.pages)}\n"
        + "  parents: {url: '\(server.url("/parents"))', key: id, pagination: \(Self.pages)}")
    #expect(try await copy.run().status == 0)
    let text = try String(contentsOfFile: copy.file, encoding: .utf8)
    try text.replacing(since, with: "\(since), with: {parent: id}")
      .write(toFile: copy.file, atomically: true, encoding: .utf8)
    for _ in 1...2 {
      let ending = try await copy.run()
      #expect(ending.status == 0, "\(ending.errors)")
      #expect(try copy.rows("SELECT id, parent FROM items ORDER BY id") == ["10|1", "20|2"])
    }
    #expect(server.requests.suffix(2).map(\.target) == ["/1/x?after=5", "/2/x?after=6"])
  }

  @Test("16-Increment: items of XML with members of the parent are still read by XML paths")
  func addsMembersToXML() async throws {
    let server = try FaultServer { request in
      guard request.path != "/parents" else { return [.respond(#"{"items":[{"id":1},{"id":2}]}"#)] }
      return [
        .respond(
          "<r xmlns:p='u'><i><l r='x' h='y'/><p:n>\(request.path)</p:n><l/><p:t>5</p:t></i></r>",
          headers: [("Content-Type", "application/xml")])
      ]
    }
    defer { server.stop() }
    let copy = try Copy(
      "{url: '\(server.url("/{id}/x"))', for: parents, with: {parent: id}, key: n, "
        + "since: {field: /t, parameter: after}, columns: [parent, n, \"h=/l[@r='x']/@h\"], "
        + "pagination: {next: linkHeader, items: /r/i}}\n"
        + "  parents: {url: '\(server.url("/parents"))', key: id, pagination: \(Self.pages)}")
    for _ in 1...2 {
      let ending = try await copy.run()
      #expect(ending.status == 0, "\(ending.errors)")
      #expect(
        try copy.rows("SELECT parent, n, h FROM items ORDER BY n") == ["1|/1/x|y", "2|/2/x|y"])
    }
    #expect(server.requests.suffix(2).map(\.target) == ["/1/x?after=5", "/2/x?after=5"])
  }

  @Test("16-Sync: a restart that is stopped at a parent begins its children anew, too")
  func keepsRestart() async throws {
    let family = Family([1: 1, 2: 2], [1: [10: 1], 2: [20: 2]])
    let server = try family.serve()
    defer { server.stop() }
    let copy = try Copy(
      "{url: '\(server.url("/{id}/x"))', for: parents, key: id, pagination: \(Self.pages)}\n"
        + "  parents: {url: '\(server.url("/parents"))', key: id, pagination: \(Self.pages)}")
    #expect(try await copy.run().status == 0)
    family.children.withLock { $0[2] = [21: 2] }
    let killed = try await Command(["sync", copy.file, "--restart"]).end(
      by: SIGKILL, after: 1, at: server)
    #expect(killed.wasKilled)
    let plan = try await copy.run("--plan")
    #expect(plan.output.contains("items: begins anew"), "\(plan.output)")
    let ending = try await copy.run()
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(try copy.rows("SELECT id FROM items ORDER BY id") == ["10", "21"])
    #expect(try await copy.run("--plan").output.contains("items: begins a run"))
  }

  @Test("16-Sync: a value of the parent takes the place of no member that items have")
  func displacesNothing() async throws {
    let server = try FaultServer { _ in [.respond(#"{"items":[{"id":1,"own":2}]}"#)] }
    defer { server.stop() }
    let pages = "pagination: {next: {body: /next}, send: {query: page}, items: /items}"
    for (name, status) in [("own", 1), ("parent", 0)] {
      let copy = try Copy(
        "{url: '\(server.url("/c/{id}"))', for: p, with: {\(name): id}, key: id, \(pages)}\n"
          + "  p: {url: \(server.url("/p")), key: id, \(pages)}")
      let ending = try await copy.run()
      #expect(ending.status == Int32(status), "\(ending.errors)")
      #expect(ending.errors.contains("have a member own of their own") == (status == 1))
    }
  }

  @Test("16-Increment: what another request or another field has shown is not sent")
  func beginsAnew() async throws {
    let server = try FaultServer { _ in
      [.respond("{\"items\":[{\"id\":7,\"t\":\"2024-05-01T00:00:00Z\"}]}")]
    }
    defer { server.stop() }
    let pages = "pagination: {next: {body: /next}, send: {query: page}, items: /items}"
    let copy = try Copy(
      "{url: \(server.url("/x")), key: id, since: {field: /t, parameter: s}, \(pages)}")
    func lastRequest(_ old: String, _ new: String) async throws -> String {
      let text = try String(contentsOfFile: copy.file, encoding: .utf8)
      try text.replacing(old, with: new).write(toFile: copy.file, atomically: true, encoding: .utf8)
      let ending = try await copy.run()
      #expect(ending.status == 0, "\(ending.errors.suffix(500))")
      return try #require(server.requests.last).target
    }
    #expect(try await lastRequest("", "") == "/x")
    #expect(try await lastRequest("key:", "key:").contains("s=2024"))
    #expect(try await lastRequest("key: id", "parameters: {state: no}, key: id") == "/x?state=no")
    #expect(try await lastRequest("key:", "key:").contains("s=2024"))
    #expect(try await lastRequest("field: /t", "field: /id") == "/x?state=no")
    #expect(try await lastRequest("key:", "key:").contains("s=7"))
  }

  @Test(
    "16-Changes: what is gone may be told by a truth value, and a zero or a blank tells nothing")
  func goneByTruth() async throws {
    let server = try FaultServer { _ in
      [.respond(#"{"items":[{"id":1,"on":true},{"id":2,"on":false},{"id":3,"on":0}]}"#)]
    }
    defer { server.stop() }
    for (deleted, kept) in [("{field: /on, value: false}", ["1", "3"]), ("/on", ["2", "3"])] {
      let copy = try Copy(
        "{url: \(server.url("/x")), key: id, deleted: \(deleted), pagination: {next: {body: /next}, send: {query: page}, items: /items}}"
      )
      #expect(try await copy.run().status == 0)
      #expect(try copy.rows("SELECT id FROM items ORDER BY id") == kept)
    }
  }

  @Test(
    "16-Sync, H-8: a child's URL that is the same for all parents is refused, and a plan shows no secret"
  )
  func refusesSame() async throws {
    let pages = "pagination: \(Self.pages)"
    for (url, parameters, message) in [
      ("http://127.0.0.1:1/c", "", "the same for all parents"),
      ("http://127.0.0.1:1/c", "parameters: {p: '{id}'}, ", "?p={name}"),
      ("http://127.0.0.1:1/c", #"parameters: {p: '{"a":1}'}, "#, "the same for all parents"),
    ] {
      let copy = try Copy(
        "{url: '\(url)', for: p, \(parameters)\(pages)}\n  p: {url: http://127.0.0.1:1/p, \(pages)}"
      )
      let ending = try await copy.run("--plan")
      #expect(ending.status == 2 && ending.errors.contains(message), "\(ending.errors)")
    }
    let copy = try Copy(
      "{url: 'http://127.0.0.1:1/c?q=word&access_token=hunter2hunter2', \(pages)}")
    let plan = try await copy.run("--plan")
    #expect(plan.status == 0 && plan.output.contains("?q=word&access_token=…"), "\(plan.output)")
  }

  @Test(
    "16-Parts: what a file cannot say of parts and changes is named",
    arguments: [
      ("split: {start: 0, every: 10}", "keys have no last one"),
      ("split: {start: 2015-01-01, every: 10x}", "such as 30d"),
      ("split: {start: 2015-13-01, every: 10d}", "expected a time"),
      ("split: {start: 5, end: 1, every: 1}", "in front of the start"),
      ("split: {start: 0, ende: 9, every: 1}", "Did you mean \"end\"?"),
      (
        "key: id, since: {field: /t, parameter: s}, split: {start: 0, end: 9, every: 1}",
        "say one of the two"
      ),
      ("deleted: /gone", "say by key where"), ("key: id, changes: true", "does not say by resume"),
      ("split: {start: 0, end: 9, every: 1}", "need both bounds"),
      ("split: {start: 0, end: 9, every: 1, lower: a}", "need both bounds"),
      ("parameters: {a: '{split:lower}'}, split: {start: 0, end: 9, every: 1}", "parameters.a: "),
      ("changes: true", "say by key where"),
      (
        "key: id, mode: replace, since: {field: /t, parameter: s}",
        "Each run would replace all by what has changed"
      ),
      ("key: id, mode: append, deleted: /gone", "would be stored beside it"),
      ("key: id, mode: replace, deleted: /gone", "would be stored beside it"),
      ("key: id, deleted: ''", "all would be taken away"),
      ("key: [id, n], deleted: /id", "all would be taken away"),
    ])
  func namesMistakes(words: String, message: String) async throws {
    let copy = try Copy("{url: 'http://127.0.0.1:1/x', \(words), pagination: \(Self.pages)}")
    let ending = try await copy.run("--plan")
    #expect(ending.status == 2 && ending.errors.contains(message), "\(ending.errors)")
  }

  @Test("16-Changes: what has changed does not replace all that has not")
  func refusesReplacingChanges() async throws {
    let copy = try Copy(
      "{url: 'http://127.0.0.1:1/x', preset: graphDelta, key: id, changes: true, mode: replace}")
    let ending = try await copy.run("--plan")
    #expect(
      ending.status == 2
        && ending.errors.contains("Each run would replace all by what has changed"),
      "\(ending.errors)")
  }

  /// A server of changes at `/items`: two pages of items, what has changed since, and 410 for the
  /// token behind that.
  static func changes() throws -> FaultServer {
    try FaultServer { request in
      let base = "http://\(request.values(of: "host").first ?? "")"
      func page(_ items: String, next: String? = nil, delta: String? = nil) -> [FaultStep] {
        let link =
          next.map { "\"@odata.nextLink\":\"\(base)/items?p=\($0)\"" }
          ?? "\"@odata.deltaLink\":\"\(base)/items?t=\(delta ?? "")\""
        return [.respond("{\"value\":[\(items)],\(link)}")]
      }
      let query = Query(request.target)
      switch (query.text("t"), query.text("p")) {
      case ("a", _):
        return page(
          #"{"id":2,"@removed":{"reason":"deleted"}},{"id":4,"n":"d"},{"id":1,"n":"z"},{"id":9,"@removed":{}},{"id":5,"n":"e"},{"id":5,"@removed":{}}"#,
          delta: "b")
      case ("b", _): return [.respond("{\"error\":{\"message\":\"old\"}}", status: "410 Gone")]
      case (nil, "2"): return page(#"{"id":3,"n":"c"}"#, delta: "a")
      default: return page(#"{"id":1,"n":"a"},{"id":2,"n":"b"}"#, next: "2")
      }
    }
  }

  @Test(
    "16-Changes: a sync sends the delta link back, takes away what is gone, and begins anew when it is too old"
  )
  func followsChanges() async throws {
    let server = try Self.changes()
    defer { server.stop() }
    let copy = try Copy(
      "{url: '\(server.url("/items"))', preset: graphDelta, key: id, changes: true, deleted: '/@removed'}"
    )
    var ending = try await copy.run()
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(try copy.rows("SELECT id, n FROM items ORDER BY id") == ["1|a", "2|b", "3|c"])
    ending = try await copy.run()
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(try copy.rows("SELECT id, n FROM items ORDER BY id") == ["1|z", "3|c", "4|d"])
    #expect(server.requests.count == 3)
    ending = try await copy.run()
    #expect(ending.status == 0 && ending.errors.contains("restarted"), "\(ending.errors)")
    #expect(ending.errors.contains("while the token expired stays"), "\(ending.errors)")
    #expect(try copy.rows("SELECT id, n FROM items ORDER BY id") == ["1|a", "2|b", "3|c", "4|d"])
  }

  /// Parents at `/parents` and their children at `/N/x`, each with a number `t`, and those alone from `after` on;
  /// the children of a parent without any are not there.
  final class Family: Sendable {
    let parents: Mutex<[Int: Int]>
    let children: Mutex<[Int: [Int: Int]]>

    init(_ parents: [Int: Int], _ children: [Int: [Int: Int]]) {
      self.parents = Mutex(parents)
      self.children = Mutex(children)
    }

    func serve() throws -> FaultServer {
      try FaultServer { [self] request in
        let parent = Int(request.path.split(separator: "/")[0])
        let found = children.withLock { children in parent.map { children[$0] } }
        let all = found ?? parents.withLock { $0 }
        guard let all else { return [.respond("none", status: "404 Not Found")] }
        let after = Query(request.target).number("after") ?? 0
        let items = all.sorted { $0.key < $1.key }.filter { $0.value >= after }.map {
          "{\"id\":\($0.key),\"t\":\($0.value)}"
        }
        return [.respond("{\"items\":[\(items.joined(separator: ","))]}")]
      }
    }
  }

  /// Parents at `/parents`, items of JSON that may change, and at any other path one child, whose `id` is the path.
  final class NamedParents: Sendable {
    let items: Mutex<String>

    init(_ items: String) { self.items = Mutex(items) }

    func serve() throws -> FaultServer {
      try FaultServer { [self] request in
        let found =
          request.path == "/parents" ? items.withLock { $0 } : "{\"id\":\"\(request.path)\"}"
        return [.respond("{\"items\":[\(found)]}")]
      }
    }
  }

  @Test("16-Increment: what changed of a parent while it was not read comes when it is read again")
  func readsMissedChanges() async throws {
    let family = Family([1: 1, 2: 2, 3: 3], [1: [10: 1], 2: [20: 2], 3: [30: 3]])
    let server = try family.serve()
    defer { server.stop() }
    let since = "key: id, since: {field: /t, parameter: after}, pagination: \(Self.pages)}"
    let copy = try Copy(
      "{url: '\(server.url("/{id}/x"))', for: parents, \(since)\n"
        + "  parents: {url: '\(server.url("/parents"))', \(since)")
    #expect(try await copy.run().status == 0)
    family.children.withLock { children in
      children[2]?[21] = 6
      children[3]?[31] = 9
    }
    family.parents.withLock { $0[3] = 9 }
    #expect(try await copy.run().status == 0)
    #expect(try copy.rows("SELECT id FROM items ORDER BY id") == ["10", "20", "30", "31"])
    family.children.withLock { $0[2]?[22] = 10 }
    family.parents.withLock { $0[2] = 10 }
    let ending = try await copy.run()
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(
      try copy.rows("SELECT id FROM items ORDER BY id") == ["10", "20", "21", "22", "30", "31"])
  }

  @Test(
    "16-Increment: parents that changed while a run of their children took several rounds are read by the next",
    arguments: ["maxPages: 1", "maxItems: 1000"])
  func readsChangedParentsOfAllRounds(limit: String) async throws {
    let family = Family([1: 1, 2: 2, 3: 3], [1: [10: 1], 2: [20: 2], 3: [30: 3]])
    let server = try family.serve()
    defer { server.stop() }
    let since = "since: {field: /t, parameter: after}"
    let copy = try Copy(
      "{url: '\(server.url("/{id}/x"))', for: parents, key: id, \(limit), pagination: \(Self.pages)}\n"
        + "  parents: {url: '\(server.url("/parents"))', key: id, \(since), pagination: \(Self.pages)}"
    )
    #expect(try await copy.run().status == 0)
    for (parent, time) in [(1, 11), (2, 12), (3, 13)] {
      family.children.withLock { $0[parent]?[parent * 10 + 1] = time }
      family.parents.withLock { $0[parent] = time }
      let ending =
        limit == "maxPages: 1"
        ? try await copy.run() : try await copy.run("--only", "parents")
      #expect(ending.status == 0, "\(ending.errors)")
    }
    for _ in 1...10 where try await copy.run().errors.contains("items: limited") {}
    let all = ["10", "11", "20", "21", "30", "31"]
    #expect(try copy.rows("SELECT id FROM items ORDER BY id") == all)
  }

  @Test(
    "16-Increment: a parent that several rounds have noted is read once, by what it is now, and not once it is gone",
    arguments: ["mode: append", "key: id"])
  func readsParentsOfAllRoundsOnce(mode: String) async throws {
    let parents = NamedParents(
      #"{"id":1,"n":"a","t":1},{"id":2,"n":"b","t":1},{"id":3,"n":"c","t":1}"#)
    let server = try parents.serve()
    defer { server.stop() }
    let copy = try Copy(
      "{url: '\(server.url("/{n}/x"))', for: parents, \(mode), with: {n: n}, pagination: \(Self.pages)}\n"
        + "  parents: {url: '\(server.url("/parents"))', key: id, deleted: /gone, "
        + "since: {field: /t, parameter: after}, pagination: \(Self.pages)}")
    #expect(try await copy.run().status == 0)
    for items in [
      #"{"id":1,"n":"a","t":2},{"id":3,"n":"c","t":2}"#,
      #"{"id":1,"n":"z","t":3},{"id":2,"n":"b","t":3},{"id":3,"gone":true,"t":3}"#,
      #"{"id":2,"n":"b","t":4}"#,
    ] {
      parents.items.withLock { $0 = items }
      #expect(try await copy.run("--only", "parents").status == 0)
    }
    let count = server.requests.count
    let ending = try await copy.run("--only", "items", "--log", "json")
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(server.requests.dropFirst(count).map(\.path) == ["/z/x", "/b/x"])
    #expect(ending.errors.contains(#""parents":2"#), "\(ending.errors)")
    let all = mode == "key: id" ? ["a", "b", "c", "z"] : ["a", "b", "b", "c", "z"]
    #expect(try copy.rows("SELECT n FROM items ORDER BY n") == all)
  }

  @Test(
    "16-Increment: of parents that need the same values, one that is gone takes none from the others"
  )
  func keepsSharedValues() async throws {
    let parents = NamedParents(#"{"id":1,"n":"a","t":1}"#)
    let server = try parents.serve()
    defer { server.stop() }
    let copy = try Copy(
      "{url: '\(server.url("/{n}/x"))', for: parents, key: id, with: {n: n}, pagination: \(Self.pages)}\n"
        + "  parents: {url: '\(server.url("/parents"))', key: id, deleted: /gone, "
        + "since: {field: /t, parameter: after}, pagination: \(Self.pages)}")
    #expect(try await copy.run().status == 0)
    for items in [
      #"{"id":2,"n":"s","t":2},{"id":3,"n":"s","t":2},{"id":4,"n":"d","t":2},{"id":5,"n":"d","t":2}"#,
      #"{"id":3,"gone":true,"t":3},{"id":4,"gone":true,"t":3},{"id":5,"gone":true,"t":3}"#,
      #"{"id":6,"n":"s","t":4},{"id":7,"n":"f","t":4},{"id":8,"n":"f","t":4}"#,
      #"{"id":8,"n":"g","t":5}"#,
    ] {
      parents.items.withLock { $0 = items }
      #expect(try await copy.run("--only", "parents").status == 0)
    }
    let count = server.requests.count
    let ending = try await copy.run("--only", "items")
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(server.requests.dropFirst(count).map(\.path) == ["/s/x", "/f/x", "/g/x"])
  }

  @Test(
    "16-Increment: a run that goes on reads values that one of several parents does not need any more"
  )
  func keepsSharedValuesOfUnfinishedRun() async throws {
    let parents = NamedParents(
      #"{"id":1,"n":"a","t":1},{"id":2,"n":"s","t":1},{"id":3,"n":"s","t":1}"#)
    let server = try parents.serve()
    defer { server.stop() }
    let copy = try Copy(
      "{url: '\(server.url("/{n}/x"))', for: parents, key: id, with: {n: n}, maxPages: 1, pagination: \(Self.pages)}\n"
        + "  parents: {url: '\(server.url("/parents"))', key: id, "
        + "since: {field: /t, parameter: after}, pagination: \(Self.pages)}")
    #expect(try await copy.run().status == 0)
    parents.items.withLock { $0 = #"{"id":3,"n":"z","t":2}"# }
    for _ in 1...4 {
      let ending = try await copy.run()
      #expect(ending.status == 0, "\(ending.errors)")
    }
    #expect(try copy.rows("SELECT n FROM items ORDER BY n") == ["a", "s", "z"])
  }

  @Test("16-Sync: the listing of a parent that was renamed goes on with the name it began with")
  func goesOnUnderNewName() async throws {
    let name = Mutex("b")
    let server = try FaultServer { request in
      guard request.path != "/parents" else {
        let second = name.withLock { $0 }
        return [.respond(#"{"items":[{"id":1,"n":"a"},{"id":2,"n":"\#(second)"}]}"#)]
      }
      let page = Query(request.target).number("page") ?? 0
      let next = request.path != "/a/x" && page < 2 ? ",\"next\":\(page + 1)" : ""
      return [.respond("{\"items\":[{\"id\":\"\(request.path)\(page)\"}]\(next)}")]
    }
    defer { server.stop() }
    let copy = try Copy(
      "{url: '\(server.url("/{n}/x"))', for: parents, key: id, maxPages: 1, pagination: \(Self.pages)}\n"
        + "  parents: {url: '\(server.url("/parents"))', key: id, pagination: \(Self.pages)}")
    for _ in 1...4 {
      let ending = try await copy.run()
      #expect(ending.status == 0, "\(ending.errors)")
      name.withLock { $0 = "z" }
    }
    #expect(
      try copy.rows("SELECT id FROM items ORDER BY id") == ["/a/x0", "/z/x0", "/z/x1", "/z/x2"])
  }

  @Test(
    "16-Increment: another destination is not filled for changed parents alone, and one taken away is for all"
  )
  func refusesEmptyDestination() async throws {
    let family = Family([1: 1, 2: 2], [1: [10: 1], 2: [20: 2]])
    let server = try family.serve()
    defer { server.stop() }
    let since = "since: {field: /t, parameter: after}"
    let copy = try Copy(
      "{url: '\(server.url("/{id}/x"))', for: parents, key: id, pagination: \(Self.pages)}\n"
        + "  parents: {url: '\(server.url("/parents"))', key: id, \(since), pagination: \(Self.pages)}"
    )
    func ids(_ table: String) throws -> [String] {
      try copy.rows("SELECT id FROM \(table) ORDER BY id")
    }
    for _ in 1...2 { #expect(try await copy.run().status == 0) }
    try FileManager.default.removeItem(at: copy.folder.appending(path: "x.db"))
    for _ in 1...2 {
      let ending = try await copy.run()
      #expect(ending.status == 0, "\(ending.errors)")
      #expect(try ids("items") == ["10", "20"])
    }
    let file = try String(contentsOfFile: copy.file, encoding: .utf8)
      .replacing("for: parents,", with: "for: parents, table: other,")
    try file.write(toFile: copy.file, atomically: true, encoding: .utf8)
    for _ in 1...2 {
      let refused = try await copy.run()
      #expect(
        refused.status == 1
          && refused.errors.contains("--restart --only parents --only items."), "\(refused.errors)")
    }
    let plan = try await copy.run("--plan")
    #expect(plan.status == 1 && plan.output.contains("items: is refused, "), "\(plan.output)")
    let anew = try await copy.run("--restart", "--only", "parents", "--only", "items")
    #expect(anew.status == 0, "\(anew.errors)")
    #expect(try ids("other") == ["10", "20"])
    #expect(try await copy.run().status == 0)
  }

  @Test("16-Increment: where the state is lost, the parents that only it knew are read again")
  func readsParentsOfLostState() async throws {
    let family = Family([1: 1, 2: 2], [1: [10: 1], 2: [20: 2]])
    let server = try family.serve()
    defer { server.stop() }
    let copy = try Copy(
      "{url: '\(server.url("/{id}/x"))', for: parents, key: id, pagination: \(Self.pages)}\n"
        + "  parents: {url: '\(server.url("/parents"))', key: id, since: {field: /t, parameter: after}, "
        + "pagination: \(Self.pages)}")
    #expect(try await copy.run().status == 0)
    family.children.withLock { $0[1]?[11] = 5 }
    for (parent, time) in [(1, 5), (2, 9)] {
      family.parents.withLock { $0[parent] = time }
      #expect(try await copy.run("--only", "parents").status == 0)
    }
    try FileManager.default.removeItem(at: copy.folder.appending(path: "x.state.db"))
    for _ in 1...2 {
      let ending = try await copy.run()
      #expect(ending.status == 0, "\(ending.errors)")
      #expect(try copy.rows("SELECT id FROM items ORDER BY id") == ["10", "11", "20"])
    }
    #expect(server.requests.contains { $0.target == "/parents?after=9" })
  }

  @Test("16-Sync: parents that are read once and that a lost state knew are not taken for none")
  func refusesUnknownParentsReadOnce() async throws {
    let server = try Family([1: 1], [1: [10: 1]]).serve()
    defer { server.stop() }
    let copy = try Copy(
      "{url: '\(server.url("/{id}/x"))', for: parents, key: id, pagination: \(Self.pages)}\n"
        + "  parents: {url: '\(server.url("/parents"))', mode: once, pagination: \(Self.pages)}")
    for _ in 1...2 { #expect(try await copy.run().status == 0) }
    try FileManager.default.removeItem(at: copy.folder.appending(path: "x.state.db"))
    let refused = try await copy.run()
    #expect(
      refused.status == 1 && refused.errors.contains("--restart --only parents begins anew"),
      "\(refused.errors)")
    #expect(try await copy.run("--restart").status == 0)
    #expect(try copy.rows("SELECT id FROM items") == ["10"])
  }

  @Test("16-Increment: a destination that is put back from an older copy is not taken for whole")
  func refusesOlderDestination() async throws {
    let family = Family([1: 1, 2: 2], [1: [10: 1], 2: [20: 2]])
    let server = try family.serve()
    defer { server.stop() }
    let copy = try Copy(
      "{url: '\(server.url("/{id}/x"))', for: parents, key: id, to: own.db, pagination: \(Self.pages)}\n"
        + "  parents: {url: '\(server.url("/parents"))', key: id, since: {field: /t, parameter: after}, "
        + "pagination: \(Self.pages)}")
    let own = copy.folder.appending(path: "own.db")
    #expect(try await copy.run().status == 0)
    let old = try Data(contentsOf: own)
    for round in 1...2 {
      family.children.withLock { $0[1]?[10 + round] = 5 }
      family.parents.withLock { $0[1] = 4 + round }
      #expect(try await copy.run().status == 0)
    }
    try old.write(to: own)
    for _ in 1...2 {
      let refused = try await copy.run()
      #expect(
        refused.status == 1 && refused.errors.contains("is older than the state of this sync"),
        "\(refused.errors)")
    }
    #expect(try await copy.run("--restart", "--only", "parents", "--only", "items").status == 0)
    #expect(try await copy.run().status == 0)
    let ids = try await DatabaseQueue(path: own.path).read {
      try Int.fetchAll($0, sql: "SELECT id FROM items ORDER BY id")
    }
    #expect(ids == [10, 11, 12, 20])
  }

  @Test("16-Increment: an older copy of a destination is brought up to date for all parents")
  func readsAllIntoOlderDestination() async throws {
    let family = Family([1: 1, 2: 2], [1: [10: 5000], 2: [20: 3]])
    let server = try family.serve()
    defer { server.stop() }
    let copy = try Copy(
      "{url: '\(server.url("/{id}/x"))', for: parents, key: id, to: own.db, "
        + "since: {field: /t, parameter: after}, pagination: \(Self.pages)}\n"
        + "  parents: {url: '\(server.url("/parents"))', key: id, pagination: \(Self.pages)}")
    let own = copy.folder.appending(path: "own.db")
    #expect(try await copy.run().status == 0)
    let old = try Data(contentsOf: own)
    for time in 4...5 {
      family.children.withLock { $0[2]?[17 + time] = time }
      #expect(try await copy.run().status == 0)
    }
    try old.write(to: own)
    let ending = try await copy.run()
    #expect(ending.status == 0, "\(ending.errors)")
    let ids = try await DatabaseQueue(path: own.path).read {
      try Int.fetchAll($0, sql: "SELECT id FROM items ORDER BY id")
    }
    #expect(ids == [10, 20, 21, 22])
  }

  @Test("16-Increment: children whose changed parents are all read are not read for them again")
  func readsNoParentsAgain() async throws {
    let isFailing = Mutex(false)
    let server = try FaultServer { request in
      if request.path == "/parents", isFailing.withLock({ $0 }) {
        return [.respond("no", status: "403 No")]
      }
      return [.respond(#"{"items":[{"id":1,"t":1}]}"#)]
    }
    defer { server.stop() }
    let copy = try Copy(
      "{url: '\(server.url("/{id}/x"))', for: parents, mode: append, pagination: \(Self.pages)}\n"
        + "  parents: {url: '\(server.url("/parents"))', key: id, since: {field: /t, parameter: after}, "
        + "pagination: \(Self.pages)}")
    #expect(try await copy.run().status == 0)
    isFailing.withLock { $0 = true }
    for arguments in [[], ["--only", "items"]] {
      let ending = try await Command.quire(["sync", copy.file] + arguments)
      #expect(ending.errors.contains("items: complete"), "\(ending.errors)")
      #expect(try copy.rows("SELECT id FROM items") == ["1"])
    }
    isFailing.withLock { $0 = false }
    #expect(try await copy.run().status == 0)
    #expect(try copy.rows("SELECT id FROM items") == ["1", "1"])
  }

  @Test("16-Sync: items of several parents with one key have children of their own")
  func keepsParentsOfOneKeyApart() async throws {
    let server = try FaultServer { request in
      let items =
        request.path == "/tops" ? #"{"id":"a"},{"id":"b"}"# : #"{"id":1,"n":"\#(request.path)"}"#
      return [.respond("{\"items\":[\(items)]}")]
    }
    defer { server.stop() }
    let copy = try Copy(
      "{url: '\(server.url("/x{+n}"))', for: middle, key: n, pagination: \(Self.pages)}\n"
        + "  middle: {url: '\(server.url("/{id}"))', for: tops, key: id, pagination: \(Self.pages)}\n"
        + "  tops: {url: '\(server.url("/tops"))', key: id, pagination: \(Self.pages)}")
    let ending = try await copy.run()
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(try copy.rows("SELECT n FROM items ORDER BY n") == ["/x/a", "/x/b"])
  }

  @Test("16-Sync: items of several parents that take each other's place are told of")
  func tellsKeysOfSeveralParents() async throws {
    for (words, item, isTold) in [
      ("key: id", #"{"id":1,"n":"PATH"}"#, true),
      ("key: id, with: {parent: id}", #"{"id":1}"#, true),
      ("key: [parent, id], with: {parent: id}", #"{"id":1,"n":"PATH"}"#, false),
      // An item that is in both listings is one, and one that is gone is none.
      ("key: id", #"{"id":1}"#, false),
      ("key: id, deleted: /gone", #"{"id":1,"gone":"PATH"}"#, false),
    ] {
      let server = try FaultServer { request in
        let items =
          request.path == "/parents"
          ? #"{"id":1},{"id":2}"# : item.replacing("PATH", with: request.path)
        return [.respond("{\"items\":[\(items)]}")]
      }
      defer { server.stop() }
      let copy = try Copy(
        "{url: '\(server.url("/{id}/x"))', for: parents, \(words), pagination: \(Self.pages)}\n"
          + "  parents: {url: '\(server.url("/parents"))', key: id, pagination: \(Self.pages)}")
      let ending = try await copy.run()
      #expect(ending.status == 0, "\(ending.errors)")
      #expect(
        ending.errors.contains(
          "1 item took the place of another parent's with the same key, such as 1:")
          == isTold, "\(words): \(ending.errors)")
    }
  }

  @Test("16-Increment: a listing that is new below one of changes is not read for those alone")
  func refusesUnknownChanges() async throws {
    let family = Family([1: 1, 2: 2], [1: [10: 1], 2: [20: 2]])
    let server = try family.serve()
    defer { server.stop() }
    let since = "since: {field: /t, parameter: after}"
    let copy = try Copy(
      "{url: '\(server.url("/parents"))', key: id, \(since), pagination: \(Self.pages)}")
    for _ in 1...2 { #expect(try await copy.run().status == 0) }
    let file =
      try String(contentsOfFile: copy.file, encoding: .utf8)
      + "  more: {url: '\(server.url("/{id}/x"))', for: items, key: id, pagination: \(Self.pages)}\n"
    try file.write(toFile: copy.file, atomically: true, encoding: .utf8)
    let plan = try await copy.run("--plan")
    #expect(plan.status == 1 && plan.output.contains("more: is refused, "), "\(plan.output)")
    let refused = try await copy.run()
    #expect(
      refused.status == 1 && refused.errors.contains("--restart --only items --only more"),
      "\(refused.errors)")
    let anew = try await copy.run("--restart", "--only", "items", "--only", "more")
    #expect(anew.status == 0, "\(anew.errors)")
    #expect(try copy.rows("SELECT id FROM more ORDER BY id") == ["10", "20"])
    #expect(try await copy.run().status == 0)
  }

  @Test("16-Increment: a parent's listing that ends by an answer behind its pages was read")
  func endsBehindPages() async throws {
    let server = try FaultServer { request in
      guard Query(request.target).number("page") == nil else {
        return [.respond("none", status: "404 Not Found")]
      }
      return [.respond(#"{"items":[{"id":1,"t":5}],"next":1}"#)]
    }
    defer { server.stop() }
    let pages =
      "pagination: {next: {body: /next}, send: {query: page}, items: /items, end: [{status: {codes: [404]}}]}"
    let copy = try Copy(
      "{url: '\(server.url("/{id}/x"))', for: parents, key: id, since: {field: /t, parameter: after}, "
        + "\(pages)}\n  parents: {url: '\(server.url("/parents"))', key: id, \(pages)}")
    for _ in 1...2 {
      let ending = try await copy.run()
      #expect(ending.status == 0, "\(ending.errors)")
    }
    #expect(server.requests.contains { $0.target == "/1/x?after=5" })
  }

  @Test("16-Short: a parent's listing of which a later run hears the end lacks what it declared")
  func endsBehindPagesLater() async throws {
    let server = try FaultServer { request in
      guard request.path != "/parents" else { return [.respond(#"{"items":[{"id":1}]}"#)] }
      let page = Query(request.target).number("page") ?? 0
      guard page < 2 else { return [.respond("none", status: "404 Not Found")] }
      return [.respond("{\"total\":3,\"items\":[{\"id\":\(page)}],\"next\":\(page + 1)}")]
    }
    defer { server.stop() }
    let copy = try Copy(
      "{url: '\(server.url("/{id}/x"))', for: parents, key: id, maxItems: 2, pagination: "
        + "{next: {body: /next}, send: {query: page}, items: /items, total: {body: /total}, "
        + "end: [{status: {codes: [404]}}]}}\n"
        + "  parents: {url: '\(server.url("/parents"))', key: id, pagination: \(Self.pages)}")
    _ = try await copy.run()
    let ending = try await copy.run()
    #expect(ending.status == 1, "\(ending.errors)")
    #expect(ending.errors.contains("1 fewer than the server had declared"), "\(ending.errors)")
  }

  @Test("16-Limit: the children of a listing with a limit wait for its end, and that is no failure")
  func waitsForLimitedParent() async throws {
    let server = try Family([1: 1, 2: 2, 3: 3], [1: [10: 1], 2: [20: 2], 3: [30: 3]]).serve()
    defer { server.stop() }
    let copy = try Copy(
      "{url: '\(server.url("/{id}/x"))', for: parents, key: id, pagination: \(Self.pages)}\n"
        + "  parents: {url: '\(server.url("/parents"))', key: id, maxItems: 2, pagination: \(Self.pages)}"
    )
    var ending = try await copy.run()
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(ending.errors.contains("items: limited, it is read once parents has come to its end"))
    ending = try await copy.run()
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(try copy.rows("SELECT id FROM items ORDER BY id") == ["10", "20", "30"])
  }

  @Test(
    "16-Increment: where the clock here is ahead, a run began by the server's clock",
    arguments: [7200, 500_000])
  func followsServerClock(seconds: Int) async throws {
    // That much behind, and an item that changed during the run.
    let time = Int(Date().timeIntervalSince1970) - seconds
    let format = DateFormatter()
    (format.locale, format.timeZone) = (
      Locale(identifier: "en_US_POSIX"), TimeZone(secondsFromGMT: 0)
    )
    format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    let date = format.string(from: Date(timeIntervalSince1970: Double(time)))
    let server = try FaultServer { _ in
      [.respond("{\"items\":[{\"id\":1,\"t\":\(time + 1200)}]}", headers: [("Date", date)])]
    }
    defer { server.stop() }
    let copy = try Copy(
      "{url: '\(server.url("/x"))', key: id, since: {field: /t, parameter: after}, pagination: \(Self.pages)}"
    )
    for _ in 1...2 {
      let ending = try await copy.run()
      #expect(ending.status == 0, "\(ending.errors)")
    }
    #expect(server.requests.last?.target == "/x?after=\(time)")
  }

  @Test(
    "16-Increment: a time in the future is told of, and the next run asks from the beginning of this one"
  )
  func tellsTimeAhead() async throws {
    let began = Int(Date().timeIntervalSince1970)
    for (value, isAhead) in [
      ("9999-12-31T00:00:00Z", true), ("/Date(253402300799999)/", true), ("2026-01-01", false),
    ] {
      let server = try FaultServer { _ in
        [.respond("{\"items\":[{\"id\":1,\"t\":\"\(value)\"}]}")]
      }
      defer { server.stop() }
      let copy = try Copy(
        "{url: '\(server.url("/x"))', key: id, since: {field: /t, parameter: after}, pagination: \(Self.pages)}"
      )
      for _ in 1...2 {
        let ending = try await copy.run()
        #expect(ending.status == 0, "\(ending.errors)")
        #expect(ending.errors.contains("lies in the future") == isAhead, "\(ending.errors)")
      }
      let target = try #require(server.requests.last?.target.removingPercentEncoding)
      let asked = try #require(Query(target).text("after"))
      #expect(!asked.contains("9999"), "\(asked)")
      if value.hasPrefix("/Date(") {
        let sent = try #require(Int(asked.dropFirst(6).dropLast(2)), "\(asked)")
        #expect((began - 301...Int(Date().timeIntervalSince1970) - 299).contains(sent / 1000))
      }
    }
  }

  @Test("16-Increment: a listing tells where there is no look-back from its values")
  func tellsMissingLookBack() async throws {
    for (value, isKnown) in [("2026-01-01 10:00:00 +0000", true), ("Sat, 28 Nov 2026", false)] {
      let server = try FaultServer { _ in
        [.respond("{\"items\":[{\"id\":1,\"t\":\"\(value)\"}]}")]
      }
      defer { server.stop() }
      let copy = try Copy(
        "{url: '\(server.url("/x"))', key: id, since: {field: /t, parameter: after}, pagination: \(Self.pages)}"
      )
      let ending = try await copy.run()
      #expect(ending.status == 0, "\(ending.errors)")
      #expect(ending.errors.contains("there is no look-back") == !isKnown, "\(ending.errors)")
    }
  }

  @Test("16-Increment: numbers that count in each parent's listing begin at the parent's own")
  func keepsValuesOfParents() async throws {
    let family = Family([1: 1, 2: 2], [1: [10: 5000], 2: [20: 3]])
    let server = try family.serve()
    defer { server.stop() }
    let copy = try Copy(
      "{url: '\(server.url("/{id}/x"))', for: parents, key: id, "
        + "since: {field: /t, parameter: after}, pagination: \(Self.pages)}\n"
        + "  parents: {url: '\(server.url("/parents"))', key: id, pagination: \(Self.pages)}")
    for time in 3...5 {
      family.children.withLock { $0[2]?[17 + time] = time }
      let ending = try await copy.run()
      #expect(ending.status == 0, "\(ending.errors)")
    }
    #expect(try copy.rows("SELECT id FROM items ORDER BY id") == ["10", "20", "21", "22"])
    let asked = server.requests.map(\.target).filter { $0.hasPrefix("/2/x?") }
    #expect(asked == ["/2/x?after=3", "/2/x?after=4"])
  }

  @Test("16-Increment: a listing that was not there is read whole when it is")
  func readsLateListing() async throws {
    let family = Family([1: 1, 2: 2], [1: [10: 5]])
    let server = try family.serve()
    defer { server.stop() }
    let copy = try Copy(
      "{url: '\(server.url("/{id}/x"))', for: parents, key: id, missing: skip, "
        + "since: {field: /t, parameter: after}, pagination: \(Self.pages)}\n"
        + "  parents: {url: '\(server.url("/parents"))', key: id, pagination: \(Self.pages)}")
    for _ in 1...2 { #expect(try await copy.run().errors.contains("1 parent without a listing")) }
    family.children.withLock { $0[2] = [20: 1, 21: 6] }
    let count = server.requests.count
    let ending = try await copy.run()
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(try copy.rows("SELECT id FROM items ORDER BY id") == ["10", "20", "21"])
    #expect(server.requests.dropFirst(count).contains { $0.target == "/1/x?after=5" })
  }

  @Test("16-Increment: what is replaced as a whole is not read for changed parents alone")
  func refusesPartialReplacement() async throws {
    let server = try Family([:], [:]).serve()
    defer { server.stop() }
    let copy = try Copy(
      "{url: '\(server.url("/{id}/x"))', for: middle, pagination: \(Self.pages)}\n"
        + "  middle: {url: '\(server.url("/{id}/x"))', for: parents, key: id, pagination: \(Self.pages)}\n"
        + "  parents: {url: '\(server.url("/parents"))', key: id, since: {field: /t, parameter: after}, "
        + "pagination: \(Self.pages)}")
    let ending = try await copy.run()
    #expect(ending.status == 2, "\(ending.errors)")
    #expect(
      ending.errors.contains(
        "listings.items: It is replaced as a whole, and is read for those of parents alone that have changed"
      ),
      "\(ending.errors)")
    #expect(server.requests.isEmpty)
  }

  @Test(
    "16-Increment: a sync leaves a newest-first listing at known ground, be there a parameter or not",
    arguments: ["parameter: after, ", ""])
  func stopsAtKnownGround(parameter: String) async throws {
    let count = Mutex(40)
    let server = try FaultServer { request in
      let start = Query(request.target).number("page") ?? 0
      let all = (0..<count.withLock { $0 }).reversed()
      let items = all.dropFirst(start).prefix(5).map { "{\"id\":\($0),\"t\":\($0)}" }
      let next = start + 5 < all.count ? ",\"next\":\(start + 5)" : ""
      return [.respond("{\"items\":[\(items.joined(separator: ","))]\(next)}")]
    }
    defer { server.stop() }
    let copy = try Copy(
      "{url: '\(server.url("/items"))', key: id, since: {field: /t, \(parameter)newestFirst: true}, pagination: \(Self.pages)}"
    )
    #expect(try await copy.run().status == 0)
    #expect(server.requests.count == 8)
    count.withLock { $0 = 42 }
    let ending = try await copy.run()
    #expect(ending.status == 0, "\(ending.errors)")
    // One page, and the one that is loaded ahead of it.
    #expect((9...10).contains(server.requests.count))
    #expect(server.requests.contains { $0.target.contains("after=") } == !parameter.isEmpty)
    #expect(try copy.rows("SELECT count(*), max(id) FROM items") == ["42|41"])
  }

  @Test("16-Increment: known ground in the listing of one parent does not end those of the others")
  func readsOtherParents() async throws {
    let more = Mutex(0)
    let server = try FaultServer { request in
      guard request.path != "/parents" else { return [.respond(#"{"items":[{"id":1},{"id":2}]}"#)] }
      let count = request.path == "/2/x" ? 10 + more.withLock { $0 } : 10
      let items = (0..<count).reversed().map { "{\"id\":\"\(request.path)\($0)\",\"t\":\($0)}" }
      return [.respond("{\"items\":[\(items.joined(separator: ","))]}")]
    }
    defer { server.stop() }
    let copy = try Copy(
      "{url: '\(server.url("/{id}/x"))', for: parents, key: id, "
        + "since: {field: /t, parameter: after, newestFirst: true}, pagination: \(Self.pages)}\n"
        + "  parents: {url: '\(server.url("/parents"))', key: id, pagination: \(Self.pages)}")
    #expect(try await copy.run().status == 0)
    more.withLock { $0 = 1 }
    let ending = try await copy.run()
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(try copy.rows("SELECT count(*) FROM items") == ["21"])
  }
}

/// The query of a request's target.
struct Query {
  private let target: String

  init(_ target: String) { self.target = target }

  func text(_ name: String) -> String? {
    target.split(whereSeparator: { "?&".contains($0) }).first { $0.hasPrefix("\(name)=") }
      .map { String($0.dropFirst(name.count + 1)) }
  }

  func number(_ name: String) -> Int? { text(name).flatMap { Int($0) } }
}
