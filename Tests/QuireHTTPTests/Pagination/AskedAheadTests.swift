import Foundation
import HTTPTypes
import QuireTesting
import Synchronization
import Testing

@testable import QuireCore
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

@Suite("Pages that are asked for while the one before is decoded")
struct AskedAheadTests {
  /// Four pages of one item each, numbered from 1.
  private static let pages: CannedServer.Answer = { request, _ in
    let number = Int(request.url.suffix(1)) ?? 1
    return .json(#"{"items":[\#(number)],"next":\#(number < 4 ? "\(number + 1)" : "null")}"#)
  }

  private static let pagination = Pagination(
    next: .body("/next"), send: .query("page"), items: "/items")

  /// The numbers of the pages, each decoded by `decode`.
  private func cursor(
    _ server: CannedServer, pagination: Pagination = pagination,
    _ configuration: PageClient.Configuration = .init(),
    decode: @escaping @Sendable (Int) throws -> Int
  ) -> Cursor<Int> {
    PageClient(transport: server, configuration: configuration).cursor(
      at: "https://api.test/list?page=1", pagination: pagination,
      decoder: ClosurePageDecoder { item in
        try decode(Int(String(decoding: item.bytes, as: UTF8.self)) ?? 0)
      })
  }

  /// Counts requests, and lets a thread wait for them.
  private final class Requests: Sendable {
    private let count = Mutex(0)
    private let changes = DispatchSemaphore(value: 0)

    func sent() {
      count.withLock { $0 += 1 }
      changes.signal()
    }

    /// Whether they were, within a time that no request takes.
    func waits(for wanted: Int) -> Bool {
      while count.withLock({ $0 }) < wanted {
        if changes.wait(timeout: .now() + 300) == .timedOut { return false }
      }
      return true
    }
  }

  @Test("14-Look-ahead: decoding holds up no request, and the pages are those of the plain walk")
  func overlaps() async throws {
    let requests = Requests()
    let server = CannedServer { request, ordinal in
      requests.sent()
      return try Self.pages(request, ordinal)
    }
    let cursor = cursor(server) { number in
      // The item of a page is not made before the page after it was asked for.
      if number < 4 { #expect(requests.waits(for: number + 1)) }
      return number
    }
    let paginator = Paginator(cursor)
    var numbers: [Int] = []
    for try await page in paginator { numbers += page.items }
    #expect(numbers == [1, 2, 3, 4])
    #expect(server.requests.count == 4)
    let report = paginator.report
    #expect(report.checkpoint == nil)
    #expect((report.pages, report.traffic.requests, report.traffic.items) == (4, 4, 4))
  }

  @Test(
    "14-Look-ahead: nothing is asked for that a limit, a threshold or the loop over items leaves open",
    arguments: [
      "cursor", "walk of two", "items of one", "on demand", "item by item", "no room", "handle",
    ])
  func asksForNothingInVain(kind: String) async throws {
    let server = CannedServer(Self.pages)
    let seen = Mutex<[Int]>([])
    var pagination = Self.pagination
    pagination.policy.handle = kind == "handle"
    let whole = cursor(server, pagination: pagination) { number in
      seen.withLock { $0.append(server.requests.count) }
      return number
    }
    switch kind {
    case "cursor":
      for try await page in whole where page.items == [2] { break }
    case "walk of two":
      for try await _ in Paginator(whole.limited(to: Limits(pages: 2))) {}
      #expect(server.requests.count == 2)
      return
    case "items of one":
      for try await _ in Paginator(whole.limited(to: Limits(items: 1))) {}
      #expect(server.requests.count == 1)
    case "on demand":
      for try await page in Paginator(whole, threshold: .onDemand) where page.items == [2] { break }
    case "no room":
      for try await _ in Paginator(whole, maxBytesAhead: 0) {}
    case "handle":
      for try await _ in Paginator(whole) {}
    default:
      for try await _ in Paginator(whole).items {}
    }
    // Each page was decoded before the next request.
    let asked = seen.withLock { $0 }
    #expect(asked == Array(1...asked.count))
  }

  @Test(
    "14-Look-ahead: a page that cannot be decoded is asked for again, and then the one behind it")
  func failsAndGoesOn() async throws {
    let server = CannedServer(Self.pages)
    let isFirst = Mutex(true)
    let cursor = cursor(server) { number in
      if number == 2, isFirst.withLock({ $0.take(false) }) {
        throw PageError(.shape, "No such item.")
      }
      return number
    }
    let paginator = Paginator(cursor)
    var numbers: [Int] = []
    let error = await #expect(throws: PageError.self) {
      for try await page in paginator { numbers += page.items }
    }
    #expect(error?.code == .shape)
    #expect(numbers == [1])
    for try await page in paginator { numbers += page.items }
    #expect(numbers == [1, 2, 3, 4])
    #expect(paginator.report.checkpoint == nil)
  }

  @Test("14-Look-ahead: a request that was sent ahead and failed is tried again by the policy")
  func retries() async throws {
    let server = CannedServer { request, ordinal in
      ordinal == 2 ? .status(503) : try Self.pages(request, ordinal)
    }
    var configuration = PageClient.Configuration()
    configuration.clock = InstantClock()
    let paginator = Paginator(cursor(server, configuration) { $0 })
    var numbers: [Int] = []
    for try await page in paginator { numbers += page.items }
    #expect(numbers == [1, 2, 3, 4])
    #expect(paginator.report.traffic.requests == 5)
    #expect(paginator.report.traffic.retries == 1)
  }

  @Test("14-Look-ahead: a cursor that expired is replaced where its page was asked for ahead, too")
  func recovers() async throws {
    let server = CannedServer { request, ordinal in
      ordinal == 2 ? .status(410) : try Self.pages(request, ordinal)
    }
    var pagination = Self.pagination
    pagination.policy.failure = [.init(when: .status(410), .expired)]
    pagination.policy.expiry = .restart
    var numbers: [Int] = []
    for try await page in Paginator(cursor(server, pagination: pagination) { $0 }) {
      numbers += page.items
    }
    #expect(numbers == [1, 2, 1, 2, 3, 4])
  }
}

/// Four pages of one item each, linked by their heads. What happens is noted in order.
private final class LinkedPages: HTTPTransport {
  enum Event: Hashable {
    case asked(Int)
    case ended(Int)
  }

