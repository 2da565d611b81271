import Foundation
import Synchronization
import TestSupport
import Testing

@testable import QuireCommand

@Suite("quire export, when something goes wrong", .timeLimit(.minutes(15)))
struct ExportFailureTests {
  /// Pages of two items behind the Link header, as many as `count`; page `broken` is a 404 until
  /// it is repaired.
  private struct Listing {
    private final class Fault: Sendable { let isThere = Mutex(true) }

    private let fault: Fault
    private let server: FaultServer

    init(pages count: Int, broken: Int) throws {
      let fault = Fault()
      self.fault = fault
      server = try FaultServer { request in
        let page = Int(request.target.split(separator: "=").last ?? "1") ?? 1
        if page == broken, fault.isThere.withLock({ $0 }) {
          return [.respond("{\"error\": \"gone\"}", status: "404 Not Found")]
        }
        let link = page < count ? [("Link", "</list?page=\(page + 1)>; rel=\"next\"")] : []
        return [.respond("[ {\"n\": \(page).10},\n {\"n\": \"\(page)b\"} ]", headers: link)]
      }
    }

    var url: String { server.url("/list?page=1") }
    func repair() { fault.isThere.withLock { $0 = false } }
    func stop() { server.stop() }

    static func lines(_ pages: ClosedRange<Int>) -> [String] {
      pages.flatMap { ["{\"n\":\($0).10}", "{\"n\":\"\($0)b\"}"] }
    }
  }

  @Test(
    "C-8: after a failure, --from gives exactly the rest", arguments: ["0", "1", "3"])
  func resuming(lookAhead: String) async throws {
    let listing = try Listing(pages: 6, broken: 4)
    defer { listing.stop() }
    let base = ["export", listing.url, "--preset", "linkHeader", "--look-ahead", lookAhead]
    let failed = try await Command.quire(base)
    #expect(failed.status == 1)
    #expect(failed.lines == Listing.lines(1...3))
    #expect(failed.report.hasPrefix("quire: failed (status): 3 pages, 6 items"))

    listing.repair()
    let printed = try #require(failed.resumption)
    let script = "$quire \(CommandLineText.quoted(base)) --from \(printed)"
    let rest = try await Command.shell(script).end()
    #expect(rest.status == 0, "\(rest.errors)")
    #expect(rest.lines == Listing.lines(4...6))
  }

  @Test("A failure says what failed, on which page, and what was kept")
  func message() async throws {
    let listing = try Listing(pages: 6, broken: 2)
    defer { listing.stop() }
    let report = TemporaryFile()
    let ending = try await Command.quire([
      "export", listing.url, "--preset", "linkHeader", "--report", report.path,
    ])
    #expect(ending.status == 1)
    #expect(ending.errors.contains("404"))
    #expect(ending.errors.contains("after 1 page,"))
    let object = try JSONSerialization.jsonObject(with: Data(report.text().utf8))
    let fields = try #require(object as? [String: Any])
    #expect(fields["end"] as? String == "failed (status)")
    #expect((fields["error"] as? [String: Any])?["page"] as? Int == 1)
  }

  @Test(
    "C-7: Ctrl-C and SIGTERM end cleanly: what came is kept, and the report says where to resume",
    arguments: [SIGINT, SIGTERM])
  func signals(signal: Int32) async throws {
    let server = try FaultServer { request in
      request.path == "/first"
        ? [.respond("[1]", headers: [("Link", "</next>; rel=\"next\"")])] : [.hold]
    }
    defer { server.stop() }
    let command = try Command([
      "export", server.url("/first"), "--preset", "linkHeader",
    ])
    try await server.received(2)
    command.send(signal: signal)
    let ending = try await command.end()
    #expect(ending.status == 128 + signal)
    #expect(ending.wasKilled, "A shell goes on with a script unless the signal ended the process.")
    #expect(ending.output == "1\n")
    #expect(ending.report.hasPrefix("quire: interrupted: 1 page, 1 item"))
    #expect(ending.resumption?.hasPrefix("@") == true)
    try await server.disconnected()
  }

