import Foundation
import QuireCore
import TestSupport
import Testing

@testable import QuireCommand

@Suite("The files of quire export", .timeLimit(.minutes(15)))
struct ExportFileTests {
  /// Pages of two numbers behind the Link header, without an end.
  private func listing() throws -> FaultServer {
    try FaultServer { request in
      let page = Int(request.target.split(separator: "=").last ?? "0") ?? 0
      let link = [("Link", "</list?page=\(page + 1)>; rel=\"next\"")]
      return [.respond("[\(2 * page), \(2 * page + 1)]", headers: link)]
    }
  }

  private func export(_ server: FaultServer, _ arguments: String...) async throws -> Command.Ending
  {
    try await Command.quire(
      ["export", server.url("/list?page=0"), "--preset", "linkHeader", "--max-pages", "1"]
        + arguments)
  }

  private static func text(_ numbers: Range<Int>) -> String {
    numbers.map { "\($0)\n" }.joined()
  }

  @Test("C-8: with --from that is no position, nothing is requested and the file keeps all it has")
  func noPosition() async throws {
    let server = try listing()
    defer { server.stop() }
    let file = TemporaryFile(Self.text(0..<9))
    for text in ["{}", "{\"foo\":1}", "{\"valeu\":\"abc\"}"] {
      let ending = try await export(server, "-o", file.path, "--from", text)
      #expect(ending.status == 2)
      #expect(try file.text() == Self.text(0..<9))
    }
    #expect(server.requests.isEmpty)
  }

  @Test("C-8: --from never empties a file, not even where the first export had not begun")
  func startPosition() async throws {
    let server = try listing()
    defer { server.stop() }
    let report = TemporaryFile("{\"end\": \"failed (status)\", \"checkpoint\": {}}")
    let file = TemporaryFile("yesterday\n")
    let refused = try await export(server, "-o", file.path, "--from", "@\(report.path)")
    #expect(refused.status == 2)
    #expect(refused.errors.contains("Begin anew by --restart"))
    #expect(try file.text() == "yesterday\n")
    #expect(server.requests.isEmpty)
    let new = TemporaryFile()
    let ending = try await export(server, "-o", new.path, "--from", "@\(report.path)")
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(try new.text() == Self.text(0..<2))
  }

  @Test("C-8: --from reads a report, its checkpoint alone, and both through a pipe")
  func checkpoints() async throws {
    let server = try listing()
    defer { server.stop() }
    let report = TemporaryFile()
    _ = try await export(server, "--report", report.path)
    let url = server.url("/list?page=0")
    let base = "$quire export '\(url)' --preset linkHeader --max-pages 1 --look-ahead 0"
    for script in [
      "\(base) --from \"$(cat \(report.path))\"", "\(base) --from @- < \(report.path)",
      "\(base) --from @<(cat \(report.path))", "cat \(report.path) | \(base) --from @/dev/stdin",
      "\(base) --from \"{\\\"checkpoint\\\": $(sed -n '/checkpoint/,/^  }/p' \(report.path)"
        + " | sed '1s/.*/{/; $s/,//')}\"",
    ] {
      let ending = try await Command.shell(script).end()
      #expect(ending.status == 0, "\(script)\n\(ending.errors)")
      #expect(ending.output == Self.text(2..<4), "\(script)")
    }
  }

  @Test("C-8: a file that ends inside a line is not continued, and the way out leads on exactly")
  func unfinishedLine() async throws {
    let server = try listing()
    defer { server.stop() }
    let (file, report) = (TemporaryFile(), TemporaryFile())
    _ = try await export(server, "-o", file.path, "--report", report.path)
    let position = String(
      decoding: try JSONEncoder().encode(ResumePoint("@\(report.path)").position), as: UTF8.self)
    try Data("0\n1\n{\"id".utf8).write(to: URL(fileURLWithPath: file.path))
    for from in [position, "@\(report.path)"] {
      let asked = server.requests.count
      let refused = try await export(server, "-o", file.path, "--from", from)
      #expect(refused.status == 2)
      #expect(refused.errors.contains("after 2 whole lines (4 bytes) come 4 bytes"))
      #expect(refused.errors.contains("truncate -s 4 \(file.path)"), "\(refused.errors)")
      #expect(server.requests.count == asked)
      #expect(try file.text() == "0\n1\n{\"id")
    }
    let command = try await Command.run("/usr/bin/env", "truncate", "-s", "4", file.path)
    #expect(command.status == 0)
    let rest = try await export(server, "-o", file.path, "--from", "@\(report.path)")
    #expect(rest.status == 0, "\(rest.errors)")
    #expect(try file.text() == Self.text(0..<4))
  }

