import HTTPTypes
import QuireCore
import QuireCurl
import QuireHTTP
import QuireJSON
import QuirePagination
import TestSupport
import Testing

@Suite("Answers without measure", .timeLimit(.minutes(15)))
struct SizeLimitTests {
  private func expectLimit(
    _ script: [FaultStep], limits: TransferLimits = .api, _ codes: PageError.Code...
  ) async throws {
    let server = try FaultServer { _ in script }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    do {
      let fetched = try await transport.fetch(TransportRequest(server.url(), limits: limits))
      Issue.record("It succeeded with \(fetched.body.count) bytes.")
    } catch let error as PageError {
      #expect(codes.contains(error.code), "\(error)")
    }
    try await server.disconnected()
    await transport.shutdown()
  }

  @Test("H11: one header line of 200 KB is limitExceeded")
  func longHeader() async throws {
    try await expectLimit(
      [
        .write("HTTP/1.1 200 OK\r\nX-Long: "),
        .flood([UInt8](repeating: 97, count: 1000), times: 200),
        .write("\r\nContent-Length: 0\r\n\r\n"), .hold,
      ], .limitExceeded)
  }

  @Test("H12: a million header lines are limitExceeded long before they have all come")
  func manyHeaders() async throws {
    try await expectLimit(
      [
        .write("HTTP/1.1 200 OK\r\n"), .flood(Array("X-Many: more\r\n".utf8), times: 1_000_000),
        .hold,
      ], .limitExceeded)
  }

  @Test("H13: interim responses without end are limitExceeded; a few are skipped")
  func interimResponses() async throws {
    try await expectLimit(
      [
        .flood(Array("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".utf8), times: 100_000), .hold,
      ],
      .limitExceeded)
    let server = try FaultServer { _ in
      [
        .flood(Array("HTTP/1.1 103 Early Hints\r\nX-A: hint\r\n\r\n".utf8), times: 5),
        .respond("on"),
      ]
    }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    let fetched = try await transport.fetch(server.url())
    #expect(fetched.status == 200)
    #expect(fetched.text == "on")
    #expect(!fetched.fields.contains { $0.value == "hint" })
    await transport.shutdown()
  }

  @Test("A body beyond the wire limit is limitExceeded, declared, chunked or endless")
  func longBody() async throws {
    let limits = TransferLimits(wireBytes: 10_000)
    let declared = "HTTP/1.1 200 OK\r\nContent-Length: 10001\r\n\r\n"
    try await expectLimit([.write(declared), .hold], limits: limits, .limitExceeded)
    let flood = FaultStep.flood([UInt8](repeating: 97, count: 1000), times: .max)
    try await expectLimit(
      [.write("HTTP/1.1 200 OK\r\n\r\n"), flood], limits: limits, .limitExceeded)
    let chunk = Chunked.chunks([UInt8](repeating: 97, count: 1000), of: 1000)
    try await expectLimit(
      [.write(Chunked.head), .flood(chunk, times: .max)], limits: limits, .limitExceeded)
  }

  @Test("A body of exactly the wire limit is whole")
  func exactBody() async throws {
    let server = try FaultServer { _ in [.respond([UInt8](repeating: 97, count: 10_000))] }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    let limits = TransferLimits(wireBytes: 10_000)
    let fetched = try await transport.fetch(TransportRequest(server.url(), limits: limits))
    #expect(fetched.body.count == 10_000)
    await transport.shutdown()
  }
}
