/// When a failed request for a page is made again, and how long is waited before.
///
/// Waiting is exponential with full jitter: before attempt n+1 a random time between zero and
/// `min(maximumDelay, delay × 2ⁿ⁻¹)`. A server's Retry-After comes first. Only what is safe to
/// repeat is repeated: a request whose method is safe (RFC 9110, §9.2.1) or that the pagination
/// description declares a query; any other only if the server cannot have acted on it.
public struct RetryPolicy: Hashable, Sendable {
  /// Requests for one page, the first one included and silent replays counted; following a redirect
  /// is part of its attempt. Default 3.
  public var attempts: Int
  /// The first delay after a transient failure. Default 50 ms.
  public var delay: Duration
  /// The first delay after the server asked to slow down without saying for how long. Default 1 s.
  public var throttledDelay: Duration
  /// The longest delay of our own choosing. Default 20 s.
  public var maximumDelay: Duration
  /// The longest Retry-After that is waited for; a longer one throws `throttled`. Default 15 min.
  public var maximumRetryAfter: Duration
  /// How long a page is waited for that the server is still working on. Default 5 min.
  public var maximumPolling: Duration
  /// How often a page is asked for again at most that the server is still working on. Default nil: as
  /// often as `maximumPolling` has time for, but not at all where `attempts` is 1.
  public var polls: Int?

  /// A policy; every parameter has the default of its property.
  public init(
    attempts: Int = 3, delay: Duration = .milliseconds(50), throttledDelay: Duration = .seconds(1),
    maximumDelay: Duration = .seconds(20), maximumRetryAfter: Duration = .seconds(15 * 60),
    maximumPolling: Duration = .seconds(5 * 60), polls: Int? = nil
  ) {
    self.attempts = attempts
    self.delay = delay
    self.throttledDelay = throttledDelay
    self.maximumDelay = maximumDelay
    self.maximumRetryAfter = maximumRetryAfter
    self.maximumPolling = maximumPolling
    self.polls = polls
  }

  /// Every page is asked for once.
  public static let never = RetryPolicy(attempts: 1)

  /// The statuses that another attempt may cure.
  package static let retryableStatuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]

  /// The longest wait before attempt `failures + 1`; the wait itself is a random part of it.
  package func longestDelay(afterFailures failures: Int, throttled: Bool) -> Duration {
    let base = throttled ? throttledDelay : delay
    // Beyond 2³⁰ every base has long passed every sensible maximum.
    return min(maximumDelay, base * (1 << min(max(failures - 1, 0), 30)))
  }
}
