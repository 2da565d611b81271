import ArgumentParser
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import QuireCommand

@Suite("quire export --from", .timeLimit(.minutes(15)))
struct ExportResumingTests {
  /// A hundred items by page number, and by offset; the way on of page 3 of /broken is missing.
  private func server() throws -> FaultServer {
    try FaultServer { request in
      func number(_ name: String) -> Int? {
        request.target.split(whereSeparator: { "?&".contains($0) })
          .first { $0.hasPrefix("\(name)=") }.flatMap { Int($0.dropFirst(name.count + 1)) }
      }
      let size = number("size") ?? 10
      let start = number("offset") ?? ((number("page") ?? 1) - 1) * size
      let items = (start..<max(start, min(100, start + size))).map(String.init)
      let isBroken = request.path == "/broken" && start / size == 2
      let next = isBroken ? "" : ",\"next\":\(start / size + 2)"
      return [.respond("{\"items\":[\(items.joined(separator: ","))],\"more\":true\(next)}")]
    }
  }

  private static let base = [
    "--next", "page", "--send", "query:page", "--end", "empty", "--items", "/items", "--size",
    "query:size",
  ]

  private static func text(_ range: Range<Int>) -> String { range.map { "\($0)\n" }.joined() }

  @Test(
    "12-L6 G18: --from refuses another listing's position by what differs, before anything is requested"
  )
  func mismatch() async throws {
    let server = try server()
    defer { server.stop() }
    let (file, report) = (TemporaryFile(), TemporaryFile())
    let ask = ["export", server.url("/list?state=open")] + Self.base
    let first = try await Command.quire(
      ask + ["--page-size", "20", "--max-items", "45", "-o", file.path, "--report", report.path])
    #expect(first.status == 0, "\(first.errors)")
    let from = ["-o", file.path, "--from", "@\(report.path)"]
    let count = server.requests.count
    for (change, words) in [
      (ask + ["--page-size", "10"], "the page size (20 then, 10 now)"),
      (ask + ["--page-size", "20", "--param", "state=closed"], "the URL's parameters"),
      (
        ["export", server.url("/other?state=open")] + Self.base + ["--page-size", "20"],
        "the URL's path"
      ),
      (ask + ["--page-size", "20", "--method", "POST", "--data", "{}"], "the method"),
      (ask + ["--page-size", "20", "--items", "/more"], "the description"),
    ] {
      let refused = try await Command.quire(change + from)
      #expect(refused.status == 2 && refused.errors.contains(words), "\(refused.errors)")
      #expect(refused.errors.contains("--restart") && refused.errors.contains("--unchecked"))
    }
    let damaged = try report.text().replacing("\"itemOffset\" : 5", with: "\"itemOffset\" : 6")
    let other = TemporaryFile(damaged)
    let refused = try await Command.quire(
      ask + ["--page-size", "20", "-o", file.path, "--from", "@\(other.path)"])
    #expect(refused.status == 2 && refused.errors.contains("damaged"), "\(refused.errors)")
    #expect(server.requests.count == count)
    #expect(try file.text() == Self.text(0..<45))
    let rest = try await Command.quire(ask + ["--page-size", "20"] + from)
    #expect(rest.status == 0, "\(rest.errors)")
    #expect(try file.text() == Self.text(0..<100))
  }

  @Test("12-L6: --restart begins anew whatever --from says, and --unchecked goes on all the same")
  func ways() async throws {
    let server = try server()
    defer { server.stop() }
    let (file, report) = (TemporaryFile(), TemporaryFile())
    let ask = ["export", server.url("/list")] + Self.base
    let first = try await Command.quire(
      ask + ["--page-size", "20", "--max-pages", "1", "-o", file.path, "--report", report.path])
    #expect(first.status == 0, "\(first.errors)")
    let anew = try await Command.quire(
      ask + ["--page-size", "10", "-o", file.path, "--from", "@\(report.path)", "--restart"])
    #expect(anew.status == 0, "\(anew.errors)")
    #expect(try file.text() == Self.text(0..<100))
    let position = "{\"value\": {\"object\": [[\"page\", 3]]}}"
    let refused = try await Command.quire(ask + ["--from", position])
    #expect(refused.status == 2 && refused.errors.contains("--unchecked"), "\(refused.errors)")
    let same = try await Command.quire(ask + ["--from", position, "--unchecked"])
    #expect(same.status == 0 && same.output == Self.text(20..<100), "\(same.errors)")
    let foreign = try await Command.quire(
      ask + ["--page-size", "10", "--from", "@\(report.path)", "--unchecked"])
    #expect(foreign.output == Self.text(10..<100), "\(foreign.errors)")
    let useless = try await Command.quire(ask + ["--unchecked"])
    #expect(useless.status == 2)
  }

