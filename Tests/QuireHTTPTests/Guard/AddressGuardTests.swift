import QuireCore
import QuireTesting
import TestSupport
import Testing

@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

@Suite("Which addresses a walk may reach")
struct AddressGuardTests {
  private func client(
    _ server: CannedServer, _ policy: AddressPolicy = .standard
  ) -> PageClient {
    var configuration = PageClient.Configuration()
    configuration.allowsPlainHTTP = true
    configuration.addresses = policy
    return PageClient(transport: server, configuration: configuration)
  }

  private func error(_ client: PageClient, at url: String, _ pagination: Pagination = .linkHeader)
    async -> PageError?
  {
    await pageError {
      for try await _ in client.cursor(of: Int.self, at: url, pagination: pagination) {}
    }
  }

  private func redirect(to host: String) -> CannedServer {
    CannedServer { _, ordinal in
      ordinal == 0 ? .status(302, ["Location": "http://\(host)/latest"]) : .json("[1]")
    }
  }

  @Test("R9, 15-Guard: the short way of reading an address finds what the long one does")
  func shortWay() {
    let seed = UInt64.random(in: .min ... .max)
    var random = SeededGenerator(seed: seed)
    let odd = [
      "", "0", "1.2.3", "256.1.1.1", "1.256.1.1", "01.2.3.4", "1.02.3.4", "0.0.0.0", "00.0.0.0",
      "1..2.3", ".1.2.3", "1.2.3.", "1.2.3.4.", "1.2.3.4.5", "a.b.c.d", "1.2.3.4a", "1.2.3.0x4",
      "api.test", "127.0.0.1.test", "①.1.1.1", "1.1.1.①", "4294967295", "4294967296",
    ]
    let texts = (0..<2_000).map { _ in
      (0..<4).map { _ in "\(Int.random(in: 0...299, using: &random))" }.joined(separator: ".")
    }
    for text in odd + texts {
      // In brackets it is read the long way.
      #expect(IPAddress(text) == IPAddress("[\(text)]"), "\(text), seed \(seed)")
    }
  }

