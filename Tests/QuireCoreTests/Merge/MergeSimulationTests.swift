import QuireTesting
import Synchronization
import TestSupport
import Testing

@testable import QuireCore

/// The real merge under a scheduler that a seed decides: random sources, failures, delays, skews,
/// cancellations and resumptions.
@Suite(.serialized) struct MergeSimulationTests {
  /// Pages of ascending numbers, which take a random number of turns and fail now and then.
  private final class Source: PageSource {
    let pages: [[Entry]]
    let random: Mutex<SeededGenerator>

    init(pages: [[Entry]], seed: UInt64) {
      self.pages = pages
      random = Mutex(SeededGenerator(seed: seed))
    }

    private func draw(_ count: Int) -> Int {
      random.withLock { Int.random(in: 0..<count, using: &$0) }
    }

    func page(at position: Position?) async throws -> Page<Entry>? {
      let isStubborn = draw(3) == 0
      for _ in 0..<draw(5) {
        await Task.yield()
        if !isStubborn { try Task.checkCancellation() }
      }
      if draw(8) == 0 { throw ScriptedFailure() }
      let number = position?.value?.integer ?? 0
      guard number < pages.count else { return nil }
      // Some say that the last page is the last, the others answer nothing behind it.
      let isLast = number + 1 == pages.count && pages.count.isMultiple(of: 2)
      return Page(pages[number], next: isLast ? nil : Position(integerLiteral: number + 1))
    }
  }

  /// A random case: its sources, options and what a right merge delivers.
  private struct Case: Sendable {
    var lists: [[[Entry]]]
    var options: MergeOptions
    var comparesItems: Bool
    var isOrdered: Bool
    var clock = ManualClock()

    init(seed: UInt64) {
      var random = SeededGenerator(seed: seed)
      comparesItems = Bool.random(using: &random)
      isOrdered = Int.random(in: 0..<4, using: &random) > 0
      options = MergeOptions(
        pageSize: Int.random(in: 1...6, using: &random),
        concurrentLoads: Int.random(in: 1...4, using: &random),
        skew: Bool.random(using: &random) ? nil : .seconds(1))
      lists = (0..<Int.random(in: 1...5, using: &random)).map { source in
        var key = 0
        return (0..<Int.random(in: 0...4, using: &random)).map { _ in
          (0..<Int.random(in: 0...4, using: &random)).map { _ in
            key += Int.random(in: 0...3, using: &random)
            let isShared = Int.random(in: 0..<4, using: &random) == 0
            return Entry(key: key, id: isShared ? "shared \(key)" : "\(source)/\(key)")
          }
        }
      }
      if !comparesItems {
        for source in lists.indices {
          for page in lists[source].indices {
            for item in lists[source][page].indices {
              lists[source][page][item].id = "\(source)/\(page)/\(item)"
            }
          }
        }
      }
    }

    func merged(seed: UInt64) -> Cursor<Entry> {
      var cursors: [Cursor<Entry>] = []
      for (index, pages) in lists.enumerated() {
        cursors.append(Cursor(Source(pages: pages, seed: seed &+ UInt64(index))))
      }
      var identity: (@Sendable (Entry) -> String)?
      if comparesItems { identity = { entry in entry.id } }
      guard isOrdered else {
        return Cursor.merged(cursors, options: options, duplicates: identity, clock: clock)
      }
      return Cursor.merged(
        cursors, by: \.key, options: options, duplicates: identity, clock: clock)
    }
  }

  /// Reads a merge to its end through failures, cancellations, clocks that go on, copies and new
  /// processes.
  private static func client(_ test: Case, seed: UInt64, seen: Recorder<Entry>) async -> String? {
    var random = SeededGenerator(seed: seed)
    var round: UInt64 = 0
    var walk = test.merged(seed: seed).walk()
    var lateWarnings = false
    for _ in 0..<400 {
      round += 1
      let take = Int.random(in: 0..<8, using: &random)
      let current = walk
      let task = Task {
        var taken = 0
        for try await item in current.items {
          seen.note(item)
          taken += 1
          if taken > take { return false }
        }
        return true
      }
      if Int.random(in: 0..<4, using: &random) == 0 {
        for _ in 0..<Int.random(in: 0..<9, using: &random) { await Task.yield() }
        task.cancel()
      } else if Int.random(in: 0..<3, using: &random) == 0 {
        for _ in 0..<Int.random(in: 0..<9, using: &random) { await Task.yield() }
        test.clock.advance(by: .seconds(2))
      }
      let isAtEnd = (try? await task.value) ?? false
      lateWarnings = lateWarnings || current.report.warnings.contains { $0.code == .laggingSource }
      if isAtEnd { return lateWarnings ? "late" : nil }
      switch Int.random(in: 0..<4, using: &random) {
      case 0:
        guard let checkpoint = walk.report.checkpoint else { return nil }
        walk = test.merged(seed: seed &+ round &* 7919).resuming(from: checkpoint).walk()
      case 1: walk = walk.copy()
      default: break
      }
    }
    return "the end does not come"
  }

  /// Returns what is wrong with the run of this seed, if anything is.
  private static func simulate(_ seed: UInt64) -> String? {
    let test = Case(seed: seed)
    let (seen, ends) = (Recorder<Entry>(), Recorder<String?>())
    _ = Simulation.run(seed: seed) {
      ends.note(await Self.client(test, seed: ~seed, seen: seen))
    }
    guard let end = ends.values.first else { return "a consumer waits for ever" }
    if let end, end != "late" { return end }
    let all = test.lists.flatMap { $0.flatMap(\.self) }
    let ids = seen.values.map(\.id)
    if test.comparesItems {
      guard Set(ids) == Set(all.map(\.id)), Set(ids).count == ids.count else {
        return "saw \(ids.sorted()), not \(Set(all.map(\.id)).sorted())"
      }
    } else if ids.sorted() != all.map(\.id).sorted() {
      return "saw \(ids.sorted()), not \(all.map(\.id).sorted())"
    }
    return nil
  }

  @Test(
    "17-Resume, 17-Duplicates, 17-Failure: 20,000 simulated merges lose no item and repeat none, through failures, cancellations, copies and resumptions"
  )
  @SimulationActor func mixes() {
    let flaw = Simulation.firstFlaw(in: 20_000, Self.simulate)
    #expect(flaw == nil)
  }
}
