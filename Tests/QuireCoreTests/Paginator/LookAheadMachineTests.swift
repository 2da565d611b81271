import QuireTesting
import Testing

@testable import QuireCore

/// Transcripts: what the machine is told, and what it answers. No await anywhere.
@Suite(.timeLimit(.minutes(15))) struct LookAheadMachineTests {
  typealias Machine = LookAheadMachine<Int>

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
    }

    /// Answers the load if one starts, and everything that follows from it.
    mutating func serve(_ effects: Machine.Effects) -> Machine.Outcome? {
      var outcome = effects.outcome
      var effects = effects
      while let id = effects.start {
        loads.append(consumed)
        let number = loads.count
        let isLast = number == sizes.count
        effects = machine.finished(
          id, .page(Page(Array(repeating: number, count: sizes[number - 1])), isLast: isLast))
        outcome = outcome ?? effects.wake.first?.outcome
        held = max(held, machine.buffer.pages.count)
      }
      return outcome
    }

    /// Takes one item after another.
    mutating func consumeItems() {
      while true {
        let before = machine.buffer.delivered.count
        consumed += 1
        guard case .page(let page) = serve(machine.next(.items(), ticket: 1)) else {
          return
        }
        precondition(machine.buffer.delivered.count == before + page.items.count)
        // The rest of the helping causes nothing: the machine hears of it with the next call.
        consumed = machine.buffer.delivered.count
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
    func page(_ bytes: Int = 100) -> Page<Int> {
      var page = Page([1, 2])
      page.traffic = WalkReport.Traffic(bytes: bytes)
      return page
    }
    #expect(machine.next(.page, ticket: 1).start == 1)
    #expect(machine.finished(1, .page(page(), isLast: false)).start == 2)
    #expect(machine.finished(2, .page(page(), isLast: false)).start == 3)
    #expect(machine.finished(3, .page(page(), isLast: false)).start == nil)
    #expect(machine.buffer.pages.count == 2)
    #expect(machine.next(.page, ticket: 2).start == 4)
    // One page larger than the bound: from now on nothing is loaded before it is asked for.
    #expect(machine.finished(4, .page(page(300), isLast: false)).start == nil)
    for ticket in 3...4 { #expect(machine.next(.page, ticket: ticket).start == nil) }
    #expect(machine.next(.page, ticket: 5).start == 5)
  }

  @Test("P-2: a page handed out as a whole counts as consumed, so the next one loads meanwhile")
  func pagesCountAsConsumed() {
    var machine = Machine()
    #expect(machine.next(.page, ticket: 1).start == 1)
    let effects = machine.finished(1, .page(Page([1, 2, 3]), isLast: false))
    #expect(effects.wake.count == 1)
    #expect(effects.start == 2)
    // It came, nobody began it: nothing more.
    #expect(machine.finished(2, .page(Page([4]), isLast: false)).start == nil)
    #expect(machine.next(.page, ticket: 2).start == 3)
  }

  @Test(
    "P-5, TI-13: the error of a page loaded ahead waits until everything before it is handed out")
  func errorsWait() {
    var machine = Machine()
    _ = machine.next(.items(), ticket: 1)
    #expect(machine.finished(1, .page(Page(Array(0..<10)), isLast: false)).start == nil)
    let effects = machine.next(.items(), ticket: 2)
    #expect(effects.start == 2)
    guard case .page(let page) = effects.outcome else { return #expect(Bool(false)) }
    #expect(page.items == [6, 7, 8, 9])
    let failed = machine.finished(2, .failed(ScriptedFailure()))
    #expect(failed.wake.isEmpty)
    #expect(failed.start == nil)
    guard case .failed = machine.next(.items(), ticket: 3).outcome else {
      return #expect(Bool(false))
    }
    // Asking again tries the same page again.
    let again = machine.next(.items(), ticket: 4)
    #expect(again.outcome == nil)
    #expect(again.start != nil)
  }

  @Test("K10, TI-23: a load that is cancelled is no error, and the next one waits for its end")
  func cancels() {
    var machine = Machine()
    _ = machine.next(.page, ticket: 1)
    let cancelled = machine.waiterCancelled(ticket: 1)
    #expect(cancelled.cancel == 1)
    #expect(cancelled.wake.map(\.ticket) == [1])
    let next = machine.next(.page, ticket: 2)
    #expect(next.start == nil)
    #expect(next.outcome == nil)
    #expect(machine.finished(1, .failed(CancellationError())).start != nil)
    #expect(machine.finished(2, .page(Page([1]), isLast: true)).wake.map(\.ticket) == [2])
  }

  @Test(
    "A page that comes although its load was cancelled is kept, and nothing is loaded for nobody")
  func keepsLatePages() {
    var machine = Machine(limits: LookAhead(maxPages: 5))
    _ = machine.next(.page, ticket: 1)
    _ = machine.finished(1, .page(Page([1]), isLast: false))
    #expect(machine.consumersLeft().cancel == 2)
    #expect(machine.finished(2, .page(Page([2]), isLast: false)).start == nil)
    guard case .page(let page) = machine.next(.page, ticket: 2).outcome else {
      return #expect(Bool(false))
    }
    #expect(page.items == [2])
  }

  @Test("X-03: the last iterator takes the load with it, and another loop waits for its end")
  func iteratorsLeave() {
    var machine = Machine()
    _ = machine.next(.page, ticket: 1)
    _ = machine.finished(1, .page(Page([1]), isLast: false))
    _ = machine.next(.page, ticket: 2)
    // A consumer that waits is no consumer that left.
    #expect(machine.consumersLeft().cancel == nil)
    #expect(machine.waiterCancelled(ticket: 2).cancel == 2)
    #expect(machine.next(.page, ticket: 3).start == nil)
    #expect(machine.finished(2, .failed(CancellationError())).start == 3)
  }

  @Test("P-1: consumers that wait for one load are served in the order in which they came")
  func joins() {
    var machine = Machine(limits: LookAhead(threshold: .onDemand))
    #expect(machine.next(.page, ticket: 1).start == 1)
    #expect(machine.next(.page, ticket: 2).start == nil)
    let first = machine.finished(1, .page(Page([1]), isLast: false))
    #expect(first.wake.map(\.ticket) == [1] && first.start == 2)
    #expect(machine.finished(2, .page(Page([2]), isLast: true)).wake.map(\.ticket) == [2])
    guard case .end = machine.next(.page, ticket: 3).outcome else {
      return #expect(Bool(false))
    }
  }
}
