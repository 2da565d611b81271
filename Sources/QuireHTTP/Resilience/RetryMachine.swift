package import QuireCore

/// Decides, for one page, whether a failed attempt is followed by another, and when.
///
/// Pure: the caller measures, draws random numbers and sleeps.
package struct RetryMachine {
  /// What became of one attempt.
  package struct Failure: Error {
    package var error: PageError
    /// Whether another attempt may cure it.
    package var cure: Cure
    /// Whether the server asked to slow down.
    package var isThrottling: Bool
    /// How long the server asked to wait.
    package var retryAfter: Duration?
    /// Whether the server cannot have acted on the request.
    package var wasRefused: Bool
    /// Whether the server is still working on it: asking again is no retry, but polling.
    package var isPending: Bool

    package init(
      _ error: PageError, cure: Cure, isThrottling: Bool = false,
      retryAfter: Duration? = nil, wasRefused: Bool = false, isPending: Bool = false
    ) {
      self.error = error
      self.cure = cure
      self.isThrottling = isThrottling
      self.retryAfter = retryAfter
      self.wasRefused = wasRefused
      self.isPending = isPending
    }
  }

  /// How far another attempt can help.
  package enum Cure: Hashable, Sendable {
    /// Not at all.
    case none
    /// Once: a server that is merely confused answers well the second time.
    case oneRetry
    /// As often as the policy allows.
    case retries
  }

  package enum Action {
    /// Wait, then ask again.
    case retry(after: Duration)
    /// Give up with this error.
    case fail(PageError)
  }

  private let policy: RetryPolicy
  /// Whether the request may be sent again after the server may have acted on it.
  private let isRepeatable: Bool
  private var failures = 0
  private var polls = 0
  private var polling = Duration.zero

  package init(policy: RetryPolicy, isRepeatable: Bool) {
    self.policy = policy
    self.isRepeatable = isRepeatable
  }

  /// An attempt failed, after `wireRequests` requests for this page in all, not counting redirects
  /// that were followed; `random` is drawn from 0..<1.
  package mutating func failed(_ failure: Failure, wireRequests: Int, random: Double) -> Action {
    if failure.isPending { return poll(failure, wireRequests: wireRequests) }
    failures += 1
    let wireRequests = wireRequests - polls
    var error = failure.error
    error.attempts = max(wireRequests, failures)
    let isCurable =
      switch failure.cure {
      case .none: false
      case .oneRetry: failures == 1
      case .retries: true
      }
    guard isCurable, isRepeatable || failure.wasRefused else { return .fail(error) }
    if let wait = failure.retryAfter, wait > policy.maximumRetryAfter {
      error.code = .throttled
      error.message +=
        " The server asks to wait \(wait), longer than the \(policy.maximumRetryAfter) of "
        + "RetryPolicy.maximumRetryAfter. Resume later from the checkpoint."
      return .fail(error)
    }
    guard max(wireRequests, failures) < policy.attempts else { return .fail(error) }
    if let wait = failure.retryAfter { return .retry(after: wait) }
    let longest = policy.longestDelay(afterFailures: failures, throttled: failure.isThrottling)
    return .retry(after: longest * random)
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
    error.message += reason
    return .fail(error)
  }

  /// Why the page is not asked for again; nil when it is.
  private func reasonAgainstPolling(waiting wait: Duration) -> String? {
    if polls >= policy.polls ?? (policy.attempts > 1 ? .max : 0) {
      return polls == 0
        ? " RetryPolicy allows one request for a page, so that it was not asked for again."
        : " It was asked for \(polls + 1) times, as often as RetryPolicy.polls allows."
    }
    if wait > policy.maximumRetryAfter {
      return " The server asks to wait \(wait), longer than the \(policy.maximumRetryAfter) of "
        + "RetryPolicy.maximumRetryAfter."
    }
    guard polling + wait > policy.maximumPolling else { return nil }
    return " It was asked for \(polling); raise RetryPolicy.maximumPolling to wait longer."
  }
}
