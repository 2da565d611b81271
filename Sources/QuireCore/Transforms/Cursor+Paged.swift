extension Cursor {
  /// The same items in pages of `size`, whatever the size of the server's pages; only the last one
  /// may be smaller.
  ///
  /// Pages are read one after another until `size` items are there. What is left over is kept for
  /// the next page, also when reading fails: asking again goes on from there. A page carries the
  /// metadata and the total of the last page read for it. A `size` below 1 is `invalidArgument`,
  /// thrown by the first `next()`.
  public func paged(by size: Int) -> Cursor<Item> {
    deriving { base, context in PagedReader(base, size: size, context: context) }
  }
}
