/// The filter and the order that a model applies to the items of its list.
///
/// A filter alone keeps one chunk for each page and filters only chunks that changed. An order
/// builds new chunks: O(n log n) for every change.
struct ListArrangement<Item: Sendable>: Sendable {
  typealias Chunk = ListItems<Item>.Chunk

  /// The length of the chunks that sorting makes.
  private static var chunkLength: Int { 128 }

  var filter: (@Sendable (Item) -> Bool)? { didSet { filtered = ChunkCache() } }
  var order: (@Sendable (Item, Item) -> Bool)?
  private var filtered = ChunkCache<Item, Chunk>()

  var isNone: Bool { filter == nil && order == nil }

  /// Returns the items that pass the filter, sorted by the order.
  mutating func arrange(_ items: ListItems<Item>) -> ListItems<Item> {
    if isNone { return items }
    var items = items
    if let filter {
      items = ListItems(filtered.results(of: items.chunks) { Chunk($0.items.filter(filter)) })
    }
    return order.map { sort(items, by: $0) } ?? items
  }

  /// Returns the items, sorted. Stable: items that are equal in the order keep the order of the
  /// list.
  private func sort(
    _ items: ListItems<Item>, by order: (Item, Item) -> Bool
  ) -> ListItems<Item> {
    let all = items.chunks.flatMap(\.items).enumerated().sorted { left, right in
      if order(left.element, right.element) { return true }
      return !order(right.element, left.element) && left.offset < right.offset
    }
    return ListItems(
      stride(from: 0, to: all.count, by: Self.chunkLength).map { start in
        Chunk(all[start..<min(start + Self.chunkLength, all.count)].map(\.element))
      })
  }
}
