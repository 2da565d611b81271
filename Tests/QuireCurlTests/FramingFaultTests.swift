import HTTPTypes
import QuireCore
import QuireCurl
import QuireHTTP
import QuireJSON
import QuirePagination
import TestSupport
import Testing

@Suite("HTTP/1 framing, right and wrong", .timeLimit(.minutes(15)))
struct FramingFaultTests {
  /// What one such response becomes, on a fresh connection.
  private func outcome(
    of response: [UInt8], then end: FaultStep = .finish
  ) async throws -> Result<Fetched, PageError> {
    let server = try FaultServer { _ in [.write(response), end] }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    let result: Result<Fetched, PageError>
    do {
      result = .success(try await transport.fetch(server.url()))
    } catch let error as PageError {
      result = .failure(error)
    }
    await transport.shutdown()
    return result
  }

  private func code(of response: String, then end: FaultStep = .finish) async throws
    -> PageError.Code?
  {
    switch try await outcome(of: Array(response.utf8), then: end) {
    case .success: nil
    case .failure(let error): error.code
    }
  }

  @Test("H1: a body shorter than declared is truncated at every byte")
  func shortBody() async throws {
    for body in ["", "a", "ab", "abc", "abcd"] {
      let response = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n\(body)"
      #expect(try await code(of: response) == .truncated, "\(body.utf8.count) of 5 bytes")
    }
  }

  @Test("H2: a body longer than declared ends as declared, and its connection is not used again")
  func longBody() async throws {
    let server = try FaultServer { request in
      request.ordinal == 1
        ? [.write("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcHTTP/1.1 200 OK\r\n\r\n"), .hold]
        : [.respond("next")]
    }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    #expect(try await transport.fetch(server.url()).text == "abc")
    #expect(try await transport.fetch(server.url()).text == "next")
    #expect(server.requests.map(\.connection) == [1, 2])
    await transport.shutdown()
  }

  @Test("H3: two lengths that differ break the protocol; the same twice does not")
  func twoLengths() async throws {
    let fields = "Content-Length: 5\r\nContent-Length: 3\r\n"
    let differing = "HTTP/1.1 200 OK\r\n\(fields)\r\nhello"
    #expect(try await code(of: differing, then: .hold) == .protocolViolation)
    let same = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello"
    #expect(try await code(of: same, then: .hold) == nil)
  }

  @Test("H4: chunks win over a length, and the connection is not used again")
  func lengthAndChunks() async throws {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
    let server = try FaultServer { request in
      request.ordinal == 1
        ? [.write(head + "5\r\nhello\r\n0\r\n\r\n"), .hold] : [.respond("next")]
    }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    #expect(try await transport.fetch(server.url()).text == "hello")
    #expect(try await transport.fetch(server.url()).text == "next")
    #expect(server.requests.map(\.connection) == [1, 2])
    await transport.shutdown()
  }

  @Test(
    "H5: a length that is no length breaks the protocol",
    arguments: ["-1", "abc", "5x", "0x5", "+5", "99999999999999999999999", "5, 6", "5 5", "5.0"])
  func badLength(_ length: String) async throws {
    let response = "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\nhello"
    #expect(try await code(of: response) == .protocolViolation)
  }

  /// The very last byte is a line feed that carries nothing; libcurl does not wait for it.
  @Test("H6: chunks without their end are truncated at every byte")
  func cutChunks() async throws {
    let whole = Chunked.head + Chunked.chunks(Array("hello world".utf8), of: 6) + Chunked.end
    for count in Chunked.head.count..<whole.count - 1 {
      switch try await outcome(of: Array(whole.prefix(count))) {
      case .success: Issue.record("cut after byte \(count) of \(whole.count) passed as whole")
      case .failure(let error): #expect(error.code == .truncated, "byte \(count): \(error)")
      }
    }
    let complete = try await outcome(of: whole).get()
    #expect(complete.text == "hello world")
    #expect(complete.framing == .explicit)
  }

