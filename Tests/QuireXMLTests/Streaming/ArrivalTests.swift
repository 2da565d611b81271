import HTTPTypes
import QuireCore
import QuireHTTP
import QuireJSON
import QuirePagination
import QuireTesting
import QuireXML
import Testing

@Suite("Items as they arrive", .timeLimit(.minutes(15)))
struct ArrivalTests {
  private let pagination = Pagination(
    next: .body("//next"), send: .query("after"), items: "/list/item")

  private func cursor(
    _ transport: FeedTransport, attempts: Int = 1, pagination: Pagination? = nil,
    request: PageClient.RequestOptions = .init()
  ) -> Cursor<Int> {
    var configuration = PageClient.Configuration()
    configuration.retry.attempts = attempts
    configuration.retry.delay = .zero
    let client = PageClient(transport: transport, configuration: configuration)
    return client.cursor(
      at: "https://api.test/items", pagination: pagination ?? self.pagination, request: request,
      decoder: XMLPageDecoder<Int>(), delivery: .asItArrives)
  }

  private func items(_ numbers: ClosedRange<Int>) -> String {
    numbers.map { "<item>\($0)</item>" }.joined()
  }

  @Test("an item is there as soon as its end tag is, and its position before the page's end")
  func early() async throws {
    let gate = Gate()
    let transport = FeedTransport([
      [
        .bytes("<list>" + items(1...2) + "<item>3</ite"), .wait(gate),
        .bytes("m><item>4</item><next>x</next></list>"),
      ], [.bytes("<list>" + items(5...5) + "</list>")],
    ])
    let walk = cursor(transport).walk()
    var pages = walk.makeAsyncIterator()
    let first = try #require(try await pages.next())
    #expect(first.items == [1, 2])
    #expect(first.hasMoreParts)
    #expect(first.index == 0)
    #expect(first.next == Position(nil, itemOffset: 2))
    #expect(walk.report.checkpoint == Position(nil, itemOffset: 2))
    gate.openUp()
    let second = try #require(try await pages.next())
    #expect(second.items == [3, 4])
    #expect(second.index == 0)
    #expect(second.position == Position(nil, itemOffset: 2))
    let last = try #require(try await pages.next())
    #expect(last.items == [])
    #expect(!last.hasMoreParts)
    #expect(last.next == Position(["token": "x"]))
    #expect(try await pages.next()?.items == [5])
    #expect(try await pages.next()?.index == 1)
    #expect(try await pages.next() == nil)
    #expect(transport.urls == ["https://api.test/items", "https://api.test/items?after=x"])
    #expect(walk.report.pages == 2)
    #expect(walk.report.items == 5)
    #expect(walk.report.traffic.requests == 2)
    #expect(transport.open == 0)
  }

