import Glibc
import HTTPTypes
import QuireCore
import QuireHTTP
import QuireJSON
import QuirePagination
import Synchronization
import TestSupport
import Testing

@testable import QuireCurl

@Suite("Names, connections and servers that are not what they were", .timeLimit(.minutes(15)))
struct UnreliableNetworkTests {
  private func client(
    _ transport: CurlTransport, _ change: (inout PageClient.Configuration) -> Void = { _ in }
  ) -> PageClient {
    var configuration = PageClient.Configuration()
    configuration.allowsPlainHTTP = true
    configuration.retry.delay = .zero
    change(&configuration)
    return PageClient(transport: transport, configuration: configuration)
  }

  private func cursor(_ client: PageClient, _ url: String) -> Cursor<Int> {
    client.cursor(at: url, pagination: .linkHeader, decoder: JSONPageDecoder<Int>())
  }

  /// A page with one item and a link to the one after it.
  private static func page(_ number: Int, of count: Int) -> String {
    let link = number < count ? "Link: </\(number + 1)>; rel=\"next\"\r\n" : ""
    let body = "[\(number)]"
    return
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\(link)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
  }

  @Test("N11: a walk whose connections die every few pages, in any place, has every item once")
  func dyingConnections() async throws {
    let server = try FaultServer { request in
      let number = Int(request.path.dropFirst()) ?? 0
      let answer = Array(Self.page(number, of: 60).utf8)
      // The first answer to every third page is cut, each time in another place.
      guard number % 3 == 0, request.ordinal == 1 else { return [.write(answer)] }
      return [
        .write(Array(answer.prefix(number * answer.count / 60))),
        number % 2 == 0 ? .reset : .finish,
      ]
    }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    let walk = cursor(client(transport), server.url("/1")).walk()
    #expect(try await walk.items.collected() == Array(1...60))
    #expect(walk.report.isComplete && walk.report.traffic.requests >= 79)
    await transport.shutdown()
  }

  @Test("N12: a name that does not exist is an error, and is looked up twice at most")
  func unknownName() async throws {
    let lookUps = Mutex(0)
    let transport = CurlTransport(
      CurlTransport.Configuration(),
      resolver: NameResolver { _ in
        lookUps.withLock { $0 += 1 }
        return .none
      })
    let walk = cursor(client(transport), "http://nowhere.test/").walk()
    let error = await #expect(throws: PageError.self) { try await walk.next() }
    #expect(error?.code == .connectFailed && error?.message.contains("nowhere.test") == true)
    #expect(lookUps.withLock { $0 } <= 2)
    await transport.shutdown()
  }

  @Test(
    "N17: where the way by IPv6 is a black hole, the one by IPv4 is taken",
    .enabled(if: BlackHole6.canExist, "needs IPv6"))
  func brokenIPv6() async throws {
    let hole = try #require(BlackHole6())
    defer { hole.close() }
    let server = try FaultServer(port: hole.port) { _ in
      [.respond("[1]", headers: [("Content-Type", "application/json")])]
    }
    defer { server.stop() }
    let transport = CurlTransport(
      CurlTransport.Configuration(),
      resolver: NameResolver { _ in .addresses(["::1", "127.0.0.1"].compactMap { IPAddress($0) }) })
    // Only the other way comes to an end within the time of this test.
    let client = client(transport) {
      $0.timeouts.connect = .seconds(600)
      $0.timeouts.total = .seconds(600)
      $0.timeouts.head = .seconds(600)
    }
    #expect(try await cursor(client, "http://dual.test:\(server.port)/").items.collected() == [1])
    await transport.shutdown()
  }

