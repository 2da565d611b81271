import HTTPTypes
import QuireCore
@testable import QuireCurl
import QuireHTTP
import QuireJSON
import QuirePagination
import TestSupport
import Testing

@Suite(
  "HTTP/2 over TLS, against nginx", .enabled(if: NginxServer.program != nil, "needs nginx"),
  .timeLimit(.minutes(15)))
struct HTTP2Tests {
  private static let large = (0..<600_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
  private static let files = ["small.json": Array("[1,2,3]".utf8), "large.bin": large, "empty": []]

  private static func transport() -> CurlTransport {
    let authority = TestAuthority.shared.certificateFile
    return CurlTransport(CurlTransport.Configuration(certificateAuthorities: .file(authority)))
  }

  private func field(_ name: String, of fetched: Fetched) throws -> String? {
    fetched.fields[try #require(HTTPField.Name(name))]
  }

  @Test("HTTP/2 is negotiated by ALPN, and requests in a row share one connection")
  func negotiated() async throws {
    let server = try NginxServer(files: Self.files)
    defer { server.stop() }
    let transport = Self.transport()
    for (name, bytes) in Self.files {
      let fetched = try await transport.fetch(server.url("/\(name)"))
      #expect(fetched.body == bytes)
      #expect(fetched.framing == .explicit)
      #expect(try field("X-Protocol", of: fetched) == "HTTP/2.0")
    }
    #expect(transport.ledger.socketsOpened == 1)
    await transport.shutdown()
    #expect(transport.ledger.openSockets == 0)
  }

  @Test("nginx ends with its test")
  func ending() async throws {
    let server = try NginxServer(files: Self.files)
    let transport = CurlTransport.underTest()
    #expect(try await transport.fetch(server.url("/small.json")).status == 200)
    server.stop()
    // Answers may come until the signal has arrived.
    while (try? await transport.fetch(server.url("/small.json"))) != nil {
      try Task.checkCancellation()
    }
    await transport.shutdown()
  }

  @Test("HTTP/1.1 only is a choice, and its connections are kept as well")
  func http1() async throws {
    let server = try NginxServer(files: Self.files)
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    for _ in 0..<20 {
      let fetched = try await transport.fetch(server.url("/small.json"))
      #expect(try field("X-Protocol", of: fetched) == "HTTP/1.1")
    }
    #expect(transport.ledger.socketsOpened == 1)
    await transport.shutdown()
  }

  @Test("Requests at the same time are streams of one connection, each with its own bytes")
  func multiplexed() async throws {
    let server = try NginxServer(files: Self.files)
    defer { server.stop() }
    let transport = Self.transport()
    let connections = try await withThrowingTaskGroup(of: String?.self) { group in
      for index in 0..<100 {
        let name = index.isMultiple(of: 2) ? "large.bin" : "small.json"
        group.addTask {
          let fetched = try await transport.fetch(server.url("/\(name)"))
          #expect(fetched.body == Self.files[name])
          return try field("X-Connection", of: fetched)
        }
      }
      return try await group.reduce(into: Set<String?>()) { $0.insert($1) }
    }
    #expect(connections.count == 1)
    await transport.shutdown()
  }

  @Test("P5, P6: a server that says GOAWAY every few requests costs no request")
  func goAway() async throws {
    let server = try NginxServer(files: Self.files, requestsPerConnection: 7)
    defer { server.stop() }
    let transport = Self.transport()
    for _ in 0..<100 {
      #expect(try await transport.fetch(server.url("/small.json")).text == "[1,2,3]")
    }
    #expect(transport.ledger.socketsOpened >= 100 / 7)
    await transport.shutdown()
  }

  @Test(
    "P6, P14: sixty walks over connections that end after a few requests have every page, few asked for again",
    arguments: [2, 5])
  func shortConnections(_ requestsPerConnection: Int) async throws {
    let pages = 8
    let files = (1...pages).map { number in
      (
        "\(number)",
        Array(#"{"items":[\#(number)]\#(number < pages ? #","next":"\#(number + 1)""# : "")}"#.utf8)
      )
    }
    let server = try NginxServer(
      files: Dictionary(uniqueKeysWithValues: files), requestsPerConnection: requestsPerConnection)
    defer { server.stop() }
    let transport = Self.transport()
    let client = PageClient(transport: transport)
    let traffic = try await withThrowingTaskGroup(of: WalkReport.Traffic.self) { group in
      for _ in 0..<60 {
        group.addTask {
          let walk = client.cursor(
            at: server.url("/1"),
            pagination: Pagination(next: .body("/next"), send: .url, items: "/items"),
            decoder: JSONPageDecoder<Int>()
          ).walk()
          let items = try await walk.items.collected()
          #expect(items == Array(1...pages))
          return walk.report.traffic
        }
      }
      return try await group.reduce(into: WalkReport.Traffic(requests: 0)) { $0 = $0 + $1 }
    }
    // Each is answered once, and given back three times at most on the whole.
    #expect((60 * pages...4 * 60 * pages).contains(traffic.requests), "\(traffic)")
    await transport.shutdown()
  }

  @Test(
    "P11: requests beyond the number of streams that a server takes wait their turn, and none is late"
  )
  func fewStreams() async throws {
    let server = try NginxServer(files: Self.files, streams: 1)
    defer { server.stop() }
    let transport = Self.transport()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<60 {
        group.addTask {
          let request = TransportRequest(server.url("/small.json"))
          let fetched = try await transport.fetch(request)
          #expect(fetched.text == "[1,2,3]")
        }
      }
      try await group.waitForAll()
    }
    await transport.shutdown()
  }

  @Test("P12: cancelling streams in mid-body leaves their connection and a sibling unharmed")
  func cancelledStreams() async throws {
    let server = try NginxServer(files: Self.files)
    defer { server.stop() }
    let transport = Self.transport()
    let sibling = try await transport.send(TransportRequest(server.url("/slow/large.bin")))
    var received = try await sibling.body.next() ?? []
    for _ in 0..<300 {
      let task = Task {
        let response = try await transport.send(TransportRequest(server.url("/slow/large.bin")))
        while try await response.body.next() != nil {
          withUnsafeCurrentTask { $0?.cancel() }
        }
      }
      await #expect(throws: CancellationError.self) { try await task.value }
    }
    let more = try await sibling.body.next() ?? []
    received += more
    #expect(!more.isEmpty)
    #expect(received == Array(Self.large.prefix(received.count)))
    #expect(try await transport.fetch(server.url("/small.json")).text == "[1,2,3]")
    #expect(transport.ledger.socketsOpened == 1)
    await transport.shutdown()
    #expect(transport.ledger.runningTransfers == 0)
    #expect(transport.ledger.easyHandles == 0)
  }
}
