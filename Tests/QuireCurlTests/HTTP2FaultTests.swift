import HTTPTypes
@testable import QuireCore
import QuireCurl
import QuireHTTP
import QuireJSON
import QuirePagination
import TestSupport
import Testing

/// A frame of HTTP/2 (RFC 9113, §4.1).
private func frame(
  _ type: UInt8, flags: UInt8 = 0, stream: UInt8 = 1, _ payload: [UInt8] = []
) -> [UInt8] {
  [0, 0, UInt8(payload.count), type, flags, 0, 0, 0, stream] + payload
}

@Suite("Faults of HTTP/2 over TLS", .timeLimit(.minutes(5)))
struct HTTP2FaultTests {
  /// A server that answers the first request with 200 and these frames.
  private func server(_ frames: [UInt8]) throws -> FaultServer {
    let settings = frame(4, stream: 0) + frame(4, flags: 1, stream: 0)
    let head = frame(1, flags: 4, [0x88])
    return try FaultServer(tls: FaultTLS(protocols: ["h2"])) { request in
      // The client's preface looks like two requests; its frames follow the second.
      request.method == "PRI" ? [] : [.write(settings + head + frames), .hold]
    }
  }

  private static func transport() -> CurlTransport {
    let authority = TestAuthority.shared.certificateFile
    return CurlTransport(CurlTransport.Configuration(certificateAuthorities: .file(authority)))
  }

  @Test("P3, H-4: a stream reset without an error in mid-body is no proof that the body is whole")
  func resetWithoutError() async throws {
    let server = try server(frame(0, Array("[1,2,".utf8)) + frame(3, [0, 0, 0, 0]))
    defer { server.stop() }
    let transport = Self.transport()
    // libcurl before 8.0 takes it for the end; later ones may report it.
    do {
      let fetched = try await transport.fetch(server.url())
      #expect(fetched.text == "[1,2,")
      #expect(fetched.framing == .untilClose)
    } catch let error as PageError {
      #expect(error.code == .truncated)
    }
    await transport.shutdown()
  }

  @Test(
    "P2: a stream reset with an error in mid-body is a truncation", arguments: [2, 8] as [UInt8])
  func reset(_ code: UInt8) async throws {
    let server = try server(frame(0, Array("[1,2,".utf8)) + frame(3, [0, 0, 0, code]))
    defer { server.stop() }
    let transport = Self.transport()
    try await transport.expectFailure(TransportRequest(server.url()), .truncated)
    await transport.shutdown()
  }

  @Test(
    "12-S1, P1: over HTTP/2 too, what is not safe to repeat is on the wire once, all else twice at most",
    arguments: ["GET", "POST", "PUT", "PATCH", "DELETE"], [true, false])
  func refused(method: String, byGoAway: Bool) async throws {
    let settings = frame(4, stream: 0) + frame(4, flags: 1, stream: 0)
    // REFUSED_STREAM, or GOAWAY before the first stream.
    let refusal =
      byGoAway ? frame(7, stream: 0, [0, 0, 0, 0, 0, 0, 0, 0]) : frame(3, [0, 0, 0, 7])
    let server = try FaultServer(tls: FaultTLS(protocols: ["h2"])) { request in
      request.method == "PRI" ? [] : [.write(settings + refusal), byGoAway ? .finish : .hold]
    }
    defer { server.stop() }
    let transport = Self.transport()
    var request = TransportRequest(server.url())
    request = TransportRequest(
      head: HTTPRequest(
        method: try #require(HTTPRequest.Method(rawValue: method)), scheme: request.head.scheme,
        authority: request.head.authority, path: request.head.path),
      body: method == "GET" ? [] : Array("{}".utf8))
    let error = await #expect(throws: PageError.self) { try await transport.fetch(request) }
    // Each request came on a connection of its own, for its answer ends the one before.
    let onTheWire = server.requests.count { $0.method == "SM" }
    #expect(onTheWire <= (method == "GET" ? 2 : 1), "\(error as Any)")
    #expect(error?.attempts == onTheWire)
    await transport.shutdown()
  }

  @Test("A stream that ends without a length is delivered, its proof left to the format")
  func endOfStream() async throws {
    let server = try server(frame(0, flags: 1, Array("[1,2]".utf8)))
    defer { server.stop() }
    let transport = Self.transport()
    let fetched = try await transport.fetch(server.url())
    #expect(fetched.text == "[1,2]")
    #expect(fetched.framing == .untilClose)
    await transport.shutdown()
  }
}