  @Test("N18, R9: hosts in digits of other scripts are judged by the address that they lead to")
  func otherDigits() async throws {
    let inside = try FaultServer { _ in [.respond("[1]")] }
    defer { inside.stop() }
    for host in ["①②⑦.⓪.⓪.①", "127。0。0。1", "１２７.0.0.1", "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "127.0.0.1%00.test"] {
      let outside = try FaultServer(address: "127.0.0.77") { _ in
        [
          .write(
            "HTTP/1.1 302 Found\r\nLocation: http://\(host):\(inside.port)/\r\nContent-Length: 0\r\n\r\n"
          )
        ]
      }
      defer { outside.stop() }
      // A name that nothing else knows is public, and so is the first host.
      let transport = CurlTransport(
        CurlTransport.Configuration(),
        resolver: NameResolver { name in
          .addresses(["127.0.0.77"].compactMap { IPAddress($0) })
        })
      let client = client(transport) {
        $0.retry = .never
        if let policy = try? AddressPolicy.standard.allowing(["127.0.0.77"]) {
          $0.addresses = policy
        }
      }
      await #expect(throws: PageError.self, "\(host)") {
        try await cursor(client, "http://public.test:\(outside.port)/").walk().next()
      }
      await transport.shutdown()
    }
    #expect(inside.connections == 0)
  }

  @Test(
    "R16, R19: cookies are not sent back, and no field of an answer moves later requests elsewhere")
  func answersThatWantMore() async throws {
    let other = try FaultServer { _ in [.respond("[666]")] }
    defer { other.stop() }
    let server = try FaultServer(tls: FaultTLS()) { request in
      let number = Int(request.path.dropFirst()) ?? 0
      let extra =
        "Set-Cookie: id=canary; Path=/\r\nStrict-Transport-Security: max-age=31536000\r\n"
        + "Alt-Svc: h2=\"127.0.0.1:\(other.port)\"; ma=86400\r\nRefresh: 0; url=\(other.url())\r\n"
        + "Content-Location: \(other.url())\r\n"
      let page = Self.page(number, of: 4).split(separator: "\r\n", maxSplits: 1)
      return [.write(page[0] + "\r\n" + extra + page[1])]
    }
    defer { server.stop() }
    let plain = try FaultServer { _ in
      [.respond("[9]", headers: [("Content-Type", "application/json")])]
    }
    defer { plain.stop() }
    let transport = CurlTransport.underTest()
    let client = client(transport)
    for _ in 0..<2 {
      #expect(try await cursor(client, server.url("/1")).items.collected() == [1, 2, 3, 4])
    }
    #expect(server.requests.count == 8)
    #expect(
      server.requests.allSatisfy {
        $0.values(of: "Cookie").isEmpty && $0.values(of: "Alt-Used").isEmpty
      })
    // The host that wants https everywhere is still asked by http where a URL says so.
    #expect(try await cursor(client, plain.url("/")).items.collected() == [9])
    #expect(other.connections == 0)
    await transport.shutdown()
  }

  @Test(
    "R18: a temporary redirect is asked for anew by each walk, and none is noted as permanent",
    arguments: [302, 303, 307])
  func temporaryRedirect(_ status: Int) async throws {
    let server = try FaultServer { request in
      guard request.path == "/1" else { return [.write(Self.page(5, of: 5))] }
      return [.respond("", status: "\(status) Moved", headers: [("Location", "/5")])]
    }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    let client = client(transport)
    for _ in 0..<2 {
      let page = try #require(try await cursor(client, server.url("/1")).walk().next())
      #expect(page.items == [5] && page.http?.permanentRedirect == nil)
    }
    #expect(server.requests.map(\.path) == ["/1", "/5", "/1", "/5"])
    await transport.shutdown()
  }
}

/// A listener on ::1 whose queue is full: connecting takes for ever.
private struct BlackHole6 {
  private var descriptors: [Int32] = []
  private(set) var port = 0

  /// Whether the machine has IPv6.
  static let canExist = {
    let hole = BlackHole6()
    hole?.close()
    return hole != nil
  }()

  /// Nil where the machine has no IPv6.
  init?() {
    var place = sockaddr_in6()
    place.sin6_family = sa_family_t(AF_INET6)
    place.sin6_addr = in6addr_loopback
    let type =
      Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    func with(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
      withUnsafePointer(to: &place) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          body($0, socklen_t(MemoryLayout<sockaddr_in6>.size))
        }
      }
    }
    let listener = socket(AF_INET6, type, 0)
    guard listener >= 0 else { return nil }
    descriptors = [listener]
    guard with({ bind(listener, $0, $1) }) == 0, listen(listener, 0) == 0 else {
      close()
      return nil
    }
    var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let named = withUnsafeMutablePointer(to: &place) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        getsockname(listener, $0, &length)
      }
    }
    guard named == 0 else {
      close()
      return nil
    }
    port = Int(in_port_t(bigEndian: place.sin6_port))
    for _ in 0..<4 {
      let filler = socket(AF_INET6, type, 0)
      descriptors.append(filler)
      _ = with { connect(filler, $0, $1) }
    }
  }

  func close() { for descriptor in descriptors { Glibc.close(descriptor) } }
}
