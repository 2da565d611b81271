/// Digests of the items at both ends of a page, which show that the next page begins with items
/// that this one ended with.
package struct PageEdges: Sendable {
  /// The number of first items: how far items may have moved and still be found. With a page size
  /// of 100, most insertions move fewer.
  private static let mostFirst = 64
  /// The number of last items. Several are compared, because items without an identity can be equal
  /// by chance.
  private static let mostLast = 4

  /// The first items in order, and behind them the last ones that are not among those. One array,
  /// because a page is copied many times, and each of its arrays makes a copy more expensive.
  private var digests: [Int] = []

  private var first: ArraySlice<Int> { digests.prefix(Self.mostFirst) }
  private var last: ArraySlice<Int> { digests.suffix(Self.mostLast) }

  /// Creates the edges of a page that is not compared.
  package init() {}

  /// Whether the page is not compared.
  package var isEmpty: Bool { digests.isEmpty }

  /// Reserves room for the edges of a page with `count` items.
  package mutating func reserve(for count: Int) {
    digests.reserveCapacity(min(count, Self.mostFirst + Self.mostLast))
  }

  /// Whether the item at this index, of `count` in all, lies near an end.
  package static func takes(_ index: Int, of count: Int) -> Bool {
    index < mostFirst || index >= count - mostLast
  }

  /// Adds the digest of the next item for which `takes(_:of:)` is true, in the order of the page.
  package mutating func add(_ digest: Int) {
    if digests.count == Self.mostFirst + Self.mostLast { digests.remove(at: Self.mostFirst) }
    digests.append(digest)
  }

  /// Adds the edges of the items that follow.
  mutating func append(_ more: PageEdges) {
    for digest in more.digests { add(digest) }
  }

  /// Returns the number of first items of `next` that are the last ones of this page; 0 if there
  /// are none, or if equal items may be meant.
  ///
  /// No item may be equal to another one of its own page. Items without an identity may be equal by
  /// chance, so that two in a row must be the same.
  func overlap(with next: PageEdges, isIdentified: Bool) -> Int {
    guard let last = last.last, let place = next.first.firstIndex(of: last) else { return 0 }
    let compared = min(place + 1, Self.mostLast)
    guard self.last.suffix(compared).elementsEqual(next.first[...place].suffix(compared)),
      isIdentified || compared > 1, Self.areDistinct(self.last), Self.areDistinct(next.first)
    else { return 0 }
    return place + 1
  }

  /// Whether the last item is the same as that of another page.
  func end(as other: PageEdges) -> Bool {
    digests.last != nil && digests.last == other.digests.last
  }

  private static func areDistinct(_ digests: ArraySlice<Int>) -> Bool {
    Set(digests).count == digests.count
  }
}

extension WalkReport.Warning.Code {
  /// A page that was requested by counting begins with items that the page before ended with: they
  /// came twice.
  public static let overlappingPages = Self("overlappingPages")
}

extension WalkReport.Warning {
  /// Returns the warning for the page at `index`, whose first `items` items are those of the page
  /// before.
  static func overlap(of items: Int, onPage index: Int) -> Self {
    Self(
      .overlappingPages,
      "page \(index + 1) begins with \(items == 1 ? "the item" : "the \(items) items") that the page before ended "
        + "with, which came twice: items were added while pages were counted, or offsets count other items than those "
        + "that come. Drop what comes again by a key, or read in an order that does not change, oldest first, or by a "
        + "cursor.")
  }
}
