/// Lets a threshold be crossed once, until somebody says that there is more content.
///
/// `armed` → `latched` by a crossing; `latched` → `armed` by an answer that something came. Only
/// positions beyond the furthest one so far count.
struct ThresholdLatch: Hashable, Sendable {
  /// Effective with the next report.
  var threshold: Threshold
  private(set) var isArmed = true
  /// The furthest position so far.
  private var furthest = 0.0

  init(_ threshold: Threshold) { self.threshold = threshold }

  /// The consumer is at `offset`. Returns the measured share of the way when that crosses the
  /// threshold; the latch is closed by `latch()`, if somebody listens.
  mutating func report(_ offset: Double, in viewport: Viewport) -> Double? {
    guard advances(to: offset + viewport.leading) else { return nil }
    return threshold.crossing(at: offset, in: viewport)
  }

  /// The same for a consumer that counts.
  mutating func report(_ progress: Progress) -> Double? {
    guard advances(to: Double(progress.consumed)), threshold.isExceeded(progress) else {
      return nil
    }
    return Double(progress.consumed) / Double(progress.loaded)
  }

  private mutating func advances(to position: Double) -> Bool {
    guard position > furthest else { return false }
    furthest = position
    return isArmed
  }

  /// The crossing was heard.
  mutating func latch() { isArmed = false }

  /// Whether anything came. Without, the latch stays closed until somebody says so later.
  mutating func answered(_ somethingCame: Bool) {
    if somethingCame { isArmed = true }
  }

  /// The content starts over.
  mutating func reset() {
    isArmed = true
    furthest = 0
  }
}
