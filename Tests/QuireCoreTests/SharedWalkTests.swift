@testable import QuireCore
import QuireLists
import QuireTesting
import Synchronization
import TestSupport
import Testing

@Suite("Walks that tasks share", .timeLimit(.minutes(15)))
struct SharedWalkTests {
  @Test(
    "C-9: a generic loop over items leaves off within a page, as one over a walk's own items does")
  func genericItems() async throws {
    func first(_ count: Int, of pages: some PageSequence<Int>) async throws -> [Int] {
      var items: [Int] = []
      for try await item in pages.items {
        items.append(item)
        if items.count == count { break }
      }
      return items
    }
    let walk = Cursor(ScriptedSource(items: [[1, 2, 3], [4, 5, 6]])).walk()
    let paginator = Paginator(Cursor(ScriptedSource(items: [[1, 2, 3], [4, 5, 6]])))
    #expect(try await first(2, of: walk) == [1, 2])
    #expect(walk.report.items == 2 && walk.report.checkpoint?.itemOffset == 2)
    #expect(try await first(2, of: paginator) == [1, 2])
    #expect(try await first(2, of: walk) == [3, 4])
    #expect(try await first(2, of: paginator) == [3, 4])
    #expect(try await first(2, of: Cursor(ScriptedSource(items: [[1, 2, 3]]))) == [1, 2])
  }

  @Test(
    "C6, TI-44: a task that waits for its turn and is cancelled leaves at once, and moves nothing")
  func cancelsWaiting() async throws {
    let source = ScriptedSource(sizes: 1, 1, 1)
    source.hold(1)
    let walk = Cursor(source).walk()
    let first = Task { try await walk.next()?.items }
    try await source.wait { $0.requests == [1] }
    let second = Task { try await walk.next()?.items }
    second.cancel()
    await #expect(throws: CancellationError.self) { try await second.value }
    #expect(source.log.cancelled == [])
    #expect(walk.report.end.name == "running")
    source.release(1)
    #expect(try await first.value == [0])
    #expect(try await walk.next()?.items == [1])
    #expect(source.requests == [1, 2])
  }

  @Test("C-8: a report counts no item of a page that its loop over items does not have yet")
  func reportsWhileReading() async throws {
    for _ in 0..<50 {
      let walk = Cursor(ScriptedSource(sizes: Array(repeating: 10, count: 20))).walk()
      let taken = Mutex(0)
      let isOver = Mutex(false)
      let reader = Task.detached {
        while !isOver.withLock({ $0 }) {
          let count = walk.report.items
          // The loop takes note of an item right before it is counted here.
          #expect(count <= taken.withLock { $0 } + 1)
        }
      }
      for try await _ in walk.items { taken.withLock { $0 += 1 } }
      isOver.withLock { $0 = true }
      await reader.value
    }
  }

  @Test("C6, C-7, TI-44: leaving a loop ends no read of another task, and closes nothing under it")
  func leavesToOthers() async throws {
    let child = ScriptedSource(items: [[1], [2], [3]], needsClosing: true)
    child.hold(2)
    let walk = Cursor(ScriptedSource(sizes: 1)).flatMap { _ in Cursor(child) }.walk()
    var other: Task<[Int]?, any Error>?
    for try await page in walk {
      #expect(page.items == [1])
      other = Task { try await walk.next()?.items }
      try await child.wait { $0.requests == [1, 2] }
      break
    }
    child.release(2)
    #expect(try await other?.value == [2])
    #expect(child.log.closes.isEmpty)
    #expect(try await walk.next()?.items == [3])
  }

