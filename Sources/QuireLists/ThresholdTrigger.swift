public import QuireCore
import Synchronization

/// Calls a handler once when a consumer comes near the end of the content, and again only after the
/// handler has reported that more content came.
///
/// For views and loops that hold their content themselves; a `PagedList` has this built in.
/// ```swift
/// let trigger = ThresholdTrigger(.oneViewport)
/// trigger.onCrossing { _ in try await model.loadMore() }   // returns whether anything new came
/// trigger.report(offset: 900, in: Viewport(content: 1800, extent: 800))
/// ```
/// Only positions beyond the furthest one so far count, until `reset()`. If the handler throws, the
/// trigger stays latched until `retry()`; if it returns false, until `answer(true)`. Without a
/// handler the trigger never latches.
///
/// `ThresholdTrigger(.oneViewport, at: .leading)` does the same for older content before the first
/// item: everything is measured from the other end.
public final class ThresholdTrigger: Sendable {
  /// A crossing of the threshold.
  public struct Crossing: Sendable {
    /// The trigger; nil once it is gone.
    public weak let source: ThresholdTrigger?
    /// The threshold that was exceeded.
    public let threshold: Threshold
    /// The measured fraction of the way to the trigger's end; more than 1 beyond it.
    public let fraction: Double
  }

  /// Returns the call of the handler; nil without a handler or if its owner is gone.
  typealias Handler = @Sendable (Crossing) -> (@Sendable () async throws -> Bool)?

  struct State: Sendable {
    var latch: ThresholdLatch
    var handler: Handler?
    var shouldFire: (@Sendable () async -> Bool)?
    /// The measured fraction of a crossing whose handler threw.
    var failed: Double?
    var task: Task<Void, Never>?
    var resets = 0
  }

  /// The axis of two-dimensional reports. Fixed, because positions along one axis say nothing about
  /// the other.
  public let axis: Viewport.Axis
  /// The end of the content that the trigger watches.
  public let end: Threshold.End
  let state: Mutex<State>

  /// Creates an armed trigger without a handler.
  public init(
    _ threshold: Threshold = .standard, axis: Viewport.Axis = .vertical,
    at end: Threshold.End = .trailing
  ) {
    self.axis = axis
    self.end = end
    state = Mutex(State(latch: ThresholdLatch(threshold, at: end)))
  }

  deinit { state.withLock { $0.task }?.cancel() }

  /// The threshold; a change takes effect with the next report.
  public var threshold: Threshold {
    get { state.withLock { $0.latch.threshold } }
    set { state.withLock { $0.latch.threshold = newValue } }
  }

  /// Whether the next crossing calls the handler.
  public var isArmed: Bool { state.withLock { $0.latch.isArmed } }

  /// Calls `handler` for each crossing; it returns whether anything new came.
  public func onCrossing(_ handler: @escaping @Sendable (Crossing) async throws -> Bool) {
    let always: Handler = { crossing in { try await handler(crossing) } }
    state.withLock { $0.handler = always }
  }

  /// Calls `handler` for each crossing while `owner` exists, which this does not keep alive.
  public func onCrossing<Owner: AnyObject & Sendable>(
    for owner: Owner, _ handler: @escaping @Sendable (Owner, Crossing) async throws -> Bool
  ) {
    let weakly: Handler = { [weak owner] crossing in
      guard let owner else { return nil }
      return { try await handler(owner, crossing) }
    }
    state.withLock { $0.handler = weakly }
  }

  /// Sets a condition for each call of the handler. If it returns false, the crossing does not
  /// count and the trigger stays armed.
  public func fires(when shouldFire: @escaping @Sendable () async -> Bool) {
    state.withLock { $0.shouldFire = shouldFire }
  }
}

extension ThresholdTrigger {
  /// Reports the offset of a view. Returns the handler's task if this crossed the threshold.
  @discardableResult
  public func report(offset: Double, in viewport: Viewport) -> Task<Void, Never>? {
    heard { $0.report(offset, in: viewport) }
  }

  /// Reports the offset of a two-dimensional view; only the trigger's axis counts.
  @discardableResult
  public func report(
    x: Double, in horizontal: Viewport, y: Double, in vertical: Viewport
  ) -> Task<Void, Never>? {
    switch axis {
    case .horizontal: report(offset: x, in: horizontal)
    case .vertical: report(offset: y, in: vertical)
    }
  }

  /// Reports how many of the loaded items are consumed, counted towards the trigger's end. Without
  /// pages, all items count as the last page.
  @discardableResult
  public func report(consumed: Int, loaded: Int) -> Task<Void, Never>? {
    heard { $0.report(Progress(consumed: consumed, loaded: loaded, lastPage: loaded)) }
  }

  /// Reports whether anything came, after the handler has returned.
  public func answer(_ somethingCame: Bool) {
    state.withLock { $0.latch.answered(somethingCame) }
  }

  /// Calls the handler again if it threw. Returns its task; nil if there is nothing to retry.
  @discardableResult
  public func retry() -> Task<Void, Never>? {
    state.withLock { state in
      guard let fraction = state.failed else { return nil }
      return fire(fraction, &state)
    }
  }

  /// Arms the trigger for new content: every position counts again.
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

  /// Calls the handler in a new task.
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

  /// Records a handler's outcome, unless the trigger was reset meanwhile.
  private func settle(_ round: Int, _ change: @Sendable (inout State) -> Void) {
    state.withLock { state in
      if state.resets == round { change(&state) }
    }
  }
}

extension AsyncSequence {
  /// Returns a sequence of the same elements that reports each to `trigger` as consumed out of
  /// `loaded`, after `tap` has seen it. For one loop: a second loop continues the count.
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

/// The number of consumed elements of a sequence.
private final class Consumed: Sendable {
  let count = Atomic(0)
}
