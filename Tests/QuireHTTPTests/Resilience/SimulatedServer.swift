import HTTPTypes
import QuireCore
import QuireTesting
import Synchronization

// Its other home is a benchmark, which has that module's part of it in its own.
#if canImport(TestSupport)
  import TestSupport
#endif

@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

/// A server in virtual time: endless listings of one item a page, at a latency, with a limit that it
/// states in the fields of one family, and hours in which it is away.
final class SimulatedServer: HTTPTransport {
  /// How it states its limit.
  enum Family: String, CaseIterable, Sendable {
    case retryAfter, draft, draftSeveral, draftDictionary, draft7, draft7Policy, epoch, epochDate
    case milliseconds, delta, floored, isoDate, goDuration, anthropic, bigCommerce, resetAfter,
      kong, used
    case hubSpot, crossref, amazon
  }

  struct Seen {
    var requests = 0
    var refused = 0
    var inFlight = 0
    var mostInFlight = 0
    var paths: [String] = []
    var used = 0
    var window = -1
  }

  let clock: ManualClock
  private let family: Family?
  private let limit: Int
  private let window: Double
  private let latency: Duration
  private let pages: Int
  private let away: @Sendable (Duration) -> Bool
  private let atOnce: Int?
  let seen = Mutex(Seen())

  static let epoch = 1_700_000_000.0

  init(
    _ clock: ManualClock, family: Family? = nil, limit: Int = 50, window: Double = 10,
    latency: Duration = .milliseconds(20), pages: Int = 10, atOnce: Int? = nil,
    away: @escaping @Sendable (Duration) -> Bool = { _ in false }
  ) {
    self.clock = clock
    self.family = family
    self.limit = limit
    self.window = window
    self.latency = latency
    self.pages = pages
    self.atOnce = atOnce
    self.away = away
  }

  var seconds: Double { clock.now.offset / .seconds(1) }

