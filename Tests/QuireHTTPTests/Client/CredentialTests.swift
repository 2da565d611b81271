import TestSupport
import HTTPTypes
import QuireCore
import QuireTesting
import Synchronization
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

/// A source that counts what it is asked, and gives `token-1`, `token-2`, ….
private final class Tokens: CredentialSource {
  let origin: String
  let gate: Gate?
  let lifetime: Duration?
  /// Which calls fail.
  let fails: Set<Int>
  private let log = Mutex<[Credential?]>([])

  init(
    _ origin: String = "https://api.test", gate: Gate? = nil, lifetime: Duration? = nil,
    fails: Set<Int> = []
  ) {
    (self.origin, self.gate, self.lifetime, self.fails) = (origin, gate, lifetime, fails)
  }

  var calls: [Credential?] { log.withLock { $0 } }

  func credential(replacing refused: Credential?) async throws -> Credential {
    let number = log.withLock {
      $0.append(refused)
      return $0.count
    }
    if number > 1, let gate { try await gate.wait() }
    if fails.contains(number) { throw PageError(.status, "The token server is down.") }
    return .bearer("token-\(number)", lifetime: lifetime)
  }
}

/// A value that closures share.
private final class Shared<Value: Sendable>: Sendable {
  private let value: Mutex<Value>

  init(_ value: Value) { self.value = Mutex(value) }

  func withLock<Result: Sendable>(_ body: @Sendable (inout Value) -> Result) -> Result {
    value.withLock { body(&$0) }
  }
}

@Suite("Credentials", .timeLimit(.minutes(15)))
struct CredentialTests {
  private let url = "https://api.test/items"
  private let links = Pagination(
    next: .body("/next"), items: "/items", policy: Pagination.Policy(links: .allow(["other.test"])))

  private func client(
    _ server: CannedServer, _ source: any CredentialSource, now: (@Sendable () -> Double)? = nil,
    clock: (any Clock<Duration>)? = nil
  ) -> PageClient {
    var configuration = PageClient.Configuration()
    configuration.retry = .never
    configuration.credentials = source
    var environment = PageClient.Environment()
    if let clock { environment.limitClock = clock }
    if let now { environment.now = now }
    return PageClient(transport: server, configuration: configuration).with(environment)
  }

  private func cursor(_ client: PageClient, at url: String? = nil) -> Cursor<Int> {
    client.cursor(of: Int.self, at: url ?? self.url, pagination: links)
  }

  private static func token(_ request: TransportRequest) -> String? {
    request.head.headerFields[.authorization].map { String($0.dropFirst("Bearer ".count)) }
  }

