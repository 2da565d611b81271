import QuireCore

/// Decides what a control shows and when it starts. One event, one answer; time is an argument.
struct ControlMachine: Hashable, Sendable {
  enum Kind: Hashable { case refresh, loadMore, loadBefore }

  /// What an event leads to.
  struct Effects: Hashable {
    /// For observers: states that differ from the one before.
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
  private var lastOffset: Double?
  private var lastChange: Duration?

  init(_ kind: Kind, options: ControlOptions = ControlOptions()) {
    self.kind = kind
    self.options = options
  }

  /// The room that the control takes in the view now.
  var reservedExtent: Double {
    state == .loading && options.reservesExtent && options.holdsWhileLoading ? options.extent : 0
  }

  /// Where a control that loads begins.
  func position(in viewport: Viewport) -> Double {
    kind == .loadMore
      ? viewport.content + (options.sticksToContent ? 0 : viewport.trailing)
      : -(options.sticksToContent ? 0 : viewport.leading) - options.extent
  }

  // MARK: Events

  /// The view has moved.
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

  /// The gesture ended where the view is.
  mutating func released(at now: Duration) -> Effects {
    defer { lastPull = 0 }
    guard kind == .refresh, lastPull >= options.extent, mayStart(at: now) else { return Effects() }
    return start(at: now)
  }

  /// Starts without a gesture. No effects where it must not.
  mutating func began(at now: Duration) -> Effects {
    guard isEnabled, isAvailable, isAttached, state != .loading else { return Effects() }
    return start(at: now)
  }

  /// The action with this number has ended; nil for the one that runs.
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

  /// Whether the view has moved beyond the content's end where the control lies, away from the content.
  private func isBeyondEnd(_ offset: Double, in viewport: Viewport) -> Bool {
    guard viewport.content > 0 else { return false }
    if kind == .loadBefore {
      // A view may begin where its first item is, without having moved.
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

/// What a control at the end of a view shows: pulled out so far, or at work.
public enum ControlState: Hashable, Sendable {
  /// At rest.
  case none
  /// Pulled out; at a progress of 1 letting go starts it.
  case releasing(progress: Double)
  /// At work.
  case loading

  /// Whether it is pulled out, however far.
  public var isReleasing: Bool {
    if case .releasing = self { true } else { false }
  }

  /// Progress, slow at first: p².
  public static func eased(_ progress: Double) -> Double { progress * progress }

  /// Which of `count` frames shows a progress; the last one from 1 on.
  public static func frame(at progress: Double, of count: Int) -> Int {
    max(0, min(Int(clamping: progress * Double(count)), count - 1))
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

/// How a control at the end of a view behaves.
public struct ControlOptions: Hashable, Sendable {
  /// How long the control is along the axis, and how far it is pulled to start. Default 60.
  public var extent: Double
  /// Whether the control takes room in the view while it works. Default true.
  public var reservesExtent: Bool
  /// Whether the view stays where the control can be seen while it works. Default: as
  /// `reservesExtent`.
  public var holdsWhileLoading: Bool
  /// Whether a control that loads lies right at the content's end, rather than beyond what covers the
  /// view there. Default true.
  public var sticksToContent: Bool
  /// How long after its start and its end nothing starts the control. Default zero.
  public var settling: Duration

  /// The defaults, unless given.
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

/// A view of a control, which gets every state it changes to, in order.
///
/// ```swift
/// struct Label: ControlObserver {
///   func controlChanged(to state: ControlState) { print(state) }
/// }
/// ```
public protocol ControlObserver: Sendable {
  /// The control shows this now. Called on the thread that caused it.
  func controlChanged(to state: ControlState)
}

/// Writes a line for each state of a control, for debugging.
public struct ControlLog: ControlObserver {
  private let name: String
  private let write: @Sendable (String) -> Void

  /// Lines that begin with `name`, written by `write`.
  public init(_ name: String, write: @escaping @Sendable (String) -> Void) {
    self.name = name
    self.write = write
  }

  /// Writes a line.
  public func controlChanged(to state: ControlState) { write("\(name): \(state)") }
}
