import QuireCore
import QuireLists
import QuireTesting
import TestSupport
import Testing

@Suite("Limits on the duration", .timeLimit(.minutes(15)))
struct TimeLimitTests {
  private func cursor(
    _ source: ScriptedSource<Int>, _ clock: ManualClock
  ) -> Cursor<Int> {
    Cursor(source, limits: Limits(duration: .seconds(10)), clock: clock)
  }

  @Test("12-A6, C-9: a page that is still being read when the time is up is aborted, and named")
  func aborts() async throws {
    let source = ScriptedSource(sizes: 1, 1, needsClosing: true)
    source.hold(2)
    let clock = ManualClock()
    let walk = cursor(source, clock).walk()
    #expect(try await walk.next()?.items == [0])
    let task = Task { try await walk.next() }
    try await source.wait { $0.requests == [1, 2] }
    try await clock.waitForSleepers()
    clock.advance(by: .seconds(10))
    let error = await pageError { _ = try await task.value }
    #expect(error?.code == .limitExceeded)
    #expect(error?.position == 2 && error?.pageIndex == 1)
    #expect(source.log.cancelled == [2] && source.log.running == 0)
    #expect(source.log.closes == [2])
    #expect(walk.report.checkpoint == 2)
    // The time stays up: nothing more is requested.
    #expect(await pageError { _ = try await walk.next() }?.code == .limitExceeded)
    #expect(source.requests == [1, 2])
    #expect(clock.sleepers == 0)
  }

  @Test("12-A6, C-3: a page that comes in time is delivered, and nothing goes on measuring")
  func inTime() async throws {
    let source = ScriptedSource(sizes: 1, 1)
    source.hold(1)
    let clock = ManualClock()
    let walk = cursor(source, clock).walk()
    let task = Task { try await walk.next() }
    try await clock.waitForSleepers()
    clock.advance(by: .seconds(9))
    source.release(1)
    #expect(try await task.value?.items == [0])
    #expect(clock.sleepers == 0)
    clock.advance(by: .seconds(1))
    #expect(await pageError { _ = try await walk.next() }?.code == .limitExceeded)
    #expect(source.requests == [1])
  }

  @Test("a limit on the duration that no clock can measure ends nothing")
  func endless() async throws {
    let limits = Limits(duration: .seconds(Int64.max))
    let items = try await Cursor(ScriptedSource(sizes: 1, 1), limits: limits).collect()
    #expect(items == [0, 1])
  }

  @Test("12-A6, C-7: cancelling a walk with a time limit is a cancellation, and moves nothing")
  func cancels() async throws {
    let source = ScriptedSource(sizes: 1, 1)
    source.hold(1)
    let clock = ManualClock()
    let walk = cursor(source, clock).walk()
    let task = Task { try await walk.next() }
    try await source.wait { $0.requests == [1] }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(walk.report.end.name == "cancelled")
    source.release(1)
    #expect(try await walk.next()?.items == [0])
  }

  @Test("12-A6, C-3: a page that comes all the same when a walk is cancelled is delivered")
  func cancelsTooLate() async throws {
    let (reading, cancelled) = (Gate(), Gate())
    let clock = ManualClock()
    let cursor = Cursor<Int>(limits: Limits(duration: .seconds(10)), clock: clock) { position in
      // A task of its own does not notice that the walk is cancelled.
      await Task {
        reading.openUp()
        try? await cancelled.wait()
      }.value
      let number = position?.value?.integer ?? 0
      return Page([number], next: number < 1 ? Position(integerLiteral: number + 1) : nil)
    }
    let walk = cursor.walk()
    let task = Task { try await walk.next() }
    try await reading.wait()
    try await clock.waitForSleepers()
    task.cancel()
    while clock.sleepers > 0 { await Task.yield() }
    cancelled.openUp()
    #expect(try await task.value?.items == [0])
    #expect(try await walk.next()?.items == [1])
  }

  @Test("12-A6: the limit holds through transforms and in a paginator, in the page in flight")
  func everywhere() async throws {
    for make: @Sendable (Cursor<Int>) -> Cursor<Int> in [
      { $0.map { $0 } }, { $0.paged(by: 4) }, { $0.retrying(attempts: 3) }, { $0.cached() },
      { $0.deduplicated { $0 } }, { $0.parallel(3) },
    ] {
      for isPaginated in [false, true] {
        let source = ScriptedSource(sizes: 1, 1)
        source.hold(2)
        source.hold(1)
        let clock = ManualClock()
        let cursor = make(cursor(source, clock))
        let task = Task {
          if isPaginated {
            for try await _ in Paginator(cursor) {}
          } else {
            for try await _ in cursor {}
          }
        }
        try await source.wait { !$0.requests.isEmpty }
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(10))
        let error = await pageError { try await task.value }
        #expect(error?.code == .limitExceeded)
        try await source.wait { $0.running == 0 }
      }
    }
  }
}
