import Foundation
import QuireTesting
import Synchronization
import Testing

@testable import QuireCore

/// Listings made of listings, by transforms that a seed decides. Sources fail and answer in any order, walks are
/// left anywhere, and each goes on in another process.
@Suite("Compositions of listings, left anywhere and gone on with", .timeLimit(.minutes(15)))
struct ComposedListingTests {
  /// A listing of numbers, how it is made, and what is in it.
  private struct Listing: CustomStringConvertible {
    var description: String
    var items: [Int]
    /// Whether it has an order of its own, which no failure changes.
    var isOrdered: Bool
    /// The listing, whose sources fail and pause as `chance` says.
    var cursor: @Sendable (_ chance: Chance) -> Cursor<Int>

    static func pages(_ pages: [[Int]]) -> Listing {
      Listing(
        description: "\(pages)", items: pages.flatMap { $0 }, isOrdered: true
      ) { chance in
        Cursor<Int> { position in
          try await chance.pass()
          let number = position?.value?.integer ?? 0
          guard number < pages.count else {
            throw PageError(.positionMismatch, "\(pages) has no page \(number).")
          }
          let isLast = number + 1 == pages.count
          return Page(pages[number], next: isLast ? nil : Position(integerLiteral: number + 1))
        }
      }
    }

    func transformed(
      _ name: String, items: [Int]? = nil, isOrdered: Bool = true,
      _ transform: @escaping @Sendable (Cursor<Int>, Chance) -> Cursor<Int>
    ) -> Listing {
      Listing(
        description: "\(self).\(name)", items: items ?? self.items,
        isOrdered: self.isOrdered && isOrdered
      ) { [cursor] chance in transform(cursor(chance), chance) }
    }
  }

  /// What happens by chance while listings are read.
  private final class Chance: Sendable {
    private let random: Mutex<SeededGenerator>
    private let failures: Int

    /// `failures` of a hundred reads fail.
    init(seed: UInt64, failures: Int) {
      random = Mutex(SeededGenerator(seed: seed))
      self.failures = failures
    }

    func pass() async throws {
      let (turns, fails) = random.withLock {
        (Int.random(in: 0..<4, using: &$0), Int.random(in: 0..<100, using: &$0) < failures)
      }
      for _ in 0..<turns { await Task.yield() }
      if fails { throw ScriptedFailure() }
    }
  }

  // MARK: Listings

  private static func listing(depth: Int, _ random: inout SeededGenerator) -> Listing {
    guard depth > 0, Int.random(in: 0..<6, using: &random) > 0 else {
      var next = 0
      return .pages(
        (0..<Int.random(in: 1...5, using: &random)).map { _ in
          (0..<Int.random(in: 0...4, using: &random)).map { _ in
            next += 1
            return next
          }
        })
    }
    let kind = Int.random(in: 0..<9, using: &random)
    if kind > 6 {
      return merged(
        (0..<Int.random(in: 1...3, using: &random)).map { _ in
          listing(depth: depth - 1, &random)
        }, inOrder: kind == 8)
    }
    let base = listing(depth: depth - 1, &random)
    let size = Int.random(in: 1...4, using: &random)
    switch kind {
    case 0:
      return base.transformed("map", items: base.items.map { -$0 }) { one, _ in one.map { -$0 } }
    case 1:
      return base.transformed("filter", items: base.items.filter { $0 % 3 != 0 }) { one, _ in
        one.filter { $0 % 3 != 0 }
      }
    case 2: return base.transformed("paged(\(size))") { one, _ in one.paged(by: size) }
    case 3: return base.transformed("parallel(\(size))") { one, _ in one.parallel(size) }
    case 4: return base.transformed("cached") { one, _ in one.cached() }
    default: return children(of: base, concurrency: size, ordered: kind == 5)
    }
  }

  private static func children(of base: Listing, concurrency: Int, ordered: Bool) -> Listing {
    @Sendable func child(_ parent: Int) -> [[Int]] {
      let items = (0..<abs(parent) % 6).map { parent * 10 + $0 }
      return stride(from: 0, to: items.count, by: 2).map { Array(items[$0...].prefix(2)) } + [[]]
    }
    return base.transformed(
      "flatMap(\(concurrency), ordered: \(ordered))",
      items: base.items.flatMap { child($0).flatMap { $0 } }, isOrdered: ordered
    ) { one, chance in
      one.flatMap(concurrency: concurrency, ordered: ordered) {
        Listing.pages(child($0)).cursor(chance)
      }
    }
  }

  private static func merged(_ sources: [Listing], inOrder: Bool) -> Listing {
    Listing(
      description: "merged(\(sources), inOrder: \(inOrder))", items: sources.flatMap { $0.items },
      isOrdered: false
    ) { chance in
      let options = MergeOptions(pageSize: 3, skew: nil)
      let cursors = sources.map { $0.cursor(chance) }
      return inOrder
        ? .merged(cursors, by: { $0 }, options: options) : .merged(cursors, options: options)
    }
  }

  // MARK: Walks

