import Foundation
import Synchronization
import TestSupport
import Testing

@testable import QuireCommand

@Suite("Where quire export writes by -o", .timeLimit(.minutes(15)))
struct ExportDestinationTests {
  /// Six pages of two objects behind the Link header; one of them is not answered while it is `held`.
  private final class Listing: Sendable {
    let server: FaultServer
    private let state: Hold

    init(held: Int? = nil, type: String = "application/json") throws {
      let state = Hold(held)
      server = try FaultServer { request in
        let page = Int(request.target.split(separator: "=").last ?? "0") ?? 0
        if state.page.withLock({ $0 == page }) { return [.hold] }
        var headers = [("Content-Type", type)]
        if page < 5 { headers.append(("Link", "</list?page=\(page + 1)>; rel=\"next\"")) }
        let items = [2 * page, 2 * page + 1].map(ExportDestinationTests.item)
        return [.respond("[\(items.joined(separator: ", "))]", headers: headers)]
      }
      self.state = state
    }

    private final class Hold: Sendable {
      let page: Mutex<Int?>
      init(_ page: Int?) { self.page = Mutex(page) }
    }

    func hold(_ page: Int?) { state.page.withLock { $0 = page } }

    func arguments(_ rest: String...) -> [String] {
      ["export", server.url("/list?page=0"), "--preset", "linkHeader"] + rest
    }
  }

  fileprivate static func item(_ number: Int) -> String {
    "{\"id\":\(number),\"name\":\"n\(number)\"}"
  }
  private static let lines = (0..<12).map { item($0) + "\n" }.joined()

  private func folder() throws -> String {
    let path = NSTemporaryDirectory() + "quire-destination-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    return path
  }

  private func text(_ path: String) -> String {
    (try? String(contentsOfFile: path, encoding: .utf8)) ?? "(no file)"
  }

  @Test(
    "16-Tool: the ending of -o says the format, and one that is not known is refused with the known"
  )
  func endings() async throws {
    let listing = try Listing()
    defer { listing.server.stop() }
    let folder = try folder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for name in ["a.jsonl", "a.ndjson", "a"] {
      let ending = try await Command.quire(listing.arguments("-o", "\(folder)/\(name)"))
      #expect(ending.status == 0, "\(ending.errors)")
      #expect(text("\(folder)/\(name)") == Self.lines)
    }
    let json = try await Command.quire(listing.arguments("-o", "\(folder)/a.json"))
    #expect(json.status == 0, "\(json.errors)")
    let value = try JSONSerialization.jsonObject(with: Data(text("\(folder)/a.json").utf8))
    #expect((value as? [Any])?.count == 12)
    let csv = try await Command.quire(
      listing.arguments("-o", "\(folder)/a.csv", "--columns", "name,number=/id"))
    #expect(csv.status == 0, "\(csv.errors)")
    #expect(text("\(folder)/a.csv").hasPrefix("name,number\r\nn0,0\r\nn1,1\r\n"))
    let packed = try await Command.quire(listing.arguments("-o", "\(folder)/a.tsv.gz"))
    #expect(packed.status == 0, "\(packed.errors)")
    let unpacked = try await Command.run("/bin/gzip", "-dc", "\(folder)/a.tsv.gz")
    #expect(unpacked.output.hasPrefix("id\tname\n0\tn0\n"))
    let asked = listing.server.requests.count
    for (options, words) in [
      (["-o", "\(folder)/a.xlsx"], ".csv"), (["-o", "\(folder)/"], "is a directory"),
      (["-o", "\(folder)/b.jsonl", "--columns", "id"], "--columns"),
      (["-o", "\(folder)/b.csv", "--key", "/id"], "--key"), (["--columns", "id"], "--columns"),
      (["-o", "\(folder)/b.csv", "--mode", "merge"], "append, replace"),
    ] {
      let refused = try await Command.quire(listing.arguments() + options)
      #expect(refused.status == 2 && refused.errors.contains(words), "\(refused.errors)")
    }
    for address in [
      "mysql://u:hidden@db/x", "s3://u:hidden@bucket/x.jsonl", "http://u:hidden@h/x.db",
    ] {
      let refused = try await Command.quire(listing.arguments("-o", address))
      #expect(refused.status == 2 && refused.errors.contains("nothing is known by"), "\(address)")
      #expect(!refused.errors.contains("hidden"), "\(refused.errors)")
    }
    #expect(listing.server.requests.count == asked)
    #expect(!FileManager.default.fileExists(atPath: "\(folder)/b.csv"))
  }