  @Test(
    "R9, R10, R11, 15-Guard: a redirect to a private address is not followed, however it is spelled"
  )
  func redirects() async {
    #expect(AddressVectors.hosts.count >= 500)
    for host in AddressVectors.hosts {
      let server = redirect(to: host)
      let error = await error(client(server), at: "http://api.test/1")
      #expect(
        error?.code == .refusedAddress || error?.code == .refusedLink, "\(host): \(error as Any)")
      #expect(server.requests.count == 1, "\(host)")
    }
    for host in AddressVectors.free {
      let server = redirect(to: host)
      #expect(await error(client(server), at: "http://api.test/1") == nil, "\(host)")
    }
  }

  @Test(
    "R11: neither does a next link lead there, where the links of the listing may lead to that host"
  )
  func nextLinks() async {
    for host in ["169.254.169.254", "0xA9FEA9FE", "[::1]", "10.0.0.1"] {
      let server = CannedServer([.json("[1]", ["Link": "<http://\(host)/2>; rel=\"next\""])])
      let error = await error(
        client(server), at: "http://api.test/1", .linkHeader.links(.allow([host])))
      #expect(error?.code == .refusedAddress, "\(host): \(error as Any)")
      #expect(server.requests.count == 1)
    }
  }

  @Test(
    "15-Guard: a private listing stays at its own origin, but for hosts that its description names")
  func privateHome() async {
    for host in ["127.0.0.1:81", "10.0.0.2", "169.254.169.254", "localhost"] {
      let server = redirect(to: host)
      let error = await error(client(server), at: "http://10.0.0.1:80/1")
      #expect(error?.code == .refusedAddress, "\(host)")
    }
    #expect(await error(client(redirect(to: "10.0.0.1")), at: "http://10.0.0.1:80/1") == nil)
    #expect(await error(client(redirect(to: "8.8.8.8")), at: "http://10.0.0.1/1") == nil)
    let server = CannedServer { _, ordinal in
      ordinal == 0 ? .json("[1]", ["Link": "<http://10.0.0.2/2>; rel=\"next\""]) : .json("[2]")
    }
    let links = Pagination.linkHeader.links(.allow(["10.0.0.2"]))
    #expect(await error(client(server), at: "http://10.0.0.1/1", links) == nil)
    // What is in every cloud is reached by its very address alone.
    #expect(await error(client(CannedServer([.json("[1]")])), at: "http://169.254.169.254/") == nil)
  }

  @Test(
    "R11: of a redirect to a private address in the clear, the address is what is wrong with it")
  func inTheClear() async {
    let server = redirect(to: "169.254.169.254")
    let client = PageClient(transport: server)
    #expect(await error(client, at: "http://127.0.0.1/1")?.code == .refusedAddress)
  }

  @Test("15-Guard: a policy reaches further, or not even the first host where that is private")
  func policies() async throws {
    let policy = try AddressPolicy.standard.allowing(["10.0.0.0/8"])
    #expect(
      await error(
        client(redirect(to: "10.9.9.9"), policy), at: "http://api.test/")
        == nil)
    #expect(
      await error(client(redirect(to: "127.0.0.1"), .unrestricted), at: "http://api.test/") == nil)
    let server = CannedServer([.json("[1]")])
    for url in ["http://127.0.0.1/", "http://10.0.0.1/", "http://localhost/", "http://[::1]/"] {
      #expect(await error(client(server, .publicOnly), at: url)?.code == .refusedAddress, "\(url)")
    }
    #expect(server.requests.isEmpty)
    #expect(throws: PageError.self) { try AddressPolicy.standard.allowing(["10.0.0.0/33"]) }
    #expect(throws: PageError.self) { try AddressNetwork("example.com") }
    #expect(try AddressNetwork("fd12::/16").contains(#require(IPAddress("fd12:1::9"))))
  }

  @Test("R9, R11: with a network no metadata service in it may be reached, unless that is named")
  func metadata() async throws {
    for (network, host) in [
      ("fd00::/8", "fd00:ec2::254"), ("100.64.0.0/10", "100.100.100.200"),
      ("fd00::/8", "fd00:ec2::23"), ("fd00::/8", "fd00:c1::a9fe:a9fe"), ("fd00::/8", "fd00:42::42"),
      ("fe80::/10", "fe80::a9fe:a9fe"), ("169.254.0.0/16", "169.254.170.23"),
      ("169.254.0.0/16", "169.254.42.42"),
      ("169.254.169.254/31", "169.254.169.254"), ("::/0", "::ffff:169.254.169.254"),
    ] {
      let server = { redirect(to: host.contains(":") ? "[\(host)]" : host) }
      var policy = try AddressPolicy.standard.allowing([network])
      let refused = await error(client(server(), policy), at: "http://api.test/")
      #expect(refused?.code == .refusedAddress, "\(host)")
      policy = try policy.allowing([host])
      #expect(await error(client(server(), policy), at: "http://api.test/") == nil, "\(host)")
    }
  }

  @Test("R12: where ports are named, no other one is asked")
  func ports() async {
    var policy = AddressPolicy.publicOnly
    policy.ports = [80, 443, 8080, 8443]
    for host in ["api.test:22", "8.8.8.8:6379", "example.test:25"] {
      let server = CannedServer([.json("[1]")])
      #expect(await error(client(server, policy), at: "http://\(host)/")?.code == .refusedAddress)
      #expect(server.requests.isEmpty)
    }
    #expect(
      await error(client(CannedServer([.json("[1]")]), policy), at: "http://api.test:8080/") == nil)
  }

  @Test(
    "R9: a text is an address wherever a system's resolver takes it for one, and a name elsewhere")
  func spellings() {
    for (text, address) in [
      ("127.1", "127.0.0.1"), ("0", "0.0.0.0"), ("0177.0.0.01", "127.0.0.1"),
      ("1.2.3", "1.2.0.3"), ("0x7f.0x1", "127.0.0.1"), ("[::1]", "0:0:0:0:0:0:0:1"),
      ("::1%lo", "0:0:0:0:0:0:0:1"), ("1::8:1.2.3.4", "1:0:0:0:0:8:102:304"),
    ] {
      #expect(IPAddress(text)?.description == address, "\(text)")
    }
    for name in [
      "256.1", "1.2.3.256", "08.1.1.1", "1.2.3.4.5", "a.b", "0xg", "1..2", "", ".", "::1::", ":1",
      "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "12345::", "::1.2.3", "-1", "+1", "1.2.3.4294967296",
      "99999999999999999999", "0x+1", "0x-0", "::+1", "::-0", "1.2.3 x", "[1.2.3 x]", "1.2.3\0x",
    ] {
      #expect(IPAddress(name) == nil, "\(name)")
    }
  }
}