  private let log = Mutex<[Event]>([])
  private let gates = (0...6).map { _ in Gate() }
  private let isBroken = Mutex(false)

  /// Whether a body ends only once the page behind it was asked for.
  private let holdsBodies: Bool

  init(holdsBodies: Bool, breaksSecond: Bool = false) {
    self.holdsBodies = holdsBodies
    isBroken.withLock { $0 = breaksSecond }
  }

  var events: [Event] { log.withLock { $0 } }

  func send(_ request: TransportRequest) async throws -> TransportResponse {
    let number = request.head.path?.last.flatMap { Int(String($0)) } ?? 1
    log.withLock { $0.append(.asked(number)) }
    gates[number - 1].openUp()
    var fields: HTTPFields = [.contentType: "application/json", .contentLength: "3"]
    if number < 4, let link = HTTPField.Name("Link") {
      fields[link] = "</list?page=\(number + 1)>; rel=\"next\""
    }
    let slices = Mutex([Array("\(number)]".utf8), Array("[".utf8)])
    let breaks = number == 2 && isBroken.withLock { $0.take(false) }
    return TransportResponse(
      head: HTTPResponse(status: .ok, headerFields: fields),
      body: TransportBody(next: {
        guard let slice = slices.withLock({ $0.popLast() }) else {
          self.log.withLock { $0.append(.ended(number)) }
          return nil
        }
        guard slice.count > 1 else { return slice }
        if self.holdsBodies, number < 4 { try await self.gates[number].wait() }
        if breaks { throw PageError(.shape, "The body is no body.") }
        return slice
      }))
  }
}

@Suite("Pages that are asked for while the one before still arrives", .timeLimit(.minutes(15)))
struct OverlappingTransfersTests {
  private func paginator(
    _ pages: LinkedPages, end: [Pagination.End] = [], delivery: PageDelivery = .whole,
    overlaps: Bool = true
  ) -> Paginator<Int> {
    var pagination = Pagination.linkHeader
    pagination.end += end
    let cursor = PageClient(transport: pages).cursor(
      at: "https://api.test/list?page=1", pagination: pagination,
      decoder: JSONPageDecoder<Int>(), delivery: delivery)
    return Paginator(cursor, overlapsTransfers: overlaps)
  }

  private func items(_ paginator: Paginator<Int>) async throws -> [Int] {
    var items: [Int] = []
    for try await page in paginator { items += page.items }
    return items
  }

  private static let inTurn: [LinkedPages.Event] =
    (1...4).flatMap { [.asked($0), .ended($0)] }

  @Test(
    "14-Look-ahead: where a head says what follows, the next request goes out before the body has ended, by choice",
    arguments: [PageDelivery.whole, .asItArrives])
  func overlaps(delivery: PageDelivery) async throws {
    let pages = LinkedPages(holdsBodies: true)
    let paginator = paginator(pages, delivery: delivery)
    #expect(try await items(paginator) == [1, 2, 3, 4])
    // Each page is asked for once, and behind the head of the one before.
    #expect(pages.events.count { if case .asked = $0 { true } else { false } } == 4)
    #expect(paginator.report.traffic.requests == 4)
    #expect(paginator.report.checkpoint == nil)
  }

  @Test(
    "14-Look-ahead: without that choice, and where a body may end the listing, the next request waits for the body"
  )
  func waits() async throws {
    let plain = LinkedPages(holdsBodies: false)
    #expect(try await items(paginator(plain, overlaps: false)) == [1, 2, 3, 4])
    #expect(plain.events == Self.inTurn)
    let byBody = LinkedPages(holdsBodies: false)
    #expect(try await items(paginator(byBody, end: [.emptyPage])) == [1, 2, 3, 4])
    #expect(byBody.events == Self.inTurn)
  }

  @Test(
    "14-Look-ahead: a page that breaks off is asked for again, and nothing is lost or repeated"
  )
  func breaksOff() async throws {
    let pages = LinkedPages(holdsBodies: true, breaksSecond: true)
    let paginator = paginator(pages)
    var items: [Int] = []
    let error = await #expect(throws: PageError.self) {
      for try await page in paginator { items += page.items }
    }
    #expect(error?.code == .shape)
    for try await page in paginator { items += page.items }
    #expect(items == [1, 2, 3, 4])
  }
}

extension Bool {
  fileprivate mutating func take(_ new: Bool) -> Bool {
    defer { self = new }
    return self
  }
}
