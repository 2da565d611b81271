/// The conditions under which a failed request for a page is sent again, and the delays before.
///
/// Delays are exponential with full jitter: before attempt n+1, a random time between zero and
/// `min(maximumDelay, delay × 2ⁿ⁻¹)`. A server's Retry-After takes precedence. Only safe requests
/// are repeated: those with a safe method (RFC 9110, §9.2.1), and those that the pagination
/// description declares a query; others only if the server cannot have acted on them.
///
/// Retries are on by default, unlike for other `PageSource`s, which are asked once unless
/// `Cursor.retrying(attempts:delay:)` is used: most failures of a network are transient, and a walk
/// of a thousand pages would hardly ever complete. `never` turns retries off.
///
/// An *outage* is a failure without an answer, or a gateway's answer that there is none: no
/// address, no connection, a reset or a time-out before the first byte, the statuses 502, 503 and
/// 504, and their counterparts of networks such as Cloudflare, 520 to 524 and 529. With `patience`,
/// outages are waited out without using up attempts: after one quick retry, the host is probed by
/// one request at a time, each after a random time between half and all of 1 s, 2 s, 4 s and so on
/// up to 5 min, but not before a Retry-After. Permanent failures, such as a bad certificate or a
/// 404, are not waited out.
///
/// With `patience`, pages pay for retries: ten pages for one retry. The debt is counted for each
/// host, for all walks of a client: above eight owed retries, delays become longer; above the cost
/// of two outages, failures are thrown. In the long run, there are at most 1.1 requests for each
/// page, however often the server fails.
public struct RetryPolicy: Hashable, Sendable {
  /// The maximum number of requests for one page, including the first one and silent replays.
  /// Following a redirect is part of its attempt. Default 3.
  public var attempts: Int
  /// The first delay after a transient failure. Default 50 ms.
  public var delay: Duration
  /// The first delay after the server asked to slow down without saying for how long. Default 1 s.
  public var throttledDelay: Duration
  /// The longest delay that is not the server's choice. Default 20 s.
  public var maximumDelay: Duration
  /// The longest wait that a server may ask for, by Retry-After or by the description's pacing; a
  /// longer one throws `throttled`. Default 15 min.
  public var maximumRetryAfter: Duration
  /// The maximum time to poll a page that the server is still preparing. Default 5 min.
  public var maximumPolling: Duration
  /// The maximum number of polls of such a page. Default nil: as many as `maximumPolling` allows,
  /// but none if `attempts` is 1.
  public var polls: Int?

  /// How long to wait out an outage, from its first failure on. The last probe is made at the end
  /// of this time. For as long, a page is asked for again where a server throttles, which then costs
  /// no attempt: after the wait that it asks for, or else after one that grows from
  /// `throttledDelay` to `maximumDelay`. Default zero: both are failures like any other, limited by
  /// `attempts`.
  public var patience: Duration
  /// The quota for retries to one host of all walks of a client, used if `patience` is zero. A
  /// retry costs 14 after a failure, and 5 after the server asked to slow down; a page returns the
  /// cost of its last retry, or 1. Without enough quota a failure is thrown at once, so that a
  /// failing server gets at most 1.1 requests for each page, whatever the number of walks. Default
  /// 500; nil for no limit.
  public var quota: Int? = 500
  /// Whether a failure is thrown at once if the server asks to wait before the next request. For
  /// commands that a person can give again.
  package var refusesWaits = false

  /// Creates a policy; each parameter has the default of its property.
  public init(
    attempts: Int = 3, delay: Duration = .milliseconds(50), throttledDelay: Duration = .seconds(1),
    maximumDelay: Duration = .seconds(20), maximumRetryAfter: Duration = .seconds(15 * 60),
    maximumPolling: Duration = .seconds(5 * 60), polls: Int? = nil, patience: Duration = .zero
  ) {
    self.attempts = attempts
    self.delay = delay
    self.throttledDelay = throttledDelay
    self.maximumDelay = maximumDelay
    self.maximumRetryAfter = maximumRetryAfter
    self.maximumPolling = maximumPolling
    self.patience = patience
    self.polls = polls
  }

  /// A policy of one request for each page: errors are thrown at once, without waiting for a
  /// Retry-After or polling. Asking the same walk again, or `PagedList.retry()`, makes one more
  /// request.
  public static let never = RetryPolicy(attempts: 1)

  /// A policy for unattended walks of hours, which waits out an outage for 15 min. `quire export`
  /// uses it.
  public static let export = RetryPolicy(patience: .seconds(15 * 60))

  /// The default policy, for an API that a person waits for. Three attempts take about a second,
  /// which a person accepts.
  public static let api = RetryPolicy()

  /// A policy for feeds that a schedule requests again anyway: one request for each page, without
  /// waiting. The error says for how long the server wants no further request.
  public static let feed: RetryPolicy = {
    var policy = RetryPolicy(attempts: 1, maximumRetryAfter: .zero)
    policy.quota = 100
    return policy
  }()

  /// The longest waits before the first probe and before late ones.
  package static let (firstProbe, longestProbe) = (Duration.seconds(1), Duration.seconds(5 * 60))

  /// The number of owed retries up to which delays are not longer.
  static let credit = 8

  /// The number of owed retries at which failures are thrown: the cost of two outages that last as
  /// long as the patience, plus the credit. The first ten probes take at least five minutes, and
  /// each later one at least half of the longest wait.
  var maximumDebt: Int {
    let further = min(patience / (Self.longestProbe / 2), 1_000_000)
    return Self.credit + 2 * (12 + Int(further))
  }

  /// Returns the wait before probe number `probe`, from 1 on: between half and all of the longest
  /// one, as `random` says, which is from 0..<1. Zero for no probe.
  static func wait(beforeProbe probe: Int, random: Double) -> Duration {
    guard probe > 0 else { return .zero }
    return min(longestProbe, firstProbe * (1 << min(probe - 1, 30))) * (0.5 + random / 2)
  }

  /// Returns the longest delay before attempt `failures + 1`; the actual delay is a random part of
  /// it.
  func longestDelay(afterFailures failures: Int, throttled: Bool) -> Duration {
    let base = throttled ? throttledDelay : delay
    // Limits the shift: 2³⁰ times any delay exceeds every sensible maximum.
    return min(maximumDelay, base * (1 << min(max(failures - 1, 0), 30)))
  }
}
