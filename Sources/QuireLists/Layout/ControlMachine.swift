import QuireCore

/// Decides what a control shows and when it starts. Each event returns its effects; time is an
/// argument.
struct ControlMachine: Hashable, Sendable {
  enum Kind: Hashable { case refresh, loadMore, loadBefore }

  /// The effects of an event.
  struct Effects: Hashable {
    /// State changes to report to observers.
    var states: [ControlState] = []
    /// The number of the action to start; nil if none starts.
    var start: Int?
    /// Whether to cancel the running action.
    var cancels = false
  }

  let kind: Kind
  let options: ControlOptions
  private(set) var state = ControlState.none
  /// Whether the user enabled the control. While false no action starts; a running one may finish.
  var isEnabled = true
  /// Whether the list has anything to load.
  var isAvailable = true
  private(set) var isAttached = true
  private var runs = 0
  private var lastPull = 0.0
  private var lastOffset: Double?
  private var lastChange: Duration?

  init(_ kind: Kind, options: ControlOptions = ControlOptions()) {
    self.kind = kind
    self.options = options
  }

  /// The space to reserve for the control now.
  var reservedExtent: Double {
    state == .loading && options.reservesExtent && options.holdsWhileLoading ? options.extent : 0
  }

  /// Returns the offset at which a loading control starts.
  func position(in viewport: Viewport) -> Double {
    kind == .loadMore
      ? viewport.content + (options.sticksToContent ? 0 : viewport.trailing)
      : -(options.sticksToContent ? 0 : viewport.leading) - options.extent
  }

  // MARK: Events

  /// Notes that the view has scrolled.
  mutating func scrolled(
    to offset: Double, in viewport: Viewport, isTracking: Bool, at now: Duration
  ) -> Effects {
    defer { lastOffset = offset }
    switch kind {
    case .refresh: return pulled(-(offset + viewport.leading), isTracking: isTracking)
    case .loadMore, .loadBefore:
      guard isBeyondEnd(offset, in: viewport), mayStart(at: now) else { return Effects() }
      return start(at: now)
    }
  }

  /// Notes that the gesture ended.
  mutating func released(at now: Duration) -> Effects {
    defer { lastPull = 0 }
    guard kind == .refresh, lastPull >= options.extent, mayStart(at: now) else { return Effects() }
    return start(at: now)
  }

  /// Starts the action without a gesture, if it may start.
  mutating func began(at now: Duration) -> Effects {
    guard isEnabled, isAvailable, isAttached, state != .loading else { return Effects() }
    return start(at: now)
  }

  /// Notes that the action with this number has ended; nil for the running one.
  mutating func ended(_ run: Int? = nil, at now: Duration) -> Effects {
    guard state == .loading, run ?? runs == runs else { return Effects() }
    lastChange = now
    return show(.none)
  }

  /// Cancels the running action; the control may start again.
  mutating func cancelled(at now: Duration) -> Effects {
    guard state == .loading else { return Effects() }
    var effects = ended(at: now)
    effects.cancels = true
    runs += 1
    return effects
  }

  /// Removes the control from the view for good.
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
    // While the view bounces back, a pull can end but not begin.
    guard isTracking || state.isReleasing else { return Effects() }
    return show(pull > 0 ? .releasing(progress: min(pull / options.extent, 1)) : .none)
  }

  /// Whether the view has scrolled past the control's end of the content, away from the content.
  private func isBeyondEnd(_ offset: Double, in viewport: Viewport) -> Bool {
    guard viewport.content > 0 else { return false }
    if kind == .loadBefore {
      // The first report does not count: a view may open at its first item without having scrolled.
      guard let lastOffset, offset < lastOffset else { return false }
      return offset < (options.sticksToContent ? 0 : min(-viewport.leading, 0))
    }
    var end = viewport.content - viewport.extent
    if !options.sticksToContent { end += viewport.trailing }
    return offset > max(end, 0) && offset > lastOffset ?? 0
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

/// The state of a control at an end of a view.
public enum ControlState: Hashable, Sendable {
  /// Idle.
  case none
  /// Pulled out. Releasing it at a progress of 1 starts the action.
  case releasing(progress: Double)
  /// The action is running.
  case loading

  /// Whether the control is pulled out, at any progress.
  public var isReleasing: Bool {
    if case .releasing = self { true } else { false }
  }

  /// Returns the quadratic easing of a progress, slow at first: p².
  public static func eased(_ progress: Double) -> Double { progress * progress }

  /// Returns the index of the animation frame, out of `count`, for a progress; the last one from 1
  /// on.
  public static func frame(at progress: Double, of count: Int) -> Int {
    min(max(0, Int(clamping: progress * Double(count))), max(1, count) - 1)
  }
}

extension ControlState: CustomStringConvertible {
  /// `None`, `Releasing: 0.5` or `Loading`.
  public var description: String {
    switch self {
    case .none: "None"
    case .releasing(let progress): "Releasing: \(progress)"
    case .loading: "Loading"
    }
  }
}

/// The behaviour of a control at an end of a view.
public struct ControlOptions: Hashable, Sendable {
  /// The length of the control along the axis, which is also the length of the pull that starts it.
  /// Default 60.
  public var extent: Double
  /// Whether the view reserves space for the control while its action runs. Default true.
  public var reservesExtent: Bool
  /// Whether the view keeps the control in sight while its action runs. Default: `reservesExtent`.
  public var holdsWhileLoading: Bool
  /// Whether a loading control is placed directly at the end of the content. Otherwise it is placed
  /// beyond the view's inset. Default true.
  public var sticksToContent: Bool
  /// The time after the start and after the end of an action in which no other starts. Default
  /// zero.
  public var settling: Duration

  /// Creates options; every parameter has the default of its property.
  public init(
    extent: Double = 60, reservesExtent: Bool = true, holdsWhileLoading: Bool? = nil,
    sticksToContent: Bool = true, settling: Duration = .zero
  ) {
    self.extent = extent
    self.reservesExtent = reservesExtent
    self.holdsWhileLoading = holdsWhileLoading ?? reservesExtent
    self.sticksToContent = sticksToContent
    self.settling = settling
  }
}

/// An observer of a control, which gets every new state in order.
///
/// ```swift
/// struct Label: ControlObserver {
///   func controlChanged(to state: ControlState) { print(state) }
/// }
/// ```
public protocol ControlObserver: Sendable {
  /// Handles the change of the control to `state`. Called on the thread that caused the change.
  func controlChanged(to state: ControlState)
}

/// Writes one line for each state of a control, for debugging.
public struct ControlLog: ControlObserver {
  private let name: String
  private let write: @Sendable (String) -> Void

  /// Creates a log whose lines begin with `name` and go to `write`.
  public init(_ name: String, write: @escaping @Sendable (String) -> Void) {
    self.name = name
    self.write = write
  }

  /// Writes a line.
  public func controlChanged(to state: ControlState) { write("\(name): \(state)") }
}
