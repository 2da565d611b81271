import QuireCore
import Synchronization

/// A control at an end of a view that starts an action: pull to refresh, load more, or load the
/// page before the first one.
///
/// It draws nothing: it gets the view's offsets and returns the state to show. One action runs at a
/// time; releasing the last reference to the control cancels it.
public final class ScrollControl: Sendable {
  struct State: Sendable {
    var machine: ControlMachine
    var task: Task<Void, Never>?
    var observers: [any ControlObserver] = []
    /// States still to be delivered to observers, and whether a thread is delivering them.
    var pending: [ControlState] = []
    var isNotifying = false
  }

  private let state: Mutex<State>
  private let stopwatch: Stopwatch
  /// Called under the lock as the control starts; the action it returns runs in a task.
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

  /// Creates a control before the content. Pulling it out far enough and releasing it starts
  /// `action`.
  public static func refresh(
    _ options: ControlOptions = ControlOptions(), clock: any Clock<Duration> = ContinuousClock(),
    action: @escaping @Sendable () async -> Void
  ) -> ScrollControl {
    ScrollControl(.refresh, options, clock: clock) { action }
  }

  /// Creates a control after the content. Scrolling past the end starts `action` if `isAvailable`.
  public static func loadMore(
    _ options: ControlOptions = ControlOptions(), clock: any Clock<Duration> = ContinuousClock(),
    isAvailable: @escaping @Sendable () -> Bool = { true },
    action: @escaping @Sendable () async -> Void
  ) -> ScrollControl {
    ScrollControl(.loadMore, options, clock: clock, isAvailable: isAvailable) { action }
  }

  /// Creates a control before the content for earlier pages. Scrolling back past the start starts
  /// `action` if `isAvailable`.
  public static func loadBefore(
    _ options: ControlOptions = ControlOptions(), clock: any Clock<Duration> = ContinuousClock(),
    isAvailable: @escaping @Sendable () -> Bool = { true },
    action: @escaping @Sendable () async -> Void
  ) -> ScrollControl {
    ScrollControl(.loadBefore, options, clock: clock, isAvailable: isAvailable) { action }
  }

  /// The state to show.
  public var shown: ControlState { state.withLock { $0.machine.state } }

  /// Whether the control may start; a running action may finish in any case. Default true; false
  /// once the control is removed.
  public var isEnabled: Bool {
    get { state.withLock { $0.machine.isEnabled && $0.machine.isAttached } }
    set { state.withLock { $0.machine.isEnabled = newValue } }
  }

  /// The space to reserve in the view for the control now.
  public var reservedExtent: Double { state.withLock { $0.machine.reservedExtent } }

  /// Returns the offset at which a loading control starts.
  public func position(in viewport: Viewport) -> Double {
    state.withLock { $0.machine.position(in: viewport) }
  }

  /// Adds an observer, which gets every state from now on.
  public func observe(by observer: any ControlObserver) {
    state.withLock { $0.observers.append(observer) }
  }

  // MARK: Events

  /// Notes that the view has scrolled, by a gesture or an animation.
  public func scrolled(to offset: Double, in viewport: Viewport, isTracking: Bool = false) {
    handle { $0.scrolled(to: offset, in: viewport, isTracking: isTracking, at: $1) }
  }

  /// Notes that the gesture ended.
  public func released() { handle { $0.released(at: $1) } }

  /// Starts the action without a gesture or any scrolling. Returns false if the action is running
  /// already or the control is disabled, unavailable or removed.
  @discardableResult
  public func begin() -> Bool { handle { $0.began(at: $1) }.start != nil }

  /// Shows that the action has ended, before it returns.
  public func end() { handle { $0.ended(at: $1) } }

  /// Cancels a running action; the control may start again.
  func cancel() { handle { $0.cancelled(at: $1) } }

  /// Removes the control from the view for good, and cancels a running action.
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

  /// Delivers pending states to observers in order. One thread delivers at a time; an observer may
  /// cause further states.
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

/// The controls of one view: at most one each to refresh, to load more, and to load the page before
/// the first one.
///
/// Refreshing cancels the other two, and they load nothing while it runs. `ScrollControls(for:)`
/// creates the controls of a list. Offsets and viewports are along the scrolling axis.
public final class ScrollControls: Sendable {
  private struct State: Sendable {
    var refresh: ScrollControl?
    var loadMore: ScrollControl?
    var loadBefore: ScrollControl?
  }

  private let state = Mutex(State())
  private let report: @Sendable (Double, Viewport) -> Void

  /// Creates a set without controls.
  public convenience init() { self.init { _, _ in } }