  // On one actor, which the loop leaves before the other task has its turn.
  @Test("C6, C-7, TI-44: leaving a loop ends nothing for a task that waits for its turn")
  @MainActor func leavesToWaiting() async throws {
    let source = ScriptedSource(sizes: 1, 1, needsClosing: true)
    source.hold(1)
    let walk = Cursor(source).walk()
    let loop = Task<[Int], any Error> {
      for try await page in walk { return page.items }
      return []
    }
    try await source.wait { $0.requests == [1] }
    let asks = Gate()
    let other = Task<[Int]?, any Error> {
      asks.openUp()
      return try await walk.next(isolation: #isolation)?.items
    }
    try await asks.wait()
    source.release(1)
    #expect(try await loop.value == [0])
    #expect(try await other.value == [1])
    #expect(try await walk.next() == nil)
    // At its end, and not before.
    #expect(source.log.closes == [nil])
  }

  @Test("C6, C-7, TI-44: a cancelled task that waits leaves the walk that a loop left to it")
  @MainActor func leavesFromWaiting() async throws {
    let source = ScriptedSource(sizes: 1, 1, needsClosing: true)
    source.hold(1)
    let walk = Cursor(source).walk()
    let loop = Task<Void, any Error> { for try await _ in walk { return } }
    try await source.wait { $0.requests == [1] }
    let asks = Gate()
    let other = Task {
      asks.openUp()
      return try await walk.next(isolation: #isolation)?.items
    }
    try await asks.wait()
    other.cancel()
    source.release(1)
    try await loop.value
    await #expect(throws: CancellationError.self) { try await other.value }
    try await source.wait { $0.closes.count == 1 }
    if case .stoppedByConsumer = walk.report.end { return }
    Issue.record("It ended as \(walk.report.end).")
  }

  @Test("C6, C-7, TI-44: cancelling the task that reads leaves the page to the one that waits")
  func cancelsReading() async throws {
    let source = ScriptedSource(sizes: 1, 1)
    source.hold(1)
    let walk = Cursor(source).walk()
    let first = Task { try await walk.next()?.items }
    try await source.wait { $0.requests == [1] }
    let second = Task { try await walk.next()?.items }
    await Task.yield()
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    source.release(1)
    #expect(try await second.value == [0])
    #expect(source.requests == [1, 1])
  }

  @Test("C6, C-6, TI-44: after an error the next in turn asks for the page that failed")
  func goesOnAfterError() async throws {
    let source = ScriptedSource(sizes: 1, 1)
    source.hold(1)
    source.fail(1)
    let walk = Cursor(source).walk()
    let first = Task { try await walk.next()?.items }
    try await source.wait { $0.requests == [1] }
    let second = Task { try await walk.next()?.items }
    source.release(1)
    await #expect(throws: PageError.self) { try await first.value }
    #expect(try await second.value == [0])
  }

  @Test("C6, TI-44: fifty tasks that drain one walk get each item once, whoever is cancelled")
  func drainsTogether() async throws {
    var random = SeededGenerator(seed: 1244)
    for round in 0..<20 {
      let source = ScriptedSource(sizes: Array(repeating: 3, count: 60))
      let walk = Cursor(source).walk()
      let items = Recorder<Int>()
      let tasks = (0..<50).map { _ in
        Task {
          while let page = try await walk.next() { for item in page.items { items.note(item) } }
        }
      }
      for _ in 0..<5 { tasks[Int.random(in: 0..<50, using: &random)].cancel() }
      for task in tasks { _ = await task.result }
      for try await page in walk { for item in page.items { items.note(item) } }
      #expect(items.values.sorted() == Array(0..<180), "seed 1244, round \(round)")
      #expect(source.log.maxConcurrent == 1)
    }
  }

  @Test(
    "C17, TI-44: a walk asked from inside of its own reading says so, and does not wait for ever")
  func nested() async throws {
    final class Box: Sendable { let walk = Mutex<Walk<Int>?>(nil) }
    let box = Box()
    let cursor = Cursor<Int> { _ in
      _ = try await box.walk.withLock { $0 }?.next()
      return Page([1])
    }
    let walk = cursor.walk()
    box.walk.withLock { $0 = walk }
    let error = await pageError { _ = try await walk.next() }
    #expect(error?.code == .concurrentIteration)
    box.walk.withLock { $0 = nil }
    #expect(try await walk.next()?.items == [1])
  }
}
