import HTTPTypes
import QuireCore
import QuireJSON
import QuirePagination
import QuireTesting
import Synchronization
import TestSupport
import Testing

@testable import QuireHTTP

@Suite("Validators of pages that were read and not consumed", .timeLimit(.minutes(15)))
struct PageValidatorsTests {
  /// A listing of the items 0 to 8 in three pages, each with validators.
  private struct Versioned {
    let server: CannedServer
    let validators = PageValidators()
    let cursor: Cursor<Int>

    init(_ answer: @escaping CannedServer.Answer = Versioned.pages) {
      server = CannedServer(answer)
      var client = PageClient(transport: server)
      client.configuration.validators = validators
      client.configuration.retry = .never
      cursor = client.cursor(
        at: "https://api.test/list?page=1",
        pagination: Pagination(next: .body("/next"), send: .query("page"), items: "/items"),
        decoder: JSONPageDecoder<Int>())
    }

    static let pages: CannedServer.Answer = { request, _ in
      let number = Int(request.url.suffix(1)) ?? 1
      let tag = "\"\(number)\""
      if request.head.headerFields[.ifNoneMatch] == tag { return .status(304, ["ETag": tag]) }
      let items = (0..<3).map { String(3 * (number - 1) + $0) }.joined(separator: ",")
      let next = number < 3 ? String(number + 1) : "null"
      return .json(#"{"items":[\#(items)],"next":\#(next)}"#, ["ETag": tag])
    }

    /// How many requests had a condition.
    var conditions: Int {
      server.requests.count(where: { $0.head.headerFields[.ifNoneMatch] != nil })
    }

    /// Whether each page is unchanged for another walk.
    func unchanged() async throws -> [Bool] {
      var pages: [Bool] = []
      for try await page in cursor { pages.append(page.isUnchanged) }
      return pages
    }
  }

  /// True once.
  private final class Once: Sendable {
    private let isLeft = Atomic(true)

    func take() -> Bool { isLeft.exchange(false, ordering: .relaxed) }
  }

  private struct Failure: Error {}

  private static let all = Array(0..<9)

  @Test(
    "17-Validators, C-11: a page on which a closure failed comes whole when it is asked for again")
  func failedClosure() async throws {
    let listing = Versioned()
    let walk = failingOnce(listing.cursor).walk()
    try await expectAll(in: walk)
    #expect(walk.report.end.name == "exhausted")
    #expect(listing.server.requests.count == 4 && listing.conditions == 0)
    #expect(try await listing.unchanged() == [true, true, true])
  }

  @Test("17-Validators, C-11: a walk begun anew has the page on which a closure failed")
  func begunAnew() async throws {
    let listing = Versioned()
    try await expectAll(in: failingOnce(listing.cursor))
  }

  /// The same items through a closure that fails once on the second page.
  private func failingOnce(_ cursor: Cursor<Int>) -> Cursor<Int> {
    let once = Once()
    return cursor.map { (item: Int) async throws -> Int in
      if item == 4, once.take() { throw Failure() }
      return item
    }
  }

  /// Reads until the closure has failed, and the rest by another loop.
  private func expectAll(in pages: some PageSequence<Int> & Sendable) async throws {
    var items: [Int] = []
    let error = await pageError { for try await page in pages { items += page.items } }
    #expect(error?.code == .transformFailed)
    for try await page in pages { items += page.items }
    #expect(items == Self.all)
  }

  @Test("17-Validators: what a paginator has loaded ahead comes whole to the walk that resumes it")
  func loadedAhead() async throws {
    let listing = Versioned()
    let paginator = Paginator(listing.cursor)
    var iterator = paginator.makeAsyncIterator()
    var items = try await iterator.next()?.items ?? []
    while paginator.report.traffic.requests < 2 { await Task.yield() }
    withExtendedLifetime(iterator) {}
    let checkpoint = try #require(paginator.report.checkpoint)
    #expect(listing.validators.snapshot.isEmpty)
    for try await page in listing.cursor.resuming(from: checkpoint) { items += page.items }
    #expect(items == Self.all)
    #expect(listing.conditions == 0)
  }

  @Test(
    "17-Validators: a walk that comes to a page twice has its items twice",
    arguments: [1, 2], [true, false])
  func visitedTwice(concurrency: Int, ordered: Bool) async throws {
    let listing = Versioned()
    let parents = Cursor(ScriptedSource(items: [[0, 1]]))
    let cursor = parents.flatMap(concurrency: concurrency, ordered: ordered) { [listing] _ in
      listing.cursor
    }
    let twice = (Self.all + Self.all).sorted()
    #expect(try await cursor.drained().flatMap(\.self).sorted() == twice)
    #expect(listing.conditions == 0)
    let other = Versioned()
    let merged = Cursor.merged([other.cursor, other.cursor], by: \.self, clock: ManualClock())
    #expect(try await merged.drained().flatMap(\.self) == twice)
    #expect(other.conditions == 0)
    for listing in [listing, other] {
      #expect(try await listing.unchanged() == [true, true, true])
    }
  }

