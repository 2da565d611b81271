import HTTPTypes
import QuireCore
import QuireHTTP
import QuirePagination
import QuireTesting
import TestSupport
import Testing

@testable import QuireCurl

@Suite("Tunnels and client certificates, over the wire", .timeLimit(.minutes(15)))
struct TunnelTests {
  /// A transport that trusts the test authority.
  private func transport(
    _ change: (inout CurlTransport.Configuration) throws -> Void
  ) rethrows -> CurlTransport {
    var configuration = CurlTransport.Configuration(
      certificateAuthorities: .file(TestAuthority.shared.certificateFile), httpVersion: .http1)
    try change(&configuration)
    return CurlTransport(configuration)
  }

  private func drain(_ transport: CurlTransport, _ url: String) async -> PageError? {
    var configuration = PageClient.Configuration()
    configuration.allowsPlainHTTP = true
    configuration.retry = .never
    let client = PageClient(
      transport: transport, headers: [.authorization: "Bearer own-secret"],
      configuration: configuration)
    return await pageError {
      for try await _ in client.cursor(
        at: url, pagination: .linkHeader, decoder: BytesPageDecoder())
      {}
    }
  }

  /// Answers `[]`, and redirects `/to/host` to that host.
  private func server(tls: FaultTLS? = nil) throws -> FaultServer {
    try FaultServer(tls: tls) { request in
      guard request.path.hasPrefix("/to/") else { return [.respond("[]")] }
      let target = request.path.dropFirst(4)
      let scheme = tls == nil ? "http" : "https"
      return [.respond("", status: "302 Found", headers: [("Location", "\(scheme)://\(target)/")])]
    }
  }

  /// Where no redirect may lead, however it is spelled, with a proxy or without one.
  private static let inside = [
    "127.0.0.1", "127.1", "0x7f.1", "2130706433", "169.254.169.254", "localhost", "a.localhost",
    "10.0.0.1", "192.168.1.1", "[::1]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]",
  ]

  @Test(
    "R13, 15-Proxy: a tunnel by CONNECT gets its own password and no field of the request, and leads to no private host"
  )
  func connect() async throws {
    // Its certificate is for elsewhere.test.
    let server = try server(tls: FaultTLS(.wrongHost))
    let proxy = try TunnelProxy(.connect, to: server.port)
    defer {
      proxy.stop()
      server.stop()
    }
    let transport = try transport {
      $0.proxy = try Proxy("http://me:s%40cret@127.0.0.1:\(proxy.port)")
    }
    #expect(await drain(transport, "https://elsewhere.test/items") == nil)
    let head = try #require(proxy.asked.first)
    #expect(head.hasPrefix("CONNECT elsewhere.test:443 HTTP/1.1\r\n"))
    #expect(head.contains("Proxy-Authorization: Basic bWU6c0BjcmV0"))
    #expect(!head.contains("own-secret"))
    let request = try #require(server.requests.first)
    #expect(request.values(of: "Authorization") == ["Bearer own-secret"])
    #expect(request.values(of: "Proxy-Authorization").isEmpty && request.target == "/items")
    // What the server leads to is refused before the proxy hears of it.
    for host in Self.inside {
      let error = await drain(transport, "https://elsewhere.test/to/\(host)")
      #expect(error?.code == .refusedAddress, "\(host): \(error as Any)")
    }
    #expect(proxy.asked.allSatisfy { $0.hasPrefix("CONNECT elsewhere.test:443 ") })
    // A certificate for another name is no less wrong behind a proxy.
    #expect(await drain(transport, "https://other.test/")?.code == .tls)
    await transport.shutdown()
  }

  @Test("R13, 15-Proxy: a tunnel by SOCKS resolves names itself, and leads to no private host")
  func socks() async throws {
    let server = try server()
    let proxy = try TunnelProxy(.socks, to: server.port)
    defer {
      proxy.stop()
      server.stop()
    }
    for scheme in ["socks5h", "socks5", "socks"] {
      let transport = try transport {
        $0.proxy = try Proxy("\(scheme)://me:cret-word@127.0.0.1:\(proxy.port)")
      }
      // No resolver could find the name.
      #expect(await drain(transport, "http://far.test/items") == nil)
      #expect(proxy.asked.last == "me:cret-word@far.test:80")
      await transport.shutdown()
    }
    #expect(server.requests.map(\.target) == ["/items", "/items", "/items"])
    #expect(server.requests.allSatisfy { $0.values(of: "Proxy-Authorization").isEmpty })
    let transport = try transport { $0.proxy = try Proxy("socks5h://127.0.0.1:\(proxy.port)") }
    let before = proxy.asked.count
    for host in Self.inside {
      let error = await drain(transport, "http://far.test/to/\(host)")
      #expect(error?.code == .refusedAddress, "\(host): \(error as Any)")
    }
    #expect(proxy.asked.dropFirst(before).allSatisfy { $0 == "far.test:80" })
    await transport.shutdown()
  }

