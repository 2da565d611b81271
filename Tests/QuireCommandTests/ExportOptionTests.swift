import Foundation
import ArgumentParser
import HTTPTypes
import Quire
import Testing

@testable import QuireCommand

@Suite("The options of export")
struct ExportOptionTests {
  private func plan(_ arguments: String..., at url: String = "https://h.test/p") throws
    -> ExportPlan
  {
    let command = try ExportCommand.parse([url] + arguments)
    return try ExportPlan(command)
  }

  private func refusal(_ arguments: String..., at url: String = "https://h.test/p") -> String {
    do {
      _ = try ExportPlan(try ExportCommand.parse([url] + arguments))
      return "nothing was refused"
    } catch {
      return ExportCommand.message(for: error)
    }
  }

  @Test("A header's value comes from the command line, the environment or a file")
  func headers() throws {
    let file = TemporaryFile("from file\n")
    let environment = ["TOKEN": "from environment"]
    let field = { try HeaderOption.field($0, environment: environment) }
    #expect(
      try field("X-Key:  plain: text ") == HTTPField(name: .init("X-Key")!, value: "plain: text"))
    #expect(try field("Authorization: env:TOKEN").value == "from environment")
    #expect(try field("X-Key: @\(file.path)").value == "from file")
  }

  @Test("H-8: a header that is refused is not repeated in the message")
  func headerRefusals() throws {
    for text in ["Authorization Bearer hunter22", "Bad Name: hunter22", "X: a\r\nhunter22: b"] {
      let error = #expect(throws: ValidationError.self) { try HeaderOption.field(text) }
      #expect(error?.message.contains("hunter22") == false)
    }
    let error = #expect(throws: ValidationError.self) {
      try HeaderOption.field("X: env:UNSET", environment: [:])
    }
    #expect(error?.message.contains("UNSET is not set") == true)
    let empty = #expect(throws: ValidationError.self) {
      try HeaderOption.field("X: env:EMPTY", environment: ["EMPTY": ""])
    }
    #expect(empty?.message.contains("EMPTY is empty") == true)
    #expect(throws: ValidationError.self) { try HeaderOption.field("X: @/no/such/file") }
  }

  @Test("H-8: a way to sign that cannot be is refused, and the secret key is not repeated")
  func signing() {
    let own = ["AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "secret22"]
    for (text, environment, part) in [
      ("aws", own, "aws:SERVICE"), ("gcp:s3", own, "gcp:s3"), ("aws:s3", own, "AWS_REGION"),
      ("aws:s3:", own, "AWS_REGION"), ("aws:s3:r", [:], "AWS_ACCESS_KEY_ID is not set"),
      ("aws:s3:r", ["AWS_ACCESS_KEY_ID": "AKID"], "AWS_SECRET_ACCESS_KEY is not set"),
      ("aws:s3:r", ["AWS_ACCESS_KEY_ID": ""], "AWS_ACCESS_KEY_ID is empty"),
    ] {
      let error = #expect(throws: ValidationError.self) {
        _ = try SignOption.signer(text, environment: environment)
      }
      #expect(error?.message.contains(part) == true)
      #expect(error?.message.contains("secret22") == false)
    }
  }

  @Test("H-1: --param is percent-encoded exactly once and leaves the URL alone")
  func parameters() throws {
    let base = ["--preset", "linkHeader", "--param"]
    let url = try plan(
      base[0], base[1], "--param", "q=a b&c", "--param", "page[size]=5", "--param", "e=",
      at: "https://h.test/p?x=%41"
    ).url
    #expect(url == "https://h.test/p?x=%41&q=a%20b%26c&page[size]=5&e=")
    #expect(
      try plan(base[0], base[1], "--param", "a=b", at: "https://h.test/p#top").url
        == "https://h.test/p?a=b#top")
    #expect(refusal(base[0], base[1], "--param", "novalue").contains("NAME=VALUE"))
  }

  @Test("A --param takes the place of the URL's own of its name, and several of one name are sent")
  func replacingParameters() throws {
    for (url, parameters, expected) in [
      ("?page=1&x=%41&page=2", ["page=3"], "?x=%41&page=3"), ("?page=1", ["page=3"], "?page=3"),
      ("?id=0&x=1", ["id=1", "id=2"], "?x=1&id=1&id=2"), ("?", ["a=b"], "?a=b"),
      ("?page%5Bsize%5D=1", ["page[size]=2"], "?page[size]=2"),
    ] {
      let options = parameters.flatMap { ["--param", $0] }
      let command = try ExportCommand.parse(
        ["https://h.test/p\(url)", "--preset", "linkHeader"] + options)
      #expect(try ExportPlan(command).url == "https://h.test/p\(expected)")
    }
  }

  @Test("--data that is no JSON says where it breaks, if the cursor goes into JSON")
  func brokenBody() {
    let words = refusal("--next", "body:/n", "--send", "body:/c", "--data", "{bad json")
    #expect(words.hasPrefix("--data: not JSON, and this description writes its cursor into"))
    #expect(words.contains("at byte 1 (line 1)"), "\(words)")
  }

  @Test("A body that has no place for the cursor is refused before anything is requested")
  func bodyWithoutPlace() {
    for (place, body, words) in [
      ("xmlBody://Q", "<a/>", "has no element at \"//Q\""),
      ("xmlBody://P", "<a><P><b/></P></a>", "without elements of its own"),
      ("jsonBody:/a/b", "{\"a\": 1}", "has no place for a value at \"/a/b\""),
      ("jsonBody:/a/b", "{}", "nothing was refused"),
    ] {
      let said = refusal("--next", "body:/n", "--send", place, "--data", body)
      #expect(said.contains(words), "\(place): \(said)")
    }
  }

  @Test("A JSON body is a document for pagination to write into; --data makes it a POST")
  func bodies() throws {
    let json = try plan("--preset", "linkHeader", "--data", "{\"n\": 1.10}").request
    #expect(json.method == .post)
    #expect(json.body == .json(["n": .number("1.10")]))
    let file = TemporaryFile("<a/>")
    let bytes = try plan("--preset", "linkHeader", "--data", "@\(file.path)", "--method", "put")
    #expect(bytes.request.method == .put)
    #expect(bytes.request.body == .bytes(Array("<a/>".utf8)))
    #expect(try plan("--preset", "linkHeader").request.method == .get)
  }

  @Test("A form and XML are documents to write into, too, by Content-Type or by the description")
  func otherBodies() throws {
    func body(_ data: String, _ arguments: String..., sending: String) throws -> PageRequest.Body {
      let file = TemporaryFile("{\"next\": {\"body\": \"/next\"}, \"send\": \(sending)}")
      let command = try ExportCommand.parse(
        ["https://h.test/p", "--pagination", file.path, "--data", data] + arguments)
      return try ExportPlan(command).request.body
    }
    let form = "application/x-www-form-urlencoded"
    let query = "{\"query\": \"at\"}"
    #expect(try body("q=1", sending: "{\"form\": \"cursor\"}") == .form("q=1"))
    #expect(try body("q=1", "-H", "content-type: \(form)", sending: query) == .form("q=1"))
    #expect(try body("q=1", sending: query) == .bytes(Array("q=1".utf8)))
    #expect(try body("<a/>", sending: "{\"xmlBody\": \"/a\"}") == .xml("<a/>"))
    #expect(try body("<a/>", "-H", "Content-Type: text/xml", sending: query) == .xml("<a/>"))
    #expect(throws: ValidationError.self) {
      try body("{}", sending: "{\"form\": \"cursor\"}")
    }
  }

  @Test("--links takes each policy by name")
  func links() throws {
    #expect(try LinksOption.policy("same-origin") == .sameOrigin)
    #expect(try LinksOption.policy("rebase") == .rebase)
    #expect(try LinksOption.policy("upgrade-scheme") == .upgradeScheme)
    #expect(
      try LinksOption.policy("allow:a.test,b.test:8443") == .allow(["a.test", "b.test:8443"]))
    #expect(throws: ValidationError.self) { try LinksOption.policy("allow:") }
    #expect(throws: ValidationError.self) { try LinksOption.policy("anywhere") }
    #expect(try plan("--preset", "drf", "--links", "rebase").pagination.policy.links == .rebase)
  }

  @Test("C-8: a position is read as it was written, and out of a report")
  func positions() throws {
    let position = Position(.object([.init("after", .number("9007199254740993"))]), itemOffset: 3)
    let text = String(decoding: try JSONEncoder().encode(position), as: UTF8.self)
    #expect(try ResumePoint(text).position == position)
    let report = TemporaryFile(
      "{\"end\": \"interrupted\", \"outputBytes\": 7, \"checkpoint\": {\"value\": \"abc\"}}")
    let point = try ResumePoint("@\(report.path)")
    #expect(point.position == "abc")
    #expect(point.output?.bytes == 7)
    for text in [try report.text(), "{\"checkpoint\": {\"value\": \"abc\"}}"] {
      #expect(try ResumePoint(text).position == "abc")
    }
    #expect(try ResumePoint("{\"end\": \"failed\", \"checkpoint\": {}}").position == .start)
  }

  @Test("C-8: --from takes nothing for a position that is none: it would start at the beginning")
  func noPositions() {
    for (text, part) in [
      ("{}", "Leave --from out"), ("{\"foo\": 1}", "not \"foo\""), ("abc", "no JSON object"),
      ("{\"valeu\": \"abc\"}", "not \"valeu\""), ("\"abc\"", "no JSON object"),
      ("{\"checkpoint\": {\"foo\": 1}}", "not \"foo\""),
      ("{\"checkpoint\": 1}", "is 1 and no object"),
      ("{\"value\": \"abc\", \"checkpoint\": {}}", "not \"checkpoint\""),
      ("{\"end\": \"exhausted\"}", "nothing to resume"),
    ] {
      let words = refusal("--preset", "linkHeader", "--from", text)
      #expect(words.hasPrefix("--from: ") && words.contains(part), "\(text): \(words)")
    }
  }

  @Test("--next, --send and --end make the description they spell")
  func composition() throws {
    let description = try plan(
      "--next", "offset:1", "--send", "query:start", "--end", "flag:/more", "--end", "total:/count",
      "--items", "/data"
    ).pagination
    var expected = Pagination(
      next: .offset(first: 1), send: .query("start"),
      end: [.flag(.body("/more")), .total("/count")], items: "/data")
    expected.total = "/count"
    #expect(description == expected)
    #expect(try plan("--next", "link").pagination == Pagination(next: .linkHeader))
  }

  @Test("Sentinels, a total for any --next, and items that may be left out are options, too")
  func furtherParts() throws {
    let description = try plan(
      "--next", "body:/n", "--send", "query:c", "--end", "sentinel:-1", "--end", "sentinel:none",
      "--items", "optional:/items", "--total", "/count"
    ).pagination
    #expect(
      description
        == Pagination(
          next: .body("/n"), send: .query("c"),
          end: [.noNext(sentinels: ["-1"]), .noNext(sentinels: ["none"])],
          items: .optional("/items"), total: "/count"))
    let moved = try plan("--preset", "drf", "--items", "optional:/a").pagination
    #expect(moved.items == .optional("/a"))
    for words in ["members:/result", #"{"members":"/result"}"#] {
      #expect(
        try plan("--preset", "linkHeader", "--items", words).pagination.items == .members("/result")
      )
    }
    #expect(refusal("--next", "link", "--end", "sentinel").contains("needs a text"))
  }

  @Test("--retries and --max-retry-after are the client's, and its defaults theirs")
  func retries() throws {
    #expect(try plan("--next", "link").configuration.retry == .export)
    let retry = try plan("--next", "link", "--retries", "0", "--max-retry-after", "2h")
      .configuration.retry
    #expect(retry == RetryPolicy(attempts: 1, maximumRetryAfter: .seconds(7200), polls: 0))
    for (text, seconds) in [("90", 90), ("90s", 90), ("15m", 900), ("0", 0)] {
      #expect(try DurationOption.duration(text, for: "--x") == .seconds(seconds))
    }
  }

  @Test("--page-size goes where --size says, and else is what --end short counts by")
  func pageSizes() throws {
    let base = ["--next", "offset", "--send", "query:offset", "--end", "short"]
    func plan(_ arguments: String..., url: String = "https://h.test/p") throws -> ExportPlan {
      try ExportPlan(try ExportCommand.parse([url] + base + arguments))
    }
    let expected = try plan("--page-size", "2")
    #expect(expected.pagination.size == Pagination.PageSize(default: 2))
    #expect(expected.pageSize == nil)
    let asked = try plan("--page-size", "2", "--size", "query:limit")
    #expect(asked.pagination.size == Pagination.PageSize(.query("limit")))
    #expect(asked.pageSize == 2)
    #expect(throws: Never.self) {
      try plan("--size", "query:limit", url: "https://h.test/p?limit=2")
    }
    let preset = try ExportPlan(
      try ExportCommand.parse(
        ["https://h.test/p", "--preset", "github", "--page-size", "5", "--size", "header:X-Size"]))
    #expect(preset.pagination.size?.send == .header("X-Size"))
    #expect(preset.pagination.size?.max == Pagination.github.size?.max)
  }

  @Test("What cannot be right is refused before anything is requested")
  func refusals() {
    #expect(refusal().contains("--preset, --pagination, or --next"))
    let change =
      " To change a preset: quire presets drf > my.json, edit my.json, and give --pagination my.json."
    #expect(
      refusal("--preset", "drf", "--next", "link")
        == "--preset and --next exclude each other.\(change)")
    #expect(
      refusal("--preset", "drf", "--pagination", "f")
        == "--preset and --pagination exclude each other.\(change)")
    #expect(refusal("--send", "query:c") == "--send needs --next.")
    #expect(refusal("--preset", "drf", "--end", "empty") == "--end needs --next.\(change)")
    for url in ["127.0.0.1:8080/drf", "localhost:8080/drf", "h.test"] {
      #expect(
        refusal("--preset", "drf", at: url)
          == "\"\(url)\" has no scheme; write http:// or https:// before it.")
    }
    #expect(refusal("--next", "body:/n").contains("needs --send"))
    for word in ["total", "pages"] {
      let words = refusal("--next", "body:/n", "--send", "query:c", "--end", "\(word):/t")
      #expect(words.hasPrefix("--end total: only --next offset and --next pageNumber count."))
      #expect(words.contains("Leave it out; nothing but the missing cursor is needed."))
      #expect(words.hasSuffix("use --total."))
    }
    #expect(
      refusal("--next", "offset", "--send", "query:c", "--end", "pages:/t").hasPrefix(
        "--end total:PATH,kind:pages: only --next pageNumber"))
    #expect(
      refusal("--next", "body:/n", "--send", "query:c", "--page-size", "5").contains("--size"))
    for (next, end) in [
      ("offset", "short"), ("body:/n", "short"), ("body:/n", "shortPage"),
      ("pageNumber", "shortPage"),
    ] {
      let words = refusal("--next", next, "--send", "query:c", "--end", end)
      #expect(words.contains("--page-size"), "\(next) \(end): \(words)")
    }
    #expect(refusal("--preset", "linkHeader", "--size", "url").contains("query, header, jsonBody"))
    for option in ["--max-items", "--max-pages", "--page-size"] {
      for number in ["0", "-1"] {
        #expect(
          refusal("--preset", "linkHeader", option, number) == "\(option): must be at least 1.")
      }
    }
    #expect(
      refusal("--preset", "linkHeader", "--parallel", "1025") == "--parallel: must be at most 1024."
    )
    for field in ["Content-Length: 5", "transfer-encoding: chunked"] {
      #expect(refusal("--preset", "linkHeader", "-H", field).contains("Leave it out"), "\(field)")
    }
    for option in ["--look-ahead", "--retries"] {
      #expect(refusal("--preset", "linkHeader", option, "-1") == "\(option): must be at least 0.")
    }
    for time in ["soon", "-1", "1w", "1.5h"] {
      let words = refusal("--preset", "linkHeader", "--max-retry-after=\(time)")
      #expect(words.contains("2h or 3d"), "\(words)")
    }
    #expect(
      refusal("--next", "page", "--send", "query:p").hasSuffix(
        "Use --end emptyPage."))
    #expect(refusal("--preset", "linkHeader", "--items", "optional:x").hasPrefix("--items: "))
    #expect(refusal("--preset", "linkHeader", "--total", "x").hasPrefix("--total x: "))
    #expect(refusal("--preset", "linkHeader", "--items", "data").contains("--items"))
    #expect(refusal("--preset", "linkHeader", "--bad-items", "skip").contains("collect:FILE"))
    for limit in ["items", "items=0", "items=many", "=1"] {
      #expect(refusal("--preset", "linkHeader", "--limit", limit).contains("NAME=N"))
    }
    #expect(refusal("--preset", "linkHeader", "--limit", "item=5").contains("mean \"items\"?"))
    #expect(refusal("--preset", "githb").contains("Did you mean \"github\"?"))
    #expect(refusal("--preset", "linkHeader", at: "http://h.test/").contains("--allow-plain-http"))
    #expect(refusal("--preset", "linkHeader", at: "ftp://h.test/") != "nothing was refused")
    #expect(refusal("--pagination", "/no/such").contains("/no/such"))
  }
}
