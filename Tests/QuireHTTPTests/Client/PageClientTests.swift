import TestSupport
import HTTPTypes
import QuireCore
import QuireTesting
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

@Suite("The page client", .timeLimit(.minutes(15)))
struct PageClientTests {
  private let url = "https://api.test/items"
  private let nextURL = #"{"items":[1,2],"next":"https://api.test/items?page=2"}"#
  private let links = Pagination(next: .body("/next"), items: "/items")

  private func drain(_ cursor: Cursor<Int>) async throws -> [Int] {
    var items: [Int] = []
    for try await item in cursor.items { items.append(item) }
    return items
  }

  private func failure(of cursor: Cursor<Int>) async -> PageError? {
    await pageError { _ = try await drain(cursor) }
  }

  // MARK: The walk

  @Test("C-1, C-2: nothing is requested before the first next, then one request a page, in order")
  func lazy() async throws {
    let server = CannedServer([.json(nextURL), .json(#"{"items":[3],"next":null}"#)])
    let cursor = PageClient(transport: server).cursor(of: Int.self, at: url, pagination: links)
    var pages = cursor.makeAsyncIterator()
    #expect(server.requests.isEmpty)
    #expect(try await pages.next()?.items == [1, 2])
    #expect(server.requests.map(\.url) == [url])
    #expect(try await pages.next()?.items == [3])
    #expect(try await pages.next() == nil)
    #expect(server.requests.map(\.url) == [url, "https://api.test/items?page=2"])
  }

  @Test(
    "12-L2: requests ask for the formats of their description, and for others only if they must",
    arguments: [
      ([], "application/json, application/xml;q=0.9, */*;q=0.5"),
      ([.json], "application/json, */*;q=0.5"),
      ([.xml], "application/xml, text/xml, application/atom+xml, */*;q=0.5"),
      ([.csv, .json], "text/csv, application/json;q=0.9, */*;q=0.5"),
    ] as [([PageFormat], String)])
  func acceptedFormats(formats: [PageFormat], accept: String) async throws {
    let own: HTTPFields = [.accept: "a/b"]
    for (fields, expected) in [(HTTPFields(), accept), (own, "a/b")] {
      let server = CannedServer([.json(#"{"items":[1]}"#)])
      let cursor = PageClient(transport: server).cursor(
        of: Int.self, at: url, pagination: links.formats(formats), request: .init(headers: fields))
      _ = await failure(of: cursor)
      #expect(server.requests.first?.head.headerFields[.accept] == expected)
    }
  }

  @Test("A listing's parameters are encoded strictly, and take the place of the URL's own")
  func parameters() async throws {
    let server = CannedServer([.json(nextURL), .json(#"{"items":[3]}"#)])
    let cursor = PageClient(transport: server).cursor(
      of: Int.self, at: url + "?page=9&keep=%7e+&page=8#top", pagination: links,
      request: .init(parameters: ["q": "a&b=c d+é", "page": "1", "tag[]": "x", "tag[]": "y"]))
    #expect(try await cursor.items.collect() == [1, 2, 3])
    #expect(
      server.requests.map(\.url) == [
        url + "?keep=%7e+&q=a%26b%3Dc%20d%2B%C3%A9&page=1&tag[]=x&tag[]=y", url + "?page=2",
      ])
  }

  @Test(
    "TI-45: a URL that cannot work fails at the first page, before any request",
    arguments: [
      "", "items", "/items", "ftp://api.test/", "https://", "https://user:pw@api.test/",
      "https://api.test/a b", "http://api.test/items",
    ])
  func badURL(url: String) async {
    let server = CannedServer([.json("[]")])
    let cursor = PageClient(transport: server).cursor(
      of: Int.self, at: url, pagination: Pagination(next: .linkHeader()))
    #expect(await failure(of: cursor)?.code == .invalidURL)
    #expect(server.requests.isEmpty)
  }

  @Test("TI-45: transport, status and decoding fail by code, and asking again asks the same page")
  func failuresByCode() async throws {
    let next = "https://api.test/items?page=2"
    let server = CannedServer { _, ordinal in
      switch ordinal {
      case 0: return .json(#"{"items":[1,2],"next":"https://api.test/items?page=2"}"#)
      case 1: throw PageError(.connectFailed, "Nobody listens.")
      case 2: return .status(404)
      case 3: return .json(#"{"items":[3"#)
      case 4: return .json(#"{"items":[3,}"#)
      default: return .json(#"{"items":[3],"next":null}"#)
      }
    }
    var configuration = PageClient.Configuration()
    configuration.retry = .never
    let cursor = PageClient(transport: server, configuration: configuration)
      .cursor(of: Int.self, at: url, pagination: links)
    var pages = cursor.makeAsyncIterator()
    #expect(try await pages.next()?.items == [1, 2])
    for code in [PageError.Code.connectFailed, .status, .truncated, .malformed] {
      let error = await #expect(throws: PageError.self) { try await pages.next() }
      #expect(error?.code == code)
      #expect(error?.pageIndex == 1)
    }
    #expect(try await pages.next()?.items == [3])
    #expect(server.requests.map(\.url) == [url, next, next, next, next, next])
  }

  @Test("Plain http is for loopback, and for those who ask for it")
  func plainHTTP() async throws {
    for url in ["http://localhost/", "http://127.1.2.3:8080/", "http://[::1]:80/"] {
      let cursor = PageClient(transport: CannedServer([.json("[1]")]))
        .cursor(of: Int.self, at: url, pagination: Pagination(next: .linkHeader()))
      #expect(try await drain(cursor) == [1], "\(url)")
    }
    var configuration = PageClient.Configuration()
    configuration.allowsPlainHTTP = true
    let client = PageClient(transport: CannedServer([.json("[1]")]), configuration: configuration)
    let cursor = client.cursor(
      of: Int.self, at: "http://api.test/", pagination: Pagination(next: .linkHeader()))
    #expect(try await drain(cursor) == [1])
  }

  // MARK: What a page carries

  @Test("H-9: a page carries status, fields, sizes, attempts and the redacted request")
  func pageInformation() async throws {
    let server = CannedServer([
      .status(503), .json("[1,2,3]", ["X-Request-Id": "r1"]),
    ])
    var configuration = PageClient.Configuration()
    configuration.retry.delay = .zero
    let client = PageClient(transport: server, configuration: configuration)
    let cursor = client.cursor(
      of: Int.self, at: url + "?api_key=hunter2hunter2&page=1",
      pagination: Pagination(next: .linkHeader()))
    for try await page in cursor {
      let http = try #require(page.http)
      #expect(http.head.status == .ok)
      #expect(http.head.headerFields[try #require(.init("x-request-id"))] == "r1")
      #expect(http.metrics.wireBytes == 7)
      #expect(http.traffic == WalkReport.Traffic(bytes: 7, requests: 2, retries: 1))
      #expect(http.request == "GET https://api.test/items?api_key=…&page=1")
      #expect(page.traffic.requests == 2)
    }
  }

  @Test("C-12: page-level fields are typed, reachable from the page, and survive transforms")
  func fields() async throws {
    struct Bank: Decodable, Equatable { let name: String }
    let body = #"{"items":[1,2],"bank":{"name":"X"},"sync":9007199254740993,"none":null}"#
    let cursor = PageClient(transport: CannedServer([.json(body)]))
      .cursor(of: Int.self, at: url, pagination: links).filter { $0 > 1 }.map { "\($0)" }
    for try await page in cursor {
      #expect(page.items == ["2"])
      #expect(try page.field("/bank", as: Bank.self) == Bank(name: "X"))
      #expect(try page.field("/sync") == .number("9007199254740993"))
      #expect(try page.field("/none", as: Bank.self) == nil)
      #expect(try page.field("/missing", as: Bank.self) == nil)
      #expect(throws: PageError.self) { try page.field("/sync", as: Bank.self) }
    }
  }

  @Test("D-3: with collect, a bad item is set aside, the walk goes on, and the report counts it")
  func badItems() async throws {
    let server = CannedServer([
      .json(#"{"items":[1,"two",3],"next":"?page=2"}"#), .json(#"{"items":[4]}"#),
    ])
    var configuration = PageClient.Configuration()
    configuration.badItems = .collect
    let walk = PageClient(transport: server, configuration: configuration)
      .cursor(of: Int.self, at: url, pagination: links).walk()
    var items: [Int] = []
    var bad: [BadItem] = []
    for try await page in walk {
      items += page.items
      bad += page.badItems
    }
    #expect(items == [1, 3, 4])
    #expect(bad.map(\.index) == [1])
    #expect(bad.map { String(decoding: $0.bytes, as: UTF8.self) } == [#""two""#])
    #expect(walk.report.traffic.badItems == 1)
    let strict = PageClient(transport: CannedServer([.json(#"{"items":[1,"two"]}"#)]))
      .cursor(of: Int.self, at: url, pagination: links)
    #expect(await failure(of: strict)?.code == .itemDecoding)
  }

  // MARK: The next link

  @Test("C-3, R5: a refused next link is raised after its page, on the following next")
  func refusedLink() async throws {
    let server = CannedServer([.json(#"{"items":[1],"next":"https://evil.test/"}"#)])
    var pages = PageClient(transport: server).cursor(of: Int.self, at: url, pagination: links)
      .makeAsyncIterator()
    #expect(try await pages.next()?.items == [1])
    let error = await #expect(throws: PageError.self) { try await pages.next() }
    #expect(error?.code == .crossOriginLink)
    #expect(error?.pageIndex == 1)
    #expect(server.requests.count == 1)
  }

  @Test("H-3, V102: an allowed host gets the request without credentials, cookies or custom fields")
  func credentialsStayHome() async throws {
    let server = CannedServer([
      .json(#"{"items":[1],"next":"https://cdn.test/2"}"#),
      .json(#"{"items":[2],"next":"https://api.test/3"}"#), .json(#"{"items":[3]}"#),
    ])
    let headers: HTTPFields = [
      .authorization: "Bearer canary-1", .cookie: "canary-2", .init("X-Api-Key")!: "canary-3",
      .userAgent: "me",
    ]
    let client = PageClient(transport: server, headers: headers)
    let cursor = client.cursor(
      of: Int.self, at: url, pagination: links.links(.allow(["cdn.test"])),
      request: .init(headers: [.init("X-Tenant")!: "canary-4"]))
    #expect(try await drain(cursor) == [1, 2, 3])
    let sent = server.requests.map { "\($0.head.headerFields)" }
    for canary in ["canary-1", "canary-2", "canary-3", "canary-4"] {
      #expect(sent.map { $0.contains(canary) } == [true, false, true], "\(canary)")
    }
    #expect(server.requests[1].head.headerFields[.userAgent] == "me")
  }

  @Test("fields of a client that have one name are all sent, unless the request has its own")
  func repeatedFields() async throws {
    let server = CannedServer([.json(#"{"items":[1]}"#)])
    let name = HTTPField.Name("X-Tag")!
    var headers = HTTPFields()
    for value in ["a", "b"] { headers.append(HTTPField(name: name, value: value)) }
    let client = PageClient(transport: server, headers: headers)
    _ = try await drain(client.cursor(of: Int.self, at: url, pagination: links))
    _ = try await drain(
      client.cursor(
        of: Int.self, at: url, pagination: links, request: .init(headers: [name: "c"])))
    #expect(server.requests.map { $0.head.headerFields[values: name] } == [["a", "b"], ["c"]])
  }

  @Test("H-3: a request's body goes along a next link only at home, as along a redirect")
  func bodiesStayHome() async throws {
    for (links, isFollowed) in [("https://cdn.test/2", false), ("https://api.test/2", true)] {
      let server = CannedServer([
        .json(#"{"items":[1],"next":"\#(links)"}"#), .json(#"{"items":[2]}"#),
      ])
      let cursor = PageClient(transport: server).cursor(
        of: Int.self, at: url, pagination: self.links.links(.allow(["cdn.test"])),
        request: .init(method: .post, body: .json(["filter": "canary"])))
      #expect(await failure(of: cursor)?.code == (isFollowed ? nil : .refusedLink))
      #expect(server.requests.count == (isFollowed ? 2 : 1))
    }
  }

  // MARK: Redirects

  @Test("R4: a redirect to another port carries no credentials, and one back home has them again")
  func redirects() async throws {
    let server = CannedServer([
      .status(302, ["Location": "https://api.test:8443/b"]),
      .status(307, ["Location": "https://api.test/c"]), .json(#"{"items":[1]}"#),
    ])
    let client = PageClient(
      transport: server, headers: [.authorization: "Bearer x", .init("X-Api-Key")!: "k"])
    let cursor = client.cursor(of: Int.self, at: url, pagination: links)
    var pages = cursor.makeAsyncIterator()
    #expect(try await pages.next()?.traffic.requests == 3)
    let authorized = server.requests.map { $0.head.headerFields[.authorization] != nil }
    let keyed = server.requests.map { $0.head.headerFields[.init("X-Api-Key")!] != nil }
    #expect(authorized == [true, false, true])
    #expect(keyed == authorized)
  }

  @Test(
    "R4: a redirect takes no secret of the walk to another origin, but to https at the same host")
  func redirectedSecrets() async throws {
    let token = "s3cr3t%2Btoken"
    for (first, target, isFollowed) in [
      (
        "https://api.test/items?access_token=\(token)",
        "https://other.test/l?access_token=\(token)", false
      ),
      ("https://api.test/items?access_token=\(token)", "https://api.test:8443/\(token)", false),
      ("https://api.test/items?access_token=\(token)", "https://other.test/l", true),
      ("https://api.test/items?access_token=\(token)", "/l?access_token=\(token)", true),
      (
        "http://api.test/items?access_token=\(token)", "https://api.test/l?access_token=\(token)",
        true
      ),
    ] {
      let server = CannedServer([
        .status(302, ["Location": target]), .json(#"{"items":[1]}"#),
      ])
      var client = PageClient.Configuration()
      client.allowsPlainHTTP = true
      let cursor = PageClient(transport: server, configuration: client)
        .cursor(of: Int.self, at: first, pagination: links)
      let error = await failure(of: cursor)
      #expect(error?.code == (isFollowed ? nil : .refusedLink), "\(first) \(target)")
      #expect(error?.message.contains("secret of the walk") ?? true)
      #expect(server.requests.count == (isFollowed ? 2 : 1))
    }
    let server = CannedServer([.status(302, ["Location": "https://other.test/s3cr3t-token"])])
    let client = PageClient(transport: server, headers: [.authorization: "Bearer s3cr3t-token"])
    let cursor = client.cursor(of: Int.self, at: url, pagination: links)
    #expect(await failure(of: cursor)?.code == .refusedLink)
    #expect(server.requests.count == 1)
  }

  @Test("T9: a relative next link starts at the URL that answered, after redirects")
  func relativeAfterRedirect() async throws {
    let server = CannedServer([
      .status(301, ["Location": "/v2/items/"]), .json(#"{"items":[1],"next":"p2"}"#),
      .json(#"{"items":[2]}"#),
    ])
    let cursor = PageClient(transport: server).cursor(of: Int.self, at: url, pagination: links)
    #expect(try await drain(cursor) == [1, 2])
    #expect(server.requests.last?.url == "https://api.test/v2/items/p2")
  }

  @Test("R1, R2: a redirect loop and a redirect to http end the page, with nothing sent there")
  func hostileRedirects() async throws {
    let loop = CannedServer([.status(302, ["Location": "/items"])])
    let looping = PageClient(transport: loop).cursor(of: Int.self, at: url, pagination: links)
    #expect(await failure(of: looping)?.code == .refusedLink)
    #expect(loop.requests.count == 1)
    let chain = CannedServer { _, ordinal in .status(302, ["Location": "/\(ordinal)"]) }
    let chained = PageClient(transport: chain).cursor(of: Int.self, at: url, pagination: links)
    #expect(await failure(of: chained)?.code == .refusedLink)
    #expect(chain.requests.count == 6)
    let plain = CannedServer([.status(302, ["Location": "http://api.test/items"])])
    let downgraded = PageClient(transport: plain).cursor(of: Int.self, at: url, pagination: links)
    #expect(await failure(of: downgraded)?.code == .refusedLink)
    #expect(plain.requests.count == 1)
  }
}
