import QuireTesting
import TestSupport
import Testing

@testable import QuireCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// An item of a source: a key to order it by, and what tells it from all others.
struct Entry: Hashable, Sendable {
  var key: Int
  var id: String
}

@Suite(.timeLimit(.minutes(15))) struct MergeTests {
  private func source(_ pages: [[Int]]) -> ScriptedSource<Int> { ScriptedSource(items: pages) }

  /// The code of the error that `body` throws.
  private func code(_ body: () async throws -> Void) async -> PageError.Code? {
    do {
      try await body()
      return nil
    } catch {
      return (error as? PageError)?.code
    }
  }

  private func restored(_ position: Position) throws -> Position {
    try JSONDecoder().decode(Position.self, from: JSONEncoder().encode(position))
  }

  @Test(
    "17-Order: pages of several sources come as one listing, in the order of the key, both ways")
  func order() async throws {
    let sources = [
      source([[1, 4], [7], [], [10, 13]]), source([[2, 5, 8, 11]]), source([[3, 6, 9], [12]]),
      source([]),
    ]
    let up = Cursor.merged(sources.map { Cursor($0) }, by: \.self, clock: ManualClock())
    #expect(try await up.items.collect() == Array(1...13))
    let down = [source([[9, 6], [3]]), source([[8, 7, 2]])].map { Cursor($0) }
    let merged = Cursor.merged(
      down, by: \.self, options: MergeOptions(order: .descending), clock: ManualClock())
    #expect(try await merged.items.collect() == [9, 8, 7, 6, 3, 2])
  }

  @Test("17-Order: items of equal keys come in the order of the sources")
  func equalKeys() async throws {
    let entries = ["a", "b", "c"].map { name in
      Cursor(ScriptedSource(items: [[Entry(key: 1, id: name), Entry(key: 2, id: name)]]))
    }
    let merged = Cursor.merged(entries, by: \.key, clock: ManualClock())
    let ids = try await merged.items.collect().map { "\($0.key)\($0.id)" }
    #expect(ids == ["1a", "1b", "1c", "2a", "2b", "2c"])
  }

  @Test("17-Order, C-1: nothing is asked before the first page, and then only what the order needs")
  func isLazy() async throws {
    let sources = [source([[1, 2], [3]]), source([[10, 20], [30]])]
    let merged = Cursor.merged(sources.map { Cursor($0) }, by: \.self, clock: ManualClock())
    #expect(sources.map(\.requests) == [[], []])
    var pages = merged.makeAsyncIterator()
    #expect(try await pages.next()?.items == [1, 2])
    #expect(sources.map(\.requests) == [[1], [1]])
    #expect(try await pages.next()?.items == [3, 10, 20])
    #expect(sources.map(\.requests) == [[1, 2], [1]])
    #expect(try await pages.next()?.items == [30])
    #expect(try await pages.next() == nil)
  }

  @Test("17-Order: a page has pageSize items at most, and no more loads run at once than may")
  func sizes() async throws {
    let sources = (0..<20).map { source([[$0, $0 + 20, $0 + 40]]) }
    let running = Recorder<Int>()
    let cursors = sources.map { source in
      Cursor<Int> { position in
        running.note(sources.reduce(0) { $0 + $1.log.running })
        await Task.yield()
        return try await source.page(at: position)
      }
    }
    let options = MergeOptions(pageSize: 7, concurrentLoads: 3)
    let pages = try await Cursor.merged(cursors, by: \.self, options: options, clock: ManualClock())
      .drained()
    #expect(pages.flatMap(\.self) == Array(0..<60))
    #expect(pages.allSatisfy { (1...7).contains($0.count) })
    #expect(running.values.allSatisfy { $0 < 3 })
  }

  @Test("17-Order: a source that is not ordered is named in the report, and nothing of it is lost")
  func unordered() async throws {
    let walk = Cursor.merged(
      [source([[1, 9, 2]]), source([[3, 4]])].map { Cursor($0) }, by: \.self, clock: ManualClock()
    ).walk()
    #expect(try await walk.items.collect().sorted() == [1, 2, 3, 4, 9])
    #expect(walk.report.warnings.map(\.code) == [.unorderedSource])
    #expect(walk.report.warnings[0].message.contains("Source 0"))
  }

  @Test("17-Order: what the sources adjust is in the report, with the source's name, once")
  func adjustments() async throws {
    func adjusting(_ items: [Int]) -> Cursor<Int> {
      Cursor<Int> { _ in
        var page = Page(items)
        page.head.adjustments = [.init(.pageSize, from: 100, to: 50, "It was too much.")]
        return page
      }
    }
    let options = MergeOptions(pageSize: 1)
    let walk = Cursor.merged(
      [adjusting([1, 2]), adjusting([])], by: \.self, options: options, clock: ManualClock()
    ).walk()
    #expect(try await walk.items.collect() == [1, 2])
    #expect(
      walk.report.adjustments.map(\.reason).sorted()
        == (0...1).map { "Source \($0) of the merge: It was too much." })
  }

  @Test("What was adjusted for the answer that ended a listing is in every report")
  func adjustmentsAtEnd() async throws {
    let ending = Cursor<Int> { position in
      guard position != nil else { return Page([1], next: 1) }
      return Page.absent(after: .zero, [.init(.pageSize, from: 100, to: 50, "It was too much.")])
    }
    let parents = Cursor<Int> { _ in
      var page = Page([7])
      page.head.adjustments = [.init(.pageSize, from: 10, to: 5, "So were the parents.")]
      return page
    }
    let own = "It was too much."
    let walks = [
      (ending.walk(), [own]), (ending.paged(by: 1).walk(), [own]),
      (ending.paged(by: 2).walk(), [own]), (ending.parallel(4).walk(), [own]),
      (parents.flatMap { _ in ending }.walk(), ["So were the parents.", own]),
      (
        Cursor.merged([ending], by: \.self, clock: ManualClock()).walk(),
        ["Source 0 of the merge: \(own)"]
      ),
    ]
    for (walk, reasons) in walks {
      #expect(try await walk.items.collect() == [1])
      #expect(walk.report.adjustments.map(\.reason) == reasons)
      #expect(walk.report.isComplete)
    }
  }

  @Test("17-FirstCome: without a key a page is delivered as soon as any source has answered")
  func firstCome() async throws {
    let slow = source([[1], [2]])
    slow.hold(1)
    let quick = source([[10, 11], [12]])
    let walk = Cursor.merged([Cursor(slow), Cursor(quick)]).walk()
    #expect(try await walk.next()?.items == [10, 11])
    #expect(try await walk.next()?.items == [12])
    slow.release(1)
    #expect(try await walk.items.collect() == [1, 2])
    #expect(walk.report.isComplete)
  }

  @Test(
    "17-Skew: a source that does not answer holds up the others for the skew only, and is named")
  func skew() async throws {
    let clock = ManualClock()
    let slow = source([[1, 20]])
    slow.hold(1)
    let walk = Cursor.merged(
      [Cursor(slow), Cursor(source([[5, 6], [7]]))], by: \.self,
      options: MergeOptions(skew: .seconds(3)), clock: clock
    ).walk()
    let first = Task { try await walk.next()?.items }
    try await clock.waitForSleepers()
    #expect(walk.report.pages == 0)
    clock.advance(by: .seconds(3))
    #expect(try await first.value == [5, 6])
    #expect(try await walk.next()?.items == [7])
    #expect(walk.report.warnings.map(\.code) == [.laggingSource])
    slow.release(1)
    #expect(try await walk.items.collect() == [1, 20])
    #expect(walk.report.warnings[0].message.contains("1 item came later"))
    #expect(walk.report.isComplete)
  }

  @Test(
    "17-Skew: hung sources leave room for others; too many of them are given up, and can be retried"
  )
  func hungSources() async throws {
    let clock = ManualClock()
    let hung = (0..<5).map { source([[100 + $0]]) }
    for source in hung { source.hold(1) }
    let well = source([[1, 2]])
    let walk = Cursor.merged(
      (hung + [well]).map { Cursor($0) }, by: \.self,
      options: MergeOptions(concurrentLoads: 2, skew: .seconds(1)), clock: clock
    ).walk()
    let first = Task { try await walk.next()?.items }
    for asked in [2, 4, 5] {
      try await clock.waitForSleepers()
      #expect(hung.reduce(0) { $0 + $1.requests.count } <= asked)
      clock.advance(by: .seconds(1))
    }
    #expect(try await first.value == [1, 2])
    for source in hung { source.release(1) }
    var rest: [Int] = []
    do { rest += try await walk.items.collect() } catch PageError.Code.sourcesFailed {}
    for try await item in walk.items { rest.append(item) }
    #expect(Set(rest).isSubset(of: Set(100..<105)))
    #expect(walk.report.items == 7)
  }

  @Test(
    "17-Failure: a source that fails costs the others nothing; it is thrown last and can be retried"
  )
  func failure() async throws {
    let bad = source([[1], [4]])
    bad.fail(2, times: 2)
    let walk = Cursor.merged(
      [Cursor(bad), Cursor(source([[2, 3], [5]]))], by: \.self, clock: ManualClock()
    ).walk()
    var items: [Int] = []
    do {
      for try await item in walk.items { items.append(item) }
      Issue.record("the failure was not thrown")
    } catch let error as PageError {
      #expect(error.code == .sourcesFailed)
      #expect((error.underlying as? PageError.SourceFailures)?.errors.keys.sorted() == [0])
      let resumed = Cursor.merged(
        [Cursor(source([[1], [4]])), Cursor(source([[2, 3], [5]]))], by: \.self,
        clock: ManualClock()
      ).resuming(from: try restored(try #require(error.checkpoint)))
      #expect(try await resumed.items.collect() == [4])
    }
    #expect(items == [1, 2, 3, 5])
    #expect(walk.report.warnings.map(\.code).contains(.failedSource))
    #expect(await code { _ = try await walk.next() } == .sourcesFailed)
    #expect(try await walk.next()?.items == [4])
    #expect(try await walk.next() == nil)
    #expect(walk.report.isComplete)
  }

  @Test("17-Failure, 15-Limits: what was paid for is delivered before the limit others came to")
  func refused() throws {
    func makeMachine(key: (@Sendable (Int) -> Int)?) throws -> MergeMachine<Int, Int> {
      MergeMachine(
        rules: MergeRules(options: MergeOptions(), key: key, duplicates: nil),
        positions: try MergePositions(.start, sources: 5, window: 10, listing: nil))
    }
    let limit = PageError(.limitExceeded, "No more.", attempts: 0)
    for key in [nil, { $0 }] as [(@Sendable (Int) -> Int)?] {
      var machine = try makeMachine(key: key)
      let loads = machine.next(at: .zero).loads
      var outcomes: [MergeMachine<Int, Int>.Outcome?] = []
      for load in loads.suffix(2) {
        outcomes.append(machine.limited(limit, by: load, at: .zero)?.outcome)
      }
      for load in loads.prefix(3) {
        let action = machine.received(Page([load.source]), isLast: true, by: load, at: .zero)
        outcomes.append(action?.outcome)
        guard case .page? = action?.outcome else { continue }
        let next = machine.next(at: .zero)
        #expect(next.loads.isEmpty)
        outcomes.append(next.outcome)
      }
      var items: [Int] = []
      var codes: [PageError.Code] = []
      for case let outcome? in outcomes {
        switch outcome {
        case .page(let page): items += page.items
        case .failure(let error): codes.append(error.code)
        case .end: Issue.record("The merge is not over.")
        }
      }
      // In order, the items of the sources that were refused may come first.
      #expect(items == (key == nil ? [0, 1, 2] : []))
      #expect(codes == [.limitExceeded])
    }
  }

  @Test("17-Failure, 15-Limits: each merge resumed under a limit on requests gets further")
  func resumedUnderLimit() async throws {
    let sources = (0..<5).map { source in
      Cursor<Int> { _ in
        try WalkReading.requested()
        var page = Page([source])
        page.traffic = WalkReport.Traffic(requests: 1)
        return page
      }
    }
    let merged = Cursor.merged(sources).limited(to: Limits(requests: 3))
    var items: [Int] = []
    var position: Position? = .start
    for _ in 0..<5 {
      guard let start = position else { break }
      let walk = merged.resuming(from: start).walk()
      do {
        for try await page in walk { items += page.items }
      } catch PageError.Code.limitExceeded {}
      position = walk.report.checkpoint
    }
    #expect(items.sorted() == Array(0..<5))
    #expect(position == nil)
  }

  @Test("17-FirstCome: under a limit one source is asked for the first page, then all")
  func cautious() throws {
    var machine = MergeMachine<Int, Int>(
      rules: MergeRules(options: MergeOptions(), key: nil, duplicates: nil),
      positions: try MergePositions(.start, sources: 5, window: 10, listing: nil))
    machine.isLimited = true
    let loads = machine.next(at: .zero).loads
    #expect(loads.count == 1)
    let action = machine.received(Page([1]), isLast: true, by: loads[0], at: .zero)
    guard case .page? = action?.outcome else {
      Issue.record("The page was not delivered.")
      return
    }
    #expect((action?.loads.count ?? 0) + machine.next(at: .zero).loads.count == 4)
  }

  @Test("17-FirstCome: under a limit all sources are asked behind one that has nothing")
  func cautiousUntilEmpty() throws {
    for page in [nil, Page<Int>([])] {
      var machine = MergeMachine<Int, Int>(
        rules: MergeRules(options: MergeOptions(), key: nil, duplicates: nil),
        positions: try MergePositions(.start, sources: 5, window: 10, listing: nil))
      machine.isLimited = true
      let loads = machine.next(at: .zero).loads
      let action = machine.received(page, isLast: true, by: loads[0], at: .zero)
      #expect(action?.outcome == nil && action?.loads.count == 4)
    }
  }

  @Test("17-Resume, C-9: a copy of a merge whose load was cancelled counts a source's limits on")
  func copiesLimits() async throws {
    let slow = source([[1, 2], [3, 4], [5, 6]])
    slow.hold(2)
    let limited = Cursor(slow).limited(to: Limits(items: 3))
    let walk = Cursor.merged([limited, Cursor(source([[10]]))], by: { $0 }, clock: ManualClock())
      .walk()
    #expect(try await walk.next()?.items == [1, 2])
    let next = Task { try await walk.next() }
    try await slow.wait { $0.requests == [1, 2] }
    next.cancel()
    await #expect(throws: CancellationError.self) { try await next.value }
    slow.release(2)
    #expect(try await walk.copy().collect() == [3, 10])
    #expect(try await walk.collect() == [3, 10])
  }

  /// Walks that go on from one another under a limit on requests, as many as get further: their
  /// items, and how the last one ended.
  private func resumed(
    _ pages: [[[Int]]], by key: (@Sendable (Int) -> Int)?, requests: Int
  ) async throws -> (items: [Int], end: PageError?) {
    let sources = pages.map { pages in
      Cursor<Int> { position in
        try WalkReading.requested()
        let number = position?.value?.integer ?? 0
        let isLast = number + 1 == pages.count
        var page = Page(pages[number], next: isLast ? nil : Position(integerLiteral: number + 1))
        page.traffic = WalkReport.Traffic(requests: 1)
        return page
      }
    }
    let merged =
      key.map { Cursor.merged(sources, by: $0, clock: ManualClock()) } ?? Cursor.merged(sources)
    var items: [Int] = []
    var position = Position.start
    while true {
      let walk = merged.resuming(from: position).limited(to: Limits(requests: requests)).walk()
      let error = await pageError { for try await page in walk { items += page.items } }
      guard let error, let checkpoint = error.checkpoint, checkpoint != position else {
        return (items, error)
      }
      position = try restored(checkpoint)
    }
  }

  @Test(
    "17-Failure, 15-Limits: a merge that a limit ends behind empty pages is resumed behind them")
  func resumedOverEmptyPages() async throws {
    for key in [nil, { $0 }] as [(@Sendable (Int) -> Int)?] {
      let pages = [[[], [], [3]], [[]], [[], [1], [], [2]]]
      let (items, end) = try await resumed(pages, by: key, requests: key == nil ? 1 : 3)
      #expect(items.sorted() == [1, 2, 3] && end == nil, "\(items), \(String(describing: end))")
    }
  }

  @Test(
    "17-Failure, 15-Limits: a limit says where it is too low for a merge in order to get further")
  func tooFewRequests() async throws {
    let (items, end) = try await resumed([[[1]], [[2]], [[3]]], by: { $0 }, requests: 2)
    #expect(items == [] && end?.code == .limitExceeded)
    #expect(end?.message.contains("gets no further: a merge in order") == true)
    #expect(end?.message.contains("3 sources of this one have more") == true)
    let enough = try await resumed([[[1], [4]], [[2]], [[3]]], by: { $0 }, requests: 3)
    #expect(enough.items == [1, 2, 3, 4] && enough.end == nil)
  }

  @Test("17-Failure, 15-Limits: a limit on bytes ends the whole merge, and is no source's failure")
  func bytes() async throws {
    let sources = (0..<2).map { source in
      Cursor<Int> { position in
        let number = position?.value?.integer ?? 0
        try WalkReading.received(bytes: 100)
        var page = Page([2 * number + source], next: Position(integerLiteral: number + 1))
        page.traffic = WalkReport.Traffic(bytes: 100)
        return page
      }
    }
    let merged = Cursor.merged(sources, by: \.self, clock: ManualClock())
    let walk = merged.limited(to: Limits(bytes: 450)).walk()
    var items: [Int] = []
    let error = await pageError { for try await page in walk { items += page.items } }
    #expect(error?.code == .limitExceeded && items == [0, 1, 2])
    #expect(walk.report.warnings.isEmpty && walk.report.traffic.bytes == 400)
    let rest = merged.resuming(from: try restored(try #require(error?.checkpoint)))
    #expect(try await rest.limited(to: Limits(items: 3)).drained() == [[3], [4], [5]])
  }

  @Test(
    "17-Duplicates: of items with the same identity the first is delivered, and the others counted")
  func duplicates() async throws {
    func entries(_ pairs: (Int, String)...) -> Cursor<Entry> {
      Cursor(ScriptedSource(items: [pairs.map { Entry(key: $0.0, id: $0.1) }]))
    }
    let walk = Cursor.merged(
      [entries((1, "a"), (3, "b"), (5, "c")), entries((1, "a"), (4, "b"), (5, "d"), (6, "d"))],
      by: \.key, duplicates: \.id, clock: ManualClock()
    ).walk()
    #expect(try await walk.items.collect().map(\.id) == ["a", "b", "c", "d"])
    #expect(walk.report.duplicatesDropped == 3)
    #expect(walk.report.isComplete)
  }

  @Test("17-Duplicates: the window forgets what was delivered long before, and not sooner")
  func window() async throws {
    let ids = (0..<200).map { Entry(key: $0, id: "\($0)") }
    let again = [Entry(key: 200, id: "190"), Entry(key: 201, id: "0")]
    let merged = Cursor.merged(
      [Cursor(ScriptedSource(items: [ids])), Cursor(ScriptedSource(items: [again]))],
      by: \.key, options: MergeOptions(duplicateWindow: 50), duplicates: \.id, clock: ManualClock())
    #expect(try await merged.items.collect().suffix(2).map(\.id) == ["199", "0"])
  }

  @Test("17-Duplicates: a window of no items remembers none beyond its page")
  func noWindow() async throws {
    let entries = (0..<3).map { Entry(key: $0, id: "same") }
    let merged = Cursor.merged(
      [Cursor(ScriptedSource(items: [entries]))], by: \.key,
      options: MergeOptions(pageSize: 1, duplicateWindow: 0), duplicates: \.id,
      clock: ManualClock())
    #expect(try await merged.items.collect().count == 3)
  }

  @Test(
    "17-Resume, C-8: stopped at every item in turn, a merge goes on exactly, by JSON, in a new one")
  func resume() async throws {
    func sources() -> [Cursor<Entry>] {
      let lists: [[[Int]]] = [
        [[1, 4, 4], [9], [11, 12]], [[2, 4], [], [8, 13]], [[3, 3, 14]],
      ]
      return lists.enumerated().map { index, pages in
        Cursor(
          ScriptedSource(
            items: pages.map { $0.map { Entry(key: $0, id: $0 == 4 ? "four" : "\(index)/\($0)") } })
        )
      }
    }
    func merged() -> Cursor<Entry> {
      Cursor.merged(
        sources(), by: \.key, options: MergeOptions(pageSize: 3), duplicates: \.id,
        clock: ManualClock())
    }
    let all = try await merged().items.collect()
    #expect(Set(all.map(\.id)).count == 10)
    for stop in 0...all.count {
      let walk = merged().limited(to: Limits(items: stop)).walk()
      let before = try await walk.items.collect()
      var after: [Entry] = []
      if let checkpoint = walk.report.checkpoint {
        after = try await merged().resuming(from: try restored(checkpoint)).items.collect()
      }
      #expect(before + after == all, "stopped after \(stop)")
    }
  }

  @Test("17-Resume: a position of other sources is refused, with what to do")
  func foreignPosition() async throws {
    let two = Cursor.merged(
      [source([[1], [2]]), source([[3]])].map { Cursor($0) }, by: \.self, clock: ManualClock())
    let walk = two.limited(to: Limits(items: 1)).walk()
    _ = try await walk.items.collect()
    let checkpoint = try #require(walk.report.checkpoint)
    let three = Cursor.merged(
      (0..<40).map { _ in Cursor(source([[1]])) }, by: \.self, clock: ManualClock())
    for position in [checkpoint, "token", Position(nil, itemOffset: 3)] {
      let resumed = three.resuming(from: position.unchecked)
      #expect(await code { _ = try await resumed.items.collect() } == .positionMismatch)
    }
  }

  @Test("17-Order: options that cannot work are refused before anything is asked")
  func badOptions() async throws {
    for options in [
      MergeOptions(pageSize: 0), MergeOptions(concurrentLoads: 0), MergeOptions(skew: .zero),
      MergeOptions(duplicateWindow: -1),
    ] {
      let source = source([[1]])
      let merged = Cursor.merged(
        [Cursor(source)], by: \.self, options: options, clock: ManualClock())
      #expect(await code { _ = try await merged.drained() } == .invalidArgument)
      #expect(source.requests == [])
    }
  }

  @Test("17-Order: a merge of nothing is an empty listing")
  func nothing() async throws {
    #expect(try await Cursor<Int>.merged([], by: \.self, clock: ManualClock()).drained() == [])
  }

  @Test("17-Order, C-7: leaving the loop cancels every load, and closes each source once")
  func leaving() async throws {
    let sources = (0..<3).map { index in
      ScriptedSource(items: [[index, index + 10], [index + 20]], needsClosing: true)
    }
    let walk = Cursor.merged(sources.map { Cursor($0) }, by: \.self, clock: ManualClock()).walk()
    for try await _ in walk.items { break }
    sources[0].hold(2)
    let task = Task { for try await _ in walk.items {} }
    try await sources[0].wait { $0.requests == [1, 2] }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    try await sources[0].wait { $0.cancelled == [2] }
    await walk.close()
    #expect(sources.map(\.log.closes.count) == [1, 1, 1])
  }

  @Test(
    "17-Order, C-7: a merge that is closed while another task reads it gives that task its page")
  func closedWhileRead() async throws {
    let sources = [[[0, 2], [4]], [[1], [3]]].map {
      ScriptedSource(items: $0, needsClosing: true)
    }
    let walk = Cursor.merged(sources.map { Cursor($0) }, by: \.self, clock: ManualClock()).walk()
    sources[0].hold(1)
    let reading = Task { try await walk.items.collect() }
    try await sources[0].wait { $0.requests == [1] }
    await walk.close()
    sources[0].release(1)
    #expect(try await reading.value == [0, 1, 2, 3, 4])
  }

  @Test("17-Order: a load that does not notice its cancellation loses no page")
  func stubbornLoad() async throws {
    let stubborn = source([[1], [3], [5]])
    let walk = Cursor.merged(
      [Cursor(stubborn), Cursor(source([[2, 4]]))], by: \.self, clock: ManualClock()
    ).walk()
    #expect(try await walk.next()?.items == [1])
    stubborn.hold(2, stubborn: true)
    let task = Task { try await walk.next() }
    try await stubborn.wait { $0.requests.contains(2) }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    let copy = Task { try await walk.items.collect() }
    stubborn.release(2)
    #expect(try await copy.value == [2, 3, 4, 5])
    #expect(stubborn.requests == [1, 2, 3])
  }

  @Test(
    "17-Order, C-11: a merge can be transformed, paged, looked ahead of, copied and merged again")
  func composition() async throws {
    func merge(_ lists: [[Int]]...) -> Cursor<Int> {
      Cursor.merged(lists.map { Cursor(source($0)) }, by: \.self, clock: ManualClock())
    }
    let inner = [merge([[1, 5], [9]], [[2, 6]]), merge([[3], [7]], [[4, 8, 12]])]
    let outer = Cursor.merged(inner, by: \.self, clock: ManualClock())
    #expect(try await outer.items.collect() == [1, 2, 3, 4, 5, 6, 7, 8, 9, 12])
    let paged = outer.filter { $0 != 5 }.paged(by: 4)
    #expect(try await paged.drained() == [[1, 2, 3, 4], [6, 7, 8, 9], [12]])
    for stop in 1..<9 {
      let walk = paged.limited(to: Limits(items: stop)).walk()
      let before = try await walk.items.collect()
      let rest = paged.resuming(from: try restored(try #require(walk.report.checkpoint)))
      #expect(try await before + rest.items.collect() == [1, 2, 3, 4, 6, 7, 8, 9, 12])
    }
    #expect(try await Paginator(outer).items.collect().count == 10)
    let walk = outer.walk()
    _ = try await walk.next()
    let copy = walk.copy()
    #expect(try await copy.items.collect() == walk.items.collect())
  }

  @Test(
    "17-FirstCome: what was asked for before a jump is no answer to what is asked for behind it")
  func jumps() async throws {
    let (quick, slow) = (source([[1], [2], [3]]), source([[10]]))
    slow.hold(1)
    let cursor = Cursor.merged([Cursor(quick), Cursor(slow)]).cached(in: PageCache())
    let (walk, other) = (cursor.walk(), cursor.walk())
    var items = try await walk.next()?.items ?? []
    _ = try await other.next()
    // The page behind is in the cache then, so that the walk jumps to the one behind that.
    _ = try await other.next()
    for _ in 0..<2 { items += try await walk.next()?.items ?? [] }
    try await slow.wait { !$0.cancelled.isEmpty }
    for _ in 0..<1_000 { await Task.yield() }
    slow.release(1)
    items += try await walk.items.collected()
    #expect(items == [1, 2, 3, 10])
  }
}
