import HTTPTypes
import QuireCore
@testable import QuireCurl
import QuireHTTP
import QuireJSON
import QuirePagination
import TestSupport
import Testing

@Suite("What goes over the wire twice", .timeLimit(.minutes(15)))
struct SilentReplayTests {
  /// How a connection dies once the server has read a request.
  enum Death: CaseIterable {
    case reset, finish, closeWithoutNotify

    var step: FaultStep {
      switch self {
      case .reset: .reset
      case .finish: .finish
      case .closeWithoutNotify: .closeWithoutNotify
      }
    }
  }

  static let unsafe = ["POST", "PUT", "PATCH", "DELETE", "LINK"]
  static let safe = ["GET", "HEAD", "OPTIONS", "QUERY", "PROPFIND", "REPORT", "SEARCH"]

  /// A server that keeps the connection of `/warm`, and lets it die under the first request for
  /// anything else.
  private func server(_ death: Death, tls: Bool = false) throws -> FaultServer {
    try FaultServer(tls: tls ? FaultTLS() : nil) { request in
      request.path == "/warm" || request.ordinal > 1
        ? [.respond(request.method == "HEAD" ? "" : "[1]")] : [death.step]
    }
  }

  private func request(
    _ method: String, _ url: String, body: [UInt8] = []
  ) throws -> TransportRequest {
    var request = TransportRequest(url)
    let head = HTTPRequest(
      method: try #require(HTTPRequest.Method(rawValue: method)), scheme: request.head.scheme,
      authority: request.head.authority, path: request.head.path)
    request = TransportRequest(head: head, body: body)
    return request
  }

  @Test(
    "12-S1, N9: a request that is not safe to repeat is on the wire once when its kept connection dies",
    arguments: unsafe, Death.allCases)
  func unsafeOnce(method: String, death: Death) async throws {
    for tls in [false, true] {
      for body in [[], Array(#"{"a":1}"#.utf8)] {
        let server = try server(death, tls: tls)
        defer { server.stop() }
        let transport = CurlTransport.underTest()
        _ = try await transport.fetch(server.url("/warm"))
        let error = await #expect(throws: PageError.self) {
          try await transport.fetch(request(method, server.url("/do"), body: body))
        }
        #expect(error?.code == .truncated)
        #expect(error?.attempts == 1)
        #expect(error?.message.contains("may have acted on it") == true)
        #expect(server.requests.map(\.method) == ["GET", method])
        // It went over the kept connection, and none was made in vain or left open.
        #expect(server.connections == 1)
        #expect(transport.ledger.openSockets == 0)
        // The transport is as good as before.
        #expect(try await transport.fetch(request(method, server.url("/do"))).text == "[1]")
        await transport.shutdown()
      }
    }
  }

  @Test(
    "12-S1, N9: a request that is safe to repeat is replayed once, and the replay counted",
    arguments: safe, Death.allCases)
  func safeTwice(method: String, death: Death) async throws {
    let server = try server(death)
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    _ = try await transport.fetch(server.url("/warm"))
    let fetched = try await transport.fetch(request(method, server.url("/do")))
    #expect(fetched.metrics.wireRequests == 2)
    #expect(server.requests.map(\.method) == ["GET", method, method])
    await transport.shutdown()
  }

  @Test("12-S1: a server that is gone after it read the request cannot make that unsent")
  func serverGone() async throws {
    for method in ["GET", "POST"] {
      let gate = StallGate()
      let server = try FaultServer { request in
        request.path == "/warm" ? [.respond("[1]")] : [.stall(until: gate), .reset]
      }
      defer { server.stop() }
      let transport = CurlTransport.underTest()
      var configuration = PageClient.Configuration()
      configuration.retry = RetryPolicy(attempts: 3, delay: .zero)
      let client = PageClient(transport: transport, configuration: configuration)
      _ = try await transport.fetch(server.url("/warm"))
      let cursor = client.cursor(
        at: server.url("/do"), pagination: Pagination(next: .linkHeader()),
        request: .init(method: try #require(HTTPRequest.Method(rawValue: method))),
        decoder: JSONPageDecoder<Int>())
      async let failure = #expect(throws: PageError.self) { try await cursor.items.collect() }
      try await server.received(2)
      server.refuseConnections()
      gate.open()
      let error = await failure
      // A POST is not tried again: that no connection can be had now says nothing about the last one.
      #expect(error?.code == (method == "GET" ? .connectFailed : .truncated), "\(error as Any)")
      #expect(server.requests.count == 2)
      await transport.shutdown()
    }
  }

  @Test("12-S1: a request says itself how often it may be replayed, whatever its method")
  func replays() async throws {
    for (method, replays) in [("GET", 0), ("POST", 1), ("POST", 7), ("GET", -1)] {
      let server = try FaultServer { request in
        request.path == "/warm"
          ? [.mark("warm"), .stallUntilReached("warm", times: 4), .respond("warm")] : [.reset]
      }
      defer { server.stop() }
      let transport = CurlTransport.underTest()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<4 { group.addTask { _ = try await transport.fetch(server.url("/warm")) } }
        try await group.waitForAll()
      }
      var request = try request(method, server.url("/do"))
      request.replays = replays
      try await transport.expectFailure(request, .truncated)
      // More than one never, for libcurl would go on as long as kept connections die.
      #expect(server.requests.count { $0.path == "/do" } == (replays < 1 ? 1 : 2))
      await transport.shutdown()
    }
  }

