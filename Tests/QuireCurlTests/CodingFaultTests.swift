import HTTPTypes
import QuireCore
import QuireCurl
import QuireHTTP
import QuireJSON
import QuirePagination
import TestSupport
import Testing

@Suite("Content codings, right and wrong", .timeLimit(.minutes(15)))
struct CodingFaultTests {
  static let text = Array((0..<200).map { "{\"id\":\($0)}" }.joined(separator: ",").utf8)

  /// What a body declared with this coding becomes. The server's length is always right, so that
  /// only the coding can tell.
  private func outcome(
    of body: [UInt8], coding: String = "gzip", limits: TransferLimits = .api
  ) async throws -> Result<Fetched, PageError> {
    let server = try FaultServer { _ in [.respond(body, headers: [("Content-Encoding", coding)])] }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    let request = TransportRequest(server.url(), limits: limits)
    let result: Result<Fetched, PageError>
    do {
      result = .success(try await transport.fetch(request))
    } catch let error as PageError {
      result = .failure(error)
    }
    await transport.shutdown()
    return result
  }

  private func code(
    of body: [UInt8], coding: String = "gzip", limits: TransferLimits = .api
  ) async throws -> PageError.Code? {
    switch try await outcome(of: body, coding: coding, limits: limits) {
    case .success: nil
    case .failure(let error): error.code
    }
  }

  @Test("Z1: a gzip bomb is stopped by the ratio, and by the cap where the ratio allows it")
  func bomb() async throws {
    let bomb = Gzip.bomb(100 << 20)
    #expect(try await code(of: bomb) == .limitExceeded)
    let generous = TransferLimits(decodedBytes: 10 << 20, inflateRatio: 100_000)
    #expect(try await code(of: bomb, limits: generous) == .limitExceeded)
  }

  @Test("Z1: a body of exactly the decoded cap is whole; one byte more is limitExceeded")
  func exactCap() async throws {
    let body = Gzip.member(Self.text)
    let exact = TransferLimits(decodedBytes: Self.text.count)
    #expect(try await outcome(of: body, limits: exact).get().body == Self.text)
    let short = TransferLimits(decodedBytes: Self.text.count - 1)
    #expect(try await code(of: body, limits: short) == .limitExceeded)
  }

  @Test("Z2: nested codings are refused", arguments: ["gzip, gzip", "gzip,deflate", "br", "zstd"])
  func nested(_ coding: String) async throws {
    let body = Gzip.member(Gzip.member(Self.text))
    #expect(try await code(of: body, coding: coding) == .corruptEncoding)
  }

  @Test(
    "The name of an encoding of characters, or of none, is no coding of the body",
    arguments: ["UTF-8", "none", "binary", "utf-8, identity"])
  func mistaken(_ coding: String) async throws {
    #expect(try await outcome(of: Self.text, coding: coding).get().body == Self.text)
    let body = Gzip.member(Self.text)
    #expect(try await outcome(of: body, coding: coding + ", gzip").get().body == Self.text)
  }

  @Test("Z3: a gzip body cut at any byte is an error though its declared length is right")
  func cut() async throws {
    let body = Gzip.member(Array(Self.text.prefix(200)))
    for count in 1..<body.count {
      switch try await outcome(of: Array(body.prefix(count))) {
      case .success: Issue.record("cut after byte \(count) of \(body.count) passed as whole")
      case .failure(let error):
        #expect([.truncated, .corruptEncoding].contains(error.code), "byte \(count): \(error)")
      }
    }
  }

  @Test("Z4: a wrong checksum or length in the trailer is corruptEncoding")
  func badTrailer() async throws {
    let body = Gzip.member(Self.text)
    for index in body.count - 8..<body.count {
      var damaged = body
      damaged[index] ^= 1
      #expect(try await code(of: damaged) == .corruptEncoding, "trailer byte \(index)")
    }
  }

  @Test("Z5: several members are one body, and zero padding after them is not part of it")
  func members() async throws {
    let halves = [Array(Self.text.prefix(77)), Array(Self.text.dropFirst(77))]
    let body = halves.flatMap { Gzip.member($0) }
    #expect(try await outcome(of: body).get().body == Self.text)
    #expect(try await outcome(of: body + [UInt8](repeating: 0, count: 512)).get().body == Self.text)
  }

  @Test("Z5: other bytes after a member are corruptEncoding")
  func trailingGarbage() async throws {
    let body = Gzip.member(Self.text)
    #expect(try await code(of: body + Array("garbage".utf8)) == .corruptEncoding)
    #expect(try await code(of: body + [0, 0, 7]) == .corruptEncoding)
    let half = Array(Gzip.member(Self.text).prefix(15))
    #expect(try await [.truncated, .corruptEncoding].contains(code(of: body + half)))
  }

