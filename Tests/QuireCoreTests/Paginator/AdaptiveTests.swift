import QuireTesting
import TestSupport
import Testing

@testable import QuireCore

@Suite("What adapts to what it measures")
struct AdaptiveTests {
  /// A paginator's machine in virtual time: one consumer takes a while for each page, and page n takes as
  /// long to load as is told.
  private struct Rehearsal {
    var machine: LookAheadMachine<Int>
    private let pages: Int
    private let latency: (Int) -> Duration
    private var now = Duration.zero
    private var load: (id: Int, end: Duration, page: Int)?
    private var loaded = 0
    private(set) var waited = Duration.zero
    /// The most pages that were loaded and not begun.
    private(set) var most = 0

    init(_ limits: LookAhead, pages: Int, latency: @escaping (Int) -> Duration) {
      machine = LookAheadMachine(limits: limits)
      self.pages = pages
      self.latency = latency
    }

    private mutating func perform(_ effects: LookAheadMachine<Int>.Effects) -> Bool {
      if let id = effects.start {
        load = (id, now + latency(loaded), loaded)
        loaded += 1
      }
      if case .page? = effects.outcome { return true }
      return effects.wake.contains { if case .page = $0.outcome { true } else { false } }
    }

    /// Ends loads up to a time; true where one brought what the consumer waited for.
    private mutating func pass(until end: Duration, isWaiting: Bool) -> Bool {
      while let load, load.end <= end {
        now = max(now, load.end)
        self.load = nil
        let page = Page(Array(repeating: load.page, count: 10), next: "more")
        let isServed = perform(machine.finished(load.id, .page(page, isLast: false), at: now))
        most = max(most, machine.buffer.pages.count)
        if isServed, isWaiting { return true }
      }
      return false
    }

    mutating func run(consuming time: (Int) -> Duration) {
      for page in 0..<pages {
        if !perform(machine.next(.page, ticket: page, at: now)) {
          let begin = now
          _ = pass(until: .seconds(1e9), isWaiting: true)
          waited += now - begin
        }
        let end = now + time(page)
        _ = pass(until: end, isWaiting: false)
        now = max(now, end)
      }
    }
  }

  /// Every tenth page takes a second, and the others 20 ms.
  private static func uneven(_ page: Int) -> Duration {
    page % 10 == 9 ? .seconds(1) : .milliseconds(20)
  }

  @Test(
    "15-Adaptive: what is loaded ahead outlasts the slowest pages, and no more than that is loaded")
  func depth() {
    var time = LookAhead(maxPages: 64, time: .zero ... .milliseconds(100))
    var adaptive = Rehearsal(time, pages: 500, latency: Self.uneven)
    adaptive.run { _ in .milliseconds(200) }
    var plain = Rehearsal(LookAhead(), pages: 500, latency: Self.uneven)
    plain.run { _ in .milliseconds(200) }
    // A page ahead hides 200 ms of each second; five hide all but the first one of them.
    #expect(plain.waited > .seconds(35), "\(plain.waited)")
    #expect(adaptive.waited < .seconds(2), "\(adaptive.waited)")
    #expect((5...7).contains(adaptive.most), "\(adaptive.most)")
    let changes = adaptive.machine.adjustments
    #expect(changes.first?.subject == .pagesAhead && changes.first?.from == 1)
    #expect(changes.contains { $0.to == 5 }, "\(changes)")
    // A consumer that takes its time needs one page.
    var slow = Rehearsal(time, pages: 50, latency: Self.uneven)
    slow.run { _ in .seconds(5) }
    #expect(slow.most <= 2 && slow.machine.adjustments.isEmpty, "\(slow.machine.adjustments)")
    // The bound on pages holds however quick it is.
    time.maxPages = 3
    var quick = Rehearsal(time, pages: 500, latency: Self.uneven)
    quick.run { _ in .milliseconds(1) }
    #expect(quick.most <= 3)
    #expect(quick.machine.adjustments.map(\.to) == [3])
  }

  @Test("15-Adaptive: between the marks nothing is begun: it fills up, and rests until the low one")
  func marks() {
    let limits = LookAhead(maxPages: 64, time: .seconds(2) ... .seconds(6))
    var rehearsal = Rehearsal(limits, pages: 60) { _ in .milliseconds(10) }
    rehearsal.run { _ in .seconds(1) }
    // Six pages last for six seconds, and the one in hand is not among them.
    #expect((6...7).contains(rehearsal.most), "\(rehearsal.most)")
    #expect(rehearsal.waited < .milliseconds(50))
    #expect(rehearsal.machine.adjustments.map(\.to) == [6])
  }

