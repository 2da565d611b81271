@testable import QuireCore
import QuireTesting
import Synchronization
import TestSupport
import Testing

@Suite("One walk over listings of listings", .timeLimit(.minutes(15)))
struct FanOutWalkTests {
  /// How a walk is broken off and gone on with.
  enum Break: CaseIterable, Sendable { case loop, copy, copyWithinLoop, paginator, paged, failure }

  struct Case: Sendable, CustomStringConvertible {
    let kind: Break
    let ordered: Bool
    let concurrency: Int

    var description: String { "\(kind), ordered \(ordered), concurrency \(concurrency)" }

    static let all = Break.allCases.flatMap { kind in
      [true, false].flatMap { ordered in
        [1, 3].map { Case(kind: kind, ordered: ordered, concurrency: $0) }
      }
    }
  }

  /// Pages of two items, of the numbers from `start` on.
  private static func numbers(_ start: Int, _ count: Int) -> Cursor<Int> {
    let pages = stride(from: start, to: start + count, by: 2).map {
      Array($0..<min($0 + 2, start + count))
    }
    return Cursor(ScriptedSource(items: pages))
  }

  /// All items of one walk that is broken off behind `count` of them.
  private func items(
    of cursor: Cursor<Int>, breakingOffAfter count: Int, _ kind: Break
  ) async throws -> [Int] {
    switch kind {
    case .loop, .copy, .failure:
      let walk = cursor.walk()
      var items = try await take(count, of: walk)
      items += try await take(.max, of: kind == .copy ? walk.copy() : walk)
      return items
    case .copyWithinLoop:
      let walk = cursor.walk()
      var pages = walk.makeAsyncIterator()
      var items: [Int] = []
      while items.count < count, let page = try await pages.next() { items += page.items }
      let rest = try await take(.max, of: walk.copy())
      let others = try await take(.max, of: walk)
      #expect(rest.sorted() == others.sorted())
      return items + rest
    case .paginator:
      let paginator = Paginator(cursor)
      var items = try await take(count, of: paginator)
      items += try await take(.max, of: paginator)
      return items
    case .paged:
      let walk = cursor.paged(by: 3).walk()
      var items = try await take(count, of: walk)
      items += try await take(.max, of: walk)
      return items
    }
  }

  private func take(
    _ count: Int, of pages: some PageSequence<Int>
  ) async throws -> [Int] {
    var items: [Int] = []
    for _ in 0..<100 {
      do {
        for try await page in pages {
          items += page.items
          if items.count >= count { return items }
        }
        return items
      } catch let error as PageError where error.code == .sourceFailed {
        // Looping again goes on with the page that failed.
      }
    }
    Issue.record("The walk fails for ever.")
    return items
  }

  @Test(
    "16-Levels C-9: the parents' limits count over all loops of a walk and its copies",
    arguments: Case.all)
  func keepsParentsLimits(_ example: Case) async throws {
    try await check(example, Self.numbers(0, 8).limited(to: Limits(items: 3)), 3, having: 4) {
      Self.numbers(10 * $0, 4)
    }
  }

  @Test(
    "16-Levels C-9: a child's limits count over all loops of a walk and its copies",
    arguments: Case.all)
  func keepsChildrensLimits(_ example: Case) async throws {
    try await check(example, Self.numbers(0, 3), 3, having: 5) {
      Self.numbers(10 * $0, 9).limited(to: Limits(items: 5))
    }
  }

  @Test(
    "16-Levels C-11: a child that drops repeated items knows them in all loops of a walk",
    arguments: Case.all)
  func keepsKeys(_ example: Case) async throws {
    let pages = [[0, 1, 2], [2, 1, 3], [3, 0, 4], [4, 5, 1]]
    try await check(example, Self.numbers(0, 2), 2, having: 6) { parent in
      Cursor(ScriptedSource(items: pages.map { $0.map { 10 * parent + $0 } })).deduplicated { $0 }
    }
  }

  /// Checks that a walk has all of so many items of each of so many parents, wherever it is broken off.
  private func check(
    _ example: Case, _ parents: @autoclosure () -> Cursor<Int>, _ parentCount: Int,
    having itemCount: Int, _ children: @escaping @Sendable (Int) -> Cursor<Int>
  ) async throws {
    let all = (0..<parentCount).flatMap { parent in (0..<itemCount).map { 10 * parent + $0 } }
    for count in 1..<12 {
      let cursor = failing(example.kind, parents(), example, children)
      let items = try await items(of: cursor, breakingOffAfter: count, example.kind)
      #expect(items.sorted() == all, "broken off behind \(count): \(items)")
    }
  }

