import QuireCore
import QuireTesting
import Synchronization
import TestSupport
import Testing

@testable import QuireLists

/// The real list under a scheduler that a seed decides: random calls by several tasks, random
/// failures, random delays, random cancellations.
@Suite(.serialized) struct ListSimulationTests {
  /// Pages of one item that take a random number of turns, and fail now and then.
  private final class Source: PageSource {
    static let pages = 5

    struct State {
      var random: SeededGenerator
      var running = 0
      var mostRunning = 0
    }

    let state: Mutex<State>
    let alive: Recorder<Int>

    init(seed: UInt64, alive: Recorder<Int>) {
      state = Mutex(State(random: SeededGenerator(seed: seed)))
      self.alive = alive
      alive.note(1)
    }

    deinit { alive.note(-1) }

    private func draw(_ count: Int) -> Int {
      state.withLock { Int.random(in: 0..<count, using: &$0.random) }
    }

    func page(at position: Position?) async throws -> Page<Int>? {
      state.withLock {
        $0.running += 1
        $0.mostRunning = max($0.mostRunning, $0.running)
      }
      defer { state.withLock { $0.running -= 1 } }
      let isStubborn = draw(4) == 0
      for _ in 0..<draw(4) {
        await Task.yield()
        if !isStubborn { try Task.checkCancellation() }
      }
      if draw(5) == 0 { throw ScriptedFailure() }
      let number = position?.value?.integer ?? 0
      return Page(
        [number], next: number + 1 < Self.pages ? Position(integerLiteral: number + 1) : nil,
        previous: number > 0 ? Position(integerLiteral: number - 1) : nil)
    }
  }

  /// One client: `steps` random calls.
  private static func client(
    _ list: PagedList<Int>, seed: UInt64, steps: Int
  ) async {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<steps {
      let call = Int.random(in: 0..<9, using: &random)
      let turns = Int.random(in: 0..<5, using: &random)
      let task = Task {
        switch call {
        case 0: _ = try? await list.loadMore()
        case 1: _ = try? await list.retry()
        case 2: _ = try? await list.reload()
        case 3: list.report(consumed: turns)
        case 4: do { for try await _ in list { if turns == 0 { break } } } catch {}
        case 5: for await state in list.states { if state != .loading { break } }
        case 6: list.cancel()
        case 7: _ = try? await list.loadBefore()
        case 8: _ = try? await list.navigate(to: .next)
        default: _ = try? await list.items.first { _ in true }
        }
      }
      for _ in 0..<turns { await Task.yield() }
      if turns == 0 { task.cancel() }
      if turns > 1 { await task.value }
    }
  }

  /// What is wrong with what observers saw, if anything is.
  private static func flaw(in events: [ListEvent<Int>], start: Int) -> String? {
    var state = ListState.idle
    var last: Int?
    var first = start
    for event in events {
      switch event {
      case .changed(let old, let new):
        if old != state { return "TI-30: \(old) follows \(state)" }
        if old == new { return "TI-30: \(new) twice" }
        state = new
      case .reloaded(let page):
        if page.items != [start] { return "X-01: a first page of \(page.items)" }
        (last, first) = (start, start)
      case .appended(let page):
        guard let before = last, page.items == [before + 1] else {
          return "X-01: \(page.items) behind \(last as Any)"
        }
        last = before + 1
      case .prepended(let page, _):
        if page.items != [first - 1] { return "X-01: \(page.items) before \(first)" }
        first -= 1
      case .canLoadMore, .cleared: break
      }
    }
    return nil
  }

  private final class Outcome: Sendable {
    let events = Recorder<ListEvent<Int>>()
    let isOver = Recorder<Bool>()
    let mostRunning = Recorder<Int>()
  }

  /// Returns what is wrong with the run of this seed, if anything is.
  private static func simulate(_ seed: UInt64) -> String? {
    let outcome = Outcome()
    let alive = Recorder<Int>()
    let start = 2
    let policies: [ListOptions.ReloadPolicy] = [.keep, .keep, .clearOnFailure, .clear]
    let policy = policies[Int(seed / 2 % 4)]
    _ = Simulation.run(seed: seed) {
      let listener: ListUpdates<ListEvent<Int>>.Iterator
      do {
        let source = Source(seed: ~seed, alive: alive)
        let list = PagedList(
          Cursor(source, from: Position(integerLiteral: start)),
          options: ListOptions(onReload: policy))
        listener = list.events.makeAsyncIterator()
        await withTaskGroup { group in
          for client in 0..<3 {
            group.addTask {
              await Self.client(
                list, seed: seed &* 31 &+ UInt64(client), steps: 4)
            }
          }
        }
        outcome.mostRunning.note(source.state.withLock { $0.mostRunning })
      }
      for event in await listener.rest() { outcome.events.note(event) }
      outcome.isOver.note(true)
    }
    if outcome.isOver.count == 0 { return "a waiter waits for ever" }
    if alive.values.reduce(0, +) != 0 { return "a task outlives its list" }
    if outcome.mostRunning.values.contains(where: { $0 > 1 }) { return "X-01: two loads at once" }
    return flaw(in: outcome.events.values, start: start)
  }

  @Test(
    "X-01, TI-30, TI-51, P-1: 100,000 simulated mixes of calls load one page at a time, in order"
  )
  @SimulationActor func mixes() {
    let flaw = Simulation.firstFlaw(in: 100_000, Self.simulate)
    #expect(flaw == nil)
  }

  @Test("P-4: however observers are cancelled, the next one goes on with what they had not")
  @SimulationActor func observersTakeTurns() {
    for seed in UInt64(0)..<2000 {
      let heard = Recorder<Int>()
      _ = Simulation.run(seed: seed) {
        var random = SeededGenerator(seed: seed)
        let queue = EventQueue<Int>()
        let posting = Task {
          for number in 1...20 {
            queue.post(number)?()
            await Task.yield()
          }
          queue.finish()
        }
        for turn in 0..<30 {
          let listener = Task { while let number = await queue.next() { heard.note(number) } }
          for _ in 0..<Int.random(in: 0..<5, using: &random) { await Task.yield() }
          if turn < 29 { listener.cancel() }
          await listener.value
        }
        await posting.value
      }
      #expect(heard.values == Array(1...20), "seed \(seed)")
    }
  }

  @Test("A simulated run is the same whenever its seed is")
  @SimulationActor func isDeterministic() {
    for seed in UInt64(0)..<100 {
      let counts = (0..<2).map { _ in
        Simulation.run(seed: seed) {
          let source = Source(seed: seed, alive: Recorder())
          await Self.client(PagedList(Cursor(source)), seed: seed, steps: 4)
        }
      }
      #expect(counts[0] == counts[1])
    }
  }
}
