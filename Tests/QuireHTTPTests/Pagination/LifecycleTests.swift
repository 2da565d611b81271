import HTTPTypes
import QuireCore
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination
@testable import QuireTesting

@Suite("Opening and closing")
struct LifecycleTests {
  private static let description = Pagination(
    next: .lastItem("/sort"), send: .jsonBody("/search_after"),
    request: Pagination.RequestRule(
      carry: [
        "pit": Pagination.CarriedValue(
          from: .firstOf(["/pit_id", "/id"]), send: .jsonBody("/pit/id"))
      ],
      isQuery: true),
    end: [.emptyPage], items: "/hits",
    policy: Pagination.Policy(
      open: Pagination.SideRequest("POST", url: "/idx/_pit?keep_alive=1m"),
      close: Pagination.SideRequest("DELETE", url: "/_pit", send: ["pit": .jsonBody("/id")])))

  /// Opens as P1; page n has one item and names Pn+1; the third page is empty.
  private final class Server: HTTPTransport {
    let log = Watched<[String]>([])
    let failing: Watched<Set<String>>
    let stalled = Watched(false)

    init(failing: Set<String> = []) { self.failing = Watched(failing) }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
      let body = String(decoding: request.body, as: UTF8.self)
      let line = "\(request.head.method) \(request.head.path ?? "") \(body)"
      log.update { $0.append(line) }
      if let failure = failing.value.first(where: line.contains) {
        failing.update { $0.remove(failure) }
        return .status(400)
      }
      if line.contains("_pit?") { return .json(#"{"id":"P1"}"#) }
      if line.hasPrefix("DELETE") { return .json("{}") }
      let page = body.contains("[1]") ? 2 : body.contains("[2]") ? 3 : 1
      if page == 2, stalled.value { try await Gate().wait() }
      let hits = page < 3 ? #"{"id":\#(page),"sort":[\#(page)]}"# : ""
      return .json(#"{"pit_id":"P\#(page + 1)","hits":[\#(hits)]}"#)
    }

    /// What came, once there were `count` requests.
    func requests(_ count: Int) async throws -> [String] {
      try await log.wait { $0.count >= count }
      return log.value
    }
  }

  private func cursor(_ server: Server) -> Cursor<RawItem> {
    var configuration = PageClient.Configuration()
    configuration.clock = ManualClock()
    configuration.retry = .never
    return PageClient(transport: server, configuration: configuration).cursor(
      at: "https://es.test/_search", pagination: Self.description,
      request: .init(method: .post, body: .json(["size": 1])), decoder: JSONRawPageDecoder())
  }

  private let opening = "POST /idx/_pit?keep_alive=1m "
  private let first = #"POST /_search {"size":1,"pit":{"id":"P1"}}"#
  private let second = #"POST /_search {"size":1,"search_after":[1],"pit":{"id":"P2"}}"#
  private let third = #"POST /_search {"size":1,"search_after":[2],"pit":{"id":"P3"}}"#

  private func closing(_ id: String) -> String { #"DELETE /_pit {"id":"\#(id)"}"# }

  @Test("V50 C-7: what was opened is closed once at the end, by its latest name")
  func end() async throws {
    let server = Server()
    let walk = cursor(server).walk()
    for try await _ in walk {}
    await walk.close()
    #expect(server.log.value == [opening, first, second, third, closing("P4")])
  }

  @Test("V50 V108 C-7: leaving the loop early closes, once, and asks for nothing more")
  func earlyBreak() async throws {
    let server = Server()
    for try await _ in cursor(server) { break }
    #expect(try await server.requests(3) == [opening, first, closing("P2")])
  }

  @Test("C-7: a page that fails for good leads to one close when the loop is left")
  func failure() async throws {
    let server = Server(failing: ["[1]"])
    await #expect(throws: PageError.self) {
      for try await _ in cursor(server) {}
    }
    #expect(try await server.requests(4) == [opening, first, second, closing("P2")])
  }

  @Test("C-7: a first page that fails closes what was opened for it; asking again opens again")
  func firstFailure() async throws {
    let server = Server(failing: ["P1\"}}"])
    var iterator: Cursor<RawItem>.Iterator? = cursor(server).makeAsyncIterator()
    await #expect(throws: PageError.self) { try await iterator?.next() }
    #expect(try await server.requests(3) == [opening, first, closing("P1")])
    #expect(try await iterator?.next()?.items.count == 1)
    iterator = nil
    #expect(try await server.requests(6).suffix(3) == [opening, first, closing("P2")])
  }

  @Test("V108 C-7: cancelling while a page is loading closes, once")
  func cancellation() async throws {
    let server = Server()
    server.stalled.update { $0 = true }
    let cursor = cursor(server)
    let task = Task { for try await _ in cursor {} }
    _ = try await server.requests(3)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await server.requests(4) == [opening, first, second, closing("P2")])
  }

  @Test("C-8: a position carries what was opened, so that a new process does not open again")
  func resumes() async throws {
    let server = Server()
    var next: Position?
    for try await page in cursor(server) {
      next = page.next
      break
    }
    _ = try await server.requests(3)
    for try await _ in cursor(server).resuming(from: try #require(next)) { break }
    #expect(try await server.requests(5).suffix(2) == [second, closing("P3")])
  }

  @Test(
    "A close that fails is logged and changes nothing; an opening that gives nothing is an error")
  func failures() async throws {
    let server = Server(failing: ["DELETE"])
    let walk = cursor(server).walk()
    for try await _ in walk {}
    #expect(server.log.value.count == 5)
    guard case .exhausted = walk.report.end else {
      Issue.record("\(walk.report.end)")
      return
    }
    let empty = CannedServer([.json("{}")])
    let client = PageClient(transport: empty)
    let error = await #expect(throws: PageError.self) {
      for try await _ in client.cursor(
        at: "https://es.test/_search", pagination: Self.description,
        request: .init(method: .post, body: .json(["size": 1])), decoder: JSONRawPageDecoder())
      {}
    }
    #expect(error?.code == .shape)
  }
}
