import Foundation
import QuireCore
import QuireExport
import QuireJSON
import QuirePagination
import QuireTesting
import Synchronization
import Testing

@Suite("Listings that are read in parts, by several walks and where pages fail")
struct SplitFailureTests {
  /// How a server says that it gives no more of one request.
  private enum Refusal: CaseIterable {
    /// By the total in front.
    case total
    /// With the page that is too far.
    case late
    /// With the last page that it gives.
    case ahead
  }

  /// A server that gives so many results of one request, and fails now and then.
  private struct Server: Sendable {
    var keys: [Int]
    var range: Range<Int>
    var step: Int
    var cap: Int
    var size: Int
    var refusal: Refusal
    var faults = Faults(number: 0)

    func all() -> Cursor<RawItem> {
      var split = Split.keys(range, every: step)
      split.cap = refusal == .total ? cap : nil
      return Cursor.partitioned(by: split) { cursor($0) }
    }

    private func cursor(_ part: Partition) -> Cursor<RawItem> {
      let (lower, upper) = (Int(part.lower) ?? 0, Int(part.upper) ?? 0)
      let found = keys.filter { $0 >= lower && $0 < upper }
      return Cursor { position in
        let start = position?.value?.integer ?? 0
        // Other walks go on meanwhile.
        await Task.yield()
        try faults.strike()
        guard start < cap else { throw PageError(.resultWindowExceeded, "No more than \(cap).") }
        let items = try found.dropFirst(start).prefix(size).map {
          try RawItem(Array("{\"key\":\($0)}".utf8))
        }
        var page = Page<RawItem>(items)
        page.total = Total(found.count)
        let end = start + size
        if end < found.count {
          if refusal == .ahead, end >= cap {
            page.nextFailure = PageError(.resultWindowExceeded, "No more than \(cap).")
          } else if faults.breaks() {
            page.nextFailure = PageError(.sourceFailed, "It does not say what follows.")
          } else {
            page.next = Position(.number("\(end)"))
          }
        }
        return page
      }
    }
  }

  /// What goes on after an error.
  private enum Way: CaseIterable {
    case iterator, copies, checkpoints, retrying, twoWalks

    func keys(of cursor: Cursor<RawItem>, _ seed: UInt64) async throws -> [[Int]] {
      switch self {
      case .iterator: return [try await SplitFailureTests.byAskingAgain(cursor)]
      case .copies: return [try await SplitFailureTests.byCopies(cursor)]
      case .checkpoints: return [try await SplitFailureTests.byCheckpoints(cursor, seed)]
      case .retrying:
        return [try SplitFailureTests.keys(await cursor.retrying(attempts: 50).collect())]
      case .twoWalks:
        async let first = SplitFailureTests.byAskingAgain(cursor)
        async let second = SplitFailureTests.byCheckpoints(cursor, seed)
        return [try await first, try await second]
      }
    }
  }

  /// More than any walk here takes, so that one without an end fails.
  private static let most = 10_000

  private static func keys(_ items: [RawItem]) throws -> [Int] {
    try items.map { try $0.value(at: "/key")?.integer ?? -1 }
  }

  /// All keys by one iterator.
  private static func byAskingAgain(_ cursor: Cursor<RawItem>) async throws -> [Int] {
    var keys: [Int] = []
    var iterator = cursor.makeAsyncIterator()
    for _ in 0..<most {
      do {
        guard let page = try await iterator.next() else { break }
        keys += try Self.keys(page.items)
      } catch let error as PageError where error.code == .sourceFailed {
        continue
      }
    }
    return keys
  }

  /// All keys by a walk in whose place comes a copy after each error.
  private static func byCopies(_ cursor: Cursor<RawItem>) async throws -> [Int] {
    var keys: [Int] = []
    var walk = cursor.walk()
    for _ in 0..<most {
      do {
        guard let page = try await walk.next() else { break }
        keys += try Self.keys(page.items)
      } catch let error as PageError where error.code == .sourceFailed {
        walk = walk.copy()
      }
    }
    return keys
  }

  /// All keys by walks from stored positions: those of errors and reports, and some inside pages.
  private static func byCheckpoints(
    _ cursor: Cursor<RawItem>, _ seed: UInt64
  ) async throws -> [Int] {
    var random = SeededGenerator(seed: seed)
    var keys: [Int] = []
    var walk = cursor.walk()
    for _ in 0..<most {
      var place: Position?
      do {
        guard let page = try await walk.next() else { break }
        let isLeft = Int.random(in: 0..<4, using: &random) == 0
        let count = isLeft ? Int.random(in: 0...page.items.count, using: &random) : page.items.count
        keys += try Self.keys(Array(page.items.prefix(count)))
        guard isLeft else { continue }
        place = page.position(afterItems: count)
      } catch let error as PageError where error.code == .sourceFailed {
        place = Bool.random(using: &random) ? error.checkpoint : walk.report.checkpoint
      }
      guard let start = place else { break }
      let stored = try JSONDecoder().decode(Position.self, from: JSONEncoder().encode(start))
      walk = cursor.resuming(from: stored).walk()
    }
    return keys
  }

  @Test("C-1, 16-Parts: walks at the same time over one listing have all of it each")
  func walksAtOnce() async throws {
    for refusal in Refusal.allCases {
      let server = Server(
        keys: Array(0..<60), range: 0..<60, step: 20, cap: 12, size: 5, refusal: refusal)
      let cursor = server.all()
      let all = try await withThrowingTaskGroup(of: [Int].self) { group in
        for _ in 0..<8 {
          group.addTask { try Self.keys(await cursor.items.collect()) }
        }
        var found: [[Int]] = []
        for try await keys in group { found.append(keys) }
        return found
      }
      #expect(all == Array(repeating: server.keys, count: 8), "\(refusal)")
    }
  }

