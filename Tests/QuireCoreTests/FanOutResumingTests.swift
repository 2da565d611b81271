import Foundation
@testable import QuireCore
import QuireTesting
import Synchronization
import TestSupport
import Testing

@Suite("Listings of listings, left and gone on with", .timeLimit(.minutes(15)))
struct FanOutResumingTests {
  /// Pages that arrive in slices, of other sizes for each walk.
  private struct ArrivingReader: PageReader {
    let pages: [[Int]]
    /// The number of items of each slice, in turn.
    let slices: [Int]
    private let turn = TurnCounter()

    private final class TurnCounter: Sendable {
      private let count = Atomic(0)
      func next() -> Int { count.add(1, ordering: .relaxed).oldValue }
    }

    init(_ pages: [[Int]], slices: [Int]) {
      self.pages = pages
      self.slices = slices
    }

    func read(at position: Position) async throws -> Page<Int>? {
      let number = position.value?.integer ?? 0
      let (items, offset) = (pages[number], position.itemOffset)
      guard offset <= items.count else { throw PageError(.pageChanged, "It has fewer items.") }
      let end = min(items.count, offset + slices[turn.next() % slices.count])
      let behind = number + 1 < pages.count ? Position(integerLiteral: number + 1) : nil
      var page = Page(Array(items[offset..<end]))
      page.position = position
      page.hasMoreParts = end < items.count
      page.next = page.hasMoreParts ? Position(position.value, itemOffset: end) : behind
      return page
    }

    func close(at position: Position?) async {}
    var needsClosing: Bool { false }
    var repeatedPositions: Position.Repetition { .refused }
    var allowsLookAhead: Bool { true }
  }

  private static func arriving(_ pages: [[Int]], slices: [Int]) -> Cursor<Int> {
    Cursor(clock: ContinuousClock()) { _ in ArrivingReader(pages, slices: slices) }
  }

  private func stored(_ position: Position?) throws -> Position? {
    guard let position else { return nil }
    return try JSONDecoder().decode(Position.self, from: try JSONEncoder().encode(position))
  }

  @Test(
    "16-Levels C-8: a child that arrives in other slices goes on at exactly the next item",
    arguments: [true, false])
  func goesOnBetweenSlices(ordered: Bool) async throws {
    func cursor(slices: [Int]) -> Cursor<Int> {
      Cursor(ScriptedSource(sizes: 1)).flatMap(ordered: ordered) { _ in
        Self.arriving([Array(0..<10)], slices: slices)
      }
    }
    for count in 1..<10 {
      for slices in [[1], [2], [4], [10]] {
        let walk = cursor(slices: [5]).walk()
        var items: [Int] = []
        for try await item in walk.items {
          items.append(item)
          if items.count == count { break }
        }
        let position = try #require(try stored(walk.report.checkpoint))
        items += try await cursor(slices: slices).resuming(from: position).items.collect()
        #expect(items == Array(0..<10), "\(count) items, then \(slices)")
      }
    }
  }

  @Test(
    "16-Levels C-8: a position that counts a child's items by itself is the same place",
    arguments: [true, false])
  func countsItemsOfTheWhole(ordered: Bool) async throws {
    let cursor = Cursor(ScriptedSource(sizes: 2)).flatMap(ordered: ordered) { parent in
      Self.arriving([[10, 11, 12, 13, 14, 15].map { $0 * (parent + 1) }], slices: [4, 1])
    }
    let whole = try await cursor.items.collect()
    let first = try #require(try await cursor.walk().next())
    for start in [Position.start, first.position, try #require(first.next)] {
      let all = try await cursor.resuming(from: start).items.collect()
      for count in 0...(start == first.next ? 2 : 6) {
        let position = Position(start.value, itemOffset: count)
        let rest = try await cursor.resuming(from: position).items.collect()
        let gone = Set(all.prefix(count))
        #expect(rest.sorted() == all.filter { !gone.contains($0) }.sorted(), "\(position)")
      }
      #expect(Set(all).isSubset(of: whole))
    }
  }