  @Test("12-S1: a kept connection closed in silence meanwhile costs an unsafe request nothing")
  func closedWhileIdle() async throws {
    let server = try FaultServer { request in
      request.ordinal.isMultiple(of: 2) ? [.respond("even"), .finish] : [.respond("odd")]
    }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    for round in 1...10 {
      let fetched = try await transport.fetch(request("POST", server.url(), body: [0x7B, 0x7D]))
      #expect(fetched.text == (round.isMultiple(of: 2) ? "even" : "odd"))
      #expect(fetched.metrics.wireRequests == 1)
      if round.isMultiple(of: 2) { try await server.quiet() }
    }
    #expect(server.requests.count == 10)
    await transport.shutdown()
  }
}

@Suite("What a page costs on the wire", .timeLimit(.minutes(15)))
struct WireBudgetTests {
  private func cursor(
    _ transport: CurlTransport, _ server: FaultServer, method: HTTPRequest.Method,
    isQuery: Bool = false, attempts: Int, delivery: PageDelivery = .whole
  ) -> Cursor<Int> {
    var configuration = PageClient.Configuration()
    configuration.retry = RetryPolicy(attempts: attempts, delay: .zero)
    let pagination = Pagination(
      next: .pageNumber, send: .query("page"), request: Pagination.RequestRule(isQuery: isQuery),
      end: [.emptyPage])
    return PageClient(transport: transport, configuration: configuration).cursor(
      at: server.url("/list"), pagination: pagination,
      request: .init(method: method, body: method == .get ? .none : .json(["a": 1])),
      decoder: JSONPageDecoder<Int>(), delivery: delivery)
  }

  @Test(
    "12-S1, N9: however often connections die, a page costs no more requests than its attempts",
    arguments: [1, 2, 3, 4], [PageDelivery.whole, .asItArrives])
  func budget(attempts: Int, delivery: PageDelivery) async throws {
    // The first page comes, and keeps its connection; the second never does.
    for (method, isQuery) in [(HTTPRequest.Method.get, false), (.post, true), (.post, false)] {
      let server = try FaultServer { request in
        switch request.path {
        case "/warm": [.mark("warm"), .stallUntilReached("warm", times: 6), .respond("[]")]
        default: request.target.contains("page=2") ? [.reset] : [.respond("[1]")]
        }
      }
      defer { server.stop() }
      let transport = CurlTransport.underTest()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<6 { group.addTask { _ = try await transport.fetch(server.url("/warm")) } }
        try await group.waitForAll()
      }
      let cursor = cursor(
        transport, server, method: method, isQuery: isQuery, attempts: attempts,
        delivery: delivery)
      var pages = cursor.makeAsyncIterator()
      #expect(try await pages.next()?.items == [1])
      let error = await #expect(throws: PageError.self) { try await pages.next() }
      let isRepeatable = method == .get || isQuery
      let requests = server.requests.count { $0.target.contains("page=2") }
      #expect(requests == (isRepeatable ? attempts : 1), "\(method) \(attempts)")
      #expect(error?.attempts == requests)
      #expect(error?.traffic.requests == requests)
      if !isRepeatable {
        #expect(error?.description.contains("isQuery") == true, "\(error as Any)")
      }
      await transport.shutdown()
    }
  }
}
