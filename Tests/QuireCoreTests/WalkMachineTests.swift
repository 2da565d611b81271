@testable import QuireCore
@testable import QuireLists
import QuireTesting
import TestSupport
import Testing

extension WalkMachine {
  /// The page as it is delivered.
  fileprivate mutating func received<Item>(_ page: Page<Item>, at now: Duration) -> Page<Item> {
    var page = page
    received(&page, at: now)
    return page
  }
}

/// Transcripts: what the machine is told, and what it answers. No await anywhere.
@Suite(.timeLimit(.minutes(15))) struct WalkMachineTests {
  private func load(_ machine: inout WalkMachine, at now: Duration = .zero) -> Position? {
    guard case .load(let position, _) = machine.next(at: now) else { return nil }
    return position
  }

  private func failure(_ machine: inout WalkMachine, at now: Duration = .zero) -> PageError? {
    guard case .fail(let error, _) = machine.next(at: now) else { return nil }
    return error
  }

  private func isFinished(_ machine: inout WalkMachine) -> Bool {
    guard case .finish = machine.next(at: .zero) else { return false }
    return true
  }

  @Test("C-2: a walk loads the start, then whatever each page leads to")
  func walks() {
    var machine = WalkMachine(start: .start, limits: Limits())
    #expect(load(&machine) == .start)
    #expect(machine.received(Page([1], next: "b"), at: .zero).index == 0)
    #expect(load(&machine) == "b")
    #expect(machine.received(Page([2]), at: .zero).index == 1)
    #expect(machine.isOver)
    #expect(isFinished(&machine))
    #expect(isFinished(&machine))
    #expect(machine.report.end.name == "exhausted")
    #expect(machine.report.checkpoint == nil)
  }

  @Test("12-A2: the report gathers what pages warn of, each once, and no more than it can hold")
  func gathersWarnings() {
    var machine = WalkMachine(start: .start, limits: Limits())
    for index in 0..<200 {
      _ = machine.next(at: .zero)
      var page = Page([index], next: Position(.number("\(index)")))
      page.warnings = [
        .init(.init("doubt"), "always"), .init(.init("doubt"), "only on page \(index)"),
      ]
      _ = machine.received(page, at: .zero)
    }
    #expect(machine.report.warnings.filter { $0.message == "always" }.count == 1)
    #expect(machine.report.warnings.count == 64)
    #expect(machine.report.description.hasSuffix("64 warnings"))
  }

  @Test("C-3, C-5, G1, X-08: a page that leads to itself is delivered; the next() after it throws")
  func detectsUnchangedPosition() {
    var machine = WalkMachine(start: .start, limits: Limits())
    _ = load(&machine)
    _ = machine.received(Page([1], next: "a"), at: .zero)
    #expect(load(&machine) == "a")
    #expect(machine.received(Page([2], next: "a"), at: .zero).items == [2])
    for _ in 0..<3 {
      let error = failure(&machine)
      #expect(error?.code == .loopDetected)
      #expect(error?.position == "a")
      #expect(error?.pageIndex == 2)
    }
    #expect(machine.report.pages == 2)
  }

  @Test("C-5, V100: t1, t2, t1 is an error after page 3 that names the length of the cycle")
  func detectsCycle() {
    var machine = WalkMachine(start: .start, limits: Limits())
    _ = load(&machine)
    for next: Position in ["t1", "t2", "t1"] {
      _ = machine.received(Page([1], next: next), at: .zero)
      if next == "t1", machine.report.pages == 3 { break }
      #expect(load(&machine) == next)
    }
    let error = failure(&machine)
    #expect(error?.code == .loopDetected)
    #expect(error?.message.contains("2 pages") == true)
  }

  @Test("C-5: a page that leads back to the start of the listing is a loop")
  func detectsReturnToStart() {
    var machine = WalkMachine(start: .start, limits: Limits())
    _ = load(&machine)
    _ = machine.received(Page([1], next: .start), at: .zero)
    #expect(failure(&machine)?.code == .loopDetected)
  }

  @Test("C-5: a source whose position is a handle may repeat it")
  func allowsHandles() {
    var machine = WalkMachine(repeatedPositions: .allowed)
    for _ in 0..<5 {
      #expect(load(&machine) != nil)
      _ = machine.received(Page([1], next: "scroll"), at: .zero)
    }
    #expect(load(&machine) == "scroll")
  }

  @Test("C-5: the guard is seeded from a checkpoint, inside a page too, and from positions given")
  func seedsGuard() {
    var machine = WalkMachine(start: Position("p", itemOffset: 3), visited: ["o"])
    _ = load(&machine)
    _ = machine.received(Page([1], next: "p"), at: .zero)
    #expect(failure(&machine)?.code == .loopDetected)
    var other = WalkMachine(start: "p", visited: ["o"])
    _ = load(&other)
    _ = other.received(Page([1], next: "o"), at: .zero)
    #expect(failure(&other)?.message.contains("2 pages") == true)
  }

  @Test("C-6: a retry of a page is not taken for a loop")
  func retryIsNoLoop() {
    var machine = WalkMachine(start: .start, limits: Limits())
    for _ in 0..<3 {
      #expect(load(&machine) == .start)
      #expect(machine.failed(ScriptedFailure(), at: .zero) is PageError)
      #expect(machine.report.end.name == "failed(sourceFailed)")
    }
    #expect(load(&machine) == .start)
    #expect(machine.report.end.name == "running")
  }

  @Test("C-7: cancellation passes unwrapped and does not move the position")
  func cancels() {
    var machine = WalkMachine(start: .start, limits: Limits())
    _ = load(&machine)
    _ = machine.received(Page([1], next: "b"), at: .zero)
    _ = load(&machine)
    #expect(machine.failed(CancellationError(), at: .zero) is CancellationError)
    #expect(machine.report.end.name == "cancelled")
    #expect(machine.report.checkpoint == "b")
    #expect(load(&machine) == "b")
  }

  @Test("C-7: the duty to close is handed out once, and only for walks that fetched something")
  func closesOnce() {
    var machine = WalkMachine(start: .start, limits: Limits())
    #expect(machine.abandoned() == nil)
    _ = load(&machine)
    _ = machine.received(Page([1], next: "b"), at: .zero)
    #expect(machine.abandoned() == WalkMachine.Closing(position: "b"))
    #expect(machine.abandoned() == nil)
    #expect(machine.report.end.name == "stoppedByConsumer")
    #expect(load(&machine) == "b")
    _ = machine.received(Page([2]), at: .zero)
    guard case .finish(nil) = machine.next(at: .zero) else {
      Issue.record("a closed walk closes again")
      return
    }
  }

  @Test("C-9, X-08: a limit on pages ends the walk normally, with no further request; it is named")
  func limitsPages() {
    // It is the caller's own wish, not a guard against a server, so it is no error; what the walk
    // stopped at shows in the report.
    var machine = WalkMachine(limits: Limits(pages: 1))
    _ = load(&machine)
    _ = machine.received(Page([1], next: "b"), at: .zero)
    #expect(machine.isOver)
    #expect(isFinished(&machine))
    #expect(machine.report.end.name == "limit(pages)")
    #expect(machine.report.checkpoint == "b")
  }

  @Test("C-9, C-8: a limit on items cuts the last page, which then leads inside itself")
  func limitsItems() {
    var machine = WalkMachine(start: Position("a", itemOffset: 2), limits: Limits(items: 2))
    _ = load(&machine)
    var page = Page([3, 4, 5, 6], next: "b")
    page.position = Position("a", itemOffset: 2)
    let cut = machine.received(page, at: .zero)
    #expect(cut.items == [3, 4])
    #expect(cut.next == Position("a", itemOffset: 4))
    #expect(isFinished(&machine))
    #expect(machine.report.end.name == "limit(items)")
    #expect(machine.report.checkpoint == Position("a", itemOffset: 4))
  }

  @Test("C-9: a limit that the listing's own end meets is an end; a limit of 0 asks nothing")
  func limitsMeetEnds() {
    var machine = WalkMachine(limits: Limits(pages: 1, items: 2))
    _ = load(&machine)
    _ = machine.received(Page([1, 2]), at: .zero)
    #expect(isFinished(&machine))
    #expect(machine.report.end.name == "exhausted")
    var none = WalkMachine(limits: Limits(items: 0))
    #expect(isFinished(&none))
    #expect(none.report.end.name == "limit(items)")
    #expect(none.report.checkpoint == .start)
  }

  @Test("C-9, C-3: a cap on bytes throws after the page that reached it was delivered")
  func capsBytes() {
    var machine = WalkMachine(limits: Limits(bytes: 100))
    var page = Page([1], next: "b")
    page.traffic = WalkReport.Traffic(bytes: 60)
    _ = load(&machine)
    #expect(machine.received(page, at: .zero).items == [1])
    page.next = "c"
    #expect(load(&machine) == "b")
    #expect(machine.received(page, at: .zero).items == [1])
    let error = failure(&machine)
    #expect(error?.code == .limitExceeded)
    #expect(error?.checkpoint == "c")
    #expect(machine.report.traffic.bytes == 120)
    #expect(machine.report.end.name == "failed(limitExceeded)")
  }

  @Test("C-9: a cap on the duration counts from the first next(), the consumer's time included")
  func capsDuration() {
    var machine = WalkMachine(limits: Limits(duration: .seconds(10)))
    #expect(load(&machine, at: .seconds(100)) == .start)
    _ = machine.received(Page([1], next: "b"), at: .seconds(101))
    #expect(load(&machine, at: .seconds(109)) == "b")
    _ = machine.received(Page([2], next: "c"), at: .seconds(111))
    #expect(failure(&machine, at: .seconds(111))?.code == .limitExceeded)
  }

  @Test("C-9, G8, X-08: too many empty pages in a row throw; one item starts the count anew")
  func capsEmptyPages() {
    var machine = WalkMachine(limits: Limits(consecutiveEmptyPages: 2))
    let sizes = [0, 0, 1, 0, 0, 0]
    for (index, size) in sizes.enumerated() {
      #expect(load(&machine) != nil)
      let page = Page(Array(repeating: 7, count: size), next: Position(integerLiteral: index))
      _ = machine.received(page, at: .zero)
    }
    #expect(failure(&machine)?.code == .limitExceeded)
  }

  @Test("G3: items that came within the last pages are refused; a retry of the page is welcome")
  func refusesRepeatedItems() throws {
    var machine = WalkMachine(limits: Limits(comparedPages: 2))
    func receive(_ fingerprint: Int, next: Position) -> PageError.Code? {
      #expect(load(&machine) != nil)
      var page = Page([fingerprint], next: next)
      page.head.fingerprint = fingerprint
      if let refusal = machine.refusal(of: page) {
        _ = machine.failed(refusal, at: .zero)
        return refusal.code
      }
      machine.received(&page, at: .zero)
      return nil
    }
    #expect(receive(1, next: "b") == nil)
    #expect(receive(2, next: "c") == nil)
    #expect(receive(1, next: "d") == .stalledContent)
    #expect(machine.report.pages == 2)
    #expect(machine.report.checkpoint == "c")
    #expect(receive(3, next: "d") == nil)
    #expect(receive(1, next: "e") == nil)
    #expect(machine.report.pages == 4)
  }

  @Test("12-L3: a number of pages that is not reached is reported, in one walk or over several")
  func missingPages() throws {
    func warnings(_ sizes: [Int], of total: Int, stoppedAfter stop: Int?) -> [String] {
      var machine = WalkMachine()
      for (index, size) in sizes.enumerated() {
        if index == stop {
          machine = WalkMachine(start: machine.report.checkpoint ?? .start)
        }
        #expect(load(&machine) != nil)
        let next = index + 1 < sizes.count ? Position(integerLiteral: index + 1) : nil
        var page = Page(Array(repeating: 7, count: size), next: next, total: Total(total, .pages))
        page.traffic.items = size
        machine.received(&page, at: .zero)
      }
      guard case .finish = machine.next(at: .zero) else { return ["no end"] }
      return machine.report.warnings.map(\.code.description)
    }
    for stop in [nil, 1] {
      #expect(warnings([2, 2, 1], of: 3, stoppedAfter: stop) == [])
      #expect(warnings([2, 2, 1], of: 2, stoppedAfter: stop) == [])
      // A server may count the empty page behind the last one.
      #expect(warnings([2, 2, 0], of: 3, stoppedAfter: stop) == [])
      #expect(warnings([2, 2, 1], of: 4, stoppedAfter: stop) == ["endBeforeTotal"])
      #expect(warnings([2, 0, 0], of: 3, stoppedAfter: stop) == ["endBeforeTotal"])
      #expect(warnings([2, 2], of: 10, stoppedAfter: stop) == ["endBeforeTotal"])
    }
  }

  @Test("Limits below zero are refused before anything is requested")
  func refusesNegativeLimits() {
    let limits = [
      Limits(pages: -1), Limits(items: -1), Limits(bytes: -1), Limits(duration: .seconds(-1)),
      Limits(consecutiveEmptyPages: -1), Limits(comparedPages: -1),
    ]
    for limits in limits {
      var machine = WalkMachine(limits: limits)
      #expect(failure(&machine)?.code == .invalidArgument)
      #expect(failure(&machine)?.code == .invalidArgument)
    }
  }

  @Test("C-3, G9: a broken way on is thrown after its page, and asked for once more by a retry")
  func raisesBrokenWayOn() {
    var machine = WalkMachine(start: .start, limits: Limits())
    _ = load(&machine)
    var page = Page([1, 2])
    page.nextFailure = PageError(.init("noWay"), "The server says more follows, and not where.")
    #expect(machine.received(page, at: .zero).items == [1, 2])
    #expect(!machine.isOver)
    #expect(failure(&machine)?.code == .init("noWay"))
    #expect(machine.report.checkpoint == Position(nil, itemOffset: 2))
    #expect(load(&machine) == Position(nil, itemOffset: 2))
    var again = page.dropping(items: 2)
    again.position = Position(nil, itemOffset: 2)
    _ = machine.received(again, at: .zero)
    #expect(failure(&machine)?.code == .init("noWay"))
    #expect(load(&machine) == Position(nil, itemOffset: 2))
  }

  @Test("C-10: the report counts pages, items, traffic, be it in vain, and the time of either side")
  func reports() {
    var machine = WalkMachine(start: .start, limits: Limits())
    var page = Page([1, 2, 3], next: "b", total: Total(9, .estimate))
    page.traffic = WalkReport.Traffic(bytes: 10, requests: 2, retries: 1, badItems: 4)
    _ = load(&machine, at: .seconds(1))
    _ = machine.received(page, at: .seconds(3))
    page.next = "c"
    _ = load(&machine, at: .seconds(10))
    _ = machine.received(page, at: .seconds(11))
    _ = load(&machine, at: .seconds(11))
    var error = PageError(.init("broken"), "It broke.", attempts: 3)
    error.traffic = WalkReport.Traffic(bytes: 5, requests: 3, retries: 2, redirects: 1)
    _ = machine.failed(error, at: .seconds(11))
    let report = machine.report
    #expect(report.pages == 2)
    #expect(report.items == 6)
    #expect(
      report.traffic
        == WalkReport.Traffic(bytes: 25, requests: 7, retries: 4, redirects: 1, badItems: 8))
    #expect(report.waitingForNetwork == .seconds(3))
    #expect(report.waitingForConsumer == .seconds(7))
    #expect(report.total == Total(9, .estimate))
  }

  @Test("C-10: a report and an error are a line to read, with what is of note")
  func describesItself() {
    var machine = WalkMachine(start: .start, limits: Limits())
    #expect("\(machine.report)" == "running: 0 pages, 0 items, 0 requests")
    _ = load(&machine)
    var page = Page([1], next: Position("2"), total: Total(3))
    page.traffic = WalkReport.Traffic(retries: 1, badItems: 2)
    page.traffic.items = 1
    _ = machine.received(page, at: .zero)
    _ = load(&machine)
    _ = machine.failed(PageError(.init("broken"), "It broke.", attempts: 3), at: .zero)
    #expect(
      "\(machine.report)"
        == "failed (broken): 1 page, 1 item, 1 request, 1 retry, 2 items set aside")
    guard case .failed(let error) = machine.report.end else {
      Issue.record("The walk has not failed: \(machine.report.end)")
      return
    }
    #expect("\(error)" == "It broke. [broken, after 1 page, 3 attempts]")
  }

  @Test("C-10: a total says nothing about a walk that does not see the listing's beginning")
  func midway() {
    func end(_ change: (inout Page<Int>) -> Void) -> String {
      var machine = WalkMachine(start: .start, limits: Limits())
      _ = load(&machine)
      var page = Page([1, 2], total: Total(3))
      page.traffic.items = 2
      change(&page)
      _ = machine.received(page, at: .zero)
      _ = isFinished(&machine)
      return machine.report.end.name
    }
    #expect(end { _ in } == "truncationSuspected(3)")
    #expect(end { $0.previous = "before" } == "exhausted")
    #expect(end { $0.head.startsMidway = true } == "exhausted")
  }

  @Test("C-10, G10: an exact total beyond what came is a suspicion; any other total is only news")
  func suspectsTruncation() {
    func end(
      _ total: Total?, start: Position = .start, limits: Limits = Limits(), bad: Int = 0
    ) -> String {
      var machine = WalkMachine(start: start, limits: limits)
      _ = load(&machine)
      var page = Page([1, 2], total: total)
      page.traffic.items = 2
      page.traffic.badItems = bad
      _ = machine.received(page, at: .zero)
      _ = isFinished(&machine)
      return machine.report.end.name
    }
    #expect(end(Total(3)) == "truncationSuspected(3)")
    #expect(end(Total(3), bad: 1) == "exhausted")
    #expect(end(Total(2)) == "exhausted")
    #expect(end(Total(1)) == "exhausted")
    #expect(end(Total(-5)) == "exhausted")
    #expect(end(Total(.max)) == "truncationSuspected(\(Int.max))")
    #expect(end(nil) == "exhausted")
    #expect(end(Total(3, .lowerBound)) == "truncationSuspected(3)")
    for kind: Total.Kind in [.estimate, .remaining, .pages] {
      #expect(end(Total(3, kind)) == "exhausted")
    }
    #expect(end(Total(3), start: "later") == "exhausted")
    #expect(end(Total(3), limits: Limits(items: 1)) == "limit(items)")
  }
}
