import QuirePagination
import QuireCore

/// Decides, for one page, whether another attempt follows a failed one, and when.
///
/// Pure: the caller measures time, draws random numbers and sleeps.
struct RetryMachine {
  /// The failure of one attempt.
  struct Failure: Error {
    var error: PageError
    /// Whether another attempt may succeed.
    var cure: Cure
    /// Whether the server asked to slow down.
    var isThrottling = false
    /// The wait that the server asked for; nil if it asked for none.
    var retryAfter: Duration?
    /// Whether it is certain that the server has not acted on the request.
    var wasRefused = false
    /// Whether the server is still preparing the page, so that another request is polling rather
    /// than a retry.
    var isPending = false
    /// Whether the failure is an outage; see `RetryPolicy`.
    var isOutage = false
  }

  /// The number of further attempts that may help.
  enum Cure: Hashable, Sendable {
    /// None.
    case none
    /// One: a server that was only confused answers the second request correctly.
    case oneRetry
    /// As many as the policy allows.
    case retries
  }

  enum Action {
    /// Send the request again after a wait.
    case retry(after: Duration)
    /// Send the request again after a wait, because of an outage. `remaining` is the remaining
    /// patience from now.
    case probe(after: Duration, remaining: Duration)
    /// Give up with this error.
    case fail(PageError)
  }

  private let policy: RetryPolicy
  /// Whether the request may be sent again although the server may have acted on it.
  private let isRepeatable: Bool
  private var failures = 0
  private var polls = 0
  private var polling = Duration.zero
  /// The number of outages for this page, and the time of the first.
  private var outages = 0
  private var outageBegan = Duration.zero
  /// The number of requests that ended in an outage.
  private var outageRequests = 0
  /// The number of waits that the server asked for, of which patience pays, and when they began.
  private var pauses = 0
  private var pausesBegan = Duration.zero

  init(policy: RetryPolicy, isRepeatable: Bool) {
    self.policy = policy
    self.isRepeatable = isRepeatable
  }

  /// Notes that the fetch has waited since `time` for another one's probe of a host in an outage.
  mutating func waited(since time: Duration) {
    if outages == 0 { (outages, outageBegan) = (1, time) }
  }

  /// Returns what follows a failed attempt.
  ///
  /// `wireRequests` counts all requests for this page except followed redirects. `random` is from
  /// 0..<1, and `now` the time by a clock that runs while the page is fetched. `debt` is the number
  /// of retries that no page from the host has paid for, and `probes` the number of failed probes
  /// of the host. `pay` takes the cost of a retry from the host's quota, and returns whether enough
  /// was left.
  mutating func failed(
    _ failure: Failure, wireRequests: Int, random: Double, now: Duration = .zero, debt: Int = 0,
    probes: Int = 0, pay: (Int) -> Bool = { _ in true }
  ) -> Action {
    var failure = failure
    // A wait that is over asks for none: taken at its word, it would be free without end.
    failure.retryAfter = failure.retryAfter.flatMap { $0 > .zero ? $0 : nil }
    if failure.isPending { return poll(failure, wireRequests: wireRequests) }
    if failure.isOutage, policy.patience > .zero, isRepeatable || failure.wasRefused {
      return waitOut(
        failure, wireRequests: wireRequests, random: random, now: now, debt: debt, probes: probes)
    }
    if let action = pause(
      failure, wireRequests: wireRequests, random: random, now: now, debt: debt)
    {
      return action
    }
    failures += 1
    let wireRequests = wireRequests - polls - outageRequests - pauses
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
    if let wait = failure.retryAfter, wait > .zero, policy.refusesWaits {
      error.message += " The server asks to wait \(wait.words)."
      return .fail(error)
    }
    if let wait = failure.retryAfter, wait > policy.maximumRetryAfter {
      return .fail(tooLong(wait, error))
    }
    guard max(wireRequests, failures) < policy.attempts else { return .fail(error) }
    if let error = debtError(error, debt: debt) { return .fail(error) }
    guard pay(failure.isThrottling ? RetryQuota.throttling : RetryQuota.failure) else {
      error.message += " It was not asked again: the retries to this host are used up for now."
      error.remedies.append(Remedy(.init("RetryPolicy.quota"), condition: "to try more often"))
      return .fail(error)
    }
    if let wait = failure.retryAfter { return .retry(after: wait) }
    let longest = policy.longestDelay(afterFailures: failures, throttled: failure.isThrottling)
    let owed =
      policy.patience > .zero
      ? RetryPolicy.wait(beforeProbe: debt - RetryPolicy.credit, random: random) : .zero
    return .retry(after: max(longest * random, owed))
  }

