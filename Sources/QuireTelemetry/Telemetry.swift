public import CoreMetrics
import QuireCore
public import QuireHTTP
import Synchronization
public import Tracing

/// Records metrics and spans of a client's walks: counters and timers of swift-metrics, and a
/// swift-distributed-tracing span for each page.
///
/// ```swift
/// configuration.observer = Telemetry()
/// ```
/// The parent of a page's span is the consumer's current span. It also links to the span
/// `quire.walk`, which ends as soon as it has started: a walk may be abandoned at any time, and no
/// span may stay open for it.
///
/// | metric | kind | labels |
/// |---|---|---|
/// | `quire.pages` | counter | `host`, `outcome`: `page`, `end`, `cancelled` or the error's code |
/// | `quire.items`, `quire.bytes`, `quire.requests` | counters | `host` |
/// | `quire.responses` | counter | `host`, `status`: `2xx` and so on |
/// | `quire.retries` | counter | `host`, `code` of the error that is retried |
/// | `quire.page.time` | timer | `host`, `urgency`: `waited` where a consumer waited for it, else `ahead`, `guess` |
/// | `quire.page.rest` | timer | `host`: how long the walk had waited for its consumer |
/// | `quire.wait.time` | timer | `host`, `reason`, `urgency`: how long a request waited for others |
///
/// `host` is the host of the listing. The outcome `error` is an error other than `PageError`. The
/// walks that a request waited for are in the events `waited` of its page's span. Pages are counted
/// when they are read, requests when they are sent.
public struct Telemetry: ClientObserver {
  private let instruments: Instruments
  private let tracer: (any Tracer)?

  /// The span of the page that the current task reads.
  @TaskLocal private static var span: (any Span)?

  /// Creates an observer for the process's backends, or for the given ones.
  ///
  /// - Parameters:
  ///   - metrics: Creates counters and timers. Default: `MetricsSystem.factory`.
  ///   - tracer: Creates spans. Default: `InstrumentationSystem.tracer`.
  ///   - mostHosts: The most hosts with their own label; all others are `other`, because links may
  ///     lead to any number of hosts. Default 100.
  public init(
    metrics: (any MetricsFactory)? = nil, tracer: (any Tracer)? = nil, mostHosts: Int = 100
  ) {
    instruments = Instruments(metrics, mostHosts: mostHosts)
    self.tracer = tracer
  }

  private var spans: any Tracer { tracer ?? InstrumentationSystem.tracer }

  /// Starts and ends the span that the spans of the walk's pages link to.
  public func began(_ walk: ObservedWalk) -> (any Sendable)? {
    let span = spans.startAnySpan("quire.walk", ofKind: .internal)
    span.attributes["quire.walk"] = Int64(walk.number)
    span.attributes["url.full"] = walk.address
    span.attributes["server.address"] = walk.host
    span.end()
    return span.context
  }

  /// Reads the page within its span, and counts it.
  public func reading<Result: Sendable>(
    _ page: ObservedPage, _ read: () async throws -> Result
  ) async throws -> Result {
    let span = spans.startAnySpan("quire.page", ofKind: .client)
    defer {
      finish(span, page)
      count(page)
    }
    if let walk = page.walk.note as? ServiceContext {
      span.addLink(SpanLink(context: walk, attributes: [:]))
    }
    span.attributes["quire.walk"] = Int64(page.walk.number)
    span.attributes["quire.page"] = Int64(page.number)
    span.attributes["quire.urgency"] = page.urgency.rawValue
    span.attributes["server.address"] = page.walk.host
    return try await Self.$span.withValue(span) {
      try await ServiceContext.withValue(span.context) { try await read() }
    }
  }