  @Test("Z6: a plain body declared as gzip is corruptEncoding")
  func plainAsGzip() async throws {
    for body in [Self.text, Array("x".utf8), [0x1F, 0x8B] + Self.text] {
      let code = try await code(of: body)
      #expect([.corruptEncoding, .truncated].contains(code), "\(body.prefix(4))…")
    }
  }

  @Test("T30: a file that is gzip itself is inflated, bounded, and proved whole; other bytes stay")
  func files() async throws {
    let file = Gzip.member(Self.text)
    for type in ["application/x-gzip", "application/xml", "application/octet-stream"] {
      let server = try FaultServer { request in
        switch request.path {
        case "/whole": [.respond(file, headers: [("Content-Type", type)])]
        case "/drip":
          [
            .write(Array("HTTP/1.1 200 OK\r\nContent-Length: \(file.count)\r\n\r\n".utf8)),
            .slices(file, of: 1),
          ]
        case "/cut": [.respond(Array(file.dropLast(3)), headers: [("Content-Type", type)])]
        case "/byte": [.respond([0x1F], headers: [("Content-Type", type)])]
        case "/bomb": [.respond(Gzip.bomb(100 << 20), headers: [("Content-Type", type)])]
        default: [.respond([0x1F, 0x8C, 0x08], headers: [("Content-Type", type)])]
        }
      }
      defer { server.stop() }
      let transport = CurlTransport.underTest()
      let fetch = { (path: String) async throws -> [UInt8] in
        try await transport.fetch(TransportRequest(server.url(path))).body
      }
      #expect(try await fetch("/whole") == Self.text)
      #expect(try await fetch("/drip") == Self.text)
      #expect(try await fetch("/other") == [0x1F, 0x8C, 0x08])
      for (path, code) in [
        ("/cut", PageError.Code.truncated), ("/byte", .truncated), ("/bomb", .limitExceeded),
      ] {
        let error = await #expect(throws: PageError.self) { try await fetch(path) }
        #expect(error?.code == code)
      }
      await transport.shutdown()
    }
  }

  @Test("Z7: deflate is understood in the zlib format and bare, and checked in both")
  func deflate() async throws {
    for body in [Gzip.zlibWrapped(Self.text), Gzip.bare(Self.text)] {
      #expect(try await outcome(of: body, coding: "deflate").get().body == Self.text)
      for count in [1, 2, body.count / 2, body.count - 1] {
        let code = try await code(of: Array(body.prefix(count)), coding: "deflate")
        #expect([.truncated, .corruptEncoding].contains(code), "cut after byte \(count)")
      }
    }
    var damaged = Gzip.zlibWrapped(Self.text)
    damaged[damaged.count - 1] ^= 1
    #expect(try await code(of: damaged, coding: "deflate") == .corruptEncoding)
  }

  @Test("Z7: every length comes out whole, in each coding, wherever the slices end")
  func everyLength() async throws {
    let server = try FaultServer { request in
      let parts = request.path.split(separator: "/")
      let bytes = [UInt8](repeating: 0, count: Int(parts[1]) ?? 0)
      let coding = String(parts[0])
      let body =
        switch coding {
        case "bare": Gzip.bare(bytes)
        case "zlib": Gzip.zlibWrapped(bytes)
        default: Gzip.member(bytes)
        }
      return [
        .respond(body, headers: [("Content-Encoding", coding == "gzip" ? coding : "deflate")])
      ]
    }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    let lengths = Array(1000...1100) + Array(stride(from: 1300, to: 140_000, by: 4_999))
    for coding in ["bare", "zlib", "gzip"] {
      for length in lengths {
        let body = try await transport.fetch(server.url("/\(coding)/\(length)")).body
        #expect(body.count == length, "\(coding)")
      }
    }
    await transport.shutdown()
  }

  @Test("Z9: a hundred thousand members of one byte are a body like any other")
  func manyMembers() async throws {
    let members = Array(repeatElement(Gzip.member([65]), count: 100_000).joined())
    let fetched = try await outcome(of: members).get()
    #expect(fetched.body.count == 100_000)
  }

  @Test("Codings are named without regard to case, and identity is none")
  func names() async throws {
    for coding in ["gzip", "GZIP", "x-gzip"] {
      #expect(try await outcome(of: Gzip.member(Self.text), coding: coding).get().body == Self.text)
    }
    #expect(try await outcome(of: Self.text, coding: "identity").get().body == Self.text)
  }

  @Test("A gzip body in slices of any size, chunked, comes out the same")
  func slices() async throws {
    let body = Gzip.member(Self.text)
    let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
    let server = try FaultServer { request in
      let size = Int(request.path.dropFirst()) ?? 1
      let chunks = Chunked.chunks(body, of: size) + Chunked.end
      return [.write(head), .slices(chunks, of: size)]
    }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    for size in [1, 2, 3, 7, 64, 1000] {
      let fetched = try await transport.fetch(server.url("/\(size)"))
      #expect(fetched.body == Self.text)
      #expect(fetched.metrics.wireBytes == body.count)
    }
    await transport.shutdown()
  }
}
