import QuireCore
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

@Suite("Retries, as transcripts")
struct RetryMachineTests {
  private func failure(
    _ cure: RetryMachine.Cure = .retries, throttling: Bool = false, after: Duration? = nil,
    refused: Bool = false
  ) -> RetryMachine.Failure {
    RetryMachine.Failure(
      error: PageError(.status, "The server answered 503."), cure: cure, isThrottling: throttling,
      retryAfter: after, wasRefused: refused)
  }

  /// The delay of a retry; nil where the machine gives up.
  private func delay(_ action: RetryMachine.Action) -> Duration? {
    if case .retry(let delay) = action { delay } else { nil }
  }

  @Test("H-5: three attempts, each wait a random part of a doubling longest one")
  func fullJitter() {
    var machine = RetryMachine(policy: RetryPolicy(), isRepeatable: true)
    #expect(delay(machine.failed(failure(), wireRequests: 1, random: 0.5)) == .milliseconds(25))
    #expect(delay(machine.failed(failure(), wireRequests: 2, random: 0.5)) == .milliseconds(50))
    #expect(delay(machine.failed(failure(), wireRequests: 3, random: 0.5)) == nil)
  }

  @Test("H-5: attempts are counted on the wire, so a silent replay uses one up")
  func wireAttempts() {
    var machine = RetryMachine(policy: RetryPolicy(), isRepeatable: true)
    #expect(delay(machine.failed(failure(), wireRequests: 2, random: 0)) == .zero)
    guard case .fail(let error) = machine.failed(failure(), wireRequests: 3, random: 0) else {
      Issue.record("a fourth request would have gone out")
      return
    }
    #expect(error.attempts == 3)
  }

  @Test("The longest wait doubles up to its maximum, and throttling starts higher")
  func longestDelays() {
    let policy = RetryPolicy()
    #expect(policy.longestDelay(afterFailures: 1, throttled: false) == .milliseconds(50))
    #expect(policy.longestDelay(afterFailures: 4, throttled: false) == .milliseconds(400))
    #expect(policy.longestDelay(afterFailures: 1, throttled: true) == .seconds(1))
    for failures in [10, 31, 32, 64, Int.max] {
      #expect(policy.longestDelay(afterFailures: failures, throttled: true) == .seconds(20))
    }
  }

  @Test("12-K3: with patience, the waits that a server asks for cost no attempt")
  func pauses() {
    var policy = RetryPolicy(attempts: 2)
    policy.patience = .seconds(60)
    var machine = RetryMachine(policy: policy, isRepeatable: true)
    let short = failure(throttling: true, after: .seconds(10))
    for number in 1...6 {
      let action = machine.failed(
        short, wireRequests: number, random: 0, now: .seconds(10 * number))
      #expect(delay(action) == .seconds(10), "\(number)")
    }
    #expect(machine.requestsLeft(afterWireRequests: 6) == 2)
    guard
      case .fail(let error) = machine.failed(
        short, wireRequests: 7, random: 0, now: .seconds(70))
    else {
      Issue.record("the patience was over")
      return
    }
    #expect(error.attempts == 7 && error.message.contains("patience"))
    var one = RetryMachine(policy: policy, isRepeatable: true)
    #expect(
      delay(one.failed(failure(throttling: true, after: .seconds(90)), wireRequests: 1, random: 0))
        == .seconds(90))
    // Other failures are attempts as before.
    #expect(delay(one.failed(failure(), wireRequests: 2, random: 0)) == .zero)
    #expect(delay(one.failed(failure(), wireRequests: 3, random: 0)) == nil)
    var post = RetryMachine(policy: policy, isRepeatable: false)
    #expect(delay(post.failed(short, wireRequests: 1, random: 0)) == nil)
  }

  @Test("12-K3: a wait of zero is an attempt with the usual delay, and polling by it has one, too")
  func zeroWait() {
    let busy = failure(throttling: true, after: .zero)
    var usual = RetryMachine(policy: RetryPolicy(), isRepeatable: true)
    #expect(delay(usual.failed(busy, wireRequests: 1, random: 0.5)) == .milliseconds(500))
    #expect(delay(usual.failed(busy, wireRequests: 2, random: 0.5)) == .seconds(1))
    #expect(delay(usual.failed(busy, wireRequests: 3, random: 0.5)) == nil)
    var machine = RetryMachine(policy: RetryPolicy(), isRepeatable: true)
    var pending = failure(throttling: true, after: .zero)
    pending.isPending = true
    #expect(delay(machine.failed(pending, wireRequests: 1, random: 0)) == .seconds(1))
    #expect(delay(machine.failed(pending, wireRequests: 2, random: 0)) == .seconds(2))
  }

  @Test(
    "12-K3: with patience, a server that throttles without a wait is asked again later and later",
    arguments: [nil, .zero] as [Duration?])
  func unstatedWait(asked: Duration?) {
    var policy = RetryPolicy(attempts: 2)
    policy.patience = .seconds(60)
    var machine = RetryMachine(policy: policy, isRepeatable: true)
    let busy = failure(throttling: true, after: asked)
    for (number, wait) in [1, 2, 4, 8, 16, 20].enumerated() {
      let action = machine.failed(busy, wireRequests: number + 1, random: number == 0 ? 0 : 1)
      #expect(delay(action) == (number == 0 ? .milliseconds(500) : .seconds(wait)))
    }
    let action = machine.failed(busy, wireRequests: 7, random: 1, now: .seconds(41))
    guard case .fail(let error) = action else {
      Issue.record("the patience was over")
      return
    }
    #expect(error.attempts == 7 && error.message.contains("It refused for longer than"))
    #expect(machine.requestsLeft(afterWireRequests: 6) == 2)
  }

  @Test("H-5: Retry-After is waited for exactly, and one beyond the cap throws throttled")
  func retryAfter() {
    var machine = RetryMachine(policy: RetryPolicy(attempts: 9), isRepeatable: true)
    let short = failure(throttling: true, after: .seconds(2))
    #expect(delay(machine.failed(short, wireRequests: 1, random: 0)) == .seconds(2))
    let long = failure(throttling: true, after: .seconds(901))
    guard case .fail(let error) = machine.failed(long, wireRequests: 2, random: 0) else {
      Issue.record("a wait of 901 s is longer than allowed")
      return
    }
    #expect(error.code == .throttled)
  }

  @Test("H-5: a request that may have had an effect is repeated only if the server refused it")
  func unsafeMethods() {
    var machine = RetryMachine(policy: RetryPolicy(), isRepeatable: false)
    #expect(delay(machine.failed(failure(), wireRequests: 1, random: 0)) == nil)
    machine = RetryMachine(policy: RetryPolicy(), isRepeatable: false)
    #expect(delay(machine.failed(failure(refused: true), wireRequests: 1, random: 0)) == .zero)
  }

  @Test("A confused server gets one more chance, a wrong certificate none")
  func cures() {
    var machine = RetryMachine(policy: RetryPolicy(attempts: 9), isRepeatable: true)
    #expect(delay(machine.failed(failure(.oneRetry), wireRequests: 1, random: 0)) == .zero)
    #expect(delay(machine.failed(failure(.oneRetry), wireRequests: 2, random: 0)) == nil)
    machine = RetryMachine(policy: RetryPolicy(attempts: 9), isRepeatable: true)
    #expect(delay(machine.failed(failure(.none), wireRequests: 1, random: 0)) == nil)
    #expect(PageError.Code.tls.cure == .none)
    #expect(PageError.Code.limitExceeded.cure == .none)
    #expect(PageError.Code.truncated.cure == .retries)
  }
}
