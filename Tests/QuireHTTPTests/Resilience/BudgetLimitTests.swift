import HTTPTypes
import QuireCore
@testable import QuireTesting
import Synchronization
import TestSupport
import Testing

@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

@Suite("Limits of one's own that the walks of a client share")
struct BudgetLimitTests {
  /// Answers each request with a page whose body comes in two halves, the second when a gate opens.
  private final class HalvedServer: HTTPTransport {
    let gate = Gate()
    let asked = Watched(0)
    let begun = Watched(0)

    func send(_ request: TransportRequest) async throws -> TransportResponse {
      asked.update { $0 += 1 }
      var head = HTTPResponse(status: .ok)
      head.headerFields[.contentType] = "application/json"
      let halves = Mutex([Array("[1,2,3,4,5,6,7,8,9,".utf8), Array("10]".utf8)][...])
      let (gate, begun) = (gate, begun)
      return TransportResponse(
        head: head,
        body: TransportBody(next: {
          let half = halves.withLock { $0.popFirst() }
          if half?.count == 3 {
            begun.update { $0 += 1 }
            try await gate.wait()
          }
          return half
        }))
    }
  }

  /// How many pages came to each walk.
  private final class Counts: Sendable {
    private let counts = Mutex([Int: Int]())

    var all: [Int: Int] { counts.withLock { $0 } }

    func add(_ walk: Int) { counts.withLock { $0[walk, default: 0] += 1 } }
  }

  @Test("15-Budget, Q4: above the client's bytes no request is begun, and one always goes on")
  func bytes() async throws {
    let server = HalvedServer()
    var configuration = PageClient.Configuration()
    configuration.budget.bytes = 30
    let client = PageClient(transport: server, configuration: configuration)
    func drain(_ number: Int) -> Task<[Int], any Error> {
      Task {
        try await client.cursor(
          of: Int.self, at: "https://host\(number).test/", pagination: .linkHeader
        ).items.collected()
      }
    }
    // Two bodies of 19 bytes are above 30 once they are begun.
    let first = [drain(0), drain(1)]
    try await server.begun.wait { $0 == 2 }
    let later = (2..<10).map(drain)
    while client.budget.waiting < 8 { await Task.yield() }
    #expect(server.asked.value == 2)
    server.gate.openUp()
    for walk in first + later { #expect(try await walk.value == Array(1...10)) }
    #expect(server.asked.value == 10 && client.budget.waiting == 0)
    // A budget that no page fits into lets one after the other pass.
    configuration.budget.bytes = 0
    let narrow = PageClient(transport: server, configuration: configuration)
    let cursor = narrow.cursor(of: Int.self, at: "https://a.test/", pagination: .linkHeader)
    #expect(try await cursor.items.collected() == Array(1...10))
  }

  @Test(
    "15-Budget, Q4: a page whose items are delivered as they arrive leaves none of its bytes counted"
  )
  func arrivingBytes() async throws {
    let server = CannedServer { _, _ in
      var head = HTTPResponse(status: .ok)
      head.headerFields[.contentType] = "application/json"
      let slices = [
        "[1,2,", String(repeating: "3,", count: 20), String(repeating: "4,", count: 20),
      ]
      return TransportResponse(
        head: head, body: .slices((slices + ["5]"]).map { Array($0.utf8) }))
    }
    var configuration = PageClient.Configuration()
    configuration.budget.bytes = 30
    let client = PageClient(transport: server, configuration: configuration)
    let cursor = client.cursor(
      at: "https://a.test/", pagination: .linkHeader, decoder: JSONPageDecoder<Int>(),
      delivery: .asItArrives)
    #expect(try await cursor.items.collected().count == 43)
    func ask() throws -> ClientBudget.Asked {
      try client.budget.ask(
        BudgetMachine.Request(
          lane: .init(host: Origin(url: "https://b.test"), account: 0), walk: 1,
          urgency: .waited, longest: .seconds(1), interval: .zero),
        client.shared, willWait: { _ in })
    }
    guard case .granted(let first) = try ask(), case .granted(let second) = try ask() else {
      Issue.record("There is room for more than one request.")
      return
    }
    first.end()
    second.end()
  }

  @Test("15-Budget: of all requests to all hosts no more are on their way than the client may have")
  @SimulationActor func total() {
    let seed = UInt64.random(in: .min ... .max)
    let clock = ManualClock()
    let server = SimulatedServer(clock, pages: 5)
    let client = server.client { $0.budget.requestsTotal = 3 }
    let pages = Counts()
    SimulatedServer.run(clock, seed: seed) {
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<40 {
          let cursor = client.cursor(
            of: Int.self, at: "https://host\(number % 10).test/\(number)",
            pagination: SimulatedServer.pagination)
          group.addTask {
            do {
              for try await _ in cursor { pages.add(number) }
            } catch {}
          }
        }
      }
    }
    #expect(pages.all.values.filter { $0 == 5 }.count == 40, "seed \(seed)")
    #expect(server.seen.withLock { $0.mostInFlight } == 3, "seed \(seed)")
    // Hosts take turns: each has been asked once before any was asked five times.
    let hosts = server.seen.withLock { $0.paths }.prefix(40)
    #expect(Set(hosts).count > 20, "seed \(seed): \(hosts)")
  }

