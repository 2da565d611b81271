import Foundation
import QuireCore
import QuireLists
import QuireTesting
import TestSupport
import Testing

/// Whether this is the thread the process began with.
private func isOnMainThread() -> Bool { Thread.isMainThread }

@Suite(.timeLimit(.minutes(15))) struct CancellationTests {
  @Test("C-7, X-02, C1: cancelling the task aborts the transfer and throws; nothing moved")
  func cancelsTransfer() async throws {
    let source = ScriptedSource(sizes: 1, 1)
    source.hold(2)
    let walk = Cursor(source).walk()
    let task = Task { try await walk.drained() }
    try await source.wait { $0.requests == [1, 2] }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(source.log.cancelled == [2])
    #expect(source.log.running == 0)
    #expect(walk.report.end.name == "cancelled")
    #expect(walk.report.checkpoint == 2)
    source.release(2)
    #expect(try await walk.drained() == [[1]])
    #expect(source.requests == [1, 2, 2])
  }

  @Test("C-7, C1: a task that is cancelled before it asks requests nothing")
  func cancelsBeforeStart() async throws {
    let source = ScriptedSource(sizes: 1)
    let gate = Gate()
    let task = Task {
      try? await gate.wait()
      return try await Cursor(source).drained()
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(source.requests == [])
  }

  @Test("C-7: a source that words its abortion differently still ends in CancellationError")
  func unifiesCancellation() async throws {
    let gate = Gate()
    let started = Gate()
    let cursor = Cursor<Int> { _ in
      started.openUp()
      do { try await gate.wait() } catch { throw ScriptedFailure("aborted") }
      return nil
    }
    let task = Task { try await cursor.drained() }
    try await started.wait()
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }

  @Test("C-7: a walk that is over stays over for a cancelled task")
  func cancelAfterEnd() async throws {
    let walk = Cursor(ScriptedSource(sizes: 1)).walk()
    _ = try await walk.drained()
    let gate = Gate()
    let task = Task {
      try? await gate.wait()
      return try await walk.drained()
    }
    task.cancel()
    #expect(try await task.value == [])
  }

  @Test("C6, TI-44: two tasks on one walk wait for one another, and share its pages")
  func sharesWalk() async throws {
    let source = ScriptedSource(sizes: 1, 1, 1, needsClosing: true)
    source.hold(1)
    let walk = Cursor(source).walk()
    let first = Task { try await walk.next() }
    try await source.wait { $0.requests == [1] }
    let second = Task { try await walk.next() }
    await Task.yield()
    #expect(walk.report.end.name == "running")
    source.release(1)
    #expect(try await first.value?.items == [0])
    #expect(try await second.value?.items == [1])
    #expect(try await walk.next()?.items == [2])
    #expect(source.requests == [1, 2, 3])
    #expect(source.log.maxConcurrent == 1)
    #expect(source.log.closes == [])
  }

  @Test(
    "C-7, C4, C10: break and throw end the walk, close the source once, and leave nothing running")
  func leavingCloses() async throws {
    let source = ScriptedSource(sizes: 1, 1, 1, needsClosing: true)
    for try await _ in Cursor(source) { break }
    try await source.wait { $0.closes == [2] }
    do {
      for try await _ in Cursor(source).items { throw ScriptedFailure() }
    } catch is ScriptedFailure {}
    try await source.wait { $0.closes == [2, 2] }
    #expect(source.requests == [1, 1])
    #expect(source.log.running == 0)
  }

  @Test("C-7: a walk closes its source at its end before the last next() returns, and only once")
  func closesAtEnd() async throws {
    let source = ScriptedSource(sizes: 1, 1, needsClosing: true)
    let walk = Cursor(source).walk()
    _ = try await walk.drained()
    #expect(source.log.closes == [nil])
    await walk.close()
    _ = try await walk.drained()
    #expect(source.log.closes == [nil])
    let paged = ScriptedSource(sizes: 1, 1, needsClosing: true)
    _ = try await Cursor(paged).map { $0 }.paged(by: 5).drained()
    #expect(paged.log.closes == [nil])
  }

  @Test(
    "C-7: after an error the source stays open for a retry, and is closed when the loop is left")
  func closesAfterError() async throws {
    let source = ScriptedSource(sizes: 1, 1, needsClosing: true)
    source.fail(2)
    var iterator: Cursor<Int>.Iterator? = Cursor(source).makeAsyncIterator()
    _ = try await iterator?.next()
    await #expect(throws: PageError.self) { try await iterator?.next() }
    #expect(source.log.closes == [])
    iterator = nil
    try await source.wait { $0.closes == [2] }
  }

  @Test("C-7: a walk that fetched nothing closes nothing")
  func closesNothingUnfetched() async throws {
    let source = ScriptedSource(sizes: 1, needsClosing: true)
    let walk = Cursor(source).walk()
    await walk.close()
    #expect(source.log.closes == [])
  }

  @Test("C-7: closing ends when its time is up, even if the source does not notice")
  func closingIsBounded() async throws {
    let source = ScriptedSource(sizes: 1, needsClosing: true)
    source.holdClosing()
    let clock = ManualClock()
    let walk = Cursor(source, clock: clock).walk()
    let task = Task { try await walk.drained() }
    try await clock.waitForSleepers()
    #expect(source.log.closes == [nil])
    clock.advance(by: .seconds(5))
    #expect(try await task.value == [[0]])
    source.releaseClosing()
  }

  @Test("C-7: closing is not cut short by the cancellation of the consumer")
  func closingSurvivesCancellation() async throws {
    let source = ScriptedSource(sizes: 1, 1, needsClosing: true)
    source.hold(2)
    let task = Task { try await Cursor(source).drained() }
    try await source.wait { $0.requests == [1, 2] }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    try await source.wait { $0.closes == [2] }
  }
}
