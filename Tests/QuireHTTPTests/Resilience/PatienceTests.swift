import TestSupport
import QuireCore
import QuireTesting
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

@Suite("Patience with a server that is away", .timeLimit(.minutes(15)))
struct PatienceTests {
  private func failure(
    _ code: PageError.Code = .connectFailed, cure: RetryMachine.Cure = .retries,
    after: Duration? = nil, refused: Bool = false, outage: Bool = true
  ) -> RetryMachine.Failure {
    RetryMachine.Failure(
      error: PageError(code, "Nobody answers."), cure: cure, retryAfter: after, wasRefused: refused,
      isOutage: outage)
  }

  /// The waits of one outage that lasts for ever, and the error in the end.
  private func waits(
    _ policy: RetryPolicy, random: Double, after: Duration? = nil
  ) throws -> ([Duration], PageError) {
    var machine = RetryMachine(policy: policy, isRepeatable: true)
    var (now, waits) = (Duration.seconds(1_000), [Duration]())
    while true {
      switch machine.failed(
        failure(after: after), wireRequests: waits.count + 1, random: random, now: now,
        debt: waits.count)
      {
      case .probe(let wait, _):
        waits.append(wait)
        now += wait
      case .fail(let error): return (waits, error)
      case .retry: throw PageError(.status, "An outage is probed.")
      }
    }
  }

  @Test(
    "12-K5: after one quick retry the waits double from 1 s to 5 min, and the last ends on time")
  func schedule() throws {
    let (waits, error) = try waits(.export, random: 1)
    #expect(waits.prefix(4) == [.milliseconds(50), .seconds(1), .seconds(2), .seconds(4)])
    #expect(waits.reduce(.zero, +) == .seconds(900))
    #expect(waits.max() == .seconds(300))
    #expect(waits.count <= 12)
    #expect(error.attempts == waits.count + 1)
    #expect(error.description.contains("RetryPolicy.patience"))
    let shortest = try self.waits(RetryPolicy(patience: .seconds(24 * 3600)), random: 0).0
    #expect(shortest.prefix(3) == [.zero, .milliseconds(500), .seconds(1)])
    #expect(shortest.dropLast().allSatisfy { $0 <= .seconds(150) })
    #expect(shortest.reduce(.zero, +) == .seconds(24 * 3600))
  }

  @Test("12-K5: a patience without end waits for a century, which a clock can reckon with")
  func endless() async throws {
    let (health, clock) = (HostHealth(), ManualClock())
    #expect(health.failed(PageError(.connectFailed, "Nobody answers."), isProbe: false))
    let waiter = Task {
      try await health.waitForProbe(patience: .seconds(Int64.max), clock)
    }
    try await clock.waitForSleepers()
    clock.advance(by: .seconds(3.2e9))
    let error = await #expect(throws: PageError.self) { try await waiter.value }
    #expect(error?.code == .connectFailed)
  }

  @Test("12-K5: the library's own default is short, and RetryPolicy.export names the patient one")
  func profiles() {
    #expect(RetryPolicy().patience == .zero && RetryPolicy.never.patience == .zero)
    #expect(RetryPolicy.export.patience == .seconds(15 * 60))
    var machine = RetryMachine(policy: RetryPolicy(), isRepeatable: true)
    for attempt in 1...2 {
      guard case .retry = machine.failed(failure(), wireRequests: attempt, random: 0) else {
        Issue.record("attempt \(attempt)")
        return
      }
    }
    guard case .fail = machine.failed(failure(), wireRequests: 3, random: 0) else {
      Issue.record("a fourth attempt")
      return
    }
  }

  @Test(
    "12-K5: a probe never comes before the server's Retry-After, and one too long is not waited for"
  )
  func retryAfter() throws {
    let (waits, _) = try waits(.export, random: 0, after: .seconds(200))
    #expect(waits.allSatisfy { $0 >= .seconds(200) })
    let (none, error) = try self.waits(.export, random: 0, after: .seconds(901))
    #expect(none.isEmpty && error.code == .throttled)
  }

  @Test("12-K5: what is no outage, and what must not be repeated, is not waited for")
  func otherFailures() {
    for other in [
      failure(.tls, cure: .none, outage: false), failure(.status, cure: .none, outage: false),
    ] {
      var machine = RetryMachine(policy: .export, isRepeatable: true)
      guard case .fail = machine.failed(other, wireRequests: 1, random: 0) else {
        Issue.record("\(other.error.code)")
        return
      }
    }
    var machine = RetryMachine(policy: .export, isRepeatable: false)
    guard case .fail = machine.failed(failure(.timedOut), wireRequests: 1, random: 0) else {
      Issue.record("a request that may have had an effect")
      return
    }
    machine = RetryMachine(policy: .export, isRepeatable: false)
    guard case .probe = machine.failed(failure(refused: true), wireRequests: 1, random: 0) else {
      Issue.record("a request that never went out")
      return
    }
  }

