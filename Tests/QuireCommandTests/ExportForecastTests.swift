import Foundation
import HTTPTypes
import Quire
import QuireHTTP
import Synchronization
import TestSupport
import Testing

@testable import QuireCommand

@Suite("quire export --plan", .timeLimit(.minutes(15)))
struct ExportForecastTests {
  /// A forecast without a server: one item a page, half a second, unless told otherwise.
  private func forecast(
    items: Int = 10, total: Total?, leadsOn: Bool = true, limits: Limits = Limits(),
    endsByEmptyPage: Bool = false, isResumed: Bool = false
  ) -> ExportForecast {
    var forecast = ExportForecast(
      request: "", items: items, bytes: 0, duration: .milliseconds(500), hasNextPage: leadsOn,
      total: total, pageSize: .init(came: items, isClamped: false))
    forecast.estimateRequests(
      limits: limits, endsByEmptyPage: endsByEmptyPage, isResumed: isResumed)
    return forecast
  }

  @Test("The number of requests follows from a total by its kind")
  func totals() {
    let rows: [(Total, requests: Int, ExportForecast.Certainty)] = [
      (Total(57), 6, .estimate), (Total(60), 6, .estimate), (Total(57, .estimate), 6, .estimate),
      (Total(57, .lowerBound), 6, .atLeast), (Total(57, .remaining), 7, .estimate),
      (Total(4, .pages), 4, .estimate), (Total(0), 1, .estimate),
    ]
    for (total, requests, certainty) in rows {
      let forecast = forecast(total: total)
      #expect(forecast.requests == requests && forecast.certainty == certainty, "\(total)")
      #expect(forecast.time == .milliseconds(500) * requests)
    }
    #expect(forecast(total: nil).requests == nil && forecast(total: nil).time == nil)
    #expect(forecast(total: nil, leadsOn: false).requests == 1)
    #expect(forecast(total: nil, leadsOn: false).certainty == .exact)
    #expect(forecast(total: Total(.max, .remaining)).requests != nil)
  }

  @Test("What a server counts beyond all measure takes for ever", arguments: Total.Kind.allCases)
  func hugeTotals(kind: Total.Kind) throws {
    var forecast = forecast(items: 1, total: Total(.max, kind), endsByEmptyPage: true)
    #expect(forecast.requests == .max)
    let century = Duration.seconds(3.2e9)
    #expect(try #require(forecast.time) == century + .milliseconds(500))
    forecast.rate = .init(1, per: century)
    forecast.budget = RateLimitBudget(
      [
        .init("X-RateLimit-Limit")!: "100", .init("X-RateLimit-Remaining")!: "50",
        .init("X-RateLimit-Reset")!: "60",
      ], now: 0)
    forecast.reserve = 10
    #expect(try #require(forecast.time) >= century)
    #expect(forecast.text.contains("requests    "))
    forecast.bytes = 1
    forecast.estimateRequests(limits: Limits(bytes: .max), endsByEmptyPage: true, isResumed: false)
    #expect(forecast.requests == .max)
  }

  @Test("The caller's limits, an empty page at the end and a resumed walk change the number")
  func limits() {
    #expect(forecast(total: Total(57), endsByEmptyPage: true).requests == 7)
    #expect(forecast(total: Total(57), limits: Limits(pages: 2)).requests == 2)
    #expect(forecast(total: Total(57), limits: Limits(items: 25)).requests == 3)
    let unknown = forecast(total: nil, limits: Limits(pages: 5))
    #expect(unknown.requests == 5 && unknown.certainty == .atMost)
    #expect(forecast(total: Total(57), isResumed: true).certainty == .atMost)
  }

  @Test("A rate limit is read in the spellings of the wild, and its windows are waited for")
  func rateLimits() throws {
    func budget(_ fields: [(String, String)]) -> RateLimitBudget? {
      var headers = HTTPFields()
      for (name, value) in fields { headers[HTTPField.Name(name)!] = value }
      return RateLimitBudget(headers, now: 1_000)
    }
    let github = budget([
      ("X-RateLimit-Limit", "60"), ("X-RateLimit-Remaining", "2"), ("X-RateLimit-Reset", "30"),
    ])
    #expect(github?.limit == 60 && github?.remaining == 2 && github?.reset == .seconds(30))
    #expect(github?.waiting(for: 2) == .zero && github?.waiting(for: 3) == .seconds(30))
    #expect(github?.waiting(for: 63) == .seconds(60))
    let draft = budget([
      ("RateLimit", "\"default\";r=50;t=30"), ("RateLimit-Policy", "\"default\";q=100;w=60"),
    ])
    #expect(draft?.limit == 100 && draft?.remaining == 50 && draft?.reset == .seconds(30))
    #expect(budget([("RateLimit-Limit", "100, 100;w=60")])?.limit == 100)
    #expect(budget([("Retry-After", "2")])?.waiting(for: 1) == .seconds(2))
    #expect(budget([("X-RateLimit-Remaining", "many")]) == nil && budget([]) == nil)
    #expect(budget([("RateLimit", "limit=nan, remaining=nan")]) == nil)
    #expect(budget([("X-RateLimit-Remaining", "0"), ("X-RateLimit-Reset", "1e300")]) != nil)
  }

