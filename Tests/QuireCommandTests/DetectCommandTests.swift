import ArgumentParser
import Foundation
import QuireDetect
import QuireHTTP
import QuireJSON
import QuirePagination
import TestSupport
import Testing

@testable import QuireCommand

@Suite("quire detect", .timeLimit(.minutes(15)))
struct DetectCommandTests {
  /// What the demo API can be asked by without its description.
  private func request(_ style: DemoStyle) -> [String] {
    ["--method", "--data", "-H"].flatMap { name in
      style.options.indices.filter { style.options[$0] == name }.flatMap {
        [name, style.options[$0 + 1]]
      }
    }
  }

  @Test(
    "The command line that quire detect prints for a style of the demo API exports all of it",
    arguments: DemoStyle.all.map(\.name))
  func everyStyle(name: String) async throws {
    let style = try #require(DemoStyle.all.first { $0.name == name })
    try await DemoServer.whileServing(port: 0) { origin in
      let detection = try await Command.quire(["detect", origin + style.path] + request(style))
      #expect(detection.status == 0, "\(detection.output)\(detection.errors)")
      #expect(detection.lines.first?.hasSuffix(": verified") == true, "\(detection.output)")
      let isPost = request(style).contains("--data")
      let swift = try #require(detection.lines.first { $0.hasPrefix("swift    client.cursor(of") })
      #expect(swift.hasSuffix(", request: .init(method: .post, body: .json(…)))") == isPost)
      let line = try #require(detection.lines.first { $0.hasPrefix("command  quire export ") })
      let arguments = line.dropFirst("command  quire ".count)
      let export = try await Command.shell("\"$quire\" \(arguments)").end()
      #expect(export.status == 0, "\(line)\n\(export.errors)")
      #expect(export.lines.count == DemoRecords.count, "\(line)")
    }
  }

  @Test("H-8: nothing that quire detect prints repeats a secret of its command line")
  func secrets() async throws {
    let server = try FaultServer { request in
      let page = request.target.contains("page=2") ? 2 : 1
      let next = page == 1 ? "\"/things?api_key=hunter2hunter2&page=2\"" : "null"
      return [.respond("{\"count\":2,\"next\":\(next),\"results\":[{\"id\":\(page)}]}")]
    }
    defer { server.stop() }
    let ending = try await Command.quire(
      [
        "detect", server.url("/things?api_key=hunter2hunter2"), "-H",
        "Authorization: Bearer s3cr3ts3cr3t", "-H", "X-Key: env:KEY",
      ], environment: ["KEY": "k3yk3yk3y"])
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(ending.output.hasPrefix("drf: verified\n"))
    for secret in ["hunter2hunter2", "s3cr3ts3cr3t", "k3yk3yk3y"] {
      #expect(!(ending.output + ending.errors).contains(secret))
    }
    #expect(ending.output.contains("-H 'X-Key: env:KEY'"))
  }

  @Test("A number of requests is printed as the command line takes it, in every country")
  func numbers() async throws {
    let server = try FaultServer { request in
      let page = request.target.contains("page=2") ? 2 : 1
      let next = page == 1 ? "\"/things?page=2\"" : "null"
      return [.respond("{\"count\":2,\"next\":\(next),\"results\":[{\"id\":\(page)}]}")]
    }
    defer { server.stop() }
    for number in ["1234567.125", "50"] {
      let ending = try await Command.quire(
        ["detect", server.url("/things"), "--rate-reserve", number])
      #expect(ending.output.contains(" --rate-reserve \(number)"), "\(ending.output)")
      #expect(!ending.output.contains("50.0"), "\(ending.output)")
    }
  }

  @Test("A part of a listing that was not asked for is no page that quire detect advises to export")
  func unaskedPart() async throws {
    let server = try FaultServer { request in
      let start =
        request.values(of: "Range").first.flatMap { Int($0.dropFirst(6).prefix { $0 != "-" }) } ?? 0
      let items = (start..<min(start + 20, 65)).map { "{\"id\":\($0)}" }
      return [
        .respond(
          "[\(items.joined(separator: ","))]", status: "206 Partial Content",
          headers: [
            ("Content-Type", "application/json"),
            ("Content-Range", "items \(start)-\(start + items.count - 1)/65"),
          ])
      ]
    }
    defer { server.stop() }
    let ending = try await Command.quire(["detect", server.url("/things")])
    #expect(!ending.output.contains("--next linkHeader"), "\(ending.output)")
    if ending.status == 0 {
      let line = try #require(ending.lines.first { $0.hasPrefix("command  quire ") })
      let export = try await Command.shell("\"$quire\" \(line.dropFirst("command  quire ".count))")
        .end()
      #expect(export.status == 0 && export.lines.count == 65, "\(line)\n\(export.errors)")
    } else {
      #expect(ending.output.contains("only a part (items 0-19/65)"), "\(ending.output)")
    }
  }

