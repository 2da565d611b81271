import QuireCore
import QuirePagination

/// When a failed request for a page is made again, and how long is waited before.
///
/// Waiting is exponential with full jitter: before attempt n+1 a random time between zero and
/// `min(maximumDelay, delay × 2ⁿ⁻¹)`. A server's Retry-After comes first. Only what is safe to
/// repeat is repeated: a request whose method is safe (RFC 9110, §9.2.1) or that the pagination
/// description declares a query; any other only if the server cannot have acted on it.
///
/// Retries are on by default, unlike for any other `PageSource`, which is asked once unless
/// `Cursor.retrying(attempts:delay:)` says otherwise: over a network a transient failure is the usual
/// one, and a walk of a thousand pages would hardly ever come to its end. `never` turns them off.
///
/// An *outage* is a failure without an answer, or a gateway's word that there is none: no address, no
/// connection, a reset or a time-out before the first byte, 502, 503 and 504, and what networks such as
/// Cloudflare have for the same, 520 to 524 and 529. With `patience` it uses
/// up no attempts, but is waited out: one quick retry, then probes one at a time, each after a random
/// time between half of and all of 1 s, 2 s, 4 s and so on up to 5 min, and not before a Retry-After.
/// What is in the way for good, such as a certificate or a 404, is not waited for.
///
/// With `patience`, retries have to be paid for by pages: ten pages pay for one. A walk that owes more
/// than eight begins with longer waits, and one that owes more than two outages cost ends: in the long
/// run there are no more than 1.1 requests a page, however often the server is away.
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
  /// The longest Retry-After, or wait that a page asks for by the description's pacing, that is waited
  /// for; a longer one throws `throttled`. Default 15 min.
  public var maximumRetryAfter: Duration
  /// How long a page is waited for that the server is still working on. Default 5 min.
  public var maximumPolling: Duration
  /// How often a page is asked for again at most that the server is still working on. Default nil: as
  /// often as `maximumPolling` has time for, but not at all where `attempts` is 1.
  public var polls: Int?

  /// How long an outage is waited out, from its first failure on; the last probe is made when it is
  /// over. Default zero: an outage is a failure like any other, and `attempts` bounds it.
  public var patience: Duration
  /// What retries to one host may cost all walks of a client, where nothing is waited out: 14 after a
  /// failure, 5 after the server asked to slow down. A page that comes gives back what its last retry had
  /// cost, or 1. Beyond it a failure is thrown at once, so that a server that is away gets no more than 1.1
  /// requests a page, whatever the number of walks. Default 500; nil is without end.
  public var quota: Int? = 500

  /// A policy; every parameter has the default of its property.
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

  /// Every page is asked for once: its error is thrown at once, and nothing is waited for, neither a
  /// Retry-After nor a page that the server is still working on. Asking the same walk again, or
  /// `PagedList.retry()`, makes one request more.
  public static let never = RetryPolicy(attempts: 1)

  /// For unattended walks of hours: an outage is waited out for 15 min. `quire export` uses
  /// it.
  public static let export = RetryPolicy(patience: .seconds(15 * 60))

  /// For an API that a person waits for: the default. Three attempts take a second or so, as long as a
  /// person waits without wondering.
  public static let api = RetryPolicy()

  /// For feeds that a schedule asks for again anyway: every page is asked for once, nothing is waited
  /// for, and the error says how long the server wants to be left alone.
  public static let feed: RetryPolicy = {
    var policy = RetryPolicy(attempts: 1, maximumRetryAfter: .zero)
    policy.quota = 100
    return policy
  }()

  /// The first wait of a probe, and the longest.
  package static let (firstProbe, longestProbe) = (Duration.seconds(1), Duration.seconds(5 * 60))

  /// How many retries a walk may owe before it waits longer for it.
  static let credit = 8

  /// How many retries a walk may owe at all: as many as two outages take that last as long as the
  /// patience, and the credit. The first ten probes take five minutes at least, and each one behind
  /// them half of the longest wait.
  var maximumDebt: Int {
    let further = min(patience / (Self.longestProbe / 2), 1_000_000)
    return Self.credit + 2 * (12 + Int(further))
  }

  /// The longest wait before probe number `probe`, from 1 on; the wait itself is at least half of it.
  static func longestWait(beforeProbe probe: Int) -> Duration {
    min(longestProbe, firstProbe * (1 << min(max(probe - 1, 0), 30)))
  }

  /// The longest wait before attempt `failures + 1`; the wait itself is a random part of it.
  func longestDelay(afterFailures failures: Int, throttled: Bool) -> Duration {
    let base = throttled ? throttledDelay : delay
    // Beyond 2³⁰ every base has long passed every sensible maximum.
    return min(maximumDelay, base * (1 << min(max(failures - 1, 0), 30)))
  }
}

extension PageError.Code {
  /// How far another attempt helps against a failure of the wire or of the body.
  var cure: RetryMachine.Cure {
    switch self {
    case .connectFailed, .timedOut, .truncated: .retries
    case .protocolViolation, .corruptEncoding: .oneRetry
    default: .none
    }
  }
}

/// What the retries of a walk have cost that its pages have not paid for: ten pages pay for one.
struct RetryDebt: Sendable {
  private var tenths = 0

  init() {}

  /// A request was made again.
  mutating func retried() { tenths += 10 }

  /// A page came.
  mutating func paid() { tenths = max(0, tenths - 1) }

  /// How many retries are owed.
  var count: Int { tenths / 10 }
}
