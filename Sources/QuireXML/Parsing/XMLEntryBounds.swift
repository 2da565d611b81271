import QuireCore
import QuirePagination

/// The limits for the entries of a feed while it is parsed: their number, and the parts, records
/// and bytes of each. An entry is kept until it is complete, so a hostile one must be stopped
/// before.
///
/// Entries are the elements of the second level, and in an RSS channel those of the third. Other
/// elements of that level count as entries, so 4,096 more are allowed.
struct XMLEntryBounds {
  /// The most entries of a page.
  let entryLimit: Int
  /// The most bytes of an entry.
  let bytes: Int
  /// The most records of an entry.
  private let mostRecords: Int
  /// Whether entries may be on the third level, within a channel: true for RSS.
  var hasChannels = false
  /// The level of entries at the current place; the root element has level 1.
  private var depth = 2
  /// The number of elements of the second level, and of the third.
  private var counts = (second: 0, third: 0)
  /// The number of records and bytes at the last start or end of an element of the entries' level,
  /// or above.
  private var records = 0
  private var start = 0
  /// The number of child elements of the open entry.
  private var parts = 0

  /// The number of elements that are allowed besides entries; an entry may have at least as many
  /// parts.
  private static let slack = 4_096

  init(_ limits: DecodingLimits) {
    entryLimit = limits.items
    bytes = limits.itemBytes
    mostRecords = max(limits.items, Self.slack).times(2)
  }

  /// Counts an element that starts; returns false if it exceeds a limit.
  @inline(__always)
  mutating func opened(
    depth: Int, records: Int, fed: Int, isChannel: @autoclosure () -> Bool
  ) -> Bool {
    if depth > self.depth {
      if depth == self.depth + 1 { parts += 1 }
      return parts <= max(entryLimit / 8, Self.slack) && records - self.records <= mostRecords
    }
    if depth == 2 {
      counts.second += 1
      if hasChannels { self.depth = isChannel() ? 3 : 2 }
    } else if depth == 3 {
      counts.third += 1
    }
    (self.records, start, parts) = (records, fed, 0)
    return max(counts.second, counts.third) - entryLimit <= Self.slack
  }

  /// Counts an element that ends.
  @inline(__always)
  mutating func closed(depth: Int, records: Int, fed: Int) {
    if depth <= self.depth { (self.records, start, parts) = (records, fed, 0) }
  }

  /// Whether the open entry has too many bytes, once `fed` bytes of the page were parsed.
  func isTooLong(at fed: Int) -> Bool { fed - start > bytes }
}
