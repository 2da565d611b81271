import Foundation
@testable import QuireCore
import QuireLists
import QuireTesting
import TestSupport
import Testing

@Suite("Resuming a cursor whose pages were changed on the way", .timeLimit(.minutes(15)))
struct RepagedResumingTests {
  @Test(
    "12-L16: a page that begins on empty pages of the server is resumed at exactly the next item")
  func emptyFirst() async throws {
    let pages = [[], [0, 1, 2, 3, 4], [], [5]]
    for size in 1...7 {
      for count in 0...6 {
        let walk = Cursor(pages: pages).paged(by: size).limited(to: Limits(items: count)).walk()
        let first = try await walk.drained().flatMap(\.self)
        let position = try stored(walk.report.checkpoint)
        guard let position else { continue }
        let rest = try await Cursor(pages: pages).paged(by: size).resuming(from: position).drained()
        #expect(first + rest.flatMap(\.self) == Array(0..<6), "pages of \(size), \(count) items")
      }
    }
  }

  @Test("15-Limits, 12-L16: each walk resumed under a limit on requests gets further")
  func limitedRequests() async throws {
    let pages = [[0, 1], [2], [], [3, 4, 5, 6], [7]]
    for size in 1...9 {
      let source = ScriptedSource(items: pages)
      let cursor = Cursor(source).paged(by: size).limited(to: Limits(requests: 1))
      var items: [Int] = []
      var positions: [Position] = []
      var position: Position? = .start
      while let start = position, !positions.contains(start) {
        positions.append(start)
        let walk = cursor.resuming(from: start).walk()
        do {
          for try await page in walk { items += page.items }
        } catch PageError.Code.limitExceeded {}
        position = try stored(walk.report.checkpoint)
      }
      #expect(items == Array(0..<8) && position == nil, "pages of \(size): \(positions)")
      #expect(source.requests.count == positions.count)
    }
    // Behind the last item of a page, too, where the page has nothing more to give.
    let cursor = Cursor(pages: pages).paged(by: 3).limited(to: Limits(requests: 1))
    let walk = cursor.resuming(from: Position(nil, itemOffset: 2)).walk()
    #expect(try await walk.next()?.items == [])
    #expect(await pageError { _ = try await walk.next() }?.checkpoint == 1)
  }

  @Test("C-3: what was read is delivered before too many empty pages are an error")
  func emptyBehindItems() async throws {
    let pages = [[0, 1], [], [], [], [], [2]]
    let cursor = Cursor(pages: pages).paged(by: 5).limited(to: Limits(consecutiveEmptyPages: 1))
    let walk = cursor.walk()
    #expect(try await walk.next()?.items == [0, 1])
    for _ in 0..<2 {
      #expect(await pageError { _ = try await walk.next() }?.code == .limitExceeded)
    }
    let rest = cursor.resuming(from: try #require(walk.report.checkpoint)).walk()
    #expect(try await rest.next()?.items == [])
    let last = cursor.resuming(from: try #require(rest.report.checkpoint))
    #expect(try await last.drained() == [[2]])
  }

  /// One way of changing pages; all of them keep items apart by their numbers.
  private enum Step: CaseIterable {
    case map, even, none, paged, deduplicated, cached, retrying, parallel, observed

    func applied(to cursor: Cursor<Int>, _ random: inout SeededGenerator) -> Cursor<Int> {
      let number = Int.random(in: 1...6, using: &random)
      return switch self {
      case .map: cursor.map { $0 }
      case .even: cursor.filter { $0 % (number + 1) != 0 }
      case .none: cursor.compactMap { $0 / 7 % 2 == number % 2 ? nil : $0 }
      case .paged: cursor.paged(by: number)
      case .deduplicated: cursor.deduplicated { $0 }
      case .cached: cursor.cached()
      case .retrying: cursor.retrying(attempts: 2)
      case .parallel: cursor.parallel(number)
      case .observed: cursor.observed { _ in }
      }
    }
  }

  /// Where a walk stops.
  private enum Stop: CaseIterable { case items, pages, insidePage, behindPage, itemLoop, paginator }

  @Test(
    "12-L16 C-8: whatever changes the pages and wherever a walk stops, resuming loses and repeats none",
    arguments: UInt64(1)...400)
  func everywhere(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    var pages: [[Int]] = []
    for _ in 0..<Int.random(in: 1...8, using: &random) {
      let start = pages.joined().count
      let count = Bool.random(using: &random) ? Int.random(in: 0...6, using: &random) : 0
      pages.append(Array(start..<start + count))
    }
    let steps = (0..<Int.random(in: 1...4, using: &random)).map { _ in
      Step.allCases.randomElement(using: &random) ?? .paged
    }
    let choices = random
    func cursor() -> Cursor<Int> {
      var random = choices
      return steps.reduce(Cursor(pages: pages)) { $1.applied(to: $0, &random) }
    }
    let all = try await cursor().drained().flatMap(\.self)

    var items: [Int] = []
    var position: Position? = .start
    var stops: [Stop] = []
    // Each round takes something, or comes to the end; an empty page may take none.
    for _ in 0..<200 {
      guard let start = position else { break }
      let stop = Stop.allCases.randomElement(using: &random) ?? .items
      stops.append(stop)
      let count = Int.random(in: 1...5, using: &random)
      let rest = cursor().resuming(from: start)
      position = try stored(try await take(count, of: rest, stop, &items))
    }
    #expect(
      items == all, "seed \(seed): \(pages) through \(steps), stopped by \(stops): \(items)")
  }

  /// Takes some items, and returns where to go on; nil at the end.
  private func take(
    _ count: Int, of cursor: Cursor<Int>, _ stop: Stop, _ items: inout [Int]
  ) async throws -> Position? {
    switch stop {
    case .items, .pages:
      let limits = stop == .items ? Limits(items: count) : Limits(pages: count)
      let walk = cursor.limited(to: limits).walk()
      for try await page in walk { items += page.items }
      return walk.report.checkpoint
    case .insidePage:
      let walk = cursor.walk()
      for try await page in walk {
        let taken = min(count, page.items.count)
        items += page.items.prefix(taken)
        return page.position(afterItems: taken)
      }
      return walk.report.checkpoint
    case .behindPage:
      let walk = cursor.walk()
      for try await page in walk {
        items += page.items
        return page.checkpoint
      }
      return walk.report.checkpoint
    case .itemLoop:
      let walk = cursor.walk()
      var left = count
      for try await item in walk.items {
        items.append(item)
        left -= 1
        if left == 0 { break }
      }
      return walk.report.checkpoint
    case .paginator:
      let paginator = Paginator(cursor)
      var left = count
      for try await page in paginator {
        items += page.items
        left -= 1
        if left == 0 { break }
      }
      return paginator.report.checkpoint
    }
  }

  private func stored(_ position: Position?) throws -> Position? {
    guard let position else { return nil }
    return try JSONDecoder().decode(Position.self, from: try JSONEncoder().encode(position))
  }
}
