import QuireCore
import QuireCurl
import QuireHTTP
import QuireJSON
import QuirePagination
import TestSupport
import Testing

@Suite("TLS", .timeLimit(.minutes(15)))
struct TLSFaultTests {
  @Test("A server whose certificate is in order is trusted through the given authority")
  func valid() async throws {
    let server = try FaultServer(tls: FaultTLS()) { _ in [.respond("safe")] }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    #expect(try await transport.fetch(server.url()).text == "safe")
    await transport.shutdown()
  }

  @Test(
    "N19: a bad certificate is a tls error, before the request has been sent",
    arguments: [FaultTLS.Certificate.expired, .wrongHost, .selfSigned])
  func badCertificate(_ certificate: FaultTLS.Certificate) async throws {
    let server = try FaultServer(tls: FaultTLS(certificate)) { _ in [.respond("unsafe")] }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    try await transport.expectFailure(TransportRequest(server.url("/secret")), .tls)
    #expect(server.requests.isEmpty)
    #expect(server.connections == 1)
    await transport.shutdown()
  }

  @Test("N19: the system's authorities do not vouch for the test authority")
  func unknownAuthority() async throws {
    let server = try FaultServer(tls: FaultTLS()) { _ in [.respond("unsafe")] }
    defer { server.stop() }
    let transport = CurlTransport()
    try await transport.expectFailure(TransportRequest(server.url()), .tls)
    #expect(server.requests.isEmpty)
    await transport.shutdown()
  }

  @Test("N20: without close_notify, a body that only the close ends is not passed off as whole")
  func cutWithoutNotify() async throws {
    let server = try FaultServer(tls: FaultTLS()) { _ in
      [.write("HTTP/1.1 200 OK\r\n\r\n[1,2"), .closeWithoutNotify]
    }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    do {
      #expect(try await transport.fetch(server.url()).framing == .untilClose)
    } catch let error as PageError {
      #expect(error.code == .truncated)
    }
    await transport.shutdown()
  }

  @Test("N20: without close_notify, a body shorter than declared is truncated at every byte")
  func cutInsideDeclaredLength() async throws {
    let whole = Array("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello".utf8)
    let server = try FaultServer(tls: FaultTLS()) { request in
      let count = Int(request.path.dropFirst()) ?? 0
      return [.write(Array(whole.prefix(count))), .closeWithoutNotify]
    }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    for count in 0..<whole.count {
      try await transport.expectFailure(
        TransportRequest(server.url("/\(count)")), .truncated, comment: "cut after byte \(count)")
    }
    await transport.shutdown()
  }

  @Test(
    "N21: a server of old TLS, of ciphers without encryption or of endless certificates gets no request",
    arguments: FaultTLS.Weakness.allCases)
  func weak(_ weakness: FaultTLS.Weakness) async throws {
    let server = try FaultServer(tls: FaultTLS(weakness: weakness)) { _ in [.respond("unsafe")] }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    try await transport.expectFailure(TransportRequest(server.url("/secret")), .tls)
    #expect(server.requests.isEmpty && server.connections == 1)
    await transport.shutdown()
  }

  @Test("N21: a handshake that never comes to an end is timedOut by the connect timer")
  func stalledHandshake() async throws {
    let server = try FaultServer(onAccept: { _ in [.hold] }) { _ in [] }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    let url = "https://127.0.0.1:\(server.port)/"
    try await transport.expectFailure(
      TransportRequest(url, timeouts: Timeouts(connect: .milliseconds(500))), .timedOut)
    try await server.disconnected()
    await transport.shutdown()
  }
}
