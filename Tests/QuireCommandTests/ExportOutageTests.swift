import Foundation
import Synchronization
import TestSupport
import Testing

@testable import QuireCommand

@Suite("quire export, while the server is away", .timeLimit(.minutes(15)))
struct ExportOutageTests {
  private static func respond(
    _ pages: Int, outage: @escaping @Sendable (ReceivedRequest) -> [FaultStep]? = { _ in nil }
  ) -> FaultServer.Respond {
    { request in
      if let fault = outage(request) { return fault }
      let page = Int(request.target.split(separator: "=").last ?? "1") ?? 1
      let link = page < pages ? [("Link", "</list?page=\(page + 1)>; rel=\"next\"")] : []
      return [.respond("[\(page)]", headers: link)]
    }
  }

  private static func lines(_ pages: Int) -> [String] { (1...pages).map(String.init) }

  private static func arguments(_ server: FaultServer, _ rest: String...) -> [String] {
    ["export", server.url("/list?page=1"), "--preset", "linkHeader"] + rest
  }

  @Test(
    "12-K5: an export waits out resets and answers of a gateway, and needs few requests for it",
    arguments: ["reset", "closed", "502", "503", "504", "521", "529"])
  func faults(kind: String) async throws {
    let server = try FaultServer(
      respond: Self.respond(40) { request in
        guard request.target == "/list?page=7", request.ordinal < 10 else { return nil }
        switch kind {
        case "reset": return [.reset]
        case "closed": return [.finish]
        default: return [.respond("away", status: "\(kind) Away")]
        }
      })
    defer { server.stop() }
    // All requests go to one path: the first six of them are those of the pages before.
    let ending = try await Command.quire(Self.arguments(server))
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(ending.lines == Self.lines(40))
    #expect(server.requests.count <= 44, "\(server.requests.count)")
    #expect(ending.errors.contains("asking again in "), "\(ending.errors)")
    #expect(ending.errors.contains(" of patience") || ending.errors.contains("(--patience)"))
    #expect(ending.errors.contains("the server answers again, after "), "\(ending.errors)")
  }

  @Test("12-K5: a redirect in front of a server that is away does not say that it answers again")
  func redirected() async throws {
    let server = try FaultServer { request in
      if request.path == "/list" {
        return [.respond("", status: "302 Found", headers: [("Location", "/real")])]
      }
      return request.ordinal < 4 ? [.respond("away", status: "503 Away")] : [.respond("[1]")]
    }
    defer { server.stop() }
    let ending = try await Command.quire(Self.arguments(server))
    #expect(ending.status == 0 && ending.lines == ["1"], "\(ending.errors)")
    let said = ending.errors.components(separatedBy: "the server answers again").count - 1
    #expect(said == 1, "\(ending.errors)")
  }

  @Test(
    "12-K5: a server that goes away for good and one that comes back in its place are one listing")
  func comesBack() async throws {
    let gone = Mutex<FaultServer?>(nil)
    let first = try FaultServer(
      respond: Self.respond(9) { request in
        request.target == "/list?page=4" ? [.mark("away"), .hold] : nil
      })
    gone.withLock { $0 = first }
    let arguments = Self.arguments(first)
    let command = try Command(arguments)
    try await first.reached("away")
    first.stop()
    await command.line { $0.contains("asking again in ") }
    let second = try FaultServer(port: first.port, respond: Self.respond(9))
    defer { second.stop() }
    let ending = try await command.end()
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(ending.lines == Self.lines(9))
    #expect(second.requests.map(\.target).first == "/list?page=4")
  }

  @Test("12-K5, 12-K4: a signal ends the wait at once, with one report that leads on")
  func signalWhileWaiting() async throws {
    let server = try FaultServer(
      respond: Self.respond(9) { request in
        request.target == "/list?page=3" ? [.reset] : nil
      })
    defer { server.stop() }
    let report = TemporaryFile()
    let command = try Command.shell(
      "exec $quire "
        + CommandLineText.quoted(Self.arguments(server, "--report", report.path)))
    await command.line { $0.contains("asking again in ") }
    command.send(signal: SIGTERM)
    let ending = try await command.end()
    #expect(ending.status == 128 + SIGTERM)
    #expect(ending.report.hasPrefix("quire: interrupted: 2 pages, 2 items"), "\(ending.errors)")
    #expect(try report.text().contains("/list?page=3"))
  }

  @Test("12-K5: --patience bounds the wait, 0 is none, and what is in the way for good gets none")
  func bounds() async throws {
    let away = try FaultServer { _ in [.respond("away", status: "503 Service Unavailable")] }
    defer { away.stop() }
    let short = try await Command.quire(Self.arguments(away, "--patience", "1"))
    #expect(short.status == 1)
    #expect(short.errors.contains("longer than the 1.0 s of patience"), "\(short.errors)")
    #expect(short.errors.contains("To wait longer, raise --patience."), "\(short.errors)")
    #expect(away.requests.count <= 5)
    for none in [["--patience", "0"], ["--retries", "0"]] {
      let before = away.requests.count
      let ending = try await Command.quire(Self.arguments(away) + none)
      #expect(ending.status == 1)
      #expect(away.requests.count - before <= 3)
      #expect(!ending.errors.contains("asking again"), "\(ending.errors)")
    }
    for (status, requests) in [("404 Not Found", 1), ("500 Broken", 3), ("401 No", 1)] {
      let server = try FaultServer { _ in [.respond("no", status: status)] }
      defer { server.stop() }
      let ending = try await Command.quire(Self.arguments(server))
      #expect(ending.status == 1)
      #expect(server.requests.count == requests, "\(status)")
    }
    let post = try FaultServer { _ in [.respond("away", status: "503 Service Unavailable")] }
    defer { post.stop() }
    let once = try await Command.quire(Self.arguments(post, "--method", "POST"))
    #expect(once.status == 1)
    #expect(post.requests.count == 1)
    let plan = try await Command.quire(Self.arguments(away, "--plan"))
    #expect(plan.status == 1)
  }

