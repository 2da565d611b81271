/// The size of a listing as its server declares it, and how far to trust it.
///
/// Totals lie: some are lower bounds, some estimates, some count pages. Quire reports them and
/// never ends a walk by one unless the pagination description says so.
public struct Total: Hashable, Codable, Sendable {
  /// What the number counts and how far to trust it.
  public enum Kind: String, Hashable, Codable, Sendable, CaseIterable {
    /// Exactly this many items in the whole listing.
    case items
    /// About this many items.
    case estimate
    /// At least this many items.
    case lowerBound
    /// This many items after the current page.
    case remaining
    /// This many pages in the whole listing.
    case pages
  }

  /// The number, as the server sent it.
  public var value: Int
  /// What the number counts.
  public var kind: Kind

  /// Creates a total, by default an exact number of items.
  public init(_ value: Int, _ kind: Kind = .items) {
    self.value = value
    self.kind = kind
  }
}

// Saturating arithmetic for numbers that come from a server, a checkpoint or a view: it stops at
// the ends of the range instead of trapping.
extension Int {
  package func plus(_ other: Int) -> Int {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other > 0 ? .max : .min) : sum
  }

  package func minus(_ other: Int) -> Int {
    let (difference, overflow) = subtractingReportingOverflow(other)
    return overflow ? (other > 0 ? .min : .max) : difference
  }

  package func times(_ other: Int) -> Int {
    let (product, overflow) = multipliedReportingOverflow(by: other)
    return overflow ? ((self < 0) == (other < 0) ? .max : .min) : product
  }

  /// Creates the whole part of a number, limited to the range of `Int`; 0 for NaN.
  package init(clamping number: Double) {
    self = Int(exactly: number.rounded(.towardZero)) ?? (number > 0 ? .max : number < 0 ? .min : 0)
  }
}

extension BinaryInteger {
  /// Returns the quotient of a number that is not negative, rounded up.
  package func dividedRoundingUp(by divisor: Self) -> Self {
    self / divisor + (self % divisor == 0 ? 0 : 1)
  }
}
