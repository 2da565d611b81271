import QuireCore
import QuireTesting
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct OperatorTests {
  // MARK: Deduplicated

  @Test("X-14, C-11, G13: an item that comes twice is dropped, and counted; page boundaries stay")
  func deduplicates() async throws {
    let walk = Cursor(pages: [[1, 2, 3], [3, 4], [4], [5]]).deduplicated { $0 }.walk()
    #expect(try await walk.drained() == [[1, 2, 3], [4], [], [5]])
    #expect(walk.report.duplicatesDropped == 2)
    #expect(walk.report.traffic.items == 7)
  }

  @Test("X-14: a page that is read again does not take its own items for repetitions")
  func deduplicatesRetries() async throws {
    let source = ScriptedSource(items: [[1, 2], [2, 3]])
    let calls = ScriptedSource(sizes: 1, 1, 1)
    calls.fail(3)
    let cursor = Cursor(source).deduplicated { $0 }.map { number in
      _ = try await calls.page(at: Position(integerLiteral: number))
      return number
    }
    var items = cursor.items.makeAsyncIterator()
    #expect(try await items.next() == 1)
    #expect(try await items.next() == 2)
    await #expect(throws: PageError.self) { try await items.next() }
    #expect(try await items.next() == 3)
    #expect(try await items.next() == nil)
  }

  @Test("X-14: the closure that returns an item's key may use the walk that calls it")
  func keyUsesWalk() async throws {
    let reading = Mutex<Walk<Int>?>(nil)
    let walk = Cursor(pages: [[1, 1, 2]]).deduplicated { item in
      _ = reading.withLock { $0 }?.copy()
      return item
    }.walk()
    reading.withLock { $0 = walk }
    #expect(try await walk.items.collect() == [1, 2])
    reading.withLock { $0 = nil }
  }

  @Test("X-14, C-8: a deduplicated page can be resumed after any of its items")
  func deduplicatedPositions() async throws {
    let cursor = Cursor(pages: [[1, 1, 2, 3]]).deduplicated { $0 }
    let page = try #require(try await cursor.walk().next())
    #expect(page.items == [1, 2, 3])
    #expect(page.position(afterItems: 2) == Position(nil, itemOffset: 3))
  }

  // MARK: Cached

  @Test("TI-37: every page is read once, the last one included, until the cache is cleared")
  func caches() async throws {
    let source = ScriptedSource(sizes: 1, 1, 1)
    let cache = PageCache<Int>()
    let cursor = Cursor(source).cached(in: cache)
    #expect(try await cursor.drained() == [[0], [1], [2]])
    #expect(source.requests == [1, 2, 3])
    let again = cursor.walk()
    #expect(try await again.drained() == [[0], [1], [2]])
    #expect(again.report.traffic.requests == 0)
    #expect(again.report.items == 3)
    // Another cursor over the same cache shares it.
    #expect(try await Cursor(source).cached(in: cache).drained() == [[0], [1], [2]])
    #expect(source.requests == [1, 2, 3])
    cache.clear()
    #expect(cache.count == 0)
    _ = try await cursor.drained()
    #expect(source.requests == [1, 2, 3, 1, 2, 3])
  }

  @Test("TI-37: pages on the way back are kept apart from those on the way on, and read once, too")
  func cachesByDirection() async throws {
    let source = ScriptedSource(sizes: 1, 1, 1)
    let cache = PageCache<Int>()
    let directions = Recorder<Position.Direction>()
    // On the way back every page is another one.
    let cursor = Cursor(source).observed { reading in
      if case .started(_, let direction) = reading { directions.note(direction) }
    }.cached(in: cache)
    _ = try await cursor.drained()
    for _ in 0..<2 {
      let back = cursor.resuming(from: 3).walk()
      #expect(try await back.next()?.items == [2])
      #expect(try await back.previous()?.items == [1])
      #expect(try await back.previous()?.items == [0])
      #expect(try await back.previous() == nil)
    }
    #expect(source.requests == [1, 2, 3, 2, 1])
    #expect(directions.values == [.forward, .forward, .forward, .backward, .backward])
    #expect(cache.count == 5)
  }

  @Test("TI-37: the end behind the last page is cached, errors are not")
  func cachesEnds() async throws {
    let calls = Recorder<Int>()
    let source = Cursor.numbered { number in
      calls.note(number)
      if calls.count == 2 { throw ScriptedFailure() }
      return number > 1 ? nil : NumberedPage([number], isLast: false)
    }
    let cursor = source.cached()
    let walk = cursor.walk()
    _ = try await walk.next()
    await #expect(throws: PageError.self) { try await walk.next() }
    #expect(try await walk.next() == nil)
    #expect(try await cursor.drained() == [[1]])
    #expect(calls.values == [1, 2, 2])
  }

  // MARK: Copy and anew

  @Test(
    "TI-33: a copy of a walk goes on with what was read and not handed out; a new walk does not")
  func copies() async throws {
    let source = ScriptedSource(items: [[1, 2, 3, 4], [5, 6]])
    let cursor = Cursor(source).paged(by: 3)
    let walk = cursor.walk()
    #expect(try await walk.next()?.items == [1, 2, 3])
    let copy = walk.copy()
    #expect(try await copy.drained() == [[4, 5, 6]])
    #expect(source.requests == [1, 2])
    #expect(try await walk.drained() == [[4, 5, 6]])
    #expect(source.requests == [1, 2, 2])
    #expect(try await cursor.walk().next()?.items == [1, 2, 3])
  }

  @Test("TI-33: copies share nothing, whatever the walk is made of")
  func copiesShareNothing() async throws {
    let source = ScriptedSource(items: [[1, 2], [2, 3], [3, 4]])
    for cursor in [
      Cursor(source).deduplicated { $0 }, Cursor(source).deduplicated { $0 }.cached(),
      Cursor(source).deduplicated { $0 }.filter { _ in true }.observed { _ in },
      Cursor(source).deduplicated { $0 }.retrying(attempts: 2).parallel(2),
    ] {
      let walk = cursor.walk()
      #expect(try await walk.next()?.items == [1, 2])
      let copy = walk.copy()
      #expect(try await walk.drained() == [[3], [4]])
      #expect(try await copy.drained() == [[3], [4]])
    }
  }

  // MARK: Observed

  @Test("TI-38: an observer sees each reading begin, what came of it, and its end, with direction")
  func observes() async throws {
    let source = ScriptedSource(sizes: 1, 1)
    source.fail(2)
    let log = Recorder<String>()
    let cursor = Cursor(source, from: 2).observed { reading in
      switch reading {
      case .started(_, let direction): log.note("start \(direction)")
      case .read(let page): log.note("result \(page.items)")
      case .ended: log.note("end")
      case .failed: log.note("error")
      case .finished(_, let direction): log.note("finish \(direction)")
      }
    }
    let walk = cursor.walk()
    await #expect(throws: PageError.self) { try await walk.next() }
    _ = try await walk.next()
    _ = try await walk.previous()
    #expect(
      log.values == [
        "start forward", "error", "finish forward", "start forward", "result [1]",
        "finish forward", "start backward", "result [0]", "finish backward",
      ])
  }

  // MARK: Retrying

  @Test("X-18: nothing is retried by itself; a policy has its attempts for each page")
  func retries() async throws {
    let source = ScriptedSource(sizes: 1, 1, 1)
    source.fail(2)
    await #expect(throws: PageError.self) { _ = try await Cursor(source).drained() }
    #expect(source.requests == [1, 2])
    source.fail(2, times: 2)
    source.fail(3, times: 2)
    let walk = Cursor(source).retrying(attempts: 3).walk()
    #expect(try await walk.drained() == [[0], [1], [2]])
    #expect(source.requests == [1, 2, 1, 2, 2, 2, 3, 3, 3])
    #expect(walk.report.traffic.retries == 4)
  }

  @Test("X-18, C-9: the report has what failed attempts have cost, whether the page came or not")
  func countsAttempts() async throws {
    var failure = PageError(.sourceFailed, "not now")
    failure.traffic = WalkReport.Traffic(bytes: 10, requests: 3, retries: 2)
    for times in [2, 9] {
      let source = ScriptedSource(sizes: 1)
      source.fail(1, times: times, with: failure)
      let walk = Cursor(source).retrying(attempts: 3).walk()
      let error = await pageError { _ = try await walk.next() }
      #expect(error?.attempts == (times == 2 ? nil : 3))
      let traffic = walk.report.traffic
      let counts = [traffic.bytes, traffic.requests, traffic.retries]
      #expect(counts == (times == 2 ? [20, 7, 6] : [30, 9, 8]))
    }
  }

  @Test("X-18: ends, cancellations and what can only fail again are not retried")
  func retriesOnlyFailures() async throws {
    let source = ScriptedSource(sizes: 1, 1)
    source.fail(2, with: PageError(.exhausted, "no more"))
    #expect(try await Cursor(source).retrying(attempts: 5).drained() == [[0]])
    #expect(source.requests == [1, 2])
    for error in [CancellationError() as any Error, PageError(.invalidArgument, "no")] {
      let source = ScriptedSource(sizes: 1)
      source.fail(1, times: 9, with: error)
      _ = try? await Cursor(source).retrying(attempts: 5).drained()
      #expect(source.requests == [1])
    }
    let none = await pageError { _ = try await Cursor(source).retrying(attempts: 0).drained() }
    #expect(none?.code == .invalidArgument)
  }

  @Test("X-18: the delay before each attempt is waited for by the cursor's clock")
  func retriesLater() async throws {
    let clock = ManualClock()
    let source = ScriptedSource(sizes: 1)
    source.fail(1, times: 2)
    let cursor = Cursor(source, clock: clock).retrying(attempts: 3) { .seconds($0) }
    let walk = Task { try await cursor.drained() }
    for attempt in 1...2 {
      try await clock.waitForSleepers()
      #expect(source.requests.count == attempt)
      clock.advance(by: .seconds(attempt))
    }
    #expect(try await walk.value == [[0]])
  }

  // MARK: Sources

  @Test("TI-40: listings in memory: none at all is exhausted at once")
  func arrays() async throws {
    #expect(try await Cursor<Int>(pages: []).drained() == [])
    let walk = Cursor(pages: [[1, 2], [], [3]]).walk()
    #expect(try await walk.drained() == [[1, 2], [], [3]])
    #expect(walk.report.end.name == "exhausted")
    #expect(try await ScriptedSource<Int>([]).page(at: nil) == nil)
  }

  @Test("TI-42: a single load is one request, and exhausted")
  func single() async throws {
    let calls = Recorder<Int>()
    let cursor = Cursor.single {
      calls.note(1)
      return [1, 2, 3]
    }
    let paginator = Paginator(cursor)
    #expect(try await paginator.items.collected() == [1, 2, 3])
    #expect(calls.count == 1)
    #expect(paginator.report.end.name == "exhausted")
  }

  @Test("TI-43, OU-01, K-06: page numbers are Quire's: from 1, or from where they begin, by 1")
  func numbers() async throws {
    for first in [0, 1, 5] {
      let calls = Recorder<Int>()
      let cursor = Cursor.numbered(from: first) { number in
        calls.note(number)
        return NumberedPage([number], isLast: calls.count == 3)
      }
      #expect(try await cursor.items.collected() == [first, first + 1, first + 2])
      #expect(calls.values == [first, first + 1, first + 2])
    }
    let standard = Cursor.numbered { NumberedPage([$0], isLast: true) }
    #expect(try await standard.drained() == [[1]])
  }

  @Test("TI-04: fewer than 1 page remaining is the end")
  func pagesRemaining() async throws {
    let cursor = Cursor.numbered { NumberedPage([$0], pagesRemaining: 3 - $0) }
    #expect(try await cursor.drained() == [[1], [2], [3]])
  }

  @Test("TI-05: a total of pages is exactly so many; 0 is an empty listing")
  func totalPages() async throws {
    for (total, first) in [(3, 1), (1, 1), (3, 0), (1, 0)] {
      let cursor = Cursor.numbered(from: first) { NumberedPage([$0], totalPages: total) }
      #expect(try await cursor.drained().count == total)
    }
    let empty = Cursor<Int>.numbered { _ in NumberedPage([], totalPages: 0) }
    #expect(try await empty.items.collected() == [])
  }

  @Test("TI-41: a total of items ends the listing when it is reached, wherever it has moved to")
  func counts() async throws {
    let offsets = Recorder<Int>()
    let sizes = [0: 2, 2: 2, 4: 1]
    let cursor = Cursor.counted { offset in
      offsets.note(offset)
      return (Array(offset..<offset + sizes[offset, default: 0]), 5)
    }
    #expect(try await cursor.items.collected() == [0, 1, 2, 3, 4])
    #expect(offsets.values == [0, 2, 4])
    let growing = Cursor.counted { offset in (items: [offset], total: offset < 3 ? offset + 2 : 4) }
    #expect(try await growing.items.collected() == [0, 1, 2, 3])
  }

  @Test("TI-41, X-08: a total that is never reached is an error, after what came")
  func underDelivers() async throws {
    let cursor = Cursor.counted { offset in (items: offset == 0 ? [1, 2] : [], total: 5) }
    var pages: [[Int]] = []
    let error = await pageError { for try await page in cursor { pages.append(page.items) } }
    #expect(pages == [[1, 2], []])
    #expect(error?.code == .noProgress)
    let nothing = Cursor<Int>.counted { _ in ([], 5) }
    #expect(await pageError { _ = try await nothing.drained() }?.code == .noProgress)
  }

  @Test("TI-39: whatever a listing is made of, its cursor has one type, and does the same")
  func erasure() async throws {
    for kind in Self.kinds() {
      #expect(try await kind.cursor.drained() == [[0], [1], [2]], "\(kind.name)")
    }
  }

  @Test("TI-39: a cancelled walk ends at once whatever it is made of, and goes on where it was")
  func erasedCancellation() async throws {
    for name in Self.kinds().map(\.name) {
      let gate = Gate()
      let reached = Gate()
      let kind = try #require(Self.kinds(gate, reached).first { $0.name == name })
      let walk = kind.cursor.walk()
      #expect(try await walk.next()?.items == [0], "\(name)")
      let cancelled = Task { try await walk.next() }
      try await reached.wait()
      cancelled.cancel()
      await #expect(throws: CancellationError.self, "\(name)") { try await cancelled.value }
      #expect(walk.report.end.name == "cancelled", "\(name)")
      gate.openUp()
      #expect(try await walk.drained() == [[1], [2]], "\(name)")
    }
  }

  @Test("TI-39: a walk reads pages before its start wherever its source says where they are")
  func erasedBackward() async throws {
    for kind in Self.kinds() {
      let start = try #require(
        try await kind.cursor.limited(to: Limits(pages: 2)).walk().lastPosition(), "\(kind.name)")
      let walk = kind.cursor.resuming(from: start).walk()
      #expect(try await walk.next()?.items == [2], "\(kind.name)")
      let before = [try await walk.previous()?.items, try await walk.previous()?.items]
      #expect(before == (kind.isBidirectional ? [[1], [0]] : [nil, nil]), "\(kind.name)")
      #expect(try await walk.previous() == nil, "\(kind.name)")
      #expect(try await walk.next() == nil, "\(kind.name)")
    }
  }

  private struct Kind {
    var name: String
    var isBidirectional = true
    var cursor: Cursor<Int>
  }

  /// Every way to make a cursor of a listing of three pages; the second page waits at the gate.
  private static func kinds(_ gate: Gate? = nil, _ reached: Gate = Gate()) -> [Kind] {
    let hold: @Sendable (Int) async throws -> Void = { number in
      guard number == 1, let gate else { return }
      reached.openUp()
      try await gate.wait()
    }
    let source = HeldSource(pages: [[0], [1], [2]], hold: hold)
    let erased: any PageSource<Int> = source
    return [
      Kind(name: "a source", cursor: Cursor(source)),
      Kind(name: "an erased source", cursor: Cursor(erased)),
      Kind(
        name: "pages",
        cursor: Cursor(pages: [[0], [1], [2]]).map { number async throws in
          try await hold(number)
          return number
        }),
      Kind(
        name: "numbers",
        cursor: Cursor.numbered(from: 0) { number in
          try await hold(number)
          return NumberedPage([number], totalPages: 3)
        }),
      Kind(
        name: "counts", isBidirectional: false,
        cursor: Cursor.counted { offset in
          try await hold(offset)
          return (items: [offset], total: 3)
        }),
      Kind(
        name: "a closure", cursor: Cursor { try await source.page(at: $0) }),
      Kind(
        name: "transforms",
        cursor: Cursor(source).map { $0 }.filter { _ in true }.observed { _ in }
          .retrying(attempts: 2).cached()),
    ]
  }

  @Test("TI-02, C-12: what comes with a page stays with it, whatever becomes of its items")
  func metadata() async throws {
    struct DefaultBank: Sendable { var name: String }
    var page = Page([1, 2, 3])
    page.metadata[DefaultBank.self] = DefaultBank(name: "X")
    let source = ScriptedSource([page])
    let filtered = try await Cursor(source).filter { $0 > 1 }.walk().next()
    #expect(filtered?.items == [2, 3])
    #expect(filtered?.metadata[DefaultBank.self]?.name == "X")
    #expect(page.withItems(["a"]).metadata[DefaultBank.self]?.name == "X")
    var pages = Paginator(Cursor(source)).makeAsyncIterator()
    #expect(try await pages.next()?.metadata[DefaultBank.self]?.name == "X")
  }

  @Test("TI-44: two loads at once are done one after the other: pages 0 and 1, and then 2")
  func serialises() async throws {
    let calls = Recorder<Int>()
    let (gate, reached) = (Gate(), Gate())
    let cursor = Cursor.numbered(from: 0) { number in
      calls.note(number)
      reached.openUp()
      try await gate.wait()
      return NumberedPage([number], isLast: number == 9)
    }
    // A walk in hand and a paginator alike.
    let walk = cursor.walk()
    let both = (0..<2).map { _ in Task { try await walk.next()?.items } }
    try await reached.wait()
    #expect(calls.values == [0])
    gate.openUp()
    var seen: [[Int]] = []
    for task in both { seen.append(try await task.value ?? []) }
    #expect(seen.sorted { $0[0] < $1[0] } == [[0], [1]])
    #expect(calls.values == [0, 1])
    #expect(try await walk.next()?.items == [2])

    let paginator = Paginator(cursor, threshold: .onDemand)
    let loops = (0..<2).map { _ in
      Task {
        var items = paginator.items.makeAsyncIterator()
        return try await items.next()
      }
    }
    var items: [Int?] = []
    for task in loops { items.append(try await task.value) }
    #expect(items.compactMap { $0 }.sorted() == [0, 1])
    #expect(calls.values == [0, 1, 2, 0, 1])
    var pages = paginator.makeAsyncIterator()
    #expect(try await pages.next()?.items == [2])
  }
}

/// A listing of pages that are held back as a test says.
private struct HeldSource: PageSource {
  let pages: [[Int]]
  let hold: @Sendable (Int) async throws -> Void

  func page(at position: Position?) async throws -> Page<Int>? {
    let number = position?.value?.integer ?? 0
    try await hold(number)
    return Page(
      pages[number],
      next: number + 1 < pages.count ? Position(integerLiteral: number + 1) : nil,
      previous: number > 0 ? Position(integerLiteral: number - 1) : nil)
  }
}

extension Walk {
  /// Where the page behind the last one delivered starts.
  fileprivate func lastPosition() async throws -> Position? {
    while try await next() != nil {}
    return report.checkpoint
  }
}
