import QuireCore
@testable import QuireCurl
import QuireHTTP
import QuireJSON
import QuirePagination
import TestSupport
import Testing

/// The timers are libcurl's own and real; they are set to a second or less.
@Suite("Servers that take too long", .timeLimit(.minutes(15)))
struct TimeoutTests {
  @Test("N2: a server that never accepts is timedOut after the connect timeout")
  func connecting() async throws {
    let server = try FaultServer.blackHole()
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    try await transport.expectFailure(
      TransportRequest(server.url(), timeouts: Timeouts(connect: .milliseconds(300))), .timedOut)
    #expect(transport.ledger.openSockets == 0)
    await transport.shutdown()
  }

  @Test("N6: a server that falls silent in the body is timedOut by the stall timer")
  func silentBody() async throws {
    let server = try FaultServer { _ in
      [.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsome"), .hold]
    }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    try await transport.expectFailure(
      TransportRequest(server.url(), timeouts: Timeouts(stall: .seconds(1))), .timedOut)
    try await server.disconnected()
    await transport.shutdown()
  }

  @Test("N6: a server that never answers is timedOut by the head timer")
  func silentHead() async throws {
    let server = try FaultServer { _ in [.hold] }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    try await transport.expectFailure(
      TransportRequest(server.url(), timeouts: Timeouts(head: .milliseconds(500))), .timedOut)
    try await server.disconnected()
    await transport.shutdown()
  }

  @Test("N7: a head that comes byte by byte is timedOut by the head timer, stalls or not")
  func slowHead() async throws {
    let head = "HTTP/1.1 200 OK\r\n" + String(repeating: "X-Slow: and steady\r\n", count: 100)
    let server = try FaultServer { _ in [.drip(Array(head.utf8), pause: .milliseconds(10)), .hold] }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    try await transport.expectFailure(
      TransportRequest(server.url(), timeouts: Timeouts(head: .milliseconds(500))), .timedOut)
    try await server.disconnected()
    await transport.shutdown()
  }

  @Test("N8: a body just fast enough for the stall timer still has an end by the total timer")
  func slowBody() async throws {
    let body = Array("HTTP/1.1 200 OK\r\n\r\n".utf8) + [UInt8](repeating: 65, count: 10_000)
    let server = try FaultServer { _ in [.drip(body, pause: .milliseconds(5)), .hold] }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    try await transport.expectFailure(
      TransportRequest(server.url(), timeouts: Timeouts(total: .milliseconds(700))), .timedOut)
    try await server.disconnected()
    await transport.shutdown()
  }

  @Test("Waiting for a connection that others use is not taken for a slow connection")
  func queued() async throws {
    let server = try FaultServer { request in
      // Half a second, in which nothing else gets the only connection.
      request.ordinal == 1
        ? [
          .drip(Array("HTTP/1.1 200 OK\r\n".utf8), pause: .milliseconds(30)), .write("\r\n"),
          .finish,
        ]
        : [.respond("\(request.ordinal)")]
    }
    defer { server.stop() }
    let transport = CurlTransport.underTest(connectionsPerHost: 1)
    let request = TransportRequest(
      server.url(), timeouts: Timeouts(connect: .milliseconds(200), head: .seconds(5)))
    let first = Task { try await transport.fetch(request) }
    try await server.received()
    let others = (0..<5).map { _ in Task { try await transport.fetch(request) } }
    for task in others { #expect(try await task.value.status == 200) }
    #expect(try await first.value.status == 200)
    await transport.shutdown()
  }

  @Test("One slow server does not hold up another")
  func independence() async throws {
    let slow = try FaultServer { _ in [.hold] }
    let hole = try FaultServer.blackHole()
    let quick = try FaultServer { _ in [.respond("quick")] }
    defer { for server in [slow, hole, quick] { server.stop() } }
    let transport = CurlTransport.underTest()
    let stuck = [slow, hole].map { server in Task { try await transport.fetch(server.url()) } }
    try await slow.received()
    for _ in 0..<50 { #expect(try await transport.fetch(quick.url()).text == "quick") }
    for task in stuck { task.cancel() }
    try await slow.disconnected()
    await transport.shutdown()
  }
}
