import CoreMetrics
import InMemoryTracing
import MetricsTestKit
import QuireCore
import QuireJSON
import QuirePagination
import QuireTelemetry
@testable import QuireTesting
import TestSupport
import Testing
import Tracing

@testable import QuireHTTP

@Suite("What backends see of a client's walks")
struct TelemetryTests {
  private let metrics = TestMetrics()
  private let tracer = InMemoryTracer()

  private static let pages = """
    > GET https://api.test/items
    < 200
    {"items":[1,2],"next":2}
    > GET https://api.test/items?page=2
    < 503
    > GET https://api.test/items?page=2
    < 200
    {"items":[3],"next":3}
    > GET https://api.test/items?page=3
    < 200
    {"items":[4]}
    """

  private func client(
    _ transport: any HTTPTransport, mostHosts: Int = 100,
    _ change: (inout PageClient.Configuration) -> Void = { _ in }
  ) -> PageClient {
    var configuration = PageClient.Configuration()
    configuration.observer = Telemetry(metrics: metrics, tracer: tracer, mostHosts: mostHosts)
    configuration.retry = RetryPolicy(delay: .zero)
    change(&configuration)
    return PageClient(transport: transport, configuration: configuration)
  }

  private func cursor(_ client: PageClient, _ url: String) -> Cursor<Int> {
    client.cursor(
      at: url, pagination: Pagination(next: .body("/next"), send: .query("page"), items: "/items"),
      decoder: JSONPageDecoder<Int>())
  }

  private func total(_ name: String, _ labels: [(String, String)]) -> Int64 {
    metrics.counterTotal(label: name, dimensions: labels)
  }

  @Test(
    "15-Seen: each page is counted, and has a span below its consumer's, with a link to its walk's")
  func pages() async throws {
    let transport = try ScriptedTransport(ScriptedExchange.script(Self.pages))
    let own = tracer.startSpan("own")
    let client = client(transport)
    let cursor = cursor(client, "https://api.test/items")
    let items = try await ServiceContext.withValue(own.context) {
      try await cursor.items.collected()
    }
    #expect(items == [1, 2, 3, 4])
    let host = ("host", "api.test")
    #expect(total("quire.pages", [host, ("outcome", "page")]) == 3)
    #expect(total("quire.items", [host]) == 4)
    #expect(total("quire.requests", [host]) == 4)
    #expect(total("quire.retries", [host, ("code", "status")]) == 1)
    #expect(total("quire.responses", [host, ("status", "5xx")]) == 1)
    #expect(total("quire.bytes", [host]) > 40)
    #expect(metrics.timers(label: "quire.page.time").flatMap(\.values).count == 3)
    #expect(metrics.timers(label: "quire.page.rest").flatMap(\.values).count == 2)
    // Only the test's own is open.
    #expect(tracer.activeSpans.map(\.operationName) == ["own"])
    let walks = tracer.finishedSpans.filter { $0.operationName == "quire.walk" }
    let spans = tracer.finishedSpans.filter { $0.operationName == "quire.page" }
    let walk = try #require(walks.first)
    #expect(walks.count == 1 && spans.count == 3)
    for span in spans {
      #expect(span.parentSpanID == own.spanID && span.kind == .client)
      #expect(span.links.map { $0.context.inMemorySpanContext?.spanID } == [walk.spanID])
      #expect(span.status == nil && span.errors.isEmpty)
    }
    #expect(spans[1].events.map(\.name) == ["retry"])
  }

