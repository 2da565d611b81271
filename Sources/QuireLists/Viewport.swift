public import QuireCore

/// The visible window onto some content along one axis, in the unit of the view.
public struct Viewport: Hashable, Sendable {
  /// The direction in which content scrolls.
  public enum Axis: String, Hashable, Sendable {
    /// Along x.
    case horizontal
    /// Along y.
    case vertical
  }

  /// The length of the content.
  public var content: Double
  /// The length of the window, including insets.
  public var extent: Double
  /// The inset at the start of the window.
  public var leading: Double
  /// The inset at the end of the window.
  public var trailing: Double

  /// Creates a window of length `extent` onto `content`; insets are 0 by default.
  public init(content: Double, extent: Double, leading: Double = 0, trailing: Double = 0) {
    self.content = content
    self.extent = extent
    self.leading = leading
    self.trailing = trailing
  }

  /// The length of the window without its insets.
  public var visible: Double { extent - leading - trailing }

  /// The distance that the content can be scrolled; not positive if all of it is visible.
  public var scrollRange: Double { content - visible }

  /// The offset at which the end of the content is at the end of the visible part.
  public var endOffset: Double { content - extent + trailing }
}

extension Threshold {
  /// An end of the content.
  public enum End: Hashable, Sendable {
    /// The end with the first item.
    case leading
    /// The end with the last item.
    case trailing
  }

  /// Returns the measured fraction of the way to `end` if the next page there is due at `offset`;
  /// nil otherwise.
  func crossing(
    at offset: Double, in viewport: Viewport, towards end: End = .trailing
  ) -> Double? {
    let range = viewport.scrollRange
    let way = offset + viewport.leading
    let position = end == .trailing ? way : range - way
    guard viewport.content > 0, range > 0, position >= 0 else { return nil }
    let isExceeded =
      switch rule {
      // A view has no pages: the whole content counts as the last one.
      case .fraction(let fraction), .fractionOfLastPage(let fraction): position / range > fraction
      case .remainingExtent(let extent): range - position < extent
      case .oneViewport: range - position < viewport.extent
      case .remaining, .never: false
      }
    return isExceeded ? position / range : nil
  }
}

/// Reports each crossing of a threshold once, until there is more content.
///
/// `armed` → `latched` by a crossing; `latched` → `armed` when more content came. Only positions
/// beyond the furthest one so far count, in the direction of the end.
struct ThresholdLatch: Hashable, Sendable {
  /// A change takes effect with the next report.
  var threshold: Threshold
  private(set) var isArmed = true
  let end: Threshold.End
  /// The furthest position so far. Positions before the start of the content never count for the
  /// trailing end.
  private var furthest: Double
  /// The length of the content at the last reported offset.
  private var content = 0.0
  /// Whether content was added at the leading end, which moves everything once views show it.
  private var moves = false

  init(_ threshold: Threshold, at end: Threshold.End = .trailing) {
    self.threshold = threshold
    self.end = end
    furthest = Self.start(of: end)
  }

  private static func start(of end: Threshold.End) -> Double {
    end == .trailing ? 0 : -.infinity
  }

  /// Reports an offset. Returns the measured fraction if that crosses the threshold; `latch()` then
  /// closes the latch.
  mutating func report(_ offset: Double, in viewport: Viewport) -> Double? {
    if moves, viewport.content != content {
      moves = false
      furthest = Self.start(of: end)
    }
    content = viewport.content
    let position = offset + viewport.leading
    guard advances(to: end == .trailing ? position : -position) else { return nil }
    return threshold.crossing(at: offset, in: viewport, towards: end)
  }

  /// Reports a count of consumed items.
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

  /// Closes the latch, after a crossing was acted upon.
  mutating func latch() { isArmed = false }

  /// Opens the latch if anything came. If not, the latch stays closed until a later answer.
  mutating func answered(_ somethingCame: Bool) {
    guard somethingCame else { return }
    isArmed = true
    moves = end == .leading
  }

  /// Starts over with new content: the latch is open, and every position counts.
  mutating func reset() {
    self = ThresholdLatch(threshold, at: end)
  }
}
