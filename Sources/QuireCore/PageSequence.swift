/// A sequence of pages that can also be read item by item.
///
/// `Cursor`, `Walk` and `Paginator` are such sequences.
public protocol PageSequence<Item>: AsyncSequence
where Element == Page<Item>, Failure == any Error {
  associatedtype Item: Sendable
}

extension PageSequence {
  /// The same pages, item by item. Empty pages are skipped; nothing is requested before the first
  /// item is asked for, nor the next page before all items of this one were handed out.
  @inlinable public var items: ItemSequence<Self> { ItemSequence(self) }
}

extension PageSequence {
  /// All items of all pages, in order, once the last one has come: for listings that fit into memory.
  ///
  /// Throws what the loop would throw; the items before that are lost with it.
  public func collect() async throws -> [Item] {
    var all: [Item] = []
    for try await page in self { all += page.items }
    return all
  }
}
