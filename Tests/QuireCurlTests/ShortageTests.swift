import Glibc
import QuireCore
import QuireHTTP
import QuirePagination
import Synchronization
import TestSupport
import Testing

@testable import QuireCurl

/// Each test that limits its process has one of its own.
@Suite("What a process lacks", .timeLimit(.minutes(15)))
struct ShortageTests {
  /// Lets the process have this many files open.
  private static func limitFiles(to count: Int) {
    var limit = rlimit(rlim_cur: rlim_t(count), rlim_max: rlim_t(count))
    #expect(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
  }

  /// Opens files until the process can open only `count` more.
  private static func openAllFiles(but count: Int) -> [Int32] {
    var opened: [Int32] = []
    while case let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC), descriptor >= 0 {
      opened.append(descriptor)
    }
    for _ in 0..<count { close(opened.removeLast()) }
    return opened
  }

  @Test(
    "Q1: a transport made without descriptors says so for each request, and serves once there are some"
  )
  func noDriver() async {
    await #expect(processExitsWith: .success) {
      let server = try FaultServer { _ in [.respond("[1]")] }
      defer { server.stop() }
      Self.limitFiles(to: 256)
      // Fewer would let Swift's runtime trap.
      let files = Self.openAllFiles(but: 4)
      let transport = CurlTransport()
      for _ in 0..<3 {
        let error = await #expect(throws: PageError.self) {
          try await transport.fetch(server.url())
        }
        #expect(error?.code == .connectFailed)
        #expect(error?.message.contains("fewer than 8 more files to open") == true)
      }
      for file in files { close(file) }
      #expect(try await transport.fetch(server.url()).text == "[1]")
      await transport.shutdown()
    }
  }

  @Test("Q1: a transport that never had descriptors is shut down at once, and stays so")
  func shutDownWithoutDriver() async {
    await #expect(processExitsWith: .success) {
      Self.limitFiles(to: 256)
      let files = Self.openAllFiles(but: 4)
      let transport = CurlTransport()
      let other = CurlTransport()
      // A task that prefers a transport without a thread runs elsewhere.
      #expect(await Task(executorPreference: other) { 5 }.value == 5)
      await transport.shutdown()
      await transport.shutdown()
      for file in files { close(file) }
      let error = await #expect(throws: PageError.self) {
        try await transport.fetch("http://127.0.0.1:1/")
      }
      #expect(error?.code == .clientClosed)
      await other.shutdown()
    }
  }

  /// The number of requests that have ended, in the process of the next test.
  private static let ended = Mutex(0)

  @Test(
    "Q1: connections leave 8 descriptors free, and those that would not fail with connectFailed")
  func reserve() async {
    await #expect(processExitsWith: .success) {
      let hole = try FaultServer.blackHole()
      defer { hole.stop() }
      Self.limitFiles(to: 256)
      let transport = CurlTransport.underTest(connectionsPerHost: 40)
      // The first timer, for which libdispatch opens descriptors of its own.
      try await Task.sleep(for: .nanoseconds(1))
      let files = Self.openAllFiles(but: 20)
      let long = Duration.seconds(600)
      let request = TransportRequest(
        hole.url(), timeouts: Timeouts(connect: long, head: long, stall: long, total: long))
      let requests = (0..<40).map { _ in
        Task {
          defer { Self.ended.withLock { $0 += 1 } }
          return try await transport.fetch(request)
        }
      }
      while Self.ended.withLock({ $0 }) + transport.ledger.openSockets < 40 { await Task.yield() }
      let open = transport.ledger.openSockets
      #expect(open > 0 && open <= 12)
      #expect(DescriptorReserve.available(upTo: 40) == 8)
      for request in requests { request.cancel() }
      var (refused, cancelled) = (0, 0)
      for request in requests {
        do {
          _ = try await request.value
        } catch let error as PageError where error.code == .connectFailed {
          refused += error.message.contains("more files to open") ? 1 : 0
        } catch is CancellationError {
          cancelled += 1
        }
      }
      #expect(refused == 40 - open && cancelled == open)
      for file in files { close(file) }
      await transport.shutdown()
    }
  }

  @Test("Q1: connections are at most half of a process's files, and further requests wait")
  func half() async {
    await #expect(processExitsWith: .success) {
      let hole = try FaultServer.blackHole()
      defer { hole.stop() }
      // Many, because the process inherits what the tests have open.
      Self.limitFiles(to: 320)
      let transport = CurlTransport.underTest(connectionsPerHost: 200)
      let long = Duration.seconds(600)
      let request = TransportRequest(
        hole.url(), timeouts: Timeouts(connect: long, head: long, stall: long, total: long))
      let requests = (0..<200).map { _ in Task { try await transport.fetch(request) } }
      while transport.ledger.runningTransfers < 200 || transport.ledger.openSockets < 160 {
        await Task.yield()
      }
      #expect(transport.ledger.socketsOpened == 160)
      for request in requests { request.cancel() }
      for request in requests {
        await #expect(throws: CancellationError.self) { try await request.value }
      }
      await transport.shutdown()
    }
  }

  @Test("Q1: a name that cannot be looked up without descriptors is not taken for unknown")
  func resolver() async {
    await #expect(processExitsWith: .success) {
      Self.limitFiles(to: 256)
      let files = Self.openAllFiles(but: 4)
      let resolver = NameResolver()
      let error = await #expect(throws: PageError.self) {
        try await resolver.addresses(of: "localhost", within: .seconds(600))
      }
      #expect(error?.code == .connectFailed)
      #expect(error?.message.contains("fewer than 8 more files to open") == true)
      for file in files { close(file) }
      let addresses = try await resolver.addresses(of: "localhost", within: .seconds(600))
      #expect(!addresses.isEmpty)
    }
  }

  @Test("Q3: a transport that the system refuses a thread is made all the same, and serves later")
  func noThread() async {
    await #expect(processExitsWith: .success) {
      let server = try FaultServer { _ in [.respond("[1]")] }
      defer { server.stop() }
      // The stack of a new thread has no room in the address space.
      let space = try #require(
        String(decoding: contents(of: "/proc/self/statm"), as: UTF8.self).split(separator: " ")
          .first.flatMap { Int($0) })
      var before = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &before)
      var limit = before
      limit.rlim_cur = rlim_t((space + 256) * sysconf(Int32(_SC_PAGESIZE)))
      setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
      let isRefused = DriverThread(name: "none", body: {}) == nil
      let transport = CurlTransport()
      setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &before)
      #expect(isRefused)
      #expect(try await transport.fetch(server.url()).text == "[1]")
      await transport.shutdown()
    }
  }

  @Test("Q3: a name for which the system refuses a thread is looked up by one that is at work")
  func sharedThread() async throws {
    let address = try #require(IPAddress("127.0.0.77"))
    let first = Mutex<(@Sendable () -> Void)?>(nil)
    let resolver = NameResolver(
      begin: { work in
        first.withLock { first in
          guard first == nil else { return false }
          first = work
          return true
        }
      }, { _ in .addresses([address]) })
    let names = ["a.test", "b.test", "c.test"]
    let waiting = names.enumerated().map { place, name in
      Task {
        while resolver.waiting < place { await Task.yield() }
        return try await resolver.addresses(of: name, within: .seconds(600))
      }
    }
    while resolver.waiting < 3 { await Task.yield() }
    #expect(resolver.threadCount == 1)
    first.withLock { $0 }?()
    for task in waiting { #expect(try await task.value == [address]) }
    #expect(resolver.threadCount == 0 && resolver.waiting == 0)
  }
}

/// The bytes of a small file.
private func contents(of path: String) -> [UInt8] {
  let descriptor = open(path, O_RDONLY | O_CLOEXEC)
  defer { close(descriptor) }
  var bytes = [UInt8](repeating: 0, count: 4096)
  let count = read(descriptor, &bytes, bytes.count)
  return Array(bytes.prefix(max(0, count)))
}
