public import QuireCore
public import QuirePagination

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A division of a listing into parts, for servers that limit the results of one request: by ranges
/// of a key, or by windows of time.
///
/// ```swift
/// let split = Split.times(from ..< .now, every: .seconds(30 * 86_400))
/// let issues = Cursor.partitioned(by: split) { part in
///   client.cursor(of: RawItem.self, at: "\(url)+created:\(part.lower)..\(part.last)", pagination: .github)
/// }
/// ```
/// A part is halved, down to one key or second, if the server refuses more results
/// (`PageError.Code.resultWindowExceeded`), if its total exceeds `cap`, or if it ends after `cap`
/// items without a total. Items that a part gave before it was halved are not repeated.
public struct Split: Hashable, Sendable {
  /// The bounds of the whole: whole numbers, or seconds since 1970.
  package var range: Range<Int64>
  package let step: Int64
  package let isTime: Bool
  /// The maximum number of results that the server gives for one request.
  ///
  /// A part whose total is greater is halved before its first page is delivered. A part without a
  /// total that gives as many is halved at its end. Default: nil, which waits for the server to
  /// refuse.
  public var cap: Int?
  /// The path in a page to the total of the part, for descriptions without one; used with `cap`.
  public var total: PagePath?
  /// The path to the value that identifies an item, for parts that are halved after some of their
  /// items came. If nil, the whole content of an item does, and equal items come as often as the
  /// server sends them.
  public var key: PagePath?

  package init(_ range: Range<Int64>, every step: Int64, isTime: Bool) {
    self.range = range
    self.step = max(1, step)
    self.isTime = isTime
  }

  /// Returns parts of `count` keys each, for keys that are whole numbers.
  public static func keys(_ range: Range<Int>, every count: Int) -> Split {
    Split(Int64(range.lowerBound)..<Int64(range.upperBound), every: Int64(count), isTime: false)
  }

  /// Returns windows of time in whole seconds, from the first second to the one in which `range`
  /// ends.
  public static func times(_ range: Range<Date>, every window: Duration) -> Split {
    let lower = Int64(Int(clamping: range.lowerBound.timeIntervalSince1970.rounded(.down)))
    let upper = Int64(Int(clamping: range.upperBound.timeIntervalSince1970.rounded(.up)))
    return Split(lower..<max(lower, upper), every: window.components.seconds, isTime: true)
  }

  /// Divides the range into at most `most` ranges, each of one or several parts.
  package func ranges(atMost most: Int) -> [Range<Int64>] {
    let length = UInt64(bitPattern: range.upperBound &- range.lowerBound)
    let parts = length.dividedRoundingUp(by: UInt64(step))
    // Limited to the whole range, because the size may overflow.
    let share = parts.dividedRoundingUp(by: UInt64(max(1, most)))
    let (size, isWhole) = share.multipliedReportingOverflow(by: UInt64(step))
    var (ranges, lower) = ([Range<Int64>](), range.lowerBound)
    while lower < range.upperBound {
      let rest = UInt64(bitPattern: range.upperBound &- lower)
      let upper = isWhole || rest <= size ? range.upperBound : lower &+ Int64(bitPattern: size)
      ranges.append(lower..<upper)
      lower = upper
    }
    return ranges
  }

  /// Returns the end of the first part of a range.
  func end(of range: Range<Int64>) -> Int64 {
    let (end, isBeyond) = range.lowerBound.addingReportingOverflow(step)
    return isBeyond ? range.upperBound : min(end, range.upperBound)
  }
}

/// A part of a listing that is read in parts; see `Split`.
public struct Partition: Hashable, Sendable {
  package let range: Range<Int64>
  private let isTime: Bool

  package init(_ range: Range<Int64>, isTime: Bool) {
    self.range = range
    self.isTime = isTime
  }

  /// The first value of the part: a whole number, or a time in RFC 3339 format.
  public var lower: String { text(range.lowerBound) }
  /// The last value of the part, for servers with inclusive upper bounds.
  public var last: String { text(range.upperBound - 1) }
  /// The first value after the part, for servers with exclusive upper bounds.
  public var upper: String { text(range.upperBound) }

  private func text(_ value: Int64) -> String {
    isTime
      ? Date(timeIntervalSince1970: TimeInterval(value)).formatted(.iso8601) : "\(value)"
  }
}

extension Cursor where Item == RawItem {
  /// Returns a cursor that reads a listing in parts, one after the other. Its positions contain the
  /// parts that are left.
  ///
  /// `cursor` makes the listing of a part; its errors are thrown as `transformFailed`. If a part is
  /// too large and cannot be halved, the walk delivers the items received and then throws
  /// `resultWindowExceeded`.
  public static func partitioned(
    by split: Split, _ cursor: @escaping @Sendable (Partition) throws -> Cursor<RawItem>
  ) -> Cursor<RawItem> {
    // The walk of each part checks for empty pages; many parts in a row may be empty.
    Cursor.ofEachWalk { SplitSource(split, cursor) }
      .limited(to: Limits(consecutiveEmptyPages: .max))
  }
}
