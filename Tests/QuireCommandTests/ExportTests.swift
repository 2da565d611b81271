import Foundation
import TestSupport
import Testing

@testable import QuireCommand

@Suite("quire export", .timeLimit(.minutes(15)))
struct ExportTests {
  @Test(
    "Every style of the demo API arrives whole, in order and byte for byte",
    arguments: DemoStyle.all.map(\.name))
  func everyStyle(name: String) async throws {
    let style = try #require(DemoStyle.all.first { $0.name == name })
    let ending = try await DemoServer.whileServing(port: 0) { origin in
      try await Command.quire(style.command(origin: origin))
    }
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(ending.report.contains(": 10000 items") || ending.report.contains(", 10000 items"))
    #expect(ending.report.hasPrefix("quire: exhausted: "))
    let isExact = ending.output == (1...DemoRecords.count).map { style.line($0) + "\n" }.joined()
    #expect(isExact)
  }

  @Test("C12: an export with look-ahead ends where the runtime has one thread for all tasks")
  func oneThread() async throws {
    let ending = try await DemoServer.whileServing(port: 0) { origin in
      try await Command.quire(
        ["export", "\(origin)/cursor"] + Self.cursorOptions + ["--look-ahead", "3"],
        environment: ["LIBDISPATCH_COOPERATIVE_POOL_STRICT": "1"])
    }
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(ending.lines == (1...DemoRecords.count).map(DemoRecords.line))
  }

  @Test("C-9: the caller's limits end an export with success, and the report names them")
  func limits() async throws {
    let (items, pages) = try await DemoServer.whileServing(port: 0) { origin in
      let base = ["export", "\(origin)/cursor"] + Self.cursorOptions
      return (
        try await Command.quire(base + ["--max-items", "250"]),
        try await Command.quire(base + ["--max-pages", "2", "--look-ahead", "0"])
      )
    }
    #expect(items.status == 0)
    #expect(items.lines == (1...250).map(DemoRecords.line))
    #expect(items.report.contains("limit (items): 3 pages, 250 items"))
    #expect(pages.status == 0)
    #expect(pages.lines.count == 200)
    #expect(pages.report.contains("limit (pages): 2 pages, 200 items"))
  }

  @Test("C-8: an export that stopped at a limit inside a page goes on at exactly the next item")
  func resumingInsideAPage() async throws {
    try await DemoServer.whileServing(port: 0) { origin in
      let base = ["export", "\(origin)/cursor"] + Self.cursorOptions
      let file = TemporaryFile()
      let report = TemporaryFile()
      let first = try await Command.quire(
        base + ["--max-items", "4321", "-o", file.path, "--report", report.path])
      #expect(first.status == 0)
      let rest = try await Command.quire(base + ["--from", "@\(report.path)", "-o", file.path])
      #expect(rest.status == 0, "\(rest.errors)")
      #expect(rest.report.contains(" 5679 items"))
      #expect(try file.lines() == (1...DemoRecords.count).map(DemoRecords.line))
    }
  }

  @Test("With --restart, an existing file is replaced")
  func replacing() async throws {
    let file = TemporaryFile("old\n")
    try await DemoServer.whileServing(port: 0) { origin in
      let ending = try await Command.quire(
        ["export", "\(origin)/cursor"] + Self.cursorOptions
          + ["--max-items", "1", "-o", file.path, "--restart"])
      #expect(ending.status == 0)
      #expect(ending.output.isEmpty)
    }
    #expect(try file.lines() == [DemoRecords.line(1)])
  }

  @Test("--page-size and --param reach the server, and --data is the body")
  func requests() async throws {
    let server = try FaultServer { request in [.respond("[{\"body\": \(request.body.count)}]")] }
    defer { server.stop() }
    let ending = try await Command.quire([
      "export", server.url("/p?x=%41"), "--preset", "linkHeader", "--page-size", "7", "--param",
      "q=a b", "-H", "X-One: 1", "--method", "POST", "--data", "{\"a\": 1}",
    ])
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(ending.output == "{\"body\":7}\n")
    let request = try #require(server.requests.first)
    #expect(request.method == "POST")
    #expect(request.target == "/p?x=%41&q=a%20b&per_page=7")
    #expect(request.values(of: "X-One") == ["1"])
    #expect(String(decoding: request.body, as: UTF8.self) == "{\"a\":1}")
  }

