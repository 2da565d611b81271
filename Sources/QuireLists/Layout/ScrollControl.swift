import QuireCore
import Synchronization

/// A control at an end of a view that starts an action: pull to refresh, load more, or load what comes
/// before.
///
/// It needs no user interface: it gets the offsets of the view, and says what to show. One action runs
/// at a time; letting go of the control cancels it.
public final class ScrollControl: Sendable {
  struct State: Sendable {
    var machine: ControlMachine
    var task: Task<Void, Never>?
    var observers: [any ControlObserver] = []
    /// States that observers have not got yet, and whether a thread is notifying them.
    var pending: [ControlState] = []
    var isNotifying = false
  }

  private let state: Mutex<State>
  private let stopwatch: Stopwatch
  /// Called under the lock as the control starts; what it returns is run in a task.
  private let prepare: @Sendable () -> @Sendable () async -> Void
  private let isAvailable: @Sendable () -> Bool

  init(
    _ kind: ControlMachine.Kind, _ options: ControlOptions, clock: any Clock<Duration>,
    isAvailable: @escaping @Sendable () -> Bool = { true },
    prepare: @escaping @Sendable () -> @Sendable () async -> Void
  ) {
    state = Mutex(State(machine: ControlMachine(kind, options: options)))
    stopwatch = Stopwatch(clock)
    self.prepare = prepare
    self.isAvailable = isAvailable
  }

  deinit { state.withLock { $0.task }?.cancel() }

  /// A control in front of the content: pulled out far enough and released, it starts `action`.
  public static func refresh(
    _ options: ControlOptions = ControlOptions(), clock: any Clock<Duration> = ContinuousClock(),
    action: @escaping @Sendable () async -> Void
  ) -> ScrollControl {
    ScrollControl(.refresh, options, clock: clock) { action }
  }

  /// A control behind the content: scrolled past the end, it starts `action` where `isAvailable`.
  public static func loadMore(
    _ options: ControlOptions = ControlOptions(), clock: any Clock<Duration> = ContinuousClock(),
    isAvailable: @escaping @Sendable () -> Bool = { true },
    action: @escaping @Sendable () async -> Void
  ) -> ScrollControl {
    ScrollControl(.loadMore, options, clock: clock, isAvailable: isAvailable) { action }
  }

  /// A control in front of the content, for what comes before it: scrolled past the start, on the way
  /// back, it starts `action` where `isAvailable`.
  public static func loadBefore(
    _ options: ControlOptions = ControlOptions(), clock: any Clock<Duration> = ContinuousClock(),
    isAvailable: @escaping @Sendable () -> Bool = { true },
    action: @escaping @Sendable () async -> Void
  ) -> ScrollControl {
    ScrollControl(.loadBefore, options, clock: clock, isAvailable: isAvailable) { action }
  }

  /// What the control shows.
  public var shown: ControlState { state.withLock { $0.machine.state } }

  /// Whether the control may start. Off lets a running action finish. Default true; false once it is
  /// removed.
  public var isEnabled: Bool {
    get { state.withLock { $0.machine.isEnabled && $0.machine.isAttached } }
    set { state.withLock { $0.machine.isEnabled = newValue } }
  }

  /// The room that the control takes in the view now.
  public var reservedExtent: Double { state.withLock { $0.machine.reservedExtent } }

  /// Where a control begins that loads more, or what comes before.
  public func position(in viewport: Viewport) -> Double {
    state.withLock { $0.machine.position(in: viewport) }
  }

  /// Notifies `observer` of every state from now on.
  public func observe(by observer: any ControlObserver) {
    state.withLock { $0.observers.append(observer) }
  }

  // MARK: Events

  /// The view has moved, by a gesture or by itself.
  public func scrolled(to offset: Double, in viewport: Viewport, isTracking: Bool = false) {
    handle { $0.scrolled(to: offset, in: viewport, isTracking: isTracking, at: $1) }
  }

  /// The gesture ended.
  public func released() { handle { $0.released(at: $1) } }