  @Test("15-Budget: a walk sends no more requests to a host at a time than it may, over all walks")
  @SimulationActor func perHost() {
    let seed = UInt64.random(in: .min ... .max)
    let clock = ManualClock()
    let server = SimulatedServer(clock, pages: 5)
    let client = server.client { $0.budget.requestsPerHost = 2 }
    let pages = Counts()
    SimulatedServer.run(clock, seed: seed) {
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<20 {
          let cursor = client.cursor(
            of: Int.self, at: "https://api.test/\(number)", pagination: SimulatedServer.pagination)
          group.addTask {
            do { for try await _ in cursor { pages.add(number) } } catch {}
          }
        }
      }
    }
    #expect(pages.all.values.reduce(0, +) == 100 && server.seen.withLock { $0.mostInFlight } == 2)
  }

  /// A request with one of the credentials of a host.
  private func request(_ account: Int) throws -> BudgetMachine.Request {
    BudgetMachine.Request(
      lane: .init(host: try Origin(url: "https://api.test"), account: account), walk: account,
      urgency: .waited, longest: .seconds(3600), interval: .zero)
  }

  @Test("15-Budget: requests with one credential do not wait for the window of another")
  func otherWindow() throws {
    var machine = BudgetMachine()
    let (budget, used, free) = (RequestBudget(), try request(1), try request(2))
    var allowance = ServerAllowance()
    allowance.windows = [.init(name: "a", limit: 1, remaining: 0, reset: .seconds(600))]
    _ = machine.answered(
      used.lane, nil, allowance, isThrottling: false, atOnce: 6, budget, isFull: false, at: .zero)
    let first = machine.ask(used, id: 1, budget, isFull: false, at: .zero)
    guard case .wait(let time, .limit) = first, time == .seconds(600) else {
      Issue.record("It waits for its own window: \(first)")
      return
    }
    let other = machine.ask(free, id: 2, budget, isFull: false, at: .zero)
    guard case .granted = other else {
      Issue.record("It has nothing to wait for: \(other)")
      return
    }
  }

  @Test("15-Budget, 15-Order: credentials take turns where requests wait for a place")
  func turns() throws {
    var machine = BudgetMachine()
    var budget = RequestBudget()
    budget.requestsPerHost = 1
    let requests = [1, 1, 1, 1, 2, 2]
    for (id, account) in requests.enumerated() {
      _ = machine.ask(try request(account), id: id, budget, isFull: false, at: .zero)
    }
    var granted: [Int] = []
    for _ in 1..<requests.count {
      let lane = try request(requests[granted.last ?? 0]).lane
      granted += machine.ended(lane, budget, isFull: false, at: .zero).granted.map(\.id)
    }
    #expect(granted == [1, 4, 2, 5, 3])
  }

  @Test(
    "15-Rate: points that a body counts are kept like requests, and the next window is waited for",
    arguments: ["github", "shopify"])
  func points(_ api: String) async throws {
    let clock = ManualClock()
    // 100 points an interval of 60 s; each query costs 40.
    let left = Mutex((points: 100.0, at: Duration.zero, refused: 0))
    let server = CannedServer { _, ordinal in
      let now = clock.now.offset
      let (points, isRefused) = left.withLock { left -> (Double, Bool) in
        let passed = (now - left.at) / .seconds(1)
        if api == "github" {
          if Int(now / .seconds(60)) > Int(left.at / .seconds(60)) { left.points = 100 }
        } else {
          left.points = min(100, left.points + passed * 2)
        }
        left.at = now
        guard left.points >= 40 else {
          left.refused += 1
          return (left.points, true)
        }
        left.points -= 40
        return (left.points, false)
      }
      if isRefused { return .status(429) }
      let next = ordinal < 5 ? #""c\#(ordinal)""# : "null"
      let reset = "2023-11-14T22:\(13 + Int(now / .seconds(60)) + 1):20Z"
      let cost =
        api == "github"
        ? #""data":{"rateLimit":{"cost":40,"limit":100,"remaining":\#(Int(points)),"resetAt":"\#(reset)"}},"extensions":{}"#
        : #""data":{},"extensions":{"cost":{"actualQueryCost":40,"throttleStatus":{"maximumAvailable":100.0,"currentlyAvailable":\#(points),"restoreRate":2.0}}}"#
      return .json(#"{"items":[\#(ordinal)],"next":\#(next),\#(cost)}"#)
    }
    var configuration = PageClient.Configuration()
    configuration.clock = clock
    configuration.budget.body = api == "github" ? .gitHubGraphQL : .shopifyGraphQL
    configuration.retry = .never
    configuration.retry.maximumRetryAfter = .seconds(3600)
    var environment = PageClient.Environment()
    // 2023-11-14T22:13:20Z.
    environment.now = { 1_700_000_000 + clock.now.offset / .seconds(1) }
    let client = PageClient(transport: server, configuration: configuration).with(environment)
    let cursor = client.cursor(
      of: Int.self, at: "https://api.test/graphql",
      pagination: Pagination(next: .body("/next"), send: .query("after"), items: "/items"))
    let walk = Task { try await cursor.items.collected() }
    let time = Task {
      while true {
        try await clock.waitForSleepers(1)
        clock.advanceToNextDeadline()
      }
    }
    defer { time.cancel() }
    #expect(try await walk.value == [0, 1, 2, 3, 4, 5])
    #expect(left.withLock { $0.refused } == 0)
    // Six queries cost 240 points: two windows more, or 140 points more at two a second.
    let least = api == "github" ? Duration.seconds(120) : .seconds(70)
    #expect(
      clock.now.offset >= least && clock.now.offset <= least + .seconds(15), "\(clock.now.offset)")
  }

  @Test("15-Budget: credentials that a host was asked with are not kept for ever")
  func manyCredentials() throws {
    var machine = BudgetMachine()
    let budget = RequestBudget()
    var allowance = ServerAllowance()
    for account in 1...5_000 {
      let request = try request(account)
      let answer = machine.ask(request, id: account, budget, isFull: false, at: .zero)
      guard case .granted(let grant) = answer else {
        Issue.record("It has nothing to wait for: \(account)")
        return
      }
      allowance.windows =
        account <= 100 ? [.init(name: "a", limit: 1, remaining: 0, reset: .seconds(600))] : []
      _ = machine.answered(
        request.lane, grant, allowance, isThrottling: false, atOnce: 6, budget, isFull: false,
        at: .zero)
      _ = machine.ended(request.lane, budget, isFull: false, at: .zero)
    }
    #expect(machine.lanes < 1_000)
    // Those are that have to wait.
    let answer = machine.ask(try request(1), id: 1, budget, isFull: false, at: .zero)
    guard case .wait = answer else {
      Issue.record("Its window is forgotten: \(answer)")
      return
    }
  }

  @Test(
    "15-Budget: what a server has refused is known for an hour, however many credentials it is asked with",
    arguments: [nil, .seconds(60)] as [Duration?])
  func refusedCredential(wait: Duration?) throws {
    let budget = RequestBudget()
    var refusal = ServerAllowance()
    refusal.wait = wait
    for (time, isKnown) in [(Duration.seconds(61), true), (Duration.seconds(3_600), false)] {
      var machine = BudgetMachine()
      for account in 1...300 {
        let request = try request(account)
        let now = account == 1 ? Duration.zero : time
        let answer = machine.ask(request, id: account, budget, isFull: false, at: now)
        guard case .granted(let grant) = answer else {
          Issue.record("It has nothing to wait for: \(account)")
          return
        }
        _ = machine.answered(
          request.lane, grant, account == 1 ? refusal : ServerAllowance(),
          isThrottling: account == 1, atOnce: 6, budget, isFull: false, at: now)
        _ = machine.ended(request.lane, budget, isFull: false, at: now)
      }
      // One request at a time finds out what the server takes now.
      var granted = 0
      for id in 301...302 {
        let answer = machine.ask(try request(1), id: id, budget, isFull: false, at: time)
        if case .granted = answer { granted += 1 }
      }
      #expect(granted == (isKnown ? 1 : 2))
    }
  }

  @Test("15-Rate: a rate of one's own holds for a host that is asked again behind thousands")
  func manyHosts() throws {
    var machine = BudgetMachine()
    let budget = RequestBudget(rate: .init(1, per: .seconds(600)))
    for number in Array(0..<5_000) + [0] {
      let lane = BudgetMachine.Lane(
        host: try Origin(url: "https://host\(number).test"), account: 0)
      let request = BudgetMachine.Request(
        lane: lane, walk: 1, urgency: .waited, longest: .seconds(3600), interval: .zero)
      let answer = machine.ask(request, id: 1, budget, isFull: false, at: .zero)
      guard case .granted(let grant) = answer else {
        #expect(number == 0)
        return
      }
      _ = machine.answered(
        lane, grant, ServerAllowance(), isThrottling: false, atOnce: 6, budget, isFull: false,
        at: .zero)
      _ = machine.ended(lane, budget, isFull: false, at: .zero)
    }
    Issue.record("The first host was asked again at once.")
  }

  @Test(
    "15-Budget: a request that did not go out costs nothing of what the server allows",
    arguments: [nil, .refusedAddress, .tls] as [PageError.Code?])
  func unsent(code: PageError.Code?) async throws {
    struct Failure: Error {}
    let isDown = Atomic(false)
    let server = CannedServer { _, _ in
      if let code, isDown.load(ordering: .relaxed) { throw PageError(code, "It is not sent.") }
      return .json(
        "[1]",
        [
          "X-RateLimit-Limit": "10", "X-RateLimit-Remaining": "1", "X-RateLimit-Reset": "600",
        ])
    }
    var configuration = PageClient.Configuration()
    configuration.retry = .never
    configuration.retry.maximumRetryAfter = .zero
    configuration.signer = RequestSigner { _, _ in
      if code == nil, isDown.load(ordering: .relaxed) { throw Failure() }
    }
    let client = PageClient(transport: server, configuration: configuration)
    let cursor = client.cursor(of: Int.self, at: "https://api.test/", pagination: .linkHeader)
    #expect(try await cursor.items.collected() == [1])
    isDown.store(true, ordering: .relaxed)
    await #expect(throws: (any Error).self) { try await cursor.items.collected() }
    isDown.store(false, ordering: .relaxed)
    #expect(try await cursor.items.collected() == [1])
  }

  @Test(
    "15-Rate: no word of a server makes requests wait for more than a week, and no cost for more than a century"
  )
  func longestWaits() {
    let (week, century) = (Duration.seconds(604_800), Duration.seconds(3.2e9))
    let answers: [HTTPFields] = [
      [.init("RateLimit-Policy")!: #""a";q=1e-30;w=60"#, .init("RateLimit")!: #""a";r=0"#],
      [.init("X-RateLimit-Limit")!: "1e-30;w=60", .init("X-RateLimit-Remaining")!: "0"],
      [.init("X-RateLimit-Remaining")!: "0", .init("X-RateLimit-Reset")!: "99999999"],
      [.retryAfter: "315360000"],
    ]
    for fields in answers {
      var machine = RateMachine()
      machine.answered(nil, ServerAllowance(fields, now: 0), isThrottling: true, at: .zero)
      #expect(machine.verdict(RequestBudget(), at: .zero) == .at(week, isServers: true))
      #expect(machine.verdict(RequestBudget(), at: week) == .now)
    }
    // What a body says that a request cost.
    let budget = RequestBudget(rate: .init(1, per: .seconds(1)))
    var machine = RateMachine()
    let grant = machine.grant(budget, interval: .zero, at: .zero)
    machine.learn(ServerAllowance(), cost: 1e300, of: grant, budget, at: .zero)
    #expect(machine.verdict(budget, at: .zero) == .at(century, isServers: false))
  }

  @Test(
    "15-Rate: a server that says only when to come back refuses less than one request in ten, and is read no slower",
    arguments: [(1, 1), (2, 1), (5, 1), (3, 10), (60, 60)])
  func learntLimit(limit: Int, seconds: Int) {
    let (window, budget, pages) = (Duration.seconds(seconds), RequestBudget(), limit * 60)
    var machine = RateMachine()
    var (now, taken, refused) = (Duration.zero, [Duration](), 0)
    while taken.count < pages, refused < pages {
      switch machine.verdict(budget, at: now) {
      case .now: break
      case .at(let time, _): now = time
      case .afterAnswer: Issue.record("nothing is in flight")
      }
      let grant = machine.grant(budget, interval: .zero, at: now)
      let recent = taken.suffix(limit)
      let opens = recent.count < limit ? now : recent[recent.startIndex] + window
      var allowance = ServerAllowance()
      if opens > now {
        refused += 1
        allowance.wait = .seconds(((opens - now) / .seconds(1)).rounded(.up))
      } else {
        taken.append(now)
      }
      now += .milliseconds(20)
      machine.answered(grant, allowance, isThrottling: opens > now - .milliseconds(20), at: now)
    }
    #expect(taken.count == pages && refused * 10 <= pages, "\(refused) of \(pages)")
    #expect(now < window * 70, "\(now)")
  }

  @Test(
    "15-Rate: a server that only refuses does so less and less often, as its limit is learnt",
    arguments: [(1, 1), (5, 1), (3, 10), (60, 60)])
  func unstatedLimit(limit: Int, seconds: Int) {
    let (window, budget, pages) = (Duration.seconds(seconds), RequestBudget(), limit * 200)
    var machine = RateMachine()
    var (now, taken, refused, delay) = (Duration.zero, [Duration](), 0, Duration.seconds(1))
    while taken.count < pages, refused < pages {
      if case .at(let time, _) = machine.verdict(budget, at: now) { now = time }
      let grant = machine.grant(budget, interval: .zero, at: now)
      let recent = taken.suffix(limit)
      let isRefused = recent.count == limit && recent[recent.startIndex] + window > now
      if !isRefused { taken.append(now) }
      now += .milliseconds(20)
      machine.answered(grant, ServerAllowance(), isThrottling: isRefused, at: now)
      // The delays of the retries.
      refused += isRefused ? 1 : 0
      now += isRefused ? delay : .zero
      delay = isRefused ? min(delay * 2, .seconds(20)) : .seconds(1)
    }
    #expect(taken.count == pages && refused * 10 <= pages, "\(refused) of \(pages)")
  }

  @Test("15-Rate: a limit is learnt from refusals that overtake the answers to earlier requests")
  func overtakingRefusals() {
    let (limit, window, budget, pages) = (20, Duration.seconds(30), RequestBudget(), 2000)
    var machine = RateMachine()
    var (now, taken, refused, delay) = (Duration.zero, [Duration](), 0, Duration.seconds(1))
    while taken.count < pages, refused < pages {
      if case .at(let time, _) = machine.verdict(budget, at: now) { now = time }
      var grants: [(RateMachine.Grant, isRefused: Bool)] = []
      repeat {
        let recent = taken.suffix(limit)
        let isRefused = recent.count == limit && recent[recent.startIndex] + window > now
        if !isRefused { taken.append(now) }
        grants.append((machine.grant(budget, interval: .zero, at: now), isRefused))
      } while grants.count < 4 && machine.verdict(budget, at: now) == .now
      // The server refuses at once, and takes longer for what it takes.
      for (grant, isRefused) in grants.sorted(by: { $0.isRefused && !$1.isRefused }) {
        now += .milliseconds(20)
        machine.answered(grant, ServerAllowance(), isThrottling: isRefused, at: now)
        refused += isRefused ? 1 : 0
      }
      let isRefused = grants.contains(where: \.isRefused)
      now += isRefused ? delay : .zero
      delay = isRefused ? min(delay * 2, .seconds(20)) : .seconds(1)
    }
    #expect(taken.count == pages && refused * 10 <= pages, "\(refused) of \(pages)")
  }

  @Test("15-Profiles: the profiles have the numbers that the guide argues")
  func profiles() {
    #expect(Timeouts.api == Timeouts())
    #expect(
      Timeouts.export
        == Timeouts(
          connect: .seconds(10), head: .seconds(60), stall: .seconds(60), total: .seconds(1800)))
    #expect(
      Timeouts.feed
        == Timeouts(
          connect: .seconds(10), head: .seconds(15), stall: .seconds(10), total: .seconds(30)))
    let (feed, export) = (TransferLimits.feed, TransferLimits.export)
    #expect(feed.headerBytes == 32 << 10 && feed.wireBytes == 15 << 20)
    #expect(feed.decodedBytes == 32 << 20 && feed.inflateRatio == 200)
    #expect(export.wireBytes == 256 << 20 && export.decodedBytes == 1 << 30)
    #expect(export.inflateRatio == 200 && export.inflateRatioFloor == 4 << 20)
    let configuration = PageClient.Configuration.export
    #expect(configuration.timeouts == .export && configuration.transferLimits == .export)
    #expect(configuration.retry == .export && configuration.decodingLimits == .export)
    #expect(configuration.decodingLimits.items == 1_000_000)
    #expect(configuration.decodingLimits.itemBytes == 64 << 20)
    let standard = PageClient.Configuration()
    #expect(standard.timeouts == .api && standard.transferLimits == .api && standard.retry == .api)
  }
}
