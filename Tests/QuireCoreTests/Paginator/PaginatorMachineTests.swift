import QuireTesting
import Testing

@testable import QuireCore
@testable import QuireLists

/// Transcripts: what the machine is told, and what it answers. No await anywhere.
@Suite struct PaginatorMachineTests {
  typealias Machine = PaginatorMachine<Int>

  /// A machine with one iterator and one consumer, over pages of these sizes that come at once.
  struct Script {
    var machine: Machine
    var sizes: [Int]
    /// After how many items handed out each load started.
    var loads: [Int] = []
    var consumed = 0
    /// The most pages the machine held at once.
    var held = 0

    init(_ sizes: [Int], _ limits: LookAhead = LookAhead()) {
      self.sizes = sizes
      machine = Machine(limits: limits)
      machine.iteratorBegan()
    }

    /// Answers the load if one starts, and everything that follows from it.
    mutating func serve(_ effects: Machine.Effects) -> Machine.Outcome? {
      var outcome = effects.outcome
      var effects = effects
      while let (_, id) = effects.start {
        loads.append(consumed)
        let number = loads.count
        let isLast = number == sizes.count
        effects = machine.finished(
          id, .page(Page(Array(repeating: number, count: sizes[number - 1])), isLast: isLast))
        outcome = outcome ?? effects.wake.first?.outcome
        held = max(held, machine.store.pages.count)
      }
      return outcome
    }

    /// Takes one item after another.
    mutating func consumeItems() {
      while true {
        let before = machine.store.handedOut
        consumed += 1
        guard case .page(let page) = serve(machine.next(.items(), reader: 1, ticket: 1)) else {
          return
        }
        precondition(machine.store.handedOut == before + page.items.count)
        // The rest of the helping causes nothing: the machine hears of it with the next call.
        consumed = machine.store.handedOut
      }
    }
  }

  private func loads(_ sizes: [Int], _ limits: LookAhead = LookAhead()) -> [Int] {
    var script = Script(sizes, limits)
    script.consumeItems()
    return script.loads
  }

  @Test("PM-01, PM-02, X-04, K-02: the default loads after the 7th, 13th, 21st, 31st and 41st item")
  func loadsByFraction() throws {
    let expected = [1, 7, 13, 21, 31, 41]
    #expect(loads([10, 10, 10, 10, 10, 10]) == expected)
    let spelled = LookAhead(threshold: .fraction(0.6))
    #expect(loads([10, 10, 10, 10, 10, 10], spelled) == expected)
  }

  @Test("X-04, P-3: over a thousand pages the window never holds more than two")
  func holdsTwoPages() {
    var script = Script(Array(repeating: 10, count: 1000))
    script.consumeItems()
    #expect(script.loads.count == 1000)
    #expect(script.held <= 2)
  }

  @Test("K2, X-04: with more pages ahead the lead grows as the formula says")
  func loadsFurtherAhead() {
    let limits = LookAhead(maxPages: 100)
    #expect(loads([10, 10, 10, 10, 10, 10], limits) == [1, 7, 13, 19, 25, 31])
  }

  @Test("PM-03: remaining(3) loads after the 8th of 10 items, not after the 7th")
  func loadsByRemaining() throws {
    #expect(loads([10, 10], LookAhead(threshold: .remaining(items: 3))) == [1, 8])
    #expect(loads([8, 8], LookAhead(threshold: .remaining(items: 5))) == [1, 4])
  }

  @Test("P-2: on demand loads when an item is asked for that is not there")
  func loadsOnDemand() {
    #expect(loads([10, 10, 10], LookAhead(threshold: .onDemand)) == [1, 11, 21])
  }

  @Test("PM-06: 0 loads with the first item, 1 and remaining(0) never ahead")
  func loadsAtTheEdges() throws {
    #expect(loads([10, 10], LookAhead(threshold: .fraction(0))) == [1, 1])
    #expect(loads([10, 10], LookAhead(threshold: .fraction(1))) == [1, 11])
    #expect(loads([10, 10], LookAhead(threshold: .remaining(items: 0))) == [1, 11])
  }

