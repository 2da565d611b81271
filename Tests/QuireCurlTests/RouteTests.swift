import HTTPTypes
import QuireCore
import QuireHTTP
import QuirePagination
import QuireTesting
import Synchronization
import TestSupport
import Testing

@testable import QuireCurl

@Suite("The way of a request, over the wire")
struct RouteTests {
  /// A resolver of these names, in a world where 127.0.0.77 is a public address.
  private func transport(
    _ names: @escaping @Sendable (_ name: String, _ ordinal: Int) -> [String]
  ) -> CurlTransport {
    let counts = Mutex<[String: Int]>([:])
    return CurlTransport(
      CurlTransport.Configuration(),
      resolver: NameResolver(fresh: .zero) { name in
        let ordinal = counts.withLock { counts in
          counts[name, default: -1] += 1
          return counts[name] ?? 0
        }
        let addresses = names(name, ordinal).compactMap { IPAddress($0) }
        return addresses.isEmpty ? .none : .addresses(addresses)
      })
  }

  private func client(_ transport: CurlTransport) throws -> PageClient {
    var configuration = PageClient.Configuration()
    configuration.allowsPlainHTTP = true
    configuration.retry = .never
    configuration.addresses = try .standard.allowing(["127.0.0.77"])
    return PageClient(transport: transport, configuration: configuration)
  }

  private func drain(_ client: PageClient, _ url: String) async -> PageError? {
    await pageError {
      for try await _ in client.cursor(
        at: url, pagination: .linkHeader, decoder: BytesPageDecoder())
      {}
    }
  }

