import QuireCore
import QuireTesting
import Synchronization
import TestSupport
import Testing

@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

@Suite("What the walks of a client share", .timeLimit(.minutes(15)))
struct ClientBudgetTests {
  /// Pages that came to `walks` walks of one client, and how many failed.
  private final class Tally: Sendable {
    let counts = Mutex((pages: 0, failures: 0, errors: Set<String>()))

    func add(page: Bool, _ error: (any Error)? = nil) {
      counts.withLock {
        if page { $0.pages += 1 } else { $0.failures += 1 }
        if let error { $0.errors.insert("\(error)") }
      }
    }
  }

  private final class Times: Sendable {
    let all = Mutex([Duration]())
  }

  private func drain(
    _ client: PageClient, walks: Int, _ tally: Tally, attempts: Int = 1
  ) -> @Sendable () async -> Void {
    { @Sendable in
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<walks {
          let cursor = client.cursor(
            of: Int.self, at: "https://api.test/\(number)", pagination: SimulatedServer.pagination)
          group.addTask {
            do {
              for try await _ in cursor { tally.add(page: true) }
            } catch {
              tally.add(page: false, error)
            }
          }
        }
      }
    }
  }

  @Test(
    "15-Rate: whatever fields a server states its limit in, 100 walks of a client are refused at most once in a hundred requests",
    arguments: SimulatedServer.Family.allCases)
  @SimulationActor func families(_ family: SimulatedServer.Family) {
    let seed = UInt64.random(in: .min ... .max)
    let clock = ManualClock()
    // One that only refuses can do no better than to refuse all that is on the wire.
    let server = SimulatedServer(
      clock, family: family, limit: 250, pages: 20, atOnce: family == .retryAfter ? 6 : nil)
    let tally = Tally()
    SimulatedServer.run(clock, seed: seed, drain(server.client(), walks: 100, tally))
    let (seen, counts) = (server.seen.withLock { $0 }, tally.counts.withLock { $0 })
    #expect(counts.pages == 2_000 && counts.failures == 0, "seed \(seed): \(counts.errors)")
    #expect(seen.refused * 100 <= seen.requests, "seed \(seed)")
    // Four windows of ten seconds at the least; and it is not slower than half of what is allowed.
    #expect(server.seconds < 2 * 10 * 2_000 / 250, "seed \(seed)")
    showFigure(
      "429s to 100 walks, limit stated by \(family)", "\(seen.refused) of \(seen.requests)",
      bar: "≤ 1 %")
  }

  @Test(
    "15-Outage: a thousand walks send a server that is away for an hour 1.1 requests a page at most"
  )
  @SimulationActor func outage() {
    let seed = UInt64.random(in: .min ... .max)
    for (name, policy) in [("api", RetryPolicy.api), ("export", .export), ("feed", .feed)] {
      for atOnce in [nil, 6] {
        let clock = ManualClock()
        let server = SimulatedServer(clock, atOnce: atOnce) { $0 < .seconds(3600) }
        let tally = Tally()
        let client = server.client {
          $0.retry = policy
          if policy.patience > .zero { $0.retry.patience = .seconds(2 * 3600) }
        }
        SimulatedServer.run(
          clock, seed: seed, until: .seconds(3600), drain(client, walks: 1_000, tally))
        let requests = server.seen.withLock { $0.requests }
        #expect(requests <= 1_100, "seed \(seed)")
        showFigure(
          "requests a page in an hour's outage, 1,000 walks, .\(name)",
          "\(Double(requests) / 1_000)", bar: "≤ 1.1")
        guard policy.patience > .zero else { continue }
        SimulatedServer.run(clock, seed: seed) {}
        let counts = tally.counts.withLock { $0 }
        #expect(counts.pages == 10_000 && counts.failures == 0, "seed \(seed): \(counts.errors)")
        #expect(server.seen.withLock { $0.requests } <= 10_000 + 200, "seed \(seed)")
      }
    }
  }

  /// Runs what a task has to do when it is told to.
  private final class HeldExecutor: TaskExecutor {
    private let jobs = Mutex([UnownedJob]())

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      jobs.withLock { $0.append(job) }
    }

    func run() {
      while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
        job.runSynchronously(on: asUnownedTaskExecutor())
      }
    }
  }

  @Test("15-Budget: a request that is cancelled in the moment it may go gives its place back")
  func cancelledWhenGranted() async throws {
    var configuration = PageClient.Configuration()
    configuration.budget.requestsPerHost = 1
    let client = PageClient(
      transport: ScriptedTransport([]), configuration: configuration)
    let budget = client.budget
    func ask() throws -> ClientBudget.Asked {
      try budget.ask(
        BudgetMachine.Request(
          lane: .init(host: Origin(url: "https://api.test"), account: 0), walk: 1,
          urgency: .waited, longest: .seconds(1), interval: .zero),
        client.shared, willWait: { _ in })
    }
    guard case .granted(let first) = try ask(), case .waits(let wait) = try ask() else {
      Issue.record("The second request is to wait for the first.")
      return
    }
    let executor = HeldExecutor()
    let waiting = Task(executorPreference: executor) {
      _ = try await budget.permit(after: wait, nil)
    }
    executor.run()
    waiting.cancel()
    // The place is free before the task has noticed that it was cancelled.
    first.end()
    executor.run()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    guard case .granted = try ask() else {
      Issue.record("The place of the cancelled request was not given back.")
      return
    }
  }

  @Test(
    "15-Outage: one request probes a server that is away, and another takes its place when that is given up"
  )
  @SimulationActor func heirs() {
    let seed = UInt64.random(in: .min ... .max)
    let clock = ManualClock()
    let server = SimulatedServer(clock, atOnce: 6) { $0 < .seconds(2000) }
    let client = server.client { $0.retry = RetryPolicy(patience: .seconds(600)) }
    let tally = Tally()
    // Every walk asks again when its patience is over.
    SimulatedServer.run(clock, seed: seed) {
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<50 {
          let walk = client.cursor(
            of: Int.self, at: "https://api.test/\(number)", pagination: SimulatedServer.pagination
          ).walk()
          group.addTask {
            for _ in 0..<10 {
              do {
                while try await walk.next() != nil { tally.add(page: true) }
                return
              } catch {
                tally.add(page: false, error)
              }
            }
          }
        }
      }
    }
    let counts = tally.counts.withLock { $0 }
    #expect(counts.pages == 500, "seed \(seed): \(counts.errors)")
    let seen = server.seen.withLock { $0 }
    #expect(seen.requests <= 500 + 60, "seed \(seed)")
  }

  @Test("15-Order: a consumer that waits is served next, however many pages are read ahead")
  @SimulationActor func order() {
    let seed = UInt64.random(in: .min ... .max)
    let clock = ManualClock()
    let server = SimulatedServer(clock, latency: .seconds(1), pages: 100_000, atOnce: 4)
    let client = server.client()
    let waited = Times()
    SimulatedServer.run(clock, seed: seed, until: .seconds(400)) {
      for number in 0..<100 {
        Task {
          let cursor = client.cursor(
            of: Int.self, at: "https://api.test/ahead\(number)",
            pagination: SimulatedServer.pagination)
          let urgency = ReadUrgency(.ahead)
          try? await ReadUrgency.$current.withValue(urgency) { for try await _ in cursor {} }
        }
      }
      Task {
        let walk = client.cursor(
          of: Int.self, at: "https://api.test/waited", pagination: SimulatedServer.pagination
        ).walk()
        for _ in 0..<20 {
          let begin = clock.now.offset
          _ = try? await walk.next()
          let time = clock.now.offset - begin
          waited.all.withLock { $0.append(time) }
          try? await clock.sleep(for: .seconds(5))
        }
      }
    }
    let times = waited.all.withLock { $0 }
    #expect(times.count == 20, "seed \(seed)")
    // Its own time, and that of the request in front of it.
    #expect(times.allSatisfy { $0 <= .seconds(2) }, "seed \(seed): \(times)")
    let paths = server.seen.withLock { $0.paths.prefix(1_000).map { $0.prefix(8) } }
    #expect(Set(paths).count > 90, "every walk has its turn")
    let delay = (times.max() ?? .zero) - .seconds(1)
    showFigure("wait behind 100 look-aheads, requests of 1 s", "\(delay)", bar: "≤ 1 s")
  }

  @Test(
    "15-Rate: a limit of one's own holds for all walks of a client together, from the first request on"
  )
  @SimulationActor func ownRate() {
    let seed = UInt64.random(in: .min ... .max)
    let clock = ManualClock()
    let server = SimulatedServer(clock, pages: 10)
    let client = server.client { $0.budget.rate = .init(5, per: .seconds(1)) }
    let tally = Tally()
    SimulatedServer.run(clock, seed: seed, drain(client, walks: 20, tally))
    #expect(tally.counts.withLock { $0.pages } == 200, "seed \(seed)")
    #expect(server.seconds >= 199.0 / 5 && server.seconds < 199.0 / 5 + 1, "\(server.seconds)")
  }
}
