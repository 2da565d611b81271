import QuireTesting
import Synchronization
import TestSupport
import Testing

@testable import QuireCore

/// Pages of four items that arrive in halves, at positions that are known in advance.
private final class HalvesReader: PageReader {
  let reads = Mutex<[Position]>([])
  let leaves = Atomic(0)

  func read(at position: Position) async throws -> Page<Int>? {
    reads.withLock { $0.append(position) }
    let (number, offset) = (position.value?.integer ?? 0, position.itemOffset)
    var page = Page([4 * number + offset, 4 * number + offset + 1])
    page.position = position
    page.hasMoreParts = offset == 0
    let behind = number < 2 ? Position(integerLiteral: number + 1) : nil
    page.next = page.hasMoreParts ? position.at(itemOffset: 2) : behind
    return page
  }

  func positions(after position: Position, total: Total?, pages: ClosedRange<Int>) -> [Position] {
    pages.map { Position(integerLiteral: (position.value?.integer ?? 0) + $0) }
  }

  func leave() { leaves.add(1, ordering: .relaxed) }
  func close(at position: Position?) async {}
  var needsClosing: Bool { false }
  var repeatedPositions: Position.Repetition { .refused }
  var allowsLookAhead: Bool { true }
  var deliversParts: Bool { true }
}

