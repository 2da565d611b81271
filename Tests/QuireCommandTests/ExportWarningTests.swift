import Foundation
import TestSupport
import Testing

@testable import QuireCommand

@Suite("What an export warns of", .timeLimit(.minutes(15)))
struct ExportWarningTests {
  /// Exports a listing of one page, and returns the lines on stderr that are neither the report nor
  /// how to resume.
  private func warnings(
    _ page: String, _ arguments: [String], headers: [(String, String)] = []
  ) async throws -> [String] {
    let server = try FaultServer { _ in [.respond(page, headers: headers)] }
    defer { server.stop() }
    let ending = try await Command.quire(["export", server.url()] + arguments)
    #expect(ending.status == 0, "\(ending.errors)")
    return ending.errors.split(separator: "\n").dropLast().map(String.init)
      .filter { !$0.hasPrefix("quire: to resume, ") }
  }

  private static let rest = ["--send", "query:cursor", "--items", "/data"]

  @Test("A --next that no page had anything for is warned of, with the path that was meant")
  func wrongNext() async throws {
    let page = "{\"data\": [{\"id\": 1}], \"next_cursor\": null}"
    let advice = " The listing may be longer. Correct --next."
    for (next, words) in [
      (
        "body:/nextcursor",
        "no page had anything at \"/nextcursor\"; is \"/next_cursor\" what you mean?"
      ),
      ("body:/xyz", "no page had anything at \"/xyz\"."),
      ("last:/key", "no page's last item had anything at \"/key\"."),
      ("maxItem:/key", "no page had an item with anything at \"/key\"."),
      ("firstItem:/key", "no page had an item with anything at \"/key\"."),
      ("contentRange", "no page had the header field Content-Range."),
      ("header:X-Next", "no page had the header field X-Next."),
    ] {
      let said = try await warnings(page, ["--next", next] + Self.rest)
      #expect(said == ["warning: \(words)\(advice)"])
    }
    // Described as a preset is: its servers leave the field out where no page follows.
    #expect(try await warnings("[1]", ["--next", "link"]).isEmpty)
  }

