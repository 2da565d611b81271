import Foundation
import QuireExport
import TestSupport
import Testing

@testable import QuireCommand

@Suite("What quire export writes to, and goes on with", .timeLimit(.minutes(15)))
struct ExportOutputTests {
  /// Pages of two numbers behind the Link header, without an end; from page `held` on no answer.
  private func listing(held: Int = .max) throws -> FaultServer {
    try FaultServer { request in
      let page = Int(request.target.split(separator: "=").last ?? "0") ?? 0
      guard page < held else { return [.hold] }
      let link = [("Link", "</list?page=\(page + 1)>; rel=\"next\"")]
      return [.respond("[\(2 * page), \(2 * page + 1)]", headers: link)]
    }
  }

  private func arguments(_ server: FaultServer, pages: Int = 1, _ rest: [String]) -> [String] {
    ["export", server.url("/list?page=0"), "--preset", "linkHeader", "--max-pages", "\(pages)"]
      + rest
  }

  private static func text(_ numbers: Range<Int>) -> String {
    numbers.map { "\($0)\n" }.joined()
  }

  private static func mode(_ path: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    return try #require(attributes[.posixPermissions] as? Int)
  }

  private static func write(_ text: String, to path: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
  }

  // MARK: The file to go on with

  @Test(
    "12-L7, K7: a file that was deleted, emptied, shortened, changed or written on is not continued",
    arguments: ["deleted", "emptied", "shortened", "changed", "longer", "longer and changed"])
  func changedFile(how: String) async throws {
    let server = try listing()
    defer { server.stop() }
    let (file, report) = (TemporaryFile(), TemporaryFile())
    let base = arguments(server, ["-o", file.path, "--report", report.path])
    _ = try await Command.quire(base)
    let kept = try report.text()
    switch how {
    case "deleted": try FileManager.default.removeItem(atPath: file.path)
    case "emptied": try Self.write("", to: file.path)
    case "shortened": try Self.write("0\n", to: file.path)
    case "changed": try Self.write("0\n7\n", to: file.path)
    case "longer": try Self.write("0\n1\n2\n", to: file.path)
    default: try Self.write("0\n7\n2\n", to: file.path)
    }
    let before = try? file.text()
    let asked = server.requests.count
    let refused = try await Command.quire(base + ["--from", "@\(report.path)"])
    #expect(refused.status == 2, "\(refused.errors)")
    #expect(server.requests.count == asked)
    #expect((try? file.text()) == before)
    #expect(try report.text() == kept)
    let words = [
      "deleted": "was deleted", "emptied": "is empty", "shortened": "items are missing",
      "changed": "other content", "longer": "would come again",
      "longer and changed": "other content",
    ]
    #expect(refused.errors.contains(try #require(words[how])), "\(refused.errors)")
    #expect(refused.errors.contains("truncate") == (how == "longer"), "\(refused.errors)")
  }

  @Test("12-L7: a report has the file's length and CRC-32, and --from goes on with what was moved")
  func movedFile() async throws {
    let server = try listing()
    defer { server.stop() }
    let (file, moved, report) = (TemporaryFile(), TemporaryFile(), TemporaryFile())
    _ = try await Command.quire(arguments(server, ["-o", file.path, "--report", report.path]))
    // "0\n1\n", as gzip counts it.
    #expect(try report.text().contains("\"outputChecksum\" : \"fa704cc7\","))
    #expect(try report.text().contains("\"outputBytes\" : 4,"))
    try FileManager.default.moveItem(atPath: file.path, toPath: moved.path)
    let rest = try await Command.quire(
      arguments(
        server, ["-o", moved.path, "--from", "@\(report.path)", "--report", report.path]))
    #expect(rest.status == 0, "\(rest.errors)")
    #expect(try moved.text() == Self.text(0..<4))
    let last = try await Command.quire(
      arguments(server, ["-o", moved.path, "--from", "@\(report.path)"]))
    #expect(last.status == 0, "\(last.errors)")
    #expect(try moved.text() == Self.text(0..<6))
  }