  @Test("--plan requests one page, prints the figures, writes the report, and no item anywhere")
  func command() async throws {
    let requests = Mutex(0)
    let server = try FaultServer { _ in
      requests.withLock { $0 += 1 }
      return [
        .respond(
          "{\"startAt\":0,\"maxResults\":2,\"total\":9,\"issues\":[{\"id\":1},{\"id\":2}]}",
          headers: [
            ("X-RateLimit-Limit", "100"), ("X-RateLimit-Remaining", "99"),
            ("X-RateLimit-Reset", "60"),
          ])
      ]
    }
    defer { server.stop() }
    let (output, report) = (TemporaryFile("old\n"), TemporaryFile())
    let ending = try await Command.quire([
      "export", server.url("/search"), "--preset", "jiraOffset", "--page-size", "50", "--plan",
      "-o", output.path, "--report", report.path,
    ])
    #expect(ending.status == 0, "\(ending.errors)")
    #expect(requests.withLock { $0 } == 1)
    #expect(try output.text() == "old\n")
    #expect(ending.output.contains("total       9 items"), "\(ending.output)")
    #expect(ending.output.contains("50 asked for, 2 came"))
    #expect(ending.output.contains("the server lowers it"))
    #expect(ending.output.contains("about 5, 1 of them made: 9 items by 2 items a page"))
    #expect(ending.output.contains("99 of 100 requests left, more in 1:00"))
    let json = try #require(
      try JSONSerialization.jsonObject(with: Data(report.text().utf8)) as? [String: Any])
    #expect(json["requests"] as? Int == 5 && json["items"] as? Int == 2)
    #expect((json["rateLimit"] as? [String: Any])?["remaining"] as? Int == 99)
    #expect((json["pageSize"] as? [String: Any])?["isClamped"] as? Bool == true)
    #expect((json["total"] as? [String: Any])?["kind"] as? String == "items")
  }

  @Test("--plan of an export that stopped within a page takes the whole page for the page size")
  func midway() async throws {
    let server = try FaultServer { request in
      let start = request.target.contains("startAt=2") ? 2 : 0
      return [
        .respond(
          "{\"startAt\":\(start),\"maxResults\":2,\"total\":9,\"issues\":[{\"id\":\(start)},{\"id\":\(start + 1)}]}"
        )
      ]
    }
    defer { server.stop() }
    let output = TemporaryFile()
    let command = ["export", server.url("/search"), "--preset", "jiraOffset", "-o", output.path]
    let begun = try await Command.quire(command + ["--max-items", "3"])
    let lines = try output.text().split(separator: "\n")
    #expect(lines.count == 3, "\(begun.errors)")
    let plan = try await Command.quire(command + ["--plan"])
    #expect(plan.output.contains("page size   2 came"), "\(plan.output)\(plan.errors)")
    #expect(
      plan.output.contains("at most 5, 1 of them made: 9 items by 2 items a page"), "\(plan.output)"
    )
  }

  @Test("A plan finds a checkpoint beside the file that a link leads to")
  func checkpointBehindLink() throws {
    let (target, link) = (TemporaryFile(), TemporaryFile())
    try FileManager.default.createSymbolicLink(
      atPath: link.path, withDestinationPath: target.path)
    #expect(!ExportForecast.DestinationState.isToBeOpened(link.path))
    #expect(FileManager.default.createFile(atPath: "\(target.path).checkpoint", contents: nil))
    #expect(ExportForecast.DestinationState.isToBeOpened(link.path))
  }

  @Test("--plan says where nothing is known, and fails as an export does")
  func unknown() async throws {
    let server = try FaultServer { request in
      request.path == "/gone"
        ? [.respond("no", status: "404 Not Found")] : [.respond("[{\"id\":1}]")]
    }
    defer { server.stop() }
    let pages = try await Command.quire(
      ["export", server.url("/list"), "--preset", "pages", "--plan"])
    #expect(pages.status == 0)
    #expect(pages.output.contains("requests    unknown: the server does not say"))
    #expect(pages.output.contains("rate limit  the server does not say"))
    let gone = try await Command.quire(
      ["export", server.url("/gone"), "--preset", "pages", "--plan"])
    #expect(gone.status == 1 && gone.errors.contains("404"))
  }
}