  /// Starts the action without a gesture; the view stays where it is. False when the control is at
  /// work, not enabled, or removed.
  @discardableResult
  public func begin() -> Bool { handle { $0.began(at: $1) }.start != nil }

  /// Shows that the action has ended. Also happens by itself when it returns.
  public func end() { handle { $0.ended(at: $1) } }

  /// Cancels a running action; the control may start again.
  func cancel() { handle { $0.cancelled(at: $1) } }

  /// Takes the control out of the view for good: a running action is cancelled.
  public func remove() { handle { machine, _ in machine.removed() } }

  @discardableResult
  private func handle(
    _ event: @Sendable (inout ControlMachine, Duration) -> ControlMachine.Effects
  ) -> ControlMachine.Effects {
    let now = stopwatch.elapsed()
    let isAvailable = isAvailable()
    let effects = state.withLock { state in
      state.machine.isAvailable = isAvailable
      let effects = event(&state.machine, now)
      if effects.cancels { state.task?.cancel() }
      if let run = effects.start { state.task = start(run) }
      state.pending += effects.states
      return effects
    }
    notify()
    return effects
  }

  /// Notifies observers of pending states, in order: one thread does it at a time, and an observer may
  /// cause more.
  private func notify() {
    var isFirst = true
    while true {
      let next = state.withLock { state -> (ControlState, [any ControlObserver])? in
        if isFirst, state.isNotifying { return nil }
        isFirst = false
        state.isNotifying = !state.pending.isEmpty
        return state.pending.isEmpty ? nil : (state.pending.removeFirst(), state.observers)
      }
      guard let (shown, observers) = next else { return }
      for observer in observers { observer.controlChanged(to: shown) }
    }
  }

  private func start(_ run: Int) -> Task<Void, Never> {
    let action = prepare()
    return Task { [weak self] in
      await action()
      self?.handle { $0.ended(run, at: $1) }
    }
  }
}

/// The controls of one view: at most one that refreshes, one that loads more, and one that loads what
/// comes before.
///
/// Refreshing cancels what the others load, and while it goes on they load nothing.
/// `ScrollControls(for:)` makes them for a list. Offsets and viewports are those of the axis along which
/// the view scrolls.
public final class ScrollControls: Sendable {
  private struct State: Sendable {
    var refresh: ScrollControl?
    var loadMore: ScrollControl?
    var loadBefore: ScrollControl?
  }

  private let state = Mutex(State())
  private let report: @Sendable (Double, Viewport) -> Void

  /// No controls.
  public convenience init() { self.init { _, _ in } }

  /// No controls; every place that the view moves to is reported.
  init(report: @escaping @Sendable (Double, Viewport) -> Void) { self.report = report }

  /// The control in front of the content that loads it anew. A new one takes the place of the old, which is removed.
  public var refresh: ScrollControl? {
    get { state.withLock { $0.refresh } }
    set {
      replace(\.refresh, by: newValue)
      newValue?.observe(by: Precedence(controls: self))
    }
  }

  /// The control behind the content. A new one takes the place of the old, which is removed.
  public var loadMore: ScrollControl? {
    get { state.withLock { $0.loadMore } }
    set { replace(\.loadMore, by: newValue) }
  }

  /// The control in front of the content that loads what comes before it. A new one takes the place of
  /// the old, which is removed.
  public var loadBefore: ScrollControl? {
    get { state.withLock { $0.loadBefore } }
    set { replace(\.loadBefore, by: newValue) }
  }

  /// Removes them all.
  public func clear() {
    refresh = nil
    loadMore = nil
    loadBefore = nil
  }

  private func replace(
    _ place: any WritableKeyPath<State, ScrollControl?> & Sendable, by control: ScrollControl?
  ) {
    let old = state.withLock { state in
      let old = state[keyPath: place]
      state[keyPath: place] = control
      return old
    }
    if old !== control { old?.remove() }
  }

