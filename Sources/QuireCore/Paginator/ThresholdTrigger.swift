import Synchronization

/// Calls a handler once when a consumer comes near the end of what there is, and not again before
/// the handler has said that more came.
///
/// For views and loops that hold their content themselves; a `Paginator` has all this built in.
/// ```swift
/// let trigger = ThresholdTrigger(.oneViewport)
/// trigger.onCrossing { _ in try await model.loadMore() }   // returns whether anything new came
/// trigger.report(offset: 900, in: Viewport(content: 1800, extent: 800))
/// ```
/// Only positions beyond the furthest one so far count, until `reset()`. A handler that throws
/// leaves the trigger latched until `retry()`; one that answers false, until `answer(true)`. Without
/// a handler nothing is latched.
public final class ThresholdTrigger: Sendable {
  /// That the threshold was exceeded, where, and by how much.
  public struct Crossing: Sendable {
    /// The trigger that measured it, while it is there.
    public weak let source: ThresholdTrigger?
    /// The threshold that was exceeded.
    public let threshold: Threshold
    /// The share of the way that was measured; more than 1 beyond the end.
    public let fraction: Double
  }

  /// What answers a crossing; nil when nobody does.
  typealias Handler = @Sendable (Crossing) -> (@Sendable () async throws -> Bool)?

  struct State: Sendable {
    var latch: ThresholdLatch
    var handler: Handler?
    var shouldFire: (@Sendable () async -> Bool)?
    /// The measured share of a crossing whose handler threw.
    var failed: Double?
    var task: Task<Void, Never>?
    var resets = 0
  }

  /// The axis that two-dimensional reports are measured along. Fixed: positions along one axis say
  /// nothing about another.
  public let axis: Axis
  let state: Mutex<State>

  /// A trigger that is armed, with no handler yet.
  public init(_ threshold: Threshold = .standard, axis: Axis = .vertical) {
    self.axis = axis
    state = Mutex(State(latch: ThresholdLatch(threshold)))
  }

  deinit { state.withLock { $0.task }?.cancel() }

  /// The threshold; a new one takes effect with the next report.
  public var threshold: Threshold {
    get { state.withLock { $0.latch.threshold } }
    set { state.withLock { $0.latch.threshold = newValue } }
  }

  /// Whether the next crossing is heard.
  public var isArmed: Bool { state.withLock { $0.latch.isArmed } }

  /// Answers crossings by `handler`, which returns whether anything new came.
  public func onCrossing(_ handler: @escaping @Sendable (Crossing) async throws -> Bool) {
    let always: Handler = { crossing in { try await handler(crossing) } }
    state.withLock { $0.handler = always }
  }

  /// Answers crossings for as long as `owner` is there, which this does not keep.
  public func onCrossing<Owner: AnyObject & Sendable>(
    for owner: Owner, _ handler: @escaping @Sendable (Owner, Crossing) async throws -> Bool
  ) {
    let weakly: Handler = { [weak owner] crossing in
      guard let owner else { return nil }
      return { try await handler(owner, crossing) }
    }
    state.withLock { $0.handler = weakly }
  }

  /// Asks before each crossing whether it counts; when it does not, the trigger stays armed.
  public func fires(when shouldFire: @escaping @Sendable () async -> Bool) {
    state.withLock { $0.shouldFire = shouldFire }
  }
}
