import Glibc
import HTTPTypes
import QuireCore
import QuireCurl
import QuireHTTP
import QuireJSON
import QuirePagination
import TestSupport
import Testing

@Suite("What goes on the wire", .timeLimit(.minutes(15)))
struct RequestFidelityTests {
  @Test("Fact 12: the transport sends the request's fields and nothing that could be a secret")
  func onlyTheRequest() async throws {
    let server = try FaultServer { _ in
      [
        .respond(
          "", status: "302 Found",
          headers: [("Location", "/elsewhere"), ("Set-Cookie", "a=b"), ("Alt-Svc", "h2=\":1\"")])
      ]
    }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    var request = TransportRequest(server.url("/first"))
    request.head.headerFields[.authorization] = "Bearer secret"
    #expect(try await transport.fetch(request).status == 302)
    _ = try await transport.fetch(server.url("/second"))
    #expect(server.requests.map(\.target) == ["/first", "/second"])
    #expect(server.requests[0].values(of: "authorization") == ["Bearer secret"])
    let names = server.requests[1].headers.map { $0.name.lowercased() }
    #expect(Set(names).isSubset(of: ["host", "accept-encoding", "user-agent", "connection"]))
    #expect(server.requests[1].values(of: "host") == ["127.0.0.1:\(server.port)"])
    await transport.shutdown()
  }

  @Test("A body is sent with its length and without a form type or an expectation of 100")
  func requestBody() async throws {
    let server = try FaultServer { _ in [.respond("")] }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    for (index, count) in [1, 1000, 3 << 20].enumerated() {
      var request = TransportRequest(server.url("/\(count)"))
      request.head.method = .post
      request.body = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
      _ = try await transport.fetch(request)
      let received = server.requests[index]
      #expect(received.method == "POST")
      #expect(received.body == request.body)
      #expect(received.values(of: "content-type").isEmpty)
      #expect(received.values(of: "expect").isEmpty)
    }
    await transport.shutdown()
  }

  @Test(
    "An empty body is no form either",
    arguments: [HTTPRequest.Method.post, .put, .patch, .delete, .options, .get, .head])
  func emptyBody(_ method: HTTPRequest.Method) async throws {
    let server = try FaultServer { _ in [.respond("")] }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    var request = TransportRequest(server.url())
    request.head.method = method
    _ = try await transport.fetch(request)
    #expect(server.requests.map(\.method) == [method.rawValue])
    #expect(server.requests[0].values(of: "content-type").isEmpty)
    #expect(server.requests[0].values(of: "expect").isEmpty)
    await transport.shutdown()
  }

  @Test(
    "A target goes out byte for byte",
    arguments: [
      "/a/../b/./c//d", "/%7e/%2F/%zz?x=%", "/?a=b&&c==;'()!*|^`{}\"<>\\[]", "/é?ü=ß", "/?",
      "/a?b?c",
    ])
  func target(_ target: String) async throws {
    let server = try FaultServer { _ in [.respond("")] }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    _ = try await transport.fetch(server.url(target))
    #expect(server.requests.map(\.target) == [target])
    await transport.shutdown()
  }

  @Test(
    "R14: control characters in a target are refused before anything is sent",
    arguments: ["\r", "\n", "\0", "\t", " ", "\u{7F}", "\r\nX-Injected: 1", "\u{1F}"])
  func hostileTarget(_ hostile: String) async throws {
    let server = try FaultServer { _ in [.respond("")] }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    for target in ["/?cursor=a\(hostile)b", "/a\(hostile)b", "/\(hostile)?b"] {
      try await transport.expectFailure(TransportRequest(server.url(target)), .invalidURL)
    }
    #expect(server.connections == 0)
    await transport.shutdown()
  }

  @Test(
    "R14: a path cannot become part of the host, and a host nothing but a host",
    arguments: [
      ("", "@evil.test/"), ("", ":80@evil.test/"), ("", ".evil.test/"), ("user:pass@", "/"),
      ("user@", "/"), ("\r\nX-Injected: 1\r\n", "/"), ("evil.test/?", "/"), ("evil.test#", "/"),
      ("evil.test\\@", "/"), ("a ", "/"), ("a\0", "/"), ("a\t", "/"),
    ])
  func hostileAuthority(_ prefix: String, _ path: String) async throws {
    let server = try FaultServer { _ in [.respond("")] }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    var request = TransportRequest(server.url())
    request.head.authority = "\(prefix)127.0.0.1:\(server.port)"
    request.head.path = path
    try await transport.expectFailure(request, .invalidURL)
    #expect(server.connections == 0)
    await transport.shutdown()
  }

  @Test("R14: line breaks and NUL in a field's value never reach the wire as such")
  func hostileField() async throws {
    let server = try FaultServer { _ in [.respond("")] }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    for hostile in ["a\r\nX-Injected: 1", "a\nX-Injected: 1", "a\rX-Injected: 1", "a\0b"] {
      var request = TransportRequest(server.url())
      let field = HTTPField(name: .ifNoneMatch, lenientValue: Array(hostile.utf8))
      request.head.headerFields.append(field)
      do { _ = try await transport.fetch(request) } catch is PageError { continue }
    }
    for request in server.requests {
      #expect(request.values(of: "x-injected").isEmpty)
      #expect(!request.head.contains(0))
      #expect(request.head.count { $0 == 13 } == request.headers.count + 2)
    }
    await transport.shutdown()
  }

  @Test("R14: a field with nothing in it stays one, and a framing field of the caller's is refused")
  func specialFields() async throws {
    let server = try FaultServer { _ in [.respond("")] }
    defer { server.stop() }
    let transport = CurlTransport.underTest()
    var empty = TransportRequest(server.url())
    empty.head.headerFields[try #require(HTTPField.Name("X-Empty"))] = ""
    _ = try await transport.fetch(empty)
    #expect(server.requests[0].values(of: "x-empty") == [""])
    for name in [HTTPField.Name.contentLength, .transferEncoding] {
      var request = TransportRequest(server.url())
      request.head.headerFields[name] = "5"
      try await transport.expectFailure(request, .invalidArgument)
    }
    #expect(server.requests.count == 1)
    await transport.shutdown()
  }

  @Test("R13, Fact 18: a proxy from the environment is not used, and no secret is read from .netrc")
  func environmentProxy() async {
    await #expect(processExitsWith: .success) {
      let proxy = try FaultServer { _ in [.respond("from the proxy")] }
      let server = try FaultServer { _ in [.respond("direct")] }
      for name in [
        "http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY",
      ] {
        setenv(name, proxy.url(), 1)
      }
      var directory = Array("/tmp/quire-netrc-XXXXXX".utf8CString)
      guard let home = mkdtemp(&directory).map({ String(cString: $0) }) else { return }
      if let file = fopen("\(home)/.netrc", "w") {
        fputs("machine 127.0.0.1 login user password secret\n", file)
        fclose(file)
      }
      setenv("HOME", home, 1)
      let transport = CurlTransport.underTest()
      #expect(try await transport.fetch(server.url()).text == "direct")
      #expect(proxy.connections == 0)
      #expect(server.requests[0].values(of: "authorization").isEmpty)
      await transport.shutdown()
      unlink("\(home)/.netrc")
      rmdir(home)
      for server in [proxy, server] { server.stop() }
    }
  }
}
