import QuireCore
public import QuirePagination

/// The limits that all walks of a client share, for each host and credential and in total.
///
/// ```swift
/// configuration.budget.rate = .init(100, per: .seconds(60))
/// configuration.budget.reserve = 500          // of the server's own allowance, for other programs
/// ```
/// Limits that servers state in their answers apply in addition, without any setting: a request
/// that would exceed one waits for the next window. A wait longer than
/// `RetryPolicy.maximumRetryAfter` throws `throttled` before anything is sent.
///
/// Of the waiting requests, those for pages that a consumer waits for go first, then look-ahead,
/// then pages read on a guess. Walks take turns, and every ninth request is one of the least
/// urgent.
public struct RequestBudget: Hashable, Sendable {
  /// A number of requests, or points, per period.
  public struct Rate: Hashable, Sendable {
    /// The number of requests per period; at least a billionth.
    public var count: Double
    /// The length of the period.
    public var period: Duration
    /// The number of requests that may go at once after a rest. Default 1, which spaces requests
    /// evenly and never exceeds `count` in a period.
    public var burst: Double

    /// Creates a rate. Values below the minimum are raised to it.
    public init(_ count: Double, per period: Duration, burst: Double = 1) {
      self.count = count.isFinite ? max(1e-9, count) : 1e9
      self.period = max(.zero, period)
      self.burst = burst.isFinite ? max(1, burst) : 1e9
    }

    /// Returns the time for a number of requests. At most a century, because numbers of a server
    /// could overflow.
    package func time(for count: Double) -> Duration {
      Duration.wait(seconds: period / .seconds(1) * count / self.count) ?? .zero
    }
  }

  /// The paths in an answer's body to the cost of its request and to the allowance, for APIs that
  /// count points.
  public struct BodyAllowance: Hashable, Sendable {
    /// The path to the cost of the request. Default: none.
    public var cost: PagePath?
    /// The path to the remaining points. Default: none; only `cost` is read then.
    public var remaining: PagePath?
    /// The path to the size of a full window, or of a full bucket. Default: none.
    public var limit: PagePath?
    /// The path to the beginning of the next window, a date or a number of seconds. Default: none.
    public var reset: PagePath?
    /// The path to the number of points that return per second, for APIs without windows. Default:
    /// none.
    public var restoreRate: PagePath?

    /// Creates paths into an answer's document; any may be nil.
    public init(
      cost: PagePath? = nil, remaining: PagePath? = nil, limit: PagePath? = nil,
      reset: PagePath? = nil, restoreRate: PagePath? = nil
    ) {
      self.cost = cost
      self.remaining = remaining
      self.limit = limit
      self.reset = reset
      self.restoreRate = restoreRate
    }

    /// The paths of GitHub's GraphQL API, for queries that ask for
    /// `rateLimit { cost limit remaining resetAt }`.
    public static let gitHubGraphQL = BodyAllowance(
      cost: "/data/rateLimit/cost", remaining: "/data/rateLimit/remaining",
      limit: "/data/rateLimit/limit", reset: "/data/rateLimit/resetAt")
    /// The paths of Shopify's GraphQL API.
    public static let shopifyGraphQL = BodyAllowance(
      cost: "/extensions/cost/actualQueryCost",
      remaining: "/extensions/cost/throttleStatus/currentlyAvailable",
      limit: "/extensions/cost/throttleStatus/maximumAvailable",
      restoreRate: "/extensions/cost/throttleStatus/restoreRate")
  }

  /// The client's own rate for each host and credential. Default: none.
  public var rate: Rate?
  /// The cost of a request, in units of the rate and of the server's allowance. Default 1. If
  /// `body` has a cost, this is the cost of the first request only; each later one is expected to
  /// cost as much as the one before.
  public var cost = 1.0
  /// The part of each server window that is left to other programs with the same credential. A
  /// window without more than that still serves one request. Default 0.
  public var reserve = 0.0
  /// The paths to costs and allowances in bodies. Default: none.
  public var body: BodyAllowance?
  /// The maximum number of concurrent requests to one host. Default: the number of the transport's
  /// connections; 32 until it states that number.
  public var requestsPerHost: Int?
  /// The maximum number of concurrent requests in total. Default: no other limit than
  /// `requestsPerHost`.
  public var requestsTotal: Int?
  /// The bytes of bodies being read above which no request is begun. Of a page whose items are
  /// delivered as they arrive, the bytes up to the first items count. Default 256 MiB.
  public var bytes = 256 << 20
  /// Whether limits that servers state are obeyed before they refuse. Default true.
  public var heedsServer = true

  /// Creates a budget with a rate, and the defaults otherwise.
  public init(rate: Rate? = nil) { self.rate = rate }
}

extension Listing {
  /// Notes the cost and the allowance that a body states, by the paths of the client's budget.
  func learn(from document: any PageDocument, _ grant: RateMachine.Grant?) {
    let budget = client.configuration.budget
    guard let body = budget.body else { return }
    func text(_ path: PagePath?) -> String? {
      guard let path, let value = try? document.value(at: path) else { return nil }
      if case .number(let text) = value { return text }
      return value.string
    }
    func number(_ path: PagePath?) -> Double? {
      text(path).flatMap { Double(amount: $0) }
    }
    let cost = number(body.cost)
    var allowance = ServerAllowance()
    if let remaining = number(body.remaining) {
      var window = ServerAllowance.Window(
        name: "body", limit: number(body.limit), remaining: remaining,
        reset: text(body.reset).flatMap {
          ThrottleSignal.duration($0, now: client.environment.now())
        })
      if let rate = number(body.restoreRate), rate > 0 {
        // A bucket that fills continuously: the next request can go once its tokens have returned.
        let needed = max(cost ?? budget.cost, 1) + budget.reserve
        window.limit = max(needed, remaining)
        window.reset = remaining < needed ? .wait(seconds: (needed - remaining) / rate) : nil
      }
      allowance.windows = [window]
    }
    client.budget.learn(allowance, cost: cost, lane(to: home), grant)
  }
}
