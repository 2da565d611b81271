import ArgumentParser
import Foundation
import TestSupport
import Testing

@testable import QuireCommand

@Suite("The formats of an export", .timeLimit(.minutes(15)))
struct ExportFormatTests {
  /// Two pages of XML, the second of which is declared as plain text.
  private static func listing() throws -> FaultServer {
    try FaultServer { request in
      let isFirst = request.target == "/list"
      let page =
        isFirst
        ? """
        <?xml version="1.0"?>
        <l:list xmlns:l="urn:l">
          <l:item id="1">a &amp; b</l:item>
          <l:item id="2">
            <name>Zoë</name>
          </l:item>
          <l:next>to/k+n=</l:next>
        </l:list>
        """ : "<list><item>3</item><next/></list>"
      let type = isFirst ? "application/xml" : "text/plain"
      return [.respond(page, headers: [("Content-Type", type)])]
    }
  }

  private static let how = [
    "--next", "body://next", "--send", "query:at", "--items", "/list/item",
  ]

  @Test("D-1: an export of XML writes each element as a line of JSON, and follows its tokens")
  func xml() async throws {
    for format in [[], ["--format", "auto"], ["--format", "xml"]] {
      let server = try Self.listing()
      defer { server.stop() }
      let ending = try await Command.quire(["export", server.url("/list")] + Self.how + format)
      #expect(ending.status == 0, "\(ending.errors)")
      #expect(
        ending.lines == [
          ##"{"@id":"1","#text":"a & b"}"##, #"{"@id":"2","name":"Zoë"}"#, #""3""#,
        ])
      #expect(server.requests.map(\.target) == ["/list", "/list?at=to%2Fk%2Bn%3D"])
    }
  }

  @Test("12-L2: --format asks the server for it, unless a field asks for another")
  func acceptedFormat() async throws {
    for (options, type) in [
      ([], "application/json"), (["--format", "xml"], "application/xml"),
      (["--format", "csv"], "text/csv"), (["--format", "csv", "-H", "Accept: a/b"], "a/b"),
      (["--preset", "activityStreams", "--format", "json"], "application/activity+json"),
    ] as [([String], String)] {
      let server = try Self.listing()
      defer { server.stop() }
      let how = options + (options.contains("--preset") ? [] : Self.how)
      _ = try await Command.quire(["export", server.url("/list"), "--retries", "0"] + how)
      let accept = server.requests.first?.values(of: "Accept").first
      #expect(accept?.split(separator: ",").first.map(String.init) == type, "\(options)")
    }
  }

  @Test("--raw keeps elements, with the namespaces around them, and the white space of JSON")
  func raw() async throws {
    let server = try Self.listing()
    defer { server.stop() }
    let ending = try await Command.quire(["export", server.url("/list"), "--raw"] + Self.how)
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(
      ending.output == """
        <l:item xmlns:l="urn:l" id="1">a &amp; b</l:item>
        <l:item xmlns:l="urn:l" id="2">
            <name>Zoë</name>
          </l:item>
        <item>3</item>

        """)
    let json = try FaultServer { _ in [.respond("[ {\"a\" : 1.0}, [ ] ]")] }
    defer { json.stop() }
    let plain = try await Command.quire(["export", json.url(), "--preset", "linkHeader", "--raw"])
    #expect(plain.output == "{\"a\" : 1.0}\n[ ]\n")
  }

  @Test("Pages of XML are read in the encoding that they declare")
  func legacyEncoding() async throws {
    let page =
      Array(#"<?xml version="1.0" encoding="ISO-8859-1"?><list><item>Zo"#.utf8) + [0xEB]
      + Array("</item></list>".utf8)
    let fields = "Content-Type: application/xml\r\nContent-Length: \(page.count)"
    let server = try FaultServer { _ in
      [.write(Array("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n".utf8) + page)]
    }
    defer { server.stop() }
    for (options, line) in [([], #""Zoë""#), (["--raw"], "<item>Zoë</item>")] {
      let ending = try await Command.quire(["export", server.url()] + Self.how + options)
      #expect(ending.status == 0 && ending.lines == [line], "\(ending.errors)")
    }
  }

  @Test("T1, H15: JSON Lines of no line are an empty page where their head leads on")
  func emptyLines() async throws {
    for leadsOn in [true, false] {
      let server = try FaultServer { request in
        let place = request.target.last == "1" ? 1 : request.target.last == "2" ? 2 : 0
        let next = place == 0 || place == 1 && leadsOn ? [("X-Next", "\(place + 1)")] : []
        return [
          .respond(
            place == 1 ? "" : "{\"id\":\(place)}\n",
            headers: [("Content-Type", "application/x-ndjson")] + next)
        ]
      }
      defer { server.stop() }
      let ending = try await Command.quire([
        "export", server.url("/list"), "--next", "header:X-Next", "--send", "query:at",
        "--retries", "0",
      ])
      #expect(ending.status == (leadsOn ? 0 : 1), "\(ending.errors)")
      #expect(ending.lines == (leadsOn ? [#"{"id":0}"#, #"{"id":2}"#] : [#"{"id":0}"#]))
      #expect(ending.errors.contains("without a body") != leadsOn, "\(ending.errors)")
    }
  }

  @Test(
    "--raw is refused where elements of XML would be cells or the members of an array of JSON",
    arguments: [
      ["x.csv"], ["x.tsv.gz"], ["x.json"], ["x.json", "--format", "xml"], ["x.db", "--table", "t"],
    ])
  func rawDestinations(destination: [String]) throws {
    let how = ["https://h.test/", "--preset", "linkHeader", "--raw", "-o"]
    let command = try ExportCommand.parse(how + destination)
    #expect(throws: ValidationError.self) { try ExportPlan(command) }
    for allowed in [
      ["x.jsonl.gz"], ["x.json", "--format", "json"], ["x.json", "--format", "jsonl"],
      ["x.csv", "--format", "json"],
    ] {
      let command = try ExportCommand.parse(how + allowed)
      #expect(throws: Never.self) { try ExportPlan(command) }
    }
  }

  @Test(
    "A page of another format than the one asked for is an error that names both",
    arguments: [
      ("<l><i/></l>", "application/xml", "json", "not JSON"),
      ("[1]", "application/json", "xml", "The page is JSON, not XML. Use --format json."),
      ("[1]", "application/xml", "auto", "The page is JSON, not XML. Use --format json."),
      ("<!DOCTYPE html><p>Sign in", "text/html", "auto", "HTML, neither JSON nor XML"),
      ("<html><body>Sign in", "application/json", "auto", "HTML"),
    ])
  func otherFormat(page: String, type: String, format: String, words: String) async throws {
    let server = try FaultServer { _ in [.respond(page, headers: [("Content-Type", type)])] }
    defer { server.stop() }
    let ending = try await Command.quire([
      "export", server.url(), "--preset", "linkHeader", "--format", format,
    ])
    #expect(ending.status == 1)
    #expect(ending.output.isEmpty)
    #expect(ending.errors.contains(words), "\(ending.errors)")
    #expect(ending.report.contains("unexpectedMediaType"))
  }

  @Test("C-8: an export of XML that stopped inside a page goes on at exactly the next element")
  func resuming() async throws {
    let server = try Self.listing()
    defer { server.stop() }
    let (file, report) = (TemporaryFile(), TemporaryFile())
    let base = ["export", server.url("/list"), "-o", file.path] + Self.how
    let first = try await Command.quire(base + ["--max-items", "1", "--report", report.path])
    #expect(first.status == 0, "\(first.errors)")
    let rest = try await Command.quire(base + ["--from", "@\(report.path)"])
    #expect(rest.status == 0, "\(rest.errors)")
    #expect(
      try file.lines() == [
        ##"{"@id":"1","#text":"a & b"}"##, #"{"@id":"2","name":"Zoë"}"#, #""3""#,
      ])
  }
}
