import TestSupport
import HTTPTypes
@testable import QuireCore
import QuireTesting
import Synchronization
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A server that repeats the token of each request in its next links, knows a token for some requests
/// only, and refuses a request whose URL holds another token than its field.
@Suite("A renewed credential that a server repeats", .timeLimit(.minutes(15)))
struct RepeatedCredentialTests {
  private static let links = Pagination(
    next: .body("/next"), items: "/items", previous: Pagination.PreviousRule(.body("/previous")))

  private static func token(_ number: Int) -> String { "t0ken/of call \(number)" }

  /// Pages 1 to 4; `lasts` requests are answered before a token is refused.
  private static func server(lasts: Int) -> CannedServer {
    let counts = Mutex<[String: Int]>([:])
    return CannedServer { request, _ in
      let field = request.head.headerFields[.authorization] ?? ""
      let token = String(field.dropFirst("Bearer ".count))
      let query = QueryString(request.head.path?.split(separator: "?").last.map(String.init))
      let repeated = query.pairs.first { $0.name == "t" }.map { PercentEncoding.decode($0.encoded) }
      let count = counts.withLock {
        $0[token, default: 0] += 1
        return $0[token, default: 0]
      }
      guard count <= lasts else { return .status(401, [:], "\(token) is over") }
      guard repeated == nil || repeated == token else { return .status(400, [:], "two tokens") }
      let page = query.pairs.first { $0.name == "page" }.flatMap { Int($0.encoded) } ?? 1
      let t = PercentEncoding.encode(token)
      let previous = page > 1 ? #","previous":"/items?t=\#(t)&page=\#(page - 1)""# : ""
      let next = page < 4 ? #","next":"/items?t=\#(t)&page=\#(page + 1)""# : ""
      return .json(#"{"items":[\#(page)]\#(next)\#(previous)}"#)
    }
  }

  private static func cursor(_ server: CannedServer, from first: Int, log: CapturedLog? = nil)
    -> Cursor<Int>
  {
    let calls = Mutex(first - 1)
    var configuration = PageClient.Configuration()
    configuration.retry = .never
    if let log { configuration.logger = log.logger }
    configuration.credentials = BearerTokenSource(for: "https://api.test") { _ in
      .bearer(
        token(
          calls.withLock {
            $0 += 1
            return $0
          }))
    }
    return PageClient(transport: server, configuration: configuration)
      .cursor(of: Int.self, at: "https://api.test/items", pagination: links)
  }

  private static func isTold(_ text: String) -> Bool {
    let text = text.lowercased()
    return ["t0ken/of", "t0ken%2fof", "t0ken\\/of"].contains { text.contains($0) }
  }

  @Test(
    "12-S4, 12-A7, H-8: a token that a server repeats in its links stands in no position, report, log or error, the first and the renewed ones alike",
    arguments: [1, 2, 3])
  func conceals(lasts: Int) async throws {
    let log = CapturedLog()
    let walk = Self.cursor(Self.server(lasts: lasts), from: 1, log: log).walk()
    var items: [Int] = []
    var shown: [String] = []
    while let page = try await walk.next() {
      items += page.items
      for position in [page.position, page.next, page.previous].compactMap({ $0 }) {
        shown.append(String(decoding: try JSONEncoder().encode(position), as: UTF8.self))
      }
      shown.append("\(walk.report) \(page.http?.request ?? "")")
    }
    #expect(items == [1, 2, 3, 4])
    #expect(!shown.contains(where: Self.isTold), "\(shown)")
    #expect(!Self.isTold(log.text), "\(log.text)")
  }

  @Test(
    "12-S4, 12-A7: a walk that goes on elsewhere puts in the token that is the present one there")
  func resumes() async throws {
    for stop in 1...3 {
      let walk = Self.cursor(Self.server(lasts: 2), from: 1).walk()
      var last: Page<Int>?
      for _ in 0..<stop { last = try await walk.next() }
      let next = try #require(last?.next)
      let stored = try JSONEncoder().encode(next)
      #expect(!Self.isTold(String(decoding: stored, as: UTF8.self)))
      let server = Self.server(lasts: 9)
      let rest = try await Self.cursor(server, from: 50)
        .resuming(from: JSONDecoder().decode(Position.self, from: stored)).items.collect()
      #expect(rest == Array((stop + 1)...4))
      #expect(!server.requests.isEmpty)
      for request in server.requests {
        #expect(request.head.path?.contains("t0ken%2Fof%20call%2050") == true)
      }
    }
  }

  @Test("12-S4, 12-A7: an error quotes no token of a credential, whatever the server says of it")
  func errors() async throws {
    let server = CannedServer { request, _ in
      let field = request.head.headerFields[.authorization] ?? ""
      let token = String(field.dropFirst("Bearer ".count))
      let next = PercentEncoding.encode(token)
      return request.head.path == "/items"
        ? .json(#"{"items":[1],"next":"/more/\#(next)/x"}"#)
        : .status(400, [:], "who is \(token), \(next)?")
    }
    let walk = Self.cursor(server, from: 1).walk()
    _ = try await walk.next()
    let error = await #expect(throws: PageError.self) { try await walk.next() }
    let position = try JSONEncoder().encode(error?.position)
    let shown = "\(try #require(error)) \(error?.request ?? "") \(walk.report)"
    #expect(!Self.isTold(shown + String(decoding: position, as: UTF8.self)), "\(shown)")
    #expect(server.requests.last?.head.path == "/more/t0ken%2Fof%20call%201/x")
  }

  @Test(
    "12-S4, 12-A7: a position with a credential's mark takes no token to a server that it is not for"
  )
  func otherOrigin() async throws {
    let walk = Self.cursor(Self.server(lasts: 2), from: 1).walk()
    let next = try #require(try await walk.next()?.next)
    let server = CannedServer([.json(#"{"items":[1]}"#)])
    var configuration = PageClient.Configuration()
    configuration.credentials = BearerTokenSource(for: "https://api.test", token: Self.token(1)) {
      _ in .bearer(Self.token(2))
    }
    let cursor = PageClient(transport: server, configuration: configuration)
      .cursor(of: Int.self, at: "https://other.test/items", pagination: Self.links)
    let error = await #expect(throws: PageError.self) {
      try await cursor.resuming(from: next).items.collect()
    }
    #expect(error.map { !Self.isTold("\($0)") } == true)
    #expect(server.requests.isEmpty)
  }
}