  /// Creates a set without controls, which reports every offset of the view.
  init(report: @escaping @Sendable (Double, Viewport) -> Void) { self.report = report }

  /// The control that reloads the content. Setting another one removes the old one.
  public var refresh: ScrollControl? {
    get { state.withLock { $0.refresh } }
    set {
      replace(\.refresh, by: newValue)
      newValue?.observe(by: Precedence(controls: self))
    }
  }

  /// The control that loads more. Setting another one removes the old one.
  public var loadMore: ScrollControl? {
    get { state.withLock { $0.loadMore } }
    set { replace(\.loadMore, by: newValue) }
  }

  /// The control that loads the page before the first one. Setting another one removes the old one.
  public var loadBefore: ScrollControl? {
    get { state.withLock { $0.loadBefore } }
    set { replace(\.loadBefore, by: newValue) }
  }

  /// Removes all controls.
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

  /// The state to show before the content: the state of `refresh`, or of `loadBefore` while
  /// `refresh` is idle.
  public var header: ControlState {
    let shown = refresh?.shown ?? ControlState.none
    return shown == .none ? loadBefore?.shown ?? ControlState.none : shown
  }

  /// The state to show after the content; `none` without a control.
  public var footer: ControlState { loadMore?.shown ?? ControlState.none }

  /// Adds an observer to every control that is set now.
  public func observe(by observer: any ControlObserver) {
    refresh?.observe(by: observer)
    loadMore?.observe(by: observer)
    loadBefore?.observe(by: observer)
  }

  /// The space to add to the view's leading inset.
  public var headerExtent: Double {
    (refresh?.reservedExtent ?? 0) + (loadBefore?.reservedExtent ?? 0)
  }

  /// Returns the view's trailing inset, including the space for the control.
  public func footerExtent(in viewport: Viewport) -> Double {
    viewport.trailing + (loadMore?.reservedExtent ?? 0)
  }

  /// Notes that the view has scrolled, by a gesture or an animation.
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

  /// Notes that the gesture ended.
  public func released() { refresh?.released() }

  /// Cancels the other controls when a refresh starts.
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
  /// Creates controls that reload a list and load more of it, without keeping it alive.
  ///
  /// Every offset is also reported to the list, which loads ahead by its threshold. The control
  /// that loads more starts only while the list can load more: not at the end of the listing, and
  /// not during a reload. Pass `loadBefore` to add a control that loads the page before the first
  /// one. Default nil, because most lists start with the first page.
  public convenience init<Item>(
    for list: PagedList<Item>, refresh: ControlOptions = ControlOptions(),
    loadMore: ControlOptions = ControlOptions(), loadBefore: ControlOptions? = nil,
    clock: any Clock<Duration> = ContinuousClock()
  ) {
    self.init { [weak list] in list?.report(offset: $0, in: $1) }
    self.refresh = .refresh(refresh, clock: clock) { [weak list] in
      _ = try? await list?.reload()
    }
    self.loadMore = ScrollControl(.loadMore, loadMore, for: list, clock: clock, \.canLoadMore) {
      _ = try? await $0.loadMore()
    }
    self.loadBefore = loadBefore.map {
      ScrollControl(.loadBefore, $0, for: list, clock: clock, \.loadsBefore) {
        _ = try? await $0.loadBefore()
      }
    }
  }
}

extension ScrollControl {
  /// Creates a control that loads a page of `list` while its snapshot allows it.
  fileprivate convenience init<Item>(
    _ kind: ControlMachine.Kind, _ options: ControlOptions, for list: PagedList<Item>,
    clock: any Clock<Duration>, _ mayLoad: any KeyPath<ListSnapshot<Item>, Bool> & Sendable,
    load: @escaping @Sendable (PagedList<Item>) async -> Void
  ) {
    self.init(
      kind, options, clock: clock,
      isAvailable: { [weak list] in list?.snapshot[keyPath: mayLoad] ?? false },
      prepare: { [weak list] in
        let held = list?.snapshot.pages.count
        return { [weak list] in
          // The report of the same offset may already have loaded the page, or failed to. Only
          // `retry()` repeats a failed load.
          guard let list, list.snapshot[keyPath: mayLoad], list.snapshot.pages.count == held
          else { return }
          await load(list)
        }
      })
  }
}

extension ListSnapshot {
  /// Whether a gesture may load the page before the first one: not after an error, which only
  /// `retry()` repeats.
  fileprivate var loadsBefore: Bool { canLoadBefore && errorBefore == nil && !isRefreshing }
}
