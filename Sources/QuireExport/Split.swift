public import QuireCore
public import QuirePagination

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// How a listing is read in parts, because a server gives only so many results of one request: by ranges of a
/// key, or by windows of time.
///
/// ```swift
/// let split = Split.times(from ..< .now, every: .seconds(30 * 86_400))
/// let issues = Cursor.partitioned(by: split) { part in
///   client.cursor(of: RawItem.self, at: "\(url)+created:\(part.lower)..\(part.last)", pagination: .github)
/// }
/// ```
/// A part of which the server gives no more (`PageError.Code.resultWindowExceeded`), or that has more than
/// `cap` by its own total, or gives as many without one, is halved, and its halves again, down to one key or second. What came of it before
/// does not come again.
public struct Split: Hashable, Sendable {
  /// The values that bound parts: of keys themselves, of times seconds since 1970.
  package var range: Range<Int64>
  package let step: Int64
  package let isTime: Bool
  /// The most results that the server gives of one request: a part with more by the server's own total is halved
  /// before its first page is taken, and one that gives as many while no total says that these are all, at its end.
  /// Default: nil, the server's refusal is waited for.
  public var cap: Int?
  /// Where a page says how many items the part has, for descriptions that do not say it; used with `cap`.
  public var total: PagePath?
  /// What tells items apart when a part is halved after some of it came; nil for their whole content, by which those
  /// that are alike come as often as the server has them.
  public var key: PagePath?

  package init(_ range: Range<Int64>, every step: Int64, isTime: Bool) {
    self.range = range
    self.step = max(1, step)
    self.isTime = isTime
  }

  /// Parts of `count` keys each, which are whole numbers.
  public static func keys(_ range: Range<Int>, every count: Int) -> Split {
    Split(Int64(range.lowerBound)..<Int64(range.upperBound), every: Int64(count), isTime: false)
  }

  /// Windows of time, of whole seconds: from the first second to the one that `range` ends in.
  public static func times(_ range: Range<Date>, every window: Duration) -> Split {
    let lower = Int64(Int(clamping: range.lowerBound.timeIntervalSince1970.rounded(.down)))
    let upper = Int64(Int(clamping: range.upperBound.timeIntervalSince1970.rounded(.up)))
    return Split(lower..<max(lower, upper), every: window.components.seconds, isTime: true)
  }

  /// The whole in so many ranges at most, each of one part or several.
  package func ranges(atMost most: Int) -> [Range<Int64>] {
    let length = UInt64(bitPattern: range.upperBound &- range.lowerBound)
    let parts = length.dividedRoundingUp(by: UInt64(step))
    // No longer than the whole, which may be longer than the greatest number of its kind.
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

  /// Where the first part of a range ends.
  func end(of range: Range<Int64>) -> Int64 {
    let (end, isBeyond) = range.lowerBound.addingReportingOverflow(step)
    return isBeyond ? range.upperBound : min(end, range.upperBound)
  }
}

extension UInt64 {
  fileprivate func dividedRoundingUp(by divisor: UInt64) -> UInt64 {
    self / divisor + (self % divisor == 0 ? 0 : 1)
  }
}

/// A part of a listing; see `Split`.
public struct Partition: Hashable, Sendable {
  package let range: Range<Int64>
  private let isTime: Bool

  package init(_ range: Range<Int64>, isTime: Bool) {
    self.range = range
    self.isTime = isTime
  }

  /// The first value in it: a whole number, or a time as RFC 3339 writes it.
  public var lower: String { text(range.lowerBound) }
  /// The last value in it, for servers that take it as included.
  public var last: String { text(range.upperBound - 1) }
  /// The first value behind it, for servers that take it as excluded.
  public var upper: String { text(range.upperBound) }

  private func text(_ value: Int64) -> String {
    isTime
      ? Date(timeIntervalSince1970: TimeInterval(value)).formatted(.iso8601) : "\(value)"
  }
}

extension Cursor where Item == RawItem {
  /// A listing that is read in parts, one after the other, as one: its positions say which parts are left.
  ///
  /// `cursor` makes the listing of a part. What it throws is `transformFailed`. A part that cannot be halved
  /// any more throws `resultWindowExceeded`, once all that came was delivered.
  public static func partitioned(
    by split: Split, _ cursor: @escaping @Sendable (Partition) throws -> Cursor<RawItem>
  ) -> Cursor<RawItem> {
    // Each part's own walk knows how many empty pages are too many; many parts may have no items.
    Cursor.ofEachWalk { SplitSource(split, cursor) }
      .limited(to: Limits(consecutiveEmptyPages: .max))
  }
}
