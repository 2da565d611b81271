import QuireCore
import QuireLists
import QuireTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct CursorTests {
  @Test("C-1: nothing is requested before the first next()")
  func requestsNothingUnasked() async throws {
    let source = ScriptedSource(sizes: 2, 1)
    let cursor = Cursor(source)
    var pages = cursor.makeAsyncIterator()
    var items = cursor.items.makeAsyncIterator()
    let walk = cursor.map { $0 + 1 }.filter { $0 > 1 }.paged(by: 3).walk()
    #expect(source.requests == [])
    #expect(walk.report.end.name == "running")
    _ = try await pages.next()
    #expect(source.requests == [1])
    _ = try await items.next()
    #expect(source.requests == [1, 1])
  }

  @Test("C-1, C7, X-17: each iteration is a walk of its own; two iterators are independent")
  func iteratesIndependently() async throws {
    let source = ScriptedSource(sizes: 2, 1)
    let cursor = Cursor(source)
    var first = cursor.makeAsyncIterator()
    var second = cursor.makeAsyncIterator()
    #expect(try await first.next()?.items == [0, 1])
    #expect(try await second.next()?.items == [0, 1])
    #expect(try await first.next()?.items == [2])
    #expect(try await second.next()?.items == [2])
    #expect(source.requests == [1, 1, 2, 2])
    #expect(try await cursor.drained() == [[0, 1], [2]])
    #expect(try await cursor.drained() == [[0, 1], [2]])
    #expect(source.requests == [1, 1, 2, 2, 1, 2, 1, 2])
  }

  @Test("C5: a sequence that is never iterated requests nothing and keeps nothing alive")
  func keepsNothingAlive() {
    weak var kept: ScriptedSource<Int>?
    do {
      let source = ScriptedSource(sizes: 1)
      kept = source
      _ = Cursor(source).items.makeAsyncIterator()
      #expect(source.requests == [])
    }
    #expect(kept == nil)
  }

  @Test("C-2, TI-01: one request for each page asked for, in order; the last page is delivered")
  func requestsInOrder() async throws {
    let source = ScriptedSource(sizes: 2, 1)
    var iterator = Cursor(source).makeAsyncIterator()
    #expect(try await iterator.next()?.items == [0, 1])
    #expect(source.requests == [1])
    #expect(try await iterator.next()?.items == [2])
    #expect(source.requests == [1, 2])
    #expect(try await iterator.next() == nil)
    #expect(source.requests == [1, 2])
  }

  @Test("C-2: the item view asks for a page when it has none left, and not before")
  func itemViewIsLazy() async throws {
    let source = ScriptedSource(sizes: 2, 2)
    var items = Cursor(source).items.makeAsyncIterator()
    _ = try await items.next()
    _ = try await items.next()
    #expect(source.requests == [1])
    _ = try await items.next()
    #expect(source.requests == [1, 2])
  }

  @Test("C-4, TI-09, TI-10, G8, G11: an empty or a short page ends nothing")
  func emptyPagesAreNoEnd() async throws {
    let source = ScriptedSource(sizes: 0, 0, 3, 0, 1)
    #expect(try await Cursor(source).drained() == [[], [], [0, 1, 2], [], [3]])
    #expect(try await Cursor(source).items.collected() == [0, 1, 2, 3])
    #expect(source.requests == [1, 2, 3, 4, 5, 1, 2, 3, 4, 5])
  }

  @Test("C-4, G7, X-08: a token that looks empty is a token; only its absence ends the walk")
  func emptyTokensAreTokens() async throws {
    let tokens: [Position] = ["", Position(.null), "null", 0, Position(.bool(false)), " "]
    let cursor = Cursor<Int> { position in
      let number = position.map { (tokens.firstIndex(of: $0) ?? -2) + 1 } ?? 0
      return Page([number], next: number < tokens.count ? tokens[number] : nil)
    }
    #expect(try await cursor.items.collected() == Array(0...tokens.count))
  }

  @Test("C-4: an answer that the listing ended before the position is an end without a page")
  func endsWithoutPage() async throws {
    let walk = Cursor<Int> { position in
      position == nil ? Page([1], next: "gone") : nil
    }.walk()
    #expect(try await walk.drained() == [[1]])
    #expect(walk.report.end.name == "exhausted")
    #expect(walk.report.checkpoint == nil)
    #expect(try await Cursor(ScriptedSource<Int>([])).drained() == [])
  }

  @Test("C-6, C8: after the end next() returns nil for ever, with no request")
  func staysOver() async throws {
    let source = ScriptedSource(sizes: 1)
    var pages = Cursor(source).makeAsyncIterator()
    var items = Cursor(source).items.makeAsyncIterator()
    _ = try await pages.next()
    _ = try await items.next()
    for _ in 0..<3 {
      #expect(try await pages.next() == nil)
      #expect(try await items.next() == nil)
    }
    #expect(source.requests == [1, 1])
  }

  @Test("C-6, TI-03: after an error the same iterator asks for the same page; nothing is skipped")
  func retriesTheSamePage() async throws {
    let source = ScriptedSource(sizes: 1, 1, 1)
    source.fail(2, times: 2)
    var iterator = Cursor(source).makeAsyncIterator()
    #expect(try await iterator.next()?.items == [0])
    for _ in 0..<2 {
      await #expect(throws: PageError.self) { try await iterator.next() }
    }
    #expect(try await iterator.next()?.items == [1])
    #expect(try await iterator.next()?.items == [2])
    #expect(try await iterator.next() == nil)
    #expect(source.requests == [1, 2, 2, 2, 3])
  }

  @Test("C-6: the item view, too, goes on with the page that failed")
  func itemViewRetries() async throws {
    let source = ScriptedSource(sizes: 2, 2)
    source.fail(2)
    var items = Cursor(source).items.makeAsyncIterator()
    #expect(try await items.next() == 0)
    #expect(try await items.next() == 1)
    await #expect(throws: PageError.self) { try await items.next() }
    #expect(try await items.next() == 2)
  }

  @Test("C-6: looping again over a walk goes on where it stopped, after an error and after a break")
  func loopsAgain() async throws {
    let source = ScriptedSource(sizes: 1, 1, 1, 1)
    source.fail(2)
    let walk = Cursor(source).walk()
    await #expect(throws: PageError.self) { for try await _ in walk {} }
    for try await page in walk {
      #expect(page.items == [1])
      #expect(page.index == 1)
      break
    }
    #expect(walk.report.end.name == "stoppedByConsumer")
    #expect(try await walk.items.collected() == [2, 3])
    #expect(walk.report.end.name == "exhausted")
    #expect(walk.report.pages == 4)
    #expect(source.requests == [1, 2, 2, 3, 4])
  }

  @Test("C-6, C-8: a loop over items that was left goes on with the next item, at any item")
  func loopsAgainOverItems() async throws {
    for stop in 0..<6 {
      let source = ScriptedSource(sizes: 3, 0, 2, 1)
      let walk = Cursor(source).walk()
      var taken: [Int] = []
      for try await item in walk.items {
        taken.append(item)
        #expect(walk.report.items == taken.count)
        if item == stop { break }
      }
      #expect(walk.report.end.name == (stop < 5 ? "stoppedByConsumer" : "exhausted"))
      if let checkpoint = walk.report.checkpoint {
        let rest = try await Cursor(source).resuming(from: checkpoint).items.collected()
        #expect(taken + rest == Array(0..<6))
      } else {
        #expect(stop == 5)
      }
      let copy = walk.copy()
      taken += try await walk.items.collected()
      #expect(taken == Array(0..<6))
      #expect(walk.report.items == 6)
      #expect(walk.report.pages == 4)
      #expect(walk.report.end.name == "exhausted")
      #expect(try await copy.items.collected() == Array((stop + 1)..<6))
    }
  }

  @Test("A page loop gets what a loop over items has left of a page, as a page")
  func pagesAfterItems() async throws {
    let walk = Cursor(ScriptedSource(sizes: 3, 2)).walk()
    for try await item in walk.items where item == 0 { break }
    let pages = try await walk.drained()
    #expect(pages == [[1, 2], [3, 4]])
  }

  @Test("Two loops over the items of one walk share them; what one leaves goes to the other")
  func sharesItems() async throws {
    let walk = Cursor(ScriptedSource(sizes: 3, 3, 1)).walk()
    var first: ItemSequence<Walk<Int>.ItemPages>.Iterator? = walk.items.makeAsyncIterator()
    var second = walk.items.makeAsyncIterator()
    #expect(try await first?.next() == 0)
    #expect(try await second.next() == 3)
    #expect(walk.report.checkpoint == Position(nil, itemOffset: 1))
    first = nil
    var rest: [Int] = []
    while let item = try await second.next() { rest.append(item) }
    #expect(rest == [4, 5, 1, 2, 6])
    #expect(walk.report.items == 7)
  }

  @Test("An error names the page, its position, the checkpoint and the cause")
  func describesErrors() async throws {
    let source = ScriptedSource(sizes: 1, 1)
    source.fail(2, with: ScriptedFailure("disk on fire"))
    let error = await pageError { _ = try await Cursor(source).drained() }
    #expect(error?.code == .sourceFailed)
    #expect(error?.pageIndex == 1)
    #expect(error?.position == 2)
    #expect(error?.checkpoint == 2)
    #expect(error?.underlying as? ScriptedFailure == ScriptedFailure("disk on fire"))
    #expect(error?.description.contains("disk on fire") == true)
  }

  @Test("X-09, TI-31, V107: a new cursor goes on from the checkpoint of an error")
  func resumesFromErrors() async throws {
    let source = ScriptedSource(sizes: Array(repeating: 1, count: 50))
    source.fail(40)
    let error = await pageError { _ = try await Cursor(source).drained() }
    let checkpoint = try #require(error?.checkpoint)
    let rest = try await Cursor(source).resuming(from: checkpoint).items.collected()
    #expect(rest == Array(39..<50))
    #expect(source.requests == Array(1...40) + Array(40...50))
  }

  @Test("TI-43: a closure is a source, and gets each position in order")
  func closureSource() async throws {
    let cursor = Cursor<Int> { position in
      let page = position?.value?.integer ?? 0
      return Page([page], next: page < 2 ? Position(integerLiteral: page + 1) : nil)
    }
    #expect(try await cursor.drained() == [[0], [1], [2]])
  }

  @Test("C-12: typed metadata and totals are reachable from the page and survive transforms")
  func metadataSurvives() async throws {
    struct SyncToken: Sendable { var text: String }
    var page = Page([1, 2, 3], total: Total(3))
    page.metadata[SyncToken.self] = SyncToken(text: "s1")
    let cursor = Cursor(ScriptedSource([page]))
      .map { $0 * 2 }.filter { $0 > 2 }.compactMap { String($0) }.paged(by: 10)
      .deduplicated { $0 }.cached().observed { _ in }.retrying(attempts: 2).parallel(2)
    for try await page in cursor {
      #expect(page.items == ["4", "6"])
      #expect(page.metadata[SyncToken.self]?.text == "s1")
      #expect(page.total == Total(3))
    }
  }
}