  @Test("15-Proxy: a proxy that refuses, or is away, is an error and no way around it")
  func refusals() async throws {
    let server = try server()
    let refusing = try FaultServer { _ in
      // Base 64 of the user and the password, as the proxy gets them.
      [.respond("no: cret-word, bWU6Y3JldC13b3Jk", status: "407 Proxy Authentication Required")]
    }
    defer {
      server.stop()
      refusing.stop()
    }
    let proxy = try Proxy("http://me:cret-word@127.0.0.1:\(refusing.port)")
    let transport = transport { $0.proxy = proxy }
    let refused = await drain(transport, "https://elsewhere.test/")
    #expect(refused != nil && !"\(refused as Any)".contains("cret-word"))
    let answered = await drain(transport, "http://far.test/")
    #expect(answered?.message.contains("It says: no: …, …") == true, "\(answered as Any)")
    #expect(!"\(answered as Any)".contains("cret-word"))
    await transport.shutdown()
    refusing.refuseConnections()
    let later = self.transport { $0.proxy = proxy }
    let away = await drain(later, "http://far.test/")
    #expect(away?.code == .connectFailed, "\(away as Any)")
    #expect(server.requests.isEmpty)
    await later.shutdown()
  }

  // MARK: Client certificates

  @Test(
    "15-Certificate, R4: a client certificate is shown to its own origin and to no other, along no redirect",
    arguments: [nil, "pass phrase"])
  func certificate(password: String?) async throws {
    let files = try TestAuthority.shared.clientFiles(password: password)
    defer { files.remove() }
    let other = try FaultServer(tls: FaultTLS(wantsClient: true)) { _ in [.respond("[]")] }
    let lenient = try server(tls: FaultTLS())
    let own = try FaultServer(tls: FaultTLS(wantsClient: true)) { request in
      guard request.path == "/away" else { return [.respond("[]")] }
      return [.respond("", status: "302 Found", headers: [("Location", other.url("/"))])]
    }
    defer {
      other.stop()
      lenient.stop()
      own.stop()
    }
    let with = try transport {
      $0.clientCertificate = try ClientCertificate(
        for: own.url(""), file: files.certificate, keyFile: files.key, password: password)
      #expect(!"\($0)".contains("pass phrase"))
    }
    #expect(await drain(with, own.url("/")) == nil)
    #expect(await drain(with, lenient.url("/")) == nil)
    // The other one wants a certificate, too, and gets none.
    #expect(await drain(with, other.url("/")) != nil)
    #expect(await drain(with, own.url("/away")) != nil)
    #expect(other.requests.isEmpty)
    #expect(await drain(with, own.url("/")) == nil)
    #expect(own.requests.count == 3)
    await with.shutdown()
    let without = transport { _ in }
    #expect(await drain(without, own.url("/")) != nil)
    #expect(own.requests.count == 3)
    await without.shutdown()
  }

  @Test(
    "15-Certificate: a file that cannot be read, or a wrong password, is an error that names no secret"
  )
  func badCertificate() async throws {
    let files = try TestAuthority.shared.clientFiles(password: "right-word")
    defer { files.remove() }
    let server = try FaultServer(tls: FaultTLS(wantsClient: true)) { _ in [.respond("[]")] }
    defer { server.stop() }
    for (file, password) in [(files.certificate, "wrong-word"), ("/nonexistent.pem", "wrong-word")]
    {
      let transport = try transport {
        $0.clientCertificate = try ClientCertificate(
          for: server.url(""), file: file, keyFile: files.key, password: password)
      }
      let error = await drain(transport, server.url("/"))
      #expect(error?.code == .tls, "\(error as Any)")
      #expect(!"\(error as Any)".contains("wrong-word"))
      await transport.shutdown()
    }
    #expect(server.requests.isEmpty)
  }
}
