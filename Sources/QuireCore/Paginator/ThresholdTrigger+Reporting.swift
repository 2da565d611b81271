import Synchronization

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

  /// Says how many of the loaded items are consumed. Without pages, everything is the last page.
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
