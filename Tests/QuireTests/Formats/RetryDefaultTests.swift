import QuireHTTP
import Quire
import QuireLists
import QuireTesting
import Synchronization
import Testing

/// Retries are on over HTTP unless they are turned off: where Quire differs from sources that it does
/// not make itself, and from the systems that it follows.
@Suite("Retries over HTTP, on and off", .timeLimit(.minutes(15)))
struct RetryDefaultTests {
  private let clock = ManualClock()

  /// A listing by a client as it is made, but for its clock, or with another policy.
  private func cursor(_ server: PageServer, _ policy: RetryPolicy? = nil) -> Cursor<PageServer.Row>
  {
    var configuration = PageClient.Configuration()
    configuration.clock = clock
    if let policy { configuration.retry = policy }
    return PageClient(transport: server, configuration: configuration).cursor(
      of: PageServer.Row.self, at: "https://a.test/l", pagination: PageServer.byNumber)
  }

  /// What `body` returns while the clock runs.
  private func asTimePasses<Value: Sendable>(
    _ body: @escaping @Sendable () async -> Value
  ) async -> Value {
    let isOver = Atomic(false)
    async let value = {
      defer { isOver.store(true, ordering: .relaxed) }
      return await body()
    }()
    while !isOver.load(ordering: .relaxed) {
      clock.advance(by: .milliseconds(100))
      await Task.yield()
    }
    return await value
  }

  /// How far a loop over items comes, and what it throws.
  private func loop(
    _ items: ItemSequence<some PageSequence<PageServer.Row>>
  ) async -> (items: [Int], error: PageError?) {
    var ids: [Int] = []
    do {
      for try await item in items { ids.append(item.id) }
    } catch {
      return (ids, error as? PageError)
    }
    return (ids, nil)
  }

  @Test(
    "X-18, TI-12: by default a page that fails in passing is asked for again, the first one included",
    arguments: PageFormat.allCases, [429, 500, 503])
  func onByDefault(format: PageFormat, status: Int) async throws {
    let server = PageServer(format, [1, 1])
    for page in 1...2 { server.fail(page, status: status, times: 2) }
    let cursor = cursor(server)
    let (ids, error) = await asTimePasses { await loop(cursor.items) }
    #expect(ids == [0, 1] && error == nil)
    #expect(server.requests == [1, 1, 1, 2, 2, 2])
    let again = PageServer(format, [1, 1])
    for page in 1...2 { again.fail(page, status: status, times: 2) }
    let list = Paginator(self.cursor(again), threshold: .onDemand)
    let result = await asTimePasses { await loop(list.items) }
    #expect(result.items == [0, 1] && result.error == nil)
    #expect(again.requests == [1, 1, 1, 2, 2, 2])
    #expect(list.report.traffic.retries == 4)
  }

  @Test(
    "X-18, TI-12: by default a page has three attempts, and a refusal for good has one",
    arguments: [(500, 3), (503, 3), (400, 1), (404, 1)])
  func endsByDefault(status: Int, attempts: Int) async throws {
    let server = PageServer(.json, [1])
    server.fail(1, status: status)
    let list = PagedList(cursor(server))
    let (ids, error) = await asTimePasses { await loop(list.items) }
    #expect(ids == [])
    #expect(error?.attempts == attempts)
    #expect(server.requests == Array(repeating: 1, count: attempts))
    #expect(list.snapshot.state.description == "loadingError")
  }

  @Test("X-18: by default neither an end nor a cancellation is asked again")
  func endsAndCancellations() async throws {
    let server = PageServer(.json, [1, 1])
    server.fail(2, status: 503)
    var pagination = PageServer.byNumber
    pagination.end = [.status([503])]
    let ending = server.cursor(pagination) { $0.retry = RetryPolicy() }
    #expect(await loop(ending.items).items == [0])
    #expect(server.requests == [1, 2])
    let away = PageServer(.json, [1])
    away.fail(1, status: 503)
    let walk = cursor(away).walk()
    let task = Task { try await walk.next() }
    try await clock.waitForSleepers()
    task.cancel()
    await #expect(throws: CancellationError.self) { _ = try await task.value }
    #expect(away.requests == [1])
  }

  // The clock stands still from here on: whoever waits for it waits for ever.

  @Test(
    "X-18, TI-12: with .never a client makes one request, and its error is thrown at once",
    arguments: PageFormat.allCases, [400, 429, 500, 503])
  func neverAtTheClient(format: PageFormat, status: Int) async throws {
    let server = PageServer(format, [1, 1])
    server.fail(1, status: status, times: 1)
    server.fail(2, status: status, times: 1)
    let walk = cursor(server, .never).walk()
    for page in 1...2 {
      let error = await #expect(throws: PageError.self) { try await walk.next() }
      #expect(error?.code == (status == 429 ? .throttled : .status))
      #expect(error?.attempts == 1)
      #expect(error?.pageIndex == page - 1)
      // The same walk may ask again, for one request more.
      #expect(try await walk.next()?.items.map(\.id) == [page - 1])
    }
    #expect(server.requests == [1, 1, 2, 2])
    #expect(walk.report.traffic.retries == 0)
    #expect(clock.sleepers == 0)
  }

  @Test("X-18, TI-12, TI-14: with .never a list makes one request, and one for each retry()")
  func neverAtTheList() async throws {
    let server = PageServer(.json, [2, 2])
    server.fail(1, status: 503, times: 2)
    server.fail(2, status: 503, times: 1)
    let list = PagedList(cursor(server, .never))
    #expect(await loop(list.items).error?.attempts == 1)
    #expect(list.snapshot.state.description == "loadingError")
    #expect(server.requests == [1])
    await #expect(throws: PageError.self) { try await list.retry() }
    #expect(server.requests == [1, 1])
    #expect(try await list.retry())
    // What was loaded comes first, though the page behind it is asked for ahead and fails.
    let (ids, error) = await loop(list.items)
    #expect(ids == [0, 1] && error?.attempts == 1)
    #expect(list.snapshot.state.description == "loadingMoreError")
    #expect(server.requests == [1, 1, 1, 2])
    #expect(try await list.retry())
    #expect(await loop(list.items).items == [0, 1, 2, 3])
    #expect(server.requests == [1, 1, 1, 2, 2])
  }

  @Test("X-18: .never waits neither for a Retry-After nor for a page that the server still makes")
  func neverWaits() async throws {
    var busy = Answers.Answer(503)
    busy.fields[.retryAfter] = "1"
    for (pagination, answer) in [
      (PageServer.byNumber, busy), (.bigQuery, #"{"jobComplete":false}"#),
    ] {
      let transport = Answers([answer])
      var configuration = PageClient.Configuration()
      configuration.retry = .never
      configuration.clock = clock
      let client = PageClient(transport: transport, configuration: configuration)
      let error = await #expect(throws: PageError.self) {
        _ = try await client.cursor(
          of: PageServer.Row.self, at: "https://a.test/l", pagination: pagination
        ).collect()
      }
      #expect(error?.attempts == 1)
      #expect(transport.asked.count == 1)
    }
    #expect(clock.sleepers == 0)
  }
}