  @Test("C-8: a report says how long the file was, and a file of another length is not continued")
  func otherLength() async throws {
    let server = try listing()
    defer { server.stop() }
    let (file, report) = (TemporaryFile(), TemporaryFile())
    _ = try await export(server, "-o", file.path, "--report", report.path)
    #expect(try report.text().contains("\"outputBytes\" : 4,"))
    let from = "@\(report.path)"
    let once = try await export(server, "-o", file.path, "--from", from)
    #expect(once.status == 0, "\(once.errors)")
    let twice = try await export(server, "-o", file.path, "--from", from)
    #expect(twice.status == 2)
    #expect(twice.errors.contains("would come again"), "\(twice.errors)")
    #expect(try file.text() == Self.text(0..<4))
    try Data("0\n".utf8).write(to: URL(fileURLWithPath: file.path))
    let short = try await export(server, "-o", file.path, "--from", from)
    #expect(short.status == 2)
    #expect(short.errors.contains("items are missing"), "\(short.errors)")
    let other = TemporaryFile()
    let elsewhere = try await export(server, "-o", other.path, "--from", from)
    #expect(elsewhere.status == 0, "\(elsewhere.errors)")
    #expect(try other.text() == Self.text(2..<4))
  }

  @Test("Two outputs in one file are refused, however it is spelled, and the file is left alone")
  func oneFile() async throws {
    let server = try listing()
    defer { server.stop() }
    let file = TemporaryFile(Self.text(0..<9))
    let (link, dangling, new) = (TemporaryFile(), TemporaryFile(), TemporaryFile())
    let files = FileManager.default
    try files.createSymbolicLink(atPath: link.path, withDestinationPath: file.path)
    try files.createSymbolicLink(atPath: dangling.path, withDestinationPath: new.path)
    let spelled = URL(fileURLWithPath: file.path).deletingLastPathComponent().path + "/./"
    for (one, other) in [
      (file.path, file.path), (file.path, link.path),
      (spelled + URL(fileURLWithPath: file.path).lastPathComponent, file.path),
      (new.path, new.path), (dangling.path, new.path),
    ] {
      for option in [["--report", other], ["--bad-items", "collect:\(other)"]] {
        let ending = try await Command.quire(
          ["export", server.url(), "--preset", "linkHeader", "-o", one] + option)
        #expect(ending.status == 2)
        #expect(ending.errors.contains("-o and \(option[0]) write to one file"), "\(ending.errors)")
      }
    }
    let redirected = try await Command.shell(
      "$quire export \(server.url()) --preset linkHeader --report \(file.path) >> \(file.path)"
    ).end()
    #expect(redirected.status == 2, "\(redirected.errors)")
    #expect(try file.text() == Self.text(0..<9))
    #expect(!files.fileExists(atPath: new.path))
    #expect(server.requests.isEmpty)
    let sink = "/dev/zero"
    let nowhere = try await export(server, "-o", sink, "--bad-items", "collect:\(sink)")
    #expect(nowhere.status == 0, "\(nowhere.errors)")
  }