  @Test("G3: a page that repeats an earlier one is an error at its end, however it was cut")
  func repeated() async throws {
    let transport = FeedTransport([
      [.bytes("<list>" + items(1...3)), .bytes(items(4...5) + "<next>a</next></list>")],
      // Broken off and fetched again, it is the same page and no other.
      [.bytes("<list>" + items(1...4)), .fail(.truncated)],
      [.bytes("<list>" + items(1...4)), .bytes("<item>6</item><next>b</next></list>")],
      [.bytes("<list>" + items(1...2)), .bytes(items(3...5)), .bytes("<next>c</next></list>")],
    ])
    let walk = cursor(transport, attempts: 2).walk()
    var seen: [Int] = []
    let error = await #expect(throws: PageError.self) {
      for try await page in walk { seen += page.items }
    }
    #expect(seen == [1, 2, 3, 4, 5, 1, 2, 3, 4, 6, 1, 2, 3, 4, 5])
    #expect(error?.code == .stalledContent && error?.pageIndex == 2)
    #expect(error?.message.contains("as on the page 2 pages ago") == true)
    #expect(error?.message.contains("before the page was whole were delivered twice") == true)
    #expect(transport.open == 0 && transport.urls.count == 4)
  }

  @Test("G3: pages in parts that differ only in an item set aside are not taken for one")
  func aside() async throws {
    let transport = FeedTransport(
      ["x", "y"].map { word in
        [.bytes("<list><item>1</item><item>\(word)</item><next>\(word)</next></list>")]
      } + [[.bytes("<list><item>2</item></list>")]])
    var configuration = PageClient.Configuration()
    configuration.badItems = .collect
    let cursor = PageClient(transport: transport, configuration: configuration).cursor(
      at: "https://api.test/items", pagination: pagination, decoder: XMLPageDecoder<Int>(),
      delivery: .asItArrives)
    var seen: [Int] = []
    for try await page in cursor { seen += page.items }
    #expect(seen == [1, 1, 2])
  }

  @Test("H-4 C-6: a page that breaks off is an error behind its items, and goes on behind them")
  func resume() async throws {
    let page = "<list>" + items(1...4) + "</list>"
    let transport = FeedTransport([
      [.bytes("<list>" + items(1...3)), .fail(.truncated)],
      [.bytes("<list>" + items(1...2)), .bytes("<item>3</item><item>4</item>"), .fail(.truncated)],
      [.bytes(page)],
    ])
    let walk = cursor(transport).walk()
    var pages = walk.makeAsyncIterator()
    #expect(try await pages.next()?.items == [1, 2, 3])
    let error = await #expect(throws: PageError.self) { try await pages.next() }
    #expect(error?.code == .truncated)
    #expect(error?.checkpoint == Position(nil, itemOffset: 3))
    #expect(error?.pageIndex == 0)
    #expect(transport.open == 0)
    #expect(try await pages.next()?.items == [4])
    await #expect(throws: PageError.self) { try await pages.next() }
    let last = try await pages.next()
    #expect(last?.items == [])
    #expect(last?.next == nil)
    #expect(try await pages.next() == nil)
    #expect(walk.report.items == 4)
    #expect(walk.report.pages == 1)
  }

  @Test("X11: items that are fine do not make a page of which the tail is broken")
  func brokenTail() async throws {
    for tail in ["", "</lis", "</list", "<next>x</next>", "</list>junk", "&;</list>", "</item>"] {
      let transport = FeedTransport([[.bytes("<list>" + items(1...3)), .bytes(tail)]])
      var pages = cursor(transport).makeAsyncIterator()
      #expect(try await pages.next()?.items == [1, 2, 3])
      let error = await #expect(throws: PageError.self, "tail \(tail)") { try await pages.next() }
      #expect(error?.checkpoint == Position(nil, itemOffset: 3))
    }
  }

  @Test("C-8: a stored position inside a page goes on at exactly the next item")
  func stored() async throws {
    for offset in 0...5 {
      let transport = FeedTransport([
        [.bytes("<list>" + items(1...2)), .bytes(items(3...4)), .bytes("<item>5</item></list>")]
      ])
      let cursor = cursor(transport).resuming(from: Position(nil, itemOffset: offset))
      var received: [Int] = []
      for try await item in cursor.items { received.append(item) }
      #expect(received == Array(1...5).dropFirst(offset).map { $0 })
    }
  }

  @Test("H-5: a retry in the middle of a page repeats no item and counts as a retry")
  func retry() async throws {
    let transport = FeedTransport([
      [.bytes("<list>" + items(1...3)), .fail(.truncated)],
      [.bytes("<list>" + items(1...1)), .bytes(items(2...5)), .fail(.timedOut)],
      [.bytes("<list>" + items(1...6) + "</list>")],
    ])
    let walk = cursor(transport, attempts: 3).walk()
    var received: [Int] = []
    for try await item in walk.items { received.append(item) }
    #expect(received == [1, 2, 3, 4, 5, 6])
    #expect(walk.report.traffic.requests == 3)
    #expect(walk.report.traffic.retries == 2)
  }

  @Test("H-5: a page that is read is retried, though the listing began with a POST, which is not")
  func retryAfterPost() async throws {
    var polled = pagination
    polled.request.method = .get
    let query = PageClient.RequestOptions(method: .post, body: .bytes(Array("SELECT 1".utf8)))
    let transport = FeedTransport([
      [.bytes("<list>" + items(1...2) + "<next>x</next></list>")],
      [.bytes("<list>" + items(3...4)), .fail(.truncated)],
      [.bytes("<list>" + items(3...5) + "</list>")],
    ])
    let walk = cursor(transport, attempts: 2, pagination: polled, request: query).walk()
    #expect(try await walk.items.collect() == [1, 2, 3, 4, 5])
    #expect(walk.report.traffic.retries == 1)

    let broken = FeedTransport([
      [.bytes("<list>" + items(1...2)), .fail(.truncated)], [.bytes("<list></list>")],
    ])
    await #expect(throws: PageError.self) {
      _ = try await cursor(broken, attempts: 2, pagination: polled, request: query).items.collect()
    }
    #expect(broken.urls.count == 1)
  }

  @Test("a page that changed while it was read is an error, for ever")
  func changed() async throws {
    for other in ["<list>" + items(2...9) + "</list>", "<list>" + items(1...2) + "</list>"] {
      let transport = FeedTransport([
        [.bytes("<list>" + items(1...3)), .fail(.truncated)], [.bytes(other)], [.bytes(other)],
      ])
      var pages = cursor(transport).makeAsyncIterator()
      #expect(try await pages.next()?.items == [1, 2, 3])
      await #expect(throws: PageError.self) { try await pages.next() }
      for _ in 0..<2 {
        let error = await #expect(throws: PageError.self) { try await pages.next() }
        #expect(error?.code == .pageChanged)
        #expect(error?.checkpoint == Position(nil, itemOffset: 3))
      }
    }
  }

  @Test("C-7: leaving the loop in the middle of a page closes the response")
  func leaving() async throws {
    let transport = FeedTransport(
      Array(repeating: [.bytes("<list>" + items(1...3)), .wait(Gate())], count: 3))
    let walk = cursor(transport).walk()
    for try await item in walk.items where item == 2 { break }
    #expect(transport.open == 0)
    for try await _ in cursor(transport).items { break }
    #expect(transport.open == 0)
    let paged = cursor(transport).map { $0 + 1 }.paged(by: 2).walk()
    for try await _ in paged { break }
    #expect(transport.open == 0)
    #expect(walk.report.checkpoint == Position(nil, itemOffset: 2))
  }

  @Test("C-7: cancelling in the middle of a page closes the response, and the walk can go on")
  func cancelling() async throws {
    let waiting = Gate()
    let transport = FeedTransport([
      [.bytes("<list>" + items(1...3)), .wait(Gate())],
      [.bytes("<list>" + items(1...4) + "</list>")],
    ])
    let walk = cursor(transport).walk()
    let task = Task {
      for try await item in walk.items where item == 3 { waiting.openUp() }
    }
    try await waiting.wait()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(transport.open == 0)
    var received: [Int] = []
    for try await item in walk.items { received.append(item) }
    #expect(received == [4])
  }

  @Test("TI-32: a page in front of the start comes whole: its last part says what lies before it")
  func backwards() async throws {
    var pagination = self.pagination
    pagination.previous = Pagination.PreviousRule(.body("//previous"))
    let transport = FeedTransport([
      [.bytes("<list>" + items(3...3)), .bytes(items(4...4) + "<previous>?p=1</previous></list>")],
      [.bytes("<list>" + items(1...1)), .bytes(items(2...2) + "</list>")],
    ])
    let walk = cursor(transport, pagination: pagination).walk()
    #expect(try await walk.previous()?.items == [1, 2])
    #expect(try await walk.previous() == nil)
    #expect(transport.urls == ["https://api.test/items", "https://api.test/items?p=1"])
  }

  @Test("C-9: limits cut a part, and a limit on pages lets the page arrive")
  func limits() async throws {
    let bodies: [[FeedTransport.Piece]] = [
      [.bytes("<list>" + items(1...3)), .bytes(items(4...6) + "<next>x</next></list>")],
      [.bytes("<list>" + items(7...9) + "</list>")],
    ]
    let transport = FeedTransport(bodies)
    let walk = cursor(transport).limited(to: Limits(items: 5)).walk()
    var received: [Int] = []
    for try await item in walk.items { received.append(item) }
    #expect(received == [1, 2, 3, 4, 5])
    #expect(walk.report.checkpoint == Position(nil, itemOffset: 5))
    #expect(walk.report.pages == 1)
    #expect(transport.open == 0)
    let other = cursor(FeedTransport(bodies)).limited(to: Limits(pages: 1)).walk()
    received = []
    for try await item in other.items { received.append(item) }
    #expect(received == [1, 2, 3, 4, 5, 6])
    #expect(other.report.pages == 1)
  }

  @Test("C-11: transforms and look-ahead work on parts as on pages")
  func transforms() async throws {
    let bodies: [[FeedTransport.Piece]] = [
      [.bytes("<list>" + items(1...3)), .bytes(items(4...6) + "<next>x</next></list>")],
      [.bytes("<list>" + items(7...9) + "</list>")],
    ]
    let even = cursor(FeedTransport(bodies)).filter { $0 % 2 == 0 }
    var pages: [Page<Int>] = []
    for try await page in even { pages.append(page) }
    #expect(pages.flatMap(\.items) == [2, 4, 6, 8])
    #expect(pages[1].position(afterItems: 1) == Position(nil, itemOffset: 5))
    let paginator = Paginator(cursor(FeedTransport(bodies)))
    var received: [Int] = []
    for try await item in paginator.items { received.append(item) }
    #expect(received == Array(1...9))
    #expect(paginator.report.pages == 2)
    var sizes: [Int] = []
    for try await page in cursor(FeedTransport(bodies)).paged(by: 4) {
      sizes.append(page.items.count)
      #expect(!page.hasMoreParts)
    }
    #expect(sizes == [4, 4, 1])
  }
}