  @Test("Where the answer does not tell, quire detect says what it has, and fails")
  func nothing() async throws {
    let server = try FaultServer { request in
      switch request.path {
      case "/html":
        [.respond("<!DOCTYPE html><html></html>", headers: [("Content-Type", "text/html")])]
      case "/error": [.respond("{\"error\":\"no\"}", status: "403 Forbidden")]
      default: [.respond("{\"hello\":\"world\"}")]
      }
    }
    defer { server.stop() }
    let object = try await Command.quire(["detect", server.url("/object")])
    #expect(object.status == 1)
    #expect(object.output.hasPrefix("Cannot tell how this listing is paged."))
    #expect(object.output.contains("The page is an object with \"hello\"."))
    let html = try await Command.quire(["detect", server.url("/html")])
    #expect(html.status == 1 && html.output.contains("HTML"), "\(html.output)")
    let error = try await Command.quire(["detect", server.url("/error")])
    #expect(error.status == 1 && error.output.isEmpty)
    #expect(error.errors.contains("403"))
  }

  @Test("JSON Lines and tables under another name are advised to be read as what they are")
  func otherNames() async throws {
    let server = try FaultServer { request in
      let (text, type) =
        request.path == "/table"
        ? ("id,name\n1,x\n2,y\n", "text/plain") : ("{\"id\":1}\n{\"id\":2}\n", "application/json")
      return [.respond(text, headers: [("Content-Type", type)])]
    }
    defer { server.stop() }
    for (path, advice) in [
      ("/lines", "If each line is an item, use --format jsonl."),
      ("/table", "If it is a table, use --format csv."),
    ] {
      let detection = try await Command.quire(["detect", server.url(path)])
      #expect(detection.status == 1 && detection.output.contains(advice), "\(detection.output)")
      let arguments = ["export", server.url(path), "--next", "linkHeader"]
      let failed = try await Command.quire(arguments)
      #expect(failed.status == 1 && failed.errors.contains(advice), "\(failed.errors)")
      let format = try #require(advice.dropLast().split(separator: " ").last)
      let export = try await Command.quire(arguments + ["--format", String(format)])
      #expect(export.lines.count == 2, "\(export.errors)")
    }
  }

  @Test("The command for a listing of one page is printed where nothing is heeded that is sent")
  func onePage() async throws {
    let server = try FaultServer { _ in
      [.respond("{\"Count\":2,\"Results\":[{\"id\":1},{\"id\":2}]}")]
    }
    defer { server.stop() }
    let ending = try await Command.quire(["detect", server.url("/all?a=b&c")])
    #expect(ending.status == 1)
    let start = "If this page has all the items, export it by quire "
    let line = try #require(ending.lines.first { $0.hasPrefix(start) }, "\(ending.output)")
    let export = try await Command.shell("\"$quire\" \(line.dropFirst(start.count))").end()
    #expect(export.lines == ["{\"id\":1}", "{\"id\":2}"], "\(export.errors)")
    #expect(export.status == 0)
  }

  @Test(
    "Guesses that were not tried are said to be, and descriptions of their own by what they send")
  func untried() async throws {
    let server = try FaultServer { _ in [.respond("{\"total\":9,\"items\":[{\"n\":1},{\"n\":2}]}")]
    }
    defer { server.stop() }
    let ending = try await Command.quire(["detect", server.url("/things"), "--checks", "3"])
    #expect(ending.status == 1)
    for words in [
      "  a description of its own, --next pageNumber --send query:page: The second page repeats",
      "  a description of its own, --next offset --send query:offset: The second page repeats",
      ": not tried\n",
      "Try --checks 8, which asks for them all.",
    ] {
      #expect(ending.output.contains(words), "\(ending.output)")
    }
    let all = try await Command.quire(["detect", server.url("/things"), "--checks", "8"])
    #expect(!all.output.contains("not tried") && !all.output.contains("Try --checks"))
  }

