/// Decides what a control shows and when it starts. One event, one answer; time is an argument.
struct ControlMachine: Hashable, Sendable {
  enum Kind: Hashable { case refresh, loadMore }

  /// What an event leads to.
  struct Effects: Hashable {
    /// What observers are told: states that differ from the one before.
    var states: [ControlState] = []
    /// The action starts; this is its number.
    var start: Int?
    /// The action that runs is cancelled.
    var cancels = false
  }

  let kind: Kind
  let options: ControlOptions
  private(set) var state = ControlState.none
  /// Off: nothing starts, and what runs may finish.
  var isEnabled = true
  /// Off when there is nothing to load; not the user's choice.
  var isAvailable = true
  private(set) var isAttached = true
  private var runs = 0
  private var lastPull = 0.0
  private var lastOffset = 0.0
  private var lastChange: Duration?

  init(_ kind: Kind, options: ControlOptions = ControlOptions()) {
    self.kind = kind
    self.options = options
  }

  /// The room that the control takes in the view now.
  var reservedExtent: Double {
    state == .loading && options.reservesExtent && options.holdsWhileLoading ? options.extent : 0
  }

  /// Where a load-more control lies.
  func position(in viewport: Viewport) -> Double {
    viewport.content + (options.sticksToContent ? 0 : viewport.trailing)
  }

  // MARK: Events

  /// The view has moved.
  mutating func scrolled(
    to offset: Double, in viewport: Viewport, isTracking: Bool, at now: Duration
  ) -> Effects {
    defer { lastOffset = offset }
    switch kind {
    case .refresh: return pulled(-(offset + viewport.leading), isTracking: isTracking)
    case .loadMore: return approached(offset, in: viewport, at: now)
    }
  }

  /// The gesture ended where the view is.
  mutating func released(at now: Duration) -> Effects {
    defer { lastPull = 0 }
    guard kind == .refresh, lastPull >= options.extent, mayStart(at: now) else { return Effects() }
    return start(at: now)
  }

  /// Starts without a gesture. False effects when it must not.
  mutating func began(at now: Duration) -> Effects {
    guard isEnabled, isAvailable, isAttached, state != .loading else { return Effects() }
    return start(at: now)
  }

  /// The action with this number has ended; nil for whichever runs.
  mutating func ended(_ run: Int? = nil, at now: Duration) -> Effects {
    guard state == .loading, run ?? runs == runs else { return Effects() }
    lastChange = now
    return show(.none)
  }

  /// The action that runs is not wanted any more; the control may start again.
  mutating func cancelled(at now: Duration) -> Effects {
    guard state == .loading else { return Effects() }
    var effects = ended(at: now)
    effects.cancels = true
    runs += 1
    return effects
  }

  /// The control is taken out of the view for good.
  mutating func removed() -> Effects {
    guard isAttached else { return Effects() }
    let wasLoading = state == .loading
    var effects = show(.none)
    effects.cancels = wasLoading
    isAttached = false
    runs += 1
    return effects
  }

  // MARK: Deciding

  private mutating func pulled(_ pull: Double, isTracking: Bool) -> Effects {
    guard isAttached, isEnabled, state != .loading else { return Effects() }
    if isTracking { lastPull = pull }
    // A view that moves by itself shows a pull that ends, and never begins one.
    guard isTracking || state.isReleasing else { return Effects() }
    return show(pull > 0 ? .releasing(progress: min(pull / options.extent, 1)) : .none)
  }

  private mutating func approached(
    _ offset: Double, in viewport: Viewport, at now: Duration
  ) -> Effects {
    var end = viewport.content - viewport.extent
    if !options.sticksToContent { end += viewport.trailing }
    guard viewport.content > 0, offset > max(end, 0), offset > lastOffset, mayStart(at: now) else {
      return Effects()
    }
    return start(at: now)
  }

  private func mayStart(at now: Duration) -> Bool {
    guard isAttached, isEnabled, isAvailable, state != .loading else { return false }
    guard let lastChange else { return true }
    return now - lastChange >= options.settling
  }

  private mutating func start(at now: Duration) -> Effects {
    runs += 1
    lastChange = now
    var effects = show(.loading)
    effects.start = runs
    return effects
  }

  private mutating func show(_ state: ControlState) -> Effects {
    guard state != self.state else { return Effects() }
    self.state = state
    return Effects(states: [state])
  }
}
