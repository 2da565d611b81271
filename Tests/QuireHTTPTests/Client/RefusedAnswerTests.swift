import TestSupport
import HTTPTypes
import QuireCore
@testable import QuireTesting
import QuireXML
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

@Suite("The body of a refused answer", .timeLimit(.minutes(15)))
struct RefusedAnswerTests {
  struct Problem: Decodable, Equatable {
    let title: String
    let status: Int
  }

  private let url = "https://api.test/items"

  private func failure(
    _ response: TransportResponse, _ pagination: Pagination = Pagination(next: .linkHeader()),
    clock: ManualClock? = nil
  ) async -> PageError? {
    var configuration = PageClient.Configuration()
    configuration.retry = .never
    configuration.headers[.authorization] = "Bearer s3cr3t-token"
    var environment = PageClient.Environment()
    if let clock { environment.limitClock = clock }
    let client = PageClient(transport: CannedServer([response]), configuration: configuration)
      .with(environment)
    let cursor = client.cursor(
      at: url, pagination: pagination,
      decoder: AutomaticPageDecoder(json: JSONPageDecoder<Int>(), xml: XMLPageDecoder<Int>()))
    return await #expect(throws: PageError.self) { try await cursor.items.collect() }
  }

  @Test(
    "12-A3: a problem document is read as a type of yours, in JSON as in XML (RFC 9457)",
    arguments: [
      ("application/problem+json", #"{"title":"Out of credit","status":403}"#),
      (
        "application/problem+xml",
        #"<?xml version="1.0"?><problem xmlns="urn:ietf:rfc:7807"><title>Out of credit</title>"#
          + "<status>403</status></problem>"
      ),
      ("text/plain", #" {"title":"Out of credit","status":403}"#),
      ("", "<problem><title>Out of credit</title><status>403</status></problem>"),
    ])
  func problem(type: String, body: String) async throws {
    let error = await failure(.status(403, type.isEmpty ? [:] : ["Content-Type": type], body))
    #expect(error?.code == .status)
    #expect(error?.response?.status == .forbidden)
    #expect(error?.response?.body == Array(body.utf8))
    #expect(try error?.response?.decode() == Problem(title: "Out of credit", status: 403))
  }

  @Test("12-A3: XML pages may have their errors explained in JSON")
  func jsonBesideXML() throws {
    let decoder = XMLPageDecoder<Int>()
    let value = try decoder.value(
      Problem.self, of: Array(#"{"title":"a","status":1}"#.utf8),
      DecodingContext(contentType: "application/problem+json"))
    #expect(value == Problem(title: "a", status: 1))
  }

  @Test("H-7: an answer of the proxy is said to be one")
  func proxyAsks() async {
    #expect(await failure(.status(407))?.message.contains("It is the proxy") == true)
  }

  @Test("12-A3: a body that does not fit is a PageError that says where")
  func misfit() async throws {
    for body in [#"{"title":1,"status":403}"#, "<p><title>a</title><status>x</status></p>"] {
      let response = try #require(await failure(.status(403, [:], body))?.response)
      let error = #expect(throws: PageError.self) { try response.decode(Problem.self) }
      #expect(error?.code == .itemDecoding)
      #expect(error?.underlying != nil)
    }
    let empty = try #require(await failure(.status(403))?.response)
    #expect(throws: PageError.self) { try empty.decode(Problem.self) }
  }

  @Test("12-A3, C-7: a request that is cancelled while a refusal's body comes is no refusal")
  func cancelled() async throws {
    let gate = Gate()
    let response = TransportResponse(
      head: HTTPResponse(status: .notFound),
      body: TransportBody(next: {
        try await gate.wait()
        return nil
      }))
    let client = PageClient(transport: CannedServer([response]))
    let answer = Task {
      try await client.response(to: PageRequest(url: url), decoder: JSONPageDecoder<Int>())
    }
    try await gate.waitForArrival()
    answer.cancel()
    await #expect(throws: CancellationError.self) { try await answer.value }
  }

  @Test("12-A3: at most the first 64 KiB are kept")
  func size() async throws {
    for size in [65_535, 65_536, 65_537, 300_000] {
      let slices = stride(from: 0, to: size, by: 10_000).map {
        [UInt8](repeating: 0x78, count: min(10_000, size - $0))
      }
      let response = TransportResponse(
        head: HTTPResponse(status: .forbidden), body: .slices(slices))
      #expect(await failure(response)?.response?.body.count == min(size, 65_536))
    }
  }

  @Test("12-A3: a body that does not end is waited for 5 seconds, and what came of it is kept")
  func time() async throws {
    let clock = ManualClock()
    let gate = Gate()
    let first = SliceSource([Array("half".utf8)])
    let response = TransportResponse(
      head: HTTPResponse(status: .forbidden),
      body: TransportBody {
        if let slice = first.next() { return slice }
        try await gate.wait()
        return nil
      })
    async let failure = failure(response, clock: clock)
    try await clock.waitForSleepers()
    clock.advance(by: .seconds(5))
    let error = await failure
    #expect(error?.code == .status)
    #expect(error?.response?.body == Array("half".utf8) || error?.response?.body == [])
  }

  @Test("12-A3: a refusal inside a 200 has its body too")
  func refusedInside200() async throws {
    let pagination = Pagination(
      next: .body("/next"), items: "/items",
      policy: Pagination.Policy(failure: [
        Pagination.FailureRule(when: .value(.body("/title"), .exists))
      ]))
    let error = await failure(.json(#"{"title":"Quota","status":7}"#), pagination)
    #expect(error?.code == .serverReportedFailure)
    #expect(try error?.response?.decode() == Problem(title: "Quota", status: 7))
  }

  @Test("12-A3, H-8: printed and dumped, a refused answer shows no secret and no control character")
  func printed() async throws {
    let error = await failure(
      .status(403, [:], "\u{1B}[31mBearer s3cr3t-token" + String(repeating: "x", count: 3000)))
    var dumped = ""
    dump(error, to: &dumped)
    for text in ["\(error as Any)", "\(error?.response as Any)", dumped] {
      #expect(!text.contains("s3cr3t-token"), "\(text)")
      #expect(!text.contains("\u{1B}"))
    }
  }

  @Test("12-A7: a plain request goes the way of a page, its POST once")
  func plainRequest() async throws {
    var configuration = PageClient.Configuration()
    configuration.headers[.authorization] = "Bearer s3cr3t-token"
    configuration.retry = RetryPolicy(attempts: 3, delay: .zero)
    let server = CannedServer { request, ordinal in
      ordinal < 2 ? .status(503, [:], "s3cr3t-token") : .json(#"{"title":"a","status":1}"#)
    }
    let client = PageClient(transport: server, configuration: configuration)
    let answer = try await client.response(to: PageRequest(url: url))
    #expect(try answer.decode() == Problem(title: "a", status: 1))
    #expect(server.requests.count == 3)
    let failing = CannedServer([.status(503, [:], "s3cr3t-token")])
    let once = PageClient(transport: failing, configuration: configuration)
    let error = await #expect(throws: PageError.self) {
      try await once.response(to: PageRequest(method: .post, url: url, body: .form("a=b")))
    }
    #expect(error?.code == .status)
    #expect(failing.requests.count == 1)
    #expect(!"\(error as Any)".contains("s3cr3t-token"))
    // Unproven to be whole, unless the format shows it.
    let open = PageClient(
      transport: CannedServer([
        .status(200, [:], #"{"a":"#, framing: .untilClose),
        .status(200, [:], #"{"title":"a","status":1}"#, framing: .untilClose),
      ]), configuration: configuration)
    #expect(try await open.response(to: PageRequest(url: url)).decode(Problem.self).status == 1)
  }
}
