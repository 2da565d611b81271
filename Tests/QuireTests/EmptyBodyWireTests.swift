import Quire
import TestSupport
import Testing

/// Bodies of nothing, as a server, a proxy or a coding makes them.
@Suite("Bodies of nothing on the wire", .timeLimit(.minutes(15)))
struct EmptyBodyWireTests {
  /// How an answer with the status 200 comes to have no body.
  enum Nothing: String, CaseIterable, Sendable {
    case length, chunks, trailers, closed, gzip, chunkedGzip, members, deflate, bareDeflate, noGzip
    case cutMember

    var response: [UInt8] {
      switch self {
      case .length: head("Content-Length: 0")
      case .chunks: head("Transfer-Encoding: chunked") + Array("0\r\n\r\n".utf8)
      case .trailers: head("Transfer-Encoding: chunked") + Array("0\r\nX-Sum: 0\r\n\r\n".utf8)
      case .closed: head("Connection: close")
      case .gzip: coded("gzip", Self.member)
      case .chunkedGzip:
        head("Content-Encoding: gzip\r\nTransfer-Encoding: chunked") + chunk(Self.member)
          + Array("0\r\n\r\n".utf8)
      case .members: coded("gzip", [Self.member, Self.member, Self.member].flatMap { $0 })
      case .deflate: coded("deflate", [0x78, 0x9C, 0x03, 0x00, 0x00, 0x00, 0x00, 0x01])
      case .bareDeflate: coded("deflate", [0x03, 0x00])
      case .noGzip: coded("gzip", [])
      case .cutMember: coded("gzip", Self.member + Self.member.dropLast(4))
      }
    }

    /// A gzip member of no bytes (RFC 1952).
    private static let member: [UInt8] = [
      0x1F, 0x8B, 0x08, 0, 0, 0, 0, 0, 0, 0x03, 0x03, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    ]

    private func head(_ fields: String) -> [UInt8] {
      Array("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n".utf8)
    }

    private func coded(_ coding: String, _ body: [UInt8]) -> [UInt8] {
      head("Content-Encoding: \(coding)\r\nContent-Length: \(body.count)") + body
    }

    private func chunk(_ bytes: [UInt8]) -> [UInt8] {
      Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + Array("\r\n".utf8)
    }
  }

  enum Format: CaseIterable, Sendable { case json, xml }

  /// A listing whose pages can end it by having no items, and whose page `number` is nothing for so
  /// many attempts.
  private func server(
    _ nothing: Nothing, format: Format, page number: Int, attempts: Int
  ) throws -> FaultServer {
    try FaultServer { request in
      let page = request.target.contains("page=") ? Int(request.target.suffix(1)) ?? 1 : 1
      // All pages have one path, by which requests are counted.
      if page == number, request.ordinal < number + attempts {
        return [.write(nothing.response)] + (nothing == .closed ? [.finish] : [])
      }
      let items = page < 3 ? [page] : []
      switch format {
      case .json:
        return [
          .respond(
            "{\"items\":\(items.map(String.init))}", headers: [("Content-Type", "application/json")]
          )
        ]
      case .xml:
        let text = items.map { "<i>\($0)</i>" }.joined()
        return [.respond("<l>\(text)</l>", headers: [("Content-Type", "text/xml")])]
      }
    }
  }

  private func walk(
    _ server: FaultServer, _ format: Format, attempts: Int
  ) async -> (items: [String], error: PageError?, requests: Int, retries: Int) {
    let transport = CurlTransport()
    var configuration = PageClient.Configuration()
    configuration.retry = RetryPolicy(attempts: attempts, delay: .zero)
    configuration.allowsPlainHTTP = true
    let client = PageClient(transport: transport, configuration: configuration)
    let pagination = Pagination(
      next: .pageNumber, send: .query("page"), end: [.emptyPage],
      items: format == .json ? "/items" : .optional("/l/i"))
    let walk = client.cursor(of: String.self, at: server.url("/l"), pagination: pagination).walk()
    var items: [String] = []
    var failure: PageError?
    do {
      while let page = try await walk.next() { items += page.items }
    } catch { failure = error as? PageError }
    await transport.shutdown()
    return (items, failure, server.requests.count, walk.report.traffic.retries)
  }

  @Test(
    "12-L1, H15, J10: a 200 whose body is nothing, however that is framed and coded, is refused and asked for again, the first page and a later one",
    arguments: Nothing.allCases, Format.allCases)
  func retried(_ nothing: Nothing, _ format: Format) async throws {
    for page in 1...2 {
      let server = try server(nothing, format: format, page: page, attempts: 2)
      defer { server.stop() }
      let walk = await walk(server, format, attempts: 3)
      #expect(walk.error == nil, "\(nothing) \(format) page \(page)")
      #expect(walk.items == ["1", "2"], "\(nothing) \(format) page \(page)")
      #expect(walk.retries == 2)
      #expect(walk.requests == 5)
    }
  }

  @Test(
    "12-L1, H15, J10: a 200 whose body stays nothing is an error of that page, and never the end",
    arguments: Nothing.allCases, Format.allCases)
  func refused(_ nothing: Nothing, _ format: Format) async throws {
    for page in 1...2 {
      let server = try server(nothing, format: format, page: page, attempts: 9)
      defer { server.stop() }
      let walk = await walk(server, format, attempts: 2)
      let context = "\(nothing) \(format) page \(page): \(walk.error as Any)"
      #expect(walk.items == (page == 1 ? [] : ["1"]), "\(context)")
      #expect(walk.requests == page + 1, "\(context)")
      #expect(walk.error?.attempts == 2, "\(context)")
      #expect(walk.error?.code == .truncated, "\(context)")
    }
  }
}
