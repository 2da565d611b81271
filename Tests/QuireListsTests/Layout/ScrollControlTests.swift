import QuireTesting
import TestSupport
import Testing

@testable import QuireCore
@testable import QuireLists

@Suite(.timeLimit(.minutes(15))) struct ScrollControlTests {
  /// A view of 800 onto 1800.
  private let page = Viewport(content: 1800, extent: 800)

  /// Writes down what it is told.
  private struct Log: ControlObserver {
    let states = Recorder<ControlState>()
    func controlChanged(to state: ControlState) { states.note(state) }
  }

  /// A refresh control whose action waits for a gate.
  private struct Rig {
    let gate = Gate()
    let calls = Recorder<Int>()
    let log = Log()
    let clock = ManualClock()

    func refresh(_ options: ControlOptions = ControlOptions()) -> ScrollControl {
      watched(.refresh(options, clock: clock, action: action))
    }

    func loadMore(_ options: ControlOptions = ControlOptions()) -> ScrollControl {
      watched(.loadMore(options, clock: clock, action: action))
    }

    private func watched(_ control: ScrollControl) -> ScrollControl {
      control.observe(by: log)
      return control
    }

    private var action: @Sendable () async -> Void {
      { [calls, gate] in
        calls.note(calls.count)
        try? await gate.wait()
      }
    }
  }

  private func pull(_ control: ScrollControl, _ pulls: Double..., tracking: Bool = true) {
    for pull in pulls { control.scrolled(to: -pull, in: page, isTracking: tracking) }
  }

  // MARK: Refresh

  @Test("IN-01, TI-48, IN-21: pulled out, let go, at work; equal states are told once")
  func pulls() async {
    let rig = Rig()
    let control = rig.refresh()
    #expect(control.isEnabled)
    var shown: [ControlState] = []
    for distance in [0.0, 15, 30, 60, 80] {
      pull(control, distance)
      shown.append(control.shown)
      #expect(rig.calls.count == 0)
    }
    control.released()
    shown.append(control.shown)
    func releasing(_ progress: Double) -> ControlState { .releasing(progress: progress) }
    #expect(
      shown == [.none, releasing(0.25), releasing(0.5), releasing(1), releasing(1), .loading])
    #expect(
      rig.log.states.values == [releasing(0.25), releasing(0.5), releasing(1), .loading])
    control.end()
    control.remove()
  }

  @Test("IN-01, IN-05: letting go starts the action once, and pulls meanwhile do not start another")
  func actsOnce() async throws {
    let source = ScriptedSource(sizes: 1)
    source.hold(1)
    let finished = Watch()
    let control = ScrollControl.refresh { _ = try? await source.page(at: nil) }
    control.observe(by: finished)
    pull(control, 80)
    #expect(source.requests == [])
    control.released()
    try await source.wait { $0.running == 1 }
    pull(control, 20, 90)
    control.released()
    #expect(!control.begin())
    source.release(1)
    // The action's own end ends the control.
    try await finished.gate.wait()
    #expect(control.shown == .none)
    #expect(source.requests == [1])
  }

  /// Opens a gate when the control is at rest again.
  private struct Watch: ControlObserver {
    let gate = Gate()
    func controlChanged(to state: ControlState) { if state == .none { gate.openUp() } }
  }

  @Test("IN-02: let go too early, nothing starts, and it slides back")
  func earlyRelease() {
    let rig = Rig()
    let control = rig.refresh()
    pull(control, 30, 45)
    control.released()
    pull(control, 10, 0, tracking: false)
    #expect(control.shown == .none)
    #expect(!rig.log.states.values.contains(.loading))
  }

  @Test("IN-03, K-08: let go exactly where it triggers, it starts")
  func exactRelease() {
    let control = Rig().refresh()
    pull(control, 60)
    control.released()
    #expect(control.shown == .loading)
  }

  @Test("IN-04: one pull is enough, and a view that jumps by itself is none")
  func lastPull() {
    let control = Rig().refresh()
    pull(control, 61)
    control.released()
    #expect(control.shown == .loading)
    let other = Rig().refresh()
    pull(other, 200, tracking: false)
    #expect(other.shown == .none)
    other.released()
    #expect(other.shown == .none)
    // Of several pulls the last one counts.
    pull(other, 100, 20)
    other.released()
    #expect(other.shown != .loading)
  }

  @Test("IN-05: while it works, pulls change nothing")
  func singleFlight() {
    let rig = Rig()
    let control = rig.refresh()
    pull(control, 80)
    control.released()
    let told = rig.log.states.count
    pull(control, 20, 90)
    control.released()
    #expect(control.shown == .loading)
    #expect(rig.log.states.count == told)
  }

  @Test("IN-06: end() is told once")
  func ends() {
    let rig = Rig()
    let control = rig.refresh()
    control.begin()
    control.end()
    control.end()
    #expect(rig.log.states.values == [.loading, .none])
  }

  @Test("IN-07: begin() starts without a pull, once, and only where it may")
  func begins() {
    let rig = Rig()
    let control = rig.refresh()
    #expect(control.begin())
    #expect(control.shown == .loading)
    #expect(!control.begin())
    control.end()
    control.isEnabled = false
    #expect(!control.begin())
    control.isEnabled = true
    control.remove()
    #expect(!control.begin())
    #expect(rig.log.states.values == [.loading, .none])
  }

  @Test("IN-08: remove() cancels the action, and nothing is told after it")
  func removes() async throws {
    let source = ScriptedSource(sizes: 1)
    source.hold(1)
    let control = ScrollControl.refresh { _ = try? await source.page(at: nil) }
    let log = Log()
    control.observe(by: log)
    control.begin()
    try await source.wait { $0.running == 1 }
    #expect(control.reservedExtent == 60)
    control.remove()
    try await source.wait { $0.cancelled == [1] && $0.running == 0 }
    #expect(control.reservedExtent == 0)
    control.end()
    pull(control, 80)
    control.released()
    #expect(log.states.values == [.loading, .none])
  }

  @Test("IN-09, IN-10, IN-12: clear() takes out both; a new control takes the place of the old")
  func replaces() {
    let rig = Rig()
    let controls = ScrollControls()
    let (first, second, more) = (rig.refresh(), Rig().refresh(), Rig().loadMore())
    controls.refresh = first
    controls.loadMore = more
    first.begin()
    controls.refresh = second
    #expect(first.shown == .none)
    second.begin()
    first.end()
    #expect(second.shown == .loading)
    controls.clear()
    #expect(controls.refresh == nil && controls.loadMore == nil)
    #expect(!second.isEnabled && !more.isEnabled)
    #expect(controls.headerExtent == 0)
  }

  @Test("IN-10: the end of an action that was replaced ends nothing")
  func generations() {
    var machine = ControlMachine(.refresh)
    #expect(machine.began(at: .zero).start == 1)
    _ = machine.ended(at: .zero)
    #expect(machine.began(at: .zero).start == 2)
    #expect(machine.ended(1, at: .zero).states == [])
    #expect(machine.state == .loading)
    #expect(machine.ended(2, at: .zero).states == [.none])
  }

  @Test("IN-11, IN-13: a control takes room while it works, unless it is bound or does not hold")
  func extents() {
    let cases: [(ControlOptions, Double)] = [
      (ControlOptions(), 60), (ControlOptions(reservesExtent: false), 0),
      (ControlOptions(holdsWhileLoading: false), 0),
    ]
    var told: [[ControlState]] = []
    for (options, extent) in cases {
      let rig = Rig()
      let controls = ScrollControls()
      let control = rig.refresh(options)
      controls.refresh = control
      controls.scrolled(to: -80, in: page, isTracking: true)
      controls.released()
      #expect(control.shown == .loading)
      #expect(controls.headerExtent == extent)
      control.end()
      #expect(controls.headerExtent == 0)
      told.append(rig.log.states.values)
    }
    #expect(told[0] == told[1])
    #expect(ControlOptions().holdsWhileLoading)
    #expect(!ControlOptions(reservesExtent: false).holdsWhileLoading)
  }

  @Test("IN-12: a control that is turned off finishes what it does, and starts nothing")
  func disables() {
    let rig = Rig()
    let control = rig.refresh()
    control.begin()
    control.isEnabled = false
    #expect(control.shown == .loading)
    control.end()
    pull(control, 80)
    control.released()
    #expect(control.shown == .none)
    #expect(rig.log.states.values == [.loading, .none])
  }

  // MARK: Load more

  @Test("IN-14, TI-47: more is loaded strictly past the end, on the way forward, once")
  func pastTheEnd() async throws {
    let rig = Rig()
    let control = rig.loadMore()
    control.scrolled(to: 1000, in: page)
    #expect(control.shown == .none)
    control.scrolled(to: 1000.5, in: page)
    #expect(control.shown == .loading)
    control.scrolled(to: 1010, in: page)
    #expect(rig.log.states.values == [.loading])
    let backward = Rig().loadMore()
    backward.scrolled(to: 1000, in: page)
    backward.scrolled(to: 999, in: Viewport(content: 1700, extent: 800))
    #expect(backward.shown == .none)
    let empty = Rig().loadMore()
    empty.scrolled(to: 10, in: Viewport(content: 0, extent: 800))
    #expect(empty.shown == .none)
    // Counted in items: page 2 is asked for when the item behind page 1 is.
    let source = ScriptedSource(sizes: 3, 3)
    var items = Paginator(Cursor(source), threshold: .onDemand).items.makeAsyncIterator()
    for _ in 0..<3 { _ = try await items.next() }
    #expect(source.requests == [1])
    #expect(try await items.next() == 3)
    #expect(source.requests == [1, 2])
  }

  @Test("IN-15: a control right behind the content, or behind what covers the view's end")
  func sticks() {
    let covered = Viewport(content: 1800, extent: 800, trailing: 49)
    for (sticks, end, footer) in [(true, 1000.0, 1800.0), (false, 1049, 1849)] {
      let control = Rig().loadMore(ControlOptions(sticksToContent: sticks))
      #expect(control.position(in: covered) == footer)
      control.scrolled(to: end, in: covered)
      #expect(control.shown == .none)
      control.scrolled(to: end + 0.5, in: covered)
      #expect(control.shown == .loading)
    }
  }

  @Test("IN-16, IN-24: the trailing extent is the control's and the inset, and restored at the end")
  func footer() {
    let covered = Viewport(content: 1800, extent: 800, trailing: 49)
    let copy = covered
    let controls = ScrollControls()
    controls.loadMore = Rig().loadMore()
    #expect(controls.footerExtent(in: covered) == 49)
    controls.scrolled(to: 1001, in: covered)
    #expect(controls.footerExtent(in: covered) == 109)
    controls.loadMore?.end()
    #expect(controls.footerExtent(in: covered) == 49)
    #expect(covered == copy)
  }

  @Test("IN-17: a refresh of content that does not fill the view loads no more")
  func shortContent() {
    let short = Viewport(content: 44, extent: 800)
    let (rig, more) = (Rig(), Rig())
    let controls = ScrollControls()
    controls.refresh = rig.refresh()
    controls.loadMore = more.loadMore()
    controls.scrolled(to: -30, in: short, isTracking: true)
    controls.scrolled(to: -60, in: short, isTracking: true)
    controls.released()
    for bounce in [-40.0, -10, 0] { controls.scrolled(to: bounce, in: short) }
    #expect(rig.log.states.values.filter { $0 == .loading }.count == 1)
    controls.refresh?.end()
    for bounce in [-40.0, -10, 0] { controls.scrolled(to: bounce, in: short) }
    #expect(more.log.states.count == 0)
  }

  @Test(
    "IN-18: at the end of a listing nothing more starts; a reload opens it, the user's off stays")
  func exhausted() async throws {
    let source = ScriptedSource(sizes: 10, 10)
    let paginator = PagedList(Cursor(source), options: ListOptions(threshold: .onDemand))
    let controls = ScrollControls(for: paginator)
    while try await paginator.loadMore() {}
    controls.scrolled(to: 1001, in: page)
    #expect(controls.loadMore?.shown == ControlState.none)
    try await paginator.reload()
    controls.loadMore?.isEnabled = false
    controls.scrolled(to: 1002, in: page)
    #expect(controls.loadMore?.shown == ControlState.none)
    controls.loadMore?.isEnabled = true
    controls.scrolled(to: 1003, in: page)
    #expect(controls.loadMore?.shown == .loading)
    try await source.wait { $0.requests == [1, 2, 1, 2] }
  }

  @Test("P-7: the controls of a paginator tell it where the view is, so that it loads ahead")
  func reports() async throws {
    let source = ScriptedSource(sizes: 10, 10)
    let paginator = PagedList(Cursor(source))
    let controls = ScrollControls(for: paginator)
    let log = Log()
    controls.observe(by: log)
    try await paginator.loadMore()
    controls.scrolled(to: 600, in: page)
    #expect(paginator.snapshot.state == .content)
    controls.scrolled(to: 601, in: page)
    try await source.wait { $0.requests == [1, 2] }
    // It was the threshold, not the control, whose place is the end.
    #expect(log.states.values == [])
    controls.refresh?.begin()
    #expect(controls.header == .loading && controls.footer == .none)
    #expect(log.states.values == [.loading])
    controls.clear()
    #expect(controls.header == .none && controls.footer == .none)
  }

  @Test("IN-22: a refresh cancels what loads more, and nothing loads more before it has ended")
  func exclusive() async throws {
    let source = ScriptedSource(sizes: 1, 1)
    source.hold(2)
    let controls = ScrollControls()
    controls.refresh = Rig().refresh()
    controls.loadMore = .loadMore { _ = try? await source.page(at: 2) }
    controls.refresh?.begin()
    controls.scrolled(to: 1001, in: page)
    #expect(controls.loadMore?.shown == ControlState.none)
    controls.refresh?.end()
    controls.scrolled(to: 1002, in: page)
    #expect(controls.loadMore?.shown == .loading)
    try await source.wait { $0.running == 1 }
    controls.scrolled(to: -80, in: page, isTracking: true)
    #expect(controls.loadMore?.shown == .loading)
    controls.released()
    #expect(controls.refresh?.shown == .loading)
    #expect(controls.loadMore?.shown == ControlState.none)
    try await source.wait { $0.cancelled == [2] && $0.running == 0 }
    controls.refresh?.end()
    controls.scrolled(to: 1003, in: page)
    #expect(controls.loadMore?.shown == .loading)
    // The same without a gesture.
    #expect(controls.refresh?.begin() == true)
    #expect(controls.loadMore?.shown == ControlState.none)
  }

  @Test("IN-23: letting go of a control cancels its action and keeps nobody alive")
  func lifetime() async throws {
    final class Owner: Sendable { let source = ScriptedSource(sizes: 1, 1) }
    weak var weakOwner: Owner?
    let source: ScriptedSource<Int>
    do {
      let owner = Owner()
      weakOwner = owner
      source = owner.source
      source.hold(2)
      let control = ScrollControl.loadMore { [weak owner] in
        guard let source = owner?.source else { return }
        _ = try? await source.page(at: 2)
      }
      control.begin()
      try await source.wait { $0.running == 1 }
    }
    try await source.wait { $0.cancelled == [2] && $0.running == 0 }
    #expect(weakOwner == nil)
  }

  // MARK: Both

  @Test("IN-20: anything can show a control")
  func observers() {
    struct Label: ControlObserver {
      let texts = Recorder<String>()
      func controlChanged(to state: ControlState) {
        switch state {
        case .none: texts.note("Pull Me To Refresh")
        case .releasing(let progress): texts.note("\(progress)")
        case .loading: texts.note("Loading .......")
        }
      }
    }
    let label = Label()
    let control = Rig().refresh()
    control.observe(by: label)
    pull(control, 30, 0, 30, 60)
    control.released()
    #expect(
      label.texts.values == ["0.5", "Pull Me To Refresh", "0.5", "1.0", "Loading ......."])
  }

  @Test("IN-21: states are equal with their progress, can be told apart without, and read well")
  func states() {
    #expect(ControlState.releasing(progress: 0.2) != .releasing(progress: 0.3))
    #expect(ControlState.releasing(progress: 0.2).isReleasing)
    #expect(!ControlState.loading.isReleasing)
    let texts = [ControlState.none, .releasing(progress: 0.5), .loading].map(\.description)
    #expect(texts == ["None", "Releasing: 0.5", "Loading"])
    let odd: [Double] = [0.5, 2, -1, .infinity, -.infinity, .nan]
    #expect(odd.map { ControlState.frame(at: $0, of: 8) } == [4, 7, 0, 7, 0, 0])
  }

  @Test("IN-25: a log is off by default, and has a line for each state when it is on")
  func logs() {
    let lines = Recorder<String>()
    let control = Rig().refresh()
    pull(control, 60)
    control.released()
    control.end()
    #expect(lines.count == 0)
    control.observe(by: ControlLog("refresh") { lines.note($0) })
    pull(control, 60)
    control.released()
    control.end()
    #expect(lines.values == ["refresh: Releasing: 1.0", "refresh: Loading", "refresh: None"])
  }

  @Test("IN-28: along x the numbers are those along y")
  func horizontal() {
    // A control knows one axis, whichever it is: the caller gives it x instead of y.
    let control = Rig().refresh()
    let x = Viewport(content: 1800, extent: 800, leading: 20)
    control.scrolled(to: -20 - 30, in: x, isTracking: true)
    #expect(control.shown == .releasing(progress: 0.5))
    control.scrolled(to: -20 - 60, in: x, isTracking: true)
    control.released()
    #expect(control.shown == .loading)
    let more = Rig().loadMore()
    more.scrolled(to: 1000, in: page)
    more.scrolled(to: 1000.5, in: page)
    #expect(more.shown == .loading)
  }

  @Test("IN-29: nothing starts while a control works, nor 100 ms after, but 301 ms after its end")
  func settles() async throws {
    let source = ScriptedSource(sizes: 1, 1, 1)
    let clock = ManualClock()
    let page = page
    let refresh = { @Sendable (control: ScrollControl) in
      control.scrolled(to: -80, in: page, isTracking: true)
      control.released()
    }
    let loadMore = { @Sendable (control: ScrollControl) in
      control.scrolled(to: 1000, in: page)
      control.scrolled(to: 1001, in: page)
    }
    let options = ControlOptions(settling: .milliseconds(300))
    for (isRefresh, trigger) in [(true, refresh), (false, loadMore)] {
      let log = Log()
      let before = source.requests.count
      let action = { @Sendable in _ = try? await source.page(at: 1) }
      let control: ScrollControl =
        isRefresh
        ? .refresh(options, clock: clock, action: action)
        : .loadMore(options, clock: clock, action: action)
      control.observe(by: log)
      for round in 1...2 {
        source.hold(1)
        trigger(control)
        #expect(control.shown == .loading)
        try await source.wait { $0.requests.count == before + round && $0.running == 1 }
        for wait in [100, 201, 5000] {
          clock.advance(by: .milliseconds(wait))
          trigger(control)
          #expect(control.shown == .loading && control.reservedExtent == 60)
          #expect(source.requests.count == before + round)
        }
        // It ends by itself, when its action does.
        source.release(1)
        while control.shown == .loading { await Task.yield() }
        for wait in [100, 199] {
          clock.advance(by: .milliseconds(wait))
          trigger(control)
          #expect(control.shown != .loading)
        }
        #expect(source.requests.count == before + round)
        clock.advance(by: .milliseconds(2))
      }
      #expect(log.states.values.filter { $0 == .loading }.count == 2)
    }
  }

  @Test("IN-30: easing and frames for those who draw; the drawing itself is the view's")
  func drawing() {
    #expect(ControlState.eased(0.5) == 0.25)
    #expect(ControlState.frame(at: 1, of: 22) == 21)
    #expect(ControlState.frame(at: 0.5, of: 22) == 11)
    #expect(ControlState.frame(at: 1, of: 0) == 0)
    #expect(ControlState.frame(at: 1, of: .min) == 0)
  }

  @Test("X-13: an observer that ends the control is told of it after what it was told first")
  func reentrancy() {
    final class Ender: ControlObserver {
      let told = Recorder<ControlState>()
      let control: ScrollControl
      init(_ control: ScrollControl) { self.control = control }
      func controlChanged(to state: ControlState) {
        told.note(state)
        if state == .loading { control.end() }
      }
    }
    let control = Rig().refresh()
    let (ender, log) = (Ender(control), Log())
    control.observe(by: ender)
    control.observe(by: log)
    control.begin()
    #expect(ender.told.values == [.loading, .none])
    #expect(log.states.values == [.loading, .none])
    control.remove()
  }
}