  /// Counts requests, responses, retries and waits, and adds the last two to the page's span.
  public func happened(_ event: PageEvent, in page: ObservedPage?) {
    let host = instruments.label(for: page?.walk.host)
    switch event {
    case .request: instruments.count("quire.requests", host)
    case .replayed(let count): instruments.count("quire.requests", host, by: count)
    case .response(let status):
      instruments.count("quire.responses", host, ("status", "\(status / 100)xx"))
    case .retry(let retry):
      instruments.count("quire.retries", host, ("code", retry.code.description))
      note("retry", ["quire.code": .string(retry.code.description)])
    case .waited(let wait):
      instruments.record(
        "quire.wait.time", wait.duration, host, ("reason", wait.reason.rawValue),
        ("urgency", (page?.urgency ?? .waited).rawValue))
      note(
        "waited",
        [
          "quire.reason": .string(wait.reason.rawValue),
          "quire.seconds": .double(wait.duration / .seconds(1)),
          "quire.behind": .int64Array(wait.behind.map(Int64.init)),
        ])
    default: break
    }
  }

  private func note(_ name: String, _ attributes: SpanAttributes) {
    Self.span?.addEvent(SpanEvent(name: name, attributes: attributes))
  }

  private func finish(_ span: any Span, _ page: ObservedPage) {
    let summary = page.summary
    span.attributes["quire.items"] = Int64(summary.traffic.items)
    span.attributes["quire.bytes"] = Int64(summary.traffic.bytes)
    span.attributes["quire.requests"] = Int64(summary.traffic.requests)
    if let error = summary.error {
      span.attributes["error.type"] = Self.outcome(summary)
      if !(error is CancellationError) {
        span.setStatus(SpanStatus(code: .error, message: Self.outcome(summary)))
        span.recordError(error)
      }
    }
    span.end()
  }

  private func count(_ page: ObservedPage) {
    let (summary, host) = (page.summary, instruments.label(for: page.walk.host))
    instruments.count("quire.pages", host, ("outcome", Self.outcome(summary)))
    instruments.count("quire.items", host, by: summary.traffic.items)
    instruments.count("quire.bytes", host, by: summary.traffic.bytes)
    instruments.record(
      "quire.page.time", summary.time, host, ("urgency", page.urgency.rawValue))
    if let rest = page.rest { instruments.record("quire.page.rest", rest, host) }
  }

  private static func outcome(_ summary: ObservedPage.Summary) -> String {
    switch summary.error {
    case nil: summary.isEnd ? "end" : "page"
    case let error as PageError: error.code.description
    case is CancellationError: "cancelled"
    default: "error"
    }
  }
}

/// The counters and timers in use, each created once.
private final class Instruments: Sendable {
  typealias Label = (String, String)

  private struct State {
    var hosts: Set<String> = []
    var counters: [String: Counter] = [:]
    var timers: [String: CoreMetrics.Timer] = [:]
  }

  private let factory: (any MetricsFactory)?
  private let mostHosts: Int
  private let state = Mutex(State())

  init(_ factory: (any MetricsFactory)?, mostHosts: Int) {
    self.factory = factory
    self.mostHosts = mostHosts
  }

  /// Returns the label of a host: `none` for nil, which stands for a request outside of any page,
  /// and `other` for a host beyond `mostHosts`.
  func label(for host: String?) -> Label {
    guard let host else { return ("host", "none") }
    let isOwn = state.withLock { state in
      if state.hosts.count < mostHosts { state.hosts.insert(host) }
      return state.hosts.contains(host)
    }
    return ("host", isOwn ? host : "other")
  }

  func count(_ name: String, _ labels: Label..., by number: Int = 1) {
    guard number > 0 else { return }
    let counter = state.withLock { state in
      let key = Self.key(name, labels)
      if let known = state.counters[key] { return known }
      let new = Counter(label: name, dimensions: labels, factory: factory ?? MetricsSystem.factory)
      state.counters[key] = new
      return new
    }
    counter.increment(by: number)
  }

  func record(_ name: String, _ time: Duration, _ labels: Label...) {
    let timer = state.withLock { state in
      let key = Self.key(name, labels)
      if let known = state.timers[key] { return known }
      let new = CoreMetrics.Timer(
        label: name, dimensions: labels, factory: factory ?? MetricsSystem.factory)
      state.timers[key] = new
      return new
    }
    timer.recordNanoseconds(Int64(min(9e18, max(0, time / .nanoseconds(1)))))
  }

  private static func key(_ name: String, _ labels: [Label]) -> String {
    labels.reduce(name) { "\($0)\u{0}\($1.1)" }
  }
}
