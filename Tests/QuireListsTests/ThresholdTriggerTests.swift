import QuireCore
import QuireLists
import QuireTesting
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct ThresholdTriggerTests {
  typealias Crossing = ThresholdTrigger.Crossing

  /// A trigger and what its handler was called with; the handler answers as told.
  private func watched(
    _ threshold: Threshold = .standard, axis: Viewport.Axis = .vertical, answers: [Bool] = []
  ) -> (ThresholdTrigger, Recorder<Crossing>) {
    let trigger = ThresholdTrigger(threshold, axis: axis)
    let calls = Recorder<Crossing>()
    trigger.onCrossing { crossing in
      calls.note(crossing)
      return calls.count <= answers.count ? answers[calls.count - 1] : false
    }
    return (trigger, calls)
  }

  private let page = Viewport(content: 1800, extent: 800)

  @Test("PM-04: the remaining extent is measured behind the viewport; overscroll counts, too")
  func remainingExtent() async throws {
    let (trigger, calls) = watched(.remainingExtent(100))
    #expect(trigger.report(offset: 900, in: page) == nil)
    await trigger.report(offset: 900.1, in: page)?.value
    #expect(calls.count == 1)
    let (fresh, overscrolled) = watched(.remainingExtent(100))
    await fresh.report(offset: 1150, in: page)?.value
    #expect(overscrolled.count == 1)
  }

  @Test("PM-05: one viewport is the viewport's extent, or as many items as the last page has")
  func oneViewport() async throws {
    let (trigger, calls) = watched(.oneViewport)
    #expect(trigger.report(offset: 200, in: page) == nil)
    await trigger.report(offset: 200.5, in: page)?.value
    #expect(calls.count == 1)
    let source = ScriptedSource(sizes: 10, 10)
    var items = Paginator(Cursor(source), threshold: .oneViewport).items.makeAsyncIterator()
    _ = try await items.next()
    try await source.wait { $0.requests == [1, 2] }
  }

  @Test("PM-07: insets enter both the size and the offset")
  func insets() async {
    let (trigger, calls) = watched()
    let viewport = Viewport(content: 1800, extent: 800, leading: 64, trailing: 49)
    #expect(trigger.report(offset: 603, in: viewport) == nil)
    await trigger.report(offset: 604, in: viewport)?.value
    #expect(calls.count == 1)
  }

  @Test("PM-08, IN-28: the axis is fixed, and the other one is ignored")
  func axis() async {
    let (trigger, calls) = watched(axis: .horizontal)
    #expect(trigger.report(x: 0, in: page, y: 900, in: page) == nil)
    await trigger.report(x: 700, in: page, y: 0, in: page)?.value
    #expect(calls.count == 1)
    // There is no setter: `axis` is a let.
    let path = \ThresholdTrigger.axis
    #expect(!(path is WritableKeyPath<ThresholdTrigger, Viewport.Axis>))
  }

  @Test("PM-09, PM-16: only positions beyond the furthest count, by the threshold of the moment")
  func forwardOnly() async throws {
    let (trigger, calls) = watched()
    #expect(trigger.report(offset: 500, in: page) == nil)
    trigger.threshold = .fraction(0.4)
    #expect(trigger.report(offset: 300, in: page) == nil)
    #expect(trigger.report(offset: 450, in: page) == nil)
    await trigger.report(offset: 501, in: page)?.value
    #expect(calls.count == 1)
    let (other, heard) = watched(.fraction(0.9))
    #expect(other.report(offset: 700, in: page) == nil)
    other.threshold = .standard
    await other.report(offset: 701, in: page)?.value
    #expect(heard.count == 1)
  }

  @Test("PM-10: a reset makes every position new and arms the trigger")
  func reset() async {
    let (trigger, calls) = watched(answers: [true])
    await trigger.report(offset: 2500, in: Viewport(content: 3800, extent: 800))?.value
    trigger.reset()
    await trigger.report(offset: 601, in: page)?.value
    #expect(calls.count == 2)
  }

  @Test("PM-11, PM-12, PM-13: one event an arm; true arms for a further position, false does not")
  func latch() async {
    let (trigger, calls) = watched(answers: [true, false])
    for offset in 601...1000 { await trigger.report(offset: Double(offset), in: page)?.value }
    // The first answer armed it, and each further report exceeds the threshold of the old content.
    #expect(calls.count == 2)
    let (patient, heard) = watched(answers: [])
    for offset in 601...1000 { await patient.report(offset: Double(offset), in: page)?.value }
    #expect(heard.count == 1)
    patient.answer(true)
    let longer = Viewport(content: 3800, extent: 800)
    for offset in [800.0, 1800] { #expect(patient.report(offset: offset, in: longer) == nil) }
    await patient.report(offset: 1801, in: longer)?.value
    #expect(heard.count == 2)
    #expect(patient.report(offset: 2500, in: longer) == nil)
    patient.answer(true)
    await patient.report(offset: 2600, in: longer)?.value
    #expect(heard.count == 3)
  }

  @Test("PM-14: a handler that throws leaves the trigger latched, and retry() calls it again")
  func throwing() async {
    let trigger = ThresholdTrigger()
    let calls = Recorder<Int>()
    trigger.onCrossing { _ in
      calls.note(calls.count)
      if calls.count == 1 { throw ScriptedFailure() }
      return true
    }
    for offset in 700...900 { await trigger.report(offset: Double(offset), in: page)?.value }
    #expect(calls.count == 1)
    #expect(!trigger.isArmed)
    await trigger.retry()?.value
    #expect(calls.count == 2)
    #expect(trigger.isArmed)
    #expect(trigger.retry() == nil)
  }

  @Test("PM-15: without a handler nothing is latched")
  func noHandler() async {
    let trigger = ThresholdTrigger()
    #expect(trigger.report(offset: 700, in: page) == nil)
    let calls = Recorder<Crossing>()
    trigger.onCrossing { crossing in
      calls.note(crossing)
      return false
    }
    await trigger.report(offset: 701, in: page)?.value
    #expect(calls.count == 1)
  }

  @Test("PM-17: a crossing says who measured it, against what, and how far the consumer is")
  func crossing() async throws {
    let (trigger, calls) = watched()
    await trigger.report(offset: 700, in: page)?.value
    let crossing = try #require(calls.values.first)
    #expect(crossing.threshold == .standard)
    #expect(crossing.threshold == .fraction(0.6))
    #expect(abs(crossing.fraction - 0.7) < 1e-9)
    #expect(crossing.source === trigger)
  }

  @Test("PM-18: no content, content that fits, and positions before it never fire")
  func nothingToScroll() throws {
    for threshold in [Threshold.standard, .oneViewport, .remainingExtent(500)] {
      for (offset, viewport) in [
        (10.0, Viewport(content: 0, extent: 800)), (20, Viewport(content: 800, extent: 800)),
        (30, Viewport(content: 500, extent: 800)), (-50, page),
      ] {
        let (trigger, _) = watched(threshold)
        #expect(trigger.report(offset: offset, in: viewport) == nil)
        #expect(trigger.isArmed)
      }
    }
  }

  @Test("PM-20: a hooked sequence passes through unchanged, and is handled before it is measured")
  func passesThrough() async throws {
    let trigger = ThresholdTrigger()
    let log = Recorder<String>()
    let crossings = Recorder<Crossing>()
    let gate = Gate()
    trigger.onCrossing { crossing in
      crossings.note(crossing)
      gate.openUp()
      return false
    }
    let elements = AsyncStream { continuation in
      for element in 1...30 { continuation.yield(element) }
      continuation.finish()
    }
    var seen: [Int] = []
    // What is loaded is asked for when an element is measured.
    let hooked = elements.reporting(
      to: trigger,
      loaded: {
        log.note("check")
        return 30
      }, tap: { log.note("tap \($0)") })
    for await element in hooked { seen.append(element) }
    try await gate.wait()
    #expect(seen == Array(1...30))
    #expect(log.values == (1...30).flatMap { ["tap \($0)", "check"] })
    #expect(crossings.values.map { Int(($0.fraction * 30).rounded()) } == [19])
  }

  @Test("PM-21: 40 items, 20 more each time: the events come at 25, 37 and 49")
  func readmeExample() async {
    let trigger = ThresholdTrigger()
    let loaded = Recorder<Int>()
    for _ in 0..<40 { loaded.note(0) }
    trigger.onCrossing { _ in
      for _ in 0..<20 { loaded.note(0) }
      return true
    }
    var crossings: [[Int]] = []
    for consumed in 1...60 {
      let count = loaded.count
      if let task = trigger.report(consumed: consumed, loaded: count) {
        crossings.append([consumed, count])
        await task.value
      }
    }
    #expect(crossings == [[25, 40], [37, 60], [49, 80]])
  }

  @Test("PM-22: a fraction or a count, with or without a listing, is one line each")
  func factories() throws {
    let fraction = ThresholdTrigger(.fraction(0.6))
    let remaining = ThresholdTrigger(.remaining(items: 3))
    let fractionOfListing = ListOptions(threshold: .fraction(0.6))
    let remainingOfListing = ListOptions(threshold: .remaining(items: 3))
    #expect(fraction.threshold == ThresholdTrigger().threshold)
    #expect(fractionOfListing.threshold == fraction.threshold)
    #expect(remainingOfListing.threshold == remaining.threshold)
    #expect(fraction.threshold != remaining.threshold)
  }

  private final class Owner: Sendable {
    let calls = Recorder<Int>()
  }

  @Test("PM-23, IN-23: the handler's owner is not kept; without it nothing is called")
  func ownership() async {
    let trigger = ThresholdTrigger()
    weak var weakOwner: Owner?
    let calls: Recorder<Int>
    do {
      let owner = Owner()
      weakOwner = owner
      calls = owner.calls
      trigger.onCrossing(for: owner) { owner, _ in
        owner.calls.note(1)
        return true
      }
      await trigger.report(offset: 601, in: page)?.value
      #expect(calls.count == 1)
    }
    #expect(weakOwner == nil)
    #expect(trigger.report(offset: 900, in: page) == nil)
    #expect(calls.count == 1)
  }

  @Test("IN-19: a veto is no request and no latch")
  func veto() async {
    let (trigger, calls) = watched()
    let items = Recorder<Int>()
    trigger.fires { items.count >= 12 }
    await trigger.report(offset: 700, in: page)?.value
    #expect(calls.count == 0)
    #expect(trigger.isArmed)
    for item in 0..<12 { items.note(item) }
    await trigger.report(offset: 701, in: page)?.value
    #expect(calls.count == 1)
  }

  @Test("TI-47: at an extent of 0 the trigger is strictly past the end; below 0 it is refused")
  func atTheEnd() async throws {
    let (trigger, calls) = watched(.remainingExtent(0))
    #expect(trigger.report(offset: 1000, in: page) == nil)
    await trigger.report(offset: 1000.5, in: page)?.value
    #expect(calls.count == 1)
    #expect(throws: PageError.self) { try Threshold(remainingExtent: -100) }
  }

  @Test("OU-08, PM-06: 500 before the end; numbers that cannot work are refused")
  func extents() async throws {
    let (trigger, calls) = watched(.remainingExtent(500))
    let viewport = Viewport(content: 2000, extent: 800)
    #expect(trigger.report(offset: 700, in: viewport) == nil)
    await trigger.report(offset: 700.5, in: viewport)?.value
    #expect(calls.count == 1)
    for extent in [-1, Double.nan, .infinity] {
      #expect(throws: PageError.self) { try Threshold(remainingExtent: extent) }
    }
  }
}