  @Test("15-Adaptive: the depth follows a consumer that becomes quicker, and stands in the report")
  func report() async throws {
    let clock = ManualClock()
    let cursor = Cursor<Int>(clock: clock) { position in
      let number = position?.value?.integer ?? 0
      clock.advance(by: .milliseconds(100))
      return Page([number], next: number < 40 ? Position(integerLiteral: number + 1) : nil)
    }
    let paginator = Paginator(cursor, maxPagesAhead: 4, timeAhead: .zero ... .milliseconds(50))
    for try await page in paginator {
      // Slow at first: what is loaded meanwhile takes of the same time.
      clock.advance(by: page.index < 20 ? .seconds(10) : .zero)
    }
    let report = paginator.report
    #expect(report.pages == 41)
    #expect(report.adjustments.allSatisfy { $0.subject == .pagesAhead && $0.from != $0.to })
    #expect("\(report.adjustments.last.map { "\($0)" } ?? "pagesAhead 1 → 1: ")".contains(" → "))
    await #expect(throws: PageError.self) {
      _ = try await Paginator(cursor, timeAhead: .seconds(-1) ... .zero).items.collected()
    }
  }

  // MARK: The window of pages that are read at once

  /// Runs a window against a server, which takes `latency(width)` for a page; returns the widths after each
  /// full window.
  private func widths(
    _ window: inout ParallelWindow, windows: Int, latency: (_ width: Int, _ read: Int) -> Duration
  ) -> [Int] {
    (0..<windows).map { _ in
      let width = window.width
      let numbers = (0..<width).map { _ in window.launch() }
      for (read, number) in numbers.enumerated() {
        window.succeeded(number, after: latency(width, read))
      }
      return window.width
    }
  }

  @Test(
    "15-Adaptive: where pages take longer the more of them are read, fewer are read at once, and it is told"
  )
  func queueing() {
    var window = ParallelWindow(limit: 16)
    // One worker, 200 ms a page: the nth of a window waits for those before it.
    let widths = widths(&window, windows: 40) { _, read in .milliseconds(200) * (read + 1) }
    #expect(widths.prefix(4).min() ?? 16 <= 5, "\(widths)")
    #expect(widths.dropFirst(4).allSatisfy { $0 <= 6 }, "\(widths)")
    let changes = window.takeAdjustments()
    #expect(changes.first?.from == 16 && changes.first?.subject == .pagesAtOnce)
    #expect(changes.first?.reason.contains("at best") == true, "\(changes)")
    #expect(window.takeAdjustments().isEmpty)
  }

  @Test("15-Adaptive: pages that are slow for another reason are soon read as many at once again")
  func unevenPages() {
    var window = ParallelWindow(limit: 8)
    // Every other page is in a cache.
    let widths = widths(&window, windows: 200) { _, read in
      .milliseconds(read.isMultiple(of: 2) ? 5 : 800)
    }
    #expect(widths.filter { $0 < 8 }.count <= 8, "\(widths)")
    #expect(window.width == 8)
  }

  @Test(
    "15-Adaptive: pages that always take about as long are read as many at once as was asked for")
  func steady() {
    var window = ParallelWindow(limit: 8)
    var random = SeededGenerator(seed: 7)
    let widths = widths(&window, windows: 500) { _, _ in
      .milliseconds(Int.random(in: 300...550, using: &random))
    }
    #expect(widths.allSatisfy { $0 == 8 })
    #expect(window.takeAdjustments().isEmpty)
  }

  @Test("15-Adaptive: a narrower window stands in the report, and why")
  func windowReport() async throws {
    let source = ScriptedSource(sizes: Array(repeating: 1, count: 12))
    source.fail(3, with: PageError(.throttled, "429 Too Many Requests"))
    let cursor = Cursor.numbered(clock: ManualClock()) { number in
      let page = try await source.page(at: Position(integerLiteral: number))
      return page.map { NumberedPage($0.items, isLast: number >= 12) }
    }
    let walk = cursor.parallel(8).walk()
    #expect(try await walk.items.collected() == Array(0..<12))
    let first = try #require(walk.report.adjustments.first)
    #expect(first.subject == .pagesAtOnce && first.from == 8 && first.to == 4)
    #expect("\(first)".hasPrefix("pagesAtOnce 8 → 4: the server asked for less"))
  }

  @Test("15-Adaptive: a report keeps the last 64 changes")
  func bounded() {
    var report = WalkReport()
    report.note((0..<100).map { .init(.pageSize, from: $0, to: $0 + 1, "") })
    #expect(report.adjustments.map(\.from) == Array(36..<100))
  }
}