  @Test("12-A7, H21: a hundred walks that are refused at once renew the credential once")
  func storm() async throws {
    let gate = Gate()
    let refusals = Shared(0)
    let server = CannedServer { request, _ in
      guard Self.token(request) == "token-1" else { return .json(#"{"items":[1]}"#) }
      let count = refusals.withLock { (value: inout Int) -> Int in
        value += 1
        return value
      }
      if count == 100 { gate.openUp() }
      return .status(401, [:], "no")
    }
    let source = Tokens(gate: gate)
    let client = client(server, source)
    try await withThrowingTaskGroup(of: [Int].self) { group in
      for _ in 0..<100 { group.addTask { try await cursor(client).items.collect() } }
      for try await items in group { #expect(items == [1]) }
    }
    #expect(source.calls == [nil, .bearer("token-1")])
    #expect(server.requests.count == 200)
  }

  @Test(
    "12-A7: a renewal that fails fails all that waited for it, once, and the next one tries again")
  func failingRenewal() async throws {
    let gate = Gate()
    let refusals = Shared(0)
    let server = CannedServer { request, _ in
      guard Self.token(request) == "token-1" else { return .json(#"{"items":[1]}"#) }
      let count = refusals.withLock { (value: inout Int) -> Int in
        value += 1
        return value
      }
      if count == 50 { gate.openUp() }
      return .status(401)
    }
    let source = Tokens(gate: gate, fails: [2])
    let client = client(server, source)
    await withTaskGroup(of: PageError?.self) { group in
      for _ in 0..<50 {
        group.addTask {
          await #expect(throws: PageError.self) { try await cursor(client).items.collect() }
        }
      }
      for await error in group {
        #expect(error?.code == .credentialsFailed)
        #expect(error?.message.contains("token server is down") == true)
      }
    }
    #expect(source.calls.count == 2)
    #expect(try await cursor(client).items.collect() == [1])
    // What is known to be refused is not sent again.
    #expect(source.calls.count == 3)
    #expect(server.requests.count == 51)
  }

  @Test(
    "12-A7: who stops waiting leaves the renewal to the others, and the last to the next request")
  func cancelledWaiters() async throws {
    let gate = Gate()
    let server = CannedServer { request, _ in
      Self.token(request) == "token-1" ? .status(401) : .json(#"{"items":[1]}"#)
    }
    let source = Tokens(gate: gate)
    let client = client(server, source)
    let walks = (0..<2).map { _ in Task { try await cursor(client).items.collect() } }
    while source.calls.count < 2 || server.requests.count < 2 { await Task.yield() }
    walks[0].cancel()
    await #expect(throws: CancellationError.self) { try await walks[0].value }
    gate.openUp()
    #expect(try await walks[1].value == [1])
    #expect(source.calls.count == 2)

    let closed = Gate()
    let other = Tokens(gate: closed)
    let lonely = self.client(server, other)
    let walk = Task { try await cursor(lonely).items.collect() }
    while other.calls.count < 2 { await Task.yield() }
    walk.cancel()
    await #expect(throws: CancellationError.self) { try await walk.value }
    #expect(lonely.configuration.keeper?.waiting == 0)
    // The server has been asked, and what it gives is the next request's: there is no second renewal.
    let next = Task { try await cursor(lonely).items.collect() }
    closed.openUp()
    #expect(try await next.value == [1])
    #expect(other.calls.count == 2)
  }

  @Test(
    "12-A7: a source that does not answer is waited for 15 minutes, and what it gives then is used")
  func overdue() async throws {
    let (gate, clock) = (Gate(), ManualClock())
    let server = CannedServer([.json(#"{"items":[1]}"#)])
    let calls = Shared(0)
    let source = BearerTokenSource(for: "https://api.test") { _ in
      calls.withLock { (value: inout Int) in value += 1 }
      try await gate.wait()
      return .bearer("token")
    }
    let client = client(server, source, clock: clock)
    let walks = (0..<2).map { _ in Task { try await cursor(client).items.collect() } }
    while client.configuration.keeper?.waiting != 2 { await Task.yield() }
    try await clock.waitForSleepers()
    clock.advance(by: .seconds(15 * 60))
    for walk in walks {
      let error = await #expect(throws: PageError.self) { try await walk.value }
      #expect(error?.code == .credentialsFailed)
      #expect(error?.message.contains("has not answered") == true)
    }
    // It is not waited for again, nor asked a second time.
    let error = await #expect(throws: PageError.self) { try await cursor(client).items.collect() }
    #expect(error?.code == .credentialsFailed)
    #expect(server.requests.isEmpty && client.configuration.keeper?.waiting == 0)
    gate.openUp()
    await client.settleCredentials()
    #expect(try await cursor(client).items.collect() == [1])
    #expect(server.requests.map(Self.token) == ["token"])
    #expect(calls.withLock { $0 } == 1)
  }

  @Test("12-A7: a source has its time where retries take none")
  func instantRetries() async throws {
    let source = BearerTokenSource(for: "https://api.test") { _ in
      for _ in 0..<1_000 { await Task.yield() }
      return .bearer("token")
    }
    var client = client(CannedServer([.json(#"{"items":[1]}"#)]), source)
    client.configuration.clock = InstantClock()
    let items = cursor(client).items
    #expect(try await items.collect() == [1])
  }

  @Test("12-A7: a renewal before the end that fails is not tried again by each request")
  func spacedRenewals() {
    var machine = CredentialMachine()
    _ = machine.nextStep(at: 0)
    _ = machine.renewed(.bearer("old", lifetime: .seconds(100)), at: 0)
    var renewals = 0
    for time in stride(from: 90.0, to: 100, by: 0.25) {
      guard case .renew = machine.nextStep(at: time) else { continue }
      renewals += 1
      #expect(machine.failed(PageError(.status, "down"), at: time) != nil)
    }
    #expect((2...10).contains(renewals))
    // Once it has ended, it is.
    for _ in 0..<2 {
      guard case .renew = machine.nextStep(at: 100) else {
        Issue.record("What has ended is not renewed.")
        return
      }
      #expect(machine.failed(PageError(.status, "down"), at: 100) == nil)
    }
  }

  @Test("12-A7: what is refused while it is renewed early is not sent again if the renewal fails")
  func refusedEarly() {
    var machine = CredentialMachine()
    _ = machine.nextStep(at: 0)
    let ticket = machine.renewed(.bearer("old", lifetime: .seconds(100)), at: 0)
    machine.accepted(ticket)
    _ = machine.nextStep(at: 95)
    guard machine.isRenewing, case .wait = machine.refused(ticket, at: 96) else {
      Issue.record("The refusal does not wait for the renewal.")
      return
    }
    #expect(machine.failed(PageError(.status, "down"), at: 97) == nil)
  }

  @Test("12-A7: a 401 to a credential just renewed is final, and its body is there to be read")
  func finalRefusal() async throws {
    let server = CannedServer { request, _ in
      .status(
        401, ["Content-Type": "application/problem+json"],
        #"{"title":"No scope","detail":"\#(Self.token(request) ?? "")"}"#)
    }
    let source = Tokens()
    let client = client(server, source)
    let error = await #expect(throws: PageError.self) { try await cursor(client).items.collect() }
    struct Problem: Decodable { let title: String }
    #expect(error?.code == .status)
    #expect(try error?.response?.decode(Problem.self).title == "No scope")
    #expect(server.requests.map(Self.token) == ["token-1", "token-2"])
    #expect(error?.traffic.requests == 2)
    // H-8: what the server repeats is no news for people.
    let shown = "\(error as Any) \(error?.response as Any) \(error?.underlying as Any)"
    #expect(!shown.contains("token-2") && !shown.contains("token-1"), "\(shown)")
  }

  @Test("12-A7: of many requests that are refused with a renewed credential none renews it again")
  func refusedTogether() {
    var machine = CredentialMachine()
    var renewals = 0
    func note(_ action: CredentialMachine.Action) {
      if case .renew = action { renewals += 1 }
    }
    note(machine.nextStep(at: 0))
    let old = machine.renewed(.bearer("old"), at: 0)
    note(machine.refused(old, at: 1))
    let new = machine.renewed(.bearer("new"), at: 1)
    // They went out with it at once, before any answer.
    for _ in 0..<3 {
      note(machine.refused(new, at: 2))
    }
    #expect(renewals == 2)
    // A request that comes later may find that the account is open again.
    note(machine.nextStep(at: 3))
    #expect(renewals == 3)
  }

  @Test("12-A7: a credential goes to its origin alone, along no redirect and no next link")
  func origin() async throws {
    let server = CannedServer { request, _ in
      switch request.url {
      case "https://api.test/items": .json(#"{"items":[1],"next":"https://other.test/2"}"#)
      case "https://other.test/2": .json(#"{"items":[2]}"#)
      case "https://api.test/away": .status(302, ["Location": "https://other.test/2"])
      default: .json(#"{"items":[3]}"#)
      }
    }
    let client = client(server, Tokens())
    #expect(try await cursor(client).items.collect() == [1, 2])
    #expect(try await cursor(client, at: "https://api.test/away").items.collect() == [2])
    #expect(try await cursor(client, at: "https://api.test:444/x").items.collect() == [3])
    for request in server.requests {
      #expect((Self.token(request) != nil) == request.url.hasPrefix("https://api.test/"))
    }
  }

  @Test("12-A7: a credential with a lifetime is renewed a while before its end")
  func lifetime() async throws {
    let time = Shared(1000.0)
    let server = CannedServer([.json(#"{"items":[1]}"#)])
    let client = client(server, Tokens(lifetime: .seconds(100)), now: { time.withLock { $0 } })
    for (now, token) in [(1000.0, "token-1"), (1089, "token-1"), (1090, "token-2")] {
      time.withLock { $0 = now }
      _ = try await cursor(client).items.collect()
      #expect(server.requests.last.flatMap(Self.token) == token)
    }
  }

  @Test("12-A7: a renewal before the end that fails leaves the credential in use until the end")
  func earlyRenewal() async throws {
    let time = Shared(1000.0)
    let server = CannedServer([.json(#"{"items":[1]}"#)])
    let source = Tokens(lifetime: .seconds(100), fails: [2, 3])
    let client = client(server, source, now: { time.withLock { $0 } })
    _ = try await cursor(client).items.collect()
    time.withLock { $0 = 1095 }
    _ = try await cursor(client).items.collect()
    #expect(server.requests.last.flatMap(Self.token) == "token-1")
    time.withLock { $0 = 1100 }
    let error = await #expect(throws: PageError.self) { try await cursor(client).items.collect() }
    #expect(error?.code == .credentialsFailed)
    #expect(server.requests.count == 2)
  }

  @Test("12-A7: the bytes of a refusal that stands are counted once")
  func refusalBytes() async throws {
    let time = Shared(1000.0)
    let server = CannedServer { request, _ in
      Self.token(request) == "token-1"
        ? .json(#"{"items":[1]}"#) : .status(401, [:], "refused")
    }
    let client = client(server, Tokens(lifetime: .seconds(100)), now: { time.withLock { $0 } })
    _ = try await cursor(client).items.collect()
    time.withLock { $0 = 1090 }
    let error = await #expect(throws: PageError.self) { try await cursor(client).items.collect() }
    #expect(error?.response?.status.code == 401)
    #expect(error?.traffic.requests == 1 && error?.traffic.bytes == 7)
  }

  @Test("12-A7: the source may ask through the very client, and its requests carry no credential")
  func samePath() async throws {
    struct Token: Decodable { let access: String }
    let server = CannedServer { request, _ in
      request.url.hasSuffix("/token")
        ? .json(#"{"access":"secret-token"}"#) : .json(#"{"items":[1]}"#)
    }
    let plain = PageClient(transport: server)
    var configuration = PageClient.Configuration()
    let client = Shared(plain)
    configuration.credentials = BearerTokenSource(for: "https://api.test") { _ in
      let answer = try await client.withLock { $0 }.response(
        to: PageRequest(
          method: .post, url: "https://api.test/token", body: .form("grant_type=x")))
      return .bearer(try answer.decode(Token.self).access)
    }
    let real = PageClient(transport: server, configuration: configuration)
    client.withLock { $0 = real }
    #expect(try await cursor(real).items.collect() == [1])
    #expect(server.requests.map(Self.token) == [nil, "secret-token"])
  }

  @Test("12-A7: the limits of the walk that begins a renewal are none of the renewal")
  func limits() async throws {
    let server = CannedServer { request, _ in
      request.url.hasSuffix("/token")
        ? .json(#"{"access":"\#(String(repeating: "x", count: 1_000))"}"#)
        : .json(#"{"items":[1]}"#)
    }
    let plain = PageClient(transport: server)
    let source = BearerTokenSource(for: "https://api.test") { _ in
      _ = try await plain.response(to: PageRequest(url: "https://api.test/token"))
      return .bearer("token")
    }
    let cursor = cursor(client(server, source)).limited(to: Limits(bytes: 100, requests: 1))
    #expect(try await cursor.items.collect() == [1])
    #expect(server.requests.map(Self.token) == [nil, "token"])
  }

  @Test("H-8: a source of tokens that is printed or dumped shows none")
  func printed() {
    let source = BearerTokenSource(for: "https://api.test", token: "canary-1") { _ in
      .bearer("canary-2")
    }
    var dumped = ""
    dump(source, to: &dumped)
    #expect("\(source)" == "BearerTokenSource(https://api.test)")
    #expect(!dumped.contains("canary"))
  }

  @Test("Our own source of credentials keeps the promises of the door")
  func conformance() async throws {
    let count = Shared(0)
    try await CredentialSourceConformance.check(
      BearerTokenSource(for: "https://api.test", token: "token-0") { _ in
        let number = count.withLock { (value: inout Int) -> Int in
          value += 1
          return value
        }
        return .bearer("token-\(number)")
      })
    await #expect(throws: ConformanceFailure.self) {
      try await CredentialSourceConformance.check(
        BearerTokenSource(for: "api.test") { _ in .bearer("same") })
    }
  }
}
