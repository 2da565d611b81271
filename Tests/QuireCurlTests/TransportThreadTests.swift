import Glibc
import QuireCore
import QuireHTTP
import QuireJSON
import QuirePagination
import QuireTesting
import Synchronization
import TestSupport
import Testing

@testable import QuireCurl

@Suite("A loop on the transport's thread", .timeLimit(.minutes(15)))
struct TransportThreadTests {
  /// The name of the thread that this runs on.
  private static var thread: String {
    var name = [CChar](repeating: 0, count: 64)
    guard let file = fopen("/proc/thread-self/comm", "r") else { return "" }
    defer { fclose(file) }
    fgets(&name, Int32(name.count), file)
    return String(
      decoding: name.prefix { $0 > 0x20 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  private func server() throws -> FaultServer {
    try FaultServer { request in
      let page = Int(request.target.split(separator: "=").last ?? "") ?? 1
      return [.respond(page < 6 ? "[\(page)]" : "[]")]
    }
  }

  private func cursor(_ transport: CurlTransport, _ server: FaultServer) -> Cursor<Int> {
    PageClient(transport: transport).cursor(
      at: server.url("/list"),
      pagination: Pagination(next: .pageNumber, send: .query("page"), end: [.emptyPage]),
      decoder: JSONPageDecoder<Int>())
  }

  /// What a loop off every actor gets, and the threads that it runs on.
  @concurrent private func walk(
    _ cursor: Cursor<Int>, _ seen: @Sendable (Int) async -> Void = { _ in }
  ) async throws -> (items: [Int], threads: Set<String>) {
    var items: [Int] = []
    var threads: Set<String> = []
    for try await item in cursor.items {
      items.append(item)
      threads.insert(Self.thread)
      await seen(item)
    }
    return (items, threads)
  }

  @Test(
    "14-Thread: a loop that prefers the transport runs on its thread, page after page, and gets all items"
  )
  func stays() async throws {
    let server = try server()
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    let cursor = cursor(transport, server)
    let (items, threads) = try await withTaskExecutorPreference(transport) {
      try await walk(cursor)
    }
    #expect(items == [1, 2, 3, 4, 5])
    #expect(threads == ["quire-curl"])
    await transport.shutdown()
  }

  @Test(
    "14-Thread: loops that share the thread go on side by side, and each is cancelled by itself")
  func shared() async throws {
    let server = try server()
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    let cursor = cursor(transport, server)
    let sums = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<4 {
        group.addTask(executorPreference: transport) {
          try await walk(cursor).items.reduce(0, +)
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(sums == [15, 15, 15, 15])
    let gate = StallGate()
    let stalled = try FaultServer { _ in [.stall(until: gate)] }
    defer { stalled.stop() }
    let waiting = self.cursor(transport, stalled)
    let task = Task(executorPreference: transport) { _ = try await walk(waiting) }
    try await stalled.received()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    await transport.shutdown()
  }

  @Test(
    "14-Thread: a transport may be shut down by a loop on its own thread, which then goes on elsewhere"
  )
  func shutDown() async throws {
    let server = try server()
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    let cursor = cursor(transport, server)
    let items = Mutex<[Int]>([])
    let last = Mutex("")
    let error = await #expect(throws: PageError.self) {
      try await withTaskExecutorPreference(transport) {
        _ = try await walk(cursor) { item in
          items.withLock { $0.append(item) }
          guard item == 2 else { return }
          await transport.shutdown()
          last.withLock { $0 = Self.thread }
        }
      }
    }
    #expect(items.withLock { $0 } == [1, 2])
    #expect(error?.code == .clientClosed)
    #expect(last.withLock { $0 } != "quire-curl")
  }
}