  @Test("12-K5: a plan and a detection fail at once where the server asks to wait, and say so")
  func neverWaits() async throws {
    for status in ["503 Service Unavailable", "429 Too Many Requests"] {
      let server = try FaultServer { _ in
        [.respond("no", status: status, headers: [("Retry-After", "600")])]
      }
      defer { server.stop() }
      for arguments in [Self.arguments(server, "--plan"), ["detect", server.url("/list")]] {
        let before = server.requests.count
        let ending = try await Command.quire(arguments)
        #expect(ending.status == 1)
        #expect(server.requests.count == before + 1)
        #expect(ending.errors.contains("The server asks to wait "), "\(ending.errors)")
      }
    }
  }

  @Test("12-K3: a wait is on the progress line, or noted once where that is off")
  func shownWaits() async throws {
    let server = try FaultServer { request in
      request.ordinal < 3
        ? [.respond("no", status: "429 Too Many", headers: [("Retry-After", "1")])]
        : [.respond("[1]")]
    }
    defer { server.stop() }
    let noted = try await Command.quire(Self.arguments(server, "--progress", "never"))
    #expect(noted.status == 0, "\(noted.errors)")
    let notes = noted.errors.split(separator: "\n").filter { $0.contains("asking again in 1.0 s") }
    #expect(notes.count == 1, "\(noted.errors)")
    let other = try FaultServer { request in
      request.ordinal == 1
        ? [.respond("no", status: "429 Too Many", headers: [("Retry-After", "1")])]
        : [.respond("[1]")]
    }
    defer { other.stop() }
    let shown = try await Command.quire(Self.arguments(other, "--progress", "always"))
    #expect(shown.errors.contains("waiting for 1.0 s after throttled"), "\(shown.errors)")
    #expect(!shown.errors.contains("asking again"), "\(shown.errors)")
  }

  @Test("12-K3: pauses that a description asks for are noted once")
  func pauses() async throws {
    let server = try FaultServer(respond: Self.respond(4))
    defer { server.stop() }
    let description = TemporaryFile(
      #"{"next": "linkHeader", "policy": {"pacing": {"interval": 0.5}}}"#)
    let ending = try await Command.quire([
      "export", server.url("/list?page=1"), "--pagination", description.path, "--progress", "never",
    ])
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(ending.lines == Self.lines(4))
    #expect(ending.errors.components(separatedBy: "quire: pausing for ").count == 2)
  }

  @Test("16-Tool: what an expired cursor leaves is to begin anew, and the advice says how")
  func expired() async throws {
    let isExpired = Mutex(true)
    let server = try FaultServer { request in
      guard request.target.contains("cursor=") else {
        return [.respond(#"{"data":[1],"next":"b"}"#)]
      }
      return isExpired.withLock { $0 }
        ? [.respond("gone", status: "410 Gone")] : [.respond(#"{"data":[2]}"#)]
    }
    defer { server.stop() }
    let folder = TemporaryFile()
    let how = ["--next", "body:/next", "--send", "query:cursor", "--items", "/data"]
    let command = ["export", server.url("/x"), "-o", folder.path + ".jsonl"] + how
    defer {
      for ending in [".jsonl", ".jsonl.checkpoint"] {
        try? FileManager.default.removeItem(atPath: folder.path + ending)
      }
    }
    let failed = try await Command.quire(command)
    #expect(failed.status == 1)
    #expect(
      failed.errors.contains("to begin anew, run the same command with --restart"),
      "\(failed.errors)")
    let plan = try await Command.quire(command + ["--plan"])
    #expect(plan.status == 1 && plan.errors.contains("Begin anew by --restart."), "\(plan.errors)")
    isExpired.withLock { $0 = false }
    let ending = try await Command.quire(command + ["--restart"])
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(try String(contentsOfFile: folder.path + ".jsonl", encoding: .utf8) == "1\n2\n")
  }

  @Test("12-K5: a wait that is longer than the patience is announced as the last one")
  func lastWait() {
    let notes = Mutex<[String]>([])
    let waits = WaitNotes(isOn: true) { line in notes.withLock { $0.append(line) } }
    waits.retry(after: .seconds(60), reason: "The server is away.", remaining: .seconds(2))
    #expect(
      notes.withLock { $0 } == [
        "quire: The server is away. Waiting: asking again in 1:00, for the last time (--patience)."
      ])
  }

  @Test("12-K5: what a note says of an error cannot pass for a line of its own")
  func escapedNote() {
    let notes = Mutex<[String]>([])
    let waits = WaitNotes(isOn: true) { line in notes.withLock { $0.append(line) } }
    let reason = "The server answered 503 \u{1B}[2J\nquire: exhausted\u{202E}. It says: more"
    waits.retry(after: .seconds(1), reason: reason, remaining: .seconds(900))
    waits.retry(after: .seconds(2), reason: reason, remaining: .seconds(899))
    #expect(
      notes.withLock { $0 } == [
        "quire: The server answered 503 \\u{1B}[2J\\nquire: exhausted\\u{202E}. Waiting: asking again in "
          + "1.0 s, for 15:00 at most (--patience)."
      ])
  }
}