  @Test(
    "17-Validators: pages that were consumed are unchanged for the next walk, however they were read",
    arguments: [
      "cursor", "walk", "items", "map", "paged", "parallel", "paginator", "one by one", "collect",
    ])
  func consumed(kind: String) async throws {
    let listing = Versioned()
    let cursor = listing.cursor
    let items: [Int]
    switch kind {
    case "walk":
      let walk = cursor.walk()
      var read: [Int] = []
      while let page = try await walk.next() { read += page.items }
      items = read
    case "items": items = try await cursor.walk().items.collected()
    case "map":
      let mapped = cursor.map { (item: Int) async throws -> Int in item }
      items = try await mapped.drained().flatMap(\.self)
    case "paged": items = try await cursor.paged(by: 2).drained().flatMap(\.self)
    case "parallel": items = try await cursor.parallel(2).drained().flatMap(\.self)
    case "paginator": items = try await Paginator(cursor).drained().flatMap(\.self)
    case "one by one": items = try await Paginator(cursor).items.collected()
    case "collect": items = try await cursor.items.collect()
    default: items = try await cursor.drained().flatMap(\.self)
    }
    #expect(items == Self.all)
    #expect(listing.conditions == 0)
    #expect(try await listing.unchanged() == [true, true, true])
    #expect(listing.server.requests.count == 6 && listing.conditions == 3)
  }

  @Test("17-Validators: wherever a walk is left, only pages in front of the last one are kept")
  func leftAnywhere() async throws {
    for count in 1...3 {
      let plain = Versioned()
      var iterator = plain.cursor.makeAsyncIterator()
      for _ in 0..<count { _ = try await iterator.next() }
      #expect(plain.validators.snapshot.count == count - 1)
      let ahead = Versioned()
      var pages = Paginator(ahead.cursor, maxPagesAhead: 2).makeAsyncIterator()
      for _ in 0..<count { _ = try await pages.next() }
      #expect(ahead.validators.snapshot.count == count - 1)
    }
    for count in 1...5 {
      let paged = Versioned()
      var iterator = paged.cursor.paged(by: 2).makeAsyncIterator()
      for _ in 0..<count { _ = try await iterator.next() }
      #expect(paged.validators.snapshot.count == 2 * (count - 1) / 3)
    }
    for count in 1...9 {
      let single = Versioned()
      var iterator = Paginator(single.cursor).items.makeAsyncIterator()
      for _ in 0..<count { _ = try await iterator.next() }
      #expect(single.validators.snapshot.count == (count - 1) / 3)
    }
  }

