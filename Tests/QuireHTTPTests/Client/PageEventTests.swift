import HTTPTypes
import QuireCore
import QuireHTTP
import QuireJSON
import QuirePagination
import QuireTesting
import Synchronization
import Testing

@Suite("Events of a client", .timeLimit(.minutes(15)))
struct PageEventTests {
  /// The events as lines.
  private final class Events: Sendable {
    private let all = Mutex<[PageEvent]>([])
    var lines: [String] { all.withLock { $0.map { "\($0)" } } }
    var values: [PageEvent] { all.withLock { $0 } }
    func add(_ event: PageEvent) { all.withLock { $0.append(event) } }
  }

  private func client(_ server: CannedServer, _ events: Events) -> PageClient {
    var configuration = PageClient.Configuration()
    configuration.retry.delay = .zero
    configuration.onEvent = { events.add($0) }
    return PageClient(
      transport: server, headers: [.authorization: "Bearer canary-header-1"],
      configuration: configuration)
  }

  @Test("each request, response, redirect, retry and slice of a body is an event")
  func order() async throws {
    let server = CannedServer { _, ordinal in
      switch ordinal {
      case 0: .status(302, ["Location": "https://api.test/moved"], "")
      case 1: .status(503, [:], "away")
      case 2: .status(302, ["Location": "https://api.test/moved"], "")
      default: .json("[1,2]")
      }
    }
    let events = Events()
    let pages = try await client(server, events).cursor(
      at: "https://api.test/items", pagination: .linkHeader, decoder: JSONPageDecoder<Int>()
    ).collect()
    #expect(pages == [1, 2])
    let kinds = events.values.map { event in
      switch event {
      case .request(let request): request
      case .response(let status): "\(status)"
      case .redirect(let url): "-> \(url)"
      case .retry(let retry): "retry \(retry.code) \(retry.delay == .zero)"
      case .received(let bytes): "\(bytes) bytes"
      default: "\(event)"
      }
    }
    #expect(
      kinds == [
        "GET https://api.test/items", "302", "-> https://api.test/moved",
        "GET https://api.test/moved", "503", "4 bytes", "retry status true",
        "GET https://api.test/items", "302", "-> https://api.test/moved",
        "GET https://api.test/moved", "200", "5 bytes",
      ])
  }

  @Test("a request that a limit keeps back is no event")
  func keptBack() async throws {
    let server = CannedServer([
      .status(302, ["Location": "https://api.test/moved"], ""), .json("[1]"),
    ])
    let events = Events()
    let cursor = client(server, events).cursor(
      at: "https://api.test/items", pagination: .linkHeader, decoder: JSONPageDecoder<Int>())
    _ = try? await cursor.limited(to: Limits(requests: 1)).collect()
    let requests = events.values.filter { if case .request = $0 { true } else { false } }
    #expect(server.requests.count == 1 && requests.count == 1)
  }

  @Test("a page that is there at once is one part, whether slices are events or not")
  func parts() async throws {
    let server = CannedServer { _, _ in
      var head = HTTPResponse(status: .ok)
      head.headerFields[.contentType] = "application/json"
      return TransportResponse(head: head, body: .bytes(Array("[1,2]".utf8)))
    }
    let cursor = client(server, Events()).cursor(
      at: "https://api.test/items", pagination: .linkHeader, decoder: JSONPageDecoder<Int>(),
      delivery: .asItArrives)
    var parts: [[Int]] = []
    for try await page in cursor { parts.append(page.items) }
    #expect(parts == [[1, 2]])
  }

  @Test("no event holds a secret")
  func redacted() async throws {
    let server = CannedServer { request, ordinal in
      let echo = "\(request.head.headerFields) \(request.url)"
      switch ordinal {
      case 0: return .status(302, ["Location": "/moved?access_token=canary-query-2"], "")
      case 1: return .status(503, [:], echo)
      default: return .status(400, [:], echo)
      }
    }
    let events = Events()
    let cursor = client(server, events).cursor(
      at: "https://api.test/items?access_token=canary-query-2", pagination: .linkHeader,
      decoder: JSONPageDecoder<Int>())
    await #expect(throws: PageError.self) { for try await _ in cursor {} }
    #expect(events.lines.count >= 6)
    #expect(events.lines.contains { $0.contains("retry") })
    for secret in ["canary-header-1", "canary-query-2"] {
      #expect(!events.lines.contains { $0.contains(secret) }, "\(secret)")
    }
  }
}
