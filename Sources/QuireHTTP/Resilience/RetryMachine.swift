import QuirePagination
import QuireCore

/// Decides, for one page, whether a failed attempt is followed by another, and when.
///
/// Pure: the caller measures, draws random numbers and sleeps.
struct RetryMachine {
  /// What became of one attempt.
  struct Failure: Error {
    var error: PageError
    /// Whether another attempt may cure it.
    var cure: Cure
    /// Whether the server asked to slow down.
    var isThrottling = false
    /// How long the server asked to wait.
    var retryAfter: Duration?
    /// Whether the server cannot have acted on the request.
    var wasRefused = false
    /// Whether the server is still working on it: asking again is no retry, but polling.
    var isPending = false
    /// Whether the server was away.
    var isOutage = false
  }

  /// How far another attempt can help.
  enum Cure: Hashable, Sendable {
    /// Not at all.
    case none
    /// Once: a server that is merely confused answers well the second time.
    case oneRetry
    /// As often as the policy allows.
    case retries
  }

  enum Action {
    /// Wait, then ask again.
    case retry(after: Duration)
    /// The server is away: wait, then ask again, for so long at most from now on.
    case probe(after: Duration, remaining: Duration)
    /// Give up with this error.
    case fail(PageError)
  }

  private let policy: RetryPolicy
  /// Whether the request may be sent again after the server may have acted on it.
  private let isRepeatable: Bool
  private var failures = 0
  private var polls = 0
  private var polling = Duration.zero
  /// Outages so far, and when the first began.
  private var outages = 0
  private var outageBegan = Duration.zero
  /// Requests on the wire that ended in an outage.
  private var outageRequests = 0

  init(policy: RetryPolicy, isRepeatable: Bool) {
    self.policy = policy
    self.isRepeatable = isRepeatable
  }

  /// The fetch has waited since `time` for what another one found out about a server that is away.
  mutating func waited(since time: Duration) {
    if outages == 0 { (outages, outageBegan) = (1, time) }
  }

  /// An attempt failed, after `wireRequests` requests for this page in all, not counting redirects
  /// that were followed; `random` is drawn from 0..<1, `now` is the time by any clock that goes on
  /// while the page is asked for, `debt` is how many retries no page from the host has paid for, and
  /// `probes` how often the host has been probed in vain. `pay` takes what a retry costs from the
  /// host's quota, and returns whether there was as much.
  mutating func failed(
    _ failure: Failure, wireRequests: Int, random: Double, now: Duration = .zero, debt: Int = 0,
    probes: Int = 0, pay: (Int) -> Bool = { _ in true }
  ) -> Action {
    if failure.isPending { return poll(failure, wireRequests: wireRequests) }
    if failure.isOutage, policy.patience > .zero, isRepeatable || failure.wasRefused {
      return waitOut(
        failure, wireRequests: wireRequests, random: random, now: now, debt: debt, probes: probes)
    }
    failures += 1
    let wireRequests = wireRequests - polls - outageRequests
    var error = failure.error
    error.attempts = max(wireRequests, failures)
    let isCurable =
      switch failure.cure {
      case .none: false
      case .oneRetry: failures == 1
      case .retries: true
      }
    guard isCurable else { return .fail(error) }
    guard isRepeatable || failure.wasRefused else {
      error.message +=
        " Nothing was tried again, because the request is not safe to repeat."
      error.remedies.append(Remedy(.isQuery, ["true"], condition: "if it only asks"))
      return .fail(error)
    }
    if let wait = failure.retryAfter, wait > policy.maximumRetryAfter {
      return .fail(tooLong(wait, error))
    }
    guard max(wireRequests, failures) < policy.attempts else { return .fail(error) }
    if let bankruptcy = bankruptcy(error, debt: debt) { return .fail(bankruptcy) }
    guard pay(failure.isThrottling ? RetryQuota.throttling : RetryQuota.failure) else {
      error.message += " It was not asked again: the retries to this host are used up for now."
      error.remedies.append(Remedy(.init("RetryPolicy.quota"), condition: "to try more often"))
      return .fail(error)
    }
    if let wait = failure.retryAfter { return .retry(after: wait) }
    let longest = policy.longestDelay(afterFailures: failures, throttled: failure.isThrottling)
    let owed =
      policy.patience > .zero ? Self.wait(beforeProbe: debt - RetryPolicy.credit, random) : .zero
    return .retry(after: max(longest * random, owed))
  }