  @Test("A preset that opens something of the caller's own is printed with what is to be changed")
  func opening() async throws {
    let server = try FaultServer { request in
      let isSecond = String(decoding: request.body, as: UTF8.self).contains("search_after")
      let hits = (isSecond ? [3] : [1, 2]).map { "{\"_id\":\"\($0)\",\"sort\":[\($0)]}" }
      return [
        .respond(
          "{\"pit_id\":\"p\",\"timed_out\":false,\"hits\":{\"total\":{\"value\":3,"
            + "\"relation\":\"eq\"},\"hits\":[\(hits.joined(separator: ","))]}}")
      ]
    }
    defer { server.stop() }
    let body = "{\"size\":2,\"sort\":[{\"t\":\"asc\"}],\"pit\":{\"id\":\"p\"}}"
    let ending = try await Command.quire(["detect", server.url("/_search"), "--data", body])
    #expect(ending.output.hasPrefix("elastic: verified\n"), "\(ending.output)\(ending.errors)")
    for words in [
      "change   \"index/_pit?keep_alive=1m\" in listing.json: it is an example\n",
      " --pagination listing.json ",
      "pagination: .elastic.opening(at: \"index/_pit?keep_alive=1m\"),",
    ] {
      #expect(ending.output.contains(words), "\(ending.output)")
    }
    #expect(ending.lines.contains { $0.hasPrefix("first    quire detect ") }, "\(ending.output)")
    let preset = try await Command.quire(["presets", "elastic"])
    #expect(preset.errors.contains("\"index/_pit?keep_alive=1m\""), "\(preset.errors)")
    #expect(try Pagination(json: preset.output).policy == Pagination.elastic.policy)
  }

  @Test("A second page that repeats the first is said to, and its preset is no more than a guess")
  func repeating() async throws {
    let server = try FaultServer { _ in
      [.respond("{\"count\":9,\"next\":\"/things?page=2\",\"results\":[{\"id\":1},{\"id\":2}]}")]
    }
    defer { server.stop() }
    let ending = try await Command.quire(["detect", server.url("/things"), "--checks", "1"])
    #expect(ending.status == 1)
    #expect(ending.output.contains("drf: The second page repeats the first"), "\(ending.output)")
  }

  @Test("Lines that only the command line calls so are called so in Swift and in the command, too")
  func lines() async throws {
    let server = try FaultServer { request in
      let isSecond = request.target.contains("page=2")
      let link = isSecond ? [] : [("Link", "</rocks?page=2>; rel=\"next\"")]
      return [
        .respond(
          isSecond ? "{\"n\":3}\n" : "{\"n\":1}\n{\"n\":2}\n",
          headers: [("Content-Type", "text/plain")] + link)
      ]
    }
    defer { server.stop() }
    let ending = try await Command.quire(["detect", server.url("/rocks"), "--format", "jsonl"])
    #expect(ending.output.contains(".formats([.jsonLines])"), "\(ending.output)")
    let line = try #require(ending.lines.first { $0.hasPrefix("command  quire export ") })
    let export = try await Command.shell("\"$quire\" \(line.dropFirst("command  quire ".count))")
      .end()
    #expect(export.lines == ["{\"n\":1}", "{\"n\":2}", "{\"n\":3}"], "\(export.errors)")
  }

  @Test("A description that is no preset's is printed in words, which run as they are")
  func printedWords() async throws {
    let server = try FaultServer { request in
      let (rock, next) = request.target.contains("after") ? (2, "null") : (1, "\"?after=1\"")
      return [.respond("{\"rocks\":[{\"n\":\(rock)}],\"nextLink\":\(next)}")]
    }
    defer { server.stop() }
    let ending = try await Command.quire(["detect", server.url("/rocks")])
    let commands = ["first    quire ", "command  quire "].compactMap { start in
      ending.lines.first { $0.hasPrefix(start) }.map { "\"$quire\" \($0.dropFirst(start.count))" }
    }
    #expect(commands.count == 1, "\(ending.output)")
    #expect(ending.output.contains("--next body:/nextLink --send queryMerge"), "\(ending.output)")
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(at: folder) }
    let script = (["cd '\(folder.path)'"] + commands).joined(separator: " && ")
    let export = try await Command.shell(script).end()
    #expect(export.output.hasSuffix("{\"n\":1}\n{\"n\":2}\n"), "\(export.output)\(export.errors)")
  }

  @Test(
    "--save writes a description that --pagination reads, and --checks 0 asks for one page only")
  func saving() async throws {
    let server = try FaultServer { _ in
      [.respond("{\"rocks\":[{\"n\":1}],\"next_cursor\":\"abc\",\"more\":true}")]
    }
    defer { server.stop() }
    let file = TemporaryFile()
    let ending = try await Command.quire(
      ["detect", server.url("/rocks"), "--checks", "0", "--save", file.path])
    #expect(ending.status == 0, "\(ending.output)\(ending.errors)")
    #expect(ending.output.contains("The second page was not asked for."))
    #expect(server.requests.count == 1)
    #expect(try file.text().contains("/rocks"))
    #expect(ending.errors == "quire: wrote the description to \(file.path).\n")
    let command = try ExportCommand.parse(["https://h.test/", "--pagination", file.path])
    #expect(try PaginationOption.description(command).items == "/rocks")
  }
}
