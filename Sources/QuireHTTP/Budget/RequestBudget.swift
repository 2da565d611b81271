import QuireCore
public import QuirePagination

/// What all walks of a client may take together: from each host with each credential, and in all.
///
/// ```swift
/// configuration.budget.rate = .init(100, per: .seconds(60))
/// configuration.budget.reserve = 500          // of the server's own allowance, for other programs
/// ```
/// Limits that a server states in its answers are kept beside these, without any setting: its fields are
/// read from every answer, and the request that would be one too many waits for the next window. A wait
/// beyond `RetryPolicy.maximumRetryAfter` throws `throttled` before anything is sent.
///
/// Of the requests that wait, one for a page that a consumer waits for goes first, then look-ahead, then
/// pages read on a guess; walks take turns, and every ninth request is one of those that would come last.
public struct RequestBudget: Hashable, Sendable {
  /// So many requests, or points, in a time.
  public struct Rate: Hashable, Sendable {
    /// How many; at least a billionth.
    public var count: Double
    /// In what time.
    public var period: Duration
    /// How many may come at once after a rest. Default 1: requests are evenly apart, and in no period are
    /// there more than `count`.
    public var burst: Double

    /// A rate; its numbers are raised to what can work.
    public init(_ count: Double, per period: Duration, burst: Double = 1) {
      self.count = count.isFinite ? max(1e-9, count) : 1e9
      self.period = max(.zero, period)
      self.burst = burst.isFinite ? max(1, burst) : 1e9
    }

    /// How long so many take: a century at most, for a server's numbers may make more of it than a time holds.
    package func time(for count: Double) -> Duration {
      Duration.wait(seconds: period / .seconds(1) * count / self.count) ?? .zero
    }
  }

  /// Where an answer's body says what the request cost and what is left: for APIs that count points.
  public struct BodyAllowance: Hashable, Sendable {
    /// What the request cost. Default: it is not said.
    public var cost: PagePath?
    /// What is left. Default: it is not said.
    public var remaining: PagePath?
    /// What a full window, or a full bucket, has. Default: it is not said.
    public var limit: PagePath?
    /// When the next window begins: a date, or seconds. Default: it is not said.
    public var reset: PagePath?
    /// How many points a second come back, where there are no windows. Default: it is not said.
    public var restoreRate: PagePath?

    /// Paths of an answer's document; each of them may be nil.
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

    /// GitHub's GraphQL, of a query that asks for `rateLimit { cost limit remaining resetAt }`.
    public static let gitHubGraphQL = BodyAllowance(
      cost: "/data/rateLimit/cost", remaining: "/data/rateLimit/remaining",
      limit: "/data/rateLimit/limit", reset: "/data/rateLimit/resetAt")
    /// Shopify's GraphQL.
    public static let shopifyGraphQL = BodyAllowance(
      cost: "/extensions/cost/actualQueryCost",
      remaining: "/extensions/cost/throttleStatus/currentlyAvailable",
      limit: "/extensions/cost/throttleStatus/maximumAvailable",
      restoreRate: "/extensions/cost/throttleStatus/restoreRate")
  }

  /// A limit of one's own for each host and credential. Default: none.
  public var rate: Rate?
  /// What one request costs of the rate and of what the server allows. Default 1. Where `body` has a cost,
  /// it is that of the first request; later ones are expected to cost what the one before did.
  public var cost = 1.0
  /// How much of what the server allows in a window is left for others with the same credential. Of a
  /// window that has no more than that one request is used. Default 0.
  public var reserve = 0.0
  /// Where a body tells of costs and allowances. Default: nowhere.
  public var body: BodyAllowance?
  /// Requests to one host at the same time. Default: as many as the transport has connections for; until
  /// it says how many that are, 32.
  public var requestsPerHost: Int?
  /// Requests at the same time in all. Default: as many as the transport has connections for.
  public var requestsTotal: Int?
  /// Bytes of bodies that are being read at the same time: above them no request is begun. Of a page whose
  /// items are delivered as they arrive, those up to its first items count. Default 256 MiB.
  public var bytes = 256 << 20
  /// Whether what servers say of their limits is heeded before they refuse. Default: yes.
  public var heedsServer = true

  /// No limits of one's own.
  public init(rate: Rate? = nil) { self.rate = rate }
}

extension Listing {
  /// Reads what a body says of costs and allowances, where the client's budget knows where.
  func learn(from document: any PageDocument, _ grant: RateMachine.Grant?) {
    let budget = client.configuration.budget
    guard let body = budget.body else { return }
    func text(_ path: PagePath?) -> String? {
      guard let path, let value = try? document.value(at: path) else { return nil }
      if case .number(let text) = value { return text }
      return value.string
    }
    func number(_ path: PagePath?) -> Double? {
      text(path).flatMap(Double.init).flatMap { $0.isFinite && $0 >= 0 ? $0 : nil }
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
        // A bucket that fills all the time: enough for the next request is there after so long.
        let needed = max(cost ?? budget.cost, 1) + budget.reserve
        window.limit = max(needed, remaining)
        window.reset = remaining < needed ? .wait(seconds: (needed - remaining) / rate) : nil
      }
      allowance.windows = [window]
    }
    client.budget.learn(allowance, cost: cost, lane(to: home), grant)
  }
}
