import QuireCore
import QuireTesting
import Testing

@testable import QuireLists

/// Transcripts: what the machine is told, and what it answers. No await anywhere.
@Suite(.timeLimit(.minutes(15))) struct ListMachineTests {
  typealias Machine = ListMachine<Int>

  @Test("P-1, TI-20, TI-21: whoever wants a page joins the load that runs")
  func joins() {
    var machine = Machine()
    #expect(machine.next(after: nil, ticket: 1).start?.id == 1)
    for ticket in 2..<5 {
      let effects = machine.loadMore(ticket: ticket)
      #expect(effects.start == nil)
      #expect(effects.outcome == nil)
    }
    let effects = machine.finished(1, .page(Page([1]), isLast: true))
    #expect(effects.wake.map(\.ticket).sorted() == [1, 2, 3, 4])
  }

  @Test("K7, TI-15, TI-50: retry() does nothing when nothing failed, and two of them are one load")
  func retries() {
    var machine = Machine()
    guard case .loaded(false) = machine.retry(ticket: 1).outcome else {
      return #expect(Bool(false))
    }
    _ = machine.next(after: nil, ticket: 2)
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
    _ = machine.next(after: nil, ticket: 1)
    let reload = machine.reload(ticket: 2)
    #expect(reload.cancel == 1)
    #expect(reload.start == nil)
    let ended = machine.finished(1, .page(Page([99]), isLast: false))
    #expect(ended.wake.isEmpty)
    #expect(ended.start?.load == .reload)
    let effects = machine.finished(2, .page(Page([1]), isLast: true))
    #expect(effects.adoptsRun)
    #expect(effects.wake.map(\.ticket) == [2, 1])
  }

  @Test(
    "TI-16: until a reload's first page is there the old content stays; then it is gone in one step"
  )
  func reloadSwaps() {
    var machine = Machine()
    _ = machine.loadMore(ticket: 1)
    _ = machine.finished(1, .page(Page([1, 2]), isLast: false))
    _ = machine.loadMore(ticket: 2)
    _ = machine.finished(2, .page(Page([3, 4]), isLast: true))
    _ = machine.reload(ticket: 3)
    #expect(machine.content.loaded == 4)
    #expect(machine.content.pages.count == 2)
    _ = machine.finished(3, .page(Page([7, 8]), isLast: false))
    #expect(machine.content.loaded == 2)
    #expect(machine.content.pages.map(\.items) == [[7, 8]])
  }

  @Test("TI-17, K-05: a reload that fails keeps the content, and retry() reloads")
  func reloadFails() {
    var machine = Machine()
    _ = machine.loadMore(ticket: 1)
    _ = machine.finished(1, .page(Page([1, 2]), isLast: false))
    _ = machine.reload(ticket: 2)
    let failed = machine.finished(2, .failed(ScriptedFailure()))
    #expect(failed.wake.count == 1)
    #expect(machine.content.pages.map(\.items) == [[1, 2]])
    #expect(machine.retry(ticket: 3).start?.load == .reload)
  }

  @Test("TI-22: loadMore() at the end loads nothing")
  func loadMoreIsBounded() {
    var machine = Machine()
    _ = machine.loadMore(ticket: 1)
    _ = machine.finished(1, .page(Page([1]), isLast: true))
    let over = machine.loadMore(ticket: 3)
    #expect(over.start == nil)
    guard case .loaded(false) = over.outcome else { return #expect(Bool(false)) }
  }

  @Test("PM-19: progress reported by hand loads at the same counts")
  func reportsByHand() {
    var machine = Machine()
    #expect(machine.reported(consumed: 0).start == nil)
    _ = machine.loadMore(ticket: 1)
    _ = machine.finished(1, .page(Page(Array(0..<10)), isLast: false))
    #expect(machine.reported(consumed: 6).start == nil)
    #expect(machine.reported(consumed: 5).start == nil)
    #expect(machine.reported(consumed: 7).start?.id == 2)
    #expect(machine.reported(consumed: 8).start == nil)
    #expect(machine.reported(consumed: 1000).start == nil)
    #expect(machine.content.consumed == 10)
  }
}