  @Test("C-4: --end short ends at the first page with fewer items than --page-size")
  func shortPages() async throws {
    let server = try FaultServer { request in
      [.respond(request.target == "/p" ? "[1, 2]" : request.target == "/p?o=2" ? "[3, 4]" : "[5]")]
    }
    defer { server.stop() }
    let base = ["export", server.url("/p"), "--next", "offset", "--send", "query:o"]
    let fixed = try await Command.quire(base + ["--end", "short", "--page-size", "2"])
    #expect(fixed.status == 0, "\(fixed.errors)")
    #expect(fixed.lines == ["1", "2", "3", "4", "5"])
    #expect(server.requests.map(\.target) == ["/p", "/p?o=2", "/p?o=4"])
    let asked = try await Command.quire(
      base + ["--end", "short", "--page-size", "2", "--size", "query:n"])
    #expect(asked.status == 0, "\(asked.errors)")
    #expect(server.requests.last?.target == "/p?n=2")
  }

  @Test("H-1: a cursor goes into a form of --data, beside what is there")
  func forms() async throws {
    let server = try FaultServer { request in
      let (item, next) = request.ordinal == 1 ? (1, "\"a b\"") : (2, "null")
      return [.respond("{\"items\": [\(item)], \"next\": \(next)}")]
    }
    defer { server.stop() }
    let file = TemporaryFile(
      """
      {"next": {"body": "/next"}, "send": {"form": "cursor"}, "items": "/items",
       "request": {"isQuery": true}}
      """)
    let ending = try await Command.quire([
      "export", server.url(), "--pagination", file.path, "--data", "q=1", "-H",
      "Content-Type: application/x-www-form-urlencoded",
    ])
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(
      server.requests.map { String(decoding: $0.body, as: UTF8.self) }
        == ["q=1", "q=1&cursor=a%20b"])
  }

  @Test("The report file says how the export ended, in numbers")
  func report() async throws {
    let report = TemporaryFile()
    try await DemoServer.whileServing(port: 0) { origin in
      _ = try await Command.quire([
        "export", "\(origin)/drf", "--preset", "drf", "--max-pages", "3", "--report", report.path,
      ])
    }
    let object = try JSONSerialization.jsonObject(with: Data(report.text().utf8))
    let fields = try #require(object as? [String: Any])
    #expect(fields["end"] as? String == "limit (pages)")
    #expect(fields["status"] as? Int == 0)
    #expect(fields["pages"] as? Int == 3)
    #expect(fields["items"] as? Int == 300)
    #expect((fields["requests"] as? Int ?? 0) >= 3)
    #expect(fields["retries"] as? Int == 0)
    #expect((fields["total"] as? [String: Any])?["value"] as? Int == 10_000)
    #expect(fields["checkpoint"] is [String: Any])
    let written = (1...300).map { DemoRecords.line($0).utf8.count + 1 }.reduce(0, +)
    #expect(fields["bytesWritten"] as? Int == written)
  }

  @Test("A pagination description can live in a file, as quire presets prints it")
  func descriptionFile() async throws {
    let printed = try await Command.quire(["presets", "linkHeader"])
    #expect(printed.status == 0)
    let file = TemporaryFile(printed.output)
    try await DemoServer.whileServing(port: 0) { origin in
      let ending = try await Command.quire([
        "export", "\(origin)/link-header", "--pagination", file.path,
      ])
      #expect(ending.status == 0, "\(ending.errors)")
      #expect(ending.lines.count == 10_000)
    }
  }

  @Test("--progress always draws on stderr; auto draws nothing where stderr is no terminal")
  func progress() async throws {
    try await DemoServer.whileServing(port: 0) { origin in
      let base = ["export", "\(origin)/drf", "--preset", "drf", "-o", "/dev/null"]
      let shown = try await Command.quire(base + ["--progress", "always"])
      #expect(shown.errors.contains("\r["))
      #expect(shown.errors.contains("items/s"))
      #expect(shown.report.contains("quire: exhausted"))
      let silent = try await Command.quire(base)
      #expect(silent.errors.split(separator: "\n").count == 1)
      #expect(!silent.errors.contains("\r"))
    }
  }

  static let cursorOptions = [
    "--next", "body:/next_cursor", "--send", "query:cursor", "--end", "flag:/has_more", "--items",
    "/data",
  ]
}
