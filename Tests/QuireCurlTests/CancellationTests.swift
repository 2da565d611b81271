import QuireCore
@testable import QuireCurl
import QuireHTTP
import QuireJSON
import QuirePagination
import TestSupport
import Testing

@Suite("Cancellation, down to the socket", .timeLimit(.minutes(15)))
struct CancellationTests {
  private static let start = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nfirst"

  private func expectCancelled<Success: Sendable>(
    _ task: Task<Success, any Error>, sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    task.cancel()
    await #expect(throws: CancellationError.self, sourceLocation: sourceLocation) {
      try await task.value
    }
  }

  private func expectNothingLeft(_ transport: CurlTransport) async {
    #expect(transport.ledger.runningTransfers == 0)
    await transport.shutdown()
    #expect(transport.ledger.openSockets == 0)
    #expect(transport.ledger.easyHandles == 0)
  }

  @Test("C1: a task cancelled before the start throws CancellationError and connects to nobody")
  func beforeStart() async throws {
    let server = try FaultServer { _ in [.respond("")] }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      return try await transport.send(TransportRequest(server.url()))
    }
    await expectCancelled(task)
    #expect(server.connections == 0)
    await expectNothingLeft(transport)
  }

  @Test("C1: a connection attempt is given up when its task is cancelled")
  func duringConnect() async throws {
    let server = try FaultServer.blackHole()
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    // No timer would end it within the test.
    let timeouts = Timeouts(connect: .seconds(36_000))
    let task = Task { try await transport.send(TransportRequest(server.url(), timeouts: timeouts)) }
    try await giveWay { transport.ledger.openSockets > 0 }
    await expectCancelled(task)
    await expectNothingLeft(transport)
  }

  @Test("C1: cancelling while the head is awaited closes the connection")
  func duringHead() async throws {
    let server = try FaultServer { _ in [.hold] }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    let task = Task { try await transport.send(TransportRequest(server.url())) }
    try await server.received()
    await expectCancelled(task)
    try await server.disconnected()
    await expectNothingLeft(transport)
  }

  @Test(
    "H30, C1: cancelling while a slice is awaited closes the connection, and the body stays failed")
  func duringBody() async throws {
    let server = try FaultServer { _ in [.write(Self.start), .mark("started"), .hold] }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    let response = try await transport.send(TransportRequest(server.url()))
    let first = try await response.body.next()
    #expect(first == Array("first".utf8))
    let task = Task { try await response.body.next() }
    try await server.reached("started")
    await expectCancelled(task)
    try await server.disconnected()
    await #expect(throws: (any Error).self, "a cancelled body does not look complete") {
      try await response.body.next()
    }
    await expectNothingLeft(transport)
  }

  @Test("C2: cancelling after the end changes nothing; the connection is kept")
  func afterEnd() async throws {
    let server = try FaultServer { [.respond("\($0.ordinal)")] }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    for ordinal in 1...50 {
      let task = Task { try await transport.fetch(server.url()) }
      #expect(try await task.value.text == "\(ordinal)")
      task.cancel()
    }
    #expect(server.connections == 1)
    await expectNothingLeft(transport)
  }

  @Test("C2: cancelling at the moment of the answer gives one or the other, never both or none")
  func races() async throws {
    let server = try FaultServer { _ in [.mark("asked"), .respond("answer")] }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    for round in 1...500 {
      let task = Task { try await transport.fetch(server.url()) }
      try await server.reached("asked", round)
      task.cancel()
      do {
        #expect(try await task.value.text == "answer")
      } catch is CancellationError {}
    }
    await expectNothingLeft(transport)
  }

  @Test("C3: many tasks cancelled at once all end, and the transport goes on")
  func together() async throws {
    let server = try FaultServer { $0.path == "/stall" ? [.hold] : [.respond("alive")] }
    defer { server.stop() }
    let transport = CurlTransport.underTest(connectionsPerHost: 64)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<64 {
        group.addTask { _ = try await transport.fetch(server.url("/stall")) }
      }
      try await server.received(64)
      group.cancelAll()
      while let result = await group.nextResult() {
        #expect(throws: CancellationError.self) { try result.get() }
      }
    }
    try await server.disconnected(64)
    #expect(try await transport.fetch(server.url()).text == "alive")
    await expectNothingLeft(transport)
  }

  @Test("C1: requests that wait for a connection are cancelled where they wait")
  func queued() async throws {
    let server = try FaultServer { _ in [.hold] }
    defer { server.stop() }
    let transport = CurlTransport.underTest(connectionsPerHost: 1)
    let running = Task { try await transport.fetch(server.url("/running")) }
    try await server.received()
    let waiting = (0..<20).map { _ in Task { try await transport.fetch(server.url("/waiting")) } }
    try await giveWay { transport.ledger.runningTransfers == 21 }
    for task in waiting { await expectCancelled(task) }
    #expect(server.requests.count == 1)
    await expectCancelled(running)
    try await server.disconnected()
    await expectNothingLeft(transport)
  }

  @Test("C4: leaving the loop over a body closes the connection")
  func leavingTheLoop() async throws {
    let server = try FaultServer { _ in [.write(Self.start), .hold] }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    func readFirst() async throws -> [UInt8]? {
      let response = try await transport.send(TransportRequest(server.url()))
      while let slice = try await response.body.next() { return slice }
      return nil
    }
    #expect(try await readFirst() == Array("first".utf8))
    try await server.disconnected()
    await expectNothingLeft(transport)
  }

  @Test("C5: a response that is dropped unread closes the connection")
  func droppedUnread() async throws {
    let server = try FaultServer { _ in [.write(Self.start), .hold] }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    func send() async throws { _ = try await transport.send(TransportRequest(server.url())) }
    try await send()
    try await server.disconnected()
    await expectNothingLeft(transport)
  }

  @Test("C5: dropping the transport closes its connections and ends its thread")
  func droppedTransport() async throws {
    let server = try FaultServer { _ in [.respond("kept")] }
    defer { server.stop() }
    func use() async throws {
      let transport = CurlTransport.underTest()
      _ = try await transport.fetch(server.url())
    }
    for _ in 0..<20 { try await use() }
    try await server.disconnected(20)
  }

  @Test("Shutting down ends what is in flight with clientClosed, and closes everything")
  func shutdown() async throws {
    let server = try FaultServer { $0.path == "/body" ? [.write(Self.start), .hold] : [.hold] }
    defer { server.stop() }
    let transport = CurlTransport.underTest(connectionsPerHost: 40)
    let tasks = (0..<40).map { index in
      Task { try await transport.fetch(server.url(index.isMultiple(of: 2) ? "/body" : "/head")) }
    }
    try await server.received(40)
    await transport.shutdown()
    for task in tasks {
      let error = await #expect(throws: PageError.self) { try await task.value }
      #expect(error?.code == .clientClosed)
    }
    try await server.disconnected(40)
    #expect(transport.ledger.openSockets == 0)
    #expect(transport.ledger.easyHandles == 0)
    try await transport.expectFailure(TransportRequest(server.url()), .clientClosed)
  }
}