@Suite(.timeLimit(.minutes(15))) struct ParallelTests {
  @Test("P-9, C-1: of pages that arrive in parts none is asked for that is dropped again")
  func parts() async throws {
    let reader = HalvesReader()
    let cursor = Cursor<Int>(clock: ManualClock()) { _ in reader }
    #expect(try await cursor.parallel(4).collect() == Array(0..<12))
    #expect(reader.reads.withLock { $0.count } == 6)
  }

  @Test("P-9: a window of no pages, and one without bounds, is refused before anything is read")
  func impossibleWindow() async throws {
    let reads = Atomic(0)
    let cursor = Cursor<Int>.numbered(clock: ManualClock()) { number in
      reads.add(1, ordering: .relaxed)
      return NumberedPage(number <= 3 ? [number] : [], isLast: number >= 3)
    }
    for window in [.min, 0, 1025, .max] {
      let error = await #expect(throws: PageError.self) {
        try await cursor.parallel(window).collect()
      }
      #expect(error?.code == .invalidArgument)
    }
    #expect(reads.load(ordering: .relaxed) == 0)
    #expect(try await cursor.parallel(1024).collect() == [1, 2, 3])
  }

  @Test("P-9, 15-Limits: each parallel walk resumed under a limit on requests gets further")
  func limitedRequests() async throws {
    let first = Mutex(1)
    let cursor = Cursor<Int>.numbered(clock: ManualClock()) { number in
      // Guesses would be faster.
      if number == first.withLock({ $0 }) { for _ in 0..<1_000 { await Task.yield() } }
      try WalkReading.requested()
      return NumberedPage([number], isLast: number == 9)
    }.parallel(4).limited(to: Limits(requests: 1))
    var items: [Int] = []
    var position: Position? = .start
    for _ in 0..<20 {
      guard let start = position else { break }
      first.withLock { $0 = start.value?.integer ?? 1 }
      let walk = cursor.resuming(from: start).walk()
      do {
        for try await page in walk { items += page.items }
      } catch PageError.Code.limitExceeded {}
      position = walk.report.checkpoint
    }
    #expect(items == Array(1...9) && position == nil)
  }

  @Test("P-9, 15-Limits: a child's pages are read at once where the walk has delivered one before")
  func limitedNested() async throws {
    let source = ScriptedSource(sizes: 1, 1, 1)
    for page in 1...3 { source.hold(page) }
    let parallel = listing(source, pages: 3).parallel(3)
    let walk = Cursor(ScriptedSource(sizes: 2)).flatMap {
      $0 == 0 ? Cursor(pages: [[10]]) : parallel
    }.limited(to: Limits(requests: 100)).walk()
    #expect(try await walk.next()?.items == [10])
    let rest = Task { try await walk.items.collected() }
    try await source.wait { $0.running == 3 }
    for page in 1...3 { source.release(page) }
    #expect(try await rest.value == [0, 1, 2])
  }

  @Test("P-9, 17-Failure, C-7: leaving a walk lets go of pages of which more is arriving")
  func leavesParts() async throws {
    for isMerged in [true, false] {
      let reader = HalvesReader()
      let cursor = Cursor<Int>(clock: ManualClock()) { _ in reader }
      let walk =
        (isMerged ? Cursor.merged([cursor], by: { $0 }, clock: ManualClock()) : cursor.parallel(4))
        .walk()
      for try await page in walk {
        #expect(page.items.first == 0)
        break
      }
      while reader.leaves.load(ordering: .relaxed) == 0 { await Task.yield() }
      // The walk goes on all the same.
      #expect(try await walk.collect().last == 11)
    }
  }

  /// Pages of one item each by number, which take as long as a clock says.
  private func listing(
    _ source: ScriptedSource<Int>, pages: Int, limits: Limits = Limits(),
    clock: ManualClock? = nil
  ) -> Cursor<Int> {
    // Without a clock no time passes, lest the machine's pace changes the window.
    Cursor.numbered(limits: limits, clock: clock ?? ManualClock()) { number in
      try await clock?.sleep(for: .milliseconds(50))
      let page = try await source.page(at: Position(integerLiteral: number))
      return page.map { NumberedPage($0.items, isLast: number >= pages) }
    }
  }

  @Test("P-9: 100 pages of 50 ms with a window of 8 take 13 rounds: over 7 times less, in order")
  func speed() async throws {
    let clock = ManualClock()
    let source = ScriptedSource(sizes: Array(repeating: 1, count: 100))
    let cursor = listing(source, pages: 100, clock: clock).parallel(8)
    let walk = Task { try await cursor.items.collected() }
    for round in 0..<13 {
      let running = round < 12 ? 8 : 4
      try await clock.waitForSleepers(running)
      #expect(clock.sleepers >= running)
      clock.advance(by: .milliseconds(50))
    }
    #expect(try await walk.value == Array(0..<100))
    #expect(clock.now.offset == .milliseconds(650))
    // What was asked for beyond the end does not matter.
    #expect(source.requests.sorted().prefix(100) == Array(1...100)[...])
  }

  @Test("P-9, C-1: nothing is read before it is asked for, and then a window's worth, in order")
  func isLazy() async throws {
    let source = ScriptedSource(sizes: Array(repeating: 1, count: 20))
    for page in 1...20 { source.hold(page) }
    let cursor = listing(source, pages: 20).parallel(4)
    #expect(source.requests == [])
    let walk = Task { try await cursor.drained() }
    try await source.wait { $0.running == 4 }
    // The last of the window comes first; nothing more is read before the first came.
    source.release(4)
    try await source.wait { $0.running == 3 }
    #expect(source.requests.sorted() == [1, 2, 3, 4])
    source.release(1)
    try await source.wait { $0.requests.count == 5 }
    for page in 1...20 { source.release(page) }
    #expect(try await walk.value == (0..<20).map { [$0] })
    #expect(source.log.maxConcurrent <= 4)
  }

  @Test("P-9: errors behind the end are no errors, whether the end was known or not")
  func errorsBehindTheEnd() async throws {
    let source = ScriptedSource(sizes: 1, 1, 1)
    for page in 4...12 { source.fail(page, times: 9) }
    let cursor = listing(source, pages: 3).parallel(8)
    #expect(try await cursor.drained() == [[0], [1], [2]])
    let nowhere = Cursor.numbered { number in
      if number > 3 { throw PageError(.exhausted, "no such page") }
      return NumberedPage([number], isLast: false)
    }
    #expect(try await nowhere.parallel(8).drained() == [[1], [2], [3]])
  }

  @Test("P-9: of pages beyond all measure a window's worth is read ahead, too")
  func hugeTotal() async throws {
    let cursor = Cursor<Int>.numbered(clock: ManualClock()) { number in
      NumberedPage([number], totalPages: .max)
    }
    let limited = cursor.parallel(3).limited(to: Limits(pages: 5))
    #expect(try await limited.drained() == [[1], [2], [3], [4], [5]])
  }

  @Test("P-9: a page that fails fails in its turn, after all before it, and is tried again")
  func errorsInTurn() async throws {
    let source = ScriptedSource(sizes: Array(repeating: 1, count: 10))
    source.fail(5)
    let walk = listing(source, pages: 10).parallel(4).walk()
    var seen: [Int] = []
    let error = await pageError { for try await item in walk.items { seen.append(item) } }
    #expect(seen == [0, 1, 2, 3])
    #expect(error?.checkpoint == 5)
    #expect(try await walk.items.collected() == Array(4..<10))
    #expect(source.requests.filter { $0 == 5 }.count == 2)
  }

  @Test("P-9: a page throttled while it ran ahead halves the window, and is asked for in its turn")
  func throttling() async throws {
    let source = ScriptedSource(sizes: Array(repeating: 1, count: 40))
    source.fail(3, with: PageError(.throttled, "slow down"))
    let cursor = listing(source, pages: 40).parallel(8)
    #expect(try await cursor.items.collected() == Array(0..<40))
    #expect(source.requests.filter { $0 == 3 }.count == 2)
    source.fail(3, times: 2, with: PageError(.throttled, "slow down"))
    #expect(await pageError { _ = try await cursor.drained() }?.code == .throttled)
  }

  @Test("P-9: what a throttled guess took is in the report, whether its page comes then or not")
  func throttledTraffic() async throws {
    var error = PageError(.throttled, "slow down")
    error.traffic.requests = 2
    // Beside the requests of 40 pages, or of the two before the throttled one.
    for (times, requests) in [(1, 42), (2, 6)] {
      let source = ScriptedSource(sizes: Array(repeating: 1, count: 40))
      source.fail(3, times: times, with: error)
      let walk = listing(source, pages: 40).parallel(8).walk()
      _ = await pageError { _ = try await walk.items.collected() }
      #expect(walk.report.traffic.requests == requests)
    }
  }

  @Test("P-9: one 429 halves what runs at once, by the clock, and the pages stay in order")
  func halves() async throws {
    let clock = ManualClock()
    let source = ScriptedSource(sizes: Array(repeating: 1, count: 40))
    source.fail(1, with: PageError(.throttled, "429 Too Many Requests"))
    let walk = listing(source, pages: 40, clock: clock).parallel(8).walk()
    let first = Task { try await walk.next()?.items }
    try await clock.waitForSleepers(8)
    #expect(clock.sleepers == 8)
    clock.advance(by: .milliseconds(50))
    #expect(await pageError { _ = try await first.value }?.code == .throttled)
    let rest = Task { try await walk.items.collected() }
    // Four at once, and five after the first four went well.
    for running in [4, 5] {
      try await clock.waitForSleepers(running)
      #expect(clock.sleepers == running)
      clock.advance(by: .milliseconds(50))
    }
    // From here on it only grows.
    let time = Task {
      while true {
        try await clock.waitForSleepers(1)
        clock.advance(by: .milliseconds(50))
      }
    }
    defer { time.cancel() }
    #expect(try await rest.value == Array(0..<40))
    #expect(source.requests.filter { $0 == 1 }.count == 2)
  }

  @Test("P-9: the window halves once for all that ran, and grows by one with each full window")
  func window() {
    var window = ParallelWindow(limit: 8)
    let numbers = (0..<8).map { _ in window.launch() }
    for number in numbers { window.throttled(number) }
    #expect(window.width == 4)
    let later = window.launch()
    window.throttled(later)
    #expect(window.width == 2)
    window.throttled(window.launch())
    window.throttled(window.launch())
    #expect(window.width == 1)
    for width in [1, 2, 3, 4, 5, 6, 7] {
      #expect(window.width == width)
      for _ in 0..<width { window.succeeded(.max, after: .zero) }
    }
    #expect(window.width == 8)
    for _ in 0..<100 { window.succeeded(.max, after: .zero) }
    #expect(window.width == 8)
  }

  @Test("P-9, X-04: no more runs ahead than the window, nor more than the pages the caller wants")
  func bounded() async throws {
    let source = ScriptedSource(sizes: Array(repeating: 1, count: 100))
    let cursor = listing(source, pages: 100, limits: Limits(pages: 3)).parallel(8)
    #expect(try await cursor.drained().count == 3)
    #expect(source.requests.sorted() == [1, 2, 3])
    let three = listing(source, pages: 100).parallel(3)
    #expect(try await three.items.collected().count == 100)
    #expect(source.log.maxConcurrent <= 3)
  }

  @Test("P-9, C-7: cancelling the consumer and leaving the loop cancel all that runs ahead")
  func cancels() async throws {
    let source = ScriptedSource(sizes: Array(repeating: 1, count: 20))
    for page in 2...20 { source.hold(page) }
    let cursor = listing(source, pages: 20).parallel(4)
    let walk = Task { try await cursor.drained() }
    try await source.wait { $0.running == 4 }
    walk.cancel()
    await #expect(throws: CancellationError.self) { try await walk.value }
    try await source.wait { $0.running == 0 }
    for try await _ in cursor { break }
    try await source.wait { $0.running == 0 }
    for try await _ in Paginator(cursor) { break }
    try await source.wait { $0.running == 0 }
  }

  @Test("P-9: a total of pages that no number holds bounds nothing")
  func endlessTotal() async throws {
    let cursor = Cursor.numbered(from: 5) { number in
      number > 9 ? nil : NumberedPage([number], totalPages: .max)
    }
    #expect(try await cursor.parallel(3).items.collected() == [5, 6, 7, 8, 9])
  }

  @Test("P-9: pages that lead elsewhere than was guessed are followed")
  func wrongGuesses() async throws {
    struct Odd: PageSource {
      func page(at position: Position?) async throws -> Page<Int>? {
        let number = position?.value?.integer ?? 1
        return Page([number], next: number < 9 ? Position(integerLiteral: number + 2) : nil)
      }
      func positions(after position: Position?, total: Total?, count: Int) -> [Position] {
        let number = position?.value?.integer ?? 1
        return (1...count).map { Position(integerLiteral: number + $0) }
      }
    }
    #expect(try await Cursor(Odd()).parallel(4).items.collected() == [1, 3, 5, 7, 9])
  }

  @Test("P-9: a source that cannot tell positions is read page by page; transforms go with it")
  func fallsBack() async throws {
    let source = ScriptedSource(sizes: 2, 2, 2)
    #expect(try await Cursor(source).parallel(8).drained().count == 3)
    #expect(source.log.maxConcurrent == 1)
    let arrays = Cursor(pages: [[1, 2, 3], [4, 5], [6]])
    #expect(
      try await arrays.map { $0 * 2 }.parallel(3).paged(by: 4).drained() == [
        [2, 4, 6, 8], [10, 12],
      ])
    for window in [0, -1] {
      let error = await pageError { _ = try await arrays.parallel(window).drained() }
      #expect(error?.code == .invalidArgument)
    }
  }
}
