public import QuireCore
import Synchronization

/// Calls a handler once when a consumer comes near the end of what there is, and not again before
/// the handler has said that more came.
///
/// For views and loops that hold their content themselves; a `PagedList` has all this built in.
/// ```swift
/// let trigger = ThresholdTrigger(.oneViewport)
/// trigger.onCrossing { _ in try await model.loadMore() }   // returns whether anything new came
/// trigger.report(offset: 900, in: Viewport(content: 1800, extent: 800))
/// ```
/// Only positions beyond the furthest one so far count, until `reset()`. A handler that throws
/// leaves the trigger latched until `retry()`; one that answers false, until `answer(true)`. Without
/// a handler nothing is latched.
///
/// `ThresholdTrigger(.oneViewport, at: .leading)` is the same for older content in front of the first
/// item: everything is measured from the other end.
public final class ThresholdTrigger: Sendable {
  /// That the threshold was exceeded, where, and by how much.
  public struct Crossing: Sendable {
    /// The trigger that measured it, while it is there.
    public weak let source: ThresholdTrigger?
    /// The threshold that was exceeded.
    public let threshold: Threshold
    /// The share of the way to the trigger's end that was measured; more than 1 beyond it.
    public let fraction: Double
  }

  /// What answers a crossing; nil without a handler or its owner.
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
  public let axis: Viewport.Axis
  /// The end of the content that the consumer comes near to.
  public let end: Threshold.End
  let state: Mutex<State>

  /// A trigger that is armed, with no handler yet.
  public init(
    _ threshold: Threshold = .standard, axis: Viewport.Axis = .vertical,
    at end: Threshold.End = .trailing
  ) {
    self.axis = axis
    self.end = end
    state = Mutex(State(latch: ThresholdLatch(threshold, at: end)))
  }

  deinit { state.withLock { $0.task }?.cancel() }

  /// The threshold; a new one takes effect with the next report.
  public var threshold: Threshold {
    get { state.withLock { $0.latch.threshold } }
    set { state.withLock { $0.latch.threshold = newValue } }
  }

  /// Whether the next crossing calls the handler.
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

extension ThresholdTrigger {
  /// Says where in a view the consumer is. Returns the handler's task when the threshold was
  /// crossed by this.
  @discardableResult
  public func report(offset: Double, in viewport: Viewport) -> Task<Void, Never>? {
    heard { $0.report(offset, in: viewport) }
  }

  /// Says where in a view of two dimensions the consumer is; only the trigger's axis matters.
  @discardableResult
  public func report(
    x: Double, in horizontal: Viewport, y: Double, in vertical: Viewport
  ) -> Task<Void, Never>? {
    switch axis {
    case .horizontal: report(offset: x, in: horizontal)
    case .vertical: report(offset: y, in: vertical)
    }
  }

  /// Says how many of the loaded items are consumed, counted towards the trigger's end. Without pages,
  /// everything is the last page.
  @discardableResult
  public func report(consumed: Int, loaded: Int) -> Task<Void, Never>? {
    heard { $0.report(Progress(consumed: consumed, loaded: loaded, lastPage: loaded)) }
  }

  /// Says, later than the handler, whether anything came.
  public func answer(_ somethingCame: Bool) {
    state.withLock { $0.latch.answered(somethingCame) }
  }

  /// Calls the handler again when it threw. Returns its task, nil when there is nothing to retry.
  @discardableResult
  public func retry() -> Task<Void, Never>? {
    state.withLock { state in
      guard let fraction = state.failed else { return nil }
      return fire(fraction, &state)
    }
  }

  /// The content starts over: the trigger is armed, and every position is new.
  public func reset() {
    state.withLock { state in
      state.resets += 1
      state.failed = nil
      state.latch.reset()
    }
  }

  private func heard(
    _ report: @Sendable (inout ThresholdLatch) -> Double?
  ) -> Task<Void, Never>? {
    state.withLock { state in
      guard let fraction = report(&state.latch) else { return nil }
      return fire(fraction, &state)
    }
  }

  /// Calls the handler in a task of its own.
  private func fire(_ fraction: Double, _ state: inout State) -> Task<Void, Never>? {
    let crossing = Crossing(source: self, threshold: state.latch.threshold, fraction: fraction)
    guard let answer = state.handler?(crossing) else { return nil }
    state.latch.latch()
    state.failed = nil
    let (shouldFire, round) = (state.shouldFire, state.resets)
    let task = Task { [weak self] in
      if let shouldFire, await !shouldFire() {
        self?.settle(round) { $0.latch.answered(true) }
        return
      }
      do {
        let somethingCame = try await answer()
        self?.settle(round) { $0.latch.answered(somethingCame) }
      } catch {
        self?.settle(round) { $0.failed = fraction }
      }
    }
    state.task = task
    return task
  }

  /// Notes what a handler led to, unless the content has started over meanwhile.
  private func settle(_ round: Int, _ change: @Sendable (inout State) -> Void) {
    state.withLock { state in
      if state.resets == round { change(&state) }
    }
  }
}

extension AsyncSequence {
  /// The same elements; each is counted by `trigger` against how many are `loaded`, after `tap` has
  /// seen it. For one loop: the count goes on in the next one.
  public func reporting(
    to trigger: ThresholdTrigger, loaded: @escaping @Sendable () -> Int,
    tap: @escaping @Sendable (Element) -> Void = { _ in }
  ) -> AsyncMapSequence<Self, Element> {
    let consumed = Consumed()
    return map { element in
      tap(element)
      let count = consumed.count.add(1, ordering: .relaxed).newValue
      trigger.report(consumed: count, loaded: loaded())
      return element
    }
  }
}

/// How many elements of a sequence were consumed.
private final class Consumed: Sendable {
  let count = Atomic(0)
}