  @Test("C-6, C-8, 16-Parts: whichever page fails, the walk goes on with each item once, in order")
  func anyPageFails() async throws {
    for refusal in Refusal.allCases {
      for way in Way.allCases {
        var (number, requests) = (1, 1)
        while number <= requests {
          let faults = Faults(number: number)
          let server = Server(
            keys: Array(0..<60), range: 0..<60, step: 20, cap: 12, size: 5, refusal: refusal,
            faults: faults)
          for keys in try await way.keys(of: server.all(), UInt64(number)) {
            #expect(keys == server.keys, "request \(number), \(way), \(refusal)")
          }
          requests = min(faults.requests, 60)
          number += 1
        }
        #expect(requests > 12)
      }
    }
  }

  @Test("C-8, 16-Parts: items that are alike come as often as the server has them, halved or not")
  func keepsEqualItems() async throws {
    for refusal in Refusal.allCases {
      for way in Way.allCases {
        for number in 0..<16 {
          let server = Server(
            keys: (0..<40).flatMap { [$0, $0, $0] }, range: 0..<40, step: 20, cap: 12, size: 5,
            refusal: refusal, faults: Faults(number: number))
          for keys in try await way.keys(of: server.all(), UInt64(number)) {
            #expect(keys == server.keys, "request \(number), \(way), \(refusal)")
          }
        }
      }
    }
  }

  @Test("C-1, C-6, C-8, 16-Parts: pages that fail at random lose no item, and none comes twice")
  func failsAtRandom() async throws {
    let seed = UInt64.random(in: 0 ... .max)
    for round in 0..<UInt64(60) {
      for way in Way.allCases {
        var random = SeededGenerator(seed: seed &+ round)
        let lower = Int.random(in: -30..<30, using: &random)
        let range = lower..<lower + Int.random(in: 1...80, using: &random)
        let share = Int.random(in: 1...4, using: &random)
        let keys = range.filter { _ in Int.random(in: 0..<4, using: &random) < share }
        var server = Server(
          keys: keys, range: range, step: Int.random(in: 1...50, using: &random),
          cap: Int.random(in: 1...20, using: &random), size: Int.random(in: 1...8, using: &random),
          refusal: Refusal.allCases.randomElement(using: &random) ?? .late)
        let count = Int.random(in: 0...20, using: &random)
        // What a page says of the next one is no failure to read it, and is not retried.
        server.faults = Faults(random: count, seed: random.next(), breaks: way != .retrying)
        for found in try await way.keys(of: server.all(), random.next()) {
          #expect(found == keys, "seed \(seed), round \(round), \(way), \(server)")
        }
      }
    }
  }

  @Test("C-3, 16-Parts: a page that comes with the refusal of a part without halves is delivered")
  func deliversBeforeRefusal() async throws {
    let server = Server(
      keys: Array(repeating: 50, count: 20), range: 50..<51, step: 1, cap: 6, size: 3,
      refusal: .ahead)
    var keys: [Int] = []
    await #expect {
      for try await page in server.all() { keys += try Self.keys(page.items) }
    } throws: {
      ($0 as? PageError)?.code == .resultWindowExceeded
    }
    #expect(keys == Array(repeating: 50, count: 6))
  }

  @Test("C-7, 16-Parts: what a server holds for a part is freed once, when the part is over")
  func closesParts() async throws {
    let item = try RawItem(Array("{\"key\":1}".utf8))
    let parts = (0..<2).map { _ in
      ScriptedSource(items: [[item], [item], [item]], needsClosing: true)
    }
    let cursor = Cursor.partitioned(by: .keys(0..<2, every: 1)) { part in
      Cursor(parts[Int(part.lower) ?? 0])
    }
    #expect(try await cursor.collect().count == 6)
    // Behind the last page, and not where the second one begins.
    for part in parts { #expect(part.log.closes == [Position?.none]) }
  }
}

/// Which requests of a server fail.
private final class Faults: Sendable {
  private struct State: Sendable {
    var requests = 0
    var left: Int
    var random: SeededGenerator
  }

  private let state: Mutex<State>
  private let number: Int?
  private let mayBreak: Bool

  /// The request of this number, from 1; 0 for none.
  init(number: Int) {
    self.number = number
    mayBreak = false
    state = Mutex(State(left: 0, random: SeededGenerator(seed: 0)))
  }

  /// So many at random; `breaks` also for pages that do not say what follows.
  init(random count: Int, seed: UInt64, breaks: Bool) {
    number = nil
    mayBreak = breaks
    state = Mutex(State(left: count, random: SeededGenerator(seed: seed)))
  }

  var requests: Int { state.withLock { $0.requests } }

  /// Throws where a request fails.
  func strike() throws {
    let isDue = state.withLock { state -> Bool in
      state.requests += 1
      if let number { return state.requests == number }
      return Self.draw(&state)
    }
    if isDue { throw PageError(.sourceFailed, "The server is busy.") }
  }

  /// Whether a page does not say what follows.
  func breaks() -> Bool { mayBreak && state.withLock { Self.draw(&$0) } }

  private static func draw(_ state: inout State) -> Bool {
    guard state.left > 0, Int.random(in: 0..<3, using: &state.random) == 0 else { return false }
    state.left -= 1
    return true
  }
}