  @Test("12-L7: a regular file on standard output is checked as one of -o is")
  func standardOutput() async throws {
    let server = try listing()
    defer { server.stop() }
    let (file, report) = (TemporaryFile("before\n"), TemporaryFile())
    let base =
      "$quire " + CommandLineText.quoted(arguments(server, ["--report", report.path]))
    let first = try await Command.shell("\(base) >> \(file.path)").end()
    #expect(first.status == 0, "\(first.errors)")
    let stale = try report.text()
    // What stood in the file before is covered by the report as well.
    try Self.write("Before\n0\n1\n", to: file.path)
    let other = try await Command.shell("\(base) --from @\(report.path) >> \(file.path)").end()
    #expect(other.status == 2 && other.errors.contains("other content"), "\(other.errors)")
    try Self.write("before\n0\n1\n", to: file.path)
    let second = try await Command.shell("\(base) --from @\(report.path) >> \(file.path)").end()
    #expect(second.status == 0, "\(second.errors)")
    #expect(try file.text() == "before\n" + Self.text(0..<4))
    let asked = server.requests.count

    let old = TemporaryFile(stale)
    let repeated = try await Command.shell("\(base) --from @\(old.path) >> \(file.path)").end()
    #expect(repeated.status == 2)
    #expect(repeated.errors.contains("would come again"), "\(repeated.errors)")
    let kept = try report.text()
    let emptied = try await Command.shell("\(base) --from @\(report.path) > \(file.path)").end()
    #expect(emptied.status == 2)
    #expect(emptied.errors.contains(">> and -o continue it"), "\(emptied.errors)")
    try Self.write("before\n0\n1\n2\n9\n", to: file.path)
    let changed = try await Command.shell("\(base) --from @\(report.path) >> \(file.path)").end()
    #expect(changed.status == 2)
    #expect(changed.errors.contains("other content"), "\(changed.errors)")
    #expect(server.requests.count == asked)
    #expect(try report.text() == kept)

    let elsewhere = TemporaryFile()
    let rest = try await Command.shell("\(base) --from @\(report.path) > \(elsewhere.path)").end()
    #expect(rest.status == 0, "\(rest.errors)")
    #expect(try elsewhere.text() == Self.text(4..<6))
  }

  @Test("12-L7: two exports of one script go on in the file that the script has on standard output")
  func sharedOutput() async throws {
    let server = try listing()
    defer { server.stop() }
    let (file, report) = (TemporaryFile(), TemporaryFile())
    let base =
      "$quire " + CommandLineText.quoted(arguments(server, ["--report", report.path]))
    let both = try await Command.shell(
      "{ echo first; \(base) && \(base) --from @\(report.path); } > \(file.path)"
    ).end()
    #expect(both.status == 0, "\(both.errors)")
    #expect(try file.text() == "first\n" + Self.text(0..<4))
  }

  @Test("12-L7: the file of items set aside is checked as the items' own is")
  func badItems() async throws {
    let server = try FaultServer { request in
      let page = Array("[1, \"".utf8) + [0xFF] + Array("\"]".utf8)
      let next = request.target == "/list" ? "/2" : "/3"
      return [.respond(page, headers: [("Link", "<\(next)>; rel=\"next\"")])]
    }
    defer { server.stop() }
    let (aside, report) = (TemporaryFile(), TemporaryFile())
    let base = [
      "export", server.url("/list"), "--preset", "linkHeader", "--max-pages", "1", "--bad-items",
      "collect:\(aside.path)", "--report", report.path,
    ]
    _ = try await Command.quire(base)
    let line = try aside.text()
    let rest = try await Command.quire(base + ["--from", "@\(report.path)"])
    #expect(rest.status == 0, "\(rest.errors)")
    #expect(try aside.lines().count == 2)
    for other in ["", line, line.replacing("1", with: "2") + line, line + line + line] {
      try Self.write(other, to: aside.path)
      let asked = server.requests.count
      let refused = try await Command.quire(base + ["--from", "@\(report.path)"])
      #expect(refused.status == 2, "\(other)")
      #expect(refused.errors.contains("--bad-items \(aside.path) "), "\(refused.errors)")
      #expect(server.requests.count == asked)
    }
  }

  @Test("12-L7: the check sum is that of zlib, however the bytes come in pieces")
  func checksum() {
    let text = Array("123456789 and more than eight bytes at a time".utf8)
    for cut in 0...text.count {
      var sum = FileSum()
      text[..<cut].withUnsafeBytes { sum.add($0) }
      text[cut...].withUnsafeBytes { sum.add($0) }
      #expect(sum.text == "cc10caed", "\(cut)")
    }
    var known = FileSum()
    text[..<9].withUnsafeBytes { known.add($0) }
    #expect(known.text == "cbf43926")
    #expect(FileSum().text == "00000000")
    // Long texts are summed in other ways, by processor; bit by bit it is the same.
    let long = (0..<3000).map { UInt8(truncatingIfNeeded: $0 &* 167 ^ $0 >> 5) }
    for (start, end) in [
      (0, 3000), (1, 65), (7, 71), (3, 66), (5, 516), (2, 2990), (0, 256), (9, 264),
    ] {
      var state: UInt32 = .max
      for byte in long[start..<end] {
        state ^= UInt32(byte)
        for _ in 0..<8 { state = state >> 1 ^ (state & 1 == 1 ? 0xEDB8_8320 : 0) }
      }
      for cut in [start, start + 1, (start + end) / 2, end - 64] {
        var sum = FileSum()
        long[start..<max(cut, start)].withUnsafeBytes { sum.add($0) }
        long[max(cut, start)..<end].withUnsafeBytes { sum.add($0) }
        #expect(sum.text == String(format: "%08x", ~state), "\(start)..<\(end), \(cut)")
      }
    }
  }

  // MARK: One export at a time

