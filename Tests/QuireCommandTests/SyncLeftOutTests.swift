import Foundation
import GRDB
import Synchronization
import TestSupport
import Testing

@Suite("parents that quire sync leaves out") struct SyncLeftOutTests {
  private typealias Copy = SyncPartTests.Copy

  private static let pages = "pagination: \(SyncPartTests.pages)"

  /// A file of parents and their children.
  private static func copy(
    _ server: FaultServer, _ words: String, client: String = "{}"
  ) throws -> Copy {
    try Copy(
      "{for: parents, key: id, \(words.replacing("URL", with: server.url(""))), \(pages)}\n"
        + "  parents: {url: \"\(server.url("/parents"))\", key: id, \(pages)}", client: client)
  }

  @Test(
    "16-Increment, 16-Sync: while one parent is refused, the others are asked for what has changed",
    arguments: [true, false])
  func keepsIncrements(isReadBefore: Bool) async throws {
    let isBlocked = Mutex(!isReadBefore)
    let server = try FaultServer { request in
      guard request.path != "/parents" else {
        return [.respond(#"{"items":[{"id":1},{"id":2},{"id":3}]}"#)]
      }
      if request.path == "/2/x", isBlocked.withLock({ $0 }) {
        return [.respond("{}", status: "451 No")]
      }
      return [.respond("{\"items\":[{\"id\":\"\(request.path)\",\"t\":5}]}")]
    }
    defer { server.stop() }
    let copy = try Self.copy(server, "url: \"URL/{id}/x\", since: {field: /t, parameter: after}")
    #expect(try await copy.run().status == (isReadBefore ? 0 : 1))
    func asked() async throws -> [String] {
      let count = server.requests.count
      let ending = try await copy.run()
      let isComplete = isBlocked.withLock { !$0 }
      #expect(
        ending.status == (isComplete ? 0 : 1)
          && ending.errors.contains("left out 1 parent") != isComplete,
        "\(ending.errors)")
      return server.requests.dropFirst(count).map(\.target)
    }
    let later = ["/parents", "/1/x?after=5", "/2/x", "/3/x?after=5"]
    if isReadBefore {
      isBlocked.withLock { $0 = true }
      #expect(try await asked() == later.map { $0 == "/2/x" ? "/2/x?after=5" : $0 })
    }
    for _ in 1...3 { #expect(try await asked() == later) }
    isBlocked.withLock { $0 = false }
    #expect(try await asked() == later)
    #expect(try await asked() == later.map { $0 == "/2/x" ? "/2/x?after=5" : $0 })
  }

  @Test(
    "16-Increment: a parent that an incomplete round did not list, or whose items fell short in it, is read whole",
    arguments: ["unlisted", "short"])
  func readsWhole(kind: String) async throws {
    let round = Mutex(1)
    let server = try FaultServer { request in
      let round = round.withLock { $0 }
      let isOdd = round == 2
      guard request.path != "/parents" else {
        let odd = isOdd && kind == "unlisted" ? "" : #",{"id":3}"#
        return [.respond("{\"items\":[{\"id\":1},{\"id\":2}\(odd)]}")]
      }
      if request.path == "/2/x", isOdd { return [.respond("{}", status: "451 No")] }
      let total = isOdd && request.path == "/3/x" ? 2 : 1
      return [
        .respond(
          "{\"total\":\(total),\"items\":[{\"id\":\"\(request.path)\",\"t\":\(4 + round)}]}")
      ]
    }
    defer { server.stop() }
    let counted = SyncPartTests.pages.replacing(
      "items: /items", with: "items: /items, total: {body: /total}")
    let copy = try Copy(
      "{for: parents, key: id, url: \"\(server.url("/{id}/x"))\", since: {field: /t, parameter: after}, "
        + "pagination: \(counted)}\n"
        + "  parents: {url: \"\(server.url("/parents"))\", key: id, \(Self.pages)}")
    var asked: [String] = []
    for number in 1...3 {
      round.withLock { $0 = number }
      let count = server.requests.count
      let ending = try await copy.run()
      #expect(ending.status == (number == 2 ? 1 : 0), "\(ending.errors)")
      asked = server.requests.dropFirst(count).map(\.target)
    }
    #expect(asked == ["/parents", "/1/x?after=6", "/2/x", "/3/x"])
  }

  @Test("16-Sync: a round in which a listing has failed fails, whichever command ends it")
  func failsWithRound() async throws {
    let isFailing = Mutex(true)
    let server = try FaultServer { request in
      if request.path == "/items", isFailing.withLock({ $0 }) {
        return [.respond("{}", status: "403 No")]
      }
      return [.respond(#"{"items":[{"id":1}]}"#)]
    }
    defer { server.stop() }
    let copy = try Copy(
      "{url: \"\(server.url("/items"))\", key: id, \(Self.pages)}\n"
        + "  others: {url: \"\(server.url("/others"))\", key: id, \(Self.pages)}")
    #expect(try await copy.run().status == 1)
    // As a kill before the end of the round leaves it.
    let state = try DatabaseQueue(path: copy.folder.appending(path: "x.state.db").path)
    try await state.write { try $0.execute(sql: "UPDATE round SET isOver = 0") }
    isFailing.withLock { $0 = false }
    let count = server.requests.count
    let ending = try await copy.run()
    #expect(ending.status == 1 && server.requests.count == count)
    #expect(
      ending.errors.contains("items: failed") && ending.errors.contains("others: complete, 1 item"),
      "\(ending.errors)")
    #expect(try await copy.run().status == 0)
  }

  @Test(
    "16-Sync: a parent whose link, value or answer is odd is left out, and the others are read",
    arguments: ["origin", "value", "truncated"])
  func leavesOutOddParents(kind: String) async throws {
    let isOdd = Mutex(true)
    let server = try FaultServer { request in
      let isOdd = isOdd.withLock { $0 }
      if request.path == "/parents" {
        let host = "http://\(request.values(of: "host").first ?? "")"
        let odd = kind == "origin" ? "\"http://127.0.0.2:1/c/2\"" : "null"
        let links = (1...4).map { id in
          let link = id == 2 && isOdd && kind != "truncated" ? odd : "\"\(host)/c/\(id)\""
          return "{\"id\":\(id),\"link\":\(link)}"
        }
        return [.respond("{\"items\":[\(links.joined(separator: ","))]}")]
      }
      if isOdd, kind == "truncated", request.path == "/c/2" {
        return [.write("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{\"items\":["), .finish]
      }
      return [.respond("{\"items\":[{\"id\":\"\(request.path)\"}]}")]
    }
    defer { server.stop() }
    let copy = try Self.copy(server, "url: \"{+link}\"", client: "{retries: 0}")
    for _ in 1...2 {
      let ending = try await copy.run()
      #expect(
        ending.status == 1
          && ending.errors.contains("items: incomplete, 3 items; left out 1 parent"),
        "\(ending.errors)")
    }
    #expect(try copy.rows("SELECT id FROM items ORDER BY id") == ["/c/1", "/c/3", "/c/4"])
    isOdd.withLock { $0 = false }
    let ending = try await copy.run()
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(try copy.rows("SELECT count(*) FROM items") == ["4"])
  }

  @Test("16-Sync, 16-Short: what an earlier command left out is told by the one that ends the run")
  func tellsEarlierFailures() async throws {
    let server = try FaultServer { request in
      switch request.path {
      case "/parents": [.respond(#"{"items":[{"id":1},{"id":2},{"id":3},{"id":4}]}"#)]
      case "/1/x": [.respond("{}", status: "404 No")]
      default: [.respond("{\"items\":[{\"id\":\"\(request.path)\"}]}")]
      }
    }
    defer { server.stop() }
    let copy = try Self.copy(server, "url: \"URL/{id}/x\", maxPages: 2")
    var commands = 1
    var ending = try await copy.run()
    while ending.errors.contains("items: limited"), commands < 5 {
      commands += 1
      ending = try await copy.run()
    }
    #expect(commands > 1 && ending.status == 1, "\(ending.errors)")
    #expect(
      ending.errors.contains("items: incomplete, 3 items; left out 1 parent whose listing failed: ")
        && ending.errors.contains("missing: skip") && !ending.errors.contains("fewer"),
      "\(ending.errors)")
  }

  @Test("16-Sync: parents whose links are known to be odd without a request are all left out")
  func leavesOutManyOddParents() async throws {
    let server = try FaultServer { request in
      guard request.path == "/parents" else { return [.respond(#"{"items":[{"id":1}]}"#)] }
      let odd = (1...15).map { "{\"id\":\($0),\"link\":null}" }
      let good = "{\"id\":16,\"link\":\"http://\(request.values(of: "host").first ?? "")/c\"}"
      return [.respond("{\"items\":[\((odd + [good]).joined(separator: ","))]}")]
    }
    defer { server.stop() }
    let copy = try Self.copy(server, "url: \"{+link}\", with: {parent: id}")
    let ending = try await copy.run()
    #expect(ending.errors.contains("1 item; left out 15 parents"), "\(ending.errors)")
  }

  @Test(
    "16-Sync: a parent for which alone the server is away is left out, first or last, and else the run goes on",
    arguments: [2, 4])
  func tellsOutagesApart(heavy: Int) async throws {
    let away = Mutex([heavy])
    let server = try FaultServer { request in
      guard request.path != "/parents" else {
        return [.respond(#"{"items":[{"id":1},{"id":2},{"id":3},{"id":4}]}"#)]
      }
      let parent = Int(request.path.dropFirst().prefix(1)) ?? 0
      if away.withLock({ $0.contains(parent) }) {
        return [.respond("{}", status: "503 No")]
      }
      return [.respond("{\"items\":[{\"id\":\(parent)}]}")]
    }
    defer { server.stop() }
    let copy = try Self.copy(server, "url: \"URL/{id}/x\"", client: "{retries: 0}")
    let left = try await copy.run()
    #expect(left.status == 1 && left.errors.contains("left out 1 parent"), "\(left.errors)")
    #expect(try copy.rows("SELECT count(*) FROM items") == ["3"])
    away.withLock { $0 = [2, 3, 4] }
    let failed = try await copy.run()
    #expect(failed.status == 1, "\(failed.errors)")
    // The one behind it tells where the server is away, and where not.
    #expect(failed.errors.contains("items: failed, "), "\(failed.errors)")
    away.withLock { $0 = [] }
    let count = server.requests.count
    let ending = try await copy.run()
    #expect(ending.status == 0, "\(ending.errors)")
    let asked = server.requests.dropFirst(count).map(\.path)
    #expect(asked == ["/parents", "/2/x", "/3/x", "/4/x"])
  }

  @Test("16-Sync: a run that goes on reads a parent by what it is now, with all of its pages")
  func readsByNewestValues() async throws {
    let isMended = Mutex(false)
    let server = try FaultServer { request in
      let isMended = isMended.withLock { $0 }
      let target = request.target
      if request.path == "/parents" {
        let name = isMended ? "new" : "old"
        return [.respond("{\"items\":[{\"id\":1,\"n\":\"one\"},{\"id\":2,\"n\":\"\(name)\"}]}")]
      }
      if request.path == "/old" { return [.respond("{}", status: "401 No")] }
      let next = target.contains("page=") ? "" : ",\"next\":1"
      return [.respond("{\"items\":[{\"id\":\"\(target)\"}]\(next)}")]
    }
    defer { server.stop() }
    let copy = try Self.copy(server, "url: \"URL/{n}\", with: {name: n}, maxPages: 3")
    let failed = try await copy.run()
    #expect(failed.errors.contains("items: failed"), "\(failed.errors)")
    isMended.withLock { $0 = true }
    for _ in 1...3 { #expect(try await copy.run().status == 0) }
    #expect(
      try copy.rows("SELECT id, name FROM items ORDER BY id")
        == ["/new|new", "/new?page=1|new", "/one|one", "/one?page=1|one"])
    #expect(server.requests.count { $0.path == "/old" } == 1)
  }

  @Test("16-Sync: the children of what was read are read while one parent is refused")
  func readsGrandchildren() async throws {
    let isFailing = Mutex(false)
    let forge = try Forge { path in
      path == "/repos/o1/r2/issues" && isFailing.withLock { $0 } ? 451 : nil
    }
    let file = try forge.file(
      more: """
          whole:
            url: \(forge.server.url("/repos/{+repositories:full}/issues/{n}/comments"))
            for: issues
            pagination: {next: {body: /next}, send: {query: page}, items: /items}
        """)
    #expect(try await Command.quire(["sync", file]).status == 0)
    isFailing.withLock { $0 = true }
    for _ in 1...2 {
      let ending = try await Command.quire(["sync", file])
      #expect(
        ending.status == 1 && ending.errors.contains("issues: incomplete"), "\(ending.errors)")
      #expect(ending.errors.contains("comments: complete, 144 items"), "\(ending.errors)")
      // What is gone is not known, and what is replaced as a whole would lack the rest.
      #expect(ending.errors.contains("whole: complete, 160 items"), "\(ending.errors)")
      #expect(try forge.rows("SELECT count(*) FROM comments") == ["160"])
    }
    isFailing.withLock { $0 = false }
    let ending = try await Command.quire(["sync", file])
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(ending.errors.contains("comments: complete, 160 items"), "\(ending.errors)")
  }

  @Test(
    "16-Increment: what changes of the others reaches their children while one parent is refused")
  func readsChangedGrandchildren() async throws {
    let isFailing = Mutex(false)
    let children = Mutex([1: [10: 1], 2: [20: 5]])
    let server = try FaultServer { request in
      if request.path == "/parents" { return [.respond(#"{"items":[{"id":1},{"id":2}]}"#)] }
      if request.path.hasPrefix("/c/") {
        return [.respond("{\"items\":[{\"id\":\"\(request.path)\"}]}")]
      }
      let parent = Int(request.path.dropFirst().prefix(1)) ?? 0
      if parent == 2, isFailing.withLock({ $0 }) { return [.respond("{}", status: "451 No")] }
      // Times, which count for all parents alike.
      let after = Query(request.target).number("after") ?? 0
      let items = (children.withLock { $0[parent] } ?? [:]).sorted { $0.key < $1.key }
        .map { (id: $0.key, time: 1_700_000_000 + $0.value) }
        .filter { $0.time >= after }.map { "{\"id\":\($0.id),\"t\":\($0.time)}" }
      return [.respond("{\"items\":[\(items.joined(separator: ","))]}")]
    }
    defer { server.stop() }
    let copy = try Copy(
      "{for: parents, key: id, url: \"\(server.url("/{id}/x"))\", since: {field: /t, parameter: after}, \(Self.pages)}\n"
        + "  parents: {url: \"\(server.url("/parents"))\", key: id, \(Self.pages)}\n"
        + "  notes: {for: items, key: id, url: \"\(server.url("/c/{id}"))\", \(Self.pages)}")
    func asked() async throws -> [String] {
      let count = server.requests.count
      _ = try await copy.run()
      return server.requests.dropFirst(count).map(\.path).filter { $0.hasPrefix("/c/") }
    }
    #expect(try await asked() == ["/c/10", "/c/20"])
    isFailing.withLock { $0 = true }
    children.withLock { children in
      children[1]?[11] = 6
      children[2]?[21] = 3
    }
    #expect(try await asked() == ["/c/11"])
    children.withLock { $0[1]?[12] = 7 }
    #expect(try await asked() == ["/c/11", "/c/12"])
    isFailing.withLock { $0 = false }
    #expect(try await asked() == ["/c/12", "/c/20", "/c/21"])
    #expect(try copy.rows("SELECT count(*) FROM notes") == ["5"])
  }
}
