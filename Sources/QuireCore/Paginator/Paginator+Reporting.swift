// Where a consumer is that does not iterate: a view that scrolls, for example. Reports may come as
// often as they like. They are heard in the order of their calls.

extension Paginator {
  /// When the next page is loaded. A new threshold takes effect with the next item or report.
  public nonisolated var threshold: Threshold {
    get { runner.withMachine { $0.limits.threshold } }
    set { runner.withMachine { $0.use(newValue) } }
  }

  /// Whether pages are loaded when they are due; otherwise only when somebody waits for them. A
  /// reload turns it on again.
  public nonisolated var loadsAhead: Bool {
    get { runner.withMachine { $0.limits.list.loadsAhead } }
    set { runner.withMachine { $0.limits.list.loadsAhead = newValue } }
  }

  /// Says how many items from the first one on are consumed.
  ///
  /// The number only ever counts up. Unless all pages are kept, those that are consumed to their end
  /// are released.
  public nonisolated func report(consumed: Int) { runner.reported(consumed: consumed) }

  /// Says where in a view the consumer is.
  ///
  /// The next page is loaded once when the threshold is crossed, and not again before it came and
  /// the consumer went further than ever. Positions before the content never count; content that is
  /// shorter than its viewport always does, unless `ListOptions.fillsViewport` is off. Nothing is
  /// loaded before somebody has asked for a first page.
  public nonisolated func report(offset: Double, in viewport: Viewport) {
    runner.reported(offset: offset, in: viewport)
  }
}

extension PaginatorMachine {
  mutating func use(_ threshold: Threshold) {
    limits.threshold = threshold
    latch.threshold = threshold
  }
}
