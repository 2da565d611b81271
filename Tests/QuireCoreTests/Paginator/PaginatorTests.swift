import QuireTesting
import TestSupport
import Testing

@testable import QuireCore

@Suite(.timeLimit(.minutes(15))) struct PaginatorTests {
  @Test("C-1, P-2: nothing is requested before the first page is asked for")
  func isLazy() async throws {
    let source = ScriptedSource(sizes: 1, 1)
    let paginator = Paginator(Cursor(source))
    let pages = paginator.makeAsyncIterator()
    let items = paginator.items.makeAsyncIterator()
    #expect(source.requests == [])
    #expect(paginator.report.end.name == "running")
    withExtendedLifetime((pages, items)) {}
  }

  @Test("PM-01, PM-02: after 6 of 10 items nothing more is requested; the 7th requests page 2")
  func prefetchesItems() async throws {
    let source = ScriptedSource(sizes: 10, 10, 10)
    var items = Paginator(Cursor(source)).items.makeAsyncIterator()
    for _ in 0..<6 { _ = try await items.next() }
    #expect(source.requests == [1])
    _ = try await items.next()
    try await source.wait { $0.requests == [1, 2] }
  }

  @Test(
    "C-8: a loop over items that was left goes on with the next item, at any item and threshold")
  func loopsAgainOverItems() async throws {
    for threshold in [Threshold.standard, .onDemand, .fraction(0), .remaining(items: 2)] {
      for stop in 0..<7 {
        let source = ScriptedSource(sizes: 3, 0, 3, 1)
        let paginator = Paginator(Cursor(source), threshold: threshold)
        var taken: [Int] = []
        for try await item in paginator.items {
          taken.append(item)
          #expect(paginator.report.items == taken.count)
          if item == stop { break }
        }
        if let checkpoint = paginator.report.checkpoint {
          let rest = try await Cursor(source).resuming(from: checkpoint).items.collected()
          #expect(taken + rest == Array(0..<7))
        } else {
          #expect(stop == 6)
        }
        let again =
          try await stop % 2 == 0
          ? paginator.items.collected() : paginator.drained().flatMap(\.self)
        #expect(taken + again == Array(0..<7))
        #expect(paginator.report.items == 7)
        #expect(paginator.report.end.name == "exhausted")
      }
    }
  }

  @Test(
    "C-8: while the last page is loaded and not delivered, the checkpoint does not say that all is read"
  )
  func checkpointOfUndeliveredPages() async throws {
    for _ in 0..<500 {
      let paginator = Paginator(Cursor(ScriptedSource(sizes: 2, 2)), threshold: .fraction(0))
      var pages = paginator.makeAsyncIterator()
      _ = try await pages.next()
      // The second page is on its way, and comes at any moment of these reports.
      for _ in 0..<20 where paginator.report.checkpoint == nil {
        Issue.record("The report has no checkpoint behind the first of two pages.")
        return
      }
      #expect(try await pages.next()?.items == [2, 3])
      #expect(paginator.report.checkpoint == nil)
    }
  }

  @Test("PM-06: fraction(1) never loads early, and the loop still yields everything")
  func yieldsEverything() async throws {
    let source = ScriptedSource(sizes: 10, 10)
    let paginator = Paginator(Cursor(source), threshold: .fraction(1))
    #expect(try await paginator.items.collected() == Array(0..<20))
  }

  @Test("X-06, TI-09, TI-10: page loop and item loop see the same walk, empty pages included")
  func drains() async throws {
    for sizes in [[2, 3], [0, 0, 3], [2, 0, 1], [1], [0]] {
      let source = ScriptedSource(sizes: sizes)
      let pages = try await Paginator(Cursor(source)).drained()
      #expect(pages.map(\.count) == sizes)
      let items = try await Paginator(Cursor(source)).items.collected()
      #expect(items == Array(0..<sizes.reduce(0, +)))
      #expect(source.requests == Array(1...sizes.count) + Array(1...sizes.count))
      #expect(source.log.maxConcurrent == 1)
    }
  }

  @Test("P-2: page n+1 is on its way while page n is handled, and nothing beyond it")
  func loadsWhileHandling() async throws {
    let source = ScriptedSource(sizes: 1, 1, 1, 1)
    var pages = Paginator(Cursor(source)).makeAsyncIterator()
    _ = try await pages.next()
    try await source.wait { $0.requests == [1, 2] && $0.running == 0 }
    _ = try await pages.next()
    try await source.wait { $0.requests == [1, 2, 3] && $0.running == 0 }
  }

  @Test("X-03, C4: break stops the look-ahead: at item 3 page 2 was never asked for, at 8 it was")
  func breakStops() async throws {
    for (stop, requests) in [(3, [1]), (8, [1, 2])] {
      let source = ScriptedSource(sizes: Array(repeating: 10, count: 9))
      source.hold(2)
      for try await item in Paginator(Cursor(source)).items where item + 1 == stop {
        if stop == 8 { try await source.wait { $0.requests == [1, 2] } }
        break
      }
      try await source.wait { $0.running == 0 }
      #expect(source.requests == requests)
      #expect(source.log.cancelled == (stop == 8 ? [2] : []))
    }
  }

  @Test(
    "C-7, X-02: cancelling the consumer cancels the load and throws; the position has not moved")
  func cancelsLoad() async throws {
    let source = ScriptedSource(sizes: 1, 1)
    source.hold(2)
    let paginator = Paginator(Cursor(source))
    let task = Task { try await paginator.drained() }
    try await source.wait { $0.requests == [1, 2] }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    try await source.wait { $0.cancelled == [2] && $0.running == 0 }
    #expect(paginator.report.end.name == "cancelled")
    #expect(paginator.report.checkpoint == 2)
    source.release(2)
    #expect(try await paginator.drained() == [[1]])
    #expect(source.requests == [1, 2, 2])
  }

  @Test("P-10, TI-29, C5: letting go of the paginator cancels silently")
  func deallocationCancels() async throws {
    let source = ScriptedSource(sizes: 1, 1)
    source.hold(2)
    var pages: Paginator<Int>.Iterator? = Paginator(Cursor(source)).makeAsyncIterator()
    _ = try await pages?.next()
    try await source.wait { $0.requests == [1, 2] }
    pages = nil
    try await source.wait { $0.cancelled == [2] && $0.running == 0 }
  }

  @Test("P-10: an iterator keeps its walk going when the paginator is let go of")
  func iteratorsKeepGoing() async throws {
    let source = ScriptedSource(sizes: 1, 1, 1)
    #expect(try await Paginator(Cursor(source)).drained() == [[0], [1], [2]])
  }

  @Test("P-5, TI-13: an error of a page loaded ahead is thrown after all items before it")
  func errorsComeInOrder() async throws {
    let source = ScriptedSource(sizes: 10, 10)
    source.fail(2)
    var items: [Int] = []
    let paginator = Paginator(Cursor(source))
    let error = await pageError {
      for try await item in paginator.items {
        items.append(item)
        if item == 6 { try await source.wait { $0.requests == [1, 2] && $0.running == 0 } }
      }
    }
    #expect(items == Array(0..<10))
    #expect(error?.underlying is ScriptedFailure)
    #expect(error?.checkpoint == 2)
    #expect(paginator.report.end.name == "failed(sourceFailed)")
    #expect(source.requests == [1, 2])
  }

  @Test("P-5, TI-03: another loop repeats the page that failed, and goes on at item 10")
  func retries() async throws {
    let source = ScriptedSource(sizes: 10, 10)
    source.fail(2)
    let paginator = Paginator(Cursor(source))
    await #expect(throws: PageError.self) { _ = try await paginator.items.collected() }
    #expect(try await paginator.items.collected() == Array(10..<20))
    #expect(source.requests == [1, 2, 2])
  }

  @Test("C-6: after an error the same iterator tries the same page again")
  func iteratorRetries() async throws {
    let source = ScriptedSource(sizes: 1, 1)
    source.fail(1, times: 2)
    var pages = Paginator(Cursor(source)).makeAsyncIterator()
    for _ in 0..<2 { await #expect(throws: PageError.self) { try await pages.next() } }
    #expect(try await pages.next()?.items == [0])
    #expect(try await pages.next()?.items == [1])
    #expect(try await pages.next() == nil)
    #expect(try await pages.next() == nil)
    #expect(source.requests == [1, 1, 1, 2])
  }

  @Test("P-3, C9: a consumer that never asks again leaves at most one page loaded ahead")
  func backpressure() async throws {
    let source = ScriptedSource(sizes: Array(repeating: 1, count: 1000))
    var pages = Paginator(Cursor(source)).makeAsyncIterator()
    for asked in 1...300 {
      _ = try await pages.next()
      try await source.wait { $0.requests.count == asked + 1 && $0.running == 0 }
    }
    #expect(source.requests.count == 301)
  }

  @Test("C-10: the report counts what the consumer has, not what is loaded ahead")
  func reports() async throws {
    let source = ScriptedSource(sizes: 2, 2, 2)
    let paginator = Paginator(Cursor(source))
    var pages = paginator.makeAsyncIterator()
    _ = try await pages.next()
    try await source.wait { $0.requests == [1, 2] && $0.running == 0 }
    #expect(paginator.report.pages == 1)
    #expect(paginator.report.items == 2)
    #expect(paginator.report.checkpoint == 2)
    #expect(paginator.report.end.name == "running")
    while try await pages.next() != nil {}
    #expect(paginator.report.pages == 3)
    #expect(paginator.report.end.name == "exhausted")
    #expect(paginator.report.checkpoint == nil)
  }

  @Test("C-8: the checkpoint of an item loop lies behind the item it got last")
  func checkpointsInsidePages() async throws {
    let source = ScriptedSource(sizes: 10, 10)
    let paginator = Paginator(Cursor(source), threshold: .fraction(0.6))
    var items = paginator.items.makeAsyncIterator()
    for count in 1...9 {
      _ = try await items.next()
      #expect(paginator.report.checkpoint == Position(nil, itemOffset: count))
      #expect(paginator.report.items == count)
    }
    _ = try await items.next()
    #expect(paginator.report.checkpoint == 2)
  }

  @Test("C-9: limits hold for a paginator, too")
  func limits() async throws {
    let source = ScriptedSource(sizes: 4, 4, 4)
    let paginator = Paginator(Cursor(source, limits: Limits(items: 6)))
    #expect(try await paginator.drained() == [[0, 1, 2, 3], [4, 5]])
    #expect(paginator.report.end.name == "limit(items)")
    #expect(paginator.report.checkpoint == Position(2, itemOffset: 2))
    #expect(source.requests == [1, 2])
  }

  @Test("A paginator that may load no page ahead says so at the first next()")
  func refusesBounds() async throws {
    let source = ScriptedSource(sizes: 1)
    for paginator in [
      Paginator(Cursor(source), maxPagesAhead: 0), Paginator(Cursor(source), maxBytesAhead: -1),
    ] {
      #expect(await pageError { _ = try await paginator.drained() }?.code == .invalidArgument)
    }
    #expect(source.requests == [])
  }

  @Test("P-1: two loops over one paginator share its pages; each page goes to one of them")
  func sharesPages() async throws {
    let source = ScriptedSource(sizes: Array(repeating: 1, count: 100))
    let paginator = Paginator(Cursor(source))
    async let first = paginator.items.collected()
    async let second = paginator.items.collected()
    let all = try await first + second
    #expect(all.sorted() == Array(0..<100))
    #expect(source.requests == Array(1...100))
    #expect(source.log.maxConcurrent == 1)
  }

  @Test("C-7: a paginator closes its source once, at the end and when the loop is left")
  func closes() async throws {
    let drained = ScriptedSource(sizes: 1, 1, needsClosing: true)
    _ = try await Paginator(Cursor(drained)).drained()
    try await drained.wait { $0.closes == [nil] }
    let left = ScriptedSource(sizes: 1, 1, 1, needsClosing: true)
    left.hold(2)
    for try await _ in Paginator(Cursor(left)) { break }
    try await left.wait { $0.closes == [2] }
    #expect(left.log.running == 0)
  }

  @Test("X-12: a loop that never pauses still loads ahead, at the 7th of 10 items")
  func loadsAheadWithoutPause() async throws {
    let source = ScriptedSource(sizes: 10, 10)
    let paginator = Paginator(Cursor(source))
    var consumed = 0
    var firstLoad: Int?
    for try await _ in paginator.items {
      consumed += 1
      // It is decided in the call that hands the item out; when the page comes does not matter.
      if firstLoad == nil,
        await paginator.isLoading || source.requests.count > 1
      {
        firstLoad = consumed
      }
    }
    #expect(consumed == 20)
    #expect(firstLoad == 7)
  }

  @Test("X-05, K-02: a fraction of the last page loads at 7, 17, 27, 37, 47, and at 2, 8, 12")
  func fractionOfLastPage() async throws {
    let threshold = Threshold.fraction(0.6, of: .lastPage)
    for (sizes, expected) in [
      (Array(repeating: 10, count: 6), [7, 17, 27, 37, 47]), ([3, 7, 2, 9], [2, 8, 12]),
    ] {
      let source = ScriptedSource(sizes: sizes)
      var items = Paginator(Cursor(source), threshold: threshold).items.makeAsyncIterator()
      var loads: [Int] = []
      for consumed in 1...sizes.reduce(0, +) {
        _ = try await items.next()
        guard loads.count < expected.count else { break }
        if consumed == expected[loads.count] {
          let count = loads.count + 2
          try await source.wait { $0.requests.count == count && $0.running == 0 }
          loads.append(consumed)
        }
        #expect(source.requests.count == loads.count + 1)
      }
      #expect(loads == expected)
    }
  }
}
