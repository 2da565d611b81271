import FoundationEssentials
import Quire
import TestSupport
import Testing

/// The whole house, from the loop down to the socket.
@Suite("Walks on the wire", .timeLimit(.minutes(15)))
struct WireTests {
  private let links = Pagination(next: .body("/next"), items: "/items")

  private func client(_ headers: HTTPFields = [:]) -> PageClient {
    var configuration = PageClient.Configuration()
    configuration.retry.delay = .zero
    // Both servers are this machine, which one server may not name to reach another.
    configuration.addresses = .unrestricted
    return PageClient(
      transport: CurlTransport(), headers: headers, configuration: configuration)
  }

  private func page(_ items: [Int], next: String? = nil) -> FaultStep {
    let next = next.map { ",\"next\":\"\($0)\"" } ?? ""
    return .respond(
      "{\"items\":\(items)\(next)}", headers: [("Content-Type", "application/json")])
  }

  @Test("An error tells Foundation what it says when it is printed")
  func localizedErrors() async throws {
    let error = await #expect(throws: PageError.self) {
      for try await _ in client().cursor(of: Int.self, at: "nowhere", pagination: links) {}
    }
    #expect(error?.errorDescription == error?.description)
  }

  @Test("H-1, T12, V48: a next link reaches the server byte for byte")
  func verbatimLinks() async throws {
    let targets = [
      "/users?$count=true&$skiptoken=RFN%20w'o|rd", "/a/../b/./c//d;x=1?&&q=%zz&e=\u{E9}\u{4E2D}",
      "/s?q=a,b;c&cursor=x%2By+z&empty=&flag",
    ]
    let server = try FaultServer { request in
      let done = targets.firstIndex(of: request.target).map { $0 + 1 } ?? 0
      let host = request.values(of: "Host").first ?? ""
      return [page([done], next: done < targets.count ? "http://\(host)\(targets[done])" : nil)]
    }
    defer { server.stop() }
    var items: [Int] = []
    for try await item in client().cursor(of: Int.self, at: server.url(), pagination: links).items {
      items.append(item)
    }
    #expect(items == [0, 1, 2, 3])
    #expect(server.requests.map(\.target) == ["/"] + targets)
    #expect(server.connections == 1)
  }

  @Test("R4, H-3: across ports, the wire carries no credentials, cookies or custom fields")
  func credentials() async throws {
    let other = try FaultServer { _ in [page([2])] }
    defer { other.stop() }
    let home = try FaultServer { request in
      request.path == "/"
        ? [.respond("", status: "302 Found", headers: [("Location", other.url("/moved"))])] : []
    }
    defer { home.stop() }
    var client = client([
      .authorization: "Bearer canary", .cookie: "canary", .init("X-Api-Key")!: "canary",
    ])
    // Another port of this machine is refused otherwise.
    client.configuration.addresses = .unrestricted
    for try await page in client.cursor(of: Int.self, at: home.url(), pagination: links) {
      #expect(page.items == [2])
    }
    let homeHead = String(decoding: try #require(home.requests.first).head, as: UTF8.self)
    let otherHead = String(decoding: try #require(other.requests.first).head, as: UTF8.self)
    #expect(homeHead.split(separator: "canary").count == 4)
    #expect(!otherHead.contains("canary"))
  }

  @Test("N3, N4, N5, G15: a page cut at any byte is asked for again, and delivered once, whole")
  func retriedWhole() async throws {
    let whole = Array(
      """
      HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 22\r\n\r\n\
      {"items":[10, 20, 30]}
      """.utf8)
    let server = try FaultServer { request in
      let cut = Int(request.path.dropFirst()) ?? 0
      if request.ordinal > 1 { return [.write(whole)] }
      return [.write(Array(whole.prefix(cut))), cut % 2 == 0 ? .reset : .finish]
    }
    defer { server.stop() }
    let client = client()
    for cut in 0..<whole.count {
      let cursor = client.cursor(of: Int.self, at: server.url("/\(cut)"), pagination: links)
      var delivered: [[Int]] = []
      for try await page in cursor { delivered.append(page.items) }
      #expect(delivered == [[10, 20, 30]], "cut after byte \(cut)")
    }
  }

  @Test("N25: a captive portal in the middle of a walk is an error, never the end")
  func captivePortal() async throws {
    let server = try FaultServer { request in
      request.ordinal == 1 && request.path == "/"
        ? [page([1], next: "/2")]
        : [.respond("<html>Sign in</html>", headers: [("Content-Type", "text/html")])]
    }
    defer { server.stop() }
    let walk = client().cursor(of: Int.self, at: server.url(), pagination: links).walk()
    var items: [Int] = []
    let error = await #expect(throws: PageError.self) {
      for try await page in walk { items += page.items }
    }
    #expect(items == [1])
    #expect(error?.code == .unexpectedMediaType)
    #expect(walk.report.checkpoint == error?.checkpoint)
  }

  @Test("C11: when the server has left during a long pause, the walk goes on over a new connection")
  func longPause() async throws {
    let server = try FaultServer { request in
      let number = Int(request.path.dropFirst()) ?? 1
      return [page([number], next: number < 3 ? "/\(number + 1)" : nil), .finish]
    }
    defer { server.stop() }
    var items: [Int] = []
    for try await page in client().cursor(of: Int.self, at: server.url(), pagination: links) {
      items += page.items
    }
    #expect(items == [1, 2, 3])
    #expect(server.connections == 3)
    #expect(server.requests.count == 3)
  }

  @Test(
    "C-7, X-02: cancelling the consuming task closes the connection and throws CancellationError")
  func cancellation() async throws {
    let server = try FaultServer { _ in [.write("HTTP/1.1 200 OK\r\n"), .holdThenMark("gone")] }
    defer { server.stop() }
    let cursor = client().cursor(of: Int.self, at: server.url(), pagination: links)
    let walk = cursor.walk()
    let task = Task { for try await _ in walk {} }
    try await server.received()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    try await server.reached("gone")
    #expect(walk.report.checkpoint == .start)
    guard case .cancelled = walk.report.end else {
      Issue.record("the report says \(walk.report.end)")
      return
    }
  }

  @Test("C-8, V107: a position stored as JSON makes a new client go on at exactly the next page")
  func resume() async throws {
    let server = try FaultServer { request in
      switch request.path {
      case "/": [page([1, 2], next: "/p2")]
      case "/p2": [page([3, 4], next: "/p3")]
      default: [page([5])]
      }
    }
    defer { server.stop() }
    var pages = client().cursor(of: Int.self, at: server.url(), pagination: links)
      .makeAsyncIterator()
    _ = try await pages.next()
    let stored = try JSONEncoder().encode(try await pages.next()?.next)
    let position = try JSONDecoder().decode(Position.self, from: stored)
    let rest = client().cursor(of: Int.self, at: server.url(), pagination: links)
      .resuming(from: position)
    var items: [Int] = []
    for try await item in rest.items { items.append(item) }
    #expect(items == [5])
    #expect(server.requests.map(\.path) == ["/", "/p2", "/p3"])
  }

  @Test("H15: a 204 behind the last page ends the walk without another page")
  func noContent() async throws {
    let server = try FaultServer { request in
      request.path == "/" ? [page([1], next: "/2")] : [.write("HTTP/1.1 204 No Content\r\n\r\n")]
    }
    defer { server.stop() }
    let walk = client().cursor(
      of: Int.self, at: server.url(),
      pagination: Pagination(next: .body("/next"), end: [.status([204])], items: "/items")
    ).walk()
    var sizes: [Int] = []
    for try await page in walk { sizes.append(page.items.count) }
    #expect(sizes == [1])
    #expect(walk.report.pages == 1)
  }

  @Test("R14: a cursor with a line break is refused before anything is sent")
  func injection() async throws {
    let server = try FaultServer { _ in
      [page([1], next: "/x\\r\\nX-Injected: 1")]
    }
    defer { server.stop() }
    let byHeader = Pagination(
      next: .body("/next"), send: .header("X-Cursor"), items: "/items")
    for pagination in [links, byHeader] {
      let walk = client().cursor(of: Int.self, at: server.url(), pagination: pagination).walk()
      await #expect(throws: PageError.self) { for try await _ in walk {} }
      #expect(walk.report.pages == 1)
    }
    #expect(server.requests.count == 2)
  }
}
