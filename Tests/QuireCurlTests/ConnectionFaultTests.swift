import QuireCore
@testable import QuireCurl
import QuireHTTP
import QuireJSON
import QuirePagination
import TestSupport
import Testing

@Suite("Connections that fail", .timeLimit(.minutes(15)))
struct ConnectionFaultTests {
  static let response = Array("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello".utf8)

  @Test("N1: a refused connection is connectFailed, and leaves no socket")
  func refused() async throws {
    let server = try FaultServer { _ in [] }
    defer { server.stop() }
    server.refuseConnections()
    let transport = CurlTransport.underTest()
    try await transport.expectFailure(TransportRequest(server.url()), .connectFailed)
    #expect(transport.ledger.openSockets == 0)
    await transport.shutdown()
  }

  @Test("N3: a reset right after accepting is an error, and the next request goes through")
  func resetAfterAccept() async throws {
    let server = try FaultServer(onAccept: { $0 == 1 ? [.reset] : [] }) { _ in [.respond("on")] }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    try await transport.expectFailure(
      TransportRequest(server.url()), .truncated, .connectFailed)
    #expect(try await transport.fetch(server.url()).text == "on")
    await transport.shutdown()
  }

  @Test("N4: a reset after any byte of head or body never makes a response")
  func resetAtEveryByte() async throws {
    let server = try FaultServer { request in
      [.write(Array(Self.response.prefix(Int(request.path.dropFirst()) ?? 0))), .reset]
    }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    for count in 0..<Self.response.count {
      try await transport.expectFailure(
        TransportRequest(server.url("/\(count)")), .truncated, comment: "reset after byte \(count)")
    }
    #expect(server.connections == Self.response.count)
    await transport.shutdown()
  }

  @Test("N5: a connection closed inside the head is truncated at every byte, not an empty page")
  func closedInsideHead() async throws {
    let head = Array("HTTP/1.1 200 OK\r\nServer: test\r\nX-Page: 1\r\n\r\n".utf8)
    let server = try FaultServer { request in
      [.write(Array(head.prefix(Int(request.path.dropFirst()) ?? 0))), .finish]
    }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    for count in 0..<head.count {
      try await transport.expectFailure(
        TransportRequest(server.url("/\(count)")), .truncated, .protocolViolation,
        comment: "closed after byte \(count)")
    }
    #expect(try await transport.fetch(server.url("/\(head.count)")).body.isEmpty)
    await transport.shutdown()
  }

  @Test("N9: a kept connection that the server has closed meanwhile is replaced without an error")
  func closedWhileIdle() async throws {
    let server = try FaultServer { request in
      request.ordinal.isMultiple(of: 2) ? [.respond("even"), .finish] : [.respond("odd")]
    }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    for round in 1...10 {
      let text = try await transport.fetch(server.url()).text
      #expect(text == (round.isMultiple(of: 2) ? "even" : "odd"))
    }
    #expect(server.requests.count == 10)
    #expect(server.connections == 5)
    await transport.shutdown()
  }

  @Test("N9: a kept connection that dies under a request is replayed once, and the replay counted")
  func closedUnderRequest() async throws {
    let server = try FaultServer { request in
      switch request.ordinal {
      case 2: [.reset]
      default: [.respond("\(request.ordinal)")]
      }
    }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    #expect(try await transport.fetch(server.url()).metrics.wireRequests == 1)
    let second = try await transport.fetch(server.url())
    #expect(second.text == "3")
    #expect(second.metrics.wireRequests == 2)
    #expect(server.requests.map(\.connection) == [1, 1, 2])
    await transport.shutdown()
  }

  @Test("N9: replays are capped: a server that kills every kept connection costs two requests")
  func cappedReplays() async throws {
    let server = try FaultServer { request in
      request.path == "/warm"
        ? [.mark("warm"), .stallUntilReached("warm", times: 6), .respond("warm")] : [.reset]
    }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<6 { group.addTask { _ = try await transport.fetch(server.url("/warm")) } }
      try await group.waitForAll()
    }
    try await transport.expectFailure(TransportRequest(server.url("/dead")), .truncated)
    #expect(server.requests.count { $0.path == "/dead" } <= 2)
    await transport.shutdown()
  }

  @Test(
    "N10: bytes that come unasked on an idle connection are never the next answer",
    arguments: [false, true])
  func unsolicitedBytes(overTLS: Bool) async throws {
    let gate = StallGate()
    let smuggled = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
    let server = try FaultServer(tls: overTLS ? FaultTLS() : nil) { request in
      request.ordinal == 1
        ? [.respond("one"), .stall(until: gate), .write(smuggled), .mark("sent"), .hold]
        : [.respond("two")]
    }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    #expect(try await transport.fetch(server.url()).text == "one")
    gate.open()
    try await server.reached("sent")
    #expect(try await transport.fetch(server.url()).text == "two")
    #expect(server.connections == 2)
    await transport.shutdown()
  }

  @Test("Twenty requests in a row share one connection")
  func keepAlive() async throws {
    let server = try FaultServer { [.respond("\($0.ordinal)")] }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    for ordinal in 1...20 {
      let fetched = try await transport.fetch(server.url())
      #expect(fetched.text == "\(ordinal)")
      #expect(fetched.metrics.reusedConnection == (ordinal > 1))
    }
    #expect(server.connections == 1)
    await transport.shutdown()
    #expect(transport.ledger.openSockets == 0)
  }
}
