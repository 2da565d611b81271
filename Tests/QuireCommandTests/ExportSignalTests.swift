import Foundation
import TestSupport
import Testing

@testable import QuireCommand

@Suite("Signals to quire export", .timeLimit(.minutes(15)))
struct ExportSignalTests {
  /// One page, and then none.
  private func held() throws -> FaultServer {
    try FaultServer { request in
      request.path == "/first"
        ? [.respond("[1]", headers: [("Link", "</next>; rel=\"next\"")])] : [.hold]
    }
  }

  private static func command(_ server: FaultServer, _ rest: String...) -> String {
    "exec $quire "
      + CommandLineText.quoted(["export", server.url("/first"), "--preset", "linkHeader"] + rest)
  }

  private static func status(in report: TemporaryFile) throws -> Int? {
    let object = try JSONSerialization.jsonObject(with: Data(report.text().utf8))
    return (object as? [String: Any])?["status"] as? Int
  }

  @Test(
    "12-K4, K15: SIGHUP, SIGINT and SIGTERM each end an export with one report, and by the signal",
    arguments: [SIGHUP, SIGINT, SIGTERM])
  func everySignal(signal: Int32) async throws {
    let server = try held()
    defer { server.stop() }
    let report = TemporaryFile()
    let command = try Command.shell(Self.command(server, "--report", report.path))
    try await server.received(2)
    command.send(signal: signal)
    let ending = try await command.end()
    #expect(ending.status == 128 + signal && ending.wasKilled, "\(ending.errors)")
    #expect(ending.output == "1\n")
    #expect(ending.report.hasPrefix("quire: interrupted: 1 page, 1 item"), "\(ending.errors)")
    #expect(try Self.status(in: report) == Int(128 + signal))
    try await server.disconnected()
  }

  @Test("12-K4: a SIGHUP that was ignored from the start, as by nohup, changes nothing")
  func ignoredSignal() async throws {
    let gate = StallGate()
    let whole = try FaultServer { request in
      request.path == "/first"
        ? [.respond("[1]", headers: [("Link", "</next>; rel=\"next\"")])]
        : [.stall(until: gate), .respond("[2]")]
    }
    defer { whole.stop() }
    let export = try Command.shell("trap '' HUP; " + Self.command(whole))
    try await whole.received(2)
    export.send(signal: SIGHUP)
    gate.open()
    let end = try await export.end()
    #expect(end.status == 0 && end.lines == ["1", "2"], "\(end.errors)")

    let server = try held()
    defer { server.stop() }
    let command = try Command.shell("trap '' HUP; " + Self.command(server))
    try await server.received(2)
    command.send(signal: SIGHUP)
    command.send(signal: SIGTERM)
    let ending = try await command.end()
    #expect(ending.status == 128 + SIGTERM, "\(ending.errors)")
    #expect(ending.report.hasPrefix("quire: interrupted: 1 page"), "\(ending.errors)")
  }

  @Test(
    "12-K4: the first SIGTERM ends the wait for a pipe's reader, with a report",
    arguments: ["-o", "--bad-items"])
  func pipeWithoutReader(option: String) async throws {
    let server = try held()
    defer { server.stop() }
    let (pipe, report) = (TemporaryFile(), TemporaryFile())
    #expect(mkfifo(pipe.path, 0o600) == 0)
    let place = option == "-o" ? pipe.path : "collect:\(pipe.path)"
    let command = try Command.shell(
      Self.command(server, option, place, "--report", report.path))
    // The report's place is taken when the signals have their handlers.
    await report.waitUntilThere()
    command.send(signal: SIGTERM)
    let ending = try await command.end()
    #expect(ending.status == 128 + SIGTERM, "\(ending.errors)")
    #expect(ending.report.hasPrefix("quire: interrupted: 0 pages"), "\(ending.errors)")
    #expect(try Self.status(in: report) == Int(128 + SIGTERM))
    #expect(server.requests.isEmpty)
  }

  @Test("12-K4: a reader that comes late gets everything")
  func lateReader() async throws {
    let server = try FaultServer { _ in [.respond("[1, 2]")] }
    defer { server.stop() }
    let pipe = TemporaryFile()
    #expect(mkfifo(pipe.path, 0o600) == 0)
    let report = TemporaryFile()
    let command = try Command.shell(
      Self.command(server, "-o", pipe.path, "--report", report.path))
    await report.waitUntilThere()
    let reader = try await Command.run("/usr/bin/cat", pipe.path)
    #expect(reader.output == "1\n2\n")
    #expect(try await command.end().status == 0)
  }

  @Test("12-K4: the first SIGTERM ends the wait for a reader of the report, and the items count")
  func reportWithoutReader() async throws {
    let server = try FaultServer { _ in [.respond("[1, 2]")] }
    defer { server.stop() }
    let (pipe, file) = (TemporaryFile(), TemporaryFile(""))
    #expect(mkfifo(pipe.path, 0o600) == 0)
    let command = try Command.shell(
      Self.command(server, "-o", file.path, "--report", pipe.path))
    await file.line()
    command.send(signal: SIGTERM)
    let ending = try await command.end()
    #expect(try file.text() == "1\n2\n")
    #expect(ending.status == 128 + SIGTERM, "\(ending.errors)")
    #expect(ending.report.contains(": 1 page, 2 items"), "\(ending.errors)")
  }

  @Test("12-K4: a SIGTERM at the very end leaves one report, and it has the exit status")
  func atTheEnd() async throws {
    for round in 0..<40 {
      let server = try FaultServer { request in
        request.path == "/first"
          ? [.respond("[1]", headers: [("Link", "</last>; rel=\"next\"")])]
          : [.respond("[2]")]
      }
      defer { server.stop() }
      let report = TemporaryFile()
      let command = try Command.shell(Self.command(server, "--report", report.path))
      try await server.received(2)
      for _ in 0..<(round * 20) { await Task.yield() }
      command.send(signal: SIGTERM)
      let ending = try await command.end()
      #expect(try Self.status(in: report) == Int(ending.status), "\(round): \(ending.errors)")
      let reports = ending.errors.split(separator: "\n").filter { $0.contains(" requests, ") }
      #expect(reports.count == 1, "\(round): \(ending.errors)")
      if ending.status == 0 { #expect(ending.lines == ["1", "2"]) }
      #expect([0, 128 + SIGTERM].contains(ending.status), "\(round): \(ending.errors)")
    }
  }

  @Test("12-K4: a second signal ends an export at once, whichever it is")
  func secondSignal() async throws {
    let server = try held()
    defer { server.stop() }
    let pipe = try NamedPipe()
    let command = try Command.shell(
      "exec 2> \(pipe.path); head -c 65536 /dev/zero >&2; " + Self.command(server))
    try await server.received(2)
    command.send(signal: SIGINT)
    // It has noticed, and cannot say so: nobody reads.
    try await server.disconnected()
    command.send(signal: SIGTERM)
    #expect(try await command.end().status == 128 + SIGTERM)
  }

  @Test("12-K4: the first signal ends an export whose messages nobody reads, with its report")
  func unreadMessages() async throws {
    let server = try held()
    defer { server.stop() }
    let (pipe, report) = (try NamedPipe(), TemporaryFile())
    let command = try Command.shell(
      "exec 2> \(pipe.path); head -c 65536 /dev/zero >&2; "
        + Self.command(server, "--progress", "always", "--report", report.path))
    await report.waitUntilThere()
    command.send(signal: SIGTERM)
    #expect(try await command.end().status == 128 + SIGTERM)
    #expect(try Self.status(in: report) == Int(128 + SIGTERM))
  }
}
