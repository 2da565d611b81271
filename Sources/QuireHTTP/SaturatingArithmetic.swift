// Arithmetic for numbers that came from a server or a checkpoint: it stops at the ends of the range
// instead of trapping.

extension Int {
  func plus(_ other: Int) -> Int {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other > 0 ? .max : .min) : sum
  }

  func minus(_ other: Int) -> Int {
    let (difference, overflow) = subtractingReportingOverflow(other)
    return overflow ? (other > 0 ? .min : .max) : difference
  }

  func times(_ other: Int) -> Int {
    let (product, overflow) = multipliedReportingOverflow(by: other)
    return overflow ? ((self < 0) == (other < 0) ? .max : .min) : product
  }
}

extension Duration {
  /// A time to wait as a server gave it, from nothing to a century, which is longer than any limit;
  /// nil for what is no number.
  static func wait(seconds: Double) -> Duration? {
    seconds.isNaN ? nil : .seconds(min(max(seconds, 0), 3.2e9))
  }
}