  @Test(
    "12-L8, K9: a second export into a file says who writes to it, and requests nothing",
    arguments: [
      "-o", "--report", "--bad-items", ">", ">>", "--report and -o", "--report and --plan --report",
    ])
  func lockedFile(place: String) async throws {
    let server = try listing(held: 1)
    defer { server.stop() }
    let idle = try listing()
    defer { idle.stop() }
    let file = TemporaryFile()
    func arguments(_ server: FaultServer, isFirst: Bool) -> String {
      let base = "exec $quire " + CommandLineText.quoted(self.arguments(server, pages: 9, []))
      return switch place {
      case "-o": "\(base) -o \(file.path)"
      case "--report": "\(base) --report \(file.path)"
      case "--bad-items": "\(base) --bad-items collect:\(file.path)"
      case "--report and -o": "\(base) \(isFirst ? "--report" : "-o") \(file.path)"
      case "--report and --plan --report":
        "\(base) \(isFirst ? "" : "--plan") --report \(file.path)"
      default: "\(base) \(place) \(file.path)"
      }
    }
    let first = try Command.shell(arguments(server, isFirst: true))
    try await server.received(2)
    let second = try await Command.shell(arguments(idle, isFirst: false)).end()
    #expect(second.status == 1, "\(second.errors)")
    #expect(second.errors.contains("another export, process \(first.processIdentifier), is"))
    #expect(idle.requests.isEmpty)
    #expect(!second.errors.contains("quire: interrupted"))
    first.send(signal: SIGKILL)
    #expect(try await first.end().status == 128 + SIGKILL)
    guard place == "-o" else { return }
    // The lock ended with its process.
    let third = try await Command.quire(self.arguments(idle, ["-o", file.path]))
    #expect(third.status == 0, "\(third.errors)")
    #expect(try file.text() == Self.text(0..<2))
  }

  // MARK: Whose they are

  @Test("12-S5, K13: reports, items and items set aside are the user's alone, whatever the umask")
  func modes() async throws {
    let server = try listing()
    defer { server.stop() }
    let (file, report, aside) = (TemporaryFile(), TemporaryFile(), TemporaryFile())
    let script =
      "umask 0; $quire "
      + CommandLineText.quoted(
        arguments(
          server,
          ["-o", file.path, "--report", report.path, "--bad-items", "collect:\(aside.path)"]))
    let ending = try await Command.shell(script).end()
    #expect(ending.status == 0, "\(ending.errors)")
    for path in [file.path, report.path, aside.path] { #expect(try Self.mode(path) == 0o600) }
    // A file of items keeps what its owner made of it; positions are nobody else's.
    for path in [file.path, report.path, aside.path] { chmod(path, 0o644) }
    let again = try await Command.shell(script).end()
    #expect(again.status == 0, "\(again.errors)")
    #expect(try Self.mode(file.path) == 0o644)
    #expect(try Self.mode(report.path) == 0o600)
    #expect(try Self.mode(aside.path) == 0o600)
  }

  @Test("12-S5: a report that is a link to a file takes that file's place, and leaves the link")
  func linkedReport() async throws {
    let server = try listing()
    defer { server.stop() }
    let (report, link) = (TemporaryFile("old\n"), TemporaryFile())
    try FileManager.default.createSymbolicLink(
      atPath: link.path, withDestinationPath: report.path)
    let ending = try await Command.quire(arguments(server, ["--report", link.path]))
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(try report.text().hasPrefix("{"))
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path) == report.path)
    #expect(try Self.mode(report.path) == 0o600)
  }

  // MARK: Standard descriptors

  @Test("12-K2: an export whose standard output is closed says so, and requests nothing")
  func closedOutput() async throws {
    let server = try listing()
    defer { server.stop() }
    let base = "$quire " + CommandLineText.quoted(arguments(server, []))
    for script in ["\(base) >&-", "\(base) <&- >&-", "\(base) 1< /dev/null"] {
      let ending = try await Command.shell(script).end()
      #expect(ending.status == 2, "\(script)")
      #expect(ending.errors.contains("Standard output is closed"), "\(ending.errors)")
    }
    let silent = try await Command.shell("\(base) <&- >&- 2>&-").end()
    #expect(silent.status == 2)
    #expect(server.requests.isEmpty)
    let file = TemporaryFile()
    for closed in ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"] {
      let ending = try await Command.shell("\(base) -o \(file.path) \(closed)").end()
      #expect(ending.status == 0, "\(closed) \(ending.errors)")
      #expect(try file.text() == Self.text(0..<2), "\(closed)")
    }
  }

  @Test("12-K2: what cannot be printed is no success of any command")
  func unprintable() async throws {
    for output in [">&-", "> /dev/full"] {
      for command in ["presets", "presets linkHeader", "--help", "--version"] {
        let ending = try await Command.shell("$quire \(command) \(output)").end()
        #expect(ending.status == 1, "\(command) \(output)")
        #expect(ending.errors.contains("Cannot write to standard output"), "\(ending.errors)")
      }
    }
    let enough = try await Command.shell("set -o pipefail; $quire presets | head -n 1").end()
    #expect(enough.status == 0, "\(enough.errors)")
    #expect(enough.errors.isEmpty)
  }
}
