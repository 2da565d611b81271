import QuireTesting
import Synchronization
import TestSupport
import Testing

@testable import QuireCore

/// The real paginator under a scheduler that a seed decides: loops by several tasks, random failures,
/// random delays, random cancellations.
@Suite(.serialized) struct PaginatorSimulationTests {
  /// Pages of two items that take a random number of turns, and fail now and then.
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
        [2 * number, 2 * number + 1],
        next: number + 1 < Self.pages ? Position(integerLiteral: number + 1) : nil)
    }
  }

  /// One client: `steps` loops, each over pages or items, that end by themselves or are cancelled.
  private static func client(
    _ paginator: Paginator<Int>, seed: UInt64, steps: Int, seen: Recorder<Int>
  ) async {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<steps {
      let isByItem = Bool.random(using: &random)
      let turns = Int.random(in: 0..<5, using: &random)
      let task = Task {
        do {
          if isByItem {
            for try await item in paginator.items {
              seen.note(item)
              if item % 3 == turns { break }
            }
          } else {
            for try await page in paginator {
              for item in page.items { seen.note(item) }
              if turns == 0 { break }
            }
          }
        } catch {}
      }
      for _ in 0..<turns { await Task.yield() }
      if turns == 0 { task.cancel() }
      if turns > 1 { await task.value }
    }
  }

  /// Returns what is wrong with the run of this seed, if anything is.
  private static func simulate(_ seed: UInt64) -> String? {
    let (alive, seen, mostRunning, isOver) = (
      Recorder<Int>(), Recorder<Int>(), Recorder<Int>(), Recorder<Bool>()
    )
    _ = Simulation.run(seed: seed) {
      let source = Source(seed: ~seed, alive: alive)
      let paginator = Paginator(Cursor(source), maxPagesAhead: Int(1 + seed % 3))
      await withTaskGroup { group in
        for client in 0..<3 {
          group.addTask {
            await Self.client(
              paginator, seed: seed &* 31 &+ UInt64(client), steps: 4, seen: seen)
          }
        }
      }
      for _ in 0..<100 {
        do { for try await page in paginator { for item in page.items { seen.note(item) } } } catch
        {}
        if case .exhausted = paginator.report.end { break }
      }
      mostRunning.note(source.state.withLock { $0.mostRunning })
      isOver.note(true)
    }
    if isOver.count == 0 { return "a consumer waits for ever" }
    if alive.values.reduce(0, +) != 0 { return "a task outlives its paginator" }
    if mostRunning.values.contains(where: { $0 > 1 }) { return "two loads at once" }
    let items = seen.values.sorted()
    return items == Array(0..<2 * Source.pages) ? nil : "consumers saw \(items)"
  }

  @Test("P-1, P-10, C-8: 20,000 simulated mixes of loops load one page at a time, and lose no item")
  @SimulationActor func mixes() {
    let flaw = Simulation.firstFlaw(in: 20_000, Self.simulate)
    #expect(flaw == nil)
  }
}