  @Test(
    "P-3: what is loaded and not begun never exceeds its bytes, taking the next page for as large as any"
  )
  func staysWithinBytes() throws {
    let threshold = Threshold.fraction(0)
    var machine = Machine(
      limits: LookAhead(threshold: threshold, maxPages: 10, maxBytes: 250))
    machine.iteratorBegan()
    func page(_ bytes: Int = 100) -> Page<Int> {
      var page = Page([1, 2])
      page.traffic = Traffic(bytes: bytes)
      return page
    }
    #expect(machine.next(.page, reader: 1, ticket: 1).start?.id == 1)
    #expect(machine.finished(1, .page(page(), isLast: false)).start?.id == 2)
    #expect(machine.finished(2, .page(page(), isLast: false)).start?.id == 3)
    #expect(machine.finished(3, .page(page(), isLast: false)).start == nil)
    #expect(machine.store.pagesAhead == 2)
    #expect(machine.next(.page, reader: 1, ticket: 2).start?.id == 4)
    // One page larger than the bound: from now on nothing is loaded before it is asked for.
    #expect(machine.finished(4, .page(page(300), isLast: false)).start == nil)
    for ticket in 3...4 { #expect(machine.next(.page, reader: 1, ticket: ticket).start == nil) }
    #expect(machine.next(.page, reader: 1, ticket: 5).start?.id == 5)
  }

  @Test("P-2: a page handed out as a whole counts as consumed, so the next one loads meanwhile")
  func pagesCountAsConsumed() {
    var machine = Machine()
    machine.iteratorBegan()
    #expect(machine.next(.page, reader: 1, ticket: 1).start?.id == 1)
    let effects = machine.finished(1, .page(Page([1, 2, 3]), isLast: false))
    #expect(effects.wake.count == 1)
    #expect(effects.start?.id == 2)
    // It came, nobody began it: nothing more.
    #expect(machine.finished(2, .page(Page([4]), isLast: false)).start == nil)
    #expect(machine.next(.page, reader: 1, ticket: 2).start?.id == 3)
  }

  @Test("P-1, TI-20, TI-21: whoever wants a page joins the load that runs")
  func joins() {
    var machine = Machine()
    machine.iteratorBegan()
    #expect(machine.next(.page, reader: 1, ticket: 1).start?.id == 1)
    for ticket in 2..<5 {
      let effects = machine.loadMore(ticket: ticket)
      #expect(effects.start == nil)
      #expect(effects.outcome == nil)
    }
    let effects = machine.finished(1, .page(Page([1]), isLast: true))
    #expect(effects.wake.map(\.ticket).sorted() == [1, 2, 3, 4])
  }

  @Test(
    "P-5, TI-13: the error of a page loaded ahead waits until everything before it is handed out")
  func errorsWait() {
    var machine = Machine()
    machine.iteratorBegan()
    _ = machine.next(.items(), reader: 1, ticket: 1)
    #expect(machine.finished(1, .page(Page(Array(0..<10)), isLast: false)).start == nil)
    let effects = machine.next(.items(), reader: 1, ticket: 2)
    #expect(effects.start?.id == 2)
    guard case .page(let page) = effects.outcome else { return #expect(Bool(false)) }
    #expect(page.items == [6, 7, 8, 9])
    let failed = machine.finished(2, .failed(ScriptedFailure()))
    #expect(failed.wake.isEmpty)
    #expect(failed.start == nil)
    guard case .failed = machine.next(.items(), reader: 1, ticket: 3).outcome else {
      return #expect(Bool(false))
    }
    // Asking again tries the same page again.
    let again = machine.next(.items(), reader: 1, ticket: 4)
    #expect(again.outcome == nil)
    #expect(again.start?.load == .more)
  }

  @Test("K7, TI-15, TI-50: retry() does nothing when nothing failed, and two of them are one load")
  func retries() {
    var machine = Machine()
    machine.iteratorBegan()
    guard case .loaded(false) = machine.retry(ticket: 1).outcome else {
      return #expect(Bool(false))
    }
    _ = machine.next(.page, reader: 1, ticket: 2)
    guard case .loaded(false) = machine.retry(ticket: 3).outcome else {
      return #expect(Bool(false))
    }
    _ = machine.finished(1, .failed(ScriptedFailure()))
    #expect(machine.retry(ticket: 4).start?.id == 2)
    let second = machine.retry(ticket: 5)
    #expect(second.start == nil)
    #expect(second.outcome == nil)
    #expect(machine.finished(2, .page(Page([1]), isLast: true)).wake.map(\.ticket) == [4, 5])
  }

  @Test("TI-18, TI-19: a reload waits for the load it cancels, whose page is never seen")
  func reloadsOverLoads() {
    var machine = Machine()
    machine.iteratorBegan()
    _ = machine.next(.page, reader: 1, ticket: 1)
    let reload = machine.reload(ticket: 2)
    #expect(reload.cancel == 1)
    #expect(reload.start == nil)
    let ended = machine.finished(1, .page(Page([99]), isLast: false))
    #expect(ended.wake.isEmpty)
    #expect(ended.start?.load == .reload)
    let effects = machine.finished(2, .page(Page([1]), isLast: true))
    #expect(effects.adoptsReload)
    #expect(effects.wake.map(\.ticket) == [2, 1])
  }

  @Test(
    "TI-16: until a reload's first page is there the old content stays; then it is gone in one step"
  )
  func reloadSwaps() {
    var machine = Machine(limits: LookAhead(maxPages: 3))
    _ = machine.loadMore(ticket: 1)
    _ = machine.finished(1, .page(Page([1, 2]), isLast: false))
    _ = machine.loadMore(ticket: 2)
    _ = machine.finished(2, .page(Page([3, 4]), isLast: true))
    _ = machine.reload(ticket: 3)
    #expect(machine.store.loaded == 4)
    #expect(machine.store.pages.count == 2)
    _ = machine.finished(3, .page(Page([7, 8]), isLast: false))
    #expect(machine.store.loaded == 2)
    #expect(machine.store.pages.map(\.items) == [[7, 8]])
  }

  @Test("TI-17, K-05: a reload that fails keeps the content, and retry() reloads")
  func reloadFails() {
    var machine = Machine()
    _ = machine.loadMore(ticket: 1)
    _ = machine.finished(1, .page(Page([1, 2]), isLast: false))
    _ = machine.reload(ticket: 2)
    let failed = machine.finished(2, .failed(ScriptedFailure()))
    #expect(failed.wake.count == 1)
    #expect(machine.store.pages.map(\.items) == [[1, 2]])
    #expect(machine.retry(ticket: 3).start?.load == .reload)
  }

  @Test("K10, TI-23: a load that is cancelled is no error, and the next one waits for its end")
  func cancels() {
    var machine = Machine()
    machine.iteratorBegan()
    _ = machine.next(.page, reader: 1, ticket: 1)
    let cancelled = machine.waiterCancelled(ticket: 1)
    #expect(cancelled.cancel == 1)
    #expect(cancelled.wake.map(\.ticket) == [1])
    let next = machine.next(.page, reader: 1, ticket: 2)
    #expect(next.start == nil)
    #expect(next.outcome == nil)
    #expect(machine.finished(1, .failed(CancellationError())).start?.load == .more)
    #expect(machine.finished(2, .page(Page([1]), isLast: true)).wake.map(\.ticket) == [2])
  }

  @Test(
    "A page that comes although its load was cancelled is kept, and nothing is loaded for nobody")
  func keepsLatePages() {
    var machine = Machine(limits: LookAhead(maxPages: 5))
    machine.iteratorBegan()
    _ = machine.next(.page, reader: 1, ticket: 1)
    _ = machine.finished(1, .page(Page([1]), isLast: false))
    #expect(machine.iteratorLeft(1).cancel == 2)
    #expect(machine.finished(2, .page(Page([2]), isLast: false)).start == nil)
    machine.iteratorBegan()
    guard case .page(let page) = machine.next(.page, reader: 1, ticket: 2).outcome else {
      return #expect(Bool(false))
    }
    #expect(page.items == [2])
  }

  @Test("X-03: the last iterator takes the load with it, unless a caller waits for it")
  func iteratorsLeave() {
    var machine = Machine()
    machine.iteratorBegan()
    machine.iteratorBegan()
    _ = machine.next(.page, reader: 1, ticket: 1)
    _ = machine.finished(1, .page(Page([1]), isLast: false))
    #expect(machine.iteratorLeft(1).cancel == nil)
    _ = machine.loadMore(ticket: 2)
    #expect(machine.iteratorLeft(1).cancel == nil)
    #expect(machine.waiterCancelled(ticket: 2).cancel == 2)
  }

  @Test("TI-22: loadMore() at the end, or with the window full, loads nothing")
  func loadMoreIsBounded() {
    var machine = Machine()
    _ = machine.loadMore(ticket: 1)
    _ = machine.finished(1, .page(Page([1]), isLast: false))
    let full = machine.loadMore(ticket: 2)
    #expect(full.start == nil)
    guard case .loaded(true) = full.outcome else { return #expect(Bool(false)) }
    #expect(machine.reported(consumed: 1).start?.id == 2)
    _ = machine.finished(2, .page(Page([2]), isLast: true))
    let over = machine.loadMore(ticket: 3)
    #expect(over.start == nil)
    guard case .loaded(false) = over.outcome else { return #expect(Bool(false)) }
  }

  @Test("PM-19: progress reported by hand loads at the same counts, and releases what is consumed")
  func reportsByHand() {
    var machine = Machine()
    #expect(machine.reported(consumed: 0).start == nil)
    _ = machine.loadMore(ticket: 1)
    _ = machine.finished(1, .page(Page(Array(0..<10)), isLast: false))
    #expect(machine.reported(consumed: 6).start == nil)
    #expect(machine.reported(consumed: 5).start == nil)
    #expect(machine.reported(consumed: 7).start?.id == 2)
    #expect(machine.reported(consumed: 8).start == nil)
    #expect(machine.store.pages.count == 1)
    #expect(machine.reported(consumed: 1000).start == nil)
    #expect(machine.store.pages.isEmpty)
    #expect(machine.store.consumed == 10)
  }
}