  @Test("A chosen column that no item had is warned of, in every format, and a sparse one is not")
  func emptyColumns() async throws {
    for page in [
      #"[{"id":1},{"id":2,"b":null}]"#, "<r><i><id>1</id></i><i><id>2</id><b/></i></r>",
    ] {
      let folder = try TemporaryFolder()
      let said = try await warnings(
        page,
        ["--next", "linkHeader", "--columns", "id,b,nosuch,x=/y/z", "-o", folder.path("x.csv")])
      let found = said.filter { $0.hasPrefix("warning: ") }
      #expect(
        found == [
          #"warning: no item of this run had anything at "/nosuch", for the column "nosuch"."#,
          #"warning: no item of this run had anything at "/y/z", for the column "x"."#,
        ])
    }
  }

  @Test("A last page without items that is marked as a failure is warned of, and no other is")
  func failureInLastPage() async throws {
    for (members, isFailure) in [
      (#""error":"db down""#, true), (#""errors":[{"message":"timeout"}]"#, true),
      (#""success":false,"message":"rate limited""#, true), (#""ok":false"#, true),
      (#""status":"error""#, true), (#""error":{"code":500}"#, true), (#""error":true"#, true),
      (#""error":null"#, false), (#""error":"""#, false), (#""error":false"#, false),
      (#""error":0"#, false), (#""errors":[]"#, false), (#""success":true"#, false),
      (#""error":{"code":0,"message":"ok"}"#, false), (#""status":"ok""#, false),
      (#""errors":null,"ok":true"#, false),
    ] {
      let page = #"{"data":[],"next_cursor":null,\#(members)}"#
      let said = try await warnings(page, ["--next", "body:/next_cursor"] + Self.rest)
      #expect(said.contains { $0.contains("a mark of a failure at ") } == isFailure, "\(members)")
      let full = page.replacing("[],", with: "[1],")
      let other = try await warnings(full, ["--next", "body:/next_cursor"] + Self.rest)
      #expect(!other.contains { $0.contains("a mark of a failure at ") }, "\(members)")
    }
  }

  @Test("A next link that is sent as a value is warned of, and one that is followed is not")
  func unfollowedLink() async throws {
    let page = "{\"data\": [1], \"next\": \"http://127.0.0.1/things?page=2\"}"
    let next = ["--next", "body:/next", "--items", "/data", "--max-pages", "1", "--send"]
    let said = try await warnings(page, next + ["query:page"])
    #expect(
      said == [
        "warning: what is at \"/next\" is a URL, and is sent as a value. Use --send url."
      ])
    #expect(try await warnings(page, next + ["url"]).isEmpty)
    let token = "{\"data\": [1], \"next\": \"abc://x\"}"
    #expect(try await warnings(token, next + ["query:page"]).isEmpty)
  }

  @Test("A rule of --end that no page had anything for is warned of")
  func wrongEnd() async throws {
    let page = "{\"data\": [], \"has_more\": false, \"total\": 0}"
    for (rule, path, near) in [
      ("flag", "/hasmore", "/has_more"), ("last", "/hasmor", "/has_more"),
      ("total", "/totl", "/total"),
    ] {
      let said = try await warnings(
        page, ["--next", "offset", "--end", "empty", "--end", "\(rule):\(path)"] + Self.rest)
      let words = "no page had anything at \"\(path)\"; is \"\(near)\" what you mean?"
      #expect(said == ["warning: \(words) Correct --end."])
    }
  }

  @Test("A total that its pages contradict is to be corrected where it was said")
  func wrongTotal() async throws {
    let server = try FaultServer { request in
      let items = request.target.contains("at=") ? "[]" : "[1, 2]"
      return [.respond("{\"data\": \(items), \"total\": 1}")]
    }
    defer { server.stop() }
    let description = TemporaryFile(
      "{\"next\": \"offset\", \"send\": {\"query\": \"at\"}, \"items\": \"/data\", "
        + "\"end\": [{\"total\": \"/total\"}, \"emptyPage\"], \"total\": \"/total\"}")
    let options = ["--next", "offset", "--send", "query:at", "--items", "/data", "--end", "empty"]
    for (way, advice) in [
      (options + ["--end", "total:/total"], "Correct --end."),
      (options + ["--total", "/total"], "Correct --total."),
      (["--pagination", description.path], "Correct \"total\" in the description."),
    ] {
      let ending = try await Command.quire(["export", server.url()] + way)
      #expect(ending.status == 0 && ending.lines == ["1", "2"], "\(ending.errors)")
      #expect(ending.errors.contains("ended nothing. \(advice)\n"), "\(ending.errors)")
    }
  }

  @Test("Pages without items where an optional path finds nothing are warned of, with their lists")
  func wrongItems() async throws {
    let description = TemporaryFile(
      "{\"next\": {\"body\": \"/next\"}, \"items\": {\"optional\": \"/items\"}}")
    let arguments = ["--pagination", description.path]
    let said = try await warnings("{\"records\": [1], \"next\": null}", arguments)
    let words = "no item at \"/items\" in 1 page; found arrays at /records."
    #expect(said == ["warning: \(words) Use --items '/records'."])
    let table = "{\"headers\": [1], \"rows\": [1, 2], \"next\": null}"
    #expect(
      try await warnings(table, arguments) == [
        "warning: no item at \"/items\" in 1 page; found arrays at /rows, /headers. "
          + "Use --items '/rows' or --items '/headers'."
      ])
    for page in ["{\"next\": null}", "{\"next\": null, \"items\": [], \"others\": [1]}"] {
      #expect(try await warnings(page, arguments).isEmpty)
    }
  }

  @Test("A path to items of XML that no page had is warned of, with the elements that are there")
  func wrongElements() async throws {
    let xml = [("Content-Type", "application/xml")]
    let next = ["--next", "body:/list/next", "--send", "url", "--items"]
    let many = "<list><total>2</total><things><thing/><thing/></things></list>"
    let one = "<list><total>1</total><things><thing><id>1</id></thing></things></list>"
    let near = "<list><thing/><next/></list>"
    for (page, path, found) in [
      (many, "/list/things/thingy", "/list/things/thing"),
      (many, "/list/rock", "/list/things/thing"),
      (one, "/list/things/rock", "/list/things/thing"), (near, "/list/thingy", "/list/thing"),
      (many, "//things/{urn:x}rock[1]", "/list/things/thing"),
    ] {
      let said = try await warnings(page, next + [path], headers: xml)
      #expect(
        said == [
          "warning: no item at \"\(path)\" in 1 page; found \(found). Use --items '\(found)'."
        ])
    }
    let preset = try await warnings(
      many, ["--preset", "linkHeader", "--items", "/list/things/rock"], headers: xml)
    #expect(preset.count == 1, "\(preset)")
  }

  @Test("A listing of XML that is empty is not warned of, whatever stands beside its items")
  func noElements() async throws {
    let xml = [("Content-Type", "application/xml")]
    let next = ["--next", "body:/list/next", "--send", "url", "--items"]
    for (page, path) in [
      ("<list><total>0</total><things/></list>", "/list/things/thing"),
      ("<list><things><total>0</total></things></list>", "/list/things/thing"),
      ("<feed><title>t</title><link/><link/><author/><author/></feed>", "/feed/entry"),
      ("<list><thing kind='a'/><thing kind='a'/></list>", "/list/thing[@kind='b']"),
    ] {
      #expect(try await warnings(page, next + [path], headers: xml).isEmpty, "\(page)")
    }
  }

  @Test("An only page that led to an end without one is not warned of as taken for the last")
  func ledToTheEnd() async throws {
    let server = try FaultServer { request in
      let content =
        request.target.contains("resumptionToken")
        ? #"<error code="noRecordsMatch"/>"#
        : "<ListRecords><record/><resumptionToken>t</resumptionToken></ListRecords>"
      return [
        .respond("<OAI-PMH>\(content)</OAI-PMH>", headers: [("Content-Type", "text/xml")])
      ]
    }
    defer { server.stop() }
    let ending = try await Command.quire([
      "export", server.url("/oai?verb=ListRecords"), "--preset", "oaiPMH",
    ])
    #expect(ending.status == 0 && server.requests.count == 2, "\(ending.errors)")
    #expect(!ending.errors.contains("warning"), "\(ending.errors)")
  }

  @Test("Elements of several names that are items for want of --items are warned of")
  func mixture() async throws {
    let xml = [("Content-Type", "application/xml")]
    let how = ["--next", "body:/l/next", "--send", "query:at"]
    let said = try await warnings("<l><i>1</i><i>2</i><next/></l>", how, headers: xml)
    let words = "every element below /l was taken for an item, and they are of several names "
    #expect(
      said == [
        "warning: \(words)(i, next); found lists at /l/i. Use --items '/l/i' or --items '/l/*'."
      ])
    for path in ["/l/i", "/l/*"] {
      let page = "<l><i>1</i><i>2</i><next/></l>"
      #expect(try await warnings(page, how + ["--items", path], headers: xml).isEmpty)
    }
    let alike = "<l><i>1</i><i>2</i></l>"
    #expect(try await warnings(alike, ["--preset", "linkHeader"], headers: xml).isEmpty)
  }

  @Test("A preset that takes the first page for the last is warned of where the page has more")
  func wrongPreset() async throws {
    let items = ["--items", "/data"]
    for (preset, page, place) in [
      ("drf", "{\"data\": [1], \"next_cursor\": \"t1\"}", "/next_cursor"),
      ("slack", "{\"ok\": true, \"data\": [1], \"total\": 237}", "/total"),
      ("linkHeader", "{\"data\": [1], \"next\": \"http://127.0.0.1/2\"}", "/next"),
    ] {
      let found = try await warnings(page, ["--preset", preset] + items)
      #expect(found.count == 1 && found[0].contains("and it has \(place): if the"), "\(found)")
    }
    for (preset, page) in [
      ("drf", #"{"data": [1], "next": null, "count": 1, "previous": "http://127.0.0.1/1"}"#),
      ("stripe", "{\"data\": [{\"id\": \"a\"}], \"has_more\": false, \"last_id\": \"a\"}"),
      ("slack", "{\"data\": [1], \"response_metadata\": {\"next_cursor\": \"\"}}"),
    ] {
      #expect(try await warnings(page, ["--preset", preset] + items).isEmpty, "\(preset)")
    }
  }

  @Test("A cursor that is a word for the end is named when the server refuses it")
  func sentinels() async throws {
    let server = try FaultServer { request in
      request.target.contains("END")
        ? [.respond("no such cursor", status: "400 Bad Request")]
        : [.respond("{\"data\": [1], \"next_cursor\": \"END\"}")]
    }
    defer { server.stop() }
    let next = ["--next", "body:/next_cursor"] + Self.rest
    let ending = try await Command.quire(["export", server.url()] + next)
    #expect(ending.status == 1)
    #expect(ending.errors.contains("cursor was \"END\""), "\(ending.errors)")
    // As the help and the guide spell it.
    #expect(ending.errors.contains("use --end 'noNext:END'"), "\(ending.errors)")
    let told = try await Command.quire(
      ["export", server.url()] + next + ["--end", "noNext:END"])
    #expect(told.status == 0 && told.output == "1\n", "\(told.errors)")
  }

  @Test("12-L1, H15: an answer without a body ends an export only where the description says so")
  func bodyless() async throws {
    let server = try FaultServer { request in
      request.target.contains("cursor")
        ? [.respond("", status: request.target.contains("/gone") ? "204 No Content" : "200 OK")]
        : [.respond("{\"data\": [1, 2], \"next_cursor\": \"a\"}")]
    }
    defer { server.stop() }
    let arguments = ["--next", "body:/next_cursor", "--retries", "0"] + Self.rest
    for (path, extra, status) in [
      ("/", [], Int32(1)), ("/", ["--end", "empty"], 1), ("/gone", [], 1),
      ("/gone", ["--end", "status:204"], 0),
    ] {
      let ending = try await Command.quire(["export", server.url(path)] + arguments + extra)
      #expect(ending.output == "1\n2\n", "\(ending.errors)")
      #expect(ending.status == status, "\(path) \(extra): \(ending.errors)")
    }
  }

  @Test("The errors of listings that do not end name the options that end them")
  func endless() async throws {
    let page = "{\"data\": [1], \"next_cursor\": \"a\"}"
    let server = try FaultServer { request in
      [.respond(request.target.contains("offset=1") ? "{\"data\": []}" : page)]
    }
    defer { server.stop() }
    for (arguments, code, advice) in [
      (["--next", "body:/next_cursor"], "stalledContent", "Correct --send."),
      (
        ["--next", "body:/next_cursor", "--limit", "comparedPages=0"], "loop",
        "use --end sameCursor"
      ),
    ] {
      let ending = try await Command.quire(["export", server.url()] + arguments + Self.rest)
      #expect(ending.errors.contains("failed (\(code)"), "\(ending.errors)")
      #expect(ending.errors.contains(advice), "\(ending.errors)")
    }
    let offsets = ["--next", "offset", "--send", "query:offset", "--items", "/data"]
    let counted = try await Command.quire(
      ["export", server.url()] + offsets + ["--end", "total:/count"])
    #expect(counted.status == 1 && counted.output == "1\n", "\(counted.errors)")
    #expect(counted.errors.contains("begin at 1 again"), "\(counted.errors)")
    #expect(counted.errors.contains("use --end emptyPage."), "\(counted.errors)")
    let ended = try await Command.quire(["export", server.url()] + offsets + ["--end", "empty"])
    #expect(ended.status == 0 && ended.output == "1\n", "\(ended.errors)")
  }

  @Test("A listing that ends as its server says it does is not warned of")
  func nothing() async throws {
    let body = ["--next", "body:/next_cursor"] + Self.rest
    for page in [
      "{\"data\": [1], \"next_cursor\": null}", "{\"data\": [1], \"next_cursor\": \"\"}",
      "{\"data\": []}",
    ] {
      #expect(try await warnings(page, body).isEmpty)
    }
    let flagged = try await warnings(
      "{\"data\": [1], \"has_more\": false}", body + ["--end", "flag:/has_more"])
    #expect(flagged.isEmpty)
    let first = [("Link", "</1>; rel=\"first\"")]
    #expect(try await warnings("[1]", ["--next", "link"], headers: first).isEmpty)
    #expect(try await warnings("[1]", ["--preset", "github"]).isEmpty)
  }

  @Test("A rule of --end that no page had anything for is warned of when the walk failed, too")
  func failedWalk() async throws {
    let server = try FaultServer { _ in [.respond("{\"data\": [], \"count\": 7}")] }
    defer { server.stop() }
    let ending = try await Command.quire(
      ["export", server.url(), "--next", "page", "--end", "total:/cnt"] + Self.rest)
    #expect(ending.status == 1)
    #expect(ending.errors.contains("101 empty pages"))
    let words = "no page had anything at \"/cnt\"; is \"/count\" what you mean? Correct --end."
    #expect(ending.errors.contains("warning: \(words)\n"), "\(ending.errors)")
    let gone = try FaultServer { _ in [.respond("no", status: "404 Not Found")] }
    defer { gone.stop() }
    let none = try await Command.quire(
      ["export", gone.url(), "--next", "offset", "--end", "total:/cnt"] + Self.rest)
    #expect(!none.errors.contains("warning:"), "\(none.errors)")
  }

  @Test("A first page that is the last only because it is short is warned of, and in a plan, too")
  func shortPage() async throws {
    let short = "{\"data\": [1, 2, 3, 4, 5], \"total\": 5, \"more\": false}"
    let base = ["--next", "page", "--end", "short"] + Self.rest
    let sized = ["--size", "query:size", "--page-size", "10"]
    let words =
      "10 items were asked for and 5 came; only that the page is short says that it is the last one. "
      + "If the server gives no more than 5 at a time, use --page-size 5."
    #expect(try await warnings(short, base + sized) == ["warning: \(words)"])
    #expect(try await warnings(short, base + ["--page-size", "10"]) == ["warning: \(words)"])
    for arguments in [
      ["--page-size", "6", "--total", "/total"], sized + ["--total", "/total"],
      sized + ["--end", "last:/more", "--end", "flag:/more"],
    ] {
      #expect(try await warnings(short, base + arguments).isEmpty, "\(arguments)")
    }
    #expect(try await warnings("{\"data\": []}", base + sized).isEmpty)
    let server = try FaultServer { _ in [.respond(short)] }
    defer { server.stop() }
    let plan = try await Command.quire(["export", server.url(), "--plan"] + base + sized)
    #expect(plan.lines.contains("note        \(words)"), "\(plan.output)")
  }

  @Test("12-A2: a --total that no page had is warned of, and one that a preset may lack is not")
  func absentTotal() async throws {
    let page = "{\"results\": [1], \"next\": null}"
    let words = "warning: no page had anything at \"/count\". Correct --total."
    for way in [["--next", "body:/next", "--send", "url"], ["--preset", "drf"]] {
      let said = try await warnings(page, way + ["--items", "/results", "--total", "/count"])
      #expect(said == [words], "\(way)")
    }
    let description = TemporaryFile(
      "{\"next\": {\"body\": \"/next\"}, \"items\": \"/results\", \"total\": \"/count\"}")
    // Described as a preset is, whose servers may leave it out.
    #expect(try await warnings(page, ["--pagination", description.path]).isEmpty)
  }

  @Test("A recovery from an expired cursor is warned of, reported and logged, each with its way")
  func recovery() async throws {
    let gone = "{\"error\": \"gone\", \"instead\": \"c\"}"
    for (expiry, name, consequence) in [
      ("\"restart\"", "restarted", "the listing began anew, so that items may have come twice"),
      (
        "{\"resume\": \"/instead\"}", "resumed",
        "another one took its place, which may repeat or skip items that changed meanwhile"
      ),
    ] {
      let server = try FaultServer { request in
        let page =
          if request.target.contains("at=c") {
            "{\"data\": [3]}"
          } else if request.target.contains("at=b") {
            request.ordinal == 2 ? gone : "{\"data\": [2]}"
          } else {
            "{\"data\": [1], \"next\": \"b\"}"
          }
        return [.respond(page)]
      }
      defer { server.stop() }
      let description = TemporaryFile(
        """
        {"next": {"body": "/next"}, "send": {"query": "at"}, "items": "/data", "policy": {"failure":
        [{"when": {"value": "/error", "equals": "gone"}, "class": "expired"}], "expiry": \(expiry)}}
        """)
      let report = TemporaryFile()
      let command = [
        "export", server.url("/list"), "--pagination", description.path, "--report", report.path,
      ]
      let ending = try await Command.quire(command + ["--log", "json"])
      #expect(ending.status == 0, "\(ending.errors)")
      #expect(ending.lines == (name == "resumed" ? ["1", "3"] : ["1", "1", "2"]))
      #expect(
        ending.errors.contains("warning: the server refused its own cursor: \(consequence).\n"),
        "\(ending.errors)")
      #expect(ending.errors.contains("\"recovery\":\"\(name)\""), "\(ending.errors)")
      let content = try JSONSerialization.jsonObject(with: Data(report.text().utf8))
      #expect((content as? [String: Any])?["recoveries"] as? [String] == [name])
    }
  }

  @Test("A walk that was resumed on its last page is not warned of")
  func resumed() async throws {
    let server = try FaultServer { request in
      let link = [("Link", "</last>; rel=\"next\"")]
      return [.respond("[1]", headers: request.path == "/last" ? [] : link)]
    }
    defer { server.stop() }
    let report = TemporaryFile()
    let base = ["export", server.url("/"), "--next", "link"]
    _ = try await Command.quire(base + ["--max-pages", "1", "--report", report.path])
    let ending = try await Command.quire(base + ["--from", "@\(report.path)"])
    #expect(ending.lines == ["1"])
    #expect(!ending.errors.contains("warning:"), "\(ending.errors)")
  }

  @Test("A plan does not take the first page for the last where the walk fails behind it")
  func planBeforeFailure() async throws {
    let page = #"{"data":{"c":{"nodes":[{"id":1}]}}}"#
    let server = try FaultServer { _ in [.respond(page)] }
    defer { server.stop() }
    let plan = try await Command.quire([
      "export", server.url(), "--plan", "--preset", "relay", "--items", "/data/c", "--data",
      #"{"query":"{c{nodes{id}}}"}"#,
    ])
    #expect(plan.output.contains("the walk fails behind the first page"), "\(plan.output)")
    #expect(plan.output.contains("pageInfo { hasNextPage endCursor }"), "\(plan.output)")
  }
}