  /// The server is away: waits until it answers, or the patience is over.
  private mutating func waitOut(
    _ failure: Failure, wireRequests: Int, random: Double, now: Duration, debt: Int, probes: Int
  ) -> Action {
    if outages == 0 { outageBegan = now }
    outages += 1
    outageRequests = max(wireRequests - polls - failures, outages)
    var error = failure.error
    error.attempts = max(wireRequests, outages)
    if let wait = failure.retryAfter, wait > policy.maximumRetryAfter {
      return .fail(tooLong(wait, error))
    }
    let remaining = policy.patience - (now - outageBegan)
    guard remaining > .zero else {
      error.message +=
        " It was away for longer than the \(policy.patience.words) of patience. Resume later from the checkpoint."
      error.remedies.append(Remedy(.init("RetryPolicy.patience"), condition: "to wait longer"))
      return .fail(error)
    }
    if let bankruptcy = bankruptcy(error, debt: debt) { return .fail(bankruptcy) }
    let probe = max(outages - 1, debt - RetryPolicy.credit, probes)
    let own = probe > 0 ? Self.wait(beforeProbe: probe, random) : policy.delay * random
    let wait = max(min(own, remaining), failure.retryAfter ?? .zero)
    return .probe(after: wait, remaining: remaining)
  }

  private static func wait(beforeProbe probe: Int, _ random: Double) -> Duration {
    probe > 0 ? RetryPolicy.longestWait(beforeProbe: probe) * (0.5 + random / 2) : .zero
  }

  /// The error where a walk has been repeating more than its pages can pay for.
  private func bankruptcy(_ error: PageError, debt: Int) -> PageError? {
    guard policy.patience > .zero, debt >= policy.maximumDebt else { return nil }
    var error = error
    error.message +=
      " More than one request in ten had to be made again, \(debt) too many by now. Resume later from "
      + "the checkpoint."
    return error
  }

  private func tooLong(_ wait: Duration, _ error: PageError) -> PageError {
    var error = error
    error.code = .throttled
    error.message +=
      " The server asks to wait \(wait.words), longer than \(policy.maximumRetryAfter.words). Resume later "
      + "from the checkpoint."
    error.remedies.append(.longerRetryAfter)
    return error
  }

  /// Requests that the next attempt may put on the wire, silent replays included, after `wireRequests`
  /// of them.
  func requestsLeft(afterWireRequests wireRequests: Int) -> Int {
    max(1, policy.attempts - max(wireRequests - polls, failures))
  }

  /// The server is still working: asks again as often, and for as long, as the policy allows.
  private mutating func poll(_ failure: Failure, wireRequests: Int) -> Action {
    let wait =
      failure.retryAfter ?? policy.longestDelay(afterFailures: polls + 1, throttled: true)
    guard let reason = reasonAgainstPolling(waiting: wait) else {
      polls += 1
      polling += wait
      return .retry(after: wait)
    }
    var error = failure.error
    error.attempts = max(wireRequests, polls + 1)
    error.message += " " + reason.message
    error.remedies.append(reason.remedy)
    return .fail(error)
  }

  /// Why the page is not asked for again; nil when it is.
  private func reasonAgainstPolling(
    waiting wait: Duration
  ) -> (message: String, remedy: Remedy)? {
    if polls >= policy.polls ?? (policy.attempts > 1 ? .max : 0) {
      return (
        polls == 0
          ? "It was asked for once, as often as is allowed."
          : "It was asked for \(polls + 1) times, as often as is allowed.",
        Remedy(.init("RetryPolicy.polls"), condition: "to ask again")
      )
    }
    if wait > policy.maximumRetryAfter {
      return (
        "The server asks to wait \(wait.words), longer than \(policy.maximumRetryAfter.words).",
        .longerRetryAfter
      )
    }
    guard polling + wait > policy.maximumPolling else { return nil }
    return (
      "It was asked for \(polling.words).",
      Remedy(.init("RetryPolicy.maximumPolling"), condition: "to wait longer")
    )
  }
}

extension Remedy {
  /// A remedy by waiting for as long as the server asks.
  static let longerRetryAfter = Remedy(
    .init("RetryPolicy.maximumRetryAfter"), condition: "to wait for that long")
}