  func send(_ request: TransportRequest) async throws -> TransportResponse {
    let path = request.head.path ?? ""
    seen.withLock {
      $0.requests += 1
      $0.inFlight += 1
      $0.mostInFlight = max($0.mostInFlight, $0.inFlight)
      $0.paths.append(path)
    }
    defer { seen.withLock { $0.inFlight -= 1 } }
    if away(clock.now.offset) {
      try await clock.sleep(for: latency)
      throw PageError(.connectFailed, "Nobody listens.")
    }
    let (isRefused, left, reset) = count()
    try await clock.sleep(for: latency)
    var head = HTTPResponse(status: isRefused ? .tooManyRequests : .ok)
    head.headerFields[.contentType] = "application/json"
    for (name, value) in fields(isRefused, left: left, reset: reset) {
      if let name = HTTPField.Name(name) { head.headerFields[name] = value }
    }
    let page = path.split(separator: "=").last.flatMap { Int($0) } ?? 1
    let more = page < pages ? #","next":\#(page + 1)"# : ""
    let body = Array(#"{"items":[\#(page)]\#(more)}"#.utf8)
    let slices = SliceSource([body])
    let atOnce = atOnce
    return TransportResponse(
      head: head,
      body: TransportBody(
        next: { slices.next() },
        metrics: {
          var metrics = TransferMetrics(wireBytes: body.count)
          metrics.requestsAtOnce = atOnce
          return metrics
        }))
  }

  /// Counts a request: whether it is too much, what is left, and in how many seconds there is more.
  private func count() -> (Bool, Int, Double) {
    let now = seconds
    let index = Int(now / window)
    let reset = Double(index + 1) * window - now
    return seen.withLock { seen in
      if seen.window != index { (seen.window, seen.used) = (index, 0) }
      seen.used += 1
      guard family != nil, seen.used > limit else { return (false, limit - seen.used, reset) }
      seen.refused += 1
      return (true, 0, reset)
    }
  }

  private func fields(_ isRefused: Bool, left: Int, reset: Double) -> [(String, String)] {
    let now = Self.epoch + seconds
    let up = Int(reset.rounded(.up))
    let end = now + reset
    let retry = isRefused ? [("Retry-After", "\(up)")] : []
    switch family {
    case nil: return []
    case .retryAfter: return left == 0 || isRefused ? [("Retry-After", "\(up)")] : []
    case .draft:
      return [
        ("RateLimit-Policy", #""default";q=\#(limit);w=\#(Int(window))"#),
        ("RateLimit", #""default";r=\#(left);t=\#(up)"#),
      ]
    case .draftSeveral:
      return [
        (
          "RateLimit-Policy",
          #""a,b";q=\#(limit);w=\#(Int(window)), "day";q=1000000;w=86400, "bytes";q=5;qu="content-bytes";w=1"#
        ), ("RateLimit", #""a,b";r=\#(left);t=\#(up), "day";r=99999;t=4000"#),
      ]
    case .draftDictionary:
      return [("RateLimit", "limit=\(limit), remaining=\(left), reset=\(up)")]
    case .draft7:
      return [
        ("RateLimit-Limit", "\(limit)"), ("RateLimit-Remaining", "\(left)"),
        ("RateLimit-Reset", "\(up)"),
      ]
    case .draft7Policy:
      return [
        ("RateLimit-Limit", "\(limit), \(limit);w=\(Int(window))"),
        ("RateLimit-Remaining", "\(left)"),
        ("RateLimit-Reset", "\(up)"),
      ] + retry
    case .epoch: return named("X-RateLimit-", left, "\(Int(end.rounded(.up)))")
    case .epochDate:
      // The server's clock is an hour fast.
      return named("X-Rate-Limit-", left, "\(Int(end.rounded(.up)) + 3600)")
        + [("Date", Self.date(now + 3600))]
    case .milliseconds: return named("X-RateLimit-", left, "\(Int(end * 1000))")
    case .delta: return named("X-RateLimit-", left, "\(up)")
    case .floored: return named("X-RateLimit-", left, "\(Int(reset))") + retry
    case .isoDate: return named("X-RateLimit-", left, Self.iso(end))
    case .goDuration:
      return [
        ("x-ratelimit-limit-requests", "\(limit)"), ("x-ratelimit-remaining-requests", "\(left)"),
        ("x-ratelimit-reset-requests", "\(Int(reset * 1000))ms"),
        ("x-ratelimit-limit-tokens", "150000"), ("x-ratelimit-remaining-tokens", "3"),
        ("x-ratelimit-reset-tokens", "6m0s"),
      ]
    case .anthropic:
      return [
        ("anthropic-ratelimit-requests-limit", "\(limit)"),
        ("anthropic-ratelimit-requests-remaining", "\(left)"),
        ("anthropic-ratelimit-requests-reset", Self.iso(end)),
      ] + retry
    case .bigCommerce:
      return [
        ("X-Rate-Limit-Requests-Left", "\(left)"), ("X-Rate-Limit-Requests-Quota", "\(limit)"),
        ("X-Rate-Limit-Time-Reset-Ms", "\(Int((reset * 1000).rounded(.up)))"),
        ("X-Rate-Limit-Time-Window-Ms", "\(Int(window * 1000))"),
      ]
    case .resetAfter:
      return [
        ("X-RateLimit-Limit", "\(limit)"), ("X-RateLimit-Remaining", "\(left)"),
        ("X-RateLimit-Reset", "\(end)"), ("X-RateLimit-Reset-After", "\(reset)"),
        ("X-RateLimit-Bucket", "abcd1234"),
      ]
    case .kong:
      return [
        ("X-RateLimit-Limit-Minute", "100000"), ("X-RateLimit-Remaining-Minute", "99000"),
        ("RateLimit-Limit", "\(limit)"), ("RateLimit-Remaining", "\(left)"),
        ("RateLimit-Reset", "\(up)"),
      ]
    case .used:
      return [
        ("X-Ratelimit-Used", "\(limit - left)"), ("X-Ratelimit-Remaining", "\(left).0"),
        ("X-Ratelimit-Reset", "\(up)"),
      ]
    case .hubSpot:
      return [
        ("X-HubSpot-RateLimit-Max", "\(limit)"), ("X-HubSpot-RateLimit-Remaining", "\(left)"),
        ("X-HubSpot-RateLimit-Interval-Milliseconds", "\(Int(window * 1000))"),
        ("X-HubSpot-RateLimit-Daily", "250000"), ("X-HubSpot-RateLimit-Daily-Remaining", "249000"),
      ] + retry
    case .crossref:
      return [
        ("X-Rate-Limit-Limit", "\(limit)"), ("X-Rate-Limit-Interval", "\(Int(window))s"),
      ] + retry
    case .amazon:
      return [("x-amzn-RateLimit-Limit", "\(Double(limit) / window)")] + retry
    }
  }

  private func named(_ prefix: String, _ left: Int, _ reset: String) -> [(String, String)] {
    [
      (prefix + "Limit", "\(limit)"), (prefix + "Remaining", "\(left)"), (prefix + "Reset", reset),
    ]
  }

  private static func iso(_ seconds: Double) -> String {
    Date(timeIntervalSince1970: seconds.rounded(.up)).formatted(.iso8601)
  }

  private static func date(_ seconds: Double) -> String {
    let parts = Date(timeIntervalSince1970: seconds.rounded(.down)).formatted(.iso8601)
    let months = [
      "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    let day = parts.prefix(10).split(separator: "-").compactMap { Int($0) }
    let time = parts.dropFirst(11).prefix(8)
    return "Mon, \(day[2]) \(months[day[1] - 1]) \(day[0]) \(time) GMT"
  }
}

extension SimulatedServer {
  /// A client of the server, in the server's time.
  func client(_ change: (inout PageClient.Configuration) -> Void = { _ in }) -> PageClient {
    var configuration = PageClient.Configuration()
    configuration.clock = clock
    change(&configuration)
    var environment = PageClient.Environment()
    environment.now = { [clock] in Self.epoch + clock.now.offset / .seconds(1) }
    return PageClient(transport: self, configuration: configuration).with(environment)
  }

  static let pagination = Pagination(
    next: .body("/next"), send: .query("page"), items: "/items")

  /// Runs everything that `body` starts, and lets time pass whenever nothing else is to be done, until
  /// nothing sleeps any more or `end` has come.
  static func run(
    _ clock: ManualClock, seed: UInt64, until end: Duration = .seconds(1e9),
    _ body: @escaping @Sendable () async -> Void
  ) {
    _ = Simulation.run(seed: seed, body)
    while clock.now.offset < end {
      let hasMoved = Mutex(false)
      _ = Simulation.run(seed: seed) {
        let moved = clock.advanceToNextDeadline()
        hasMoved.withLock { $0 = moved }
      }
      if !hasMoved.withLock({ $0 }) { return }
    }
  }
}

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
