import QuireCore
@testable import QuireCurl
import QuireHTTP
import QuireJSON
import QuirePagination
import QuireTesting
import TestSupport

/// Requests from many tasks, each cancelled at a point that a seed has chosen.
struct CancelStorm: Sendable {
  let seed: UInt64
  let count: Int

  /// What became of them, and what was left behind.
  struct Outcome: Sendable {
    var answered = 0
    var cancelled = 0
    /// Errors that should not have been.
    var failures: [String] = []
    var socketsLeft = 0
    var transfersLeft = 0
    var handlesLeft = 0
    var descriptorsGrown = 0
    var threadsGrown = 0
    var residentBytesGrown = 0

    var ended: Int { answered + cancelled + failures.count }
  }

  /// Where a request is cancelled.
  private enum Point: CaseIterable {
    case beforeStart
    case atOnce
    case afterSomeYields
    case afterHead
    case afterFirstSlice
    case never
  }

  /// Several servers, so that ports in TIME_WAIT do not run out.
  private static func start(_ address: String) throws -> FaultServer {
    try FaultServer(address: address, keepsRequests: false) { request in
      switch request.path {
      case "/stall/head": [.hold]
      case "/stall/body": [.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nfirst"), .hold]
      default: [.respond("first and last")]
      }
    }
  }

  func run() async throws -> Outcome {
    let servers = try (1...4).map { try Self.start("127.0.0.\($0)") }
    // A first round of everything, so that what is made once is not taken for a leak.
    try await finish(transport: .underTest(), servers, requests: 200, seed: seed)
    for server in servers { try await server.quiet() }
    let before = ProcessLedger.now()
    let transport = CurlTransport.underTest(connectionsPerHost: 16)
    var outcome = try await finish(transport: transport, servers, requests: count, seed: seed &+ 1)
    for server in servers { try await server.quiet() }
    let after = ProcessLedger.now()
    outcome.socketsLeft = transport.ledger.openSockets
    outcome.transfersLeft = transport.ledger.runningTransfers
    outcome.handlesLeft = transport.ledger.easyHandles
    outcome.descriptorsGrown = after.descriptors.count - before.descriptors.count
    outcome.threadsGrown = after.threads - before.threads
    outcome.residentBytesGrown = after.residentBytes - before.residentBytes
    for server in servers { server.stop() }
    return outcome
  }

  @discardableResult
  private func finish(
    transport: CurlTransport, _ servers: [FaultServer], requests: Int, seed: UInt64
  ) async throws -> Outcome {
    let workers = 16
    var total = Outcome()
    await withTaskGroup(of: Outcome.self) { group in
      for worker in 0..<workers {
        let share = requests / workers + (worker < requests % workers ? 1 : 0)
        let url = servers[worker % servers.count].url("")
        group.addTask {
          await work(
            transport, url, requests: share, SeededGenerator(seed: seed &+ UInt64(worker) &* 7919))
        }
      }
      for await outcome in group {
        total.answered += outcome.answered
        total.cancelled += outcome.cancelled
        total.failures += outcome.failures
      }
    }
    await transport.shutdown()
    return total
  }

  private func work(
    _ transport: CurlTransport, _ url: String, requests: Int, _ generator: SeededGenerator
  ) async -> Outcome {
    var generator = generator
    var outcome = Outcome()
    for _ in 0..<requests {
      let point = Point.allCases.randomElement(using: &generator) ?? .never
      let path = path(for: point, &generator)
      let yields = Int.random(in: 0..<40, using: &generator)
      do {
        _ = try await request(url + path, cancelledAt: point, yields, transport)
        outcome.answered += 1
      } catch is CancellationError {
        outcome.cancelled += 1
      } catch {
        outcome.failures.append("\(point) \(path): \(error)")
      }
    }
    return outcome
  }

  /// What is waited for has to come; what is cancelled by time alone may stall.
  private func path(for point: Point, _ generator: inout SeededGenerator) -> String {
    switch point {
    case .beforeStart, .atOnce, .afterSomeYields:
      ["/", "/", "/stall/head", "/stall/body"].randomElement(using: &generator) ?? "/"
    case .afterHead, .afterFirstSlice: Bool.random(using: &generator) ? "/" : "/stall/body"
    case .never: "/"
    }
  }

  private func request(
    _ url: String, cancelledAt point: Point, _ yields: Int, _ transport: CurlTransport
  ) async throws -> Int {
    let task = Task {
      if point == .beforeStart { withUnsafeCurrentTask { $0?.cancel() } }
      let response = try await transport.send(TransportRequest(url))
      if point == .afterHead { withUnsafeCurrentTask { $0?.cancel() } }
      var count = 0
      while let slice = try await response.body.next() {
        count += slice.count
        if point == .afterFirstSlice { withUnsafeCurrentTask { $0?.cancel() } }
      }
      return count
    }
    switch point {
    case .atOnce: task.cancel()
    case .afterSomeYields:
      for _ in 0..<yields { await Task.yield() }
      task.cancel()
    default: break
    }
    return try await task.value
  }
}