  @Test(
    "R9, R10, R11, 15-Guard: of more than 500 spellings of private addresses none is connected to")
  func vectors() async throws {
    let inside = try FaultServer { _ in [.respond("[]")] }
    defer { inside.stop() }
    let hosts = AddressVectors.hosts
    let outside = try FaultServer(address: "127.0.0.77") { request in
      let number = Int(request.path.dropFirst()) ?? 0
      return [
        .write(
          "HTTP/1.1 302 Found\r\nLocation: http://\(hosts[number]):\(inside.port)/\r\nContent-Length: 0\r\n\r\n"
        )
      ]
    }
    defer { outside.stop() }
    let transport = transport { _, _ in ["127.0.0.77"] }
    let client = try client(transport)
    for number in hosts.indices {
      let error = await drain(client, "http://public.test:\(outside.port)/\(number)")
      #expect(
        error?.code == .refusedAddress || error?.code == .refusedLink,
        "\(hosts[number]): \(error as Any)")
    }
    #expect(hosts.count >= 500)
    #expect(inside.connections == 0)
    // One connection to the public host is all there ever was.
    #expect(transport.ledger.socketsOpened == outside.connections)
    showFigure(
      "connections by \(hosts.count) spellings of addresses inside", "\(inside.connections)",
      bar: "0")
    await transport.shutdown()
  }

  @Test(
    "R9, N15: a name that was public and is private now is not connected to, and neither is another name"
  )
  func rebinding() async throws {
    let inside = try FaultServer { _ in [.respond("[]")] }
    defer { inside.stop() }
    let outside = try FaultServer(address: "127.0.0.77", port: inside.port) { request in
      switch request.path {
      case "/first":
        [
          .write(
            "HTTP/1.1 200 OK\r\nLink: </second>; rel=\"next\"\r\nConnection: close\r\nContent-Length: 2\r\n\r\n[]"
          )
        ]
      case "/away":
        [
          .write(
            "HTTP/1.1 302 Found\r\nLocation: http://evil.test:\(inside.port)/\r\nContent-Length: 0\r\n\r\n"
          )
        ]
      default: [.respond("[]")]
      }
    }
    defer { outside.stop() }
    let transport = transport { name, ordinal in
      name == "evil.test" || ordinal > 0 ? ["127.0.0.1"] : ["127.0.0.77"]
    }
    let client = try client(transport)
    let rebound = await drain(client, "http://home.test:\(outside.port)/first")
    #expect(rebound?.code == .refusedAddress && rebound?.pageIndex == 1, "\(rebound as Any)")
    let led = await drain(client, "http://other.test:\(outside.port)/away")
    #expect(led?.code == .refusedAddress, "\(led as Any)")
    #expect(inside.connections == 0)
    await transport.shutdown()
  }

  @Test("N16: one private address among public ones is enough to refuse a name")
  func mixedAnswer() async throws {
    let outside = try FaultServer(address: "127.0.0.77") { request in
      [
        .write(
          "HTTP/1.1 302 Found\r\nLocation: http://mixed.test:\(request.values(of: "Host")[0].split(separator: ":")[1])/\r\nContent-Length: 0\r\n\r\n"
        )
      ]
    }
    defer { outside.stop() }
    let transport = transport { name, _ in
      name == "mixed.test" ? ["127.0.0.77", "10.0.0.1"] : ["127.0.0.77"]
    }
    let error = await drain(try client(transport), "http://home.test:\(outside.port)/")
    #expect(error?.code == .refusedAddress)
    #expect(outside.requests.count == 1)
    await transport.shutdown()
  }

  @Test(
    "15-Guard: a connection that one walk made to its private home is not another walk's way in")
  func reusedConnection() async throws {
    let inside = try FaultServer { _ in [.respond("[]")] }
    defer { inside.stop() }
    let outside = try FaultServer(address: "127.0.0.77") { _ in
      [
        .write(
          "HTTP/1.1 302 Found\r\nLocation: http://intranet.test:\(inside.port)/\r\nContent-Length: 0\r\n\r\n"
        )
      ]
    }
    defer { outside.stop() }
    let transport = transport { name, _ in name == "intranet.test" ? ["127.0.0.1"] : ["127.0.0.77"]
    }
    var configuration = PageClient.Configuration()
    configuration.allowsPlainHTTP = true
    let own = PageClient(transport: transport, configuration: configuration)
    #expect(await drain(own, "http://intranet.test:\(inside.port)/") == nil)
    let error = await drain(try client(transport), "http://home.test:\(outside.port)/")
    #expect(error?.code == .refusedAddress)
    #expect(inside.requests.count == 1)
    await transport.shutdown()
  }

  @Test(
    "N13, N14, 15-Resolver: a thousand walks under a dead resolver take 16 threads, and are cancelled at once"
  )
  func deadResolver() async throws {
    let gate = DispatchGate()
    let most = Mutex((now: 0, most: 0))
    let resolver = NameResolver { _ in
      most.withLock {
        $0.now += 1
        $0.most = max($0.most, $0.now)
      }
      gate.wait()
      most.withLock { $0.now -= 1 }
      return .failed
    }
    let transport = CurlTransport(CurlTransport.Configuration(), resolver: resolver)
    let server = try FaultServer { _ in [.respond("[]")] }
    defer { server.stop() }
    var configuration = PageClient.Configuration()
    configuration.allowsPlainHTTP = true
    configuration.timeouts.connect = .seconds(600)
    let client = PageClient(transport: transport, configuration: configuration)
    let walks = (0..<1_000).map { number in
      Task { await drain(client, "http://dead\(number).test/") }
    }
    while resolver.waiting < 1_000 { await Task.yield() }
    #expect(resolver.threadCount == 16 && most.withLock { $0.most } <= 16)
    // A walk to an address does not notice.
    #expect(await drain(client, server.url("/")) == nil)
    let clock = ContinuousClock()
    let time = await clock.measure {
      for walk in walks { walk.cancel() }
      for walk in walks { _ = await walk.value }
    }
    print("cancel under dead DNS, 1,000 walks: \(time), \(most.withLock { $0.most }) threads")
    // The benchmark has the bar; here no walk may wait for the resolver, or for its own ten minutes.
    #expect(time < .seconds(60))
    gate.open()
    await transport.shutdown()
  }

  @Test("15-Resolver: a look-up that the system refuses a thread fails, and the next one is tried")
  func refusedThread() async throws {
    let address = try #require(IPAddress("127.0.0.77"))
    let isRefused = Atomic(true)
    let resolver = NameResolver(
      begin: { work in
        guard !isRefused.load(ordering: .relaxed) else { return false }
        work()
        return true
      }, { _ in .addresses([address]) })
    let error = await #expect(throws: PageError.self) {
      try await resolver.addresses(of: "a.test", within: .seconds(600))
    }
    #expect(error?.code == .connectFailed)
    #expect(resolver.threadCount == 0 && resolver.waiting == 0)
    isRefused.store(false, ordering: .relaxed)
    #expect(try await resolver.addresses(of: "b.test", within: .seconds(600)) == [address])
    #expect(resolver.threadCount == 0)
  }

  @Test("15-Proxy: a proxy that is not there is named, and its password is not")
  func deadProxy() async throws {
    let gone = try FaultServer { _ in [.respond("[]")] }
    gone.stop()
    var configuration = CurlTransport.Configuration()
    configuration.proxy = try Proxy("http://me:s3cret@127.0.0.1:\(gone.port)")
    let transport = CurlTransport(configuration)
    var client = PageClient(transport: transport)
    client.configuration.allowsPlainHTTP = true
    client.configuration.retry = .never
    let error = await drain(client, "http://far.test/items")
    #expect(error?.code == .connectFailed)
    let words = "No connection to the proxy http://127.0.0.1:\(gone.port), "
    #expect(error?.message.hasPrefix(words) == true, "\(error?.message ?? "")")
    #expect(error?.message.contains("s3cret") == false)
    await transport.shutdown()
  }

  @Test(
    "15-Proxy: a proxy gets its own password and no field of the request's besides, and names hosts that are asked directly"
  )
  func proxy() async throws {
    let proxy = try FaultServer { _ in [.respond("[]")] }
    let direct = try FaultServer { _ in [.respond("[]")] }
    defer {
      proxy.stop()
      direct.stop()
    }
    var configuration = CurlTransport.Configuration()
    configuration.proxy = try Proxy(
      "http://me:s%40cret@127.0.0.1:\(proxy.port)", except: ["127.0.0.1"])
    #expect(!"\(configuration)".contains("cret"))
    let transport = CurlTransport(configuration)
    var client = PageClient(transport: transport)
    client.configuration.allowsPlainHTTP = true
    #expect(await drain(client, "http://far.test/items?a=1") == nil)
    let request = try #require(proxy.requests.first)
    #expect(request.target == "http://far.test/items?a=1")
    #expect(request.values(of: "Proxy-Authorization") == ["Basic bWU6c0BjcmV0"])
    #expect(await drain(client, direct.url("/")) == nil)
    #expect(direct.requests.count == 1 && proxy.requests.count == 1)
    // By name, and before the proxy hears of it.
    for host in ["127.1", "169.254.169.254", "localhost"] {
      let server = try FaultServer { _ in
        [.write("HTTP/1.1 302 Found\r\nLocation: http://\(host)/\r\nContent-Length: 0\r\n\r\n")]
      }
      defer { server.stop() }
      #expect(await drain(client, server.url("/"))?.code == .refusedAddress)
    }
    #expect(proxy.requests.count == 1)
    await transport.shutdown()
  }

  @Test(
    "15-Proxy: the environment's proxies are used when they are asked for, and read as others read them"
  )
  func environment() throws {
    let proxy = try Proxy.environment([
      "http_proxy": "proxy.test:3128", "HTTPS_PROXY": "https://secure.test",
      "HTTP_PROXY": "evil.test",
      "no_proxy":
        ".internal, 10.0.0.1,plain.test:8080,192.168.0.0/16,::1,fd00::80,[fd00::1]:8080,10.0.0.2:80",
    ])
    #expect(proxy.server(scheme: "http", host: "a.test", port: 80)?.url == "http://proxy.test:3128")
    #expect(
      proxy.server(scheme: "https", host: "a.test", port: 443)?.url == "https://secure.test:443")
    for (host, port) in [
      ("x.internal", 80), ("internal", 80), ("10.0.0.1", 80), ("plain.test", 8080),
      ("192.168.3.4", 80), ("[::1]", 80), ("[fd00::80]", 80), ("[fd00::1]", 8080), ("10.0.0.2", 80),
    ] {
      #expect(proxy.server(scheme: "http", host: host, port: port) == nil, "\(host)")
    }
    #expect(proxy.server(scheme: "http", host: "plain.test", port: 80) != nil)
    #expect(proxy.server(scheme: "http", host: "notinternal", port: 80) != nil)
    #expect(proxy.server(scheme: "http", host: "192.169.0.1", port: 80) != nil)
    #expect(try Proxy.environment(["HTTP_PROXY": "evil.test"]) == Proxy.environment([:]))
    for text in ["ftp://a", "http://", "socks4://a"] {
      #expect(throws: PageError.self) { try Proxy(text) }
    }
  }
}

/// Holds threads back, not tasks.
private final class DispatchGate: Sendable {
  private let isOpen = Atomic(false)

  func wait() { while !isOpen.load(ordering: .acquiring) { usleep(1_000) } }
  func open() { isOpen.store(true, ordering: .releasing) }
}

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif
