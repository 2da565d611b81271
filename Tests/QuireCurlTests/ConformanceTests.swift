import QuireCurl
import QuireHTTP
import QuireJSON
import QuirePagination
import QuireTesting
import TestSupport
import Testing

@Suite("CurlTransport keeps every promise of HTTPTransport", .timeLimit(.minutes(15)))
struct ConformanceTests {
  @Test("The conformance suite holds over TCP")
  func plain() async throws {
    let server = try ConformanceOrigin.start()
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    try await TransportConformance.check(transport, origin: "http://127.0.0.1:\(server.port)")
    await transport.shutdown()
  }

  @Test("The conformance suite holds over TLS")
  func secure() async throws {
    let server = try ConformanceOrigin.start(tls: FaultTLS())
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    try await TransportConformance.check(transport, origin: "https://localhost:\(server.port)")
    await transport.shutdown()
  }

  @Test(
    "The suite finds what is wrong with a transport",
    arguments: SabotagedTransport.Flaw.allCases)
  func sabotage(_ flaw: SabotagedTransport.Flaw) async throws {
    let server = try ConformanceOrigin.start()
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    let failure = await #expect(throws: ConformanceFailure.self) {
      try await TransportConformance.check(
        SabotagedTransport(transport, flaw), origin: "http://127.0.0.1:\(server.port)")
    }
    #expect(failure?.promise == flaw.rawValue)
    await transport.shutdown()
  }
}
