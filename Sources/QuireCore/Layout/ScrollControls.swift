import Synchronization

/// The controls of one view: at most one that refreshes and one that loads more.
///
/// One works at a time: refreshing cancels what loads more, and while it goes on nothing loads more.
/// `ScrollControls(for:)` makes both for a paginator.
/// Along which axis the view scrolls is the caller's business: offsets and viewports are those of
/// that axis.
public final class ScrollControls: Sendable {
  private struct State: Sendable {
    var refresh: ScrollControl?
    var loadMore: ScrollControl?
  }

  private let state = Mutex(State())
  private let report: @Sendable (Double, Viewport) -> Void

  /// No controls.
  public convenience init() { self.init { _, _ in } }

  /// No controls; every place that the view moves to is reported.
  init(report: @escaping @Sendable (Double, Viewport) -> Void) { self.report = report }

  /// The control in front of the content. A new one takes the place of the old, which is removed.
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

  /// Removes both.
  public func clear() {
    refresh = nil
    loadMore = nil
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

  /// What the control in front of the content shows; `none` without one.
  public var header: ControlState { refresh?.shown ?? ControlState.none }

  /// What the control behind the content shows; `none` without one.
  public var footer: ControlState { loadMore?.shown ?? ControlState.none }

  /// Tells `observer` every state of the controls that there are, from now on.
  public func observe(by observer: any ControlObserver) {
    refresh?.observe(by: observer)
    loadMore?.observe(by: observer)
  }

  /// What the view has to add to its leading inset.
  public var headerExtent: Double { refresh?.reservedExtent ?? 0 }

  /// What the view's trailing inset is with the control, its own included.
  public func footerExtent(in viewport: Viewport) -> Double {
    viewport.trailing + (loadMore?.reservedExtent ?? 0)
  }

  /// The view has moved, by a gesture or by itself.
  public func scrolled(to offset: Double, in viewport: Viewport, isTracking: Bool = false) {
    let (refresh, loadMore) = state.withLock { ($0.refresh, $0.loadMore) }
    refresh?.scrolled(to: offset, in: viewport, isTracking: isTracking)
    if refresh?.shown != .loading {
      loadMore?.scrolled(to: offset, in: viewport, isTracking: isTracking)
    }
    report(offset, viewport)
  }

  /// The gesture ended.
  public func released() { refresh?.released() }

  /// Cancels what loads more when the content is loaded anew.
  private struct Precedence: ControlObserver {
    weak let controls: ScrollControls?

    func controlChanged(to state: ControlState) {
      if state == .loading { controls?.loadMore?.cancel() }
    }
  }
}
