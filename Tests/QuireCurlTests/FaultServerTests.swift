import Testing
import TestSupport

@Suite("The fault server does what its script says", .timeLimit(.minutes(15)))
struct FaultServerTests {
  @Test("Scripts are chosen by path and ordinal, on one connection for several requests")
  func scriptsByPathAndOrdinal() async throws {
    let server = try FaultServer { request in
      switch (request.path, request.ordinal) {
      case ("/page", 1): [.respond("one")]
      case ("/page", _): [.slices(Array("HTTP/1.1 204 No Content\r\n\r\n".utf8), of: 1)]
      default: [.finish]
      }
    }
    defer { server.stop() }
    let client = try RawClient(port: server.port)
    try client.send("GET /page?a=1 HTTP/1.1\r\nHost: x\r\n\r\n")
    #expect(try client.receive(count: 41) == "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\none")
    try client.send("GET /page?b=2 HTTP/1.1\r\n\r\nGET /other HTTP/1.1\r\n\r\n")
    #expect(client.receiveAll() == ("HTTP/1.1 204 No Content\r\n\r\n", .finished))
    #expect(server.requests.map(\.target) == ["/page?a=1", "/page?b=2", "/other"])
    #expect(server.requests.map(\.ordinal) == [1, 2, 1])
    #expect(server.connections == 1)
  }

  @Test("The log holds head, fields and body of a request as they were sent")
  func log() async throws {
    let server = try FaultServer(address: "127.0.0.3") { _ in [.respond("")] }
    defer { server.stop() }
    let client = try RawClient(address: "127.0.0.3", port: server.port)
    try client.send("POST /a HTTP/1.1\r\nX-One:  v w \r\ncontent-length: 5\r\n\r\nhel")
    try client.send("lo")
    try await server.received()
    let request = try #require(server.requests.first)
    #expect(request.method == "POST")
    #expect(request.values(of: "x-one") == ["v w"])
    #expect(request.body == Array("hello".utf8))
    #expect(request.head.starts(with: Array("POST /a HTTP/1.1\r\nX-One:  v w \r\n".utf8)))
    #expect(request.connection == 1)
  }

  @Test("A script can reset, finish, refuse, stall until a gate opens, and see its peer go")
  func endings() async throws {
    let gate = StallGate()
    let server = try FaultServer(onAccept: { $0 == 1 ? [.write("early"), .reset] : [] }) {
      request in
      request.path == "/stall"
        ? [.write("a"), .mark("written"), .stall(until: gate), .write("b"), .finish] : [.hold]
    }
    defer { server.stop() }
    #expect(try RawClient(port: server.port).receiveAll().end == .reset)

    let stalled = try RawClient(port: server.port)
    try stalled.send("GET /stall HTTP/1.1\r\n\r\n")
    try await server.reached("written")
    gate.open()
    #expect(stalled.receiveAll() == ("ab", .finished))

    do {
      let leaving = try RawClient(port: server.port)
      try leaving.send("GET /hold HTTP/1.1\r\n\r\n")
      try await server.received(2)
      #expect(server.disconnections == 0)
      withExtendedLifetime(leaving) {}
    }
    try await server.disconnected()
    try await server.quiet()
    server.refuseConnections()
    #expect(throws: POSIXError.self) {
      try RawClient(port: server.port).send("GET / HTTP/1.1\r\n\r\n")
    }
  }

  @Test("Stopping joins all threads and closes all descriptors, whatever the scripts do")
  func stopping() async {
    await #expect(processExitsWith: .success) {
      let before = ProcessLedger.now()
      let server = try FaultServer(tls: FaultTLS(), onAccept: { _ in [.hold] }) { _ in [] }
      let hole = try FaultServer.blackHole()
      let plain = try FaultServer { _ in [.flood(Array(repeating: 65, count: 65_536), times: .max)]
      }
      let clients = try (0..<20).map { _ in try RawClient(port: plain.port) }
      for client in clients { try client.send("GET / HTTP/1.1\r\n\r\n") }
      let handshaking = try RawClient(port: server.port)
      try await plain.received(20)
      try await server.accepted()
      for server in [server, hole, plain] { server.stop() }
      let after = ProcessLedger.now()
      // Only the clients' own sockets are left.
      #expect(after.sockets - before.sockets == 21)
      #expect(after.threads - before.threads < 20, "the servers alone had more threads than that")
      withExtendedLifetime((clients, handshaking)) {}
    }
  }
}
