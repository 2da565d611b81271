import QuireCore
import QuireLists
import QuireTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct TransformTests {
  private func even(_ number: Int) -> Bool { number.isMultiple(of: 2) }

  @Test("C-11, TI-36: filter keeps page boundaries; a page left empty is a page, and no end")
  func filters() async throws {
    let source = ScriptedSource(items: [[1, 2, 3], [4, 5], [7, 9]])
    let walk = Cursor(source).filter { $0.isMultiple(of: 2) }.walk()
    #expect(try await walk.drained() == [[2], [4], []])
    #expect(walk.report.end.name == "exhausted")
    let inTheMiddle = ScriptedSource(items: [[1], [3], [4]])
    #expect(try await Cursor(inTheMiddle).filter { $0 == 4 }.drained() == [[], [], [4]])
    #expect(inTheMiddle.requests == [1, 2, 3])
  }

  @Test("C-11, TI-36: map and compactMap keep page boundaries, and may wait and throw")
  func maps() async throws {
    let source = ScriptedSource(items: [[1, 2], [3]])
    #expect(try await Cursor(source).map { "\($0)" }.drained() == [["1", "2"], ["3"]])
    let halves = Cursor(source).compactMap { number async throws -> Int? in
      await Task.yield()
      return number == 2 ? nil : number * 10
    }
    #expect(try await halves.drained() == [[10], [30]])
  }

  @Test("C-11: transforms are lazy: a closure runs when its page is asked for")
  func isLazy() async throws {
    let source = ScriptedSource(sizes: 2, 2)
    let calls = ScriptedSource(sizes: Array(repeating: 1, count: 10))
    let cursor = Cursor(source).map { number in
      _ = try await calls.page(at: Position(integerLiteral: number + 1))
      return number
    }
    var iterator = cursor.makeAsyncIterator()
    #expect(calls.requests == [])
    _ = try await iterator.next()
    #expect(calls.requests == [1, 2])
    #expect(source.requests == [1])
  }

  @Test("C-11, C-6: a closure that throws fails its page with its cause; a retry reads it again")
  func closuresThrow() async throws {
    let source = ScriptedSource(items: [[1], [2]])
    let calls = ScriptedSource(sizes: 1, 1)
    calls.fail(2)
    let cursor = Cursor(source).map { number in
      _ = try await calls.page(at: Position(integerLiteral: number))
      return number
    }
    var iterator = cursor.makeAsyncIterator()
    #expect(try await iterator.next()?.items == [1])
    let error = await pageError { _ = try await iterator.next() }
    #expect(error?.code == .transformFailed)
    #expect(error?.underlying is ScriptedFailure)
    #expect(error?.checkpoint == 2)
    #expect(try await iterator.next()?.items == [2])
    #expect(source.requests == [1, 2, 2])
  }

  @Test("C-11: the report has what a page has cost on which a closure fails")
  func countsFailedPages() async throws {
    let calls = ScriptedSource(sizes: 1)
    calls.fail(1)
    let cursor = Cursor(ScriptedSource(items: [[1]])).map { number in
      _ = try await calls.page(at: Position(integerLiteral: number))
      return number
    }
    let walk = cursor.walk()
    let error = await pageError { _ = try await walk.next() }
    #expect(error?.traffic.requests == 1 && walk.report.traffic.requests == 1)
    #expect(try await walk.next()?.items == [1])
    #expect(walk.report.traffic.requests == 2 && walk.report.traffic.items == 1)
  }

  @Test("C-11, C-8: a filtered walk that was cut goes on at exactly the next item of the source")
  func filterResumes() async throws {
    let source = ScriptedSource(items: [[1, 2, 3, 4, 5, 6], [7, 8]])
    let evens = Cursor(source).filter { $0.isMultiple(of: 2) }
    let walk = evens.limited(to: Limits(items: 2)).walk()
    #expect(try await walk.drained() == [[2, 4]])
    let checkpoint = try #require(walk.report.checkpoint)
    #expect(checkpoint == Position(nil, itemOffset: 5))
    #expect(try await evens.resuming(from: checkpoint).drained() == [[6], [8]])
    #expect(try await Cursor(source).resuming(from: checkpoint).drained() == [[6], [7, 8]])
  }

  @Test("C-8: cutting anywhere and resuming loses and repeats nothing, for any chain of transforms")
  func resumesAnywhere() async throws {
    let source = ScriptedSource(items: [[1, 2, 3], [], [4], [5, 6, 7, 8, 9], [10, 12], [], [13]])
    let chains: [(String, Cursor<Int>)] = [
      ("plain", Cursor(source)),
      ("map", Cursor(source).map { -$0 }),
      ("filter", Cursor(source).filter { $0 % 3 != 0 }),
      ("filter twice", Cursor(source).filter { $0 % 3 != 0 }.filter { $0 % 2 != 0 }),
      ("paged", Cursor(source).paged(by: 4)),
      ("filter, paged", Cursor(source).filter { $0 % 3 != 0 }.paged(by: 2)),
      ("paged, filter", Cursor(source).paged(by: 4).filter { $0 % 3 != 0 }),
      (
        "paged, filter, map, paged",
        Cursor(source).paged(by: 4).filter { $0 % 3 != 0 }.map { $0 * 2 }.paged(by: 3)
      ),
      ("paged twice", Cursor(source).paged(by: 2).paged(by: 5)),
      ("deduplicated", Cursor(source).deduplicated { $0 }),
      ("cached", Cursor(source).cached()),
      ("filter, cached, paged", Cursor(source).filter { $0 % 3 != 0 }.cached().paged(by: 2)),
      ("observed, retrying", Cursor(source).observed { _ in }.retrying(attempts: 2)),
      ("paged, deduplicated", Cursor(source).paged(by: 4).deduplicated { $0 }),
      ("parallel", Cursor(source).parallel(2)),
    ]
    for (name, cursor) in chains {
      let whole = try await cursor.items.collected()
      for count in 0...whole.count {
        let walk = cursor.limited(to: Limits(items: count)).walk()
        let front = try await walk.items.collected()
        guard let checkpoint = walk.report.checkpoint else {
          #expect(front == whole, "\(name) cut at \(count)")
          continue
        }
        let rest = try await cursor.resuming(from: checkpoint).items.collected()
        #expect(front + rest == whole, "\(name) cut at \(count)")
      }
    }
  }

  @Test("C-8: a page can be resumed after any of its items")
  func resumesInsidePages() async throws {
    let source = ScriptedSource(items: [[1, 2, 3, 4], [5, 6]])
    let evens = Cursor(source).filter { $0 != 2 }
    var iterator = evens.makeAsyncIterator()
    let first = try #require(try await iterator.next())
    #expect(first.items == [1, 3, 4])
    #expect(first.position(afterItems: 0) == .start)
    #expect(first.position(afterItems: 1) == Position(nil, itemOffset: 2))
    #expect(first.position(afterItems: 2) == Position(nil, itemOffset: 3))
    #expect(first.position(afterItems: 3) == 2)
    #expect(first.position(afterItems: 99) == 2)
  }

  @Test("C-5: transforms do not hide a loop, not even while one page is being filled")
  func loopsShowThrough() async throws {
    let circle = Cursor<Int> { position in
      let page = position?.value?.integer ?? 0
      return Page([page], next: Position(integerLiteral: page == 2 ? 1 : page + 1))
    }
    let filtered = circle.filter { _ in false }
    #expect(await pageError { _ = try await filtered.drained() }?.code == .loopDetected)
    let walk = circle.paged(by: 100).walk()
    var pages: [[Int]] = []
    let error = await pageError { for try await page in walk { pages.append(page.items) } }
    #expect(error?.code == .loopDetected)
    #expect(pages == [[0, 1, 2]])
    #expect(await pageError { _ = try await walk.drained() }?.code == .loopDetected)
  }
}
