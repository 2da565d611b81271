import QuireCore
import QuireLists
import QuireTesting
import Synchronization
import TestSupport
import Testing

/// Cancels at random points; the seed of a failure is printed with it.
@Suite(.serialized) struct CancelStormTests {
  /// Counts the sources that are alive: a task or continuation that leaks keeps its source.
  final class Ledger: Sendable {
    let alive = Mutex(0)
    let mostAtOnce = Mutex(0)

    func settle() async {
      for _ in 0..<1_000_000 where alive.withLock({ $0 }) > 0 { await Task.yield() }
    }
  }

  /// Pages of three items that take a random number of turns, and fail now and then.
  final class Restless: PageSource {
    let ledger: Ledger
    let seed: UInt64
    let running = Mutex(0)

    init(_ ledger: Ledger, seed: UInt64) {
      self.ledger = ledger
      self.seed = seed
      ledger.alive.withLock { $0 += 1 }
    }

    deinit { ledger.alive.withLock { $0 -= 1 } }

    func page(at position: Position?) async throws -> Page<Int>? {
      let now = running.withLock { running in
        running += 1
        return running
      }
      ledger.mostAtOnce.withLock { $0 = max($0, now) }
      defer { running.withLock { $0 -= 1 } }
      let number = position?.value?.integer ?? 0
      var random = SeededGenerator(seed: seed &+ UInt64(number))
      for _ in 0..<Int.random(in: 0..<3, using: &random) {
        await Task.yield()
        try Task.checkCancellation()
      }
      let items = Array(number * 3..<number * 3 + 3)
      return Page(items, next: number < 4 ? Position(integerLiteral: number + 1) : nil)
    }
  }

  /// Runs `consume` once for every seed and cancels it after a random number of turns. What it
  /// returns must be a beginning of the listing.
  private func storm(
    _ rounds: Int,
    consume: @escaping @Sendable (Cursor<Int>, UInt64, Seen) async throws -> Void
  ) async throws {
    let ledger = Ledger()
    let base = UInt64.random(in: 0...UInt64.max)
    for round in 0..<UInt64(rounds) {
      let seed = base &+ round
      let seen = Seen()
      let task = Task {
        try await consume(Cursor(Restless(ledger, seed: seed)), seed, seen)
      }
      var random = SeededGenerator(seed: ~seed)
      for _ in 0..<Int.random(in: 0..<12, using: &random) { await Task.yield() }
      task.cancel()
      let items: [Int]
      switch await task.result {
      case .success: items = seen.items
      case .failure(let error):
        items = seen.items
        if !(error is CancellationError) { Issue.record("seed \(seed): \(error)") }
      }
      if items != Array(0..<items.count) { Issue.record("seed \(seed): got \(items)") }
    }
    await ledger.settle()
    #expect(ledger.alive.withLock { $0 } == 0, "seeds from \(base)")
    #expect(ledger.mostAtOnce.withLock { $0 } <= 1, "seeds from \(base)")
  }

  final class Seen: Sendable {
    private let state = Mutex<[Int]>([])
    var items: [Int] { state.withLock { $0 } }
    func append(_ item: Int) { state.withLock { $0.append(item) } }
  }

  @Test("C-7, C1, C2: 50,000 walks cancelled at random points leave no task and no continuation")
  func walks() async throws {
    try await storm(50_000) { cursor, seed, seen in
      switch seed % 3 {
      case 0: for try await page in cursor { page.items.forEach(seen.append) }
      case 1: for try await item in cursor.items { seen.append(item) }
      default: for try await item in cursor.paged(by: 2).items { seen.append(item) }
      }
    }
  }

  @Test("C-7, P-1, P-10, C1, C2: 50,000 paginators cancelled at random points leave nothing either")
  func paginators() async throws {
    try await storm(50_000) { cursor, seed, seen in
      let paginator = Paginator(cursor, maxPagesAhead: Int(1 + seed % 3))
      switch seed % 4 {
      case 0: for try await page in paginator { page.items.forEach(seen.append) }
      case 1: for try await item in paginator.items { seen.append(item) }
      case 2:
        for try await item in paginator.items {
          seen.append(item)
          if item == 4 { break }
        }
      default:
        for try await page in paginator {
          page.items.forEach(seen.append)
          break
        }
        for try await item in paginator.items { seen.append(item) }
      }
    }
  }

  @Test("P-1, X-01, TI-51: whatever is called in whatever order, one load runs at a time")
  func mixedCalls() async throws {
    let base = UInt64.random(in: 0...UInt64.max)
    for round in 0..<250 {
      let ledger = Ledger()
      let seed = base &+ UInt64(round)
      do {
        let list = PagedList(Cursor(Restless(ledger, seed: seed)))
        await withTaskGroup { group in
          for caller in 0..<4 {
            group.addTask {
              var random = SeededGenerator(seed: seed &* 31 &+ UInt64(caller))
              for _ in 0..<10 {
                switch Int.random(in: 0..<7, using: &random) {
                case 0: _ = try? await list.loadMore()
                case 1: _ = try? await list.retry()
                case 2: _ = try? await list.reload()
                case 3: list.report(consumed: Int.random(in: 0..<20, using: &random))
                case 4: do { for try await _ in list { break } } catch {}
                case 5: list.cancel()
                default:
                  let task = Task { try await list.items.collected() }
                  await Task.yield()
                  task.cancel()
                  _ = await task.result
                }
              }
            }
          }
        }
      }
      await ledger.settle()
      #expect(ledger.alive.withLock { $0 } == 0, "seed \(seed)")
      #expect(ledger.mostAtOnce.withLock { $0 } <= 1, "seed \(seed)")
    }
  }
}
