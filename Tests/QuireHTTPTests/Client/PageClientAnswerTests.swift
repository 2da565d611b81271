import TestSupport
import HTTPTypes
import Logging
import QuireCore
import QuireTesting
import Synchronization
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

@Suite("What the page client makes of answers", .timeLimit(.minutes(15)))
struct PageClientAnswerTests {
  private let url = "https://api.test/items"
  private let links = Pagination(next: .body("/next"), items: "/items")

  /// Asks for the first page without waiting between attempts.
  private func first(
    _ server: CannedServer, method: HTTPRequest.Method = .get,
    pagination: Pagination? = nil, change: (inout PageClient.Configuration) -> Void = { _ in }
  ) async -> Result<Page<Int>?, PageError> {
    var configuration = PageClient.Configuration()
    configuration.retry.delay = .zero
    configuration.retry.throttledDelay = .zero
    change(&configuration)
    let client = PageClient(transport: server, configuration: configuration)
    var pages = client.cursor(
      of: Int.self, at: url, pagination: pagination ?? links, request: .init(method: method)
    ).makeAsyncIterator()
    do {
      return .success(try await pages.next())
    } catch {
      return .failure(error as? PageError ?? PageError(.sourceFailed, "\(error)"))
    }
  }

  private func code(_ result: Result<Page<Int>?, PageError>) -> PageError.Code? {
    if case .failure(let error) = result { error.code } else { nil }
  }

  // MARK: Completeness

