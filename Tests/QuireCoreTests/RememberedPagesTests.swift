import QuireLists
import QuireTesting
import TestSupport
import Testing

@testable import QuireCore

@Suite("What walks remember and share", .timeLimit(.minutes(15)))
struct RememberedPagesTests {
  // MARK: Cached

  @Test("12-L17, TI-37: twenty walks at once over four pages read each page once")
  func readsOnce() async throws {
    let source = ScriptedSource(sizes: 2, 2, 2, 2)
    source.hold(1)
    let cursor = Cursor(source).cached(in: PageCache())
    let walks = (0..<20).map { _ in Task { try await cursor.drained() } }
    try await source.wait { $0.requests == [1] }
    source.release(1)
    for walk in walks { #expect(try await walk.value == [[0, 1], [2, 3], [4, 5], [6, 7]]) }
    #expect(source.requests == [1, 2, 3, 4])
  }

  @Test(
    "12-L17, C-7: when the walk that reads is cancelled another one reads, and no other is cancelled"
  )
  func handsOver() async throws {
    let source = ScriptedSource(sizes: 1)
    source.hold(1)
    let cursor = Cursor(source).cached(in: PageCache())
    let first = Task { try await cursor.drained() }
    try await source.wait { $0.requests == [1] }
    let others = (0..<3).map { _ in Task { try await cursor.drained() } }
    let gone = Task { try await cursor.drained() }
    await Task.yield()
    gone.cancel()
    await #expect(throws: CancellationError.self) { try await gone.value }
    #expect(source.log.cancelled == [])
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    source.release(1)
    for walk in others { #expect(try await walk.value == [[0]]) }
    #expect(source.requests.count <= 2)
  }

  @Test("12-L17: walks that wait for a page share its error, and a later one reads again")
  func sharesErrors() async throws {
    let source = ScriptedSource(sizes: 1)
    source.hold(1)
    source.fail(1)
    let cache = PageCache<Int>()
    let cursor = Cursor(source).cached(in: cache)
    let walks = (0..<3).map { _ in Task { try await cursor.drained() } }
    try await source.wait { $0.requests == [1] }
    source.release(1)
    for walk in walks { _ = await walk.result }
    #expect(try await cursor.drained() == [[0]])
    #expect(cache.count == 1)
  }

  @Test("12-L17, C-9: a limit of the walk that reads a page is not shown to those that wait for it")
  func keepsLimitsApart() async throws {
    let (gate, reached) = (Gate(), Gate())
    let cache = PageCache<Int>()
    let cursor = Cursor<Int> { _ in
      reached.openUp()
      try await gate.wait()
      try WalkReading.requested()
      try WalkReading.requested()
      return Page([7])
    }.cached(in: cache)
    let limited = cursor.limited(to: Limits(requests: 1))
    let first = Task { try await limited.drained() }
    try await reached.wait()
    let key = PageCache<Int>.Key(position: .start, direction: .forward)
    guard case .wait(let waiting) = cache.lookUp(key) else {
      Issue.record("The page is not being read.")
      return
    }
    gate.openUp()
    guard case .abandoned = try await waiting.value() else {
      Issue.record("Another walk is told of the limit.")
      return
    }
    await #expect(throws: PageError.self) { try await first.value }
    #expect(try await cursor.drained() == [[7]])
  }

  @Test("12-L17: a page that is too large for all walks is read once for those that wait for it")
  func sharesLimitsOfPages() async throws {
    let (gate, reached) = (Gate(), Gate())
    let cache = PageCache<Int>()
    let cursor = Cursor<Int> { _ in
      reached.openUp()
      try await gate.wait()
      var failure = PageError(.limitExceeded, "The page is too large.")
      failure.traffic.requests = 1
      throw failure
    }.cached(in: cache)
    let first = Task { try await cursor.drained() }
    try await reached.wait()
    let key = PageCache<Int>.Key(position: .start, direction: .forward)
    guard case .wait(let waiting) = cache.lookUp(key) else {
      Issue.record("The page is not being read.")
      return
    }
    gate.openUp()
    guard case .failed(let error) = try await waiting.value() else {
      Issue.record("Another walk reads the page again.")
      return
    }
    #expect((error as? PageError)?.traffic.requests == 0)
    #expect(await pageError { _ = try await first.value }?.traffic.requests == 1)
  }

  @Test("12-L17: a page that was being read while the cache was cleared is not kept")
  func clears() async throws {
    let source = ScriptedSource(sizes: 1)
    source.hold(1)
    let cache = PageCache<Int>()
    let cursor = Cursor(source).cached(in: cache)
    let walk = Task { try await cursor.drained() }
    try await source.wait { $0.requests == [1] }
    cache.clear()
    source.release(1)
    #expect(try await walk.value == [[0]])
    #expect(cache.count == 0)
  }

  // MARK: Deduplicated

  @Test("12-L17: a walk that resumes without the keys of the items before says so in its report")
  func warns() async throws {
    let source = ScriptedSource(items: [[1, 2], [2, 3], [3, 4]])
    let cursor = Cursor(source).deduplicated { $0 }
    let whole = cursor.walk()
    #expect(try await whole.drained() == [[1, 2], [3], [4]])
    #expect(whole.report.warnings == [])
    for start in [Position(integerLiteral: 2), Position(nil, itemOffset: 1)] {
      for resumed in [
        cursor.resuming(from: start), cursor.resuming(from: start).paged(by: 3),
        cursor.resuming(from: start).map { $0 },
      ] {
        let walk = resumed.walk()
        _ = try await walk.drained()
        #expect(walk.report.warnings.map(\.code) == [.forgottenKeys])
        #expect(walk.report.warnings.first?.remedy?.setting == .knownKeys)
      }
    }
  }

  @Test("12-L17, X-14: a walk that is given the keys of the items before drops what comes again")
  func remembers() async throws {
    let source = ScriptedSource(items: [[1, 2], [2, 3], [3, 4]])
    let walk = Cursor(source).resuming(from: 2).deduplicated(known: [1, 2]) { $0 }.walk()
    #expect(try await walk.drained() == [[3], [4]])
    #expect(walk.report.warnings == [])
    #expect(walk.report.duplicatesDropped == 2)
    let fresh = Cursor(source).resuming(from: 2).deduplicated(known: []) { $0 }.walk()
    #expect(try await fresh.drained() == [[2, 3], [4]])
    #expect(fresh.report.warnings == [])
  }
}
