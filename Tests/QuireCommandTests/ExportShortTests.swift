import Foundation
import Synchronization
import TestSupport
import Testing

@testable import QuireCommand

@Suite("Exports that bring fewer items than were declared", .timeLimit(.minutes(15)))
struct ExportShortTests {
  /// Pages of ten of so many items as there are, declared to be so many.
  private static func server(
    _ state: @escaping @Sendable () -> (count: Int, total: Int)
  ) throws -> FaultServer {
    try FaultServer { request in
      let start =
        request.target.split(separator: "page=").dropFirst().first.flatMap { Int($0) } ?? 0
      let (count, total) = state()
      let items = (start..<max(start, min(count, start + 10))).map { "{\"id\":\($0)}" }
      let next = start + 10 < count ? ",\"next\":\(start + 10)" : ""
      return [.respond("{\"total\":\(total),\"items\":[\(items.joined(separator: ","))]\(next)}")]
    }
  }

  private static let pages = [
    "--next", "body:/next", "--send", "query:page", "--items", "/items", "--total", "/total",
  ]

  @Test(
    "16-Short: an export does not replace a complete destination by a listing that falls short, and fails",
    arguments: ["x.jsonl", "x.db"])
  func keepsDestination(name: String) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "quire-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let state = Mutex((count: 30, total: 30))
    let server = try Self.server { state.withLock { $0 } }
    defer { server.stop() }
    let path = folder.appending(path: name).path
    let arguments =
      ["export", server.url("/"), "-o", path, "--mode", "replace"] + Self.pages
      + (name == "x.db" ? ["--table", "t"] : [])
    func count() async throws -> String {
      name == "x.db"
        ? try await Command.run("/usr/bin/sqlite3", path, "SELECT count(*) FROM t").lines.joined()
        : "\(try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").count)"
    }
    #expect(try await Command.quire(arguments).status == 0)
    state.withLock { $0 = (20, 30) }
    for more in [[], ["--max-pages", "1"], []] {
      let short = try await Command.quire(arguments + more)
      #expect(short.status == (more.isEmpty ? 1 : 0), "\(short.errors)")
      if more.isEmpty {
        #expect(
          short.errors.contains("declared 30 items and delivered 20")
            && short.errors.contains("What the destination held stays"), "\(short.errors)")
      }
      #expect(try await count() == "30")
    }
    state.withLock { $0 = (31, 31) }
    let whole = try await Command.quire(arguments)
    #expect(whole.status == 0, "\(whole.errors)")
    #expect(try await count() == "31")
  }

  @Test("16-Short: an export that was continued and falls short fails as one in one piece does")
  func failsContinued() async throws {
    let server = try Self.server { (20, 30) }
    defer { server.stop() }
    let file = TemporaryFile()
    let arguments = ["export", server.url("/"), "-o", file.path] + Self.pages
    #expect(try await Command.quire(arguments + ["--max-pages", "1"]).status == 0)
    let rest = try await Command.quire(arguments)
    #expect(
      rest.status == 1 && rest.errors.contains("declared 30 items and delivered 20"),
      "\(rest.errors)")
  }

  @Test(
    "16-Short: what came before the listing began anew does not count for what came since",
    arguments: [true, false])
  func failsBegunAnew(inOneCall: Bool) async throws {
    for (last, isShort) in [(20, true), (30, false)] {
      // A cursor is its generation and its offset; the first generation expires after two pages.
      let generation = Mutex(1)
      let server = try FaultServer { request in
        let cursor = request.target.split(separator: "c=").dropFirst().first?.split(separator: ".")
        let asked = (cursor ?? []).compactMap { Int($0) }
        return generation.withLock { generation -> [FaultStep] in
          if inOneCall, generation == 1, asked.last == 10 { generation = 2 }
          if let made = asked.first, made != generation {
            return [.respond("{}", status: "410 Gone")]
          }
          let start = asked.last ?? 0
          let end = generation == 1 ? 30 : last
          let items = (start..<min(start + 5, end)).map { "{\"id\":\($0)}" }
          let next = start + 5 < end ? "\"\(generation).\(start + 5)\"" : "null"
          return [
            .respond(
              "{\"total\":30,\"next\":\(next),\"items\":[\(items.joined(separator: ","))]}")
          ]
        }
      }
      defer { server.stop() }
      let description = TemporaryFile(
        """
        {"next": {"body": "/next"}, "send": {"query": "c"}, "items": "/items", "total": "/total",
        "policy": {"failure": [{"when": {"status": [410]}, "class": "expired"}], "expiry": "restart"}}
        """)
      let file = TemporaryFile()
      let arguments = [
        "export", server.url("/"), "--pagination", description.path, "-o", file.path,
      ]
      if !inOneCall {
        #expect(try await Command.quire(arguments + ["--max-pages", "2"]).status == 0)
        generation.withLock { $0 = 2 }
      }
      let ending = try await Command.quire(arguments)
      #expect(ending.status == (isShort ? 1 : 0), "\(ending.errors)")
      #expect(
        ending.errors.contains("declared 30 items and delivered 20") == isShort, "\(ending.errors)")
      #expect(try file.lines().count == 10 + last)
    }
  }

  @Test(
    "16-Limit: an export that met its limit advises what goes on, and no command that requests nothing"
  )
  func advisesLimit() async throws {
    let server = try Self.server { (30, 30) }
    defer { server.stop() }
    let file = TemporaryFile()
    let arguments = ["export", server.url("/"), "-o", file.path] + Self.pages
    for _ in 0..<2 {
      let limited = try await Command.quire(arguments + ["--max-items", "15"])
      #expect(limited.status == 0, "\(limited.errors)")
      #expect(
        limited.errors.contains("with a higher --max-items") && !limited.errors.contains("again"),
        "\(limited.errors)")
    }
    #expect(try await Command.quire(arguments + ["--max-items", "100"]).status == 0)
    #expect(try file.lines().count == 30)
    for _ in 0..<2 {
      let limited = try await Command.quire(
        arguments + ["--mode", "replace", "--max-items", "15"])
      #expect(limited.status == 0, "\(limited.errors)")
      #expect(limited.errors.contains("the destination stays as it was"), "\(limited.errors)")
      #expect(!limited.errors.contains("The destination holds"), "\(limited.errors)")
      #expect(try file.lines().count == 30)
    }
  }
}