  @Test(
    "12-L6: a page of another format or of another table is refused by a call that goes on, too",
    arguments: [
      ("[{\"id\":1}]", "application/json", "error,code\ndown,500\n", "text/csv"),
      ("[{\"id\":1}]", "application/json", "<e><code>500</code></e>", "application/xml"),
      ("<r><i>1</i></r>", "application/xml", "{\"error\":\"down\"}", "application/json"),
      ("id,v\n1,a\n", "text/csv", "Internal error\n", "text/csv"),
      ("id,v\n1,a\n", "text/csv", "code,message\n500,down\n", "text/csv"),
    ])
  func otherFormat(first: String, type: String, second: String, other: String) async throws {
    for isSame in [false, true] {
      let server = try FaultServer { request in
        let isFirst = request.path == "/"
        let body = isFirst || isSame ? first : second
        let link = [("Link", "</2>; rel=\"next\"")]
        return [
          .respond(
            body,
            headers: [("Content-Type", isFirst || isSame ? type : other)]
              + (isFirst ? link : []))
        ]
      }
      defer { server.stop() }
      let file = TemporaryFile()
      let arguments = [
        "export", server.url("/"), "--next", "linkHeader", "--retries", "0", "-o", file.path,
        "--limit", "comparedPages=0",
      ]
      #expect(try await Command.quire(arguments + ["--max-pages", "1"]).status == 0)
      let rest = try await Command.quire(arguments)
      #expect(rest.status == (isSame ? 0 : 1), "\(second): \(rest.errors)")
      #expect(try file.lines().count == (isSame ? 2 : 1))
    }
  }

  @Test(
    "12-L6: items that were added in front between two calls, and so came twice, are told of",
    arguments: [0, 3, 10])
  func movedBetweenCalls(added: Int) async throws {
    let front = Mutex(0)
    let server = try FaultServer { request in
      let offset = request.target.split(separator: "offset=").dropFirst().first.flatMap { Int($0) }
      let start = (offset ?? 0) - front.withLock { $0 }
      let items = (start..<max(start, min(40, start + 10))).map { "{\"id\":\($0)}" }
      return [.respond("{\"items\":[\(items.joined(separator: ","))]}")]
    }
    defer { server.stop() }
    let file = TemporaryFile()
    let arguments = [
      "export", server.url("/"), "--next", "offset", "--send", "query:offset", "--end", "empty",
      "--items", "/items", "-o", file.path,
    ]
    #expect(try await Command.quire(arguments + ["--max-pages", "2"]).status == 0)
    front.withLock { $0 = added }
    let rest = try await Command.quire(arguments)
    #expect(rest.status == 0, "\(rest.errors)")
    #expect(try file.lines().count == 40 + added)
    let words = "begins with the \(added) items that it had written before"
    #expect(rest.errors.contains(words) == (added > 0), "\(rest.errors)")
  }

  @Test("12-L6: a checkpoint that is no position is named as what it is, with what to give")
  func namesWrongCheckpoint() throws {
    for text in ["{\"checkpoint\": 1}", "{\"end\": \"limit (pages)\", \"checkpoint\": 1}"] {
      let error = #expect(throws: ValidationError.self) { try ResumePoint(text) }
      let message = error?.message ?? ""
      #expect(message.contains("its \"checkpoint\" is 1 and no object"), "\(message)")
      #expect(message.contains("@FILE"), "\(message)")
    }
  }