  @Test(
    "H7: a chunk size that is no size breaks the protocol",
    arguments: ["zz", "-1", "FFFFFFFFFFFFFFFFF", "", "0x5"])
  func badChunkSize(_ size: String) async throws {
    let response = String(decoding: Chunked.head, as: UTF8.self) + "\(size)\r\nhello\r\n0\r\n\r\n"
    #expect(try await code(of: response, then: .hold) == .protocolViolation)
  }

  @Test("H7: chunk data longer than its size breaks the protocol, and endless extensions end")
  func badChunks() async throws {
    let head = String(decoding: Chunked.head, as: UTF8.self)
    let long = head + "3\r\nhello\r\n0\r\n\r\n"
    #expect(try await code(of: long, then: .hold) == .protocolViolation)
    let server = try FaultServer { _ in
      [
        .write(head + "5;x="), .flood([UInt8](repeating: 120, count: 1 << 10), times: 1 << 10),
        .hold,
      ]
    }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    try await transport.expectFailure(
      TransportRequest(server.url(), timeouts: Timeouts(total: .seconds(1))), .protocolViolation,
      .limitExceeded, .timedOut)
    try await server.disconnected()
    await transport.shutdown()
  }

  @Test("H8: a body that only the close ends is handed over as such, cut at any byte")
  func untilClose() async throws {
    for version in ["1.0", "1.1"] {
      for count in 0...7 {
        let body = "[1,2,3]".prefix(count)
        let response = Array("HTTP/\(version) 200 OK\r\nServer: x\r\n\r\n\(body)".utf8)
        let fetched = try await outcome(of: response).get()
        #expect(fetched.framing == .untilClose)
        #expect(fetched.text == body)
      }
    }
  }

  @Test(
    "H9: what is not HTTP/1 breaks the protocol",
    arguments: [
      "SSH-2.0-OpenSSH_9.2p1\r\n", "<html>HTTP/0.9 lives</html>", "\u{1}\u{2}\u{3}\u{4}",
      "220 smtp.test ESMTP\r\n", "ICY 200 OK\r\n\r\n",
    ])
  func otherProtocols(_ greeting: String) async throws {
    #expect(try await code(of: greeting) == .protocolViolation)
  }

  @Test("H10: a NUL in a header breaks the protocol")
  func nulInHeader() async throws {
    let response = "HTTP/1.1 200 OK\r\nX-A: a\u{0}b\r\nContent-Length: 0\r\n\r\n"
    #expect(try await code(of: response, then: .hold) == .protocolViolation)
  }

  @Test("H14: a switch of protocols that nobody asked for breaks the protocol")
  func unaskedUpgrade() async throws {
    let response = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n"
    #expect(try await code(of: response, then: .hold) == .protocolViolation)
  }

  @Test("H15: 204, 205 and a length of 0 are complete, empty answers on a kept connection")
  func emptyAnswers() async throws {
    let server = try FaultServer { request in
      switch request.path {
      case "/204": [.write("HTTP/1.1 204 No Content\r\n\r\n")]
      case "/205": [.write("HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n")]
      default: [.respond("")]
      }
    }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    for status in [204, 205, 200] {
      let fetched = try await transport.fetch(server.url("/\(status)"))
      #expect(fetched.status == status)
      #expect(fetched.body.isEmpty)
      #expect(fetched.framing == .explicit)
    }
    #expect(server.connections == 1)
    await transport.shutdown()
  }

  @Test(
    "H25: a status or version that HTTP/1 does not have breaks the protocol",
    arguments: ["HTTP/1.1 999 Beyond", "HTTP/1.1 99 Below", "HTTP/3.7 200 OK", "HTTP/1.1 abc OK"])
  func badStatusLine(_ line: String) async throws {
    let response = "\(line)\r\nContent-Length: 0\r\n\r\n"
    #expect(try await code(of: response, then: .finish) == .protocolViolation)
  }
}