  @Test(
    "16-Tool: a plan says what the destination holds, and whether an export would begin, go on or be refused"
  )
  func plansFromDestination() async throws {
    let listing = try Listing()
    defer { listing.server.stop() }
    let folder = try folder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for options in [["-o", "\(folder)/a.csv"], ["-o", "\(folder)/a.db", "--table", "t"]] {
      let arguments = listing.arguments() + options + ["--plan"]
      func plan(_ more: String..., requesting pages: [Int], _ words: String) async throws {
        let before = listing.server.requests.count
        let ending = try await Command.quire(arguments + more)
        #expect(
          ending.status == 0 && ending.output.contains(words), "\(ending.output) \(ending.errors)")
        let asked = listing.server.requests.dropFirst(before).map(\.target)
        #expect(asked == pages.map { "/list?page=\($0)" })
      }
      try await plan(requesting: [0], "an export begins")
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.contains("a.") }
          .count
          == (options.count == 2 ? 0 : 2))
      _ = try await Command.quire(listing.arguments("--max-pages", "2") + options)
      try await plan(requesting: [2], "goes on behind what is committed, 2 pages, 4 items")
      try await plan("--max-pages", "2", requesting: [], "all that --max-pages allows")
      try await plan("--restart", requesting: [0], "begins anew")
      _ = try await Command.quire(listing.arguments() + options)
      try await plan(requesting: [], "the whole export is there, 6 pages, 12 items")
      try await plan("--mode", "append", requesting: [0], "another run of it begins")
    }
    try "old".write(toFile: "\(folder)/b.csv", atomically: true, encoding: .utf8)
    let report = "\(folder)/report.json"
    let ending = try await Command.quire(
      listing.arguments("-o", "\(folder)/b.csv", "--plan", "--report", report))
    #expect(ending.status == 0 && ending.output.contains("would be refused: "), "\(ending.output)")
    #expect(text(report).contains("\"plan\" : \"refuse\"") && text("\(folder)/b.csv") == "old")
  }

  @Test(
    "16-Tool, K1: an export that was killed goes on by the same command, at every page",
    arguments: ["a.jsonl", "a.json", "a.csv", "a.jsonl.gz"])
  func killed(name: String) async throws {
    let listing = try Listing()
    defer { listing.server.stop() }
    let folder = try folder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let arguments = listing.arguments(
      "-o", "\(folder)/\(name)", "--commit-every", "0", "--look-ahead", "0")
    for page in 0..<6 {
      listing.hold(page)
      let before = listing.server.requests.count
      let command = try Command(arguments)
      // It goes on at the page that was not answered before.
      try await listing.server.received(before + (page == 0 ? 1 : 2))
      command.send(signal: SIGKILL)
      let ending = try await command.end()
      #expect(ending.status == 128 + SIGKILL)
    }
    listing.hold(nil)
    let rest = try await Command.quire(arguments)
    #expect(rest.status == 0, "\(rest.errors)")
    #expect(rest.report.contains("1 page, 2 items"), "\(rest.report)")
    let found: String
    if name.hasSuffix("gz") {
      found = try await Command.run("/bin/gzip", "-dc", "\(folder)/\(name)").output
    } else {
      found = text("\(folder)/\(name)")
    }
    #expect((0..<12).allSatisfy { found.components(separatedBy: "n\($0)\"").count <= 2 })
    switch name {
    case "a.json":
      #expect(found == "[\n\(String(Self.lines.dropLast()).replacing("\n", with: ",\n"))\n]\n")
    case "a.csv": #expect(found == "id,name\r\n" + (0..<12).map { "\($0),n\($0)\r\n" }.joined())
    default: #expect(found == Self.lines)
    }
    let asked = listing.server.requests.count
    let again = try await Command.quire(arguments)
    #expect(again.status == 0 && again.errors.contains("Nothing was requested"), "\(again.errors)")
    #expect(listing.server.requests.count == asked)
  }

  @Test("16-Tool, K15: SIGTERM commits what has come, and the same command goes on behind it")
  func terminated() async throws {
    let listing = try Listing(held: 3)
    defer { listing.server.stop() }
    let folder = try folder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let arguments = listing.arguments("-o", "\(folder)/a.jsonl")
    let command = try Command(arguments)
    try await listing.server.received(4)
    let began = ContinuousClock.now
    command.send(signal: SIGTERM)
    let ending = try await command.end()
    #expect(ContinuousClock.now - began < .seconds(2))
    #expect(ending.status == 128 + SIGTERM)
    #expect(ending.errors.contains("run the same command again"), "\(ending.errors)")
    #expect(text("\(folder)/a.jsonl") == (0..<6).map { Self.item($0) + "\n" }.joined())
    listing.hold(nil)
    let rest = try await Command.quire(arguments)
    #expect(rest.status == 0 && rest.report.contains("3 pages, 6 items"), "\(rest.errors)")
    #expect(text("\(folder)/a.jsonl") == Self.lines)
  }

  @Test(
    "16-Tool, G18: a file of another request is refused by what differs, and --restart begins anew")
  func otherRequest() async throws {
    let listing = try Listing()
    defer { listing.server.stop() }
    let folder = try folder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let output = ["-o", "\(folder)/a.jsonl"]
    let first = try await Command.quire(listing.arguments("--max-pages", "2") + output)
    #expect(first.status == 0, "\(first.errors)")
    let kept = text("\(folder)/a.jsonl")
    let asked = listing.server.requests.count
    let other = ["export", listing.server.url("/other"), "--preset", "linkHeader"] + output
    let refused = try await Command.quire(other)
    #expect(refused.status == 2 && refused.errors.contains("the URL's path"), "\(refused.errors)")
    #expect(refused.errors.contains("--restart"))
    #expect(text("\(folder)/a.jsonl") == kept)
    #expect(listing.server.requests.count == asked)
    let anew = try await Command.quire(other + ["--restart", "--max-items", "1"])
    #expect(anew.status == 0, "\(anew.errors)")
    #expect(text("\(folder)/a.jsonl") == Self.item(0) + "\n")
  }

  @Test("16-Tool: items as they came are not put behind others, nor others behind those")
  func otherForm() async throws {
    let listing = try Listing()
    defer { listing.server.stop() }
    let folder = try folder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    for options in [[], ["--raw"]] {
      let base = listing.arguments("-o", "\(folder)/\(options.count).jsonl")
      let first = try await Command.quire(base + ["--max-pages", "2"] + options)
      #expect(first.status == 0, "\(first.errors)")
      let asked = listing.server.requests.count
      let refused = try await Command.quire(base + (options.isEmpty ? ["--raw"] : []))
      #expect(refused.status == 2 && refused.errors.contains("raw items"), "\(refused.errors)")
      #expect(listing.server.requests.count == asked)
      let rest = try await Command.quire(base + options)
      #expect(rest.status == 0, "\(rest.errors)")
    }
  }

  @Test("16-Tool: a limit counts over all calls, and a higher one goes on")
  func limits() async throws {
    let listing = try Listing()
    defer { listing.server.stop() }
    let folder = try folder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let base = listing.arguments("-o", "\(folder)/a.jsonl")
    for (limit, requests) in [("3", 2), ("3", 2), ("5", 4)] {
      let ending = try await Command.quire(base + ["--max-items", limit, "--look-ahead", "0"])
      #expect(ending.status == 0, "\(ending.errors)")
      #expect(listing.server.requests.count == requests)
      let items = (0..<(Int(limit) ?? 0)).map { Self.item($0) + "\n" }.joined()
      #expect(text("\(folder)/a.jsonl") == items)
    }
  }

  @Test(
    "16-Tool: what no export wrote is left alone; --mode appends or replaces where that is asked for"
  )
  func modes() async throws {
    let listing = try Listing()
    defer { listing.server.stop() }
    let folder = try folder()
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let path = "\(folder)/a.jsonl"
    try Data("yesterday\n".utf8).write(to: URL(fileURLWithPath: path))
    let refused = try await Command.quire(listing.arguments("-o", path))
    #expect(refused.status == 2 && refused.errors.contains("no checkpoint"), "\(refused.errors)")
    #expect(text(path) == "yesterday\n")
    let appended = try await Command.quire(listing.arguments("-o", path, "--mode", "append"))
    #expect(appended.status == 0, "\(appended.errors)")
    #expect(text(path) == "yesterday\n" + Self.lines)
    let replaced = try await Command.quire(listing.arguments("-o", path, "--mode", "replace"))
    #expect(replaced.status == 0, "\(replaced.errors)")
    #expect(text(path) == Self.lines)
  }

  @Test("16-Tool: --log json writes a line of JSON for each page, and --parallel changes no item")
  func log() async throws {
    let server = try FaultServer { request in
      let page = Int(request.target.split(separator: "=").last ?? "1") ?? 1
      return [.respond(page < 5 ? "[\(page)]" : "[]")]
    }
    defer { server.stop() }
    let ending = try await Command.quire([
      "export", server.url("/list"), "--next", "pageNumber", "--send", "query:page", "--end",
      "emptyPage", "--log", "json", "--parallel", "3",
    ])
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(ending.lines == ["1", "2", "3", "4"])
    let events = try ending.errors.split(separator: "\n").filter { $0.hasPrefix("{") }.map {
      try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
    }
    #expect(events.count >= 4 && events.allSatisfy { $0?["event"] as? String == "page" })
    #expect(events.last??["items"] as? Int == 4)
  }

  @Test("14-Parallel: --parallel 9 has nine requests in flight, and writes the items in order")
  func parallel() async throws {
    // Each page behind the first, which says how many there are, is held until nine were asked for.
    let server = try FaultServer { request in
      let page = Int(request.target.split(separator: "=").last ?? "") ?? 1
      let answer = FaultStep.respond("{\"data\":[\(page)],\"meta\":{\"total_pages\":10}}")
      guard page > 1 else { return [answer] }
      return [.mark("asked"), .stallUntilReached("asked", times: 9), answer]
    }
    defer { server.stop() }
    let ending = try await Command.quire([
      "export", server.url("/list"), "--preset", "totalPages", "--items", "/data", "--parallel",
      "9",
    ])
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(ending.lines == (1...10).map { "\($0)" })
    #expect(server.connections == 9)
  }

  @Test("16-Rows: pages of CSV and of JSON Lines are exported as pages of JSON are")
  func rows() async throws {
    let server = try FaultServer { request in
      let isLast = request.target.contains("locator")
      if request.path == "/lines" {
        return [
          .respond(
            "{\"id\": 1}\n\n{\"id\": 2}\n", headers: [("Content-Type", "application/x-ndjson")])
        ]
      }
      let body =
        isLast
        ? "\"Id\",\"Name\"\n\"3\",\n" : "\"Id\",\"Name\"\n\"1\",\"A, \"\"B\"\"\"\n\"2\",\"\"\n"
      return [
        .respond(
          body,
          headers: [("Content-Type", "text/csv"), ("Sforce-Locator", isLast ? "null" : "MTAw")])
      ]
    }
    defer { server.stop() }
    let csv = try await Command.quire([
      "export", server.url("/results"), "--preset", "salesforceBulk",
    ])
    #expect(csv.status == 0, "\(csv.errors)")
    #expect(
      csv.lines == [
        #"{"Id":"1","Name":"A, \"B\""}"#, #"{"Id":"2","Name":""}"#, #"{"Id":"3","Name":null}"#,
      ])
    let lines = try await Command.quire(["export", server.url("/lines"), "--preset", "linkHeader"])
    #expect(lines.lines == [#"{"id":1}"#, #"{"id":2}"#], "\(lines.errors)")
  }
}