  @Test(
    "16-Levels C-8: a child's page that has fewer items than were delivered is an error",
    arguments: [true, false])
  func noticesShrunkenPage(ordered: Bool) async throws {
    let size = Mutex(4)
    let source = Cursor<Int> { position in
      let start = position?.value?.integer ?? 0
      let items = (0..<4).map { start + $0 }
      return Page(
        Array(items.prefix(size.withLock { $0 })),
        next: start < 8 ? Position(integerLiteral: start + 4) : nil)
    }
    let cursor = Cursor(ScriptedSource(sizes: 2)).flatMap(ordered: ordered) { _ in source }
    for count in [2, 3, 6, 7] {
      size.withLock { $0 = 4 }
      let walk = cursor.walk()
      var left = count
      for try await _ in walk.items {
        left -= 1
        if left == 0 { break }
      }
      let position = try #require(try stored(walk.report.checkpoint))
      size.withLock { $0 = 1 }
      let error = await pageError { _ = try await cursor.resuming(from: position).collect() }
      #expect(error?.code == .pageChanged, "\(count) items")
    }
  }

  @Test(
    "16-Levels C-7: a child that throws CancellationError by itself ends the read, and is asked again",
    arguments: [true, false])
  func passesOnForeignCancellation(ordered: Bool) async throws {
    let calls = Mutex(0)
    let walk = Cursor(ScriptedSource(sizes: 2)).flatMap(concurrency: 2, ordered: ordered) { _ in
      Cursor<Int> { _ in
        if calls.withLock({
          $0 += 1; return $0
        }) <= 2 {
          throw CancellationError()
        }
        // A reader that asks again by itself would find nothing to throw here.
        return Page([1])
      }
    }.walk()
    var (items, failures) = ([Int](), 0)
    while true {
      do {
        guard let page = try await walk.next() else { break }
        items += page.items
      } catch is CancellationError {
        failures += 1
      }
    }
    #expect(items == [1, 1] && failures == 2)
  }

  /// Pages that each cost a request, which is counted before it goes out.
  private static func counted(_ pages: [[Int]]) -> Cursor<Int> {
    Cursor<Int> { position in
      try WalkReading.requested()
      let number = position?.value?.integer ?? 0
      let isLast = number + 1 == pages.count
      return Page(pages[number], next: isLast ? nil : Position(integerLiteral: number + 1))
    }
  }

  @Test(
    "16-Levels, 15-Limits: each walk resumed under a limit on requests gets further",
    arguments: [true, false], [1, 3, 8])
  func limitedRequests(ordered: Bool, concurrency: Int) async throws {
    let children = [[[], []], [[1], [2]], [[]], [[3]], [[4], [], [5]], [[]], [[6]]]
    for requests in 2...6 {
      let parents = Self.counted([[], [0, 1, 2], [3, 4, 5, 6]])
      let cursor = parents.flatMap(concurrency: concurrency, ordered: ordered) {
        Self.counted(children[$0])
      }.limited(to: Limits(requests: requests))
      var items: [Int] = []
      var position: Position? = .start
      for _ in 0..<60 {
        guard let start = position else { break }
        let walk = cursor.resuming(from: start).walk()
        do {
          for try await page in walk { items += page.items }
        } catch PageError.Code.limitExceeded {}
        #expect(walk.report.traffic.requests <= requests)
        position = try stored(walk.report.checkpoint)
      }
      #expect(position == nil && (ordered ? items : items.sorted()) == Array(1...6))
    }
  }

  @Test(
    "16-Levels, 15-Limits: a limit that is too low for a page of parents and of a child says so",
    arguments: [true, false])
  func tooFewRequests(ordered: Bool) async throws {
    let walk = Self.counted([[0]]).flatMap(ordered: ordered) { _ in Self.counted([[1]]) }
      .limited(to: Limits(requests: 1)).walk()
    let error = await pageError { _ = try await walk.next() }
    #expect(error?.code == .limitExceeded && error?.checkpoint == .start)
    #expect(error?.message.contains("gets no further: flatMap") == true)
    #expect(walk.report.traffic.requests == 1)
  }

