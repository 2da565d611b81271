import Synchronization

/// A control at an end of a view that starts an action: pull to refresh, or load more.
///
/// It needs no user interface: it is told where the view is, and tells what to show. One action runs
/// at a time; letting go of the control cancels it.
public final class ScrollControl: Sendable {
  struct State: Sendable {
    var machine: ControlMachine
    var task: Task<Void, Never>?
    var observers: [any ControlObserver] = []
    /// States that observers have not been told, and whether somebody is telling them.
    var untold: [ControlState] = []
    var isTelling = false
  }

  private let state: Mutex<State>
  private let stopwatch: Stopwatch
  private let action: @Sendable () async -> Void
  private let isAvailable: @Sendable () -> Bool

  init(
    _ machine: ControlMachine, clock: any Clock<Duration>,
    action: @escaping @Sendable () async -> Void,
    isAvailable: @escaping @Sendable () -> Bool
  ) {
    state = Mutex(State(machine: machine))
    stopwatch = Stopwatch(clock)
    self.action = action
    self.isAvailable = isAvailable
  }

  deinit { state.withLock { $0.task }?.cancel() }

  /// A control in front of the content: pulled out far enough and let go, it starts `action`.
  public static func refresh(
    _ options: ControlOptions = ControlOptions(), clock: any Clock<Duration> = ContinuousClock(),
    action: @escaping @Sendable () async -> Void
  ) -> ScrollControl {
    ScrollControl(
      ControlMachine(.refresh, options: options), clock: clock, action: action,
      isAvailable: { true })
  }

  /// A control behind the content: scrolled past the end, it starts `action` where `isAvailable`.
  public static func loadMore(
    _ options: ControlOptions = ControlOptions(), clock: any Clock<Duration> = ContinuousClock(),
    isAvailable: @escaping @Sendable () -> Bool = { true },
    action: @escaping @Sendable () async -> Void
  ) -> ScrollControl {
    ScrollControl(
      ControlMachine(.loadMore, options: options), clock: clock, action: action,
      isAvailable: isAvailable)
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

  /// Where a load-more control lies.
  public func position(in viewport: Viewport) -> Double {
    state.withLock { $0.machine.position(in: viewport) }
  }

  /// Tells `observer` every state from now on.
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
      state.untold += effects.states
      return effects
    }
    tell()
    return effects
  }

  /// Tells observers what they have not been told, in order, whoever else is about to: one thread
  /// does it at a time, and an observer may cause more.
  private func tell() {
    var isFirst = true
    while true {
      let next = state.withLock { state -> (ControlState, [any ControlObserver])? in
        if isFirst, state.isTelling { return nil }
        isFirst = false
        state.isTelling = !state.untold.isEmpty
        return state.untold.isEmpty ? nil : (state.untold.removeFirst(), state.observers)
      }
      guard let (shown, observers) = next else { return }
      for observer in observers { observer.controlChanged(to: shown) }
    }
  }

  private func start(_ run: Int) -> Task<Void, Never> {
    Task { [weak self, action] in
      await action()
      self?.handle { $0.ended(run, at: $1) }
    }
  }
}
