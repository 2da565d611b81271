import HTTPTypes
import QuireCore
import QuireHTTP
import QuireJSON
import QuirePagination
import Testing
import TestSupport

@testable import QuireCurl

@Suite("CurlTransport")
struct CurlTransportTests {
  @Test("a page arrives whole, with its head, over one kept connection")
  func pages() async throws {
    let server = try FaultServer { _ in [.respond("[1,2,3]", headers: [("X-Total", "3")])] }
    defer { server.stop() }
    let transport = CurlTransport()
    for round in 0..<3 {
      let response = try await transport.send(request(server.url("/page?a=%7e|'é")))
      #expect(response.head.status == .ok)
      #expect(response.head.headerFields[HTTPField.Name("X-Total")!] == "3")
      #expect(response.framing == .explicit)
      #expect(try await whole(response.body) == Array("[1,2,3]".utf8))
      #expect(response.body.metrics.wireBytes == 7)
      #expect(response.body.metrics.wireRequests == 1)
      #expect(response.body.metrics.reusedConnection == (round > 0))
    }
    #expect(transport.ledger.socketsOpened == 1)
    await transport.shutdown()
    #expect(transport.ledger.openSockets == 0)
    #expect(transport.ledger.easyHandles == 0)
    await #expect(throws: PageError.self) { try await transport.send(request(server.url("/"))) }
  }

  @Test("a connection that is not worth keeping is closed with its answer, but for a redirect's")
  func closedConnection() async throws {
    let server = try FaultServer { request in
      request.path == "/moved"
        ? [.write("HTTP/1.1 302 Found\r\nLocation: /page\r\nContent-Length: 0\r\n\r\n")]
        : [.respond("[]")]
    }
    defer { server.stop() }
    let transport = CurlTransport()
    for (path, isReused) in [("/moved", false), ("/page", true), ("/page", false)] {
      var request = request(server.url(path))
      request.keepsConnection = false
      let response = try await transport.send(request)
      _ = try await whole(response.body)
      #expect(response.body.metrics.reusedConnection == isReused)
    }
    #expect(transport.ledger.socketsOpened == 2)
    await transport.shutdown()
  }

  @Test("C1: cancelling a wait for the head closes the connection before it is felt")
  func cancelledHead() async throws {
    let server = try FaultServer { _ in [.mark("asked"), .hold] }
    defer { server.stop() }
    let transport = CurlTransport()
    let task = Task { try await transport.send(request(server.url("/"))) }
    try await server.reached("asked")
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(transport.ledger.openSockets == 0)
    #expect(transport.ledger.runningTransfers == 0)
    await transport.shutdown()
  }

  @Test("C13: shutting down ends what is in flight with clientClosed, and every descriptor")
  func shutdownInFlight() async throws {
    let server = try FaultServer { _ in [.mark("asked"), .hold] }
    defer { server.stop() }
    let transport = CurlTransport()
    let task = Task { try await transport.send(request(server.url("/"))) }
    try await server.reached("asked")
    await transport.shutdown()
    let error = await #expect(throws: PageError.self) { try await task.value }
    #expect(error?.code == .clientClosed)
    #expect(transport.ledger.openSockets == 0)
  }
}

/// A GET of this URL.
func request(_ url: String, timeouts: Timeouts = .api) -> TransportRequest {
  let parts = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
  let head = HTTPRequest(
    method: .get, scheme: String(parts[0].dropLast()), authority: String(parts[2]),
    path: "/" + parts[3])
  return TransportRequest(head: head, timeouts: timeouts)
}

/// All of a body.
func whole(_ body: TransportBody) async throws -> [UInt8] {
  var bytes: [UInt8] = []
  while let slice = try await body.next() { bytes += slice }
  return bytes
}