  @Test("12-L6 K6: two members of one name are refused, in a position and around it")
  func repeatedMembers() {
    for text in [
      "{\"value\": 1, \"value\": 2}", "{\"value\": \"a\", \"itemOffset\": 1, \"itemOffset\": 2}",
      "{\"end\": \"x\", \"checkpoint\": {}, \"checkpoint\": {\"value\": 1}}",
    ] {
      for isChecked in [true, false] {
        #expect(throws: (any Error).self) { try ResumePoint(text, isChecked: isChecked) }
      }
    }
  }

  @Test(
    "12-L13: an export limited at a page whose way on is broken reports it, and resuming raises it",
    arguments: [["--max-pages", "3"], ["--max-items", "30"]], ["0", "1"])
  func brokenWayOn(limit: [String], lookAhead: String) async throws {
    let server = try server()
    defer { server.stop() }
    let (file, report) = (TemporaryFile(), TemporaryFile())
    let ask = [
      "export", server.url("/broken"), "--next", "body:/next", "--send", "query:page", "--end",
      "flag:/more", "--items", "/items", "-o", file.path, "--look-ahead", lookAhead,
    ]
    let first = try await Command.quire(ask + limit + ["--report", report.path])
    #expect(first.status == 0, "\(first.errors)")
    #expect(first.errors.contains("what follows the last page cannot be reached"))
    #expect(try report.text().contains("\"code\" : \"inconsistentTermination\""))
    #expect(try report.text().contains("\"checkpoint\""))
    let rest = try await Command.quire(ask + ["--from", "@\(report.path)"])
    #expect(rest.status == 1 && rest.errors.contains("says that more follows"), "\(rest.errors)")
    #expect(try file.text() == Self.text(0..<30))
    let failed = try await Command.quire(ask + ["--report", report.path])
    #expect(failed.status == 1)
    #expect(try report.text().contains("\"checkpoint\""))
  }

  @Test("12-L15: an export that ended at an answer that is no page leaves nothing to resume")
  func endsBehindLastPage() async throws {
    let server = try FaultServer { request in
      request.target.contains("page=3")
        ? [.respond("{}", status: "404 Not Found")] : [.respond("[1, 2]")]
    }
    defer { server.stop() }
    let report = TemporaryFile()
    let ask = [
      "export", server.url("/list"), "--next", "page", "--send", "query:page", "--end",
      "status:404",
      "--limit", "comparedPages=0",
    ]
    let ending = try await Command.quire(ask + ["--report", report.path])
    #expect(ending.status == 0 && ending.lines.count == 4, "\(ending.errors)")
    #expect(try !report.text().contains("checkpoint"))
    let again = try await Command.quire(ask + ["--from", "@\(report.path)"])
    #expect(again.status == 2 && again.errors.contains("complete"), "\(again.errors)")
  }

  @Test(
    "12-L14: an export by scroll that a limit ends prints and stores no position, and says why",
    .timeLimit(.minutes(15)))
  func scroll() async throws {
    let server = try FaultServer { _ in
      [.respond("{\"_scroll_id\":\"S\",\"hits\":{\"hits\":[{\"n\":1}]}}")]
    }
    defer { server.stop() }
    let report = TemporaryFile()
    let ask = [
      "export", server.url("/idx/_search?scroll=1m"), "--preset", "elasticScroll", "--data",
      "{\"size\":1}", "--limit", "comparedPages=0",
    ]
    let ending = try await Command.quire(ask + ["--max-pages", "2", "--report", report.path])
    #expect(ending.status == 0 && ending.lines.count == 2, "\(ending.errors)")
    #expect(!ending.errors.contains("--from") && ending.errors.contains("cannot be resumed"))
    #expect(try !report.text().contains("\"checkpoint\""))
    #expect(try report.text().contains("\"notResumable\" : \"what the server held"))
    let again = try await Command.quire(ask + ["--from", "@\(report.path)"])
    #expect(again.status == 2 && again.errors.contains("cannot be resumed"), "\(again.errors)")
  }
}