  @Test("15-Seen: a walk that is left in the middle of a page leaves no span open")
  func leftBehind() async throws {
    let transport = try ScriptedTransport(ScriptedExchange.script(Self.pages))
    var iterator: Walk<Int>.Iterator? = cursor(client(transport), "https://api.test/items").walk()
      .makeAsyncIterator()
    _ = try await iterator?.next()
    #expect(tracer.activeSpans.isEmpty && tracer.finishedSpans.count == 2)
    iterator = nil
    // Nor does one that is cancelled.
    let gate = Gate()
    let held = cursor(client(HeldTransport(transport, gate)), "https://api.test/items?page=2")
    let task = Task { try await held.walk().next() }
    try await gate.waitForArrival()
    #expect(tracer.activeSpans.map(\.operationName) == ["quire.page"])
    task.cancel()
    _ = try? await task.value
    #expect(tracer.activeSpans.isEmpty)
    #expect(total("quire.pages", [("host", "api.test"), ("outcome", "cancelled")]) == 1)
    let cancelled = try #require(tracer.finishedSpans.last)
    #expect(
      cancelled.attributes.get("error.type") == .string("cancelled") && cancelled.errors.isEmpty)
  }

  @Test("15-Seen: a request that waited says for what, for how long, and for which walks")
  func waits() async throws {
    let clock = ManualClock()
    let gate = Gate()
    let transport = try ScriptedTransport(
      ScriptedExchange.script(
        """
        > GET https://api.test/a
        < 200
        {"items":[1]}
        > GET https://api.test/b
        < 200
        {"items":[2]}
        """))
    let client = client(HeldTransport(transport, gate)) {
      $0.clock = clock
      $0.budget.requestsPerHost = 1
    }
    let first = Task { try await cursor(client, "https://api.test/a").items.collected() }
    try await gate.waitForArrival()
    let second = Task { try await cursor(client, "https://api.test/b").items.collected() }
    while client.budget.waiting == 0 { await Task.yield() }
    clock.advance(by: .seconds(3))
    gate.openUp()
    _ = try await (first.value, second.value)
    let timers = metrics.timers(
      label: "quire.wait.time",
      dimensions: [("host", "api.test"), ("reason", "connections"), ("urgency", "waited")])
    #expect(timers.flatMap(\.values) == [3_000_000_000])
    let spans = tracer.finishedSpans.filter { $0.operationName == "quire.page" }
    // Which page ends first is up to the tasks that decode them.
    let waiting = try #require(spans.first { !$0.events.isEmpty })
    let wait = try #require(waiting.events.first)
    #expect(wait.name == "waited")
    #expect(wait.attributes.get("quire.reason") == .string("connections"))
    let ahead = try #require(spans.first { $0.events.isEmpty })
    guard case .int64(let number)? = ahead.attributes.get("quire.walk") else {
      Issue.record("The span of the page ahead has no walk.")
      return
    }
    #expect(wait.attributes.get("quire.behind") == .int64Array([number]))
    #expect(waiting.attributes.get("quire.walk") != .int64(number))
  }

  @Test("L5, L1: however many hosts there are, labels are few; no secret is in a label or a span")
  func labels() async throws {
    let exchanges = (0..<10).map {
      ScriptedExchange("https://host\($0).test/items?api_key=canary-canary", answerBody: "{}")
    }
    let client = client(ScriptedTransport(exchanges), mostHosts: 3)
    for number in 0..<10 {
      let walk = cursor(client, "https://host\(number).test/items?api_key=canary-canary").walk()
      await #expect(throws: PageError.self) { try await walk.next() }
    }
    let hosts = Set(
      metrics.counters.flatMap { $0.dimensions }.filter { $0.0 == "host" }.map(\.1))
    #expect(hosts == ["host0.test", "host1.test", "host2.test", "other"])
    let labels = metrics.counters.flatMap { $0.dimensions }.map { "\($0)" }
    let spans = tracer.finishedSpans.map { "\($0.attributes) \($0.errors) \($0.events)" }
    var shown = ""
    for span in tracer.finishedSpans { span.attributes.forEach { shown += "\($0)=\($1) " } }
    #expect(!(labels + spans + [shown]).joined().contains("canary"))
    #expect(shown.contains("https://host9.test/items"))
    #expect(tracer.finishedSpans.filter { $0.status?.code == .error }.count == 10)
  }

  @Test("15-Seen: an observer of one's own sees each page, what is read on a guess included")
  func ownObserver() async throws {
    struct Watcher: ClientObserver {
      let seen: Watched<[String]>

      func reading<Result: Sendable>(
        _ page: ObservedPage, _ read: () async throws -> Result
      ) async throws -> Result {
        defer {
          let end = page.summary.isEnd ? "end" : "\(page.summary.traffic.items)"
          seen.update { $0.append("\(page.number) \(page.urgency) \(end)") }
        }
        return try await read()
      }
    }
    let seen = Watched([String]())
    let transport = try ScriptedTransport(ScriptedExchange.script(Self.pages))
    let client = client(transport) { $0.observer = Watcher(seen: seen) }
    for try await _ in Paginator(cursor(client, "https://api.test/items")) {}
    // Whether a page was begun before its consumer came is the scheduler's affair.
    #expect(seen.value.map { $0.prefix(2) + $0.suffix(1) } == ["1 2", "2 1", "3 1"])
    #expect(metrics.counters.isEmpty && tracer.finishedSpans.isEmpty)
  }
}

/// Holds each request back until a gate is open.
private struct HeldTransport: HTTPTransport {
  let transport: ScriptedTransport
  let gate: Gate

  init(_ transport: ScriptedTransport, _ gate: Gate) {
    (self.transport, self.gate) = (transport, gate)
  }

  func send(_ request: TransportRequest) async throws -> TransportResponse {
    try await gate.wait()
    return try await transport.send(request)
  }
}