  @Test("H-4, H8: a body that only its connection ends needs a format that shows its own end")
  func unframedBodies() async throws {
    let whole = CannedServer { _, _ in .status(200, [:], #"{"items":[1]}"#, framing: .untilClose) }
    #expect(try await first(whole).get()?.items == [1])
    for length in 0..<#"{"items":[1]}"#.count {
      let cut = String(#"{"items":[1]}"#.prefix(length))
      let server = CannedServer { _, _ in .status(200, [:], cut, framing: .untilClose) }
      #expect(code(await first(server)) == .truncated, "\(length) bytes")
      #expect(server.requests.count == 3)
    }
  }

  @Test("H8: raw bytes prove nothing, so an unframed one is refused unless the caller opts in")
  func unframedBytes() async throws {
    let server = CannedServer { _, _ in .status(200, [:], "id\n1\n2", framing: .untilClose) }
    var configuration = PageClient.Configuration()
    configuration.retry = .never
    let strict = PageClient(transport: server, configuration: configuration)
      .cursor(at: url, pagination: Pagination(next: .linkHeader()), decoder: BytesPageDecoder())
    let error = await #expect(throws: PageError.self) { for try await _ in strict {} }
    #expect(error?.code == .truncated)
    configuration.acceptsUnprovenEnd = true
    let lenient = PageClient(transport: server, configuration: configuration)
      .cursor(at: url, pagination: Pagination(next: .linkHeader()), decoder: BytesPageDecoder())
    for try await page in lenient { #expect(page.items == [Array("id\n1\n2".utf8)]) }
  }

  @Test("H16: an unsolicited 206 is refused, whatever its body")
  func partialContent() async {
    let server = CannedServer([
      .status(206, ["Content-Range": "bytes 0-12/99"], #"{"items":[1]}"#)
    ])
    #expect(code(await first(server)) == .protocolViolation)
  }

  @Test(
    "H16: a 206 is a page only if its Content-Range is the range that was asked for",
    arguments: [
      ("items=0-9", "items 0-9/99", true), ("0-9", "0-4/5", true), ("0-9", "0-9/*", true),
      ("items=10-19", "items 0-9/99", false), ("0-9", "0-19/99", false), ("0-9", "1-9/99", false),
      ("0-9", "*/99", false), ("0-9", nil, false), ("id a..; max=9", "id a..k", true),
    ] as [(String, String?, Bool)])
  func requestedPart(wanted: String, came: String?, isPage: Bool) async throws {
    let server = CannedServer([
      .status(206, came.map { ["Content-Range": $0] } ?? [:], #"{"items":[1]}"#)
    ])
    let cursor = PageClient(transport: server).cursor(
      of: Int.self, at: url, pagination: links, request: .init(headers: [.range: wanted]))
    do {
      for try await page in cursor { #expect(page.items == [1]) }
      #expect(isPage)
    } catch let error as PageError {
      #expect(!isPage)
      #expect(error.code == .protocolViolation)
    }
  }

  @Test("H15, 12-L1: a declared empty body is no page, and 204 is one where it was said to be")
  func emptyAnswers() async throws {
    #expect(code(await first(CannedServer([.status(200)]))) == .truncated)
    for status in [204, 205] {
      #expect(code(await first(CannedServer([.status(status)]))) == .status)
    }
    let byHeader = Pagination(
      next: .header("X-Next"), send: .query("next"), items: "/items",
      policy: Pagination.Policy(failure: [Pagination.FailureRule(when: .status(204), .empty)]))
    let server = CannedServer([.status(204, ["X-Next": "b"])])
    #expect(try await first(server, pagination: byHeader).get()?.next != nil)
  }

  @Test("H17: a 304 that nobody asked for is an error, not an empty page")
  func notModified() async {
    #expect(code(await first(CannedServer([.status(304)]))) == .unexpectedNotModified)
    var request = PageClient.RequestOptions()
    request.headers[.ifNoneMatch] = "\"a\""
    let pages = PageClient(transport: CannedServer([.status(304)]))
      .cursor(of: Int.self, at: url, pagination: links, request: request)
    let error = await #expect(throws: PageError.self) {
      for try await _ in pages {}
    }
    #expect(error?.message.contains("leave If-None-Match and If-Modified-Since out") == true)
  }

  @Test("N25, H28: a page of HTML is no page, and the error says what came")
  func captivePortal() async {
    for type in ["text/html", "application/json"] {
      let body = "<!DOCTYPE html><title>Sign in</title>"
      let server = CannedServer([.status(200, ["Content-Type": type], body)])
      guard case .failure(let error) = await first(server) else {
        Issue.record("HTML was taken for a page")
        return
      }
      #expect(error.code == .unexpectedMediaType)
      #expect(error.message.contains("HTML"))
      #expect(server.requests.count == 1)
    }
  }

  @Test("H27, J10: a 200 without its items is an error that names what is there instead")
  func errorEnvelope() async {
    guard
      case .failure(let error) = await first(CannedServer([.json(#"{"error":"x","rows":[1]}"#)]))
    else {
      Issue.record("an error was taken for a page")
      return
    }
    #expect(error.code == .shape)
    #expect(error.message.contains("/rows") && error.message.contains(#"It says: "x"."#))
  }

  @Test("A page without its items says what the server has written in their place, and no secret")
  func errorInPlaceOfPage() async throws {
    let server = CannedServer([
      .json(#"{"error":{"code":7,"message":"The key k3yk3yk3y has expired"},"page":1}"#)
    ])
    let client = PageClient(transport: server)
    let listing = client.cursor(
      of: Int.self, at: url + "?api_key=k3yk3yk3y", pagination: links)
    let error = await #expect(throws: PageError.self) {
      for try await _ in listing {}
    }
    #expect(error?.code == .shape)
    #expect(
      error?.message == #"The page has no items at "/items". It says: "The key … has expired"."#,
      "\(error as Any)")
  }

  @Test(
    "A refusal without a body says why a token is refused",
    arguments: [
      (
        #"Bearer error="invalid_token", error_description="It ended, at noon""#, "It ended, at noon"
      ),
      (#"Bearer error="insufficient_scope", scope="a b""#, "insufficient_scope"),
      ("Bearer error=invalid_token, realm=x", "invalid_token"),
    ])
  func challenge(_ field: String, _ words: String) async {
    let refused = await first(CannedServer([.status(401, ["WWW-Authenticate": field])]))
    guard case .failure(let error) = refused else {
      Issue.record("401 was taken for a page")
      return
    }
    #expect(error.message.hasSuffix(" It says: \(words)"), "\(error)")
  }

  // MARK: Retries

  @Test(
    "H23: statuses that another attempt may cure are asked again, three times in all",
    arguments: [
      408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 525, 529, 530, 598, 599,
    ])
  func retryable(status: Int) async throws {
    let failing = CannedServer([.status(status)])
    guard case .failure(let error) = await first(failing) else {
      Issue.record("\(status) was taken for a page")
      return
    }
    #expect(failing.requests.count == 3)
    #expect(error.attempts == 3)
    #expect(error.code == (status == 429 ? .throttled : .status))
    let recovering = CannedServer([.status(status), .status(status), .json(#"{"items":[7]}"#)])
    let page = try await first(recovering).get()
    #expect(page?.items == [7])
    #expect(page?.traffic.retries == 2)
  }

  @Test(
    "H20, H24: other statuses fail at once",
    arguments: [400, 401, 403, 404, 405, 420, 422, 430, 501, 505, 507, 509, 511, 526, 600, 999])
  func notRetryable(status: Int) async {
    let server = CannedServer([.status(status, [:], #"{"message":"no such thing"}"#)])
    guard case .failure(let error) = await first(server) else {
      Issue.record("\(status) was taken for a page")
      return
    }
    #expect(server.requests.count == 1)
    #expect(error.code == .status)
    #expect(error.message.contains("\(status)"))
    #expect(error.message.contains("no such thing"))
    #expect(error.response?.status.code == status)
  }

  @Test("H-7: a failure inside a 200, too, has the head of its answer")
  func reportedFailures() async {
    let server = CannedServer([.json(#"{"ok":false,"error":"no"}"#, ["X-Request-Id": "7"])])
    guard case .failure(let error) = await first(server, pagination: .slack.items(at: "/items"))
    else {
      Issue.record("a failure was taken for a page")
      return
    }
    #expect(error.code == .serverReportedFailure)
    #expect(error.response?.status == .ok)
    #expect(
      error.response?.headerFields.first { $0.name.canonicalName == "x-request-id" }?.value == "7")
  }

  @Test("An error names the status with its reason, and without one where HTTP/2 has none")
  func reasons() async {
    for (status, text) in [
      (HTTPResponse.Status(code: 404, reasonPhrase: ""), "The server answered 404."),
      (HTTPResponse.Status(code: 404, reasonPhrase: "Gone"), "The server answered 404 Gone."),
    ] {
      let server = CannedServer { _, _ in
        TransportResponse(head: HTTPResponse(status: status), body: .bytes([]))
      }
      guard case .failure(let error) = await first(server) else {
        Issue.record("\(status) was taken for a page")
        return
      }
      #expect(error.message == text)
    }
  }

  @Test(
    "H22: a 403, and what means 429 elsewhere, is throttling only if a field says until when",
    arguments: [403, 420, 430, 509])
  func secondaryLimit(status: Int) async throws {
    let limited = CannedServer([.status(status, ["Retry-After": "0"]), .json(#"{"items":[1]}"#)])
    #expect(try await first(limited).get()?.items == [1])
    #expect(limited.requests.count == 2)
  }

  @Test("H-5, C-10: what a transport repeats in vain is counted, and the report has it")
  func silentReplays() async throws {
    let server = CannedServer { _, _ in
      throw PageError(.truncated, "The connection closed without an answer.", attempts: 2)
    }
    for delivery in [PageDelivery.whole, .asItArrives] {
      var configuration = PageClient.Configuration()
      configuration.retry.delay = .zero
      let walk = PageClient(transport: server, configuration: configuration)
        .cursor(of: Int.self, at: url, pagination: links, delivery: delivery).walk()
      for failures in 1...2 {
        let error = await #expect(throws: PageError.self) { for try await _ in walk {} }
        #expect(error?.attempts == 4)
        #expect(walk.report.traffic.requests == 4 * failures)
        #expect(walk.report.traffic.retries == failures)
      }
    }
    #expect(server.requests.count == 8)
  }

  @Test("H8: a number that only the end of its connection ends may be cut, and is no page")
  func bareNumber() async throws {
    for (body, isWhole) in [("12", false), ("12\n", true), ("[12]", true), ("12", true)] {
      let isExplicit = body == "12" && isWhole
      let server = CannedServer { _, _ in
        .status(
          200, ["Content-Type": "application/json"], body,
          framing: isExplicit ? .explicit : .untilClose)
      }
      let pagination = Pagination(next: .linkHeader, items: .oneOrMany(.root))
      switch await first(server, pagination: pagination) {
      case .success(let page): #expect(page?.items == [12] && isWhole, "\(body)")
      case .failure(let error): #expect(error.code == .truncated && !isWhole, "\(error)")
      }
    }
  }

  @Test("A redirect whose target stands there twice is followed, and one to two places is refused")
  func repeatedLocation() async throws {
    for (second, code) in [("/r2", nil), ("/r3", PageError.Code.refusedLink)] {
      var redirect = TransportResponse.status(302, ["Location": "/r2"])
      redirect.head.headerFields.append(HTTPField(name: .location, value: second))
      let server = CannedServer([redirect, .json(#"{"items":[1]}"#)])
      switch await first(server) {
      case .success(let page): #expect(page?.items == [1] && code == nil)
      case .failure(let error): #expect(error.code == code, "\(error)")
      }
      #expect(server.requests.count == (code == nil ? 2 : 1))
    }
  }

  @Test("H-5: redirects use up no attempts", arguments: [PageDelivery.whole, .asItArrives])
  func redirectsAreNoAttempts(delivery: PageDelivery) async throws {
    for (failures, isDelivered) in [(2, true), (3, false)] {
      let failed = Mutex(0)
      let server = CannedServer { request, _ in
        switch request.head.path {
        case "/items": return .status(302, ["Location": "/r2"])
        case "/r2": return .status(307, ["Location": "/r3"])
        default:
          let count = failed.withLock {
            $0 += 1
            return $0
          }
          return count > failures ? .json(#"{"items":[1]}"#) : .status(503)
        }
      }
      var configuration = PageClient.Configuration()
      configuration.retry.delay = .zero
      let walk = PageClient(transport: server, configuration: configuration).cursor(
        of: Int.self, at: url, pagination: links, delivery: delivery
      ).walk()
      do {
        var items: [Int] = []
        for try await page in walk { items += page.items }
        #expect(items == [1])
        #expect(isDelivered)
        #expect(walk.report.traffic.requests == 9)
        #expect(walk.report.traffic.redirects == 6)
      } catch let error as PageError {
        #expect(!isDelivered)
        #expect(error.attempts == 3)
        #expect(server.requests.count == 9)
      }
    }
  }

  @Test("H-5: a redirect is followed whatever becomes of its body")
  func redirectBodies() async throws {
    let clock = ManualClock()
    let slices = Mutex(0)
    let bodies: [(isEndless: Bool, TransportBody)] = [
      (false, TransportBody { throw PageError(.corruptEncoding, "It is no gzip.") }),
      (
        false,
        TransportBody {
          let count = slices.withLock { count in
            count += 1
            return count
          }
          guard count < 100 else { throw PageError(.limitExceeded, "It is too much.") }
          return [UInt8](repeating: 0x20, count: 1 << 14)
        }
      ),
      (
        true,
        TransportBody {
          try await Gate().wait()
          return nil
        }
      ),
    ]
    var configuration = PageClient.Configuration()
    configuration.retry = .never
    var environment = PageClient.Environment()
    environment.limitClock = clock
    for (isEndless, body) in bodies {
      let server = CannedServer { request, _ in
        guard request.head.path == "/items" else { return .json(#"{"items":[1]}"#) }
        var head = HTTPResponse(status: .found)
        head.headerFields[.location] = "/moved"
        return TransportResponse(head: head, body: body)
      }
      let client = PageClient(transport: server, configuration: configuration).with(environment)
      async let items = client.cursor(of: Int.self, at: url, pagination: links).items.collect()
      if isEndless {
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(5))
      }
      #expect(try await items == [1])
    }
    // No more of it is read than explains a refusal.
    #expect(slices.withLock { $0 } < 10)
  }

  @Test("H-5: a POST that may have had an effect is not repeated; a refused one is")
  func unsafeMethod() async throws {
    for status in [408, 500, 502, 503, 504, 520, 524, 529] {
      let broken = CannedServer([.status(status, ["Retry-After": "0"]), .json(#"{"items":[1]}"#)])
      #expect(code(await first(broken, method: .post)) == .status)
      #expect(broken.requests.count == 1, "\(status)")
    }
    let busy = CannedServer([
      .status(429), .status(403, ["Retry-After": "0"]), .json(#"{"items":[1]}"#),
    ])
    #expect(try await first(busy, method: .post).get()?.items == [1])
    var query = links
    query.request.isQuery = true
    let repeated = CannedServer([.status(500), .json(#"{"items":[1]}"#)])
    #expect(try await first(repeated, method: .post, pagination: query).get()?.items == [1])
  }

  @Test("H-5, V05: the client sleeps as long as Retry-After says, by its clock")
  func retryAfter() async throws {
    let clock = ManualClock()
    let server = CannedServer([.status(429, ["Retry-After": "2.0"]), .json(#"{"items":[1]}"#)])
    async let page = first(server) { $0.clock = clock }
    try await clock.waitForSleepers()
    clock.advance(by: .milliseconds(1999))
    #expect(clock.sleepers == 1)
    clock.advance(by: .milliseconds(1))
    #expect(try await page.get()?.items == [1])
  }

  @Test("H26: a Retry-After beyond the cap is thrown, not waited for")
  func endlessRetryAfter() async {
    let server = CannedServer([.status(503, ["Retry-After": "86400"])])
    #expect(code(await first(server)) == .throttled)
    #expect(server.requests.count == 1)
  }

  @Test("G15: a page is the last complete attempt; nothing of a broken one is spliced in")
  func noSplicing() async throws {
    let server = CannedServer { _, ordinal in
      guard ordinal == 0 else { return .json(#"{"items":[5,6]}"#) }
      let rest = Mutex<[[UInt8]]>([Array(#"{"items":[1,2,"#.utf8)])
      return TransportResponse(
        head: HTTPResponse(status: .ok),
        body: TransportBody(next: {
          guard let slice = rest.withLock({ $0.popLast() }) else {
            throw PageError(.truncated, "The connection closed inside the body.")
          }
          return slice
        }))
    }
    #expect(try await first(server).get()?.items == [5, 6])
  }

  @Test("A certificate that cannot be verified is not asked again")
  func tls() async {
    let server = CannedServer { _, _ in throw PageError(.tls, "The certificate has expired.") }
    #expect(code(await first(server)) == .tls)
    #expect(server.requests.count == 1)
  }

  // MARK: Secrets

  @Test("H-8: a secret that the quote of a page cuts in two leaves none of it")
  func cutQuote() async throws {
    let client = PageClient(
      transport: CannedServer { request, _ in
        let key = request.head.headerFields[.authorization] ?? ""
        return .status(200, [:], "<html>" + String(repeating: "x", count: 240) + key)
      }, headers: [.authorization: "Bearer canary-header-1"])
    let cursor = client.cursor(of: Int.self, at: url, pagination: links)
    let error = await #expect(throws: PageError.self) { for try await _ in cursor {} }
    #expect(error?.code == .unexpectedMediaType)
    #expect(error?.message.contains("xx…") == true)
    #expect(error?.message.contains("Bear") == false)
  }

  @Test("H-8: an error about the way on names its request, and quotes no cursor")
  func wayOn() async throws {
    let server = CannedServer([.json(#"{"items":[1],"next":"canary-header-1 and more"}"#)])
    let pagination = Pagination(
      next: .transformed(.body("/next"), .adding(1)), send: .query("after"), items: "/items")
    let client = PageClient(transport: server, headers: [.authorization: "Bearer canary-header-1"])
    let cursor = client.cursor(of: Int.self, at: url, pagination: pagination)
    let error = await #expect(throws: PageError.self) { for try await _ in cursor {} }
    #expect(error?.code == .invalidCursor)
    #expect(error?.request == "GET https://api.test/items")
    #expect(error.map { "\($0)" }?.contains("canary") == false)
  }

  @Test("H-8, H-1: positions hold no key of a field or before a fragment, and links go out whole")
  func concealedPositions() async throws {
    let server = CannedServer { request, _ in
      if request.url.contains("p=3") { return .json(#"{"items":[3]}"#) }
      return request.url.contains("page=2")
        ? .json(#"{"items":[2],"next":"/i%74ems?api_key=canary%2Dheader-1&p=3"}"#)
        : .json(#"{"items":[1],"next":"?access_token=canary-query-2&page=2#top"}"#)
    }
    let client = PageClient(transport: server, headers: [.init("X-Api-Key")!: "canary-header-1"])
    let cursor = client.cursor(
      of: Int.self, at: url + "?access_token=canary-query-2", pagination: links)
    for try await page in cursor {
      let stored = "\(page.next, default: "")"
      #expect(!stored.contains("canary") && !stored.contains("top"))
      guard let next = page.next else { continue }
      // A new process goes on from what was stored.
      var again = cursor.resuming(from: next).makeAsyncIterator()
      #expect(try await again.next()?.items.isEmpty == false)
    }
    let sent = Set(server.requests.map(\.url))
    #expect(sent.contains("https://api.test/items?access_token=canary-query-2&page=2"))
    #expect(sent.contains("https://api.test/i%74ems?api_key=canary%2Dheader-1&p=3"))
  }

  @Test("H-1: parameters that are merely called like secrets, or come twice, go out as they came")
  func namesakes() async throws {
    let next = "https://api.test/items?author=1&author=2&key=1&key=2&page=2"
    let server = CannedServer([
      .json(#"{"items":[1],"next":"\#(next)"}"#), .json(#"{"items":[2]}"#),
    ])
    let cursor = PageClient(transport: server).cursor(
      of: Int.self, at: url + "?author=1&author=2&key=1&key=2", pagination: links)
    for try await _ in cursor {}
    #expect(server.requests.last?.url == next)
  }

  @Test("H-3, H-8: an allowed host gets no secret, whether its link repeats one or forges its mark")
  func foreignSecrets() async throws {
    for (secret, code) in [
      ("canary-query-2", .refusedLink), ("<secret:query.access_token>", .invalidCursor),
    ] as [(String, PageError.Code)] {
      let server = CannedServer([
        .json(#"{"items":[1],"next":"https://cdn.test/?access_token=\#(secret)"}"#),
        .json(#"{"items":[2]}"#),
      ])
      let cursor = PageClient(transport: server).cursor(
        of: Int.self, at: url + "?access_token=canary-query-2",
        pagination: links.links(.allow(["cdn.test"])))
      var pages = cursor.makeAsyncIterator()
      #expect(try await pages.next()?.items == [1])
      let error = await #expect(throws: PageError.self) { try await pages.next() }
      #expect(error?.code == code)
      #expect(server.requests.count == 1)
    }
  }

  @Test("H-8, L1: planted secrets appear in no error, log line or checkpoint")
  func canary() async throws {
    let lines = Mutex<[String]>([])
    let secrets = ["canary-header-1", "canary-query-2", "canary-custom-3"]
    let server = CannedServer { request, ordinal in
      let echo = "\(request.head.headerFields) \(request.url)"
      switch ordinal {
      case 0:
        return .json(#"{"items":[1],"next":"/items?access_token=canary-query-2&after=a"}"#)
      case 1: return .status(503, [:], echo)
      default: return .status(400, [:], echo)
      }
    }
    var configuration = PageClient.Configuration()
    configuration.retry.delay = .zero
    configuration.logger = Logger(label: "test") { _ in
      LineLog { line in lines.withLock { $0.append(line) } }
    }
    configuration.logger.logLevel = .trace
    let client = PageClient(
      transport: server,
      headers: [.authorization: "Bearer canary-header-1", .init("X-Key")!: "canary-custom-3"],
      configuration: configuration)
    let walk = client.cursor(
      of: Int.self, at: url + "?access_token=canary-query-2", pagination: links
    ).walk()
    let error = await #expect(throws: PageError.self) { for try await _ in walk {} }
    #expect(server.requests.last?.url.contains("canary-query-2") == true)
    let everything =
      lines.withLock { $0 } + [
        "\(error, default: "")", "\(error?.checkpoint, default: "")", "\(walk.report)",
      ]
    #expect(lines.withLock { $0.count } >= 3)
    for secret in secrets {
      #expect(!everything.contains { $0.contains(secret) }, "\(secret)")
    }
  }
}

/// A log handler that hands every line, with its metadata, to a closure.
private struct LineLog: LogHandler {
  let write: @Sendable (String) -> Void
  var logLevel = Logger.Level.trace
  var metadata: Logger.Metadata = [:]

  init(_ write: @escaping @Sendable (String) -> Void) { self.write = write }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) { write("\(event.message) \(event.metadata ?? [:])") }
}
