import QuireCore
import QuirePagination

/// Counts the parts of a page's entries: links, persons, files, categories. Unlike elements in a
/// text, each takes memory, and the limits on elements do not bound them: one element can hold many
/// keywords, and its addresses can become much longer.
struct PartCounter {
  /// The maximum number of parts of an entry or of the feed's properties, and of all together.
  private let limit: Int
  private let pageLimit: Int
  /// The number of parts of the current entry, and the number left for the page.
  private var count = 0
  private var left: Int
  /// Whether there are too many.
  private(set) var isExceeded = false

  /// The number of bytes of growth beyond the page that count as one part.
  private static let growth = 64

  /// Creates a counter; nil allows any number of parts.
  init(_ limits: DecodingLimits?) {
    limit = limits.map { max(4_096, $0.items / 8) } ?? .max
    pageLimit = limits?.events ?? .max
    left = pageLimit
  }

  /// Starts to count the parts of another entry.
  mutating func beginEntry() { count = 0 }

  /// Counts parts, and returns false if there are too many.
  @inline(__always)
  mutating func take(_ parts: Int = 1) -> Bool {
    count += parts
    left -= parts
    if count > limit || left < 0 { isExceeded = true }
    return !isExceeded
  }

  /// Counts the bytes by which a text grows beyond the page: a long base can apply to a million
  /// addresses, and a namespace to as many copies.
  mutating func takeGrowth(_ bytes: Int) {
    guard bytes >= Self.growth else { return }
    left -= bytes / Self.growth
    if left < 0 { isExceeded = true }
  }

  /// Throws `limitExceeded` if there are too many parts.
  func check() throws(PageError) {
    guard isExceeded else { return }
    guard left < 0 else {
      throw PageError(
        .limitExceeded,
        "The feed, or an entry of it, has more than \(limit) links, persons, files, or other parts.",
        remedies: [.raise(.init("DecodingLimits.items"))])
    }
    throw PageError(
      .limitExceeded,
      """
      The entries of the feed have more than \(pageLimit) parts together, in which \(Self.growth) \
      bytes that an address, or markup, is longer than in the page count as one.
      """, remedies: [.raise(.init("DecodingLimits.events"))])
  }
}