  @Test("12-K5: an outage uses up no attempts for the failures before and after it")
  func attempts() {
    var machine = RetryMachine(policy: .export, isRepeatable: true)
    let other = failure(.truncated, outage: false)
    var requests = 0
    func next(_ failure: RetryMachine.Failure) -> RetryMachine.Action {
      requests += 1
      return machine.failed(failure, wireRequests: requests, random: 0)
    }
    guard case .retry = next(other), case .probe = next(failure()), case .probe = next(failure()),
      case .retry = next(other), case .fail(let error) = next(other)
    else {
      Issue.record("\(requests) requests")
      return
    }
    #expect(error.attempts == 3)
  }

  @Test("12-K5: however often the server is away, 1.1 requests a page are not exceeded for long")
  func sustained() {
    let seed = UInt64.random(in: .min ... .max)
    var random = SeededGenerator(seed: seed)
    for share in [0.05, 0.2, 0.5, 0.9] {
      var (debt, requests, pages, now) = (RetryDebt(), 0, 0, Duration.zero)
      walk: while pages < 2_000 {
        var machine = RetryMachine(policy: .export, isRepeatable: true)
        var attempts = 1
        while Double.random(in: 0..<1, using: &random) < share {
          guard
            case .probe(let wait, _) = machine.failed(
              failure(.status), wireRequests: attempts,
              random: Double.random(in: 0..<1, using: &random), now: now, debt: debt.count)
          else { break walk }
          if debt.count > RetryPolicy.credit { #expect(wait >= .milliseconds(500)) }
          now += wait
          attempts += 1
          debt.retried()
        }
        requests += attempts
        pages += 1
        debt.pageReceived()
        #expect(
          Double(requests) <= 1.1 * Double(pages) + Double(RetryPolicy.export.maximumDebt) + 1,
          "seed \(seed)")
      }
      if share == 0.05 { #expect(pages == 2_000, "seed \(seed)") }
    }
  }

  @Test("12-K5: a walk goes on exactly where the server comes back")
  func comesBack() async throws {
    let clock = ManualClock()
    let server = CannedServer { request, ordinal in
      switch ordinal {
      case 1: throw PageError(.connectFailed, "Nobody listens.")
      case 2: return .status(503)
      case 3: throw PageError(.timedOut, "No head came.")
      case 4: throw PageError(.truncated, "It closed the connection.")
      case 0: return .json("[1]", ["Link": "</2>; rel=\"next\""])
      default: return .json("[2]")
      }
    }
    var configuration = PageClient.Configuration()
    configuration.retry = .export
    configuration.clock = clock
    var environment = PageClient.Environment()
    environment.random = { 1 }
    let client = PageClient(transport: server, configuration: configuration).with(environment)
    let walk = Task {
      var items: [Int] = []
      for try await page in client.cursor(
        of: Int.self, at: "https://api.test/1", pagination: .linkHeader)
      {
        items += page.items
      }
      return items
    }
    for wait in [Duration.milliseconds(50), .seconds(1), .seconds(2), .seconds(4)] {
      try await clock.waitForSleepers()
      clock.advance(by: wait)
    }
    #expect(try await walk.value == [1, 2])
    #expect(server.requests.count == 6)
  }

  @Test("12-K5: of the pages that are asked for at once, one probes, and the others follow")
  func oneProbe() async throws {
    let (health, clock) = (HostHealth(), ManualClock())
    let error = PageError(.connectFailed, "Nobody answers.")
    #expect(health.failed(error, isProbe: false))
    #expect(!health.failed(error, isProbe: false))
    func follow() -> Task<HostHealth.Role, any Error> {
      Task { try await health.waitForProbe(patience: .seconds(60), clock) }
    }
    let cancelled = follow()
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    let impatient = follow()
    try await clock.waitForSleepers()
    clock.advance(by: .seconds(60))
    let overdue = await #expect(throws: PageError.self) { try await impatient.value }
    #expect(overdue?.code == .connectFailed)
    let follower = follow()
    try await clock.waitForSleepers()
    health.recovered()
    #expect(try await follower.value == .go)
    #expect(health.failed(error, isProbe: false))
    let heir = follow()
    try await clock.waitForSleepers()
    health.gaveUp(random: 1)
    #expect(try await heir.value == .probe(after: .seconds(1)))
  }
}