  @Test(
    "17-Validators, H-8: an unchanged page leads on where its link repeats a secret of the walk")
  func secrets() async throws {
    let first = "https://api.test/list?api_key=hunter2hunter2"
    let second = first + "&page=2"
    let server = CannedServer { request, _ in
      let isFirst = request.url == first
      let tag = isFirst ? "\"1\"" : "\"2\""
      if request.head.headerFields[.ifNoneMatch] == tag { return .status(304, ["ETag": tag]) }
      return .json(
        isFirst ? #"{"items":[1],"next":"\#(second)"}"# : #"{"items":[2],"next":null}"#,
        ["ETag": tag])
    }
    var client = PageClient(transport: server)
    let validators = PageValidators()
    client.configuration.validators = validators
    let cursor = client.cursor(
      at: first, pagination: Pagination(next: .body("/next"), items: "/items"),
      decoder: JSONPageDecoder<Int>())
    #expect(try await cursor.drained() == [[1], [2]])
    #expect(!"\(validators.snapshot)".contains("hunter2"))
    // Twice: what an unchanged page leaves is what was kept of it.
    for _ in 0..<2 { #expect(try await cursor.drained() == [[], []]) }
    #expect(server.requests.map(\.url) == [first, second, first, second, first, second])
  }

  @Test(
    "17-Validators: the first page leads on where the cursors of the others are in a field, whatever a snapshot has of them",
    arguments: [false, true])
  func cursorInField(hasFormer: Bool) async throws {
    let name = try #require(HTTPField.Name("X-Cursor"))
    let date = "Tue, 03 Jun 2003 09:39:21 GMT"
    let items = Mutex("2")
    let server = CannedServer { request, _ in
      if request.head.headerFields[name] != nil {
        return .json(
          #"{"items":[\#(items.withLock { $0 })],"next":null}"#, ["Last-Modified": date])
      }
      guard request.head.headerFields[.ifModifiedSince] == nil else { return .status(304) }
      return .json(#"{"items":[1],"next":"a"}"#, ["Last-Modified": date])
    }
    var client = PageClient(transport: server)
    let last = PageValidators.Entry(entityTag: nil, lastModified: date, next: nil, itemCount: 1)
    client.configuration.validators = PageValidators(
      hasFormer ? ["GET https://api.test/list": last] : [:])
    let cursor = client.cursor(
      at: "https://api.test/list",
      pagination: Pagination(next: .body("/next"), send: .header("X-Cursor"), items: "/items"),
      decoder: JSONPageDecoder<Int>())
    #expect(try await cursor.drained() == [[1], [2]])
    items.withLock { $0 = "2,3" }
    #expect(try await cursor.drained() == [[], [2, 3]])
  }

  @Test(
    "17-Validators: pages that links describe are unchanged, though they lack fields of the first")
  func describedPages() async throws {
    let second = "https://api.test/list?page=b"
    let server = CannedServer { request, _ in
      let isSecond = request.url == second
      let tag = isSecond ? "\"2\"" : "\"1\""
      if request.head.headerFields[.ifNoneMatch] == tag { return .status(304, ["ETag": tag]) }
      let next = isSecond ? "null" : #"{"href":"\#(second)","method":"GET"}"#
      return .json(#"{"items":[\#(isSecond ? 2 : 1)],"next":\#(next)}"#, ["ETag": tag])
    }
    var client = PageClient(transport: server)
    client.configuration.validators = PageValidators()
    let cursor = client.cursor(
      at: "https://api.test/list",
      pagination: Pagination(next: .body("/next"), send: .request, items: "/items"),
      request: PageClient.RequestOptions(headers: ["X-Tenant": "t"]),
      decoder: JSONPageDecoder<Int>())
    #expect(try await cursor.drained() == [[1], [2]])
    #expect(try await cursor.drained() == [[], []])
  }

  @Test(
    "17-Validators: pages whose cursors are called as secrets are do not stand for each other",
    arguments: ["https://api.test/list", "https://api.test/list?token="])
  func cursorCalledToken(first: String) async throws {
    let date = "Tue, 03 Jun 2003 09:39:21 GMT"
    let server = CannedServer { request, _ in
      guard request.head.headerFields[.ifModifiedSince] == nil else { return .status(304) }
      let body =
        switch request.url {
        case first: #"{"items":[1],"next":"a"}"#
        case "https://api.test/list?token=a": #"{"items":[2],"next":"b"}"#
        default: #"{"items":[3],"next":null}"#
        }
      return .json(body, ["Last-Modified": date])
    }
    var client = PageClient(transport: server)
    let last = PageValidators.Entry(entityTag: nil, lastModified: date, next: nil, itemCount: 1)
    client.configuration.validators = PageValidators(["GET https://api.test/list?token=…": last])
    let cursor = client.cursor(
      at: first,
      pagination: Pagination(next: .body("/next"), send: .query("token"), items: "/items"),
      decoder: JSONPageDecoder<Int>())
    #expect(try await cursor.drained() == [[1], [2], [3]])
    #expect(try await cursor.drained() == [[], [2], [3]])
  }

  @Test("17-Validators: of a snapshot no more pages are kept than there is room for")
  func largeSnapshot() {
    let entry = PageValidators.Entry(entityTag: "\"1\"", lastModified: nil, next: nil, itemCount: 1)
    let requests = (0..<9).map { "GET https://a.test/\($0)" }
    let snapshot = Dictionary(uniqueKeysWithValues: requests.map { ($0, entry) })
    #expect(PageValidators(snapshot, capacity: 4).snapshot.count == 4)
    #expect(PageValidators(snapshot, capacity: 9).snapshot == snapshot)
  }

  @Test("17-Validators: a page that a limit cut comes whole to the next walk")
  func cut() async throws {
    let listing = Versioned()
    let limited = listing.cursor.limited(to: Limits(items: 4))
    #expect(try await limited.drained() == [[0, 1, 2], [3]])
    #expect(try await listing.unchanged() == [true, false, false])
  }

  @Test("17-Validators: a page that a loop has left midway is kept by the one that takes its rest")
  func leftover() async throws {
    let listing = Versioned()
    let walk = listing.cursor.walk()
    for try await item in walk.items where item == 1 { break }
    #expect(listing.validators.snapshot.isEmpty)
    var iterator = walk.makeAsyncIterator()
    #expect(try await iterator.next()?.items == [2])
    #expect(listing.validators.snapshot.isEmpty)
    #expect(try await iterator.next()?.items == [3, 4, 5])
    #expect(listing.validators.snapshot.count == 1)
  }

  @Test("17-Validators: pages that a failed collect() has lost come whole the next time")
  func failedCollect() async throws {
    for isByItem in [false, true] {
      let once = Once()
      let listing = Versioned { request, ordinal in
        if request.url.hasSuffix("3"), once.take() { return .status(500) }
        return try Versioned.pages(request, ordinal)
      }
      let cursor = listing.cursor
      let error = await pageError {
        _ = try await isByItem ? cursor.items.collect() : cursor.collect()
      }
      #expect(error != nil && listing.validators.snapshot.isEmpty)
      let items = try await isByItem ? cursor.items.collect() : cursor.collect()
      #expect(items == Self.all)
      #expect(listing.validators.snapshot.count == 3)
    }
  }
}
