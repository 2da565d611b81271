/// How near to the end of what is loaded a consumer must come before the next page is loaded.
///
/// Items are counted over the whole walk: `consumed` of `loaded`. A place in a view is measured in
/// whatever unit the view has. All comparisons are strict.
public struct Threshold: Hashable, Sendable {
  enum Rule: Hashable {
    case fraction(Double), fractionOfLastPage(Double), remaining(Int), remainingExtent(Double)
    case oneViewport, never
  }

  /// What a fraction is a fraction of.
  public enum Basis: Hashable, Sendable {
    /// Everything loaded so far: the lead grows with the listing, as far as a paginator lets it.
    case everything
    /// The last page that has items: the lead stays the same.
    case lastPage
  }

  /// An end of the content.
  public enum End: Hashable, Sendable {
    /// Where the first item is.
    case leading
    /// Where the last item is.
    case trailing
  }

  let rule: Rule

  private init(_ rule: Rule) { self.rule = rule }

  /// Loads when more than 0.6 of the loaded items are consumed: late enough not to load for nobody,
  /// early enough for a page to arrive in time.
  public static let standard = Threshold(.fraction(0.6))

  /// Loads nothing ahead: a page is loaded when somebody waits for it.
  public static let onDemand = Threshold(.never)

  /// Loads when less than one viewport is left; without a viewport, fewer items than the last page
  /// has.
  public static let oneViewport = Threshold(.oneViewport)

  /// Loads when fewer than 5 items are left, as lists that count rows do.
  package static let remainingFive = Threshold(.remaining(5))

  /// Loads when consumed / loaded is greater than `fraction`, which lies in 0…1: 0 loads with the
  /// first item, 1 never ahead.
  ///
  /// Traps for anything else; `init(fraction:of:)` throws for a number from outside the program.
  public static func fraction(_ fraction: Double, of basis: Basis = .everything) -> Threshold {
    literal { try Threshold(fraction: fraction, of: basis) }
  }

  /// Loads when fewer than `items` loaded items are left, 0 or more; 0 loads nothing ahead. Places in a
  /// view load nothing by this: they are not counted in items.
  ///
  /// Traps for a negative number; `init(remaining:)` throws for one from outside the program.
  public static func remaining(items: Int) -> Threshold {
    literal { try Threshold(remaining: items) }
  }

  /// Loads when less than `extent` of the content is left behind the viewport, 0 or more. Items
  /// that are counted without a viewport load nothing ahead by this.
  ///
  /// Traps for a negative number and for one that is not finite; `init(remainingExtent:)` throws for
  /// one from outside the program.
  public static func remainingExtent(_ extent: Double) -> Threshold {
    literal { try Threshold(remainingExtent: extent) }
  }

  /// As `fraction(_:of:)`. Throws `invalidArgument` for a number that is not in 0…1.
  public init(fraction: Double, of basis: Basis = .everything) throws {
    guard fraction >= 0, fraction <= 1 else {
      throw Self.refusal("fraction is \(fraction); give a number from 0 to 1.")
    }
    self.init(basis == .everything ? .fraction(fraction) : .fractionOfLastPage(fraction))
  }

  /// As `remaining(items:)`. Throws `invalidArgument` for a negative number.
  public init(remaining items: Int) throws {
    guard items >= 0 else { throw Self.refusal("remaining items are \(items); give 0 or more.") }
    self.init(.remaining(items))
  }

  /// As `remainingExtent(_:)`. Throws `invalidArgument` for a negative number and for one that is not
  /// finite.
  public init(remainingExtent extent: Double) throws {
    guard extent >= 0, extent.isFinite else {
      throw Self.refusal("remaining extent is \(extent); give a finite number, 0 or more.")
    }
    self.init(.remainingExtent(extent))
  }

  private static func literal(_ make: () throws -> Threshold) -> Threshold {
    do { return try make() } catch { preconditionFailure("\(error)") }
  }

  private static func refusal(_ text: String) -> PageError {
    PageError(.invalidArgument, "A threshold's \(text)", attempts: 0)
  }
}

