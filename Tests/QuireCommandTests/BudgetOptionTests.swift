import QuireHTTP
import ArgumentParser
import Quire
import QuireHTTP
import QuireTesting
import TestSupport
import Testing

@testable import QuireCommand

@Suite("The options of rates, budgets and routes", .timeLimit(.minutes(15)))
struct BudgetOptionTests {
  private func plan(_ arguments: [String]) throws -> ExportPlan {
    try ExportPlan(
      try ExportCommand.parse(["https://h.test/p", "--preset", "github"] + arguments))
  }

  private func refusal(_ arguments: String...) -> String {
    do {
      _ = try plan(arguments)
      return "nothing was refused"
    } catch {
      return ExportCommand.message(for: error)
    }
  }

  @Test("15-Rate: a rate is a number in a time, and what is none is refused by name")
  func rates() throws {
    for (text, rate) in [
      ("5/s", RequestBudget.Rate(5, per: .seconds(1))), ("100/m", .init(100, per: .seconds(60))),
      ("5000/hour", .init(5000, per: .seconds(3600))), ("10/30s", .init(10, per: .seconds(30))),
      ("0.5/s", .init(0.5, per: .seconds(1))),
      ("100/m,burst=20", .init(100, per: .seconds(60), burst: 20)),
    ] {
      #expect(try plan(["--rate", text]).configuration.budget.rate == rate, "\(text)")
    }
    // Longer than a time can be.
    let rare = try #require(
      try plan(["--rate", "1/\(String(repeating: "9", count: 30))s"]).configuration.budget.rate)
    #expect(rare.period == .seconds(3.2e9) && rare.time(for: 1) == .seconds(3.2e9))
    for text in ["5", "0/s", "-1/s", "x/s", "5/fortnight", "5/s,burst=0", "5/s,x=1", "/s", "inf/s"]
    {
      #expect(refusal("--rate", text).contains("--rate \(text)"), "\(text)")
    }
    #expect(try plan(["--rate-reserve", "50"]).configuration.budget.reserve == 50)
    #expect(refusal("--rate-reserve", "-1").contains("--rate-reserve"))
    #expect(refusal("--rate-reserve", "inf").contains("--rate-reserve"))
  }

  @Test("15-Limits: budgets of a walk are options, and what is no size or time is refused by name")
  func budgets() throws {
    let limits = try plan(["--max-bytes", "20M", "--max-time", "2h", "--max-requests", "7"]).limits
    #expect(limits.bytes == 20 << 20 && limits.duration == .seconds(7200) && limits.requests == 7)
    #expect(try plan(["--max-bytes", "64KiB"]).limits.bytes == 64 << 10)
    #expect(try plan(["--max-bytes", "3000000000"]).limits.bytes == 3_000_000_000)
    #expect(try plan(["--max-bytes", "9000000000000000000k"]).limits.bytes == Int.max)
    #expect(refusal("--max-bytes", "0").contains("--max-bytes"))
    #expect(refusal("--max-bytes", "many").contains("--max-bytes"))
    #expect(refusal("--max-time", "x").contains("--max-time"))
    #expect(refusal("--max-requests", "0").contains("--max-requests"))
    // Longer than a clock can sleep.
    let timeouts = try plan(["--limit", "connectTimeout=\(Int.max)"]).configuration.timeouts
    #expect(timeouts.connect == .seconds(Int32.max))
  }

  @Test(
    "15-Guard, 15-Proxy: addresses and proxies are options, and a proxy's password is not repeated")
  func routes() throws {
    #expect(try plan(["--addresses", "any"]).configuration.addresses == .unrestricted)
    #expect(try plan(["--addresses", "public"]).configuration.addresses == .publicOnly)
    let networks = try plan(["--addresses", "allow:10.0.0.0/8,fd12::/16"]).configuration.addresses
    #expect(networks.networks.map(\.description) == ["10.0.0.0/8", "fd12:0:0:0:0:0:0:0/16"])
    #expect(refusal("--addresses", "private").contains("--addresses private"))
    #expect(refusal("--addresses", "allow:10.0.0.0/99").contains("10.0.0.0/99"))
    #expect(
      try plan(["--proxy", "http://u:hunter22@p.test:3128"]).transport.configuration.proxy
        .description
        == "http://p.test:3128")
    #expect(!refusal("--proxy", "ftp://u:hunter22@p.test").contains("hunter22"))
    #expect(refusal("--cert-key", "/dev/null").contains("--cert"))
    #expect(refusal("--cert", "/no/such/file").contains("--cert"))
  }

  @Test("15-Rate: a plan reckons with a limit of one's own and with what is left for others")
  func forecasts() throws {
    var forecast = ExportForecast(
      request: "", items: 10, bytes: 100, duration: .seconds(1), hasNextPage: true, total: nil,
      pageSize: .init(asked: nil, said: nil, came: 10, most: nil, isClamped: false))
    forecast.requests = 101
    #expect(forecast.time == .seconds(101))
    forecast.rate = .init(6, per: .seconds(60))
    #expect(forecast.time == .seconds(1001))
    forecast.rate = nil
    forecast.budget = RateLimitBudget(
      [
        .init("X-RateLimit-Limit")!: "60", .init("X-RateLimit-Remaining")!: "50",
        .init("X-RateLimit-Reset")!: "30",
      ], now: 0)
    #expect(forecast.time == .seconds(131))
    forecast.reserve = 40
    #expect(try #require(forecast.time) > .seconds(131))
  }

  @Test("15-Limits: an export that has sent its requests stops, says so, and can be resumed")
  func stops() async throws {
    let server = try FaultServer { request in
      let page = request.target.split(separator: "=").last.flatMap { Int($0) } ?? 1
      let next = page < 5 ? ",\"next\":\(page + 1)" : ""
      return [
        .respond(
          "{\"items\":[\(page)]\(next)}", headers: [("Content-Type", "application/json")])
      ]
    }
    defer { server.stop() }
    let options = [
      "export", server.url("/"), "--next", "body:/next", "--send", "query:p", "--items", "/items",
    ]
    let ending = try await Command.quire(options + ["--max-requests", "2"])
    #expect(ending.status == 1 && ending.lines == ["1", "2"], "\(ending.errors)")
    #expect(ending.errors.contains("--max-requests"))
    let position = try #require(ending.resumption)
    let rest = try await Command.quire(options + ["--from", position.replacing("'", with: "")])
    #expect(rest.status == 0 && rest.lines == ["3", "4", "5"], "\(rest.errors)")
  }

  @Test(
    "15-Guard, 15-Proxy: the environment leads no request around a proxy that was named",
    arguments: ["no_proxy", "NO_PROXY"], ["inside.test", "*"])
  func environment(variable: String, hosts: String) async throws {
    let proxy = try FaultServer { _ in
      [.respond("[1]", headers: [("Content-Type", "application/json")])]
    }
    defer { proxy.stop() }
    let ending = try await Command.quire(
      [
        "export", "http://inside.test/items", "--preset", "github", "--allow-plain-http",
        "--patience", "0", "--proxy", "http://127.0.0.1:\(proxy.port)",
      ], environment: [variable: hosts])
    #expect(ending.status == 0 && ending.lines == ["1"], "\(ending.errors)")
    #expect(proxy.requests.map(\.target) == ["http://inside.test/items"])
  }

  @Test("15-Guard: an export is not led to another port of this machine, unless that is allowed")
  func guarded() async throws {
    let inside = try FaultServer { _ in
      [.respond("[1]", headers: [("Content-Type", "application/json")])]
    }
    let server = try FaultServer { _ in
      [.write("HTTP/1.1 302 Found\r\nLocation: \(inside.url("/"))\r\nContent-Length: 0\r\n\r\n")]
    }
    defer {
      server.stop()
      inside.stop()
    }
    let options = ["export", server.url("/"), "--preset", "github"]
    let refused = try await Command.quire(options)
    #expect(refused.status == 1 && refused.errors.contains("refusedAddress"), "\(refused.errors)")
    #expect(inside.connections == 0)
    let allowed = try await Command.quire(options + ["--addresses", "allow:127.0.0.0/8"])
    #expect(allowed.status == 0 && allowed.lines == ["1"], "\(allowed.errors)")
  }
}
