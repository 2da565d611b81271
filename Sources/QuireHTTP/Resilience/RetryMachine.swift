package import QuireCore

/// Decides, for one page, whether a failed attempt is followed by another, and when.
///
/// Pure: the caller measures, draws random numbers and sleeps.
package struct RetryMachine {
  /// What became of one attempt.
  package struct Failure {
    package var error: PageError
    /// Whether another attempt may cure it at all.
    package var isTransient: Bool
    /// Whether the server asked to slow down.
    package var isThrottling: Bool
    /// How long the server asked to wait.
    package var retryAfter: Duration?
    /// Whether the server cannot have acted on the request.
    package var wasRefused: Bool

    package init(
      _ error: PageError, isTransient: Bool, isThrottling: Bool = false,
      retryAfter: Duration? = nil, wasRefused: Bool = false
    ) {
      self.error = error
      self.isTransient = isTransient
      self.isThrottling = isThrottling
      self.retryAfter = retryAfter
      self.wasRefused = wasRefused
    }
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

  package init(policy: RetryPolicy, isRepeatable: Bool) {
    self.policy = policy
    self.isRepeatable = isRepeatable
  }

  /// An attempt failed, after `wireRequests` requests for this page in all; `random` is drawn from 0..<1.
  package mutating func failed(_ failure: Failure, wireRequests: Int, random: Double) -> Action {
    failures += 1
    var error = failure.error
    error.attempts = max(wireRequests, failures)
    guard failure.isTransient, isRepeatable || failure.wasRefused else { return .fail(error) }
    if let wait = failure.retryAfter, wait > policy.maximumRetryAfter {
      error.code = .throttled
      error.message +=
        " The server asks to wait \(wait), longer than the \(policy.maximumRetryAfter) allowed. "
        + "Resume later from the checkpoint."
      return .fail(error)
    }
    guard max(wireRequests, failures) < policy.attempts else { return .fail(error) }
    if let wait = failure.retryAfter { return .retry(after: wait) }
    let longest = policy.longestDelay(afterFailures: failures, throttled: failure.isThrottling)
    return .retry(after: longest * random)
  }
}
