/// What stands at both ends of a page, as digests, by which it is known that the next page begins with what this
/// one ended with.
package struct PageEdges: Sendable {
  /// How far items can have moved and still be found: with a page size of 100, most insertions move fewer.
  private static let mostFirst = 64
  /// The last items that are compared; one can be the same by chance where items have no identity.
  private static let mostLast = 4

  /// The first items in order, and behind them the last ones that are not among those. One list, because a page is
  /// copied many times, and each list that it has costs then.
  private var digests: [Int] = []

  private var first: ArraySlice<Int> { digests.prefix(Self.mostFirst) }
  private var last: ArraySlice<Int> { digests.suffix(Self.mostLast) }

  /// The ends of a page that is compared with none.
  package init() {}

  /// Makes room for the ends of a page with so many items.
  package mutating func reserve(for count: Int) {
    digests.reserveCapacity(min(count, Self.mostFirst + Self.mostLast))
  }

  /// Whether the item with this index, of `count` in all, stands near an end.
  package static func takes(_ index: Int, of count: Int) -> Bool {
    index < mostFirst || index >= count - mostLast
  }

  /// Takes note of the next item that `takes` is true for, in the order of the page.
  package mutating func add(_ digest: Int) {
    if digests.count == Self.mostFirst + Self.mostLast { digests.remove(at: Self.mostFirst) }
    digests.append(digest)
  }

  /// Adds the items that came next.
  mutating func append(_ more: PageEdges) {
    for digest in more.digests { add(digest) }
  }

  /// How many of the first items of `next` are the last ones of this page: 0 where none are, and where equal items
  /// may be meant. Those without an identity may be equal by chance: two in a row must be the same then, and none
  /// must be equal to another one of its own page.
  func overlap(with next: PageEdges, isIdentified: Bool) -> Int {
    guard let last = last.last, let place = next.first.firstIndex(of: last) else { return 0 }
    let compared = min(place + 1, Self.mostLast)
    guard self.last.suffix(compared).elementsEqual(next.first[...place].suffix(compared)),
      isIdentified || compared > 1, Self.areDistinct(self.last), Self.areDistinct(next.first)
    else { return 0 }
    return place + 1
  }

  private static func areDistinct(_ digests: ArraySlice<Int>) -> Bool {
    Set(digests).count == digests.count
  }
}

extension WalkReport.Warning.Code {
  /// A page that was asked for by counting begins with items that the page before ended with: they came twice.
  public static let overlappingPages = Self("overlappingPages")
}

extension WalkReport.Warning {
  /// The warning of the page with this index, which begins with so many items of the one before.
  static func overlap(of items: Int, onPage index: Int) -> Self {
    Self(
      .overlappingPages,
      "page \(index + 1) begins with \(items == 1 ? "the item" : "the \(items) items") that the page before ended "
        + "with, which came twice: items were added while pages were counted, or offsets count other items than those "
        + "that come. Drop what comes again by a key, or read in an order that does not change, oldest first, or by a "
        + "cursor.")
  }
}