  /// The listing of listings, where each child fails once at its third item if that is what breaks the walk off.
  private func failing(
    _ kind: Break, _ parents: Cursor<Int>, _ example: Case,
    _ children: @escaping @Sendable (Int) -> Cursor<Int>
  ) -> Cursor<Int> {
    let failed = Once()
    return parents.flatMap(concurrency: example.concurrency, ordered: example.ordered) { parent in
      let items = Mutex(0)
      return children(parent).map { item in
        let isThird = items.withLock { items in
          items += 1
          return items == 3
        }
        if kind == .failure, isThird, failed.isFirst(parent) {
          throw PageError(.sourceFailed, "Not now.")
        }
        return item
      }
    }
  }

  /// The parents of which a child has failed.
  private final class Once: Sendable {
    private let parents = Mutex<Set<Int>>([])

    func isFirst(_ parent: Int) -> Bool { parents.withLock { $0.insert(parent).inserted } }
  }

  @Test(
    "16-Levels C-2: a walk that is left and gone on with asks for no page of a child again",
    arguments: [true, false])
  func asksForNothingAgain(ordered: Bool) async throws {
    let parents = ScriptedSource(sizes: 2, 1)
    let children = (0..<3).map { _ in ScriptedSource(sizes: 1, 1, 1) }
    let walk = Cursor(parents).flatMap(ordered: ordered) { Cursor(children[$0]) }.walk()
    var count = 0
    while try await take(1, of: walk) != [] { count += 1 }
    #expect(count == 9)
    #expect(parents.requests == [1, 2])
    for child in children { #expect(child.requests == [1, 2, 3]) }
  }

  @Test(
    "16-Levels C-7: leaving a walk closes the children that are open, and the next loop opens others",
    arguments: [true, false])
  func closesWhenLeft(ordered: Bool) async throws {
    let children = (0..<3).map { _ in ScriptedSource(items: [[1], [2]], needsClosing: true) }
    let walk = Cursor(ScriptedSource(sizes: 3)).flatMap(concurrency: 2, ordered: ordered) {
      Cursor(children[$0])
    }.walk()
    #expect(try await take(1, of: walk) == [1])
    await walk.close()
    while !children.contains(where: { !$0.log.closes.isEmpty }) { await Task.yield() }
    #expect(try await take(.max, of: walk).count == 5)
  }

  @Test(
    "16-Levels C-7: a loop that is cancelled while it waits closes the children that are open",
    arguments: [true, false])
  func closesWhenCancelled(ordered: Bool) async throws {
    let child = ScriptedSource(items: [[1], [2]], needsClosing: true)
    child.hold(2)
    let walk = Cursor(ScriptedSource(sizes: 1)).flatMap(ordered: ordered) { _ in Cursor(child) }
      .walk()
    let loop = Task { for try await _ in walk {} }
    try await child.wait { $0.requests == [1, 2] }
    loop.cancel()
    await #expect(throws: CancellationError.self) { try await loop.value }
    try await child.wait { !$0.closes.isEmpty }
    withExtendedLifetime(walk) {}
  }

  @Test(
    "16-Levels C-10: a copy of a walk warns of what the walk has to warn of",
    arguments: [true, false])
  func copiesWarnings(ordered: Bool) async throws {
    let walk = Cursor(ScriptedSource(sizes: 2)).flatMap(ordered: ordered) { _ in
      Cursor<Int> { _ in
        Page([1], total: Total(9))
      }
    }.walk()
    _ = try await walk.next()
    #expect(walk.report.warnings.map(\.code) == [.truncatedSource])
    #expect(walk.copy().report.warnings.map(\.code) == [.truncatedSource])
  }

  /// A listing that warns with its first page, and has more.
  private static func warning(_ name: String) -> Cursor<Int> {
    Cursor<Int> { _ in
      var page = Page([1], next: "more")
      page.warnings = [WalkReport.Warning(.init(name), "odd")]
      return page
    }
  }

  @Test(
    "16-Levels C-10: a walk that is not over has the warnings of parents and children, each once",
    arguments: [true, false])
  func warnsOfOpenListings(ordered: Bool) async throws {
    let walk = Self.warning("parents").flatMap(ordered: ordered) { _ in Self.warning("child") }
      .walk()
    _ = try await walk.next()
    #expect(walk.report.warnings.map(\.code.description) == ["parents", "child"])
  }

  @Test(
    "16-Levels C-10: a listing keeps its number in warnings when a walk is left and gone on with",
    arguments: [true, false])
  func keepsNumbers(ordered: Bool) async throws {
    let walk = Cursor(ScriptedSource(sizes: 3)).flatMap(concurrency: 3, ordered: ordered) { _ in
      Cursor<Int> { _ in Page([1], total: Total(9)) }
    }.walk()
    while try await take(1, of: walk) != [] {}
    let names = walk.report.warnings.map { String($0.message.prefix(9)) }
    #expect(names.sorted() == ["Listing 1", "Listing 2", "Listing 3"])
  }
}