  /// What the control in front of the content shows, the one that refreshes before the other; `none`
  /// without one.
  public var header: ControlState {
    let shown = refresh?.shown ?? ControlState.none
    return shown == .none ? loadBefore?.shown ?? ControlState.none : shown
  }

  /// What the control behind the content shows; `none` without one.
  public var footer: ControlState { loadMore?.shown ?? ControlState.none }

  /// Notifies `observer` of every state of the controls that there are, from now on.
  public func observe(by observer: any ControlObserver) {
    refresh?.observe(by: observer)
    loadMore?.observe(by: observer)
    loadBefore?.observe(by: observer)
  }

  /// What the view has to add to its leading inset.
  public var headerExtent: Double {
    (refresh?.reservedExtent ?? 0) + (loadBefore?.reservedExtent ?? 0)
  }

  /// What the view's trailing inset is with the control, its own included.
  public func footerExtent(in viewport: Viewport) -> Double {
    viewport.trailing + (loadMore?.reservedExtent ?? 0)
  }

  /// The view has moved, by a gesture or by itself.
  public func scrolled(to offset: Double, in viewport: Viewport, isTracking: Bool = false) {
    let (refresh, others) = state.withLock { ($0.refresh, [$0.loadMore, $0.loadBefore]) }
    refresh?.scrolled(to: offset, in: viewport, isTracking: isTracking)
    if refresh?.shown != .loading {
      for control in others {
        control?.scrolled(to: offset, in: viewport, isTracking: isTracking)
      }
    }
    report(offset, viewport)
  }

  /// The gesture ended.
  public func released() { refresh?.released() }

  /// Cancels what the other controls load when the content is loaded anew.
  private struct Precedence: ControlObserver {
    weak let controls: ScrollControls?

    func controlChanged(to state: ControlState) {
      guard state == .loading else { return }
      controls?.loadMore?.cancel()
      controls?.loadBefore?.cancel()
    }
  }
}

extension ScrollControls {
  /// Controls that reload a list and load more of it. They do not keep it.
  ///
  /// Wherever the view moves is reported to the list, too, which loads ahead by its threshold.
  /// The control that loads more starts only while the list can: not at the end of the listing,
  /// and not while it reloads. One that loads what comes before the first page is made where
  /// `loadBefore` says how it behaves. Default nil: most lists begin with the first page.
  public convenience init<Item>(
    for list: PagedList<Item>, refresh: ControlOptions = ControlOptions(),
    loadMore: ControlOptions = ControlOptions(), loadBefore: ControlOptions? = nil,
    clock: any Clock<Duration> = ContinuousClock()
  ) {
    self.init { [weak list] in list?.report(offset: $0, in: $1) }
    self.refresh = .refresh(refresh, clock: clock) { [weak list] in
      _ = try? await list?.reload()
    }
    self.loadMore = ScrollControl(
      .loadMore, loadMore, clock: clock,
      isAvailable: { [weak list] in list?.snapshot.canLoadMore ?? false },
      prepare: { [weak list] in
        let held = list?.snapshot.pages.count
        return { [weak list] in
          // The report of the same move may have loaded the page by now, or failed to: then trying
          // again is for a retry.
          guard let list, list.snapshot.canLoadMore, list.snapshot.pages.count == held else {
            return
          }
          _ = try? await list.loadMore()
        }
      })
    guard let loadBefore else { return }
    self.loadBefore = ScrollControl(
      .loadBefore, loadBefore, clock: clock,
      isAvailable: { [weak list] in list?.snapshot.loadsBefore ?? false },
      prepare: { [weak list] in
        let held = list?.snapshot.pages.count
        return { [weak list] in
          guard let list, list.snapshot.loadsBefore, list.snapshot.pages.count == held else {
            return
          }
          _ = try? await list.loadBefore()
        }
      })
  }
}

extension ListSnapshot {
  /// Whether a gesture may load the page before the first one; where that has failed, only a retry may.
  fileprivate var loadsBefore: Bool { canLoadBefore && errorBefore == nil && !isRefreshing }
}
