@testable import QuireCore
@testable import QuireCurl
import QuireHTTP
import QuireJSON
import QuirePagination
import QuireTesting
import TestSupport
import Testing

/// The server's view: what it could send, and when it had to wait.
@Suite("Readers slower than their servers", .timeLimit(.minutes(15)))
struct BackPressureTests {
  private static let block = (0..<251_000).map { UInt8($0 % 251) }
  private static let blocks = 96
  /// Far more than a transport reads ahead and the sockets hold between them.
  private static let length = blocks * block.count
  /// 1 MiB, and what Linux lets a connection grow to by default: 4 MiB sent, 6 MiB received.
  private static let bound = 14 << 20

  private func server(
    declaring length: Int = length, then end: [FaultStep] = []
  ) throws -> FaultServer {
    try FaultServer { request in
      switch request.path {
      case "/large":
        [
          .write("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n"),
          .floodUntilBlocked(Self.block, times: Self.blocks, mark: "blocked"),
        ] + end
      case "/slow":
        [
          .drip(Array("HTTP/1.1 200 OK\r\n".utf8), pause: .milliseconds(100)), .write("\r\n"),
          .finish,
        ]
      default: [.respond("quick")]
      }
    }
  }

  private func large(
    on server: FaultServer, timeouts: Timeouts = Timeouts(total: .seconds(300))
  ) -> TransportRequest {
    TransportRequest(
      server.url("/large"), timeouts: timeouts,
      limits: TransferLimits(wireBytes: 1 << 30, decodedBytes: 1 << 30))
  }

  /// Reads to the end; how many bytes came as they were sent.
  private func rest(of body: TransportBody) async throws -> Int {
    var count = 0
    while let slice = try await body.next() {
      var rest = slice[...]
      while !rest.isEmpty {
        let expected = Self.block[(count % 251)...].prefix(rest.count)
        guard Array(rest.prefix(expected.count)) == Array(expected) else { return count }
        count += expected.count
        rest = rest.dropFirst(expected.count)
      }
    }
    return count
  }

  @Test("a body that rests is taken 1 MiB ahead, and comes whole when it is read")
  func rest() async throws {
    let server = try server()
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    let response = try await transport.send(large(on: server))
    try await server.reached("blocked")
    #expect(server.bytesFlooded < Self.bound)
    #expect(try await rest(of: response.body) == Self.length)
    await transport.shutdown()
  }

  @Test("C-7: a walk that rests in the middle of a body holds up no other request")
  func others() async throws {
    let server = try server()
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    let response = try await transport.send(large(on: server))
    try await server.reached("blocked")
    for _ in 0..<50 { #expect(try await transport.fetch(server.url()).text == "quick") }
    #expect(try await rest(of: response.body) == Self.length)
    await transport.shutdown()
  }

  @Test("N6: the stall timer does not count how long the reader takes")
  func time() async throws {
    let server = try server()
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    let timeouts = Timeouts(stall: .seconds(1), total: .seconds(300))
    let response = try await transport.send(large(on: server, timeouts: timeouts))
    try await server.reached("blocked")
    // A second and a half.
    _ = try await transport.fetch(server.url("/slow"))
    #expect(try await rest(of: response.body) == Self.length)
    await transport.shutdown()
  }

  @Test("N6: a server that falls silent once its reader goes on is timedOut")
  func silence() async throws {
    let server = try server(declaring: Self.length + 1, then: [.hold])
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    let timeouts = Timeouts(stall: .seconds(1), total: .seconds(300))
    let response = try await transport.send(large(on: server, timeouts: timeouts))
    try await server.reached("blocked")
    let error = await #expect(throws: PageError.self) { try await rest(of: response.body) }
    #expect(error?.code == .timedOut)
    await transport.shutdown()
  }

  @Test("H1: a body cut while it rested is truncated when it is read")
  func cut() async throws {
    let server = try server(declaring: Self.length + 1, then: [.finish])
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    let response = try await transport.send(large(on: server))
    try await server.reached("blocked")
    let error = await #expect(throws: PageError.self) { try await rest(of: response.body) }
    #expect(error?.code == .truncated)
    await transport.shutdown()
  }

  @Test("a body beyond the wire limit is limitExceeded, rested or not")
  func limit() async throws {
    let server = try FaultServer { _ in
      [
        .write("HTTP/1.1 200 OK\r\n\r\n"),
        .floodUntilBlocked(Self.block, times: Self.blocks, mark: "blocked"), .hold,
      ]
    }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    // The bytes that libcurl keeps while the body rests are those that go too far.
    let limits = TransferLimits(wireBytes: 1 << 20 + 16 << 10 - 1)
    let response = try await transport.send(TransportRequest(server.url(), limits: limits))
    try await server.reached("blocked")
    let error = await #expect(throws: PageError.self) { try await rest(of: response.body) }
    #expect(error?.code == .limitExceeded)
    try await server.disconnected()
    await transport.shutdown()
  }

  @Test("C1 C-7: cancelling or dropping a body that rests closes its connection")
  func endings() async throws {
    let server = try server()
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    func drop() async throws {
      let response = try await transport.send(large(on: server))
      try await server.reached("blocked")
      _ = response
    }
    try await drop()
    try await server.disconnected()
    let response = try await transport.send(large(on: server))
    try await server.reached("blocked", 2)
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      return try await response.body.next()
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    try await server.disconnected(2)
    #expect(transport.ledger.runningTransfers == 0)
    await transport.shutdown()
    #expect(transport.ledger.openSockets == 0)
  }

  @Test("chunks and gzip come whole to a reader that goes on and rests by turns")
  func turns() async throws {
    var generator = SeededGenerator(seed: 17)
    let body = (0..<(4 << 20)).map { _ in UInt8.random(in: 0...255, using: &generator) }
    let server = try FaultServer { request in
      switch request.path {
      case "/gzip": [.respond(Gzip.member(body), headers: [("Content-Encoding", "gzip")])]
      default: [.write(Chunked.head + Chunked.chunks(body, of: 1000) + Chunked.end)]
      }
    }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    for path in ["/gzip", "/chunked"] {
      let response = try await transport.send(TransportRequest(server.url(path)))
      var received: [UInt8] = []
      while let slice = try await response.body.next() {
        received += slice
        for _ in 0..<1_000 { await Task.yield() }
      }
      #expect(received == body)
    }
    await transport.shutdown()
  }
}
