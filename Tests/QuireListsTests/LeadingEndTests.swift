import QuireCore
import QuireLists
import QuireTesting
import TestSupport
import Testing

/// What comes before the first item: when it is loaded, by what, and what is said of it.
@Suite(.timeLimit(.minutes(15))) struct LeadingEndTests {
  /// A view of 800 onto 1800.
  private let page = Viewport(content: 1800, extent: 800)

  private func list(
    _ source: ScriptedSource<Int>, from page: Int, _ threshold: Threshold = .onDemand,
    before: Threshold = .remainingExtent(100), clock: ManualClock = ManualClock(),
    settling: Duration = .zero
  ) -> PagedList<Int> {
    PagedList(
      Cursor(source, from: Position(integerLiteral: page), clock: clock),
      options: ListOptions(threshold: threshold, thresholdBefore: before, settling: settling))
  }

  // MARK: Threshold

  @Test(
    "IN-27, PM-01, PM-04, PM-05: a threshold at the leading end measures the same from there, strictly",
    arguments: [
      (Threshold.standard, 400.0, 399.0), (.remainingExtent(100), 100, 99.9),
      (.oneViewport, 800, 799.5), (.fraction(0.6, of: .lastPage), 400, 399),
    ])
  func thresholds(threshold: Threshold, quiet: Double, due: Double) async {
    let trigger = ThresholdTrigger(threshold, at: .leading)
    let calls = Recorder<Double>()
    trigger.onCrossing {
      #expect($0.source?.end == .leading)
      calls.note($0.fraction)
      return true
    }
    #expect(trigger.report(offset: quiet, in: page) == nil)
    for _ in 0..<400 { await trigger.report(offset: due, in: page)?.value }
    #expect(calls.values == [(1000 - due) / 1000])
    // One viewport is as long as it is, covered or not.
    let cover = threshold == .oneViewport ? 0.0 : 64
    // Covered by 64, the way to the end is that much longer; and overscroll counts, too.
    let covered = Viewport(content: 1800, extent: 800 + cover, leading: cover)
    for offset in [quiet - cover, due - cover, -150] {
      let fresh = ThresholdTrigger(threshold, at: .leading)
      fresh.onCrossing { _ in false }
      #expect((fresh.report(offset: offset, in: covered) != nil) == (offset < quiet - cover))
    }
    let off = ThresholdTrigger(.onDemand, at: .leading)
    off.onCrossing { _ in false }
    #expect(off.report(offset: -10, in: page) == nil)
  }

  @Test("IN-27, PM-09, PM-12, PM-13: on the way forward nothing is due, and an answer arms or not")
  func latches() async {
    let trigger = ThresholdTrigger(.remainingExtent(100), at: .leading)
    let calls = Recorder<Double>()
    trigger.onCrossing {
      calls.note($0.fraction)
      return calls.count == 1
    }
    trigger.report(offset: 300, in: page)
    trigger.threshold = .remainingExtent(600)
    for offset in [500.0, 400, 300] { #expect(trigger.report(offset: offset, in: page) == nil) }
    await trigger.report(offset: 299, in: page)?.value
    #expect(calls.count == 1 && trigger.isArmed)
    // The view shows what came, 1000 of it, and is where it was.
    trigger.threshold = .remainingExtent(100)
    let longer = Viewport(content: 2800, extent: 800)
    for offset in [1299.0, 500, 100] { #expect(trigger.report(offset: offset, in: longer) == nil) }
    await trigger.report(offset: 99, in: longer)?.value
    for offset in [50.0, 0] { #expect(trigger.report(offset: offset, in: longer) == nil) }
    #expect(calls.count == 2 && !trigger.isArmed)
    trigger.answer(true)
    await trigger.report(offset: -1, in: longer)?.value
    #expect(calls.count == 3)
  }

  // MARK: List

  @Test("IN-27, PM-11: reports near the leading end load pages 2 and 1, each once, and no more")
  func reports() async throws {
    let source = ScriptedSource(sizes: 10, 10, 10, 10)
    let list = list(source, from: 3)
    try await list.loadMore()
    let events = list.events.makeAsyncIterator()
    for offset in [500.0, 200, 100] { list.report(offset: offset, in: page) }
    #expect(!list.snapshot.isLoadingBefore)
    source.hold(2)
    for step in 0..<400 { list.report(offset: 99 - Double(step) / 10, in: page) }
    #expect(list.snapshot.isLoadingBefore && list.snapshot.state == .content)
    try await source.wait { $0.requests == [3, 2] }
    source.release(2)
    #expect(await events.next(1).map(\.name) == ["shift(10)"])
    #expect(!list.snapshot.isLoadingBefore && list.snapshot.items == Array(10..<30))
    // The view does not show the page yet, and then does, with the same items in it.
    for offset in [99.0, 60] { list.report(offset: offset, in: page) }
    let longer = Viewport(content: 2800, extent: 800)
    for offset in [1059.0, 700, 100] { list.report(offset: offset, in: longer) }
    #expect(source.requests == [3, 2])
    list.report(offset: 99, in: longer)
    #expect(await events.next(1).map(\.name) == ["shift(10)"])
    list.report(offset: 0, in: Viewport(content: 3800, extent: 800))
    #expect(!list.snapshot.canLoadBefore && !list.snapshot.isLoadingBefore)
    #expect(source.requests == [3, 2, 1])
    #expect(list.snapshot.items == Array(0..<30))
  }

  @Test("IN-27, X-01: both ends have their thresholds, and one page at a time is loaded")
  func bothEnds() async throws {
    let source = ScriptedSource(sizes: 10, 10, 10, 10, 10)
    let list = list(source, from: 3, .remainingExtent(100), before: .remainingExtent(2000))
    try await list.loadMore()
    let events = list.events.makeAsyncIterator()
    // Due at both ends: what is behind comes first.
    list.report(offset: 950, in: page)
    #expect(list.snapshot.state == .loadingMore && !list.snapshot.isLoadingBefore)
    #expect(await events.next(3).map(\.name) == ["loadingMore", "didLoad(10)", "content"])
    let longer = Viewport(content: 2800, extent: 800)
    list.report(offset: 950, in: longer)
    #expect(await events.next(1).map(\.name) == ["shift(10)"])
    // More behind moves nothing in front, and is no reason to load there.
    let long = Viewport(content: 3800, extent: 800)
    list.options.thresholdBefore = .remainingExtent(100)
    list.report(offset: 1950, in: long)
    list.report(offset: 2901, in: long)
    #expect(await events.next(4).map(\.name).contains("didLoad(10)"))
    for offset in [1900.0, 1000] {
      list.report(offset: offset, in: Viewport(content: 4800, extent: 800))
    }
    #expect(source.requests == [3, 4, 2, 5])
    #expect(source.log.maxConcurrent == 1)
  }

  @Test("IN-27, X-07: content that does not fill its viewport is filled from the front at its end")
  func fills() async throws {
    for end in [[3, 4], [3, 0]] {
      let source = ScriptedSource(sizes: [3, 3] + [end[0]] + (end[1] == 0 ? [0] : []))
      let list = list(source, from: 3)
      try await list.loadMore()
      let events = list.events.makeAsyncIterator()
      func settled() async {
        while list.snapshot.isLoadingBefore || list.snapshot.state == .loadingMore {
          _ = await events.next(1)
        }
      }
      for _ in 0..<4 {
        list.report(offset: 0, in: Viewport(content: 40 * Double(list.snapshot.count), extent: 800))
        await settled()
      }
      #expect(list.snapshot.items == Array(0..<9))
      #expect(source.requests.suffix(2) == [2, 1])
    }
    let source = ScriptedSource(sizes: 3, 3)
    let off = list(source, from: 2, before: .onDemand)
    try await off.loadMore()
    off.report(offset: 0, in: Viewport(content: 100, extent: 800))
    #expect(!off.snapshot.isLoadingBefore)
  }

  @Test(
    "IN-27, PM-14: a page in front that failed waits for retry(); one that was cancelled does not")
  func failures() async throws {
    let source = ScriptedSource(sizes: 1, 1, 1)
    let list = list(source, from: 3)
    try await list.loadMore()
    source.hold(2)
    list.report(offset: 0, in: page)
    try await source.wait { $0.requests == [3, 2] }
    list.cancel()
    source.release(2)
    try await source.wait { $0.running == 0 }
    while list.snapshot.isLoadingBefore { await Task.yield() }
    source.fail(2)
    while source.requests.count < 3 {
      list.report(offset: 0, in: page)
      await Task.yield()
    }
    while list.snapshot.errorBefore == nil { await Task.yield() }
    for offset in [-1.0, -2, -3] { list.report(offset: offset, in: page) }
    #expect(!list.snapshot.isLoadingBefore)
    #expect(try await list.retry())
    #expect(source.requests == [3, 2, 2, 2])
    list.report(offset: 0, in: Viewport(content: 2800, extent: 800))
    try await source.wait { $0.requests == [3, 2, 2, 2, 1] }
  }

  @Test(
    "IN-27, K4: a page without items is no end at either end: the same place loads the next one")
  func emptyPages() async throws {
    let source = ScriptedSource(sizes: 5, 0, 5, 0, 5)
    let list = list(source, from: 3, .remainingExtent(100))
    try await list.loadMore()
    for (offset, requests) in [
      (0.0, [3, 2]), (0, [3, 2, 1]), (1000, [3, 2, 1, 4]), (1000, [3, 2, 1, 4, 5]),
    ] {
      list.report(offset: offset, in: page)
      try await source.wait { $0.requests == requests && $0.running == 0 }
      while list.snapshot.isLoadingBefore || list.snapshot.state == .loadingMore {
        await Task.yield()
      }
    }
    #expect(list.snapshot.items == Array(0..<15))
  }

  @Test(
    "IN-27, IN-29, TI-19: nothing is due while a view settles, while it is off, or after a reload")
  func settles() async throws {
    let source = ScriptedSource(sizes: 5, 5, 5)
    let clock = ManualClock()
    let list = list(source, from: 3, clock: clock, settling: .milliseconds(300))
    list.report(offset: 0, in: page)
    #expect(source.requests == [])
    try await list.loadMore()
    clock.advance(by: .milliseconds(100))
    list.report(offset: 0, in: page)
    #expect(!list.snapshot.isLoadingBefore)
    clock.advance(by: .milliseconds(201))
    list.options.loadsAhead = false
    list.report(offset: 0, in: page)
    #expect(!list.snapshot.isLoadingBefore)
    list.options.loadsAhead = true
    source.hold(2)
    list.report(offset: 0, in: page)
    #expect(list.snapshot.isLoadingBefore)
    try await source.wait { $0.requests == [3, 2] }
    #expect(try await list.reload())
    #expect(source.log.cancelled == [2])
    source.release(2)
    #expect(list.snapshot.items == Array(10..<15))
    clock.advance(by: .milliseconds(300))
    list.report(offset: 0, in: page)
    try await source.wait { $0.requests == [3, 2, 3, 2] }
  }

  // MARK: Report

  @Test("IN-27: a report counts pages read on the way back by themselves, and their traffic in all")
  func walkReport() async throws {
    let pages = (0..<4).map { page in
      var answer = Page([page * 2, page * 2 + 1])
      answer.traffic = WalkReport.Traffic(bytes: 100, requests: 2, retries: 1)
      return answer
    }
    let list = list(ScriptedSource(pages), from: 3)
    try await list.loadMore()
    while try await list.loadBefore() {}
    let report = list.report
    #expect([report.pagesBefore, report.itemsBefore] == [2, 4])
    #expect(report.traffic.bytes == 300 && report.traffic.retries == 3)
    #expect(report.description.contains("2 pages before the start"))
    let walk = Cursor(ScriptedSource(pages), from: 3).walk()
    _ = try await walk.next()
    #expect(walk.report.pagesBefore == 0)
    _ = try await walk.previous()
    #expect([walk.report.pages, walk.report.items] == [1, 2])
    #expect([walk.report.pagesBefore, walk.report.itemsBefore] == [1, 2])
    #expect(walk.report.traffic.requests == 4)
    #expect(walk.report.checkpoint == 4)
  }

  // MARK: Control

  @Test("IN-27, IN-14, IN-15: a control in front starts strictly before the start, on the way back")
  func controlStarts() {
    let covered = Viewport(content: 1800, extent: 800, leading: 49)
    for (sticks, start, begin) in [(true, 0.0, -60.0), (false, -49, -109)] {
      let control = ScrollControl.loadBefore(ControlOptions(sticksToContent: sticks)) {}
      #expect(control.position(in: covered) == begin)
      // Where a view begins is no gesture; nor is the way forward.
      control.scrolled(to: start - 10, in: covered)
      control.scrolled(to: start - 5, in: covered)
      control.scrolled(to: start, in: covered)
      #expect(control.shown == .none)
      control.scrolled(to: start - 0.5, in: Viewport(content: 0, extent: 800, leading: 49))
      #expect(control.shown == .none)
      control.scrolled(to: start - 1, in: covered)
      #expect(control.shown == .loading && control.reservedExtent == 60)
      control.remove()
    }
  }

  @Test(
    "IN-27, IN-16, IN-22: the control in front has room in the header, and a refresh cancels it")
  func controlAndRefresh() async throws {
    let source = ScriptedSource(sizes: 1, 1, 1)
    let paginator = list(source, from: 3, before: .onDemand)
    #expect(ScrollControls(for: paginator).loadBefore == nil)
    let controls = ScrollControls(for: paginator, loadBefore: ControlOptions())
    controls.scrolled(to: 10, in: page)
    controls.scrolled(to: -10, in: page)
    // There is no page yet that could have one before it.
    #expect(controls.header == .none && source.requests == [])
    try await paginator.loadMore()
    source.hold(2)
    controls.scrolled(to: -11, in: page)
    #expect(controls.header == .loading && controls.footer == .none)
    #expect(controls.headerExtent == 60)
    try await source.wait { $0.requests == [3, 2] }
    controls.refresh?.begin()
    #expect(controls.loadBefore?.shown == ControlState.none)
    #expect(controls.headerExtent == 60)
    try await source.wait { $0.cancelled == [2] && $0.running == 0 }
    source.release(2)
    while controls.header != .none { await Task.yield() }
    for (offset, requests) in [(-12.0, [2]), (-13, [2, 1]), (-14, [2, 1])] {
      controls.scrolled(to: 0, in: page)
      controls.scrolled(to: offset, in: page)
      while controls.header != .none { await Task.yield() }
      #expect(source.requests.filter { $0 < 3 }.dropFirst() == requests[...])
    }
    #expect(paginator.snapshot.items == [0, 1, 2])
    controls.clear()
    #expect(controls.loadBefore == nil)
  }

  @Test("IN-27: after an error in front its control starts nothing before a retry")
  func controlAfterError() async throws {
    let source = ScriptedSource(sizes: 1, 1)
    let paginator = list(source, from: 2, before: .onDemand)
    let controls = ScrollControls(for: paginator, loadBefore: ControlOptions())
    try await paginator.loadMore()
    source.fail(1)
    for offset in [10.0, -1] { controls.scrolled(to: offset, in: page) }
    while controls.header != .none { await Task.yield() }
    #expect(paginator.snapshot.errorBefore != nil)
    for offset in [10.0, -1] { controls.scrolled(to: offset, in: page) }
    #expect(controls.header == .none && controls.loadBefore?.begin() == false)
    #expect(try await paginator.retry())
    #expect(source.requests == [2, 1, 1])
  }
}