// MARK: - Items

extension Threshold {
  /// Whether the next page is due.
  package func isExceeded(_ progress: Progress) -> Bool {
    let (consumed, loaded) = (progress.consumed, progress.loaded)
    guard loaded > 0 else { return false }
    switch rule {
    case .fraction(let fraction):
      return Double(consumed) / Double(loaded) > fraction
    case .fractionOfLastPage(let fraction):
      let inside = consumed - (loaded - progress.lastPage)
      return Double(inside) / Double(progress.lastPage) > fraction
    case .remaining(let items):
      return loaded - consumed < items
    case .oneViewport:
      return loaded - consumed < progress.lastPage
    case .remainingExtent, .never:
      return false
    }
  }

  /// The smallest count beyond what is consumed at which the next page is due; nil when none of the
  /// loaded items is.
  func trigger(after progress: Progress) -> Int? {
    let loaded = progress.loaded
    var guess =
      switch rule {
      case .fraction(let fraction): Int(fraction * Double(loaded)) - 1
      case .fractionOfLastPage(let fraction):
        loaded - progress.lastPage + Int(fraction * Double(progress.lastPage)) - 1
      case .remaining(let items): loaded - min(items, loaded) + 1
      case .oneViewport: loaded - progress.lastPage + 1
      case .remainingExtent, .never: loaded + 1
      }
    guess = max(guess, progress.consumed + 1)
    // Rounding may put the guess one or two too low; never too high.
    var ahead = progress
    while guess <= loaded {
      ahead.consumed = guess
      if isExceeded(ahead) { return guess }
      guess += 1
    }
    return nil
  }
}

// MARK: - Places in a view

extension Threshold {
  /// Whether the next page at that end is due at `offset`, and the measured share of the way to the end.
  package func crossing(
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

/// Lets a threshold be crossed once, until somebody says that there is more content.
///
/// `armed` → `latched` by a crossing; `latched` → `armed` by an answer that something came. Only
/// positions beyond the furthest one so far, seen in the direction of its end, count.
package struct ThresholdLatch: Hashable, Sendable {
  /// Effective with the next report.
  package var threshold: Threshold
  package private(set) var isArmed = true
  let end: Threshold.End
  /// The furthest position so far. Those before the leading end never count for the trailing one.
  private var furthest: Double
  /// How long the content was when the last position in a view was reported.
  private var content = 0.0
  /// Whether something came at the leading end, which moves everything in views that show it.
  private var moves = false

  package init(_ threshold: Threshold, at end: Threshold.End = .trailing) {
    self.threshold = threshold
    self.end = end
    furthest = Self.start(of: end)
  }

  private static func start(of end: Threshold.End) -> Double {
    end == .trailing ? 0 : -.infinity
  }

  /// The consumer is at `offset`. Returns the measured share of the way when that crosses the
  /// threshold; the latch is closed by `latch()`, if somebody listens.
  package mutating func report(_ offset: Double, in viewport: Viewport) -> Double? {
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
  package mutating func report(_ progress: Progress) -> Double? {
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
  package mutating func latch() { isArmed = false }

  /// Whether anything came. Without, the latch stays closed until somebody says so later.
  package mutating func answered(_ somethingCame: Bool) {
    guard somethingCame else { return }
    isArmed = true
    moves = end == .leading
  }

  /// The content starts over.
  package mutating func reset() {
    self = ThresholdLatch(threshold, at: end)
  }
}

/// How far a consumer is: items counted over the whole walk.
package struct Progress: Hashable, Sendable {
  /// Items the consumer is done with, the one in hand included.
  var consumed = 0
  /// Items loaded.
  var loaded = 0
  /// Items of the last page that has any.
  var lastPage = 0

  package init(consumed: Int = 0, loaded: Int = 0, lastPage: Int = 0) {
    self.consumed = consumed
    self.loaded = loaded
    self.lastPage = lastPage
  }
}

/// A window onto content along one axis: plain numbers, in whatever unit the view has.
public struct Viewport: Hashable, Sendable {
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
