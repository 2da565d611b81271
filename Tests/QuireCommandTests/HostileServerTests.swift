import Foundation
import QuireCore
import TestSupport
import Testing

@testable import QuireCommand

@Suite("quire, before a hostile server", .timeLimit(.minutes(15)))
struct HostileServerTests {
  private static let hostile = "\u{1B}[2J\n\u{9B}31m\u{202E}\u{2028}quire: exhausted: 9 pages"

  /// JSON with everything hostile in it as it is, but for what JSON itself demands to be escaped.
  private static func json(_ text: String) -> String {
    "\"" + text.replacing("\u{1B}", with: "\\u001b").replacing("\n", with: "\\n") + "\""
  }

  private func expectPlain(_ ending: Command.Ending, _ what: String) {
    for text in [ending.errors, ending.output] {
      for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
        #expect(isPlain(line), "\(what): \(line.debugDescription)")
        #expect(!line.hasPrefix("quire: exhausted: 9"), "\(what)")
      }
    }
  }

  @Test("12-S2, L2: nothing a server says gets to the terminal as it is, nor writes a line of ours")
  func terminal() async throws {
    let text = Self.json(Self.hostile)
    let pages: [(page: String, arguments: [String])] = [
      (
        "{\(text): [{\"a\": 1}, {\"a\": 2}]}",
        ["--next", "body:/next", "--send", "query:c", "--items", "/items"]
      ),
      (
        "{\(text): [{\"a\": 1}]}",
        ["--next", "body:/next", "--send", "query:c", "--items", "optional:/items"]
      ),
      (
        "{\"items\": [], \"next\": \(text)}",
        ["--next", "body:/next", "--send", "query:c", "--items", "/items"]
      ),
      (
        "{\"items\": [], \"nexd\": 1, \(text): \"a\"}",
        ["--next", "body:/next", "--send", "query:c", "--items", "/items"]
      ),
      ("{\"error\": \(text)}", ["--preset", "github"]),
      ("<r><x\u{2028}/></r>", ["--next", "body://n", "--send", "url", "--items", "/r/y"]),
    ]
    for (page, arguments) in pages {
      let server = try FaultServer { _ in [.respond(page)] }
      defer { server.stop() }
      for more in [[], ["--plan"]] {
        let ending = try await Command.quire(["export", server.url()] + arguments + more)
        expectPlain(ending, "\(arguments + more)")
      }
      expectPlain(try await Command.quire(["detect", server.url()]), "detect \(page)")
    }
  }

  @Test("12-S2: a message that nothing has escaped before is escaped where it is written")
  func written() async throws {
    let server = try FaultServer { request in
      request.path == "/2"
        ? [.respond("[{\"id\": 3}]")]
        : [.respond("[{\"id\": 1}, {\"id\": 2}]", headers: [("Link", "</2>; rel=\"next\"")])]
    }
    defer { server.stop() }
    let path = TemporaryFile().path + Self.hostile
    defer { unlink(path) }
    let ending = try await Command.quire(["detect", server.url(), "--save", path])
    #expect(ending.errors.contains("wrote the description to"), "\(ending.errors)")
    expectPlain(ending, "--save")
  }

  @Test("12-S2: reports and stored positions hold the server's text escaped as JSON, without loss")
  func reports() async throws {
    let cursor = "a\u{202E}\u{9B}\u{1F600}b"
    let server = try FaultServer { request in
      request.target.contains("c=")
        ? [.respond("{}", status: "500 No")]
        : [.respond("{\"items\": [1], \"next\": \"\(cursor)\"}")]
    }
    defer { server.stop() }
    let report = TemporaryFile()
    let ending = try await Command.quire([
      "export", server.url(), "--next", "body:/next", "--send", "query:c", "--items", "/items",
      "--retries", "0", "--report", report.path,
    ])
    #expect(ending.status == 1)
    let text = try report.text()
    #expect(isPlain(text.replacing("\n", with: " ")))
    #expect(text.contains("a\\u202e\\u009b\u{1F600}b"))
    let point = try ResumePoint("@" + report.path)
    #expect(point.position.value?["token"]?.string == cursor)
  }

  @Test(
    "12-S4: without --report the position to resume from is in a file of its owner's, not on the screen"
  )
  func resumeFile() async throws {
    let server = try FaultServer { request in
      request.target.contains("c=")
        ? [.respond("{}", status: "500 No")]
        : [.respond("{\"items\": [1], \"next\": \"SERVERS-OWN-TOKEN\"}")]
    }
    defer { server.stop() }
    let items = TemporaryFile("")
    for output in [["-o", items.path], []] {
      let ending = try await Command.quire(
        [
          "export", server.url(), "--next", "body:/next", "--send", "query:c", "--items", "/items",
          "--retries", "0",
        ] + output)
      #expect(ending.status == 1)
      #expect(!ending.errors.contains("SERVERS-OWN-TOKEN"))
      guard output.isEmpty else {
        #expect(ending.errors.contains("run the same command again"), "\(ending.errors)")
        var status = stat()
        #expect(stat(items.path + ".checkpoint", &status) == 0 && status.st_mode & 0o777 == 0o600)
        continue
      }
      let path = String(try #require(ending.resumption).dropFirst())
      defer { unlink(path) }
      var status = stat()
      #expect(stat(path, &status) == 0)
      #expect(status.st_mode & 0o777 == 0o600)
      let point = try ResumePoint("@" + path)
      #expect(point.position.value?["token"] == "SERVERS-OWN-TOKEN")
    }
  }

  @Test("12-S4: --report - shows the position because it was asked for, and the last lines do not")
  func reportOnStandardOutput() async throws {
    let server = try FaultServer { _ in
      [.respond("{\"items\": [1], \"next\": \"SERVERS-OWN-TOKEN\"}")]
    }
    defer { server.stop() }
    let items = TemporaryFile("")
    let ending = try await Command.quire([
      "export", server.url(), "--next", "body:/next", "--send", "query:c", "--items", "/items",
      "--max-pages", "1", "--report", "-", "-o", items.path,
    ])
    #expect(ending.output.contains("SERVERS-OWN-TOKEN"))
    #expect(!ending.errors.contains("SERVERS-OWN-TOKEN"))
  }

  @Test(
    "12-S4: a secret named by --secret is shown nowhere, and detect leaves it out of its command")
  func namedSecrets() async throws {
    let server = try FaultServer { _ in [.respond("no tok%65n-of-path here", status: "404 No")] }
    defer { server.stop() }
    let arguments = ["--secret", "env:HOOK"]
    for command in [
      ["export", server.url("/x/token-of-path/y"), "--preset", "github"],
      ["detect", server.url("/x/token-of-path/y")],
    ] {
      let ending = try await Command.quire(
        command + arguments, environment: ["HOOK": "token-of-path"])
      #expect(ending.status == 1)
      #expect(!(ending.errors + ending.output).contains("of-path"), "\(ending.errors)")
    }
    let unset = try await Command.quire([
      "detect", server.url(), "--secret", "env:NOT_THERE_AT_ALL",
    ])
    #expect(unset.status == 2 && unset.errors.contains("NOT_THERE_AT_ALL is not set"))
  }

  @Test("12-S2: an argument that cannot be shown is quoted so that a shell reads the same bytes")
  func quoting() async throws {
    for text in ["a\u{1B}b", "it's\n\u{202E}\\x7", "é\u{9B}"] {
      let quoted = CommandLineText.quoted([text])
      #expect(isPlain(quoted))
      let ending = try await Command.run("/bin/bash", "-c", "printf %s \(quoted)")
      #expect(ending.output == text)
    }
  }
}

/// Whether nothing in a text is obeyed or hidden by a terminal.
private func isPlain(_ text: some StringProtocol) -> Bool {
  text.unicodeScalars.allSatisfy { $0.isPlain }
}
