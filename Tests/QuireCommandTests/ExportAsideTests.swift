import Foundation
import TestSupport
import Testing

@testable import QuireCommand

@Suite("The file of items that quire export sets aside", .timeLimit(.minutes(15)))
struct ExportAsideTests {
  /// Four pages of a number and a bad item, each with a link to the next one.
  private func listing() throws -> FaultServer {
    try FaultServer { request in
      let page = Int(request.target.split(separator: "=").last ?? "0") ?? 0
      let content = Array("[\(page), \"bad\(page)".utf8) + [0xFF] + Array("\"]".utf8)
      let next = [("Link", "</list?page=\(page + 1)>; rel=\"next\"")]
      return [.respond(content, headers: page < 3 ? next : [])]
    }
  }

  private static func write(_ text: String, to file: TemporaryFile) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: file.path))
  }

  /// The member of that name of each line.
  private static func members<Value>(
    _ name: String, of file: TemporaryFile, as type: Value.Type
  ) throws -> [Value] {
    try file.lines().map { line in
      let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      return try #require(object?[name] as? Value, "\(line)")
    }
  }

  /// The arguments of an export into a file, with another one for the items set aside.
  private static func arguments(
    _ server: FaultServer, _ file: TemporaryFile, _ aside: TemporaryFile
  ) -> [String] {
    [
      "export", server.url("/list?page=0"), "--preset", "linkHeader", "-o", file.path,
      "--bad-items", "collect:\(aside.path)",
    ]
  }

  @Test("D-3: what a killed export set aside of pages it did not commit is cut off, and comes once")
  func uncommittedPages() async throws {
    let server = try listing()
    defer { server.stop() }
    let (file, aside) = (TemporaryFile(), TemporaryFile())
    let base = Self.arguments(server, file, aside)
    let part = try await Command.quire(base + ["--max-pages", "2"])
    #expect(part.status == 0, "\(part.errors)")
    let committed = try aside.text()
    // A whole line and half of one.
    try Self.write(committed + committed + "{\"base64\":\"half", to: aside)
    let rest = try await Command.quire(base)
    #expect(rest.status == 0, "\(rest.errors)")
    #expect(try file.text() == "0\n1\n2\n3\n")
    let items = try Self.members("base64", of: aside, as: String.self)
    #expect(items.count == 4 && Set(items).count == 4, "\(items)")
    #expect(try aside.text().hasPrefix(committed))
    #expect(try Self.members("page", of: aside, as: Int.self) == [0, 1, 2, 3])
  }

  @Test("D-3: a file that holds something else than the export set aside keeps all of it, in lines")
  func otherContent() async throws {
    let server = try listing()
    defer { server.stop() }
    let (file, aside) = (TemporaryFile(), TemporaryFile())
    let base = Self.arguments(server, file, aside)
    _ = try await Command.quire(base + ["--max-pages", "3"])
    try Self.write("notes without an end", to: aside)
    let rest = try await Command.quire(base)
    #expect(rest.status == 0, "\(rest.errors)")
    let lines = try aside.lines()
    #expect(lines.count == 2)
    #expect(lines.first == "notes without an end")
    #expect(lines.last?.hasPrefix("{") == true)
  }

  @Test("D-3: lines are on disk once they are stored, and a commit alone leaves them to the system")
  func storing() async throws {
    let file = TemporaryFile()
    let writer = LineWriter(
      try await OutputFile("--bad-items", path: file.path, appending: false), appending: false)
    writer.appendLine { $0 += "1".utf8 }
    try writer.commit()
    #expect(!writer.isStored)
    writer.appendLine { $0 += "2".utf8 }
    try writer.store()
    #expect(writer.isStored)
    #expect(try file.text() == "1\n2\n")
  }

  @Test("D-3, 16-Short: resumed inside a page, each bad item of it is set aside and counted once")
  func partsOfPages() async throws {
    let server = try FaultServer { request in
      let bad: [UInt8] = Array("\"bad".utf8) + [0xFF] + Array("\"".utf8)
      let first = Array("{\"total\":8,\"items\":[".utf8) + bad
      let page: [UInt8] =
        request.target == "/"
        ? first + Array(",1,2,".utf8) + bad + Array(",3],\"next\":2}".utf8)
        : Array("{\"total\":8,\"items\":[4,5],\"next\":null}".utf8)
      return [.respond(page)]
    }
    defer { server.stop() }
    for limits in [[], ["1"], ["2"], ["1", "2"], ["3"]] {
      let (file, aside) = (TemporaryFile(), TemporaryFile())
      let base = [
        "export", server.url("/"), "-o", file.path, "--next", "body:/next", "--send", "query:page",
        "--items", "/items", "--total", "/total", "--bad-items", "collect:\(aside.path)",
      ]
      for limit in limits {
        let part = try await Command.quire(base + ["--max-items", limit])
        #expect(part.status == 0, "\(part.errors)")
      }
      let rest = try await Command.quire(base)
      #expect(
        rest.status == 1 && rest.errors.contains("declared 8 items and delivered 7"),
        "\(limits) \(rest.errors)")
      #expect(try file.text() == "1\n2\n3\n4\n5\n")
      #expect(try Self.members("index", of: aside, as: Int.self) == [0, 3], "\(limits)")
      #expect(try Self.members("page", of: aside, as: Int.self) == [0, 0], "\(limits)")
    }
  }
}
