/// How near to the end of what is loaded a consumer must come before the next page is loaded.
///
/// Items are counted over the whole walk: `consumed` of `loaded`. An offset in a view has the view's
/// unit. All comparisons are strict.
public struct Threshold: Hashable, Sendable {
  package enum Rule: Hashable, Sendable {
    case fraction(Double), fractionOfLastPage(Double), remaining(Int), remainingExtent(Double)
    case oneViewport, never
  }

  /// The items of which a fraction is taken.
  public enum Basis: Hashable, Sendable {
    /// All items loaded so far: the lead grows with the listing, up to the bounds of the paginator.
    case everything
    /// The last page that has items: the lead stays the same.
    case lastPage
  }

  package let rule: Rule

  private init(_ rule: Rule) { self.rule = rule }

  /// Loads when more than 0.6 of the loaded items are consumed: late enough to load few pages
  /// in vain, early enough for a page to arrive in time.
  public static let standard = Threshold(.fraction(0.6))

  /// Loads nothing ahead: a page is loaded when a consumer waits for it.
  public static let onDemand = Threshold(.never)

  /// Loads when less than one viewport is left or, without a viewport, fewer items than the last
  /// page has.
  public static let oneViewport = Threshold(.oneViewport)

  /// Loads when consumed / loaded is greater than `fraction`, which lies in 0…1: 0 loads with the
  /// first item, 1 never loads ahead.
  ///
  /// Traps for anything else; `init(fraction:of:)` throws for a number from outside the program.
  public static func fraction(_ fraction: Double, of basis: Basis = .everything) -> Threshold {
    literal { try Threshold(fraction: fraction, of: basis) }
  }

  /// Loads when fewer than `items` loaded items are left, 0 or more; 0 loads nothing ahead. Places
  /// in a view load nothing by this, because they are not counted in items.
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

  /// Creates the threshold of `fraction(_:of:)`. Throws `invalidArgument` for a number that is not
  /// in 0…1.
  public init(fraction: Double, of basis: Basis = .everything) throws {
    guard fraction >= 0, fraction <= 1 else {
      throw Self.refusal("fraction is \(fraction); give a number from 0 to 1.")
    }
    self.init(basis == .everything ? .fraction(fraction) : .fractionOfLastPage(fraction))
  }

  /// Creates the threshold of `remaining(items:)`. Throws `invalidArgument` for a negative number.
  public init(remaining items: Int) throws {
    guard items >= 0 else { throw Self.refusal("remaining items are \(items); give 0 or more.") }
    self.init(.remaining(items))
  }

  /// Creates the threshold of `remainingExtent(_:)`. Throws `invalidArgument` for a negative number
  /// and for one that is not finite.
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

  /// Returns the smallest number of consumed items, beyond the present one, at which the next page
  /// is due; nil if no loaded item makes it due.
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

/// The progress of a consumer, in items counted over the whole walk.
package struct Progress: Hashable, Sendable {
  /// The items that the consumer is done with, including the one that it is handling.
  package var consumed = 0
  /// The items loaded.
  package var loaded = 0
  /// The items of the last page that has any.
  package var lastPage = 0

  package init(consumed: Int = 0, loaded: Int = 0, lastPage: Int = 0) {
    self.consumed = consumed
    self.loaded = loaded
    self.lastPage = lastPage
  }
}
