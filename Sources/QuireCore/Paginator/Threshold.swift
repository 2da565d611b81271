/// How near to the end of what is loaded a consumer must come before the next page is loaded.
///
/// Items are counted over the whole walk: `consumed` of `loaded`. All comparisons are strict.
public struct Threshold: Hashable, Sendable {
  private enum Rule: Hashable { case fraction(Double), remaining(Int), never }

  private let rule: Rule

  private init(_ rule: Rule) { self.rule = rule }

  /// Loads when more than 0.6 of the loaded items are consumed: late enough not to load for nobody,
  /// early enough for a page to arrive in time.
  public static let standard = Threshold(.fraction(0.6))

  /// Loads nothing ahead: a page is loaded when somebody waits for it.
  public static let onDemand = Threshold(.never)

  /// Loads when consumed / loaded is greater than `fraction`, which lies in 0…1.
  ///
  /// 0 loads with the first item, 1 never ahead. Throws `invalidArgument` for anything else.
  public static func fraction(_ fraction: Double) throws -> Threshold {
    guard fraction >= 0, fraction <= 1 else {
      throw PageError(
        .invalidArgument, "A threshold's fraction is \(fraction); give a number from 0 to 1.",
        attempts: 0)
    }
    return Threshold(.fraction(fraction))
  }

  /// Loads when fewer than `items` loaded items are left, 0 or more.
  ///
  /// 0 loads nothing ahead. Throws `invalidArgument` for a negative number.
  public static func remaining(items: Int) throws -> Threshold {
    guard items >= 0 else {
      throw PageError(
        .invalidArgument, "A threshold's remaining items are \(items); give 0 or more.",
        attempts: 0)
    }
    return Threshold(.remaining(items))
  }

  /// Whether the next page is due.
  func isExceeded(consumed: Int, loaded: Int) -> Bool {
    guard loaded > 0 else { return false }
    return switch rule {
    case .fraction(let fraction): Double(consumed) / Double(loaded) > fraction
    case .remaining(let items): loaded - consumed < items
    case .never: false
    }
  }

  /// The smallest count beyond `consumed` at which the next page is due; nil when none of the
  /// loaded items is.
  func trigger(after consumed: Int, loaded: Int) -> Int? {
    var guess =
      switch rule {
      case .fraction(let fraction): Int(fraction * Double(loaded)) - 1
      case .remaining(let items): loaded - min(items, loaded) + 1
      case .never: loaded + 1
      }
    guess = max(guess, consumed + 1)
    // Rounding may put the guess one or two too low; never too high.
    while guess <= loaded, !isExceeded(consumed: guess, loaded: loaded) { guess += 1 }
    return guess <= loaded ? guess : nil
  }
}