  /// Reads up to `count` items of a walk, whole pages or items, and leaves it; failures of sources end it, too.
  private static func read(
    _ count: Int, of walk: Walk<Int>, byPage: Bool, into items: inout [Int]
  ) async throws {
    var left = count
    do {
      if byPage {
        for try await page in walk {
          items += page.items
          left -= page.items.count
          if left <= 0 { break }
        }
      } else {
        for try await item in walk.items {
          items.append(item)
          left -= 1
          if left <= 0 { break }
        }
      }
    } catch let error as PageError where [.sourceFailed, .sourcesFailed].contains(error.code) {}
  }

  /// Where the first page goes on behind some of its items, which are read; nil where nothing is left.
  private static func readInside(
    _ walk: Walk<Int>, _ random: inout SeededGenerator, into items: inout [Int]
  ) async throws -> Position? {
    let page: Page<Int>?
    do {
      page = try await walk.next()
    } catch let error as PageError where [.sourceFailed, .sourcesFailed].contains(error.code) {
      return walk.report.checkpoint
    }
    guard let page else { return walk.report.checkpoint }
    let count = Int.random(in: 0...page.items.count, using: &random)
    items += page.items.prefix(count)
    return page.position(afterItems: count)
  }

  /// Reads a listing in many walks, each from a position that was stored, and expects each of its items once.
  private static func readInParts(
    _ listing: Listing, _ random: inout SeededGenerator, _ name: String
  ) async throws {
    let failures = [0, 0, 5, 15].randomElement(using: &random) ?? 0
    let chance = Chance(seed: random.next(), failures: failures)
    var items: [Int] = []
    var position: Position? = .start
    var rounds = 0
    while let start = position, rounds < 3_000 {
      rounds += 1
      let cursor = listing.cursor(chance)
      var walk = (start == .start ? cursor : cursor.resuming(from: start)).walk()
      if Int.random(in: 0..<4, using: &random) == 0 {
        position = try await readInside(walk, &random, into: &items)
      } else {
        for _ in 0..<Int.random(in: 1...2, using: &random) {
          try await read(
            Int.random(in: 1...8, using: &random), of: walk, byPage: .random(using: &random),
            into: &items)
          if Bool.random(using: &random) { walk = walk.copy() }
        }
        position = walk.report.checkpoint
      }
      position = try position.map {
        try JSONDecoder().decode(Position.self, from: JSONEncoder().encode($0))
      }
    }
    let expected = listing.isOrdered ? listing.items : listing.items.sorted()
    #expect(
      position == nil && (listing.isOrdered ? items : items.sorted()) == expected,
      "\(name), \(failures) % fail: \(listing)")
  }

  @Test(
    "16-Levels C-8: however listings are composed, a position anywhere loses and repeats no item",
    arguments: UInt64(1)...400)
  func everywhere(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let listing = Self.listing(depth: Int.random(in: 1...4, using: &random), &random)
    guard listing.items.count < 1_000 else { return }
    try await Self.readInParts(listing, &random, "seed \(seed)")
  }

  @Test(
    "16-Levels C-8: a parent is found again that a merge takes from a listing of unordered children",
    arguments: UInt64(1)...60)
  func parentsOfMerges(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let sources = (0..<2).map { source in
      let first = 2 + source
      let pages = Listing.pages([
        [first, first + 1].dropLast(Int.random(in: 0...1, using: &random))
      ])
      return Self.children(
        of: Self.children(of: pages, concurrency: 2, ordered: false),
        concurrency: Int.random(in: 1...2, using: &random), ordered: true)
    }
    let listing = Self.children(
      of: Self.merged(sources, inOrder: false), concurrency: Int.random(in: 1...2, using: &random),
      ordered: .random(using: &random))
    try await Self.readInParts(listing, &random, "seed \(seed)")
  }

  @Test(
    "16-Levels C-8: the listing of a merge's item goes on, though another source answers first by then",
    arguments: [true, false], [true, false])
  func anchorsParents(ordered: Bool, mergesInOrder: Bool) async throws {
    let isAway = Mutex(true)
    let early = Cursor<Int> { _ in
      if isAway.withLock({ $0 }) { throw ScriptedFailure() }
      return Page([1])
    }
    let sources = [early, Cursor(pages: [[2, 3]])]
    let parents: Cursor<Int> = mergesInOrder ? .merged(sources, by: { $0 }) : .merged(sources)
    let cursor = parents.flatMap(ordered: ordered) { parent in
      Cursor(pages: [[parent * 10], [parent * 10 + 1]])
    }
    for count in 1...3 {
      isAway.withLock { $0 = true }
      let walk = cursor.walk()
      var items: [Int] = []
      for try await item in walk.items {
        items.append(item)
        if items.count == count { break }
      }
      isAway.withLock { $0 = false }
      let position = try #require(walk.report.checkpoint)
      let stored = try JSONDecoder().decode(Position.self, from: JSONEncoder().encode(position))
      items += try await cursor.resuming(from: stored).items.collect()
      #expect(items.sorted() == [10, 11, 20, 21, 30, 31], "\(count) items: \(items)")
    }
  }

  @Test(
    "16-Levels: a listing of listings begins where its parents' cursor does",
    arguments: [true, false])
  func beginsWithItsParents(ordered: Bool) async throws {
    let parents = Cursor(pages: [[1], [2], [3]])
    let behind = try #require(try await parents.walk().next()?.checkpoint)
    let items = parents.resuming(from: behind).flatMap(ordered: ordered) { Cursor(pages: [[$0]]) }
    #expect(try await items.items.collect() == [2, 3])
  }
}