  @Test(
    "The report of an export that stopped is kept for 30 days, and nothing else is removed with it")
  func oldReports() async throws {
    let state = TemporaryFile()
    let folder = state.path + "/quire"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    for (name, days) in [("resume-old.json", 31.0), ("resume-new.json", 29), ("other.json", 31)] {
      let date = Date(timeIntervalSinceNow: -days * 86_400)
      try Data().write(to: URL(fileURLWithPath: "\(folder)/\(name)"))
      try FileManager.default.setAttributes(
        [.modificationDate: date], ofItemAtPath: "\(folder)/\(name)")
    }
    let server = try FaultServer { request in
      request.path == "/first"
        ? [.respond("[1]", headers: [("Link", "</next>; rel=\"next\"")])]
        : [.respond("no", status: "404 Not Found")]
    }
    defer { server.stop() }
    let ending = try await Command.quire(
      ["export", server.url("/first"), "--preset", "linkHeader"],
      environment: ["XDG_STATE_HOME": state.path])
    let written = try #require(ending.resumption.map { URL(fileURLWithPath: $0).lastPathComponent })
    let left = try FileManager.default.contentsOfDirectory(atPath: folder)
    #expect(Set(left) == ["resume-new.json", "other.json", written])
  }

  @Test("G3, R8: a server that ignores the parameter and sends one page for ever ends an export")
  func stalled() async throws {
    let server = try FaultServer { _ in [.respond(#"{"items": [1, 2], "total": 9}"#)] }
    defer { server.stop() }
    for way in [["page", "--end", "empty"], ["offset", "--end", "total:/total"]] {
      let ending = try await Command.quire(
        ["export", server.url("/"), "--items", "/items", "--send", "query:unknown", "--next"] + way)
      #expect(ending.status == 1)
      #expect(ending.lines == ["1", "2"])
      #expect(ending.report.hasPrefix("quire: failed (stalledContent)"), "\(ending.errors)")
      #expect(ending.report.contains(" 2 requests, 0 retries"), "\(ending.report)")
    }
  }

  @Test("G3: a page that an export refused is refused by each later call, and nothing comes twice")
  func stalledAgain() async throws {
    let server = try FaultServer { request in
      let page = request.target.split(separator: "=").last.flatMap { Int($0) } ?? 1
      let start = min(page, 3) * 2
      // The items of one listing change with each answer, but for their identities.
      let age = request.path == "/aged" ? ",\"age\":\(request.ordinal)" : ""
      return [.respond("{\"items\":[{\"id\":\(start)\(age)},{\"id\":\(start + 1)\(age)}]}")]
    }
    defer { server.stop() }
    for path in ["/", "/aged"] {
      let folder = try TemporaryFolder()
      let arguments = [
        "export", server.url(path), "--items", "/items", "--next", "page", "--send", "query:page",
        "--end", "empty", "-o", folder.path("x.jsonl"),
      ]
      for call in 0..<4 {
        let ending = try await Command.quire(arguments)
        #expect(ending.status == 1 && ending.report.hasPrefix("quire: failed (stalledContent)"))
        #expect(ending.errors.contains("run the same command with --restart"), "\(ending.errors)")
        #expect(!ending.errors.contains("same command again"), "\(ending.errors)")
        let lines = try String(contentsOfFile: folder.path("x.jsonl"), encoding: .utf8)
        let ids = lines.split(separator: "\n").map {
          String($0.dropLast().split(separator: ",")[0])
        }
        #expect(ids == (2..<8).map { "{\"id\":\($0)" }, "\(path), call \(call)")
      }
    }
  }

  @Test("C-5: a listing that leads in a circle is exported once, however often it is asked for")
  func circleAgain() async throws {
    for back in [0, 2, 3] {
      let server = try FaultServer { request in
        let page = request.target.split(separator: "=").last.flatMap { Int($0) } ?? 0
        let next = page < 3 ? "/?p=\(page + 1)" : back == 0 ? "/" : "/?p=\(back)"
        return [.respond(#"{"items": [{"id":\#(page)}], "next": "\#(next)"}"#)]
      }
      defer { server.stop() }
      let folder = try TemporaryFolder()
      let arguments = [
        "export", server.url("/"), "--items", "/items", "--next", "body:/next", "--send", "url",
        "-o", folder.path("x.jsonl"),
      ]
      for call in 0..<3 {
        let ending = try await Command.quire(arguments)
        #expect(ending.status == 1 && ending.report.hasPrefix("quire: failed (loopDetected)"))
        #expect(ending.errors.contains("run the same command with --restart"), "\(ending.errors)")
        let lines = try String(contentsOfFile: folder.path("x.jsonl"), encoding: .utf8)
        #expect(lines == (0..<4).map { "{\"id\":\($0)}\n" }.joined(), "\(back), call \(call)")
      }
    }
  }

  @Test("Ctrl-C at a script ends the script, not only the export in it")
  func signalInScript() async throws {
    let server = try FaultServer { _ in [.hold] }
    defer { server.stop() }
    // A group of its own, as a terminal's job has, so that the signal reaches shell and export.
    let script = """
      set -m
      bash -c '"$quire" export \(server.url()) --preset linkHeader; echo went on' &
      echo $!
      wait $!
      """
    let command = try Command.shell(script)
    let group = try #require(Int32(await command.firstLine()))
    try await server.received(1)
    kill(-group, SIGINT)
    let ending = try await command.end()
    #expect(!ending.output.contains("went on"))
    #expect(ending.errors.contains("quire: interrupted"))
  }

  @Test("Ctrl-C ends an export whose output nobody reads, and an unread page does not count")
  func signalWhileBlocked() async throws {
    let server = try FaultServer { _ in
      let item = String(repeating: "x", count: 1 << 20)
      return [.respond("[\"\(item)\"]", headers: [("Link", "</next>; rel=\"next\"")])]
    }
    defer { server.stop() }
    let pipe = try NamedPipe()
    let command = try Command([
      "export", server.url("/first"), "--preset", "linkHeader", "-o", pipe.path,
    ])
    await pipe.waitForBytes()
    command.send(signal: SIGINT)
    let ending = try await command.end()
    #expect(ending.status == 130)
    #expect(ending.report.hasPrefix("quire: interrupted: 0 pages, 0 items"))
    #expect(!ending.errors.contains("--from"))
  }

  @Test("H-8: secrets appear neither in the output nor in messages nor in the report")
  func secrets() async throws {
    let server = try FaultServer { request in
      let echoed = request.values(of: "Authorization").first ?? ""
      return [
        .respond("{\"error\": \"no \(echoed) for \(request.target)\"}", status: "403 Forbidden")
      ]
    }
    defer { server.stop() }
    let file = TemporaryFile("Bearer file-secret-1\n")
    let report = TemporaryFile()
    for header in [
      "Authorization: env:QUIRE_TEST_TOKEN", "Authorization: @\(file.path)",
      "Authorization: Bearer literal-secret-2",
    ] {
      let ending = try await Command.quire(
        [
          "export", server.url("/list"), "--preset", "linkHeader", "-H", header, "--param",
          "api_key=param-secret-3", "--report", report.path, "--progress", "always",
        ], environment: ["QUIRE_TEST_TOKEN": "Bearer environment-secret-4"])
      #expect(ending.status == 1)
      let said = ending.output + ending.errors + (try report.text())
      for secret in ["file-secret-1", "literal-secret-2", "param-secret-3", "environment-secret-4"]
      {
        #expect(!said.contains(secret), "\(secret)")
      }
    }
    #expect(
      server.requests.flatMap { $0.values(of: "Authorization") } == [
        "Bearer environment-secret-4", "Bearer file-secret-1", "Bearer literal-secret-2",
      ])
  }

  @Test("A reader that has seen enough ends the export without complaint")
  func closedPipe() async throws {
    try await DemoServer.whileServing(port: 0) { origin in
      let script = """
        set -o pipefail
        $quire export \(origin)/link-header --preset linkHeader | head -n 2
        """
      let ending = try await Command.shell(script).end()
      #expect(ending.status == 0)
      #expect(ending.lines == [DemoRecords.line(1), DemoRecords.line(2)])
      #expect(ending.report.hasPrefix("quire: output closed"))
      #expect(!ending.report.contains(" 0 B "))
      #expect(!ending.report.contains(" 0 requests"))
    }
  }

  @Test("A full disk is an error that says so, and nothing counts as written")
  func fullDisk() async throws {
    try await DemoServer.whileServing(port: 0) { origin in
      let ending = try await Command.quire([
        "export", "\(origin)/link-header", "--preset", "linkHeader", "-o", "/dev/full",
      ])
      #expect(ending.status == 1)
      #expect(ending.errors.contains("Cannot write to /dev/full: No space left on device."))
      #expect(ending.report.contains("output failed: 0 pages, 0 items"))
      #expect(ending.report.contains(#/ [1-9][0-9.]* kB in .*, [12] requests?, 0 retries/#))
      #expect(!ending.errors.contains("--from"))
    }
  }

  @Test(
    "A file that can grow no further ends at a whole page, and the same command brings exactly the rest",
    .enabled(if: !Command.hasThreadSanitizer, "Its own files do not fit under the limit."))
  func limitedFile() async throws {
    let file = TemporaryFile()
    let report = TemporaryFile()
    try await DemoServer.whileServing(port: 0) { origin in
      let export =
        "$quire export \(origin)/link-header --preset linkHeader -o \(file.path) --commit-every 0"
      let failed = try await Command.shell("exec \(export)", maximumFileSize: 100).end()
      #expect(failed.status == 1)
      #expect(failed.errors.contains("File too large"))
      let kept = try file.lines().count
      #expect(kept > 0 && kept % 100 == 0)
      #expect(failed.errors.contains("run the same command again"), "\(failed.errors)")
      let rest = try await Command.shell("\(export) --report \(report.path)").end()
      #expect(rest.status == 0, "\(rest.errors)")
      #expect(try file.lines() == (1...DemoRecords.count).map(DemoRecords.line))
    }
  }

  @Test("An export that never comes to its first page leaves the file as it was, be it none")
  func untouchedFile() async throws {
    let listing = try Listing(pages: 2, broken: 1)
    defer { listing.stop() }
    let new = TemporaryFile()
    let none = try await Command.quire([
      "export", listing.url, "--preset", "linkHeader", "-o", new.path,
    ])
    #expect(none.status == 1)
    #expect(!FileManager.default.fileExists(atPath: new.path))
    let file = TemporaryFile("yesterday\n")
    let arguments = [
      "export", listing.url, "--preset", "linkHeader", "-o", file.path, "--restart",
    ]
    let failed = try await Command.quire(arguments)
    #expect(failed.status == 1)
    #expect(try file.text() == "yesterday\n")
    listing.repair()
    let whole = try await Command.quire(arguments)
    #expect(whole.status == 0, "\(whole.errors)")
    #expect(try file.lines() == Listing.lines(1...2))
  }

  @Test("D-3: with --bad-items collect, broken items are set aside and counted, and the rest comes")
  func badItems() async throws {
    let server = try FaultServer { request in
      guard request.target == "/list" else { return [.respond("[4]")] }
      let page = Array("[1, {\"name\": \"".utf8) + [0xFF] + Array("\"}, 3]".utf8)
      return [.respond(page, headers: [("Link", "</next>; rel=\"next\"")])]
    }
    defer { server.stop() }
    let (report, aside) = (TemporaryFile(), TemporaryFile("yesterday\n"))
    let base = ["export", server.url("/list"), "--preset", "linkHeader", "--report", report.path]

    let failed = try await Command.quire(base)
    #expect(failed.status == 1)
    #expect(failed.output.isEmpty)
    #expect(failed.errors.contains("use --bad-items collect"))

    let kept = try await Command.quire(base + ["--bad-items", "collect:\(aside.path)"])
    #expect(kept.status == 0, "\(kept.errors)")
    #expect(kept.lines == ["1", "3", "4"])
    #expect(kept.report.contains("1 item set aside"))
    #expect(try report.text().contains("\"badItems\" : 1,"))
    let lines = try aside.lines()
    #expect(lines.count == 1)
    let object = try JSONSerialization.jsonObject(with: Data((lines.first ?? "").utf8))
    let fields = try #require(object as? [String: Any])
    #expect(fields["page"] as? Int == 0)
    #expect(fields["index"] as? Int == 1)
    #expect(fields["path"] as? String == "/name")
    #expect((fields["message"] as? String)?.contains("UTF-8") == true)
    #expect(fields["position"] is [String: Any])
    let bytes = (fields["base64"] as? String).flatMap { Data(base64Encoded: $0) }
    #expect(bytes == Data("{\"name\": \"".utf8) + [0xFF] + Data("\"}".utf8))

    let shown = try await Command.quire(base + ["--bad-items", "collect"])
    #expect(shown.status == 0)
    #expect(shown.lines == kept.lines)
    #expect(shown.errors.contains("\"path\":\"/name\""))
    #expect(!shown.errors.contains("position"))
  }

  @Test("D-4: a limit that was reached names the option that raises it, and that option does")
  func limits() async throws {
    let server = try FaultServer { _ in
      [.respond("[\(String(repeating: "[", count: 200) + String(repeating: "]", count: 200))]")]
    }
    defer { server.stop() }
    let base = ["export", server.url(), "--preset", "linkHeader"]
    let failed = try await Command.quire(base)
    #expect(failed.status == 1)
    #expect(failed.errors.contains("raise --limit depth"), "\(failed.errors)")
    let raised = try await Command.quire(base + ["--limit", "depth=300"])
    #expect(raised.status == 0, "\(raised.errors)")
    #expect(raised.lines.count == 1)
  }

  @Test("An export of nothing empties the file where that is asked for")
  func emptiedFile() async throws {
    let server = try FaultServer { _ in [.respond("[]")] }
    defer { server.stop() }
    let file = TemporaryFile("yesterday\n")
    let ending = try await Command.quire([
      "export", server.url(), "--preset", "linkHeader", "-o", file.path, "--restart",
    ])
    #expect(ending.status == 0)
    #expect(try file.text().isEmpty)
  }

  @Test(
    "D-4: an export goes on whatever total a server declares",
    arguments: ["items", "estimate", "lowerBound", "remaining", "pages"],
    ["9223372036854775807", "-9223372036854775808", "1e400", "9223372036854775808"])
  func hostileTotals(kind: String, total: String) async throws {
    let server = try FaultServer { request in
      let (item, next) = request.target == "/" ? (1, "\"/2\"") : (2, "null")
      return [.respond("{\"data\": [\(item)], \"next\": \(next), \"left\": \(total)}")]
    }
    defer { server.stop() }
    let description = TemporaryFile(
      """
      {"next": {"body": "/next"}, "items": "/data",
       "total": {"source": {"body": "/left"}, "kind": "\(kind)"}}
      """)
    let ending = try await Command.quire([
      "export", server.url("/"), "--pagination", description.path, "--progress", "always",
    ])
    #expect(ending.status == 0 || ending.report.hasPrefix("quire: truncation suspected"))
    #expect(ending.lines == ["1", "2"], "\(ending.errors)")
  }

  @Test(
    "A failed write to standard output costs nothing of what the file held before",
    .enabled(if: !Command.hasThreadSanitizer, "Its own files do not fit under the limit."),
    arguments: [(">>", 3_000), ("1<>", 5_300)])
  func sharedFile(redirection: String, lines: Int) async throws {
    let before = (1...lines).map { "\"old \($0)\"\n" }.joined()
    let file = TemporaryFile(before)
    try await DemoServer.whileServing(port: 0) { origin in
      let export = "$quire export \(origin)/link-header --preset linkHeader"
      let script = "exec \(export) \(redirection) \(file.path)"
      let failed = try await Command.shell(script, maximumFileSize: 60).end()
      #expect(failed.status == 1)
      #expect(failed.errors.contains("File too large"))
      let kept = try file.text()
      #expect(kept.utf8.count >= before.utf8.count)
      guard redirection == ">>" else { return }
      #expect(kept.hasPrefix(before))
      let added = kept.dropFirst(before.count).split(separator: "\n").map(String.init)
      #expect(added.count > 0 && added.count % 100 == 0)
      #expect(added == (1...max(added.count, 1)).map(DemoRecords.line))
    }
  }

  @Test("An export that got fewer items than the server declared is no success")
  func truncation() async throws {
    let server = try FaultServer { _ in
      [.respond("{\"results\": [1, 2], \"count\": 3, \"next\": null}")]
    }
    defer { server.stop() }
    let ending = try await Command.quire(["export", server.url(), "--preset", "drf"])
    #expect(ending.status == 1)
    #expect(ending.lines == ["1", "2"])
    #expect(ending.errors.contains("declared 3 items and delivered 2"))
    #expect(ending.report.hasPrefix("quire: truncation suspected: 1 page, 2 items"))
  }

  @Test("--ca-file trusts a private authority, and without it the server is refused")
  func certificateAuthority() async throws {
    let server = try FaultServer(tls: FaultTLS()) { _ in [.respond("[1]")] }
    defer { server.stop() }
    let base = ["export", server.url(), "--preset", "linkHeader"]
    let trusted = try await Command.quire(
      base + ["--ca-file", TestAuthority.shared.certificateFile])
    #expect(trusted.status == 0, "\(trusted.errors)")
    #expect(trusted.output == "1\n")
    let refused = try await Command.quire(base)
    #expect(refused.status == 1)
    #expect(refused.report.hasPrefix("quire: failed (tls)"))
  }

  @Test(
    "A failure before the first page counts what was requested, and has nothing to resume from",
    arguments: [
      ("404 Not Found", "1 request, 0 retries"),
      ("503 Service Unavailable", "3 requests, 2 retries"),
    ])
  func nothingDelivered(status: String, count: String) async throws {
    let server = try FaultServer { _ in
      [.respond("no", status: status, headers: [("Retry-After", "0")])]
    }
    defer { server.stop() }
    let report = TemporaryFile()
    let ending = try await Command.quire([
      "export", server.url(), "--preset", "linkHeader", "--report", report.path, "--patience", "0",
    ])
    #expect(ending.status == 1)
    #expect(ending.report.hasSuffix(count), "\(ending.report)")
    #expect(server.requests.count == Int(count.prefix(1)))
    #expect(try report.text().contains("\"requests\" : \(count.prefix(1)),"))
  }

  @Test("H-5: requests, retries and replays in the report are those that the server saw")
  func replays() async throws {
    let server = try FaultServer { request in
      guard request.target == "/" else { return [.finish] }
      return [.respond("[1]", headers: [("Link", "</2>; rel=\"next\"")])]
    }
    defer { server.stop() }
    let report = TemporaryFile()
    let ending = try await Command.quire([
      "export", server.url("/"), "--preset", "linkHeader", "--report", report.path, "--patience",
      "0",
    ])
    #expect(ending.status == 1)
    let fields = try #require(
      try JSONSerialization.jsonObject(with: Data(report.text().utf8)) as? [String: Any])
    let numbers = try ["requests", "retries", "replays"].map { try #require(fields[$0] as? Int) }
    #expect(numbers[0] == server.requests.count, "\(ending.errors)")
    #expect(numbers[0] == 2 + numbers[1] + numbers[2], "\(ending.errors)")
    #expect(ending.report.contains("\(numbers[0]) requests, "))
    #expect(ending.errors.contains(", \(numbers[0] - 1) requests]\n"), "\(ending.errors)")
  }

  @Test("H-5: --retries says how often a page is asked for again")
  func retryOption() async throws {
    for (retries, requests) in [("0", 1), ("4", 5)] {
      let server = try FaultServer { _ in
        [.respond("no", status: "503 Service Unavailable", headers: [("Retry-After", "0")])]
      }
      defer { server.stop() }
      let ending = try await Command.quire([
        "export", server.url(), "--preset", "linkHeader", "--retries", retries, "--patience", "0",
      ])
      #expect(ending.status == 1)
      #expect(server.requests.count == requests, "\(ending.errors)")
    }
  }

  @Test("H-6: a Retry-After that is too long names --max-retry-after, which bounds it")
  func longWait() async throws {
    let server = try FaultServer { _ in
      [.respond("no", status: "429 Too Many Requests", headers: [("Retry-After", "7200")])]
    }
    defer { server.stop() }
    let base = ["export", server.url(), "--preset", "linkHeader"]
    let failed = try await Command.quire(base)
    #expect(failed.status == 1)
    #expect(failed.errors.contains("asks to wait 2 h, longer than 15 min."), "\(failed.errors)")
    let words = "To wait for that long, raise --max-retry-after."
    #expect(failed.errors.contains(words), "\(failed.errors)")
    let shorter = try await Command.quire(base + ["--max-retry-after", "1h"])
    #expect(shorter.errors.contains("longer than 1 h."), "\(shorter.errors)")
  }

  @Test("What to do next is said in full: by the report where there is one")
  func advice() async throws {
    let listing = try Listing(pages: 6, broken: 2)
    defer { listing.stop() }
    let report = TemporaryFile()
    let base = ["export", listing.url, "--preset", "linkHeader"]
    let ending = try await Command.quire(base + ["--report", report.path])
    #expect(ending.resumption == "@\(report.path)")
    #expect(!ending.report.contains("--from"))
    listing.repair()
    let script = "$quire \(CommandLineText.quoted(base)) --from @\(report.path)"
    let rest = try await Command.shell(script).end()
    #expect(rest.lines == Listing.lines(2...6), "\(rest.errors)")
  }

  @Test("Items that are not there name the option for a server that leaves empty lists out")
  func absentItems() async throws {
    let server = try FaultServer { _ in [.respond("{\"next\": null}")] }
    defer { server.stop() }
    let base = ["export", server.url(), "--next", "body:/next", "--send", "query:c"]
    let failed = try await Command.quire(base + ["--items", "/items"])
    #expect(failed.status == 1)
    #expect(failed.errors.contains("use --items 'optional:/items'."), "\(failed.errors)")
    let empty = try await Command.quire(base + ["--items", "optional:/items"])
    #expect(empty.status == 0, "\(empty.errors)")
  }

  @Test("A format that the page has not names the option for the one it has")
  func otherFormats() async throws {
    let xml = [("Content-Type", "application/xml")]
    for (page, headers, asked, needed) in [
      ("<l><i>1</i></l>", xml, "json", "xml"), ("<?xml version=\"1.0\"?><l/>", [], "json", "xml"),
      ("[1]", [], "xml", "json"),
    ] {
      let server = try FaultServer { _ in [.respond(page, headers: headers)] }
      defer { server.stop() }
      let ending = try await Command.quire([
        "export", server.url(), "--preset", "linkHeader", "--format", asked,
      ])
      #expect(ending.status == 1)
      #expect(ending.errors.contains(". Use --format \(needed)."), "\(ending.errors)")
    }
  }

  @Test("A retry is counted in the report")
  func retries() async throws {
    let server = try FaultServer { request in
      request.ordinal == 1
        ? [.respond("busy", status: "503 Service Unavailable")] : [.respond("[1]")]
    }
    defer { server.stop() }
    let ending = try await Command.quire([
      "export", server.url(), "--preset", "linkHeader", "--progress", "always",
    ])
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(ending.report.contains("2 requests, 1 retry"))
    #expect(ending.errors.contains("waiting for "))
  }
}
