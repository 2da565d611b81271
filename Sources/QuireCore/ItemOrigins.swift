/// Items of one page of the source, by their offsets in it, in ascending order.
///
/// A filtered page skips offsets, a repaged one joins items of several pages; this is how either
/// can still be cut and resumed at exactly one item.
package struct ItemOrigins: Hashable, Sendable {
  /// Where the source's page starts; its `itemOffset` is 0.
  package var page: Position
  package var offsets: [Int]
}
