import QuireCore
import QuirePagination

/// Tells while a feed is read whether it has more entries than it may, or an entry more parts or bytes: all of
/// it would be kept until it is whole.
///
/// Entries are elements of the second level, and in RSS of the third within a channel. Other elements there
/// count with them, and there may be some more of them.
struct XMLEntryBounds {
  /// Entries that a page may have.
  let most: Int
  /// Bytes that one of them may have.
  let bytes: Int
  /// Records that one of them may have.
  private let mostRecords: Int
  /// Whether entries may lie on the third level, within a channel.
  var hasChannels = false
  /// The level of entries at this place; that of the root element is 1.
  private var depth = 2
  /// Elements of the second level, and of the third.
  private var counts = (second: 0, third: 0)
  /// Records and bytes of the page where an element of the level of entries, or above, began or ended last.
  private var records = 0
  private var start = 0
  /// Elements directly within the entry that is open.
  private var parts = 0

  /// Elements beside the entries.
  private static let others = 4_096

  init(_ limits: DecodingLimits) {
    most = limits.items
    bytes = limits.itemBytes
    mostRecords = max(limits.items, Self.others).times(2)
  }

  /// Takes note of an element that is opened; false where there are too many.
  @inline(__always)
  mutating func opened(
    depth: Int, records: Int, fed: Int, isChannel: @autoclosure () -> Bool
  ) -> Bool {
    if depth > self.depth {
      if depth == self.depth + 1 { parts += 1 }
      return parts <= max(most / 8, Self.others) && records - self.records <= mostRecords
    }
    if depth == 2 {
      counts.second += 1
      if hasChannels { self.depth = isChannel() ? 3 : 2 }
    } else if depth == 3 {
      counts.third += 1
    }
    (self.records, start, parts) = (records, fed, 0)
    return max(counts.second, counts.third) - most <= Self.others
  }

  /// Takes note of an element that is closed.
  @inline(__always)
  mutating func closed(depth: Int, records: Int, fed: Int) {
    if depth <= self.depth { (self.records, start, parts) = (records, fed, 0) }
  }

  /// Whether what is open has more bytes than an entry may have, once so many of the page were read.
  func isTooLong(at fed: Int) -> Bool { fed - start > bytes }
}