  /// Waits out an outage until the server answers or the patience is over.
  private mutating func waitOut(
    _ failure: Failure, wireRequests: Int, random: Double, now: Duration, debt: Int, probes: Int
  ) -> Action {
    if outages == 0 { outageBegan = now }
    outages += 1
    outageRequests = max(wireRequests - polls - failures - pauses, outages)
    var error = failure.error
    error.attempts = max(wireRequests, outages)
    if let wait = failure.retryAfter, wait > policy.maximumRetryAfter {
      return .fail(tooLong(wait, error))
    }
    let remaining = policy.patience - (now - outageBegan)
    guard remaining > .zero else {
      error.addPatience(policy.patience)
      return .fail(error)
    }
    if let error = debtError(error, debt: debt) { return .fail(error) }
    let probe = max(outages - 1, debt - RetryPolicy.credit, probes)
    let own =
      probe > 0
      ? RetryPolicy.wait(beforeProbe: probe, random: random) : policy.delay * random
    let wait = max(min(own, remaining), failure.retryAfter ?? .zero)
    return .probe(after: wait, remaining: remaining)
  }

  /// Waits as long as a server asks that throttles its clients, or for growing times if it does not
  /// say how long: with patience, that costs no attempt, because others may have used up what it
  /// allows. Returns nil for any other failure.
  private mutating func pause(
    _ failure: Failure, wireRequests: Int, random: Double, now: Duration, debt: Int
  ) -> Action? {
    guard failure.isThrottling, failure.cure == .retries, policy.patience > .zero,
      isRepeatable || failure.wasRefused
    else { return nil }
    if let asked = failure.retryAfter, asked > policy.maximumRetryAfter { return nil }
    let own = policy.longestDelay(afterFailures: pauses + 1, throttled: true) * (0.5 + random / 2)
    let wait = failure.retryAfter ?? own
    if pauses == 0 { pausesBegan = now }
    var error = failure.error
    error.attempts = max(wireRequests, failures + pauses + 1)
    // The first wait is the server's, however long it is.
    guard pauses == 0 || now - pausesBegan + wait <= policy.patience else {
      error.addPatience(
        policy.patience,
        failure.retryAfter == nil ? "It refused for longer than" : "It asked for waits of more than"
      )
      return .fail(error)
    }
    if let error = debtError(error, debt: debt) { return .fail(error) }
    pauses += 1
    return .retry(after: wait)
  }

  /// Returns the error if the walks of the host have retried more than their pages pay for; nil
  /// otherwise.
  private func debtError(_ error: PageError, debt: Int) -> PageError? {
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

  /// Returns the number of requests that the next attempt may send, including silent replays, after
  /// `wireRequests` requests.
  func requestsLeft(afterWireRequests wireRequests: Int) -> Int {
    max(1, policy.attempts - max(wireRequests - polls - pauses, failures))
  }

  /// Polls a page that the server is preparing, as often and for as long as the policy allows.
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

  /// Returns why the page is not requested again; nil if it is.
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

extension PageError.Code {
  /// The number of attempts that may help against a failure of the connection or the body.
  var cure: RetryMachine.Cure {
    switch self {
    case .connectFailed, .timedOut, .truncated: .retries
    case .protocolViolation, .corruptEncoding: .oneRetry
    default: .none
    }
  }
}

extension Remedy {
  /// The remedy of waiting for as long as the server asks.
  static let longerRetryAfter = Remedy(
    .init("RetryPolicy.maximumRetryAfter"), condition: "to wait for that long")
}

extension PageError {
  /// Adds that the host took more than the patience, and what to do about it.
  mutating func addPatience(
    _ patience: Duration, _ excess: String = "It was away for longer than"
  ) {
    message += " \(excess) the \(patience.words) of patience. Resume later from the checkpoint."
    remedies.append(Remedy(.init("RetryPolicy.patience"), condition: "to wait longer"))
  }
}
