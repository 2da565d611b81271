public import QuireCore

/// A window onto content along one axis, in the unit of the view.
public struct Viewport: Hashable, Sendable {
  /// The direction in which content scrolls.
  public enum Axis: String, Hashable, Sendable {
    /// Along x.
    case horizontal
    /// Along y.
    case vertical
  }

  /// How long the content is.
  public var content: Double
  /// How much of it the window could show, insets included.
  public var extent: Double
  /// What covers the window where the content begins.
  public var leading: Double
  /// What covers the window where the content ends.
  public var trailing: Double

  /// A window of `extent` onto `content`; nothing covers it, unless said otherwise.
  public init(content: Double, extent: Double, leading: Double = 0, trailing: Double = 0) {
    self.content = content
    self.extent = extent
    self.leading = leading
    self.trailing = trailing
  }

  /// The part of the window that nothing covers.
  public var visible: Double { extent - leading - trailing }

  /// How far the content can be scrolled; not positive when all of it is visible.
  public var scrollRange: Double { content - visible }

  /// The offset at which the end of the content meets the end of the visible part.
  public var endOffset: Double { content - extent + trailing }
}

extension Threshold {
  /// An end of the content.
  public enum End: Hashable, Sendable {
    /// Where the first item is.
    case leading
    /// Where the last item is.
    case trailing
  }

  /// Whether the next page at that end is due at `offset`, and the measured share of the way to the end.
  func crossing(
    at offset: Double, in viewport: Viewport, towards end: End = .trailing
  ) -> Double? {
    let range = viewport.scrollRange
    let way = offset + viewport.leading
    let position = end == .trailing ? way : range - way
    guard viewport.content > 0, range > 0, position >= 0 else { return nil }
    let isExceeded =
      switch rule {
      // There are no pages in a view: the whole content is what is known.
      case .fraction(let fraction), .fractionOfLastPage(let fraction): position / range > fraction
      case .remainingExtent(let extent): range - position < extent
      case .oneViewport: range - position < viewport.extent
      case .remaining, .never: false
      }
    return isExceeded ? position / range : nil
  }
}

/// Lets a threshold be crossed once, until there is more content.
///
/// `armed` → `latched` by a crossing; `latched` → `armed` by an answer that something came. Only
/// positions beyond the furthest one so far, seen in the direction of its end, count.
struct ThresholdLatch: Hashable, Sendable {
  /// Effective with the next report.
  var threshold: Threshold
  private(set) var isArmed = true
  let end: Threshold.End
  /// The furthest position so far. Those before the leading end never count for the trailing one.
  private var furthest: Double
  /// How long the content was when the last position in a view was reported.
  private var content = 0.0
  /// Whether something came at the leading end, which moves everything in views that show it.
  private var moves = false

  init(_ threshold: Threshold, at end: Threshold.End = .trailing) {
    self.threshold = threshold
    self.end = end
    furthest = Self.start(of: end)
  }

  private static func start(of end: Threshold.End) -> Double {
    end == .trailing ? 0 : -.infinity
  }

  /// The consumer is at `offset`. Returns the measured share of the way when that crosses the
  /// threshold; `latch()` closes the latch.
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

  /// The crossing was acted upon.
  mutating func latch() { isArmed = false }

  /// Whether anything came. Without, the latch stays closed until a later answer.
  mutating func answered(_ somethingCame: Bool) {
    guard somethingCame else { return }
    isArmed = true
    moves = end == .leading
  }

  /// The content starts over.
  mutating func reset() {
    self = ThresholdLatch(threshold, at: end)
  }
}