  @Test(
    "16-Levels, 15-Limits: behind a listing without items, listings are begun ahead under a limit",
    arguments: [true, false])
  func beginsAheadBehindEmpty(ordered: Bool) async throws {
    let children = [[], [1], [2], [3], [4]].map { ScriptedSource(items: [$0]) }
    for child in children.dropFirst() { child.hold(1) }
    let walk = Cursor(ScriptedSource(sizes: 5)).flatMap(concurrency: 4, ordered: ordered) {
      Cursor(children[$0])
    }.limited(to: Limits(requests: 100)).walk()
    let items = Task { try await walk.items.collected() }
    for child in children { try await child.wait { $0.requests == [1] } }
    for child in children { child.release(1) }
    #expect(try await items.value.sorted() == [1, 2, 3, 4])
  }

  @Test(
    "16-Levels, 15-Limits: a limit that is reached in nested calls behind a page gets further",
    arguments: [true, false])
  func getsFurtherNested(ordered: Bool) async throws {
    let walk = Self.counted([[0, 1]]).flatMap(ordered: ordered) { parent in
      Self.counted([[parent]]).flatMap(ordered: ordered) { Self.counted([[$0]]) }
    }.limited(to: Limits(requests: 4)).walk()
    var items: [Int] = []
    let error = await pageError { for try await page in walk { items += page.items } }
    #expect(items == [0] && error?.code == .limitExceeded)
    #expect(error?.message.contains("gets no further") == false)
  }

  @Test("16-Levels, 15-Limits: what children have answered is delivered before the limit of others")
  func deliversWhatWasPaidFor() async throws {
    for requests in 2...6 {
      let cursor = Self.counted([[0, 1, 2, 3, 4]]).flatMap(concurrency: 5, ordered: false) {
        Self.counted([[$0]])
      }
      let walk = cursor.limited(to: Limits(requests: requests)).walk()
      var items: [Int] = []
      let error = await pageError { for try await page in walk { items += page.items } }
      #expect(items.count == requests - 1 && (error == nil) == (requests == 6))
    }
  }

  @Test(
    "16-Levels C-8: however children arrive and wherever a walk stops, resuming loses and repeats none",
    arguments: UInt64(1)...150)
  func everywhere(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let ordered = Bool.random(using: &random)
    let concurrency = Int.random(in: 1...3, using: &random)
    let isFiltered = Bool.random(using: &random)
    var next = 0
    let children = (0..<Int.random(in: 1...4, using: &random)).map { _ in
      (0..<Int.random(in: 1...3, using: &random)).map { _ in
        (0..<Int.random(in: 0...6, using: &random)).map { _ in
          next += 1
          return next
        }
      }
    }
    func cursor() -> Cursor<Int> {
      let slices = (0..<5).map { _ in Int.random(in: 1...4, using: &random) }
      return Cursor(ScriptedSource(sizes: 1, children.count - 1)).flatMap(
        concurrency: concurrency, ordered: ordered
      ) { parent in
        let child = Self.arriving(children[parent], slices: slices)
        return isFiltered ? child.filter { $0 % 3 != 0 } : child
      }
    }
    let all = (1..<next + 1).filter { !isFiltered || $0 % 3 != 0 }
    var items: [Int] = []
    var position: Position? = .start
    // Each round takes something, or comes to the end; an empty page may take none.
    for _ in 0..<200 {
      guard let start = position else { break }
      var left = Int.random(in: 1...5, using: &random)
      var walk = cursor().resuming(from: start).walk()
      for _ in 0..<Int.random(in: 1...2, using: &random) {
        for try await item in walk.items {
          items.append(item)
          left -= 1
          if left <= 0 { break }
        }
        if Bool.random(using: &random) { walk = walk.copy() }
      }
      position = try stored(walk.report.checkpoint)
    }
    #expect(
      (ordered ? items : items.sorted()) == all,
      "seed \(seed): \(children), ordered \(ordered), concurrency \(concurrency): \(items)")
  }
}