  @Test(
    "What an export has beside its destination is no place for its other outputs, nor for a plan's report"
  )
  func companions() async throws {
    let server = try listing()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let (file, database) = (folder.path("a.csv"), folder.path("a.db"))
    let companions =
      [".checkpoint", ".checkpoint.new", ".quire-replacement", ".quire-filled"].map {
        (file, file + $0)
      }
      + ["-quire-\(String(FNV1a("t".utf8).value, radix: 16))", "-journal", "-wal", "-shm"].map {
        (database, database + $0)
      }
    for (destination, other) in companions {
      for option in [["--report", other], ["--bad-items", "collect:\(other)"]] {
        let table = destination == database ? ["--table", "t"] : []
        let ending = try await Command.quire(
          ["export", server.url(), "--preset", "linkHeader", "-o", destination] + table + option)
        #expect(
          ending.status == 2 && ending.errors.contains("write to one file"), "\(ending.errors)")
      }
    }
    try "old\n".write(toFile: file, atomically: false, encoding: .utf8)
    let plan = try await export(server, "-o", file, "--plan", "--report", file)
    #expect(plan.status == 2 && server.requests.isEmpty, "\(plan.errors)")
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "old\n")
  }

  @Test("A report has any name that a file can have, and what keeps it from being written is said")
  func longReport() async throws {
    let server = try listing()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let report = folder.path(String(repeating: "r", count: 255))
    let ending = try await export(server, "-o", folder.path("a"), "--report", report)
    #expect(
      ending.status == 0 && FileManager.default.fileExists(atPath: report), "\(ending.errors)")
    let full = try await export(server, "-o", folder.path("b"), "--report", "/dev/full")
    #expect(full.status == 1, "\(full.errors)")
    #expect(
      full.errors.contains("cannot write the report to /dev/full: No space left on device."),
      "\(full.errors)")
  }

  @Test("A file whose name leaves no room for what stands beside it is refused before any request")
  func longName() async throws {
    let server = try listing()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    func name(_ count: Int) -> String { String(repeating: "x", count: count - 6) + ".jsonl" }
    for count in [238, 244, 255] {
      let ending = try await export(server, "-o", folder.path(name(count)))
      #expect(ending.status == 2 && server.requests.isEmpty, "\(ending.errors)")
      #expect(ending.errors.contains("at most 237"), "\(ending.errors)")
    }
    let ending = try await export(server, "-o", folder.path(name(237)), "--mode", "replace")
    #expect(ending.status == 0, "\(ending.errors)")
  }

  @Test("Standard input is read for one option, and not as nothing for another")
  func oneInput() async throws {
    let server = try listing()
    defer { server.stop() }
    let ending = try await Command.shell(
      "$quire presets linkHeader | $quire export \(server.url()) --pagination - --data @-"
    ).end()
    #expect(ending.status == 2 && server.requests.isEmpty)
    #expect(
      ending.errors.contains("--data: --pagination has read standard input to its end."),
      "\(ending.errors)")
  }

  @Test("What cannot be written is found out before anything is requested")
  func unwritable() async throws {
    let server = try listing()
    defer { server.stop() }
    for option in ["-o", "--report"] {
      for path in ["/no/such/folder/x", "/tmp"] {
        let ending = try await export(server, option, path)
        #expect(ending.status == 2, "\(option) \(path)")
        let words = ending.errors.lowercased()
        #expect(words.contains("cannot write to \(path): "), "\(words)")
      }
    }
    #expect(server.requests.isEmpty)
  }

  @Test("A report is written into a pipe, and does not take its place")
  func reportIntoPipe() async throws {
    let server = try listing()
    defer { server.stop() }
    let pipe = try NamedPipe()
    let ending = try await export(server, "--report", pipe.path)
    #expect(ending.status == 0, "\(ending.errors)")
    await pipe.waitForBytes()
    let resumed = try await export(
      server, "-o", pipe.path, "--from", "{\"itemOffset\":1}", "--unchecked")
    #expect(resumed.status == 0, "\(resumed.errors)")
    let type = try FileManager.default.attributesOfItem(atPath: pipe.path)[.type]
    #expect(type as? FileAttributeType != .typeRegular)
  }

  @Test("A process that ends as soon as it has a transport ends by its own status, every time")
  func endsAtOnce() async throws {
    let script = """
      for i in $(seq 25); do
        "$quire" export http://127.0.0.1:1/ --preset pages -o - --report - 2>&- ; echo $?
      done
      """
    #expect(try await Command.shell(script).end().lines == Array(repeating: "2", count: 25))
  }

  @Test("- is standard output for items or the report, and not for both")
  func standardOutput() async throws {
    let server = try listing()
    defer { server.stop() }
    let items = try await export(server, "-o", "-")
    #expect(items.output == Self.text(0..<2))
    let file = TemporaryFile()
    let report = try await export(server, "-o", file.path, "--report", "-")
    #expect(report.status == 0, "\(report.errors)")
    #expect(try file.text() == Self.text(0..<2))
    #expect(try ResumePoint(report.output).output?.bytes == 4)
    for arguments in [["--report", "-"], ["--report", "-", "-o", "-"]] {
      let both = try await Command.quire(
        ["export", server.url("/list"), "--preset", "linkHeader"] + arguments)
      #expect(both.status == 2)
      #expect(both.errors.contains("the items go to standard output"), "\(both.errors)")
    }
    let plan = try await export(server, "--plan", "--report", "-")
    #expect(plan.output.hasPrefix("{") && plan.output.contains("\"leadsOn\" : true"))
    #expect(!FileManager.default.fileExists(atPath: "-"))
  }

  @Test("Options that name a file read pipes, too, and - is standard input")
  func pipes() async throws {
    let server = try FaultServer { request in
      [.respond("[\"\(request.values(of: "X-Key").first ?? "")\"]")]
    }
    defer { server.stop() }
    let url = server.url()
    for script in [
      "$quire export \(url) --preset linkHeader -H 'X-Key: @/dev/stdin' <<< k1",
      "$quire export \(url) --preset linkHeader -H 'X-Key: @-' <<< k1",
      "$quire export \(url) --preset linkHeader -H \"X-Key: @\"<(echo k1)",
      "$quire presets linkHeader | $quire export \(url) --pagination - -H 'X-Key: k1'",
      "$quire export \(url) --pagination <($quire presets linkHeader) -H 'X-Key: k1'",
      "echo '{}' | $quire export \(url) --preset linkHeader --data @- -H 'X-Key: k1'",
    ] {
      let ending = try await Command.shell(script).end()
      #expect(ending.output == "\"k1\"\n", "\(script)\n\(ending.errors)")
    }
    #expect(server.requests.last?.body == Array("{}".utf8))
    let endless = try await export(server, "--data", "@/dev/zero")
    #expect(endless.status == 2)
    #expect(endless.errors.contains("more than 67108864 bytes"), "\(endless.errors)")
  }
}
